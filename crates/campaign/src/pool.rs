//! Shares numbered tasks out among threads until the budget is spent, Ctrl-C is pressed, or something of ours fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::session::{Progress, Session};

/// When a campaign is over, if its session is not before: then tasks that have begun are done, with those that belong to them.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After this many tasks, if any number.
    pub tasks: Option<u64>,
    /// So many tasks belong together, one: of those that belong together all are done, or none.
    pub together: u64,
    /// What the tasks consist of, all together, for the progress bar.
    pub units: Option<u64>,
}

impl Default for Budget {
    /// No end, and no task that belongs to others.
    fn default() -> Budget {
        Budget { tasks: None, together: 1, units: None }
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

/// Does the tasks 0, 1, 2 ... on as many threads as the session allows. The first failure ends all; so does Ctrl-C, with
/// [`Ended::Interrupted`]. A task that a subject keeps from its end is given up at [`Limit::work_is_cut`]; that is noted.
///
/// [`Limit::work_is_cut`]: crate::session::Limit::work_is_cut
pub fn each(
    session: &Session,
    budget: Budget,
    unit: &str,
    task: impl Fn(u64, &dyn Progress) -> Result<(), Failure> + Sync,
) -> Result<Ended, Failure> {
    let progress = session.events.begin(unit, budget.units);
    if let Some(limit) = session.limit {
        session.cancel.cancel_at(limit.work_is_cut());
    }
    let shared =
        share(session, budget, session.limit.map(|limit| limit.work), |number| task(number, &*progress));
    if let Some(limit) = session.limit {
        session.cancel.cancel_at(limit.end_is_cut());
    }
    let Shared { ended, begun, is_cut } = shared?;
    let lacks_some = is_cut || budget.tasks.is_some_and(|tasks| begun < tasks);
    if session.limit.is_some() && ended == Ended::All && lacks_some {
        progress.note(&format!("--time was over; not all {unit} are in the result"));
    }
    Ok(ended)
}

/// What becomes of each item, in their order, on as many threads as the session allows. `None` for those that Ctrl-C, or the
/// end of the time, left out.
///
/// # Errors
/// The first failure, which ends all.
pub fn map<T: Sync, R: Send>(
    session: &Session,
    items: &[T],
    of: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<Option<R>>, Failure> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::default()).collect();
    let budget = Budget { tasks: Some(items.len() as u64), ..Budget::default() };
    share(session, budget, session.limit.map(|limit| limit.end), |number| {
        let (item, result) = (&items[number as usize], &results[number as usize]);
        *lock_of(result) = Some(of(item)?);
        Ok(())
    })?;
    Ok(results.into_iter().map(|result| result.into_inner().expect("a panic ends the program")).collect())
}

/// How tasks came to an end.
struct Shared {
    ended: Ended,
    /// How many were begun.
    begun: u64,
    /// Whether the end of the time kept some from their end.
    is_cut: bool,
}

fn share(
    session: &Session,
    budget: Budget,
    until: Option<Instant>,
    task: impl Fn(u64) -> Result<(), Failure> + Sync,
) -> Result<Shared, Failure> {
    // What is begun is done: so nothing is begun that would, if it took as long as the longest before it, end too late.
    let longest = Mutex::new(Duration::ZERO);
    let next = Mutex::new(0);
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let take = || {
        if stop.load(Ordering::Relaxed) || session.cancel.is_cancelled() {
            return None;
        }
        let mut next = lock_of(&next);
        let late = || until.is_some_and(|until| Instant::now() + *lock_of(&longest) >= until);
        if budget.tasks.is_some_and(|tasks| *next >= tasks) || next.is_multiple_of(budget.together) && late()
        {
            return None;
        }
        *next += 1;
        Some(*next - 1)
    };
    let thread = || {
        while let Some(number) = take() {
            let began = Instant::now();
            if let Err(failed) = task(number) {
                stop.store(true, Ordering::Relaxed);
                lock_of(&failure).get_or_insert(failed);
            }
            let mut longest = lock_of(&longest);
            *longest = began.elapsed().max(*longest);
        }
    };
    std::thread::scope(|scope| {
        let most = budget.tasks.unwrap_or(u64::MAX).max(1);
        let threads = (session.jobs.get() as u64).min(most);
        // The caller works, too: what it read and freed before is memory that its own work uses again.
        for _ in 1..threads {
            scope.spawn(thread);
        }
        thread();
    });
    // The children of a run that is stopped die, which is no failure.
    let is_cut = match failure.into_inner().expect("a panic ends the program") {
        Some(Failure::Interrupted) => true,
        Some(failure) => return Err(failure),
        None => false,
    };
    let is_stopped = (is_cut || session.cancel.is_cancelled()) && !session.cancel.is_late();
    let ended = if is_stopped { Ended::Interrupted } else { Ended::All };
    Ok(Shared { ended, begun: next.into_inner().expect("a panic ends the program"), is_cut })
}

/// A panic ends the program, so no lock is ever poisoned.
pub fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a panic ends the program")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use ptxsmith_subject::Cancel;
    use ptxsmith_subject::process::Start;

    use super::*;
    use crate::session::{Limit, Silent};

    fn session(limit: Option<Limit>) -> Session {
        Session {
            jobs: NonZeroUsize::MIN,
            seed: 0,
            command_line: Vec::new(),
            cancel: Cancel::new(),
            libcuda: None,
            start: Start::Spawn,
            workers: None,
            limit,
            expected: Default::default(),
            known: Vec::new(),
            events: Box::new(Silent),
        }
    }

    /// How many of ten tasks are done, and how many of ten items at the end.
    fn done(limit: Option<Limit>) -> (usize, usize) {
        let session = session(limit);
        let tasks = Mutex::new(0);
        let budget = Budget { tasks: Some(10), ..Budget::default() };
        let count = |_: u64, _: &dyn Progress| {
            *lock_of(&tasks) += 1;
            Ok(())
        };
        assert_eq!(each(&session, budget, "tasks", count).unwrap(), Ended::All);
        let items = map(&session, &[0; 10], |item| Ok(*item)).unwrap();
        let tasks = *lock_of(&tasks);
        (tasks, items.into_iter().flatten().count())
    }

    #[test]
    fn work_ends_before_the_time_and_the_end_with_it() {
        let now = Instant::now();
        let hour = Duration::from_secs(3_600);
        assert_eq!(done(None), (10, 10));
        assert_eq!(done(Some(Limit::of(now, hour))), (10, 10));
        // A minute of the hour is kept for the end: begun 59 and a half minutes ago, only that is left.
        let Some(long_ago) = now.checked_sub(hour - Duration::from_secs(30)) else { return };
        assert_eq!(done(Some(Limit::of(long_ago, hour))), (0, 10));
        assert_eq!(done(Some(Limit::of(long_ago, Duration::from_secs(60)))), (0, 0));
    }

    #[test]
    fn a_task_is_not_begun_that_would_end_too_late() {
        let time = Duration::from_millis(400);
        let session = session(Some(Limit::of(Instant::now(), time * 4 / 3)));
        let tasks = Mutex::new(0);
        each(&session, Budget::default(), "tasks", |_, _| {
            *lock_of(&tasks) += 1;
            std::thread::sleep(time * 3 / 4);
            Ok(())
        })
        .unwrap();
        // None, where the machine is so busy that the first would have begun too late.
        assert!(*lock_of(&tasks) <= 1, "the second would take until one and a half of the time");
    }

    /// Notes what is said of work.
    struct Noted(std::sync::Arc<Mutex<Vec<String>>>);

    impl crate::session::Events for Noted {
        fn begin(&self, _: &str, _: Option<u64>) -> Box<dyn Progress> {
            Box::new(Noted(std::sync::Arc::clone(&self.0)))
        }
    }

    impl Progress for Noted {
        fn note(&self, message: &str) {
            lock_of(&self.0).push(message.to_owned());
        }
    }

    #[test]
    fn a_task_that_does_not_end_in_time_is_given_up_and_that_is_no_interruption() {
        let notes = std::sync::Arc::default();
        let limit = Limit::of(Instant::now(), Duration::from_millis(400));
        let mut session = session(Some(limit));
        session.events = Box::new(Noted(std::sync::Arc::clone(&notes)));
        let cancel = session.cancel.clone();
        let waits = |_: u64, _: &dyn Progress| {
            while !cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Failure::Interrupted)
        };
        assert_eq!(each(&session, Budget::default(), "cases", waits).unwrap(), Ended::All);
        assert_eq!(*lock_of(&notes), ["--time was over; not all cases are in the result"]);
        // The end has its own time.
        assert!(!cancel.is_cancelled() || Instant::now() >= limit.end_is_cut());
        // Ctrl-C is Ctrl-C, also when the time is over.
        session.cancel.cancel();
        std::thread::sleep(limit.end.saturating_duration_since(Instant::now()));
        assert_eq!(each(&session, Budget::default(), "cases", waits).unwrap(), Ended::Interrupted);
    }

    #[test]
    fn tasks_that_there_is_no_time_for_are_told_and_a_whole_budget_is_not() {
        for (time, tasks, expected) in [(0, 3, 1), (3_600, 3, 0), (3_600, 0, 0)] {
            let notes = std::sync::Arc::default();
            let mut session = session(Some(Limit::of(Instant::now(), Duration::from_secs(time))));
            session.events = Box::new(Noted(std::sync::Arc::clone(&notes)));
            let budget = Budget { tasks: Some(tasks), ..Budget::default() };
            assert_eq!(each(&session, budget, "files", |_, _| Ok(())).unwrap(), Ended::All);
            assert_eq!(lock_of(&notes).len(), expected, "{time} {tasks}");
        }
    }
}
