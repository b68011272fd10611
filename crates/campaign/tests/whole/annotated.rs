//! Reduced programs as files: what their comments say.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{module, session};
use ptxsmith_campaign::reducing::{
    ReducedFinding, ReductionBudget, ReductionGoal, ReductionOrigin, annotated, reduce_finding,
};
use ptxsmith_campaign::subjects::TestSubject;
use ptxsmith_subject::{Description, FnSubject, Observation, Outcome, Request};
use ptxsmith_syntax::parse;
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows as wrong;

/// An implementation of this version that does this.
fn tested(
    version: Option<&str>,
    observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
) -> TestSubject {
    let id = "exec:an assembler".to_owned();
    let version = version.map(str::to_owned);
    let description = Description { id, version, relocations: Some(true), ..Description::default() };
    TestSubject::new(Box::new(FnSubject::new("fake", observe).described(description)))
}

fn reduced(tested: &TestSubject, text: &str, as_text: bool) -> ReducedFinding {
    let (session, _) = session(1);
    let (wanted, budget) = (ReductionGoal::default(), ReductionBudget::default());
    reduce_finding(&session, tested, text, as_text, wanted, budget, &mut |_, _| ()).unwrap()
}

/// The file of a reduced program.
fn file(tested: &TestSubject, shrunk: &ReducedFinding, text: &str) -> String {
    let origin = ReductionOrigin { name: "a.ptx", text, out: Path::new("least of all.ptx") };
    annotated(tested, shrunk, &origin, &AtomicU64::new(0)).unwrap()
}

/// Dies of a remainder, and of what is no PTX.
fn dies(request: &Request<'_>) -> Observation {
    match parse(request.ptx).is_err() || request.ptx.contains('%') {
        true => Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) },
        false => right(request),
    }
}

#[test]
fn comments_say_what_holds_what_was_seen_and_where_it_comes_from() {
    let tested = tested(Some("1.2"), dies);
    let text = module(".global .s32 x[2] = {1, 7 % 4};\n.global .u8 y;");
    let shrunk = reduced(&tested, &text, false);
    let found = format!("// note: found by ptxsmith 0.1, seed 7, case 12\n// expect: accepted\n{text}");
    let version = env!("CARGO_PKG_VERSION");
    let steps = shrunk.reduced.steps;
    assert!(steps > 0);
    let said = file(&tested, &shrunk, &found);
    let (comments, program): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("//"));
    assert_eq!(program.join("\n") + "\n", module(".global .s32 a = 0 % 1;"));
    assert!(comments[0].starts_with("// clause: 4.5/"), "{said}");
    let rest = [
        "// expect: accepted",
        "// variable: a size=4 align=4 bytes=00000000",
        "// note: exec:an assembler (1.2): crash (signal 11)",
        "// note: exec:an assembler (1.2): killed by signal 11 (SIGSEGV)",
        "// note: repeat: ptxsmith check 'least of all.ptx' --subject 'exec:an assembler'",
        &format!("// note: reduced by ptxsmith {version} from a.ptx, {steps} steps"),
        "// note: found by ptxsmith 0.1, seed 7, case 12",
    ];
    assert_eq!(comments[1..], rest, "{said}");
}

#[test]
fn of_what_is_suspected_the_bytes_that_were_seen_are_said() {
    let tested = tested(None, wrong(&["octal-as-decimal"]));
    let text = module(".global .s32 x[2] = {1, 017};");
    let shrunk = reduced(&tested, &text, false);
    let said = file(&tested, &shrunk, &text);
    for line in [
        "// expect: accepted\n",
        "// variable: a size=4 align=4 bytes=08000000\n",
        "// note: exec:an assembler: wrong-value (suspected: octal-as-decimal)\n",
        "// note: exec:an assembler: a: 0a000000",
    ] {
        assert!(said.contains(line), "no {line} in {said}");
    }
    assert!(!said.contains("found by") && said.ends_with(&module(".global .s32 a = 010;")), "{said}");
}

#[test]
fn what_is_no_ptx_or_shows_nothing_any_more_has_no_comments() {
    let of_text = tested(None, dies);
    let shrunk = reduced(&of_text, "no PTX /*", true);
    assert_eq!(file(&of_text, &shrunk, "no PTX /*"), shrunk.reduced.program.text());
    let mended = std::sync::Arc::new(AtomicBool::new(false));
    let is_mended = mended.clone();
    let tested = tested(None, move |request| match is_mended.load(Ordering::Relaxed) {
        true => right(request),
        false => dies(request),
    });
    let text = module(".global .s32 x = 7 % 4;");
    let shrunk = reduced(&tested, &text, false);
    mended.store(true, Ordering::Relaxed);
    assert_eq!(file(&tested, &shrunk, &text), module(".global .s32 a = 0 % 1;"));
}
