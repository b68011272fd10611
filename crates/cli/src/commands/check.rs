//! `ptxsmith check`: checks how implementations compile existing programs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ptxsmith_campaign::check::{FileCheckOptions, check};
use ptxsmith_campaign::input;

use ptxsmith_oracle::verify_comments;
use ptxsmith_report::harmless::lines;

use super::CommandContext;
use super::link;
use super::run::ended;
use crate::args;
use crate::exit::{Exit, Failure};

/// Checks every variable of every file.
///
/// A file that cannot be read or parsed is reported and skipped; the others are checked. The exit status is
/// then that of bad input, unless a deviation was found, which takes precedence.
pub fn run(context: &CommandContext, args: &args::CheckArgs) -> Result<Exit, Failure> {
    if args.link {
        return link::run(context, args);
    }
    let started = Instant::now();
    let mut files = input::files(&args.paths)?;
    link::note_what_is_shared(context, &files);
    if args.expectations {
        let failures = not_holding(&files);
        failures.iter().for_each(|failure| context.console.failure(failure));
        if args.campaign.subjects.is_empty() || !failures.is_empty() {
            let all = files.len();
            let wrong = failures.len();
            let cases = if all == 1 { "case" } else { "cases" };
            let counts = format!("{all} {cases}: {} hold what they say, {wrong} do not\n", all - wrong);
            context.console.print(&counts)?;
            return Ok(if wrong == 0 { Exit::Success } else { Exit::BadInput });
        }
    }
    if let Some(most) = args.campaign.cases {
        files.truncate(usize::try_from(most.get()).unwrap_or(usize::MAX));
    }
    let options = FileCheckOptions {
        files,
        subjects: args.campaign.subjects.clone(),
        timeout: args.campaign.timeout,
        by_case: args.by_case,
        out: args.out.clone(),
        replace: args.replace,
        counterpart: ptxsmith_suite::counterpart,
    };
    let outcome = check(&context.session_of(&args.campaign)?, options)?;
    ended(context, &outcome, &args.campaign, args.out.as_deref(), started)
}

/// Returns an error for each file with leading comments that do not hold. It lists these comments.
fn not_holding(files: &[PathBuf]) -> Vec<Failure> {
    files.iter().filter_map(|path| verify_file(path).err()).collect()
}

/// Checks that the leading comments of a file hold.
fn verify_file(path: &Path) -> Result<(), Failure> {
    let (name, text) = input::read_text(path)?;
    verify_comments(&text, |counterpart| read_beside(path, counterpart))
        .map_err(|wrong| Failure::Rendered(format!("{name}: {}\n", lines(&wrong).trim_end())))
}

/// Reads the file with this name in the directory of `path`.
fn read_beside(path: &Path, name: &str) -> Result<String, String> {
    match input::read_text(&path.with_file_name(name)) {
        Ok((_, text)) => Ok(text),
        Err(Failure::BadInput(message)) => Err(message),
        Err(_) => Err("cannot be read".to_owned()),
    }
}
