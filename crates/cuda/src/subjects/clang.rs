//! `clang` as a CUDA compiler, without NVIDIA's headers.

use crate::language::Standard;

use super::program::{CompilerProgram, scratch_with_unit};
use super::{Compiler, CompilerDescription, CompilerError, CompilerOutput, PRELUDE, UNIT, messages};

/// The flags that make clang compile the device side of CUDA without a header of CUDA.
pub const FLAGS: [&str; 6] =
    ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib"];

/// The flags that make clang write PTX. Newer releases need a version of PTX that knows the architecture, and
/// do not choose it themselves.
const PTX: [&str; 8] =
    ["-S", "-O1", "-Xclang", "-target-feature", "-Xclang", "+ptx72", "-fno-crash-diagnostics", "-fgpu-rdc"];

/// A clang.
#[derive(Debug)]
pub struct Clang(pub CompilerProgram);

impl Compiler for Clang {
    fn description(&self) -> &CompilerDescription {
        &self.0.description
    }

    fn compile(
        &self,
        standard: Standard,
        lines: &[&str],
        ptx: bool,
    ) -> Result<CompilerOutput, CompilerError> {
        let scratch = scratch_with_unit(PRELUDE, lines)?;
        let language = format!("-std={}", standard.name());
        let flags = [&language, "-w", "-ferror-limit=0", "-fno-caret-diagnostics", UNIT];
        let to_ptx = [&PTX[..], &["-o", "unit.ptx"]].concat();
        let output_flags: &[&str] = if ptx { &to_ptx } else { &["-fsyntax-only"] };
        let finished = self.0.run(&[&FLAGS[..], output_flags, &flags[..]].concat(), scratch.path())?;
        let stderr = finished.stderr.text();
        let complaints = messages::clang(&stderr);
        let cut_short = messages::cut(&finished, &stderr, &complaints);
        let ptx = ptx.then(|| self.0.ptx(scratch.path())).flatten();
        Ok(CompilerOutput { complaints, cut_short, ptx })
    }

    fn ptx_command(&self, standard: Standard) -> String {
        let words = PRELUDE.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
        let words: String = words.map(|(word, meaning)| format!("'-D{word}={meaning}' \\\n  ")).collect();
        let flags = [&FLAGS[..], &PTX[..]].concat().join(" ");
        format!("\"${{CLANG:-clang++}}\" {flags} \\\n  {words}-std={} -o - {{source}}", standard.name())
    }

    /// False: clang gives constants device copies, so its PTX does not show how the rule was applied.
    fn makes_ptx(&self) -> bool {
        false
    }
}
