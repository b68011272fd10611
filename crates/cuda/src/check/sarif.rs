//! Findings as SARIF 2.1.0, which code hosts and editors show at the line.

use ptxsmith_report::harmless::line;
use ptxsmith_report::sarif::{log, place, result, rule, uri};
use serde_json::{Value, json};

use super::{Finding, Report};
use crate::rule::Key;

/// A SARIF log of one run over these files. Rule ids are the document's keys; every key that applies to a use is a
/// result of its own, the secondary ones as notes. What nvcc accepts is a warning.
pub fn sarif(reports: &[(String, Report)]) -> Value {
    let rules = Key::ALL.iter().map(|key| {
        let mut rule = rule(key.name(), key.message());
        rule["properties"] = json!({ "clause": key.clause().name(), "rule": "CUDASafety-1.5" });
        rule
    });
    let results = reports.iter().flat_map(|(_, report)| &report.findings).flat_map(results_of);
    let notifications: Vec<Value> = reports
        .iter()
        .flat_map(|(file, report)| {
            let errors = report.compiler_errors.iter().map(|text| ("error", text));
            let missing = report.not_analysed.iter().map(|text| ("warning", text));
            let notes = report.notes.iter().map(|text| ("note", text));
            errors.chain(missing).chain(notes).map(move |(level, text)| (file, level, text))
        })
        .map(|(file, level, text)| {
            let place = place(json!({ "uri": uri(file) }), None);
            json!({ "level": level, "message": { "text": line(text) }, "locations": [place] })
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
        let region = region(finding);
        let message = format!("{}: `{}`", key.message(), line(&finding.variable));
        let place = place(json!({ "uri": uri(&finding.file) }), Some(region.clone()));
        let level = match nth {
            0 if finding.is_accepted => "warning",
            0 => "error",
            _ => "note",
        };
        let mut result = result(key.name(), *key as usize, level, &message, place);
        // Lines may move, and equal ones are one violation in the eyes of a host.
        let print = format!("{}:{}:{}", key.name(), finding.variable, finding.text.trim());
        result["partialFingerprints"] = json!({ "ptxsmithUse/v1": line(&print) });
        if let Some((file, row, column)) = &finding.declared {
            let region = json!({ "startLine": row, "startColumn": column });
            let mut declared = self::place(json!({ "uri": uri(file) }), Some(region));
            declared["message"] = json!({ "text": "declared here" });
            result["relatedLocations"] = json!([declared]);
        }
        if let (0, Some(fix)) = (nth, &finding.fix) {
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

/// Where a violation is, in columns of UTF-16.
fn region(finding: &Finding) -> Value {
    let column = |bytes: u32| {
        let before = finding.text.get(..bytes as usize - 1).unwrap_or_default();
        if before.is_empty() { bytes as usize } else { before.encode_utf16().count() + 1 }
    };
    json!({
        "startLine": finding.line,
        "startColumn": column(finding.column),
        "endColumn": column(finding.end_column.max(finding.column + 1)),
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
            column: 8,
            end_column: 9,
            text: "/* \u{e4} */p;".to_owned(),
            declared: Some(("b.h".to_owned(), 1, 2)),
            variable: "p".to_owned(),
            keys: vec![Key::InvalidType, Key::Address],
            ..Finding::default()
        };
        let report = Report { findings: vec![finding], is_analysed: true, ..Report::default() };
        let log = sarif(&[("a b.cu".to_owned(), report)]);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let levels: Vec<_> = results.iter().map(|result| result["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "note"]);
        assert_eq!(results[0]["ruleId"], "device_uses_const_host_var_of_invalid_type");
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.cu");
        assert_eq!(place["region"], json!({ "startLine": 3, "startColumn": 7, "endColumn": 8 }));
        let declared = &results[0]["relatedLocations"][0]["physicalLocation"];
        assert_eq!(declared["artifactLocation"]["uri"], "b.h");
    }
}
