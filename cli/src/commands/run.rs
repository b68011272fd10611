//! `ptxsmith run`: generate, predict, observe, judge, report.

use std::time::Instant;

use ptxsmith_diff::{Judge, Options, Trial};
use ptxsmith_gen::Coverage;
use ptxsmith_oracle::Rules;
use ptxsmith_subject::Error;

use super::Context;
use crate::args;
use crate::campaign::{Budget, Campaign, Ended, Tested, each, open_subjects};
use crate::cases::Cases;
use crate::exit::{Exit, Failure};

/// How many cases are judged where neither a number nor a time is given: with the default focus more than 200,000
/// expressions and 20,000 aggregates.
const CASES: u64 = 225_000;

/// How many cases are shown to a subject in one module. Starting ptxas costs as much as some thousand of them, and
/// a module that is refused is split, which costs more for a larger one.
const BATCH: u64 = 10_000;

/// Runs a campaign.
pub fn run(context: &Context, args: &args::Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    let subjects = open_subjects(context, &args.campaign.subjects, args.campaign.timeout)?;
    let campaign = Campaign::new(context, "run", "cases", subjects, Some(args.out.clone()))?;
    let cases = match (args.campaign.cases, args.campaign.time) {
        (Some(cases), _) => Some(cases.get()),
        (None, Some(_)) => None,
        (None, None) => Some(CASES),
    };
    let budget =
        Budget { tasks: cases.map(|cases| cases.div_ceil(BATCH)), time: args.campaign.time, units: cases };
    let judges = || campaign.subjects.iter().map(judge_of).collect::<Vec<_>>();
    let generator = Cases::new(context.seed, args.focus.into());
    let ended = each(context, budget, campaign.unit, judges, |judges, batch, work| {
        let end = cases.unwrap_or(u64::MAX).min((batch + 1) * BATCH);
        let mut coverage = Coverage::new();
        let trials: Vec<Trial> =
            (batch * BATCH..end).map(|index| generator.trial(index, &mut coverage)).collect();
        for (tested, judge) in campaign.subjects.iter().zip(judges) {
            let verdicts = judge.batch(&trials).map_err(of_subject)?;
            campaign.enter(tested, &trials, verdicts, None)?;
        }
        campaign.covered(&coverage);
        work.done(trials.len() as u64);
        work.say(format!("{} deviate", campaign.deviations()));
        Ok(())
    });
    status_of(&campaign, ended, started)
}

fn judge_of(tested: &Tested) -> Judge<'_> {
    let options = Options { header: tested.header.clone(), ..Options::default() };
    Judge::new(&*tested.subject, Rules::default(), options)
}

/// A run of a subject that did not come to an end: ours, or stopped by Ctrl-C.
pub fn of_subject(error: Error) -> Failure {
    if error.is_cancelled() { Failure::Interrupted } else { error.into() }
}

/// The end of a campaign: its result, or, where something of ours failed, that, with what was found on disk.
pub fn status_of(
    campaign: &Campaign<'_>,
    ended: Result<Ended, Failure>,
    started: Instant,
) -> Result<Exit, Failure> {
    match ended {
        Ok(ended) => campaign.finish(ended, started),
        Err(failure) => {
            campaign.give_up()?;
            Err(failure)
        }
    }
}
