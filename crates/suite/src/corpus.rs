//! The cases of the corpus, which is compiled into the library.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

use crate::case::{CaseSource, SuiteCase};
use crate::comments;

static CORPUS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/corpus");

/// An error in a program of the corpus. It is a defect of this build, not of its use.
#[derive(Debug, thiserror::Error)]
#[error("{id}: {reason}")]
pub struct SuiteError {
    /// The path of the program without extension.
    pub id: String,
    /// A description of the defect.
    pub reason: String,
}

/// Returns the README of the corpus, which also describes the cases of a suite.
pub fn readme() -> &'static str {
    CORPUS.get_file("README.md").and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// Returns the text of every PTX program of the corpus by its path without extension.
pub fn programs() -> BTreeMap<String, &'static str> {
    let mut files = BTreeMap::new();
    collect(&CORPUS, &mut files);
    files
}

/// Returns every program of the corpus as a case.
pub fn cases() -> Result<Vec<SuiteCase>, SuiteError> {
    programs().iter().map(|(path, text)| case(path, text)).collect()
}

fn collect<'a>(folder: &'a Dir<'a>, files: &mut BTreeMap<String, &'a str>) {
    for file in folder.files() {
        let path = file.path().to_string_lossy().replace('\\', "/");
        if let (Some(stem), Some(text)) = (path.strip_suffix(".ptx"), file.contents_utf8()) {
            files.insert(stem.to_owned(), text);
        }
    }
    // Reproducers of known deviations are not test cases.
    for folder in folder.dirs().filter(|folder| !folder.path().ends_with("deviations")) {
        collect(folder, files);
    }
}

fn case(id: &str, text: &str) -> Result<SuiteCase, SuiteError> {
    let comments = comments::read(text).map_err(|reason| SuiteError { id: id.to_owned(), reason })?;
    let module = ptxsmith_syntax::parse(text)
        .map_err(|error| SuiteError { id: id.to_owned(), reason: error.to_string() })?;
    let folder = id.rsplit_once('/').map_or("", |(folder, _)| folder);
    let counterpart = comments.counterpart.map(|file| {
        let file = file.strip_suffix(".ptx").unwrap_or(&file);
        match file.strip_prefix("../") {
            Some(elsewhere) => elsewhere.to_owned(),
            None => format!("{folder}/{file}"),
        }
    });
    let case = SuiteCase::new(id.to_owned(), CaseSource::Hand, module);
    Ok(SuiteCase { clauses: comments.clauses, text: text.to_owned(), counterpart, ..case })
}
