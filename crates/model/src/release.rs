//! The verdicts of single compiler releases on a program.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Class;

/// The verdict of a single release on a finding's program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseVerdict {
    /// The subject as `--subject` names it: `ptxas@12.3`.
    pub subject: String,
    /// The full version of the compiler.
    #[serde(default)]
    pub version: String,
    /// The verdict on the program.
    pub verdict: ProgramVerdict,
}

/// The verdict on an unchanged program, header included. Its JSON form is one string: `conform`, a class, a
/// class with `, as the list predicts`, or the reason for not comparing. Any other text is such a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ProgramVerdict {
    /// Everything that was compared conforms: `conform`.
    Conforms,
    /// The release deviates with this class.
    Deviates(Class),
    /// The output does not show the deviation, but the list of known deviations predicts this class.
    Predicted(Class),
    /// Nothing was compared, for this reason.
    NotCompared(String),
}

/// Stands for a release that was not tested.
impl Default for ProgramVerdict {
    fn default() -> Self {
        ProgramVerdict::NotCompared(String::new())
    }
}

const CONFORMS: &str = "conform";
const PREDICTED: &str = ", as the list predicts";

impl fmt::Display for ProgramVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramVerdict::Conforms => f.write_str(CONFORMS),
            ProgramVerdict::Deviates(class) => f.write_str(class.name()),
            ProgramVerdict::Predicted(class) => write!(f, "{class}{PREDICTED}"),
            ProgramVerdict::NotCompared(reason) => f.write_str(reason),
        }
    }
}

impl From<ProgramVerdict> for String {
    fn from(verdict: ProgramVerdict) -> String {
        verdict.to_string()
    }
}

impl From<String> for ProgramVerdict {
    fn from(text: String) -> ProgramVerdict {
        let predicted = text.strip_suffix(PREDICTED).and_then(Class::from_name);
        match (predicted, Class::from_name(&text)) {
            (Some(class), _) => ProgramVerdict::Predicted(class),
            (None, Some(class)) => ProgramVerdict::Deviates(class),
            (None, None) if text == CONFORMS => ProgramVerdict::Conforms,
            (None, None) => ProgramVerdict::NotCompared(text),
        }
    }
}

impl ProgramVerdict {
    /// Returns true if nothing was compared because the subject is not available.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, ProgramVerdict::NotCompared(reason) if reason == "unavailable")
    }
}

impl ReleaseVerdict {
    /// Returns the name of the program, the part before the `@`.
    pub fn family(&self) -> &str {
        family(&self.subject)
    }

    /// Returns the release as the user named it: the part after the `@`. Without an `@`, returns the full
    /// version, or the whole subject if the version is unknown.
    pub fn release(&self) -> &str {
        match self.subject.split_once('@') {
            Some((_, release)) => release,
            None if self.version.is_empty() => &self.subject,
            None => &self.version,
        }
    }
}

/// Returns the name of a subject's program, the part before the `@`.
pub fn family(subject: &str) -> &str {
    subject.split_once('@').map_or(subject, |(family, _)| family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        for text in ["conform", "wrong-value", "crash, as the list predicts", "unsupported", ""] {
            let verdict = ProgramVerdict::from(text.to_owned());
            assert_eq!(String::from(verdict), text);
        }
        assert_eq!(ProgramVerdict::from("hang".to_owned()), ProgramVerdict::Deviates(Class::Hang));
    }
}
