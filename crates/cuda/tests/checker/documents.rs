//! Tests that the table of open questions in docs/guide/cuda.md matches the code. `PTXSMITH_BLESS=1` rewrites
//! the table.

use std::fmt::Write as _;

use ptxsmith_cuda::reading::RuleQuestion;

#[test]
fn the_document_has_every_question_with_its_answers() {
    let mut table = String::from("| question | literal | otherwise |\n| --- | --- | --- |\n");
    for question in RuleQuestion::ALL {
        let [literal, other] = question.answers();
        let _ = writeln!(table, "| `{question}` | {literal} | {other} |");
    }
    ptxsmith_testing::rendered_between("docs/guide/cuda.md", "rendered", &table);
}
