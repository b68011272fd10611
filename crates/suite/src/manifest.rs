//! `manifest.json`: every case with everything a runner needs. Its schema is `files/manifest.schema.json`.

use ptxsmith_oracle::{Expectation, Question, Readings};
use ptxsmith_syntax::needs_relocatable_form;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::case::{Case, Source};
use crate::selfcheck;

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    file: String,
    source: Source,
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
pub fn manifest(cases: &[Case], (random, seed): (u64, u64)) -> String {
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
    for (at, case) in cases.iter().enumerate() {
        let entry = entry(case);
        text.push_str(&serde_json::to_string(&entry).expect("texts and numbers are always JSON"));
        text.push_str(if at + 1 == cases.len() { "\n" } else { ",\n" });
    }
    text.push_str("  ]\n}\n");
    text
}

fn questions() -> Value {
    let of = |question: &Question| {
        let answers = question.answers().iter().zip(question.summaries());
        let answers: Vec<Value> =
            answers.map(|(name, summary)| json!({ "name": name, "summary": summary })).collect();
        (question.name().to_owned(), json!({ "clauses": question.clauses(), "answers": answers }))
    };
    Value::Object(Question::ALL.iter().map(of).collect::<Map<_, _>>())
}

fn entry<'c>(case: &'c Case) -> Entry<'c> {
    let readings = case.alternatives.iter().map(|alternative| {
        let answers = alternative.answers.iter();
        let answers: Map<_, _> = answers
            .map(|&(question, at)| (question.name().to_owned(), question.answers()[at].into()))
            .collect();
        json!({ "answers": answers, "expected": expected(case, &alternative.expected) })
    });
    Entry {
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
        self_check: selfcheck::of_case(case)
            .map(|check| json!({ "kernel": selfcheck::KERNEL, "text": check.text, "checks": check.checks })),
    }
}

/// Returns an expectation in the format of an observation, with the class and line of a rejection but without its
/// reasons.
fn expected(case: &Case, expectation: &Expectation) -> Value {
    let mut value = expectation.to_json(&case.text, &Readings::default());
    if let Some(object) = value.as_object_mut() {
        object.remove("schema");
        if let Some(refusal) = object.get_mut("refusal").and_then(Value::as_object_mut) {
            refusal.remove("readings");
            refusal.remove("summary");
        }
        for variable in object.get_mut("variables").and_then(Value::as_object_mut).into_iter().flatten() {
            if let Some(variable) = variable.1.as_object_mut() {
                variable.remove("clauses");
                variable.remove("readings");
            }
        }
    }
    value
}
