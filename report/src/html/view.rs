//! What the template shows, made of a report: every text already harmless, counted, and cut to a size.

use indicatif::HumanCount;
use sha2::{Digest, Sha256};

use super::bytes::{Bytes, bytes};
use super::programs::Programs;
use super::trend::{Trend, trend};
use crate::folder::Folder;
use crate::harmless::{line, lines};
use crate::history::Run;
use crate::matrix::{Cell, Matrix, Standing};
use crate::releases::{ReleaseVerdict, intervals};
use crate::{Finding, Reached, Report, Status, Subject, atlas, clauses, describe, markdown};

/// The most characters of a text in a line.
const MOST_CHARACTERS: usize = 300;
/// The most bytes of a program.
const MOST_PROGRAM: usize = 16_000;
/// The most characters of a name, which stands in many places.
const MOST_OF_NAME: usize = 60;
/// The most questions: more than there are.
const MOST_QUESTIONS: usize = 60;
/// The most entries of a list in small print.
const MOST_LISTED: usize = 400;

/// How much of a report goes into a page. What does not is counted there.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The bytes that all findings together may take, about.
    pub findings: usize,
    /// The bytes that the programs of cells may take.
    pub programs: usize,
    /// Columns.
    pub subjects: usize,
    /// Rows of the scoreboard.
    pub clauses: usize,
}

/// The page.
pub struct View {
    pub title: String,
    pub headline: String,
    pub complete: bool,
    pub needs_attention: bool,
    pub facts: Vec<(&'static str, String)>,
    pub tiles: Vec<Tile>,
    pub subjects: Vec<SubjectView>,
    pub subjects_left_out: usize,
    pub lineages: Vec<(String, usize)>,
    pub legend: Vec<(&'static str, &'static str, &'static str)>,
    pub sections: Vec<SectionView>,
    /// What cells show that no finding has, by number.
    pub programs: Vec<String>,
    pub findings: Vec<FindingView>,
    pub findings_left_out: usize,
    pub classes: Vec<String>,
    pub atlas: Vec<QuestionView>,
    pub coverage: Vec<CoverageView>,
    pub trend: Trend,
}

/// A number that stands out.
pub struct Tile {
    pub name: &'static str,
    pub value: String,
    pub note: String,
    pub tone: &'static str,
}

/// A column of the scoreboard, and a row of the table of subjects.
pub struct SubjectView {
    pub id: String,
    pub label: String,
    pub version: String,
    pub lineage: String,
    pub hash: String,
    pub compared: String,
    pub conform: String,
    pub deviate: String,
    pub share: String,
    pub accepted_wrongly: String,
    pub refused_wrongly: String,
    pub died: String,
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
    /// The class of the element.
    pub class: String,
    pub glyph: &'static str,
    /// What the script does not make up from row and column.
    pub title: String,
    pub note: String,
    /// The finding with the least program.
    pub finding: String,
    pub findings: usize,
    /// The number of its least program, where that is not the finding's.
    pub program: Option<usize>,
}

/// A finding.
pub struct FindingView {
    pub id: String,
    pub anchor: String,
    pub status: &'static str,
    pub class: String,
    pub title: String,
    pub count: String,
    /// All of them, for the filter.
    pub subjects: Vec<String>,
    pub clauses: Vec<(String, &'static str)>,
    pub intervals: Vec<(String, String, &'static str)>,
    pub program: String,
    /// The program before or after reduction, and which of these.
    pub other: Option<(&'static str, String)>,
    pub expected: String,
    pub observed: String,
    pub example: String,
    pub bytes: Bytes,
    pub repeat: String,
    pub file: String,
    pub first_seen: String,
    pub link: String,
    pub edit: String,
}

/// A row of the atlas.
pub struct QuestionView {
    pub name: String,
    pub clauses: Vec<&'static str>,
    pub answers: Vec<(&'static str, &'static str)>,
    /// Of each subject: class of the cell, and its texts.
    pub cells: Vec<(&'static str, Vec<(String, String)>)>,
}

/// A bar of coverage.
pub struct CoverageView {
    pub name: &'static str,
    pub reached: String,
    pub total: String,
    pub percent: String,
    pub missing: Vec<String>,
}

impl View {
    pub fn of(folder: &Folder, runs: &[Run], limits: Limits) -> View {
        let report = &folder.report;
        let mut matrix = Matrix::of(report);
        matrix.subjects.truncate(limits.subjects);
        matrix.rows.truncate(limits.clauses);
        let (findings, findings_left_out) = findings(report, limits);
        let mut classes: Vec<String> = findings.iter().map(|finding| finding.class.clone()).collect();
        classes.sort();
        classes.dedup();
        let mut programs = Programs::new(limits.programs);
        let sections = sections(&matrix, &mut programs);
        View {
            title: title(&matrix),
            headline: markdown::headline(report),
            complete: report.complete,
            needs_attention: report.findings.iter().any(|finding| finding.status.needs_attention()),
            facts: facts(folder),
            tiles: tiles(report),
            subjects: matrix.subjects.iter().map(|subject| subject_view(subject)).collect(),
            subjects_left_out: report.subjects.len() - matrix.subjects.len(),
            lineages: lineages(&matrix),
            legend: Standing::ALL
                .map(|standing| (class_of(standing), glyph(standing), standing.name()))
                .to_vec(),
            sections,
            programs: programs.texts,
            classes,
            atlas: questions(report, &matrix),
            coverage: [
                ("Clauses", &report.coverage.clauses),
                ("Productions", &report.coverage.productions),
                ("Pairs", &report.coverage.pairs),
            ]
            .into_iter()
            .filter(|(_, reached)| reached.total > 0)
            .map(|(name, reached)| coverage(name, reached))
            .collect(),
            findings,
            findings_left_out,
            trend: trend(runs),
        }
    }
}

fn title(matrix: &Matrix<'_>) -> String {
    let subjects: Vec<String> = matrix.subjects.iter().map(|subject| subject.label()).collect();
    let of = match &subjects[..] {
        [first, _, .., last] => format!("{first} … {last}"),
        _ => subjects.join(", "),
    };
    short(&of)
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
        facts
            .push(("machine", short(&format!("{}, {}, {} threads", machine.os, machine.cpu, machine.cores))));
        facts.push(("command line", short(&manifest.command_line.join(" "))));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn tiles(report: &Report) -> Vec<Tile> {
    let [new, gone, known] = Status::ALL.map(|status| report.count(status));
    let of = |reached: &Reached| format!("of {}", HumanCount(reached.total));
    let left_out: u64 = report.not_compared.values().fold(0, |sum, count| sum.saturating_add(*count));
    vec![
        Tile {
            name: "compared",
            value: HumanCount(report.compared).to_string(),
            note: format!("{} not compared", HumanCount(left_out)),
            tone: "",
        },
        Tile {
            name: "conform",
            value: percent(report.conform, report.compared),
            note: format!("{} deviate", HumanCount(report.compared.saturating_sub(report.conform))),
            tone: "good",
        },
        Tile {
            name: "new",
            value: new.to_string(),
            note: if gone > 0 { format!("and {gone} gone") } else { "nothing listed is gone".to_owned() },
            tone: if new + gone > 0 { "bad" } else { "good" },
        },
        Tile {
            name: "known",
            value: known.to_string(),
            note: "predicted to the byte".to_owned(),
            tone: "note",
        },
        Tile {
            name: "clauses",
            value: HumanCount(report.coverage.clauses.reached).to_string(),
            note: format!("{} reached", of(&report.coverage.clauses)),
            tone: "",
        },
    ]
}

fn subject_view(subject: &Subject) -> SubjectView {
    let (accept, refuse) = (subject.confusion.must_accept, subject.confusion.must_refuse);
    SubjectView {
        id: name(&subject.id),
        label: name(&subject.label()),
        version: name(subject.version.as_deref().unwrap_or("")),
        lineage: short(subject.lineage.as_deref().unwrap_or("")),
        hash: short(subject.sha256.as_deref().unwrap_or("")),
        compared: HumanCount(subject.compared).to_string(),
        conform: HumanCount(subject.conform).to_string(),
        deviate: HumanCount(subject.compared.saturating_sub(subject.conform)).to_string(),
        share: percent(subject.conform, subject.compared),
        accepted_wrongly: HumanCount(refuse.accepted).to_string(),
        refused_wrongly: HumanCount(accept.refused).to_string(),
        died: HumanCount(accept.died.saturating_add(refuse.died)).to_string(),
    }
}

fn lineages(matrix: &Matrix<'_>) -> Vec<(String, usize)> {
    let groups = matrix.subjects.chunk_by(|a, b| a.lineage.is_some() && a.lineage == b.lineage);
    groups.map(|group| (short(group[0].lineage.as_deref().unwrap_or("")), group.len())).collect()
}

fn sections(matrix: &Matrix<'_>, programs: &mut Programs) -> Vec<SectionView> {
    let mut section = |(number, rows): (&str, &[crate::matrix::Row<'_>])| {
        let clauses: Vec<ClauseView> = rows
            .iter()
            .map(|row| ClauseView {
                id: name(row.clause),
                name: name(row.clause.split_once('/').map_or(row.clause, |(_, name)| name)),
                summary: clauses::summary(row.clause).unwrap_or(""),
                cells: (row.cells.iter().take(matrix.subjects.len()))
                    .map(|cell| cell_view(cell, programs))
                    .collect(),
                differs: row.cells.iter().any(|cell| differs(cell.standing) || cell.gone().next().is_some()),
            })
            .collect();
        let heads = matrix.subjects.iter().enumerate().map(|(column, subject)| {
            let standings = || rows.iter().map(|row| row.cells[column].standing);
            let worst = standings().max().unwrap_or(Standing::NotReached);
            let conform = standings().filter(|&standing| standing == Standing::Conforms).count();
            let reached = standings().filter(|&standing| standing != Standing::NotReached).count();
            CellView {
                class: format!("{} h2", class_of(worst)),
                glyph: glyph(worst),
                title: format!("{}: {}", name(&subject.label()), worst.name()),
                note: format!("{conform} of {reached} clauses conform"),
                finding: String::new(),
                findings: 0,
                program: None,
            }
        });
        SectionView {
            number: short(number),
            heading: clauses::heading(number),
            cells: heads.collect(),
            differs: clauses.iter().any(|clause| clause.differs),
            rows: clauses,
        }
    };
    matrix.sections().into_iter().map(&mut section).collect()
}

fn differs(standing: Standing) -> bool {
    !matches!(standing, Standing::Conforms | Standing::NotReached | Standing::Unsupported)
}

fn cell_view(cell: &Cell<'_>, programs: &mut Programs) -> CellView {
    let note = match cell.counts {
        None => String::new(),
        Some(counts) => {
            let parts = [
                ("compared", counts.compared),
                ("conform", counts.conform),
                ("deviate", counts.deviates),
                ("refused though valid", counts.refuses_valid),
                ("accepted though invalid", counts.accepts_invalid),
                ("crashed", counts.crashed),
                ("unsupported", counts.unsupported),
            ];
            let told = parts.into_iter().filter(|(_, count)| *count > 0);
            told.map(|(name, count)| format!("{} {name}", HumanCount(count))).collect::<Vec<_>>().join(", ")
        }
    };
    let heat = match cell.counts {
        Some(counts) if differs(cell.standing) && counts.compared > 0 => {
            let share = counts.compared.saturating_sub(counts.conform) as f64 / counts.compared as f64;
            match share {
                share if share < 0.001 => "h1",
                share if share < 0.01 => "h2",
                share if share < 0.1 => "h3",
                _ => "h4",
            }
        }
        _ => "h3",
    };
    let attention = if cell.needs_attention() { " attention" } else { "" };
    // Findings that say nothing of this clause are not what its colour means.
    let tells = |f: &&&Finding| f.status != Status::Gone && Standing::of_class(&f.class) == cell.standing;
    let telling = cell.findings.iter().filter(|f| differs(cell.standing) && tells(f)).copied();
    let shown: Vec<&Finding> = telling.chain(cell.gone()).collect();
    // That of the finding may be another subject's, and reduced; its own may be shorter, or all that there is.
    let of_finding = shown.first().map_or(usize::MAX, |finding| finding.example().program.len());
    let own = cell.least.filter(|least| least.len() < of_finding);
    CellView {
        class: format!("{} {heat}{attention}", class_of(cell.standing)),
        glyph: glyph(cell.standing),
        title: String::new(),
        note,
        finding: shown.first().map_or_else(String::new, |finding| anchor(&finding.id)),
        findings: shown.len(),
        program: own.and_then(|text| programs.number_of(&program(text))),
    }
}

fn class_of(standing: Standing) -> &'static str {
    match standing {
        Standing::NotReached => "s-none",
        Standing::Conforms => "s-conforms",
        Standing::Unsupported => "s-unsupported",
        Standing::AcceptsInvalid => "s-accepts",
        Standing::RefusesValid => "s-refuses",
        Standing::Deviates => "s-deviates",
        Standing::Crashed => "s-crashed",
    }
}

/// What tells standings apart for who does not see colours.
fn glyph(standing: Standing) -> &'static str {
    match standing {
        Standing::NotReached => "·",
        Standing::Conforms => "✓",
        Standing::Unsupported => "–",
        Standing::AcceptsInvalid => "+",
        Standing::RefusesValid => "∅",
        Standing::Deviates => "≠",
        Standing::Crashed => "✕",
    }
}

/// The findings that fit, and how many do not.
fn findings(report: &Report, limits: Limits) -> (Vec<FindingView>, usize) {
    let mut left = limits.findings;
    let mut shown = Vec::new();
    for finding in &report.findings {
        let view = finding_view(report, finding, limits);
        let Some(rest) = left.checked_sub(view.cost()) else { break };
        left = rest;
        shown.push(view);
    }
    let left_out = report.findings.len() - shown.len();
    (shown, left_out)
}

fn finding_view(report: &Report, finding: &Finding, limits: Limits) -> FindingView {
    let class_of_verdict = |verdict: &str| match verdict {
        "seen" => "s-unsupported",
        "conform" => "s-conforms",
        "unsupported" | "unavailable" | "unmodelled" => "s-unsupported",
        // Of a finding, that it is refused is what its class says of it.
        "refused" => "s-refuses",
        class => class_of(Standing::of_class(class)),
    };
    let interval = |of: &crate::releases::Interval<'_>| {
        let releases = match of.releases {
            1 => of.first.to_owned(),
            _ => format!("{}–{}", of.first, of.last),
        };
        // A command line has no releases, and is a name by itself.
        let named = match of.family.contains(':') {
            true => of.family.to_owned(),
            false => format!("{} {releases}", of.family),
        };
        (name(&named), name(of.verdict), class_of_verdict(of.verdict))
    };
    let gone = finding.status == Status::Gone;
    // Where nobody asked every release, those of the campaign tell.
    let releases = match finding.releases.is_empty() {
        true => seen_in(report, finding, limits),
        false => finding.releases.clone(),
    };
    FindingView {
        id: short(&finding.id),
        anchor: anchor(&finding.id),
        status: finding.status.name(),
        class: short(&finding.class),
        title: short(&finding.title),
        count: HumanCount(finding.count).to_string(),
        subjects: finding.subjects.iter().take(limits.subjects).map(|id| name(id)).collect(),
        clauses: (clauses::telling(&finding.clauses).0.into_iter().take(12))
            .map(|id| (name(id), clauses::summary(id).unwrap_or("")))
            .collect(),
        intervals: intervals(&releases)
            .iter()
            .filter(|of| !of.verdict.is_empty())
            .take(100)
            .map(interval)
            .collect(),
        program: program(finding.example().program),
        other: finding.other_program().map(|(relation, other)| (relation, program(other))),
        expected: text(&describe::expected(finding)),
        observed: if gone {
            "the listed deviation no longer shows".to_owned()
        } else {
            text(&describe::observed(finding))
        },
        example: finding.subjects.first().map_or_else(String::new, |id| short(&report.named(id))),
        bytes: bytes(finding),
        repeat: line(&finding.repeat).chars().take(4_000).collect(),
        file: short(finding.file.as_deref().unwrap_or("")),
        first_seen: short(finding.first_seen.as_deref().unwrap_or("")),
        // Nothing else is followed by a click.
        link: short(finding.link.as_deref().filter(|link| link.starts_with("https://")).unwrap_or("")),
        edit: program(finding.edit.as_deref().unwrap_or("")),
    }
}

/// The subjects of the campaign as releases, with an empty verdict for those that do not show the finding.
fn seen_in(report: &Report, finding: &Finding, limits: Limits) -> Vec<ReleaseVerdict> {
    let verdict = |subject: &Subject| ReleaseVerdict {
        subject: subject.id.clone(),
        version: subject.version.clone().unwrap_or_default(),
        verdict: if finding.subjects.contains(&subject.id) { "seen".to_owned() } else { String::new() },
    };
    report.subjects.iter().take(limits.subjects).map(verdict).collect()
}

impl FindingView {
    /// About how many bytes it takes in the page.
    fn cost(&self) -> usize {
        let texts = [&self.program, &self.expected, &self.observed, &self.edit, &self.title, &self.id];
        let texts: usize = texts.into_iter().map(|text| escaped_length(text)).sum();
        let texts = texts + self.other.as_ref().map_or(0, |(_, text)| escaped_length(text));
        // The command stands there twice, for who reads it and for who copies it.
        let repeat = 2 * escaped_length(&self.repeat);
        let clauses: usize = self.clauses.iter().map(|(id, summary)| 60 + id.len() + summary.len()).sum();
        let subjects: usize = self.subjects.iter().map(|id| 2 * escaped_length(id) + 40).sum();
        3_000 + texts + repeat + clauses + subjects + 600 * self.bytes.rows.len() + 120 * self.intervals.len()
    }
}

/// The length of a text after the template has escaped it.
fn escaped_length(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '<' | '>' | '&' | '"' | '\'') { 5 } else { c.len_utf8() }).sum()
}

fn questions(report: &Report, matrix: &Matrix<'_>) -> Vec<QuestionView> {
    let cell = |followed: &Vec<atlas::Followed<'_>>| {
        let class = match followed[..] {
            [] => "a-none",
            [ref only] if only.is_default => "a-default",
            [_] => "a-other",
            // Two answers to one question are no reading at all.
            _ => "a-mixed",
        };
        let text = |f: &atlas::Followed<'_>| (name(f.answer), HumanCount(f.count).to_string());
        (class, followed.iter().take(4).map(text).collect())
    };
    let row = |row: atlas::Row<'_>| QuestionView {
        name: name(row.question),
        clauses: row.clauses.to_vec(),
        cells: row.cells.iter().map(cell).collect(),
        answers: row.answers,
    };
    atlas::atlas(report, &matrix.subjects).into_iter().take(MOST_QUESTIONS).map(row).collect()
}

fn coverage(part: &'static str, reached: &Reached) -> CoverageView {
    CoverageView {
        name: part,
        reached: HumanCount(reached.reached).to_string(),
        total: HumanCount(reached.total).to_string(),
        percent: format!("{:.1}", 100.0 * reached.reached as f64 / reached.total.max(1) as f64),
        missing: reached.missing.iter().flatten().take(MOST_LISTED).map(|id| name(id)).collect(),
    }
}

/// What an id is called in the page: letters, digits, `-` and `_` only, so that it is one name wherever it stands.
fn anchor(id: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' { c.to_string() } else { format!("_{:x}", c as u32) }
    };
    let name: String = id.chars().map(safe).collect();
    match name.len() {
        0..=80 => format!("f-{name}"),
        _ => format!("f-{}", &format!("{:x}", Sha256::digest(id))[..24]),
    }
}

fn percent(part: u64, all: u64) -> String {
    if all == 0 {
        return "–".to_owned();
    }
    // Rounded down: nothing that deviates is all that conforms.
    let share = (part as f64 * 10_000.0 / all as f64).floor() / 100.0;
    format!("{share:.2} %")
}

fn name(text: &str) -> String {
    cut(&line(text), MOST_OF_NAME)
}

fn short(text: &str) -> String {
    cut(&line(text), MOST_CHARACTERS)
}

fn text(of: &[String]) -> String {
    cut(&of.join("\n"), MOST_PROGRAM)
}

fn program(text: &str) -> String {
    let text = lines(text);
    let cut = cut(&text, MOST_PROGRAM);
    if cut.len() < text.len() { format!("{cut}\n(cut: the report has all of it)") } else { cut }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_one_plain_name_and_differs_where_ids_do() {
        assert_eq!(anchor("crash-1"), "f-crash-1");
        assert_eq!(anchor("a b\"<"), "f-a_20b_22_3c");
        assert_ne!(anchor("a_20b"), anchor("a b"));
    }

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!(percent(999_999, 1_000_000), "99.99 %");
        assert_eq!((percent(3, 3), percent(0, 0)), ("100.00 %".to_owned(), "–".to_owned()));
    }
}
