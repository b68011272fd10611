//! What the modules of a sieve are written on, and the comparison of what is on it with what a subject shows.

use ptxsmith_oracle::{Clause, ClauseSet, Question, QuestionSet, Trace};
use ptxsmith_subject::{Error, Observation, Outcome};
use ptxsmith_syntax::{ScalarType, StateSpace};

use super::text::ExprText;
use crate::judge::{CONST_BYTES, little_endian};

/// What large modules are written on: some 15 MB for 100,000 cases. It is kept from one range of cases to the next, since
/// to be given it anew takes the system as long as filling it.
#[derive(Default)]
pub struct Paper {
    sheets: Vec<Sheet>,
    /// How many of the sheets are written on.
    used: usize,
    text: Vec<u8>,
}

/// A case with what it should hold, of so many bytes of this type in this state space.
pub(super) struct Element {
    pub case: u64,
    pub ty: ScalarType,
    pub space: StateSpace,
    pub bits: u64,
    pub trace: Trace,
}

/// A case that holds something else under the answer to one question that the subject is known to give: that is what is
/// written down of it.
#[derive(Clone, Copy)]
pub(super) struct Follows {
    pub question: Question,
    /// How many nodes the expression has.
    pub nodes: u32,
    /// What it rests on.
    pub trace: Trace,
}

/// A case that holds other bits than are written down of it.
pub(super) struct Other {
    pub case: u64,
    pub ty: ScalarType,
    /// What it holds.
    pub bits: u64,
}

/// What a subject shows of the cases that are written down.
pub(super) struct Compared {
    /// Those that hold what the specification says, and those that do not.
    pub shown: u64,
    /// How many of those rest on each clause, in the order of [`Clause::ALL`].
    pub clauses: Vec<u64>,
    /// The open questions that those met.
    pub questions: QuestionSet,
    /// Of those, the ones that hold something else.
    pub other: Vec<Other>,
    /// The cases that hold what they do under an answer that the subject is known to give.
    pub read: Vec<(u64, Follows)>,
    /// Those that do not hold that, and those of which nothing is shown.
    pub left: Vec<u64>,
}

impl Default for Compared {
    fn default() -> Compared {
        let clauses = vec![0; Clause::ALL.len()];
        let (shown, questions, other, read, left) = Default::default();
        Compared { shown, clauses, questions, other, read, left }
    }
}

impl Paper {
    /// Takes everything off.
    pub(super) fn clear(&mut self) {
        self.sheets.iter_mut().for_each(Sheet::clear);
        self.used = 1;
    }

    /// Writes down an element, whose text this is.
    #[inline]
    pub(super) fn write(&mut self, element: Element, text: &ExprText) {
        self.array(Follow::Specification, &element).write(element, text);
    }

    /// As [`Paper::write`], of one whose bits are those of another answer to a question.
    pub(super) fn write_read(&mut self, element: Element, follows: Follows, text: &ExprText) {
        let array = self.array(Follow::Other, &element);
        array.follows.push(follows);
        array.write(element, text);
    }

    /// Shows each module, behind this header, to whoever observes it, and compares.
    ///
    /// # Errors
    /// Those of observing.
    pub(super) fn compare(
        &mut self,
        header: &str,
        mut observe: impl FnMut(&str) -> Result<Observation, Error>,
    ) -> Result<Compared, Error> {
        let mut compared = Compared::default();
        for sheet in self.sheets.iter().filter(|sheet| sheet.arrays().next().is_some()) {
            let mut text = std::mem::take(&mut self.text);
            text.clear();
            text.extend_from_slice(header.as_bytes());
            sheet.write(&mut text);
            let text = String::from_utf8(text).expect("what is printed is text");
            sheet.compare(&observe(&text)?, &mut compared);
            self.text = text.into_bytes();
        }
        Ok(compared)
    }

    /// The array that an element belongs to, on the last sheet that has room for it.
    #[inline]
    fn array(&mut self, follow: Follow, element: &Element) -> &mut Array {
        let &Element { ty, space, .. } = element;
        let in_const = if space == StateSpace::Const { size_of(ty) } else { 0 };
        if in_const > 0 && self.sheet().const_bytes + in_const > CONST_BYTES {
            self.used += 1;
        }
        let sheet = self.sheet();
        sheet.const_bytes += in_const;
        sheet.array(follow, space, ty)
    }

    #[inline]
    fn sheet(&mut self) -> &mut Sheet {
        if self.sheets.len() < self.used {
            self.sheets.resize_with(self.used, Sheet::default);
        }
        &mut self.sheets[self.used - 1]
    }
}

/// How many bytes a value takes.
pub(super) fn size_of(ty: ScalarType) -> u64 {
    ty.size().unwrap_or(8)
}

/// Whose answers to open questions the elements of an array follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// The oracle's.
    Specification,
    /// Others, of which each of its own.
    Other,
}

/// The arrays of one module.
#[derive(Default)]
struct Sheet {
    /// By what they follow, state space and type: see [`place_of`].
    arrays: Vec<Option<Array>>,
    const_bytes: u64,
}

/// Where the array of these values is among those of a sheet. It is looked for millions of times.
fn place_of(follow: Follow, space: StateSpace, ty: ScalarType) -> usize {
    (space as usize * ScalarType::ALL.len() + ty as usize) * 2 + follow as usize
}

/// The elements of one array.
struct Array {
    name: String,
    space: StateSpace,
    ty: ScalarType,
    text: Vec<u8>,
    expected: Vec<u8>,
    cases: Vec<u64>,
    /// What the cases rest on is counted before they are shown, which takes no memory for each: hardly any of them will
    /// not be as expected.
    clauses: Counts,
    questions: QuestionSet,
    /// What each follows, where the array is one of those.
    follows: Vec<Follows>,
}

impl Array {
    #[inline]
    fn write(&mut self, element: Element, text: &ExprText) {
        text.append_to(&mut self.text);
        self.text.extend_from_slice(b",\n");
        // All eight bytes, and then only as many as there are: so nobody asks how many are to be moved.
        let end = self.expected.len() + size_of(element.ty) as usize;
        self.expected.extend_from_slice(&element.bits.to_le_bytes());
        self.expected.truncate(end);
        self.cases.push(element.case);
        self.clauses.count(element.trace.clauses);
        self.questions = self.questions.union(element.trace.questions);
    }
}

impl Sheet {
    #[inline]
    fn array(&mut self, follow: Follow, space: StateSpace, ty: ScalarType) -> &mut Array {
        let place = place_of(follow, space, ty);
        if self.arrays.len() <= place {
            self.arrays.resize_with(place + 1, || None);
        }
        self.arrays[place].get_or_insert_with(|| {
            let letter = if follow == Follow::Other { 'r' } else { 'e' };
            Array {
                name: format!("{letter}{}{}", space.name(), &ty.keyword()[1..]),
                space,
                ty,
                text: Vec::new(),
                expected: Vec::new(),
                cases: Vec::new(),
                clauses: Counts::default(),
                questions: QuestionSet::default(),
                follows: Vec::new(),
            }
        })
    }

    fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().flatten().filter(|array| !array.cases.is_empty())
    }

    fn clear(&mut self) {
        self.const_bytes = 0;
        for array in self.arrays.iter_mut().flatten() {
            let Array { text, expected, cases, clauses, questions, follows, .. } = array;
            text.clear();
            expected.clear();
            cases.clear();
            clauses.clear();
            *questions = QuestionSet::default();
            follows.clear();
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

    fn compare(&self, observation: &Observation, compared: &mut Compared) {
        for array in self.arrays() {
            let seen = observation.variables.get(&array.name);
            let seen = seen.filter(|seen| {
                observation.outcome == Outcome::Accepted && seen.addresses.as_ref().is_none_or(Vec::is_empty)
            });
            let bytes = seen.and_then(|seen| seen.bytes.as_deref());
            match bytes.filter(|bytes| bytes.len() == array.expected.len()) {
                None => compared.left.extend(&array.cases),
                Some(bytes) if array.follows.is_empty() => array.compare(bytes, compared),
                Some(bytes) => array.compare_read(bytes, compared),
            }
        }
    }
}

impl Array {
    /// The elements that are not as expected: their places, and what is seen of them.
    fn differing<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let width = self.expected.len() / self.cases.len();
        // Nearly all are as expected: many are compared at once.
        let many = 64;
        let blocks = bytes.chunks(many * width).zip(self.expected.chunks(many * width)).enumerate();
        blocks.filter(|(_, (seen, expected))| seen != expected).flat_map(move |(block, (seen, expected))| {
            let single = seen.chunks(width).zip(expected.chunks(width)).enumerate();
            let differing = single.filter(|(_, (seen, expected))| seen != expected);
            differing.map(move |(at, (seen, _))| (block * many + at, seen))
        })
    }

    fn compare(&self, bytes: &[u8], compared: &mut Compared) {
        compared.shown += self.cases.len() as u64;
        compared.questions = compared.questions.union(self.questions);
        self.clauses.add_to(&mut compared.clauses);
        for (at, seen) in self.differing(bytes) {
            compared.other.push(Other { case: self.cases[at], ty: self.ty, bits: little_endian(seen) });
        }
    }

    fn compare_read(&self, bytes: &[u8], compared: &mut Compared) {
        let mut differing = self.differing(bytes).map(|(at, _)| at).peekable();
        for (at, (&case, &follows)) in self.cases.iter().zip(&self.follows).enumerate() {
            match differing.next_if_eq(&at) {
                Some(_) => compared.left.push(case),
                None => compared.read.push((case, follows)),
            }
        }
    }
}

/// How often each clause was counted.
///
/// Of the last sets that were counted, as binary numbers that stand upright: of all clauses the lowest digits in one plane,
/// the next ones in another. So a set is added with a few operations a word, whatever it holds.
#[derive(Default)]
struct Counts {
    planes: [[u64; ClauseSet::N]; 8],
    /// How many sets are counted in the planes.
    sets: u32,
    /// How often each was counted before, in the order of [`Clause::ALL`]; empty where none was.
    totals: Vec<u64>,
}

impl Counts {
    #[inline]
    fn count(&mut self, clauses: ClauseSet) {
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
            self.settle();
        }
    }

    #[inline(never)]
    fn settle(&mut self) {
        let mut totals = std::mem::take(&mut self.totals);
        totals.resize(Clause::ALL.len(), 0);
        self.add_to(&mut totals);
        *self = Counts { totals, ..Counts::default() };
    }

    /// Adds what was counted to these totals, in the order of [`Clause::ALL`].
    fn add_to(&self, totals: &mut [u64]) {
        let before = self.totals.iter().copied().chain(std::iter::repeat(0));
        for (clause, (total, before)) in totals.iter_mut().zip(before).enumerate() {
            let digit = |plane: &[u64; ClauseSet::N]| plane[clause / 64] >> (clause % 64) & 1;
            *total += before + self.planes.iter().rev().fold(0, |count, plane| count << 1 | digit(plane));
        }
    }

    fn clear(&mut self) {
        let mut totals = std::mem::take(&mut self.totals);
        totals.clear();
        *self = Counts { totals, ..Counts::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_numbers_count_as_often_as_a_clause_was_there() {
        let mut counts = Counts::default();
        for number in 0..1_000 {
            let every = |nth: usize| number % (nth + 1) == 0;
            let set =
                Clause::ALL.iter().enumerate().filter(|&(nth, _)| every(nth)).map(|(_, &clause)| clause);
            counts.count(set.collect());
        }
        let expected: Vec<u64> =
            (1..=Clause::ALL.len() as u64).map(|step| 1_000_u64.div_ceil(step)).collect();
        let mut totals = vec![1; Clause::ALL.len()];
        counts.add_to(&mut totals);
        assert_eq!(totals, expected.iter().map(|count| count + 1).collect::<Vec<_>>());
        counts.clear();
        counts.count(ClauseSet::all());
        let mut totals = vec![0; Clause::ALL.len()];
        counts.add_to(&mut totals);
        assert_eq!(totals, vec![1; Clause::ALL.len()]);
    }
}
