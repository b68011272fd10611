//! Renders SARIF 2.1.0, which code hosting sites display, for reports and for the results of other commands.
//!
//! Each result of a report is a finding, and its rule is the most informative clause. Its location is its
//! places in the user's files, or the finding's file in the campaign's folder. Known deviations are
//! suppressed results, so that they are displayed only on request.

use ptxsmith_model::FilePlace;
use serde_json::{Value, json};

use crate::harmless::{line, lines};
use crate::{Finding, Report, Status, clauses, describe};

/// The rule of findings that name no clause.
const NO_CLAUSE: &str = "no-clause";

/// Renders the log of a report.
pub fn sarif(report: &Report) -> Value {
    let mut rules: Vec<&str> = report.findings.iter().map(rule_of).collect();
    rules.sort_by_key(|id| clauses::order(id));
    rules.dedup();
    let mut results = Vec::new();
    for finding in &report.findings {
        let rule = rule_of(finding);
        let index = rules.iter().position(|other| *other == rule);
        results.push(result_of(report, finding, rule, index.unwrap_or_default()));
    }
    let invocation = json!({ "executionSuccessful": report.complete });
    let rules = rules.into_iter().map(rule_of_clause).collect();
    let mut log = log("ptxsmith", &report.ptxsmith, rules, invocation, results);
    log["runs"][0]["originalUriBaseIds"] =
        json!({ "CAMPAIGN": { "description": { "text": "the folder of the campaign" } } });
    log
}

/// Creates the log of a single run of a tool.
pub fn log(tool: &str, version: &str, rules: Vec<Value>, invocation: Value, results: Vec<Value>) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": tool, "version": line(version), "rules": rules } },
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": results,
        }],
    })
}

/// Creates a rule. Its results are errors unless they have another level.
pub fn rule(id: &str, description: &str) -> Value {
    json!({
        "id": line(id),
        "shortDescription": { "text": line(description) },
        "defaultConfiguration": { "level": "error" },
    })
}

/// Creates a result of the rule with this index, at a location created by [`place`]. `level` is `error`,
/// `warning` or `note`.
pub fn result(rule: &str, index: usize, level: &str, message: &str, place: Value) -> Value {
    json!({
        "ruleId": line(rule),
        "ruleIndex": index,
        "level": level,
        "kind": "fail",
        "message": { "text": message },
        "locations": [place],
    })
}

/// Creates a location: a region of a file, or the whole file. `artifact` contains its `uri`.
pub fn place(artifact: Value, region: Option<Value>) -> Value {
    let mut place = json!({ "physicalLocation": { "artifactLocation": artifact } });
    if let Some(region) = region {
        place["physicalLocation"]["region"] = region;
    }
    place
}

fn rule_of(finding: &Finding) -> &str {
    clauses::informative_first(&finding.clauses).0.first().copied().unwrap_or(NO_CLAUSE)
}

fn rule_of_clause(id: &str) -> Value {
    let summary = clauses::summary(id).unwrap_or("a clause that this version of ptxsmith does not know");
    match id {
        NO_CLAUSE => rule(id, "a deviation that names no clause"),
        _ => rule(id, &format!("PTX ISA, section {}: {summary}", clauses::section(id))),
    }
}

fn result_of(report: &Report, finding: &Finding, rule: &str, index: usize) -> Value {
    let level = match finding.status {
        Status::New => "error",
        Status::Gone => "warning",
        Status::Known => "note",
    };
    let path = finding.file.clone().unwrap_or_else(|| format!("findings/{}.ptx", finding.id));
    let artifact = json!({ "uri": uri_within(&path), "uriBaseId": "CAMPAIGN" });
    let own_file = place(artifact, Some(json!({ "startLine": 1 })));
    let mut result = result(rule, index, level, &message(report, finding), own_file);
    if !finding.places.is_empty() {
        result["locations"] = finding.places.iter().map(location).collect();
    }
    result["partialFingerprints"] = json!({ "ptxsmithFinding/v1": line(&finding.id) });
    let subjects = finding.subjects.iter().map(|id| line(&report.name_with_version(id)).into_owned());
    let subjects: Vec<String> = subjects.collect();
    result["properties"] = json!({
        "class": finding.class,
        "status": finding.status.name(),
        "count": finding.count,
        "subjects": subjects,
        "repeat": line(&finding.repeat),
    });
    if finding.status == Status::Known {
        let reason = format!("known deviation: {}", line(&finding.title));
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    } else if let Some(expected) = &finding.expected_failure {
        let reason = format!("expected failure: {}", line(&expected.reason));
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    if let Some(link) = finding.link.as_deref().filter(|link| link.starts_with("https://")) {
        result["workItemUris"] = json!([escaped_absolute_uri(link)]);
    }
    result
}

/// Converts a place in a file of the user to a location.
fn location(file_place: &FilePlace) -> Value {
    let region = match (file_place.line, file_place.column) {
        (0, _) => None,
        (line, 0) => Some(json!({ "startLine": line })),
        (line, column) => Some(json!({ "startLine": line, "startColumn": column })),
    };
    place(json!({ "uri": uri(&file_place.file) }), region)
}

fn message(report: &Report, finding: &Finding) -> String {
    let mut parts = vec![format!("{}: {}", finding.class, line(&finding.title))];
    parts.extend(describe::expected(finding).into_iter().map(|text| format!("expected  {text}")));
    parts.extend(describe::observed(finding).into_iter().map(|text| format!("actual    {text}")));
    if !finding.releases.is_empty() {
        parts.push(format!("releases  {}", line(&report.release_map(finding))));
    }
    if let Some(first) = finding.subjects.first() {
        parts.push(format!("subject   {}", line(&report.name_with_version(first))));
    }
    parts.push(lines(finding.example().program).into_owned());
    parts.join("\n")
}

/// Converts a path in the report to a URI reference that cannot leave its base: empty, `.` and `..`
/// components are removed, and characters that URIs do not allow are escaped.
fn uri_within(path: &str) -> String {
    let components = path.split(['/', '\\']).filter(|component| !matches!(*component, "" | "." | ".."));
    let components: Vec<String> = components.map(|component| escaped(component, |_| false)).collect();
    components.join("/")
}

/// Converts a path to a URI reference.
pub fn uri(path: &str) -> String {
    escaped(&path.replace('\\', "/"), |byte| byte == b'/')
}

/// Escapes the characters of an absolute URI that URIs do not allow.
fn escaped_absolute_uri(uri: &str) -> String {
    escaped(uri, |byte| b":/?#[]@!$&'()*+,;=%".contains(&byte))
}

fn escaped(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            byte if keep(byte) => out.push(byte.into()),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_does_not_leave_the_folder_of_the_campaign() {
        assert_eq!(uri_within("findings/a b.ptx"), "findings/a%20b.ptx");
        assert_eq!(uri_within("../../etc/passwd"), "etc/passwd");
        assert_eq!(uri_within("/c:\\x\u{1b}"), "c%3A/x%1B");
        assert_eq!(uri("../a b\\c:d.cu"), "../a%20b/c%3Ad.cu");
        assert_eq!(escaped_absolute_uri("https://a/b?c=<\">"), "https://a/b?c=%3C%22%3E");
    }
}
