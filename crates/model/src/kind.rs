//! What a finding is about.

use serde::{Deserialize, Serialize};

use crate::Status;

/// What a finding is about. Its id is made from that and is never read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// This listed deviation predicts what was seen.
    Known(String),
    /// This listed deviation no longer shows where it is listed.
    Fixed(String),
    /// This plausible wrong rule, which is not listed, predicts what was seen.
    Hypothesis(String),
    /// The rule of this listed deviation predicts what was seen, of a subject that it is not listed for.
    Unlisted(String),
    /// The subject follows one answer to this open question here and another one there.
    Interpretation(String),
    /// Two entry points of one compiler answer differently.
    EntryPoints,
    /// A compiler answers differently when it is forked than when it is started.
    Forks,
    /// The same program is answered differently from run to run, or beside other declarations.
    Runs,
    /// Nothing that is listed or plausible predicts what was seen.
    #[default]
    #[serde(other)]
    Unexplained,
}

impl Kind {
    /// Whether that was listed before.
    pub fn status(&self) -> Status {
        match self {
            Kind::Known(_) => Status::Known,
            Kind::Fixed(_) => Status::Gone,
            _ => Status::New,
        }
    }

    /// The wrong rule that is a hypothesis for the finding, listed elsewhere or not.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Kind::Hypothesis(rule) | Kind::Unlisted(rule) => Some(rule),
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
        let kind = |text: &str| serde_json::from_str::<Kind>(text).unwrap();
        assert_eq!(kind("\"entry-points\""), Kind::EntryPoints);
        assert_eq!(
            kind("{\"hypothesis\": \"octal-as-decimal\"}"),
            Kind::Hypothesis("octal-as-decimal".into())
        );
        assert_eq!(kind("\"a-later-one\""), Kind::Unexplained);
        assert_eq!(serde_json::from_str::<Class>("\"a-later-one\"").unwrap(), Class::Other);
        assert_eq!(serde_json::to_string(&Class::WrongValue).unwrap(), "\"wrong-value\"");
    }
}
