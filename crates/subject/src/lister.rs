//! Runs NVIDIA's programs that print the contents of a cubin.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::{self, Cancel, Invocation, Limits, ProcessEnd, Start};

/// Why a cubin could not be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The program could not be run.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// The cubin could not be written to a file for the program.
    #[error("cannot write a cubin for {0}: {1}")]
    File(String, io::Error),
    /// The program rejected the cubin, or printed too much.
    #[error("{0} failed: {1}")]
    Refused(String, String),
}

const INPUT: &str = "in.cubin";

/// A program that prints a cubin, with the cubin's file as its last argument.
#[derive(Clone, Debug)]
pub(crate) struct Lister {
    program: PathBuf,
    option: &'static str,
    limits: Limits,
    cancel: Cancel,
    start: Start,
}

impl Lister {
    /// Creates a lister for the program at this path, with the option that selects the output.
    pub fn new(program: PathBuf, option: &'static str, cancel: Cancel) -> Lister {
        // A listing is about ten times the size of the cubin.
        let limits = Limits { time: Duration::from_secs(120), output: 512 << 20, ..Limits::default() };
        Lister { program, option, limits, cancel, start: Start::Spawn }
    }

    /// Returns the lister with another way to start the program.
    pub fn starting(self, start: Start) -> Lister {
        Lister { start, ..self }
    }

    /// Returns the output of `--help`, if there is any.
    pub fn help(&self) -> Option<String> {
        let directory = process::scratch(0).ok()?;
        let invocation = Invocation {
            program: self.program.clone(),
            args: vec!["--help".into()],
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel).ok()?;
        (finished.end == ProcessEnd::Exited(0)).then(|| finished.stdout.text().into_owned())
    }

    /// Returns the program's listing of a cubin.
    pub fn list(&self, cubin: &[u8]) -> Result<String, ListError> {
        self.list_with(&[], cubin)
    }

    /// Returns the program's listing of a file's bytes, with more options.
    pub fn list_with(&self, options: &[&str], cubin: &[u8]) -> Result<String, ListError> {
        let directory = process::scratch(cubin.len() as u64)
            .and_then(|directory| fs::write(directory.path().join(INPUT), cubin).map(|()| directory))
            .map_err(|error| ListError::File(self.name(), error))?;
        let invocation = Invocation {
            program: self.program.clone(),
            args: [self.option].iter().chain(options).chain(&[INPUT]).map(Into::into).collect(),
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let (finished, _) = self.start.run(&invocation, INPUT, &self.limits, &self.cancel)?;
        let reason = match finished.end {
            ProcessEnd::Exited(0) if finished.stdout.dropped == 0 => {
                return Ok(finished.stdout.text().into_owned());
            }
            ProcessEnd::Exited(0) => format!("it printed more than {} bytes", self.limits.output),
            other => format!("{other:?}: {}", finished.stderr.text().trim()),
        };
        Err(ListError::Refused(self.name(), reason))
    }

    /// Returns the name of the program's file.
    fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
