//! How subjects are opened, and what stands in the way of one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::{self, Cancel, Limits, Start};
use crate::subject::Subject;
use crate::toolchain::{Damaged, InstallError, NoHome, Tool, Toolchains};
use crate::worker::Workers;

/// How subjects are opened.
pub struct OpenOptions<'a> {
    /// What each run may use.
    pub limits: Limits,
    /// How long a program of the user's has for its first words: the answer to `--describe`, and that to a first program.
    pub first: Duration,
    /// Stops runs and installations.
    pub cancel: Cancel,
    /// Where releases are installed; `None` for the user's own place ([`Toolchains::of_user`]).
    pub toolchains: Option<Toolchains>,
    /// Whether a release that is named and missing is installed, over the network. By default it is not.
    pub install: bool,
    /// How programs are started that are run for each module. By default each run starts its program anew.
    pub start: Start,
    /// What ptxas is given besides what ptxsmith gives it: `-O0`.
    pub own: Vec<String>,
    /// How this program starts itself again as a worker that loads libraries; `None` if it cannot.
    pub workers: Option<Workers>,
    /// The CUDA driver library; `None` for the one that the system's loader finds.
    pub libcuda: Option<PathBuf>,
    /// Told what happens during an installation.
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
            own: Vec::new(),
            workers: None,
            libcuda: None,
            progress: &|_| (),
        }
    }
}

impl OpenOptions<'_> {
    pub(crate) fn toolchains(&self) -> Result<Toolchains, Unavailable> {
        Ok(self.toolchains.clone().map_or_else(Toolchains::of_user, Ok)?)
    }

    /// The same, with options of the user's for ptxas.
    pub(crate) fn giving(&self, own: &[String]) -> OpenOptions<'_> {
        OpenOptions {
            limits: self.limits.clone(),
            first: self.first,
            cancel: self.cancel.clone(),
            toolchains: self.toolchains.clone(),
            install: self.install,
            start: self.start.clone(),
            own: own.to_vec(),
            workers: self.workers.clone(),
            libcuda: self.libcuda.clone(),
            progress: self.progress,
        }
    }

    pub(crate) fn workers(&self) -> Result<&Workers, Unavailable> {
        let none =
            || Unavailable::new(UnavailableKind::CannotRun, "this program cannot start itself as a worker");
        self.workers.as_ref().ok_or_else(none)
    }

    /// The program or library of a tool, where it is installed, else what `install` installs, where that is wanted.
    pub(crate) fn installed(
        &self,
        toolchains: &Toolchains,
        tool: &Tool,
        missing: impl FnOnce() -> String,
        install: impl FnOnce() -> Result<PathBuf, InstallError>,
    ) -> Result<PathBuf, Unavailable> {
        let damaged =
            |damaged: Damaged| Unavailable::new(UnavailableKind::NotTheSubject, damaged.to_string());
        match toolchains.usable(tool).map_err(damaged)? {
            Some(path) => Ok(path),
            None if self.install => Ok(install()?),
            None => Err(Unavailable::new(UnavailableKind::NotInstalled, missing())),
        }
    }
}

/// What stands in the way of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnavailableKind {
    /// It can be installed by name, and is not.
    NotInstalled,
    /// There is no such program or file.
    NotFound,
    /// It is there, but does not run on this machine.
    CannotRun,
    /// It runs, but is not what it was taken for, or describes itself in a way that cannot be used.
    NotTheSubject,
    /// It could not be installed: no network, no pip, a disk that is full.
    InstallFailed,
    /// There is no device for it.
    NoDevice,
    /// The user stopped it.
    Cancelled,
    /// This machine failed otherwise.
    Machine,
}

/// There is no such subject here, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// What stands in the way, for programs.
    pub kind: UnavailableKind,
    /// Why it is not available, for people.
    pub reason: String,
}

impl Unavailable {
    pub(crate) fn of_file(path: &Path, error: &std::io::Error) -> Unavailable {
        Unavailable::new(UnavailableKind::Machine, format!("{}: {error}", path.display()))
    }

    pub(crate) fn new(kind: UnavailableKind, reason: impl Into<String>) -> Unavailable {
        Unavailable { kind, reason: reason.into() }
    }
}

impl From<process::Error> for Unavailable {
    fn from(error: process::Error) -> Self {
        let kind = match error {
            process::Error::NotFound(_) => UnavailableKind::NotFound,
            process::Error::NotExecutable(_) | process::Error::WrongFormat(_) => UnavailableKind::CannotRun,
            process::Error::Cancelled(_) => UnavailableKind::Cancelled,
            process::Error::Machine { .. } => UnavailableKind::Machine,
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
            InstallError::Process(process::Error::Cancelled(_)) => UnavailableKind::Cancelled,
            _ => UnavailableKind::InstallFailed,
        };
        Unavailable::new(kind, error.to_string())
    }
}

/// The subjects of one name: one, but for a name such as `ptxas@all`.
pub type Opened = Result<Vec<Box<dyn Subject>>, Unavailable>;

/// One subject, opened or not.
pub(crate) fn one(opened: Result<impl Subject + 'static, Unavailable>) -> Opened {
    Ok(vec![Box::new(opened?)])
}
