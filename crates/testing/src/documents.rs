//! Tests of documents that are generated from the code.

use std::fs;
use std::path::Path;

/// Asserts that a document has this text. The path is relative to the root of the repository.
/// `PTXSMITH_BLESS=1` writes the text instead.
pub fn rendered(document: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    if std::env::var_os("PTXSMITH_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    } else {
        let current = fs::read_to_string(&path).unwrap_or_default();
        assert!(current == text, "{document} is not current: run with PTXSMITH_BLESS=1\n{text}");
    }
}

/// Like [`rendered`], but only for the text between the comments `MARKS: begin` and `MARKS: end`.
pub fn rendered_between(document: &str, marks: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = fs::read_to_string(path).unwrap();
    let begin = format!("<!-- {marks}: begin -->\n");
    let end = format!("<!-- {marks}: end -->");
    let from = text.find(&begin).expect("the document has a place for the table") + begin.len();
    let to = text.find(&end).expect("the document has a place for the table");
    rendered(document, &format!("{}{table}{}", &text[..from], &text[to..]));
}
