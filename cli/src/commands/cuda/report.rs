//! The report of `ptxsmith cuda run`: as JSON (`ptxsmith.report/1`), as programs, and in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use ptxsmith_campaign::files::write_whole;
use ptxsmith_cuda::compare::{Class, Group, Ledger, NotCompared, known_by_id};
use ptxsmith_cuda::language::{FORMS, Place, Site, Type, print};
use ptxsmith_cuda::oracle::Verdict;
use ptxsmith_cuda::rule::Clause;
use ptxsmith_cuda::subjects::{PRELUDE, Told};
use serde_json::{Value, json};

use super::run::{Campaign, lock};
use crate::console::{BAD, BOLD, GOOD, NOTE};
use crate::exit::Failure;

/// A finding, of one or several compilers.
struct Finding {
    id: String,
    status: &'static str,
    class: Class,
    title: String,
    subjects: Vec<String>,
    count: u64,
    group: Option<Group>,
    reason: Option<&'static str>,
}

fn findings(campaign: &Campaign<'_>) -> Vec<Finding> {
    let mut all: BTreeMap<String, Finding> = BTreeMap::new();
    let mut enter = |finding: Finding| match all.get_mut(&finding.id) {
        Some(mine) => {
            mine.subjects.extend(finding.subjects);
            mine.count += finding.count;
        }
        None => drop(all.insert(finding.id.clone(), finding)),
    };
    for tested in campaign.tested {
        let ledger = lock(&tested.ledger);
        let subject = || vec![tested.compiler.description().id.clone()];
        for (id, group) in &ledger.known {
            let Some(known) = known_by_id(id) else { continue };
            enter(Finding {
                id: (*id).to_owned(),
                status: "known",
                class: if known.refuses { Class::RefusesValid } else { Class::AcceptsInvalid },
                title: known.title.to_owned(),
                subjects: subject(),
                count: group.count,
                group: Some(group.clone()),
                reason: Some(known.reason),
            });
        }
        for id in ledger.gone() {
            let Some(known) = known_by_id(id) else { continue };
            enter(Finding {
                id: format!("{id}-gone"),
                status: "gone",
                class: if known.refuses { Class::RefusesValid } else { Class::AcceptsInvalid },
                title: format!("no longer seen: {}", known.title),
                subjects: subject(),
                count: ledger.families.get(id).copied().unwrap_or(0),
                group: None,
                reason: Some(known.reason),
            });
        }
        for (key, group) in &ledger.new {
            let verdict = match key.verdict {
                "allowed" => "what the rule allows".to_owned(),
                "silent" => "what the rule does not speak of".to_owned(),
                name => format!("a use with {name}"),
            };
            let what = match key.class {
                Class::AcceptsInvalid => "accepts",
                Class::RefusesValid => "refuses",
                Class::WrongValue => "gives another value for",
                Class::VariableInDevice => "has the variable on the device for",
                Class::Crash => "fails on",
                Class::Hang => "does not end on",
            };
            enter(Finding {
                id: format!("{}-{}-{}", key.class.name(), key.verdict, key.form),
                status: "new",
                class: key.class,
                title: format!("{what} {verdict}, in the form {}", key.form),
                subjects: subject(),
                count: group.count,
                group: Some(group.clone()),
                reason: None,
            });
        }
    }
    all.into_values().collect()
}

/// Saves the report, and each finding's first program.
pub fn save(campaign: &Campaign<'_>, complete: bool) -> Result<(), Failure> {
    let findings = findings(campaign);
    std::fs::create_dir_all(campaign.file_of(""))?;
    for finding in &findings {
        if let Some(group) = &finding.group {
            let text = program(campaign, finding, group);
            write_whole(&campaign.file_of(&format!("{}.cu", finding.id)), text.as_bytes())?;
        }
    }
    let mut text = serde_json::to_string_pretty(&json(campaign, &findings, complete))?;
    text.push('\n');
    write_whole(&campaign.args.out.join("report.json"), text.as_bytes())?;
    Ok(())
}

/// The program of a finding: what any compiler takes, with what was expected and seen in leading comments.
fn program(campaign: &Campaign<'_>, finding: &Finding, group: &Group) -> String {
    let clauses: Vec<_> = group.expectation.clauses.iter().map(|clause| clause.id()).collect();
    format!(
        "// finding: {}\n// expect: {}\n// observed: {} ({})\n// clause: {}\n// repeat: {}\n{PRELUDE}{}\n",
        finding.title,
        expected(group),
        observed(group),
        finding.subjects.join(", "),
        clauses.join(", "),
        repeat(campaign, finding, group),
        print(&group.example).line,
    )
}

fn repeat(campaign: &Campaign<'_>, finding: &Finding, group: &Group) -> String {
    let subjects: String = finding.subjects.iter().map(|id| format!(" --subject {id}")).collect();
    let (seed, first) = (campaign.context.seed, group.example.id);
    format!("ptxsmith cuda run --seed {seed} --first {first} --cases 1{subjects}")
}

fn expected(group: &Group) -> String {
    match &group.expectation.verdict {
        Verdict::Allowed => "accepted".to_owned(),
        Verdict::Silent(silence) => format!("accepted; the rule is silent: {silence:?}"),
        Verdict::Forbidden(keys) => {
            let keys: Vec<_> = keys.iter().map(|key| key.name()).collect();
            format!("refused: {}", keys.join(", "))
        }
    }
}

fn observed(group: &Group) -> String {
    match &group.observed.told {
        Told::Accepted => match (group.observed.returned, group.observed.in_ptx) {
            (_, Some(true)) => "accepted; the variable is in the PTX".to_owned(),
            (Some(bits), _) => format!("accepted; the function returns {bits:#x}"),
            _ => "accepted".to_owned(),
        },
        Told::Refused(message) => format!("refused: {message}"),
        Told::IllFormed(message) => format!("refused as ill-formed: {message}"),
        Told::Crashed(reason) => format!("crashed: {reason}"),
        Told::TimedOut => "no end".to_owned(),
    }
}

fn outcome(told: &Told) -> Value {
    match told {
        Told::Accepted => json!({ "outcome": "accepted" }),
        Told::Refused(message) | Told::IllFormed(message) => json!({
            "outcome": "refused",
            "diagnostics": [{ "severity": "error", "line": 1, "message": message }],
        }),
        Told::Crashed(reason) => json!({ "outcome": "crashed", "reason": reason }),
        Told::TimedOut => json!({ "outcome": "timed-out" }),
    }
}

fn json(campaign: &Campaign<'_>, findings: &[Finding], complete: bool) -> Value {
    let mut not_compared: BTreeMap<&str, u64> =
        NotCompared::ALL.iter().map(|reason| (reason.name(), 0)).collect();
    let (mut compared, mut conform) = (0, 0);
    let mut subjects = Vec::new();
    let mut readings = BTreeMap::new();
    for tested in campaign.tested {
        let (ledger, description) = (lock(&tested.ledger), tested.compiler.description());
        compared += ledger.compared;
        conform += ledger.conform + ledger.conform_under_reading;
        for (reason, count) in &ledger.not_compared {
            *not_compared.entry(reason.name()).or_default() += count;
        }
        let refusals: BTreeMap<_, _> = ledger
            .refusals
            .iter()
            .map(|(key, refusals)| {
                let clear = json!({ "uses": refusals.clear, "refused": refusals.clear_refused });
                (*key, json!({ "uses": refusals.uses, "refused": refusals.refused, "under_every_reading": clear }))
            })
            .collect();
        subjects.push(json!({
            "id": description.id,
            "version": description.version,
            "lineage": description.lineage,
            "available": true,
            "compared": ledger.compared,
            "conform": ledger.conform,
            "conform_under_another_reading": ledger.conform_under_reading,
            "allowed": { "uses": ledger.allowed.0, "refused": ledger.allowed.1 },
            "forbidden": refusals,
            "ptx": {
                "values_right": ledger.values_right,
                "values_unseen": ledger.values_unseen,
                "variable_absent": ledger.absent_in_ptx,
            },
        }));
        let sides: BTreeMap<_, _> = ledger
            .sides
            .iter()
            .map(|(question, sides)| {
                let answers = question.answers();
                (question.name(), json!({ answers[0]: sides.literal, answers[1]: sides.other }))
            })
            .collect();
        readings.insert(description.id.clone(), sides);
    }
    let coverage = lock(&campaign.coverage);
    let findings: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let group = finding.group.as_ref();
            json!({
                "id": finding.id,
                "status": finding.status,
                "class": finding.class.name(),
                "subjects": finding.subjects,
                "clauses": group.map(|group| {
                    group.expectation.clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>()
                }).unwrap_or_default(),
                "title": finding.title,
                "reason": finding.reason,
                "count": finding.count,
                "program": group.map(|group| format!("{PRELUDE}{}\n", print(&group.example).line)),
                "variable": group.map(|group| format!("v{}_", group.example.id)),
                "expected": group.map(|group| json!({
                    "outcome": if group.expectation.verdict.refuses() == Some(true) { "refused" } else { "accepted" },
                    "keys": match &group.expectation.verdict {
                        Verdict::Forbidden(keys) => keys.iter().map(|key| key.name()).collect(),
                        _ => Vec::new(),
                    },
                })),
                "observed": group.map(|group| outcome(&group.observed.told)),
                "repeat": group.map(|group| repeat(campaign, finding, group)),
            })
        })
        .collect();
    let productions = FORMS.len() + Place::ALL.len() + Site::ALL.len() + Type::ALL.len();
    let reached = |kind: &str| coverage.productions.iter().filter(|name| name.starts_with(kind)).count();
    json!({
        "schema": "ptxsmith.report/1",
        "ptxsmith": env!("CARGO_PKG_VERSION"),
        "command": "cuda run",
        "seed": campaign.context.seed,
        "complete": complete,
        "subjects": subjects,
        "compared": compared,
        "conform": conform,
        "not_compared": not_compared,
        "readings": readings,
        "findings": findings,
        "coverage": {
            "clauses": { "reached": coverage.clauses.len(), "total": Clause::ALL.len() - 1 },
            "productions": {
                "reached": reached("form ") + reached("place ") + reached("site ") + reached("type "),
                "total": productions,
            },
        },
    })
}

/// What was found, for people.
pub fn summary(campaign: &Campaign<'_>, wall: Duration) -> String {
    let mut out = String::new();
    for tested in campaign.tested {
        let (ledger, description) = (lock(&tested.ledger), tested.compiler.description());
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#} ({}): {} uses shown, {} compared, {} conform, {} under another reading",
            description.id,
            description.version,
            ledger.cases,
            ledger.compared,
            ledger.conform,
            ledger.conform_under_reading
        );
        let _ = writeln!(out, "  allowed: {} uses, {} of them refused", ledger.allowed.0, ledger.allowed.1);
        for (key, refusals) in &ledger.refusals {
            let _ = writeln!(
                out,
                "  {key}: {} uses, {} of them refused; under every reading {}, {} of them refused",
                refusals.uses, refusals.refused, refusals.clear, refusals.clear_refused
            );
        }
        if tested.compiler.makes_ptx() {
            let _ = writeln!(
                out,
                "  PTX of allowed uses: {} values right, {} not seen; {} times without the variable",
                ledger.values_right, ledger.values_unseen, ledger.absent_in_ptx
            );
        }
        open_questions(&mut out, &ledger);
        let silent: u64 = ledger.not_compared.values().sum();
        if silent > 0 {
            let reasons: Vec<_> = ledger
                .not_compared
                .iter()
                .map(|(reason, count)| format!("{count} {}", reason.name()))
                .collect();
            let _ = writeln!(out, "  not compared: {}", reasons.join(", "));
        }
    }
    for finding in findings(campaign) {
        let style = match finding.status {
            "known" => NOTE,
            _ => BAD,
        };
        let _ = writeln!(
            out,
            "{style}{}{style:#} {}: {} ({} uses; {})",
            finding.status,
            finding.id,
            finding.title,
            finding.count,
            finding.subjects.join(", ")
        );
        if finding.status == "new"
            && let Some(group) = &finding.group
        {
            let _ = writeln!(out, "    {}", print(&group.example).line);
        }
    }
    let news: usize = campaign.tested.iter().map(|tested| lock(&tested.ledger).news()).sum();
    let style = if news == 0 { GOOD } else { BAD };
    let _ = writeln!(
        out,
        "{style}{news} new{style:#}; {:.1} s; report in {}",
        wall.as_secs_f64(),
        campaign.args.out.display()
    );
    out
}

/// The questions that the compiler answers otherwise than the literal text, or not always alike.
fn open_questions(out: &mut String, ledger: &Ledger) {
    for (question, sides) in &ledger.sides {
        let answers = question.answers();
        if sides.other > 0 {
            let _ = writeln!(
                out,
                "  reads {}={} ({} uses{})",
                question.name(),
                answers[1],
                sides.other,
                if sides.literal > 0 {
                    format!("; {} as {}", sides.literal, answers[0])
                } else {
                    String::new()
                }
            );
        }
    }
}
