//! What changes between releases, on programs that exist and on generated ones.

use crate::common::{Told, described, module, session};
use ptxsmith_campaign::Failure;
use ptxsmith_campaign::drift::{Drift, DriftOptions, ReleaseChange, drift};
use ptxsmith_campaign::input::InputProgram;
use ptxsmith_subject::{Description, Observation, Outcome, Request, SubjectSpec};
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows as wrong;

/// A release of one compiler that takes programs up to a version.
fn release(
    version: &str,
    max_ptx: Option<&str>,
    observe: impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + 'static,
) -> SubjectSpec {
    let description = Description {
        id: format!("fake@{version}"),
        name: "fake".to_owned(),
        version: Some(version.to_owned()),
        lineage: Some("nvidia".to_owned()),
        max_ptx: max_ptx.map(str::to_owned),
        ..Description::default()
    };
    described(description, observe)
}

fn program(name: &str, text: &str) -> InputProgram {
    InputProgram::parse(name.to_owned(), text.to_owned()).unwrap()
}

fn compared(releases: &[SubjectSpec], corpus: &[&str], cases: u64) -> Result<(Drift, Told), Failure> {
    let corpus = corpus.iter().map(|text| program("p", text)).collect();
    let (session, told) = session(4);
    let drift = drift(&session, &DriftOptions { releases: releases.to_vec(), corpus, cases: Some(cases) })?;
    Ok((drift, told.take()))
}

fn wide() -> impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync {
    wrong(&["warp-size-64"])
}

/// The change in short: between which, what goes, what comes, in how many programs.
fn told(change: &ReleaseChange) -> (&str, &str, String, String, u64) {
    (&change.from, &change.to, change.before.join(", "), change.after.join(", "), change.count)
}

#[test]
fn a_rule_that_a_release_breaks_and_the_next_one_mends_is_two_changes() {
    let releases =
        [release("1.0", Some("7.8"), right), release("2.0", None, wide()), release("3.0", None, right)];
    let corpus = [
        module(".global .u32 a = WARP_SZ + 1, b = 7;"),
        module(".global .u32 c = WARP_SZ + 5;"),
        module(".global .u32 d = 3;"),
        module(".global .u32 e = 1.0;"),
        // The first release does not take this one.
        module(".global .u32 f = WARP_SZ + 2;").replace("7.8", "8.0"),
    ];
    let corpus: Vec<&str> = corpus.iter().map(|text| &**text).collect();
    let (drift, session) = compared(&releases, &corpus, 0).unwrap();
    assert_eq!(drift.releases, ["fake@1.0", "fake@2.0", "fake@3.0"]);
    assert_eq!((drift.programs, drift.not_compared, drift.compared), (5, 1, true));
    let wide = "wrong-value as under the wrong rule warp-size-64";
    let changes: Vec<_> = drift.changes.iter().map(told).collect();
    assert_eq!(
        changes,
        [
            ("fake@1.0", "fake@2.0", "conforms".to_owned(), wide.to_owned(), 2),
            ("fake@2.0", "fake@3.0", wide.to_owned(), "conforms".to_owned(), 3),
        ]
    );
    for change in &drift.changes {
        // The shortest without its header.
        assert_eq!((&*change.program, &*change.shown), (corpus[1], ".global .u32 c = WARP_SZ + 5;\n"));
        assert!(change.clauses.contains(&"4.5.1/warp-size"), "{:?}", change.clauses);
    }
    assert_eq!(session.begun, [("files".to_owned(), Some(5)), ("cases".to_owned(), Some(0))]);
    assert_eq!(session.done, 5);
}

/// Whether such a program is accepted is not specified, so neither answer is a deviation, but that they
/// differ is a change.
#[test]
fn a_program_of_undecided_validity_that_the_next_release_refuses_is_a_change() {
    let refuses = |request: &Request<'_>| match request.ptx.contains(".pragma") {
        true => Observation::new(Outcome::Refused),
        false => right(request),
    };
    let releases = [release("1.0", None, right), release("2.0", None, right), release("3.0", None, refuses)];
    let (pragma, plain) = (module(".pragma \"nounroll\"; .global .u32 a;"), module(".global .u32 b = 3;"));
    let (drift, _) = compared(&releases, &[&pragma, &plain], 0).unwrap();
    let changes: Vec<_> = drift.changes.iter().map(told).collect();
    let [before, after] = ["accepted", "refused"].map(|outcome| format!("{outcome}, which is not specified"));
    assert_eq!(changes, [("fake@2.0", "fake@3.0", before, after, 1)]);
    assert_eq!((drift.programs, drift.not_compared), (2, 0));
}

#[test]
fn generated_cases_are_shown_to_all_releases_and_counted() {
    const CASES: u64 = 1_100;
    let releases = [release("1.0", None, right), release("2.0", None, wide())];
    let (drift, session) = compared(&releases, &[], CASES).unwrap();
    assert_eq!(session.begun, [("files".to_owned(), Some(0)), ("cases".to_owned(), Some(CASES))]);
    assert_eq!(session.done, CASES);
    let programs = drift.programs as u64;
    assert!(drift.compared && (CASES * 9 / 10..=CASES).contains(&programs), "{programs}");
    let wide = drift.changes.iter().filter(|change| change.after[0].contains("warp-size-64"));
    assert!(wide.count() > 0, "{:?}", drift.changes);
    assert!(drift.changes.iter().all(|change| change.program.contains("WARP_SZ")), "{:?}", drift.changes);
    // Two that do the same have no change.
    let same = [release("1.0", None, right), release("2.0", None, right)];
    let (same, _) = compared(&same, &[], CASES).unwrap();
    assert_eq!((&same.changes[..], same.programs), (&[][..], drift.programs));
}

#[test]
fn fewer_than_two_releases_and_releases_that_answer_nothing_show_nothing() {
    let one = compared(&[release("1.0", None, right)], &[], 1).map(|_| ());
    let Err(Failure::NoSubject(message)) = one else { panic!("{one:?}") };
    assert!(message.contains("fewer than two releases"), "{message}");
    let silent = |_: &Request<'_>| Observation::because(Outcome::Unsupported, "nothing is here");
    let text = module(".global .u32 a = 1;");
    let (none, _) =
        compared(&[release("1.0", None, silent), release("2.0", None, right)], &[&text], 0).unwrap();
    assert_eq!((none.programs, none.not_compared, none.compared), (1, 1, false));
    assert!(none.changes.is_empty(), "{:?}", none.changes);
}
