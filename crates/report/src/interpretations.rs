//! The interpretation of each ambiguity that every subject follows.

use std::collections::BTreeSet;

use ptxsmith_oracle::Question;

use crate::{Finding, Report, Subject};

/// An interpretation that a subject was seen to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed<'a> {
    /// The name of the interpretation.
    pub answer: &'a str,
    /// The number of cases that show it.
    pub count: u64,
    /// Whether it is the most literal meaning of the specification.
    pub is_default: bool,
}

/// One ambiguity, for all subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The name of the ambiguity.
    pub question: &'a str,
    /// The clauses that are ambiguous.
    pub clauses: &'static [&'static str],
    /// The possible interpretations with their meanings, the default first. Empty for an ambiguity that this version does not know.
    pub answers: Vec<(&'static str, &'static str)>,
    /// The interpretations that each subject was seen to follow, in the order of the report. A subject with more than one is inconsistent.
    pub cells: Vec<Vec<Followed<'a>>>,
}

/// Returns a row for every known ambiguity, and for unknown ones in the report.
pub fn of<'a>(report: &'a Report, subjects: &[&'a Subject]) -> Vec<Row<'a>> {
    let question_of = |text: &'a str| text.split_once('=').map_or(text, |(question, _)| question);
    let named = report.readings.values().chain(report.default_readings.values()).flat_map(|seen| seen.keys());
    let known: BTreeSet<&str> = Question::ALL.iter().map(|question| question.name()).collect();
    let others: BTreeSet<&str> =
        named.map(|text| question_of(text)).filter(|name| !known.contains(name)).collect();
    let row = |name: &'a str| {
        let question = Question::from_name(name);
        let followed = |subject: &Subject| {
            let defaults = report.default_readings.get(&subject.id).into_iter().flatten();
            let readings = report.readings.get(&subject.id).into_iter().flatten();
            let all = defaults.map(|seen| (seen, true)).chain(readings.map(|seen| (seen, false)));
            let of_it = all.filter(|((text, _), _)| question_of(text) == name);
            of_it
                .map(|((text, &count), is_default)| Followed {
                    answer: text.split_once('=').map_or("", |(_, answer)| answer),
                    count,
                    is_default,
                })
                .collect()
        };
        Row {
            question: name,
            clauses: question.map_or(&[], Question::clauses),
            answers: question.map_or_else(Vec::new, |question| {
                question.answers().iter().copied().zip(question.summaries().iter().copied()).collect()
            }),
            cells: subjects.iter().map(|subject| followed(subject)).collect(),
        }
    };
    Question::ALL.iter().map(|question| row(question.name())).chain(others.into_iter().map(row)).collect()
}

/// Describes the ambiguities on which the expected result of a finding is based: for each, the assumed interpretation and the possible
/// others.
pub fn of_expected(finding: &Finding) -> Vec<String> {
    let told = |(name, taken): (&str, &str)| {
        let question = Question::from_name(name)?;
        let answers = || question.answers().iter().zip(question.summaries());
        let (_, meaning) = answers().find(|(answer, _)| **answer == taken)?;
        let others: Vec<&str> =
            answers().filter(|(answer, _)| **answer != taken).map(|(_, meaning)| *meaning).collect();
        Some(format!("{meaning} ({name}={taken}); it may also mean: {}", others.join("; or: ")))
    };
    finding.example().expected.readings().into_iter().filter_map(told).collect()
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
        let subjects: Vec<&Subject> = report.subjects.iter().collect();
        let rows = of(&report, &subjects);
        let row = |name| rows.iter().find(|row| row.question == name).unwrap();
        let seen = |row: &Row<'_>, subject: usize| -> Vec<(String, u64, bool)> {
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
    fn what_an_expected_answer_takes_an_ambiguity_to_mean_is_told_with_what_else_it_may_mean() {
        let expected =
            serde_json::json!({"variables": {"x": {"readings": {"shift-count": "saturate", "new": "a"}}}});
        let expected = serde_json::from_value(expected).unwrap();
        let told = of_expected(&Finding { expected, ..Finding::default() });
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("(shift-count=saturate); it may also mean: "), "{told:?}");
        assert_eq!(of_expected(&Finding::default()), [""; 0]);
    }
}
