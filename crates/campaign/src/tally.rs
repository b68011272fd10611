//! What became of programs that are neither cases nor files: how many parts each subject was compared on, and why others were not.

use std::collections::BTreeMap;

use ptxsmith_report::{Report, Subject};

/// What one subject did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Parts that were compared.
    pub compared: u64,
    /// Those of them that deviate.
    pub deviate: u64,
    /// Parts that were not compared, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts parts that were not compared.
    pub fn leave(&mut self, reason: impl Into<String>, count: u64) {
        *self.not_compared.entry(reason.into()).or_default() += count;
    }
}

/// Writes the tallies of a report's subjects, which are in the same order, into the report.
pub fn enter(report: &mut Report, tallies: &[Tally]) {
    for (subject, tally) in report.subjects.iter_mut().zip(tallies) {
        let Subject { compared, conform, not_compared, not_compared_because, .. } = subject;
        *compared = tally.compared;
        *conform = tally.compared.saturating_sub(tally.deviate);
        let left: u64 = tally.not_compared.values().sum();
        if left > 0 {
            let reason = ptxsmith_diff::NotCompared::Unobserved.name();
            not_compared.insert(reason.to_owned(), left);
            not_compared_because.insert(reason.to_owned(), tally.not_compared.clone());
            *report.not_compared.entry(reason.to_owned()).or_default() += left;
        }
    }
    report.compared = report.subjects.iter().map(|subject| subject.compared).sum();
    report.conform = report.subjects.iter().map(|subject| subject.conform).sum();
}
