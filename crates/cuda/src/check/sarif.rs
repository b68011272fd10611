//! Findings as SARIF 2.1.0, which code hosts and editors show at the line.

use ptxsmith_report::harmless::line;
use ptxsmith_report::sarif::{log, place, result, rule, uri};
use serde_json::{Value, json};

use super::{Finding, Report};
use crate::rule::Key;

/// A SARIF log of one run over these files. Rule ids are the document's keys; every key that applies to a use is a
/// result of its own, the secondary ones as notes.
pub fn sarif(reports: &[(String, Report)]) -> Value {
    let rules = Key::ALL.iter().map(|key| {
        let mut rule = rule(key.name(), key.message());
        rule["properties"] = json!({ "clause": key.clause().name(), "rule": "CUDASafety-1.5" });
        rule
    });
    let results = reports.iter().flat_map(|(_, report)| &report.findings).flat_map(results_of);
    let notifications: Vec<Value> = reports
        .iter()
        .flat_map(|(file, report)| report.not_analysed.iter().map(move |text| (file, text)))
        .map(|(file, text)| {
            let place = place(json!({ "uri": uri(file) }), None);
            json!({ "level": "warning", "message": { "text": line(text) }, "locations": [place] })
        })
        .collect();
    let invocation = json!({
        "executionSuccessful": reports.iter().all(|(_, report)| report.is_analysed),
        "toolExecutionNotifications": notifications,
    });
    log("ptxsmith cuda check", env!("CARGO_PKG_VERSION"), rules.collect(), invocation, results.collect())
}

fn results_of(finding: &Finding) -> impl Iterator<Item = Value> {
    finding.keys.iter().enumerate().map(|(nth, key)| {
        let region = json!({ "startLine": finding.line, "startColumn": finding.column });
        let message = format!("{}: `{}`", key.message(), line(&finding.variable));
        let place = place(json!({ "uri": uri(&finding.file) }), Some(region));
        let level = if nth == 0 { "error" } else { "note" };
        let mut result = result(key.name(), *key as usize, level, &message, place);
        if let (0, Some(fix)) = (nth, &finding.fix) {
            let end = finding.column as usize + (fix.end - fix.begin);
            let region =
                json!({ "startLine": finding.line, "startColumn": finding.column, "endColumn": end });
            let replacement = json!({ "deletedRegion": region, "insertedContent": { "text": fix.text } });
            let artifact = json!({ "uri": uri(&finding.file) });
            result["fixes"] = json!([{
                "description": { "text": "use a copy of the value" },
                "artifactChanges": [{ "artifactLocation": artifact, "replacements": [replacement] }],
            }]);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_with_two_messages_is_two_results_of_which_one_is_an_error() {
        let finding = Finding {
            file: "a b.cu".to_owned(),
            line: 3,
            column: 7,
            variable: "p".to_owned(),
            keys: vec![Key::InvalidType, Key::Address],
            fix: None,
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
