//! The exit statuses, which scripts rely on.

use std::process::ExitCode;

pub use ptxsmith_campaign::Failure;

use crate::interrupt;

/// The result of a command, as an exit status.
///
/// | status | `run`, `check` | other commands |
/// | --- | --- | --- |
/// | 0 | everything compared conforms or is a known deviation | done; a rejection by the specification is a valid answer |
/// | 1 | a new deviation, or a known one that is fixed | `report --against`: one was added; `eval --expect`: another answer; else never |
/// | 2 | bad usage or bad input | the same |
/// | 3 | nothing was compared | `eval --expect`: the specification does not decide; otherwise never |
/// | 4 | the harness itself failed: this machine or our code, not the subject | the same |
/// | 130, 143, 129 | stopped by Ctrl-C, SIGTERM, SIGHUP | the same |
///
/// A campaign that is stopped by a signal reports everything compared so far. After the signal a command has
/// 1.5 seconds to finish; a second signal ends it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything compared conforms or is a known deviation, or the command did what it was asked.
    Success = 0,
    /// A new deviation, or a known one that no longer reproduces.
    Deviation = 1,
    /// Bad usage or bad input. clap uses the same status.
    BadInput = 2,
    /// Nothing was compared.
    NothingCompared = 3,
    /// The harness itself failed.
    HarnessFailed = 4,
    /// Stopped by a signal: 128 plus its number, as shells report it.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit status as a number; for `Interrupted`, it depends on the signal.
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
