//! Subjects that promise to show every variable: what is missing from what they show, or is there and not
//! declared, deviates.

use ptxsmith_diff::{Class, Judge, JudgeOptions, PartVerdict, Trial, TrialBody, Verdict, judge_data};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{FnSubject, Observation, Request, Subject, Variable};
use ptxsmith_syntax::{ScalarType, StateSpace, parse, parse_expr};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A subject that conforms but for what `change` does to what it shows, and that promises to show all or does
/// not.
fn subject(complete: bool, change: fn(&mut Observation)) -> impl Subject {
    FnSubject::new("fake", move |request: &Request<'_>| {
        let mut observation = ptxsmith_testing::right(request);
        change(&mut observation);
        Observation { complete, ..observation }
    })
}

/// The class and the variable of each deviation of a file.
fn deviations(subject: &dyn Subject, statements: &str) -> Vec<(Class, Option<String>)> {
    let text = format!("{HEADER}{statements}\n");
    let module = parse(&text).expect("the programs of a test parse");
    let parts =
        judge_data(subject, &Rules::default(), &module, &text, "sm_80").expect("nothing of ours fails");
    let deviates = |part: PartVerdict| match part.verdict {
        Verdict::Deviates(difference) => Some((difference.class, difference.variable)),
        _ => None,
    };
    parts.into_iter().filter_map(deviates).collect()
}

/// How many parts of a file are compared.
fn compared(subject: &dyn Subject, statements: &str) -> usize {
    let text = format!("{HEADER}{statements}\n");
    let module = parse(&text).expect("the programs of a test parse");
    let parts = judge_data(subject, &Rules::default(), &module, &text, "sm_80");
    let parts = parts.expect("nothing of ours fails").into_iter();
    parts.filter(|part| !matches!(part.verdict, Verdict::NotCompared(_))).count()
}

fn without_b(observation: &mut Observation) {
    observation.variables.retain(|name, _| !name.ends_with('b'));
}

fn with_v3(observation: &mut Observation) {
    let prefixes: Vec<String> =
        observation.variables.keys().filter_map(|name| name.strip_suffix("v2").map(str::to_owned)).collect();
    for prefix in prefixes {
        observation.variables.insert(format!("{prefix}v3").into(), Variable::default());
    }
}

#[test]
fn a_missing_variable_is_a_wrong_layout_where_all_are_promised_and_unobserved_elsewhere() {
    let statements = ".global .u32 a = 1; .const .u8 b = 2;";
    let missing = [(Class::WrongLayout, Some("b".to_owned()))];
    assert_eq!(deviations(&subject(true, without_b), statements), missing);
    assert_eq!(deviations(&subject(false, without_b), statements), []);
    assert_eq!(deviations(&subject(true, |_| ()), statements), []);
}

#[test]
fn of_a_large_variable_the_size_is_compared_where_it_is_shown() {
    let statements = ".global .u8 a[65536][65536];";
    let wrong = |observation: &mut Observation| {
        observation.variables.values_mut().for_each(|own| (own.size, own.bytes) = (Some(4), None));
    };
    let unknown = |observation: &mut Observation| {
        observation.variables.values_mut().for_each(|own| (own.size, own.bytes) = (None, None));
    };
    assert_eq!(deviations(&subject(false, wrong), statements), [(Class::WrongLayout, Some("a".to_owned()))]);
    assert_eq!(deviations(&subject(false, unknown), statements), []);
    assert_eq!(compared(&subject(false, unknown), statements), 0);
    assert_eq!(compared(&subject(false, |_| ()), statements), 1);
}

#[test]
fn variables_without_content_in_the_module_need_not_be_shown() {
    let statements = ".global .u32 a = 1; .extern .global .u8 b; .shared .u32 s;";
    assert_eq!(deviations(&subject(true, |_| ()), statements), []);
}

#[test]
fn a_variable_that_nothing_declares_is_a_wrong_layout() {
    let extra = [(Class::WrongLayout, Some("v3".to_owned()))];
    assert_eq!(deviations(&subject(true, with_v3), ".global .u32 v<3>;"), extra);
    assert_eq!(deviations(&subject(false, with_v3), ".global .u32 v<3>;"), []);
    assert_eq!(deviations(&subject(true, with_v3), ".global .u32 v<4>;"), []);
    // How a subject names what a body declares is its own affair.
    let in_body = ".global .u32 v<3>; .func f() { .global .u8 x; ret; }";
    assert_eq!(deviations(&subject(true, with_v3), in_body), []);
    let registers = ".global .u32 v<3>; .func f() { .reg .u32 r; ret; }";
    assert_eq!(deviations(&subject(true, with_v3), registers), extra);
}

#[test]
fn in_a_batch_both_are_found_in_the_trial_that_has_them() {
    let trial = |id, text: &str| {
        let module = parse(&format!("{HEADER}{text}")).expect("the declarations of a test parse");
        Trial::new(id, TrialBody::Items(module.items[3..].to_vec()))
    };
    let expr = parse_expr("1 + 2").expect("the expressions of a test parse");
    let trials = [
        trial(0, ".global .u32 a = 1;"),
        trial(1, ".global .u32 a = 1; .global .u8 b;"),
        trial(2, ".global .u32 v<3>;"),
        Trial::new(3, TrialBody::Expression { ty: ScalarType::U16, space: StateSpace::Const, expr }),
    ];
    let deviating = |change: fn(&mut Observation)| -> Vec<u64> {
        let subject = subject(true, change);
        let judged = Judge::new(&subject, Rules::default(), JudgeOptions::default()).batch(&trials);
        let judged = judged.expect("nothing of ours fails").into_iter();
        let deviates =
            |verdict: &Verdict| matches!(verdict, Verdict::Deviates(d) if d.class == Class::WrongLayout);
        judged.filter(|judged| deviates(&judged.verdict)).map(|judged| judged.id).collect()
    };
    assert_eq!(deviating(|_| ()), [0; 0]);
    assert_eq!(deviating(without_b), [1]);
    assert_eq!(deviating(with_v3), [2]);
    assert_eq!(deviating(|observation| observation.variables.clear()), [0, 1, 2, 3]);
}
