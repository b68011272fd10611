use super::*;
use ptxsmith_subject::Outcome;

#[test]
fn verdicts_are_named_as_in_reports() {
    assert_eq!(ExpectedDeviation::parse("crash"), Ok(ExpectedDeviation::Class(Class::Crash)));
    assert_eq!(
        ExpectedDeviation::parse("incomplete-rows-packed"),
        Ok(ExpectedDeviation::Rule("incomplete-rows-packed"))
    );
    assert_eq!(
        ExpectedDeviation::parse("shift-count=modulo"),
        Ok(ExpectedDeviation::Reading(Question::ShiftCount, 1))
    );
    assert_eq!(ExpectedDeviation::parse("product-signed"), Ok(ExpectedDeviation::Rule("product-signed")));
    let unlisted = FindingKind::Unlisted("product-signed".to_owned());
    assert_eq!(ExpectedDeviation::from_kind(&unlisted), Some(ExpectedDeviation::Rule("product-signed")));
    assert_eq!(ExpectedDeviation::from_kind(&FindingKind::Unexplained), None);
    assert!(ExpectedDeviation::parse("crush").unwrap_err().contains("write one of crash, hang, "));
    assert!(ExpectedDeviation::parse("shift-count=x").is_err());
}

#[test]
fn whatever_rule_a_campaign_names_a_finding_after_can_be_expected() {
    let known = KNOWN.iter().map(|known| known.id);
    for id in known.chain(hypothetical_rules::all().map(|suspect| suspect.id)) {
        assert_eq!(ExpectedDeviation::parse(id), Ok(ExpectedDeviation::Rule(id)));
        assert_eq!(
            ExpectedDeviation::from_kind(&FindingKind::Unlisted(id.to_owned())),
            Some(ExpectedDeviation::Rule(id))
        );
    }
}

#[test]
fn a_wrong_rule_of_operands_predicts_another_result_of_a_kernel() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a[4];\n\
        .visible .entry k(.param .u64 out) { .reg .u64 p, o; mov.u64 p, a[2]; ld.param.u64 o, [out]; \
        st.global.u64 [o], p; ret; }\n";
    let module = ptxsmith_syntax::parse(text).unwrap();
    let (right, wrong) = (Rules::default(), changed(&Rules::default(), &["index-counts-bytes"]));
    assert!(predict(&module, &right).differs_from(&predict(&module, &wrong)));
}

#[test]
fn a_message_is_compared_without_what_it_quotes_and_without_numbers() {
    assert_eq!(general("Unknown symbol 'x12' in line 5"), general("Unknown symbol 'y' in line 77"));
    assert_ne!(general("Unknown symbol 'x'"), general("Duplicate symbol 'x'"));
}

#[test]
fn a_part_of_an_explanation_is_the_same_cause_and_another_is_not() {
    let explanation = |readings: &[(Question, usize)], known: &[&'static str]| Explanation {
        readings: readings.to_vec(),
        known: known.to_vec(),
    };
    let whole = explanation(&[(Question::ShiftCount, 1)], &["a", "b"]);
    assert!(is_part(&explanation(&[], &["b"]), &whole));
    assert!(!is_part(&explanation(&[], &["b", "c"]), &whole));
    assert!(!is_part(&explanation(&[(Question::ShiftCount, 1)], &[]), &whole));
}

fn module(declarations: &str) -> Module {
    ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{declarations}\n")).unwrap()
}

fn of_known(known: &[&'static str]) -> Option<Explanation> {
    Some(Explanation { readings: Vec::new(), known: known.to_vec() })
}

fn of_reading(answer: usize) -> Option<Explanation> {
    Some(Explanation { readings: vec![(Question::ShiftCount, answer)], known: Vec::new() })
}

/// Creates a difference without an explanation or a hypothesis.
fn unexplained(class: Class, observed: Observation) -> Difference {
    Difference {
        class,
        variable: Some("a".to_owned()),
        expected: Default::default(),
        observed,
        explanation: None,
        suspected: Some(Vec::new()),
    }
}

fn wrong(explanation: Option<Explanation>) -> Difference {
    Difference { explanation, ..unexplained(Class::WrongValue, Observation::new(Outcome::Accepted)) }
}

fn suspecting(class: Class, sets: &[&[&'static str]]) -> Difference {
    let sets = sets.iter().map(|set| set.to_vec()).collect();
    Difference { suspected: Some(vec![sets]), ..unexplained(class, Observation::new(Outcome::Accepted)) }
}

fn deviates(difference: &Difference) -> Verdict {
    Verdict::Deviates(Box::new(difference.clone()))
}

fn part(module: &Module, difference: &Difference) -> PartVerdict {
    PartVerdict {
        variable: Some("a".into()),
        verdict: deviates(difference),
        requirement: None,
        trace: predict(module, &Rules::default()).trace(),
        operands: Default::default(),
        excluded: Vec::new(),
        why: None,
        derived: None,
        place: None,
    }
}

/// Returns the cause of a difference in a program with these declarations.
fn cause_of(declarations: &str, difference: &Difference, expected: Option<&ExpectedDeviation>) -> Cause {
    let module = module(declarations);
    Cause::from_part(&module, &part(&module, difference), expected).unwrap()
}

fn refused(message: &str) -> Observation {
    let diagnostic = |severity, message: &str| ptxsmith_subject::Diagnostic {
        severity,
        line: None,
        message: message.to_owned(),
    };
    let said = vec![diagnostic(Severity::Warning, "this is old"), diagnostic(Severity::Error, message)];
    Observation { diagnostics: said, ..Observation::new(Outcome::Refused) }
}

fn killed(signal: i32) -> Observation {
    Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) }
}

const REMAINDER: &str = ".global .s64 a = (-7 % -3) / 2;";

#[test]
fn what_is_expected_is_told_from_what_is_not() {
    let (remainder, reading) = (wrong(of_known(&["remainder-unsigned"])), wrong(of_reading(1)));
    let suspected = suspecting(Class::WrongValue, &[&["product-signed"], &["sum-saturates"]]);
    for (expected, shown) in [
        ("wrong-value", [true, false, true]),
        ("crash", [false, false, false]),
        ("remainder-unsigned", [true, false, false]),
        ("sum-saturates", [false, false, true]),
        ("shift-count=modulo", [false, true, false]),
    ] {
        let expected = ExpectedDeviation::parse(expected).unwrap();
        let is_shown = [&remainder, &reading, &suspected].map(|one| expected.is_shown_by(one));
        assert_eq!(is_shown, shown, "{expected:?}");
    }
}

#[test]
fn a_refusal_of_a_valid_program_is_known_by_its_complaint_and_not_by_what_is_suspected() {
    let complains = |message| Difference {
        suspected: Some(vec![vec![vec!["product-signed"]]]),
        ..unexplained(Class::RefusesValid, refused(message))
    };
    let cause = cause_of(".global .s32 a = 7 * 4;", &complains("Unknown symbol 'x'"), None);
    assert_eq!(cause.to_string(), "refuses-valid");
    assert!(!cause.predicts());
    let is_shown = |message| cause.is_shown_by(&deviates(&complains(message)), Trace::default());
    assert!(is_shown("Unknown symbol 'y17'") && !is_shown("Duplicate symbol 'x'"));
    // A user who names a hypothesis accepts only that.
    let named = ExpectedDeviation::parse("product-signed").unwrap();
    let cause = cause_of(".global .s32 a = 7 * 4;", &complains("Unknown symbol 'x'"), Some(&named));
    assert_eq!(cause.to_string(), "refuses-valid (suspected: product-signed)");
    assert!(cause.predicts());
}

#[test]
fn a_crash_is_known_by_its_signal_and_by_what_was_said_before() {
    let crash = |observed| unexplained(Class::Crash, observed);
    let cause = cause_of(".global .s32 a = 7 % 4;", &crash(killed(11)), None);
    assert_eq!(cause.to_string(), "crash (signal 11)");
    let is_shown = |observed| cause.is_shown_by(&deviates(&crash(observed)), Trace::default());
    assert!(is_shown(killed(11)) && !is_shown(killed(8)));
    assert!(!is_shown(Observation { diagnostics: refused("too large").diagnostics, ..killed(11) }));
    assert!(!is_shown(Observation::because(Outcome::Crashed, "internal error")));
    // Another class means another cause, even if all else is the same.
    let hang = unexplained(Class::Hang, killed(11));
    assert!(!cause.is_shown_by(&deviates(&hang), Trace::default()));
    assert!(!cause.is_shown_by(&Verdict::Conforms, Trace::default()));
}

#[test]
fn a_crash_of_a_text_that_is_not_understood_is_known_by_its_mark_alone() {
    let cause = Cause::from_observation(Class::Crash, &killed(11));
    assert!(cause.is_shown_by_observation(Class::Crash, &killed(11)));
    assert!(!cause.is_shown_by_observation(Class::Crash, &killed(8)));
    assert!(!cause.is_shown_by_observation(Class::Hang, &killed(11)));
    let hang = Cause::from_observation(Class::Hang, &Observation::new(Outcome::TimedOut));
    assert!(hang.is_shown_by_observation(Class::Hang, &Observation::new(Outcome::TimedOut)));
}

#[test]
fn of_several_known_deviations_the_first_has_to_stay_and_another_one_is_another_cause() {
    let both = ["remainder-unsigned", "ternary-not-converted"];
    let cause = cause_of(REMAINDER, &wrong(of_known(&both)), None);
    assert_eq!(cause.to_string(), "wrong-value (remainder-unsigned, ternary-not-converted)");
    let is_shown = |difference: &Difference| cause.is_shown_by(&deviates(difference), Trace::default());
    for (explanation, same) in [
        (of_known(&both), true),
        (of_known(&both[..1]), true),
        (of_known(&both[1..]), false),
        (of_known(&["remainder-unsigned", "incomplete-rows-packed"]), false),
        (of_reading(1), false),
        (None, false),
    ] {
        assert_eq!(is_shown(&wrong(explanation.clone())), same, "{explanation:?}");
    }
    assert!(!is_shown(&Difference { class: Class::WrongAddress, ..wrong(of_known(&both)) }));
    let narrowed = cause.narrowed().unwrap();
    assert_eq!(narrowed.to_string(), "wrong-value (remainder-unsigned)");
    assert!(narrowed.narrowed().is_none(), "nothing is left to leave out");
    // The named deviation is preserved instead.
    let second = ExpectedDeviation::parse("ternary-not-converted").unwrap();
    let second = cause_of(REMAINDER, &wrong(of_known(&both)), Some(&second));
    assert!(second.is_shown_by(&deviates(&wrong(of_known(&both[1..]))), Trace::default()));
    assert!(!second.is_shown_by(&deviates(&wrong(of_known(&both[..1]))), Trace::default()));
    assert_eq!(second.narrowed().unwrap().to_string(), "wrong-value (ternary-not-converted)");
    // An explanation with a single part cannot be narrowed.
    assert!(cause_of(REMAINDER, &wrong(of_reading(1)), None).narrowed().is_none());
}

#[test]
fn what_may_be_behind_both_is_the_same_cause() {
    let cause = cause_of(REMAINDER, &suspecting(Class::WrongValue, &[&["a", "b"], &["c"]]), None);
    let is_shown = |difference: &Difference| cause.is_shown_by(&deviates(difference), Trace::default());
    for (sets, same) in [
        (&[&["a"][..]][..], true),
        (&[&["d"][..], &["a", "b"][..]][..], true),
        (&[&["c"][..]][..], true),
        (&[&["a", "c"][..]][..], false),
        (&[&["d"][..]][..], false),
        (&[][..], false),
    ] {
        assert_eq!(is_shown(&suspecting(Class::WrongValue, sets)), same, "{sets:?}");
    }
    // In a batch, not every difference is analysed.
    assert!(is_shown(&Difference { suspected: None, ..wrong(None) }));
}

#[test]
fn what_nothing_is_suspected_of_rests_on_clauses_of_the_first_program_and_plain_ones() {
    let cause = cause_of(".global .s32 a = 7 % 4;", &wrong(None), None);
    assert!(!cause.predicts());
    let shows = |declarations: &str| {
        let trace = predict(&module(declarations), &Rules::default()).trace();
        let verdict = deviates(&wrong(None));
        (cause.is_shown_by(&verdict, trace), cause.may_be_shown_by(&module(declarations)))
    };
    assert_eq!(shows(".global .s32 b = 5 % 3;"), (true, true));
    assert_eq!(shows(".global .u8 c[2] = {1, 2};"), (true, true), "the plainest are always allowed");
    assert_eq!(shows(".global .f32 b = 1.0 + 2.0;"), (false, false));
    // One of several variables is enough, as each has its own verdict.
    let several = module(".global .f32 b = 1.0 + 2.0;\n.global .s32 c = 5 % 3;");
    assert!(cause.may_be_shown_by(&several));
    // A rejection is about the whole program.
    let refusal = unexplained(Class::RefusesValid, refused("no"));
    let cause = cause_of(".global .s32 a = 7 % 4;", &refusal, None);
    assert!(!cause.may_be_shown_by(&several));
    assert!(cause.may_be_shown_by(&module(".global .s32 c = 5 % 3;")));
}

#[test]
fn a_program_that_is_less_certain_never_takes_the_place_of_another() {
    let suspected = suspecting(Class::WrongValue, &[&["remainder-of-signed"]]);
    let unknown = ".visible .entry k() { .reg .u32 r; frobnicate.u32 r, 1; ret; }";
    for (declarations, is_as_safe) in [
        (".global .s32 b = 5 % 3;", true),
        // Invalid, an open question, and a part that is not decided.
        (".global .s32 b = 5.0 % 3;", false),
        (".global .s64 b = 5 % 3 + (1 << 65);", false),
        (&*format!(".global .s32 b = 5 % 3;\n{unknown}"), false),
    ] {
        for difference in [&suspected, &wrong(None)] {
            let cause = cause_of(".global .s32 a = 7 % 4;\n.global .s32 c = 1 << 2;", difference, None);
            assert_eq!(cause.may_be_shown_by(&module(declarations)), is_as_safe, "{declarations}");
        }
    }
    // A program covered by our rules may replace one that is not.
    let unread = ".global .s32 a = 7 % 4;\n.global .b8 x = = 1;";
    let cause = cause_of(unread, &suspected, None);
    assert!(cause.may_be_shown_by(&module(unread)));
    assert!(cause.may_be_shown_by(&module(".global .s32 a = 7 % 4;")));
}

#[test]
fn an_explanation_predicts_programs_that_it_changes_something_in() {
    let crash = unexplained(Class::Crash, killed(8));
    let crash = Difference { explanation: of_known(&["quotient-overflow-crash"]), ..crash };
    const OVERFLOW: &str = ".global .s64 a = (-9223372036854775807 - 1) / -1;";
    const SHIFT: &str = ".global .s64 a = 1 << 65;";
    for (of, difference, shown, not_shown) in [
        (REMAINDER, wrong(of_known(&["remainder-unsigned"])), REMAINDER, ".global .s64 a = 7 % 3;"),
        (OVERFLOW, crash, OVERFLOW, ".global .s64 a = -9223372036854775807 / -1;"),
        (SHIFT, wrong(of_reading(1)), SHIFT, ".global .s64 a = 1 << 63;"),
        (
            REMAINDER,
            suspecting(Class::WrongValue, &[&["division-rounds-down"]]),
            ".global .s64 a = -7 / 2;",
            ".global .s64 a = 7 / 2;",
        ),
    ] {
        let cause = cause_of(of, &difference, None);
        assert!(cause.predicts());
        assert!(cause.is_predicted_by(&module(shown)), "{shown}");
        assert!(!cause.is_predicted_by(&module(not_shown)), "{not_shown}");
    }
    // A deviation identified by the shape of programs.
    let shape = unexplained(Class::RefusesValid, refused("no"));
    let shape = Difference { explanation: of_known(&["subtracted-index-refused"]), ..shape };
    let known = KNOWN.iter().find(|known| known.id == "subtracted-index-refused").unwrap();
    let example = ptxsmith_syntax::parse(known.example).unwrap();
    let cause = Cause::from_part(&example, &part(&example, &shape), None).unwrap();
    assert!(cause.is_predicted_by(&example));
    assert!(!cause.is_predicted_by(&module(".global .s32 a = 1;")));
}

#[test]
fn quotes_of_every_kind_are_left_out_of_a_message() {
    for (message, rest) in [
        ("no `b' here", "no  here"),
        ("no `b` here", "no  here"),
        ("no 'b`c' here", "no  here"),
        ("no \"it's\" here", "no  here"),
        ("no 12 and x1", "no  and x"),
    ] {
        assert_eq!(general(message), rest, "{message}");
    }
}
