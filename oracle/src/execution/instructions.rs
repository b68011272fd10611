//! The instructions: one table of opcodes with the forms that are judged and what those do with numbers that reckon.
//!
//! What an instruction does is no part of the texts at hand (6.4 gives its operands), so only forms that everybody takes are
//! here. An instruction in another form is undecided.

use ptxsmith_syntax::{Opcode, ScalarType, TypeKind};

use super::form::Form;
use crate::value::{extended, low_bits, sign_extended};

/// The types of instructions that move bits, and of those that reckon.
const MOVED: &str = ".b8 .b16 .b32 .b64 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64";
const WHOLE: &str = ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64 .pred";
const NUMBERS: &str = ".u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64";
const INTEGERS: &str = ".u16 .u32 .u64 .s16 .s32 .s64";
const BITS: &str = ".b16 .b32 .b64 .pred";
const SHIFTED: &str = ".b16 .b32 .b64";
const SHIFTED_RIGHT: &str = ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64";
const CHOSEN: &str = ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64";
const WINDOWS: &str = ".global .shared .local .const";
const COMPARISONS: &str = ".eq .ne .lt .le .gt .ge";
/// How `setp` and `set` combine what a comparison gives with a predicate, which is their last operand.
const COMBINATIONS: &str = ".and .or .xor";
/// The types of what `set` gives.
const SET: &str = ".u32 .s32 .f32";

/// What an instruction makes of numbers: of its type, or of the operands' own where they have another, extended to 64 bits. `None`
/// where that is not modelled.
type Calculation = fn(ScalarType, &[u64]) -> Option<u64>;

/// One opcode.
pub(super) struct Row {
    /// The types of the forms that are judged; empty where they have none, or where no form is judged.
    pub types: &'static str,
    /// Their other modifiers.
    pub others: &'static str,
    /// The state spaces that they name.
    pub spaces: &'static str,
    /// How many operands they have; `usize::MAX` where that differs.
    pub operands: usize,
    /// What they do with integers, where they do nothing else.
    pub calculation: Option<Calculation>,
}

/// The row of an opcode.
pub(super) fn row(opcode: Opcode) -> Row {
    let form = |types, others, spaces, operands| Row { types, others, spaces, operands, calculation: None };
    let of = |types, others, operands, calculation: Calculation| Row {
        calculation: Some(calculation),
        ..form(types, others, "", operands)
    };
    match opcode {
        Opcode::Ld => form(MOVED, "", ".global .shared .local .const .param", 2),
        // What may be stored to a parameter depends on whose it is.
        Opcode::St => form(MOVED, "", ".global .shared .local", 2),
        Opcode::Mov => form(WHOLE, "", "", 2),
        Opcode::Cvta => form(".u64", ".to", WINDOWS, 2),
        Opcode::Cvt => form(MOVED, MOVED, "", 2),
        Opcode::Setp => form(CHOSEN, ".eq .ne .lt .le .gt .ge .and .or .xor", "", usize::MAX),
        Opcode::Set => form(CHOSEN, ".eq .ne .lt .le .gt .ge .and .or .xor .u32 .s32 .f32", "", usize::MAX),
        Opcode::Selp => form(CHOSEN, "", "", 4),
        Opcode::Bra => form("", ".uni", "", 1),
        Opcode::Brx => form("", ".idx .uni", "", 2),
        Opcode::Call => form("", ".uni", "", usize::MAX),
        Opcode::Ret => form("", ".uni", "", 0),
        Opcode::Exit => form("", "", "", 0),
        Opcode::Add => of(NUMBERS, "", 3, |_, values| two(values, u64::wrapping_add)),
        Opcode::Sub => of(NUMBERS, "", 3, |_, values| two(values, u64::wrapping_sub)),
        Opcode::Mul => of(INTEGERS, ".lo", 3, |_, values| two(values, u64::wrapping_mul)),
        Opcode::Mad => of(INTEGERS, ".lo", 4, |_, values| match *values {
            [a, b, c] => Some(a.wrapping_mul(b).wrapping_add(c)),
            _ => None,
        }),
        Opcode::And => of(BITS, "", 3, |_, values| two(values, |a, b| a & b)),
        Opcode::Or => of(BITS, "", 3, |_, values| two(values, |a, b| a | b)),
        Opcode::Xor => of(BITS, "", 3, |_, values| two(values, |a, b| a ^ b)),
        Opcode::Shl => of(SHIFTED, "", 3, |ty, values| shifted(ty, values, |a, b| a << b)),
        Opcode::Shr => of(SHIFTED_RIGHT, "", 3, |ty, values| {
            shifted(ty, values, |a, b| match ty.kind() {
                TypeKind::Signed => (sign_extended(ty, a) >> b) as u64,
                _ => low_bits(ty, a) >> b,
            })
        }),
        // What these take is not judged.
        Opcode::Max => of("", "", 0, |ty, values| two(values, |a, b| if is_less(ty, a, b) { b } else { a })),
        Opcode::Min => of("", "", 0, |ty, values| two(values, |a, b| if is_less(ty, b, a) { b } else { a })),
        Opcode::Neg => of("", "", 0, |_, values| one(values, u64::wrapping_neg)),
        Opcode::Not => of("", "", 0, |_, values| one(values, |a| !a)),
    }
}

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether an instruction has one of the forms that everybody takes, as far as its modifiers say.
pub(super) fn has_row(form: &Form<'_>) -> bool {
    let Row { types, others, spaces, operands: count, .. } = row(form.opcode);
    let takes = match form.ty {
        Some(ty) => has(types, ty.keyword()),
        None => types.is_empty(),
    };
    let spaced = form.space.is_none_or(|space| has(spaces, space.keyword()));
    let known = form.others.iter().all(|word| has(others, word));
    let vector =
        form.lanes.is_none_or(|lanes| matches!(form.opcode, Opcode::Ld | Opcode::St) && fits(form, lanes));
    let compares = || {
        let ordered = form.others.first().is_some_and(|first| !matches!(*first, ".eq" | ".ne"));
        !ordered || form.ty.is_none_or(|ty| ty.kind() != TypeKind::Bits)
    };
    let number = |ty: ScalarType| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
    let needed = match (form.opcode, &form.others[..]) {
        (Opcode::Mul | Opcode::Mad, others) => others.len() == 1,
        (Opcode::Setp, [combined @ ..]) => compares() && is_comparison(combined, form.operands.len()),
        (Opcode::Set, [combined @ .., result]) => {
            has(SET, result) && compares() && is_comparison(combined, form.operands.len())
        }
        (Opcode::Set, []) => false,
        (Opcode::Cvt, [to]) => {
            ScalarType::from_keyword(to).is_some_and(number) && form.ty.is_some_and(number)
        }
        (Opcode::Cvt, _) => false,
        (Opcode::Cvta, others) => form.space.is_some() && others.len() < 2,
        _ => true,
    };
    takes && spaced && known && vector && needed && (count == usize::MAX || form.operands.len() == count)
}

/// Whether these modifiers are a comparison of two numbers, or one that is combined with a predicate, which is one operand more.
fn is_comparison(modifiers: &[&str], operands: usize) -> bool {
    match *modifiers {
        [compare] => operands == 3 && has(COMPARISONS, compare),
        [compare, combine] => operands == 4 && has(COMPARISONS, compare) && has(COMBINATIONS, combine),
        _ => false,
    }
}

/// Whether a vector access has at most 128 bits.
fn fits(form: &Form<'_>, lanes: usize) -> bool {
    lanes <= 4 && form.ty.and_then(ScalarType::size).is_some_and(|size| size * lanes as u64 <= 16)
}

fn one(values: &[u64], calculate: impl Fn(u64) -> u64) -> Option<u64> {
    if let [a] = *values { Some(calculate(a)) } else { None }
}

fn two(values: &[u64], calculate: impl Fn(u64, u64) -> u64) -> Option<u64> {
    if let [a, b] = *values { Some(calculate(a, b)) } else { None }
}

/// A shift by less than the bits that there are; what a longer one gives is not for the texts at hand to say.
fn shifted(ty: ScalarType, values: &[u64], shift: impl Fn(u64, u64) -> u64) -> Option<u64> {
    let by_less = matches!(*values, [_, by] if by < 8 * ty.size()?);
    if by_less { two(values, shift) } else { None }
}

fn is_less(ty: ScalarType, a: u64, b: u64) -> bool {
    if ty.kind() == TypeKind::Signed { (a as i64) < b as i64 } else { a < b }
}

/// The type that an operand is read in, by place behind the destination, where an instruction reckons with integers.
pub(super) fn source_type(form: &Form<'_>, ty: ScalarType, nth: usize) -> Option<ScalarType> {
    match (form.opcode, nth) {
        (Opcode::Shl | Opcode::Shr, 1) => Some(ScalarType::U32),
        (Opcode::Mad, 2) => result_type(form, ty),
        _ => Some(ty),
    }
}

/// The type of what an instruction makes that reckons with integers: for `.wide` that of twice the size. `None` where it has other
/// modifiers than those that are known.
pub(super) fn result_type(form: &Form<'_>, ty: ScalarType) -> Option<ScalarType> {
    let multiplies = matches!(form.opcode, Opcode::Mul | Opcode::Mad);
    match (&form.others[..], ty) {
        ([], _) if !multiplies => Some(ty),
        ([".lo"], _) if multiplies => Some(ty),
        ([".wide"], ScalarType::S16) if multiplies => Some(ScalarType::S32),
        ([".wide"], ScalarType::U16) if multiplies => Some(ScalarType::U32),
        ([".wide"], ScalarType::S32) if multiplies => Some(ScalarType::S64),
        ([".wide"], ScalarType::U32) if multiplies => Some(ScalarType::U64),
        _ => None,
    }
}

/// What an instruction makes of integers, each of the type that [`source_type`] says; `None` where that is not modelled.
pub(super) fn calculated(form: &Form<'_>, ty: ScalarType, values: &[u64]) -> Option<u64> {
    let extend = |(nth, &value)| Some(extended(source_type(form, ty, nth)?, value));
    let values: Vec<u64> = values.iter().enumerate().map(extend).collect::<Option<_>>()?;
    let value = row(form.opcode).calculation?(ty, &values)?;
    Some(low_bits(result_type(form, ty)?, value))
}

/// Whether two numbers of a type compare so; `None` where that is no comparison of such numbers. Of a NaN none holds.
pub(super) fn compared(comparison: &str, ty: ScalarType, a: u64, b: u64) -> Option<bool> {
    let order = match ty {
        ScalarType::F32 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        ScalarType::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        _ if ty.kind() == TypeKind::Float => return None,
        _ => {
            let (a, b) = (extended(ty, a), extended(ty, b));
            Some(if ty.kind() == TypeKind::Signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) })
        }
    };
    if ty.kind() == TypeKind::Float && !has(COMPARISONS, comparison) {
        return None;
    }
    let Some(order) = order else { return Some(false) };
    Some(match comparison {
        ".eq" => order.is_eq(),
        ".ne" => order.is_ne(),
        ".lt" | ".lo" => order.is_lt(),
        ".le" | ".ls" => order.is_le(),
        ".gt" | ".hi" => order.is_gt(),
        ".ge" | ".hs" => order.is_ge(),
        _ => return None,
    })
}
