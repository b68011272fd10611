//! The command line program: commands, progress and reports. All knowledge of PTX is in the other packages.

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
mod shared;
mod values;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use args::Cli;
use commands::CommandContext;
use console::Console;
use exit::{Exit, Failure};

fn main() -> ExitCode {
    bug::end_on_panic();
    let (cli, matches, args, note) = match read() {
        Ok(read) => read,
        Err(error) => error.exit(),
    };
    let console = Console { quiet: cli.global.quiet, color: cli.global.color.into() };
    let shared = cli.command.work().and_then(|_| shared::note(&matches));
    note.iter().chain(&shared).for_each(|note| console.note(note));
    let whole = resume::completed(cli, &matches, &args);
    let exit =
        whole.and_then(|(cli, command_line)| run(&cli, command_line, console)).unwrap_or_else(|failure| {
            console.failure(&failure);
            Exit::from(&failure)
        });
    exit.into()
}

/// Parses the command line, completed by the options of the `--config` file and of the project's file. Returns
/// a note of the latter, too.
fn read() -> Result<(Cli, ArgMatches, Vec<OsString>, Option<String>), clap::Error> {
    let args = config::completed(std::env::args_os().collect())?;
    let (args, note) = config::completed_by_project(args)?;
    let matches = Cli::command().try_get_matches_from(args.clone())?;
    Ok((Cli::from_arg_matches(&matches)?, matches, args, note))
}

fn run(cli: &Cli, command_line: Vec<String>, console: Console) -> Result<Exit, Failure> {
    let context =
        CommandContext::new(&cli.command.work().cloned().unwrap_or_default(), command_line, console)?;
    commands::run_command(&context, &cli.command)
}
