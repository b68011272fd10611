//! The atlas: what every implementation makes of every clause and every form, as static pages with JSON beside each.
//!
//! It is a rendering of reports and judges nothing. Addresses are made of names alone, so that a link stays true when the
//! atlas is made again: `clauses/CLAUSE.html#SUBJECT`, `forms/FORM.html#CELL`, `deviations/ID.html`. The pages load one style and
//! run nothing, and what subjects and programs say is text.

mod forms;
mod gathered;
mod names;
mod pages;

use askama::Template;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::harmless;
use crate::matrix::{Matrix, Standing};
use forms::forms;
use pages::{ClausePage, DeviationPage, FormPage, Frame, Index};

pub use gathered::{Campaign, Conflict, Gathered};

/// The value of `"schema"` in every JSON file.
pub const SCHEMA: &str = "ptxsmith.atlas/1";

/// The name of the page that an atlas begins with.
pub const INDEX: &str = "index";

/// A file of an atlas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it stands in the atlas: `clauses/4.5.5-division.html`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// Why there is no atlas.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The campaigns do not go together.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// They hold neither a clause nor a program.
    #[error(
        "nothing in these campaigns was compared; give the folders of campaigns, best with `check --by-case`"
    )]
    Empty,
    /// A page cannot be made; never in practice.
    #[error(transparent)]
    Render(#[from] askama::Error),
}

/// The style of the report, in which the only table of clauses has an id.
fn style() -> String {
    let of_report = include_str!("../../templates/report.css").replace("#board", ".matrix");
    format!("{of_report}\n{}", include_str!("../../templates/atlas/atlas.css"))
}

/// The files of the atlas of some campaigns.
///
/// # Errors
/// If the campaigns do not go together, or hold nothing.
pub fn atlas(folders: &[Folder]) -> Result<Vec<File>, Error> {
    let gathered = Gathered::of(folders)?;
    let report = &gathered.report;
    if report.compared == 0 {
        return Err(Error::Empty);
    }
    let matrix = Matrix::of(report);
    let forms = forms(&report.cases, report.subjects.len());
    let mut files = vec![File { path: "style.css".to_owned(), text: style() }];
    let mut add = |path: &str, html: String, json: Value| -> Result<(), Error> {
        files.push(File { path: format!("{path}.html"), text: lean(&html) });
        let text = harmless::json(serde_json::to_string(&with_schema(json)).map_err(askama::Error::custom)?);
        files.push(File { path: format!("{path}.json"), text: text + "\n" });
        Ok(())
    };
    let index = Index::of(&gathered, &matrix, &forms);
    add(INDEX, index.render()?, index.json())?;
    let frame = || Frame::below(&gathered);
    for row in &matrix.rows {
        let page = ClausePage::of(frame(), &matrix, row, &forms);
        add(&page.path(), page.render()?, page.json())?;
    }
    for form in &forms {
        let page = FormPage::of(frame(), report, &matrix, form);
        add(&page.path(), page.render()?, page.json())?;
    }
    for finding in &report.findings {
        let page = DeviationPage::of(frame(), report, finding);
        add(&page.path(), page.render()?, page.json())?;
    }
    Ok(files)
}

/// A page without what a reader of HTML does not need: indentation, and the end tags of cells, rows and items, which the next one or
/// the end of what they stand in implies. What a program or a message says is escaped, and has neither.
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

/// What the letters of standings stand for, for readers of the JSON.
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
