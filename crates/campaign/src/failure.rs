//! Why something could not be done that was asked for.

use ptxsmith_subject::process;

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
    /// Ctrl-C, or another signal that asks for an end.
    Interrupted,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    /// An error that was turned into nothing else is one of the harness. A run that was stopped on request is none,
    /// wherever it was noticed.
    fn from(error: E) -> Failure {
        let error = error.into();
        let stopped = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref().is_some_and(|error| matches!(error, process::Error::Cancelled(_)))
                || cause.downcast_ref().is_some_and(ptxsmith_subject::Error::is_cancelled)
        };
        if error.chain().any(stopped) { Failure::Interrupted } else { Failure::Harness(error) }
    }
}

/// A run of a subject that did not come to an end: ours, or stopped on request.
pub fn of_subject(error: ptxsmith_subject::Error) -> Failure {
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stopped_on_request_is_no_failure_however_deep_it_was_noticed() {
        let stopped = || process::Error::Cancelled("nvdisasm".into());
        assert!(matches!(Failure::from(stopped()), Failure::Interrupted));
        let deep = anyhow::Error::from(ptxsmith_subject::Error::from(stopped())).context("cannot list code");
        assert!(matches!(Failure::from(deep), Failure::Interrupted));
        let listing = ptxsmith_subject::ListError::Process(stopped());
        assert!(matches!(of_subject(listing.into()), Failure::Interrupted));
        let missing = process::Error::NotFound("nvdisasm".into());
        assert!(matches!(Failure::from(missing), Failure::Harness(_)));
    }
}
