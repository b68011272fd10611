//! `ptxsmith completions`: generates the completion script of a shell.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_gen::Places;
use ptxsmith_oracle::Question;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::{RELEASES, TOOLS};

use crate::args::{self, Cli};
use crate::commands::CommandContext;
use crate::exit::{Exit, Failure};

/// Prints the completion script for the given shell.
pub fn run(context: &CommandContext, args: &args::CompletionsArgs) -> Result<Exit, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_values(&program, ""), "ptxsmith", &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::Harness(error.into()))?;
    context.console.print(&script)?;
    Ok(Exit::Success)
}

/// Rebuilds the command line definition without hidden arguments, and with the known values of each argument.
fn with_values(command: &Command, path: &str) -> Command {
    let mut new = Command::new(command.get_name().to_owned()).version(env!("CARGO_PKG_VERSION"));
    if let Some(about) = command.get_about() {
        new = new.about(about.clone());
    }
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set() && !is_made(arg)) {
        let values = known_values(path, arg.get_id().as_str());
        let arg = arg.clone().global(false);
        new = new.arg(if values.is_empty() {
            arg
        } else {
            arg.value_parser(PossibleValuesParser::new(values))
        });
    }
    let mut subcommands = Vec::new();
    for subcommand in visible_subcommands(command) {
        let path = format!("{path} {}", subcommand.get_name());
        subcommands.push(with_values(subcommand, path.trim_start()));
    }
    new.disable_help_subcommand(true).subcommands(subcommands)
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

/// Returns true for the arguments that clap adds itself.
fn is_made(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

/// Returns the completions of an argument with values that clap does not know.
fn known_values(command: &str, argument: &str) -> Vec<String> {
    match (command, argument) {
        ("toolchain install", "releases") => [releases(), tools()].concat(),
        ("toolchain path", "release") | ("lint", "releases") | ("drift", "from" | "to") => releases(),
        ("run" | "gen", "cells") => Places::new().families().map(|(family, _)| family.to_owned()).collect(),
        ("reduce", "expect") | ("report" | "history", "finding") | ("bundle", "ids") => {
            KNOWN.iter().map(|known| known.id.to_owned()).collect()
        }
        ("run" | "check" | "eval", "interpretations") => Question::ALL
            .iter()
            .flat_map(|question| {
                question.answers().iter().map(|answer| format!("{}={answer}", question.name()))
            })
            .collect(),
        ("run" | "check" | "reduce" | "subjects", "subjects" | "subject" | "same_on") => subjects(),
        _ => Vec::new(),
    }
}

/// Returns the subjects that need no path or command, and those of each release.
fn subjects() -> Vec<String> {
    let mut subjects = Vec::new();
    for form in SubjectSpec::FORMS {
        if !form.form.contains(|c: char| c.is_ascii_uppercase()) {
            subjects.push(form.form.to_owned());
        }
    }
    subjects.extend(releases().iter().map(|name| format!("ptxas@{name}")));
    subjects.extend(
        tools().into_iter().filter(|tool| tool.starts_with("nvjitlink@") || tool.starts_with("ptxjit@")),
    );
    subjects
}

fn releases() -> Vec<String> {
    RELEASES.iter().map(|release| release.name().to_owned()).collect()
}

fn tools() -> Vec<String> {
    TOOLS.iter().map(|tool| tool.to_string()).collect()
}
