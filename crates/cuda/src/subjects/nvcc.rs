//! Full `nvcc`, device side: its own preprocessing, headers and flags around `cicc`. A cross-check of the short way.

use crate::language::Standard;

use super::program::{Program, answer_of_nvidia, directory};
use super::{Answer, Compiler, Description, Error, UNIT};

/// One release of `nvcc`.
#[derive(Debug)]
pub struct Nvcc(pub Program);

impl Compiler for Nvcc {
    fn description(&self) -> &Description {
        &self.0.description
    }

    fn compile(&self, standard: Standard, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory("", lines)?;
        let at = directory.path();
        let version = format!("-std={}", standard.name());
        let language = ["-ptx", "-rdc=true", &version, "-arch=sm_80", "-w"];
        let rest = ["-Xcudafe", "--error_limit=1000000000", "-o", "unit.ptx", UNIT];
        let finished = self.0.run(&[&language[..], &rest[..]].concat(), at)?;
        Ok(answer_of_nvidia(&finished, ptx.then(|| at.join("unit.ptx"))))
    }
}
