//! `ptxsmith worker`, hidden: a child process that loads a library, so that a crash of the library does not end
//! ptxsmith.

use std::io;
use std::path::Path;

use ptxsmith_subject::worker::{WorkError, Workers};
use ptxsmith_subject::{driver, library};

use super::Context;
use crate::args;
use crate::exit::{Exit, Failure};

/// Returns the command that starts this program as a worker, or `None` if the path of this program is unknown.
pub fn workers() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers { program, args: vec!["worker".to_owned()] })
}

/// Answers requests until standard input ends.
pub fn run(context: &Context, args: &args::Worker) -> Result<Exit, Failure> {
    let (from, to) = (|| io::stdin().lock(), || io::stdout().lock());
    let library_worker = |kind, with: &args::WithLibrary| match with.describe {
        true => library::describe(kind, &with.library, to()),
        false => library::work(kind, &with.library, from(), to()),
    };
    let done = match args {
        args::Worker::Nvjitlink(with) => library_worker(library::Kind::NvJitLink, with),
        args::Worker::Ptxjit(with) => library_worker(library::Kind::PtxCompiler, with),
        args::Worker::Nvrtc { library, source, ptx, options } => {
            return compile_cuda((library, source, ptx), options);
        }
        args::Worker::Driver { describe: true, .. } => driver::describe(context.libcuda.as_deref(), to()),
        args::Worker::Driver { describe: false, .. } => {
            driver::work(context.libcuda.as_deref(), from(), to())
        }
    };
    match done {
        Ok(()) => Ok(Exit::Success),
        Err(WorkError::Load(error)) => Err(Failure::BadInput(error)),
        // The parent process has ended, so an error has no reader.
        Err(WorkError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(Failure::Harness(error.into())),
    }
}

/// Compiles one source with NVRTC. If NVRTC rejects the source, its messages go to standard error.
fn compile_cuda((library, source, ptx): (&Path, &Path, &Path), options: &[String]) -> Result<Exit, Failure> {
    let text = std::fs::read_to_string(source)?;
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match library::compile_cuda(library, &text, &name, options) {
        Ok(Ok(text)) => {
            std::fs::write(ptx, text)?;
            Ok(Exit::Success)
        }
        Ok(Err(said)) => {
            io::Write::write_all(&mut io::stderr().lock(), said.as_bytes())?;
            Ok(Exit::Deviation)
        }
        Err(error) => Err(Failure::BadInput(error.to_string())),
    }
}
