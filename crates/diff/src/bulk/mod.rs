//! The fast path: expressions by the hundred thousand, of most of which nothing is kept but that they hold what they should.
//!
//! What an implementation gets right is most of what it is shown. So expressions are printed and evaluated node by node,
//! without trees, shown in large arrays, and compared as bytes. What differs exactly as one listed deviation has it, or
//! as the subject is known to answer an open question, is counted. Only the rest, that from which more can be learned, and
//! examples of what is counted, are made again and judged one by one.

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

/// What became of the cases that were judged in bulk.
///
/// Of what is counted here there is an example among the cases that are left: the first ones that answer a question
/// otherwise, and whatever is shorter than all before it that show the same.
#[derive(Clone, Debug)]
pub struct BulkVerdicts {
    /// The cases that have to be judged one by one, ascending.
    pub left: Vec<u64>,
    /// How many conform and have no more to tell.
    pub conform: u64,
    /// How many there are of which the specification does not say what they hold, so that they are not shown.
    pub unmodelled: u64,
    /// How many of those that conform rest on each clause, in the order of [`Clause::ALL`].
    pub clauses: Vec<u64>,
    /// The open questions that any of them met.
    pub questions: QuestionSet,
    /// How many of those that conform do so under another answer to one open question only.
    pub read: BTreeMap<(Question, usize), u64>,
    /// How many deviate exactly as one listed deviation has it, by its name.
    pub deviate: BTreeMap<&'static str, u64>,
    /// What those rest on that deviate.
    pub deviating: ClauseSet,
    /// The answers to open questions that the subject was known to follow: what conforms does so under them.
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
    /// Whether what was counted stands, as verdicts on the cases that were left show it. If not, all cases are to be judged
    /// one by one: any may rule out a rule that a difference is put down to, or what was counted shows in none that was left.
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

    /// Takes over what a subject shows. `deviates` says what a case that holds something else rests on; and, where that is
    /// what one listed deviation predicts, which one, and how many nodes the case has.
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

/// Whether this is less than all numbers of nodes that were given with the same key before.
fn is_shorter<K: Ord>(shortest: &mut BTreeMap<K, u32>, key: K, nodes: u32) -> bool {
    let least = shortest.entry(key).or_insert(u32::MAX);
    let is_shorter = nodes < *least;
    *least = nodes.min(*least);
    is_shorter
}

/// Whether a case is made for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is.
    No,
    /// It was made before, and its value under other rules is asked for.
    Yes,
}

/// Prints and evaluates at once: what kind of node it is is asked once.
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

/// Makes the nodes of a case, and says of what type it is a value, in which state space; or nothing, of a case that cannot
/// be judged in bulk.
trait Make: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)> {}

impl<F: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>> Make for F {}

/// What some rules make of a case.
struct Told {
    stored: Result<Stored, Stop>,
    trace: Trace,
    /// How many nodes it has, if it has a value.
    nodes: u32,
}

impl Told {
    /// The bits, of a value of this type.
    fn bits(&self, ty: ScalarType) -> Option<u64> {
        match self.stored {
            Ok(Stored::Bits(bits)) => Some(bits & mask(ty.bytes())),
            _ => None,
        }
    }
}

/// Makes cases again, under other rules.
struct Retry<'r, M> {
    make: M,
    plan: &'r Plan,
    /// Evaluates under the answers to open questions that the subject is known to give: most of what is asked again.
    followed: Evaluator<'r>,
    /// Evaluates under whatever else is asked.
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

    /// The listed deviation under which alone a case that rests on this holds these bits.
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

/// The first of the listed deviations that something that rests on this may show, under whose rules it is so.
fn first<'r>(
    listed: &'r [Listed],
    trace: &Trace,
    mut is_so: impl FnMut(&'r Rules) -> bool,
) -> Option<&'static Known> {
    listed.iter().find(|(known, rules)| known.touches(trace) && is_so(rules)).map(|&(known, _)| known)
}

/// Beside which cases a case is shown.
enum Company {
    /// Beside those that hold what the specification says.
    Usual,
    /// Beside those that follow other answers.
    Following(Follows),
}

impl Judge<'_> {
    /// Shows the cases of a range, and tells those of which no more can be learned from the others.
    ///
    /// `make` gives the nodes of a case and says of what type it is a value, in which state space; or nothing, of a case
    /// that cannot be judged in bulk. Of some cases it is asked again, and gives the same. A case that is counted in bulk would
    /// get the verdict that it is counted with if it were judged by [`Judge::batch`].
    ///
    /// # Errors
    /// Only where our machine or code fails.
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

    /// Beside which cases a case can be shown; `None` where it may poison a batch, or nothing says what the subject makes of
    /// it. What it should hold is what it holds as the subject answers open questions.
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
        // What a listed deviation predicts too is put down to that.
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
