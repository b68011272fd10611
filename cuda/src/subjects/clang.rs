//! `clang` as a CUDA compiler, without NVIDIA's headers.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits};

use super::{Answer, Compiler, Description, Error, PRELUDE, UNIT, messages, unit};

/// The flags that make clang a CUDA compiler for the device side that reads nobody's headers.
pub const FLAGS: [&str; 6] =
    ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib"];

/// A clang.
#[derive(Debug)]
pub struct Clang {
    program: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
}

impl Clang {
    pub fn new(id: String, version: String, program: PathBuf, limits: Limits, cancel: Cancel) -> Self {
        let description = Description { id, name: "clang", version, lineage: "llvm" };
        Clang { program, limits, cancel, description }
    }
}

impl Compiler for Clang {
    fn description(&self) -> &Description {
        &self.description
    }

    fn compile(&self, lines: &[&str], _ptx: bool) -> Result<Answer, Error> {
        let failed = |doing: &'static str| move |source| Error::File { doing, source };
        let directory = process::scratch(1 << 26).map_err(failed("make a directory"))?;
        fs::write(directory.path().join(UNIT), unit(PRELUDE, lines)).map_err(failed("write a unit"))?;
        let flags = ["-fsyntax-only", "-std=c++17", "-w", "-ferror-limit=0", "-fno-caret-diagnostics", UNIT];
        let invocation = Invocation {
            program: self.program.clone(),
            args: FLAGS.iter().chain(&flags).map(OsString::from).collect(),
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let said = finished.stderr.text();
        let complaints = messages::clang(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        Ok(Answer { complaints, cut_short, ptx: None })
    }

    fn is_blinded_by_ordinary_errors(&self) -> bool {
        false
    }
}
