//! `ptxsmith run`: generate, predict, observe, judge, report.

use std::path::Path;
use std::time::Instant;

use ptxsmith_campaign::run::{Options, run as campaign};
use ptxsmith_campaign::{Outcome, input, mutate};
use ptxsmith_report::text::Summary;

use super::Context;
use crate::args;
use crate::exit::{Exit, Failure};

/// Runs a campaign.
pub fn run(context: &Context, args: &args::Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    if !args.mutate.is_empty() {
        let options = mutate::Options {
            files: input::files(&args.mutate)?,
            subjects: args.campaign.subjects.clone(),
            timeout: args.campaign.timeout,
            cases: args.campaign.cases.map(|cases| cases.get()),
            time: args.campaign.time,
            out: args.out.clone(),
        };
        let outcome = mutate::mutate(&context.session(), options)?;
        return summed_up(context, &outcome, Some(&args.out), started);
    }
    let options = Options {
        subjects: args.campaign.subjects.clone(),
        timeout: args.campaign.timeout,
        focus: args.focus,
        exhaustive: args.exhaustive,
        weights: args.weights.clone(),
        cases: args.campaign.cases.map(|cases| cases.get()),
        time: args.campaign.time,
        reduce: args.reduce,
        out: args.out.clone(),
        resume: args.resume,
        shard: args.shard()?,
    };
    let outcome = campaign(&context.session(), &options)?;
    summed_up(context, &outcome, Some(&args.out), started)
}

/// Prints what a campaign came to, and gives the exit status that it amounts to.
pub fn summed_up(
    context: &Context,
    outcome: &Outcome,
    out: Option<&Path>,
    started: Instant,
) -> Result<Exit, Failure> {
    let report = &outcome.report;
    let summary = Summary {
        report,
        took: Some(started.elapsed()),
        directory: out,
        earlier: outcome.earlier,
        interrupted: outcome.interrupted,
    };
    context.console.print(&summary.text()?)?;
    Ok(match report.compared {
        0 => Exit::NothingCompared,
        _ if report.findings.iter().any(|found| found.status.needs_attention()) => Exit::Deviation,
        _ if report.subjects.iter().any(|subject| subject.refuses_everything.is_some()) => {
            Exit::NothingCompared
        }
        _ => Exit::Success,
    })
}
