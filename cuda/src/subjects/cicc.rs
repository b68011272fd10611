//! `cicc`: NVIDIA's device front end and optimizer, fed with preprocessed text.

use std::path::PathBuf;

use ptxsmith_subject::process::End;

use super::program::{Program, answer_of_nvidia, directory};
use super::{Answer, Compiler, Description, Error, PRELUDE, UNIT};

/// One release of `cicc`.
#[derive(Debug)]
pub struct Cicc {
    pub program: Program,
    pub preprocessor: PathBuf,
}

impl Compiler for Cicc {
    fn description(&self) -> &Description {
        &self.program.description
    }

    fn compile(&self, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory(PRELUDE, lines)?;
        let at = directory.path();
        let args = ["-E", "-x", "c++", "-std=c++17", UNIT, "-o", "unit.cpp1.ii"];
        let preprocessed = self.program.run_other(&self.preprocessor, &args, at)?;
        if preprocessed.end != End::Exited(0) {
            return Err(Error::Preprocessor(preprocessed.stderr.text().into_owned()));
        }
        // Default: the hundredth error is the last.
        let mut args = vec!["--c++17", "-w", "--error_limit=1000000000", "--orig_src_file_name", UNIT];
        if ptx {
            args.push("--device-c");
        }
        // Without -tused, which nvcc gives it too, it does not look into templates that device functions instantiate.
        args.extend(["-arch", "compute_80", "-m64", "-tused", "unit.cpp1.ii", "-o", "unit.ptx"]);
        let finished = self.program.run(&args, at)?;
        Ok(answer_of_nvidia(&finished, ptx.then(|| at.join("unit.ptx"))))
    }
}
