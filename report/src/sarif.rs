//! A report as SARIF 2.1.0, which code hosts show.
//!
//! A result is a finding, its rule is the clause that tells most about it, its place is the file of the finding in the
//! campaign's folder. Known deviations are suppressed results, so that they show only to whoever asks for them.

use serde_json::{Value, json};

use crate::harmless::{line, lines};
use crate::{Finding, Report, Status, clauses, describe};

/// The rule of findings that name no clause.
const NO_CLAUSE: &str = "no-clause";

/// The log.
pub fn sarif(report: &Report) -> Value {
    let mut rules: Vec<&str> = report.findings.iter().map(rule_of).collect();
    rules.sort_by_key(|id| clauses::order(id));
    rules.dedup();
    let results: Vec<Value> = (report.findings.iter())
        .map(|finding| {
            let rule = rule_of(finding);
            let index = rules.iter().position(|other| *other == rule);
            result(report, finding, rule, index.unwrap_or_default())
        })
        .collect();
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ptxsmith",
                "version": line(&report.ptxsmith),
                "rules": rules,
            } },
            "columnKind": "utf16CodeUnits",
            "invocations": [{ "executionSuccessful": report.complete }],
            "originalUriBaseIds": { "CAMPAIGN": { "description": { "text": "the folder of the campaign" } } },
            "results": results,
        }],
    })
}

fn rule_of(finding: &Finding) -> &str {
    clauses::telling(&finding.clauses).0.first().copied().unwrap_or(NO_CLAUSE)
}

fn rule(id: &str) -> Value {
    let summary = clauses::summary(id).unwrap_or("a clause that this version of ptxsmith does not know");
    let (name, summary) = match id {
        NO_CLAUSE => (String::new(), "a deviation that names no clause"),
        _ => (format!("PTX ISA, section {}: ", clauses::section(id)), summary),
    };
    json!({
        "id": line(id),
        "shortDescription": { "text": line(&format!("{name}{summary}")) },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(report: &Report, finding: &Finding, rule: &str, index: usize) -> Value {
    let level = match finding.status {
        Status::New => "error",
        Status::Gone => "warning",
        Status::Known => "note",
    };
    let path = finding.file.clone().unwrap_or_else(|| format!("findings/{}.ptx", finding.id));
    let mut result = json!({
        "ruleId": line(rule),
        "ruleIndex": index,
        "level": level,
        "kind": "fail",
        "message": { "text": message(report, finding) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&path), "uriBaseId": "CAMPAIGN" },
            "region": { "startLine": 1 },
        } }],
        "partialFingerprints": { "ptxsmithFinding/v1": line(&finding.id) },
        "properties": {
            "class": line(&finding.class),
            "status": finding.status.name(),
            "count": finding.count,
            "subjects": finding.subjects.iter().map(|id| line(&report.named(id)).into_owned()).collect::<Vec<_>>(),
            "repeat": line(&finding.repeat),
        },
    });
    if finding.status == Status::Known {
        let why = format!("known deviation: {}", line(&finding.title));
        result["suppressions"] = json!([{ "kind": "external", "justification": why }]);
    }
    if let Some(link) = finding.link.as_deref().filter(|link| link.starts_with("https://")) {
        result["workItemUris"] = json!([uri_as_is(link)]);
    }
    result
}

fn message(report: &Report, finding: &Finding) -> String {
    let mut parts = vec![format!("{}: {}", line(&finding.class), line(&finding.title))];
    parts.extend(describe::expected(finding).into_iter().map(|text| format!("expected  {text}")));
    parts.extend(describe::observed(finding).into_iter().map(|text| format!("actual    {text}")));
    if !finding.releases.is_empty() {
        parts.push(format!("releases  {}", line(&report.release_map(finding))));
    }
    if let Some(first) = finding.subjects.first() {
        parts.push(format!("subject   {}", line(&report.named(first))));
    }
    parts.push(lines(finding.example().program).into_owned());
    parts.join("\n")
}

/// A path of the report as a URI reference that stays within its base: steps out of it are dropped, and what a URI does
/// not take is escaped.
fn uri(path: &str) -> String {
    let steps = path.split(['/', '\\']).filter(|step| !matches!(*step, "" | "." | ".."));
    let steps: Vec<String> = steps.map(|step| escaped(step, |_| false)).collect();
    steps.join("/")
}

/// An absolute URI, with what it must not hold escaped.
fn uri_as_is(uri: &str) -> String {
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
    fn a_place_stays_in_the_folder_of_the_campaign() {
        assert_eq!(uri("findings/a b.ptx"), "findings/a%20b.ptx");
        assert_eq!(uri("../../etc/passwd"), "etc/passwd");
        assert_eq!(uri("/c:\\x\u{1b}"), "c%3A/x%1B");
        assert_eq!(uri_as_is("https://a/b?c=<\">"), "https://a/b?c=%3C%22%3E");
    }
}
