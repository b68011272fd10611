//! `manifest.json`: every case with everything a runner needs. Its schema is `files/manifest.schema.json`.

use ptxsmith_oracle::{Expectation, Question, Readings};
use ptxsmith_syntax::needs_relocatable_form;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::case::{CaseSource, SuiteCase};
use crate::selfcheck;

/// A case in the manifest.
#[derive(Serialize)]
struct ManifestEntry<'a> {
    id: &'a str,
    file: String,
    source: CaseSource,
    clauses: Vec<&'static str>,
    version: Option<String>,
    target: &'a str,
    relocatable: bool,
    expected: Value,
    questions: &'a [&'static str],
    readings: Vec<Value>,
    #[serde(rename = "twin")]
    counterpart: Option<&'a str>,
    self_check: Option<Value>,
}

/// Returns the manifest: a header with the number and seed of the random cases, and one case per line.
pub fn manifest(cases: &[SuiteCase], (random, seed): (u64, u64)) -> String {
    let head = json!({
        "schema": "ptxsmith.suite/1",
        "generator": { "name": "ptxsmith", "version": env!("CARGO_PKG_VERSION") },
        "random": { "count": random, "seed": seed },
        "questions": questions(),
    });
    let mut text = serde_json::to_string_pretty(&head).expect("texts and numbers are always JSON");
    // Remove the closing brace of the header, then append the cases.
    text.truncate(text.len() - "\n}".len());
    text.push_str(",\n  \"cases\": [\n");
    let entries = cases.iter().map(|case| serde_json::to_string(&entry(case)));
    let entries = entries.collect::<Result<Vec<_>, _>>().expect("texts and numbers are always JSON");
    for (index, entry) in (1..).zip(&entries) {
        text.push_str(entry);
        text.push_str(if index == entries.len() { "\n" } else { ",\n" });
    }
    text.push_str("  ]\n}\n");
    text
}

fn questions() -> Value {
    let mut questions = Map::new();
    for question in Question::ALL {
        let answers = question.answers().iter().zip(question.summaries());
        let answers: Vec<Value> =
            answers.map(|(name, summary)| json!({ "name": name, "summary": summary })).collect();
        let question_json = json!({ "clauses": question.clauses(), "answers": answers });
        questions.insert(question.name().to_owned(), question_json);
    }
    Value::Object(questions)
}

fn entry<'c>(case: &'c SuiteCase) -> ManifestEntry<'c> {
    let readings = case.alternatives.iter().map(|alternative| {
        let answers = alternative.answers.iter();
        let answers: Map<_, _> = answers
            .map(|&(question, answer)| (question.name().to_owned(), question.answers()[answer].into()))
            .collect();
        json!({ "answers": answers, "expected": expected(case, &alternative.expected) })
    });
    ManifestEntry {
        id: &case.id,
        file: format!("cases/{}.ptx", case.id),
        source: case.source,
        clauses: case.clauses.iter().map(|clause| clause.id()).collect(),
        version: case.module.version().map(|(major, minor)| format!("{major}.{minor}")),
        target: case.module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80"),
        relocatable: needs_relocatable_form(&case.module),
        expected: expected(case, &case.expected),
        questions: &case.questions,
        readings: readings.collect(),
        counterpart: case.counterpart.as_deref(),
        self_check: selfcheck::kernel_for_case(case)
            .map(|check| json!({ "kernel": selfcheck::KERNEL, "text": check.text, "checks": check.checks })),
    }
}

/// Returns an expectation in the format of an observation, with the class and line of a rejection but without
/// its reasons.
fn expected(case: &SuiteCase, expectation: &Expectation) -> Value {
    let mut value = expectation.to_json(&case.text, &Readings::default());
    if let Some(object) = value.as_object_mut() {
        object.remove("schema");
        if let Some(refusal) = object.get_mut("refusal").and_then(Value::as_object_mut) {
            refusal.remove("readings");
            refusal.remove("summary");
        }
        let variables = object.get_mut("variables").and_then(Value::as_object_mut);
        for (_, variable) in variables.into_iter().flatten() {
            if let Some(variable) = variable.as_object_mut() {
                variable.remove("clauses");
                variable.remove("readings");
            }
        }
    }
    value
}
