//! The index by clause, as JSON and as Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::case::{CaseSource, SuiteCase};
use crate::coverage::{CoveredClause, coverage};

/// The maximum number of cases that the Markdown index lists for a clause.
const MOST_CASES: usize = 6;

/// Returns `index.json`: every clause with the ids of its cases.
pub fn json(cases: &[SuiteCase]) -> String {
    let clauses: Vec<Value> = coverage(cases).iter().map(clause_json).collect();
    let index = json!({ "schema": "ptxsmith.suite-index/1", "clauses": clauses });
    serde_json::to_string_pretty(&index).expect("texts are always JSON") + "\n"
}

fn clause_json(covered: &CoveredClause<'_>) -> Value {
    json!({
        "id": covered.clause.id(),
        "summary": covered.clause.summary(),
        "observed": covered.clause.observed().name(),
        "positive": covered.positive.iter().map(|case| &case.id).collect::<Vec<_>>(),
        "negative": covered.negative.iter().map(|case| &case.id).collect::<Vec<_>>(),
    })
}

/// Returns `index.md`: every clause with the number of its cases and the first few of them. Cases of the
/// corpus come first.
pub fn markdown(cases: &[SuiteCase]) -> String {
    let mut text = String::from(
        "# The suite by clause\n\nA clause is one statement of the PTX manual that an implementation can keep or break. The part \
         before the slash\nis the manual's section. `instruction` and `nothing` are seen in no initialized data: this suite does not \
         test them.\nEvery case of a clause is in `index.json`.\n\n",
    );
    text.push_str("| clause | what it says | seen in | accepted | refused | cases |\n| --- | --- | --- | --- | --- | --- |\n");
    for covered in coverage(cases) {
        let mut cases: Vec<&&SuiteCase> = covered.positive.iter().chain(&covered.negative).collect();
        cases.sort_by_key(|case| (case.source != CaseSource::Hand, case.source, case.is_refused()));
        cases.truncate(MOST_CASES);
        let links: Vec<String> = cases.iter().map(|case| format!("[{0}](cases/{0}.ptx)", case.id)).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} |",
            covered.clause.id(),
            covered.clause.summary().replace('|', "\\|"),
            covered.clause.observed(),
            covered.positive.len(),
            covered.negative.len(),
            links.join(", ")
        );
    }
    text
}
