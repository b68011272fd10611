//! The report on a program that does not speak the protocol.

use std::fmt;

/// Why the answer to the first module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The fault.
    pub reason: String,
    /// The request, exactly as sent.
    pub sent: String,
    /// The response, truncated.
    pub received: String,
    /// A correct answer.
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
            "\n  expected: {expected}\n  \
             or the outcome `refused` or `unsupported`; see docs/guide/subjects.md"
        )
    }
}
