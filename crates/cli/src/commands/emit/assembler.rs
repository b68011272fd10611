//! A share of the printed PTX, shown to an assembler as `check` shows files: does the generated code hold the
//! values that the PTX says?

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use ptxsmith_campaign::Session;
use ptxsmith_campaign::check::{FileCheckOptions, check};
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_campaign::pool::lock_of;
use ptxsmith_subject::SubjectSpec;

use super::args::EmitRunArgs;
use crate::commands::{CommandContext, run::summed_up};
use crate::exit::{Exit, Failure};

/// The first of this number of units of a compiler is shown to the assembler.
const SHARE: u64 = 8;

/// The folder in the output directory for the PTX and the report of the check.
const FOLDER: &str = "assembler";

/// The PTX that is shown to an assembler after the campaign.
pub struct PtxSample {
    assembler: SubjectSpec,
    directory: PathBuf,
    files: Mutex<Vec<PathBuf>>,
}

impl PtxSample {
    /// Starts a sample if an assembler is named.
    pub fn new(args: &EmitRunArgs) -> Result<Option<PtxSample>, Failure> {
        let Some(assembler) = args.assembler.clone() else { return Ok(None) };
        let directory = args.out.join(FOLDER);
        make_directory(&directory)?;
        Ok(Some(PtxSample { assembler, directory, files: Mutex::default() }))
    }

    /// Whether this unit is in the sample.
    pub fn has(&self, unit: u64) -> bool {
        unit.is_multiple_of(SHARE)
    }

    /// Adds the PTX of a unit of a compiler.
    pub fn add(&self, compiler: &str, unit: u64, ptx: &str) -> Result<(), Failure> {
        let compiler = compiler.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let file = self.directory.join(format!("{compiler}-{unit}.ptx"));
        write_whole(&file, ptx.as_bytes())?;
        lock_of(&self.files).push(file);
        Ok(())
    }

    /// Checks the sample with the assembler, and prints the result.
    pub fn check(
        self,
        context: &CommandContext,
        session: &Session,
        args: &EmitRunArgs,
    ) -> Result<Exit, Failure> {
        let started = Instant::now();
        let mut files = self.files.into_inner().expect("a panic ends the program");
        files.sort();
        if files.is_empty() {
            return Ok(Exit::NothingCompared);
        }
        let out = self.directory.join("check");
        let options = FileCheckOptions {
            files,
            subjects: vec![self.assembler],
            timeout: Some(args.timeout),
            by_case: false,
            out: Some(out.clone()),
            replace: true,
            counterpart: no_counterpart,
        };
        let outcome = check(session, options)?;
        summed_up(context, &outcome, Some(Path::new(&out)), started, &args.presentation)
    }
}

/// Generated PTX is valid: it names no valid counterpart.
fn no_counterpart(_: &str) -> Option<&str> {
    None
}

/// Returns the status of two results: a deviation takes precedence, and then what was compared.
pub fn worse(emitted: Exit, assembled: Exit) -> Exit {
    match (emitted, assembled) {
        (Exit::Success | Exit::NothingCompared, other) if other != Exit::NothingCompared => other,
        (emitted, _) => emitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_of_either_counts() {
        assert_eq!(worse(Exit::Success, Exit::Deviation), Exit::Deviation);
        assert_eq!(worse(Exit::Deviation, Exit::Success), Exit::Deviation);
        assert_eq!(worse(Exit::Success, Exit::NothingCompared), Exit::Success);
        assert_eq!(worse(Exit::NothingCompared, Exit::Success), Exit::Success);
    }
}
