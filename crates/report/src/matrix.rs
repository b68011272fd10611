//! The standing of every subject with respect to every clause.

use indicatif::HumanCount;
use ptxsmith_model::Class;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ptxsmith_oracle::Clause;

use crate::cases::CaseStandings;
use crate::releases::{family, version_of};
use crate::{ClauseCounts, Finding, Report, Status, SubjectResults, clauses};

/// Limits that only a manipulated report exceeds.
const MOST_CLAUSES: usize = 2_000;
const MOST_SUBJECTS: usize = 256;
/// The maximum number of findings of a cell.
const MOST_FINDINGS: usize = 50;

/// The standing of a subject with respect to a clause, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// No verdict is based on the clause.
    NotReached,
    /// All programs that use the clause differ, but whether because of the clause is not known.
    Unclear,
    /// The subject follows the clause.
    Conforms,
    /// The subject reports that it does not support this.
    Unsupported,
    /// The subject accepts a program that is invalid because of the clause.
    AcceptsInvalid,
    /// The subject rejects a program that the clause allows.
    RefusesValid,
    /// The subject gives other values or another layout.
    Deviates,
    /// The subject crashes, or gives no result.
    Crashed,
}

impl Standing {
    /// All standings in the order of the legend: the name for people, the CSS class, and a sign for people
    /// who do not see colours.
    pub const LEGEND: [(Standing, &'static str, &'static str, &'static str); 8] = [
        (Standing::Conforms, "conforms", "s-conforms", "✓"),
        (Standing::Deviates, "deviates", "s-deviates", "≠"),
        (Standing::RefusesValid, "refuses valid", "s-refuses", "∅"),
        (Standing::AcceptsInvalid, "accepts invalid", "s-accepts", "+"),
        (Standing::Crashed, "crashed", "s-crashed", "✕"),
        (Standing::Unsupported, "unsupported", "s-unsupported", "–"),
        (Standing::Unclear, "unclear", "s-none", "?"),
        (Standing::NotReached, "not reached", "s-none", "·"),
    ];

    fn entry(self) -> (Standing, &'static str, &'static str, &'static str) {
        let [.., last] = Self::LEGEND;
        Self::LEGEND.into_iter().find(|entry| entry.0 == self).unwrap_or(last)
    }

    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Returns the CSS class of an element that shows the standing.
    pub fn style(self) -> &'static str {
        self.entry().2
    }

    /// Returns the sign that identifies the standing without colour.
    pub fn sign(self) -> &'static str {
        self.entry().3
    }

    /// Returns the letter that represents the standing in files.
    pub fn letter(self) -> char {
        match self {
            Standing::Conforms => 'c',
            Standing::Deviates => 'd',
            Standing::RefusesValid => 'r',
            Standing::AcceptsInvalid => 'a',
            Standing::Crashed => 'x',
            Standing::Unsupported => 'u',
            Standing::Unclear => 'q',
            Standing::NotReached => 'n',
        }
    }

    /// Returns the standing that a letter represents, or `None` for an unknown letter.
    pub fn from_letter(letter: char) -> Option<Standing> {
        Self::LEGEND.into_iter().map(|entry| entry.0).find(|standing| standing.letter() == letter)
    }

    /// Returns the standing that a finding of this class implies for the clauses that it names.
    pub fn of_class(class: Class) -> Standing {
        match class {
            Class::Crash | Class::Hang => Standing::Crashed,
            Class::AcceptsInvalid => Standing::AcceptsInvalid,
            Class::RefusesValid => Standing::RefusesValid,
            _ => Standing::Deviates,
        }
    }

    /// Whether the subject was seen to deviate.
    pub fn differs(self) -> bool {
        !matches!(self, Standing::Conforms | Standing::NotReached | Standing::Unclear | Standing::Unsupported)
    }

    /// Returns the standing where no finding names the clause. Programs that use it may differ for the sake of
    /// another one.
    fn of_counts(counts: &ClauseCounts) -> Standing {
        match counts {
            ClauseCounts { conform: 1.., .. } => Standing::Conforms,
            ClauseCounts { compared: 1.., .. } => Standing::Unclear,
            ClauseCounts { unsupported: 1.., .. } => Standing::Unsupported,
            _ => Standing::NotReached,
        }
    }
}

impl CaseStandings {
    /// Returns the standing of the subject with this index in the report, or [`Standing::NotReached`] if the
    /// report has none.
    pub fn standing(&self, subject: usize) -> Standing {
        self.standings.chars().nth(subject).and_then(Standing::from_letter).unwrap_or(Standing::NotReached)
    }
}

/// The cell for a subject and a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixCell<'a> {
    /// The standing.
    pub standing: Standing,
    /// The number of verdicts behind the standing, if they were counted.
    pub counts: Option<ClauseCounts>,
    /// The findings that name the clause, the one with the shortest reproducer first.
    pub findings: Vec<&'a Finding>,
    /// Those of the findings that mark the cell.
    marking: Vec<&'a Finding>,
    /// The subject's own minimized reproducer that shows the standing, if one was kept.
    pub reproducer: Option<&'a str>,
}

impl<'a> MatrixCell<'a> {
    fn new(subject: &SubjectResults, clause: &str) -> MatrixCell<'a> {
        let counts = subject.clauses.get(clause).copied();
        let standing = counts.map_or(Standing::NotReached, |counts| Standing::of_counts(&counts));
        MatrixCell { standing, counts, findings: Vec::new(), marking: Vec::new(), reproducer: None }
    }

    fn add(&mut self, named: &ClauseFinding<'a>, is_marked: bool) {
        // A deviation that is gone no longer occurs.
        if is_marked && named.finding.status != Status::Gone {
            self.standing = self.standing.max(Standing::of_class(named.finding.class));
        }
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(named.finding);
            self.marking.extend(is_marked.then_some(named.finding));
        }
    }

    /// Returns the listed deviations that no longer occur.
    pub fn gone_findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().copied().filter(|finding| finding.status == Status::Gone)
    }

    /// Returns the findings that mark the cell with a class that implies its standing.
    pub fn explaining_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let current = self.marking.iter().copied().filter(|finding| finding.status != Status::Gone);
        current.filter(|finding| Standing::of_class(finding.class) == self.standing)
    }

    /// Whether any finding that implies the standing needs attention, or one no longer occurs.
    pub fn needs_attention(&self) -> bool {
        self.explaining_findings().chain(self.gone_findings()).any(Finding::needs_attention)
    }

    /// Returns the CSS classes of the standing. What is new is outlined.
    pub fn style(&self) -> String {
        let attention = if self.needs_attention() { " attention" } else { "" };
        format!("{}{attention}", self.standing.style())
    }

    /// Returns the name of the standing, with the share of the programs that show it if others conform.
    pub fn label(&self) -> String {
        match self.counts {
            Some(counts @ ClauseCounts { compared, conform: 1.., .. }) if self.standing.differs() => {
                let showing = match self.standing {
                    Standing::AcceptsInvalid => counts.accepts_invalid,
                    Standing::RefusesValid => counts.refuses_valid,
                    Standing::Deviates => counts.deviates,
                    Standing::Crashed => counts.crashed,
                    _ => compared.saturating_sub(counts.conform),
                };
                format!("{} in {} of {}", self.standing.name(), HumanCount(showing), HumanCount(compared))
            }
            _ => self.standing.name().to_owned(),
        }
    }
}

/// The row for a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixRow<'a> {
    /// The name of the clause.
    pub clause: &'a str,
    /// One cell for each subject, in the order of [`Matrix::subjects`].
    pub cells: Vec<MatrixCell<'a>>,
}

/// A table of clauses and subjects.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<'a> {
    /// The subjects, grouped by lineage.
    pub subjects: Vec<&'a SubjectResults>,
    /// The rows of clauses, in the order of the manual.
    pub rows: Vec<MatrixRow<'a>>,
}

impl<'a> Matrix<'a> {
    /// Builds the matrix of a report. It has a row for every clause that data can show, and for every other
    /// clause in the report.
    ///
    /// A clause without counted verdicts conforms nowhere; its standing comes from the findings that name it.
    pub fn new(report: &'a Report) -> Matrix<'a> {
        let subjects = by_lineage(report);
        let columns: BTreeMap<&str, usize> =
            subjects.iter().enumerate().map(|(column, subject)| (&*subject.id, column)).collect();
        let findings = by_clause(report, &columns, &subjects);
        let known = Clause::ALL.iter().filter(|clause| clause.observed().by_data()).map(|clause| clause.id());
        let counted = report.subjects.iter().flat_map(|subject| subject.clauses.keys()).map(String::as_str);
        let ids: BTreeSet<&str> = known.chain(counted).chain(findings.keys().copied()).collect();
        let mut ids: Vec<&str> = ids.into_iter().collect();
        ids.sort_by_key(|id| clauses::order(id));
        ids.truncate(MOST_CLAUSES);
        let mut rows = Vec::new();
        for clause in ids {
            let cells = subjects.iter().map(|subject| MatrixCell::new(subject, clause));
            let mut cells: Vec<MatrixCell<'a>> = cells.collect();
            for named in findings.get(clause).into_iter().flatten() {
                for (column, marked) in &*named.columns {
                    cells[*column].add(named, marked.contains(&clause));
                }
            }
            for (cell, subject) in cells.iter_mut().zip(&subjects) {
                cell.reproducer = reproducer(subject, clause, cell.standing);
            }
            rows.push(MatrixRow { clause, cells });
        }
        Matrix { subjects, rows }
    }

    /// Groups the rows by section of the manual.
    pub fn sections(&self) -> Vec<(&str, &[MatrixRow<'a>])> {
        let sections = self.rows.chunk_by(|a, b| clauses::section(a.clause) == clauses::section(b.clause));
        sections.map(|rows| (clauses::section(rows[0].clause), rows)).collect()
    }
}

/// Returns the shortest reproducer of a subject that shows this standing for a clause.
fn reproducer<'a>(subject: &'a SubjectResults, clause: &str, standing: Standing) -> Option<&'a str> {
    let reproducers = subject.reproducers.get(clause)?.iter();
    let programs = reproducers.filter(|(class, _)| Standing::of_class(**class) == standing);
    programs.map(|(_, program)| &**program).min_by_key(|program| (program.len(), *program))
}

/// Sorts the subjects by lineage, then by program, then from the oldest release to the newest. Lineages and
/// programs are in the order of the command line.
fn by_lineage(report: &Report) -> Vec<&SubjectResults> {
    let mut lineages: BTreeMap<&str, usize> = BTreeMap::new();
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    let mut keyed_subjects = Vec::new();
    for (index, subject) in report.subjects.iter().enumerate() {
        let version = subject.version.as_deref().unwrap_or("");
        let lineage = match &subject.lineage {
            Some(lineage) => *lineages.entry(lineage).or_insert(index),
            None => index,
        };
        let family = *families.entry(family(&subject.id)).or_insert(index);
        keyed_subjects.push(((lineage, family, version_of(&subject.id, version)), subject));
    }
    keyed_subjects.sort_by(|a, b| a.0.cmp(&b.0));
    keyed_subjects.into_iter().map(|(_, subject)| subject).take(MOST_SUBJECTS).collect()
}

/// A finding that names a clause.
struct ClauseFinding<'a> {
    finding: &'a Finding,
    /// The columns of the subjects that show it, each with the clauses that it marks there.
    columns: Rc<[(usize, Vec<&'a str>)]>,
}

/// The maximum number of clauses that a finding marks for a subject. A program that nothing explains uses many,
/// and breaks one of them.
const MOST_MARKED: usize = 3;
/// A finding with more clauses than this marks none: each of them would be looked up for each subject.
const MOST_CONSIDERED: usize = 64;

/// Returns the clauses that a finding marks for a subject, of those that are informative for it (see
/// [`clauses::informative_first`]): all if they are few, otherwise those with the most seldom conforming programs.
fn marked<'a>(informative: &[&'a str], subject: &SubjectResults) -> Vec<&'a str> {
    if informative.len() <= MOST_MARKED {
        return informative.to_vec();
    }
    if informative.len() > MOST_CONSIDERED {
        return Vec::new();
    }
    let shares = informative.iter().filter_map(|&id| Some((id, share_conforming(subject, id)?)));
    let shares: Vec<(&str, f64)> = shares.collect();
    let least = shares.iter().map(|(_, share)| *share).fold(f64::INFINITY, f64::min);
    let marked: Vec<&str> =
        shares.into_iter().filter(|(_, share)| *share <= least).map(|(id, _)| id).collect();
    if marked.len() <= MOST_MARKED { marked } else { Vec::new() }
}

/// Returns the share of the programs that use a clause for which the subject conforms; `None` if there are none.
fn share_conforming(subject: &SubjectResults, clause: &str) -> Option<f64> {
    let counts = subject.clauses.get(clause).filter(|counts| counts.compared > 0)?;
    Some(counts.conform as f64 / counts.compared as f64)
}

/// Returns the findings that name each clause, those with the shortest reproducers first.
fn by_clause<'a>(
    report: &'a Report,
    columns: &BTreeMap<&str, usize>,
    subjects: &[&SubjectResults],
) -> BTreeMap<&'a str, Vec<ClauseFinding<'a>>> {
    let mut clauses: BTreeMap<&str, Vec<ClauseFinding<'_>>> = BTreeMap::new();
    for finding in &report.findings {
        let (ids, informative) = clauses::informative_first(&finding.clauses);
        let shown = finding.subjects.iter().take(MOST_SUBJECTS);
        let columns = shown.filter_map(|id| columns.get(&**id).copied());
        let columns = columns.map(|column| (column, marked(&ids[..informative], subjects[column])));
        let columns: Rc<[(usize, Vec<&str>)]> = columns.collect();
        for id in ids {
            let columns = Rc::clone(&columns);
            clauses.entry(id).or_default().push(ClauseFinding { finding, columns });
        }
    }
    for findings in clauses.values_mut() {
        findings.sort_by_key(|named| (named.finding.least_program().len(), &named.finding.id));
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        serde_json::from_str(
            r#"{"schema": "ptxsmith.report/1", "compared": 2, "conform": 1,
                "subjects": [
                    {"id": "a@1.10", "lineage": "a", "compared": 1}, {"id": "b1", "lineage": "b", "compared": 1,
                     "clauses": {"4.5.5/division": {"compared": 3, "conform": 2, "accepts_invalid": 1},
                                 "9.9/later": {"unsupported": 1}},
                     "least": {"4.5.5/division": {"accepts-invalid": "taken", "refuses-valid": "no"}}},
                    {"id": "a@1.9", "lineage": "a"}, {"id": "none", "compared": 1}],
                "findings": [
                    {"id": "x", "status": "new", "class": "crash", "title": "", "subjects": ["a@1.10"],
                     "program": "long program", "clauses": ["4.5/initializer", "4.5.5/division"]},
                    {"id": "y", "status": "known", "class": "wrong-value", "title": "", "subjects": ["a@1.10"],
                     "program": "short", "clauses": ["4.5.5/division"]},
                    {"id": "z", "status": "gone", "class": "wrong-value", "title": "", "subjects": ["a@1.10"],
                     "program": "short", "clauses": ["4.5.5/shift-left"]}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn subjects_are_grouped_by_lineage_with_the_oldest_release_first() {
        let report = report();
        let ids: Vec<&str> = Matrix::new(&report).subjects.iter().map(|subject| &*subject.id).collect();
        assert_eq!(ids, ["a@1.9", "a@1.10", "b1", "none"]);
    }

    #[test]
    fn a_cell_has_the_worst_standing_and_the_shortest_reproducer_first() {
        let report = report();
        let matrix = Matrix::new(&report);
        let row = |clause: &str| matrix.rows.iter().find(|row| row.clause == clause).unwrap();
        let standings = |clause| row(clause).cells.iter().map(|cell| cell.standing).collect::<Vec<_>>();
        use Standing::{Conforms, Crashed, NotReached, Unsupported};
        assert_eq!(standings("4.5.5/division"), [NotReached, Crashed, Conforms, NotReached]);
        // Every initialized variable is based on this clause, so a crash on division says nothing about it.
        assert_eq!(standings("4.5/initializer"), [NotReached; 4]);
        assert_eq!(standings("9.9/later")[2], Unsupported);
        // A deviation that is gone no longer occurs but needs attention.
        assert_eq!(standings("4.5.5/shift-left")[1], NotReached);
        let gone = &row("4.5.5/shift-left").cells[1];
        assert!(gone.needs_attention() && gone.gone_findings().count() == 1);
        let ids: Vec<&str> = row("4.5.5/division").cells[1].findings.iter().map(|f| &*f.id).collect();
        assert_eq!(ids, ["y", "x"]);
        // Each cell shows the subject's own minimized reproducer of the kind that its colour represents.
        let reproducers: Vec<_> = row("4.5.5/division").cells.iter().map(|cell| cell.reproducer).collect();
        assert_eq!(reproducers, [None; 4]);
        assert_eq!(matrix.rows.last().unwrap().clause, "9.9/later");
        assert_eq!(matrix.sections()[0].0, "4.5");
    }

    /// A crash of one expression breaks one of the clauses that it uses.
    #[test]
    fn a_finding_that_nothing_explains_marks_the_clauses_that_hardly_any_program_passes() {
        let counts = |compared: u64, conform: u64| {
            let crashed = compared - conform;
            format!(r#"{{"compared": {compared}, "conform": {conform}, "crashed": {crashed}}}"#)
        };
        let ids =
            ["4.5.5/addition", "4.5.5/division", "4.5.5/shift-left", "4.5.5/bitwise-or", "4.5.4/precedence"];
        let marked = |of: [(u64, u64); 5]| {
            let counted =
                ids.iter().zip(of).map(|(id, (all, right))| format!("\"{id}\": {}", counts(all, right)));
            let report: Report = serde_json::from_str(&format!(
                r#"{{"schema": "ptxsmith.report/1", "compared": 2, "conform": 1,
                    "subjects": [{{"id": "a", "compared": 1, "clauses": {{ {} }}}}],
                    "findings": [{{"id": "x", "status": "new", "class": "crash", "title": "", "subjects": ["a"],
                        "program": "p", "clauses": {ids:?}}}]}}"#,
                counted.collect::<Vec<_>>().join(", ")
            ))
            .unwrap();
            let matrix = Matrix::new(&report);
            let cell = |id: &&str| matrix.rows.iter().find(|row| row.clause == *id).unwrap().cells[0].clone();
            ids.iter().map(cell).map(|cell| cell.label()).collect::<Vec<_>>()
        };
        assert_eq!(
            marked([(103, 101), (62, 1), (90, 80), (10, 9), (1, 1)]),
            ["conforms", "crashed in 61 of 62", "conforms", "conforms", "conforms"]
        );
        // Of one program it is not known which.
        assert_eq!(marked([(1, 0); 5]), ["unclear"; 5]);
    }

    #[test]
    fn each_standing_has_a_letter_and_a_missing_or_unknown_letter_is_not_reached() {
        for (standing, ..) in Standing::LEGEND {
            assert_eq!(Standing::from_letter(standing.letter()), Some(standing));
        }
        let case = CaseStandings { standings: "cx?".into(), ..CaseStandings::default() };
        let standings: Vec<Standing> = (0..4).map(|subject| case.standing(subject)).collect();
        use Standing::{Conforms, Crashed, NotReached};
        assert_eq!(standings, [Conforms, Crashed, NotReached, NotReached]);
    }
}
