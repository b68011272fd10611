//! Explains names that ptxsmith prints: a listed deviation, a clause or a section of the specification, or an
//! ambiguity.

use std::fmt::Write as _;

use ptxsmith_oracle::{Clause, Question};

use crate::{clauses, deviations};

/// Returns the explanation of a name as Markdown, or `None` if ptxsmith has no such name.
pub fn explain(name: &str) -> Option<String> {
    if let Some(page) = deviations::page(name) {
        return Some(page.to_owned());
    }
    if let Some(section) = deviations::collected(name) {
        return Some(section);
    }
    if let Some(clause) = Clause::from_id(name) {
        return Some(explain_clause(clause));
    }
    match Question::ALL.iter().find(|question| question.name() == name) {
        Some(&question) => Some(explain_question(question)),
        None => explain_section(name),
    }
}

/// Returns all names that can be explained, except sections.
pub fn names() -> impl Iterator<Item = &'static str> {
    let clauses = Clause::ALL.iter().map(|clause| clause.id());
    let questions = Question::ALL.iter().map(|question| question.name());
    deviations::ids().chain(deviations::collected_ids()).chain(clauses).chain(questions)
}

fn explain_clause(clause: Clause) -> String {
    let id = clause.id();
    let section = clauses::section(clause.id());
    let mut text = format!("# {id}\n\n{}.\n\n", clause.summary());
    let _ = writeln!(text, "PTX ISA, section {section}, {}", clauses::heading(section));
    if let Some(link) = clauses::link(section) {
        let _ = writeln!(text, "{link}");
    }
    let questions = Question::ALL.iter().filter(|question| question.clauses().contains(&id));
    let questions: Vec<&str> = questions.map(|question| question.name()).collect();
    write_list(&mut text, "Ambiguities", &questions);
    write_list(&mut text, "Listed deviations", &deviations::violating(id));
    text
}

fn explain_question(question: Question) -> String {
    let mut text = format!("# {}\n\nAn ambiguity of the specification.\n\n", question.name());
    for (index, (answer, summary)) in question.answers().iter().zip(question.summaries()).enumerate() {
        let default = if index == 0 { " (the literal text, and the default)" } else { "" };
        let _ = writeln!(text, "- `{}={answer}`{default}: {summary}", question.name());
    }
    text += "\n## Left open by\n\n";
    for id in question.clauses() {
        let _ = writeln!(text, "- {id}: {}", clauses::summary(id).unwrap_or_default());
    }
    text
}

fn explain_section(section: &str) -> Option<String> {
    let mut clauses_of_section =
        Clause::ALL.iter().filter(|clause| clauses::section(clause.id()) == section).peekable();
    clauses_of_section.peek()?;
    let mut text = format!("# {section} {}\n\n", clauses::heading(section));
    for clause in clauses_of_section {
        let _ = writeln!(text, "- {}: {}", clause.id(), clause.summary());
    }
    Some(text)
}

fn write_list(text: &mut String, heading: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## {heading}\n");
    for name in names {
        let _ = writeln!(text, "- {name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained_and_no_other() {
        for name in names() {
            let text = explain(name).unwrap_or_else(|| panic!("{name} is not explained"));
            assert!(text.starts_with(&format!("# {name}\n")), "{name}: {text}");
        }
        assert_eq!((explain("no-such-name"), explain("")), (None, None));
    }

    #[test]
    fn a_clause_leads_to_its_deviations_and_an_ambiguity_to_its_clauses() {
        let clause = explain("5.4.4/incomplete-inner").unwrap();
        assert!(clause.contains("\n- incomplete-rows-packed\n"), "{clause}");
        let clause = explain("5.4.4/address-offset").unwrap();
        assert!(clause.contains("\n- address-subtraction\n"), "{clause}");
        let question = explain("address-subtraction").unwrap();
        assert!(question.contains("\n- 5.4.4/address-offset: "), "{question}");
        assert!(question.contains("`address-subtraction=refused` (the literal text"), "{question}");
        assert!(explain("5.4.4").unwrap().contains("\n- 5.4.4/incomplete-inner: "));
    }

    #[test]
    fn a_deviation_of_a_linker_or_a_compiler_is_its_section_alone() {
        let compiler = explain("lost-padding-int128").unwrap();
        assert!(compiler.contains("__int128 m2;") && !compiler.contains("\n## "), "{compiler}");
        assert!(
            explain("linking-crash-internal-error").unwrap().contains("| shown by | nvlink 13.0 and later |")
        );
    }
}
