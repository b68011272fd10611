//! Reduces findings of a real ptxas, if one is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use ptxsmith_diff::{Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules, expect, predict};
use ptxsmith_reduce::{Program, neighbours};
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::{Cancel, OpenOptions, Subject, SubjectSpec, open};
use ptxsmith_testing::{is_whole, on_all_cores};

use super::{KERNEL, made_by_clang};
use crate::common::*;

/// Returns the real ptxas, or reports that nothing is tested.
fn real_ptxas() -> Option<Box<dyn Subject>> {
    match open(&SubjectSpec::default(), &OpenOptions::default()) {
        Ok(mut subjects) => subjects.pop(),
        Err(unavailable) => {
            eprintln!("NOT TESTED: reduce: {unavailable}");
            None
        }
    }
}

/// Reduces a program with the real ptxas. Returns the result and the number of runs.
fn reduce_real(program: &Path, out: &Path, more: &[&str]) -> Result<(Program, u64), String> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"));
    let output = command.arg("reduce").arg(program).arg("--out").arg(out).args(more).output().unwrap();
    if status(&output) != 0 {
        return Err(stderr(&output));
    }
    let text = stdout(&output);
    let runs = text.split(", ").find_map(|part| part.strip_suffix(" runs")).unwrap().parse().unwrap();
    Ok((Program::parse(&std::fs::read_to_string(out).unwrap()).unwrap(), runs))
}

#[test]
fn a_declaration_that_ptxas_gets_wrong_is_found_in_a_file_that_clang_made() {
    if real_ptxas().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let crash = ".visible .global .align 8 .s64 planted = 3 + (-9223372036854775807 - 1) / (-1);";
    let value = ".visible .global .align 4 .u32 planted[3][2] = {{1}, {2, 3}, {4}};";
    for (planted, tokens, cause) in
        [(crash, 14, "quotient-overflow-crash"), (value, 20, "incomplete-rows-packed")]
    {
        let program = file(directory.path(), "a.ptx", &made_by_clang(planted));
        let out = directory.path().join("least.ptx");
        let (least, runs) = reduce_real(&program, &out, &[]).unwrap();
        assert!(least.size().tokens <= tokens, "{}", least.text());
        assert!(runs <= 100, "{runs}");
        assert!(std::fs::read_to_string(&out).unwrap().contains(cause));
    }
}

#[test]
fn a_kernel_of_ptxas_reduces_to_the_operand_that_is_wrong() {
    if real_ptxas().is_none() {
        return;
    }
    let toolchains = Toolchains::for_user().ok();
    if Disassembler::find(toolchains.as_ref(), &Cancel::new()).is_none() {
        eprintln!("NOT TESTED: reduce: no nvdisasm: ptxsmith toolchain install nvdisasm");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let negative = ".reg .u64 %q;\n    mov.u64 %q, g[-3];\n    st.global.u64 [%o + 8], %q;";
    let text = module(&KERNEL.replace("mov.u32 %r2, 42;\n    st.global.u32 [%o + 4], %r2;", negative));
    assert!(text.contains("g[-3]"));
    let program = file(directory.path(), "a.ptx", &text);
    let (least, _) = reduce_real(&program, &directory.path().join("least.ptx"), &[]).unwrap();
    assert!(least.text().contains("[-1]") && !least.text().contains("ld.global"), "{}", least.text());
    assert!(least.size().tokens <= 50, "{}", least.text());
}

#[test]
fn a_crash_and_a_wrong_value_of_ptxas_reduce_to_a_line_with_few_runs() {
    if real_ptxas().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let hay: String = (0..300)
        .map(|n| format!(".global .align 8 .u32 v{n}[3] = {{{n}, 0x{n:X}U << 2, ~{n}}};\n"))
        .collect();
    let crash = "s64 x[3] = {1, 40 + (12 * (5 - (-9223372036854775807 - 1) / (-1)) >> 3), 2};";
    let value = "s32 x[4][3] = {{1, 2, 3}, {5 + 6}, {8 * 9, 1}, {4}};";
    for (needle, tokens) in [(crash, 14), (value, 20)] {
        let text =
            module(&format!("{hay}.visible .global .{needle}\n{hay}", hay = hay).replacen("v1[", "w1[", 1));
        // The second half with renamed variables.
        let (first, second) = text.split_at(text.find(".visible").unwrap());
        let text = format!("{first}{}", second.replace(" v", " u"));
        let program = file(directory.path(), "a.ptx", &text);
        let (least, runs) = reduce_real(&program, &directory.path().join("least.ptx"), &[]).unwrap();
        assert!(least.size().tokens <= tokens, "{}", least.text());
        assert!(runs <= 100, "{runs}");
    }
}

/// Returns the root causes of a program's deviations: the class, the clause if the program is invalid, and
/// the known deviation, or `None` for an unknown one.
fn causes(ptxas: &dyn Subject, program: &Program) -> BTreeSet<Shows> {
    let module = program.module().unwrap();
    // ptxas supports no other target in place of these.
    let target = match module.targets().next() {
        Some("sm_10" | "sm_20" | "sm_30" | "sm_50" | "sm_60" | "sm_70") | None => "sm_75",
        Some(target) => target,
    };
    let parts = judge_data(ptxas, &Rules::default(), module, program.text(), target).unwrap();
    let refusal = match expect(module, &Rules::default()) {
        Expectation::Refused { refusal, .. } => refusal.clause.id(),
        _ => "",
    };
    let mut causes: BTreeSet<Shows> = BTreeSet::new();
    for part in parts {
        let Verdict::Deviates(difference) = part.verdict else { continue };
        let class = difference.class.name();
        let known = difference.explanation.map(|explanation| explanation.known).unwrap_or_default();
        // Each deviation is attributed to the first variable that shows it, which is the one that reduction
        // keeps.
        let first: Vec<_> =
            known.iter().filter(|id| !causes.iter().any(|shows| shows.known == Some(**id))).collect();
        causes.extend(first.into_iter().map(|&id| Shows { class, refusal, known: Some(id) }));
        if known.is_empty() {
            causes.insert(Shows { class, refusal, known: None });
        }
    }
    causes
}

/// Identifies a root cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shows {
    class: &'static str,
    refusal: &'static str,
    known: Option<&'static str>,
}

/// Returns findings of a generated campaign, each a program and one of its root causes, in the order of the
/// campaign. At most a fourth of them have the same cause, so that rare causes are included.
fn findings(ptxas: &dyn Subject, directory: &Path, wanted: usize) -> Vec<(Program, Shows)> {
    let generated = directory.join("gen");
    let count = (wanted * 200).to_string();
    let made =
        ptxsmith().args(["gen", "--seed", "7", "--count", &count, "--out"]).arg(&generated).output().unwrap();
    assert_eq!(status(&made), 0, "{}", stderr(&made));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&generated).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut findings = Vec::new();
    let mut of_cause: BTreeMap<Shows, usize> = BTreeMap::new();
    for files in files.chunks(64) {
        let shown = on_all_cores(files, |_, path| {
            // Parse the text as it is: some files are spaced so unusually that ptxas rejects them for this
            // alone. Files that we cannot parse are about white space and comments, and cannot be reduced as
            // trees.
            let program = Program::parse(&std::fs::read_to_string(path).unwrap()).ok()?;
            let causes = causes(ptxas, &program);
            Some((program, causes))
        });
        for (program, causes) in shown.into_iter().flatten() {
            for cause in causes {
                let count = of_cause.entry(cause.clone()).or_default();
                *count += 1;
                if *count <= wanted.div_ceil(4) && findings.len() < wanted {
                    findings.push((program.clone(), cause));
                }
            }
        }
        if findings.len() == wanted {
            break;
        }
    }
    assert_eq!(findings.len(), wanted, "too few findings among {count} programs: {of_cause:?}");
    findings
}

/// Uses a generated campaign with four findings, and with eight in a whole run.
#[test]
fn the_findings_of_a_campaign_reduce_to_few_texts_without_smaller_neighbours() {
    let Some(ptxas) = real_ptxas() else { return };
    let wanted = if is_whole() { 8 } else { 4 };
    let directory = tempfile::tempdir().unwrap();
    let findings = findings(&*ptxas, directory.path(), wanted);
    let reduced = on_all_cores(&findings, |nth, (program, cause)| {
        let path = file(directory.path(), &format!("{nth}.ptx"), program.text());
        let expected = ["--expect", cause.known.unwrap_or(cause.class)];
        let least = directory.path().join(format!("{nth}.least.ptx"));
        let (least, runs) = reduce_real(&path, &least, &expected)
            .unwrap_or_else(|error| panic!("{cause:?}: {error}{}", program.text()));
        let causes = causes(&*ptxas, &least);
        (least, causes, runs)
    });
    let mut texts: BTreeMap<&Shows, BTreeMap<&str, (&Program, u32)>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for ((program, cause), (least, causes, _)) in findings.iter().zip(&reduced) {
        // The reduced program, when it is run again, must have this cause and no other.
        if *causes != BTreeSet::from([cause.clone()]) {
            wrong.push(format!("{cause:?} became {causes:?}: {}of {}", least.text(), program.text()));
        }
        texts.entry(cause).or_default().entry(least.text()).or_insert((least, 0)).1 += 1;
    }
    let runs: Vec<u64> = reduced.iter().map(|(_, _, runs)| *runs).collect();
    println!("runs of ptxas: {} at most, {} in all", runs.iter().max().unwrap(), runs.iter().sum::<u64>());
    for (cause, texts) in &texts {
        for (text, (_, count)) in texts {
            println!("{cause:?}: {count} times {}", text.trim_end().replace('\n', " "));
        }
        if texts.len() > 3 {
            wrong.push(format!("{cause:?}: {} texts", texts.len()));
        }
    }
    let every: Vec<(&Shows, Program, Program)> = texts
        .iter()
        .flat_map(|(cause, texts)| texts.values().map(move |(least, _)| (*cause, *least)))
        .flat_map(|(cause, least)| neighbours(least).map(move |smaller| (cause, least.clone(), smaller)))
        .collect();
    println!("{} smaller neighbours are asked", every.len());
    let questions =
        |program: &Program| predict(program.module().unwrap(), &Rules::default()).trace().questions;
    let kept = on_all_cores(&every, |_, (cause, least, smaller)| {
        // Skip a program that meets further ambiguities, because its deviation is debatable.
        questions(least).has_all(questions(smaller))
            && causes(&*ptxas, smaller) == BTreeSet::from([(*cause).clone()])
    });
    for ((cause, least, smaller), _) in every.iter().zip(kept).filter(|(_, kept)| *kept) {
        wrong.push(format!("{cause:?}: {}is smaller than {}", smaller.text(), least.text()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
