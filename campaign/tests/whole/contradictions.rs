//! Variants of files, shown to implementations that do not make the same of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::common::{Told, implementation, module, refusal, right, session};
use ptxsmith_campaign::check::{Options, check};
use ptxsmith_gen::Variants;
use ptxsmith_gen::variants::Kind;
use ptxsmith_report::{Finding, Report};
use ptxsmith_subject::{Observation, Outcome as Seen, Request, SubjectSpec, Variable};
use ptxsmith_syntax::parse;

/// Two statements, of which one names the other, and one that neither needs.
const DECLARATIONS: &str =
    ".global .u32 a = 16;\n.global .u32 b = 7, c = 9;\n.global .u64 p = b;\n.global .f32 f[3] = {1.5, 2.5};";

/// Reads a binary number with an upper-case prefix as a hexadecimal one.
fn misreads(request: &Request<'_>) -> Observation {
    let ptx = request.ptx.replace("0B", "0x");
    right(&Request { ptx: &ptx, ..*request })
}

/// Dies of such a number.
fn dies(request: &Request<'_>) -> Observation {
    match request.ptx.contains("0B") {
        true => Observation { signal: Some(11), ..Observation::new(Seen::Crashed) },
        false => right(request),
    }
}

/// Whether either of the two does otherwise with this variant.
fn is_telling(variants: &Variants, seed: u64, index: u64) -> bool {
    variants.make(&variants.draw(seed, index)).text.contains("0B")
}

/// Shows so many variants of each file. The lines are told without the folder.
fn shown(seed: u64, subjects: &[SubjectSpec], files: &[PathBuf], variants: u64) -> (Report, Told) {
    let (session, told) = session(seed);
    let options = Options {
        files: files.to_vec(),
        subjects: subjects.to_vec(),
        timeout: None,
        variants,
        by_case: false,
        out: None,
        replace: false,
        counterpart: |_| None,
    };
    let report = check(&session, options).unwrap().report;
    let mut told = told.take();
    let name = |line: &String| line.rsplit('/').next().unwrap().to_owned();
    told.judged = told.judged.iter().filter(|line| line.contains("variants hold")).map(name).collect();
    told.judged.sort();
    (report, told)
}

fn write(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, module(DECLARATIONS)).unwrap();
    path
}

fn the_one(report: &Report) -> &Finding {
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    finding
}

/// What becomes of more variants than are shown together.
const MANY: u64 = 40;

#[test]
fn every_variant_of_every_file_is_shown_to_every_subject_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.ptx", "b.ptx"].map(|name| write(folder.path(), name));
    let subjects = [implementation("right", right), implementation("misreads", misreads)];
    let (report, told) = shown(3, &subjects, &files, MANY);
    let variants = Variants::new(parse(&module(DECLARATIONS)).unwrap());
    let other = (0..MANY).filter(|&index| is_telling(&variants, 3, index)).count() as u64;
    assert!((5..MANY - 5).contains(&other), "{other}");
    let lines = ["a.ptx", "b.ptx"].map(|name| {
        let right = format!("{name}: right: {MANY} variants hold the same");
        let misreads = format!("{name}: misreads: {} variants hold the same, {other} do not", MANY - other);
        [misreads, right]
    });
    assert_eq!(told.judged, lines.as_flattened());
    assert_eq!(told.begun, [("files".to_owned(), Some(2)), ("variants".to_owned(), Some(2 * MANY))]);
    assert_eq!(told.done, 2 + 2 * MANY);
    // Five variables of each file, and each variant as a whole, for each subject.
    assert_eq!((report.compared, report.conform), (4 * (5 + MANY), 4 * (5 + MANY) - 2 * other));
    let finding = the_one(&report);
    assert_eq!((&*finding.class, &*finding.id), ("inconsistent", "inconsistent-integer-spelling"));
    assert_eq!((finding.count, &finding.subjects[..]), (2 * other, &["misreads".to_owned()][..]));
}

#[test]
fn a_variant_that_differs_is_made_as_small_as_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.ptx");
    let variants = Variants::new(parse(&module(DECLARATIONS)).unwrap());
    // One that is written otherwise in many ways.
    let is_many = |seed: &u64| {
        let edits = variants.draw(*seed, 0);
        let kinds: BTreeSet<Kind> = edits.iter().map(|edit| edit.kind).collect();
        is_telling(&variants, *seed, 0) && kinds.len() >= 6 && edits.len() >= 12
    };
    for seed in (0..).filter(is_many).take(3) {
        let asked = Arc::new(Mutex::new(0));
        let counts = Arc::clone(&asked);
        let subject = implementation("misreads", move |request: &Request<'_>| {
            *counts.lock().unwrap() += 1;
            misreads(request)
        });
        let (report, told) = shown(seed, &[subject], std::slice::from_ref(&file), 1);
        assert_eq!(told.judged, ["a.ptx: misreads: 0 variants hold the same, 1 do not"]);
        let finding = the_one(&report);
        assert_eq!(finding.id, "inconsistent-integer-spelling", "seed {seed}");
        assert_eq!(finding.example().expected["edits"], serde_json::json!(["integer-spelling"]));
        // The header, and the statement that has the number: with one edit in it.
        let (own, other) = (&finding.program, finding.same_as.as_ref().unwrap());
        let differ: Vec<_> = own.lines().zip(other.lines()).filter(|(own, other)| own != other).collect();
        let [(own_line, other_line)] = differ[..] else { panic!("{own}\n{other}") };
        assert_eq!(own.matches("0B").count(), 1, "{own}");
        assert!(own_line.contains("0B") && module(DECLARATIONS).contains(other_line), "{own}\n{other}");
        assert_eq!((own.lines().count(), other.lines().count()), (4, 4), "{own}\n{other}");
        let asked = *asked.lock().unwrap();
        assert!(asked < 60, "it was asked {asked} times");
    }
}

#[test]
fn a_variant_that_an_implementation_dies_of_is_a_crash_and_no_contradiction() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.ptx");
    let (report, told) = shown(3, &[implementation("dies", dies)], std::slice::from_ref(&file), MANY);
    let variants = Variants::new(parse(&module(DECLARATIONS)).unwrap());
    let other = (0..MANY).filter(|&index| is_telling(&variants, 3, index)).count() as u64;
    let line = format!("a.ptx: dies: {} variants hold the same, {other} do not", MANY - other);
    assert_eq!(told.judged, [line]);
    let finding = the_one(&report);
    assert_eq!((&*finding.class, finding.count, &finding.same_as), ("crash", other, &None));
    assert!(finding.program.contains("0B"), "{}", finding.program);
    // Of a file that it dies of itself, no variant says more.
    let always = |_: &Request<'_>| Observation { signal: Some(11), ..Observation::new(Seen::Crashed) };
    let (report, told) = shown(3, &[implementation("always", always)], &[file], 3);
    assert_eq!(told.judged, ["a.ptx: always: 0 variants hold the same"]);
    assert_eq!((report.compared, the_one(&report).count), (1, 1));
}

#[test]
fn what_gives_no_answer_once_or_lacks_the_variant_contradicts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.ptx");
    // No answer in time when it sees a program for the first time, but for the file itself.
    let seen = Arc::new(Mutex::new(BTreeSet::from([module(DECLARATIONS)])));
    let slow = implementation("slow", move |request: &Request<'_>| {
        match seen.lock().unwrap().insert(request.ptx.to_owned()) {
            true => Observation::new(Seen::TimedOut),
            false => right(request),
        }
    });
    let lacks = implementation("lacks", |request: &Request<'_>| match request.ptx == module(DECLARATIONS) {
        true => right(request),
        false => Observation::because(Seen::Unsupported, "another program"),
    });
    for (subject, id, reason) in [(slow, "slow", "unobserved"), (lacks, "lacks", "unsupported")] {
        let (report, told) = shown(3, &[subject], std::slice::from_ref(&file), 3);
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        assert_eq!((report.compared, report.not_compared[reason]), (5, 3), "{id}");
        assert_eq!(told.judged, [format!("a.ptx: {id}: 0 variants hold the same")]);
    }
}

#[test]
fn a_refusal_of_one_spelling_is_a_contradiction_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.ptx");
    let refuses = implementation("refuses", |request: &Request<'_>| {
        let at = request.ptx.lines().position(|line| line.contains("0B"));
        at.map_or_else(|| right(request), |at| refusal(at as u32 + 1, "a bad number"))
    });
    let (report, _) = shown(3, &[refuses], &[file], MANY);
    let finding = the_one(&report);
    assert_eq!((&*finding.class, &finding.example().variable), ("inconsistent", &None));
    // The whole program is shown: no variable is at fault.
    assert_eq!(finding.same_as.as_deref(), Some(&*module(DECLARATIONS)));
}

#[test]
fn a_constant_that_is_another_one_in_another_variable_is_shown_beside_that_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.ptx");
    // The file has no variable in this state space: those that variants add are not what they have to be.
    let spoils = implementation("spoils", |request: &Request<'_>| {
        let mut seen = right(request);
        let of_const = |variable: &&mut Variable| variable.space.as_deref() == Some("const");
        for variable in seen.variables.values_mut().filter(of_const) {
            variable.bytes.iter_mut().flatten().for_each(|byte| *byte = !*byte);
        }
        seen
    });
    let (report, _) = shown(3, &[spoils], &[file], MANY);
    let finding = the_one(&report);
    assert_eq!((&*finding.class, &*finding.id), ("inconsistent", "inconsistent-contexts"));
    let other = finding.same_as.as_ref().unwrap();
    let statements = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    let ([kept], [own, added]) = (&statements(other)[..], &statements(&finding.program)[..]) else {
        panic!("{other}\n{}", finding.program)
    };
    assert!(own == kept && module(DECLARATIONS).contains(kept), "{other}\n{}", finding.program);
    assert!(added.starts_with(".const "), "{added}");
}
