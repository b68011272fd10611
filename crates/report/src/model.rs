//! The report of a campaign: `ptxsmith.report/1`.
//!
//! Its contents do not depend on time, on the machine, on the number of threads or on the order in which
//! threads finish: the same campaign produces the same bytes. What depends on them is in the
//! [`Manifest`](crate::manifest::Manifest).
//!
//! Unknown fields are ignored, so that a report of a later version can be displayed. Fields that were added
//! after the first version may be missing.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::cases::CaseStandings;
use crate::releases::release_map;

pub use ptxsmith_model::{
    Answers, Class, ComparedResults, EmittedProgram, Example, ExpectedFailure, Finding, FindingKind, Reduced,
    Status, UnexpectedPass,
};

/// The value of `"schema"`.
pub const SCHEMA: &str = "ptxsmith.report/1";

/// The maximum number of explanations in a summary why something was not compared. The report contains all of
/// them.
const MOST_EXPLANATIONS: usize = 5;

/// All results of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of ptxsmith that wrote the report.
    #[serde(default)]
    pub ptxsmith: String,
    /// The command that wrote the report: `run` judges generated cases, `check` the variables of files.
    #[serde(default)]
    pub command: String,
    /// The seed from which the cases were generated.
    #[serde(default)]
    pub seed: u64,
    /// Whether the campaign finished; `false` while it runs, and if it was stopped.
    #[serde(default)]
    pub complete: bool,
    /// The implementations under test, in the order of the command line.
    pub subjects: Vec<SubjectResults>,
    /// The number of verdicts of all subjects.
    pub compared: u64,
    /// The number of verdicts that conform to the specification.
    pub conform: u64,
    /// The number of cases without a verdict, by reason.
    #[serde(default)]
    pub not_compared: BTreeMap<String, u64>,
    /// The answers to open questions that the user gave (`question=answer`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_answers: Vec<String>,
    /// How often each subject followed an interpretation other than the default (`question=answer`), by
    /// subject.
    #[serde(default)]
    pub readings: BTreeMap<String, BTreeMap<String, u64>>,
    /// How often each subject was shown to follow a default interpretation, by subject.
    #[serde(default)]
    pub default_readings: BTreeMap<String, BTreeMap<String, u64>>,
    /// The distinct deviations, in the order of [`severity::order`](crate::severity::order).
    pub findings: Vec<Finding>,
    /// Expected failures that did not occur.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexpected_passes: Vec<UnexpectedPass>,
    /// The result of each subject for each program, if the campaign was asked to record it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseStandings>,
    /// The coverage of the specification and the grammar.
    #[serde(default)]
    pub coverage: CoverageSummary,
}

/// An implementation under test and its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubjectResults {
    /// The subject as `--subject` names it: `ptxas@13.5`.
    pub id: String,
    /// The name that a subject reports for itself, if it is a command that does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The full version.
    #[serde(default)]
    pub version: Option<String>,
    /// The implementation from which the subject descends. Subjects of one lineage count as one vote.
    #[serde(default)]
    pub lineage: Option<String>,
    /// Whether the subject could be run.
    #[serde(default)]
    pub available: bool,
    /// A hash of the program or library, if it is a file.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The number of verdicts.
    #[serde(default)]
    pub compared: u64,
    /// The number of verdicts that conform to the specification.
    #[serde(default)]
    pub conform: u64,
    /// The number of variables that the subject does not show, in cases that were compared because of other
    /// variables.
    #[serde(default)]
    pub variables_not_shown: u64,
    /// The number of conforming verdicts based on the outcome alone: the subject accepts the program, as the
    /// specification does, but does not show values.
    #[serde(default)]
    pub compared_by_outcome: u64,
    /// The number of operand results in kernels that were seen and that the specification predicts.
    #[serde(default, skip_serializing_if = "OperandCounts::is_empty")]
    pub operands: OperandCounts,
    /// The number of memory operands in kernels of files that were compared with those of generated code.
    #[serde(default, skip_serializing_if = "KernelCounts::is_empty")]
    pub memory_operands: KernelCounts,
    /// The number of kernels in files for which the computed results were compared.
    #[serde(default, skip_serializing_if = "KernelCounts::is_empty")]
    pub computed_kernels: KernelCounts,
    /// The number of cases without a verdict, by reason. Reasons that did not occur are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared: BTreeMap<String, u64>,
    /// The detailed explanations, as far as they are known: by reason as in `not_compared`, the number of
    /// cases for each explanation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared_because: BTreeMap<String, BTreeMap<String, u64>>,
    /// The outcomes of valid programs, which must be accepted, and of invalid ones, which must be rejected.
    #[serde(default)]
    pub confusion: Confusion,
    /// For a subject that accepts (almost) no valid program: its most frequent message, or how it crashes.
    /// Such a subject is probably not configured correctly, so its rejections are not findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses_everything: Option<String>,
    /// The number of verdicts by the clauses on which they are based; empty if they were not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<String, ClauseCounts>,
    /// The minimized reproducer for each clause that the subject violates, by class of finding.
    #[serde(default, rename = "least", skip_serializing_if = "BTreeMap::is_empty")]
    pub reproducers: BTreeMap<String, BTreeMap<Class, String>>,
}

impl SubjectResults {
    /// Returns the most frequent explanations why something was not compared for this reason.
    pub fn explanations(&self, reason: &str) -> Vec<(&str, u64)> {
        let counts = self.not_compared_because.get(reason).into_iter().flatten();
        let mut explanations: Vec<(&str, u64)> =
            counts.map(|(explanation, count)| (explanation.as_str(), *count)).collect();
        explanations.sort_by_key(|&(_, count)| Reverse(count));
        explanations.truncate(MOST_EXPLANATIONS);
        explanations
    }

    /// Returns the number of cases that do not conform.
    pub fn deviate(&self) -> u64 {
        self.compared.saturating_sub(self.conform)
    }

    /// Returns the number of invalid programs that the subject rejects. They count as conforming verdicts,
    /// although the programs are invalid.
    pub fn refused_invalid(&self) -> u64 {
        self.confusion.must_refuse.refused.min(self.conform)
    }

    /// Returns the number of conforming verdicts without those on invalid programs.
    pub fn conform_valid(&self) -> u64 {
        self.conform - self.refused_invalid()
    }

    /// Returns a short name for narrow columns: `toy 1` instead of the whole command line.
    pub fn label(&self) -> String {
        match (&self.name, &self.version) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.clone(),
            (None, _) => self.id.clone(),
        }
    }
}

/// The number of operand results in kernels that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperandCounts {
    /// The number of results that the subject shows.
    pub seen: u64,
    /// The number of results that the specification predicts.
    pub total: u64,
}

impl OperandCounts {
    /// Returns the percentage of results that were seen.
    pub fn percent(&self) -> f64 {
        self.seen as f64 * 100.0 / self.total as f64
    }

    /// Whether there were no results at all.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// The number of items in kernels that were compared with generated code: memory operands, or computed
/// kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelCounts {
    /// The items that were compared. For a memory operand this means that its place was found in the code, or
    /// was missing there.
    pub compared: u64,
    /// The items that the generated code no longer contains.
    pub removed: u64,
    /// The number of other items, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl KernelCounts {
    /// Adds the counts of other kernels.
    pub fn add(&mut self, other: &KernelCounts) {
        self.compared += other.compared;
        self.removed += other.removed;
        for (reason, count) in &other.not_compared {
            *self.not_compared.entry(reason.clone()).or_default() += count;
        }
    }

    /// Whether all counts are zero.
    pub fn is_empty(&self) -> bool {
        *self == KernelCounts::default()
    }
}

/// The number of verdicts that are based on one clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClauseCounts {
    /// All verdicts.
    pub compared: u64,
    /// The subject follows the clause.
    pub conform: u64,
    /// A variable has other contents or another place.
    pub deviates: u64,
    /// The subject rejects a valid program.
    pub refuses_valid: u64,
    /// The subject accepts an invalid program.
    pub accepts_invalid: u64,
    /// The subject crashed or gave no result.
    pub crashed: u64,
    /// The subject reports that it does not support this; not counted in `compared`.
    pub unsupported: u64,
}

/// The coverage of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoverageSummary {
    /// The clauses that data at module scope can test.
    pub clauses: CoverageCount,
    /// The productions of the grammar that generates programs.
    pub productions: CoverageCount,
    /// The pairs of productions in which one is the direct child of the other.
    pub pairs: CoverageCount,
}

/// The covered part of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoverageCount {
    /// The number of items that were reached.
    pub reached: u64,
    /// The number of all items.
    pub total: u64,
    /// The items that were not reached; not listed for pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
}

/// The outcomes of valid programs, which must be accepted, and of invalid ones, which must be rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confusion {
    /// The programs that the specification accepts.
    pub must_accept: OutcomeCounts,
    /// The programs that the specification rejects.
    pub must_refuse: OutcomeCounts,
}

/// The outcomes of a subject for programs that are all valid, or all invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutcomeCounts {
    /// The subject accepts the program.
    pub accepted: u64,
    /// The subject rejects the program.
    pub refused: u64,
    /// The subject crashes or hangs.
    #[serde(rename = "died")]
    pub crashed: u64,
}

/// Implements `+=` that adds each count separately.
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
    OperandCounts { seen, total }
    ClauseCounts { compared, conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported }
    Confusion { must_accept, must_refuse }
    OutcomeCounts { accepted, refused, crashed }
}

impl Confusion {
    /// Whether the subject rejects or crashes on (almost) all valid programs, so that the cause is the
    /// subject itself and not the programs. False if there are too few programs to decide.
    pub fn accepts_nothing(&self) -> bool {
        const FEW: u64 = 20;
        const NEARLY: u64 = 50;
        let OutcomeCounts { accepted, refused, crashed } = self.must_accept;
        let others = refused.max(crashed);
        others >= FEW && accepted.saturating_mul(NEARLY) <= others
    }

    /// Whether the subject rejects (almost) all valid programs and crashes less often than it rejects.
    pub fn refuses_everything(&self) -> bool {
        self.accepts_nothing() && self.must_accept.crashed < self.must_accept.refused
    }

    /// Whether the subject accepts (almost) all invalid programs. False if there are too few programs to
    /// decide.
    pub fn accepts_everything(&self) -> bool {
        const FEW: u64 = 10;
        const NEARLY: u64 = 50;
        let OutcomeCounts { accepted, refused, .. } = self.must_refuse;
        accepted >= FEW && refused.saturating_mul(NEARLY) <= accepted
    }

    /// Returns the number of programs on which the subject crashed or hung.
    pub fn crashes(&self) -> u64 {
        self.must_accept.crashed.saturating_add(self.must_refuse.crashed)
    }
}

impl CoverageCount {
    /// Returns the percentage of items that were reached.
    pub fn percent(&self) -> f64 {
        100.0 * self.reached as f64 / self.total.max(1) as f64
    }
}

impl Report {
    /// Returns the name of a subject with its version: `ptxas@13.5 (13.5.37)`. A command that reports its own
    /// name has that name: `toy (1)`.
    pub fn name_with_version(&self, id: &str) -> String {
        let name = self.display_name(id);
        match self.subject(id).and_then(|subject| subject.version.as_deref()) {
            Some(version) => format!("{name} ({version})"),
            None => name.to_owned(),
        }
    }

    /// Returns the name that a subject reports for itself, or else its name in `--subject`.
    fn display_name<'a>(&'a self, id: &'a str) -> &'a str {
        self.subject(id).and_then(|subject| subject.name.as_deref()).unwrap_or(id)
    }

    fn subject(&self, id: &str) -> Option<&SubjectResults> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// Returns the verdicts of all subjects on a finding's program in one line; see [`release_map`].
    pub fn release_map(&self, finding: &Finding) -> String {
        let mut releases = finding.releases.clone();
        for release in &mut releases {
            release.subject = self.display_name(&release.subject).to_owned();
        }
        release_map(&releases)
    }

    /// Returns the noun for a number of judged items: `case` or `cases`, or for files `part` or `parts`.
    pub fn units(&self, count: impl Borrow<u64>) -> &'static str {
        match (&*self.command, *count.borrow()) {
            ("check", 1) => "part",
            ("check", _) => "parts",
            (_, 1) => "case",
            _ => "cases",
        }
    }

    /// Whether the exit status of the campaign is 1: it has an unexpected finding, or an expected failure did
    /// not occur.
    pub fn needs_attention(&self) -> bool {
        self.findings.iter().any(Finding::needs_attention) || !self.unexpected_passes.is_empty()
    }

    /// Returns the number of findings that are expected failures.
    pub fn expected_failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.expected_failure.is_some()).count()
    }

    /// Returns the number of findings with this status, without expected ones.
    pub fn count(&self, status: Status) -> usize {
        let findings = self.findings.iter().filter(|finding| finding.status == status);
        findings.filter(|finding| !finding.is_expected()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::releases::ReleaseVerdict;

    /// The report of section 6 of the contract, with only the fields that it promises.
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
        assert_eq!(report.name_with_version("ptxas@13.5"), "ptxas@13.5 (13.5.37)");
        assert_eq!(report.name_with_version("ptxas@13.4"), "ptxas@13.4");
    }

    #[test]
    fn a_command_has_the_name_that_it_reports() {
        let mut report: Report = serde_json::from_str(LEAST).unwrap();
        let command = "serve:python3 /some/where/toy.py";
        let name = Some("toy".to_owned());
        let version = Some("1".to_owned());
        report.subjects.push(SubjectResults {
            id: command.to_owned(),
            name,
            version,
            ..SubjectResults::default()
        });
        let verdict = |subject: &str, version: &str, verdict: &str| ReleaseVerdict {
            subject: subject.to_owned(),
            version: version.to_owned(),
            verdict: verdict.to_owned().into(),
        };
        let releases = vec![verdict("ptxas@13.5", "13.5.37", "crash"), verdict(command, "1", "conform")];
        let finding = Finding { releases, ..report.findings[0].clone() };
        assert_eq!(report.name_with_version(command), "toy (1)");
        assert_eq!(report.release_map(&finding), "ptxas 13.5 crash; toy 1 conform");
    }

    #[test]
    fn a_written_report_is_read_back() {
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
