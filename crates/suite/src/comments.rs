//! The leading comments of a case: the format of the corpus, read and written. See `corpus/README.md`.

use std::fmt::Write as _;

use ptxsmith_oracle::{Clause, Expectation, Interpretation, hex};

use crate::case::Case;

/// What a suite needs to know of the comments of a corpus program.
pub struct Comments {
    /// What the case is about.
    pub clauses: Vec<Clause>,
    /// The file of its valid counterpart, relative to its folder.
    pub counterpart: Option<String>,
}

/// Reads the comments of a corpus program. The corpus has a test of its own that they are in order and hold.
///
/// # Errors
/// What is wrong with a line: it is no `key: value`, or names no clause.
pub fn read(text: &str) -> Result<Comments, String> {
    let mut comments = Comments { clauses: Vec::new(), counterpart: None };
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

/// The file that the leading comments of a program name as its valid neighbour, relative to the program's folder.
pub fn counterpart(text: &str) -> Option<&str> {
    let comments = text.lines().map_while(|line| line.strip_prefix("//"));
    comments.filter_map(|line| line.trim().strip_prefix("twin: ")).next()
}

/// The comments of a case whose other fields are complete, a line each.
pub fn write(case: &Case, note: &str) -> String {
    let ids: Vec<&str> = case.clauses.iter().map(|clause| clause.id()).collect();
    let mut text = format!("// clause: {}\n", ids.join(", "));
    let expect = match &case.expected {
        Expectation::Accepted { .. } => "accepted".to_owned(),
        Expectation::Refused { refusal, .. } => format!("refused {}", refusal.class.name()),
        Expectation::Unmodelled { .. } => "unmodelled".to_owned(),
    };
    let _ = writeln!(text, "// expect: {expect}");
    for question in rests_on(case) {
        let _ = writeln!(text, "// reading: {}", Interpretation(question, 0));
    }
    if let Expectation::Accepted { variables, .. } = &case.expected {
        for v in variables {
            let _ = writeln!(
                text,
                "// variable: {} size={} align={} bytes={}",
                v.name,
                v.size,
                v.align,
                hex(&v.bytes)
            );
            for a in &v.addresses {
                let byte = a.byte.map_or(String::new(), |byte| format!(" byte={byte}"));
                let _ = writeln!(
                    text,
                    "// address: {} offset={} width={} symbol={} addend={} generic={}{byte}",
                    v.name, a.offset, a.width, a.symbol, a.addend, a.generic
                );
            }
        }
    }
    if let Some(counterpart) = &case.counterpart {
        let file = counterpart.rsplit('/').next().unwrap_or(counterpart);
        let _ = writeln!(text, "// twin: {file}.ptx");
    }
    let _ = writeln!(text, "// note: {note}");
    text
}

/// The questions whose default answer the expectation holds under: another answer alone gives something else.
fn rests_on(case: &Case) -> Vec<ptxsmith_oracle::Question> {
    let mut questions: Vec<_> = case
        .alternatives
        .iter()
        .filter_map(|alternative| match alternative.answers[..] {
            [(question, _)] => Some(question),
            _ => None,
        })
        .collect();
    questions.sort();
    questions.dedup();
    questions
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
