//! A compiler as a program: the unit that it is given, how it is run, and what NVIDIA's compilers leave.

use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_subject::process::{self, Cancel, Finished, Invocation, Limits};
use tempfile::TempDir;

use super::{Answer, Description, Error, UNIT, messages};

/// A program with what is known of it, and what a run of it may use.
#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    pub limits: Limits,
    pub cancel: Cancel,
    pub description: Description,
}

impl Program {
    /// Runs it.
    pub fn run(&self, args: &[&str], at: &Path) -> Result<Finished, Error> {
        self.run_other(&self.path, args, at)
    }

    /// Runs another program under the same limits.
    pub fn run_other(&self, program: &Path, args: &[&str], at: &Path) -> Result<Finished, Error> {
        let invocation = Invocation {
            program: program.to_owned(),
            args: args.iter().map(Into::into).collect(),
            directory: Some(at.to_owned()),
            temporary: at.to_owned(),
        };
        Ok(process::run(&invocation, &self.limits, &self.cancel)?)
    }
}

/// A directory for one run, with the unit in it; the first of the lines is line 1 of [`UNIT`].
pub fn directory(prelude: &str, lines: &[&str]) -> Result<TempDir, Error> {
    let failed = |doing: &'static str| move |source| Error::File { doing, source };
    let mut text = format!("{prelude}#line 1 \"{UNIT}\"\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let directory = process::scratch(1 << 28).map_err(failed("make a directory"))?;
    fs::write(directory.path().join(UNIT), text).map_err(failed("write a unit"))?;
    Ok(directory)
}

/// What a run of one of NVIDIA's compilers gave, with the PTX in this file where it was asked for.
pub fn answer_of_nvidia(finished: &Finished, ptx: Option<PathBuf>) -> Answer {
    let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
    let complaints = messages::nvidia(&said);
    let cut_short = messages::cut(finished, &said, &complaints);
    Answer { complaints, cut_short, ptx: ptx.and_then(|file| fs::read_to_string(file).ok()) }
}
