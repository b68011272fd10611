//! Runs the user's interestingness test.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ptxsmith_reduce::{Answer, Program, Question};
use ptxsmith_subject::Limits;
use ptxsmith_subject::process::{End, Invocation, run, scratch};

use super::question::{Bounds, all_at_once, full_disk};
use crate::failure::Failure;

/// A command that exits with 0 for an interesting program, as with `cvise` and `creduce`. It runs in a directory of its
/// own that holds the program under the name of the original file; the name is also its last argument.
pub struct Script<'a> {
    program: PathBuf,
    args: Vec<OsString>,
    name: OsString,
    limits: Limits,
    bounds: Bounds<'a>,
    runs: &'a AtomicU64,
}

impl<'a> Script<'a> {
    /// Parses a command line, without a shell. A program name with a slash is resolved from the current directory, not
    /// from the directories in which it will run.
    pub fn new(
        command: &str,
        file: &Path,
        limits: Limits,
        bounds: Bounds<'a>,
        runs: &'a AtomicU64,
    ) -> Result<Script<'a>, Failure> {
        let bad = |why: String| Failure::BadInput(format!("--command `{command}`: {why}"));
        let mut words = shell_words::split(command).map_err(|error| bad(error.to_string()))?.into_iter();
        let first = words.next().ok_or_else(|| bad("names no program".to_owned()))?;
        let here = Path::new(&first);
        // Like `cvise`, accept the bare name of a script in the current directory.
        let program = match here.is_file() || first.contains('/') {
            true => std::path::absolute(here)?,
            false => here.to_owned(),
        };
        let name = file.file_name().filter(|_| file != Path::new("-")).unwrap_or("program.ptx".as_ref());
        let args = words.map(OsString::from).chain([name.to_owned()]).collect();
        Ok(Script { program, args, name: name.to_owned(), limits, bounds, runs })
    }

    fn run(&self, program: &Program) -> Answer {
        let cannot =
            |what: &str, error: &dyn std::fmt::Display| Answer::CannotTell(format!("cannot {what}: {error}"));
        let directory = match scratch(program.text().len() as u64) {
            Ok(directory) => directory,
            Err(error) => return cannot("make a directory", &error),
        };
        let [own, temporary] = ["program", "temporary"].map(|name| directory.path().join(name));
        let written = [&own, &temporary].into_iter().try_for_each(fs::create_dir);
        if let Err(error) = written.and_then(|()| fs::write(own.join(&self.name), program.text())) {
            return cannot("write the program", &error);
        }
        let invocation = Invocation {
            program: self.program.clone(),
            args: self.args.clone(),
            directory: Some(own),
            temporary,
        };
        self.runs.fetch_add(1, Ordering::Relaxed);
        match run(&invocation, &self.limits, self.bounds.cancel) {
            Err(error) => Answer::CannotTell(error.to_string()),
            Ok(finished) => match finished.end {
                End::Exited(0) => match full_disk(program.text()) {
                    Some(reason) => Answer::CannotTell(reason),
                    None => Answer::Yes,
                },
                // The exit statuses of a shell that could not run a command.
                End::Exited(status @ (126 | 127)) => Answer::CannotTell(format!(
                    "the command ended with status {status}: not found, or not executable"
                )),
                End::Exited(_) => Answer::No,
                End::Signalled(signal) => {
                    Answer::CannotTell(format!("the command was killed by signal {signal}"))
                }
                End::TimedOut => {
                    Answer::CannotTell(format!("the command took more than {:?}", self.limits.time))
                }
            },
        }
    }
}

impl Question for Script<'_> {
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
