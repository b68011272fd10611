//! NVRTC, in a worker process, because some releases end the process that loads them.

use std::path::PathBuf;

use ptxsmith_subject::worker::Workers;

use crate::language::Standard;

use super::program::{CompilerProgram, scratch_with_unit};
use super::{Compiler, CompilerDescription, CompilerError, CompilerOutput, UNIT};

/// Replaces offsets of members, which releases up to 13.0 do not know, by a number with all bits set.
const NO_OFFSETS: &str = "-D__builtin_offsetof(type,member)=(~0ull)";

/// One release of NVRTC.
#[derive(Debug)]
pub struct Nvrtc {
    /// The program of the worker.
    pub program: CompilerProgram,
    /// The command that starts a worker.
    pub workers: Workers,
    /// The library that the worker loads.
    pub library: PathBuf,
}

impl Compiler for Nvrtc {
    fn description(&self) -> &CompilerDescription {
        &self.program.description
    }

    fn supports(&self, standard: Standard) -> bool {
        standard == Standard::Cxx17 || !self.program.description.version.starts_with("11.")
    }

    fn compile(
        &self,
        standard: Standard,
        lines: &[&str],
        ptx: bool,
    ) -> Result<CompilerOutput, CompilerError> {
        let scratch = scratch_with_unit("", lines)?;
        let directory = scratch.path();
        let library = self.library.to_string_lossy();
        let mut args: Vec<&str> = self.workers.args.iter().map(String::as_str).collect();
        args.extend(["nvrtc", &library, UNIT, "unit.ptx", "--"]);
        let language = format!("-std={}", standard.name());
        args.push(&language);
        args.extend(self.options());
        let finished = self.program.run(&args, directory)?;
        Ok(self.program.output(&finished, directory, ptx))
    }

    fn ptx_command(&self, standard: Standard) -> String {
        let options: String = self.options().iter().map(|option| format!(" '{option}'")).collect();
        let standard = standard.name();
        format!("python3 nvrtc.py \"${{NVRTC:-libnvrtc.so}}\" {{source}} -std={standard} \\\n {options}")
    }

    fn knows_offsets(&self) -> bool {
        knows_offsets(&self.program.description.version)
    }
}

impl Nvrtc {
    /// Returns the options besides that of the language version.
    fn options(&self) -> Vec<&'static str> {
        let mut options = vec!["-arch=compute_80", "-rdc=true", "-w", "-device-int128", "-default-device"];
        if !self.knows_offsets() {
            options.push(NO_OFFSETS);
        }
        options
    }
}

/// Returns true for releases that know `__builtin_offsetof`.
fn knows_offsets(version: &str) -> bool {
    version.starts_with("13.") && !version.starts_with("13.0.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_members_are_known_after_the_first_release_of_13() {
        assert!(knows_offsets("13.5.37") && !knows_offsets("13.0.88") && !knows_offsets("12.9.86"));
    }
}
