//! Renders a report as JUnit XML: a suite for each section of the manual, and a test for each clause and subject.
//!
//! A test fails if a finding that names its clause is new or gone. It is skipped if all such findings are known, as usual for tests that
//! are expected to fail, or if nothing reached the clause. Findings that name no clause have a suite of their own.
//!
//! The crate `quick-junit` is not used: it (0.8) gives `testsuites` the attribute `skipped`, which the schema of
//! `scripts/check-report-formats` does not have.

use std::fmt::Write as _;

use askama::Template;

use crate::harmless::{line, lines};
use crate::matrix::{Cell, Matrix, Standing};
use crate::{Finding, Report, Status, clauses, describe, severity};

/// The maximum number of findings that one test describes.
const MOST_FINDINGS: usize = 20;

#[derive(Template)]
#[template(path = "junit.xml")]
struct Page {
    suites: Vec<Suite>,
}

struct Suite {
    name: String,
    /// The numbers of all, failed and skipped cases.
    counts: [usize; 3],
    cases: Vec<Case>,
}

struct Case {
    name: String,
    class: String,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    Skipped { message: String },
    Failed { message: String, class: String, text: String },
}

/// Renders the JUnit document.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn junit(report: &Report) -> Result<String, askama::Error> {
    Page { suites: suites(report) }.render()
}

/// Returns the number of all, failed or skipped cases of all suites; `which` is an index into [`Suite::counts`].
fn sum(suites: &[Suite], which: usize) -> usize {
    suites.iter().map(|suite| suite.counts[which]).sum()
}

impl Suite {
    fn new(name: String, cases: Vec<Case>) -> Suite {
        let count = |of: fn(&Outcome) -> bool| cases.iter().filter(|case| of(&case.outcome)).count();
        let failed = count(|outcome| matches!(outcome, Outcome::Failed { .. }));
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped { .. }));
        Suite { name, counts: [cases.len(), failed, skipped], cases }
    }
}

fn suites(report: &Report) -> Vec<Suite> {
    let matrix = Matrix::of(report);
    let of_section = |(section, rows): (&str, &[crate::matrix::Row<'_>])| {
        let case = |clause: &str, subject: &str, cell: &Cell<'_>| {
            let name = clause.split_once('/').map_or(clause, |(_, name)| name);
            Case {
                name: xml(&line(&format!("{name} [{subject}]"))),
                class: xml(&line(&format!("ptxsmith.{}.{name}", section.replace('.', "_")))),
                outcome: outcome(report, cell),
            }
        };
        let cases = rows.iter().flat_map(|row| {
            matrix.subjects.iter().zip(&row.cells).map(|(subject, cell)| case(row.clause, &subject.id, cell))
        });
        let name = format!("{section} {}", clauses::heading(section));
        Suite::new(xml(line(&name).trim_end()), cases.collect())
    };
    let mut suites: Vec<Suite> = matrix.sections().into_iter().map(of_section).collect();
    let homeless = report.findings.iter().filter(|finding| finding.clauses.is_empty());
    let cases = homeless.flat_map(|finding| finding.subjects.iter().map(move |subject| (finding, subject)));
    let cases: Vec<Case> = cases
        .map(|(finding, subject)| Case {
            name: xml(&line(&format!("{} [{subject}]", finding.id))),
            class: "ptxsmith.without_a_clause".to_owned(),
            outcome: outcome_of(report, &[finding]),
        })
        .collect();
    if !cases.is_empty() {
        suites.push(Suite::new("without a clause".to_owned(), cases));
    }
    suites
}

fn outcome(report: &Report, cell: &Cell<'_>) -> Outcome {
    let skipped = |why: &str| Outcome::Skipped { message: why.to_owned() };
    let shows = |finding: &&Finding| {
        finding.status == Status::Gone || Standing::of_class(finding.class) <= cell.standing
    };
    let telling: Vec<&Finding> = cell.findings.iter().copied().filter(shows).collect();
    match cell.standing {
        _ if cell.gone().next().is_some() => outcome_of(report, &telling),
        Standing::NotReached => skipped("nothing that was compared rests on this clause"),
        Standing::Unsupported => skipped("the subject says that it lacks this"),
        Standing::Conforms => Outcome::Passed,
        _ if telling.is_empty() => skipped("deviates, and no finding names this clause"),
        _ => outcome_of(report, &telling),
    }
}

/// Returns a failure if a finding needs attention, and a skipped test otherwise.
fn outcome_of(report: &Report, findings: &[&Finding]) -> Outcome {
    let mut findings = findings.to_vec();
    findings.sort_by_key(|finding| (!finding.needs_attention(), severity::order(finding)));
    let first = findings[0];
    let more = if findings.len() > 1 { format!(", and {} more", findings.len() - 1) } else { String::new() };
    let message = xml(&format!("{}: {}{more}", first.status.name(), line(&first.title)));
    if !first.needs_attention() {
        return Outcome::Skipped { message };
    }
    let texts: Vec<String> = findings.iter().take(MOST_FINDINGS).map(|f| text(report, f)).collect();
    Outcome::Failed { message, class: first.class.name().to_owned(), text: xml(&texts.join("\n")) }
}

/// Escapes the two characters that XML forbids even as references. Control characters have been escaped before.
fn xml(text: &str) -> String {
    text.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

fn text(report: &Report, finding: &Finding) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}: {}", finding.status.name(), finding.class, line(&finding.title));
    for text in describe::expected(finding) {
        let _ = writeln!(out, "expected  {text}");
    }
    match finding.status {
        Status::Gone => out.push_str("actual    the listed deviation no longer shows\n"),
        Status::New | Status::Known => {
            for text in describe::observed(finding) {
                let _ = writeln!(out, "actual    {text}");
            }
        }
    }
    let shown: Vec<String> = finding.subjects.iter().map(|id| report.named(id)).collect();
    let _ = writeln!(out, "subjects  {}", line(&shown.join(", ")));
    if !finding.releases.is_empty() {
        let _ = writeln!(out, "releases  {}", line(&report.release_map(finding)));
    }
    if let Some(edit) = &finding.edit {
        let _ = writeln!(out, "edit\n{}", lines(edit));
    }
    let _ = writeln!(out, "repeat    {}", line(&finding.repeat));
    let _ = writeln!(out, "program\n{}", lines(finding.example().program));
    out
}
