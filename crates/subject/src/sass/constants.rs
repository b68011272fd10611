//! Finds the reads of program constants in listings of code.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::{ListedInstruction, first_gap, instruction};

/// The bank that holds the variables in `.const`.
const BANK: &str = "c[0x3]";

/// Returns the offsets in the bank that each piece of code reads, from a listing of all pieces one after the
/// other. Omits pieces that compute an offset and pieces that are not listed completely.
pub(super) fn constant_reads<'c>(
    text: &str,
    pieces: &BTreeSet<&'c [u8]>,
) -> BTreeMap<&'c [u8], BTreeSet<u64>> {
    let lines: Vec<ListedInstruction> = text.lines().filter_map(|line| instruction(line.trim())).collect();
    let mut reads = BTreeMap::new();
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.len() as u64;
        let from = lines.partition_point(|line| u64::from(line.offset) < start);
        let to = lines.partition_point(|line| u64::from(line.offset) < end);
        let places = from..to;
        let offsets = lines[places.clone()].iter().map(|line| u64::from(line.offset) - start);
        let is_whole = first_gap(offsets, end - start).is_none();
        if let Some(read) = is_whole.then(|| places_read(&lines[places])).flatten() {
            reads.insert(*piece, read);
        }
        start = end;
    }
    reads
}

/// Returns the offsets in the bank that instructions read; `None` if one computes an offset.
fn places_read(lines: &[ListedInstruction]) -> Option<BTreeSet<u64>> {
    let mut places = BTreeSet::new();
    for operand in lines.iter().flat_map(|line| &line.operands) {
        match place(&operand.text) {
            ConstantAccess::Other => {}
            ConstantAccess::Place(place) => drop(places.insert(place)),
            ConstantAccess::Computed => return None,
        }
    }
    Some(places)
}

/// The relation of an operand to the bank.
#[derive(Debug, PartialEq, Eq)]
enum ConstantAccess {
    /// It does not access the bank.
    Other,
    /// It accesses the bank at this offset.
    Place(u64),
    /// It accesses some bank at a computed offset.
    Computed,
}

/// Parses `c[0x3][0x10]`; a register that is always zero is ignored: `c[0x3][RZ+0x10]`.
fn place(operand: &str) -> ConstantAccess {
    if operand.contains("cx[") {
        return ConstantAccess::Computed;
    }
    let Some((_, rest)) = operand.split_once(BANK) else { return ConstantAccess::Other };
    let inside = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((inside, _)) = inside else { return ConstantAccess::Computed };
    let mut place = 0;
    for part in inside.split('+').map(str::trim) {
        match (part, part.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())) {
            ("RZ" | "URZ", _) => {}
            (_, Some(offset)) => place += offset,
            _ => return ConstantAccess::Computed,
        }
    }
    ConstantAccess::Place(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_pieces_in_one_listing_are_those_of_each_piece() {
        let line = |offset: u32, text: &str| format!("        /*{offset:04x}*/                   {text} ;\n");
        let pieces: [&[u8]; 4] = [&[1; 32], &[2; 32], &[3; 32], &[4; 16]];
        let text = [
            line(0x00, "MOV R5, c[0x3][0x4]"),
            line(0x10, "MOV R6, c[0x3][0x8]"),
            // The second piece lacks its first instruction.
            line(0x30, "MOV R5, c[0x3][0xc]"),
            line(0x40, "LDC R5, c[0x3][R4]"),
            line(0x50, "EXIT"),
            line(0x60, "MOV R5, c[0x0][0x28]"),
        ];
        let found = constant_reads(&text.concat(), &BTreeSet::from(pieces));
        let expected = [(pieces[0], BTreeSet::from([4, 8])), (pieces[3], BTreeSet::new())];
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn a_place_is_what_needs_no_register() {
        assert_eq!(place("c[0x3][0x10]"), ConstantAccess::Place(16));
        assert_eq!(place("-c[0x3] [RZ]"), ConstantAccess::Place(0));
        assert_eq!(place("c[0x3][URZ+0x8]"), ConstantAccess::Place(8));
        assert_eq!(place("c[0x3][R4+0x8]"), ConstantAccess::Computed);
        assert_eq!(place("c[0x3][-0x8]"), ConstantAccess::Computed);
        assert_eq!(place("cx[UR4][0x8]"), ConstantAccess::Computed);
        assert_eq!(place("c[0x0][0x160]"), ConstantAccess::Other);
        assert_eq!(place("R3"), ConstantAccess::Other);
    }
}
