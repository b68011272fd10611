//! Builds the modules of a batch and compares their expected content with the observation.

use ptxsmith_oracle::{Clause, Question, QuestionSet, Trace};
use ptxsmith_subject::{Error, Observation, Outcome};
use ptxsmith_syntax::{ScalarType, StateSpace};

use super::text::ExprText;
use crate::judge::{CONST_BYTES, little_endian};

/// The expressions of a batch as array elements, in as few modules as can hold them.
#[derive(Default)]
pub(super) struct BatchBuffer {
    modules: Vec<ModuleBuffer>,
}

/// A case with its expected bits, type and state space.
pub(super) struct ExpectedCase {
    pub case: u64,
    pub ty: ScalarType,
    pub space: StateSpace,
    pub bits: u64,
    pub trace: Trace,
}

/// Information on a case that has another value under a known answer of the subject. Its expected bits follow
/// that answer.
#[derive(Clone, Copy)]
pub(super) struct FollowedAnswer {
    pub question: Question,
    /// The number of nodes of the expression.
    pub nodes: u32,
    /// The clauses and questions that the value rests on.
    pub trace: Trace,
}

/// A case with observed bits that differ from the expected ones.
pub(super) struct DifferingCase {
    pub case: u64,
    pub ty: ScalarType,
    /// The observed bits.
    pub bits: u64,
}

/// The comparison of all cases with the observation.
pub(super) struct BatchComparison {
    /// The number of cases shown with the specification's value, whether they conform or not.
    pub shown: u64,
    /// The number of those cases that rest on each clause, in the order of [`Clause::ALL`].
    pub clauses: Vec<u64>,
    /// The open questions that those cases met.
    pub questions: QuestionSet,
    /// The cases with other bits than expected.
    pub differing: Vec<DifferingCase>,
    /// The cases that conform under a known answer of the subject.
    pub following: Vec<(u64, FollowedAnswer)>,
    /// The cases that deviate from the known answer, and the cases that the subject does not show.
    pub uncompared: Vec<u64>,
}

impl Default for BatchComparison {
    fn default() -> BatchComparison {
        BatchComparison {
            shown: 0,
            clauses: vec![0; Clause::ALL.len()],
            questions: QuestionSet::default(),
            differing: Vec::new(),
            following: Vec::new(),
            uncompared: Vec::new(),
        }
    }
}

impl BatchBuffer {
    /// Adds an element with this text.
    #[inline]
    pub(super) fn write(&mut self, element: ExpectedCase, text: &ExprText) {
        self.array(AnswerSet::Default, &element).write(element, text);
    }

    /// Does the same as [`BatchBuffer::write`] for an element with the bits under another answer to a
    /// question.
    pub(super) fn write_following(
        &mut self,
        element: ExpectedCase,
        followed: FollowedAnswer,
        text: &ExprText,
    ) {
        let array = self.array(AnswerSet::NonDefault, &element);
        array.follows.push(followed);
        array.write(element, text);
    }

    /// Shows each module, preceded by the header, and compares the observations.
    ///
    /// # Errors
    /// Returns the errors of `observe`.
    pub(super) fn compare(
        &self,
        header: &str,
        mut observe: impl FnMut(&str) -> Result<Observation, Error>,
    ) -> Result<BatchComparison, Error> {
        let mut comparison = BatchComparison::default();
        for module in &self.modules {
            comparison.add(module, &observe(&module.text(header))?);
        }
        Ok(comparison)
    }

    /// Returns the array for an element in the last module. Adds a module if the last one has no room.
    #[inline]
    fn array(&mut self, answers: AnswerSet, element: &ExpectedCase) -> &mut ArrayBuffer {
        let &ExpectedCase { ty, space, .. } = element;
        let in_const = if space == StateSpace::Const { ty.bytes() } else { 0 };
        let has_room = self
            .modules
            .last()
            .is_some_and(|module| in_const == 0 || module.const_bytes + in_const <= CONST_BYTES);
        if !has_room {
            self.modules.push(ModuleBuffer::default());
        }
        let module = self.modules.last_mut().expect("there is one by now");
        module.const_bytes += in_const;
        module.array(answers, space, ty)
    }
}

/// The answers to open questions that the elements of an array follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerSet {
    /// The default answers.
    Default,
    /// Other answers; the question is stored for each element.
    NonDefault,
}

/// The arrays of a module.
#[derive(Default)]
struct ModuleBuffer {
    /// Indexed by answers, state space and type: see [`place_of`].
    arrays: Vec<Option<ArrayBuffer>>,
    const_bytes: u64,
}

/// Returns the index of an array in its module. Computed without a search because it is needed millions of
/// times.
fn place_of(answers: AnswerSet, space: StateSpace, ty: ScalarType) -> usize {
    (space as usize * ScalarType::ALL.len() + ty as usize) * 2 + answers as usize
}

/// The elements of an array.
struct ArrayBuffer {
    name: String,
    space: StateSpace,
    ty: ScalarType,
    text: Vec<u8>,
    expected: Vec<u8>,
    cases: Vec<u64>,
    /// The number of cases for each clause, counted before they are shown. This needs no memory per case; the
    /// few differing cases are subtracted later.
    clauses: Vec<u64>,
    questions: QuestionSet,
    /// The answer that each element follows, if the array is one of [`AnswerSet::NonDefault`].
    follows: Vec<FollowedAnswer>,
}

impl ArrayBuffer {
    #[inline]
    fn write(&mut self, element: ExpectedCase, text: &ExprText) {
        text.append_to(&mut self.text);
        self.text.extend_from_slice(b",\n");
        // Copies all eight bytes and then truncates: a copy of constant length is cheaper.
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
    fn array(&mut self, answers: AnswerSet, space: StateSpace, ty: ScalarType) -> &mut ArrayBuffer {
        let place = place_of(answers, space, ty);
        if self.arrays.len() <= place {
            self.arrays.resize_with(place + 1, || None);
        }
        self.arrays[place].get_or_insert_with(|| {
            let letter = if answers == AnswerSet::NonDefault { 'r' } else { 'e' };
            ArrayBuffer {
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

    fn arrays(&self) -> impl Iterator<Item = &ArrayBuffer> {
        self.arrays.iter().flatten()
    }

    /// Returns the text of the module, preceded by the header.
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

impl BatchComparison {
    /// Adds the comparison of a module.
    fn add(&mut self, module: &ModuleBuffer, observation: &Observation) {
        for array in module.arrays() {
            match array.observed_bytes(observation) {
                None => self.uncompared.extend(&array.cases),
                Some(bytes) if array.follows.is_empty() => array.compare(bytes, self),
                Some(bytes) => array.compare_following(bytes, self),
            }
        }
    }
}

impl ArrayBuffer {
    /// Returns the bytes of the array if the subject shows all of them and no addresses.
    fn observed_bytes<'o>(&self, observation: &'o Observation) -> Option<&'o [u8]> {
        let seen = observation.variables.get(self.name.as_str())?;
        let has_addresses = seen.addresses.as_ref().is_some_and(|addresses| !addresses.is_empty());
        if observation.outcome != Outcome::Accepted || has_addresses {
            return None;
        }
        seen.bytes.as_deref().filter(|bytes| bytes.len() == self.expected.len())
    }

    /// Returns the indices and the observed bytes of the differing elements.
    fn differing<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let width = self.expected.len() / self.cases.len();
        bytes
            .chunks(width)
            .zip(self.expected.chunks(width))
            .enumerate()
            .filter(|(_, (seen, expected))| seen != expected)
            .map(|(index, (seen, _))| (index, seen))
    }

    fn compare(&self, bytes: &[u8], comparison: &mut BatchComparison) {
        comparison.shown += self.cases.len() as u64;
        comparison.questions = comparison.questions.union(self.questions);
        for (total, count) in comparison.clauses.iter_mut().zip(&self.clauses) {
            *total += count;
        }
        for (index, seen) in self.differing(bytes) {
            comparison.differing.push(DifferingCase {
                case: self.cases[index],
                ty: self.ty,
                bits: little_endian(seen),
            });
        }
    }

    fn compare_following(&self, bytes: &[u8], comparison: &mut BatchComparison) {
        let mut differing = self.differing(bytes).map(|(index, _)| index).peekable();
        for (index, (&case, &followed)) in self.cases.iter().zip(&self.follows).enumerate() {
            if differing.next_if_eq(&index).is_some() {
                comparison.uncompared.push(case);
            } else {
                comparison.following.push((case, followed));
            }
        }
    }
}
