//! The complete suite: its cases and its files.

use std::collections::BTreeSet;

use regex_lite::Regex;

use crate::case::SuiteCase;
use crate::corpus::SuiteError;
use crate::{corpus, drawn, edited, enumerated, index, manifest};

/// Selects the cases of a suite.
#[derive(Clone, Debug, Default)]
pub struct CaseFilter {
    /// Only cases that run on this target: `sm_35` includes cases for earlier targets.
    pub target: Option<String>,
    /// Only cases of this PTX version or an earlier one.
    pub max_ptx: Option<(u32, u32)>,
    /// Only cases with an id that matches this expression.
    pub only: Option<Regex>,
}

impl CaseFilter {
    fn matches(&self, case: &SuiteCase) -> bool {
        self.target.as_deref().is_none_or(|target| runs_on(case, target))
            && self.max_ptx.is_none_or(|max| case.module.version().is_some_and(|version| version <= max))
            && self.only.as_ref().is_none_or(|only| only.is_match(&case.id))
    }
}

/// Whether a case runs on a target: all targets that it names are this one or earlier ones. Targets with a
/// suffix have no order: a case for `sm_90a` runs on `sm_90a` alone.
fn runs_on(case: &SuiteCase, target: &str) -> bool {
    let number = target_number(target);
    let mut named = case.module.targets().filter(|named| named.starts_with("sm_"));
    named.all(|named| {
        named == target || target_number(named).zip(number).is_some_and(|(named, number)| named <= number)
    })
}

/// Returns the number of a target: 80 for `sm_80`. `None` for targets with a suffix, such as `sm_90a`.
fn target_number(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.parse().ok()
}

/// The options of a suite.
#[derive(Clone, Debug, Default)]
pub struct SuiteOptions {
    /// The number of random programs, in addition to the fixed cases.
    pub random: u64,
    /// The seed of the random programs.
    pub seed: u64,
    /// Selects the cases. The valid counterpart of a selected case is always included.
    pub filter: CaseFilter,
}

/// A conformance suite.
pub struct Suite {
    /// The cases, ordered by id.
    pub cases: Vec<SuiteCase>,
    options: SuiteOptions,
}

/// A file of a suite.
pub struct SuiteFile {
    /// The path relative to the suite's directory.
    pub path: String,
    /// The contents of the file.
    pub contents: String,
}

impl SuiteFile {
    fn new(path: impl Into<String>, contents: impl Into<String>) -> SuiteFile {
        SuiteFile { path: path.into(), contents: contents.into() }
    }
}

impl Suite {
    /// Creates a suite. The same options give the same suite.
    ///
    /// # Errors
    /// If the compiled-in corpus is defective.
    pub fn build(options: SuiteOptions) -> Result<Suite, SuiteError> {
        let mut cases = corpus::cases()?;
        cases.extend(enumerated::cases());
        cases.extend(edited::cases());
        cases.extend(drawn::cases(options.seed, options.random));
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        for case in &cases {
            if case.counterpart.as_ref().is_some_and(|counterpart| !ids.contains(counterpart.as_str())) {
                return Err(SuiteError {
                    id: case.id.clone(),
                    reason: "its counterpart is not there".into(),
                });
            }
        }
        let mut selected: BTreeSet<String> = BTreeSet::new();
        for case in cases.iter().filter(|case| options.filter.matches(case)) {
            selected.insert(case.id.clone());
            selected.extend(case.counterpart.clone());
        }
        cases.retain(|case| selected.contains(&case.id));
        Ok(Suite { cases, options })
    }

    /// Returns every file of the suite.
    pub fn files(&self) -> Vec<SuiteFile> {
        let manifest = manifest::manifest(&self.cases, (self.options.random, self.options.seed));
        let mut files = vec![
            SuiteFile::new("README.md", include_str!("../files/README.md")),
            SuiteFile::new("cases/README.md", corpus::readme()),
            SuiteFile::new("run.py", include_str!("../files/run.py")),
            SuiteFile::new("ptxas.py", include_str!("../files/ptxas.py")),
            SuiteFile::new("manifest.schema.json", include_str!("../files/manifest.schema.json")),
            SuiteFile::new("module.schema.json", include_str!("../files/module.schema.json")),
            SuiteFile::new("manifest.json", manifest),
            SuiteFile::new("index.json", index::json(&self.cases)),
            SuiteFile::new("index.md", index::markdown(&self.cases)),
        ];
        for case in &self.cases {
            files.push(SuiteFile::new(format!("cases/{}.ptx", case.id), &case.text));
        }
        files
    }
}
