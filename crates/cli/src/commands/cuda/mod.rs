//! `ptxsmith cuda`: the CUDA C++ suite, about host `const` variables in device code.

mod args;
mod check;
mod generate;
mod report;
mod run;

use ptxsmith_cuda::reading::{RuleInterpretations, RuleQuestion};

pub use args::Cuda;

use super::Context;
use crate::exit::{Exit, Failure};

/// Runs the selected subcommand.
pub fn run(context: &Context, args: &Cuda) -> Result<Exit, Failure> {
    match args {
        Cuda::Gen(args) => generate::run(context, args),
        Cuda::Run(args) => run::run(context, args),
        Cuda::Check(args) => check::run(context, args),
    }
}

/// Returns the interpretations given by the options: the literal text, with the exception for Microsoft's compiler if
/// `microsoft` is true.
fn readings(microsoft: bool) -> RuleInterpretations {
    let literal = RuleInterpretations::default();
    if microsoft { literal.with(RuleQuestion::HostCompiler) } else { literal }
}
