//! The report of `ptxsmith cuda run`: as JSON (`ptxsmith.report/1`), as programs, and as text.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use askama::Template;
use ptxsmith_campaign::files::write_whole;
use ptxsmith_cuda::compare::{
    DeviationClass, DeviationGroup, GroupKey, NotComparedReason, RuleCoverage, RuleLedger,
};
use ptxsmith_cuda::known::{CudaDeviation, DeviationEffect, KNOWN};
use ptxsmith_cuda::language::{DeclarationSite, FORMS, UsePlace, VariableType, print};
use ptxsmith_cuda::oracle::UseVerdict;
use ptxsmith_cuda::rule::RuleClause;
use ptxsmith_cuda::subjects::{Compiler, PRELUDE, Reported};
use ptxsmith_report::harmless;
use ptxsmith_report::{SCHEMA, Status, folder};
use ptxsmith_subject::{Diagnostic, Observation, Outcome, Severity};
use serde_json::{Value, json};

use crate::console::{BAD, BOLD, END, GOOD, NOTE, line};
use crate::exit::Failure;

/// A compiler and its results.
pub struct CompilerResults {
    pub compiler: Box<dyn Compiler>,
    /// The results of all cases shown to the compiler.
    pub ledger: RuleLedger,
}

/// A finished campaign.
pub struct CudaCampaign<'a> {
    /// The directory of the report and the findings.
    pub out: &'a Path,
    /// The seed of the cases.
    pub seed: u64,
    /// Whether the campaign ran to its end.
    pub complete: bool,
    pub tested: Vec<CompilerResults>,
    /// The features that the cases covered.
    pub coverage: RuleCoverage,
}

/// A finding, for one or several compilers.
struct CudaFinding<'a> {
    id: String,
    status: Status,
    class: DeviationClass,
    title: String,
    reason: Option<&'static str>,
    /// The clauses that a known deviation violates.
    departs_from: &'static [RuleClause],
    subjects: Vec<&'a str>,
    count: u64,
    /// The first case and its observation; `None` if a known deviation no longer reproduces.
    group: Option<&'a DeviationGroup>,
}

fn class_of(known: &CudaDeviation) -> DeviationClass {
    match known.effect {
        DeviationEffect::Accepts => DeviationClass::AcceptsInvalid,
        DeviationEffect::Refuses => DeviationClass::RefusesValid,
        DeviationEffect::Fails => DeviationClass::Crash,
    }
}

impl<'a> CudaFinding<'a> {
    fn of_known(known: &'static CudaDeviation, group: &'a DeviationGroup) -> CudaFinding<'a> {
        CudaFinding {
            id: known.id.to_owned(),
            status: Status::Known,
            class: class_of(known),
            title: known.title.to_owned(),
            reason: Some(known.reason),
            departs_from: known.clauses,
            subjects: Vec::new(),
            count: group.count,
            group: Some(group),
        }
    }

    fn of_gone(known: &'static CudaDeviation, count: u64) -> CudaFinding<'a> {
        CudaFinding {
            id: format!("{}-gone", known.id),
            status: Status::Gone,
            class: class_of(known),
            title: format!("no longer seen: {}", known.title),
            reason: Some(known.reason),
            departs_from: known.clauses,
            subjects: Vec::new(),
            count,
            group: None,
        }
    }

    fn of_new(key: &GroupKey, group: &'a DeviationGroup) -> CudaFinding<'a> {
        let verdict = match key.verdict {
            "allowed" => "what the rule allows".to_owned(),
            "silent" => "what the rule does not speak of".to_owned(),
            name => format!("a use with {name}"),
        };
        let what = match key.class {
            DeviationClass::AcceptsInvalid => "accepts",
            DeviationClass::RefusesValid => "refuses",
            DeviationClass::WrongValue => "gives another value for",
            DeviationClass::VariableInDevice => "has the variable on the device for",
            DeviationClass::Crash => "fails on",
            DeviationClass::Hang => "does not end on",
        };
        CudaFinding {
            id: format!("{}-{}-{}", key.class.name(), key.verdict, key.form),
            status: Status::New,
            class: key.class,
            title: format!("{what} {verdict}, in the form {}", key.form),
            reason: None,
            departs_from: &[],
            subjects: Vec::new(),
            count: group.count,
            group: Some(group),
        }
    }
}

impl CudaCampaign<'_> {
    /// The number of groups of cases with an unknown deviation, plus the number of listed deviations that no
    /// longer reproduce.
    pub fn news(&self) -> usize {
        self.tested.iter().map(|tested| tested.ledger.news()).sum()
    }

    /// Returns the findings, ordered by name. The example is from the first compiler that shows the finding.
    fn findings(&self) -> Vec<CudaFinding<'_>> {
        let mut all: BTreeMap<String, CudaFinding<'_>> = BTreeMap::new();
        for CompilerResults { compiler, ledger } in &self.tested {
            let gone = ledger.gone();
            let known = KNOWN.iter().filter_map(|known| match ledger.known.get(known.id) {
                Some(group) => Some(CudaFinding::of_known(known, group)),
                None => {
                    gone.contains(&known.id).then(|| CudaFinding::of_gone(known, ledger.families[known.id]))
                }
            });
            let new = ledger.new.iter().map(|(key, group)| CudaFinding::of_new(key, group));
            for finding in known.chain(new) {
                let count = finding.count;
                let mine = all.entry(finding.id.clone()).or_insert(CudaFinding { count: 0, ..finding });
                mine.count += count;
                mine.subjects.push(&compiler.description().id);
            }
        }
        all.into_values().collect()
    }

    /// Saves the report and the first program of each finding.
    pub fn save(&self) -> Result<(), Failure> {
        let findings = self.findings();
        let directory = self.out.join(folder::FINDINGS);
        std::fs::create_dir_all(&directory)?;
        for finding in &findings {
            if let Some(group) = finding.group {
                let path = directory.join(format!("{}.cu", finding.id));
                write_whole(&path, self.program(finding, group).as_bytes())?;
            }
        }
        let mut text = harmless::json(serde_json::to_string_pretty(&self.json(&findings))?);
        text.push('\n');
        write_whole(&self.out.join(folder::REPORT), text.as_bytes())?;
        Ok(())
    }

    /// Returns the program of a finding, which any compiler accepts. Leading comments state the expected and
    /// the observed behavior.
    fn program(&self, finding: &CudaFinding<'_>, group: &DeviationGroup) -> String {
        format!(
            "// finding: {}\n// expect: {}\n// observed: {} ({})\n// clause: {}\n// repeat: \
             {}\n{PRELUDE}{}\n",
            finding.title,
            expected(group),
            line(&observed(group)),
            finding.subjects.join(", "),
            clauses(group).join(", "),
            self.repeat(finding, group),
            print(&group.example).line,
        )
    }

    fn repeat(&self, finding: &CudaFinding<'_>, group: &DeviationGroup) -> String {
        let subjects: String = finding.subjects.iter().map(|id| format!(" --subject {id}")).collect();
        let seed = self.seed;
        let first = group.example.id;
        format!("ptxsmith cuda run --seed {seed} --first {first} --cases 1{subjects}")
    }

    fn json(&self, findings: &[CudaFinding<'_>]) -> Value {
        let mut not_compared: BTreeMap<&str, u64> =
            NotComparedReason::ALL.iter().map(|reason| (reason.name(), 0)).collect();
        for (reason, count) in self.tested.iter().flat_map(|tested| &tested.ledger.not_compared) {
            *not_compared.entry(reason.name()).or_default() += count;
        }
        let ledgers = || self.tested.iter().map(|tested| &tested.ledger);
        let compared: u64 = ledgers().map(|ledger| ledger.compared).sum();
        let conform: u64 = ledgers().map(|ledger| ledger.conform + ledger.conform_under_reading).sum();
        let readings: BTreeMap<_, _> = self
            .tested
            .iter()
            .map(|tested| (&tested.compiler.description().id, sides(&tested.ledger)))
            .collect();
        let clauses = &self.coverage.clauses;
        let productions = &self.coverage.productions;
        let is_of_table =
            |name: &&String| ["form ", "place ", "site ", "type "].iter().any(|kind| name.starts_with(kind));
        let reached = productions.iter().filter(is_of_table).count();
        let total = FORMS.len() + UsePlace::ALL.len() + DeclarationSite::ALL.len() + VariableType::ALL.len();
        json!({
            "schema": SCHEMA,
            "ptxsmith": env!("CARGO_PKG_VERSION"),
            "command": "cuda run",
            "seed": self.seed,
            "complete": self.complete,
            "subjects": self.tested.iter().map(subject).collect::<Vec<_>>(),
            "compared": compared,
            "conform": conform,
            "not_compared": not_compared,
            "readings": readings,
            "findings": findings.iter().map(|finding| self.finding(finding)).collect::<Vec<_>>(),
            "coverage": {
                "clauses": { "reached": clauses.len(), "total": RuleClause::ALL.len() - 1 },
                "productions": { "reached": reached, "total": total },
            },
        })
    }

    fn finding(&self, finding: &CudaFinding<'_>) -> Value {
        let mut json = json!({
            "id": finding.id,
            "status": finding.status,
            "class": finding.class.name(),
            "subjects": finding.subjects,
            "clauses": [],
            "title": finding.title,
            "reason": finding.reason,
            "departs_from": finding.departs_from.iter().map(|clause| clause.name()).collect::<Vec<_>>(),
            "count": finding.count,
            "program": null,
            "variable": null,
            "expected": null,
            "observed": null,
            "repeat": null,
        });
        let Some(group) = finding.group else { return json };
        let verdict = &group.expectation.verdict;
        let keys = match verdict {
            UseVerdict::Forbidden(keys) => keys.iter().map(|key| key.name()).collect(),
            _ => Vec::new(),
        };
        let outcome = if verdict.refuses() == Some(true) { Outcome::Refused } else { Outcome::Accepted };
        json["clauses"] = json!(clauses(group));
        json["program"] = json!(format!("{PRELUDE}{}\n", print(&group.example).line));
        json["variable"] = json!(format!("v{}_", group.example.id));
        json["expected"] = json!({ "outcome": outcome, "keys": keys });
        json["observed"] = json!(observation(&group.observed.reported));
        json["repeat"] = json!(self.repeat(finding, group));
        json
    }

    /// Renders the results as text.
    pub fn summary(&self, wall: Duration) -> Result<String, askama::Error> {
        CudaSummary { campaign: self, findings: self.findings(), wall }.render()
    }
}

#[derive(Template)]
#[template(path = "cuda.txt")]
struct CudaSummary<'a> {
    campaign: &'a CudaCampaign<'a>,
    findings: Vec<CudaFinding<'a>>,
    wall: Duration,
}

fn clauses(group: &DeviationGroup) -> Vec<&'static str> {
    group.expectation.clauses.iter().map(|clause| clause.name()).collect()
}

fn expected(group: &DeviationGroup) -> String {
    match &group.expectation.verdict {
        UseVerdict::Allowed => "accepted".to_owned(),
        UseVerdict::Silent(silence) => format!("accepted; the rule is silent: {silence:?}"),
        UseVerdict::Forbidden(keys) => {
            let keys: Vec<_> = keys.iter().map(|key| key.name()).collect();
            format!("refused: {}", keys.join(", "))
        }
    }
}

fn observed(group: &DeviationGroup) -> String {
    match &group.observed.reported {
        Reported::Accepted => match (group.observed.returned, group.observed.in_ptx) {
            (_, Some(true)) => "accepted; the variable is in the PTX".to_owned(),
            (Some(bits), _) => format!("accepted; the function returns {bits:#x}"),
            _ => "accepted".to_owned(),
        },
        Reported::Refused(message) => format!("refused: {message}"),
        Reported::IllFormed(message) => format!("refused as ill-formed: {message}"),
        Reported::Crashed(reason) => format!("crashed: {reason}"),
        Reported::TimedOut => "no end".to_owned(),
    }
}

fn observation(reported: &Reported) -> Observation {
    match reported {
        Reported::Accepted => Observation::new(Outcome::Accepted),
        Reported::Refused(message) | Reported::IllFormed(message) => {
            let diagnostic =
                Diagnostic { severity: Severity::Error, line: Some(1), message: message.clone() };
            Observation { diagnostics: vec![diagnostic], ..Observation::new(Outcome::Refused) }
        }
        Reported::Crashed(reason) => Observation::because(Outcome::Crashed, reason),
        Reported::TimedOut => Observation::new(Outcome::TimedOut),
    }
}

fn subject(CompilerResults { compiler, ledger }: &CompilerResults) -> Value {
    let description = compiler.description();
    let forbidden: BTreeMap<_, _> = ledger
        .refusals
        .iter()
        .map(|(key, refusals)| {
            let clear = json!({ "uses": refusals.clear, "refused": refusals.clear_refused });
            (
                *key,
                json!({ "uses": refusals.uses, "refused": refusals.refused, "under_every_reading": clear }),
            )
        })
        .collect();
    json!({
        "id": description.id,
        "version": description.version,
        "lineage": description.lineage,
        "available": true,
        "compared": ledger.compared,
        "conform": ledger.conform,
        "conform_under_another_reading": ledger.conform_under_reading,
        "allowed": { "uses": ledger.allowed.0, "refused": ledger.allowed.1 },
        "forbidden": forbidden,
        "ptx": {
            "values_right": ledger.values_right,
            "values_unseen": ledger.values_unseen,
            "variable_absent": ledger.absent_in_ptx,
        },
    })
}

/// Counts, for each open question, how often the compiler followed each answer.
fn sides(ledger: &RuleLedger) -> BTreeMap<&'static str, Value> {
    let sides = ledger.sides.iter().map(|(question, sides)| {
        let answers = question.answers();
        (question.name(), json!({ answers[0]: sides.literal, answers[1]: sides.other }))
    });
    sides.collect()
}
