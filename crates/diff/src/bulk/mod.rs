//! Fast path: checks hundreds of thousands of expressions and keeps nothing if they pass.
//!
//! An implementation handles most expressions correctly. So expressions are printed and evaluated node by
//! node, without trees, shown in large arrays, and compared as bytes. A value that exactly one listed
//! deviation predicts, or that follows a known answer of the subject to an open question, is only counted.
//! The remaining cases, the informative ones, and examples of the counted ones are generated again and judged
//! one by one.

mod buffer;
mod pool;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ptxsmith_oracle::{
    Clause, ClauseSet, Evaluator, Question, QuestionSet, Readings, Rules, Stop, Stored, Trace,
};
use ptxsmith_subject::Error;
use ptxsmith_syntax::{Assemble, BinaryOp, Cast, PoolConstant, ScalarType, StateSpace, UnaryOp, print};

use buffer::{BatchBuffer, BatchComparison, DifferingCase, ExpectedCase, FollowedAnswer};
use pool::ConstantPool;
use text::ExprText;

use crate::{
    explanation::Explanation,
    judge::{Judge, mask},
    known::KnownDeviation,
    profile::{DeviatingRules, ExpectedOutcome, Forecast, Forecaster},
    question_quota::QuestionQuota,
    verdict::{TrialVerdict, Verdict},
};

/// The result of judging cases in bulk.
///
/// For everything that is counted here, the cases in `left` include an example: the first cases that answer a
/// question differently, and each case that is shorter than all earlier ones with the same result.
#[derive(Clone, Debug)]
pub struct BulkVerdicts {
    /// The cases that have to be judged one by one, in ascending order.
    pub left: Vec<u64>,
    /// The number of conforming cases that need no further examination.
    pub conform: u64,
    /// The number of cases that were not shown because the specification does not define their value.
    pub unmodelled: u64,
    /// The number of conforming cases that rest on each clause, in the order of [`Clause::ALL`].
    pub clauses: Vec<u64>,
    /// The open questions that the conforming cases met.
    pub questions: QuestionSet,
    /// The number of conforming cases that follow another answer to exactly one open question.
    pub read: BTreeMap<(Question, usize), u64>,
    /// The number of cases that deviate exactly as one listed deviation predicts, by its id.
    pub deviate: BTreeMap<&'static str, u64>,
    /// The clauses that the counted deviating cases rest on.
    pub deviating: ClauseSet,
    /// The subject's known answers to open questions, under which cases conform.
    followed: Readings,
}

impl Default for BulkVerdicts {
    fn default() -> BulkVerdicts {
        let clauses = vec![0; Clause::ALL.len()];
        BulkVerdicts {
            left: Vec::new(),
            conform: 0,
            unmodelled: 0,
            clauses,
            questions: QuestionSet::default(),
            read: BTreeMap::new(),
            deviate: BTreeMap::new(),
            deviating: ClauseSet::default(),
            followed: Readings::default(),
        }
    }
}

impl BulkVerdicts {
    /// Returns true if the verdicts on the remaining cases confirm the counts. If not, all cases have to be
    /// judged one by one: any case may exclude a rule that explains a difference, or a counted result may
    /// lack an example.
    pub fn is_confirmed_by<'j>(&self, left: impl IntoIterator<Item = &'j TrialVerdict>) -> bool {
        let mut read: BTreeSet<_> = self.read.keys().copied().collect();
        let mut deviate: BTreeSet<_> = self.deviate.keys().copied().collect();
        for judged in left {
            let (Verdict::Deviates(difference) | Verdict::Reads(difference)) = &judged.verdict else {
                continue;
            };
            let Some(Explanation { readings, known }) = &difference.explanation else { return false };
            match (&readings[..], &known[..]) {
                ([], [known]) => drop(deviate.remove(known)),
                ([answer], []) => drop(read.remove(answer)),
                _ => {}
            }
        }
        read.is_empty() && deviate.is_empty()
    }

    /// Adds the comparison of a batch. For a case with a differing value, `deviates` returns its trace and,
    /// if exactly one listed deviation predicts the value, that deviation and the number of nodes of the
    /// expression.
    fn add(
        &mut self,
        comparison: BatchComparison,
        deviates: impl FnMut(&DifferingCase) -> (Trace, Option<(&'static KnownDeviation, u32)>),
    ) {
        self.conform = comparison.shown;
        self.clauses = comparison.clauses;
        self.questions = comparison.questions;
        self.left.extend(comparison.uncompared);
        self.count_differing(comparison.differing, deviates);
        self.count_following(comparison.following);
        self.left.sort_unstable();
    }

    /// Counts the cases that deviate as one listed deviation predicts, and leaves the others.
    fn count_differing(
        &mut self,
        mut cases: Vec<DifferingCase>,
        mut deviates: impl FnMut(&DifferingCase) -> (Trace, Option<(&'static KnownDeviation, u32)>),
    ) {
        let mut shortest = BTreeMap::new();
        cases.sort_unstable_by_key(|case| case.case);
        for case in cases {
            let (trace, known) = deviates(&case);
            self.conform -= 1;
            trace.clauses.iter().for_each(|clause| self.clauses[clause as usize] -= 1);
            match known {
                Some((known, nodes)) if !is_shorter(&mut shortest, known.id, nodes) => {
                    *self.deviate.entry(known.id).or_default() += 1;
                    self.deviating = self.deviating.union(trace.clauses);
                }
                _ => self.left.push(case.case),
            }
        }
    }

    /// Counts the cases that conform under a known answer, and leaves the examples.
    fn count_following(&mut self, mut cases: Vec<(u64, FollowedAnswer)>) {
        let mut quota = QuestionQuota::default();
        let mut shortest = BTreeMap::new();
        cases.sort_unstable_by_key(|&(case, _)| case);
        for (case, FollowedAnswer { question, nodes, trace }) in cases {
            let is_first = !quota.first_to_meet(QuestionSet::from_iter([question])).is_empty();
            if is_shorter(&mut shortest, question, nodes) || is_first {
                self.left.push(case);
                continue;
            }
            self.conform += 1;
            trace.clauses.iter().for_each(|clause| self.clauses[clause as usize] += 1);
            self.questions = self.questions.union(trace.questions);
            *self.read.entry((question, self.followed.answer(question))).or_default() += 1;
        }
    }
}

/// Returns true if `nodes` is less than all earlier values for this key.
fn is_shorter<K: Ord>(shortest: &mut BTreeMap<K, u32>, key: K, nodes: u32) -> bool {
    let least = shortest.entry(key).or_insert(u32::MAX);
    let is_shorter = nodes < *least;
    *least = nodes.min(*least);
    is_shorter
}

/// Whether a case is generated for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// The first time.
    First,
    /// A repetition, to evaluate the case under other rules.
    Repeated,
}

/// Prints and evaluates an expression in one pass, so that each node is dispatched only once.
struct PrintingEvaluator<'b, 'r> {
    text: &'b mut ExprText,
    value: &'b mut Evaluator<'r>,
    pool: &'b mut ConstantPool<'r>,
}

macro_rules! print_and_evaluate {
    ($($node:ident($($part:ident: $part_type:ty)?);)+) => {
        impl Assemble for PrintingEvaluator<'_, '_> {
            $(fn $node(&mut self, $($part: $part_type)?) {
                self.text.$node($($part)?);
                self.value.$node($($part)?);
            })+

            fn constant(&mut self, constant: PoolConstant, spell: &mut dyn FnMut() -> String) {
                if let Some(kept) = self.pool.get(constant) {
                    self.text.short_number(&kept.text, kept.length);
                    self.value.evaluated(kept.value, kept.trace);
                } else {
                    let number = spell();
                    self.pool.keep(constant, number.as_bytes());
                    self.number(number.as_bytes());
                }
            }
        }
    };
}

print_and_evaluate! {
    number(text: &[u8]);
    warp_size();
    name(text: &str);
    paren();
    unary(op: UnaryOp);
    cast(cast: Cast);
    binary(op: BinaryOp);
    ternary();
    generic();
    mask(mask: &str);
}

/// Generates the nodes of a case and returns its type and state space; `None` if the case cannot be judged in
/// bulk.
trait NodeSource: FnMut(u64, Generation, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)> {}

impl<F: FnMut(u64, Generation, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>> NodeSource for F {}

/// The result of evaluating a case under some rules.
struct Evaluation {
    stored: Result<Stored, Stop>,
    trace: Trace,
    /// The number of nodes, if the expression has a value.
    nodes: u32,
}

impl Evaluation {
    /// Returns the bits of a value of this type.
    fn bits(&self, ty: ScalarType) -> Option<u64> {
        match self.stored {
            Ok(Stored::Bits(bits)) => Some(bits & mask(ty.bytes())),
            _ => None,
        }
    }

    /// Returns the part of the result that forecasts depend on.
    fn outcome(&self, ty: ScalarType) -> ExpectedOutcome {
        ExpectedOutcome { refused: self.bits(ty).is_none(), trace: self.trace }
    }
}

/// Generates cases again and evaluates them under other rules.
struct CaseEvaluator<'r, M> {
    make: M,
    forecaster: &'r Forecaster,
    /// Evaluates under the subject's known answers, which most repetitions ask for.
    followed: Evaluator<'r>,
    /// Evaluates under any other rules.
    evaluator: Evaluator<'r>,
}

impl<'r, M: NodeSource> CaseEvaluator<'r, M> {
    fn followed(&mut self, case: u64, ty: ScalarType) -> Evaluation {
        evaluation(&mut self.make, &mut self.followed, case, ty)
    }

    fn under(&mut self, rules: &'r Rules, case: u64, ty: ScalarType) -> Evaluation {
        self.evaluator.follow(rules);
        evaluation(&mut self.make, &mut self.evaluator, case, ty)
    }

    /// Finds the listed deviation that alone predicts these bits for a case with this trace.
    fn deviation(
        &mut self,
        case: u64,
        ty: ScalarType,
        trace: &Trace,
        bits: u64,
    ) -> Option<&'static KnownDeviation> {
        first_deviation(&self.forecaster.deviating, trace, |rules| {
            self.under(rules, case, ty).bits(ty) == Some(bits)
        })
    }

    /// Returns the kind of array in which a case can be shown; `None` if it may poison a batch or the value
    /// under the subject's answers is unknown. Sets the expected bits to those under the subject's known
    /// answers.
    #[inline]
    fn array_kind(&mut self, element: &mut ExpectedCase) -> Option<ArrayKind> {
        let &mut ExpectedCase { case, ty, trace, bits, .. } = element;
        let forecaster = self.forecaster;
        let followed = forecaster.concerns(trace.questions).then(|| self.followed(case, ty));
        let forecast = forecaster.forecast(
            ExpectedOutcome { refused: false, trace },
            followed.as_ref().map(|followed| followed.outcome(ty)),
            |rules| self.under(rules, case, ty).outcome(ty),
        );
        if forecast != Forecast::Accepted {
            return None;
        }
        let Some(followed) = followed else { return Some(ArrayKind::SpecifiedValue) };
        let followed_bits = followed.bits(ty)?;
        if followed_bits == bits & mask(ty.bytes()) {
            return Some(ArrayKind::SpecifiedValue);
        }
        let question = forecaster.only(trace.questions, followed.trace.questions)?;
        // A value that a listed deviation predicts as well is attributed to that deviation.
        if self.deviation(case, ty, &trace, followed_bits).is_some() {
            return None;
        }
        element.bits = followed_bits;
        Some(ArrayKind::FollowedAnswer(FollowedAnswer { question, nodes: followed.nodes, trace }))
    }
}

/// Generates a case again and evaluates it.
fn evaluation(
    make: &mut impl NodeSource,
    evaluator: &mut Evaluator<'_>,
    case: u64,
    ty: ScalarType,
) -> Evaluation {
    make(case, Generation::Repeated, evaluator);
    let nodes = evaluator.nodes();
    let (stored, trace) = evaluator.stored(ty);
    Evaluation { stored, trace, nodes }
}

/// Returns the first listed deviation that may affect this trace and has rules that satisfy the condition.
fn first_deviation<'r>(
    listed: &'r [DeviatingRules],
    trace: &Trace,
    mut is_so: impl FnMut(&'r Rules) -> bool,
) -> Option<&'static KnownDeviation> {
    listed.iter().find(|(known, rules)| known.touches(trace) && is_so(rules)).map(|&(known, _)| known)
}

/// The kind of array in which a case is shown.
enum ArrayKind {
    /// An array of cases with the value that the specification gives.
    SpecifiedValue,
    /// An array of cases that follow other answers.
    FollowedAnswer(FollowedAnswer),
}

/// Shows a range of cases to the subject and separates the cases that have to be judged one by one.
///
/// `make` generates the nodes of a case and returns its type and state space; `None` if the case cannot
/// be judged in bulk. It may be called several times for one case and must generate the same nodes each
/// time. A case that is counted gets the verdict that [`Judge::batch`] would give.
///
/// # Errors
/// Fails only if the host system or our own code fails.
pub fn judge_in_bulk(
    judge: &Judge<'_>,
    cases: Range<u64>,
    make: impl FnMut(u64, Generation, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
) -> Result<BulkVerdicts, Error> {
    let forecaster = &judge.forecaster;
    let mut bulk = BulkVerdicts { followed: forecaster.followed.readings, ..BulkVerdicts::default() };
    let mut evaluator = Evaluator::new(&judge.rules, judge.version);
    let mut cases_again = CaseEvaluator {
        make,
        forecaster,
        followed: Evaluator::new(&forecaster.followed, judge.version),
        evaluator: Evaluator::new(&forecaster.followed, judge.version),
    };
    let mut pool = ConstantPool::new(&judge.rules);
    let mut text = ExprText::default();
    let mut asked = QuestionQuota::default();
    let mut buffer = BatchBuffer::default();
    for case in cases {
        text.clear();
        let assembler = &mut PrintingEvaluator { text: &mut text, value: &mut evaluator, pool: &mut pool };
        let Some((ty, space)) = (cases_again.make)(case, Generation::First, assembler) else {
            bulk.left.push(case);
            continue;
        };
        let (stored, trace) = evaluator.stored(ty);
        let bits = match stored {
            Ok(Stored::Bits(bits)) => bits,
            Err(Stop::Unmodelled(_)) => {
                bulk.unmodelled += 1;
                continue;
            }
            Ok(Stored::Wide(_) | Stored::Address(..)) | Err(Stop::Refused(_)) => {
                bulk.left.push(case);
                continue;
            }
        };
        let rechecked = judge.options.recheck_every;
        let stands_out = !asked.first_to_meet(trace.questions).is_empty()
            || forecaster.crashes(&trace)
            || rechecked > 0 && case.is_multiple_of(rechecked);
        let mut element = ExpectedCase { case, ty, space, bits, trace };
        let array_kind = if stands_out { None } else { cases_again.array_kind(&mut element) };
        match array_kind {
            None => bulk.left.push(case),
            Some(ArrayKind::SpecifiedValue) => buffer.write(element, &text),
            Some(ArrayKind::FollowedAnswer(followed)) => buffer.write_following(element, followed, &text),
        }
    }
    let header = print(&judge.options.header.module([]));
    let comparison = buffer.compare(&header, |text| judge.observe(text, &[]))?;
    bulk.add(comparison, |&DifferingCase { case, ty, bits }| {
        let Evaluation { trace, nodes, .. } = cases_again.under(&judge.rules, case, ty);
        let known = cases_again.deviation(case, ty, &trace, bits);
        (trace, known.map(|known| (known, nodes)))
    });
    Ok(bulk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_without_an_example_among_the_remaining_cases_are_not_confirmed() {
        assert!(BulkVerdicts::default().is_confirmed_by([]));
        let deviate = BTreeMap::from([("ternary-not-converted", 1)]);
        assert!(!BulkVerdicts { deviate, ..BulkVerdicts::default() }.is_confirmed_by([]));
        let read = BTreeMap::from([((Question::ShiftCount, 1), 1)]);
        assert!(!BulkVerdicts { read, ..BulkVerdicts::default() }.is_confirmed_by([]));
    }

    #[test]
    fn only_fewer_nodes_than_in_all_earlier_cases_of_a_key_are_shorter() {
        let mut shortest = BTreeMap::new();
        let given = [("a", 5), ("b", 9), ("a", 5), ("a", 4), ("a", 6), ("b", 8), ("a", 3)];
        let shorter = given.map(|(key, nodes)| is_shorter(&mut shortest, key, nodes));
        assert_eq!(shorter, [true, true, false, true, false, true, true]);
    }
}
