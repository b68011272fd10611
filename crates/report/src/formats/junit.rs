//! Renders a report as JUnit XML: a suite for each section of the manual, and a test for each clause and
//! subject.
//!
//! A test fails if a finding that marks its clause is new, or one that names it is gone. It is skipped if all
//! such findings are known, as usual for tests that are expected to fail, or if nothing reached the clause. Findings that mark
//! no clause have a suite of their own.
//!
//! The crate `quick-junit` is not used: it (0.8) gives `testsuites` the attribute `skipped`, which the schema
//! of `scripts/check-report-formats` does not have.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use askama::Template;

use crate::harmless::{line, lines};
use crate::matrix::{Matrix, MatrixCell, Standing};
use crate::{Finding, Report, Status, clauses, describe, severity};

/// The maximum number of findings that one test describes.
const MOST_FINDINGS: usize = 20;

#[derive(Template)]
#[template(path = "junit.xml")]
struct JunitPage {
    suites: Vec<JunitSuite>,
}

struct JunitSuite {
    name: String,
    /// The numbers of all, failed and skipped cases.
    counts: [usize; 3],
    cases: Vec<JunitTest>,
}

struct JunitTest {
    name: String,
    class: String,
    outcome: JunitOutcome,
}

enum JunitOutcome {
    Passed,
    Skipped { message: String },
    Failed { message: String, class: String, text: String },
}

/// Renders the JUnit document.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn junit(report: &Report) -> Result<String, askama::Error> {
    JunitPage { suites: suites(report) }.render()
}

/// Returns the number of all, failed or skipped cases of all suites; `count` is an index into
/// [`JunitSuite::counts`].
fn sum(suites: &[JunitSuite], count: usize) -> usize {
    suites.iter().map(|suite| suite.counts[count]).sum()
}

impl JunitSuite {
    fn new(name: String, cases: Vec<JunitTest>) -> JunitSuite {
        let mut counts = [cases.len(), 0, 0];
        for case in &cases {
            match case.outcome {
                JunitOutcome::Passed => {}
                JunitOutcome::Failed { .. } => counts[1] += 1,
                JunitOutcome::Skipped { .. } => counts[2] += 1,
            }
        }
        JunitSuite { name, counts, cases }
    }
}

fn suites(report: &Report) -> Vec<JunitSuite> {
    let matrix = Matrix::new(report);
    let mut suites = Vec::new();
    for (section, rows) in matrix.sections() {
        let mut cases = Vec::new();
        for row in rows {
            let cells = matrix.subjects.iter().zip(&row.cells);
            cases.extend(cells.map(|(subject, cell)| clause_test(report, row.clause, &subject.id, cell)));
        }
        let name = format!("{section} {}", clauses::heading(section));
        suites.push(JunitSuite::new(xml(line(&name).trim_end()), cases));
    }
    let cells = matrix.rows.iter().flat_map(|row| &row.cells);
    let at_clauses: BTreeSet<&str> = cells
        .flat_map(|cell| cell.explaining_findings().chain(cell.gone_findings()))
        .map(|finding| &*finding.id)
        .collect();
    let mut cases = Vec::new();
    for finding in report.findings.iter().filter(|finding| !at_clauses.contains(&*finding.id)) {
        cases.extend(finding.subjects.iter().map(|subject| JunitTest {
            name: xml(&line(&format!("{} [{subject}]", finding.id))),
            class: "ptxsmith.without_a_clause".to_owned(),
            outcome: outcome_of_findings(report, &[finding]),
        }));
    }
    if !cases.is_empty() {
        suites.push(JunitSuite::new("without a clause".to_owned(), cases));
    }
    suites
}

fn clause_test(report: &Report, clause: &str, subject: &str, cell: &MatrixCell<'_>) -> JunitTest {
    let name = clause.split_once('/').map_or(clause, |(_, name)| name);
    let section = clauses::section(clause).replace('.', "_");
    JunitTest {
        name: xml(&line(&format!("{name} [{subject}]"))),
        class: xml(&line(&format!("ptxsmith.{section}.{name}"))),
        outcome: outcome_of_cell(report, cell),
    }
}

fn outcome_of_cell(report: &Report, cell: &MatrixCell<'_>) -> JunitOutcome {
    let findings = cell.findings.iter().copied().filter(|finding| {
        finding.status == Status::Gone || Standing::of_class(finding.class) <= cell.standing
    });
    let findings: Vec<&Finding> = findings.collect();
    let reason = match cell.standing {
        _ if cell.gone_findings().next().is_some() => return outcome_of_findings(report, &findings),
        Standing::Conforms => return JunitOutcome::Passed,
        Standing::Unclear => "all programs that rest on this clause differ, perhaps for another reason",
        Standing::NotReached => "nothing that was compared rests on this clause",
        Standing::Unsupported => "the subject says that it lacks this",
        _ if findings.is_empty() => "deviates, and no finding names this clause",
        _ => return outcome_of_findings(report, &findings),
    };
    JunitOutcome::Skipped { message: reason.to_owned() }
}

/// Returns a failure if a finding needs attention, and a skipped test otherwise.
fn outcome_of_findings(report: &Report, findings: &[&Finding]) -> JunitOutcome {
    let mut findings = findings.to_vec();
    findings.sort_by_key(|finding| (!finding.needs_attention(), severity::order(finding)));
    let first = findings[0];
    let more = if findings.len() > 1 { format!(", and {} more", findings.len() - 1) } else { String::new() };
    let message = xml(&format!("{}: {}{more}", first.status.name(), line(&first.title)));
    if !first.needs_attention() {
        return JunitOutcome::Skipped { message };
    }
    let texts: Vec<String> =
        findings.iter().take(MOST_FINDINGS).map(|finding| text(report, finding)).collect();
    JunitOutcome::Failed { message, class: first.class.name().to_owned(), text: xml(&texts.join("\n")) }
}

/// Escapes the two characters that XML forbids even as references. Control characters have been escaped
/// before.
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
    let subjects: Vec<String> = finding.subjects.iter().map(|id| report.name_with_version(id)).collect();
    let _ = writeln!(out, "subjects  {}", line(&subjects.join(", ")));
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
