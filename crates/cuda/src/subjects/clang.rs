//! `clang` as a CUDA compiler, without NVIDIA's headers.

use crate::language::Standard;

use super::program::{Program, directory};
use super::{Answer, Compiler, Description, Error, PRELUDE, UNIT, messages};

/// The flags that make clang a CUDA compiler for the device side that reads no header of CUDA.
pub const FLAGS: [&str; 6] =
    ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib"];

/// The flags that have it print PTX: newer releases need one that knows the architecture, and do not choose it themselves.
const PTX: [&str; 10] = [
    "-S",
    "-O1",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "+ptx72",
    "-fno-crash-diagnostics",
    "-o",
    "unit.ptx",
    "-fgpu-rdc",
];

/// A clang.
#[derive(Debug)]
pub struct Clang(pub Program);

impl Compiler for Clang {
    fn description(&self) -> &Description {
        &self.0.description
    }

    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory(PRELUDE, lines)?;
        let language = format!("-std={}", standard.name());
        let flags = [&language, "-w", "-ferror-limit=0", "-fno-caret-diagnostics", UNIT];
        let made: &[&str] = if ptx { &PTX } else { &["-fsyntax-only"] };
        let finished = self.0.run(&[&FLAGS[..], made, &flags[..]].concat(), directory.path())?;
        let said = finished.stderr.text();
        let complaints = messages::clang(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        let ptx = ptx.then(|| std::fs::read_to_string(directory.path().join("unit.ptx")).ok()).flatten();
        Ok(Answer { complaints, cut_short, ptx })
    }

    /// Of the rule its PTX shows nothing: it gives constants device copies.
    fn makes_ptx(&self) -> bool {
        false
    }
}
