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

/// What an instruction with these modifiers makes of numbers: of its type, or of the operands' own where they have another, extended to
/// 64 bits. `None` where that is not modelled, or undefined.
type Calculation = fn(&str, ScalarType, &[u64]) -> Option<u64>;

/// The type that an instruction gives to an operand.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// The last modifier of the instruction.
    Own,
    /// That, or for `.wide` the one of twice the size.
    Result,
    /// The modifier before the last one.
    Named,
    /// The count of a shift.
    Count,
    Truth,
    /// None: it is an address.
    Place,
}
use Slot::{Count, Named, Own, Place, Truth};

/// One opcode.
pub(super) struct Row {
    /// The types of the forms that are judged; empty where they have none, or where no form is judged.
    pub types: &'static str,
    /// Their other modifiers.
    pub others: &'static str,
    /// The state spaces that they name.
    pub spaces: &'static str,
    /// The types of the operands, the destination first.
    pub operands: &'static [Slot],
    /// The modifiers beside the type of those that are executed as a calculation with integers.
    calculated: &'static [&'static str],
    /// What they make of integers, where they do nothing else.
    calculation: Option<Calculation>,
}

/// The row of an opcode.
pub(super) fn row(opcode: Opcode) -> Row {
    match opcode {
        Opcode::Ld => form(MOVED, "", ".global .shared .local .const .param", &[Own, Place]),
        // Which values a store to a parameter may have depends on whose it is.
        Opcode::St => form(MOVED, "", ".global .shared .local", &[Place, Own]),
        Opcode::Mov => form(WHOLE, "", "", &[Own, Own]),
        Opcode::Cvta => form(".u64", ".to", WINDOWS, &[Own, Own]),
        Opcode::Cvt => form(MOVED, MOVED, "", &[Named, Own]),
        Opcode::Setp => form(CHOSEN, ".eq .ne .lt .le .gt .ge .and .or .xor", "", &[Truth, Own, Own, Truth]),
        Opcode::Set => {
            let others = ".eq .ne .lt .le .gt .ge .and .or .xor .u32 .s32 .f32";
            form(CHOSEN, others, "", &[Named, Own, Own, Truth])
        }
        Opcode::Selp => form(CHOSEN, "", "", &[Own, Own, Own, Truth]),
        Opcode::Bra => form("", ".uni", "", &[Place]),
        Opcode::Brx => form("", ".idx .uni", "", &[Place, Place]),
        Opcode::Call => form("", ".uni", "", &[]),
        Opcode::Ret => form("", ".uni", "", &[]),
        Opcode::Exit => form("", "", "", &[]),
        // 9.7.1.1, 9.7.1.2: `.sat`, of `.s32` alone, keeps the sum within its bounds.
        Opcode::Add => of(NUMBERS, "", TWO, &["", ".sat"], |how, ty, values| {
            saturated(how, ty, two(values, u64::wrapping_add)?)
        }),
        Opcode::Sub => of(NUMBERS, "", TWO, &["", ".sat"], |how, ty, values| {
            saturated(how, ty, two(values, u64::wrapping_sub)?)
        }),
        // 9.7.1.3, 9.7.1.4: half of the product, or all of it.
        Opcode::Mul => {
            of(INTEGERS, ".lo", MULTIPLY, &[".lo", ".hi", ".wide"], |how, ty, values| match *values {
                [a, b] => product(how, ty, a, b),
                _ => None,
            })
        }
        Opcode::Mad => {
            of(INTEGERS, ".lo", MULTIPLY_ADD, &[".lo", ".hi", ".wide"], |how, ty, values| match *values {
                [a, b, c] => Some(product(how, ty, a, b)?.wrapping_add(c)),
                _ => None,
            })
        }
        Opcode::And => of(BITS, "", TWO, &[""], |_, _, values| two(values, |a, b| a & b)),
        Opcode::Or => of(BITS, "", TWO, &[""], |_, _, values| two(values, |a, b| a | b)),
        Opcode::Xor => of(BITS, "", TWO, &[""], |_, _, values| two(values, |a, b| a ^ b)),
        Opcode::Shl => of(SHIFTED, "", SHIFT, &[""], |_, ty, values| shifted(ty, values, |a, b| a << b)),
        Opcode::Shr => of(SHIFTED_RIGHT, "", SHIFT, &[""], |_, ty, values| {
            shifted(ty, values, |a, b| match ty.kind() {
                TypeKind::Signed => (sign_extended(ty, a) >> b) as u64,
                _ => low_bits(ty, a) >> b,
            })
        }),
        // 9.7.1, 9.7.8: of these no form is judged.
        Opcode::Max => {
            of("", "", TWO, &[""], |_, ty, values| two(values, |a, b| if is_less(ty, a, b) { b } else { a }))
        }
        Opcode::Min => {
            of("", "", TWO, &[""], |_, ty, values| two(values, |a, b| if is_less(ty, b, a) { b } else { a }))
        }
        Opcode::Neg => of("", "", &[Own, Own], &[""], |_, _, values| one(values, u64::wrapping_neg)),
        Opcode::Not => of("", "", &[Own, Own], &[""], |_, _, values| one(values, |a| !a)),
    }
}

/// The operands of calculations: a destination and two sources, a count, a third one.
const TWO: &[Slot] = &[Own, Own, Own];
const SHIFT: &[Slot] = &[Own, Own, Count];
const MULTIPLY: &[Slot] = &[Slot::Result, Own, Own];
const MULTIPLY_ADD: &[Slot] = &[Slot::Result, Own, Own, Slot::Result];

fn form(types: &'static str, others: &'static str, spaces: &'static str, operands: &'static [Slot]) -> Row {
    Row { types, others, spaces, operands, calculated: &[], calculation: None }
}

fn of(
    types: &'static str,
    others: &'static str,
    operands: &'static [Slot],
    calculated: &'static [&'static str],
    calculation: Calculation,
) -> Row {
    Row { calculated, calculation: Some(calculation), ..form(types, others, "", operands) }
}

/// The type that an instruction of this form gives to the operand at this place; `None` of an address, a label, a callee.
pub(super) fn typed(form: &Form<'_>, nth: usize) -> Option<ScalarType> {
    let ty = form.ty?;
    if matches!(form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit) {
        return None;
    }
    match row(form.opcode).operands.get(nth).unwrap_or(&Own) {
        Own => Some(ty),
        Slot::Result if form.others.contains(&".wide") => doubled(ty),
        Slot::Result => Some(ty),
        Named => form.others.last().and_then(|word| ScalarType::from_keyword(word)),
        Count => Some(ScalarType::U32),
        Truth => Some(ScalarType::Pred),
        Place => None,
    }
}

fn doubled(ty: ScalarType) -> Option<ScalarType> {
    Some(match ty {
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S32 => ScalarType::S64,
        ScalarType::U32 => ScalarType::U64,
        _ => return None,
    })
}

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether an instruction has one of the forms that everybody takes, as far as its modifiers say.
pub(super) fn has_row(form: &Form<'_>) -> bool {
    let Row { types, others, spaces, operands, .. } = row(form.opcode);
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
        (Opcode::Setp, combined) => compares() && is_comparison(combined, form.operands.len()),
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
    // A comparison says itself how many it has.
    let varies = matches!(form.opcode, Opcode::Setp | Opcode::Set | Opcode::Call);
    let complete = varies || form.operands.len() == operands.len();
    takes && spaced && known && vector && needed && complete
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

/// A sum as it is, or within the bounds of `.s32`.
fn saturated(how: &str, ty: ScalarType, sum: u64) -> Option<u64> {
    match (how, ty) {
        ("", _) => Some(sum),
        (".sat", ScalarType::S32) => Some((sum as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u64),
        _ => None,
    }
}

/// The low or the high half of a product, or a whole one of at most 64 bits.
fn product(how: &str, ty: ScalarType, a: u64, b: u64) -> Option<u64> {
    if how != ".hi" {
        return Some(a.wrapping_mul(b));
    }
    let whole = match ty.kind() {
        TypeKind::Signed => (i128::from(a as i64) * i128::from(b as i64)) as u128,
        _ => u128::from(a) * u128::from(b),
    };
    Some((whole >> (8 * ty.size()?)) as u64)
}

/// Whether an instruction has a form that is executed as a calculation with integers.
pub(super) fn is_calculated(form: &Form<'_>) -> bool {
    let how = form.others.concat();
    row(form.opcode).calculated.contains(&how.as_str()) && typed(form, 0).is_some()
}

/// What an instruction makes of integers, each of the type that [`typed`] says; `None` where that is not modelled.
pub(super) fn calculated(form: &Form<'_>, ty: ScalarType, values: &[u64]) -> Option<u64> {
    let extend = |(nth, &value)| Some(extended(typed(form, nth + 1)?, value));
    let values: Vec<u64> = values.iter().enumerate().map(extend).collect::<Option<_>>()?;
    let value = row(form.opcode).calculation?(&form.others.concat(), ty, &values)?;
    Some(low_bits(typed(form, 0)?, value))
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
