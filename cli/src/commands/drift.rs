//! `ptxsmith drift`: what changed between releases of one compiler.

use std::fmt::Write as _;
use std::path::Path;

use indicatif::HumanCount;
use ptxsmith_campaign::drift::{Drift, Options, drift};
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_campaign::input;
use ptxsmith_subject::{SubjectSpec, parse_spec};

use super::Context;
use crate::args;
use crate::console::{self, BOLD};
use crate::exit::{Exit, Failure};

/// The most lines of an example that are shown.
const MOST_LINES: usize = 6;

/// Compares releases on the corpus and on fresh cases.
pub fn run(context: &Context, args: &args::Drift) -> Result<Exit, Failure> {
    let releases = match (&args.from, &args.to) {
        (Some(from), Some(to)) => vec![release(from)?, release(to)?],
        _ if args.all => vec![release("all")?],
        _ => {
            return Err(Failure::BadInput(
                "say what to compare: --from RELEASE --to RELEASE, or --all for every installed release"
                    .to_owned(),
            ));
        }
    };
    let default = Path::new("corpus");
    let corpus = match &args.corpus[..] {
        [] if default.is_dir() => vec![default.to_owned()],
        paths => paths.to_vec(),
    };
    let options = Options { releases, corpus: input::files(&corpus)?, cases: args.cases };
    let drift = drift(&context.session(), &options)?;
    context.console.print(&page(&drift))?;
    if let Some(out) = &args.out {
        make_directory(out)?;
        let mut json = serde_json::to_string_pretty(&drift)?;
        json.push('\n');
        write_whole(&out.join("drift.json"), json.as_bytes())?;
        write_whole(&out.join("drift.md"), markdown(&drift).as_bytes())?;
    }
    Ok(if drift.compared { Exit::Success } else { Exit::NothingCompared })
}

fn release(name: &str) -> Result<SubjectSpec, Failure> {
    let name = name.strip_prefix("ptxas@").unwrap_or(name);
    parse_spec(&format!("ptxas@{name}")).map_err(|error| Failure::BadInput(error.to_string()))
}

fn told(facts: &[String]) -> String {
    if facts.is_empty() { "the rest of what it does".to_owned() } else { facts.join(", ") }
}

fn page(Drift { changes, releases, programs, .. }: &Drift) -> String {
    let mut out = String::new();
    let mut at = ("", "");
    for change in changes {
        if (change.from.as_str(), change.to.as_str()) != at {
            at = (&change.from, &change.to);
            let _ = writeln!(
                out,
                "{BOLD}{} -> {}{BOLD:#}",
                console::line(&change.from),
                console::line(&change.to)
            );
        }
        let times = if change.count == 1 { "program" } else { "programs" };
        let _ = writeln!(
            out,
            "  {}  ->  {}  ({} {times})",
            told(&change.before),
            told(&change.after),
            HumanCount(change.count)
        );
        for line in change.shown.lines().take(MOST_LINES) {
            let _ = writeln!(out, "      {}", console::line(line));
        }
    }
    let _ = writeln!(
        out,
        "{} {} between {} releases, on {} programs",
        changes.len(),
        if changes.len() == 1 { "change" } else { "changes" },
        releases.len(),
        HumanCount(*programs as u64),
    );
    out
}

fn markdown(Drift { changes, releases, programs, .. }: &Drift) -> String {
    let mut out = format!(
        "# What changed from {} to {}\n\n{programs} programs in {} releases.\n\n",
        releases.first().map_or("", String::as_str),
        releases.last().map_or("", String::as_str),
        releases.len()
    );
    out.push_str("| last release | first release | before | after | programs | shortest |\n");
    out.push_str("| --- | --- | --- | --- | ---: | --- |\n");
    for change in changes {
        let program: Vec<&str> = change.shown.lines().take(MOST_LINES).collect();
        let program = program.join(" ").replace('`', "'").replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | `{program}` |",
            change.from,
            change.to,
            told(&change.before),
            told(&change.after),
            change.count
        );
    }
    out
}
