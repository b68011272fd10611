//! Sifting: expressions by the hundred thousand, of most of which nothing is kept but that they hold what they should.
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

use buffer::{BatchBuffer, Compared, Element, Follows, Other, size_of};
use pool::ConstantPool;
use text::ExprText;

use crate::{
    asked::Asked,
    explain::Explanation,
    judge::{Changed, Judge, mask},
    known::Known,
    verdict::{Judged, Verdict},
};

/// What became of the cases that were sifted.
///
/// Of what is counted here there is an example among the cases that are left: the first ones that answer a question
/// otherwise, and whatever is shorter than all before it that show the same.
#[derive(Clone, Debug)]
pub struct Sifted {
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

/// Whether what was counted of sifted cases stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Stands,
    /// What was left answers these questions otherwise than what was counted. All that meet them may have more to tell,
    /// and have to be left.
    Contested(QuestionSet),
    /// All cases are to be judged one by one: any may rule out a rule that a difference is put down to, or what was
    /// counted shows in none that was left.
    Undone,
}

impl Default for Sifted {
    fn default() -> Sifted {
        let clauses = vec![0; Clause::ALL.len()];
        let (left, conform, unmodelled, questions) = Default::default();
        let (read, deviate, deviating, followed) = Default::default();
        Sifted { left, conform, unmodelled, clauses, questions, read, deviate, deviating, followed }
    }
}

impl Sifted {
    /// Whether what was counted stands, as verdicts on the cases that were left show it.
    pub fn standing<'j>(&self, left: impl IntoIterator<Item = &'j Judged>) -> Standing {
        let mut read: BTreeSet<_> = self.read.keys().copied().collect();
        let mut deviate: BTreeSet<_> = self.deviate.keys().copied().collect();
        let mut contested = QuestionSet::default();
        for judged in left {
            match &judged.verdict {
                Verdict::Deviates(difference) => match &difference.explanation {
                    None => return Standing::Undone,
                    Some(Explanation { readings, known }) => {
                        if let ([], [known]) = (&readings[..], &known[..]) {
                            deviate.remove(known);
                        }
                    }
                },
                Verdict::Reads(difference) => {
                    let readings = difference.explanation.as_ref().map_or(&[][..], |e| &e.readings);
                    if let [answer] = readings {
                        read.remove(answer);
                    }
                    let others = readings.iter().filter(|&&(question, answer)| {
                        self.questions.contains(question) && self.followed.answer(question) != answer
                    });
                    others.for_each(|&(question, _)| contested.insert(question));
                }
                Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => {}
            }
        }
        if !contested.is_empty() {
            Standing::Contested(contested)
        } else if read.is_empty() && deviate.is_empty() {
            Standing::Stands
        } else {
            Standing::Undone
        }
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
/// be sifted.
trait Make: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)> {}

impl<F: FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>> Make for F {}

/// The rules under which cases are asked about.
struct Under {
    specification: Rules,
    /// With the subject's answers to open questions.
    followed: Rules,
    /// With these and one listed rule that refuses something.
    refusing: Vec<(&'static Known, Rules)>,
    /// With these and one listed rule of integers.
    computing: Vec<(&'static Known, Rules)>,
    /// The specification's with any one listed rule.
    deviating: Vec<(&'static Known, Rules)>,
    /// The clauses that such refusals touch.
    refusable: ClauseSet,
    /// The clauses that everything rests on of which the subject dies if it comes out in a certain way.
    deadly: ClauseSet,
}

impl Under {
    fn of(judge: &Judge<'_>) -> Under {
        let specification = judge.rules;
        let followed = Rules { readings: judge.habits.readings(), ..specification };
        let with = |base: &Rules, changes: &[Changed]| -> Vec<(&'static Known, Rules)> {
            changes.iter().map(|&(known, change)| (known, base.with(change))).collect()
        };
        let refusing = with(&followed, &judge.listed.refusals);
        Under {
            refusable: refusing.iter().flat_map(|(known, _)| known.clauses).copied().collect(),
            refusing,
            computing: with(&followed, &judge.listed.integers),
            deviating: with(&specification, &judge.listed.rules),
            deadly: judge.listed.deadly(),
            specification,
            followed,
        }
    }
}

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
            Ok(Stored::Bits(bits)) => Some(bits & mask(size_of(ty))),
            _ => None,
        }
    }
}

/// Makes cases again, under other rules.
struct Retry<'r, M> {
    make: M,
    under: &'r Under,
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
        first(&self.under.deviating, trace, |rules| self.under(rules, case, ty).bits(ty) == Some(bits))
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
    listed: &'r [(&'static Known, Rules)],
    trace: &Trace,
    mut is_so: impl FnMut(&'r Rules) -> bool,
) -> Option<&'static Known> {
    listed.iter().find(|(known, rules)| known.touches(trace) && is_so(rules)).map(|&(known, _)| known)
}

/// Beside whom a case is shown.
enum Company {
    /// Beside those that hold what the specification says.
    Usual,
    /// Beside those that follow other answers.
    Following(Follows),
}

impl Judge<'_> {
    /// Shows the cases of a range, and tells those of which no more can be learned from the others. Those that meet a
    /// `contested` question are left, which is for where [`Sifted::standing`] says so of the same cases.
    ///
    /// `make` gives the nodes of a case and says of what type it is a value, in which state space; or nothing, of a case
    /// that cannot be sifted. Of some cases it is asked again, and gives the same. A case that is sifted out would get the
    /// verdict that it is counted with if it were judged by [`Judge::batch`].
    ///
    /// # Errors
    /// Only where our machine or code fails.
    pub fn sift(
        &mut self,
        cases: Range<u64>,
        contested: QuestionSet,
        make: impl FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
    ) -> Result<Sifted, Error> {
        let mut sifted = Sifted { followed: self.habits.readings(), ..Sifted::default() };
        let under = &Under::of(self);
        let asked_for = self.suspicion.suspected().union(contested);
        let mut evaluator = Evaluator::new(&under.specification, self.version);
        let mut retry = Retry {
            make,
            under,
            followed: Evaluator::new(&under.followed, self.version),
            evaluator: Evaluator::new(&under.followed, self.version),
        };
        let mut pool = ConstantPool::new(&under.specification);
        let mut infix = ExprText::default();
        let mut asked = Asked::default();
        let mut buffer = BatchBuffer::default();
        for case in cases {
            infix.clear();
            let both = &mut Both { text: &mut infix, value: &mut evaluator, pool: &mut pool };
            let Some((ty, space)) = (retry.make)(case, Again::No, both) else {
                sifted.left.push(case);
                continue;
            };
            let (stored, trace) = evaluator.stored(ty);
            let bits = match stored {
                Ok(Stored::Bits(bits)) => bits,
                Err(Stop::Unmodelled(_)) => {
                    sifted.unmodelled += 1;
                    continue;
                }
                Ok(Stored::Address(..)) | Err(Stop::Refused(_)) => {
                    sifted.left.push(case);
                    continue;
                }
            };
            let rechecked = self.options.recheck_every;
            let stands_out = !asked.first_to_meet(trace.questions).is_empty()
                || asked_for.meets(trace.questions)
                || self.listed.dies(&trace)
                || rechecked > 0 && case.is_multiple_of(rechecked);
            let mut element = Element { case, ty, space, bits, trace };
            match if stands_out { None } else { self.company(&mut element, &mut retry) } {
                None => sifted.left.push(case),
                Some(Company::Usual) => buffer.write(element, &infix),
                Some(Company::Following(follows)) => buffer.write_read(element, follows, &infix),
            }
        }
        let header = print(&self.options.header.module([]));
        let compared = buffer.compare(&header, |text| self.observe(text))?;
        sifted.take(compared, |&Other { case, ty, bits }| {
            let Told { trace, nodes, .. } = retry.under(&under.specification, case, ty);
            let known = retry.deviation(case, ty, &trace, bits);
            (trace, known.map(|known| (known, nodes)))
        });
        Ok(sifted)
    }

    /// Beside whom a case can be shown; `None` where it may spoil them, or nobody knows what the subject makes of it. What it
    /// should hold is what it holds as the subject answers open questions.
    #[inline]
    fn company<'r>(&self, element: &mut Element, retry: &mut Retry<'r, impl Make>) -> Option<Company> {
        let &mut Element { case, ty, trace, .. } = element;
        let under: &'r Under = retry.under;
        let mut company = Company::Usual;
        if self.habits.concern(trace.questions) {
            let told = retry.followed(case, ty);
            let other = told.bits(ty).filter(|_| !self.listed.dies(&told.trace))?;
            if other != element.bits & mask(size_of(ty)) {
                let question = self.habits.only(trace.questions, told.trace.questions)?;
                // What a listed deviation predicts too is put down to that.
                if retry.deviation(case, ty, &trace, other).is_some() {
                    return None;
                }
                element.bits = other;
                company = Company::Following(Follows { question, nodes: told.nodes, trace });
            }
        }
        let bits = element.bits & mask(size_of(ty));
        let is_otherwise = |rules| {
            let told = retry.under(rules, case, ty);
            told.bits(ty) != Some(bits) || self.listed.dies(&told.trace)
        };
        if under.refusable.meets(trace.clauses) && first(&under.refusing, &trace, is_otherwise).is_some() {
            return None;
        }
        let dies = |rules| self.listed.dies(&retry.under(rules, case, ty).trace);
        if under.deadly.meets(trace.clauses) && first(&under.computing, &trace, dies).is_some() {
            return None;
        }
        Some(company)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_without_an_example_among_what_is_left_undoes_the_sifting() {
        assert_eq!(Sifted::default().standing([]), Standing::Stands);
        let deviate = BTreeMap::from([("ternary-not-converted", 1)]);
        assert_eq!(Sifted { deviate, ..Sifted::default() }.standing([]), Standing::Undone);
        let read = BTreeMap::from([((Question::ShiftCount, 1), 1)]);
        assert_eq!(Sifted { read, ..Sifted::default() }.standing([]), Standing::Undone);
    }

    #[test]
    fn of_each_key_only_what_has_fewer_nodes_than_all_before_is_shorter() {
        let mut shortest = BTreeMap::new();
        let given = [("a", 5), ("b", 9), ("a", 5), ("a", 4), ("a", 6), ("b", 8), ("a", 3)];
        let shorter = given.map(|(key, nodes)| is_shorter(&mut shortest, key, nodes));
        assert_eq!(shorter, [true, true, false, true, false, true, true]);
    }
}
