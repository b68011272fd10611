//! `ptxsmith check`: checks how implementations compile existing programs.

use std::path::PathBuf;
use std::time::Instant;

use ptxsmith_campaign::check::{Options, check};
use ptxsmith_campaign::input;

use ptxsmith_oracle::verify_comments;
use ptxsmith_report::harmless::lines;

use super::Context;
use super::link;
use super::run::ended;
use crate::args;
use crate::exit::{Exit, Failure};

/// Checks every variable of every file.
///
/// A file that cannot be read or parsed is reported and skipped; the others are checked. The exit status is then that
/// of bad input, unless a deviation was found, which takes precedence.
pub fn run(context: &Context, args: &args::Check) -> Result<Exit, Failure> {
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
            let (all, wrong) = (files.len(), failures.len());
            let cases = if all == 1 { "case" } else { "cases" };
            let counts = format!("{all} {cases}: {} hold what they say, {wrong} do not\n", all - wrong);
            context.console.print(&counts)?;
            return Ok(if wrong == 0 { Exit::Success } else { Exit::BadInput });
        }
    }
    if let Some(most) = args.campaign.cases {
        files.truncate(usize::try_from(most.get()).unwrap_or(usize::MAX));
    }
    let options = Options {
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

/// Returns an error for each file whose leading comments do not hold, with the comments that fail.
fn not_holding(files: &[PathBuf]) -> Vec<Failure> {
    let verify = |path: &PathBuf| {
        let (name, text) = input::read_text(path)?;
        let beside = |counterpart: &str| {
            input::read_text(&path.with_file_name(counterpart)).map(|(_, text)| text).map_err(|failure| {
                match failure {
                    Failure::BadInput(message) => message,
                    _ => "cannot be read".to_owned(),
                }
            })
        };
        verify_comments(&text, beside)
            .map_err(|wrong| Failure::Rendered(format!("{name}: {}\n", lines(&wrong).trim_end())))
    };
    files.iter().filter_map(|path| verify(path).err()).collect()
}
