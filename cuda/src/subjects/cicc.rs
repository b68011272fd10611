//! `cicc`: NVIDIA's device front end and optimizer, fed with preprocessed text.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_subject::process::{self, Cancel, End, Invocation, Limits};

use super::{Answer, Compiler, Description, Error, PRELUDE, UNIT, messages, unit};

/// One release of `cicc`.
#[derive(Debug)]
pub struct Cicc {
    program: PathBuf,
    preprocessor: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
}

impl Cicc {
    pub fn new(
        id: String,
        version: String,
        program: PathBuf,
        preprocessor: PathBuf,
        limits: Limits,
        cancel: Cancel,
    ) -> Self {
        let description = Description { id, name: "cicc", version, lineage: "nvidia" };
        Cicc { program, preprocessor, limits, cancel, description }
    }

    fn run(&self, program: &Path, args: &[&str], directory: &Path) -> Result<process::Finished, Error> {
        let invocation = Invocation {
            program: program.to_owned(),
            args: args.iter().map(OsString::from).collect(),
            directory: Some(directory.to_owned()),
            temporary: directory.to_owned(),
        };
        Ok(process::run(&invocation, &self.limits, &self.cancel)?)
    }

    /// Runs `cicc` on the preprocessed unit in this directory.
    fn translate(&self, at: &Path, ptx: bool) -> Result<Answer, Error> {
        // Default: the hundredth error is the last.
        let mut args = vec!["--c++17", "-w", "--error_limit=1000000000", "--orig_src_file_name", UNIT];
        if ptx {
            args.push("--device-c");
        }
        // Without -tused, which nvcc gives it too, it does not look into templates that device functions instantiate.
        args.extend(["-arch", "compute_80", "-m64", "-tused", "unit.cpp1.ii", "-o", "unit.ptx"]);
        let finished = self.run(&self.program, &args, at)?;
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let complaints = messages::nvidia(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        let ptx = if ptx { fs::read_to_string(at.join("unit.ptx")).ok() } else { None };
        Ok(Answer { complaints, cut_short, ptx })
    }
}

impl Compiler for Cicc {
    fn description(&self) -> &Description {
        &self.description
    }

    fn compile(&self, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let failed = |doing: &'static str| move |source| Error::File { doing, source };
        let directory = process::scratch(1 << 28).map_err(failed("make a directory"))?;
        let at = directory.path();
        fs::write(at.join(UNIT), unit(PRELUDE, lines)).map_err(failed("write a unit"))?;
        let preprocessed =
            self.run(&self.preprocessor, &["-E", "-x", "c++", "-std=c++17", UNIT, "-o", "unit.cpp1.ii"], at)?;
        if preprocessed.end != End::Exited(0) {
            return Err(Error::Preprocessor(preprocessed.stderr.text().into_owned()));
        }
        self.translate(at, ptx)
    }

    fn is_blinded_by_ordinary_errors(&self) -> bool {
        true
    }

    fn makes_ptx(&self) -> bool {
        true
    }
}
