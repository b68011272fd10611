//! Runs a compiler as a program on a unit, and reads the output of NVIDIA's compilers.

use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_subject::process::{self, Cancel, Finished, Invocation, Limits, Scratch};
use ptxsmith_subject::regular;

use super::{CompilerDescription, CompilerError, CompilerOutput, UNIT, messages};

/// A compiler's program, and the limits of its runs.
#[derive(Debug)]
pub struct CompilerProgram {
    pub path: PathBuf,
    pub limits: Limits,
    pub cancel: Cancel,
    pub description: CompilerDescription,
}

impl CompilerProgram {
    /// Runs the compiler in this directory.
    pub fn run(&self, args: &[&str], directory: &Path) -> Result<Finished, CompilerError> {
        self.run_other(&self.path, args, directory)
    }

    /// Runs another program under the same limits.
    pub fn run_other(
        &self,
        program: &Path,
        args: &[&str],
        directory: &Path,
    ) -> Result<Finished, CompilerError> {
        let invocation = Invocation {
            program: program.to_owned(),
            args: args.iter().map(Into::into).collect(),
            directory: Some(directory.to_owned()),
            temporary: directory.to_owned(),
        };
        Ok(process::run(&invocation, &self.limits, &self.cancel)?)
    }

    /// Reads the output of a run of one of NVIDIA's compilers, with the PTX if that was requested.
    pub fn output(&self, finished: &Finished, directory: &Path, ptx: bool) -> CompilerOutput {
        let text = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let complaints = messages::nvidia(&text);
        let cut_short = messages::cut(finished, &text, &complaints);
        CompilerOutput { complaints, cut_short, ptx: ptx.then(|| self.ptx(directory)).flatten() }
    }

    /// Returns the PTX that a run wrote to `unit.ptx`.
    pub fn ptx(&self, directory: &Path) -> Option<String> {
        regular::output_text(&directory.join("unit.ptx"), self.limits.file)
    }
}

/// Creates a directory for one run, with the unit in it. The first of `lines` is line 1 of [`UNIT`].
pub fn scratch_with_unit(prelude: &str, lines: &[&str]) -> Result<Scratch, CompilerError> {
    let mut text = format!("{prelude}#line 1 \"{UNIT}\"\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let directory = process::scratch(1 << 28)
        .map_err(|source| CompilerError::File { doing: "make a directory", source })?;
    fs::write(directory.path().join(UNIT), text)
        .map_err(|source| CompilerError::File { doing: "write a unit", source })?;
    Ok(directory)
}
