//! The report of a campaign: `ptxsmith.report/1`.
//!
//! It holds nothing that depends on time, on the machine, on the number of threads or on the order in which they
//! finished: the same campaign gives the same bytes. Those are in the [`Manifest`](crate::manifest::Manifest).
//!
//! Fields that are not known are passed over, so that a report of a later version can be shown. Fields that were added
//! after the first version may be missing.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::releases::{ReleaseVerdict, release_map};

pub use ptxsmith_model::{
    Answers, Class, Comparison, EmittedProgram, Example, ExpectedFailure, Finding, Kind, Reduced, Status,
    UnexpectedPass,
};

/// The value of `"schema"`.
pub const SCHEMA: &str = "ptxsmith.report/1";

/// The most reasons that a summary gives why something was not compared; the report has all.
const MOST_REASONS: usize = 5;

/// All that a campaign found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of ptxsmith that wrote it.
    #[serde(default)]
    pub ptxsmith: String,
    /// What was judged: `run` judges generated cases, `check` the variables of files.
    #[serde(default)]
    pub command: String,
    /// What chose the cases.
    #[serde(default)]
    pub seed: u64,
    /// Whether the campaign came to its end; `false` while it goes on, and if it was stopped.
    #[serde(default)]
    pub complete: bool,
    /// The implementations under test, in the order of the command line.
    pub subjects: Vec<Subject>,
    /// Verdicts of all subjects together.
    pub compared: u64,
    /// Those that agree with the specification.
    pub conform: u64,
    /// Cases without a verdict, by reason.
    #[serde(default)]
    pub not_compared: BTreeMap<String, u64>,
    /// Answers to open questions other than the default that were followed (`question=answer`), by subject.
    #[serde(default)]
    pub readings: BTreeMap<String, BTreeMap<String, u64>>,
    /// Default answers that were shown to be followed, by subject.
    #[serde(default)]
    pub default_readings: BTreeMap<String, BTreeMap<String, u64>>,
    /// The distinct deviations, in the order of [`severity::order`](crate::severity::order).
    pub findings: Vec<Finding>,
    /// Failures that were expected and did not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexpected_passes: Vec<UnexpectedPass>,
    /// What each subject makes of each program, where the campaign was asked for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Case>,
    /// What was reached of specification and grammar.
    #[serde(default)]
    pub coverage: Coverage,
}

/// An implementation under test, and how it fared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// As `--subject` names it: `ptxas@13.5`.
    pub id: String,
    /// What a command calls itself, where the subject is one and says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The full version.
    #[serde(default)]
    pub version: Option<String>,
    /// Whose descendant it is; subjects of one lineage count as one vote.
    #[serde(default)]
    pub lineage: Option<String>,
    /// Whether there was anything to ask.
    #[serde(default)]
    pub available: bool,
    /// Hash of the program or library, where it has a file.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Verdicts.
    #[serde(default)]
    pub compared: u64,
    /// Those that agree with the specification.
    #[serde(default)]
    pub conform: u64,
    /// Variables that the subject does not show, in cases that were compared for others.
    #[serde(default)]
    pub variables_not_shown: u64,
    /// Of those that conform, those of which the subject shows no values: it takes what the specification takes.
    #[serde(default)]
    pub compared_by_outcome: u64,
    /// Of kernels, how many results of operands were seen, and how many the specification predicts.
    #[serde(default, skip_serializing_if = "Operands::is_empty")]
    pub operands: Operands,
    /// Of the kernels of files, how many memory operands were compared with those of generated code.
    #[serde(default, skip_serializing_if = "CodeCounts::is_empty")]
    pub memory_operands: CodeCounts,
    /// Of how many kernels of files it was compared what they compute.
    #[serde(default, skip_serializing_if = "CodeCounts::is_empty")]
    pub computed_kernels: CodeCounts,
    /// Cases without a verdict, by reason; reasons that did not occur are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared: BTreeMap<String, u64>,
    /// Why, as far as it is known: by reason as in `not_compared`, how often by the words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared_because: BTreeMap<String, BTreeMap<String, u64>>,
    /// What became of programs that must be accepted, and of those that must be refused.
    #[serde(default)]
    pub confusion: Confusion,
    /// Of one that accepts (nearly) no valid program, what it says most often, or how it dies: it is hardly configured, and
    /// its refusals are no findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses_everything: Option<String>,
    /// Verdicts by the clauses that they rest on; empty where they were not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<String, ClauseCounts>,
    /// Of each clause that it breaks, by class of finding, the minimized reproducer that shows it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub least: BTreeMap<String, BTreeMap<Class, String>>,
}

impl Subject {
    /// The words that say most often why something was not compared.
    pub fn because(&self, reason: &str) -> Vec<(&str, u64)> {
        let all = self.not_compared_because.get(reason).into_iter().flatten();
        let mut all: Vec<(&str, u64)> = all.map(|(why, count)| (why.as_str(), *count)).collect();
        all.sort_by_key(|&(_, count)| Reverse(count));
        all.truncate(MOST_REASONS);
        all
    }

    /// How many cases do not conform.
    pub fn deviate(&self) -> u64 {
        self.compared.saturating_sub(self.conform)
    }

    /// How many invalid programs it refuses: they conform, and are no programs that conform.
    pub fn refused_invalid(&self) -> u64 {
        self.confusion.must_refuse.refused.min(self.conform)
    }

    /// The verdicts that conform, those on invalid programs aside.
    pub fn conform_valid(&self) -> u64 {
        self.conform - self.refused_invalid()
    }

    /// What it is called where there is little room: `toy 1` rather than its whole command line.
    pub fn label(&self) -> String {
        match (&self.name, &self.version) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.clone(),
            (None, _) => self.id.clone(),
        }
    }
}

/// What was seen of the results of operands in kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operands {
    /// Results that the subject shows.
    pub seen: u64,
    /// Results that the specification predicts.
    pub total: u64,
}

impl Operands {
    /// How much of them is seen, of a hundred.
    pub fn percent(&self) -> f64 {
        self.seen as f64 * 100.0 / self.total as f64
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// How many things of kernels were compared with generated code: memory operands, or what kernels compute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCounts {
    /// Those that were compared: of operands those whose place was found in the code, or missed there.
    pub compared: u64,
    /// Those of which the code has nothing.
    pub removed: u64,
    /// The others, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl CodeCounts {
    /// Adds those of other kernels.
    pub fn add(&mut self, other: &CodeCounts) {
        self.compared += other.compared;
        self.removed += other.removed;
        for (reason, count) in &other.not_compared {
            *self.not_compared.entry(reason.clone()).or_default() += count;
        }
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        *self == CodeCounts::default()
    }
}

/// Verdicts that rest on one clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClauseCounts {
    /// All of them.
    pub compared: u64,
    /// The subject does what the clause says.
    pub conform: u64,
    /// It holds something else, or places it elsewhere.
    pub deviates: u64,
    /// It refuses what must be taken.
    pub refuses_valid: u64,
    /// It takes what must be refused.
    pub accepts_invalid: u64,
    /// It died or gave no answer.
    pub crashed: u64,
    /// It says that it lacks this; not among `compared`.
    pub unsupported: u64,
}

/// What was reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// Clauses that data at module scope can show kept or broken.
    pub clauses: Reached,
    /// Productions of the grammar that programs are made from.
    pub productions: Reached,
    /// Pairs of productions, one directly beneath the other.
    pub pairs: Reached,
}

/// A part of a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reached {
    /// How many were reached.
    pub reached: u64,
    /// How many there are.
    pub total: u64,
    /// What was not reached; of pairs it is not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
}

/// What became of programs that must be accepted, and of those that must be refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confusion {
    /// Those that the specification takes.
    pub must_accept: Fates,
    /// Those that it refuses.
    pub must_refuse: Fates,
}

/// What a subject does with programs of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fates {
    /// It takes them.
    pub accepted: u64,
    /// It refuses them.
    pub refused: u64,
    /// It crashes or hangs.
    pub died: u64,
}

/// Counts add up field by field.
macro_rules! add_up {
    ($($type:ident { $($count:ident),+ })+) => {
        $(impl AddAssign for $type {
            fn add_assign(&mut self, other: $type) {
                $(self.$count += other.$count;)+
            }
        })+
    };
}

add_up! {
    Operands { seen, total }
    ClauseCounts { compared, conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported }
    Confusion { must_accept, must_refuse }
    Fates { accepted, refused, died }
}

impl Confusion {
    /// Whether it is the subject as a whole that refuses or dies, and not something about the programs. A few programs do not
    /// tell.
    pub fn accepts_nothing(&self) -> bool {
        const FEW: u64 = 20;
        const NEARLY: u64 = 50;
        let Fates { accepted, refused, died } = self.must_accept;
        let others = refused.max(died);
        others >= FEW && accepted.saturating_mul(NEARLY) <= others
    }

    /// The same, of one that refuses more than it dies.
    pub fn refuses_everything(&self) -> bool {
        self.accepts_nothing() && self.must_accept.died < self.must_accept.refused
    }

    /// Whether it is the subject as a whole that refuses nothing, or nearly so. A few programs do not tell.
    pub fn accepts_everything(&self) -> bool {
        const FEW: u64 = 10;
        const NEARLY: u64 = 50;
        let Fates { accepted, refused, .. } = self.must_refuse;
        accepted >= FEW && refused.saturating_mul(NEARLY) <= accepted
    }

    /// How many programs the subject died of.
    pub fn died(&self) -> u64 {
        self.must_accept.died.saturating_add(self.must_refuse.died)
    }
}

impl Reached {
    /// The share that is reached, of a hundred.
    pub fn percent(&self) -> f64 {
        100.0 * self.reached as f64 / self.total.max(1) as f64
    }
}

impl Report {
    /// A subject with its version: `ptxas@13.5 (13.5.37)`; by the name that it gives itself where it is a command that
    /// does: `toy (1)`.
    pub fn named(&self, id: &str) -> String {
        let name = self.called(id);
        match self.subject(id).and_then(|subject| subject.version.as_deref()) {
            Some(version) => format!("{name} ({version})"),
            None => name.to_owned(),
        }
    }

    /// A subject by the name that it gives itself, or as `--subject` names it.
    fn called<'a>(&'a self, id: &'a str) -> &'a str {
        self.subject(id).and_then(|subject| subject.name.as_deref()).unwrap_or(id)
    }

    fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// What every subject does with the program of a finding, in a line; see [`release_map`].
    pub fn release_map(&self, finding: &Finding) -> String {
        let called = |verdict: &ReleaseVerdict| ReleaseVerdict {
            subject: self.called(&verdict.subject).to_owned(),
            ..verdict.clone()
        };
        release_map(&finding.releases.iter().map(called).collect::<Vec<_>>())
    }

    /// What was judged, for so many: `1 case`, `2 parts` of files.
    pub fn units(&self, count: impl Borrow<u64>) -> &'static str {
        match (&*self.command, *count.borrow()) {
            ("check", 1) => "part",
            ("check", _) => "parts",
            (_, 1) => "case",
            _ => "cases",
        }
    }

    /// Whether the exit status of the campaign is 1: something was found that is not expected, or did not show though it is.
    pub fn needs_attention(&self) -> bool {
        self.findings.iter().any(Finding::needs_attention) || !self.unexpected_passes.is_empty()
    }

    /// How many findings are expected failures.
    pub fn expected_failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.expected_failure.is_some()).count()
    }

    /// How many findings have this status, expected ones left out.
    pub fn count(&self, status: Status) -> usize {
        let counts = |finding: &&Finding| finding.status == status && !finding.is_expected();
        self.findings.iter().filter(counts).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report of section 6 of the contract, with no field more than it promises.
    const LEAST: &str = r#"{
        "schema": "ptxsmith.report/1",
        "subjects": [{"id": "ptxas@13.5", "version": "13.5.37", "lineage": "nvidia", "available": true}],
        "compared": 2, "conform": 1, "not_compared": {"unmodelled": 0, "unobserved": 12},
        "findings": [{
            "id": "a", "status": "gone", "class": "crash", "subjects": ["ptxas@13.5"], "clauses": [],
            "title": "t", "count": 41, "program": ".version 7.8", "variable": null,
            "expected": {"outcome": "accepted"}, "observed": {"outcome": "crashed", "signal": 8},
            "repeat": "ptxsmith check", "of a later version": {"x": 1}
        }],
        "coverage": {"clauses": {"reached": 0, "total": 0}, "productions": {"reached": 0, "total": 0}}
    }"#;

    #[test]
    fn a_report_with_only_the_promised_fields_can_be_read() {
        let report: Report = serde_json::from_str(LEAST).unwrap();
        assert_eq!(report.findings[0].observed.signal, Some(8));
        assert_eq!((report.count(Status::Gone), report.count(Status::New)), (1, 0));
        assert_eq!(report.named("ptxas@13.5"), "ptxas@13.5 (13.5.37)");
        assert_eq!(report.named("ptxas@13.4"), "ptxas@13.4");
    }

    #[test]
    fn a_command_is_called_what_it_calls_itself() {
        let mut report: Report = serde_json::from_str(LEAST).unwrap();
        let command = "serve:python3 /some/where/toy.py";
        let (name, version) = (Some("toy".to_owned()), Some("1".to_owned()));
        report.subjects.push(Subject { id: command.to_owned(), name, version, ..Subject::default() });
        let verdict = |subject: &str, version: &str, verdict: &str| ReleaseVerdict {
            subject: subject.to_owned(),
            version: version.to_owned(),
            verdict: verdict.to_owned().into(),
        };
        let releases = vec![verdict("ptxas@13.5", "13.5.37", "crash"), verdict(command, "1", "conform")];
        let finding = Finding { releases, ..report.findings[0].clone() };
        assert_eq!(report.named(command), "toy (1)");
        assert_eq!(report.release_map(&finding), "ptxas 13.5 crash; toy 1 conform");
    }

    #[test]
    fn what_was_written_is_read_the_same() {
        let report: Report = serde_json::from_str(LEAST).unwrap();
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        assert!(!text.contains("first_seen") && !text.contains("releases"), "{text}");
    }

    #[test]
    fn new_findings_come_first_and_known_ones_last() {
        assert!(Status::ALL.is_sorted());
        assert!(Status::New.needs_attention() && Status::Gone.needs_attention());
        assert!(!Status::Known.needs_attention());
    }
}
