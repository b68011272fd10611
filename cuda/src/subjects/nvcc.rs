//! Full `nvcc`, device side: its own preprocessing, headers and flags around `cicc`. A cross-check of the short way.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits};

use super::{Answer, Compiler, Description, Error, UNIT, messages, unit};

/// One release of `nvcc`.
#[derive(Debug)]
pub struct Nvcc {
    program: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
}

impl Nvcc {
    pub fn new(id: String, version: String, program: PathBuf, limits: Limits, cancel: Cancel) -> Self {
        let description = Description { id, name: "nvcc", version, lineage: "nvidia" };
        Nvcc { program, limits, cancel, description }
    }
}

impl Compiler for Nvcc {
    fn description(&self) -> &Description {
        &self.description
    }

    fn compile(&self, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let failed = |doing: &'static str| move |source| Error::File { doing, source };
        let directory = process::scratch(1 << 28).map_err(failed("make a directory"))?;
        fs::write(directory.path().join(UNIT), unit("", lines)).map_err(failed("write a unit"))?;
        let flags = [
            "-ptx",
            "-rdc=true",
            "-std=c++17",
            "-arch=sm_80",
            "-w",
            "-Xcudafe",
            "--error_limit=1000000000",
            "-o",
            "unit.ptx",
            UNIT,
        ];
        let invocation = Invocation {
            program: self.program.clone(),
            args: flags.iter().map(OsString::from).collect(),
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let complaints = messages::nvidia(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        let ptx = if ptx { fs::read_to_string(directory.path().join("unit.ptx")).ok() } else { None };
        Ok(Answer { complaints, cut_short, ptx })
    }

    fn is_blinded_by_ordinary_errors(&self) -> bool {
        true
    }

    fn makes_ptx(&self) -> bool {
        true
    }
}
