//! What is judged in bulk gives the same ledger as what is judged one by one.

use ptxsmith_campaign::ledger::{Ledger, Triage};
use ptxsmith_diff::hypothetical_rules::HYPOTHETICAL_RULES;
use ptxsmith_diff::{Generation, Header, Judge, JudgeOptions, Profile, Trial, judge_in_bulk};
use ptxsmith_gen::{CaseId, Config, Coverage, Generator};
use ptxsmith_oracle::{Question, Rules};
use ptxsmith_subject::{Description, FnSubject, Outcome, Request, Subject};
use ptxsmith_testing::{NVIDIA, expression, fake, known_rules, observe};

const SEED: u64 = 5;
const BATCH: u64 = 2_000;
const BATCHES: u64 = 2;

fn enter(ledger: &mut Ledger, judge: &Judge<'_>, trials: &[Trial]) {
    for (trial, judged) in trials.iter().zip(judge.batch(trials).expect("nothing of ours fails")) {
        ledger.enter(trial, judged, &Header::default());
    }
}

/// What bulk judging spared.
#[derive(Default)]
struct Spared {
    /// How many cases were counted in bulk that conform.
    conform: u64,
    /// Of those, under another answer to an open question.
    read: u64,
    /// How many that show a listed deviation.
    deviate: u64,
    /// How often all were judged after all.
    undone: u32,
}

/// The ledger of a subject in bulk and one by one.
fn ledgers(generator: &Generator, subject: &dyn Subject) -> ([Ledger; 2], Spared) {
    let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
    let (mut one_by_one, mut in_bulk) = (Ledger::default(), Ledger::default());
    let profile = Profile::ask(subject, &options.header).expect("nothing of ours fails");
    let judge = Judge::new(subject, Rules::default(), options).with_profile(profile);
    let mut spared = Spared::default();
    for batch in 0..BATCHES {
        let cases = batch * BATCH..(batch + 1) * BATCH;
        let all: Vec<Trial> = cases.clone().map(|case| expression(generator, SEED, case)).collect();
        enter(&mut one_by_one, &judge, &all);

        let make = |index, _: Generation, into: &mut dyn ptxsmith_syntax::Assemble| {
            let case = CaseId { seed: SEED, index };
            generator.assemble_case(case, &mut Coverage::new(), into)
        };
        let bulk = judge_in_bulk(&judge, cases.clone(), make).expect("nothing of ours fails");
        let deviate: u64 = bulk.deviate.values().sum();
        assert_eq!(bulk.left.len() as u64 + bulk.conform + bulk.unmodelled + deviate, BATCH);
        let left: Vec<Trial> = bulk.left.iter().map(|&case| expression(generator, SEED, case)).collect();
        let judged = judge.batch(&left).expect("nothing of ours fails");
        if !bulk.is_confirmed_by(&judged) {
            spared.undone += 1;
            enter(&mut in_bulk, &judge, &all);
            continue;
        }
        spared.conform += bulk.conform;
        spared.read += bulk.read.values().sum::<u64>();
        spared.deviate += deviate;
        for (trial, judged) in left.iter().zip(judged) {
            in_bulk.enter(trial, judged, &Header::default());
        }
        in_bulk.enter_bulk(&bulk);
    }
    ([one_by_one, in_bulk], spared)
}

fn check(generator: &Generator, subject: &dyn Subject, least_out: u64) -> Spared {
    let ([one_by_one, in_bulk], spared) = ledgers(generator, subject);
    assert_eq!(in_bulk, one_by_one);
    assert!(spared.conform >= least_out, "{} in bulk", spared.conform);
    spared
}

/// The known rules, and these answers to questions.
fn known_rules_with(answers: &[(Question, usize)]) -> Rules {
    let mut rules = known_rules(NVIDIA);
    for &(question, answer) in answers {
        rules.readings = rules.readings.with(question, answer).expect("the answer is one of the question");
    }
    rules
}

/// A generator of more wide shifts a batch than are looked at whatever becomes of them.
fn of_wide_shifts() -> Generator {
    let Config { wide_shift, unguarded_shift, .. } = Config::default();
    Generator::new(Config { wide_shift, unguarded_shift, ..Config::bulk() })
}

#[test]
fn of_a_subject_with_the_known_deviations_most_cases_are_counted_in_bulk_and_none_is_lost() {
    let generator = Generator::new(Config::bulk());
    let spared = check(&generator, &fake(NVIDIA, known_rules(NVIDIA)), 2_000);
    assert!(spared.undone < 2, "{}", spared.undone);
    assert!(spared.deviate >= 3, "what differs as a listed deviation has it is counted: {}", spared.deviate);
}

#[test]
fn cases_that_follow_a_known_answer_to_an_open_question_are_judged_in_bulk() {
    // The type of `&` hardly ever changes a value.
    for (answers, least_out, least) in [
        (&[(Question::ShiftCount, 1)][..], 1_200, 20),
        (&[(Question::BitwiseType, 1)], 1_200, 0),
        (&[(Question::ShiftCount, 1), (Question::BitwiseType, 1)], 400, 4),
    ] {
        let subject = fake(NVIDIA, known_rules_with(answers));
        let spared = check(&of_wide_shifts(), &subject, least_out);
        assert_eq!(spared.undone, 0, "{answers:?}");
        assert!(spared.read >= least, "{answers:?}: {}", spared.read);
    }
}

#[test]
fn a_subject_that_answers_one_question_in_two_ways_is_found_in_bulk_too() {
    let (one, other) = (known_rules_with(&[(Question::ShiftCount, 1)]), known_rules(NVIDIA));
    let subject = FnSubject::new("mixed", move |request: &Request<'_>| {
        let [mut seen, others] = [&one, &other].map(|rules| observe(NVIDIA, rules, request));
        if [&seen, &others].iter().any(|seen| seen.outcome != Outcome::Accepted) {
            return others;
        }
        for (name, variable) in others.variables {
            if variable.align < Some(8) {
                seen.variables.insert(name, variable);
            }
        }
        seen
    });
    let description = Description {
        lineage: NVIDIA.lineage.map(str::to_owned),
        version: NVIDIA.version.map(str::to_owned),
        ..subject.description().clone()
    };
    let subject = subject.described(description);
    let ([one_by_one, in_bulk], spared) = ledgers(&of_wide_shifts(), &subject);
    assert_eq!(in_bulk, one_by_one);
    let mixed = |ledger: &Ledger| {
        let findings = ledger.findings(&Triage::new([(ledger, NVIDIA)]));
        findings.iter().any(|found| found.finding.id.starts_with("mixed-shift-count"))
    };
    assert!(mixed(&in_bulk) && spared.undone == 0, "{}", spared.undone);
}

#[test]
fn a_planted_fault_is_found_in_bulk_too() {
    let generator = Generator::new(Config::bulk());
    for id in ["product-saturates", "octal-as-decimal", "warp-size-64"] {
        let suspect = HYPOTHETICAL_RULES.iter().find(|suspect| suspect.id == id).expect("it is in the list");
        let mut rules = known_rules(NVIDIA);
        (suspect.change)(&mut rules);
        assert!(check(&generator, &fake(NVIDIA, rules), 0).undone > 0, "{id}");
    }
}
