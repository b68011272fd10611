//! The text that NVIDIA's `nvdisasm` prints of a cubin, as instructions and tables.

use std::collections::BTreeMap;
use std::ops::Range;

use super::operand::{Operand, Predicate, number, predicate};
use super::operation::{Operation, decode};

/// One instruction of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its offset in its section.
    pub offset: u32,
    /// A predicate and whether it is negated, where one stands in front.
    pub guard: Option<(Predicate, bool)>,
    /// The opcode with its modifiers, as written.
    pub opcode: String,
    /// What they ask for.
    pub operation: Operation,
    pub operands: Vec<Operand>,
}

/// What is needed of a listing to execute it.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// The instructions of all sections; each section's are in order and side by side.
    pub lines: Vec<Line>,
    /// Where the instructions of a section begin in `lines`, by the section's name (`.text.k`).
    pub sections: BTreeMap<String, usize>,
    /// The instructions of sections that are not listed whole, with what is missing.
    holes: Vec<(Range<usize>, String)>,
    /// The line that each label of code stands before.
    pub labels: BTreeMap<String, usize>,
    /// The bytes of the assembler's own tables in constant banks, by symbol: constants, and offsets of labels within their sections.
    pub tables: BTreeMap<String, Vec<u8>>,
    /// How many bytes the constant bank of a kernel has, by kernel: its parameters end there.
    pub parameters: BTreeMap<String, u32>,
}

impl Listing {
    /// Reads the listing of a cubin whose code sections have these sizes. Lines of a form that is not known are left out; a section of
    /// which an instruction is missing is not executed ([`Listing::line`]).
    pub fn read(text: &str, sizes: &BTreeMap<String, u64>) -> Listing {
        let mut listing = Listing::default();
        let mut section = "";
        let mut symbol = "";
        // Words of tables name labels that may stand further down.
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

    /// Finds the sections of which the listing lacks an instruction: each stands where the one before it ends, and the last one ends
    /// where the section does.
    fn find_holes(&mut self, sizes: &BTreeMap<String, u64>) {
        for (name, &start) in &self.sections {
            let end = self.sections.values().copied().filter(|&other| other > start).min();
            let range = start..end.unwrap_or(self.lines.len());
            let offsets = self.lines[range.clone()].iter().map(|line| u64::from(line.offset));
            let hole = match sizes.get(name) {
                Some(&size) => hole(offsets, size),
                None => Some(0),
            };
            if let Some(at) = hole {
                let why = format!("the listing of {name} lacks what stands at {at:#x}");
                self.holes.push((range, why));
            }
        }
    }

    /// The tables, from their words.
    fn read_tables(&mut self, words: &[Words<'_>]) {
        let offset_of = |text: &str| {
            let digits = text.strip_prefix("/*")?.strip_suffix("*/")?;
            u32::from_str_radix(digits, 16).ok()
        };
        // Where the next word of a table stands.
        let mut next: Option<(&str, u32)> = None;
        let mut broken = "";
        for &(symbol, offset, size, values) in words {
            let offset = offset_of(offset);
            let follows = match (next, offset) {
                (Some((own, next)), Some(offset)) if own == symbol => offset == next,
                (_, offset) => offset.is_some(),
            };
            let values: Option<Vec<u64>> = values.split(',').map(|value| self.word(value.trim())).collect();
            let table = self.tables.entry(symbol.to_owned()).or_default();
            // A word that is missing or cannot be read makes the table end there: what is asked of it then is not known.
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

    /// A number, or the offset of a label in its section: `(.L_x_9 - .text.k)`.
    fn word(&self, value: &str) -> Option<u64> {
        match value.strip_prefix('(').and_then(|value| value.split(" - ").next()) {
            Some(label) => self.labels.get(label).and_then(|&at| Some(self.lines.get(at)?.offset.into())),
            None => number(value).map(|value| value as u64),
        }
    }

    /// The line at a place, or why it is none that can be executed: of a section of which the listing lacks something nothing is.
    pub fn line(&self, at: usize) -> Result<&Line, String> {
        match self.holes.iter().find(|(lines, _)| lines.contains(&at)) {
            Some((_, hole)) => Err(hole.clone()),
            None => self.lines.get(at).ok_or_else(|| "the end of the code".to_owned()),
        }
    }

    /// The line at an offset of the section that a line belongs to.
    pub fn at(&self, near: usize, offset: u32) -> Option<usize> {
        let start = self.sections.values().copied().filter(|&start| start <= near).max()?;
        let end = self.sections.values().copied().filter(|&start| start > near).min();
        let lines = &self.lines[start..end.unwrap_or(self.lines.len())];
        Some(start + lines.binary_search_by_key(&offset, |line| line.offset).ok()?)
    }
}

/// A line of a table: the symbol before it, its offset as it stands there, the size of each of its numbers, and those.
type Words<'a> = (&'a str, &'a str, usize, &'a str);

/// The bytes of a number behind this directive.
fn size_of(directive: &str) -> Option<usize> {
    Some(match directive {
        "byte" => 1,
        "short" => 2,
        "word" => 4,
        "dword" => 8,
        _ => return None,
    })
}

/// Where the first instruction is missing among these offsets of a section of this size. Instructions have 16 bytes; before sm_70
/// they have 8, and at each multiple of 32 stand bits for three of them, which are not listed.
fn hole(offsets: impl Iterator<Item = u64>, size: u64) -> Option<u64> {
    let mut offsets = offsets.peekable();
    let narrow = offsets.peek() == Some(&8);
    let from = |at: u64| if narrow && at.is_multiple_of(32) { at + 8 } else { at };
    let mut next = from(0);
    for offset in offsets {
        if offset != next {
            return Some(next);
        }
        next = from(offset + if narrow { 8 } else { 16 });
    }
    (next != from(size)).then_some(next)
}

/// `/*0010*/ @!P0 OPCODE.X A, B ;`
fn instruction(text: &str) -> Option<Line> {
    let (offset, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    // A comment follows what branches through a table.
    let mut rest = rest.split("(*").next()?.trim().trim_end_matches(';').trim();
    let mut guard = None;
    if let Some(guarded) = rest.strip_prefix('@') {
        let (name, behind) = guarded.split_once(' ')?;
        guard = Some((predicate(name.trim_start_matches('!'))?, name.starts_with('!')));
        rest = behind.trim();
    }
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let (opcode, operation) = (opcode.to_owned(), decode(opcode));
    // Some opcodes have spaces between the brackets of a constant bank: `c [0x0] [0x160]`.
    let joined = operands.contains("c [").then(|| operands.replace("c [", "c[").replace("] [", "]["));
    let operands = split(joined.as_deref().unwrap_or(operands)).into_iter().map(Operand::read).collect();
    Some(Line { offset, guard, opcode, operation, operands })
}

/// Splits at the commas that stand in no brackets; a descriptor in front of an address is dropped.
fn split(text: &str) -> Vec<&str> {
    let mut operands = Vec::new();
    let (mut depth, mut from) = (0, 0);
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

/// `[R2.64]` of `desc[UR4][R2.64]`.
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
        let listing = Listing::read(TEXT, &[(".text.k".to_owned(), 0x50)].into());
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
        assert_eq!(listing.at(4, 0x20), Some(2));
        assert_eq!(listing.labels["k"], 0);
    }

    #[test]
    fn instructions_follow_one_another_to_the_end_of_their_section() {
        let of = |offsets: &[u64], size| hole(offsets.iter().copied(), size);
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
        let table = |text: &str| Listing::read(text, &BTreeMap::new()).tables["k.const_opt.0"].clone();
        assert_eq!(table(TEXT).len(), 10);
        assert_eq!(table(&TEXT.replace("        /*0004*/ \t.word\t0x00000020\n", "")), [0x30, 0, 0, 0]);
        assert_eq!(table(&TEXT.replace("0x00000020", "elsewhere")), [0x30, 0, 0, 0]);
        assert_eq!(table(&TEXT.replace("(.L_x_9 - .text.k)", "(.L_x_7 - .text.k)")), [0u8; 0]);
    }
}
