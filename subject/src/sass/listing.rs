//! The text that NVIDIA's `nvdisasm` prints of a cubin, as instructions and tables.

use std::collections::BTreeMap;

use super::operation::{Operation, decode};

/// One instruction of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its offset in its section.
    pub offset: u32,
    /// `P0` and whether it is negated, where a predicate stands in front.
    pub guard: Option<(String, bool)>,
    /// The opcode with its modifiers, as written.
    pub opcode: String,
    /// What they ask for.
    pub operation: Operation,
    pub operands: Vec<String>,
}

/// What is needed of a listing to execute it.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// The instructions of all sections; each section's are in order and side by side.
    pub lines: Vec<Line>,
    /// Where the instructions of a section begin in `lines`, by the section's name (`.text.k`).
    pub sections: BTreeMap<String, usize>,
    /// The line that each label of code stands before.
    pub labels: BTreeMap<String, usize>,
    /// The words of the assembler's own tables in constant banks, by symbol: offsets of labels within their sections.
    pub tables: BTreeMap<String, Vec<u32>>,
    /// How many bytes the constant bank of a kernel has, by kernel: its parameters end there.
    pub parameters: BTreeMap<String, u32>,
}

impl Listing {
    /// Reads a listing. Lines of a form that is not known are left out; what is missing then shows where it is needed.
    pub fn read(text: &str) -> Listing {
        let mut listing = Listing::default();
        let mut section = "";
        let mut symbol = "";
        // Words of tables name labels that may stand further down.
        let mut words: Vec<(&str, &str)> = Vec::new();
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
                && let Some(value) = trimmed.split(".word").nth(1)
            {
                words.push((symbol, value.trim()));
            }
        }
        for (symbol, value) in words {
            let label = value.strip_prefix('(').and_then(|value| value.split(" - ").next());
            let value = match label {
                Some(label) => listing.labels.get(label).and_then(|&at| Some(listing.lines.get(at)?.offset)),
                None => number(value).map(|value| value as u32),
            };
            // A word that cannot be read makes the table end here: whatever it is asked for then is not known.
            let table = listing.tables.entry(symbol.to_owned()).or_default();
            table.extend(value);
        }
        listing
    }

    /// The line at an offset of the section that a line belongs to.
    pub fn at(&self, near: usize, offset: u32) -> Option<usize> {
        let start = self.sections.values().copied().filter(|&start| start <= near).max()?;
        let end = self.sections.values().copied().filter(|&start| start > near).min();
        let lines = &self.lines[start..end.unwrap_or(self.lines.len())];
        Some(start + lines.binary_search_by_key(&offset, |line| line.offset).ok()?)
    }
}

/// `/*0010*/ @!P0 OPCODE.X A, B ;`
fn instruction(text: &str) -> Option<Line> {
    let (offset, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    // A comment follows what branches through a table.
    let mut rest = rest.split("(*").next()?.trim().trim_end_matches(';').trim();
    let mut guard = None;
    if let Some(guarded) = rest.strip_prefix('@') {
        let (predicate, behind) = guarded.split_once(' ')?;
        let negated = predicate.starts_with('!');
        guard = Some((predicate.trim_start_matches('!').to_owned(), negated));
        rest = behind.trim();
    }
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let (opcode, operation) = (opcode.to_owned(), decode(opcode));
    Some(Line { offset, guard, opcode, operation, operands: split(operands) })
}

/// Splits at the commas that stand in no brackets; a descriptor in front of an address is dropped.
fn split(text: &str) -> Vec<String> {
    let mut operands = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                let operand = text[from..at].trim();
                if !operand.is_empty() {
                    operands.push(undescribed(operand).to_owned());
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

/// A number as listings write it: `0x1f`, `-0x5`, `12`.
pub(super) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value.ok().map(|value| if negative { -value } else { value })
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
	.section	.nv.constant0.k,\"a\",@\"SHT_CUDA_CONSTANT_B0\"
	.sectionflags	@\"\"
.nv.constant0.k:
	.zero		352
_param:
	.zero		8
";

    #[test]
    fn instructions_tables_and_parameters_are_found() {
        let listing = Listing::read(TEXT);
        assert_eq!(listing.lines.len(), 5);
        assert_eq!(listing.lines[0].operands, ["R1", "c[0x0][0x28]"]);
        assert_eq!(listing.lines[1].guard, Some(("P0".into(), true)));
        assert_eq!(listing.lines[1].operands, ["R7", "[R2.64+0x4]"]);
        assert_eq!(listing.lines[2].operands, ["R10 `(((.text.k - .) - 0x10))"]);
        assert_eq!(listing.tables["k.const_opt.0"], [0x30, 0x20]);
        assert_eq!(listing.parameters["k"], 360);
        assert_eq!(listing.at(4, 0x20), Some(2));
        assert_eq!(listing.labels["k"], 0);
    }

    #[test]
    fn numbers_have_a_sign_in_front_of_the_base() {
        assert_eq!(number("-0x8000"), Some(-0x8000));
        assert_eq!(number("0xfffffffb"), Some(0xffff_fffb));
        assert_eq!(number("R1"), None);
    }
}
