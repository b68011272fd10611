//! Computes the results of video instructions: operations on selected bytes and halves of words.
//!
//! The authority is section 9.7.18 of the PTX manual, as for [`super::integers`].

use std::ops::RangeInclusive;

use ptxsmith_syntax::Opcode;

use super::form::Form;
use super::instructions::compared;
use ptxsmith_syntax::ScalarType;

/// A source: a word, and the suffix that selects parts of it (`.b0`, `.h10`); empty if there is none.
pub(super) type Source<'m> = (u64, &'m str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
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
fn operation(opcode: Opcode) -> Option<(Operation, usize)> {
    Some(match opcode {
        Opcode::Vadd => (Operation::Add, 1),
        Opcode::Vadd2 => (Operation::Add, 2),
        Opcode::Vadd4 => (Operation::Add, 4),
        Opcode::Vsub => (Operation::Subtract, 1),
        Opcode::Vsub2 => (Operation::Subtract, 2),
        Opcode::Vsub4 => (Operation::Subtract, 4),
        Opcode::Vavrg2 => (Operation::Average, 2),
        Opcode::Vavrg4 => (Operation::Average, 4),
        Opcode::Vabsdiff => (Operation::Difference, 1),
        Opcode::Vabsdiff2 => (Operation::Difference, 2),
        Opcode::Vabsdiff4 => (Operation::Difference, 4),
        Opcode::Vmin => (Operation::Least, 1),
        Opcode::Vmin2 => (Operation::Least, 2),
        Opcode::Vmin4 => (Operation::Least, 4),
        Opcode::Vmax => (Operation::Greatest, 1),
        Opcode::Vmax2 => (Operation::Greatest, 2),
        Opcode::Vmax4 => (Operation::Greatest, 4),
        Opcode::Vset => (Operation::Compare, 1),
        Opcode::Vset2 => (Operation::Compare, 2),
        Opcode::Vset4 => (Operation::Compare, 4),
        Opcode::Vshl => (Operation::ShiftLeft, 1),
        Opcode::Vshr => (Operation::ShiftRight, 1),
        Opcode::Vmad => (Operation::MultiplyAdd, 1),
        _ => return None,
    })
}

/// Whether an opcode is a video instruction.
pub(super) fn is_video(opcode: Opcode) -> bool {
    operation(opcode).is_some()
}

/// The modifiers of a video instruction.
struct Modifiers<'m> {
    operation: Operation,
    /// Whether the result, the first and the second source are signed.
    signed: [bool; 3],
    saturates: bool,
    /// The operation on the result and the third source.
    secondary: Option<&'m str>,
    /// The modifiers of one operation: a comparison, how a count is limited, `.po` and a scale.
    others: Vec<&'m str>,
}

impl<'m> Modifiers<'m> {
    fn of(form: &Form<'m>, operation: Operation) -> Option<Modifiers<'m>> {
        let words: Vec<&str> = form.others.iter().copied().chain(form.ty.map(ScalarType::keyword)).collect();
        let types = words.iter().take_while(|word| matches!(**word, ".u32" | ".s32")).count();
        let (types, words) = words.split_at(types);
        let is_signed = |ty: &&str| *ty == ".s32";
        let signed = match (operation, types) {
            // 9.7.18.1.4: the result of a comparison is unsigned.
            (Operation::Compare, [a, b]) => [false, is_signed(a), is_signed(b)],
            (Operation::Compare, _) => return None,
            (_, [d, a, b]) => [is_signed(d), is_signed(a), is_signed(b)],
            _ => return None,
        };
        let is_secondary = |word: &&&str| matches!(**word, ".add" | ".min" | ".max");
        let secondary = words.iter().find(is_secondary).copied();
        let saturates = words.contains(&".sat");
        let is_other = |word: &&str| *word != ".sat" && Some(*word) != secondary;
        let others: Vec<&str> = words.iter().copied().filter(is_other).collect();
        let known = words.len() == others.len() + usize::from(saturates) + usize::from(secondary.is_some());
        known.then_some(Modifiers { operation, signed, saturates, secondary, others })
    }

    /// Returns the primary result for two parts; the outer `None` if the form is not modelled.
    fn primary(&self, a: i128, b: i128) -> Option<i128> {
        Some(match (self.operation, self.others.as_slice()) {
            (Operation::Add, []) => a + b,
            (Operation::Subtract, []) => a - b,
            (Operation::Average, []) if a + b >= 0 => (a + b + 1) >> 1,
            (Operation::Average, []) => (a + b) >> 1,
            (Operation::Difference, []) => (a - b).abs(),
            (Operation::Least, []) => a.min(b),
            (Operation::Greatest, []) => a.max(b),
            (Operation::Compare, [comparison]) => {
                compared(comparison, ScalarType::S64, a as u64, b as u64)?.into()
            }
            // 9.7.18.1.2: the count is limited to 32, or reduced to its lowest five bits.
            (Operation::ShiftLeft, [".clamp"]) => a << b.min(32),
            (Operation::ShiftRight, [".clamp"]) => a >> b.min(32),
            (Operation::ShiftLeft, [".wrap"]) => a << (b & 31),
            (Operation::ShiftRight, [".wrap"]) => a >> (b & 31),
            _ => return None,
        })
    }
}

/// Returns the result of a video instruction for words, and for the suffix of its destination: `None` if the form is not
/// modelled, `Some(None)` if the manual does not define the result.
pub(super) fn calculated(form: &Form<'_>, to: &str, sources: &[Source<'_>]) -> Option<Option<u64>> {
    let (operation, count) = operation(form.opcode)?;
    let modifiers = Modifiers::of(form, operation)?;
    if sources[2.min(sources.len())..].iter().any(|(_, suffix)| !suffix.is_empty()) {
        return None;
    }
    match (operation, count) {
        (Operation::MultiplyAdd, _) => multiplied(&modifiers, to, sources),
        (_, 1) => of_words(&modifiers, to, sources),
        _ => by_parts(&modifiers, count, to, sources),
    }
}

/// 9.7.18.1: an operation on two parts of words; then one with a third word, or a merge into it.
fn of_words(modifiers: &Modifiers<'_>, to: &str, sources: &[Source<'_>]) -> Option<Option<u64>> {
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
fn multiplied(modifiers: &Modifiers<'_>, to: &str, sources: &[Source<'_>]) -> Option<Option<u64>> {
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

/// 9.7.18.2: an operation on two or four parts of words, whose results are added to a third word or replace parts of it.
fn by_parts(
    modifiers: &Modifiers<'_>,
    count: usize,
    to: &str,
    sources: &[Source<'_>],
) -> Option<Option<u64>> {
    let (&[(a, of_a), (b, of_b), (c, _)], [d_signed, a_signed, b_signed]) = (sources, modifiers.signed)
    else {
        return None;
    };
    let width = 32 / count as u32;
    let both = b << 32 | a;
    let chosen = |suffix: &str, first: usize| match suffix {
        "" => Some((first..first + count).collect()),
        suffix => {
            numbers(suffix, count).filter(|own| own.len() == count && own.iter().all(|&n| n < 2 * count))
        }
    };
    let (of_a, of_b): (Vec<usize>, Vec<usize>) = (chosen(of_a, 0)?, chosen(of_b, count)?);
    let mask = match to {
        "" => (0..count).collect(),
        suffix => numbers(suffix, count).filter(|own| own.iter().all(|&n| n < count))?,
    };
    // 9.7.18.2.3: the text and the operation disagree about the word that other parts come from.
    if modifiers.operation == Operation::Compare && mask.len() < count {
        return Some(None);
    }
    let adds = match modifiers.secondary {
        None => false,
        Some(".add") if !modifiers.saturates => true,
        Some(_) => return None,
    };
    let at = |nth: usize, signed| extended(both >> (width as usize * nth), width, signed);
    let mut result = c;
    for nth in mask {
        let part = modifiers.primary(at(of_a[nth], a_signed), at(of_b[nth], b_signed))?;
        let part = if modifiers.saturates { clamped(part, &range(d_signed, width)) } else { part };
        let (place, bits) = (width * nth as u32, (1u64 << width) - 1);
        result = match adds {
            true => result.wrapping_add(part as u64),
            false => result & !(bits << place) | (part as u64 & bits) << place,
        };
    }
    Some(Some(result & u64::from(u32::MAX)))
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
        let Statement::Instruction(own) = &function.body.as_ref().unwrap()[0] else {
            panic!("{instruction}")
        };
        calculated(&Form::of(own), to, sources).unwrap_or_else(|| panic!("{instruction} is not modelled"))
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
