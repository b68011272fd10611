//! `ptxsmith completions`: generates the completion script of a shell.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_gen::Places;
use ptxsmith_oracle::Question;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::{RELEASES, TOOLS};

use crate::args::{self, Cli};
use crate::commands::Context;
use crate::exit::{Exit, Failure};

/// Prints the completion script for the given shell.
pub fn run(context: &Context, args: &args::Completions) -> Result<Exit, Failure> {
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
        new = new.arg(match values.is_empty() {
            true => arg,
            false => arg.value_parser(PossibleValuesParser::new(values)),
        });
    }
    let of_sub = |sub: &Command| {
        let path = format!("{path} {}", sub.get_name());
        with_values(sub, path.trim_start())
    };
    new.disable_help_subcommand(true).subcommands(shown(command).map(of_sub))
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

/// Returns true for the arguments that clap adds itself.
fn is_made(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

/// Returns the completions of an argument whose values clap does not know.
fn known_values(command: &str, argument: &str) -> Vec<String> {
    let releases = || RELEASES.iter().map(|release| release.name().to_owned());
    let tools = || TOOLS.iter().map(|tool| tool.to_string());
    match (command, argument) {
        ("toolchain install", "releases") => releases().chain(tools()).collect(),
        ("toolchain path", "release") | ("lint", "releases") | ("drift", "from" | "to") => {
            releases().collect()
        }
        ("run" | "gen", "cells") => Places::new().families().map(|(family, _)| family.to_owned()).collect(),
        ("reduce", "expect") | ("report" | "history", "finding") | ("bundle", "ids") => {
            KNOWN.iter().map(|known| known.id.to_owned()).collect()
        }
        (_, "readings") => Question::ALL
            .iter()
            .flat_map(|question| {
                question.answers().iter().map(|answer| format!("{}={answer}", question.name()))
            })
            .collect(),
        ("run" | "check" | "reduce" | "subjects", "subjects" | "subject" | "same_on") => {
            let fixed = SubjectSpec::FORMS
                .iter()
                .map(|form| form.form)
                .filter(|form| !form.contains(|c: char| c.is_ascii_uppercase()));
            fixed
                .map(str::to_owned)
                .chain(releases().map(|name| format!("ptxas@{name}")))
                .chain(
                    tools()
                        .filter(|tool| ["nvjitlink@", "ptxjit@"].iter().any(|kind| tool.starts_with(kind))),
                )
                .collect()
        }
        _ => Vec::new(),
    }
}
