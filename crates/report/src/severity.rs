//! The severity of deviations by class. It defines the order of findings in terminals, pages, documents and bug reports.

use ptxsmith_model::Class;
use std::cmp::Reverse;

use crate::{Finding, Report, Status};

/// The severity of a deviation, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
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
    /// The class is unknown to this version.
    Unknown,
}

/// A class, its severity, and the singular and plural names of its findings.
type Row = (Class, Severity, &'static str, &'static str);

const CLASSES: [Row; 9] = [
    (Class::WrongValue, Severity::SilentlyWrong, "silent wrong value", "silent wrong values"),
    (Class::WrongAddress, Severity::SilentlyWrong, "silent wrong address", "silent wrong addresses"),
    (Class::WrongLayout, Severity::SilentlyWrong, "silent wrong layout", "silent wrong layouts"),
    (Class::Crash, Severity::Crash, "crash", "crashes"),
    (Class::Hang, Severity::Hang, "hang", "hangs"),
    (Class::Memory, Severity::Memory, "exhausted memory", "exhausted memories"),
    (Class::Inconsistent, Severity::Inconsistent, "inconsistent answer", "inconsistent answers"),
    (
        Class::AcceptsInvalid,
        Severity::AcceptsInvalid,
        "invalid program accepted",
        "invalid programs accepted",
    ),
    (Class::RefusesValid, Severity::RefusesValid, "valid program refused", "valid programs refused"),
];

fn row(class: Class) -> Option<&'static Row> {
    CLASSES.iter().find(|(known, ..)| *known == class)
}

impl Severity {
    /// Returns the severity of a class.
    pub fn of(class: Class) -> Severity {
        row(class).map_or(Severity::Unknown, |&(_, severity, ..)| severity)
    }

    /// Returns the severity from the view of the implementation's users, as a bug tracker classifies it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Severity::SilentlyWrong => {
                "critical: silent miscompilation, the program holds or computes something else without a diagnostic"
            }
            Severity::Crash => "major: the compiler dies of the program",
            Severity::Hang => "major: the compiler does not end",
            Severity::Memory => "major: the compiler takes all memory",
            Severity::Inconsistent => "major: the answer changes from run to run",
            Severity::AcceptsInvalid => "normal: an invalid program is accepted without a diagnostic",
            Severity::RefusesValid => "normal: a valid program is rejected",
            Severity::Unknown => "unknown",
        }
    }
}

/// Returns the name of a finding of this class: `silent wrong value`.
pub fn called(class: Class) -> &'static str {
    row(class).map_or(class.name(), |&(_, _, one, _)| one)
}

/// Returns the sort key of a finding: new findings first, then gone ones; within them the worst first; then the most frequent first.
pub fn order(finding: &Finding) -> (Status, Severity, Reverse<u64>) {
    (finding.status, Severity::of(finding.class), Reverse(finding.count))
}

/// Returns the worst severity in a report. Findings that are gone do not count.
pub fn worst(report: &Report) -> Option<Severity> {
    let shown = report.findings.iter().filter(|finding| finding.status != Status::Gone);
    shown.map(|finding| Severity::of(finding.class)).min()
}

/// Returns a summary of the findings, the worst first: `2 silent wrong values, 1 crash: 1 new, 2 known`.
pub fn headline(report: &Report) -> String {
    let [new, gone, known] = Status::ALL.map(|status| report.count(status));
    let shown = || report.findings.iter().filter(|finding| finding.status != Status::Gone);
    let mut parts = Vec::new();
    for (class, _, one, many) in CLASSES {
        match shown().filter(|finding| finding.class == class).count() {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            count => parts.push(format!("{count} {many}")),
        }
    }
    let others = shown().filter(|finding| row(finding.class).is_none()).count();
    if others > 0 {
        parts.push(format!("{others} of other classes"));
    }
    let by_status = [(new, "new"), (gone, "gone"), (known, "known")];
    let by_status: Vec<String> = (by_status.iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {status}"))
        .collect();
    match (parts.is_empty(), by_status.is_empty()) {
        (_, true) => "no deviation".to_owned(),
        (true, false) => by_status.join(", "),
        (false, false) => format!("{}: {}", parts.join(", "), by_status.join(", ")),
    }
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
    fn what_is_silently_wrong_comes_before_crashes_and_refusals_last() {
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
    fn a_headline_says_what_was_found_and_not_only_what_is_new() {
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
        assert_eq!(worst(&report(found)), Some(Severity::SilentlyWrong));
        assert_eq!(headline(&report(vec![finding(Status::Gone, Class::Hang, 1)])), "1 gone");
        assert_eq!(headline(&report(Vec::new())), "no deviation");
    }
}
