//! Runs the user's interestingness test.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ptxsmith_reduce::{Answer, Program, Question};
use ptxsmith_subject::Limits;
use ptxsmith_subject::process::{Invocation, ProcessEnd, run, scratch};

use super::machine::full_disk;
use super::question::{Bounds, all_at_once};
use crate::failure::Failure;

/// A command that exits with 0 for an interesting program, as with `cvise` and `creduce`. It runs in a
/// directory of its own that holds the program under the name of the original file; the name is also its last
/// argument.
pub struct InterestingnessTest<'a> {
    program: PathBuf,
    args: Vec<OsString>,
    name: OsString,
    limits: Limits,
    bounds: Bounds<'a>,
    runs: &'a AtomicU64,
}

impl<'a> InterestingnessTest<'a> {
    /// Parses a command line, without a shell. A program name with a slash is resolved from the current
    /// directory, not from the directories in which it will run.
    pub fn new(
        command: &str,
        file: &Path,
        limits: Limits,
        bounds: Bounds<'a>,
        runs: &'a AtomicU64,
    ) -> Result<InterestingnessTest<'a>, Failure> {
        let words = shell_words::split(command)
            .map_err(|error| Failure::BadInput(format!("--command `{command}`: {error}")))?;
        let Some((first, words)) = words.split_first() else {
            return Err(Failure::BadInput(format!("--command `{command}`: names no program")));
        };
        // Like `cvise`, accept the bare name of a script in the current directory.
        let program = if Path::new(first).is_file() || first.contains('/') {
            std::path::absolute(first)?
        } else {
            PathBuf::from(first)
        };
        let name = file.file_name().filter(|_| file != Path::new("-")).unwrap_or("program.ptx".as_ref());
        let args = words.iter().map(OsString::from).chain([name.to_owned()]).collect();
        Ok(InterestingnessTest { program, args, name: name.to_owned(), limits, bounds, runs })
    }

    /// Creates the directories of a run, with the program in the first one.
    fn write(&self, program: &Program, directory: &Path) -> std::io::Result<()> {
        fs::create_dir(directory.join("program"))?;
        fs::create_dir(directory.join("temporary"))?;
        fs::write(directory.join("program").join(&self.name), program.text())
    }

    fn run(&self, program: &Program) -> Answer {
        let directory = match scratch(program.text().len() as u64) {
            Ok(directory) => directory,
            Err(error) => return Answer::CannotTell(format!("cannot make a directory: {error}")),
        };
        let invocation = Invocation {
            program: self.program.clone(),
            args: self.args.clone(),
            directory: Some(directory.path().join("program")),
            temporary: directory.path().join("temporary"),
        };
        if let Err(error) = self.write(program, directory.path()) {
            return Answer::CannotTell(format!("cannot write the program: {error}"));
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        match run(&invocation, &self.limits, self.bounds.cancel) {
            Err(error) => Answer::CannotTell(error.to_string()),
            Ok(finished) => match finished.end {
                ProcessEnd::Exited(0) => match full_disk(program.text()) {
                    Some(reason) => Answer::CannotTell(reason),
                    None => Answer::Yes,
                },
                // The exit statuses of a shell that could not run a command.
                ProcessEnd::Exited(status @ (126 | 127)) => Answer::CannotTell(format!(
                    "the command ended with status {status}: not found, or not executable"
                )),
                ProcessEnd::Exited(_) => Answer::No,
                ProcessEnd::Signalled(signal) => {
                    Answer::CannotTell(format!("the command was killed by signal {signal}"))
                }
                ProcessEnd::TimedOut => {
                    Answer::CannotTell(format!("the command took more than {:?}", self.limits.time))
                }
            },
        }
    }
}

impl Question for InterestingnessTest<'_> {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for wave in programs.chunks(self.bounds.jobs) {
            if self.is_over() {
                answers.resize(programs.len(), Answer::CannotTell("there was no time left".to_owned()));
                break;
            }
            answers.extend(all_at_once(wave, |program| self.run(program)));
            if answers.contains(&Answer::Yes) {
                break;
            }
        }
        answers
    }

    fn is_over(&self) -> bool {
        self.bounds.are_reached()
    }
}
