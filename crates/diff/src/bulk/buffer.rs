//! The modules of a batch while they are written, and the comparison of what is in them with what a subject shows.

use ptxsmith_oracle::{Clause, Question, QuestionSet, Trace};
use ptxsmith_subject::{Error, Observation, Outcome};
use ptxsmith_syntax::{ScalarType, StateSpace};

use super::text::ExprText;
use crate::judge::{CONST_BYTES, little_endian};

/// Expressions as elements of arrays, in as few modules as have room for them.
#[derive(Default)]
pub(super) struct BatchBuffer {
    modules: Vec<ModuleBuffer>,
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

impl BatchBuffer {
    /// Writes down an element, whose text this is.
    #[inline]
    pub(super) fn write(&mut self, element: Element, text: &ExprText) {
        self.array(Follow::Specification, &element).write(element, text);
    }

    /// As [`BatchBuffer::write`], of one whose bits are those of another answer to a question.
    pub(super) fn write_read(&mut self, element: Element, follows: Follows, text: &ExprText) {
        let array = self.array(Follow::Other, &element);
        array.follows.push(follows);
        array.write(element, text);
    }

    /// Has each module, behind this header, observed, and compares.
    ///
    /// # Errors
    /// Those of observing.
    pub(super) fn compare(
        &self,
        header: &str,
        mut observe: impl FnMut(&str) -> Result<Observation, Error>,
    ) -> Result<Compared, Error> {
        let mut compared = Compared::default();
        for module in &self.modules {
            compared.take(module, &observe(&module.text(header))?);
        }
        Ok(compared)
    }

    /// The array that an element belongs to, in the last module, which has room for it.
    #[inline]
    fn array(&mut self, follow: Follow, element: &Element) -> &mut Array {
        let &Element { ty, space, .. } = element;
        let in_const = if space == StateSpace::Const { ty.bytes() } else { 0 };
        let has_room = |module: &ModuleBuffer| in_const == 0 || module.const_bytes + in_const <= CONST_BYTES;
        if !self.modules.last().is_some_and(has_room) {
            self.modules.push(ModuleBuffer::default());
        }
        let module = self.modules.last_mut().expect("there is one by now");
        module.const_bytes += in_const;
        module.array(follow, space, ty)
    }
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
struct ModuleBuffer {
    /// By what they follow, state space and type: see [`place_of`].
    arrays: Vec<Option<Array>>,
    const_bytes: u64,
}

/// Where the array of these values is among those of a module. It is looked for millions of times.
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
    clauses: Vec<u64>,
    questions: QuestionSet,
    /// What each follows, where the array is one of those.
    follows: Vec<Follows>,
}

impl Array {
    #[inline]
    fn write(&mut self, element: Element, text: &ExprText) {
        text.append_to(&mut self.text);
        self.text.extend_from_slice(b",\n");
        // All eight bytes, and then only as many as there are: a copy of a fixed length is cheaper.
        let end = self.expected.len() + element.ty.bytes() as usize;
        self.expected.extend_from_slice(&element.bits.to_le_bytes());
        self.expected.truncate(end);
        self.cases.push(element.case);
        element.trace.clauses.iter().for_each(|clause| self.clauses[clause as usize] += 1);
        self.questions = self.questions.union(element.trace.questions);
    }
}

impl ModuleBuffer {
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
                clauses: vec![0; Clause::ALL.len()],
                questions: QuestionSet::default(),
                follows: Vec::new(),
            }
        })
    }

    fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().flatten()
    }

    /// The module, behind this header.
    fn text(&self, header: &str) -> String {
        let mut text = String::with_capacity(self.arrays().map(|array| 64 + array.text.len()).sum());
        text.push_str(header);
        for array in self.arrays() {
            let (space, ty, count) = (array.space.keyword(), array.ty.keyword(), array.cases.len());
            let elements =
                str::from_utf8(&array.text[..array.text.len() - 2]).expect("what is printed is text");
            text += &format!("{space} {ty} {}[{count}] = {{\n", array.name);
            text.push_str(elements);
            text += "\n};\n";
        }
        text
    }
}

impl Compared {
    /// Takes over what is shown of a module.
    fn take(&mut self, module: &ModuleBuffer, observation: &Observation) {
        for array in module.arrays() {
            let seen = observation.variables.get(array.name.as_str());
            let seen = seen.filter(|seen| {
                observation.outcome == Outcome::Accepted && seen.addresses.as_ref().is_none_or(Vec::is_empty)
            });
            let bytes = seen.and_then(|seen| seen.bytes.as_deref());
            match bytes.filter(|bytes| bytes.len() == array.expected.len()) {
                None => self.left.extend(&array.cases),
                Some(bytes) if array.follows.is_empty() => array.compare(bytes, self),
                Some(bytes) => array.compare_read(bytes, self),
            }
        }
    }
}

impl Array {
    /// The elements that are not as expected: their places, and what is seen of them.
    fn differing<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let width = self.expected.len() / self.cases.len();
        let single = bytes.chunks(width).zip(self.expected.chunks(width)).enumerate();
        single.filter(|(_, (seen, expected))| seen != expected).map(|(at, (seen, _))| (at, seen))
    }

    fn compare(&self, bytes: &[u8], compared: &mut Compared) {
        compared.shown += self.cases.len() as u64;
        compared.questions = compared.questions.union(self.questions);
        compared.clauses.iter_mut().zip(&self.clauses).for_each(|(all, own)| *all += own);
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
