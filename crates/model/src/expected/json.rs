//! The JSON form of an expected result: `ptxsmith.module/1`, with the notes on the comparison in the same
//! object.

use std::collections::BTreeMap;

use ptxsmith_syntax::Text;
use serde::{Deserialize, Serialize};
use serde_json::{Error, Map, Value};

use super::{
    AccessDifference, Basis, Expected, ExpectedAnswer, ExpectedRefusal, ModuleAnswer, Ruling, UndecidedPart,
    UnmodelledPart,
};
use crate::observation::schema;
use crate::{Diagnostic, Observation, Outcome, Output, OutputForm, Variable};

/// The notes on the comparison.
#[derive(Serialize, Deserialize)]
struct Notes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<OutputForm>,
    #[serde(default, skip_serializing_if = "is_zero")]
    variables_left_out: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contains: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    company: Option<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The answer of the specification for a module.
#[derive(Serialize, Deserialize)]
struct ModuleJson {
    #[serde(default = "schema")]
    schema: String,
    #[serde(default)]
    outcome: ModuleOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
    #[serde(default)]
    variables: BTreeMap<Text, Based<Variable>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    kernels: BTreeMap<String, Based<Output>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unmodelled: Vec<UnmodelledPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<ExpectedRefusal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<UndecidedPart>,
    /// `true` or null; missing if validity was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    valid: Option<Option<bool>>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModuleOutcome {
    #[default]
    Accepted,
    Refused,
    Unmodelled,
}

/// Deserializes a key that is present, so that null differs from a missing key.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<bool>>, D::Error> {
    Option::<bool>::deserialize(from).map(Some)
}

/// The contents of a variable or kernel, with the basis of the answer.
#[derive(Serialize, Deserialize)]
struct Based<T> {
    #[serde(flatten)]
    held: T,
    #[serde(flatten)]
    basis: Basis,
}

fn based<K: Ord + Clone, T>(held: BTreeMap<K, T>, bases: &BTreeMap<K, Basis>) -> BTreeMap<K, Based<T>> {
    held.into_iter()
        .map(|(name, held)| {
            let basis = bases.get(&name).cloned().unwrap_or_default();
            (name, Based { held, basis })
        })
        .collect()
}

fn split<K: Ord + Clone, T>(based: BTreeMap<K, Based<T>>) -> (BTreeMap<K, T>, BTreeMap<K, Basis>) {
    let mut held = BTreeMap::new();
    let mut bases = BTreeMap::new();
    for (name, value) in based {
        bases.insert(name.clone(), value.basis);
        held.insert(name, value.held);
    }
    (held, bases)
}

impl From<ModuleAnswer> for ModuleJson {
    fn from(answer: ModuleAnswer) -> ModuleJson {
        let (outcome, reason, refusal) = match answer.ruling {
            Ruling::Accepted => (ModuleOutcome::Accepted, None, None),
            Ruling::Refused(refusal) => (ModuleOutcome::Refused, None, Some(refusal)),
            Ruling::Unmodelled(reason) => (ModuleOutcome::Unmodelled, Some(reason), None),
        };
        ModuleJson {
            schema: schema(),
            outcome,
            reason,
            diagnostics: Vec::new(),
            variables: based(answer.variables, &answer.variable_bases),
            kernels: based(answer.kernels, &answer.kernel_bases),
            unmodelled: answer.unmodelled,
            refusal,
            undecided: answer.undecided,
            valid: answer.is_valid.map(|is_valid| is_valid.then_some(true)),
        }
    }
}

impl From<ModuleJson> for ModuleAnswer {
    fn from(json: ModuleJson) -> ModuleAnswer {
        let (variables, variable_bases) = split(json.variables);
        let (kernels, kernel_bases) = split(json.kernels);
        ModuleAnswer {
            ruling: match (json.refusal, json.outcome) {
                (Some(refusal), _) => Ruling::Refused(refusal),
                (None, ModuleOutcome::Accepted) => Ruling::Accepted,
                (None, ModuleOutcome::Refused) => Ruling::Refused(ExpectedRefusal::default()),
                (None, ModuleOutcome::Unmodelled) => Ruling::Unmodelled(json.reason.unwrap_or_default()),
            },
            variables,
            kernels,
            variable_bases,
            kernel_bases,
            unmodelled: json.unmodelled,
            undecided: json.undecided,
            is_valid: json.valid.map(|valid| valid == Some(true)),
        }
    }
}

impl From<ModuleAnswer> for Value {
    fn from(answer: ModuleAnswer) -> Value {
        object(&ModuleJson::from(answer)).into()
    }
}

/// Serialization cannot fail: the keys are strings and the numbers are plain.
fn object(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

impl From<Expected> for Value {
    fn from(expected: Expected) -> Value {
        let Expected { answer, form, variables_left_out, contains, company } = expected;
        let mut json = match answer {
            ExpectedAnswer::Unsaid => Map::new(),
            ExpectedAnswer::Module(answer) => object(&ModuleJson::from(*answer)),
            ExpectedAnswer::Accesses(accesses) => object(&BTreeMap::from([(ACCESSES, accesses)])),
            ExpectedAnswer::SameAs(observation) => object(&observation),
        };
        json.extend(object(&Notes { form, variables_left_out, contains, company }));
        if json.is_empty() { Value::Null } else { Value::Object(json) }
    }
}

/// The key of the accesses that differ.
const ACCESSES: &str = "astray";

impl TryFrom<Value> for Expected {
    type Error = Error;

    fn try_from(json: Value) -> Result<Expected, Error> {
        if json.is_null() {
            return Ok(Expected::default());
        }
        let Notes { form, variables_left_out, contains, company } = Notes::deserialize(&json)?;
        let answer = match JsonShape::from_json(&json) {
            JsonShape::Notes => ExpectedAnswer::Unsaid,
            JsonShape::Accesses => {
                ExpectedAnswer::Accesses(Vec::<AccessDifference>::deserialize(&json[ACCESSES])?)
            }
            JsonShape::Observation => ExpectedAnswer::SameAs(Box::new(Observation::deserialize(&json)?)),
            JsonShape::Module => ExpectedAnswer::Module(Box::new(ModuleJson::deserialize(&json)?.into())),
        };
        Ok(Expected { answer, form, variables_left_out, contains, company })
    }
}

/// Returns true if every member of this object names its clauses, or there are none.
fn has_clauses(members: &Value) -> bool {
    let Some(members) = members.as_object() else { return true };
    members.values().all(|member| member["clauses"].is_array())
}

/// The shape of a JSON object, which has no tag of its own.
enum JsonShape {
    Notes,
    Accesses,
    Observation,
    Module,
}

impl JsonShape {
    /// Returns the shape of an object. Only an observation has an outcome other than the oracle's, is refused
    /// without `refusal`, or has variables without `clauses`.
    fn from_json(json: &Value) -> JsonShape {
        let outcome = &json["outcome"];
        let is_undecided = outcome.is_null() || *outcome == Ruling::Unmodelled(String::new()).name();
        let rests_on_clauses = *outcome == Outcome::Accepted.name()
            && has_clauses(&json["variables"])
            && has_clauses(&json["kernels"]);
        if json[ACCESSES].is_array() {
            JsonShape::Accesses
        } else if ["outcome", "variables", "kernels", "refusal"].iter().all(|key| json[*key].is_null()) {
            JsonShape::Notes
        } else if is_undecided || json["refusal"].is_object() || rests_on_clauses {
            JsonShape::Module
        } else {
            JsonShape::Observation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: &Value) -> Expected {
        Expected::deserialize(json).unwrap()
    }

    #[test]
    fn the_answer_of_the_specification_is_read_as_it_was_written() {
        let variable = json!({
            "space": "global", "size": 4, "align": 4, "bytes": "08000000", "addresses": [],
            "clauses": ["5.4.1/scalar"], "readings": {"shift-count": "saturate"},
        });
        let accepted = json!({
            "schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {"a": variable},
            "kernels": {"k": {"size": 1, "bytes": "00", "seen": "ff", "addresses": [], "clauses": [], "readings": {}}},
            "unmodelled": [{"variable": "b", "reason": "r"}], "undecided": [{"part": "b", "reason": "r", "line": 3}],
            "valid": null, "form": "relocatable", "variables_left_out": 2, "contains": ["x"], "company": false,
        });
        let refused = json!({
            "schema": "ptxsmith.module/1", "outcome": "refused", "diagnostics": [], "variables": {},
            "refusal": {"class": "shift", "line": 4, "summary": "s", "clauses": ["5.4.1/scalar"], "readings": {}},
        });
        let unmodelled = json!({
            "schema": "ptxsmith.module/1", "outcome": "unmodelled", "diagnostics": [], "variables": {}, "reason": "r",
            "valid": true,
        });
        for json in [&accepted, &refused, &unmodelled] {
            assert_eq!(read(json).to_json(), *json);
            assert!(read(json).module().is_some(), "{json}");
        }
        let expected = read(&accepted);
        assert_eq!(
            (expected.outcome(), expected.module().unwrap().is_valid),
            (Some("accepted"), Some(false))
        );
        assert_eq!(expected.clauses().into_iter().collect::<Vec<_>>(), ["5.4.1/scalar"]);
        assert_eq!(expected.readings().into_iter().collect::<Vec<_>>(), [("shift-count", "saturate")]);
        assert_eq!(expected.variable("a").unwrap().bytes.as_deref(), Some(&[8, 0, 0, 0][..]));
        assert_eq!(read(&refused).refusal().unwrap().line, 4);
        assert_eq!(read(&unmodelled).module().unwrap().is_valid, Some(true));
    }

    #[test]
    fn other_expectations_are_read_as_they_were_written() {
        let accesses = json!({"astray": [
            {"kernel": "k", "class": "wrong-address", "line": 7, "expected": "reads 4 bytes", "seen": "reads 2 bytes"}
        ]});
        assert_eq!(read(&accesses).accesses()[0].line, Some(7));
        let observed = json!({
            "schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "company": true,
            "variables": {"a": {"space": null, "size": 4, "align": null, "bytes": "08000000", "addresses": null}},
        });
        let refused = json!({
            "schema": "ptxsmith.module/1", "outcome": "refused", "variables": {},
            "diagnostics": [{"severity": "error", "line": null, "message": "no"}],
        });
        let crashed = json!({
            "schema": "ptxsmith.module/1", "outcome": "crashed", "signal": 11, "diagnostics": [], "variables": {},
        });
        for json in [&observed, &refused, &crashed] {
            assert!(matches!(read(json).answer, ExpectedAnswer::SameAs(_)), "{json}");
        }
        for json in [accesses, observed, refused, crashed, json!({"company": true}), Value::Null] {
            assert_eq!(read(&json).to_json(), json);
        }
        assert_eq!(read(&Value::Null), Expected::default());
    }
}
