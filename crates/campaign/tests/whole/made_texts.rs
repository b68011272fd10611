//! Programs that are made by number, cells of tables and edits of files: how they are judged, and what is
//! counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::bare::is_bare;
use crate::common::{Recorder, implementation, module, refusal, session};
use ptxsmith_campaign::mutate::mutate;
use ptxsmith_campaign::places::places;
use ptxsmith_campaign::session::Session;
use ptxsmith_campaign::texts::TextOptions;
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_diff::Class;
use ptxsmith_gen::{Places, RawEdits};
use ptxsmith_oracle::{Kernel, Rules, Validity, predict};
use ptxsmith_report::Report;
use ptxsmith_subject::{Observation, Outcome as Seen, Request, SubjectSpec};
use ptxsmith_syntax::parse;
use ptxsmith_testing::right;

const SEED: u64 = 3;

/// Options that show so many programs and say what becomes of each.
fn options(subject: SubjectSpec, cases: Option<u64>, out: &Path) -> TextOptions {
    TextOptions {
        subjects: vec![subject],
        timeout: None,
        cases,
        unlimited: false,
        reduce: None,
        by_case: true,
        out: out.to_owned(),
        replace: true,
    }
}

/// Does what is right with what parses, and refuses the rest.
fn reads(request: &Request<'_>) -> Observation {
    match parse(request.ptx) {
        Ok(_) => right(request),
        Err(_) => refusal(1, "no statements"),
    }
}

/// Dies of what has this token, and does what is right with the rest.
fn dies_of(token: &'static str) -> SubjectSpec {
    implementation("dies", move |request: &Request<'_>| match request.ptx.contains(token) {
        true => Observation { signal: Some(11), ..Observation::new(Seen::Crashed) },
        false => reads(request),
    })
}

/// How many programs stand with each letter in a report.
fn standings(report: &Report) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for case in &report.cases {
        *counts.entry(&*case.standings).or_default() += 1;
    }
    counts
}

/// What the specification says of a text: valid, refused, undecided.
fn validities(texts: &[String]) -> [usize; 3] {
    let validity = |text: &String| match parse(text) {
        Ok(module) => predict(&module, &Rules::default()).validity(),
        Err(_) => Validity::Undecided,
    };
    let all: Vec<Validity> = texts.iter().map(validity).collect();
    [Validity::Valid, Validity::Refused, Validity::Undecided]
        .map(|one| all.iter().filter(|&&own| own == one).count())
}

/// More than two times as many as are shown together.
const CELLS: u64 = 1_100;

#[test]
fn cells_are_counted_by_what_the_specification_says_of_them() {
    if !is_bare("made_texts::cells_are_counted_by_what_the_specification_says_of_them", "") {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let tables = Places::new();
    let texts: Vec<String> = (0..CELLS).map(|n| tables.cell(tables.nth(SEED, n)).text).collect();
    let [valid, refused, undecided] = validities(&texts);
    assert!(valid > 20 && refused > 100 && undecided > 100, "{valid} {refused} {undecided}");
    // The most kernels that were shown in one module, beyond those that a cell has itself.
    let most = Arc::new(Mutex::new(0));
    let kernels = |text: &str| text.matches(".entry").count();
    let own = texts.iter().map(|text| kernels(text)).max().unwrap();
    let seen = Arc::clone(&most);
    let subject = implementation("right", move |request: &Request<'_>| {
        let count = kernels(request.ptx);
        if count > own {
            // Beside each other are shown those of which it is known what they leave, and nothing else.
            let shown = predict(&parse(request.ptx).unwrap(), &Rules::default()).kernels;
            assert!(shown.len() == count && shown.iter().all(Kernel::leaves_output), "{}", request.ptx);
        }
        let mut most = seen.lock().unwrap();
        *most = count.max(*most);
        drop(most);
        reads(request)
    });
    let (session, told) = session(SEED);
    let outcome = places(&session, &[], &options(subject, Some(CELLS), out.path())).unwrap();
    let told = told.take();
    assert!(outcome.report.findings.is_empty(), "{:#?}", outcome.report.findings);
    assert_eq!((&told.begun[..], told.done), (&[("cells".to_owned(), Some(CELLS))][..], CELLS));
    let most = *most.lock().unwrap();
    assert!(most > own + 5, "of {most} kernels together, a cell has up to {own}");
    // What was compared is what conforms, each cell by its name.
    let report = &outcome.report;
    assert_eq!(report.cases.len() as u64, CELLS);
    let cell = tables.cell(tables.nth(SEED, CELLS - 1));
    let last = report.cases.iter().find(|case| case.name == format!("cell {}", cell.name)).unwrap();
    assert_eq!(last.program, cell.text);
    let compared = standings(report)["c"];
    assert!(compared >= valid + refused, "{compared} of {valid} and {refused}");
    let note = format!(
        "of {CELLS} cells the specification takes {valid}, refuses {refused}, does not decide {undecided}; something of {compared} was compared"
    );
    assert_eq!(told.notes.last(), Some(&note));
}

#[test]
fn cells_of_a_name_are_shown_in_their_order_and_no_others() {
    if !is_bare("made_texts::cells_of_a_name_are_shown_in_their_order_and_no_others", "") {
        return;
    }
    let tables = Places::new();
    let (family, size) = tables.families().min_by_key(|(_, count)| *count).unwrap();
    let first = tables.find(family).unwrap().start;
    let one = tables.cell((first + size) % tables.count()).name;
    let shown = |names: &[String], cases| {
        let out = tempfile::tempdir().unwrap();
        let (session, told) = session(SEED);
        let subject = implementation("right", reads);
        let outcome = places(&session, names, &options(subject, cases, out.path()));
        (outcome.map(|outcome| outcome.report), told.take())
    };
    let names = [one.clone(), family.to_owned()];
    let (report, told) = shown(&names, None);
    assert_eq!(told.begun, [("cells".to_owned(), Some(size + 1))]);
    let mut expected: Vec<String> = (first..first + size).map(|index| tables.cell(index).name).collect();
    expected.push(one.clone());
    expected.sort();
    let mut own: Vec<String> = report.unwrap().cases.into_iter().map(|case| case.name).collect();
    own.sort();
    assert_eq!(own, expected.iter().map(|name| format!("cell {name}")).collect::<Vec<_>>());
    assert!(told.notes.last().unwrap().starts_with(&format!("of {} cells", size + 1)), "{:?}", told.notes);
    // The first of them, where fewer are asked for.
    let (report, _) = shown(&names, Some(1));
    assert_eq!(report.unwrap().cases[0].name, format!("cell {one}"));
    let (failed, _) = shown(&["no such cell".to_owned()], None);
    let Err(Failure::BadInput(message)) = failed else { panic!("{failed:?}") };
    assert!(message.contains("nothing is named `no such cell`") && message.contains(family), "{message}");
}

/// What is edited: the first part of what each file declares is what an implementation may die of.
const FILES: [(&str, &str); 2] = [
    ("a.ptx", ".global .u32 mortal = 1 + 2;\n.global .f32 f = 1.5;"),
    ("b.ptx", ".global .u64 b[2] = {mortal, 4};\n.global .u32 c = 5;"),
];

/// Edits these files, and two that cannot be edited.
fn edited(session: &Session, folder: &Path, options: TextOptions) -> Result<CampaignOutcome, Failure> {
    let mut files = vec![folder.join("missing.ptx")];
    for (name, declarations) in FILES {
        files.push(folder.join(name));
        fs::write(folder.join(name), module(declarations)).unwrap();
    }
    files.push(folder.join("split.ptx"));
    fs::write(folder.join("split.ptx"), "/* no end").unwrap();
    mutate(session, &files, options)
}

#[test]
fn whatever_an_edit_makes_of_a_program_no_subject_may_die_of_it() {
    const CASES: u64 = 600;
    if !is_bare("made_texts::whatever_an_edit_makes_of_a_program_no_subject_may_die_of_it", "") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (folder, out) = (folder.path(), folder.path().join("out"));
    let (session, told) = session(SEED);
    let outcome = edited(&session, folder, options(dies_of("mortal"), Some(CASES), &out)).unwrap();
    let told = told.take();
    assert!(outcome.left_out);
    let [missing, split] = &told.left_out[..] else { panic!("{:?}", told.left_out) };
    assert!(
        missing.contains("missing.ptx: no such file") && split.contains("split.ptx"),
        "{missing} {split}"
    );
    assert_eq!((&told.begun[..], told.done), (&[("programs".to_owned(), Some(CASES))][..], CASES));
    let texts = FILES.map(|(_, declarations)| module(declarations));
    let edits = RawEdits::new(texts.iter().map(|text| &**text)).unwrap();
    let made: Vec<String> = (0..CASES).map(|number| edits.case(SEED, number)).collect();
    let report = outcome.report;
    for (number, text) in made.iter().enumerate() {
        let name = format!("--mutate, seed {SEED}, edit {number}");
        let case = report.cases.iter().find(|case| case.name == name).unwrap();
        assert_eq!(&case.program, text, "{name}");
        assert_eq!(case.standings == "x", text.contains("mortal"), "{name}: {}\n{text}", case.standings);
    }
    let unread = made.iter().filter(|text| text.contains("mortal") && parse(text).is_err()).count();
    assert!(unread > 20, "{unread}");
    let crashes = report.findings.iter().all(|finding| finding.class == Class::Crash);
    assert!(crashes && !report.findings.is_empty(), "{:#?}", report.findings);
    // Of a text that is no sequence of statements it is no mistake to take it.
    let takes = implementation("takes", |_: &Request<'_>| Observation::new(Seen::Accepted));
    let report = edited(&session, folder, options(takes, Some(CASES), &out)).unwrap().report;
    let mut counts = [0; 2];
    for case in &report.cases {
        match parse(&case.program) {
            Err(_) => {
                counts[0] += 1;
                assert_eq!(case.standings, "n", "{}", case.program);
            }
            Ok(module) => {
                let prediction = predict(&module, &Rules::default());
                if prediction.validity() == Validity::Refused && prediction.undecided.is_empty() {
                    // Some are taken under another answer to an open question.
                    assert!(["a", "c"].contains(&&*case.standings), "{}", case.program);
                    counts[1] += usize::from(case.standings == "a");
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn without_a_number_of_edits_there_are_so_many_as_are_usual_or_no_end() {
    if !is_bare("made_texts::without_a_number_of_edits_there_are_so_many_as_are_usual_or_no_end", "") {
        return;
    }
    for (unlimited, count) in [(false, Some(20_000)), (true, None)] {
        let folder = tempfile::tempdir().unwrap();
        let (session, told) = stopping();
        let subject = implementation("right", reads);
        let options = TextOptions { unlimited, ..options(subject, None, &folder.path().join("out")) };
        let outcome = edited(&session, folder.path(), options).unwrap();
        assert!(outcome.interrupted && outcome.left_out);
        assert_eq!(told.take().begun, [("programs".to_owned(), count)]);
    }
    // Where no file can be edited there is nothing to do; all that can be, leave none out.
    let folder = tempfile::tempdir().unwrap();
    let (empty, full) = (folder.path().join("empty.ptx"), folder.path().join("full.ptx"));
    fs::write(&empty, "").unwrap();
    fs::write(&full, module(FILES[0].1)).unwrap();
    let out = folder.path().join("out");
    let one = || options(implementation("right", reads), Some(1), &out);
    let (session, _) = session(SEED);
    let failed = mutate(&session, std::slice::from_ref(&empty), one()).map(|_| ());
    let Err(Failure::BadInput(message)) = failed else { panic!("{failed:?}") };
    assert!(message.contains("no program there to edit"), "{message}");
    assert!(!mutate(&session, &[empty, full], one()).unwrap().left_out);
}

/// A session that was stopped before it began.
fn stopping() -> (Session, Recorder) {
    let (session, told) = session(SEED);
    session.cancel.cancel();
    (session, told)
}
