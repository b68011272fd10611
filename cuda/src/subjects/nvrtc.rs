//! `NVRTC`: the same front end as a library. It is loaded by a Python script in a child process, since it may crash,
//! and since calling it from here would be unsafe code.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits};

use super::{Answer, Compiler, Description, Error, UNIT, messages, unit};

/// Loads the library named first, compiles the file named second, prints the log, exits 1 where there are errors.
const SCRIPT: &str = r#"
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
text = open(sys.argv[2], "rb").read()
program = ctypes.c_void_p()
assert nvrtc.nvrtcCreateProgram(
    ctypes.byref(program), text, sys.argv[2].encode(), 0, None, None) == 0
options = [b"-std=c++17", b"-arch=compute_80", b"-w", b"-rdc=true"]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
sys.stdout.buffer.write(log.value)
sys.exit(1 if status else 0)
"#;

/// One release of NVRTC.
#[derive(Debug)]
pub struct Nvrtc {
    library: PathBuf,
    python: PathBuf,
    limits: Limits,
    cancel: Cancel,
    description: Description,
}

impl Nvrtc {
    pub fn new(
        id: String,
        version: String,
        library: PathBuf,
        python: PathBuf,
        limits: Limits,
        cancel: Cancel,
    ) -> Self {
        let description = Description { id, name: "nvrtc", version, lineage: "nvidia" };
        Nvrtc { library, python, limits, cancel, description }
    }
}

impl Compiler for Nvrtc {
    fn description(&self) -> &Description {
        &self.description
    }

    fn compile(&self, lines: &[&str], _ptx: bool) -> Result<Answer, Error> {
        let failed = |doing: &'static str| move |source| Error::File { doing, source };
        let directory = process::scratch(1 << 26).map_err(failed("make a directory"))?;
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text);
        write(UNIT, &unit("", lines)).map_err(failed("write a unit"))?;
        write("nvrtc.py", SCRIPT).map_err(failed("write a script"))?;
        let args: Vec<OsString> = vec!["nvrtc.py".into(), self.library.clone().into(), UNIT.into()];
        let invocation = Invocation {
            program: self.python.clone(),
            args,
            directory: Some(directory.path().to_owned()),
            temporary: directory.path().to_owned(),
        };
        let finished = process::run(&invocation, &self.limits, &self.cancel)?;
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let complaints = messages::nvidia(&said);
        let cut_short = messages::cut(&finished, &said, &complaints);
        Ok(Answer { complaints, cut_short, ptx: None })
    }

    fn is_blinded_by_ordinary_errors(&self) -> bool {
        true
    }
}
