//! Reads and writes the leading comments of a case. The format is described in `corpus/README.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ptxsmith_oracle::{Address, Clause, Expectation, Interpretation, Question, Variable, hex};

use crate::case::SuiteCase;

/// The parts of a corpus program's comments that a suite needs.
pub struct CaseComments {
    /// The clauses that the case tests.
    pub clauses: Vec<Clause>,
    /// The file of the valid counterpart, relative to the directory of the case.
    pub counterpart: Option<String>,
}

/// Reads the comments of a corpus program. It does not verify them: the corpus has its own test for that.
///
/// # Errors
/// If a line is not `key: value` or names an unknown clause.
pub fn read(text: &str) -> Result<CaseComments, String> {
    let mut comments = CaseComments { clauses: Vec::new(), counterpart: None };
    for line in text.lines().map_while(|line| line.strip_prefix("//")) {
        let (key, value) =
            line.trim().split_once(": ").ok_or_else(|| format!("`{line}` is no `key: value`"))?;
        match key {
            "clause" => {
                for id in value.split(", ") {
                    comments.clauses.push(Clause::from_id(id).ok_or_else(|| format!("no clause {id}"))?);
                }
            }
            "twin" => comments.counterpart = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(comments)
}

/// Returns the valid counterpart that the leading comments of a program name, relative to the program's
/// directory.
pub fn counterpart(text: &str) -> Option<&str> {
    let comments = text.lines().map_while(|line| line.strip_prefix("//"));
    comments.filter_map(|line| line.trim().strip_prefix("twin: ")).next()
}

/// Returns the leading comments of a case, one per line. All other fields of the case must be set.
pub fn write(case: &SuiteCase, note: &str) -> String {
    let ids: Vec<&str> = case.clauses.iter().map(|clause| clause.id()).collect();
    let mut text = format!("// clause: {}\n", ids.join(", "));
    let expect = match &case.expected {
        Expectation::Accepted { .. } => "accepted".to_owned(),
        Expectation::Refused { refusal, .. } => format!("refused {}", refusal.class.name()),
        Expectation::Unmodelled { .. } => "unmodelled".to_owned(),
    };
    let _ = writeln!(text, "// expect: {expect}");
    for question in deciding_questions(case) {
        let _ = writeln!(text, "// reading: {}", Interpretation(question, 0));
    }
    if let Expectation::Accepted { variables, .. } = &case.expected {
        for variable in variables {
            write_variable(&mut text, variable);
        }
    }
    if let Some(counterpart) = &case.counterpart {
        let file = counterpart.rsplit('/').next().unwrap_or(counterpart);
        let _ = writeln!(text, "// twin: {file}.ptx");
    }
    let _ = writeln!(text, "// note: {note}");
    text
}

fn write_variable(text: &mut String, variable: &Variable) {
    let Variable { name, size, align, bytes, addresses, .. } = variable;
    let _ = writeln!(text, "// variable: {name} size={size} align={align} bytes={}", hex(bytes));
    for Address { offset, width, symbol, addend, generic, byte, .. } in addresses {
        let byte = byte.map_or(String::new(), |byte| format!(" byte={byte}"));
        let _ = writeln!(
            text,
            "// address: {name} offset={offset} width={width} symbol={symbol} addend={addend} generic={generic}{byte}"
        );
    }
}

/// Returns the questions that decide the expectation: another answer to one of them alone changes it.
fn deciding_questions(case: &SuiteCase) -> BTreeSet<Question> {
    let questions = case.alternatives.iter().filter_map(|alternative| match alternative.answers[..] {
        [(question, _)] => Some(question),
        _ => None,
    });
    questions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counterpart_is_named_in_the_leading_comments() {
        assert_eq!(counterpart("// clause: 4.5/x\n// twin: a.ptx\n.version 7.8\n"), Some("a.ptx"));
        assert_eq!(counterpart(".version 7.8\n// twin: a.ptx\n"), None);
        assert_eq!(counterpart("// a twin: a.ptx\n"), None);
    }
}
