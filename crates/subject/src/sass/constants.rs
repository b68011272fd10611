//! Finds the reads of program constants in a listing.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::Listing;

/// The bank that holds the variables in `.const`.
const BANK: &str = "c[0x3]";

/// Returns the offsets in the bank that each kernel reads. Omits kernels that compute an offset and kernels that are
/// not listed completely.
pub(super) fn reads(listing: &Listing) -> BTreeMap<String, BTreeSet<u64>> {
    let kernels = listing.sections.iter().filter_map(|(section, &start)| {
        let kernel = section.strip_prefix(".text.")?;
        let end = listing.sections.values().copied().filter(|&other| other > start).min();
        let lines = start..end.unwrap_or(listing.lines.len());
        let mut places = BTreeSet::new();
        for line in lines {
            for operand in &listing.line(line).ok()?.operands {
                match place(&operand.text) {
                    Operand::Other => {}
                    Operand::Place(place) => drop(places.insert(place)),
                    Operand::Computed => return None,
                }
            }
        }
        Some((kernel.to_owned(), places))
    });
    kernels.collect()
}

/// The relation of an operand to the bank.
#[derive(Debug, PartialEq, Eq)]
enum Operand {
    /// It does not access the bank.
    Other,
    /// It accesses the bank at this offset.
    Place(u64),
    /// It accesses some bank at a computed offset.
    Computed,
}

/// Parses `c[0x3][0x10]`; a register that is always zero is ignored: `c[0x3][RZ+0x10]`.
fn place(operand: &str) -> Operand {
    if operand.contains("cx[") {
        return Operand::Computed;
    }
    let Some((_, rest)) = operand.split_once(BANK) else { return Operand::Other };
    let inside = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((inside, _)) = inside else { return Operand::Computed };
    let mut place = 0;
    for part in inside.split('+').map(str::trim) {
        match (part, part.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())) {
            ("RZ" | "URZ", _) => {}
            (_, Some(offset)) => place += offset,
            _ => return Operand::Computed,
        }
    }
    Operand::Place(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_needs_no_register() {
        assert_eq!(place("c[0x3][0x10]"), Operand::Place(16));
        assert_eq!(place("-c[0x3] [RZ]"), Operand::Place(0));
        assert_eq!(place("c[0x3][URZ+0x8]"), Operand::Place(8));
        assert_eq!(place("c[0x3][R4+0x8]"), Operand::Computed);
        assert_eq!(place("c[0x3][-0x8]"), Operand::Computed);
        assert_eq!(place("cx[UR4][0x8]"), Operand::Computed);
        assert_eq!(place("c[0x0][0x160]"), Operand::Other);
        assert_eq!(place("R3"), Operand::Other);
    }
}
