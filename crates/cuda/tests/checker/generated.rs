//! Compares the checker with the oracle on generated uses. The two implementations of the rule share no code.
//!
//! Tests part of the generator's table and 700 random cases; with `PTXSMITH_WHOLE=1`, the whole table. Uses
//! of floating-point types are also judged for Microsoft's host compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ptxsmith_cuda::check::{CheckOptions, FileReport, Violation, check, find_clang};
use ptxsmith_cuda::generate::CaseGenerator;
use ptxsmith_cuda::language::{CudaCase, PrintedCase, Standard, print};
use ptxsmith_cuda::oracle::{is_clear, judge};
use ptxsmith_cuda::reading::{RuleInterpretations, RuleQuestion};
use ptxsmith_testing::is_whole;

/// Counts of the uses by outcome.
#[derive(Default)]
struct Tally {
    uses: usize,
    clear: usize,
    right: usize,
    /// Clear uses that the checker reports as undecided.
    said: usize,
    wrong: Vec<String>,
}

#[test]
fn clear_uses_get_the_oracles_verdict_and_host_code_gets_none() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker on generated uses: clang is not in PATH");
        return;
    };
    let table = CaseGenerator::table_len();
    let generator = CaseGenerator::new(11);
    let parts = (0..table).step_by(if is_whole() { 1 } else { 67 });
    let cases: Vec<CudaCase> = parts.chain(table..table + 700).map(|id| generator.case(id)).collect();
    let literal = RuleInterpretations::default();
    let microsoft = literal.with(RuleQuestion::HostCompiler);
    let floating: Vec<CudaCase> =
        cases.iter().filter(|case| case.declaration.ty.is_floating()).cloned().collect();
    for (name, base, cases) in [("any", literal, &cases), ("Microsoft's", microsoft, &floating)] {
        let mut tally = Tally::default();
        for standard in Standard::ALL {
            let cases: Vec<&CudaCase> = cases.iter().filter(|case| case.standard() == standard).collect();
            for part in cases.chunks(800) {
                show(&clang, standard, base, part, &mut tally);
            }
        }
        let Tally { uses, clear, right, said, wrong } = tally;
        println!(
            "host compiler {name}: {uses} uses, {clear} clear, {right} right, {said} said to be undecided, {} wrong",
            wrong.len()
        );
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(clear * 2 > uses && said * 100 <= clear, "{uses} uses, {clear} clear, {said} said");
        assert!(name != "any" || uses > 1000, "{uses}");
    }
}

fn checked(clang: &Path, standard: Standard, base: RuleInterpretations, lines: &[PrintedCase]) -> FileReport {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("generated.cu");
    fs::write(&file, lines.iter().map(|printed| printed.line.clone() + "\n").collect::<String>()).unwrap();
    let mut options = CheckOptions::new(clang.to_owned());
    options.flags = vec![format!("-std={}", standard.name()).into()];
    options.interpretations = base;
    check(&file, &options).unwrap()
}

/// Checks these uses in one file and tallies the outcomes.
///
/// Rechecks a use in a file of its own if the checker missed it. Only then it is known whether a report of
/// undecided code is about this use.
fn show(clang: &Path, standard: Standard, base: RuleInterpretations, cases: &[&CudaCase], tally: &mut Tally) {
    let printed: Vec<PrintedCase> = cases.iter().map(|case| print(case)).collect();
    let report = checked(clang, standard, base, &printed);
    if report.is_incomplete {
        tally.wrong.push(report.not_analysed.join("\n"));
    }
    let mut by_line: BTreeMap<u32, Vec<&Violation>> = BTreeMap::new();
    for finding in &report.findings {
        by_line.entry(finding.line).or_default().push(finding);
    }
    tally.uses += cases.len();
    for (index, (case, printed)) in cases.iter().zip(&printed).enumerate() {
        let found = by_line.get(&(index as u32 + 1)).map_or(&[][..], |found| &found[..]);
        let verdict = judge(case, base).verdict;
        let is_host = case.place.is_host() && !printed.line.contains("__device__");
        if is_host && !found.is_empty() {
            tally.wrong.push(format!("host code: {found:?}\n  {}", printed.line));
        }
        if verdict.refuses().is_none() || !is_clear(case, base) {
            continue;
        }
        tally.clear += 1;
        let is_right = match (verdict.primary(), found) {
            (None, []) => true,
            (Some(key), [only]) => only.keys[0] == key && only.column as usize == printed.column,
            _ => false,
        };
        if is_right {
            tally.right += 1;
        } else if found.is_empty()
            && !checked(clang, standard, base, std::slice::from_ref(printed)).not_analysed.is_empty()
        {
            tally.said += 1;
        } else {
            tally.wrong.push(format!("{verdict:?} {found:?}\n  {}", printed.line));
        }
    }
}
