//! Compares two campaigns by their findings, for example to see which findings a change adds.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Report, Status};

/// The differences between the findings of two reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportDifferences {
    /// The ids that only the later report has, and those of findings that were known and are now new or gone.
    pub added: Vec<String>,
    /// The number of ids that both reports have.
    pub common: usize,
    /// The ids that only the earlier report has, in its order.
    pub absent: Vec<String>,
    /// Reasons why the comparison may be misleading; empty if there are none.
    pub doubts: Vec<&'static str>,
}

impl ReportDifferences {
    /// Compares two reports by the ids of their findings.
    pub fn between(report: &Report, earlier: &Report) -> ReportDifferences {
        let statuses = statuses_by_id(report);
        let earlier_statuses = statuses_by_id(earlier);
        let added = report.findings.iter().filter(|finding| is_added(finding, &earlier_statuses));
        let added: Vec<String> = added.map(|finding| finding.id.clone()).collect();
        let absent = earlier.findings.iter().filter(|finding| !statuses.contains_key(&*finding.id));
        let mut doubts = Vec::new();
        if !earlier.complete {
            doubts.push("the earlier campaign is incomplete: what is added may have been there");
        }
        if !report.complete {
            doubts.push("this campaign is incomplete: more may be added");
        }
        if (&report.command, report.seed) != (&earlier.command, earlier.seed) {
            doubts.push("the campaigns judged different cases: what is added may have been there");
        }
        if subject_ids(report) != subject_ids(earlier) {
            doubts.push("the campaigns tested different subjects");
        }
        ReportDifferences {
            common: report.findings.len() - added.len(),
            absent: absent.map(|finding| finding.id.clone()).collect(),
            added,
            doubts,
        }
    }

    /// Removes all findings from the report that were not added.
    pub fn keep_added(&self, report: &mut Report) {
        report.findings.retain(|finding| self.added.contains(&finding.id));
    }

    /// Returns a summary: `2 findings are added, 7 are in both, 1 is no longer shown`.
    pub fn text(&self) -> String {
        let added = match self.added.len() {
            1 => "1 finding is".to_owned(),
            count => format!("{count} findings are"),
        };
        let common = count_with_verb(self.common);
        let absent = count_with_verb(self.absent.len());
        format!("{added} added, {common} in both, {absent} no longer shown")
    }
}

fn statuses_by_id(report: &Report) -> BTreeMap<&str, Status> {
    report.findings.iter().map(|finding| (&*finding.id, finding.status)).collect()
}

/// Whether a finding is missing from an earlier report, or was a known deviation there and now needs
/// attention.
fn is_added(finding: &Finding, earlier: &BTreeMap<&str, Status>) -> bool {
    match earlier.get(&*finding.id) {
        None => true,
        Some(status) => *status == Status::Known && finding.needs_attention(),
    }
}

fn subject_ids(report: &Report) -> BTreeSet<&str> {
    report.subjects.iter().map(|subject| &*subject.id).collect()
}

fn count_with_verb(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: &[(&str, Status)]) -> Report {
        let mut report: Report = serde_json::from_str(
            r#"{"schema": "ptxsmith.report/1", "complete": true, "subjects": [], "compared": 0, "conform": 0,
                "findings": []}"#,
        )
        .unwrap();
        for &(id, status) in findings {
            let finding =
                format!(r#"{{"id": "{id}", "status": "{}", "class": "crash", "title": ""}}"#, status.name());
            report.findings.push(serde_json::from_str(&finding).unwrap());
        }
        report
    }

    #[test]
    fn a_finding_of_the_earlier_report_is_not_added() {
        use Status::{Gone, Known, New};
        let mut now = report(&[("a", New), ("b", Known), ("c", Gone), ("e", Known)]);
        let before = report(&[("b", Known), ("c", Known), ("d", New), ("e", New)]);
        let differences = ReportDifferences::between(&now, &before);
        assert_eq!(differences.added, ["a", "c"]);
        assert_eq!(differences.absent, ["d"]);
        assert_eq!(differences.text(), "2 findings are added, 2 are in both, 1 is no longer shown");
        assert!(differences.doubts.is_empty());
        differences.keep_added(&mut now);
        assert_eq!(now.findings.len(), 2);
    }

    #[test]
    fn campaigns_that_cannot_be_compared_are_doubted() {
        let mut before = report(&[]);
        (before.complete, before.seed) = (false, 7);
        assert_eq!(ReportDifferences::between(&report(&[]), &before).doubts.len(), 2);
    }
}
