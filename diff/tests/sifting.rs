//! What is sifted gives the same ledger as what is judged one by one.

mod common;

use common::{NVIDIA, fake, known_rules};
use ptxsmith_diff::suspects::SUSPECTS;
use ptxsmith_diff::{Again, Body, Header, Judge, Ledger, Options, Paper, Sifted, Trial};
use ptxsmith_gen::{self as generate, CaseId, Config, Coverage, Focus, Generator, Stock};
use ptxsmith_oracle::{Question, Rules};
use ptxsmith_subject::Subject;

const SEED: u64 = 5;
const BATCH: u64 = 2_000;
const BATCHES: u64 = 5;

fn trial(generator: &Generator, index: u64) -> Trial {
    let case = generator.case(Focus::Expressions, SEED, index, &mut Coverage::new());
    let generate::Body::Expression { ty, space, expr } = case.body else {
        panic!("an expression is asked for")
    };
    Trial { id: index, body: Body::Expression { ty, space, expr }, spacing: case.spacing }
}

fn enter(ledger: &mut Ledger, judge: &mut Judge<'_>, trials: &[Trial]) {
    for (trial, judged) in trials.iter().zip(judge.batch(trials).expect("nothing of ours fails")) {
        ledger.enter(trial, judged, &Header::default());
    }
}

/// The ledger of a subject with and without sifting, how many cases were sifted out, and how often all were judged
/// after all.
fn ledgers(generator: &Generator, subject: &dyn Subject) -> ([Ledger; 2], u64, u32) {
    let options = || Options { recheck_every: 0, ..Options::default() };
    let (mut one_by_one, mut sifting) = (Ledger::default(), Ledger::default());
    let mut judges = [(); 2].map(|()| Judge::new(subject, Rules::default(), options()));
    let (mut out, mut undone) = (0, 0);
    for batch in 0..BATCHES {
        let cases = batch * BATCH..(batch + 1) * BATCH;
        let all: Vec<Trial> = cases.clone().map(|case| trial(generator, case)).collect();
        enter(&mut one_by_one, &mut judges[0], &all);

        let judge = &mut judges[1];
        let mut stock = Stock::default();
        let make = |index, _: Again, into: &mut dyn ptxsmith_syntax::Assemble| {
            let case = CaseId { seed: SEED, index };
            generator.assemble_case(case, &mut stock, &mut Coverage::new(), into)
        };
        let sifted: Sifted = judge.sift(cases, &mut Paper::default(), make).expect("nothing of ours fails");
        let deviate: u64 = sifted.deviate.values().sum();
        assert_eq!(sifted.left.len() as u64 + sifted.conform + sifted.unmodelled + deviate, BATCH);
        let left: Vec<Trial> = sifted.left.iter().map(|&case| trial(generator, case)).collect();
        let judged = judge.batch(&left).expect("nothing of ours fails");
        if sifted.is_undone_by(&judged) {
            undone += 1;
            enter(&mut sifting, judge, &all);
            continue;
        }
        out += sifted.conform;
        for (trial, judged) in left.iter().zip(judged) {
            sifting.enter(trial, judged, &Header::default());
        }
        sifting.enter_sifted(&sifted);
    }
    ([one_by_one, sifting], out, undone)
}

fn check(generator: &Generator, rules: Rules, least_out: u64) -> u32 {
    let subject = fake(NVIDIA, rules);
    let ([one_by_one, sifting], out, undone) = ledgers(generator, &subject);
    assert_eq!(sifting.to_state(), one_by_one.to_state());
    assert!(out >= least_out, "{out} sifted out");
    undone
}

#[test]
fn of_a_subject_with_the_known_deviations_most_cases_are_sifted_out_and_none_is_lost() {
    let generator = Generator::new(Config::bulk());
    assert!(check(&generator, known_rules(NVIDIA), 5_000) < 3);
}

#[test]
fn answers_to_open_questions_are_learned_and_then_sifted() {
    // More wide shifts a batch than are looked at whatever becomes of them.
    let Config { wide_shift, unguarded_shift, .. } = Config::default();
    let generator = Generator::new(Config { wide_shift, unguarded_shift, ..Config::bulk() });
    for (question, answer) in [(Question::ShiftCount, 1), (Question::RemainderType, 1)] {
        let mut rules = known_rules(NVIDIA);
        rules.readings = rules.readings.with(question, answer).expect("the answer is one of the question");
        let undone = check(&generator, rules, 3_000);
        assert!((1..BATCHES as u32).contains(&undone), "{question:?}: {undone}");
    }
}

#[test]
fn a_planted_fault_is_found_as_without_sifting() {
    let generator = Generator::new(Config::bulk());
    for id in ["product-saturates", "octal-as-decimal", "warp-size-64"] {
        let suspect = SUSPECTS.iter().find(|suspect| suspect.id == id).expect("it is in the list");
        let mut rules = known_rules(NVIDIA);
        (suspect.change)(&mut rules);
        assert!(check(&generator, rules, 0) > 0, "{id}");
    }
}
