//! Merges several campaigns into one report, so that an atlas can contain implementations that were tested on
//! different machines.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cases::CaseStandings;
use crate::folder::Folder;
use crate::matrix::Standing;
use crate::{Finding, Report, SubjectResults};

/// The reason why campaigns cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeConflict {
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
pub struct Provenance {
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
pub struct MergedReport {
    /// The merged report.
    pub report: Report,
    /// The provenance of each campaign.
    pub campaigns: Vec<Provenance>,
}

impl MergedReport {
    /// Merges campaigns. Counts for the same clause are added; of several standings for the same program the
    /// worst is kept.
    ///
    /// # Errors
    /// If two campaigns use the same name for different things.
    pub fn new(folders: &[Folder]) -> Result<MergedReport, MergeConflict> {
        let mut merged = Report { complete: true, ..EMPTY };
        let mut cases: BTreeMap<&str, MergedCase<'_>> = BTreeMap::new();
        for Folder { report, .. } in folders {
            merged.complete &= report.complete;
            merged.compared = merged.compared.saturating_add(report.compared);
            merged.conform = merged.conform.saturating_add(report.conform);
            let columns = report.subjects.iter().map(|subject| add_subject(&mut merged, subject));
            let columns: Vec<usize> = columns.collect::<Result<_, _>>()?;
            for finding in &report.findings {
                add_finding(&mut merged, finding);
            }
            for case in &report.cases {
                let merged_case = cases.entry(&case.name).or_insert_with(|| MergedCase::new(case));
                if merged_case.case.program != case.program {
                    return Err(MergeConflict::Case(case.name.clone()));
                }
                merged_case.add(case, &columns);
            }
        }
        merged.findings.sort_by_key(crate::severity::order);
        let subjects = merged.subjects.len();
        merged.cases = cases.into_values().map(|case| case.standings_of(subjects)).collect();
        Ok(MergedReport { report: merged, campaigns: folders.iter().map(provenance).collect() })
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
    given_answers: Vec::new(),
    findings: Vec::new(),
    unexpected_passes: Vec::new(),
    cases: Vec::new(),
    coverage: crate::CoverageSummary {
        clauses: crate::CoverageCount { reached: 0, total: 0, missing: None },
        productions: crate::CoverageCount { reached: 0, total: 0, missing: None },
        pairs: crate::CoverageCount { reached: 0, total: 0, missing: None },
    },
};

fn provenance(folder: &Folder) -> Provenance {
    let Folder { report, manifest } = folder;
    let manifest = manifest.clone().unwrap_or_default();
    let command = if manifest.command_line.is_empty() {
        report.command.clone()
    } else {
        shell_words::join(&manifest.command_line)
    };
    Provenance {
        started: manifest.started,
        command,
        ptxsmith: format!("{} {}", report.ptxsmith, short_hash(&manifest.build)).trim_end().to_owned(),
        compared: report.compared,
        complete: report.complete,
    }
}

/// Returns the first 12 characters of a hash, which are enough for people to compare.
fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// A program, with the standings that have been collected so far.
struct MergedCase<'a> {
    case: &'a CaseStandings,
    standings: BTreeMap<usize, Standing>,
    known: Vec<String>,
}

impl<'a> MergedCase<'a> {
    fn new(case: &'a CaseStandings) -> MergedCase<'a> {
        MergedCase { case, standings: BTreeMap::new(), known: Vec::new() }
    }

    /// Adds the standings of the case in another campaign. `columns` has the merged index of each subject of
    /// that campaign.
    fn add(&mut self, case: &CaseStandings, columns: &[usize]) {
        for (subject, &column) in columns.iter().enumerate() {
            let standing = self.standings.entry(column).or_insert(Standing::NotReached);
            *standing = (*standing).max(case.standing(subject));
        }
        self.known.extend(case.known.iter().cloned());
        self.known.sort();
        self.known.dedup();
    }

    /// Returns the standings of this number of subjects. A subject that did not compare the program did not
    /// reach it.
    fn standings_of(self, subjects: usize) -> CaseStandings {
        let standings =
            (0..subjects).map(|column| self.standings.get(&column).unwrap_or(&Standing::NotReached));
        CaseStandings {
            name: self.case.name.clone(),
            program: self.case.program.clone(),
            standings: standings.map(|standing| standing.letter()).collect(),
            known: self.known,
        }
    }
}

/// Merges the results of a subject into the report. Returns the index of the subject.
fn add_subject(report: &mut Report, subject: &SubjectResults) -> Result<usize, MergeConflict> {
    let Some(place) = report.subjects.iter().position(|known| known.id == subject.id) else {
        report.subjects.push(subject.clone());
        return Ok(report.subjects.len() - 1);
    };
    let known = &mut report.subjects[place];
    if contradict(&known.sha256, &subject.sha256) || contradict(&known.version, &subject.version) {
        return Err(MergeConflict::Subject(subject.id.clone()));
    }
    known.compared = known.compared.saturating_add(subject.compared);
    known.conform = known.conform.saturating_add(subject.conform);
    for (clause, counts) in &subject.clauses {
        *known.clauses.entry(clause.clone()).or_default() += *counts;
    }
    for (clause, programs) in &subject.reproducers {
        let reproducers = known.reproducers.entry(clause.clone()).or_default();
        for (class, program) in programs {
            let shortest = reproducers.entry(*class).or_insert_with(|| program.clone());
            if (program.len(), program) < (shortest.len(), &*shortest) {
                shortest.clone_from(program);
            }
        }
    }
    Ok(place)
}

/// Whether both values are known and differ.
fn contradict(value: &Option<String>, other: &Option<String>) -> bool {
    value.is_some() && other.is_some() && value != other
}

fn add_finding(report: &mut Report, finding: &Finding) {
    let Some(known) = report.findings.iter_mut().find(|known| known.id == finding.id) else {
        report.findings.push(finding.clone());
        return;
    };
    let mut subjects = known.subjects.clone();
    subjects.extend(finding.subjects.iter().cloned());
    let mut releases = known.releases.clone();
    releases.extend(finding.releases.iter().filter(|release| !release.verdict.is_unavailable()).cloned());
    releases.sort_by(|a, b| a.subject.cmp(&b.subject));
    releases.dedup_by(|a, b| a.subject == b.subject);
    let count = known.count.saturating_add(finding.count);
    let status = known.status.min(finding.status);
    // The merged finding shows the example of the campaign with the smallest program.
    if finding.least_program().len() < known.least_program().len() {
        *known = finding.clone();
    }
    known.subjects = distinct(subjects);
    known.releases = releases;
    known.count = count;
    known.status = status;
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

    fn campaign_of(subject: &str, letter: &str, program: &str) -> Folder {
        folder(&format!(
            r#""subjects": [{{"id": "{subject}", "version": "1", "compared": 1,
                             "clauses": {{"4.5.5/division": {{"compared": 2, "conform": 2}}}}}}],
               "findings": [{{"id": "f", "status": "known", "class": "crash", "title": "t", "count": 2,
                             "subjects": ["{subject}"], "program": "{program}"}}],
               "cases": [{{"name": "a", "program": "p", "standings": "{letter}"}}]"#
        ))
    }

    #[test]
    fn clause_counts_add_up_findings_join_and_the_worst_standing_of_a_program_counts() {
        let folders =
            [campaign_of("x", "c", "long"), campaign_of("y", "d", "s"), campaign_of("x", "x", "longer")];
        let MergedReport { report, campaigns } = MergedReport::new(&folders).unwrap();
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
    fn a_subject_that_did_not_compare_a_program_did_not_reach_it() {
        let MergedReport { report, .. } = MergedReport::new(&[
            campaign_of("x", "c", "p"),
            folder(r#""subjects": [{"id": "z"}], "findings": []"#),
        ])
        .unwrap();
        assert_eq!(report.cases[0].standings, "cn");
    }

    #[test]
    fn equal_names_for_different_things_are_a_conflict() {
        let mut other = campaign_of("x", "c", "p");
        other.report.subjects[0].version = Some("2".into());
        assert_eq!(
            MergedReport::new(&[campaign_of("x", "c", "p"), other]),
            Err(MergeConflict::Subject("x".into()))
        );
        let mut other = campaign_of("y", "c", "p");
        other.report.cases[0].program = "q".into();
        assert_eq!(
            MergedReport::new(&[campaign_of("x", "c", "p"), other]),
            Err(MergeConflict::Case("a".into()))
        );
    }
}
