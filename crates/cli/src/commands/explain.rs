//! `ptxsmith explain`: explains a name from a report, without network access.

use ptxsmith_report::explain::{explain, names};
use ptxsmith_report::harmless::line;

use super::CommandContext;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::values::did_you_mean;

/// Prints the page of a deviation, a clause, or an ambiguity with its interpretations.
pub fn run(context: &CommandContext, args: &args::ExplainArgs) -> Result<Exit, Failure> {
    let name = &*args.name;
    let Some(text) = explain(name) else {
        let hint = did_you_mean(name, names());
        let what = "no listed deviation, clause, section or ambiguity";
        return Err(Failure::BadInput(format!("`{}` is {what}{hint}", line(name))));
    };
    context.console.print(&text)?;
    Ok(Exit::Success)
}
