//! Fast path: checks hundreds of thousands of expressions and keeps nothing if they pass.
//!
//! An implementation handles most expressions correctly. So expressions are printed and evaluated node by node,
//! without trees, shown in large arrays, and compared as bytes. A value that exactly one listed deviation predicts,
//! or that follows a known answer of the subject to an open question, is only counted. The remaining cases, the
//! informative ones, and examples of the counted ones are generated again and judged one by one.

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

use buffer::{BatchBuffer, Compared, Element, Follows, Other};
use pool::ConstantPool;
use text::ExprText;

use crate::{
    asked::Asked,
    explanation::Explanation,
    judge::{Judge, mask},
    known::Known,
    profile::{Expected, Forecast, Listed, Plan},
    verdict::{Judged, Verdict},
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
        let (left, conform, unmodelled, questions) = Default::default();
        let (read, deviate, deviating, followed) = Default::default();
        BulkVerdicts { left, conform, unmodelled, clauses, questions, read, deviate, deviating, followed }
    }
}

impl BulkVerdicts {
    /// Returns true if the verdicts on the remaining cases confirm the counts. If not, all cases have to be judged
    /// one by one: any case may exclude a rule that explains a difference, or a counted result may lack an example.
    pub fn stands<'j>(&self, left: impl IntoIterator<Item = &'j Judged>) -> bool {
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

    /// Adds the comparison of a batch. For a case with a differing value, `deviates` returns its trace and, if
    /// exactly one listed deviation predicts the value, that deviation and the number of nodes of the expression.
    fn take(
        &mut self,
        compared: Compared,
        mut deviates: impl FnMut(&Other) -> (Trace, Option<(&'static Known, u32)>),
    ) {
        let Compared { shown, clauses, questions, mut other, mut read, left } = compared;
        (self.conform, self.clauses, self.questions) = (shown, clauses, questions);
        self.left.extend(left);
        let mut shortest = BTreeMap::new();
        other.sort_unstable_by_key(|other| other.case);
        for other in other {
            let (trace, known) = deviates(&other);
            self.conform -= 1;
            trace.clauses.iter().for_each(|clause| self.clauses[clause as usize] -= 1);
            match known {
                Some((known, nodes)) if !is_shorter(&mut shortest, known.id, nodes) => {
                    *self.deviate.entry(known.id).or_default() += 1;
                    self.deviating = self.deviating.union(trace.clauses);
                }
                _ => self.left.push(other.case),
            }
        }
        let (mut first, mut shortest) = (Asked::default(), BTreeMap::new());
        read.sort_unstable_by_key(|&(case, _)| case);
        for (case, Follows { question, nodes, trace }) in read {
            let is_first = !first.first_to_meet(QuestionSet::from_iter([question])).is_empty();
            if is_shorter(&mut shortest, question, nodes) || is_first {
                self.left.push(case);
                continue;
            }
            self.conform += 1;
            trace.clauses.iter().for_each(|clause| self.clauses[clause as usize] += 1);
            self.questions = self.questions.union(trace.questions);
            *self.read.entry((question, self.followed.answer(question))).or_default() += 1;
        }
        self.left.sort_unstable();
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
pub enum Again {
    /// The first time.
    No,
    /// A repetition, to evaluate the case under other rules.
    Yes,
}

/// Prints and evaluates an expression in one pass, so that each node is dispatched only once.
struct Both<'b, 'r> {
    text: &'b mut ExprText,
    value: &'b mut Evaluator<'r>,
    pool: &'b mut ConstantPool<'r>,
}

macro_rules! both {
    ($($node:ident($($part:ident: $of:ty)?);)+) => {
        impl Assemble for Both<'_, '_> {
            $(fn $node(&mut self, $($part: $of)?) {
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

both! {
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

/// Generates the nodes of a case and returns its type and state space; `None` if the case cannot be judged in bulk.
trait Make: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)> {}

impl<F: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>> Make for F {}

/// The result of evaluating a case under some rules.
struct Told {
    stored: Result<Stored, Stop>,
    trace: Trace,
    /// The number of nodes, if the expression has a value.
    nodes: u32,
}

impl Told {
    /// Returns the bits of a value of this type.
    fn bits(&self, ty: ScalarType) -> Option<u64> {
        match self.stored {
            Ok(Stored::Bits(bits)) => Some(bits & mask(ty.bytes())),
            _ => None,
        }
    }
}

/// Generates cases again and evaluates them under other rules.
struct Retry<'r, M> {
    make: M,
    plan: &'r Plan,
    /// Evaluates under the subject's known answers, which most repetitions ask for.
    followed: Evaluator<'r>,
    /// Evaluates under any other rules.
    evaluator: Evaluator<'r>,
}

impl<'r, M: Make> Retry<'r, M> {
    fn followed(&mut self, case: u64, ty: ScalarType) -> Told {
        told(&mut self.make, &mut self.followed, case, ty)
    }

    fn under(&mut self, rules: &'r Rules, case: u64, ty: ScalarType) -> Told {
        self.evaluator.follow(rules);
        told(&mut self.make, &mut self.evaluator, case, ty)
    }

    /// Finds the listed deviation that alone predicts these bits for a case with this trace.
    fn deviation(&mut self, case: u64, ty: ScalarType, trace: &Trace, bits: u64) -> Option<&'static Known> {
        first(&self.plan.deviating, trace, |rules| self.under(rules, case, ty).bits(ty) == Some(bits))
    }
}

fn told(make: &mut impl Make, evaluator: &mut Evaluator<'_>, case: u64, ty: ScalarType) -> Told {
    make(case, Again::Yes, evaluator);
    let nodes = evaluator.nodes();
    let (stored, trace) = evaluator.stored(ty);
    Told { stored, trace, nodes }
}

/// Returns the first listed deviation that may affect this trace and has rules that satisfy the condition.
fn first<'r>(
    listed: &'r [Listed],
    trace: &Trace,
    mut is_so: impl FnMut(&'r Rules) -> bool,
) -> Option<&'static Known> {
    listed.iter().find(|(known, rules)| known.touches(trace) && is_so(rules)).map(|&(known, _)| known)
}

/// The kind of array in which a case is shown.
enum Company {
    /// An array of cases with the value that the specification gives.
    Usual,
    /// An array of cases that follow other answers.
    Following(Follows),
}

impl Judge<'_> {
    /// Shows a range of cases to the subject and separates the cases that have to be judged one by one.
    ///
    /// `make` generates the nodes of a case and returns its type and state space; `None` if the case cannot be judged
    /// in bulk. It may be called several times for one case and must generate the same nodes each time. A case that
    /// is counted gets the verdict that [`Judge::batch`] would give.
    ///
    /// # Errors
    /// Fails only if the host system or our own code fails.
    pub fn bulk(
        &self,
        cases: Range<u64>,
        make: impl FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
    ) -> Result<BulkVerdicts, Error> {
        let plan = &self.plan;
        let mut bulk = BulkVerdicts { followed: plan.followed.readings, ..BulkVerdicts::default() };
        let mut evaluator = Evaluator::new(&self.rules, self.version);
        let mut retry = Retry {
            make,
            plan,
            followed: Evaluator::new(&plan.followed, self.version),
            evaluator: Evaluator::new(&plan.followed, self.version),
        };
        let mut pool = ConstantPool::new(&self.rules);
        let mut infix = ExprText::default();
        let mut asked = Asked::default();
        let mut buffer = BatchBuffer::default();
        for case in cases {
            infix.clear();
            let both = &mut Both { text: &mut infix, value: &mut evaluator, pool: &mut pool };
            let Some((ty, space)) = (retry.make)(case, Again::No, both) else {
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
            let rechecked = self.options.recheck_every;
            let stands_out = !asked.first_to_meet(trace.questions).is_empty()
                || plan.dies(&trace)
                || rechecked > 0 && case.is_multiple_of(rechecked);
            let mut element = Element { case, ty, space, bits, trace };
            match if stands_out { None } else { self.company(&mut element, &mut retry) } {
                None => bulk.left.push(case),
                Some(Company::Usual) => buffer.write(element, &infix),
                Some(Company::Following(follows)) => buffer.write_read(element, follows, &infix),
            }
        }
        let header = print(&self.options.header.module([]));
        let compared = buffer.compare(&header, |text| self.observe(text, &[]))?;
        bulk.take(compared, |&Other { case, ty, bits }| {
            let Told { trace, nodes, .. } = retry.under(&self.rules, case, ty);
            let known = retry.deviation(case, ty, &trace, bits);
            (trace, known.map(|known| (known, nodes)))
        });
        Ok(bulk)
    }

    /// Returns the kind of array in which a case can be shown; `None` if it may poison a batch or the value under the
    /// subject's answers is unknown. Sets the expected bits to those under the subject's known answers.
    #[inline]
    fn company<'r>(&self, element: &mut Element, retry: &mut Retry<'r, impl Make>) -> Option<Company> {
        let &mut Element { case, ty, trace, bits, .. } = element;
        let expected = |told: &Told| Expected { refused: told.bits(ty).is_none(), trace: told.trace };
        let plan = retry.plan;
        let followed = plan.concerns(trace.questions).then(|| retry.followed(case, ty));
        let usual = Expected { refused: false, trace };
        let under = |rules| expected(&retry.under(rules, case, ty));
        let forecast = plan.forecast(usual, followed.as_ref().map(expected), under);
        if forecast != Forecast::Accepted {
            return None;
        }
        let Some(told) = followed else { return Some(Company::Usual) };
        let other = told.bits(ty)?;
        if other == bits & mask(ty.bytes()) {
            return Some(Company::Usual);
        }
        let question = plan.only(trace.questions, told.trace.questions)?;
        // A value that a listed deviation predicts as well is attributed to that deviation.
        if retry.deviation(case, ty, &trace, other).is_some() {
            return None;
        }
        element.bits = other;
        Some(Company::Following(Follows { question, nodes: told.nodes, trace }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_without_an_example_among_what_is_left_does_not_stand() {
        assert!(BulkVerdicts::default().stands([]));
        let deviate = BTreeMap::from([("ternary-not-converted", 1)]);
        assert!(!BulkVerdicts { deviate, ..BulkVerdicts::default() }.stands([]));
        let read = BTreeMap::from([((Question::ShiftCount, 1), 1)]);
        assert!(!BulkVerdicts { read, ..BulkVerdicts::default() }.stands([]));
    }

    #[test]
    fn of_each_key_only_what_has_fewer_nodes_than_all_before_is_shorter() {
        let mut shortest = BTreeMap::new();
        let given = [("a", 5), ("b", 9), ("a", 5), ("a", 4), ("a", 6), ("b", 8), ("a", 3)];
        let shorter = given.map(|(key, nodes)| is_shorter(&mut shortest, key, nodes));
        assert_eq!(shorter, [true, true, false, true, false, true, true]);
    }
}
