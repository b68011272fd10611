//! Opening of subjects, and the errors that prevent it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::{self, Cancel, Limits, Start};
use crate::subject::Subject;
use crate::toolchain::{InstallError, NoHome, Tool, Toolchains};
use crate::worker::Workers;

/// Options for opening subjects.
pub struct OpenOptions<'a> {
    /// Limits of each run.
    pub limits: Limits,
    /// Time limit for a user's own program to answer `--describe`, and again to answer its first module.
    pub first: Duration,
    /// Stops runs and installations.
    pub cancel: Cancel,
    /// Where releases are installed; `None` for the user's default directory ([`Toolchains::for_user`]).
    pub toolchains: Option<Toolchains>,
    /// Whether a named release that is missing is installed over the network. Default: false.
    pub install: bool,
    /// How to start programs that run once for each module. By default each run starts a new process.
    pub start: Start,
    /// User's options for ptxas, such as `-O0`, in addition to the options that ptxsmith always passes.
    pub added_options: Vec<String>,
    /// How this program starts itself again as a worker that loads libraries; `None` if it cannot.
    pub workers: Option<Workers>,
    /// The CUDA driver library; `None` to use the library that the system's loader finds.
    pub libcuda: Option<PathBuf>,
    /// Receives progress messages during an installation.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        OpenOptions {
            limits: Limits::default(),
            first: Duration::from_secs(2),
            cancel: Cancel::new(),
            toolchains: None,
            install: false,
            start: Start::default(),
            added_options: Vec::new(),
            workers: None,
            libcuda: None,
            progress: &|_| (),
        }
    }
}

impl OpenOptions<'_> {
    pub(crate) fn toolchains(&self) -> Result<Toolchains, Unavailable> {
        Ok(self.toolchains.clone().map_or_else(Toolchains::for_user, Ok)?)
    }

    /// Returns a copy with the user's options for ptxas replaced.
    pub(crate) fn with_options(&self, added: &[String]) -> OpenOptions<'_> {
        OpenOptions {
            limits: self.limits.clone(),
            first: self.first,
            cancel: self.cancel.clone(),
            toolchains: self.toolchains.clone(),
            install: self.install,
            start: self.start.clone(),
            added_options: added.to_vec(),
            workers: self.workers.clone(),
            libcuda: self.libcuda.clone(),
            progress: self.progress,
        }
    }

    pub(crate) fn workers(&self) -> Result<&Workers, Unavailable> {
        self.workers.as_ref().ok_or_else(|| {
            Unavailable::new(UnavailableKind::CannotRun, "this program cannot start itself as a worker")
        })
    }

    /// Returns the path of a tool's program or library. A missing tool is installed with `install` if the
    /// options allow that; otherwise the error's reason is `missing()`.
    pub(crate) fn installed(
        &self,
        toolchains: &Toolchains,
        tool: &Tool,
        missing: impl FnOnce() -> String,
        install: impl FnOnce() -> Result<PathBuf, InstallError>,
    ) -> Result<PathBuf, Unavailable> {
        match toolchains.usable(tool) {
            Ok(Some(path)) => Ok(path),
            Ok(None) if self.install => Ok(install()?),
            Ok(None) => Err(Unavailable::new(UnavailableKind::NotInstalled, missing())),
            Err(damaged) => Err(Unavailable::new(UnavailableKind::NotTheSubject, damaged.to_string())),
        }
    }
}

/// Why a subject is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnavailableKind {
    /// It can be installed by name but is not installed.
    NotInstalled,
    /// The program or file does not exist.
    NotFound,
    /// It exists but does not run on this machine.
    CannotRun,
    /// It runs but is not the expected implementation, or its description cannot be used.
    NotTheSubject,
    /// The installation failed: no network, no pip, a full disk.
    InstallFailed,
    /// There is no device for it.
    NoDevice,
    /// The user cancelled.
    Cancelled,
    /// Another failure of this machine.
    Machine,
}

/// A subject is unavailable, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// Machine-readable kind of failure.
    pub kind: UnavailableKind,
    /// Human-readable reason.
    pub reason: String,
}

impl Unavailable {
    pub(crate) fn for_file(path: &Path, error: &std::io::Error) -> Unavailable {
        Unavailable::new(UnavailableKind::Machine, format!("{}: {error}", path.display()))
    }

    pub(crate) fn new(kind: UnavailableKind, reason: impl Into<String>) -> Unavailable {
        Unavailable { kind, reason: reason.into() }
    }
}

impl From<process::ProcessError> for Unavailable {
    fn from(error: process::ProcessError) -> Self {
        let kind = match error {
            process::ProcessError::NotFound(_) => UnavailableKind::NotFound,
            process::ProcessError::NotExecutable(_) | process::ProcessError::WrongFormat(_) => {
                UnavailableKind::CannotRun
            }
            process::ProcessError::Cancelled(_) => UnavailableKind::Cancelled,
            process::ProcessError::Machine { .. } => UnavailableKind::Machine,
        };
        Unavailable::new(kind, error.to_string())
    }
}

impl From<NoHome> for Unavailable {
    fn from(error: NoHome) -> Self {
        Unavailable::new(UnavailableKind::Machine, error.to_string())
    }
}

impl From<InstallError> for Unavailable {
    fn from(error: InstallError) -> Self {
        let kind = match error {
            InstallError::Platform => UnavailableKind::CannotRun,
            InstallError::Process(process::ProcessError::Cancelled(_)) => UnavailableKind::Cancelled,
            _ => UnavailableKind::InstallFailed,
        };
        Unavailable::new(kind, error.to_string())
    }
}

/// The subjects that one name stands for: exactly one, except for names such as `ptxas@all`.
pub type Opened = Result<Vec<Box<dyn Subject>>, Unavailable>;

/// Wraps the result of opening a single subject.
pub(crate) fn single_subject(opened: Result<impl Subject + 'static, Unavailable>) -> Opened {
    Ok(vec![Box::new(opened?)])
}
