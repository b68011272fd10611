//! `ptxsmith run`: generate, predict, observe, compare, report.

use std::path::Path;
use std::time::{Instant, SystemTime};

use ptxsmith_campaign::expected::ExpectedFailures;
use ptxsmith_campaign::run::{RunOptions, run as campaign};
use ptxsmith_campaign::{CampaignOutcome, arithmetic, input, linking, mutate, places, texts};
use ptxsmith_report::RenderInput;
use ptxsmith_report::folder::{self, Folder};
use ptxsmith_report::text::TextSummary;

use super::CommandContext;
use crate::args::{self, ProgramKind};
use crate::deny;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::values::DeniedResult;

/// Runs a campaign and prints its result.
pub fn run(context: &CommandContext, args: &args::RunArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    let is_of_tables = args.focus == ProgramKind::Places || !args.cells.is_empty();
    if args.by_case && !is_of_tables {
        let what = "--by-case names programs, which only those of `--focus places` have; `check --by-case` \
                    names files";
        return Err(Failure::BadInput(what.to_owned()));
    }
    let has_own_campaign = matches!(args.focus, ProgramKind::Linking | ProgramKind::Arithmetic);
    if !args.mutate.is_empty() || is_of_tables || has_own_campaign {
        let options = texts::TextOptions {
            subjects: args.campaign.subjects.clone(),
            timeout: args.campaign.timeout,
            cases: args.campaign.cases.map(|cases| cases.get()),
            unlimited: args.campaign.time.is_some(),
            reduce: args.reduce,
            by_case: args.by_case,
            out: args.out.clone(),
            replace: args.replace,
        };
        let session = context.session_of(&args.campaign)?;
        let outcome = match args.focus {
            _ if is_of_tables => places::places(&session, &args.cells, &options)?,
            ProgramKind::Linking => linking::run(&session, &options)?,
            ProgramKind::Arithmetic => arithmetic::run(&session, &options)?,
            _ => mutate::mutate(&session, &input::files(&args.mutate)?, options)?,
        };
        return ended(context, &outcome, &args.campaign, Some(&args.out), started);
    }
    let options = RunOptions {
        subjects: args.campaign.subjects.clone(),
        timeout: args.campaign.timeout,
        focus: args.focus.drawn(),
        exhaustive: args.exhaustive,
        weights: args.weights.clone(),
        cases: args.campaign.cases.map(|cases| cases.get()),
        unlimited: args.campaign.time.is_some(),
        reduce: args.reduce,
        out: args.out.clone(),
        resume: args.resume,
        replace: args.replace,
        shard: args.shard()?,
    };
    // If the clean end takes too long after a signal, show the result on disk, which is saved continually.
    let console = context.console;
    let out = args.out.clone();
    let before = report_time(&out);
    interrupt::last_words(move || {
        if report_time(&out) != before
            && let Ok(Folder { report, .. }) = Folder::read(&out)
        {
            let resume = resume_command(&out);
            let stopped_by = Some(interrupt::name());
            let resume = Some(&*resume);
            let summary =
                TextSummary { directory: Some(&out), stopped_by, resume, ..TextSummary::new(&report) };
            let _ = summary.text().map(|text| console.print(&text));
        }
    });
    let outcome = campaign(&context.session_of(&args.campaign)?, &options)?;
    ended(context, &outcome, &args.campaign, Some(&args.out), started)
}

/// Prints the result of a campaign, writes the expected failures if `--write-expected` is given, and returns
/// the exit status.
pub fn ended(
    context: &CommandContext,
    outcome: &CampaignOutcome,
    args: &args::CampaignArgs,
    out: Option<&Path>,
    started: Instant,
) -> Result<Exit, Failure> {
    if let Some(path) = &args.write_expected {
        ExpectedFailures::write(&outcome.report, path)?;
    }
    summed_up(context, outcome, out, started, &args.presentation)
}

/// Returns the time at which the report in a directory was last written.
fn report_time(out: &Path) -> Option<SystemTime> {
    std::fs::metadata(out.join(folder::REPORT)).and_then(|metadata| metadata.modified()).ok()
}

/// Returns the command that resumes the campaign in a directory.
fn resume_command(out: &Path) -> String {
    format!("ptxsmith run --resume --out {}", shell_words::quote(&out.to_string_lossy()))
}

/// Prints the result of a campaign and returns the exit status.
pub fn summed_up(
    context: &CommandContext,
    outcome: &CampaignOutcome,
    out: Option<&Path>,
    started: Instant,
    presentation: &args::Presentation,
) -> Result<Exit, Failure> {
    let report = &outcome.report;
    let exit = exit_of(outcome, &presentation.deny);
    let resume = out.filter(|_| outcome.interrupted && outcome.resumable).map(resume_command);
    let summary = TextSummary {
        report,
        took: Some(started.elapsed()),
        directory: out,
        earlier: outcome.earlier,
        stopped_by: outcome.interrupted.then(interrupt::name),
        resume: resume.as_deref(),
        status: Some(exit.status()),
        known_in_full: presentation.show.contains(&args::FullListing::Known),
    };
    let text = match presentation.format {
        None => summary.text()?,
        Some(format) => {
            let folder = Folder { report: report.clone(), manifest: None };
            (format.render)(&RenderInput {
                folder: &folder,
                only: false,
                known_in_full: summary.known_in_full,
                against: None,
                runs: &[],
            })?
        }
    };
    context.console.print(&text)?;
    Ok(exit)
}

/// Returns the exit status of a campaign. An interruption takes precedence over a deviation, that over a file
/// that could not be read, and that over "nothing was compared".
fn exit_of(outcome: &CampaignOutcome, denied: &[DeniedResult]) -> Exit {
    let report = &outcome.report;
    let exit = match report.compared {
        _ if outcome.interrupted => Exit::Interrupted,
        0 => Exit::NothingCompared,
        _ if report.needs_attention() => Exit::Deviation,
        _ if report.subjects.iter().any(|subject| subject.refuses_everything.is_some()) => {
            Exit::NothingCompared
        }
        _ => Exit::Success,
    };
    let exit = deny::status(exit, &deny::denied_results(report, denied));
    // An unreadable file sets the status to bad input, unless there is a deviation or an interruption.
    let is_decided = matches!(exit, Exit::Deviation | Exit::Interrupted);
    if outcome.left_out && !is_decided { Exit::BadInput } else { exit }
}
