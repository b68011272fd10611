//! Counts the runs of a subject during a reduction.

use std::sync::atomic::{AtomicU64, Ordering};

use ptxsmith_subject::{Calculation, Description, Error, Observation, Request, Subject};

/// A subject that counts its runs.
pub struct CountingSubject<'a> {
    subject: &'a dyn Subject,
    asked: &'a AtomicU64,
}

impl<'a> CountingSubject<'a> {
    /// Wraps a subject; `asked` receives the count.
    pub fn new(subject: &'a dyn Subject, asked: &'a AtomicU64) -> CountingSubject<'a> {
        CountingSubject { subject, asked }
    }
}

impl Subject for CountingSubject<'_> {
    fn description(&self) -> &Description {
        self.subject.description()
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.subject.observe(request)
    }

    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        self.asked.fetch_add(requests.len() as u64, Ordering::Relaxed);
        self.subject.observe_each(requests)
    }

    fn has_both_forms(&self) -> bool {
        self.subject.has_both_forms()
    }

    fn shows_code(&self) -> bool {
        self.subject.shows_code()
    }

    fn computes(&self) -> bool {
        self.subject.computes()
    }

    fn compute(&self, request: &Request<'_>) -> Result<Calculation, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.subject.compute(request)
    }
}
