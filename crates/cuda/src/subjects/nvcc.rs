//! `nvcc`, device side only. It runs `cicc` with its own preprocessing, headers and flags, and so checks our
//! runs of `cicc`.

use crate::language::Standard;

use super::program::{CompilerProgram, scratch_with_unit};
use super::{Compiler, CompilerDescription, CompilerError, CompilerOutput, UNIT};

/// The flags that make nvcc write PTX.
const PTX: [&str; 4] = ["-ptx", "-rdc=true", "-arch=sm_80", "-w"];

/// Returns the command that prints the PTX of a unit; see [`Compiler::ptx_command`].
pub fn ptx_command(standard: Standard) -> String {
    format!("\"${{NVCC:-nvcc}}\" -std={} {} -o /dev/stdout {{source}}", standard.name(), PTX.join(" "))
}

/// One release of `nvcc`.
#[derive(Debug)]
pub struct Nvcc(pub CompilerProgram);

impl Compiler for Nvcc {
    fn description(&self) -> &CompilerDescription {
        &self.0.description
    }

    fn compile(
        &self,
        standard: Standard,
        lines: &[&str],
        ptx: bool,
    ) -> Result<CompilerOutput, CompilerError> {
        let scratch = scratch_with_unit("", lines)?;
        let directory = scratch.path();
        let language = format!("-std={}", standard.name());
        let mut args = vec![&*language];
        args.extend(PTX);
        args.extend(["-Xcudafe", "--error_limit=1000000000", "-o", "unit.ptx", UNIT]);
        let finished = self.0.run(&args, directory)?;
        Ok(self.0.output(&finished, directory, ptx))
    }

    fn ptx_command(&self, standard: Standard) -> String {
        ptx_command(standard)
    }
}
