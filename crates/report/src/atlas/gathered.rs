//! Merges several campaigns into one report, so that an atlas can contain implementations that were tested on different machines.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cases::Case;
use crate::folder::Folder;
use crate::matrix::Standing;
use crate::{Finding, Report, Subject};

/// The reason why campaigns cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Two implementations have the same name.
    #[error(
        "two campaigns tested different programs as `{0}`; test them again with one, or leave one campaign out"
    )]
    Subject(String),
    /// Two programs have the same name.
    #[error("two campaigns hold different programs of the name `{0}`; take the cases of one suite")]
    Case(String),
}

/// The provenance of a part of an atlas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Campaign {
    /// The time of the start: RFC 3339, UTC; empty if unknown.
    pub started: String,
    /// The command, as given.
    pub command: String,
    /// The version and the build of ptxsmith.
    pub ptxsmith: String,
    /// The number of verdicts.
    pub compared: u64,
    /// Whether the campaign finished.
    pub complete: bool,
}

/// The merged report of several campaigns, with their provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// The merged report.
    pub report: Report,
    /// The provenance of each campaign.
    pub campaigns: Vec<Campaign>,
}

impl Gathered {
    /// Merges campaigns. Counts for the same clause are added; of several standings for the same program the worst is kept.
    ///
    /// # Errors
    /// If two campaigns use the same name for different things.
    pub fn of(folders: &[Folder]) -> Result<Gathered, Conflict> {
        let mut report = Report { complete: true, ..EMPTY };
        let mut cases: BTreeMap<&str, Noted<'_>> = BTreeMap::new();
        for Folder { report: one, .. } in folders {
            report.complete &= one.complete;
            report.compared = report.compared.saturating_add(one.compared);
            report.conform = report.conform.saturating_add(one.conform);
            let columns: Vec<usize> = one
                .subjects
                .iter()
                .map(|subject| add_subject(&mut report, subject))
                .collect::<Result<_, _>>()?;
            for finding in &one.findings {
                add_finding(&mut report, finding);
            }
            for case in &one.cases {
                let noted = cases.entry(&case.name).or_insert_with(|| Noted::of(case));
                if noted.case.program != case.program {
                    return Err(Conflict::Case(case.name.clone()));
                }
                noted.add(case, &columns);
            }
        }
        report.findings.sort_by_key(crate::severity::order);
        let all = report.subjects.len();
        report.cases = cases.into_values().map(|noted| noted.over(all)).collect();
        Ok(Gathered { report, campaigns: folders.iter().map(campaign).collect() })
    }
}

const EMPTY: Report = Report {
    schema: String::new(),
    ptxsmith: String::new(),
    command: String::new(),
    seed: 0,
    complete: false,
    subjects: Vec::new(),
    compared: 0,
    conform: 0,
    not_compared: BTreeMap::new(),
    readings: BTreeMap::new(),
    default_readings: BTreeMap::new(),
    findings: Vec::new(),
    unexpected_passes: Vec::new(),
    cases: Vec::new(),
    coverage: crate::Coverage {
        clauses: crate::Reached { reached: 0, total: 0, missing: None },
        productions: crate::Reached { reached: 0, total: 0, missing: None },
        pairs: crate::Reached { reached: 0, total: 0, missing: None },
    },
};

fn campaign(folder: &Folder) -> Campaign {
    let Folder { report, manifest } = folder;
    let manifest = manifest.clone().unwrap_or_default();
    let command = match manifest.command_line.is_empty() {
        true => report.command.clone(),
        false => shell_words::join(&manifest.command_line),
    };
    Campaign {
        started: manifest.started,
        command,
        ptxsmith: format!("{} {}", report.ptxsmith, beginning(&manifest.build)).trim_end().to_owned(),
        compared: report.compared,
        complete: report.complete,
    }
}

/// Returns the first 12 characters of a hash, which are enough for people to compare.
fn beginning(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// A program, with the standings that have been collected so far.
struct Noted<'a> {
    case: &'a Case,
    standings: BTreeMap<usize, Standing>,
    known: Vec<String>,
}

impl<'a> Noted<'a> {
    fn of(case: &'a Case) -> Noted<'a> {
        Noted { case, standings: BTreeMap::new(), known: Vec::new() }
    }

    fn add(&mut self, case: &Case, columns: &[usize]) {
        for (nth, &column) in columns.iter().enumerate() {
            let standing = self.standings.entry(column).or_insert(Standing::NotReached);
            *standing = (*standing).max(case.standing(nth));
        }
        self.known.extend(case.known.iter().cloned());
        self.known.sort();
        self.known.dedup();
    }

    fn over(self, subjects: usize) -> Case {
        let standing = |column| self.standings.get(&column).copied().unwrap_or(Standing::NotReached);
        Case {
            name: self.case.name.clone(),
            program: self.case.program.clone(),
            standings: (0..subjects).map(|column| standing(column).letter()).collect(),
            known: self.known,
        }
    }
}

/// Merges the results of a subject into the report. Returns the index of the subject.
fn add_subject(report: &mut Report, subject: &Subject) -> Result<usize, Conflict> {
    let Some(place) = report.subjects.iter().position(|known| known.id == subject.id) else {
        report.subjects.push(subject.clone());
        return Ok(report.subjects.len() - 1);
    };
    let known = &mut report.subjects[place];
    let differs =
        |ours: &Option<String>, theirs: &Option<String>| ours.is_some() && theirs.is_some() && ours != theirs;
    if differs(&known.sha256, &subject.sha256) || differs(&known.version, &subject.version) {
        return Err(Conflict::Subject(subject.id.clone()));
    }
    known.compared = known.compared.saturating_add(subject.compared);
    known.conform = known.conform.saturating_add(subject.conform);
    for (clause, counts) in &subject.clauses {
        *known.clauses.entry(clause.clone()).or_default() += *counts;
    }
    for (clause, programs) in &subject.least {
        let least = known.least.entry(clause.clone()).or_default();
        for (class, program) in programs {
            let mine = least.entry(*class).or_insert_with(|| program.clone());
            if (program.len(), program) < (mine.len(), &*mine) {
                mine.clone_from(program);
            }
        }
    }
    Ok(place)
}

fn add_finding(report: &mut Report, finding: &Finding) {
    let Some(known) = report.findings.iter_mut().find(|known| known.id == finding.id) else {
        report.findings.push(finding.clone());
        return;
    };
    let (subjects, releases) = (known.subjects.clone(), known.releases.clone());
    let count = known.count.saturating_add(finding.count);
    let status = known.status.min(finding.status);
    // The merged finding shows the example of the campaign with the smallest program.
    if finding.least_program().len() < known.least_program().len() {
        *known = finding.clone();
    }
    let (shown, asked) = (finding.subjects.iter(), finding.releases.iter());
    let mut all = subjects;
    all.extend(shown.cloned());
    known.subjects = distinct(all);
    let mut told = releases;
    told.extend(asked.filter(|one| !one.verdict.is_unavailable()).cloned());
    told.sort_by(|a, b| a.subject.cmp(&b.subject));
    told.dedup_by(|a, b| a.subject == b.subject);
    known.releases = told;
    (known.count, known.status) = (count, status);
}

/// Removes duplicates and keeps the first of each.
fn distinct(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        if !kept.contains(&word) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(json: &str) -> Folder {
        let text = format!(
            r#"{{"schema": "ptxsmith.report/1", "compared": 1, "conform": 1, "complete": true, {json}}}"#
        );
        Folder { report: serde_json::from_str(&text).unwrap(), manifest: None }
    }

    fn one(subject: &str, letter: &str, program: &str) -> Folder {
        folder(&format!(
            r#""subjects": [{{"id": "{subject}", "version": "1", "compared": 1,
                             "clauses": {{"4.5.5/division": {{"compared": 2, "conform": 2}}}}}}],
               "findings": [{{"id": "f", "status": "known", "class": "crash", "title": "t", "count": 2,
                             "subjects": ["{subject}"], "program": "{program}"}}],
               "cases": [{{"name": "a", "program": "p", "standings": "{letter}"}}]"#
        ))
    }

    #[test]
    fn of_two_campaigns_clauses_add_up_findings_join_and_the_worst_of_a_program_counts() {
        let all = [one("x", "c", "long"), one("y", "d", "s"), one("x", "x", "longer")];
        let Gathered { report, campaigns } = Gathered::of(&all).unwrap();
        assert_eq!((report.compared, campaigns.len(), report.subjects.len()), (3, 3, 2));
        assert_eq!(report.subjects[0].clauses["4.5.5/division"].compared, 4);
        assert_eq!((&*report.cases[0].standings, report.cases.len()), ("xd", 1));
        let finding = &report.findings[0];
        assert_eq!(
            (finding.count, &*finding.program, &finding.subjects[..]),
            (6, "s", &["x".to_owned(), "y".into()][..])
        );
    }

    #[test]
    fn a_subject_that_a_campaign_did_not_show_a_program_was_not_reached() {
        let Gathered { report, .. } =
            Gathered::of(&[one("x", "c", "p"), folder(r#""subjects": [{"id": "z"}], "findings": []"#)])
                .unwrap();
        assert_eq!(report.cases[0].standings, "cn");
    }

    #[test]
    fn one_name_for_two_things_is_refused() {
        let mut other = one("x", "c", "p");
        other.report.subjects[0].version = Some("2".into());
        assert_eq!(Gathered::of(&[one("x", "c", "p"), other]), Err(Conflict::Subject("x".into())));
        let mut other = one("y", "c", "p");
        other.report.cases[0].program = "q".into();
        assert_eq!(Gathered::of(&[one("x", "c", "p"), other]), Err(Conflict::Case("a".into())));
    }
}
