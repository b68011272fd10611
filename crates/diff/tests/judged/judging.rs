//! Judging against subjects made from the oracle itself, with and without planted deviations.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptxsmith_diff::known::{Effect, KNOWN};
use ptxsmith_diff::{
    Class, Implementation, Judge, JudgeOptions, NotCompared, PartVerdict, Trial, TrialBody, TrialVerdict,
    Verdict, judge_data,
};
use ptxsmith_oracle::{Expectation, Question, Readings, Rules, expect};
use ptxsmith_subject::{
    Description, Diagnostic, FnSubject, Observation, Outcome, Request, Severity, Subject, Variable,
};
use ptxsmith_syntax::{Names, Role, ScalarType, Spacing, StateSpace, Text, Visit, parse, parse_expr};
use ptxsmith_testing::of_lineage as fake;

/// What an implementation that follows these rules would do.
fn observe(rules: &Rules, request: &Request<'_>) -> Observation {
    ptxsmith_testing::observe(Implementation::default(), rules, request)
}

fn subject(rules: Rules) -> impl Subject {
    fake(move |request: &Request<'_>| observe(&rules, request))
}

fn expressions(texts: &[&str]) -> Vec<Trial> {
    let trial = |(id, text): (usize, &&str)| {
        let expr = parse_expr(text).expect("the expressions of a test parse");
        Trial::new(id as u64, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
    };
    texts.iter().enumerate().map(trial).collect()
}

fn declarations(id: u64, text: &str) -> Trial {
    let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
    let module = parse(&format!("{header}{text}")).expect("the declarations of a test parse");
    Trial::new(id, TrialBody::Items(module.items[3..].to_vec()))
}

fn judge(subject: &dyn Subject, trials: &[Trial]) -> Vec<TrialVerdict> {
    let options = JudgeOptions { recheck_every: 1, ..JudgeOptions::default() };
    Judge::new(subject, Rules::default(), options).batch(trials).expect("nothing of ours fails")
}

fn difference(judged: &TrialVerdict) -> &ptxsmith_diff::Difference {
    match &judged.verdict {
        Verdict::Deviates(difference) => difference,
        other => panic!("trial {} does not deviate: {other:?}", judged.id),
    }
}

#[test]
fn a_subject_that_follows_the_specification_conforms_everywhere() {
    let mut trials = expressions(&["1", "-7 % 3", "~0 / 2", "1 << 70", "1 / 0", "1 + 1.0", "08"]);
    trials.push(declarations(
        7,
        ".global .s32 x[2][2] = {{1}, {3}}; .const .align 16 .v2 .f32 y = {1.0, 2.0};",
    ));
    trials.push(declarations(8, ".global .s32 x = {1};"));
    for judged in judge(&subject(Rules::default()), &trials) {
        assert_eq!(judged.verdict, Verdict::Conforms, "trial {}", judged.id);
    }
}

#[test]
fn a_subject_is_asked_for_the_target_and_for_each_variable_that_it_is_to_show() {
    let asked = Mutex::new(Vec::new());
    for (target, lists) in [(None, None), (Some("sm_90"), Some(true))] {
        let subject = fake(|request: &Request<'_>| {
            let read: Vec<_> = request.read.iter().map(|one| (one.space.clone(), one.size)).collect();
            asked.lock().unwrap().push((request.target.to_owned(), read));
            observe(&Rules::default(), request)
        });
        let subject = {
            let description = Description { lists, ..subject.description().clone() };
            subject.described(description)
        };
        let options =
            JudgeOptions { target: target.map(str::to_owned), recheck_every: 0, ..JudgeOptions::default() };
        let trials = [declarations(0, ".global .u32 x = 1; .const .u8 y[3] = {1, 2, 3};")];
        Judge::new(&subject, Rules::default(), options).batch(&trials).expect("nothing of ours fails");
    }
    let asked = asked.into_inner().unwrap();
    let both = vec![("global".to_owned(), 4), ("const".to_owned(), 3)];
    assert!(asked.contains(&("sm_80".to_owned(), both)), "{asked:?}");
    assert!(asked.contains(&("sm_90".to_owned(), Vec::new())), "{asked:?}");
    assert!(asked.iter().all(|(target, read)| read.is_empty() == (target == "sm_90")), "{asked:?}");
}

/// It takes the program, as is listed, and nothing says which bits of the NaN it keeps.
#[test]
fn a_listed_deviation_explains_a_variable_that_takes_a_computed_nan() {
    let rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
    let subject = fake(move |request: &Request<'_>| match parse(request.ptx) {
        Ok(module) if matches!(expect(&module, &rules), Expectation::Refused { .. }) => {
            Observation::new(Outcome::Refused)
        }
        _ => Observation { variables: nan_bytes(), ..Observation::new(Outcome::Accepted) },
    });
    let version = Description { version: Some("13.5.37".into()), ..subject.description().clone() };
    let subject = subject.described(version);
    let judged = |text| judge(&subject, &[declarations(0, text)]).remove(0);
    let small = judged(".const .b8 a = 0. * 0d7ff0000000000000;");
    let explained = difference(&small).explanation.as_ref().map(|explanation| explanation.known.clone());
    assert_eq!(explained, Some(vec!["float-in-small-bits"]));
    // As a program of the user's, too.
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.const .b8 a = 0. * 0d7ff0000000000000;\n";
    let parts = judge_data(&subject, &Rules::default(), &parse(text).unwrap(), text, "sm_80").unwrap();
    let [PartVerdict { verdict: Verdict::Deviates(difference), .. }] = &parts[..] else {
        panic!("{parts:?}")
    };
    assert_eq!(difference.explanation.as_ref().map(|explanation| explanation.known.len()), Some(1));
    // An integer type takes no float, in whatever release.
    assert!(matches!(judged(".const .u8 a = 0. * 0d7ff0000000000000;").verdict, Verdict::Conforms));
}

/// What the minimized reproducers hold: the lowest byte of a NaN.
fn nan_bytes() -> ptxsmith_subject::Variables {
    let a =
        Variable { space: Some("const".into()), size: Some(1), bytes: Some(vec![0]), ..Variable::default() };
    BTreeMap::from([("a".into(), a)])
}

#[test]
fn another_reading_is_no_deviation_and_is_named() {
    let mut rules = Rules::default();
    rules.readings = rules.readings.with(Question::BitwiseType, 1).unwrap();
    let judged = judge(&subject(rules), &expressions(&["5", "(-7 | -8) / 2"]));
    assert_eq!(judged[0].verdict, Verdict::Conforms);
    let Verdict::Reads(difference) = &judged[1].verdict else { panic!("{judged:?}") };
    assert_eq!(difference.explanation.as_ref().unwrap().readings, [(Question::BitwiseType, 1)]);
}

#[test]
fn a_known_deviation_is_recognised_by_its_exact_wrong_answer() {
    let rules = Rules::default().with(|rules| rules.layout.place.change(|_, at| at.written));
    let trials = [declarations(0, ".global .s32 x[2][2] = {{1}, {3}};")];
    let judged = judge(&subject(rules), &trials);
    let found = difference(&judged[0]);
    assert_eq!(found.class, Class::WrongValue);
    assert_eq!(found.explanation.as_ref().unwrap().known, ["incomplete-rows-packed"]);
}

#[test]
fn a_known_deviation_of_another_lineage_is_new() {
    let rules = Rules::default().with(|rules| rules.layout.place.change(|_, at| at.written));
    let stranger = FnSubject::new("stranger", move |request: &Request<'_>| observe(&rules, request));
    let judged = judge(&stranger, &[declarations(0, ".global .s32 x[2][2] = {{1}, {3}};")]);
    assert_eq!(difference(&judged[0]).explanation, None);
}

#[test]
fn a_crash_costs_its_own_trial_only() {
    let runs = AtomicUsize::new(0);
    let crashing = fake(|request: &Request<'_>| {
        runs.fetch_add(1, Ordering::Relaxed);
        if request.ptx.contains("/ -1") {
            return Observation { signal: Some(8), ..Observation::new(Outcome::Crashed) };
        }
        observe(&Rules::default(), request)
    });
    let mut texts = vec!["3"; 200];
    texts[77] = "(-9223372036854775807 - 1) / -1";
    texts[150] = "(-9223372036854775807 - 1) / -1";
    let judged =
        Judge::new(&crashing, Rules::default(), JudgeOptions { recheck_every: 0, ..JudgeOptions::default() })
            .batch(&expressions(&texts))
            .unwrap();
    for (at, judged) in judged.iter().enumerate() {
        if at == 77 || at == 150 {
            let found = difference(judged);
            assert_eq!(found.class, Class::Crash);
            assert_eq!(found.explanation.as_ref().unwrap().known, ["quotient-overflow-crash"]);
        } else {
            assert_eq!(judged.verdict, Verdict::Conforms);
        }
    }
    assert!(runs.load(Ordering::Relaxed) < 30, "{} runs for two crashes", runs.load(Ordering::Relaxed));
}

/// The specification has a quotient of unsigned numbers here. An implementation that leaves the choices of
/// `?:` as they are computes the quotient that crashes it.
#[test]
fn a_crash_under_a_listed_rule_is_predicted_and_poisons_no_batch() {
    let runs = AtomicUsize::new(0);
    let listed = KNOWN.iter().find(|known| known.id == "ternary-not-converted").expect("it is listed");
    let Effect::Rule(change) = listed.effect else { panic!("it is another rule") };
    let rules = Rules::default().with(change);
    let crashing = fake(|request: &Request<'_>| {
        runs.fetch_add(1, Ordering::Relaxed);
        ptxsmith_testing::observe(ptxsmith_testing::NVIDIA, &rules, request)
    });
    let version = ptxsmith_testing::NVIDIA.version.map(str::to_owned);
    let description = Description { version, ..crashing.description().clone() };
    let crashing = crashing.described(description);
    let mut texts = vec!["3"; 200];
    texts[77] = "(1 ? -9223372036854775807 - 1 : 1U) / -1";
    let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
    let judged = Judge::new(&crashing, Rules::default(), options).batch(&expressions(&texts)).unwrap();
    let explanation = difference(&judged[77]).explanation.as_ref().unwrap();
    assert_eq!(explanation.known, ["quotient-overflow-crash", "ternary-not-converted"]);
    assert_eq!(
        runs.load(Ordering::Relaxed),
        3,
        "it stands alone, also without the quotient, and the others together"
    );
}

#[test]
fn a_crash_that_nothing_known_predicts_is_new() {
    let crashing = fake(|request: &Request<'_>| {
        if request.ptx.contains("5") {
            return Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        }
        observe(&Rules::default(), request)
    });
    let judged = judge(&crashing, &expressions(&["1", "5", "3"]));
    assert_eq!(difference(&judged[1]).explanation, None);
    assert_eq!(judged[2].verdict, Verdict::Conforms);
}

#[test]
fn a_trial_refused_in_a_batch_is_found_by_its_line() {
    let picky = fake(|request: &Request<'_>| {
        let line = request.ptx.lines().position(|line| line.contains("77"));
        let Some(line) = line else { return observe(&Rules::default(), request) };
        let mut observation = Observation::new(Outcome::Refused);
        let message = "no sevens 'here'".into();
        observation.diagnostics.push(Diagnostic {
            severity: Severity::Error,
            line: Some(line as u32 + 1),
            message,
        });
        observation
    });
    let judged = judge(&picky, &expressions(&["1", "2", "77", "3"]));
    assert_eq!(difference(&judged[2]).class, Class::RefusesValid);
    assert!([0, 1, 3].iter().all(|&at| judged[at].verdict == Verdict::Conforms));
}

/// Behind an error that ends the reading nothing was read, so the one who complains has seen no more than
/// half.
#[test]
fn what_stands_behind_a_fatal_error_is_shown_by_halves_and_the_rest_of_others_at_once() {
    let modules = |severity, spacings: &[Spacing]| {
        let shown = AtomicUsize::new(0);
        let picky = fake(|request: &Request<'_>| {
            shown.fetch_add(1, Ordering::Relaxed);
            let line = request.ptx.lines().position(|line| line.contains("77"));
            let Some(line) = line else { return observe(&Rules::default(), request) };
            let message = "no sevens here".into();
            let error = Diagnostic { severity, line: Some(line as u32 + 1), message };
            Observation { diagnostics: vec![error], ..Observation::new(Outcome::Refused) }
        });
        let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
        let judge = Judge::new(&picky, Rules::default(), options);
        for &spacing in if spacings.is_empty() { &[Spacing::Canonical] } else { spacings } {
            let mut trials = expressions(&["1", "2 + 3 * 4", "77", "3", "4"]);
            trials[1].spacing = spacing;
            judge.batch(&trials).expect("nothing of ours fails");
        }
        shown.into_inner()
    };
    // All, the one that is blamed, and the others.
    assert_eq!(modules(Severity::Error, &[]), 3);
    assert_eq!(modules(Severity::Fatal, &[]), 4);
    // The line is found behind constants of several lines, too.
    let odd: Vec<Spacing> = (0..20).map(Spacing::Odd).collect();
    assert_eq!(modules(Severity::Error, &odd), 20 * 3);
}

/// As ptxas does once a constant has overflowed.
#[test]
fn a_complaint_that_spreads_to_later_lines_changes_no_verdict() {
    let spreading = fake(|request: &Request<'_>| {
        let mut observation = Observation::new(Outcome::Refused);
        for (line, text) in (1..).zip(request.ptx.lines().skip(3)) {
            if text.contains('%') || !observation.diagnostics.is_empty() {
                let (severity, message) = (Severity::Error, "overflow".into());
                observation.diagnostics.push(Diagnostic { severity, line: Some(line + 3), message });
            }
        }
        if observation.diagnostics.is_empty() { observe(&Rules::default(), request) } else { observation }
    });
    let lax = fake(|request: &Request<'_>| match request.ptx.contains('%') {
        true => spreading.observe(request).unwrap(),
        false => Observation::new(Outcome::Accepted),
    });
    let texts = ["1 % 1.5", "1 + 1.0", "3 % 1.5", "2", "5 % 3", "7"];
    let judged = judge(&lax, &expressions(&texts));
    assert_eq!(judged[0].verdict, Verdict::Conforms);
    assert_eq!(difference(&judged[1]).class, Class::AcceptsInvalid, "it is taken where it stands alone");
    assert_eq!(judged[2].verdict, Verdict::Conforms);
    let judged = judge(&spreading, &expressions(&texts));
    assert_eq!([3, 5].map(|at| &judged[at].verdict), [&Verdict::Conforms; 2]);
    assert_eq!(difference(&judged[4]).class, Class::RefusesValid);
}

#[test]
fn an_answer_that_depends_on_the_company_is_inconsistent() {
    let moody = fake(|request: &Request<'_>| {
        if request.ptx.contains("1,\n") && request.ptx.contains("2\n") {
            return Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        }
        observe(&Rules::default(), request)
    });
    let judged = judge(&moody, &expressions(&["1", "2"]));
    assert_eq!(difference(&judged[0]).class, Class::Inconsistent);
}

#[test]
fn an_unobserved_result_is_not_agreement() {
    let blind = fake(|_: &Request<'_>| Observation::new(Outcome::Accepted));
    let judged = judge(&blind, &expressions(&["1"]));
    assert_eq!(judged[0].verdict, Verdict::NotCompared(NotCompared::Unobserved));
}

#[test]
fn an_accepted_invalid_program_is_a_deviation() {
    let lax = fake(|_: &Request<'_>| Observation::new(Outcome::Accepted));
    let judged = judge(&lax, &expressions(&["1 + 1.0"]));
    assert_eq!(difference(&judged[0]).class, Class::AcceptsInvalid);
}

/// A parser: it accepts what the specification accepts, and tells no values.
fn parser(values: Option<bool>) -> impl Subject {
    let subject = FnSubject::new("parser", |request: &Request<'_>| {
        let seen = observe(&Rules::default(), request);
        Observation { variables: Default::default(), ..seen }
    });
    let description = Description { values, ..subject.description().clone() };
    subject.described(description)
}

#[test]
fn what_only_accepts_and_refuses_is_compared_by_that_and_counted_apart() {
    let trials = expressions(&["1 + 2", "1.5 % 2", "7"]);
    for values in [None, Some(false)] {
        let subject = parser(values);
        let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
        let judged = judge.batch(&trials).unwrap();
        let verdicts: Vec<&Verdict> = judged.iter().map(|judged| &judged.verdict).collect();
        let by_outcome = &Verdict::ConformsByOutcome;
        assert_eq!(verdicts, [by_outcome, &Verdict::Conforms, by_outcome]);
    }
}

#[test]
fn a_subject_that_claims_to_show_values_and_shows_none_was_not_observed() {
    let subject = parser(Some(true));
    let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
    let judged = judge.batch(&expressions(&["1 + 2"])).unwrap();
    assert_eq!(judged[0].verdict, Verdict::NotCompared(NotCompared::Unobserved));
}

#[test]
fn a_known_deviation_of_parameterized_names_is_recognised_in_functions_too() {
    let text = ".global .u32 x = 1; .func f() { .reg .u32 r1<3>; mov.u32 r12, 5; ret; }";
    let judged =
        judge(&subject(ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA)), &[declarations(0, text)]);
    let known = format!("{:?}", difference(&judged[0]).explanation);
    assert!(known.contains("numbered-prefix-refused"), "{known}");
}

/// The names that a module declares, and those that it uses.
#[derive(Default)]
struct Named {
    declared: Names<()>,
    used: Vec<Text>,
}

impl<'m> Visit<'m> for Named {
    fn name(&mut self, name: &'m Text, role: Role) {
        self.declared.declare_by_role(name, role, ());
        if role == Role::Use {
            self.used.push(name.clone());
        }
    }
}

#[test]
fn a_declared_name_stays_declared_among_other_trials_wherever_it_stands() {
    // A subject that takes any name that is declared, also where the specification wants a constant.
    let subject = fake(|request: &Request<'_>| {
        let module = parse(request.ptx).unwrap();
        let mut named = Named::default();
        named.module(&module);
        let known = named.used.iter().all(|name| named.declared.candidates(name).next().is_some());
        Observation::new(if known { Outcome::Accepted } else { Outcome::Refused })
    });
    let texts = [
        ".global .s32 v; .global .s32 w[v];",
        ".global .s32 v; .global .align v .s32 w;",
        ".global .s32 v; .global .s32 w<v>;",
        ".global .s32 v; .global .attribute(.unified(v, 1)) .s32 w;",
        ".global .s32 v; .const .u64 w[2] = {0, v / 1};",
        ".global .s32 v1<2>; .global .s32 w[v10 + 1];",
        ".global .s32 v; .func f() { .shared .s32 w[v]; ret; }",
    ];
    let trials: Vec<Trial> = (0..).zip(texts).map(|(id, text)| declarations(id, text)).collect();
    for judged in judge(&subject, &trials) {
        assert_eq!(difference(&judged).class, Class::AcceptsInvalid, "{}", texts[judged.id as usize]);
    }
}

#[test]
fn a_byte_is_known_to_take_the_lowest_byte_of_a_float_of_either_precision() {
    for (value, byte) in [("0f3FC00001", 0x01), ("1.1", 0x9a)] {
        let holds = fake(move |_: &Request<'_>| {
            let variable = Variable { bytes: Some(vec![byte]), ..Variable::default() };
            Observation { variables: [("x".into(), variable)].into(), ..Observation::new(Outcome::Accepted) }
        });
        let description = Description { version: Some("13.5.37".into()), ..holds.description().clone() };
        let holds = holds.described(description);
        let items = parse(&format!(".global .b8 x = {value};")).unwrap().items;
        let judge = Judge::new(&holds, Rules::default(), JudgeOptions::default());
        let judged = judge.batch(&[Trial::new(0, TrialBody::Items(items))]).unwrap();
        let explanation = difference(&judged[0]).explanation.as_ref().map(|own| own.known.clone());
        assert_eq!(explanation, Some(vec!["float-in-small-bits"]), "{value}");
    }
}

#[test]
fn a_wrong_value_is_reported_before_a_variable_that_nothing_declares() {
    let class = |x: u8, complete: bool| {
        let shows = fake(move |_: &Request<'_>| {
            let holds = |byte| Variable { bytes: Some(vec![byte]), ..Variable::default() };
            let variables = [("x".into(), holds(x)), ("other".into(), holds(0))].into();
            Observation { variables, complete, ..Observation::new(Outcome::Accepted) }
        });
        let judged = judge(&shows, &[declarations(0, ".global .u8 x = 1;")]).remove(0);
        match judged.verdict {
            Verdict::Deviates(difference) => Some((difference.class, difference.variable)),
            _ => None,
        }
    };
    assert_eq!(class(2, true), Some((Class::WrongValue, Some("x".to_owned()))));
    assert_eq!(class(1, true), Some((Class::WrongLayout, Some("other".to_owned()))));
    assert_eq!(class(1, false), None);
}

#[test]
fn the_verdicts_on_a_batch_do_not_depend_on_earlier_batches() {
    let shown = Mutex::new(Vec::new());
    let picky = fake(|request: &Request<'_>| {
        shown.lock().unwrap().push(request.ptx.to_owned());
        match request.ptx.contains("<<") {
            true => Observation::new(Outcome::Refused),
            false => observe(&Rules::default(), request),
        }
    });
    let judge = Judge::new(&picky, Rules::default(), JudgeOptions::default());
    let batches = [expressions(&["1", "1 << 64", "2 << 65"]), expressions(&["3 << 66", "4", "5 % 3"])];
    let of = |batch: usize| {
        shown.lock().unwrap().clear();
        judge.batch(&batches[batch]).unwrap();
        std::mem::take(&mut *shown.lock().unwrap())
    };
    let in_order = [of(0), of(1)];
    assert_eq!([of(1), of(0)], [in_order[1].clone(), in_order[0].clone()]);
}

/// A subject that shows nothing of a variable agrees with no rule about it.
#[test]
fn a_variable_that_is_not_seen_explains_no_difference_of_another() {
    let blind = fake(|request: &Request<'_>| {
        let mut seen = observe(&Rules::default(), request);
        if let Some(variable) = seen.variables.get_mut("b") {
            variable.bytes = None;
        }
        if let Some(bytes) = seen.variables.get_mut("a").and_then(|variable| variable.bytes.as_mut()) {
            bytes[0] = 1;
        }
        seen
    });
    let trial = declarations(0, ".global .u32 a = 3 << 64; .global .u32 b = 3 << 64;");
    let judged = judge(&blind, std::slice::from_ref(&trial)).remove(0);
    assert_eq!(difference(&judged).explanation, None);
    let modulo = fake(|request: &Request<'_>| {
        let readings = Readings::default().with(Question::ShiftCount, 1).unwrap();
        let mut seen = observe(&Rules::specification(readings), request);
        seen.variables.get_mut("b").unwrap().bytes = None;
        seen
    });
    let judged = judge(&modulo, &[trial]).remove(0);
    assert!(matches!(judged.verdict, Verdict::Reads(_)), "{:?}", judged.verdict);
}

/// A shift that is modulo 64 divides by -1 where the ternary keeps its sign, and a remainder without a sign
/// makes that division one without: two listed deviations and an answer, which together give what another
/// answer would alone.
#[test]
fn an_answer_is_not_ruled_out_that_agrees_with_all_listed_deviations() {
    let readings = Readings::default().with(Question::ShiftCount, 1).unwrap();
    let rules =
        ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA).with(|rules| rules.readings = readings);
    let nvidia = fake(move |request: &Request<'_>| observe(&rules, request));
    let description = Description { version: Some("13.5.37".into()), ..nvidia.description().clone() };
    let nvidia = nvidia.described(description);
    let text =
        "-(9223372036854775808 % 2251799813685249) / ((1 ? -0X80000000000000 : 119U) >> 0x7fffffffffffffff)";
    let expr = parse_expr(text).unwrap();
    let trial = Trial::new(0, TrialBody::Expression { ty: ScalarType::S16, space: StateSpace::Global, expr });
    let judged = judge(&nvidia, &[trial]).remove(0);
    assert!(matches!(judged.verdict, Verdict::Reads(_)), "{:?}", judged.verdict);
    assert!(judged.excluded.is_empty(), "{:?} {:?}", judged.excluded, judged.verdict);
}

/// Conforming modules rule answers out as single expressions do, so that a subject which answers otherwise
/// elsewhere contradicts itself.
#[test]
fn a_conforming_module_excludes_the_answers_that_it_contradicts() {
    let rules = Rules::default();
    let refused = rules.readings.with(Question::ForwardReference, 1).expect("the question has two answers");
    let refuses_in_const = fake(move |request: &Request<'_>| {
        let readings = if request.ptx.contains(".const") { refused } else { Readings::default() };
        observe(&Rules { readings, ..rules }, request)
    });
    let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
    let judged = |text| {
        let trial = declarations(0, text);
        let judged = Judge::new(&refuses_in_const, rules, options.clone()).batch(&[trial]);
        judged.expect("nothing of ours fails").remove(0)
    };
    let accepted = judged(".global .u64 a = b; .global .u32 b;");
    assert_eq!(accepted.verdict, Verdict::Conforms);
    assert_eq!(accepted.excluded, [(Question::ForwardReference, 1)]);
    let refused = judged(".const .u64 a = b; .global .u32 b;");
    assert!(matches!(&refused.verdict, Verdict::Reads(_)), "{:?}", refused.verdict);
    assert_eq!(refused.excluded, [(Question::ForwardReference, 0)]);
    // Without a reference forward there is nothing to rule out.
    assert_eq!(judged(".global .u32 b; .global .u64 a = b;").excluded, []);
}
