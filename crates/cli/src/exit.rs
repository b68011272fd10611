//! The exit statuses, which scripts rely on.

use std::process::ExitCode;

pub use ptxsmith_campaign::Failure;

use crate::interrupt;

/// How a command ended, as its exit status says it.
///
/// | status | of `run`, `check` | of the other commands |
/// | --- | --- | --- |
/// | 0 | everything compared conforms or is a known deviation | done; a refusal by the specification is an answer |
/// | 1 | a new deviation, or a known one that is gone | of `report --against`, that one is added; of `eval --expect`, another answer; else never |
/// | 2 | bad usage or bad input | the same |
/// | 3 | nothing was compared | of `eval --expect`, the specification does not decide; else never |
/// | 4 | the harness itself failed: this machine or our code, not the subject | the same |
/// | 130, 143, 129 | stopped by Ctrl-C, SIGTERM, SIGHUP | the same |
///
/// A campaign that a signal stops reports what it compared until then. A command has two seconds for its end; a second signal
/// does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything compared conforms or is a known deviation, or the command did what it was asked.
    Success = 0,
    /// A new deviation, or a known one that is gone.
    Deviation = 1,
    /// Bad usage or bad input. clap ends with the same status.
    BadInput = 2,
    /// Nothing was compared.
    NothingCompared = 3,
    /// The harness itself failed.
    HarnessFailed = 4,
    /// Stopped by a signal: 128 and its number, as shells report it.
    Interrupted = 130,
}

impl Exit {
    /// The status.
    pub fn status(self) -> u8 {
        match self {
            Exit::Interrupted => interrupt::status(),
            other => other as u8,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.status())
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Exit {
        match failure {
            Failure::BadInput(_) | Failure::Rendered(_) => Exit::BadInput,
            Failure::NoSubject(_) => Exit::NothingCompared,
            Failure::Harness(_) => Exit::HarnessFailed,
            Failure::Interrupted => Exit::Interrupted,
        }
    }
}
