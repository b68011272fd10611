//! The question that a reduction asks about programs.

use crate::program::Program;

/// The answer to a question about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The program still has the property in question.
    Yes,
    /// The program does not have the property.
    No,
    /// The answer is unknown, for this reason: a timeout, a full disk, or a failure of the machine. It is
    /// never treated as yes, and the program may be asked about again.
    CannotTell(String),
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Answer {
        if yes { Answer::Yes } else { Answer::No }
    }
}

/// The property that a program must keep while it is reduced.
pub trait Question {
    /// Asks the question about these programs, which are in the order in which the search prefers them.
    ///
    /// # For implementors
    ///
    /// - Answers must be in the order of the programs. All answers before the first yes must be present; later ones are ignored and may be
    ///   omitted. So an implementation may judge all programs in one batch, or a few at a time in parallel: the result of a search is the
    ///   same.
    /// - The same program must get the same answer, regardless of the other programs in the call.
    /// - A failure that the program did not cause is [`Answer::CannotTell`], never a yes or a no.
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer>;

    /// Returns the maximum number of programs that one call should get. The result of a search does not
    /// depend on it.
    fn at_once(&self) -> usize {
        256
    }

    /// Returns true if the time for questions has run out. The search then ends with the best program so far.
    fn is_over(&self) -> bool {
        false
    }
}

/// A question from a function that answers for one program.
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
