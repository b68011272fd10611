//! `ptxsmith cuda`: the CUDA C++ suite, about host `const` variables in device code.

mod args;
mod check;
mod generate;
mod report;
mod run;

use ptxsmith_cuda::reading::{RuleInterpretations, RuleQuestion};

pub use args::CudaCommand;

use super::CommandContext;
use crate::exit::{Exit, Failure};

/// Runs the selected subcommand.
pub fn run(context: &CommandContext, args: &CudaCommand) -> Result<Exit, Failure> {
    match args {
        CudaCommand::Gen(args) => generate::run(context, args),
        CudaCommand::Run(args) => run::run(context, args),
        CudaCommand::Check(args) => check::run(context, args),
    }
}

/// Returns the interpretations given by the options: the literal text, with the exception for Microsoft's
/// compiler if `microsoft` is true.
fn readings(microsoft: bool) -> RuleInterpretations {
    let literal = RuleInterpretations::default();
    if microsoft { literal.with(RuleQuestion::HostCompiler) } else { literal }
}
