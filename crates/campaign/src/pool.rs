//! Runs numbered tasks on several threads until the budget is spent, Ctrl-C is pressed, or an internal error
//! occurs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::session::{Progress, Session};

/// The budget of a campaign, unless its session ends earlier. Tasks that have started are finished, with the
/// rest of their group.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The number of tasks; `None` for no limit.
    pub tasks: Option<u64>,
    /// Tasks run in groups of this size. A group runs completely or not at all; 1 means no grouping.
    pub together: u64,
    /// The total number of units in all tasks, for the progress bar.
    pub units: Option<u64>,
}

impl Default for Budget {
    /// No limit and no grouping.
    fn default() -> Budget {
        Budget { tasks: None, together: 1, units: None }
    }
}

/// The reason why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Every task is done, or the time is over.
    All,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Runs the tasks 0, 1, 2 ... on as many threads as the session allows. Stops at the first failure, and at
/// Ctrl-C with [`Completion::Interrupted`]. Abandons tasks in which a subject still runs at
/// [`Limit::work_is_cut`], and notes that.
///
/// [`Limit::work_is_cut`]: crate::session::Limit::work_is_cut
pub fn each(
    session: &Session,
    budget: Budget,
    unit: &str,
    task: impl Fn(u64, &dyn Progress) -> Result<(), Failure> + Sync,
) -> Result<Completion, Failure> {
    let progress = session.events.begin(unit, budget.units);
    if let Some(limit) = session.limit {
        session.cancel.cancel_at(limit.work_is_cut());
    }
    let shared =
        share(session, budget, session.limit.map(|limit| limit.work), |number| task(number, &*progress));
    if let Some(limit) = session.limit {
        session.cancel.cancel_at(limit.end_is_cut());
    }
    let PoolEnd { ended, begun, is_cut } = shared?;
    let lacks_some = is_cut || budget.tasks.is_some_and(|tasks| begun < tasks);
    if session.limit.is_some() && ended == Completion::All && lacks_some {
        progress.note(&format!("--time was over; not all {unit} are in the result"));
    }
    Ok(ended)
}

/// Maps items in parallel and returns results in input order. Items not started before Ctrl-C or the deadline
/// are `None`.
///
/// # Errors
/// The first failure, which stops all work.
pub fn map<T: Sync, R: Send>(
    session: &Session,
    items: &[T],
    convert: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<Option<R>>, Failure> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::default()).collect();
    let budget = Budget { tasks: Some(items.len() as u64), ..Budget::default() };
    share(session, budget, session.limit.map(|limit| limit.end), |number| {
        let index = number as usize;
        *lock_of(&results[index]) = Some(convert(&items[index])?);
        Ok(())
    })?;
    Ok(results.into_iter().map(|result| result.into_inner().expect("a panic ends the program")).collect())
}

/// The end of a parallel run.
struct PoolEnd {
    ended: Completion,
    /// The number of tasks started.
    begun: u64,
    /// Whether the deadline stopped some tasks before their end.
    is_cut: bool,
}

fn share(
    session: &Session,
    budget: Budget,
    until: Option<Instant>,
    task: impl Fn(u64) -> Result<(), Failure> + Sync,
) -> Result<PoolEnd, Failure> {
    let queue = TaskQueue {
        session,
        budget,
        until,
        longest: Mutex::new(Duration::ZERO),
        next: Mutex::new(0),
        failure: Mutex::new(None),
        stop: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let most = budget.tasks.unwrap_or(u64::MAX).max(1);
        let threads = (session.jobs.get() as u64).min(most);
        // The calling thread works too, so that it reuses memory that it freed earlier.
        for _ in 1..threads {
            scope.spawn(|| queue.work(&task));
        }
        queue.work(&task);
    });
    // Stopping a run kills its child processes, which is not a failure.
    let is_cut = match queue.failure.into_inner().expect("a panic ends the program") {
        Some(Failure::Interrupted) => true,
        Some(failure) => return Err(failure),
        None => false,
    };
    let is_stopped = (is_cut || session.cancel.is_cancelled()) && !session.cancel.is_late();
    let ended = if is_stopped { Completion::Interrupted } else { Completion::All };
    Ok(PoolEnd { ended, begun: queue.next.into_inner().expect("a panic ends the program"), is_cut })
}

/// The tasks that threads take one after another.
struct TaskQueue<'s> {
    session: &'s Session,
    budget: Budget,
    until: Option<Instant>,
    /// The time of the longest task so far.
    longest: Mutex<Duration>,
    /// The number of the next task.
    next: Mutex<u64>,
    /// The first failure.
    failure: Mutex<Option<Failure>>,
    /// Set by the first failure.
    stop: AtomicBool,
}

impl TaskQueue<'_> {
    /// Returns the number of the next task; `None` if no more tasks are to start.
    fn take(&self) -> Option<u64> {
        if self.stop.load(Ordering::Relaxed) || self.session.cancel.is_cancelled() {
            return None;
        }
        let mut next = lock_of(&self.next);
        if self.budget.tasks.is_some_and(|tasks| *next >= tasks) {
            return None;
        }
        if next.is_multiple_of(self.budget.together) && self.is_late() {
            return None;
        }
        *next += 1;
        Some(*next - 1)
    }

    /// Returns true if a task would end too late if it took as long as the longest so far. Started tasks are
    /// finished.
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() + *lock_of(&self.longest) >= until)
    }

    /// Runs tasks on the calling thread until no more are to start.
    fn work(&self, task: &(impl Fn(u64) -> Result<(), Failure> + Sync)) {
        while let Some(number) = self.take() {
            let began = Instant::now();
            if let Err(failure) = task(number) {
                self.stop.store(true, Ordering::Relaxed);
                lock_of(&self.failure).get_or_insert(failure);
            }
            let mut longest = lock_of(&self.longest);
            *longest = began.elapsed().max(*longest);
        }
    }
}

/// Locks a mutex. A panic ends the program, so no lock is ever poisoned.
pub fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a panic ends the program")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use ptxsmith_subject::Cancel;
    use ptxsmith_subject::process::Start;

    use super::*;
    use crate::session::{Limit, SilentEvents};

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
            answers: Vec::new(),
            events: Box::new(SilentEvents),
        }
    }

    /// Returns the number of finished tasks out of ten, and of items out of ten in the final steps.
    fn done(limit: Option<Limit>) -> (usize, usize) {
        let session = session(limit);
        let tasks = Mutex::new(0);
        let budget = Budget { tasks: Some(10), ..Budget::default() };
        let count = |_: u64, _: &dyn Progress| {
            *lock_of(&tasks) += 1;
            Ok(())
        };
        assert_eq!(each(&session, budget, "tasks", count).unwrap(), Completion::All);
        let items = map(&session, &[0; 10], |item| Ok(*item)).unwrap();
        let tasks = *lock_of(&tasks);
        (tasks, items.into_iter().flatten().count())
    }

    #[test]
    fn work_ends_before_the_time_and_the_end_with_it() {
        let now = Instant::now();
        let hour = Duration::from_secs(3_600);
        assert_eq!(done(None), (10, 10));
        assert_eq!(done(Some(Limit::new(now, hour))), (10, 10));
        // One minute of the hour is reserved for the final steps. The session began 59 and a half minutes
        // ago, so only that is left.
        let Some(long_ago) = now.checked_sub(hour - Duration::from_secs(30)) else { return };
        assert_eq!(done(Some(Limit::new(long_ago, hour))), (0, 10));
        assert_eq!(done(Some(Limit::new(long_ago, Duration::from_secs(60)))), (0, 0));
    }

    #[test]
    fn a_task_is_not_begun_that_would_end_too_late() {
        let time = Duration::from_millis(400);
        let session = session(Some(Limit::new(Instant::now(), time * 4 / 3)));
        let tasks = Mutex::new(0);
        each(&session, Budget::default(), "tasks", |_, _| {
            *lock_of(&tasks) += 1;
            std::thread::sleep(time * 3 / 4);
            Ok(())
        })
        .unwrap();
        // None, if the machine is so busy that the first task would start too late.
        assert!(*lock_of(&tasks) <= 1, "the second would take until one and a half of the time");
    }

    /// Records the messages about work.
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
        let limit = Limit::new(Instant::now(), Duration::from_millis(400));
        let mut session = session(Some(limit));
        session.events = Box::new(Noted(std::sync::Arc::clone(&notes)));
        let cancel = session.cancel.clone();
        let waits = |_: u64, _: &dyn Progress| {
            while !cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Failure::Interrupted)
        };
        assert_eq!(each(&session, Budget::default(), "cases", waits).unwrap(), Completion::All);
        assert_eq!(*lock_of(&notes), ["--time was over; not all cases are in the result"]);
        // The final steps have a time of their own.
        assert!(!cancel.is_cancelled() || Instant::now() >= limit.end_is_cut());
        // Ctrl-C has its usual effect even if the time is over.
        session.cancel.cancel();
        std::thread::sleep(limit.end.saturating_duration_since(Instant::now()));
        assert_eq!(each(&session, Budget::default(), "cases", waits).unwrap(), Completion::Interrupted);
    }

    #[test]
    fn tasks_that_there_is_no_time_for_are_told_and_a_whole_budget_is_not() {
        for (time, tasks, expected) in [(0, 3, 1), (3_600, 3, 0), (3_600, 0, 0)] {
            let notes = std::sync::Arc::default();
            let mut session = session(Some(Limit::new(Instant::now(), Duration::from_secs(time))));
            session.events = Box::new(Noted(std::sync::Arc::clone(&notes)));
            let budget = Budget { tasks: Some(tasks), ..Budget::default() };
            assert_eq!(each(&session, budget, "files", |_, _| Ok(())).unwrap(), Completion::All);
            assert_eq!(lock_of(&notes).len(), expected, "{time} {tasks}");
        }
    }
}
