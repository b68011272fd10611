//! The reasons why a requested operation could not be done.

use ptxsmith_subject::process;

/// The reason why a campaign or one of its steps failed. The behaviour of a subject and an invalid program
/// are results, never failures.
#[derive(Debug)]
pub enum Failure {
    /// An error of the user. The message names the error, its place, and the way to correct it.
    BadInput(String),
    /// Like [`Failure::BadInput`], but the message is complete, including the place and the source line.
    Rendered(String),
    /// No subject was available, so nothing was compared.
    NoSubject(String),
    /// This machine or our code failed.
    Harness(anyhow::Error),
    /// The user pressed Ctrl-C, or another signal requested the end.
    Interrupted,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    /// Converts any other error to a harness failure. A run stopped on request becomes
    /// [`Failure::Interrupted`], wherever it was noticed.
    fn from(error: E) -> Failure {
        let error = error.into();
        if error.chain().any(is_cancelled) { Failure::Interrupted } else { Failure::Harness(error) }
    }
}

/// Returns true if an error says that a run was stopped on request.
fn is_cancelled(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(|error| matches!(error, process::ProcessError::Cancelled(_)))
        || cause.downcast_ref().is_some_and(ptxsmith_subject::Error::is_cancelled)
}

/// Converts the error of a subject's run: a failure of ours, or a stop on request.
pub fn of_subject(error: ptxsmith_subject::Error) -> Failure {
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stopped_on_request_is_no_failure_however_deep_it_was_noticed() {
        let stopped = || process::ProcessError::Cancelled("nvdisasm".into());
        assert!(matches!(Failure::from(stopped()), Failure::Interrupted));
        let deep = anyhow::Error::from(ptxsmith_subject::Error::from(stopped())).context("cannot list code");
        assert!(matches!(Failure::from(deep), Failure::Interrupted));
        let listing = ptxsmith_subject::ListError::Process(stopped());
        assert!(matches!(of_subject(listing.into()), Failure::Interrupted));
        let missing = process::ProcessError::NotFound("nvdisasm".into());
        assert!(matches!(Failure::from(missing), Failure::Harness(_)));
    }
}
