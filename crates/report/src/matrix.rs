//! The standing of every subject with respect to every clause.

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
    pub const LEGEND: [(Standing, &'static str, &'static str, &'static str); 7] = [
        (Standing::Conforms, "conforms", "s-conforms", "✓"),
        (Standing::Deviates, "deviates", "s-deviates", "≠"),
        (Standing::RefusesValid, "refuses valid", "s-refuses", "∅"),
        (Standing::AcceptsInvalid, "accepts invalid", "s-accepts", "+"),
        (Standing::Crashed, "crashed", "s-crashed", "✕"),
        (Standing::Unsupported, "unsupported", "s-unsupported", "–"),
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
        !matches!(self, Standing::Conforms | Standing::NotReached | Standing::Unsupported)
    }

    fn of_counts(counts: &ClauseCounts) -> Standing {
        let worst = [
            (counts.crashed, Standing::Crashed),
            (counts.deviates, Standing::Deviates),
            (counts.refuses_valid, Standing::RefusesValid),
            (counts.accepts_invalid, Standing::AcceptsInvalid),
        ];
        match worst.into_iter().find(|(count, _)| *count > 0) {
            Some((_, standing)) => standing,
            None if counts.compared > 0 => Standing::Conforms,
            None if counts.unsupported > 0 => Standing::Unsupported,
            None => Standing::NotReached,
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
    /// The subject's own minimized reproducer that shows the standing, if one was kept.
    pub reproducer: Option<&'a str>,
}

impl<'a> MatrixCell<'a> {
    fn new(subject: &SubjectResults, clause: &str) -> MatrixCell<'a> {
        let counts = subject.clauses.get(clause).copied();
        let standing = counts.map_or(Standing::NotReached, |counts| Standing::of_counts(&counts));
        MatrixCell { standing, counts, findings: Vec::new(), reproducer: None }
    }

    fn add(&mut self, named: &ClauseFinding<'a>) {
        // A deviation that is gone no longer occurs.
        if named.is_informative && named.finding.status != Status::Gone {
            self.standing = self.standing.max(Standing::of_class(named.finding.class));
        }
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(named.finding);
        }
    }

    /// Returns the listed deviations that no longer occur.
    pub fn gone_findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().copied().filter(|finding| finding.status == Status::Gone)
    }

    /// Returns the findings with a class that implies the standing of the cell. Findings of other classes do
    /// not explain it.
    pub fn explaining_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let current = self.findings.iter().copied().filter(|finding| finding.status != Status::Gone);
        current.filter(|finding| Standing::of_class(finding.class) == self.standing)
    }

    /// Whether any finding needs attention.
    pub fn needs_attention(&self) -> bool {
        self.findings.iter().any(|finding| finding.needs_attention())
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
        let findings = by_clause(report, &columns);
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
                for &column in &*named.columns {
                    cells[column].add(named);
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
    /// The columns of the subjects that show it.
    columns: Rc<[usize]>,
    /// Whether the clause is informative for the finding; see [`clauses::informative_first`].
    is_informative: bool,
}

/// Returns the findings that name each clause, those with the shortest reproducers first.
fn by_clause<'a>(
    report: &'a Report,
    columns: &BTreeMap<&str, usize>,
) -> BTreeMap<&'a str, Vec<ClauseFinding<'a>>> {
    let mut clauses: BTreeMap<&str, Vec<ClauseFinding<'_>>> = BTreeMap::new();
    for finding in &report.findings {
        let subjects = finding.subjects.iter().take(MOST_SUBJECTS);
        let columns: Rc<[usize]> = subjects.filter_map(|id| columns.get(&**id).copied()).collect();
        let (ids, informative) = clauses::informative_first(&finding.clauses);
        for (index, id) in ids.into_iter().enumerate() {
            let columns = Rc::clone(&columns);
            clauses.entry(id).or_default().push(ClauseFinding {
                finding,
                columns,
                is_informative: index < informative,
            });
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
        use Standing::{AcceptsInvalid, Crashed, NotReached, Unsupported};
        assert_eq!(standings("4.5.5/division"), [NotReached, Crashed, AcceptsInvalid, NotReached]);
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
        assert_eq!(reproducers, [None, None, Some("taken"), None]);
        assert_eq!(matrix.rows.last().unwrap().clause, "9.9/later");
        assert_eq!(matrix.sections()[0].0, "4.5");
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
