//! What is counted in bulk is what the same cases give when each is judged by itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptxsmith_diff::{
    BulkVerdicts, Generation, Judge, JudgeOptions, NotCompared, Profile, Trial, TrialVerdict, Verdict,
    judge_in_bulk,
};
use ptxsmith_gen::{CaseId, Config, Coverage, Generator};
use ptxsmith_oracle::{Clause, ClauseSet, Question, QuestionSet, Rules};
use ptxsmith_subject::{Address, FnSubject, Observation, Outcome, Request};
use ptxsmith_syntax::{Assemble, BinaryOp, ScalarType, StateSpace};
use ptxsmith_testing::{NVIDIA, expression, fake, known_rules};

const SEED: u64 = 7;
const BATCH: u64 = 2_000;
const BATCHES: u64 = 4;

/// What cases count, that were judged one by one.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    conform: u64,
    unmodelled: u64,
    clauses: BTreeMap<Clause, u64>,
    questions: QuestionSet,
    read: BTreeMap<(Question, usize), u64>,
    deviate: BTreeMap<&'static str, u64>,
    deviating: ClauseSet,
}

impl Counts {
    fn add(&mut self, judged: &TrialVerdict) {
        let trace = judged.trace;
        if let Verdict::Deviates(difference) = &judged.verdict {
            let explanation = difference.explanation.as_ref().expect("nothing new is counted in bulk");
            let ([], [known]) = (&explanation.readings[..], &explanation.known[..]) else {
                panic!("one listed deviation is counted in bulk: {explanation:?}");
            };
            *self.deviate.entry(known).or_default() += 1;
            self.deviating = self.deviating.union(trace.clauses);
            return;
        }
        match &judged.verdict {
            Verdict::NotCompared(NotCompared::Unmodelled) => return self.unmodelled += 1,
            Verdict::Reads(difference) => {
                let explanation = difference.explanation.as_ref().expect("an answer is named");
                let [answer] = explanation.readings[..] else { panic!("one answer is counted in bulk") };
                *self.read.entry(answer).or_default() += 1;
            }
            Verdict::Conforms => {}
            other => panic!("{other:?} is counted in bulk"),
        }
        self.conform += 1;
        self.questions = self.questions.union(trace.questions);
        trace.clauses.iter().for_each(|clause| *self.clauses.entry(clause).or_default() += 1);
    }
}

impl Counts {
    /// As far as a test asks about the sum.
    fn join(&mut self, other: Counts) {
        self.conform += other.conform;
        self.questions = self.questions.union(other.questions);
        other.read.into_iter().for_each(|(answer, count)| *self.read.entry(answer).or_default() += count);
        other.deviate.into_iter().for_each(|(id, count)| *self.deviate.entry(id).or_default() += count);
    }
}

impl From<&BulkVerdicts> for Counts {
    fn from(bulk: &BulkVerdicts) -> Counts {
        let clauses = Clause::ALL.iter().copied().zip(bulk.clauses.iter().copied());
        Counts {
            conform: bulk.conform,
            unmodelled: bulk.unmodelled,
            clauses: clauses.filter(|&(_, count)| count > 0).collect(),
            questions: bulk.questions,
            read: bulk.read.clone(),
            deviate: bulk.deviate.clone(),
            deviating: bulk.deviating,
        }
    }
}

/// What is counted in bulk of a subject that follows these rules, held against each case by itself.
fn counted(config: Config, rules: Rules) -> Counts {
    let generator = Generator::new(config);
    let subject = fake(NVIDIA, rules);
    let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
    let profile = Profile::ask(&subject, &options.header).expect("nothing of ours fails");
    let judge = Judge::new(&subject, Rules::default(), options).with_profile(profile);
    let make = |index, _: Generation, into: &mut dyn Assemble| {
        generator.assemble_case(CaseId { seed: SEED, index }, &mut Coverage::new(), into)
    };
    let mut each = Counts::default();
    for batch in 0..BATCHES {
        let cases = batch * BATCH..(batch + 1) * BATCH;
        let bulk = judge_in_bulk(&judge, cases.clone(), make).expect("nothing of ours fails");
        assert!(bulk.left.is_sorted());
        let spared = cases.filter(|case| bulk.left.binary_search(case).is_err());
        let spared: Vec<Trial> = spared.map(|case| expression(&generator, SEED, case)).collect();
        let mut counts = Counts::default();
        judge.batch(&spared).expect("nothing of ours fails").iter().for_each(|judged| counts.add(judged));
        assert_eq!(Counts::from(&bulk), counts);
        each.join(counts);
    }
    each
}

#[test]
fn of_a_subject_with_the_listed_deviations_the_counts_are_those_of_each_case() {
    let counts = counted(Config::bulk(), known_rules(NVIDIA));
    assert!(counts.conform > 2_000, "{counts:?}");
    assert!(counts.deviate.values().sum::<u64>() >= 2, "{counts:?}");
}

#[test]
fn of_a_subject_that_answers_a_question_otherwise_the_counts_are_those_of_each_case() {
    let Config { wide_shift, unguarded_shift, .. } = Config::default();
    let mut rules = known_rules(NVIDIA);
    rules.readings = rules.readings.with(Question::ShiftCount, 1).expect("the question has two answers");
    let counts = counted(Config { wide_shift, unguarded_shift, ..Config::bulk() }, rules);
    assert!(counts.conform > 1_000, "{counts:?}");
    assert!(counts.read[&(Question::ShiftCount, 1)] >= 20, "{counts:?}");
}

#[test]
fn a_result_that_is_the_same_under_both_answers_conforms_without_either() {
    let mut rules = known_rules(NVIDIA);
    rules.readings = rules.readings.with(Question::BitwiseType, 1).expect("the question has two answers");
    let counts = counted(Config::bulk(), rules);
    assert!(counts.conform > 4_000 && counts.questions.contains(Question::BitwiseType), "{counts:?}");
}

/// Constant memory has 64 KiB, the other state spaces what a module needs.
#[test]
fn constants_of_a_module_fit_into_constant_memory() {
    const CASES: u64 = 20_000;
    for (space, modules) in [(StateSpace::Const, 3), (StateSpace::Global, 1)] {
        let shown = Mutex::new(Vec::new());
        let subject = FnSubject::new("fake", |request: &Request<'_>| {
            let seen = ptxsmith_testing::observe(NVIDIA, &Rules::default(), request);
            shown.lock().unwrap().push(seen.variables.values().filter_map(|v| v.size).sum::<u64>());
            seen
        });
        let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
        let judge = Judge::new(&subject, Rules::default(), options);
        let make = |case: u64, _: Generation, into: &mut dyn Assemble| {
            into.number(case.to_string().as_bytes());
            Some((ScalarType::U64, space))
        };
        let bulk = judge_in_bulk(&judge, 0..CASES, make).expect("nothing of ours fails");
        assert_eq!((bulk.conform, &bulk.left[..]), (CASES, &[][..]));
        let shown = shown.into_inner().unwrap();
        assert_eq!((shown.len(), shown.iter().sum::<u64>()), (modules, CASES * 8), "{space:?}");
        assert!(space != StateSpace::Const || shown.iter().all(|&size| size <= 64 << 10), "{shown:?}");
    }
}

fn address() -> Address {
    Address { offset: 0, width: 8, symbol: "a".into(), addend: 0, generic: None, byte: None }
}

/// Only plain bytes of a program that is taken say what elements hold.
#[test]
fn elements_that_are_not_shown_as_plain_bytes_are_judged_one_by_one() {
    type Change = fn(&mut Observation);
    let changes: [(Change, bool); 4] = [
        (|_| {}, true),
        (|seen| seen.outcome = Outcome::Refused, false),
        (|seen| seen.variables.values_mut().for_each(|v| v.addresses = Some(vec![address()])), false),
        (|seen| seen.variables.values_mut().for_each(|v| v.bytes.as_mut().unwrap().truncate(196)), false),
    ];
    for (nth, (change, is_taken)) in changes.into_iter().enumerate() {
        let subject = FnSubject::new("fake", |request: &Request<'_>| {
            let mut seen = ptxsmith_testing::observe(NVIDIA, &Rules::default(), request);
            change(&mut seen);
            seen
        });
        let make = |case: u64, _: Generation, into: &mut dyn Assemble| {
            into.number(case.to_string().as_bytes());
            Some((ScalarType::U32, StateSpace::Global))
        };
        let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
        let judge = Judge::new(&subject, Rules::default(), options);
        let bulk = judge_in_bulk(&judge, 0..50, make).expect("nothing of ours fails");
        assert_eq!((bulk.conform, bulk.left.len()), if is_taken { (50, 0) } else { (0, 50) }, "change {nth}");
    }
}

/// The first cases that meet an open question are judged one by one, and say which answers they rule out.
#[test]
fn the_first_cases_of_each_open_question_and_one_in_so_many_are_left_to_be_judged_by_themselves() {
    let left = |recheck_every: u64, shifted: bool| {
        let subject = fake(NVIDIA, Rules::default());
        let options = JudgeOptions { recheck_every, ..JudgeOptions::default() };
        let make = |case: u64, _: Generation, into: &mut dyn Assemble| {
            into.number(case.to_string().as_bytes());
            if shifted {
                into.number(b"64");
                into.binary(BinaryOp::Shl);
            }
            Some((ScalarType::U32, StateSpace::Global))
        };
        judge_in_bulk(&Judge::new(&subject, Rules::default(), options), 0..60, make)
            .expect("nothing of ours fails")
            .left
    };
    assert_eq!(left(0, false), [] as [u64; 0]);
    assert_eq!(left(25, false), [0, 25, 50]);
    assert_eq!(left(0, true), (0..16).collect::<Vec<u64>>());
    assert_eq!(left(25, true), (0..16).chain([25, 50]).collect::<Vec<u64>>());
}
