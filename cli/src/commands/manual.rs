//! `ptxsmith manual` and `ptxsmith completions`: what the command line says of itself, in the forms that systems install.

use clap::CommandFactory;
use ptxsmith_campaign::files::make_directory;

use crate::args::{self, Cli};
use crate::commands::Context;
use crate::exit::{Exit, Failure};

/// Writes a manual page for the program and one for each command.
pub fn run(context: &Context, args: &args::Manual) -> Result<Exit, Failure> {
    make_directory(&args.out)?;
    clap_mangen::generate_to(Cli::command(), &args.out)
        .map_err(|error| Failure::Harness(anyhow::anyhow!("{}: {error}", args.out.display())))?;
    context.console.print(&format!("manual pages: {}\n", args.out.display()))?;
    Ok(Exit::Success)
}

/// Prints what a shell needs to complete command lines.
pub fn completions(context: &Context, args: &args::Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ptxsmith", &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::Harness(error.into()))?;
    context.console.print(&script)?;
    Ok(Exit::Success)
}
