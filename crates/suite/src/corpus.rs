//! The cases of the corpus, which is compiled in.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};

use crate::case::{Case, Source};
use crate::comments;

static CORPUS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/corpus");

/// A program of the corpus that a suite cannot take: a mistake in this build, not in its use.
#[derive(Debug, thiserror::Error)]
#[error("{id}: {reason}")]
pub struct SuiteError {
    /// The program.
    pub id: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The description of the corpus, which is that of a suite's cases too.
pub fn readme() -> &'static str {
    CORPUS.get_file("README.md").and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// The name and text of every PTX program of the corpus, in the order of the names.
pub fn programs() -> BTreeMap<String, &'static str> {
    let mut files = BTreeMap::new();
    collect(&CORPUS, &mut files);
    files
}

/// The same as cases.
pub fn cases() -> Result<Vec<Case>, SuiteError> {
    programs().iter().map(|(path, text)| case(path, text)).collect()
}

fn collect<'a>(folder: &'a Dir<'a>, files: &mut BTreeMap<String, &'a str>) {
    for file in folder.files() {
        let path = file.path().to_string_lossy().replace('\\', "/");
        if let (Some(stem), Some(text)) = (path.strip_suffix(".ptx"), file.contents_utf8()) {
            files.insert(stem.to_owned(), text);
        }
    }
    // Reproducers of known deviations are no cases.
    let cases = folder.dirs().filter(|folder| !folder.path().ends_with("deviations"));
    cases.for_each(|folder| collect(folder, files));
}

fn case(id: &str, text: &str) -> Result<Case, SuiteError> {
    let wrong = |reason: String| SuiteError { id: id.to_owned(), reason };
    let said = comments::read(text).map_err(wrong)?;
    let module = ptxsmith_syntax::parse(text).map_err(|error| wrong(error.to_string()))?;
    let folder = id.rsplit_once('/').map_or("", |(folder, _)| folder);
    let counterpart = said.counterpart.map(|file| {
        let file = file.strip_suffix(".ptx").unwrap_or(&file);
        match file.strip_prefix("../") {
            Some(elsewhere) => elsewhere.to_owned(),
            None => format!("{folder}/{file}"),
        }
    });
    let case = Case::new(id.to_owned(), Source::Hand, module);
    Ok(Case { clauses: said.clauses, text: text.to_owned(), counterpart, ..case })
}
