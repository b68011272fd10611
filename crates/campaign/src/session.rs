//! What a campaign runs with, and what it tells while it goes on.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ptxsmith_report::Finding;
use ptxsmith_subject::Cancel;
use ptxsmith_subject::process::Start;
use ptxsmith_subject::worker::Workers;

use crate::expected::ExpectedFailures;
use crate::failure::Failure;

/// What every campaign has at hand.
pub struct Session {
    /// Threads, and processes of subjects at a time.
    pub jobs: NonZeroUsize,
    /// Chooses what is generated.
    pub seed: u64,
    /// The command that goes on with the campaign, with all its arguments: what its manifest keeps.
    pub command_line: Vec<String>,
    /// Raised when the campaign is to stop.
    pub cancel: Cancel,
    /// The CUDA driver library, where it was named.
    pub libcuda: Option<PathBuf>,
    /// How implementations are started for each module.
    pub start: Start,
    /// How this program starts itself again as a worker that loads libraries; `None` if it cannot.
    pub workers: Option<Workers>,
    /// When the command has to be over, where that is limited.
    pub limit: Option<Limit>,
    /// Who is told what happens.
    pub events: Box<dyn Events>,
    /// The failures that are expected.
    pub expected: ExpectedFailures,
    /// Lists of known deviations that were added.
    pub known: Vec<PathBuf>,
}

/// The time that a whole command may take: what its end takes is part of it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    began: Instant,
    /// Until when work is begun.
    pub work: Instant,
    /// When all is over.
    pub end: Instant,
}

impl Limit {
    /// The share of the time that is left for the end: new findings are shown again, reduced, compared between releases.
    const END: u32 = 4;
    /// The most that is left for it.
    const MOST: Duration = Duration::from_secs(60);

    /// The most time before the end at which nothing is asked of subjects any more, so that the result can be written.
    const WRITING: Duration = Duration::from_secs(1);

    /// When work that was begun is given up: it may use half of the time that is left for the end.
    pub fn work_is_cut(&self) -> Instant {
        self.work + self.end.saturating_duration_since(self.work) / 2
    }

    /// Until when findings are reduced: what is left then is for comparing subjects.
    pub fn reduction_ends(&self) -> Instant {
        self.end - self.end.saturating_duration_since(self.work) / 3
    }

    /// When subjects are stopped for good.
    pub fn end_is_cut(&self) -> Instant {
        self.end - (self.end.saturating_duration_since(self.work) / 5).min(Self::WRITING)
    }

    /// The limit of a command that began then and may take this time.
    pub fn of(began: Instant, time: Duration) -> Limit {
        let end = (time / Self::END).min(Self::MOST);
        Limit { work: began + (time - end), end: began + time, began }
    }

    /// The share of the time that is over then.
    pub fn share(&self, now: Instant) -> f64 {
        let whole = self.end.saturating_duration_since(self.began).as_secs_f64();
        (now.saturating_duration_since(self.began).as_secs_f64() / whole.max(f64::MIN_POSITIVE)).min(1.0)
    }
}

/// What receives the events of a campaign. By default they are dropped.
pub trait Events: Send + Sync {
    /// Something that is no result, for a person.
    fn note(&self, _message: &str) {}

    /// A finding was kept for the first time.
    fn found(&self, _finding: &Finding) {}

    /// What was compared of a program of the user's and what was not, in a line.
    fn judged(&self, _line: &str) {}

    /// A program could not be judged and is left out.
    fn left_out(&self, _failure: &Failure) {}

    /// Work begins: so many of these units, where that is known.
    fn begin(&self, _unit: &str, _count: Option<u64>) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    /// Something begins that takes as long as it takes.
    fn wait(&self) -> Box<dyn Progress> {
        Box::new(Silent)
    }
}

/// Who is told how a piece of work goes on. It has ended when this is dropped.
pub trait Progress: Send + Sync {
    /// So many more units are done.
    fn done(&self, _units: u64) {}

    /// What was found so far, or what happens now, in a few words.
    fn say(&self, _message: String) {}

    /// Something that is no result, for a person.
    fn note(&self, _message: &str) {}
}

/// Drops all events.
pub struct Silent;

impl Events for Silent {}
impl Progress for Silent {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_time_that_is_over_grows_from_none_to_all() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let limit = Limit::of(began, 40 * second);
        assert_eq!((limit.work, limit.end), (began + 30 * second, began + 40 * second));
        for (seconds, share) in [(0, 0.0), (10, 0.25), (20, 0.5), (40, 1.0), (50, 1.0)] {
            assert_eq!(limit.share(began + seconds * second), share, "{seconds}");
        }
        // What was begun may use half of the end; a fifth of it, or a second, is left for writing.
        assert_eq!((limit.work_is_cut(), limit.end_is_cut()), (began + 35 * second, began + 39 * second));
        let limit = Limit::of(began, 4 * second);
        assert_eq!(limit.end_is_cut(), began + 4 * second - second / 5);
        // Of an hour a minute is left for the end.
        assert_eq!(Limit::of(began, 3_600 * second).work, began + 3_540 * second);
        // Of no time nothing is over when it begins, and all at once then.
        let none = Limit::of(began, Duration::ZERO);
        assert_eq!((none.share(began), none.share(began + second)), (0.0, 1.0));
    }
}
