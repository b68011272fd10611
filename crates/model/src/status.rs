//! The status of a finding compared with the list of known deviations.

use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// The status of a finding compared with the list of known deviations.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// No listed deviation explains the finding.
        #[default]
        New = "new",
        /// A listed deviation no longer occurs in a subject for which it is listed.
        Gone = "gone",
        /// A listed deviation predicts the observation exactly.
        Known = "known",
    }
}

impl Status {
    /// Returns true if a finding with this status sets the exit status of a campaign to 1, unless the finding
    /// is expected.
    pub const fn needs_attention(self) -> bool {
        matches!(self, Status::New | Status::Gone)
    }
}
