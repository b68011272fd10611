//! `ptxsmith manual` and `ptxsmith completions`: what the command line says of itself, in the forms that systems install.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_gen::Places;
use ptxsmith_oracle::Question;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::{RELEASES, TOOLS};

use crate::args;
use crate::commands::Context;
use crate::describe::{self, Facts};
use crate::exit::{Exit, Failure};

/// Writes a manual page for the program and one for each command.
pub fn run(context: &Context, args: &args::Manual) -> Result<Exit, Failure> {
    make_directory(&args.out)?;
    let mut pages = Vec::new();
    collect(&describe::command(), &[], &mut pages)?;
    for (name, text) in pages {
        write_whole(&args.out.join(format!("{name}.1")), text.as_bytes())?;
    }
    context.console.print(&format!("manual pages: {}\n", args.out.display()))?;
    Ok(Exit::Success)
}

/// The page of a command, and those of its commands.
fn collect(command: &Command, path: &[&str], pages: &mut Vec<(String, String)>) -> Result<(), Failure> {
    let full: Vec<&str> = path.iter().copied().chain([command.get_name()]).collect();
    pages.push((full.join("-"), page(command, &full)?));
    for sub in shown(command) {
        collect(sub, &full, pages)?;
    }
    Ok(())
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn page(command: &Command, path: &[&str]) -> Result<String, Failure> {
    let facts = Facts::of(&path[1..].join(" "));
    let version = env!("CARGO_PKG_VERSION");
    let name = path.join("-");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut out = String::from(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n");
    let _ = writeln!(out, ".TH {} 1 \"\" \"ptxsmith {version}\" \"ptxsmith\"", roff(&name));
    let _ = writeln!(out, ".SH NAME\n{} \\- {}", roff(&name), roff(&about));
    let _ = writeln!(out, ".SH SYNOPSIS\n\\fB{}\\fR {}", roff(&path.join(" ")), synopsis(command));
    let man = clap_mangen::Man::new(command.clone());
    let mut rendered = Vec::new();
    man.render_description_section(&mut rendered)?;
    man.render_options_section(&mut rendered)?;
    out.push_str(&String::from_utf8(rendered)?);
    let commands: Vec<&Command> = shown(command).collect();
    if !commands.is_empty() {
        out.push_str(".SH COMMANDS\n");
    }
    for sub in &commands {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            out,
            ".TP\n\\fB{}\\fR(1)\n{}",
            roff(&format!("{name}-{}", sub.get_name())),
            roff(&about)
        );
    }
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        // Statuses and environment have sections of their own.
        let own = help.split("\n\nExit status:").next().unwrap_or_default();
        let own = own.split("\n\nEnvironment:").next().unwrap_or_default();
        if !own.is_empty() && path.len() > 1 {
            let _ = writeln!(out, ".SH EXAMPLES\n.nf\n{}\n.fi", roff(own));
        }
    }
    out.push_str(".SH EXIT STATUS\n");
    for (status, meaning) in facts.statuses() {
        let _ = writeln!(out, ".TP\n{}\n{}", roff(status), roff(meaning));
    }
    if !facts.environment().is_empty() {
        out.push_str(".SH ENVIRONMENT\n");
    }
    for (variable, meaning) in facts.environment() {
        let _ = writeln!(out, ".TP\n{}\n{}", roff(variable), roff(meaning));
    }
    out.push_str(
        ".SH FILES\n.TP\n~/.cache/ptxsmith/toolchains\nInstalled releases, unless PTXSMITH_CACHE names another place.\n\
         .TP\nptxsmith\\-out\nReport, findings and state of a campaign, unless \\-\\-out names another place.\n",
    );
    let others = path.len().checked_sub(2).map(|parent| path[..=parent].join("-")).into_iter();
    let others: Vec<String> =
        others.chain(commands.iter().map(|sub| format!("{name}-{}", sub.get_name()))).collect();
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|other| format!("\\fB{}\\fR(1)", roff(other))).collect();
        let _ = writeln!(out, ".SH SEE ALSO\n{}", others.join(", "));
    }
    Ok(out)
}

/// The options with their values.
fn synopsis(command: &Command) -> String {
    let value = |arg: &Arg| {
        let names = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
        names.collect::<Vec<_>>().join(" ")
    };
    let one = |arg: &Arg| {
        let takes_value = arg.get_action().takes_values();
        let (flag, value) = (arg.get_long().map(|long| format!("--{long}")), value(arg));
        let text = match flag {
            Some(flag) if takes_value => format!("\\fB{}\\fR \\fI{}\\fR", roff(&flag), roff(&value)),
            Some(flag) => format!("\\fB{}\\fR", roff(&flag)),
            None => format!("\\fI{}\\fR", roff(&value)),
        };
        if arg.is_required_set() { text } else { format!("[{text}]") }
    };
    let args: Vec<String> = command.get_arguments().filter(|arg| !arg.is_hide_set()).map(one).collect();
    let sub = if shown(command).next().is_some() { " \\fICOMMAND\\fR" } else { "" };
    args.join(" ") + sub
}

/// A text as roff shows it as it is.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\*(Aq");
    // A line that begins with a dot is a request.
    text.lines()
        .map(|line| if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Prints what a shell needs to complete command lines.
pub fn completions(context: &Context, args: &args::Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_values(&describe::command(), ""), "ptxsmith", &mut script);
    let script = String::from_utf8(script).map_err(|error| Failure::Harness(error.into()))?;
    context.console.print(&script)?;
    Ok(Exit::Success)
}

/// The command line without what is hidden, and with the values that are known.
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

/// Whether clap makes it itself.
fn is_made(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

/// What may be written for an argument whose values are no fixed list to clap.
fn known_values(command: &str, argument: &str) -> Vec<String> {
    let releases = || RELEASES.iter().map(|release| release.name().to_owned());
    let tools = || TOOLS.iter().map(|tool| tool.to_string());
    match (command, argument) {
        ("toolchain install", "releases") => releases().chain(tools()).collect(),
        ("toolchain path", "release") | ("lint" | "gpu prepare", "releases") | ("drift", "from" | "to") => {
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
