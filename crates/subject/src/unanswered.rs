//! What is said of a program that does not speak the protocol.

use std::fmt;

/// Why an answer to the first program cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// What is wrong.
    pub reason: String,
    /// What was sent, as it was sent.
    pub sent: String,
    /// What came back, cut.
    pub received: String,
    /// A right answer.
    pub expected: String,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unanswered { reason, sent, received, expected } = self;
        write!(f, "no valid answer to a first program: {reason}\n  sent:     {sent}\n  received: ")?;
        match received.trim() {
            "" => write!(f, "nothing")?,
            received => write!(f, "{received}")?,
        }
        write!(
            f,
            "\n  expected: {expected}\n  or the outcome `refused` or `unsupported`; see docs/guide/subjects.md"
        )
    }
}
