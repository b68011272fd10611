//! Converts a report into the data of the page's template: all strings are escaped for display, all counts
//! computed, and all sizes limited.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use askama::Template;
use indicatif::HumanCount;
use ptxsmith_subject::ptxas::LINEAGE;
use sha2::{Digest, Sha256};

use super::bytes::{ByteComparison, bytes};
use super::programs::Programs;
use super::trend::{Trend, trend};
use crate::folder::Folder;
use crate::harmless::{count, line, lines};
use crate::history::RecordedCampaign;
use crate::matrix::{Matrix, MatrixCell, MatrixRow, Standing};
use crate::releases::{Interval, ProgramVerdict, ReleaseVerdict, intervals};
use crate::severity::{self, DeviationSeverity};
use crate::{
    ClauseCounts, CoverageCount, Finding, Report, Status, SubjectResults, clauses, deviations,
    interpretations, reproduce,
};

/// The maximum number of characters of a text on one line.
const MOST_CHARACTERS: usize = 300;
/// The maximum number of bytes of a program.
const MOST_PROGRAM: usize = 16_000;
/// The maximum number of characters of a name, which appears in many places.
const MOST_NAME_CHARACTERS: usize = 60;
/// The maximum number of ambiguities. The specification has fewer.
const MOST_QUESTIONS: usize = 60;
/// The maximum number of clauses of a finding.
const MOST_CLAUSES: usize = 12;
/// The maximum number of intervals of releases of a finding.
const MOST_INTERVALS: usize = 100;
/// The maximum number of characters of a finding's commands.
const MOST_COMMAND_CHARACTERS: usize = 4_000;

/// The limits for the parts of a report on a page. The page states how much was left out.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// The approximate number of bytes for all findings in full.
    pub findings: usize,
    /// The number of bytes for the findings that are shown on one line.
    pub rest: usize,
    /// The number of bytes for the programs of cells.
    pub programs: usize,
    /// The maximum number of columns.
    pub subjects: usize,
    /// The maximum number of rows of the scoreboard.
    pub clauses: usize,
}

/// The data of the page.
pub struct ReportView<'a> {
    pub report: &'a Report,
    pub title: String,
    pub headline: String,
    pub not_compared: u64,
    pub deviate: u64,
    /// The style of the headline.
    pub standing: &'static str,
    pub facts: Vec<(&'static str, String)>,
    /// The date, the version and the command.
    pub origin: Vec<String>,
    /// Whether there are listed deviations of any of the subjects.
    pub is_listed: bool,
    pub subjects: Vec<&'a SubjectResults>,
    pub lineages: Vec<(String, usize)>,
    pub sections: Vec<SectionView>,
    /// The programs of cells that belong to no finding, by number.
    pub programs: Vec<String>,
    /// The findings that fit in full, as HTML.
    pub findings: Vec<String>,
    /// The other findings, one line each, as far as they fit.
    pub rest: Vec<FindingLine>,
    pub classes: BTreeSet<String>,
    pub questions: Vec<interpretations::AmbiguityRow<'a>>,
    pub coverage: [(&'static str, &'a CoverageCount); 3],
    pub trend: Trend,
}

/// A finding on one line.
pub struct FindingLine {
    pub status: &'static str,
    pub class: String,
    pub title: String,
    pub id: String,
}

/// A section of the manual.
pub struct SectionView {
    pub number: String,
    pub heading: &'static str,
    pub cells: Vec<CellView>,
    pub rows: Vec<ClauseView>,
    pub differs: bool,
}

/// A row of the scoreboard.
pub struct ClauseView {
    pub id: String,
    pub name: String,
    pub summary: &'static str,
    pub cells: Vec<CellView>,
    pub differs: bool,
}

/// A cell of the scoreboard.
pub struct CellView {
    /// The CSS class of the element.
    pub class: String,
    pub glyph: &'static str,
    /// The title, if the script cannot derive it from the row and the column.
    pub title: String,
    pub note: String,
    /// The finding with the minimized reproducer.
    pub finding: String,
    pub findings: usize,
    /// The number of the subject's own minimized reproducer, if it is not the one of the finding.
    pub program: Option<usize>,
}

/// A finding in full, with limited size.
#[derive(Template)]
#[template(path = "finding.html")]
struct FindingView<'a> {
    report: &'a Report,
    finding: &'a Finding,
    /// All subjects, for the filter.
    subjects: &'a [String],
    clauses: Vec<&'a str>,
    intervals: Vec<(String, String, &'static str)>,
    bytes: ByteComparison,
    repeat: String,
    /// Commands that reproduce the finding without ptxsmith.
    reproduce: String,
    /// The work-around, if the deviation is listed.
    work_around: Option<String>,
    /// The address of the deviation's page, if it is listed.
    page: Option<String>,
    link: Option<&'a str>,
}

impl<'a> ReportView<'a> {
    pub fn new(
        folder: &'a Folder,
        runs: &[RecordedCampaign],
        limits: PageLimits,
    ) -> Result<ReportView<'a>, askama::Error> {
        let report = &folder.report;
        let mut matrix = Matrix::new(report);
        matrix.subjects.truncate(limits.subjects);
        matrix.rows.truncate(limits.clauses);
        let findings = findings(report, limits)?;
        let rest = rest(&report.findings[findings.len()..], limits.rest);
        let shown = report.findings.iter().take(findings.len() + rest.len());
        let classes: BTreeSet<String> = shown.map(|finding| finding.class.to_string()).collect();
        let mut programs = Programs::new(limits.programs);
        let sections = sections(&matrix, &mut programs);
        let mut questions = interpretations::rows(report, &matrix.subjects);
        questions.truncate(MOST_QUESTIONS);
        Ok(ReportView {
            report,
            title: title(&matrix),
            headline: severity::headline(report),
            not_compared: report.not_compared.values().fold(0, |sum, count| sum.saturating_add(*count)),
            deviate: report.compared.saturating_sub(report.conform),
            standing: standing(report),
            facts: facts(folder),
            origin: origin(folder),
            is_listed: report.subjects.iter().any(|subject| subject.lineage.as_deref() == Some(LINEAGE)),
            lineages: lineages(&matrix),
            subjects: matrix.subjects,
            sections,
            programs: programs.texts,
            findings,
            rest,
            classes,
            questions,
            coverage: [
                ("Clauses", &report.coverage.clauses),
                ("Productions", &report.coverage.productions),
                ("Pairs", &report.coverage.pairs),
            ],
            trend: trend(runs),
        })
    }
}

/// Returns the style of the headline, which depends on the worst finding, including known ones.
fn standing(report: &Report) -> &'static str {
    if report.needs_attention() {
        return "bad";
    }
    match severity::worst(report) {
        Some(DeviationSeverity::SilentlyWrong) => "bad",
        Some(_) => "note",
        None => "good",
    }
}

/// Returns the line under the title: the date, the version and the command.
fn origin(folder: &Folder) -> Vec<String> {
    let mut origin = Vec::new();
    if let Some(manifest) = &folder.manifest {
        origin.push(manifest.started.replace('T', " ").replace('Z', " UTC"));
    }
    origin.push(format!("ptxsmith {}", folder.report.ptxsmith));
    let command = folder.manifest.as_ref().map(|manifest| manifest.command_line.join(" "));
    origin.push(command.unwrap_or_else(|| format!("{}, seed {}", folder.report.command, folder.report.seed)));
    origin.iter().map(short).filter(|text| !text.is_empty()).collect()
}

fn title(matrix: &Matrix<'_>) -> String {
    let subjects: Vec<String> = matrix.subjects.iter().map(|subject| subject.label()).collect();
    short(match &subjects[..] {
        [first, _, .., last] => format!("{first} … {last}"),
        _ => subjects.join(", "),
    })
}

fn facts(folder: &Folder) -> Vec<(&'static str, String)> {
    let report = &folder.report;
    let mut facts = vec![
        ("ptxsmith", short(&report.ptxsmith)),
        ("command", short(&report.command)),
        ("seed", report.seed.to_string()),
    ];
    if let Some(manifest) = &folder.manifest {
        let machine = &manifest.machine;
        facts.push(("build", short(&manifest.build)));
        facts.push(("started", short(&manifest.started)));
        facts.push(("ended", short(manifest.ended.as_deref().unwrap_or("not yet"))));
        facts.push(("machine", short(format!("{}, {}, {} threads", machine.os, machine.cpu, machine.cores))));
        facts.push(("command line", short(manifest.command_line.join(" "))));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn lineages(matrix: &Matrix<'_>) -> Vec<(String, usize)> {
    let groups = matrix.subjects.chunk_by(|a, b| a.lineage.is_some() && a.lineage == b.lineage);
    groups.map(|group| (short(group[0].lineage.as_deref().unwrap_or("")), group.len())).collect()
}

fn sections(matrix: &Matrix<'_>, programs: &mut Programs) -> Vec<SectionView> {
    let mut sections = Vec::new();
    for (number, rows) in matrix.sections() {
        let rows_view: Vec<ClauseView> =
            rows.iter().map(|row| clause_view(row, matrix.subjects.len(), programs)).collect();
        let subjects = matrix.subjects.iter().enumerate();
        let cells = subjects.map(|(column, subject)| {
            section_cell(subject, rows.iter().map(|row| row.cells[column].standing).collect())
        });
        sections.push(SectionView {
            number: short(number),
            heading: clauses::heading(number),
            cells: cells.collect(),
            differs: rows_view.iter().any(|clause| clause.differs),
            rows: rows_view,
        });
    }
    sections
}

fn clause_view(row: &MatrixRow<'_>, subjects: usize, programs: &mut Programs) -> ClauseView {
    let mut cells = row.cells.iter();
    ClauseView {
        id: name(row.clause),
        name: name(row.clause.split_once('/').map_or(row.clause, |(_, name)| name)),
        summary: clauses::summary(row.clause).unwrap_or(""),
        cells: row.cells.iter().take(subjects).map(|cell| cell_view(cell, programs)).collect(),
        differs: cells.any(|cell| cell.standing.differs() || cell.gone_findings().next().is_some()),
    }
}

/// Summarizes the standings of a subject for the clauses of a section.
fn section_cell(subject: &SubjectResults, standings: Vec<Standing>) -> CellView {
    let worst = standings.iter().max().copied().unwrap_or(Standing::NotReached);
    let conform = standings.iter().filter(|&&standing| standing == Standing::Conforms).count();
    let reached = standings.iter().filter(|&&standing| standing != Standing::NotReached).count();
    CellView {
        class: format!("{} h2", worst.style()),
        glyph: worst.sign(),
        title: format!("{}: {}", name(subject.label()), worst.name()),
        note: format!("{conform} of {reached} clauses conform"),
        finding: String::new(),
        findings: 0,
        program: None,
    }
}

fn cell_view(cell: &MatrixCell<'_>, programs: &mut Programs) -> CellView {
    let findings: Vec<&Finding> = cell.explaining_findings().chain(cell.gone_findings()).collect();
    // The example of the finding may be reduced or come from another subject. The subject's own program may
    // be shorter, or the only one.
    let example_size = findings.first().map_or(usize::MAX, |finding| finding.example().program.len());
    let reproducer = cell.reproducer.filter(|reproducer| reproducer.len() < example_size);
    CellView {
        class: format!("{} {}", cell.style(), heat(cell)),
        glyph: cell.standing.sign(),
        title: String::new(),
        note: cell.counts.as_ref().map_or_else(String::new, counts_in_words),
        finding: findings.first().map_or_else(String::new, |finding| anchor(&finding.id)),
        findings: findings.len(),
        program: reproducer.and_then(|text| programs.number_of(&program(text))),
    }
}

fn counts_in_words(counts: &ClauseCounts) -> String {
    let counts = [
        ("compared", counts.compared),
        ("conform", counts.conform),
        ("deviate", counts.deviates),
        ("refused though valid", counts.refuses_valid),
        ("accepted though invalid", counts.accepts_invalid),
        ("crashed", counts.crashed),
        ("unsupported", counts.unsupported),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let texts: Vec<String> = counts.map(|(name, count)| format!("{} {name}", HumanCount(count))).collect();
    texts.join(", ")
}

/// Returns the CSS class for the share of verdicts that do not conform, from `h1` to `h4`; `h3` if the share
/// is unknown.
fn heat(cell: &MatrixCell<'_>) -> &'static str {
    match cell.counts {
        Some(counts) if cell.standing.differs() && counts.compared > 0 => {
            match counts.compared.saturating_sub(counts.conform) as f64 / counts.compared as f64 {
                share if share < 0.001 => "h1",
                share if share < 0.01 => "h2",
                share if share < 0.1 => "h3",
                _ => "h4",
            }
        }
        _ => "h3",
    }
}

/// Renders the findings that fit in full.
fn findings(report: &Report, limits: PageLimits) -> Result<Vec<String>, askama::Error> {
    let mut room = limits.findings;
    let mut rendered = Vec::new();
    for finding in &report.findings {
        let text = finding_view(report, finding, limits).render()?;
        let Some(rest) = room.checked_sub(text.len()) else { break };
        room = rest;
        rendered.push(text);
    }
    Ok(rendered)
}

/// Shortens findings to one line each, as far as they fit.
fn rest(findings: &[Finding], mut room: usize) -> Vec<FindingLine> {
    /// The approximate size of the template's markup, in bytes.
    const MARKUP: usize = 60;
    let mut lines = Vec::new();
    for finding in findings {
        let line = FindingLine {
            status: finding.status.name(),
            class: finding.class.to_string(),
            title: cut(&line(&finding.title), 2 * MOST_NAME_CHARACTERS),
            id: name(&finding.id),
        };
        let size = MARKUP + 2 * line.class.len() + line.title.len() + line.id.len();
        let Some(rest) = room.checked_sub(size) else { break };
        room = rest;
        lines.push(line);
    }
    lines
}

/// Returns the style of a verdict in the list of releases.
fn verdict_style(verdict: &ProgramVerdict) -> &'static str {
    match verdict {
        ProgramVerdict::Conforms => Standing::Conforms.style(),
        ProgramVerdict::Deviates(class) | ProgramVerdict::Predicted(class) => {
            Standing::of_class(*class).style()
        }
        ProgramVerdict::NotCompared(_) => Standing::Unsupported.style(),
    }
}

fn finding_view<'a>(report: &'a Report, finding: &'a Finding, limits: PageLimits) -> FindingView<'a> {
    // Without verdicts of all releases, the subjects of the campaign are listed.
    let releases =
        if finding.releases.is_empty() { seen_in(report, finding, limits) } else { finding.releases.clone() };
    let intervals = intervals(&releases);
    let with_verdict = intervals.iter().filter(|interval| *interval.verdict != ProgramVerdict::default());
    let (clauses, _) = clauses::informative_first(&finding.clauses);
    let commands = reproduce::commands(finding, "x").unwrap_or_default().join("\n");
    FindingView {
        report,
        finding,
        subjects: &finding.subjects[..finding.subjects.len().min(limits.subjects)],
        clauses: clauses.into_iter().take(MOST_CLAUSES).collect(),
        intervals: with_verdict.take(MOST_INTERVALS).map(interval_view).collect(),
        bytes: bytes(finding),
        repeat: line(&finding.repeat).chars().take(MOST_COMMAND_CHARACTERS).collect(),
        reproduce: lines(&commands).chars().take(MOST_COMMAND_CHARACTERS).collect(),
        work_around: deviations::work_around(&finding.id),
        page: deviations::link(&finding.id),
        // No other link can be clicked.
        link: finding.link.as_deref().filter(|link| link.starts_with("https://")),
    }
}

/// Returns the releases of an interval, their verdict, and its style.
fn interval_view(interval: &Interval<'_>) -> (String, String, &'static str) {
    // A command has no releases; its whole line is the name.
    let releases = if interval.family.contains(':') {
        name(interval.family)
    } else {
        short(format!("{} {}", interval.family, interval.releases.join(", ")))
    };
    (releases, name(interval.verdict.to_string()), verdict_style(interval.verdict))
}

/// Returns the subjects of the campaign as releases, with an empty verdict for subjects that do not show the
/// finding.
fn seen_in(report: &Report, finding: &Finding, limits: PageLimits) -> Vec<ReleaseVerdict> {
    let releases = report.subjects.iter().take(limits.subjects).map(|subject| ReleaseVerdict {
        subject: subject.id.clone(),
        version: subject.version.clone().unwrap_or_default(),
        verdict: if finding.subjects.contains(&subject.id) {
            ProgramVerdict::NotCompared("seen".to_owned())
        } else {
            ProgramVerdict::default()
        },
    });
    releases.collect()
}

/// Returns the CSS class of a cell of the table of interpretations.
pub fn followed_class(followed: &[interpretations::FollowedInterpretation<'_>]) -> &'static str {
    match followed {
        [] => "a-none",
        [only] if only.is_default => "a-default",
        [_] => "a-other",
        // A subject that follows two interpretations is inconsistent.
        _ => "a-mixed",
    }
}

/// Converts an id into an anchor of the page. It contains only letters, digits, `-` and `_`, so that no
/// context has to escape it.
fn anchor(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars() {
        if c.is_ascii_alphanumeric() || c == '-' {
            name.push(c);
        } else {
            name.push_str(&format!("_{:x}", u32::from(c)));
        }
    }
    match name.len() {
        0..=80 => format!("f-{name}"),
        _ => format!("f-{}", &hex::encode(Sha256::digest(id))[..24]),
    }
}

pub fn percent(part: impl Borrow<u64>, whole: impl Borrow<u64>) -> String {
    let (&part, &whole) = (part.borrow(), whole.borrow());
    if whole == 0 {
        return "–".to_owned();
    }
    // Rounded down, so that 100 % means that there are no deviations.
    let share = (part as f64 * 10_000.0 / whole as f64).floor() / 100.0;
    format!("{share:.2} %")
}

pub fn name(text: impl AsRef<str>) -> String {
    cut(&line(text.as_ref()), MOST_NAME_CHARACTERS)
}

pub fn short(text: impl AsRef<str>) -> String {
    cut(&line(text.as_ref()), MOST_CHARACTERS)
}

fn text(lines: Vec<String>) -> String {
    cut(&lines.join("\n"), MOST_PROGRAM)
}

fn program(text: impl AsRef<str>) -> String {
    let text = lines(text.as_ref());
    let cut = cut(&text, MOST_PROGRAM);
    if cut.len() < text.len() { format!("{cut}\n(cut: the report has all of it)") } else { cut }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_a_plain_name_and_differs_where_ids_differ() {
        assert_eq!(anchor("crash-1"), "f-crash-1");
        assert_eq!(anchor("a b\"<"), "f-a_20b_22_3c");
        assert_ne!(anchor("a_20b"), anchor("a b"));
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        assert_eq!(percent(999_999, 1_000_000), "99.99 %");
        assert_eq!((percent(3, 3), percent(0, 0)), ("100.00 %".to_owned(), "–".to_owned()));
    }
}
