//! What generator and oracle, which know nothing of each other, say of each other's work.

use std::collections::BTreeSet;

use ptxsmith_gen::{
    Body, Case, Config, Coverage, Focus, Generator, Header,
    negative::{EDITS, TURN},
};
use ptxsmith_oracle::{
    Clause, ClauseSet, Expectation, Question, Readings, Refusal, RefusalClass, Rules, expect, predict,
};
use ptxsmith_syntax::{Item, Module, Spacing, parse, print};

fn expectation(items: &[Item], header: Option<&Header>, rules: &Rules) -> Expectation {
    let header = header.cloned().unwrap_or_default();
    expect(&header.module(items.to_vec()), rules)
}

/// The header under which all productions are of use, and a generator that has them all.
fn everything() -> (Header, Generator) {
    let header = Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() };
    (header, Generator::new(Config { unified: true, b128: true, ..Config::default() }))
}

fn positives(count: u64) -> impl Iterator<Item = (Case, Expectation)> {
    let (header, generator) = everything();
    let focuses = [Focus::Expressions, Focus::Initializers, Focus::Addresses];
    (0..count).map(move |index| {
        let focus = focuses[(index % 3) as usize];
        let case = generator.case(focus, 5, index, &mut Coverage::new());
        let expectation = expect(&case.module(&header), &Rules::default());
        (case, expectation)
    })
}

#[test]
fn the_oracle_takes_every_positive_program_unless_an_open_question_refuses_it() {
    let (mut accepted, mut open) = (0, 0);
    for (case, expectation) in positives(30_000) {
        match expectation {
            Expectation::Refused { refusal, trace } if trace.questions.is_empty() => {
                let text = print(&case.module(&Header::default()));
                panic!("case {}: refused, {}:\n{text}", case.id, refusal.class.summary());
            }
            Expectation::Refused { .. } => open += 1,
            Expectation::Accepted { .. } => accepted += 1,
            Expectation::Unmodelled { .. } => {}
        }
    }
    assert!(accepted > 25_000 && open < 2_000, "{accepted} accepted, {open} refused by an open question");
}

#[test]
fn every_negative_program_is_refused_for_the_reason_that_its_edit_states_and_its_counterpart_is_accepted() {
    let generator = Generator::new(Config::calm());
    let rules = Rules::default();
    let (mut unparsed, mut unmodelled) = (0, 0);
    for number in 0..EDITS.len() as u64 * TURN * 4 {
        let negative = generator.negative(3, number, &mut Coverage::new());
        let edit = negative.edit;
        let text = |items: &[Item]| print(&Module { items: items.to_vec() });
        match expectation(&negative.broken, negative.header.as_ref(), &rules) {
            Expectation::Refused { refusal: Refusal { class, .. }, .. } => {
                assert_eq!(class.name(), edit.label, "{}: {}", edit.name, text(&negative.broken));
            }
            other => panic!("{}: {other:?}\n{}", edit.name, text(&negative.broken)),
        }
        match expectation(&negative.counterpart, negative.counterpart_header.as_ref(), &rules) {
            Expectation::Accepted { .. } => {}
            // Arithmetic made a NaN.
            Expectation::Unmodelled { .. } => unmodelled += 1,
            other => panic!("valid counterpart of {}: {other:?}\n{}", edit.name, text(&negative.counterpart)),
        }
        let module = negative.header.clone().unwrap_or_default().module(negative.broken.clone());
        unparsed += usize::from(parse(&print(&module)).is_err());
    }
    // Some malformed numbers are none that our reader takes either.
    assert!(unparsed < EDITS.len() * 6 && unmodelled < EDITS.len(), "{unparsed}, {unmodelled}");
}

#[test]
fn every_class_of_refusal_is_produced() {
    let generator = Generator::new(Config::calm());
    let mut produced: BTreeSet<RefusalClass> = (0..EDITS.len() as u64 * TURN)
        .filter_map(|number| {
            let negative = generator.negative(3, number, &mut Coverage::new());
            refusal(expectation(&negative.broken, negative.header.as_ref(), &Rules::default()))
        })
        .collect();
    // Two classes exist only under readings other than the default: of positive programs.
    for (question, answer) in [(Question::EmptyList, 1), (Question::SignedOverflow, 1)] {
        let readings = Readings::default().with(question, answer).unwrap();
        let rules = Rules::specification(readings);
        let (header, generator) = everything();
        for index in 0..3_000 {
            let case = generator.case(Focus::Mixed, 5, index, &mut Coverage::new());
            produced.extend(refusal(expect(&case.module(&header), &rules)));
        }
    }
    let missing: Vec<_> = RefusalClass::ALL.iter().filter(|class| !produced.contains(class)).collect();
    assert_eq!(missing, [&RefusalClass::Parameterized; 0]);
}

fn refusal(expectation: Expectation) -> Option<RefusalClass> {
    match expectation {
        Expectation::Refused { refusal, .. } => Some(refusal.class),
        _ => None,
    }
}

#[test]
fn every_clause_that_data_can_show_is_reached() {
    let mut reached = ClauseSet::EMPTY;
    for (_, expectation) in positives(30_000) {
        reached = reached.union(expectation.trace().clauses);
    }
    let old = Header { version: "3.0".into(), target: "sm_20".into(), ..Header::default() };
    let generator = Generator::new(Config { masks: false, attributes: false, ..Config::calm() });
    for index in 0..200 {
        let case = generator.case(Focus::Addresses, 5, index, &mut Coverage::new());
        reached = reached.union(expect(&case.module(&old), &Rules::default()).trace().clauses);
    }
    let generator = Generator::new(Config::calm());
    for number in 0..EDITS.len() as u64 * TURN {
        let negative = generator.negative(3, number, &mut Coverage::new());
        let broken = expectation(&negative.broken, negative.header.as_ref(), &Rules::default());
        reached = reached.union(broken.trace().clauses);
    }
    let missing: Vec<_> = Clause::ALL
        .iter()
        .filter(|clause| clause.observed().by_data() && !reached.contains(**clause))
        .map(|clause| clause.id())
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_open_question_is_met() {
    let mut met = BTreeSet::new();
    for (_, expectation) in positives(90_000) {
        met.extend(expectation.trace().questions.iter());
    }
    let generator = Generator::new(Config::calm());
    for number in 0..EDITS.len() as u64 * TURN {
        let negative = generator.negative(3, number, &mut Coverage::new());
        met.extend(expectation(&negative.broken, None, &Rules::default()).trace().questions.iter());
    }
    // What only an operand asks shows where kernels run.
    let generator = Generator::new(Config { operands: true, ..Config::calm() });
    for index in 0..500 {
        let case = generator.case(Focus::Operands, 5, index, &mut Coverage::new());
        let kernels = predict(&case.module(&Header::default()), &Rules::default()).kernels;
        met.extend(kernels.iter().flat_map(|kernel| kernel.trace.questions.iter()));
    }
    let missing: Vec<_> = Question::ALL.iter().filter(|q| !met.contains(q)).map(|q| q.name()).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_case_means_the_same_however_it_is_spaced() {
    let generator = Generator::default();
    let mut odd = 0;
    for index in 0..3_000 {
        let case = generator.case(Focus::Mixed, 2, index, &mut Coverage::new());
        if matches!(case.body, Body::Negative(_)) {
            continue;
        }
        let module = case.module(&Header::default());
        let spaced = Spacing::Odd(index).print(&module);
        let parsed = parse(&spaced).unwrap_or_else(|error| panic!("{}", error.render("case", &spaced)));
        assert_eq!(parsed, module);
        odd += 1;
    }
    assert!(odd > 2_800);
}
