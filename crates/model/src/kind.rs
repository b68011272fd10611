//! The kind of a finding: its explanation, if there is one.

use serde::{Deserialize, Serialize};

use crate::Status;

/// The kind of a finding. The finding's id is computed from it; the kind is never parsed back from the id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// This listed deviation predicts the observation.
    Known(String),
    /// This listed deviation no longer occurs in a subject for which it is listed.
    Fixed(String),
    /// This hypothesis, a plausible wrong rule that is not listed, predicts the observation.
    Hypothesis(String),
    /// The rule of this listed deviation predicts the observation, but it is not listed for this subject.
    Unlisted(String),
    /// The subject follows different interpretations of this ambiguity in different places.
    Interpretation(String),
    /// Two entry points of the same compiler give different results.
    EntryPoints,
    /// A forked compiler process gives a different result than a newly started one.
    Forks,
    /// The result for the same program changes from run to run or with the other declarations in the module.
    Runs,
    /// No listed or plausible rule predicts the observation. Also a kind from a report of a later version
    /// that is unknown to this one.
    #[default]
    #[serde(other)]
    Unexplained,
}

impl FindingKind {
    /// Returns the status that follows from this kind.
    pub fn status(&self) -> Status {
        match self {
            FindingKind::Known(_) => Status::Known,
            FindingKind::Fixed(_) => Status::Gone,
            _ => Status::New,
        }
    }

    /// Returns the wrong rule that is the hypothesis for the finding, whether or not it is listed for another
    /// subject.
    pub fn rule(&self) -> Option<&str> {
        match self {
            FindingKind::Hypothesis(rule) | FindingKind::Unlisted(rule) => Some(rule),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    #[test]
    fn kinds_and_classes_of_later_versions_are_read() {
        let kind = |text: &str| serde_json::from_str::<FindingKind>(text).unwrap();
        assert_eq!(kind("\"entry-points\""), FindingKind::EntryPoints);
        assert_eq!(
            kind("{\"hypothesis\": \"octal-as-decimal\"}"),
            FindingKind::Hypothesis("octal-as-decimal".into())
        );
        assert_eq!(kind("\"a-later-one\""), FindingKind::Unexplained);
        assert_eq!(serde_json::from_str::<Class>("\"a-later-one\"").unwrap(), Class::Other);
        assert_eq!(serde_json::to_string(&Class::WrongValue).unwrap(), "\"wrong-value\"");
    }
}
