//! The program: commands, progress, reports. Everything that it says about PTX comes from the other packages.

mod args;
mod bug;
mod commands;
mod config;
mod console;
mod deny;
mod describe;
mod exit;
mod interrupt;
mod progress;
mod resume;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};

use args::{Cli, Command};
use commands::Context;
use console::Console;
use exit::{Exit, Failure};

fn main() -> ExitCode {
    bug::end_on_panic();
    let (cli, matches, args) = match read() {
        Ok(read) => read,
        Err(error) => error.exit(),
    };
    let console = Console { quiet: cli.global.quiet, color: cli.global.color.into() };
    let whole = resume::completed(cli, &matches, &args);
    let exit =
        whole.and_then(|(cli, command_line)| run(&cli, command_line, console)).unwrap_or_else(|failure| {
            console.failure(&failure);
            Exit::from(&failure)
        });
    exit.into()
}

/// What was written, with what the file of `--config` says.
fn read() -> Result<(Cli, ArgMatches, Vec<OsString>), clap::Error> {
    let args = config::completed(std::env::args_os().collect())?;
    let matches = describe::matches(args.clone())?;
    Ok((Cli::from_arg_matches(&matches)?, matches, args))
}

fn run(cli: &Cli, command_line: Vec<String>, console: Console) -> Result<Exit, Failure> {
    let context = Context::new(&cli.global, command_line, console)?;
    match &cli.command {
        Command::Run(args) => commands::run::run(&context, args),
        Command::Check(args) => commands::check::run(&context, args),
        Command::Eval(args) => commands::eval::run(&context, args),
        Command::Lint(args) => commands::lint::run(&context, args),
        Command::Reduce(args) => commands::reduce::run(&context, args),
        Command::Merge(args) => commands::merge::run(&context, args),
        Command::Drift(args) => commands::drift::run(&context, args),
        Command::Report(args) => commands::report::run(&context, args),
        Command::Bundle(args) => commands::bundle::run(&context, args),
        Command::Atlas(args) => commands::atlas::run(&context, args),
        Command::History(args) => commands::history::run(&context, args),
        Command::Gen(args) => commands::generate::run(&context, args),
        Command::Suite(args) => commands::suite::run(&context, args),
        Command::Subjects(args) => commands::subjects::run(&context, args),
        Command::Toolchain(args) => commands::toolchain::run(&context, args),
        #[cfg(feature = "cuda")]
        Command::Cuda(args) => commands::cuda::run(&context, args),
        Command::Gpu(args) => commands::gpu::run(&context, args),
        Command::Manual(args) => commands::manual::run(&context, args),
        Command::Completions(args) => commands::manual::completions(&context, args),
        Command::Worker(args) => commands::worker::run(&context, args),
    }
}
