//! The result of each subject for each program. A report contains this table only on request (`--by-case`),
//! because it grows with the number of programs. [`atlas`](crate::atlas) reads it.

use serde::{Deserialize, Serialize};

/// One program with the results of all subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseStandings {
    /// The name of the program: the path of its file, or the cell of a table.
    pub name: String,
    /// The text of the program.
    pub program: String,
    /// One letter for each subject, in the order of the report; see
    /// [`Standing::letter`](crate::matrix::Standing::letter).
    pub standings: String,
    /// The listed deviations that any subject shows for this program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}
