//! The atlas: the results of every implementation for every clause and every form, as static HTML pages with
//! a JSON file beside each.
//!
//! It renders reports and does not judge programs. The addresses of pages consist of names only, so that
//! links remain valid when the atlas is built again: `clauses/CLAUSE.html#SUBJECT`, `forms/FORM.html#CELL`,
//! `deviations/ID.html`. The pages load one style sheet and run no scripts. Output of subjects and text of
//! programs is inserted as escaped text.

mod forms;
mod merged;
mod names;
mod pages;

use askama::Template;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::harmless;
use crate::matrix::{Matrix, Standing};
use forms::forms;
use pages::{ClausePage, DeviationPage, FormPage, IndexPage};

pub use merged::{MergeConflict, MergedReport, Provenance};

/// The value of `"schema"` in every JSON file.
pub const SCHEMA: &str = "ptxsmith.atlas/1";

/// The name of the start page, without its extension.
pub const INDEX: &str = "index";

/// A file of an atlas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtlasFile {
    /// The path within the atlas: `clauses/4.5.5-division.html`.
    pub path: String,
    /// The contents.
    pub text: String,
}

/// The reason why an atlas cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum AtlasError {
    /// The campaigns contradict each other.
    #[error(transparent)]
    MergeConflict(#[from] MergeConflict),
    /// The campaigns contain no results.
    #[error(
        "nothing in these campaigns was compared; give the folders of campaigns, best with `check --by-case`"
    )]
    Empty,
    /// A page cannot be rendered; this does not happen in practice.
    #[error(transparent)]
    Render(#[from] askama::Error),
}

/// Returns the style sheet of the report, adapted so that its rules for the clause table apply to every
/// matrix.
fn style() -> String {
    let report_style = include_str!("../../templates/report.css").replace("#board", ".matrix");
    format!("{report_style}\n{}", include_str!("../../templates/atlas/atlas.css"))
}

/// Builds the files of the atlas of these campaigns.
///
/// # Errors
/// If the campaigns contradict each other or contain no results.
pub fn atlas(folders: &[Folder]) -> Result<Vec<AtlasFile>, AtlasError> {
    let merged = MergedReport::new(folders)?;
    let report = &merged.report;
    if report.compared == 0 {
        return Err(AtlasError::Empty);
    }
    let matrix = Matrix::new(report);
    let forms = forms(&report.cases, report.subjects.len());
    let mut files = vec![AtlasFile { path: "style.css".to_owned(), text: style() }];
    let index = IndexPage::new(&merged, &matrix, &forms);
    files.extend(page_files(INDEX, &index.render()?, index.json())?);
    for row in &matrix.rows {
        let page = ClausePage::new(&merged, &matrix, row, &forms);
        files.extend(page_files(&page.path(), &page.render()?, page.json())?);
    }
    for form in &forms {
        let page = FormPage::new(&merged, &matrix, form);
        files.extend(page_files(&page.path(), &page.render()?, page.json())?);
    }
    for finding in &report.findings {
        let page = DeviationPage::new(&merged, finding);
        files.extend(page_files(&page.path(), &page.render()?, page.json())?);
    }
    Ok(files)
}

/// Returns the two files of a page: its HTML, and its data as JSON.
fn page_files(path: &str, html: &str, json: Value) -> Result<[AtlasFile; 2], AtlasError> {
    let json = serde_json::to_string(&with_schema(json)).map_err(askama::Error::custom)?;
    Ok([
        AtlasFile { path: format!("{path}.html"), text: lean(html) },
        AtlasFile { path: format!("{path}.json"), text: harmless::json(json) + "\n" },
    ])
}

/// Removes optional parts from an HTML page: indentation, and the end tags of cells, rows and items, which
/// HTML parsers imply. Text of programs and messages is not affected, because it is escaped, and indented
/// only in `<pre>` elements.
fn lean(page: &str) -> String {
    let mut lean = String::with_capacity(page.len());
    let mut in_program = false;
    for line in page.split_inclusive('\n') {
        let text = if in_program { line } else { line.trim_start() };
        lean.push_str(text);
        in_program = match (line.rfind("<pre"), line.rfind("</pre>")) {
            (Some(begin), Some(end)) => end < begin,
            (begin, end) => begin.is_some() || in_program && end.is_none(),
        };
    }
    ["</td>", "</th>", "</tr>", "</li>"].iter().fold(lean, |text, tag| text.replace(tag, ""))
}

fn with_schema(mut page: Value) -> Value {
    page["schema"] = json!(SCHEMA);
    page
}

/// Returns the meanings of the letters of standings, for readers of the JSON.
fn letters() -> Value {
    Standing::LEGEND
        .into_iter()
        .map(|(standing, name, ..)| (standing.letter().to_string(), json!(name)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::lean;

    #[test]
    fn a_lean_page_has_programs_as_they_are() {
        let page = "  <ul>\n    <li>a</li>\n\n    <li>b</li>\n  </ul>\n  <pre class=\"code\">.entry k() {\n    ret;\n\n}</pre>\n  <p>c</p>\n";
        let expected =
            "<ul>\n<li>a\n<li>b\n</ul>\n<pre class=\"code\">.entry k() {\n    ret;\n\n}</pre>\n<p>c</p>\n";
        assert_eq!(lean(page), expected);
        assert_eq!(lean("<pre>a</pre>\n  <pre>b</pre>\n"), "<pre>a</pre>\n<pre>b</pre>\n");
    }
}
