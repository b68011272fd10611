//! Whether a finding was listed before.

use serde::{Deserialize, Serialize};

ptxsmith_syntax::every! {
    /// Whether a finding was listed before.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// Nothing listed explains it.
        #[default]
        New = "new",
        /// A listed deviation that no longer shows where it is listed.
        Gone = "gone",
        /// A listed deviation predicts it exactly.
        Known = "known",
    }
}

impl Status {
    /// Whether it makes the exit status of a campaign 1, unless it is expected.
    pub const fn needs_attention(self) -> bool {
        matches!(self, Status::New | Status::Gone)
    }
}
