//! `ptxsmith emit`: tests whether compilers that print PTX preserve initial values.

mod args;
mod assembler;
mod check;
mod report;
mod run;

use ptxsmith_campaign::Session;
use ptxsmith_cuda::subjects::{Compiler, OpenError, SubjectOptions, open};
use ptxsmith_emit::gcc::Gcc;
use ptxsmith_emit::host::Host;
use ptxsmith_emit::ir::llc::Llc;
use ptxsmith_subject::toolchain::Toolchains;

pub use args::EmitCommand;
use args::EmitterSpec;

use super::{CommandContext, worker};
use crate::exit::{Exit, Failure};

/// Runs the selected subcommand.
pub fn run(context: &CommandContext, args: &EmitCommand) -> Result<Exit, Failure> {
    match args {
        EmitCommand::Run(args) => run::run(context, args),
        EmitCommand::Check(args) => check::run(context, args),
    }
}

/// The compilers that were named, each once.
struct OpenedCompilers {
    compilers: Vec<Box<dyn Compiler>>,
    llcs: Vec<Llc>,
}

/// Opens every subject and installs missing releases.
fn open_all(
    context: &CommandContext,
    subjects: &[EmitterSpec],
    timeout: std::time::Duration,
) -> Result<OpenedCompilers, Failure> {
    let toolchains = Toolchains::for_user()?;

    let options = SubjectOptions {
        toolchains: &toolchains,
        install: true,
        timeout,
        cancel: &context.cancel,
        workers: worker::workers(),
        progress: &|message: &str| context.console.note(message),
    };
    let mut compilers: Vec<Box<dyn Compiler>> = Vec::new();
    let mut llcs: Vec<Llc> = Vec::new();
    for subject in subjects {
        let spec = match subject {
            EmitterSpec::Cuda(spec) => spec,
            EmitterSpec::Llc(spec) => {
                let llc = Llc::open(spec, timeout, &context.cancel).map_err(Failure::NoSubject)?;
                if !llcs.iter().any(|known| known.description == llc.description) {
                    llcs.push(llc);
                }
                continue;
            }
            EmitterSpec::Gcc(version) => {
                let gcc = Gcc::open(*version, timeout, &context.cancel).map_err(Failure::NoSubject)?;
                if !compilers.iter().any(|known| known.description() == gcc.description()) {
                    compilers.push(Box::new(gcc));
                }
                continue;
            }
        };
        let opened = open(spec, &options).map_err(|error| match error {
            _ if context.cancel.is_cancelled() => Failure::Interrupted,
            error @ (OpenError::Install(_) | OpenError::Missing(_)) => Failure::NoSubject(error.to_string()),
        })?;
        for compiler in opened {
            if !compilers.iter().any(|known| known.description().id == compiler.description().id) {
                compilers.push(compiler);
            }
        }
    }
    Ok(OpenedCompilers { compilers, llcs })
}

/// Finds the compilers of the host. If they are missing, notes that layouts are compared within the PTX only.
fn host(context: &CommandContext, session: &Session) -> Option<Host> {
    let host = Host::find(&session.cancel);
    if host.is_none() {
        context
            .console
            .note("g++ and clang++ are not both in PATH: layouts are compared within the PTX alone");
    }
    host
}

fn of_compiler(error: ptxsmith_emit::EmitError) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}
