//! Every form in every place: tables of forms and places, and a program for each cell.
//!
//! A family is a product of axes, and a cell has one choice per axis. Its name consists of the family and the choices,
//! separated by `/`, so a cell can be generated again by name. Most cells are invalid programs. The oracle decides what the
//! specification says about a cell; if the specification is silent, a compiler still must not crash.
//!
//! An opcode with its usual type is combined with all operands, and with other types only with one operand of each kind.

mod declarations;
mod lists;
mod operands;
mod others;
mod parts;
mod results;

use std::{collections::BTreeSet, ops::Range};

use crate::stream::SplitMix64;

/// A choice on an axis.
#[derive(Clone, Debug)]
struct AxisChoice {
    /// The name of the choice in cell names, without spaces and `/`.
    name: String,
    /// The PTX source of the choice.
    text: String,
}

impl AxisChoice {
    fn new(text: &str) -> AxisChoice {
        let name = text.chars().filter(|c| !c.is_whitespace());
        AxisChoice { name: name.map(|c| if c == '/' { '÷' } else { c }).collect(), text: text.to_owned() }
    }

    fn named(name: impl Into<String>, text: impl Into<String>) -> AxisChoice {
        AxisChoice { name: name.into(), text: text.into() }
    }
}

/// Parses a list of choices, one per line. `NAME := TEXT` gives a choice a name different from its source.
fn lines(text: &str) -> Vec<AxisChoice> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let choices = lines.map(|line| match line.split_once(" :=") {
        Some((name, text)) => AxisChoice::named(name.trim(), text.trim()),
        None => AxisChoice::new(line.trim()),
    });
    choices.collect()
}

/// Parses a list of choices, one per word.
fn words(text: &str) -> Vec<AxisChoice> {
    text.split_whitespace().map(AxisChoice::new).collect()
}

/// Whether a source text contains a name that satisfies `is_name`. A word after a dot is a type or a suffix, not a name.
fn names(text: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || ['_', '$', '%', '.'].contains(&c)));
    words.any(|word| is_name(word.split('.').next().unwrap_or_default()))
}

/// Returns the texts of those lines `NAME := TEXT` with a name that satisfies `is_named`.
fn declared(lines: &str, is_named: impl Fn(&str) -> bool) -> String {
    let lines = lines.lines().filter_map(|line| line.split_once(" := "));
    lines.filter(|(name, _)| is_named(name)).fold(String::new(), |all, (_, text)| all + text + "\n")
}

/// A product of axes, with one cell per combination of choices.
struct PlaceFamily {
    name: &'static str,
    axes: Vec<Vec<AxisChoice>>,
    /// Writes the program for these choices.
    write: fn(&[&str]) -> String,
}

impl PlaceFamily {
    fn new(name: &'static str, axes: Vec<Vec<AxisChoice>>, write: fn(&[&str]) -> String) -> PlaceFamily {
        PlaceFamily { name, axes, write }
    }

    fn count(&self) -> u64 {
        self.axes.iter().map(|axis| axis.len() as u64).product()
    }

    fn cell(&self, mut index: u64) -> Cell {
        let mut chosen = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            chosen.push(&axis[(index % axis.len() as u64) as usize]);
            index /= axis.len() as u64;
        }
        chosen.reverse();
        let names = chosen.iter().fold(self.name.to_owned(), |name, choice| name + "/" + &choice.name);
        let texts: Vec<&str> = chosen.iter().map(|choice| &*choice.text).collect();
        Cell { name: names, text: (self.write)(&texts) }
    }

    fn find(&self, names: &str) -> Option<u64> {
        let mut index = 0;
        let mut names = names.split('/');
        for axis in &self.axes {
            let name = names.next()?;
            index = index * axis.len() as u64 + axis.iter().position(|choice| choice.name == name)? as u64;
        }
        names.next().is_none().then_some(index)
    }
}

/// A program generated from the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The stable name: `operands/ld.global.u32:2/[ga+4]`.
    pub name: String,
    /// The PTX source.
    pub text: String,
}

/// The cells of all families.
pub struct Places {
    families: Vec<PlaceFamily>,
    count: u64,
}

impl Places {
    /// Parses the tables of all families.
    #[expect(clippy::new_without_default, reason = "no cells would be the default")]
    pub fn new() -> Places {
        let families = [
            operands::families(),
            lists::families(),
            others::families(),
            results::families(),
            parts::families(),
            declarations::families(),
        ];
        let mut families: Vec<PlaceFamily> = families.into_iter().flatten().collect();
        for axis in families.iter_mut().flat_map(|family| &mut family.axes) {
            let mut names = BTreeSet::new();
            axis.retain(|choice| names.insert(choice.name.clone()));
        }
        let count = families.iter().map(PlaceFamily::count).sum();
        Places { families, count }
    }

    /// Returns the number of cells.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns each family with its number of cells.
    pub fn families(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.families.iter().map(|family| (family.name, family.count()))
    }

    /// Returns the cell with this index.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn cell(&self, mut index: u64) -> Cell {
        for family in &self.families {
            if index < family.count() {
                return family.cell(index);
            }
            index -= family.count();
        }
        panic!("a cell is asked for that there is")
    }

    /// Returns the indices of the cells with this name, which may be the name of a cell or of a family.
    pub fn find(&self, name: &str) -> Option<Range<u64>> {
        let (family_name, choices) = name.split_once('/').unwrap_or((name, ""));
        let mut start = 0;
        for family in &self.families {
            if family.name != family_name {
                start += family.count();
            } else if choices.is_empty() {
                return Some(start..start + family.count());
            } else {
                return family.find(choices).map(|index| start + index..start + index + 1);
            }
        }
        None
    }

    /// Returns the index of the `nth` cell in the order of a seed. The order contains each cell once and spreads neighbours far
    /// apart, so any prefix is a sample of all cells.
    pub fn nth(&self, seed: u64, nth: u64) -> u64 {
        let mut stride = (self.count as f64 * 0.618_033_988_75) as u64;
        while greatest_common_divisor(stride, self.count) != 1 {
            stride += 1;
        }
        let start = SplitMix64::new(seed).next_u64();
        let place = u128::from(nth) * u128::from(stride) + u128::from(start % self.count);
        (place % u128::from(self.count)) as u64
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own_and_is_found_by_it() {
        let places = Places::new();
        for family in &places.families {
            for axis in &family.axes {
                let odd =
                    axis.iter().find(|choice| choice.name.is_empty() || choice.name.contains([' ', '/']));
                assert!(odd.is_none(), "{}: {odd:?}", family.name);
            }
        }
        for nth in 0..2_000 {
            let index = places.nth(1, nth);
            let cell = places.cell(index);
            assert_eq!(places.find(&cell.name), Some(index..index + 1), "{}", cell.name);
        }
        assert_eq!((places.find("operands/no/such"), places.find("nosuch")), (None, None));
        let types = places.families().find(|(name, _)| *name == "types").unwrap().1;
        assert_eq!(places.find("types").map(|cells| cells.count() as u64), Some(types));
    }

    #[test]
    fn the_order_of_a_seed_has_every_cell_once() {
        let places = Places::new();
        let mut seen = vec![false; places.count() as usize];
        (0..places.count()).for_each(|nth| seen[places.nth(7, nth) as usize] = true);
        assert!(seen.into_iter().all(|seen| seen));
    }

    #[test]
    fn cells_have_a_header_and_nearly_all_can_be_read() {
        let places = Places::new();
        let mut read = 0;
        for nth in 0..5_000 {
            let cell = places.cell(places.nth(3, nth));
            assert!(cell.text.starts_with(".version "), "{}", cell.text);
            read += u32::from(ptxsmith_syntax::parse(&cell.text).is_ok());
        }
        assert!(read > 4_700, "{read}");
    }
}
