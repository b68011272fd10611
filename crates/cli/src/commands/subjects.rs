//! `ptxsmith subjects`: lists every implementation that can be tested, and whether it is available.

use std::borrow::Cow;

use askama::Template;
use ptxsmith_subject::{
    Description, OpenOptions, Outcome, Request, SubjectSpec, UnavailableKind, open, parse_spec,
    toolchain::Toolchains,
};
use serde::Serialize;

use super::{CommandContext, worker};
use crate::args;
use crate::console::{BOLD, END, GOOD, NOTE, line};
use crate::exit::{Exit, Failure};
use ptxsmith_report::{describe, harmless};

/// One entry of the list.
#[derive(Clone, Serialize)]
struct ListedSubject {
    /// The value for `--subject`.
    subject: String,
    /// `None` for a form that needs a command from the user, so that availability is unknown.
    available: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The kind of obstacle, as a keyword in the JSON output.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<UnavailableKind>,
    #[serde(flatten)]
    description: Option<Description>,
    /// The outcome for [`SMALLEST`], if the user named the implementation. A program that starts may still
    /// not understand PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Outcome>,
    /// Describes `answer` in words.
    #[serde(skip)]
    answers: Option<String>,
}

/// The test program for an implementation.
const SMALLEST: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a = 1;\n";

/// Prints the list.
pub fn run(context: &CommandContext, args: &args::SubjectsArgs) -> Result<Exit, Failure> {
    let entries =
        if args.subjects.is_empty() { every_form(context)? } else { named(context, &args.subjects) };
    if context.cancel.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    let text = if args.json {
        let json = serde_json::json!({ "schema": "ptxsmith.subjects/1", "subjects": entries });
        harmless::json(serde_json::to_string_pretty(&json)?) + "\n"
    } else {
        table(&entries)?
    };
    context.console.print(&text)?;
    Ok(Exit::Success)
}

fn named(context: &CommandContext, specs: &[SubjectSpec]) -> Vec<ListedSubject> {
    specs.iter().flat_map(|spec| look(context, spec, &spec.to_string(), true)).collect()
}

/// Lists every form of subject specification: installed and installable implementations by name, and the
/// forms that need a command from the user.
fn every_form(context: &CommandContext) -> Result<Vec<ListedSubject>, Failure> {
    let mut entries = Vec::new();
    for form in SubjectSpec::FORMS {
        match form.names() {
            _ if form.form == "ptxas@RELEASE" => {} // Entries come from ptxas@all
            None => entries.push(needs(form.form, form.meaning)),
            Some(names) => {
                for name in names {
                    entries.extend(look(context, &parse_spec(&name)?, &name, false));
                }
            }
        }
    }
    Ok(entries)
}

fn needs(subject: &str, reason: &str) -> ListedSubject {
    ListedSubject {
        subject: subject.to_owned(),
        available: None,
        reason: Some(reason.to_owned()),
        unavailable: None,
        description: None,
        answer: None,
        answers: None,
    }
}

/// Opens the subjects of a specification and, if `asks` is true, runs the test program. Installs nothing.
fn look(context: &CommandContext, spec: &SubjectSpec, subject: &str, asks: bool) -> Vec<ListedSubject> {
    let options = OpenOptions {
        cancel: context.cancel.clone(),
        workers: worker::workers(),
        libcuda: context.libcuda.clone(),
        ..OpenOptions::default()
    };
    match open(spec, &options) {
        Ok(subjects) => subjects
            .iter()
            .map(|found| {
                let seen = asks.then(|| found.observe(&Request::new(SMALLEST, "sm_80")));
                let (answer, answers) = match seen {
                    Some(Ok(seen)) => (Some(seen.outcome), Some(describe::outcome(&seen).join(": "))),
                    Some(Err(error)) => (None, Some(error.to_string())),
                    None => (None, None),
                };
                let description = found.description().clone();
                // `ptxas` remains an alias of the release found; `ptxas@all` stands for several releases, so
                // show the id of each.
                let subject = if subject == "ptxas@all" { found.id() } else { subject };
                ListedSubject {
                    subject: subject.to_owned(),
                    available: Some(true),
                    reason: None,
                    unavailable: None,
                    description: Some(description),
                    answer,
                    answers,
                }
            })
            .collect(),
        Err(unavailable) => vec![ListedSubject {
            subject: subject.to_owned(),
            available: Some(false),
            reason: Some(unavailable.reason),
            unavailable: Some(unavailable.kind),
            description: None,
            answer: None,
            answers: None,
        }],
    }
}

#[derive(Template)]
#[template(path = "subjects.txt")]
struct SubjectTable<'a> {
    entries: &'a [ListedSubject],
    width: usize,
    /// The number of releases of ptxas that are not installed.
    missing: usize,
}

fn table(entries: &[ListedSubject]) -> Result<String, askama::Error> {
    let width = entries.iter().map(|entry| entry.subject.chars().count()).max().unwrap_or(0);
    let missing = match Toolchains::for_user() {
        Ok(toolchains) => toolchains.list().iter().filter(|listed| listed.path.is_none()).count(),
        Err(_) => 0,
    };
    SubjectTable { entries, width, missing }.render()
}

fn padded(entry: &ListedSubject, width: &usize) -> String {
    format!("{:width$}", line(&entry.subject))
}

fn or_unknown(value: &Option<String>) -> Cow<'_, str> {
    line(value.as_deref().unwrap_or("unknown"))
}
