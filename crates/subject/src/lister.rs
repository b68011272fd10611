//! Runs one of NVIDIA's programs that print what a cubin holds.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::{self, Cancel, End, Invocation, Limits, Start};

/// Why a cubin could not be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The program could not be run.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The cubin could not be put where the program finds it.
    #[error("cannot write a cubin for {0}: {1}")]
    File(String, io::Error),
    /// The program refused the cubin, or printed too much.
    #[error("{0} failed: {1}")]
    Refused(String, String),
}

const INPUT: &str = "in.cubin";

/// A program that prints a cubin whose file is its last argument.
#[derive(Clone, Debug)]
pub(crate) struct Lister {
    program: PathBuf,
    option: &'static str,
    limits: Limits,
    cancel: Cancel,
    start: Start,
}

impl Lister {
    /// The program at this path, with the option that says what to print.
    pub fn new(program: PathBuf, option: &'static str, cancel: Cancel) -> Lister {
        // A listing is some ten times the size of the cubin.
        let limits = Limits { time: Duration::from_secs(120), output: 512 << 20, ..Limits::default() };
        Lister { program, option, limits, cancel, start: Start::Spawn }
    }

    /// The same, started in this way.
    pub fn starting(self, start: Start) -> Lister {
        Lister { start, ..self }
    }

    /// What the program says of itself, where it does.
    pub fn help(&self) -> Option<String> {
        let directory = process::scratch(0).ok()?;
        let invocation = Invocation {
            program: self.program.clone(),
            args: vec!["--help".into()],
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel).ok()?;
        (finished.end == End::Exited(0)).then(|| finished.stdout.text().into_owned())
    }

    /// What the program prints of a cubin.
    pub fn list(&self, cubin: &[u8]) -> Result<String, ListError> {
        let name = || self.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = |error| ListError::File(name(), error);
        let directory = process::scratch(cubin.len() as u64).map_err(file)?;
        fs::write(directory.path().join(INPUT), cubin).map_err(file)?;
        let invocation = Invocation {
            program: self.program.clone(),
            args: vec![self.option.into(), INPUT.into()],
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let (finished, _) = self.start.run(&invocation, INPUT, &self.limits, &self.cancel)?;
        let refused = |why| Err(ListError::Refused(name(), why));
        match finished.end {
            End::Exited(0) if finished.stdout.dropped > 0 => {
                refused(format!("it printed more than {} bytes", self.limits.output))
            }
            End::Exited(0) => Ok(finished.stdout.text().into_owned()),
            other => refused(format!("{other:?}: {}", finished.stderr.text().trim())),
        }
    }
}
