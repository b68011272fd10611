//! GCC's offload compiler for NVPTX. It has no kernels: a source's functions are device functions, which the
//! oracle does not run, so globals are judged by their printed layout and by the host's compilers.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_cuda::language::Standard;
use ptxsmith_cuda::subjects::{
    Compiler, CompilerDescription, CompilerError, CompilerOutput, Complaint, Cut, cut_short,
};
use ptxsmith_subject::process::{self, Cancel, Invocation, Limits};
use ptxsmith_subject::regular::output_text;

/// The words of CUDA C++ in sources mean nothing to GCC; everything is compiled for the device.
const PRELUDE: &str = "\
#define __device__
#define __constant__
#define __managed__
#define __global__
#define __host__
#pragma omp declare target
#line 1 \"unit.cc\"
";
/// A region without which nothing is offloaded.
const END: &str = "
#line 1 \"end.cc\"
#pragma omp end declare target
void offloaded_region() {
#pragma omp target
;
}
";
const OPTIONS: [&str; 11] = [
    "-w",
    "-O0",
    "-fopenmp",
    "-foffload=nvptx-none",
    "-fno-diagnostics-show-caret",
    "-save-temps",
    "-shared",
    "-fPIC",
    "-o",
    "unit.so",
    "unit.cc",
];
/// Where the driver leaves the PTX.
const PTX: &str = "unit.so.xnvptx-none.mkoffload.s";

/// A g++ with an offload compiler for NVPTX.
#[derive(Debug)]
pub struct Gcc {
    program: PathBuf,
    description: CompilerDescription,
    limits: Limits,
    cancel: Cancel,
}

/// Parses `gcc@12`; `None` if it names another subject.
pub fn parse_spec(text: &str) -> Option<u32> {
    text.strip_prefix("gcc@")?.parse().ok()
}

impl Gcc {
    /// Finds g++ of this version, and the offload compiler beside it.
    ///
    /// # Errors
    /// If one is missing.
    pub fn open(version: u32, timeout: Duration, cancel: &Cancel) -> Result<Gcc, String> {
        let find = |name: String| which::which(&name).map_err(|error| format!("{name}: {error}"));
        let program = find(format!("g++-{version}"))?;
        find(format!("x86_64-linux-gnu-accel-nvptx-none-gcc-{version}"))?;
        let directory = process::scratch(0).map_err(|error| error.to_string())?;
        let finished =
            process::run_trusted(&program, &["-dumpfullversion"], directory.path(), timeout, cancel)
                .map_err(|error| error.to_string())?;
        let description = CompilerDescription {
            id: format!("gcc@{version}"),
            name: "gcc",
            version: finished.stdout.text().trim().to_owned(),
            lineage: "gcc",
        };
        let limits = Limits { time: timeout, output: 16 << 20, memory: 8 << 30, ..Limits::default() };
        Ok(Gcc { program, description, limits, cancel: cancel.clone() })
    }
}

impl Compiler for Gcc {
    fn description(&self) -> &CompilerDescription {
        &self.description
    }

    fn compile(
        &self,
        standard: Standard,
        lines: &[&str],
        _ptx: bool,
    ) -> Result<CompilerOutput, CompilerError> {
        let failed = |doing| move |source| CompilerError::File { doing, source };
        let directory = process::scratch(1 << 28).map_err(failed("create a directory"))?;
        let path = directory.path();
        fs::write(path.join("unit.cc"), format!("{PRELUDE}{}{END}", lines.join("\n")))
            .map_err(failed("write a unit"))?;
        let language = format!("-std={}", standard.name());
        let invocation = Invocation {
            program: self.program.clone(),
            args: [language.as_str()].iter().chain(&OPTIONS).map(Into::into).collect(),
            directory: Some(path.to_owned()),
            temporary: path.to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let messages = finished.stderr.text();
        let internal = messages.lines().find(|line| line.contains("internal compiler error"));
        if let Some(line) = internal {
            let cut = Some(Cut::Crashed(line.to_owned()));
            return Ok(CompilerOutput { complaints: Vec::new(), cut_short: cut, ptx: None });
        }
        let complaints: Vec<Complaint> = messages.lines().filter_map(complaint).collect();
        // What follows the PTX, assembler and linker, is not under test.
        let ptx = if complaints.is_empty() { output_text(&path.join(PTX), self.limits.file) } else { None };
        let is_answered = ptx.is_some() || !complaints.is_empty();
        let cut_short = if is_answered { None } else { cut_short(&finished, &messages) };
        Ok(CompilerOutput { complaints, cut_short, ptx })
    }

    fn ptx_command(&self, standard: Standard) -> String {
        let (before, after) = (printf(PRELUDE), printf(END));
        let language = standard.name();
        let options = OPTIONS.join(" ");
        format!(
            "{{ {before}; cat {{source}}; {after}; }} >unit.cc\n\
             \"${{GXX:-g++}}\" -std={language} {options} || :\ncat {PTX}"
        )
    }
}

/// Quotes a text without quotation marks of its own for `printf` of a shell.
fn printf(text: &str) -> String {
    format!("printf '%s' '{text}'")
}

/// Reads an error; one of the offload compiler names no line.
fn complaint(line: &str) -> Option<Complaint> {
    let (place, message) =
        line.split_once("error: ").or_else(|| line.split_once("sorry, unimplemented: "))?;
    let number = place.strip_prefix("unit.cc:").and_then(|rest| rest.split(':').next()?.parse().ok());
    let is_of_unit = number.is_some() || place.starts_with("lto1");
    is_of_unit.then(|| Complaint {
        line: number.and_then(|number: usize| number.checked_sub(1)),
        message: message.to_owned(),
        is_of_rule: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_front_end_have_a_line_and_those_of_the_offload_compiler_none() {
        let front = complaint("unit.cc:7:12: error: too many initializers").unwrap();
        assert_eq!((front.line, front.message.as_str()), (Some(6), "too many initializers"));
        assert_eq!(complaint("lto1: fatal error: no such mode").unwrap().line, None);
        assert!(complaint("lto1: sorry, unimplemented: cannot emit unaligned pointers").is_some());
        assert!(complaint("collect2: error: ld returned 1 exit status").is_none());
    }
}
