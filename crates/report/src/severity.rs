//! The severity of deviations by class. It defines the order of findings in terminals, pages, documents and
//! bug reports.

use ptxsmith_model::Class;
use std::cmp::Reverse;

use crate::{Finding, Report, Status};

/// The severity of a deviation, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviationSeverity {
    /// A value, an address or a layout is wrong, without a diagnostic.
    SilentlyWrong,
    /// The implementation crashes.
    Crash,
    /// The implementation gives no result.
    Hang,
    /// The implementation exhausts the memory.
    Memory,
    /// The result changes from run to run.
    Inconsistent,
    /// The implementation accepts an invalid program.
    AcceptsInvalid,
    /// The implementation rejects a valid program.
    RefusesValid,
    /// The class has no entry in the table of classes; it keeps its plain name.
    Unknown,
}

/// A class, its severity, and the singular and plural names of its findings.
type ClassEntry = (Class, DeviationSeverity, &'static str, &'static str);

const CLASSES: [ClassEntry; 9] = [
    (Class::WrongValue, DeviationSeverity::SilentlyWrong, "silent wrong value", "silent wrong values"),
    (Class::WrongAddress, DeviationSeverity::SilentlyWrong, "silent wrong address", "silent wrong addresses"),
    (Class::WrongLayout, DeviationSeverity::SilentlyWrong, "silent wrong layout", "silent wrong layouts"),
    (Class::Crash, DeviationSeverity::Crash, "crash", "crashes"),
    (Class::Hang, DeviationSeverity::Hang, "hang", "hangs"),
    (Class::Memory, DeviationSeverity::Memory, "exhausted memory", "exhausted memories"),
    (Class::Inconsistent, DeviationSeverity::Inconsistent, "inconsistent answer", "inconsistent answers"),
    (
        Class::AcceptsInvalid,
        DeviationSeverity::AcceptsInvalid,
        "invalid program accepted",
        "invalid programs accepted",
    ),
    (Class::RefusesValid, DeviationSeverity::RefusesValid, "valid program refused", "valid programs refused"),
];

fn entry(class: Class) -> Option<&'static ClassEntry> {
    CLASSES.iter().find(|(known, ..)| *known == class)
}

impl DeviationSeverity {
    /// Returns the severity of a class.
    pub fn of_class(class: Class) -> DeviationSeverity {
        entry(class).map_or(DeviationSeverity::Unknown, |&(_, severity, ..)| severity)
    }

    /// Returns the severity from the view of the implementation's users, as a bug tracker classifies it.
    pub const fn meaning(self) -> &'static str {
        match self {
            DeviationSeverity::SilentlyWrong => {
                "critical: silent miscompilation, the program holds or computes something else without a diagnostic"
            }
            DeviationSeverity::Crash => "major: the compiler dies of the program",
            DeviationSeverity::Hang => "major: the compiler does not end",
            DeviationSeverity::Memory => "major: the compiler takes all memory",
            DeviationSeverity::Inconsistent => "major: the answer changes from run to run",
            DeviationSeverity::AcceptsInvalid => {
                "normal: an invalid program is accepted without a diagnostic"
            }
            DeviationSeverity::RefusesValid => "normal: a valid program is rejected",
            DeviationSeverity::Unknown => "unknown",
        }
    }
}

/// Returns the name of a finding of this class: `silent wrong value`.
pub fn finding_name(class: Class) -> &'static str {
    entry(class).map_or(class.name(), |&(_, _, singular, _)| singular)
}

/// Returns the sort key of a finding: new findings first, then gone ones, then known ones. Within each status the
/// worst come first, and of equal severity the most frequent.
pub fn order(finding: &Finding) -> (Status, DeviationSeverity, Reverse<u64>) {
    (finding.status, DeviationSeverity::of_class(finding.class), Reverse(finding.count))
}

/// Returns the worst severity in a report. Findings that are gone do not count.
pub fn worst(report: &Report) -> Option<DeviationSeverity> {
    current_findings(report).map(|finding| DeviationSeverity::of_class(finding.class)).min()
}

/// Returns the findings that are not gone.
fn current_findings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| finding.status != Status::Gone)
}

/// Returns a summary of the findings, the worst first: `2 silent wrong values, 1 crash: 1 new, 2 known`.
pub fn headline(report: &Report) -> String {
    let [new, gone, known] = Status::ALL.map(|status| report.count(status));
    let by_status = [(new, "new"), (gone, "gone"), (known, "known")].into_iter();
    let by_status =
        by_status.filter(|(count, _)| *count > 0).map(|(count, status)| format!("{count} {status}"));
    let by_status: Vec<String> = by_status.collect();
    let by_class = count_by_class(report);
    match (by_class.is_empty(), by_status.is_empty()) {
        (_, true) => "no deviation".to_owned(),
        (true, false) => by_status.join(", "),
        (false, false) => format!("{}: {}", by_class.join(", "), by_status.join(", ")),
    }
}

/// Returns the number of findings of each class in words. Findings that are gone do not count.
fn count_by_class(report: &Report) -> Vec<String> {
    let mut counts = Vec::new();
    for (class, _, singular, plural) in CLASSES {
        match current_findings(report).filter(|finding| finding.class == class).count() {
            0 => {}
            1 => counts.push(format!("1 {singular}")),
            count => counts.push(format!("{count} {plural}")),
        }
    }
    let others = current_findings(report).filter(|finding| entry(finding.class).is_none()).count();
    if others > 0 {
        counts.push(format!("{others} of other classes"));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(status: Status, class: Class, count: u64) -> Finding {
        Finding { status, class, count, ..Finding::default() }
    }

    fn report(findings: Vec<Finding>) -> Report {
        let empty =
            r#"{"schema": "ptxsmith.report/1", "subjects": [], "compared": 0, "conform": 0, "findings": []}"#;
        Report { findings, ..serde_json::from_str(empty).unwrap() }
    }

    #[test]
    fn silent_deviations_come_before_crashes_and_refusals_last() {
        let mut findings = [
            finding(Status::New, Class::RefusesValid, 900),
            finding(Status::Known, Class::WrongValue, 9),
            finding(Status::New, Class::Crash, 1),
            finding(Status::New, Class::WrongLayout, 1),
            finding(Status::New, Class::WrongValue, 2),
        ];
        findings.sort_by_key(order);
        let classes: Vec<&str> = findings.iter().map(|finding| finding.class.name()).collect();
        assert_eq!(classes, ["wrong-value", "wrong-layout", "crash", "refuses-valid", "wrong-value"]);
    }

    #[test]
    fn a_headline_counts_known_findings_too() {
        let found = vec![
            finding(Status::New, Class::Crash, 1),
            finding(Status::Gone, Class::Hang, 1),
            finding(Status::Known, Class::WrongValue, 1),
            finding(Status::Known, Class::WrongValue, 1),
        ];
        assert_eq!(
            headline(&report(found.clone())),
            "2 silent wrong values, 1 crash: 1 new, 1 gone, 2 known"
        );
        assert_eq!(worst(&report(found)), Some(DeviationSeverity::SilentlyWrong));
        assert_eq!(headline(&report(vec![finding(Status::Gone, Class::Hang, 1)])), "1 gone");
        assert_eq!(headline(&report(Vec::new())), "no deviation");
    }
}
