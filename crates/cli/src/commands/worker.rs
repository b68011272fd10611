//! `ptxsmith worker`, hidden: a child process that loads a library, so that a crash of the library does not
//! end ptxsmith.

use std::io;
use std::path::Path;

use ptxsmith_subject::worker::{WorkError, Workers};
use ptxsmith_subject::{driver, library};

use super::CommandContext;
use crate::args;
use crate::exit::{Exit, Failure};

/// Returns the command that starts this program as a worker, or `None` if the path of this program is
/// unknown.
pub fn workers() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers { program, args: vec!["worker".to_owned()] })
}

/// Answers requests until standard input ends.
pub fn run(context: &CommandContext, args: &args::WorkerCommand) -> Result<Exit, Failure> {
    let done = match args {
        args::WorkerCommand::Nvjitlink(with) => library_worker(library::LibraryKind::NvJitLink, with),
        args::WorkerCommand::Ptxjit(with) => library_worker(library::LibraryKind::PtxCompiler, with),
        args::WorkerCommand::Nvrtc { library, source, ptx, options } => {
            return compile_cuda((library, source, ptx), options);
        }
        args::WorkerCommand::Driver { describe: true, .. } => {
            driver::describe(context.libcuda.as_deref(), io::stdout().lock())
        }
        args::WorkerCommand::Driver { describe: false, .. } => {
            driver::work(context.libcuda.as_deref(), io::stdin().lock(), io::stdout().lock())
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

/// Describes a library, or answers requests with it until standard input ends.
fn library_worker(kind: library::LibraryKind, args: &args::LibraryWorkerArgs) -> Result<(), WorkError> {
    if args.describe {
        library::describe(kind, &args.library, io::stdout().lock())
    } else {
        library::work(kind, &args.library, io::stdin().lock(), io::stdout().lock())
    }
}

/// Compiles a source with NVRTC. If NVRTC rejects the source, its messages go to standard error.
fn compile_cuda((library, source, ptx): (&Path, &Path, &Path), options: &[String]) -> Result<Exit, Failure> {
    let text = std::fs::read_to_string(source)?;
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match library::compile_cuda(library, &text, &name, options) {
        Ok(Ok(text)) => {
            std::fs::write(ptx, text)?;
            Ok(Exit::Success)
        }
        Ok(Err(messages)) => {
            io::Write::write_all(&mut io::stderr().lock(), messages.as_bytes())?;
            Ok(Exit::Deviation)
        }
        Err(error) => Err(Failure::BadInput(error.to_string())),
    }
}
