//! Computes the results of video instructions: operations on selected bytes and halves of words.
//!
//! The authority is section 9.7.18 of the PTX manual, as for [`super::integers`].

use std::ops::RangeInclusive;

use ptxsmith_syntax::Opcode;

use super::form::InstructionForm;
use super::instructions::compared;
use ptxsmith_syntax::ScalarType;

/// A source: a word, and the suffix that selects parts of it (`.b0`, `.h10`); empty if there is none.
pub(super) type Source<'m> = (u64, &'m str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum VideoOperation {
    Add,
    Subtract,
    Average,
    Difference,
    Least,
    Greatest,
    Compare,
    ShiftLeft,
    ShiftRight,
    MultiplyAdd,
}

/// Returns the operation of a video instruction, and on how many parts of a word it operates.
fn operation(opcode: Opcode) -> Option<(VideoOperation, usize)> {
    Some(match opcode {
        Opcode::Vadd => (VideoOperation::Add, 1),
        Opcode::Vadd2 => (VideoOperation::Add, 2),
        Opcode::Vadd4 => (VideoOperation::Add, 4),
        Opcode::Vsub => (VideoOperation::Subtract, 1),
        Opcode::Vsub2 => (VideoOperation::Subtract, 2),
        Opcode::Vsub4 => (VideoOperation::Subtract, 4),
        Opcode::Vavrg2 => (VideoOperation::Average, 2),
        Opcode::Vavrg4 => (VideoOperation::Average, 4),
        Opcode::Vabsdiff => (VideoOperation::Difference, 1),
        Opcode::Vabsdiff2 => (VideoOperation::Difference, 2),
        Opcode::Vabsdiff4 => (VideoOperation::Difference, 4),
        Opcode::Vmin => (VideoOperation::Least, 1),
        Opcode::Vmin2 => (VideoOperation::Least, 2),
        Opcode::Vmin4 => (VideoOperation::Least, 4),
        Opcode::Vmax => (VideoOperation::Greatest, 1),
        Opcode::Vmax2 => (VideoOperation::Greatest, 2),
        Opcode::Vmax4 => (VideoOperation::Greatest, 4),
        Opcode::Vset => (VideoOperation::Compare, 1),
        Opcode::Vset2 => (VideoOperation::Compare, 2),
        Opcode::Vset4 => (VideoOperation::Compare, 4),
        Opcode::Vshl => (VideoOperation::ShiftLeft, 1),
        Opcode::Vshr => (VideoOperation::ShiftRight, 1),
        Opcode::Vmad => (VideoOperation::MultiplyAdd, 1),
        _ => return None,
    })
}

/// Whether an opcode is a video instruction.
pub(super) fn is_video(opcode: Opcode) -> bool {
    operation(opcode).is_some()
}

/// The modifiers of a video instruction.
struct VideoModifiers<'m> {
    operation: VideoOperation,
    /// Whether the result, the first and the second source are signed.
    signed: [bool; 3],
    saturates: bool,
    /// The operation on the result and the third source.
    secondary: Option<&'m str>,
    /// The modifiers that only some operations have: a comparison, how a count is limited, `.po` and a scale.
    others: Vec<&'m str>,
}

impl<'m> VideoModifiers<'m> {
    fn decode(form: &InstructionForm<'m>, operation: VideoOperation) -> Option<VideoModifiers<'m>> {
        let words: Vec<&str> = form.others.iter().copied().chain(form.ty.map(ScalarType::keyword)).collect();
        let types = words.iter().take_while(|word| matches!(**word, ".u32" | ".s32")).count();
        let (types, words) = words.split_at(types);
        let signed = match (operation, types) {
            // 9.7.18.1.4: the result of a comparison is unsigned.
            (VideoOperation::Compare, &[a, b]) => [".u32", a, b].map(|ty| ty == ".s32"),
            (VideoOperation::Compare, _) => return None,
            (_, &[d, a, b]) => [d, a, b].map(|ty| ty == ".s32"),
            _ => return None,
        };
        let mut words = words.to_vec();
        let secondary = words.iter().position(|word| [".add", ".min", ".max"].contains(word));
        let secondary = secondary.map(|at| words.remove(at));
        let saturation = words.iter().position(|word| *word == ".sat");
        let saturates = saturation.map(|at| words.remove(at)).is_some();
        let is_repeated = words.iter().any(|word| *word == ".sat" || Some(*word) == secondary);
        let others = words;
        (!is_repeated).then_some(VideoModifiers { operation, signed, saturates, secondary, others })
    }

    /// Returns the primary result for two parts; the outer `None` if the form is not modelled.
    fn primary(&self, a: i128, b: i128) -> Option<i128> {
        Some(match (self.operation, self.others.as_slice()) {
            (VideoOperation::Add, []) => a + b,
            (VideoOperation::Subtract, []) => a - b,
            (VideoOperation::Average, []) if a + b >= 0 => (a + b + 1) >> 1,
            (VideoOperation::Average, []) => (a + b) >> 1,
            (VideoOperation::Difference, []) => (a - b).abs(),
            (VideoOperation::Least, []) => a.min(b),
            (VideoOperation::Greatest, []) => a.max(b),
            (VideoOperation::Compare, [comparison]) => {
                compared(comparison, ScalarType::S64, a as u64, b as u64)?.into()
            }
            // 9.7.18.1.2: the count is limited to 32, or reduced to its lowest five bits.
            (VideoOperation::ShiftLeft, [".clamp"]) => a << b.min(32),
            (VideoOperation::ShiftRight, [".clamp"]) => a >> b.min(32),
            (VideoOperation::ShiftLeft, [".wrap"]) => a << (b & 31),
            (VideoOperation::ShiftRight, [".wrap"]) => a >> (b & 31),
            _ => return None,
        })
    }
}

/// Returns the result of a video instruction for words, and for the suffix of its destination: `None` if the form is not
/// modelled, `Some(None)` if the manual does not define the result.
pub(super) fn calculated(
    form: &InstructionForm<'_>,
    to: &str,
    sources: &[Source<'_>],
) -> Option<Option<u64>> {
    let (operation, count) = operation(form.opcode)?;
    let modifiers = VideoModifiers::decode(form, operation)?;
    if sources[2.min(sources.len())..].iter().any(|(_, suffix)| !suffix.is_empty()) {
        return None;
    }
    match (operation, count) {
        (VideoOperation::MultiplyAdd, _) => multiplied(&modifiers, to, sources),
        (_, 1) => by_words(&modifiers, to, sources),
        _ => by_parts(&modifiers, count, to, sources),
    }
}

/// 9.7.18.1: an operation on two parts of words; then one with a third word, or a merge into it.
fn by_words(modifiers: &VideoModifiers<'_>, to: &str, sources: &[Source<'_>]) -> Option<Option<u64>> {
    let [d_signed, a_signed, b_signed] = modifiers.signed;
    let has_third = modifiers.secondary.is_some() || !to.is_empty();
    let (a, b, c) = match *sources {
        [a, b] if !has_third => (a, b, 0),
        [a, b, (c, _)] if has_third => (a, b, c),
        _ => return None,
    };
    let (place, width) = part(to)?;
    let result = modifiers.primary(selected(a, a_signed)?, selected(b, b_signed)?)?;
    // The intermediate result has 34 bits.
    if modifiers.saturates && !range(true, 34).contains(&result) {
        return Some(None);
    }
    let result = if modifiers.saturates { clamped(result, &range(d_signed, width)) } else { result };
    let third = extended(c, 32, d_signed);
    let is_known = range(d_signed, 32).contains(&result);
    let result = match modifiers.secondary {
        Some(_) if !to.is_empty() => return None,
        None => result,
        Some(".add") => result + third,
        // The manual does not say how many bits of an intermediate result are compared.
        Some(_) if !is_known => return Some(None),
        Some(".min") => result.min(third),
        Some(_) => result.max(third),
    };
    let mask = ((1u64 << width) - 1) << place;
    Some(Some(((result as u64) << place & mask | c & !mask) & u64::from(u32::MAX)))
}

/// 9.7.18.1.3: a product and a sum. Whether the result is signed depends on the factors.
fn multiplied(modifiers: &VideoModifiers<'_>, to: &str, sources: &[Source<'_>]) -> Option<Option<u64>> {
    let (&[a, b, (c, _)], [d_signed, a_signed, b_signed]) = (sources, modifiers.signed) else { return None };
    let signed = a_signed || b_signed;
    if !to.is_empty() || modifiers.secondary.is_some() || signed != d_signed {
        return None;
    }
    let (one, scale) = match *modifiers.others {
        [] => (0, 0),
        [".po"] => (1, 0),
        [".shr7"] => (0, 7),
        [".shr15"] => (0, 15),
        [".po", ".shr7"] => (1, 7),
        [".po", ".shr15"] => (1, 15),
        _ => return None,
    };
    let sum = selected(a, a_signed)? * selected(b, b_signed)? + extended(c, 32, signed) + one;
    let result = sum >> scale;
    let result = if modifiers.saturates { clamped(result, &range(signed, 32)) } else { result };
    Some(Some((result as u32).into()))
}

/// 9.7.18.2: an operation on two or four parts of words. The results are added to a third word or replace parts of it.
fn by_parts(
    modifiers: &VideoModifiers<'_>,
    count: usize,
    to: &str,
    sources: &[Source<'_>],
) -> Option<Option<u64>> {
    let (&[(a, suffix_of_a), (b, suffix_of_b), (c, _)], [d_signed, a_signed, b_signed]) =
        (sources, modifiers.signed)
    else {
        return None;
    };
    let width = 32 / count as u32;
    let both = b << 32 | a;
    let parts_of_a = source_parts(suffix_of_a, 0, count)?;
    let parts_of_b = source_parts(suffix_of_b, count, count)?;
    let mask = match to {
        "" => (0..count).collect(),
        suffix => numbers(suffix, count).filter(|parts| parts.iter().all(|&part| part < count))?,
    };
    // 9.7.18.2.3: the text and the operation disagree about the word that other parts come from.
    if modifiers.operation == VideoOperation::Compare && mask.len() < count {
        return Some(None);
    }
    let adds = match modifiers.secondary {
        None => false,
        Some(".add") if !modifiers.saturates => true,
        Some(_) => return None,
    };
    let mut result = c;
    for nth in mask {
        let a = extended(both >> (width as usize * parts_of_a[nth]), width, a_signed);
        let b = extended(both >> (width as usize * parts_of_b[nth]), width, b_signed);
        let part = modifiers.primary(a, b)?;
        let part = if modifiers.saturates { clamped(part, &range(d_signed, width)) } else { part };
        let (place, bits) = (width * nth as u32, (1u64 << width) - 1);
        result = if adds {
            result.wrapping_add(part as u64)
        } else {
            result & !(bits << place) | (part as u64 & bits) << place
        };
    }
    Some(Some(result & u64::from(u32::MAX)))
}

/// Returns the numbers of the `count` parts that a source supplies, counted over both words. Without a suffix, they are
/// the parts of its own word, which start at `first`.
fn source_parts(suffix: &str, first: usize, count: usize) -> Option<Vec<usize>> {
    if suffix.is_empty() {
        return Some((first..first + count).collect());
    }
    let parts = numbers(suffix, count)?;
    (parts.len() == count && parts.iter().all(|&part| part < 2 * count)).then_some(parts)
}

/// Returns the numbers in a suffix that names halves or bytes, the lowest part first: `.h10`, `.b3210`.
fn numbers(suffix: &str, count: usize) -> Option<Vec<usize>> {
    let digits = suffix.strip_prefix(if count == 2 { ".h" } else { ".b" })?;
    digits.chars().rev().map(|digit| Some(digit.to_digit(10)? as usize)).collect()
}

/// Returns the place and the width in bits of a part of a word: `.b1`, `.h0`; the whole word without a suffix.
fn part(suffix: &str) -> Option<(u32, u32)> {
    Some(match suffix {
        "" => (0, 32),
        ".b0" => (0, 8),
        ".b1" => (8, 8),
        ".b2" => (16, 8),
        ".b3" => (24, 8),
        ".h0" => (0, 16),
        ".h1" => (16, 16),
        _ => return None,
    })
}

fn selected((word, suffix): Source<'_>, signed: bool) -> Option<i128> {
    let (place, width) = part(suffix)?;
    Some(extended(word >> place, width, signed))
}

/// Returns the low bits of a word as a number.
fn extended(word: u64, width: u32, signed: bool) -> i128 {
    let value = i128::from(word & ((1 << width) - 1));
    if signed && value >> (width - 1) == 1 { value - (1 << width) } else { value }
}

fn range(signed: bool, width: u32) -> RangeInclusive<i128> {
    if signed { -(1 << (width - 1))..=(1 << (width - 1)) - 1 } else { 0..=(1 << width) - 1 }
}

fn clamped(value: i128, range: &RangeInclusive<i128>) -> i128 {
    value.clamp(*range.start(), *range.end())
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::{Item, Statement, parse};

    use super::*;

    /// Returns the result of an instruction, with a suffix of its destination, for these sources.
    fn of(instruction: &str, to: &str, sources: &[Source<'_>]) -> Option<u64> {
        let module = parse(&format!(".func f() {{ {instruction} %r; }}")).unwrap();
        let Item::Function(function) = &module.items[0] else { panic!("{instruction}") };
        let Statement::Instruction(parsed) = &function.body.as_ref().unwrap()[0] else {
            panic!("{instruction}")
        };
        calculated(&InstructionForm::decode(parsed), to, sources)
            .unwrap_or_else(|| panic!("{instruction} is not modelled"))
    }

    const ONES: u64 = 0xffff_ffff;

    #[test]
    fn parts_of_words_are_extended_by_their_types_and_results_clamped_to_the_destination() {
        let (a, b) = ((0x0000_00ff, ".b0"), (0x8000_0000, ".h1"));
        assert_eq!(of("vadd.s32.u32.s32", "", &[a, b]), Some((255u32.wrapping_sub(32_768)).into()));
        assert_eq!(of("vsub.u32.u32.u32.sat", "", &[(1, ""), (2, "")]), Some(0));
        assert_eq!(of("vsub.u32.u32.u32", "", &[(1, ""), (2, "")]), Some(ONES));
        assert_eq!(
            of("vadd.s32.s32.s32.sat", ".b1", &[(200, ""), (0, ""), (0x1122_3344, "")]),
            Some(0x1122_7f44)
        );
        assert_eq!(of("vabsdiff.u32.s32.s32.add", "", &[(ONES, ""), (2, ""), (10, "")]), Some(13));
        assert_eq!(of("vmin.s32.s32.u32.max", "", &[(ONES, ""), (5, ""), (7, "")]), Some(7));
        assert_eq!(of("vset.s32.u32.lt.add", "", &[(ONES, ""), (0, ""), (4, "")]), Some(5));
        assert_eq!(of("vadd.u32.u32.u32.min", "", &[(ONES, ""), (1, ""), (7, "")]), None, "33 bits");
    }

    #[test]
    fn counts_are_limited_and_products_scaled() {
        assert_eq!(of("vshl.u32.u32.u32.clamp", "", &[(3, ""), (40, "")]), Some(0));
        assert_eq!(of("vshl.u32.u32.u32.wrap", "", &[(3, ""), (33, "")]), Some(6));
        assert_eq!(of("vshr.s32.s32.u32.clamp", "", &[(0x8000_0000, ""), (40, "")]), Some(ONES));
        assert_eq!(of("vmad.s32.s32.s32.sat.shr7", "", &[(ONES, ""), (256, ""), (0, "")]), Some(ONES - 1));
        assert_eq!(of("vmad.u32.u32.u32.po.sat", "", &[(ONES, ""), (1, ""), (0, "")]), Some(ONES));
    }

    #[test]
    fn several_parts_are_merged_or_added() {
        let third = (0x0001_0002, "");
        let halves = [(0x7fff_0001, ""), (0x0001_ffff, ""), third];
        assert_eq!(of("vadd2.s32.s32.s32.sat", "", &halves), Some(0x7fff_0000));
        assert_eq!(of("vadd2.u32.u32.u32", ".h1", &halves), Some(0x8000_0002));
        assert_eq!(of("vabsdiff4.u32.u32.u32.add", "", &[(0x0102_0304, ""), (0, ""), (5, "")]), Some(15));
        assert_eq!(
            of("vavrg2.s32.s32.s32", "", &[(0xfffe_0002, ""), (0xffff_0001, ""), third]),
            Some(0xfffe_0002)
        );
        assert_eq!(of("vmax4.s32.s32.s32", "", &[(0x80ff_7f00, ""), (0, ""), third]), Some(0x7f00));
        let swapped = [(0x0001_0002, ".h01"), (0x0003_0004, ".h32"), (0, "")];
        assert_eq!(of("vsub2.u32.u32.u32", "", &swapped), Some(0xffff_fffd));
        assert_eq!(of("vset2.u32.u32.ge.add", "", &[(5, ""), (0x0001_0005, ""), (3, "")]), Some(4));
    }
}
