//! Why something could not be done that was asked for.

/// Why a campaign, or a part of one, could not do what it was asked. What a subject does, and what the specification
/// refuses, is a result and never one of these.
#[derive(Debug)]
pub enum Failure {
    /// The user can mend it. The message says what is wrong, where, and what to do.
    BadInput(String),
    /// Like [`Failure::BadInput`], but the message is complete, place and source line included.
    Rendered(String),
    /// There was no subject to ask, so nothing was compared.
    NoSubject(String),
    /// This machine or our code failed.
    Harness(anyhow::Error),
    /// Ctrl-C.
    Interrupted,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    /// An error that nobody turned into anything else is one of the harness.
    fn from(error: E) -> Failure {
        Failure::Harness(error.into())
    }
}

/// A run of a subject that did not come to an end: ours, or stopped by Ctrl-C.
pub fn of_subject(error: ptxsmith_subject::Error) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}
