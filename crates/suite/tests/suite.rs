//! The guarantees of a suite: it covers every clause, is deterministic, and conforms to its schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ptxsmith_oracle::{Clause, Expectation, Observed};
use ptxsmith_suite::{ALSO_REFUSE, CaseFilter, CaseSource, Suite, SuiteOptions, coverage};

static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::build(SuiteOptions::default()).unwrap());

#[test]
fn every_clause_about_data_has_a_positive_case() {
    let missing: Vec<&str> = coverage(&SUITE.cases)
        .iter()
        .filter(|covered| covered.clause.observed().by_data() && covered.positive.is_empty())
        .map(|covered| covered.clause.id())
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_clause_that_can_refuse_has_a_negative_case_with_a_counterpart() {
    let missing: Vec<&str> = coverage(&SUITE.cases)
        .iter()
        .filter(|covered| covered.can_be_refused())
        .filter(|covered| !covered.negative.iter().any(|case| case.counterpart.is_some()))
        .map(|covered| covered.clause.id())
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_clause_that_refuses_a_case_is_listed_as_refusing() {
    let refusing = SUITE.cases.iter().filter_map(|case| match &case.expected {
        Expectation::Refused { refusal, .. } => Some(refusal.clause),
        _ => None,
    });
    // Clauses about instructions are not part of the suite's guarantees, although it contains cases for them.
    let known = |clause: &Clause| {
        matches!(clause.observed(), Observed::Refusal | Observed::Instruction) || ALSO_REFUSE.contains(clause)
    };
    let unknown: BTreeSet<&str> = refusing.filter(|clause| !known(clause)).map(Clause::id).collect();
    assert!(unknown.is_empty(), "not in ALSO_REFUSE: {unknown:?}");
}

#[test]
fn every_counterpart_is_accepted() {
    let by_id: BTreeMap<&str, _> = SUITE.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut pairs = 0;
    for case in &SUITE.cases {
        if let Some(counterpart) = &case.counterpart {
            pairs += 1;
            assert!(
                by_id[counterpart.as_str()].is_accepted(),
                "{}: its twin {counterpart} is not accepted",
                case.id
            );
        }
    }
    assert!(pairs >= 350, "only {pairs} pairs");
}

#[test]
fn a_suite_is_a_few_megabytes_and_the_same_each_time() {
    let bytes = |suite: &Suite| suite.files().into_iter().map(|f| (f.path, f.contents)).collect::<Vec<_>>();
    let first = bytes(&SUITE);
    assert_eq!(first, bytes(&Suite::build(SuiteOptions::default()).unwrap()));
    let size: usize = first.iter().map(|(_, contents)| contents.len()).sum();
    let mut sources: BTreeMap<CaseSource, usize> = BTreeMap::new();
    SUITE.cases.iter().for_each(|case| *sources.entry(case.source).or_default() += 1);
    println!("{} cases {sources:?}, {size} bytes", SUITE.cases.len());
    assert!(size < 7_000_000, "{size} bytes");
}

fn file(path: &str) -> serde_json::Value {
    let files = SUITE.files();
    let found = files.iter().find(|file| file.path == path).unwrap();
    serde_json::from_str(&found.contents).unwrap()
}

#[test]
fn the_manifest_is_valid_under_its_schema() {
    let schema = jsonschema::validator_for(&file("manifest.schema.json")).unwrap();
    let manifest = file("manifest.json");
    let errors: Vec<String> =
        schema.iter_errors(&manifest).take(3).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
    let mut other = manifest.clone();
    other["cases"][0]["expected"]["outcome"] = "crashed".into();
    assert!(!schema.is_valid(&other), "the schema takes an outcome that no expectation has");
}

#[test]
fn every_expectation_is_valid_under_the_schema_of_observations() {
    let schema = jsonschema::validator_for(&file("module.schema.json")).unwrap();
    for case in &SUITE.cases {
        let mut expected = case.expected.to_json(&case.text, &ptxsmith_oracle::Readings::default());
        // This outcome exists only for an oracle.
        if expected["outcome"] == "unmodelled" {
            continue;
        }
        expected["diagnostics"] = serde_json::json!([]);
        let error = schema.iter_errors(&expected).next().map(|e| format!("{e} at {}", e.instance_path()));
        assert_eq!(error, None, "{}", case.id);
    }
    let hostile = serde_json::json!({"schema": "ptxsmith.module/1", "outcome": "accepted",
        "variables": {"a": {"space": "global", "size": 1, "bytes": "0G"}}});
    assert!(!schema.is_valid(&hostile));
}

#[test]
fn the_manifest_has_every_case_and_names_existing_files() {
    let files: BTreeSet<String> = SUITE.files().into_iter().map(|file| file.path).collect();
    let manifest = file("manifest.json");
    let cases = manifest["cases"].as_array().unwrap();
    assert_eq!(cases.len(), SUITE.cases.len());
    for case in cases {
        assert!(files.contains(case["file"].as_str().unwrap()), "{}", case["file"]);
    }
}

#[test]
fn random_programs_are_added_on_request_and_change_nothing_else() {
    let more = Suite::build(SuiteOptions { random: 20, seed: 3, ..SuiteOptions::default() }).unwrap();
    let drawn: Vec<_> = more.cases.iter().filter(|case| case.source == CaseSource::Random).collect();
    assert!((20..=40).contains(&drawn.len()), "{}", drawn.len());
    let others = more.cases.iter().filter(|case| case.source != CaseSource::Random).map(|case| &case.text);
    assert!(others.eq(SUITE.cases.iter().map(|case| &case.text)));
}

#[test]
fn a_suite_for_an_old_target_has_its_cases_and_their_counterparts_only() {
    let filter = CaseFilter {
        target: Some("sm_35".into()),
        max_ptx: Some((4, 3)),
        only: Some(regex_lite::Regex::new("^5[.]4[.]").unwrap()),
    };
    let suite = Suite::build(SuiteOptions { filter, ..SuiteOptions::default() }).unwrap();
    assert!(suite.cases.len() > 5, "{}", suite.cases.len());
    for case in suite.cases.iter().filter(|case| case.id.starts_with("5.4.")) {
        let is_counterpart = suite.cases.iter().any(|other| other.counterpart.as_ref() == Some(&case.id));
        assert!(is_counterpart || case.module.version() <= Some((4, 3)), "{}", case.id);
        let counterpart = |id: &String| suite.cases.iter().any(|other| other.id == *id);
        assert!(case.counterpart.as_ref().is_none_or(counterpart), "{}", case.id);
    }
    let none =
        CaseFilter { only: Some(regex_lite::Regex::new("^nothing$").unwrap()), ..CaseFilter::default() };
    assert!(Suite::build(SuiteOptions { filter: none, ..SuiteOptions::default() }).unwrap().cases.is_empty());
}

/// The table of sources in docs/guide/suite.md. `PTXSMITH_BLESS=1` updates it.
#[test]
fn the_document_has_the_number_of_cases_of_each_source() {
    let count = |source| SUITE.cases.iter().filter(|case| case.source == source).count();
    let table = format!(
        "| source | cases | |\n| --- | ---: | --- |\n\
         | `hand` | {} | the corpus: worked out by hand from the text |\n\
         | `enumerated` | {} | small programs of every form; of families of more than 300, as many as show each clause ten times |\n\
         | `edited` | {} | every edit of the generator that breaks a rule, up to three times, each with its valid counterpart |\n\
         | `random` | on request | `--random N --seed S` |\n\n{} cases in all.\n",
        count(CaseSource::Hand),
        count(CaseSource::Enumerated),
        count(CaseSource::Edited),
        SUITE.cases.len(),
    );
    ptxsmith_testing::rendered_between("docs/guide/suite.md", "rendered", &table);
}
