//! The question whether programs still show a finding: how often an implementation is asked, and what it is
//! shown.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::module;
use ptxsmith_campaign::Failure;
use ptxsmith_campaign::judges::judge;
use ptxsmith_campaign::reducing::{Bounds, Cause, InterestingnessTest, SameCause};
use ptxsmith_campaign::subjects::TestSubject;
use ptxsmith_diff::Verdict;
use ptxsmith_reduce::{Answer, Program, Question, ReduceOptions, SearchEnd, reduce};
use ptxsmith_subject::{Cancel, FnSubject, Limits, Observation, Outcome, OutputForm, Request};
use ptxsmith_syntax::parse;
use ptxsmith_testing::right;

/// An implementation under test that does this.
fn tested(observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static) -> TestSubject {
    TestSubject::new(Box::new(FnSubject::new("fake", observe)))
}

/// Stores 41 for each byte 42 of a program that is shown in such a way.
fn less_42(where_: fn(&Request<'_>) -> bool) -> TestSubject {
    tested(move |request| {
        let mut seen = right(request);
        let variables = seen.variables.values_mut().filter(|_| where_(request));
        for bytes in variables.filter_map(|variable| variable.bytes.as_mut()) {
            bytes.iter_mut().filter(|byte| **byte == 42).for_each(|byte| *byte = 41);
        }
        seen
    })
}

fn dies_of(word: &'static str) -> TestSubject {
    tested(move |request| match request.ptx.contains(word) {
        true => Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) },
        false => right(request),
    })
}

/// The cause of what a program shows.
fn cause_of(tested: &TestSubject, text: &str) -> Cause {
    let module = parse(text).unwrap();
    let parts = judge(&*tested.subject, &tested.rules, &module, text).unwrap().parts();
    let part = parts.iter().find(|part| matches!(part.verdict, Verdict::Deviates(_)));
    Cause::from_part(&module, part.expect("a deviation"), None).unwrap()
}

/// Returns the answers for programs, the last of which shows the cause, and how often the implementation ran.
fn asked(tested: &TestSubject, jobs: usize, programs: &[String]) -> (Vec<Answer>, u64) {
    let cause = cause_of(tested, programs.last().unwrap());
    let (processes, cancel) = (AtomicU64::new(0), Cancel::new());
    let limits = Bounds { jobs, until: None, cancel: &cancel };
    let programs: Vec<Program> = programs.iter().map(|text| Program::parse(text).unwrap()).collect();
    let answers = SameCause::new(tested, &cause, limits, &processes).ask(&programs);
    (answers, processes.into_inner())
}

/// So many answers of no.
fn no(count: usize) -> Vec<Answer> {
    vec![Answer::No; count]
}

/// Programs that store these numbers, each under the header.
fn storing(numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|number| module(&format!(".global .s32 a = {number};"))).collect()
}

#[test]
fn three_programs_are_shown_in_one_module_and_two_each_by_itself() {
    let tested = less_42(|_| true);
    let cause = cause_of(&tested, &storing(&[42])[0]);
    let ask = |numbers: &[u32]| {
        let (processes, cancel) = (AtomicU64::new(0), Cancel::new());
        let limits = Bounds { jobs: 1, until: None, cancel: &cancel };
        let programs: Vec<Program> =
            storing(numbers).iter().map(|text| Program::parse(text).unwrap()).collect();
        let answers = SameCause::new(&tested, &cause, limits, &processes).ask(&programs);
        (answers, processes.into_inner())
    };
    assert_eq!(ask(&[1, 2]), (no(2), 2));
    assert_eq!(ask(&[1, 2, 3]), (no(3), 1));
    assert_eq!(ask(&[1, 2, 3, 4, 5, 6, 7, 8]), (no(8), 1));
    // What is behind the first yes is not looked at.
    let (answers, processes) = ask(&[1, 42, 3, 42]);
    assert_eq!(answers, [Answer::No, Answer::Yes]);
    assert!(processes > 1, "a yes is the answer for the program alone");
}

#[test]
fn a_batch_has_the_header_and_the_form_of_its_programs() {
    let sm_90 = |text: &String| text.replace("sm_80", "sm_90");
    let only_sm_90 = || less_42(|request| request.ptx.contains("sm_90"));
    let all: Vec<String> = storing(&[1, 2, 42]).iter().map(sm_90).collect();
    assert_eq!(asked(&only_sm_90(), 1, &all).0, [Answer::No, Answer::No, Answer::Yes]);
    // Under two headers, each is shown by itself.
    let mut mixed = storing(&[1, 2, 42]);
    mixed[2] = sm_90(&mixed[2]);
    let (answers, processes) = asked(&only_sm_90(), 1, &mixed);
    assert_eq!((answers, processes), (vec![Answer::No, Answer::No, Answer::Yes], 3));
    // What holds the address of a constant shows all of it before it is linked.
    let only_relocatable = less_42(|request| request.form == OutputForm::Relocatable);
    let addresses: Vec<String> = storing(&[1, 2, 42])
        .iter()
        .map(|text| format!("{text}.const .u8 c;\n.global .u64 p = c;\n"))
        .collect();
    assert_eq!(asked(&only_relocatable, 1, &addresses).0, [Answer::No, Answer::No, Answer::Yes]);
    assert_eq!(asked(&only_relocatable, 1, &addresses[2..]).0, [Answer::Yes]);
}

#[test]
fn programs_that_live_are_shown_twice_as_many_each_time_and_one_that_dies_is_found_by_halves() {
    let tested = dies_of("%");
    let cause = cause_of(&tested, &module(".global .s32 a = 7 % 4;"));
    let ask = |programs: &[Program]| {
        let (processes, cancel) = (AtomicU64::new(0), Cancel::new());
        let limits = Bounds { jobs: 1, until: None, cancel: &cancel };
        let answers = SameCause::new(&tested, &cause, limits, &processes).ask(programs);
        (answers, processes.into_inner())
    };
    let mut programs: Vec<Program> =
        storing(&[0, 1, 2, 3, 4, 5, 6]).iter().map(|text| Program::parse(text).unwrap()).collect();
    // One, two, and four of them.
    assert_eq!(ask(&programs), (no(7), 3));
    assert_eq!(ask(&programs[..3]), (no(3), 2));
    for at in 0..programs.len() {
        let before = programs[at].clone();
        programs[at] = Program::parse(&module(".global .s32 a = 5 % 3;")).unwrap();
        let (answers, processes) = ask(&programs);
        assert_eq!(answers, [no(at), vec![Answer::Yes]].concat());
        assert!(processes <= 7, "{at}: {processes}");
        programs[at] = before;
    }
}

#[test]
fn programs_with_functions_are_shown_as_many_at_a_time_as_there_are_jobs() {
    let tested = dies_of("%");
    let function = ".func f() { ret; }";
    let programs: Vec<String> = ["5 % 3", "1", "2", "7 % 4", "3", "9 % 7"]
        .map(|value| module(&format!(".global .s32 a = {value};\n{function}")))
        .to_vec();
    // Up to the end of those among which the first yes is.
    let (answers, processes) = asked(&tested, 4, &programs);
    assert_eq!((answers, processes), (vec![Answer::Yes, Answer::No, Answer::No, Answer::Yes], 4));
    let (answers, processes) = asked(&tested, 1, &programs);
    assert_eq!((answers, processes), (vec![Answer::Yes], 1));
}

#[test]
fn a_question_that_is_over_answers_nothing() {
    let tested = dies_of("%");
    let cause = cause_of(&tested, &module(".global .s32 a = 7 % 4;"));
    let (processes, cancel) = (AtomicU64::new(0), Cancel::new());
    let limits = Bounds { jobs: 1, until: None, cancel: &cancel };
    let mut question = SameCause::new(&tested, &cause, limits, &processes);
    let program = Program::parse(&module(".global .s32 a = 5 % 3;")).unwrap();
    assert!(!question.is_over() && !question.prediction(&program).is_over());
    assert!(question.yes(&program));
    cancel.cancel();
    assert!(question.is_over() && question.prediction(&program).is_over());
    assert!(!question.yes(&program));
    let left = Answer::CannotTell("there was no time left".to_owned());
    for count in [1, 3] {
        let programs = vec![program.clone(); count];
        assert_eq!(question.ask(&programs), vec![left.clone(); count]);
    }
}

#[test]
fn a_command_tells_by_its_status_whether_a_program_is_interesting() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.ptx");
    let cancel = Cancel::new();
    let bounds = Bounds { jobs: 2, until: None, cancel: &cancel };
    let runs = AtomicU64::new(0);
    let script = |command: &str, file: &Path| {
        InterestingnessTest::new(command, file, Limits::default(), bounds, &runs)
    };
    let program =
        Program::parse(&module(".global .s32 x[2] = {1, 5};\n.global .f32 y = 2.5 + 1.0;")).unwrap();
    let mut question = script("grep -q 2.5", &file).unwrap();
    let reduced = reduce(program.clone(), &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(reduced.program.text(), module(".global .s32 a = 2.5;"));
    assert_eq!((reduced.ended, reduced.could_not_tell), (SearchEnd::Least, 0));
    assert!(runs.load(Ordering::Relaxed) >= reduced.asked);

    let answer =
        |command: &str, file: &Path| script(command, file).unwrap().ask(std::slice::from_ref(&program));
    // The file has its own name, or one of ours where it has none.
    let (is_a, is_ours) = ("test a.ptx =", "test program.ptx =");
    assert_eq!(answer(is_a, &file), [Answer::Yes]);
    assert_eq!(answer(is_ours, &file), [Answer::No]);
    assert_eq!(answer(is_ours, Path::new("-")), [Answer::Yes]);
    let not_run = "the command ended with status 127: not found, or not executable";
    assert_eq!(answer("sh -c 'exit 127'", &file), [Answer::CannotTell(not_run.to_owned())]);
    let killed = "the command was killed by signal 9";
    assert_eq!(answer("sh -c 'kill -9 $$'", &file), [Answer::CannotTell(killed.to_owned())]);
    for (command, why) in [("", "names no program"), ("grep 'x", "missing closing quote")] {
        let Err(Failure::BadInput(message)) = script(command, &file) else { panic!("{command} is taken") };
        assert_eq!(message, format!("--command `{command}`: {why}"));
    }
    let mut question = script("true", &file).unwrap();
    assert!(!question.is_over());
    cancel.cancel();
    let left = Answer::CannotTell("there was no time left".to_owned());
    assert!(question.is_over());
    assert_eq!(question.ask(&[program.clone(), program.clone()]), [left.clone(), left]);
}
