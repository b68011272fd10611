//! The standing of every subject with respect to every clause.

use ptxsmith_model::Class;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ptxsmith_oracle::Clause;

use crate::cases::Case;
use crate::releases::{family, version_of};
use crate::{ClauseCounts, Finding, Report, Status, Subject, clauses};

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
    /// All standings in the order of the legend: the name for people, the CSS class, and a sign for people who do not see colours.
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

impl Case {
    /// Returns the standing of the subject with this index in the report, or [`Standing::NotReached`] if the report has none.
    pub fn standing(&self, nth: usize) -> Standing {
        self.standings.chars().nth(nth).and_then(Standing::from_letter).unwrap_or(Standing::NotReached)
    }
}

/// The cell for a subject and a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<'a> {
    /// The standing.
    pub standing: Standing,
    /// The number of verdicts behind the standing, if they were counted.
    pub counts: Option<ClauseCounts>,
    /// The findings that name the clause, the one with the shortest reproducer first.
    pub findings: Vec<&'a Finding>,
    /// The subject's own minimized reproducer that shows the standing, if one was kept.
    pub least: Option<&'a str>,
}

impl<'a> Cell<'a> {
    /// Returns the listed deviations that no longer occur.
    pub fn gone(&self) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().copied().filter(|finding| finding.status == Status::Gone)
    }

    /// Whether any finding needs attention.
    pub fn needs_attention(&self) -> bool {
        self.findings.iter().any(|finding| finding.needs_attention())
    }
}

/// The row for a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The name of the clause.
    pub clause: &'a str,
    /// One cell for each subject, in the order of [`Matrix::subjects`].
    pub cells: Vec<Cell<'a>>,
}

/// A table of clauses and subjects.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<'a> {
    /// The subjects, grouped by lineage.
    pub subjects: Vec<&'a Subject>,
    /// The rows of clauses, in the order of the manual.
    pub rows: Vec<Row<'a>>,
}

impl<'a> Matrix<'a> {
    /// Builds the matrix of a report. It has a row for every clause that data can show, and for every other clause in the report.
    ///
    /// A clause without counted verdicts conforms nowhere; its standing comes from the findings that name it.
    pub fn of(report: &'a Report) -> Matrix<'a> {
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
        let row = |clause: &'a str| {
            let unseen = |subject: &&'a Subject| {
                let counts = subject.clauses.get(clause).copied();
                let standing = counts.map_or(Standing::NotReached, |counts| Standing::of_counts(&counts));
                Cell { standing, counts, findings: Vec::new(), least: None }
            };
            let mut cells: Vec<Cell<'a>> = subjects.iter().map(unseen).collect();
            for named in findings.get(clause).into_iter().flatten() {
                for column in &*named.columns {
                    let cell = &mut cells[*column];
                    // A deviation that is gone no longer occurs.
                    if named.tells && named.finding.status != Status::Gone {
                        cell.standing = cell.standing.max(Standing::of_class(named.finding.class));
                    }
                    if cell.findings.len() < MOST_FINDINGS {
                        cell.findings.push(named.finding);
                    }
                }
            }
            for (cell, subject) in cells.iter_mut().zip(&subjects) {
                cell.least = least(subject, clause, cell.standing);
            }
            Row { clause, cells }
        };
        let rows = ids.into_iter().map(row).collect();
        Matrix { subjects, rows }
    }

    /// Groups the rows by section of the manual.
    pub fn sections(&self) -> Vec<(&str, &[Row<'a>])> {
        let sections = self.rows.chunk_by(|a, b| clauses::section(a.clause) == clauses::section(b.clause));
        sections.map(|rows| (clauses::section(rows[0].clause), rows)).collect()
    }
}

/// Returns the shortest reproducer of a subject that shows this standing for a clause.
fn least<'a>(subject: &'a Subject, clause: &str, standing: Standing) -> Option<&'a str> {
    let kept = subject.least.get(clause)?.iter();
    let shows =
        kept.filter(|(class, _)| Standing::of_class(**class) == standing).map(|(_, program)| &**program);
    shows.min_by_key(|program| (program.len(), *program))
}

/// Sorts the subjects by lineage, then by program, then from the oldest release to the newest. Lineages and programs are in the order of
/// the command line.
fn by_lineage(report: &Report) -> Vec<&Subject> {
    let mut lineages: BTreeMap<&str, usize> = BTreeMap::new();
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    let mut subjects: Vec<_> = (report.subjects.iter().enumerate())
        .map(|(place, subject)| {
            let version = subject.version.as_deref().unwrap_or("");
            let lineage = match &subject.lineage {
                Some(lineage) => *lineages.entry(lineage).or_insert(place),
                None => place,
            };
            let family = *families.entry(family(&subject.id)).or_insert(place);
            ((lineage, family, version_of(&subject.id, version)), subject)
        })
        .collect();
    subjects.sort_by(|a, b| a.0.cmp(&b.0));
    subjects.into_iter().map(|(_, subject)| subject).take(MOST_SUBJECTS).collect()
}

/// A finding that names a clause.
struct Named<'a> {
    finding: &'a Finding,
    /// The columns of the subjects that show it.
    columns: Rc<[usize]>,
    /// Whether the clause is informative for the finding.
    tells: bool,
}

/// Returns the findings that name each clause, those with the shortest reproducers first.
fn by_clause<'a>(report: &'a Report, columns: &BTreeMap<&str, usize>) -> BTreeMap<&'a str, Vec<Named<'a>>> {
    let mut clauses: BTreeMap<&str, Vec<Named<'_>>> = BTreeMap::new();
    for finding in &report.findings {
        let shown = finding.subjects.iter().take(MOST_SUBJECTS);
        let columns: Rc<[usize]> = shown.filter_map(|id| columns.get(&**id).copied()).collect();
        let (ids, telling) = clauses::telling(&finding.clauses);
        for (nth, id) in ids.into_iter().enumerate() {
            let named = Named { finding, columns: Rc::clone(&columns), tells: nth < telling };
            clauses.entry(id).or_default().push(named);
        }
    }
    for named in clauses.values_mut() {
        named.sort_by_key(|named| (named.finding.least_program().len(), &named.finding.id));
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
    fn subjects_of_one_lineage_stand_together_the_oldest_release_first() {
        let report = report();
        let ids: Vec<&str> = Matrix::of(&report).subjects.iter().map(|subject| &*subject.id).collect();
        assert_eq!(ids, ["a@1.9", "a@1.10", "b1", "none"]);
    }

    #[test]
    fn the_worst_standing_shows_and_the_least_program_comes_first() {
        let report = report();
        let matrix = Matrix::of(&report);
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
        assert!(gone.needs_attention() && gone.gone().count() == 1);
        let ids: Vec<&str> = row("4.5.5/division").cells[1].findings.iter().map(|f| &*f.id).collect();
        assert_eq!(ids, ["y", "x"]);
        // Each cell shows the subject's own minimized reproducer of the kind that its colour represents.
        let least: Vec<_> = row("4.5.5/division").cells.iter().map(|cell| cell.least).collect();
        assert_eq!(least, [None, None, Some("taken"), None]);
        assert_eq!(matrix.rows.last().unwrap().clause, "9.9/later");
        assert_eq!(matrix.sections()[0].0, "4.5");
    }

    #[test]
    fn a_letter_is_a_standing_and_what_is_missing_or_unknown_was_not_reached() {
        for (standing, ..) in Standing::LEGEND {
            assert_eq!(Standing::from_letter(standing.letter()), Some(standing));
        }
        let case = Case { standings: "cx?".into(), ..Case::default() };
        let standings: Vec<Standing> = (0..4).map(|nth| case.standing(nth)).collect();
        use Standing::{Conforms, Crashed, NotReached};
        assert_eq!(standings, [Conforms, Crashed, NotReached, NotReached]);
    }
}
