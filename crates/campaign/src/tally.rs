//! Counts results of programs that are neither cases nor files: the parts compared for each subject, and the
//! reasons why others were not.

use std::collections::BTreeMap;

use ptxsmith_report::{Report, SubjectResults};

/// The counts of a subject.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of parts compared.
    pub compared: u64,
    /// The number of compared parts that deviate.
    pub deviate: u64,
    /// The number of parts not compared, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts parts that were not compared.
    pub fn leave(&mut self, reason: impl Into<String>, count: u64) {
        *self.not_compared.entry(reason.into()).or_default() += count;
    }
}

/// Adds the tallies to the subjects of a report. Both must be in the same order.
pub fn enter(report: &mut Report, tallies: &[Tally]) {
    for (subject, tally) in report.subjects.iter_mut().zip(tallies) {
        let SubjectResults { compared, conform, not_compared, not_compared_because, .. } = subject;
        *compared = tally.compared;
        *conform = tally.compared.saturating_sub(tally.deviate);
        let skipped: u64 = tally.not_compared.values().sum();
        if skipped > 0 {
            let reason = ptxsmith_diff::NotCompared::Unobserved.name();
            not_compared.insert(reason.to_owned(), skipped);
            not_compared_because.insert(reason.to_owned(), tally.not_compared.clone());
            *report.not_compared.entry(reason.to_owned()).or_default() += skipped;
        }
    }
    report.compared = report.subjects.iter().map(|subject| subject.compared).sum();
    report.conform = report.subjects.iter().map(|subject| subject.conform).sum();
}
