//! `cicc`: NVIDIA's device front end and optimizer, fed with preprocessed text.

use std::path::PathBuf;

use ptxsmith_subject::process::End;

use super::program::{Program, answer_of_nvidia, directory};
use crate::language::Standard;

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

    fn takes(&self, standard: Standard) -> bool {
        let major = self.program.description.version.split('.').next().and_then(|major| major.parse().ok());
        standard == Standard::Cxx17 || major.is_none_or(|major: u32| major >= 12)
    }

    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory(PRELUDE, lines)?;
        let at = directory.path();
        let language = format!("-std={}", standard.name());
        let args = ["-E", "-x", "c++", &language, UNIT, "-o", "unit.cpp1.ii"];
        let preprocessed = self.program.run_other(&self.preprocessor, &args, at)?;
        if preprocessed.end != End::Exited(0) {
            return Err(Error::Preprocessor(preprocessed.stderr.text().into_owned()));
        }
        // Default: the hundredth error is the last.
        let language = format!("--{}", standard.name());
        let mut args = vec![&*language, "-w", "--error_limit=1000000000", "--orig_src_file_name", UNIT];
        if ptx {
            args.push("--device-c");
        }
        // Without -tused, which nvcc gives it too, it does not look into templates that device functions instantiate.
        args.extend(["-arch", "compute_80", "-m64", "-tused", "unit.cpp1.ii", "-o", "unit.ptx"]);
        let finished = self.program.run(&args, at)?;
        Ok(answer_of_nvidia(&finished, ptx.then(|| at.join("unit.ptx"))))
    }
}
