//! What each subject makes of each program. A report has this only where it was asked for (`--by-case`): it grows with the
//! number of programs, and its reader is [`atlas`](crate::atlas).

use serde::{Deserialize, Serialize};

use crate::matrix::Standing;

/// One program, and how every subject stands with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What it is called: the path of its file, or the cell of a table.
    pub name: String,
    /// Its text.
    pub program: String,
    /// A letter for each subject of the report, in their order; see [`Standing::letter`].
    pub standings: String,
    /// The listed deviations that any subject shows on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
}

impl Case {
    /// How the subject stands with it that is the nth of the report; [`Standing::NotReached`] where the report says nothing.
    pub fn standing(&self, nth: usize) -> Standing {
        self.standings.chars().nth(nth).and_then(Standing::from_letter).unwrap_or(Standing::NotReached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_a_standing_and_what_is_missing_or_unknown_was_not_reached() {
        for (standing, ..) in Standing::LEGEND {
            assert_eq!(Standing::from_letter(standing.letter()), Some(standing));
        }
        let case = Case { standings: "cx?".into(), ..Case::default() };
        let standings: Vec<Standing> = (0..4).map(|nth| case.standing(nth)).collect();
        use Standing::{Conforms, Crashed, NotReached};
        assert_eq!(standings, [Conforms, Crashed, NotReached, NotReached]);
    }
}
