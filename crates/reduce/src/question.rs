//! What a program is asked.

use crate::program::Program;

/// What a program answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It still shows what is looked for.
    Yes,
    /// It does not.
    No,
    /// It could not be told, and why: no answer in time, a full disk, a failure of the machine. Never taken for a yes.
    CannotTell(String),
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Answer {
        if yes { Answer::Yes } else { Answer::No }
    }
}

/// What is to be kept while a program shrinks.
pub trait Question {
    /// Asks these programs, which are given in the order in which the search prefers them.
    ///
    /// # For implementors
    ///
    /// - The answers come in the order of the programs. All before the first yes must be there; those behind it are not
    ///   looked at and may be left out. So a caller may judge all of them in one batch, or a few at a time in parallel:
    ///   the result of a search is the same.
    /// - The same program must get the same answer, whatever stands beside it.
    /// - What failed for another reason than the program is [`Answer::CannotTell`], never a yes and never a no.
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer>;

    /// How many programs one call should get at most. The result of a search does not depend on it.
    fn at_once(&self) -> usize {
        256
    }

    /// Whether there is no more time for questions. The search ends with the best program that it has.
    fn is_over(&self) -> bool {
        false
    }
}

/// A question made of a function that answers for one program.
pub struct Each<F>(pub F);

impl<F: FnMut(&Program) -> Answer> Question for Each<F> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for program in programs {
            answers.push((self.0)(program));
            if answers.last() == Some(&Answer::Yes) {
                break;
            }
        }
        answers
    }
}
