//! The report of a campaign as JSON: `ptxsmith.report/1`.
//!
//! It holds nothing that depends on time, on the machine, on the number of threads or on the order in which they
//! finished: the same campaign gives the same bytes.

use std::collections::BTreeMap;

use ptxsmith_diff::{Fate, Must, NotCompared, Status};
use ptxsmith_oracle::{Clause, ClauseSet};
use ptxsmith_subject::Observation;
use serde::Serialize;
use serde_json::Value;

use super::{Campaign, Found, lock};
use crate::commands;
use crate::exit::Failure;

/// The file in the output directory.
pub const FILE: &str = "report.json";

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    ptxsmith: &'static str,
    command: &'static str,
    seed: u64,
    /// Whether the campaign came to its end; `false` while it goes on, and if it was stopped.
    complete: bool,
    subjects: Vec<Subject>,
    compared: u64,
    conform: u64,
    not_compared: BTreeMap<&'static str, u64>,
    /// Answers to open questions other than the default that were followed, by subject.
    readings: BTreeMap<String, BTreeMap<String, u64>>,
    /// Default answers that were shown to be followed, by subject.
    default_readings: BTreeMap<String, BTreeMap<String, u64>>,
    findings: Vec<Finding<'a>>,
    coverage: Coverage,
}

#[derive(Serialize)]
struct Subject {
    id: String,
    version: Option<String>,
    lineage: Option<String>,
    available: bool,
    sha256: Option<String>,
    compared: u64,
    conform: u64,
    /// Variables that the subject does not show, in cases that were compared for others.
    variables_not_shown: u64,
    confusion: Confusion,
}

#[derive(Serialize)]
struct Finding<'a> {
    id: &'a str,
    status: Status,
    class: &'static str,
    subjects: &'a [String],
    clauses: Vec<&'static str>,
    title: &'a str,
    count: u64,
    program: &'a str,
    variable: Option<&'a str>,
    expected: &'a Value,
    observed: &'a Observation,
    repeat: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Serialize)]
struct Coverage {
    clauses: Reached,
    productions: Reached,
    pairs: Reached,
}

#[derive(Serialize)]
struct Reached {
    reached: u64,
    total: u64,
    /// What was not reached; of pairs it is not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<&'static str>>,
}

/// What became of programs that must be accepted, and of those that must be refused.
#[derive(Serialize)]
struct Confusion {
    must_accept: Fates,
    must_refuse: Fates,
}

#[derive(Serialize)]
struct Fates {
    accepted: u64,
    refused: u64,
    died: u64,
}

impl Confusion {
    fn of(confusion: &ptxsmith_diff::Confusion) -> Confusion {
        let fates = |must| Fates {
            accepted: confusion.count(must, Fate::Accepted),
            refused: confusion.count(must, Fate::Refused),
            died: confusion.count(must, Fate::Died),
        };
        Confusion { must_accept: fates(Must::Accept), must_refuse: fates(Must::Refuse) }
    }
}

/// The clauses that data at module scope can show kept or broken: how many were reached, and how many there are.
pub fn clause_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let reached =
        campaign.subjects.iter().fold(ClauseSet::EMPTY, |set, tested| set.union(tested.ledger().clauses));
    let testable: ClauseSet =
        Clause::ALL.iter().copied().filter(|clause| clause.observed().by_data()).collect();
    (reached.intersection(testable).len() as u64, testable.len() as u64)
}

/// The productions of the grammar that programs are made from: how many were made, and how many there are.
pub fn production_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let (reached, total) = lock(&campaign.coverage).productions(&campaign.generator);
    (reached as u64, total as u64)
}

/// The pairs of productions, one directly beneath the other: how many were made, and how many there may be.
pub fn pair_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let (reached, total) = lock(&campaign.coverage).pairs(&campaign.generator);
    (reached as u64, total as u64)
}

/// The clauses that data can show and that nothing reached.
fn missing_clauses(campaign: &Campaign<'_>) -> Vec<&'static str> {
    let reached =
        campaign.subjects.iter().fold(ClauseSet::EMPTY, |set, tested| set.union(tested.ledger().clauses));
    let testable = Clause::ALL.iter().filter(|clause| clause.observed().by_data());
    testable.filter(|&&clause| !reached.contains(clause)).map(|clause| clause.id()).collect()
}

impl Campaign<'_> {
    pub(super) fn save_report(&self, findings: &[Found], complete: bool) -> Result<(), Failure> {
        let Some(out) = &self.out else { return Ok(()) };
        let mut text = serde_json::to_string_pretty(&self.report(findings, complete))?;
        text.push('\n');
        commands::write_whole(&out.join(FILE), text.as_bytes())?;
        Ok(())
    }

    fn report<'a>(&'a self, findings: &'a [Found], complete: bool) -> Report<'a> {
        let mut not_compared: BTreeMap<&'static str, u64> =
            NotCompared::ALL.iter().map(|reason| (reason.name(), 0)).collect();
        let mut readings = BTreeMap::new();
        let mut default_readings = BTreeMap::new();
        let mut subjects = Vec::new();
        for tested in &self.subjects {
            let description = tested.subject.description();
            let ledger = tested.ledger();
            for (reason, count) in &ledger.not_compared {
                *not_compared.entry(reason.name()).or_default() += count;
            }
            let followed = ledger.readings().map(|(question, answer, count)| {
                (format!("{}={}", question.name(), question.answers()[answer]), count)
            });
            readings.insert(description.id.clone(), followed.collect());
            let confirmed = (ledger.confirmed.iter())
                .map(|(question, count)| (format!("{}={}", question.name(), question.answers()[0]), *count));
            default_readings.insert(description.id.clone(), confirmed.collect());
            subjects.push(Subject {
                id: description.id.clone(),
                version: description.version.clone(),
                lineage: description.lineage.clone(),
                available: true,
                sha256: description.sha256.clone(),
                compared: ledger.compared,
                conform: ledger.conform,
                variables_not_shown: ledger.unseen,
                confusion: Confusion::of(&ledger.confusion),
            });
        }
        let coverage = |(reached, total), missing| Reached { reached, total, missing };
        let covered = lock(&self.coverage);
        let productions = covered.missing(&self.generator).map(|production| production.name).collect();
        drop(covered);
        Report {
            schema: "ptxsmith.report/1",
            ptxsmith: env!("CARGO_PKG_VERSION"),
            command: self.command,
            seed: self.context.seed,
            complete,
            compared: subjects.iter().map(|subject| subject.compared).sum(),
            conform: subjects.iter().map(|subject| subject.conform).sum(),
            subjects,
            not_compared,
            readings,
            default_readings,
            findings: findings.iter().map(|found| self.finding(found)).collect(),
            coverage: Coverage {
                clauses: coverage(clause_coverage(self), Some(missing_clauses(self))),
                productions: coverage(production_coverage(self), Some(productions)),
                pairs: coverage(pair_coverage(self), None),
            },
        }
    }

    fn finding<'a>(&self, found: &'a Found) -> Finding<'a> {
        let finding = &found.finding;
        let difference = &finding.example.difference;
        Finding {
            id: &finding.id,
            status: finding.status,
            class: finding.class.name(),
            subjects: &found.subjects,
            clauses: finding.clauses.iter().map(|clause| clause.id()).collect(),
            title: &finding.title,
            count: finding.count,
            program: &found.program,
            variable: difference.variable.as_deref(),
            expected: &difference.expected,
            observed: &difference.observed,
            repeat: self.repeat(found),
            file: self.out.as_ref().map(|_| self.file_of(found).to_string_lossy().into_owned()),
        }
    }
}
