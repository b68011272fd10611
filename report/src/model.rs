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
use std::path::Path;

use ptxsmith_subject::Observation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cases::Case;
use crate::releases::{ReleaseVerdict, release_map};

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
    #[serde(default, skip_serializing_if = "MemoryOperands::is_empty")]
    pub memory_operands: MemoryOperands,
    /// Cases without a verdict, by reason; reasons that did not occur are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared: BTreeMap<String, u64>,
    /// Why, as far as it is known: by reason as in `not_compared`, how often by the words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared_because: BTreeMap<String, BTreeMap<String, u64>>,
    /// What became of programs that must be accepted, and of those that must be refused.
    #[serde(default)]
    pub confusion: Confusion,
    /// Of one that refuses (nearly) every valid program, what it says most often: it is hardly configured, and its refusals
    /// are no findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses_everything: Option<String>,
    /// Verdicts by the clauses that they rest on; empty where they were not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clauses: BTreeMap<String, ClauseCounts>,
    /// Of each clause that it breaks, by class of finding, the least program that shows it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub least: BTreeMap<String, BTreeMap<String, String>>,
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

/// How many memory operands of kernels were compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryOperands {
    /// Those whose place was found in the code, or missed there.
    pub compared: u64,
    /// Those of which the code has nothing.
    pub removed: u64,
    /// The others, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl MemoryOperands {
    /// Adds those of other kernels.
    pub fn add(&mut self, other: &MemoryOperands) {
        self.compared += other.compared;
        self.removed += other.removed;
        for (reason, count) in &other.not_compared {
            *self.not_compared.entry(reason.clone()).or_default() += count;
        }
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        *self == MemoryOperands::default()
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

ptxsmith_syntax::every! {
    /// Whether a finding was listed before.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// Nothing listed explains it.
        #[default]
        New = "new",
        /// A listed deviation that no longer shows where it is listed.
        Gone = "gone",
        /// A listed deviation predicts it exactly.
        Known = "known",
    }
}

impl Status {
    /// Whether it makes the exit status of a campaign 1, unless it is expected.
    pub const fn needs_attention(self) -> bool {
        matches!(self, Status::New | Status::Gone)
    }
}

/// One distinct deviation, in all subjects that show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The stable name.
    pub id: String,
    /// New, gone or known.
    pub status: Status,
    /// What kind of deviation it is: `crash`, `wrong-value` ... A later version may know more of them.
    pub class: String,
    /// The subjects that show it; the first one is that of the example.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// The clauses that it breaks.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// What the specification says of the program: `valid`, `refused` or `undecided`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub validity: String,
    /// What happens, in a line.
    pub title: String,
    /// How many verdicts show it.
    #[serde(default)]
    pub count: u64,
    /// The shortest program that shows it.
    #[serde(default)]
    pub program: String,
    /// The variable that shows it, where one does.
    #[serde(default)]
    pub variable: Option<String>,
    /// What the specification says, as `ptxsmith.module/1`.
    #[serde(default)]
    pub expected: Value,
    /// What the subject did.
    #[serde(default)]
    pub observed: Observation,
    /// The command that shows it again.
    #[serde(default)]
    pub repeat: String,
    /// A shell command that shows it without ptxsmith; `None` where a shell cannot run the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// Why it is expected, where a file of expected failures has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_failure: Option<ExpectedFailure>,
    /// The file of the program, relative to the folder of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The verdict of every release, computed after reduction; empty where nobody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<ReleaseVerdict>,
    /// When it was first seen: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// The program after reduction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Reduced>,
    /// The nearest program to the smallest one that conforms: one word of it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<String>,
    /// Of one of class `inconsistent`: a program that means the same, of which the subject makes something else. What is
    /// expected is then what it makes of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Where it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Of one that is gone: how to narrow or remove its entry in the list of known deviations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
}

/// Why a finding is expected: what a file of expected failures says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedFailure {
    /// Why.
    pub reason: String,
    /// Where that is followed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// A failure that was expected of a subject which does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedPass {
    /// The finding.
    pub id: String,
    /// The subject, as `--subject` names it.
    pub subject: String,
    /// Why it was expected.
    pub reason: String,
}

impl Finding {
    /// Whether it makes the exit status of a campaign 1: it is new or gone, and not expected.
    pub const fn needs_attention(&self) -> bool {
        self.status.needs_attention() && self.expected_failure.is_none()
    }

    /// The least program of which both answers are known.
    pub fn example(&self) -> Example<'_> {
        match &self.reduced {
            Some(Reduced { program, answers: Some(answers), .. }) => Example {
                program,
                variable: answers.variable.as_deref(),
                expected: &answers.expected,
                observed: &answers.observed,
            },
            _ => Example {
                program: &self.program,
                variable: self.variable.as_deref(),
                expected: &self.expected,
                observed: &self.observed,
            },
        }
    }

    /// Another program that shows it, with what it is to the [example](Finding::example): `reduced to`, where only the
    /// program is known of the reduced one, or `reduced from`.
    pub fn other_program(&self) -> Option<(&'static str, &str)> {
        let reduced = self.reduced.as_ref()?;
        let (relation, other) = match reduced.answers {
            Some(_) => ("reduced from", &self.program),
            None => ("reduced to", &reduced.program),
        };
        (!other.is_empty() && other != self.example().program).then_some((relation, other))
    }

    /// The command that shows it again, from any directory where that of the report is known.
    pub fn repeat_in(&self, report: Option<&Path>) -> String {
        let (Some(report), Some(file)) = (report, &self.file) else { return self.repeat.clone() };
        let path = report.join(file).to_string_lossy().into_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
        let quoted =
            if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) };
        self.repeat.replacen(file, &quoted, 1)
    }

    /// The least program that is known to show it.
    pub fn least_program(&self) -> &str {
        self.reduced.as_ref().map_or(&self.program, |reduced| &reduced.program)
    }
}

/// A program that the reducer made least.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// Its text.
    pub program: String,
    /// Its size in tokens.
    #[serde(default)]
    pub tokens: u64,
    /// What holds of it and what the subject does with it, where that was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// Both answers for one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The variable that shows the deviation, where one does.
    #[serde(default)]
    pub variable: Option<String>,
    /// What the specification says, as `ptxsmith.module/1`.
    pub expected: Value,
    /// What the subject does.
    pub observed: Observation,
}

/// A program with both answers: what a rendering shows of a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    /// The program.
    pub program: &'a str,
    /// The variable that shows the deviation, where one does.
    pub variable: Option<&'a str>,
    /// What the specification says.
    pub expected: &'a Value,
    /// What the subject does.
    pub observed: &'a Observation,
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
    /// Whether it is the subject as a whole that refuses, and not something about the programs. A few programs do not tell.
    pub fn refuses_everything(&self) -> bool {
        const FEW: u64 = 20;
        const NEARLY: u64 = 50;
        let Fates { accepted, refused, died } = self.must_accept;
        refused >= FEW && accepted.saturating_mul(NEARLY) <= refused && died < refused
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

    /// How many findings have this status.
    pub fn count(&self, status: Status) -> usize {
        self.findings.iter().filter(|finding| finding.status == status).count()
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
            verdict: verdict.to_owned(),
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
