//! Sifting: expressions by the hundred thousand, of most of which nothing is kept but that they hold what they should.
//!
//! What an implementation gets right is most of what it is shown. So expressions are printed and evaluated node by node,
//! without trees, shown in large arrays, and compared as bytes; only those that differ, or from which more can be
//! learned than that they conform, are made again and judged one by one.

use std::ops::Range;

use ptxsmith_oracle::{
    Clause, ClauseSet, Evaluator, Question, QuestionSet, Readings, Rules, Stop, Stored, Trace,
};
use ptxsmith_subject::{Error, Observation, Outcome};
use ptxsmith_syntax::{
    Assemble, BinaryOp, Cast, Infix, Module, Numeral, ScalarType, StateSpace, UnaryOp, print,
};

use super::{Judge, MOST_EXCLUDED, Verdict, module::CONST_BYTES, schedule::Changed};
use crate::{known::Known, verdict::Judged};

/// What became of the cases that were sifted.
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
    /// The answers to open questions that the subject was known to follow; of no case that conforms do they change the
    /// value.
    followed: Readings,
}

impl Default for Sifted {
    fn default() -> Sifted {
        let clauses = vec![0; Clause::ALL.len()];
        let (left, questions, followed) = Default::default();
        Sifted { left, conform: 0, unmodelled: 0, clauses, questions, followed }
    }
}

impl Sifted {
    /// Whether verdicts on the cases that were left show that those that conform may have more to tell: that they rule
    /// out an answer to a question that others follow, or a rule that a difference is put down to. Then all cases are to
    /// be judged one by one.
    pub fn is_undone_by<'j>(&self, left: impl IntoIterator<Item = &'j Judged>) -> bool {
        left.into_iter().any(|judged| match &judged.verdict {
            Verdict::Deviates(difference) => difference.explanation.is_none(),
            Verdict::Reads(difference) => {
                let mut followed = difference.explanation.iter().flat_map(|e| &e.readings);
                followed.any(|&(question, answer)| {
                    self.questions.contains(question) && self.followed.answer(question) != answer
                })
            }
            Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => false,
        })
    }
}

/// How many trials met each question so far, as far as that matters.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    counts: [u32; Question::ALL.len()],
    /// The questions that enough trials met.
    enough: QuestionSet,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { counts: [0; Question::ALL.len()], enough: QuestionSet::default() }
    }
}

impl Asked {
    /// Of these questions, which a trial met, those that it is among the first to meet.
    pub fn first_to_meet(&mut self, questions: QuestionSet) -> QuestionSet {
        let mut first = QuestionSet::default();
        if self.enough.has_all(questions) {
            return first;
        }
        for question in questions.iter() {
            let count = &mut self.counts[question as usize];
            if *count < MOST_EXCLUDED {
                *count += 1;
                first.insert(question);
            } else {
                self.enough.insert(question);
            }
        }
        first
    }
}

/// Whether a case is made for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is.
    No,
    /// It was made before, and its value under other rules is asked for.
    Yes,
}

/// What large modules are written on: some 15 MB for 100,000 cases. It is kept from one range of cases to the next, since
/// to be given it anew takes the system as long as filling it.
#[derive(Default)]
pub struct Paper {
    sheets: Vec<Sheet>,
    text: Vec<u8>,
}

impl Paper {
    /// The sheet of this number, from one on.
    fn sheet(&mut self, number: usize) -> &mut Sheet {
        if self.sheets.len() < number {
            self.sheets.resize_with(number, Sheet::default);
        }
        &mut self.sheets[number - 1]
    }
}

/// The arrays of one module.
#[derive(Default)]
struct Sheet {
    /// By state space and type: see [`place_of`].
    arrays: Vec<Option<Array>>,
    const_bytes: u64,
}

/// Where the array of these values is among those of a sheet. It is looked for millions of times.
fn place_of(space: StateSpace, ty: ScalarType) -> usize {
    space as usize * ScalarType::ALL.len() + ty as usize
}

/// The elements of one array.
struct Array {
    name: String,
    space: StateSpace,
    ty: ScalarType,
    text: Vec<u8>,
    expected: Vec<u8>,
    cases: Vec<(u64, Trace)>,
}

/// Prints and evaluates at once: what kind of node it is is asked once.
struct Both<'b, 'r> {
    text: &'b mut Infix,
    value: &'b mut Evaluator<'r>,
}

macro_rules! both {
    ($($node:ident($($part:ident: $of:ty)?);)+) => {
        impl Assemble for Both<'_, '_> {
            $(fn $node(&mut self, $($part: $of)?) {
                self.text.$node($($part)?);
                self.value.$node($($part)?);
            })+
        }
    };
}

both! {
    number(text: &[u8]);
    numeral(numeral: &Numeral);
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

impl Judge<'_> {
    /// Shows the cases of a range, and tells those that conform and have no more to tell from the others.
    ///
    /// `make` gives the nodes of a case and says of what type it is a value, in which state space; or nothing, of a case
    /// that cannot be sifted. Of some cases it is asked again, and gives the same. A case that is sifted out would conform
    /// if it were judged by [`Judge::batch`]. The modules are written on `paper`; what is on it does not matter.
    ///
    /// # Errors
    /// Only where our machine or code fails.
    pub fn sift(
        &mut self,
        cases: Range<u64>,
        paper: &mut Paper,
        mut make: impl FnMut(u64, Again, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
    ) -> Result<Sifted, Error> {
        let mut sifted = Sifted { followed: self.habits.readings(), ..Sifted::default() };
        let rules = self.rules;
        let followed = Rules { readings: self.habits.readings(), ..rules };
        let under = |changes: &[Changed]| -> Vec<(&Known, Rules)> {
            changes.iter().map(|&(known, change)| (known, followed.with(change))).collect()
        };
        let (refusing, computing) = (under(&self.listed.refusals), under(&self.listed.integers));
        let suspected = self.suspicion.suspected();
        let deadly = self.listed.deadly();
        let refusable: ClauseSet = refusing.iter().flat_map(|(known, _)| known.clauses).copied().collect();
        let mut evaluator = Evaluator::new(&rules, self.version).remembering();
        let mut other_evaluator = Evaluator::new(&followed, self.version);
        let mut infix = Infix::default();
        let mut asked = Asked::default();
        paper.sheets.iter_mut().for_each(Sheet::clear);
        let mut used = 1;
        for case in cases {
            infix.clear();
            let both = &mut Both { text: &mut infix, value: &mut evaluator };
            let Some((ty, space)) = make(case, Again::No, both) else {
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
                || suspected.meets(trace.questions)
                || self.listed.dies(&trace)
                || rechecked > 0 && case.is_multiple_of(rechecked);
            let mut under = |rules| {
                other_evaluator.follow(rules);
                make(case, Again::Yes, &mut other_evaluator);
                other_evaluator.stored(ty)
            };
            // Whether it is otherwise under rules that the subject follows, or dies of what it then rests on.
            let mut is_otherwise = |rules| {
                let (stored, trace) = under(rules);
                !matches!(stored, Ok(Stored::Bits(other)) if other == bits) || self.listed.dies(&trace)
            };
            if stands_out
                || self.habits.concern(trace.questions) && is_otherwise(&followed)
                || refusable.meets(trace.clauses)
                    && refusing.iter().any(|(known, rules)| known.touches(&trace) && is_otherwise(rules))
                || deadly.meets(trace.clauses)
                    && computing
                        .iter()
                        .any(|(known, rules)| known.touches(&trace) && self.listed.dies(&under(rules).1))
            {
                sifted.left.push(case);
                continue;
            }
            let size = ty.size().unwrap_or(8);
            let in_const = if space == StateSpace::Const { size } else { 0 };
            if in_const > 0 && paper.sheet(used).const_bytes + in_const > CONST_BYTES {
                used += 1;
            }
            let sheet = paper.sheet(used);
            sheet.const_bytes += in_const;
            let array = sheet.array(space, ty);
            infix.append_to(&mut array.text);
            array.text.extend_from_slice(b",\n");
            // All eight bytes, and then only as many as there are: so nobody asks how many are to be moved.
            let end = array.expected.len() + size as usize;
            array.expected.extend_from_slice(&bits.to_le_bytes());
            array.expected.truncate(end);
            array.cases.push((case, trace));
        }
        for sheet in paper.sheets.iter().filter(|sheet| sheet.arrays().next().is_some()) {
            let mut text = std::mem::take(&mut paper.text);
            text.clear();
            text.extend_from_slice(print(&Module { items: self.options.header.items() }).as_bytes());
            sheet.write(&mut text);
            let text = String::from_utf8(text).expect("what is printed is text");
            sheet.compare(&self.observe(&text)?, &mut sifted);
            paper.text = text.into_bytes();
        }
        sifted.left.sort_unstable();
        Ok(sifted)
    }
}

impl Sheet {
    fn array(&mut self, space: StateSpace, ty: ScalarType) -> &mut Array {
        let place = place_of(space, ty);
        if self.arrays.len() <= place {
            self.arrays.resize_with(place + 1, || None);
        }
        self.arrays[place].get_or_insert_with(|| Array {
            name: format!("e{}{}", space.name(), &ty.keyword()[1..]),
            space,
            ty,
            text: Vec::new(),
            expected: Vec::new(),
            cases: Vec::new(),
        })
    }

    fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().flatten().filter(|array| !array.cases.is_empty())
    }

    fn clear(&mut self) {
        self.const_bytes = 0;
        for Array { text, expected, cases, .. } in self.arrays.iter_mut().flatten() {
            text.clear();
            expected.clear();
            cases.clear();
        }
    }

    fn write(&self, into: &mut Vec<u8>) {
        into.reserve(self.arrays().map(|array| 64 + array.text.len()).sum());
        for array in self.arrays() {
            let (space, ty, count) = (array.space.keyword(), array.ty.keyword(), array.cases.len());
            let name = &array.name;
            into.extend_from_slice(format!("{space} {ty} {name}[{count}] = {{\n").as_bytes());
            into.extend_from_slice(&array.text[..array.text.len() - 2]);
            into.extend_from_slice(b"\n};\n");
        }
    }

    fn compare(&self, observation: &Observation, sifted: &mut Sifted) {
        let mut clauses = Counts::default();
        for array in self.arrays() {
            let seen = observation.variables.get(&array.name);
            let seen = seen.filter(|seen| {
                observation.outcome == Outcome::Accepted && seen.addresses.as_ref().is_none_or(Vec::is_empty)
            });
            let bytes = seen.and_then(|seen| seen.bytes.as_deref());
            let Some(bytes) = bytes.filter(|bytes| bytes.len() == array.expected.len()) else {
                sifted.left.extend(array.cases.iter().map(|(case, _)| case));
                continue;
            };
            let width = array.expected.len() / array.cases.len();
            // Nearly all are as expected: many are compared at once.
            let many = 64;
            let (seen, expected) = (bytes.chunks(many * width), array.expected.chunks(many * width));
            for (cases, (seen, expected)) in array.cases.chunks(many).zip(seen.zip(expected)) {
                let all = seen == expected;
                let single = seen.chunks(width).zip(expected.chunks(width));
                for ((case, trace), (seen, expected)) in cases.iter().zip(single) {
                    if !all && seen != expected {
                        sifted.left.push(*case);
                        continue;
                    }
                    sifted.conform += 1;
                    sifted.questions = sifted.questions.union(trace.questions);
                    clauses.count(trace.clauses, &mut sifted.clauses);
                }
            }
        }
        clauses.settle(&mut sifted.clauses);
    }
}

/// How often each clause was counted, as binary numbers that stand upright: of all clauses the lowest digits in one plane,
/// the next ones in another. So a set is added with a few operations a word, whatever it holds.
#[derive(Default)]
struct Counts {
    planes: [[u64; ClauseSet::N]; 8],
    sets: u32,
}

impl Counts {
    fn count(&mut self, clauses: ClauseSet, totals: &mut [u64]) {
        let mut carry = clauses.words();
        for plane in &mut self.planes {
            let mut rest = 0;
            for (digits, carry) in plane.iter_mut().zip(&mut carry) {
                (*digits, *carry) = (*digits ^ *carry, *digits & *carry);
                rest |= *carry;
            }
            if rest == 0 {
                break;
            }
        }
        self.sets += 1;
        // One more might not fit.
        if self.sets == (1 << self.planes.len()) - 1 {
            self.settle(totals);
        }
    }

    /// Adds what was counted to these totals, in the order of [`Clause::ALL`], and begins anew.
    fn settle(&mut self, totals: &mut [u64]) {
        for (clause, total) in totals.iter_mut().enumerate() {
            let digit = |plane: &[u64; ClauseSet::N]| plane[clause / 64] >> (clause % 64) & 1;
            *total += self.planes.iter().rev().fold(0, |count, plane| count << 1 | digit(plane));
        }
        *self = Counts::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_numbers_count_as_often_as_a_clause_was_there() {
        let mut totals = vec![0; Clause::ALL.len()];
        let mut counts = Counts::default();
        for number in 0..1_000 {
            let every = |nth: usize| number % (nth + 1) == 0;
            let set =
                Clause::ALL.iter().enumerate().filter(|&(nth, _)| every(nth)).map(|(_, &clause)| clause);
            counts.count(set.collect(), &mut totals);
        }
        counts.settle(&mut totals);
        let expected: Vec<u64> =
            (1..=Clause::ALL.len() as u64).map(|step| 1_000_u64.div_ceil(step)).collect();
        assert_eq!(totals, expected);
    }
}
