//! Writes a new finding as an entry of the list of known deviations.

use std::fmt::Write as _;

use ptxsmith_model::Class;
use ptxsmith_report::harmless::line;
use ptxsmith_report::{Finding, Report};

/// Returns the file of a known deviation for a finding. It identifies the deviation by its program alone,
/// until somebody writes a pattern for the cause.
pub(crate) fn entry(report: &Report, finding: &Finding) -> String {
    let example = finding.example();
    let subject = report.subjects.iter().find(|subject| Some(&subject.id) == finding.subjects.first());
    let name = finding.subjects.first().map_or("unknown", |id| id.split('@').next().unwrap_or(id));
    let lineage = subject.and_then(|subject| subject.lineage.as_deref()).unwrap_or(name);
    let version = subject.and_then(|subject| subject.version.as_deref()).unwrap_or("0");
    let ends = match (finding.class, example.observed.signal) {
        (Class::Crash, Some(8)) => "crash SIGFPE".to_owned(),
        (Class::Crash, Some(11)) => "crash SIGSEGV".to_owned(),
        (Class::Crash, Some(signal)) => format!("crash SIG{signal}"),
        (Class::Crash, None) if example.observed.is_internal_error() => "crash internal-error".to_owned(),
        (Class::Crash, None) => "crash unreadable".to_owned(),
        (class, _) => class.name().to_owned(),
    };
    let mut text = String::new();
    let _ = writeln!(text, "// deviation: {ends}\n// title: {}", line(&finding.title));
    for clause in &finding.clauses {
        let _ = writeln!(text, "// clause: {clause}");
    }
    let _ = writeln!(text, "// lineage: {}\n// releases: {}", line(lineage), line(version));
    if let Some(day) = finding.first_seen.as_deref().and_then(|seen| seen.get(..10)) {
        let _ = writeln!(text, "// first-seen: {day}");
    }
    // The program is all that identifies the deviation until a pattern is written.
    text + example.program
}
