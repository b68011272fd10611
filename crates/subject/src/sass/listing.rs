//! Parses the output of NVIDIA's `nvdisasm` into instructions and tables.

use std::collections::BTreeMap;
use std::ops::Range;

use super::operand::{Predicate, SassOperand, number, predicate};
use super::operation::{SassOperation, decode};

/// One instruction of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedInstruction {
    /// Offset in its section.
    pub offset: u32,
    /// The guard predicate and whether it is negated, if there is one.
    pub guard: Option<(Predicate, bool)>,
    /// The opcode with its modifiers, as written.
    pub opcode: String,
    /// The decoded operation.
    pub operation: SassOperation,
    pub operands: Vec<SassOperand>,
}

/// The parts of a listing that are needed to execute it.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeListing {
    /// The instructions of all sections; the instructions of one section are contiguous and in order.
    pub lines: Vec<ListedInstruction>,
    /// Index in `lines` of the first instruction of each section, by section name (`.text.k`).
    pub sections: BTreeMap<String, usize>,
    /// Instruction ranges of sections that are listed incompletely, with the missing part.
    gaps: Vec<(Range<usize>, String)>,
    /// Index in `lines` of the instruction after each code label.
    pub labels: BTreeMap<String, usize>,
    /// Contents of the assembler's own tables in constant banks, by symbol: constants, and offsets of labels
    /// within their sections.
    pub tables: BTreeMap<String, Vec<u8>>,
    /// Size in bytes of the constant bank of each kernel. The kernel's parameters end there.
    pub parameters: BTreeMap<String, u32>,
}

impl CodeListing {
    /// Parses the listing of a cubin with code sections of these sizes. Skips lines of an unknown form; a
    /// section with a missing instruction is not executed ([`CodeListing::line`]).
    pub fn read(text: &str, sizes: &BTreeMap<String, u64>) -> CodeListing {
        let mut listing = CodeListing::default();
        let mut section = "";
        let mut symbol = "";
        // Table words may name labels that are defined further down, so they are converted at the end.
        let mut words: Vec<Words<'_>> = Vec::new();
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some(rest) = trimmed.strip_prefix(".section\t") {
                section = rest.trim_start().split(',').next().unwrap_or("").trim_matches('"');
                symbol = "";
                if section.starts_with(".text.") {
                    listing.sections.insert(section.to_owned(), listing.lines.len());
                }
            } else if let Some(label) = trimmed.strip_suffix(':') {
                symbol = label;
                if section.starts_with(".text.") {
                    listing.labels.insert(label.to_owned(), listing.lines.len());
                }
            } else if section.starts_with(".text.") {
                if let Some(instruction) = instruction(trimmed) {
                    listing.lines.push(instruction);
                }
            } else if let Some(kernel) = section.strip_prefix(".nv.constant0.") {
                if let Some(size) = trimmed.strip_prefix(".zero") {
                    *listing.parameters.entry(kernel.to_owned()).or_default() +=
                        size.trim().parse().unwrap_or(0);
                }
            } else if section.starts_with(".nv.constant")
                && let Some((offset, values)) = trimmed.split_once('.')
                && let Some((ty, values)) = values.split_once(['\t', ' '])
                && let Some(size) = size_of(ty)
            {
                words.push((symbol, offset.trim(), size, values.trim()));
            }
        }
        listing.find_holes(sizes);
        listing.read_tables(&words);
        listing
    }

    /// Finds sections with a missing instruction. Each instruction must start where the previous one ends,
    /// and the last one must end at the end of the section.
    fn find_holes(&mut self, sizes: &BTreeMap<String, u64>) {
        for (name, &start) in &self.sections {
            let end = self.sections.values().copied().filter(|&other| other > start).min();
            let range = start..end.unwrap_or(self.lines.len());
            let offsets = self.lines[range.clone()].iter().map(|line| u64::from(line.offset));
            let first_gap = match sizes.get(name) {
                Some(&size) => first_gap(offsets, size),
                None => Some(0),
            };
            if let Some(at) = first_gap {
                let why = format!("the listing of {name} lacks what stands at {at:#x}");
                self.gaps.push((range, why));
            }
        }
    }

    /// Builds the tables from their words.
    fn read_tables(&mut self, words: &[Words<'_>]) {
        // The expected offset of the next word of the current table.
        let mut next: Option<(&str, u32)> = None;
        let mut broken = "";
        for &(symbol, offset, size, values) in words {
            let offset = word_offset(offset);
            let follows = match (next, offset) {
                (Some((table, next)), Some(offset)) if table == symbol => offset == next,
                (_, offset) => offset.is_some(),
            };
            let values: Option<Vec<u64>> = values.split(',').map(|value| self.word(value.trim())).collect();
            let table = self.tables.entry(symbol.to_owned()).or_default();
            // A missing or unreadable word ends the table; later offsets are then unknown.
            let bytes = match values.filter(|_| follows && broken != symbol) {
                Some(values) => {
                    values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect()
                }
                None => {
                    broken = symbol;
                    Vec::new()
                }
            };
            next = offset.map(|offset| (symbol, offset + bytes.len() as u32));
            table.extend(bytes);
        }
    }

    /// Parses a number, or the offset of a label in its section: `(.L_x_9 - .text.k)`.
    fn word(&self, value: &str) -> Option<u64> {
        match value.strip_prefix('(').and_then(|value| value.split(" - ").next()) {
            Some(label) => self.labels.get(label).and_then(|&at| Some(self.lines.get(at)?.offset.into())),
            None => number(value).map(|value| value as u64),
        }
    }

    /// Returns the instruction at an index, or why it cannot be executed: no instruction of an incomplete
    /// section is executed.
    pub fn line(&self, at: usize) -> Result<&ListedInstruction, String> {
        match self.gaps.iter().find(|(lines, _)| lines.contains(&at)) {
            Some((_, first_gap)) => Err(first_gap.clone()),
            None => self.lines.get(at).ok_or_else(|| "the end of the code".to_owned()),
        }
    }

    /// Returns the index of the instruction at `offset` in the section of instruction `near`.
    pub fn index_at(&self, near: usize, offset: u32) -> Option<usize> {
        let start = self.sections.values().copied().filter(|&start| start <= near).max()?;
        let end = self.sections.values().copied().filter(|&start| start > near).min();
        let lines = &self.lines[start..end.unwrap_or(self.lines.len())];
        Some(start + lines.binary_search_by_key(&offset, |line| line.offset).ok()?)
    }
}

/// A table line: the symbol before it, its offset as written, the size of each number, and the numbers.
type Words<'a> = (&'a str, &'a str, usize, &'a str);

/// Parses the offset of a table line: `/*0010*/`.
fn word_offset(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("/*")?.strip_suffix("*/")?;
    u32::from_str_radix(digits, 16).ok()
}

/// Returns the size in bytes of a number after this directive.
fn size_of(directive: &str) -> Option<usize> {
    Some(match directive {
        "byte" => 1,
        "short" => 2,
        "word" => 4,
        "dword" => 8,
        _ => return None,
    })
}

/// Returns the offset of the first missing instruction in a section of this size. Instructions have 16 bytes.
/// Before sm_70 they have 8, and every multiple of 32 holds control bits for the next three instructions,
/// which are not listed.
pub(super) fn first_gap(offsets: impl Iterator<Item = u64>, size: u64) -> Option<u64> {
    let mut offsets = offsets.peekable();
    let narrow = offsets.peek() == Some(&8);
    let mut next = instruction_offset(0, narrow);
    for offset in offsets {
        if offset != next {
            return Some(next);
        }
        next = instruction_offset(offset + if narrow { 8 } else { 16 }, narrow);
    }
    (next != instruction_offset(size, narrow)).then_some(next)
}

/// Returns the first offset from `offset` on where an instruction can stand, that is, not control bits.
fn instruction_offset(offset: u64, narrow: bool) -> u64 {
    if narrow && offset.is_multiple_of(32) { offset + 8 } else { offset }
}

/// Parses `/*0010*/ @!P0 OPCODE.X A, B ;`
pub(super) fn instruction(text: &str) -> Option<ListedInstruction> {
    let (offset, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    // A branch through a table is followed by a comment.
    let mut rest = rest.split("(*").next()?.trim().trim_end_matches(';').trim();
    let mut guard = None;
    if let Some(guarded) = rest.strip_prefix('@') {
        let (name, behind) = guarded.split_once(' ')?;
        guard = Some((predicate(name.trim_start_matches('!'))?, name.starts_with('!')));
        rest = behind.trim();
    }
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let (opcode, operation) = (opcode.to_owned(), decode(opcode));
    // Some opcodes are listed with spaces between the brackets of a constant bank: `c [0x0] [0x160]`.
    let joined = operands.contains("c [").then(|| operands.replace("c [", "c[").replace("] [", "]["));
    let operands = split(joined.as_deref().unwrap_or(operands)).into_iter().map(SassOperand::read).collect();
    Some(ListedInstruction { offset, guard, opcode, operation, operands })
}

/// Splits at the commas outside brackets, and drops a descriptor before an address.
fn split(text: &str) -> Vec<&str> {
    let mut operands = Vec::new();
    let mut depth = 0;
    let mut from = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                let operand = text[from..at].trim();
                if !operand.is_empty() {
                    operands.push(undescribed(operand));
                }
                from = at + 1;
            }
            _ => {}
        }
    }
    operands
}

/// Returns `[R2.64]` for `desc[UR4][R2.64]`.
fn undescribed(operand: &str) -> &str {
    match operand.strip_prefix("desc[") {
        Some(rest) => rest.split_once(']').map_or(operand, |(_, address)| address),
        None => operand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
	.section	.text.k,\"ax\",@progbits
k:
.text.k:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E R7, desc[UR6][R2.64+0x4] ;
.L_x_8:
        /*0020*/                   BRX R10 `(((.text.k - .) - 0x10))                       (*\"BRANCH_TARGETS .L_x_8\"*);
.L_x_9:
        /*0030*/                   LDC R10, c[R0+`((k.const_opt.0 + -0x8000))] ;
        /*0040*/                   EXIT ;
	.section	.nv.constant2.k,\"a\",@\"SHT_CUDA_CONSTANT_B2\"
.nv.constant2.k:
k.const_opt.0:
        /*0000*/ 	.word	(.L_x_9 - .text.k)
        /*0004*/ 	.word	0x00000020
        /*0008*/ 	.byte	0xfb, 0xff
	.section	.nv.constant0.k,\"a\",@\"SHT_CUDA_CONSTANT_B0\"
	.sectionflags	@\"\"
.nv.constant0.k:
	.zero		352
_param:
	.zero		8
";

    #[test]
    fn instructions_tables_and_parameters_are_found() {
        let listing = CodeListing::read(TEXT, &[(".text.k".to_owned(), 0x50)].into());
        assert!(listing.line(0).is_ok() && listing.line(4).is_ok());
        assert_eq!(listing.lines.len(), 5);
        let operands = |nth: usize| -> Vec<&str> {
            listing.lines[nth].operands.iter().map(|operand| operand.text.as_str()).collect()
        };
        assert_eq!(operands(0), ["R1", "c[0x0][0x28]"]);
        assert_eq!(listing.lines[1].guard, Some((Predicate::Plain(0), true)));
        assert_eq!(operands(1), ["R7", "[R2.64+0x4]"]);
        assert_eq!(operands(2), ["R10 `(((.text.k - .) - 0x10))"]);
        assert_eq!(listing.tables["k.const_opt.0"], [0x30, 0, 0, 0, 0x20, 0, 0, 0, 0xfb, 0xff]);
        assert_eq!(listing.parameters["k"], 360);
        assert_eq!(listing.index_at(4, 0x20), Some(2));
        assert_eq!(listing.labels["k"], 0);
    }

    #[test]
    fn instructions_follow_one_another_to_the_end_of_their_section() {
        let of = |offsets: &[u64], size| first_gap(offsets.iter().copied(), size);
        assert_eq!(of(&[0, 16, 32], 48), None);
        assert_eq!(of(&[0, 32], 48), Some(16));
        assert_eq!(of(&[16, 32], 48), Some(0));
        assert_eq!(of(&[0, 16], 48), Some(32));
        assert_eq!(of(&[], 16), Some(0));
        assert_eq!(of(&[], 0), None);
        assert_eq!(of(&[0, 16, 16], 32), Some(32));
        // Before sm_70: three instructions behind bits for them.
        assert_eq!(of(&[8, 16, 24, 40, 48, 56], 64), None);
        assert_eq!(of(&[8, 24, 40, 48, 56], 64), Some(16));
        assert_eq!(of(&[8, 16, 24, 48, 56], 64), Some(40));
        assert_eq!(of(&[8, 16, 24, 40, 48], 64), Some(56));
        assert_eq!(of(&[16, 24], 32), Some(0));
    }

    #[test]
    fn a_table_ends_where_a_word_is_missing() {
        let table = |text: &str| CodeListing::read(text, &BTreeMap::new()).tables["k.const_opt.0"].clone();
        assert_eq!(table(TEXT).len(), 10);
        assert_eq!(table(&TEXT.replace("        /*0004*/ \t.word\t0x00000020\n", "")), [0x30, 0, 0, 0]);
        assert_eq!(table(&TEXT.replace("0x00000020", "elsewhere")), [0x30, 0, 0, 0]);
        assert_eq!(table(&TEXT.replace("(.L_x_9 - .text.k)", "(.L_x_7 - .text.k)")), [0u8; 0]);
    }
}
