//! Findings as SARIF 2.1.0, which code hosts and editors show at the line.

use serde_json::{Value, json};

use super::Report;
use crate::rule::Key;

/// A SARIF log of one run over these files. Rule ids are the document's keys; every key that applies to a use is a
/// result of its own, the secondary ones as notes.
pub fn sarif(reports: &[(String, Report)]) -> Value {
    let rules: Vec<Value> = Key::ALL
        .iter()
        .map(|key| {
            json!({
                "id": key.name(),
                "shortDescription": { "text": key.message() },
                "defaultConfiguration": { "level": "error" },
                "properties": { "clause": key.clause().id(), "rule": "CUDASafety-1.5" },
            })
        })
        .collect();
    let index = |key: Key| Key::ALL.iter().position(|&other| other == key);
    let results: Vec<Value> = reports
        .iter()
        .flat_map(|(_, report)| &report.findings)
        .flat_map(|finding| finding.keys.iter().enumerate().map(move |(place, key)| (finding, place, *key)))
        .map(|(finding, place, key)| {
            json!({
                "ruleId": key.name(),
                "ruleIndex": index(key),
                "level": if place == 0 { "error" } else { "note" },
                "message": { "text": format!("{}: `{}`", key.message(), finding.variable) },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(&finding.file) },
                        "region": { "startLine": finding.line, "startColumn": finding.column },
                    },
                }],
            })
        })
        .collect();
    let notifications: Vec<Value> = reports
        .iter()
        .flat_map(|(file, report)| report.not_analysed.iter().map(move |text| (file, text)))
        .map(|(file, text)| {
            json!({
                "level": "warning",
                "message": { "text": text },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } }],
            })
        })
        .collect();
    let successful = reports.iter().all(|(_, report)| report.is_analysed);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ptxsmith cuda check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": successful,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

/// A path as a URI reference: what a URI does not take is escaped.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            b'\\' => out.push('/'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Finding;

    #[test]
    fn a_use_with_two_messages_is_two_results_of_which_one_is_an_error() {
        let finding = Finding {
            file: "a b.cu".to_owned(),
            line: 3,
            column: 7,
            variable: "p".to_owned(),
            keys: vec![Key::InvalidType, Key::Address],
        };
        let report = Report { findings: vec![finding], is_analysed: true, ..Report::default() };
        let log = sarif(&[("a b.cu".to_owned(), report)]);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let levels: Vec<_> = results.iter().map(|result| result["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "note"]);
        assert_eq!(results[0]["ruleId"], "device_uses_const_host_var_of_invalid_type");
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.cu");
        assert_eq!(place["region"]["startLine"], 3);
    }
}
