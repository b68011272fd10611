//! Builds the report of a campaign, [`ptxsmith_report::Report`], from the ledgers.

use std::collections::BTreeMap;

use ptxsmith_diff::known::KNOWN;
use ptxsmith_diff::{Class, NotCompared};
use ptxsmith_model::FindingKind;
use ptxsmith_oracle::{Clause, ClauseSet, Interpretation, Rules, Validity, predict};
use ptxsmith_report::harmless::json;
use ptxsmith_report::reproduce::Runner;
use ptxsmith_report::{
    CoverageCount, CoverageSummary, Finding, Report, SCHEMA, SubjectResults, folder, reproduce,
};
use ptxsmith_subject::Description;

use super::{Campaign, by_case};
use crate::failure::Failure;
use crate::files;
use crate::ledger::{Ledger, PendingFinding};
use crate::pool::lock_of;
use crate::subjects::TestSubject;

/// Returns the name that a command reports for itself. A command that does not describe itself has the name
/// of its program, which may be an interpreter, and no version.
fn own_name(description: &Description) -> Option<String> {
    let is_command = matches!(Runner::for_subject(&description.id), Runner::Command { .. });
    (is_command && description.version.is_some()).then(|| description.name.clone())
}

/// Replaces the keys by their names.
fn named<K: Copy, V: Clone>(all: &BTreeMap<K, V>, name: impl Fn(K) -> &'static str) -> BTreeMap<String, V> {
    all.iter().map(|(key, value)| (name(*key).to_owned(), value.clone())).collect()
}

impl Campaign<'_> {
    pub(super) fn save_report(&self, findings: &[PendingFinding], complete: bool) -> Result<(), Failure> {
        if self.store.out.is_some() {
            self.write_report(&self.report(findings, complete))?;
        }
        Ok(())
    }

    pub(crate) fn write_report(&self, report: &Report) -> Result<(), Failure> {
        let Some(out) = &self.store.out else { return Ok(()) };
        let mut text = json(serde_json::to_string_pretty(report)?);
        text.push('\n');
        files::write_whole(&out.join(folder::REPORT), text.as_bytes())?;
        Ok(())
    }

    pub(crate) fn report(&self, findings: &[PendingFinding], complete: bool) -> Report {
        let mut not_compared: BTreeMap<String, u64> =
            NotCompared::ALL.iter().map(|reason| (reason.name().to_owned(), 0)).collect();
        let mut readings = BTreeMap::new();
        let mut default_readings = BTreeMap::new();
        let mut subjects = Vec::new();
        let mut reached = ClauseSet::EMPTY;
        let refusals: Vec<Option<String>> =
            self.subjects.iter().map(|tested| self.accepts_nothing(tested)).collect();
        for (tested, refuses_everything) in self.subjects.iter().zip(refusals) {
            let description = tested.subject.description();
            let ledger = tested.ledger();
            reached = reached.union(ledger.reached);
            for (reason, count) in &ledger.not_compared {
                *not_compared.entry(reason.name().to_owned()).or_default() += count;
            }
            let followed = ledger.readings().map(|(answer, count)| (answer.to_string(), count));
            readings.insert(description.id.clone(), followed.collect());
            let confirmed = ledger.confirmed.iter();
            let confirmed =
                confirmed.map(|(question, count)| (Interpretation(*question, 0).to_string(), *count));
            default_readings.insert(description.id.clone(), confirmed.collect());
            subjects.push(self.subject_results(description, &ledger, refuses_everything));
        }
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.to_owned(),
            seed: self.seed,
            complete,
            compared: subjects.iter().map(|subject| subject.compared).sum(),
            conform: subjects.iter().map(|subject| subject.conform).sum(),
            subjects,
            not_compared,
            given_answers: self
                .answers
                .iter()
                .map(|&(question, answer)| Interpretation(question, answer).to_string())
                .collect(),
            readings,
            default_readings,
            findings: findings.iter().map(|found| self.finding(found)).collect(),
            unexpected_passes: Vec::new(),
            cases: by_case::cases(self),
            coverage: self.coverage(reached),
        };
        self.session.expected.mark(&mut report);
        report
    }

    fn subject_results(
        &self,
        description: &Description,
        ledger: &Ledger,
        refuses_everything: Option<String>,
    ) -> SubjectResults {
        SubjectResults {
            id: description.id.clone(),
            name: own_name(description),
            version: description.version.clone(),
            lineage: description.lineage.clone(),
            available: true,
            sha256: description.sha256.clone(),
            compared: ledger.compared.saturating_sub(ledger.refused_apart()),
            conform: ledger.conforming(),
            variables_not_shown: ledger.unseen,
            compared_by_outcome: ledger.by_outcome,
            operands: ledger.operands,
            memory_operands: ledger.memory_operands.clone(),
            computed_kernels: ledger.computed_kernels.clone(),
            not_compared: named(&ledger.not_compared, NotCompared::name),
            not_compared_because: named(&ledger.why, NotCompared::name),
            confusion: ledger.confusion,
            refuses_everything,
            clauses: named(&ledger.clauses, Clause::id),
            reproducers: self.reproducers(ledger),
        }
    }

    /// Returns the most frequent diagnostic or crash of a subject that accepts nearly nothing; `None` for
    /// other subjects.
    fn accepts_nothing(&self, tested: &TestSubject) -> Option<String> {
        let triage = self.triage();
        let ledger = tested.ledger();
        if !ledger.confusion.accepts_nothing() {
            return None;
        }
        let refuses = ledger.confusion.refuses_everything();
        let findings = ledger.findings(&triage).into_iter().filter(|found| found.is_refusal() == refuses);
        let most_frequent = findings.max_by_key(|found| found.finding.count);
        let observed = most_frequent.map(|found| found.finding.observed).unwrap_or_default();
        let message = observed.diagnostics.into_iter().next().map(|diagnostic| diagnostic.message);
        let signal = observed.signal.map(|signal| format!("signal {signal}"));
        Some(message.or(observed.reason).or(signal).unwrap_or_default())
    }

    /// Returns the coverage of the grammar, and of the clauses that data at module scope can test.
    fn coverage(&self, clauses: ClauseSet) -> CoverageSummary {
        let testable: Vec<Clause> =
            Clause::ALL.iter().copied().filter(|clause| clause.observed().by_data()).collect();
        let missing: Vec<String> = (testable.iter())
            .filter(|&&clause| !clauses.contains(clause))
            .map(|clause| clause.id().to_owned())
            .collect();
        let covered = lock_of(&self.coverage);
        let never_made = covered.missing(&self.generator).map(|production| production.name.to_owned());
        let reached = testable.len() - missing.len();
        CoverageSummary {
            clauses: coverage_count((reached, testable.len()), Some(missing)),
            productions: coverage_count(covered.productions(&self.generator), Some(never_made.collect())),
            pairs: coverage_count(covered.pairs(&self.generator), None),
        }
    }

    /// Returns the shortest program for each clause and class. For a user's file it is the whole file.
    fn reproducers(&self, ledger: &Ledger) -> BTreeMap<String, BTreeMap<Class, String>> {
        let texts = lock_of(&self.texts);
        let mut reproducers: BTreeMap<String, BTreeMap<Class, String>> = BTreeMap::new();
        for (clause, classes) in &ledger.least {
            let by_class = reproducers.entry(clause.id().to_owned()).or_default();
            for (class, shortest) in classes {
                let program = texts.get(&shortest.trial).map_or(&shortest.program, |source| &source.text);
                by_class.insert(*class, program.clone());
            }
        }
        reproducers
    }

    /// Returns a finding with the details that are known only at the end of a campaign.
    fn finding(&self, found: &PendingFinding) -> Finding {
        let finding = found.finding.clone();
        let known = KNOWN.iter().find(|known| FindingKind::Known(known.id.to_owned()) == finding.kind);
        let finding = Finding {
            repeat: self.repeat(found),
            file: self.store.out.as_ref().map(|_| self.file_of(found).to_string_lossy().into_owned()),
            first_seen: known.map(|known| known.first_seen.to_owned()).filter(|day| !day.is_empty()),
            edit: match &finding.kind {
                FindingKind::Fixed(id) => ptxsmith_diff::gone::edit(id, &finding.subjects),
                _ => None,
            },
            validity: validity(&finding.program, &Rules::answered(&self.answers)).name().to_owned(),
            ..finding
        };
        Finding { reproduce: reproduce::command(&finding), ..finding }
    }
}

fn coverage_count((reached, total): (usize, usize), missing: Option<Vec<String>>) -> CoverageCount {
    CoverageCount { reached: reached as u64, total: total as u64, missing }
}

/// Returns the specification's verdict on a program. Text that is not PTX has none.
pub(crate) fn validity(program: &str, rules: &Rules) -> Validity {
    let module = ptxsmith_syntax::parse(program);
    module.map_or(Validity::Undecided, |module| predict(&module, rules).validity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_testing::right;

    use crate::campaign::fake::{campaign, session, tested};

    #[test]
    fn a_command_that_describes_itself_has_a_name_of_its_own() {
        let name = |id: &str, version: Option<&str>| {
            let (id, version) = (id.to_owned(), version.map(str::to_owned));
            own_name(&Description { id, version, name: "toy".to_owned(), ..Description::default() })
        };
        assert_eq!(name("exec:python toy.py", Some("1")).as_deref(), Some("toy"));
        assert_eq!(name("serve:python toy.py", Some("1")).as_deref(), Some("toy"));
        assert_eq!(name("exec:python toy.py", None), None);
        assert_eq!(name("ptxas@13.5", Some("13.5.37")), None);
    }

    #[test]
    fn what_was_not_compared_is_the_sum_of_all_subjects() {
        let session = session();
        let campaign = campaign(&session, vec![tested("a", right), tested("b", right)]);
        for (tested, count) in campaign.subjects.iter().zip([2, 3]) {
            tested.ledger().not_compared.insert(NotCompared::Unmodelled, count);
        }
        let report = campaign.report(&[], true);
        let not_compared = report.not_compared.iter().filter(|(_, count)| **count > 0);
        assert_eq!(not_compared.collect::<Vec<_>>(), [(&NotCompared::Unmodelled.name().to_owned(), &5)]);
        assert_eq!(report.not_compared.len(), NotCompared::ALL.len());
    }
}
