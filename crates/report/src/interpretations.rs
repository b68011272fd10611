//! The interpretation of each ambiguity that every subject follows.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::Question;

use crate::{Finding, Report, SubjectResults};

/// An interpretation that a subject was seen to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedInterpretation<'a> {
    /// The name of the interpretation.
    pub answer: &'a str,
    /// The number of cases that show it.
    pub count: u64,
    /// Whether it is the most literal meaning of the specification.
    pub is_default: bool,
}

/// One ambiguity, for all subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguityRow<'a> {
    /// The name of the ambiguity.
    pub question: &'a str,
    /// The clauses that are ambiguous.
    pub clauses: &'static [&'static str],
    /// The possible interpretations with their meanings, the default first. Empty for an ambiguity that this
    /// version does not know.
    pub answers: Vec<(&'static str, &'static str)>,
    /// The interpretations that each subject was seen to follow, in the order of the report. A subject with
    /// more than one is inconsistent.
    pub cells: Vec<Vec<FollowedInterpretation<'a>>>,
}

/// Returns a row for every known ambiguity, and for unknown ones in the report.
pub fn rows<'a>(report: &'a Report, subjects: &[&'a SubjectResults]) -> Vec<AmbiguityRow<'a>> {
    let known = Question::ALL.iter().map(|question| question.name());
    let known_names: BTreeSet<&str> = known.clone().collect();
    let counts = report.readings.values().chain(report.default_readings.values());
    let names = counts.flat_map(BTreeMap::keys).map(|text| split_interpretation(text).0);
    let unknown: BTreeSet<&str> = names.filter(|name| !known_names.contains(name)).collect();
    known.chain(unknown).map(|name| AmbiguityRow::new(name, report, subjects)).collect()
}

/// Splits the name of an interpretation, `question=answer`.
fn split_interpretation(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, ""))
}

impl<'a> AmbiguityRow<'a> {
    fn new(name: &'a str, report: &'a Report, subjects: &[&'a SubjectResults]) -> AmbiguityRow<'a> {
        let question = Question::from_name(name);
        AmbiguityRow {
            question: name,
            clauses: question.map_or(&[], Question::clauses),
            answers: question.map_or_else(Vec::new, |question| {
                question.answers().iter().copied().zip(question.summaries().iter().copied()).collect()
            }),
            cells: subjects
                .iter()
                .map(|subject| followed_interpretations(name, report, &subject.id))
                .collect(),
        }
    }
}

/// Returns the interpretations of an ambiguity that a subject was seen to follow, the default first.
fn followed_interpretations<'a>(
    question: &str,
    report: &'a Report,
    subject: &str,
) -> Vec<FollowedInterpretation<'a>> {
    let mut followed = Vec::new();
    for (counts, is_default) in [(&report.default_readings, true), (&report.readings, false)] {
        for (text, &count) in counts.get(subject).into_iter().flatten() {
            let (name, answer) = split_interpretation(text);
            if name == question {
                followed.push(FollowedInterpretation { answer, count, is_default });
            }
        }
    }
    followed
}

/// Describes the ambiguities on which the expected result of a finding is based: for each, the assumed
/// interpretation and the possible others.
pub fn describe_assumed(finding: &Finding) -> Vec<String> {
    let assumed = finding.example().expected.readings().into_iter();
    assumed.filter_map(|(question, answer)| describe_interpretation(question, answer)).collect()
}

/// Describes an interpretation and its alternatives; `None` if this version does not know it.
fn describe_interpretation(name: &str, answer: &str) -> Option<String> {
    let question = Question::from_name(name)?;
    let index = question.answers().iter().position(|&other| other == answer)?;
    let mut alternatives = question.summaries().to_vec();
    let meaning = alternatives.remove(index);
    Some(format!("{meaning} ({name}={answer}); it may also mean: {}", alternatives.join("; or: ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_may_follow_the_default_another_answer_both_or_nothing() {
        let report: Report = serde_json::from_str(
            r#"{"schema": "ptxsmith.report/1", "compared": 0, "conform": 0, "findings": [],
                "subjects": [{"id": "a"}, {"id": "b"}],
                "readings": {"a": {"shift-count=modulo": 3}, "b": {"of-later=no": 1}},
                "default_readings": {"a": {"shift-count=saturate": 2}}}"#,
        )
        .unwrap();
        let subjects: Vec<&SubjectResults> = report.subjects.iter().collect();
        let rows = rows(&report, &subjects);
        let row = |name| rows.iter().find(|row| row.question == name).unwrap();
        let seen = |row: &AmbiguityRow<'_>, subject: usize| -> Vec<(String, u64, bool)> {
            row.cells[subject].iter().map(|f| (f.answer.to_owned(), f.count, f.is_default)).collect()
        };
        let shift = row("shift-count");
        assert_eq!(seen(shift, 0), [("saturate".to_owned(), 2, true), ("modulo".to_owned(), 3, false)]);
        assert_eq!(seen(shift, 1), []);
        assert_eq!(shift.answers[1].0, "modulo");
        let later = row("of-later");
        assert_eq!((later.answers.len(), seen(later, 1)), (0, vec![("no".to_owned(), 1, false)]));
    }

    #[test]
    fn the_assumed_interpretation_is_described_with_its_alternatives() {
        let expected =
            serde_json::json!({"variables": {"x": {"readings": {"shift-count": "saturate", "new": "a"}}}});
        let expected = serde_json::from_value(expected).unwrap();
        let lines = describe_assumed(&Finding { expected, ..Finding::default() });
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("(shift-count=saturate); it may also mean: "), "{lines:?}");
        assert_eq!(describe_assumed(&Finding::default()), [""; 0]);
    }
}
