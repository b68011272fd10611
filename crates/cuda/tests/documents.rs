//! The table of open questions in docs/guide/cuda.md is that of the code: `PTXSMITH_BLESS=1` writes it anew.

use std::fmt::Write as _;

use ptxsmith_cuda::reading::Question;

#[test]
fn the_document_has_every_question_with_its_answers() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/cuda.md");
    let mut table = String::from("| question | literal | otherwise |\n| --- | --- | --- |\n");
    for question in Question::ALL {
        let [literal, other] = question.answers();
        let _ = writeln!(table, "| `{question}` | {literal} | {other} |");
    }
    let (begin, end) = ("<!-- rendered: begin -->\n", "<!-- rendered: end -->");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let whole = format!("{before}{begin}{table}{end}{}", rest.split_once(end).unwrap().1);
    if std::env::var_os("PTXSMITH_BLESS").is_some() {
        std::fs::write(&path, &whole).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text == whole, "docs/guide/cuda.md is not current: run with PTXSMITH_BLESS=1");
}
