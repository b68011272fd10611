//! What one release of a compiler does with a program.

use serde::{Deserialize, Serialize};

/// What one release does with a finding's program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseVerdict {
    /// As `--subject` names it: `ptxas@12.3`.
    pub subject: String,
    /// The full version.
    #[serde(default)]
    pub version: String,
    /// The class of the deviation, `conform`, `refused`, `unsupported`, or `unavailable`.
    pub verdict: String,
}

impl ReleaseVerdict {
    /// Which program it is a release of: what stands before the `@`.
    pub fn family(&self) -> &str {
        family(&self.subject)
    }

    /// The release as it was named: what stands behind the `@`; the full version where nothing does, or the subject
    /// where it has none.
    pub fn release(&self) -> &str {
        match self.subject.split_once('@') {
            Some((_, release)) => release,
            None if self.version.is_empty() => &self.subject,
            None => &self.version,
        }
    }
}

/// Which program a subject is a release of: what stands before the `@`.
pub fn family(subject: &str) -> &str {
    subject.split_once('@').map_or(subject, |(family, _)| family)
}
