//! NVRTC, in a worker process: some releases end the process that loads them.

use std::path::PathBuf;

use ptxsmith_subject::worker::Workers;

use crate::language::Standard;

use super::program::{Program, answer_of_nvidia, directory};
use super::{Answer, Compiler, Description, Error, UNIT};

/// Releases before 13 know no offset of a member: all ones stand for each.
const NO_OFFSETS: &str = "-D__builtin_offsetof(type,member)=(~0ull)";

/// One release of NVRTC.
#[derive(Debug)]
pub struct Nvrtc {
    /// The worker.
    pub program: Program,
    /// How it is started.
    pub workers: Workers,
    pub library: PathBuf,
}

impl Compiler for Nvrtc {
    fn description(&self) -> &Description {
        &self.program.description
    }

    fn takes(&self, standard: Standard) -> bool {
        standard == Standard::Cxx17 || !self.program.description.version.starts_with("11.")
    }

    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory("", lines)?;
        let at = directory.path();
        let library = self.library.to_string_lossy();
        let mut args: Vec<&str> = self.workers.args.iter().map(String::as_str).collect();
        args.extend(["nvrtc", &library, UNIT, "unit.ptx", "--"]);
        let language = format!("-std={}", standard.name());
        args.extend([&*language, "-arch=compute_80", "-rdc=true", "-w", "-device-int128", "-default-device"]);
        if !self.program.description.version.starts_with("13.") {
            args.push(NO_OFFSETS);
        }
        let finished = self.program.run(&args, at)?;
        Ok(answer_of_nvidia(&finished, ptx.then(|| at.join("unit.ptx"))))
    }
}
