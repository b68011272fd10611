//! The complete suite: its cases and its files.

use std::collections::BTreeSet;

use regex_lite::Regex;

use crate::case::Case;
use crate::corpus::SuiteError;
use crate::{corpus, drawn, edited, enumerated, index, manifest};

/// Selects the cases of a suite.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only cases that run on this target: `sm_35` includes cases for earlier targets.
    pub target: Option<String>,
    /// Only cases of this PTX version or an earlier one.
    pub max_ptx: Option<(u32, u32)>,
    /// Only cases whose id matches this expression.
    pub only: Option<Regex>,
}

impl Filter {
    fn takes(&self, case: &Case) -> bool {
        let number = |target: &str| target.strip_prefix("sm_").and_then(|number| number.parse::<u32>().ok());
        let runs_on = |own: &str| {
            let targets = || case.module.targets().filter(|target| target.starts_with("sm_"));
            targets().all(|target| {
                target == own || number(target).is_some_and(|t| number(own).is_some_and(|own| t <= own))
            })
        };
        self.target.as_deref().is_none_or(runs_on)
            && self.max_ptx.is_none_or(|max| case.module.version().is_some_and(|version| version <= max))
            && self.only.as_ref().is_none_or(|only| only.is_match(&case.id))
    }
}

/// The options of a suite.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The number of random programs, in addition to the fixed cases.
    pub random: u64,
    /// The seed of the random programs.
    pub seed: u64,
    /// Selects the cases. The valid counterpart of a selected case is always included.
    pub filter: Filter,
}

/// A conformance suite.
pub struct Suite {
    /// The cases, ordered by id.
    pub cases: Vec<Case>,
    options: Options,
}

/// A file of a suite.
pub struct File {
    /// The path relative to the suite's directory.
    pub path: String,
    /// The contents of the file.
    pub contents: String,
}

impl Suite {
    /// Creates a suite. The same options give the same suite.
    ///
    /// # Errors
    /// If the compiled-in corpus is defective.
    pub fn build(options: Options) -> Result<Suite, SuiteError> {
        let mut cases = corpus::cases()?;
        cases.extend(enumerated::cases());
        cases.extend(edited::cases());
        cases.extend(drawn::cases(options.seed, options.random));
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let lost = cases.iter().find(|case| {
            case.counterpart.as_ref().is_some_and(|counterpart| !ids.contains(counterpart.as_str()))
        });
        if let Some(case) = lost {
            return Err(SuiteError { id: case.id.clone(), reason: "its counterpart is not there".into() });
        }
        let chosen = cases.iter().filter(|case| options.filter.takes(case));
        let wanted: BTreeSet<String> =
            chosen.flat_map(|case| [Some(case.id.clone()), case.counterpart.clone()]).flatten().collect();
        cases.retain(|case| wanted.contains(&case.id));
        Ok(Suite { cases, options })
    }

    /// Returns every file of the suite.
    pub fn files(&self) -> Vec<File> {
        let file = |path: &str, contents: &str| File { path: path.to_owned(), contents: contents.to_owned() };
        let mut files = vec![
            file("README.md", include_str!("../files/README.md")),
            file("cases/README.md", corpus::readme()),
            file("run.py", include_str!("../files/run.py")),
            file("ptxas.py", include_str!("../files/ptxas.py")),
            file("manifest.schema.json", include_str!("../files/manifest.schema.json")),
            file("module.schema.json", include_str!("../files/module.schema.json")),
            File {
                path: "manifest.json".into(),
                contents: manifest::manifest(&self.cases, (self.options.random, self.options.seed)),
            },
            File { path: "index.json".into(), contents: index::json(&self.cases) },
            File { path: "index.md".into(), contents: index::markdown(&self.cases) },
        ];
        files.extend(
            self.cases
                .iter()
                .map(|case| File { path: format!("cases/{}.ptx", case.id), contents: case.text.clone() }),
        );
        files
    }
}
