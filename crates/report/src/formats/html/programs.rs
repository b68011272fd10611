//! Collects the programs for the cells of the scoreboard, without duplicates.

use std::collections::BTreeMap;

/// A list of distinct programs with a limited total size.
pub struct Programs {
    /// The texts of the programs, by number.
    pub texts: Vec<String>,
    numbers: BTreeMap<String, usize>,
    room: usize,
}

impl Programs {
    /// Creates an empty list with room for this number of bytes.
    pub fn new(room: usize) -> Programs {
        Programs { texts: Vec::new(), numbers: BTreeMap::new(), room }
    }

    /// Returns the number of a program, after adding it if it is new; `None` if there is no room.
    pub fn number_of(&mut self, text: &str) -> Option<usize> {
        if let Some(&number) = self.numbers.get(text) {
            return Some(number);
        }
        self.room = self.room.checked_sub(text.len())?;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        Some(self.texts.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_kept_once_and_only_where_it_fits() {
        let mut programs = Programs::new(5);
        let numbers = ["ab", "cd", "ab", "efg", "h"].map(|text| programs.number_of(text));
        assert_eq!(numbers, [Some(0), Some(1), Some(0), None, Some(2)]);
        assert_eq!(programs.texts, ["ab", "cd", "h"]);
    }
}
