//! `ptxsmith explain`: what a name in a report means, without a network.

use ptxsmith_report::explain::{explain, names};
use ptxsmith_report::harmless::line;

use super::Context;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::values::did_you_mean;

/// Prints the page of a deviation, a clause, or an ambiguity and its answers.
pub fn run(context: &Context, args: &args::Explain) -> Result<Exit, Failure> {
    let name = &*args.name;
    let Some(text) = explain(name) else {
        let hint = did_you_mean(name, names());
        let what = "no listed deviation, clause, section or ambiguity";
        return Err(Failure::BadInput(format!("`{}` is {what}{hint}", line(name))));
    };
    context.console.print(&text)?;
    Ok(Exit::Success)
}
