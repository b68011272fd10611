//! What a report has of a program with many variables: the one at fault and the first few.

use std::fmt::Write as _;

use ptxsmith_diff::{Difference, Verdict, judge_data};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{FnSubject, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::parse;

/// The only difference of a program with so many variables, `v0`, `v1` ...
fn difference(subject: &dyn Subject, variables: u32) -> Difference {
    let mut text = String::from(".version 7.8\n.target sm_80\n.address_size 64\n");
    for n in 0..variables {
        let _ = writeln!(text, ".global .u32 v{n} = {n};");
    }
    let module = parse(&text).expect("the program parses");
    let parts =
        judge_data(subject, &Rules::default(), &module, &text, "sm_80").expect("nothing of ours fails");
    let differences = parts.into_iter().filter_map(|part| match part.verdict {
        Verdict::Deviates(difference) => Some(*difference),
        _ => None,
    });
    let differences: Vec<Difference> = differences.collect();
    let [difference] = <[Difference; 1]>::try_from(differences).expect("one difference");
    difference
}

fn reported(difference: &Difference) -> (usize, u64) {
    (difference.expected.variables().len(), difference.expected.variables_left_out)
}

#[test]
fn of_many_variables_a_report_has_the_one_at_fault_and_a_bounded_number_of_others() {
    let wrong = FnSubject::new("fake", |request: &Request<'_>| {
        let mut observation = ptxsmith_testing::right(request);
        if let Some(bytes) = observation.variables.get_mut("v777").and_then(|v777| v777.bytes.as_mut()) {
            bytes[0] ^= 1;
        }
        observation
    });
    let difference = difference(&wrong, 1_000);
    let (count, left_out) = reported(&difference);
    assert_eq!(left_out, 1_000 - count as u64);
    assert!(count < 300 && difference.observed.variables.len() < 300);
    assert_eq!(difference.variable.as_deref(), Some("v777"));
    assert_eq!(difference.expected.variable("v777").unwrap().bytes.as_deref(), Some(&[9, 3, 0, 0][..]));
    assert_eq!(difference.observed.variables["v777"].bytes.as_deref(), Some(&[8, 3, 0, 0][..]));
}

#[test]
fn of_few_variables_a_report_has_all() {
    let dies = FnSubject::new("fake", |_: &Request<'_>| Observation {
        signal: Some(11),
        ..Observation::new(Outcome::Crashed)
    });
    assert_eq!(reported(&difference(&dies, 30)), (30, 0));
    let (count, left_out) = reported(&difference(&dies, 1_000));
    assert_eq!(left_out, 1_000 - count as u64);
}
