//! `cicc`: NVIDIA's device front end and optimizer. It compiles preprocessed text.

use std::path::PathBuf;

use ptxsmith_subject::process::ProcessEnd;

use super::program::{CompilerProgram, scratch_with_unit};
use crate::language::Standard;

use super::{Compiler, CompilerDescription, CompilerError, CompilerOutput, PRELUDE, UNIT, nvcc};

/// One release of `cicc`.
#[derive(Debug)]
pub struct Cicc {
    pub program: CompilerProgram,
    /// g++, which preprocesses units.
    pub preprocessor: PathBuf,
}

impl Compiler for Cicc {
    fn description(&self) -> &CompilerDescription {
        &self.program.description
    }

    fn supports(&self, standard: Standard) -> bool {
        let version = &self.program.description.version;
        let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
        standard == Standard::Cxx17 || major.is_none_or(|major| major >= 12)
    }

    fn compile(
        &self,
        standard: Standard,
        lines: &[&str],
        ptx: bool,
    ) -> Result<CompilerOutput, CompilerError> {
        let scratch = scratch_with_unit(PRELUDE, lines)?;
        let directory = scratch.path();
        let language = format!("-std={}", standard.name());
        let args = ["-E", "-x", "c++", &language, UNIT, "-o", "unit.cpp1.ii"];
        let preprocessed = self.program.run_other(&self.preprocessor, &args, directory)?;
        if preprocessed.end != ProcessEnd::Exited(0) {
            return Err(CompilerError::Preprocessor(preprocessed.stderr.text().into_owned()));
        }
        // Without a limit of its own, cicc stops at the hundredth error.
        let language = format!("--{}", standard.name());
        let mut args = vec![&*language, "-w", "--error_limit=1000000000", "--orig_src_file_name", UNIT];
        if ptx {
            args.extend(["--device-c", "--allow_managed"]);
        }
        // Without -tused, which nvcc passes too, cicc ignores templates that device functions instantiate.
        args.extend(["-arch", "compute_80", "-m64", "-tused", "unit.cpp1.ii", "-o", "unit.ptx"]);
        let finished = self.program.run(&args, directory)?;
        Ok(self.program.output(&finished, directory, ptx))
    }

    /// Returns that of nvcc, which runs cicc.
    fn ptx_command(&self, standard: Standard) -> String {
        nvcc::ptx_command(standard)
    }
}
