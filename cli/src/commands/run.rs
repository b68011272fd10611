//! `ptxsmith run`: generate, predict, observe, judge, report.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ptxsmith_diff::Paper;

use super::Context;
use crate::args;
use crate::campaign::{Budget, Campaign, Ended, Identity, Tested, each, lock_of, open_subjects};
use crate::cases::{Cases, weights, wide_header};
use crate::exit::{Exit, Failure};
use crate::lesson::Lesson;
use crate::sifting::{TaskCases, TaskVerdicts};

/// How many cases are judged where neither a number nor a time is given: with the default focus more than 200,000
/// expressions and 20,000 aggregates, also without those that the specification leaves open.
const CASES: u64 = 250_000;

/// How cases are shared out as tasks. The first ones are short: of a subject that is slow, or wrong about everything,
/// something is known soon.
#[derive(Clone, Copy)]
struct Tasks {
    /// How many times the number of cases doubles from one task to the next: 250, 500, 1000 ...
    doubled: u32,
    /// The cases of each task behind those.
    most: u64,
    /// The cases of so many tasks are enough to learn what most others need to know of a subject.
    lesson: u64,
}

impl Tasks {
    const FIRST: u64 = 250;

    /// The tasks of a run with this focus. Starting ptxas costs as much as some thousand expressions. Values of arrays
    /// cost it the less each the more there are, up to some hundred thousand; but of as many, where all are to be judged one by
    /// one, more than 1 kB each is kept. Declarations cost the more.
    fn of(focus: args::Focus) -> Tasks {
        match focus {
            args::Focus::Expressions => Tasks { doubled: 8, most: 64_000, lesson: 6 },
            _ => Tasks { doubled: 5, most: 5_000, lesson: 1 },
        }
    }

    fn start(self, task: u64) -> u64 {
        let doubled = u64::from(self.doubled);
        Self::FIRST * ((1 << task.min(doubled)) - 1) + task.saturating_sub(doubled) * self.most
    }

    /// The cases of a task.
    fn cases(self, task: u64) -> Range<u64> {
        self.start(task)..self.start(task + 1)
    }

    /// How many tasks these cases are.
    fn count(self, cases: u64) -> u64 {
        let doubled = u64::from(self.doubled);
        let few = (0..doubled).find(|&task| self.start(task + 1) >= cases).map(|last| last + 1);
        few.unwrap_or_else(|| doubled + (cases - self.start(doubled)).div_ceil(self.most))
    }
}

/// A task that some subjects have still to be shown.
struct OpenTask<'c> {
    /// Whether it is to be done at all.
    to_do: bool,
    cases: TaskCases<'c>,
    /// What became of it, by the number of the subject.
    judged: Mutex<BTreeMap<usize, Option<TaskVerdicts>>>,
}

/// One task in this many makes what needs a later version and target, where every subject takes those.
const WIDE_EVERY: u64 = 8;

/// Runs a campaign.
pub fn run(context: &Context, args: &args::Run) -> Result<Exit, Failure> {
    let started = Instant::now();
    let generator = cases_for(context, args)?;
    if args.focus == args::Focus::Operands {
        super::toolchain::ensure_disassembler(context)?;
    }
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
    let tasks = Tasks::of(args.focus);
    let is_wide = |task: u64| takes_wide && task % WIDE_EVERY == WIDE_EVERY - 1;
    // What only a campaign of more than a few tasks makes is nothing that a shorter one lacks.
    let reaches_wide = cases.is_none_or(|cases| tasks.count(cases) >= WIDE_EVERY);
    campaign.reduce_for = args.reduce;
    campaign.generator = generator.generator(takes_wide && reaches_wide);
    campaign.keep(
        identity(context, args, cases, &campaign.subjects),
        args.shard()?,
        takes_wide && reaches_wide,
        args.resume,
    )?;
    let campaign = campaign;
    // One subject after the other would leave threads idle at the end, with many of them and few tasks.
    let together = campaign.subjects.len() as u64;
    let number_of_tasks = cases.map(|cases| tasks.count(cases) * together);
    let budget = Budget { tasks: number_of_tasks, together, time: args.campaign.time, units: cases };
    let lesson = Lesson::new(&generator, tasks.start(tasks.lesson), &campaign.subjects);
    let open: Mutex<BTreeMap<u64, Arc<OpenTask<'_>>>> = Mutex::default();
    let ended = each(context, budget, campaign.unit, Paper::default, |paper, number, work| {
        let (task, subject) = (number / together, (number % together) as usize);
        let Range { start, end } = tasks.cases(task);
        let range = start..end.min(cases.unwrap_or(u64::MAX));
        let begin = || {
            let wide = is_wide(task);
            let usual = |tested: &Tested| if wide { wide_header() } else { tested.header.clone() };
            let headers = campaign.subjects.iter().map(usual).collect();
            let to_do = campaign.is_to_do(task);
            let cases = TaskCases::new(&generator, range.clone(), wide, &campaign.subjects, headers);
            Arc::new(OpenTask { to_do, cases, judged: Mutex::default() })
        };
        let own = Arc::clone(lock_of(&open).entry(task).or_insert_with(begin));
        let judged = match own.to_do {
            true => {
                let mut judges = lesson.judges(subject, &range, paper)?;
                Some(own.cases.judge(subject, &mut judges, paper)?)
            }
            false => None,
        };
        let all = {
            let mut all = lock_of(&own.judged);
            all.insert(subject, judged);
            if (all.len() as u64) < together {
                return Ok(());
            }
            std::mem::take(&mut *all)
        };
        lock_of(&open).remove(&task);
        if own.to_do {
            let judgements =
                all.into_iter().zip(&campaign.subjects).filter_map(|((subject, judged), tested)| {
                    Some(own.cases.judgements(subject, tested, judged?))
                });
            campaign.commit(task, judgements.collect(), &own.cases.coverage())?;
            work.say(format!("{} deviate", campaign.deviations()));
        }
        work.done(own.cases.count());
        Ok(())
    });
    status_of(&campaign, ended, started)
}

/// What has to be the same for results of two runs to belong together.
fn identity(context: &Context, args: &args::Run, cases: Option<u64>, subjects: &[Tested]) -> Identity {
    let mut options = BTreeMap::from([("focus".to_owned(), format!("{:?}", args.focus).to_lowercase())]);
    if let Some(depth) = args.exhaustive {
        options.insert("exhaustive".to_owned(), depth.to_string());
    }
    if let Some(cases) = cases {
        options.insert("cases".to_owned(), cases.to_string());
    }
    if let Some(weights) = &args.weights {
        options.insert("weights".to_owned(), std::fs::read_to_string(weights).unwrap_or_default());
    }
    let subject = |tested: &Tested| {
        let description = tested.subject.description();
        let which = description.sha256.as_deref().or(description.version.as_deref());
        format!("{} {}", description.id, which.unwrap_or("-"))
    };
    Identity {
        ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
        build: env!("PTXSMITH_BUILD").to_owned(),
        command: "run".to_owned(),
        seed: context.seed,
        options,
        subjects: subjects.iter().map(subject).collect(),
    }
}

fn cases_for(context: &Context, args: &args::Run) -> Result<Cases, Failure> {
    match args.exhaustive {
        Some(depth) => Ok(Cases::listed(depth)),
        None => {
            let weights = args.weights.as_deref().map(weights).transpose()?;
            Ok(Cases::drawn(context.seed, args.focus.into(), weights))
        }
    }
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
        for tasks in [Tasks::of(args::Focus::Mixed), Tasks::of(args::Focus::Expressions)] {
            let mut next = 0;
            for task in 0..20 {
                let cases = tasks.cases(task);
                assert!(
                    cases.start == next && (1..=tasks.most * 2).contains(&(cases.end - cases.start)),
                    "{task}: {cases:?}"
                );
                next = cases.end;
                assert_eq!([tasks.count(next), tasks.count(next + 1)], [task + 1, task + 2]);
            }
        }
        let mixed = Tasks::of(args::Focus::Mixed);
        for (cases, tasks) in [(1, 1), (250, 1), (251, 2), (7_750, 5), (7_751, 6), (12_750, 6), (12_751, 7)] {
            assert_eq!(mixed.count(cases), tasks, "{cases}");
        }
        assert_eq!(mixed.count(u64::MAX), (u64::MAX - 12_750).div_ceil(5_000) + 6);
    }
}
