//! `ptxsmith worker`, hidden: what this program starts itself as, to load a library that may take its process with it.

use std::io;
use std::path::Path;

use ptxsmith_subject::worker::{WorkError, Workers};
use ptxsmith_subject::{driver, library};

use super::Context;
use crate::args;
use crate::exit::{Exit, Failure};

/// How this program starts itself as a worker; `None` where the system does not tell where the program is.
pub fn workers() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers { program, args: vec!["worker".to_owned()] })
}

/// Answers questions until there are no more.
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
        // The parent is gone: there is no one to report to.
        Err(WorkError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(Failure::Harness(error.into())),
    }
}

/// Compiles one source with NVRTC. What that says of a source that it refuses goes to standard error.
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
