//! Sifting: expressions by the hundred thousand, of most of which nothing is kept but that they hold what they should.
//!
//! What an implementation gets right is most of what it is shown. So expressions are printed and evaluated as they are
//! made, without trees, shown in large arrays, and compared as bytes; only those that differ, or from which more can be
//! learned than that they conform, are made again and judged one by one.

use std::collections::BTreeMap;
use std::ops::Range;

use ptxsmith_oracle::{Clause, ClauseSet, Evaluator, Question, QuestionSet, Readings, Rules, Stored, Trace};
use ptxsmith_subject::{Error, Observation, Outcome};
use ptxsmith_syntax::{Assemble, BinaryOp, Cast, Infix, Module, ScalarType, StateSpace, UnaryOp, print};

use super::{Judge, MOST_EXCLUDED, Verdict, mask, module::CONST_BYTES};
use crate::{
    known::{Effect, KNOWN},
    verdict::Judged,
};

/// What became of the cases that were sifted.
#[derive(Clone, Debug)]
pub struct Sifted {
    /// The cases that have to be judged one by one, ascending.
    pub left: Vec<u64>,
    /// How many of the others there are: all conform.
    pub conform: u64,
    /// How many of those rest on each clause, in the order of [`Clause::ALL`].
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
        Sifted { left, conform: 0, clauses, questions, followed }
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
pub(super) struct Asked([u32; Question::ALL.len()]);

impl Default for Asked {
    fn default() -> Asked {
        Asked([0; Question::ALL.len()])
    }
}

impl Asked {
    /// Of these questions, which a trial met, those that it is among the first to meet.
    pub fn first_to_meet(&mut self, questions: QuestionSet) -> QuestionSet {
        let mut first = QuestionSet::default();
        for question in questions.iter() {
            let count = &mut self.0[question as usize];
            if *count < MOST_EXCLUDED {
                *count += 1;
                first.insert(question);
            }
        }
        first
    }
}

/// The arrays of one module.
#[derive(Default)]
struct Sheet {
    arrays: BTreeMap<(StateSpace, ScalarType), Array>,
    const_bytes: u64,
}

/// The elements of one array.
#[derive(Default)]
struct Array {
    text: Vec<u8>,
    expected: Vec<u8>,
    cases: Vec<(u64, Trace)>,
}

/// Prints and evaluates at once.
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
    /// that cannot be sifted. It may be asked for the same case several times. A case that is sifted out would conform if
    /// it were judged by [`Judge::batch`].
    ///
    /// # Errors
    /// Only where our machine or code fails.
    pub fn sift(
        &mut self,
        cases: Range<u64>,
        mut make: impl FnMut(u64, &mut dyn Assemble) -> Option<(ScalarType, StateSpace)>,
    ) -> Result<Sifted, Error> {
        let mut sifted = Sifted { followed: self.habits.readings(), ..Sifted::default() };
        let rules = self.rules;
        let followed = Rules { readings: self.habits.readings(), ..rules };
        let mut evaluator = Evaluator::new(&rules, self.version);
        let mut infix = Infix::default();
        let mut asked = Asked::default();
        let mut sheets = vec![Sheet::default()];
        let maker = self.maker();
        let (mut crashes, mut refusals) = (Vec::new(), Vec::new());
        for known in KNOWN.iter().filter(|known| known.is_of(maker)) {
            match known.effect {
                Effect::Crash { when, .. } => crashes.push(when),
                Effect::Refusal(change) => {
                    let mut rules = followed;
                    change(&mut rules);
                    refusals.push((known, rules));
                }
                Effect::Rule(_) => {}
            }
        }
        for case in cases {
            infix.text.clear();
            infix.end();
            let both = &mut Both { text: &mut infix, value: &mut evaluator };
            let Some((ty, space)) = make(case, both) else {
                sifted.left.push(case);
                continue;
            };
            let (stored, trace) = evaluator.stored(ty);
            let Ok(Stored::Bits(bits)) = stored else {
                sifted.left.push(case);
                continue;
            };
            let rechecked = self.options.recheck_every;
            let stands_out = !asked.first_to_meet(trace.questions).is_empty()
                || self.suspicion.falls_on(trace.questions)
                || crashes.iter().any(|when| when(&trace))
                || rechecked > 0 && case.is_multiple_of(rechecked);
            // Whether it is otherwise under rules that the subject follows, or dies of what it then rests on.
            let mut is_otherwise = |rules: &Rules| {
                let mut evaluator = Evaluator::new(rules, self.version);
                make(case, &mut evaluator);
                let (stored, trace) = evaluator.stored(ty);
                !matches!(stored, Ok(Stored::Bits(other)) if other == bits)
                    || crashes.iter().any(|when| when(&trace))
            };
            if stands_out
                || self.habits.concern(trace.questions) && is_otherwise(&followed)
                || refusals.iter().any(|(known, rules)| known.touches(&trace) && is_otherwise(rules))
            {
                sifted.left.push(case);
                continue;
            }
            let size = ty.size().unwrap_or(8);
            let in_const = if space == StateSpace::Const { size } else { 0 };
            if in_const > 0 && sheets.last().is_some_and(|s| s.const_bytes + in_const > CONST_BYTES) {
                sheets.push(Sheet::default());
            }
            let sheet = sheets.last_mut().expect("there is always one");
            sheet.const_bytes += in_const;
            let array = sheet.arrays.entry((space, ty)).or_default();
            array.text.extend_from_slice(&infix.text);
            array.text.extend_from_slice(b",\n");
            array.expected.extend_from_slice(&(bits & mask(size)).to_le_bytes()[..size as usize]);
            array.cases.push((case, trace));
        }
        for sheet in sheets.iter().filter(|sheet| !sheet.arrays.is_empty()) {
            let observation = self.observe(&self.text_of(sheet))?;
            sheet.compare(&observation, &mut sifted);
        }
        sifted.left.sort_unstable();
        Ok(sifted)
    }

    fn text_of(&self, sheet: &Sheet) -> String {
        let mut text = print(&Module { items: self.options.header.items() }).into_bytes();
        text.reserve(sheet.arrays.values().map(|array| 64 + array.text.len()).sum());
        for (&(space, ty), array) in &sheet.arrays {
            let (space, ty, count) = (space.keyword(), ty.keyword(), array.cases.len());
            let name = name(space, ty);
            text.extend_from_slice(format!("{space} {ty} {name}[{count}] = {{\n").as_bytes());
            text.extend_from_slice(&array.text[..array.text.len() - 2]);
            text.extend_from_slice(b"\n};\n");
        }
        String::from_utf8(text).expect("what is printed is text")
    }
}

/// The name of the array of values of this type in this state space.
fn name(space: &str, ty: &str) -> String {
    format!("e{}{}", &space[1..], &ty[1..])
}

impl Sheet {
    fn compare(&self, observation: &Observation, sifted: &mut Sifted) {
        for (&(space, ty), array) in &self.arrays {
            let seen = observation.variables.get(&name(space.keyword(), ty.keyword()));
            let seen = seen.filter(|seen| {
                observation.outcome == Outcome::Accepted && seen.addresses.as_ref().is_none_or(Vec::is_empty)
            });
            let bytes = seen.and_then(|seen| seen.bytes.as_deref());
            let bytes = bytes.filter(|bytes| bytes.len() == array.expected.len());
            let width = array.expected.len() / array.cases.len();
            for (element, (case, trace)) in array.cases.iter().enumerate() {
                let own = element * width..(element + 1) * width;
                if bytes.is_none_or(|bytes| bytes[own.clone()] != array.expected[own]) {
                    sifted.left.push(*case);
                    continue;
                }
                sifted.conform += 1;
                sifted.questions = sifted.questions.union(trace.questions);
                count(&mut sifted.clauses, trace.clauses);
            }
        }
    }
}

fn count(counts: &mut [u64], clauses: ClauseSet) {
    clauses.iter().for_each(|clause| counts[clause as usize] += 1);
}
