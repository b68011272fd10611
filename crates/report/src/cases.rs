//! What each subject makes of each program. A report has this only where it was asked for (`--by-case`): it grows with the
//! number of programs, and its reader is [`atlas`](crate::atlas).

use serde::{Deserialize, Serialize};

/// One program, and how every subject stands with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What it is called: the path of its file, or the cell of a table.
    pub name: String,
    /// Its text.
    pub program: String,
    /// A letter for each subject of the report, in their order; see [`Standing::letter`](crate::matrix::Standing::letter).
    pub standings: String,
    /// The listed deviations that any subject shows on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}
