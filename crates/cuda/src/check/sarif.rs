//! Writes violations as SARIF 2.1.0, which code hosts and editors show at the line.

use ptxsmith_report::harmless::line;
use ptxsmith_report::sarif::{log, place, result, rule, uri};
use serde_json::{Value, json};

use super::{FileReport, Violation};
use crate::rule::Key;

/// Returns the SARIF log of a run over these files. The ids of SARIF rules are the keys of messages. Each
/// message of a violation is a result: the primary one an error, or a warning if nvcc accepts the use, and
/// the others notes.
pub fn sarif(reports: &[(String, FileReport)]) -> Value {
    let rules = Key::ALL.iter().map(|key| {
        let mut rule = rule(key.name(), key.message());
        rule["properties"] = json!({ "clause": key.clause().name(), "rule": "CUDASafety-1.5" });
        rule
    });
    let findings = reports.iter().flat_map(|(_, report)| &report.findings);
    let mut notifications = Vec::new();
    for (file, report) in reports {
        notifications.extend(report.compiler_errors.iter().map(|text| notification(file, "error", text)));
        notifications.extend(report.not_analysed.iter().map(|text| notification(file, "warning", text)));
        notifications.extend(report.notes.iter().map(|text| notification(file, "note", text)));
    }
    let invocation = json!({
        "executionSuccessful": reports.iter().all(|(_, report)| report.is_analysed),
        "toolExecutionNotifications": notifications,
    });
    let results = findings.flat_map(results_of).collect();
    log("ptxsmith cuda check", env!("CARGO_PKG_VERSION"), rules.collect(), invocation, results)
}

fn notification(file: &str, level: &str, text: &str) -> Value {
    let place = place(json!({ "uri": uri(file) }), None);
    json!({ "level": level, "message": { "text": line(text) }, "locations": [place] })
}

/// Returns the results of a violation, one for each message.
fn results_of(violation: &Violation) -> impl Iterator<Item = Value> {
    violation.keys.iter().enumerate().map(|(index, &key)| {
        let level = match index {
            0 if violation.is_accepted => "warning",
            0 => "error",
            _ => "note",
        };
        let mut result = result_of(violation, key, level);
        if let (0, Some(fix)) = (index, &violation.fix) {
            let inserted = json!({ "text": fix.text });
            let replacement = json!({ "deletedRegion": region(violation), "insertedContent": inserted });
            let artifact = json!({ "uri": uri(&violation.file) });
            result["fixes"] = json!([{
                "description": { "text": "use a copy of the value" },
                "artifactChanges": [{ "artifactLocation": artifact, "replacements": [replacement] }],
            }]);
        }
        result
    })
}

/// Returns the result of one message of a violation, without a fix.
fn result_of(violation: &Violation, key: Key, level: &str) -> Value {
    let message = format!("{}: `{}`", key.message(), line(&violation.variable));
    let location = place(json!({ "uri": uri(&violation.file) }), Some(region(violation)));
    let mut result = result(key.name(), key as usize, level, &message, location);
    // The fingerprint has no line number, because lines may move. Code hosts treat equal lines as one
    // violation.
    let fingerprint = format!("{}:{}:{}", key.name(), violation.variable, violation.text.trim());
    result["partialFingerprints"] = json!({ "ptxsmithUse/v1": line(&fingerprint) });
    if let Some((file, row, column)) = &violation.declared {
        let region = json!({ "startLine": row, "startColumn": column });
        let mut declared = place(json!({ "uri": uri(file) }), Some(region));
        declared["message"] = json!({ "text": "declared here" });
        result["relatedLocations"] = json!([declared]);
    }
    result
}

/// Returns the region of a violation, in columns of UTF-16.
fn region(violation: &Violation) -> Value {
    let end = violation.end_column.max(violation.column + 1);
    json!({
        "startLine": violation.line,
        "startColumn": utf16_column(&violation.text, violation.column),
        "endColumn": utf16_column(&violation.text, end),
    })
}

/// Converts a column in bytes into a column in units of UTF-16. Both count from 1.
fn utf16_column(text: &str, column: u32) -> usize {
    let before = text.get(..column as usize - 1).unwrap_or_default();
    if before.is_empty() { column as usize } else { before.encode_utf16().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_with_two_messages_is_an_error_and_a_note() {
        let violation = Violation {
            file: "a b.cu".to_owned(),
            line: 3,
            column: 8,
            end_column: 9,
            text: "/* \u{e4} */p;".to_owned(),
            declared: Some(("b.h".to_owned(), 1, 2)),
            variable: "p".to_owned(),
            keys: vec![Key::InvalidType, Key::Address],
            ..Violation::default()
        };
        let report = FileReport { findings: vec![violation], is_analysed: true, ..FileReport::default() };
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
