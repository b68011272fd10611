//! The report of a campaign: [`ptxsmith_report::Report`], made from what the ledgers hold.

use std::collections::BTreeMap;

use ptxsmith_diff::known::KNOWN;
use ptxsmith_diff::{Fate, Ledger, Must, NotCompared, Status, Tally};
use ptxsmith_oracle::{Clause, ClauseSet};
use ptxsmith_report::{
    ClauseCounts, Confusion, Coverage, Fates, Finding, Operands, Reached, Report, SCHEMA, Status as Reported,
    Subject, folder,
};
use ptxsmith_subject::Description;

use super::{Campaign, Found};
use crate::failure::Failure;
use crate::files;
use crate::pool::lock_of;

/// What a command says that its name is. One that does not describe itself has the name of its program, which may be that
/// of an interpreter, and no version.
fn own_name(description: &Description) -> Option<String> {
    let is_command = ["exec:", "serve:"].iter().any(|form| description.id.starts_with(form));
    (is_command && description.version.is_some()).then(|| description.name.clone())
}

fn confusion(confusion: &ptxsmith_diff::Confusion) -> Confusion {
    let fates = |must| Fates {
        accepted: confusion.count(must, Fate::Accepted),
        refused: confusion.count(must, Fate::Refused),
        died: confusion.count(must, Fate::Died),
    };
    Confusion { must_accept: fates(Must::Accept), must_refuse: fates(Must::Refuse) }
}

fn tally_of(tally: &Tally) -> ClauseCounts {
    ClauseCounts {
        compared: tally.compared(),
        conform: tally.conform,
        deviates: tally.deviates,
        refuses_valid: tally.refuses_valid,
        accepts_invalid: tally.accepts_invalid,
        crashed: tally.crashed,
        unsupported: tally.unsupported,
    }
}

/// The clauses that data at module scope can show kept or broken: how many were reached, and how many there are.
fn clause_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let reached =
        campaign.subjects.iter().fold(ClauseSet::EMPTY, |set, tested| set.union(tested.ledger().clauses));
    let testable: ClauseSet =
        Clause::ALL.iter().copied().filter(|clause| clause.observed().by_data()).collect();
    (reached.intersection(testable).len() as u64, testable.len() as u64)
}

/// The productions of the grammar that programs are made from: how many were made, and how many there are.
fn production_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let (reached, total) = lock_of(&campaign.coverage).productions(&campaign.generator);
    (reached as u64, total as u64)
}

/// The pairs of productions, one directly beneath the other: how many were made, and how many there may be.
fn pair_coverage(campaign: &Campaign<'_>) -> (u64, u64) {
    let (reached, total) = lock_of(&campaign.coverage).pairs(&campaign.generator);
    (reached as u64, total as u64)
}

/// The clauses that data can show and that nothing reached.
fn missing_clauses(campaign: &Campaign<'_>) -> Vec<String> {
    let reached =
        campaign.subjects.iter().fold(ClauseSet::EMPTY, |set, tested| set.union(tested.ledger().clauses));
    let testable = Clause::ALL.iter().filter(|clause| clause.observed().by_data());
    testable.filter(|&&clause| !reached.contains(clause)).map(|clause| clause.id().to_owned()).collect()
}

impl Campaign<'_> {
    pub(super) fn save_report(&self, findings: &[Found], complete: bool) -> Result<(), Failure> {
        if self.out.is_some() {
            self.write_report(&self.report(findings, complete))?;
        }
        Ok(())
    }

    pub(super) fn write_report(&self, report: &Report) -> Result<(), Failure> {
        let Some(out) = &self.out else { return Ok(()) };
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        files::write_whole(&out.join(folder::REPORT), text.as_bytes())?;
        Ok(())
    }

    pub(super) fn report(&self, findings: &[Found], complete: bool) -> Report {
        let mut not_compared: BTreeMap<String, u64> =
            NotCompared::ALL.iter().map(|reason| (reason.name().to_owned(), 0)).collect();
        let mut readings = BTreeMap::new();
        let mut default_readings = BTreeMap::new();
        let mut subjects = Vec::new();
        for tested in &self.subjects {
            let description = tested.subject.description();
            let ledger = tested.ledger();
            for (reason, count) in &ledger.not_compared {
                *not_compared.entry(reason.name().to_owned()).or_default() += count;
            }
            let followed = ledger.readings().map(|(question, answer, count)| {
                (format!("{}={}", question.name(), question.answers()[answer]), count)
            });
            readings.insert(description.id.clone(), followed.collect());
            let confirmed = (ledger.confirmed.iter())
                .map(|(question, count)| (format!("{}={}", question.name(), question.answers()[0]), *count));
            default_readings.insert(description.id.clone(), confirmed.collect());
            let reasons = ledger.not_compared.iter();
            subjects.push(Subject {
                id: description.id.clone(),
                name: own_name(description),
                version: description.version.clone(),
                lineage: description.lineage.clone(),
                available: true,
                sha256: description.sha256.clone(),
                compared: ledger.compared,
                conform: ledger.conform,
                variables_not_shown: ledger.unseen,
                compared_by_outcome: ledger.by_outcome,
                operands: Operands { seen: ledger.operands.seen, total: ledger.operands.total },
                not_compared: reasons.map(|(reason, count)| (reason.name().to_owned(), *count)).collect(),
                confusion: confusion(&ledger.confusion),
                clauses: ledger
                    .tallies
                    .iter()
                    .map(|(clause, tally)| (clause.id().to_owned(), tally_of(&tally)))
                    .collect(),
                least: self.least_of(&ledger),
            });
        }
        let coverage = |(reached, total), missing| Reached { reached, total, missing };
        let covered = lock_of(&self.coverage);
        let productions =
            covered.missing(&self.generator).map(|production| production.name.to_owned()).collect();
        drop(covered);
        Report {
            schema: SCHEMA.to_owned(),
            ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.to_owned(),
            seed: self.seed,
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

    /// The least program of each clause and class; those of the user's files as they stand there.
    fn least_of(&self, ledger: &Ledger) -> BTreeMap<String, BTreeMap<String, String>> {
        let texts = lock_of(&self.texts);
        let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (clause, class, least) in ledger.least.iter() {
            let program = texts.get(&least.trial).map_or(&least.program, |source| &source.text);
            let of_clause = all.entry(clause.id().to_owned()).or_default();
            of_clause.insert(class.name().to_owned(), program.clone());
        }
        all
    }

    pub(super) fn finding(&self, found: &Found) -> Finding {
        let finding = &found.finding;
        let difference = &finding.example.difference;
        let known = KNOWN.iter().find(|known| known.id == finding.id);
        Finding {
            id: finding.id.clone(),
            status: match finding.status {
                Status::New => Reported::New,
                Status::Known => Reported::Known,
                Status::Gone => Reported::Gone,
            },
            class: finding.class.name().to_owned(),
            subjects: found.subjects.clone(),
            clauses: finding.clauses.iter().map(|clause| clause.id().to_owned()).collect(),
            title: finding.title.clone(),
            count: finding.count,
            program: found.program.clone(),
            variable: difference.variable.clone(),
            expected: difference.expected.clone(),
            observed: difference.observed.clone(),
            repeat: self.repeat(found),
            file: self.out.as_ref().map(|_| self.file_of(found).to_string_lossy().into_owned()),
            releases: found.releases.clone(),
            first_seen: known.map(|known| known.first_seen.to_owned()),
            reduced: found.reduced.clone(),
            link: None,
            edit: ptxsmith_diff::gone::edit(&finding.id, &found.subjects),
        }
    }
}
