//! Full `nvcc`, device side: its own preprocessing, headers and flags around `cicc`. A cross-check of the short way.

use super::program::{Program, answer_of_nvidia, directory};
use super::{Answer, Compiler, Description, Error, UNIT};

/// One release of `nvcc`.
#[derive(Debug)]
pub struct Nvcc(pub Program);

impl Compiler for Nvcc {
    fn description(&self) -> &Description {
        &self.0.description
    }

    fn compile(&self, lines: &[&str], ptx: bool) -> Result<Answer, Error> {
        let directory = directory("", lines)?;
        let at = directory.path();
        let language = ["-ptx", "-rdc=true", "-std=c++17", "-arch=sm_80", "-w"];
        let rest = ["-Xcudafe", "--error_limit=1000000000", "-o", "unit.ptx", UNIT];
        let finished = self.0.run(&[&language[..], &rest[..]].concat(), at)?;
        Ok(answer_of_nvidia(&finished, ptx.then(|| at.join("unit.ptx"))))
    }
}
