//! The settings of a campaign, and the events that it emits while it runs.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ptxsmith_oracle::{Question, Rules};
use ptxsmith_report::Finding;
use ptxsmith_subject::Cancel;
use ptxsmith_subject::process::Start;
use ptxsmith_subject::worker::Workers;

use crate::expected::ExpectedFailures;
use crate::failure::Failure;

/// The settings common to all campaigns.
pub struct Session {
    /// The number of threads, and of subject processes that run at the same time.
    pub jobs: NonZeroUsize,
    /// The seed of the generator.
    pub seed: u64,
    /// The command that resumes the campaign, with all its arguments, for the manifest.
    pub command_line: Vec<String>,
    /// Set when the campaign is to stop.
    pub cancel: Cancel,
    /// The path of the CUDA driver library, if the user named it.
    pub libcuda: Option<PathBuf>,
    /// How to start an implementation for each module.
    pub start: Start,
    /// How to start this program again as a worker that loads libraries; `None` if that is impossible.
    pub workers: Option<Workers>,
    /// When the command must end, if its time is limited.
    pub limit: Option<Limit>,
    /// The receiver of events.
    pub events: Box<dyn Events>,
    /// The expected failures.
    pub expected: ExpectedFailures,
    /// Files with additional known deviations.
    pub known: Vec<PathBuf>,
    /// The answers to open questions that the user gave. Another interpretation of these is a deviation.
    pub answers: Vec<(Question, usize)>,
}

impl Session {
    /// Returns the specification's rules under the answers that the user gave.
    pub fn rules(&self) -> Rules {
        Rules::answered(&self.answers)
    }
}

/// The time limit of a command, including its final steps and the report.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    began: Instant,
    /// No new work starts after this time.
    pub work: Instant,
    /// The command ends at this time.
    pub end: Instant,
}

impl Limit {
    /// One part in this many of the time is reserved for the final steps (repeating new findings, reducing
    /// them and comparing releases), up to [`Limit::ENOUGH`].
    const END: u32 = 4;
    const ENOUGH: Duration = Duration::from_secs(60);
    /// One part in this many of a long time is reserved: it finds more to reduce.
    const LONG_END: u32 = 20;

    /// The longest time reserved for writing the result. Subjects are not run during it.
    const WRITING: Duration = Duration::from_secs(1);

    /// Returns the time at which work in progress is abandoned: halfway through the reserved time.
    pub fn work_is_cut(&self) -> Instant {
        self.work + self.end.saturating_duration_since(self.work) / 2
    }

    /// Returns the time at which reduction stops; the rest is reserved for comparing subjects.
    pub fn reduction_ends(&self) -> Instant {
        self.end - self.end.saturating_duration_since(self.work) / 3
    }

    /// Returns the time at which all subjects are stopped.
    pub fn end_is_cut(&self) -> Instant {
        self.end - (self.end.saturating_duration_since(self.work) / 5).min(Self::WRITING)
    }

    /// Creates the limit of a command that started at `began` and may run for `time`.
    pub fn new(began: Instant, time: Duration) -> Limit {
        let end = (time / Self::END).min(Self::ENOUGH).max(time / Self::LONG_END);
        Limit { work: began + (time - end), end: began + time, began }
    }

    /// Reserves a quarter of the time for the final steps, however long that is.
    pub fn with_long_end(self) -> Limit {
        let reserved = self.end.saturating_duration_since(self.began) / Self::END;
        Limit { work: self.work.min(self.end - reserved), ..self }
    }

    /// Returns the share of the time that has passed, from 0 to 1.
    pub fn share(&self, now: Instant) -> f64 {
        let whole = self.end.saturating_duration_since(self.began).as_secs_f64();
        (now.saturating_duration_since(self.began).as_secs_f64() / whole.max(f64::MIN_POSITIVE)).min(1.0)
    }
}

/// Receives the events of a campaign. The default methods ignore them.
pub trait Events: Send + Sync {
    /// Reports a message for people that is not a result.
    fn note(&self, _message: &str) {}

    /// Reports that a finding was recorded for the first time.
    fn found(&self, _finding: &Finding) {}

    /// Reports in one line which parts of a user's program were compared and which were not.
    fn judged(&self, _line: &str) {}

    /// Reports that a program could not be judged and is skipped.
    fn left_out(&self, _failure: &Failure) {}

    /// Starts a piece of work of `count` units, if the number is known.
    fn begin(&self, _unit: &str, _count: Option<u64>) -> Box<dyn Progress> {
        Box::new(SilentEvents)
    }

    /// Starts an operation of unknown length.
    fn wait(&self) -> Box<dyn Progress> {
        Box::new(SilentEvents)
    }
}

/// Receives the progress of a piece of work, which ends when this is dropped.
pub trait Progress: Send + Sync {
    /// Reports that `units` more units are done.
    fn done(&self, _units: u64) {}

    /// Shows the results so far, or the current step, in a few words.
    fn say(&self, _message: String) {}

    /// Reports a message for people that is not a result.
    fn note(&self, _message: &str) {}
}

/// Ignores all events.
pub struct SilentEvents;

impl Events for SilentEvents {}
impl Progress for SilentEvents {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_time_that_is_over_grows_from_none_to_all() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let limit = Limit::new(began, 40 * second);
        assert_eq!((limit.work, limit.end), (began + 30 * second, began + 40 * second));
        for (seconds, share) in [(0, 0.0), (10, 0.25), (20, 0.5), (40, 1.0), (50, 1.0)] {
            assert_eq!(limit.share(began + seconds * second), share, "{seconds}");
        }
        // Started work may use half of the reserved time. A fifth of it, at most a second, is left for
        // writing.
        assert_eq!((limit.work_is_cut(), limit.end_is_cut()), (began + 35 * second, began + 39 * second));
        let limit = Limit::new(began, 4 * second);
        assert_eq!(limit.end_is_cut(), began + 4 * second - second / 5);
        // One minute of ten and three of an hour are reserved for the final steps, or a quarter.
        assert_eq!(Limit::new(began, 600 * second).work, began + 540 * second);
        assert_eq!(Limit::new(began, 3_600 * second).work, began + 3_420 * second);
        assert_eq!(Limit::new(began, 3_600 * second).with_long_end().work, began + 2_700 * second);
        // With no time, none has passed at the start, and all of it right after.
        let none = Limit::new(began, Duration::ZERO);
        assert_eq!((none.share(began), none.share(began + second)), (0.0, 1.0));
    }
}
