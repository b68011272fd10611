//! `ptxsmith drift`: compares releases of a compiler.

use askama::Template;
use ptxsmith_campaign::drift::{Drift, DriftOptions, KNOWN, ReleaseChange, drift, reproducers};
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_campaign::input::{self, InputProgram};
use ptxsmith_report::harmless::count;
use ptxsmith_subject::{SubjectSpec, parse_spec};

use super::CommandContext;
use crate::args;
use crate::console::{BOLD, END, line};
use crate::deny;
use crate::exit::{Exit, Failure};
use crate::values::DeniedResult;
use ptxsmith_report::harmless;

/// The maximum number of lines of an example program.
const MOST_LINES: usize = 6;

/// Compares releases on the corpus and on newly generated cases.
pub fn run(context: &CommandContext, args: &args::DriftArgs) -> Result<Exit, Failure> {
    let releases = match (&args.from, &args.to) {
        (Some(from), Some(to)) => {
            let releases = vec![release(from)?, release(to)?];
            if releases[0] == releases[1] {
                return Err(Failure::BadInput(format!("--from and --to are the same release, {from}")));
            }
            releases
        }
        _ if args.all => vec![release("all")?],
        _ => {
            return Err(Failure::BadInput(
                "say what to compare: --from RELEASE --to RELEASE, or --all for every installed release"
                    .to_owned(),
            ));
        }
    };
    let mut left_out = false;
    let mut corpus: Vec<InputProgram> = match &args.corpus[..] {
        [] => {
            let programs = ptxsmith_suite::corpus().into_iter();
            programs
                .map(|(name, text)| InputProgram::parse(name, text.to_owned()))
                .collect::<Result<_, _>>()?
        }
        paths => {
            let read = input::files(paths)?.into_iter().map(|path| InputProgram::read(&path));
            let reported = read.map(|read| read.inspect_err(|failure| context.console.failure(failure)).ok());
            let programs: Vec<Option<InputProgram>> = reported.collect();
            left_out = programs.iter().any(Option::is_none);
            programs.into_iter().flatten().collect()
        }
    };
    if left_out && corpus.is_empty() {
        return Ok(Exit::BadInput);
    }
    corpus.extend(reproducers()?);
    let options = DriftOptions { releases, corpus, cases: args.cases };
    let drift = drift(&context.session_for(args.time), &options)?;
    let &Drift { ref changes, ref releases, programs, not_compared, .. } = &drift;
    context.console.print(&DriftText { changes, releases, programs, not_compared }.render()?)?;
    if let Some(out) = &args.out {
        make_directory(out)?;
        let mut json = harmless::json(serde_json::to_string_pretty(&drift)?);
        json.push('\n');
        write_whole(&out.join("drift.json"), json.as_bytes())?;
        write_whole(
            &out.join("drift.md"),
            DriftMarkdown { changes, releases, programs, not_compared }.render()?.as_bytes(),
        )?;
    }
    let exit = if left_out {
        Exit::BadInput
    } else if drift.compared {
        Exit::Success
    } else {
        Exit::NothingCompared
    };
    Ok(deny::status(exit, &denied_results(&drift, &args.deny)))
}

/// Returns the denied kinds of results that occur in a comparison.
fn denied_results(drift: &Drift, denied: &[DeniedResult]) -> Vec<DeniedResult> {
    let mut results = denied.to_vec();
    results.retain(|result| match result {
        DeniedResult::Known => drift.changes.iter().any(is_known),
        DeniedResult::Uncompared => drift.not_compared > 0,
    });
    results
}

/// Returns true if a known deviation begins or ends with the change.
fn is_known(change: &ReleaseChange) -> bool {
    change.before.iter().chain(&change.after).any(|fact| fact.starts_with(KNOWN))
}

/// Parses the name of a release of ptxas, or of a linker with its release.
fn release(name: &str) -> Result<SubjectSpec, Failure> {
    let spec = if name.contains('@') { parse_spec(name) } else { parse_spec(&format!("ptxas@{name}")) };
    spec.map_err(|error| Failure::BadInput(error.to_string()))
}

fn in_words(facts: &[String]) -> String {
    if facts.is_empty() {
        return "the rest of what it does".to_owned();
    }
    let mut words = Vec::new();
    for fact in facts {
        // `drift.json` uses the older term "reading".
        words.push(match fact.strip_prefix("reading ") {
            Some(answer) => format!("interpretation {answer}"),
            None => fact.clone(),
        });
    }
    words.join(", ")
}

/// Groups the changes by pair of releases.
fn by_releases(changes: &[ReleaseChange]) -> impl Iterator<Item = &[ReleaseChange]> {
    changes.chunk_by(|one, next| (&one.from, &one.to) == (&next.from, &next.to))
}

fn program(change: &ReleaseChange) -> String {
    let program: Vec<&str> = change.shown.lines().take(MOST_LINES).collect();
    program.join(" ").replace('`', "'").replace('|', "\\|")
}

#[derive(Template)]
#[template(path = "drift.txt")]
struct DriftText<'a> {
    changes: &'a [ReleaseChange],
    releases: &'a [String],
    programs: usize,
    not_compared: usize,
}

#[derive(Template)]
#[template(path = "drift.md")]
struct DriftMarkdown<'a> {
    changes: &'a [ReleaseChange],
    releases: &'a [String],
    programs: usize,
    not_compared: usize,
}
