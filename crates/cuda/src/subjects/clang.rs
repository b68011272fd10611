//! `clang` as a CUDA compiler, without NVIDIA's headers.

use crate::language::Standard;

use super::program::{Program, directory};
use super::{Answer, Compiler, Description, Error, PRELUDE, UNIT, messages};

/// The flags that make clang a CUDA compiler for the device side that reads no header of CUDA.
pub const FLAGS: [&str; 6] =
    ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib"];

/// A clang.
#[derive(Debug)]
pub struct Clang(pub Program);

impl Compiler for Clang {
    fn description(&self) -> &Description {
        &self.0.description
    }

    fn compile(&self, standard: Standard, lines: &[&str], _ptx: bool) -> Result<Answer, Error> {
        let directory = directory(PRELUDE, lines)?;
        let language = format!("-std={}", standard.name());
        let flags = ["-fsyntax-only", &language, "-w", "-ferror-limit=0", "-fno-caret-diagnostics", UNIT];
        let finished = self.0.run(&[&FLAGS[..], &flags[..]].concat(), directory.path())?;
        let said = finished.stderr.text();
        let complaints = messages::clang(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        Ok(Answer { complaints, cut_short, ptx: None })
    }
}
