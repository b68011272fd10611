//! Shares numbered tasks out among threads until the budget is spent, Ctrl-C is pressed, or something of ours fails.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::lock_of;
use crate::commands::Context;
use crate::exit::Failure;

/// When a campaign is over.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After this many tasks, if any number.
    pub tasks: Option<u64>,
    /// So many tasks belong together, one: of those that belong together all are done, or none.
    pub together: u64,
    /// After this time, if any; tasks that have begun are done, with those that belong to them.
    pub time: Option<Duration>,
    /// What the tasks consist of, all together, for the progress bar.
    pub units: Option<u64>,
}

impl Default for Budget {
    /// No end, and no task that belongs to others.
    fn default() -> Budget {
        Budget { tasks: None, together: 1, time: None, units: None }
    }
}

/// Why a campaign is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every task is done, or the time is up.
    All,
    /// Ctrl-C.
    Interrupted,
}

/// What a task tells of its progress.
pub struct Work {
    bar: ProgressBar,
}

impl Work {
    /// So many more units are done.
    pub fn done(&self, units: u64) {
        self.bar.inc(units);
    }

    /// What was found so far, in a word.
    pub fn say(&self, message: String) {
        self.bar.set_message(message);
    }
}

/// Does the tasks 0, 1, 2 ... on as many threads as the context allows. Each thread has a state of its own. The first
/// failure ends all; so does Ctrl-C, with [`Ended::Interrupted`].
pub fn each<S>(
    context: &Context,
    budget: Budget,
    unit: &str,
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, u64, &Work) -> Result<(), Failure> + Sync,
) -> Result<Ended, Failure> {
    let work = Work { bar: bar(context, budget, unit) };
    let ended = share(context, budget, state, |state, number| task(state, number, &work));
    work.bar.finish_and_clear();
    ended
}

/// What becomes of each item, in their order, on as many threads as the context allows. `None` for those that Ctrl-C left out.
///
/// # Errors
/// The first failure, which ends all.
pub fn map<T: Sync, R: Send>(
    context: &Context,
    items: &[T],
    of: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<Option<R>>, Failure> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::default()).collect();
    let budget = Budget { tasks: Some(items.len() as u64), ..Budget::default() };
    share(
        context,
        budget,
        || (),
        |(), number| {
            let (item, result) = (&items[number as usize], &results[number as usize]);
            *lock_of(result) = Some(of(item)?);
            Ok(())
        },
    )?;
    Ok(results.into_iter().map(|result| result.into_inner().expect("a panic ends the program")).collect())
}

fn share<S>(
    context: &Context,
    budget: Budget,
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, u64) -> Result<(), Failure> + Sync,
) -> Result<Ended, Failure> {
    let deadline = budget.time.map(|time| Instant::now() + time);
    let next = Mutex::new(0);
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let take = || {
        if stop.load(Ordering::Relaxed) || context.cancel.is_cancelled() {
            return None;
        }
        let mut next = lock_of(&next);
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if budget.tasks.is_some_and(|tasks| *next >= tasks) || next.is_multiple_of(budget.together) && late()
        {
            return None;
        }
        *next += 1;
        Some(*next - 1)
    };
    let thread = || {
        let mut state = state();
        while let Some(number) = take() {
            if let Err(failed) = task(&mut state, number) {
                stop.store(true, Ordering::Relaxed);
                lock_of(&failure).get_or_insert(failed);
            }
        }
    };
    std::thread::scope(|scope| {
        let most = budget.tasks.unwrap_or(u64::MAX).max(1);
        let threads = (context.jobs.get() as u64).min(most);
        for _ in 0..threads {
            scope.spawn(thread);
        }
    });
    match failure.into_inner().expect("a panic ends the program") {
        // The children of a run that is stopped die, which is no failure.
        Some(Failure::Interrupted) => Ok(Ended::Interrupted),
        Some(failure) => Err(failure),
        None if context.cancel.is_cancelled() => Ok(Ended::Interrupted),
        None => Ok(Ended::All),
    }
}

/// Hidden where standard error is no terminal.
fn bar(context: &Context, budget: Budget, unit: &str) -> ProgressBar {
    if context.console.quiet {
        return ProgressBar::hidden();
    }
    let (bar, template) = match (budget.units, budget.time) {
        (Some(units), None) => (ProgressBar::new(units), "{bar:30} {human_pos}/{human_len}"),
        _ => (ProgressBar::no_length(), "{spinner} {human_pos}"),
    };
    let template = format!("{template} {unit}  {{per_sec}}  {{elapsed}}  {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
