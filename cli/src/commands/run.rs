//! `ptxsmith run`: generate, predict, observe, judge, report.

use std::ops::Range;
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
/// expressions and 20,000 aggregates, also without those that the specification leaves open.
const CASES: u64 = 250_000;

/// The most cases that are judged as one task. Starting ptxas costs as much as some thousand of them; more would only
/// delay what is saved after each task, and the end that somebody waits for.
const BATCH: u64 = 5_000;

/// The cases of a task. The first tasks are short: of a subject that is slow, or wrong about everything, something is
/// known soon.
fn cases_of(task: u64) -> Range<u64> {
    const FIRST: u64 = 250;
    // 250, 500, 1000, 2000, 4000, 5000, 5000 ...
    const DOUBLED: u64 = 5;
    let start = |task: u64| match task {
        0..=DOUBLED => FIRST * ((1 << task) - 1),
        _ => FIRST * ((1 << DOUBLED) - 1) + (task - DOUBLED) * BATCH,
    };
    start(task)..start(task + 1)
}

/// How many tasks these cases are.
fn tasks_of(cases: u64) -> u64 {
    let doubled = (0..6).find(|&task| cases_of(task).end >= cases).map(|last| last + 1);
    doubled.unwrap_or_else(|| 6 + (cases - cases_of(5).end).div_ceil(BATCH))
}

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
    let budget = Budget { tasks: cases.map(tasks_of), time: args.campaign.time, units: cases };
    let judges = || campaign.subjects.iter().map(judge_of).collect::<Vec<_>>();
    let generator = Cases::new(context.seed, args.focus.into());
    let ended = each(context, budget, campaign.unit, judges, |judges, task, work| {
        let Range { start, end } = cases_of(task);
        let mut coverage = Coverage::new();
        let trials: Vec<Trial> = (start..end.min(cases.unwrap_or(u64::MAX)))
            .map(|index| generator.trial(index, &mut coverage))
            .collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_cover_every_case_once() {
        let mut next = 0;
        for task in 0..20 {
            let cases = cases_of(task);
            assert!(
                cases.start == next && (1..=BATCH).contains(&(cases.end - cases.start)),
                "{task}: {cases:?}"
            );
            next = cases.end;
        }
        for (cases, tasks) in [(1, 1), (250, 1), (251, 2), (7_750, 5), (7_751, 6), (12_750, 6), (12_751, 7)] {
            assert_eq!(tasks_of(cases), tasks, "{cases}");
        }
        assert_eq!(tasks_of(u64::MAX), (u64::MAX - 12_750).div_ceil(BATCH) + 6);
    }
}
