//! `ptxsmith run`: generate, predict, observe, judge, report.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use ptxsmith_diff::{Fate, Header, Judge, Judged, NotCompared, Options, Trial, Verdict};
use ptxsmith_gen::Coverage;
use ptxsmith_oracle::Rules;
use ptxsmith_subject::Error;

use super::Context;
use crate::args;
use crate::campaign::{Budget, Campaign, Ended, Entry, Tested, each, open_subjects};
use crate::cases::{Cases, Made, weights, wide_header};
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

/// One task in this many makes what needs a later version and target, where every subject takes those.
const WIDE_EVERY: u64 = 8;

/// Runs a campaign.
pub fn run(context: &Context, args: &args::Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    let generator = cases_for(context, args)?;
    let subjects = open_subjects(context, &args.campaign.subjects, args.campaign.timeout)?;
    let mut campaign = Campaign::new(context, "run", "cases", subjects, Some(args.out.clone()))?;
    let cases = match (args.campaign.cases, args.campaign.time) {
        (Some(cases), _) => Some(cases.get()),
        (None, Some(_)) => None,
        (None, None) => Some(CASES),
    };
    let cases = match generator.count() {
        Some(all) if args.campaign.cases.is_none() => Some(all),
        Some(all) => cases.map(|cases| cases.min(all)),
        None => cases,
    };
    let takes_wide = campaign.subjects.iter().all(|tested| tested.takes(&wide_header()));
    let is_wide = |task: u64| takes_wide && task % WIDE_EVERY == WIDE_EVERY - 1;
    // What only a campaign of more than a few tasks makes is nothing that a shorter one lacks.
    let reaches_wide = cases.is_none_or(|cases| tasks_of(cases) >= WIDE_EVERY);
    campaign.generator = generator.generator(takes_wide && reaches_wide);
    let campaign = campaign;
    let budget = Budget { tasks: cases.map(tasks_of), time: args.campaign.time, units: cases };
    let judges = || campaign.subjects.iter().map(Judges::of).collect::<Vec<_>>();
    let ended = each(context, budget, campaign.unit, judges, |judges, task, work| {
        let Range { start, end } = cases_of(task);
        let mut coverage = Coverage::new();
        let wide = is_wide(task);
        let made: Vec<Made> = (start..end.min(cases.unwrap_or(u64::MAX)))
            .map(|index| generator.made(index, wide, &mut coverage))
            .collect();
        for (tested, judges) in campaign.subjects.iter().zip(judges) {
            let usual = if wide { wide_header() } else { tested.header.clone() };
            campaign.enter(tested, judges.verdicts(&made, &usual)?, None)?;
        }
        campaign.covered(&coverage);
        work.done(made.len() as u64);
        work.say(format!("{} deviate", campaign.deviations()));
        Ok(())
    });
    status_of(&campaign, ended, started)
}

fn cases_for(context: &Context, args: &args::Run) -> Result<Cases, Failure> {
    match args.exhaustive {
        Some(depth) => Ok(Cases::listed(depth)),
        None => {
            let weights = args.weights.as_deref().map(weights).transpose()?;
            Ok(Cases::drawn(context.seed, args.focus.into(), weights.unwrap_or_default()))
        }
    }
}

/// How a trial is shown: under which header, and whether for relocatable output.
type Lane = (Header, bool);

/// The judges of one subject, one a lane, made when they are first needed.
struct Judges<'a> {
    tested: &'a Tested,
    lanes: BTreeMap<Lane, Judge<'a>>,
}

/// A trial of a lane: of which case, and whether it is the twin of that.
struct Place<'m> {
    case: usize,
    is_twin: bool,
    trial: &'m Trial,
}

impl<'a> Judges<'a> {
    fn of(tested: &'a Tested) -> Judges<'a> {
        Judges { tested, lanes: BTreeMap::new() }
    }

    /// Judges cases; the verdicts come in their order, the one on a twin behind that on its case.
    fn verdicts<'m>(&mut self, made: &'m [Made], usual: &'m Header) -> Result<Vec<Entry<'m>>, Failure> {
        let mut lanes: BTreeMap<(&'m Header, bool), Vec<Place<'m>>> = BTreeMap::new();
        for (case, one) in made.iter().enumerate() {
            let header = one.header.as_ref().unwrap_or(usual);
            let place = Place { case, is_twin: false, trial: &one.trial };
            lanes.entry((header, one.relocatable)).or_default().push(place);
            if let Some((twin, header)) = &one.twin {
                let header = header.as_ref().unwrap_or(usual);
                let place = Place { case, is_twin: true, trial: twin };
                lanes.entry((header, one.relocatable)).or_default().push(place);
            }
        }
        let mut verdicts: Vec<[Option<Entry<'m>>; 2]> = made.iter().map(|_| [None, None]).collect();
        for ((header, relocatable), places) in lanes {
            let trials: Vec<&Trial> = places.iter().map(|place| place.trial).collect();
            let judged = self.judged(header, relocatable, &trials)?;
            for (place, judged) in places.into_iter().zip(judged) {
                let entry = Entry { trial: place.trial, header, judged };
                verdicts[place.case][usize::from(place.is_twin)] = Some(entry);
            }
        }
        for [broken, twin] in &mut verdicts {
            if let (Some(broken), Some(shown)) = (broken, &twin) {
                // A refusal shows something only where what differs in one thing is taken. A crash always does.
                let died = broken.judged.fate() == Some(Fate::Died);
                if shown.judged.fate() == Some(Fate::Accepted) {
                    self.tested.ledger().confirm(broken.trial, &broken.judged, broken.header);
                } else if !died {
                    broken.judged.verdict = Verdict::NotCompared(NotCompared::TwinRefused);
                }
                // A twin is no case of its own; but a deviation is one wherever it shows.
                if !matches!(shown.judged.verdict, Verdict::Deviates(_)) {
                    *twin = None;
                }
            }
        }
        Ok(verdicts.into_iter().flatten().flatten().collect())
    }

    fn judged(
        &mut self,
        header: &Header,
        relocatable: bool,
        trials: &[&Trial],
    ) -> Result<Vec<Judged>, Failure> {
        if !self.tested.takes(header) {
            let unsupported = |trial: &&Trial| Judged {
                id: trial.id,
                verdict: Verdict::NotCompared(NotCompared::Unsupported),
                must: None,
                trace: Default::default(),
                excluded: Vec::new(),
                unseen: 0,
            };
            return Ok(trials.iter().map(unsupported).collect());
        }
        let tested = self.tested;
        let judge = self.lanes.entry((header.clone(), relocatable)).or_insert_with(|| {
            let subject = if relocatable { tested.relocatable() } else { &*tested.subject };
            let options = Options { header: header.clone(), ..Options::default() };
            Judge::new(subject, Rules::default(), options)
        });
        judge.batch(trials).map_err(of_subject)
    }
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
