//! The table of opcodes: the forms that are judged, and the types of their operands.
//!
//! The specification at hand does not describe what instructions do (6.4 covers only their operands), so the table
//! lists forms that every implementation accepts. An instruction in another form is undecided.

use ptxsmith_syntax::{Instruction, Opcode, ScalarType, TypeKind};
use smallvec::SmallVec;

use super::form::InstructionForm;
use super::integers;
use crate::value::{extended, low_bits, sign_extended};

/// The types of instructions that move bits, and of instructions that compute.
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
/// How `setp` and `set` combine the comparison with a predicate, their last operand.
const COMBINATIONS: &str = ".and .or .xor";
/// The result types of `set`.
const SET: &str = ".u32 .s32 .f32";

/// The type that an instruction gives to an operand.
#[derive(Clone, Copy)]
pub(super) enum OperandType {
    /// The last modifier of the instruction.
    Own,
    /// The last modifier, or the type of twice the size for `.wide`.
    Result,
    /// The modifier before the last one.
    Named,
    /// The count of a shift.
    Count,
    Truth,
    /// No type: the operand is an address.
    Place,
}
use OperandType::{Count, Named, Own, Place, Truth};

/// The table entry of an opcode.
pub(super) struct Row {
    /// The types of the judged forms; empty if the forms have no type, or if no form is judged.
    pub types: &'static str,
    /// The other modifiers of the judged forms.
    pub others: &'static str,
    /// The state spaces that the judged forms name.
    pub spaces: &'static str,
    /// The types of the operands, destination first.
    pub operands: &'static [OperandType],
}

/// Returns the table entry of an opcode.
pub(super) fn row(opcode: Opcode) -> Row {
    match opcode {
        Opcode::Ld => judged_form(MOVED, "", ".global .shared .local .const .param", &[Own, Place]),
        // Which values a store to a parameter accepts depends on the function that owns the parameter.
        Opcode::St => judged_form(MOVED, "", ".global .shared .local", &[Place, Own]),
        Opcode::Mov => judged_form(WHOLE, "", "", &[Own, Own]),
        Opcode::Cvta => judged_form(".u64", ".to", WINDOWS, &[Own, Own]),
        Opcode::Cvt => judged_form(MOVED, MOVED, "", &[Named, Own]),
        Opcode::Setp => {
            judged_form(CHOSEN, ".eq .ne .lt .le .gt .ge .and .or .xor", "", &[Truth, Own, Own, Truth])
        }
        Opcode::Set => {
            let others = ".eq .ne .lt .le .gt .ge .and .or .xor .u32 .s32 .f32";
            judged_form(CHOSEN, others, "", &[Named, Own, Own, Truth])
        }
        Opcode::Selp => judged_form(CHOSEN, "", "", &[Own, Own, Own, Truth]),
        Opcode::Bra => judged_form("", ".uni", "", &[Place]),
        Opcode::Brx => judged_form("", ".idx .uni", "", &[Place, Place]),
        Opcode::Call => judged_form("", ".uni", "", &[]),
        Opcode::Ret => judged_form("", ".uni", "", &[]),
        Opcode::Exit | Opcode::Trap | Opcode::Brkpt => judged_form("", "", "", &[]),
        // `integers.rs` defines the results. Entries without types have no judged form.
        Opcode::Add | Opcode::Sub => judged_form(NUMBERS, "", "", TWO),
        Opcode::Mul => judged_form(INTEGERS, ".lo", "", MULTIPLY),
        Opcode::Mad => judged_form(INTEGERS, ".lo", "", MULTIPLY_ADD),
        Opcode::And | Opcode::Or | Opcode::Xor => judged_form(BITS, "", "", TWO),
        Opcode::Shl => judged_form(SHIFTED, "", "", SHIFT),
        Opcode::Shr => judged_form(SHIFTED_RIGHT, "", "", SHIFT),
        Opcode::Madc => judged_form("", "", "", MULTIPLY_ADD),
        Opcode::Max
        | Opcode::Min
        | Opcode::Mul24
        | Opcode::Addc
        | Opcode::Subc
        | Opcode::Div
        | Opcode::Rem
        | Opcode::Bmsk => judged_form("", "", "", TWO),
        Opcode::Mad24 | Opcode::Sad | Opcode::Prmt => judged_form("", "", "", &[Own, Own, Own, Own]),
        Opcode::Neg | Opcode::Not | Opcode::Cnot | Opcode::Abs | Opcode::Brev => {
            judged_form("", "", "", &[Own, Own])
        }
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => judged_form("", "", "", &[Count, Own]),
        Opcode::Fns => judged_form("", "", "", &[Own, Own, Count, Count]),
        Opcode::Bfe => judged_form("", "", "", &[Own, Own, Count, Count]),
        Opcode::Bfi => judged_form("", "", "", &[Own, Own, Own, Count, Count]),
        Opcode::Szext => judged_form("", "", "", SHIFT),
        Opcode::Shf => judged_form("", "", "", &[Own, Own, Own, Count]),
        // The type selects how the parts of words are extended; all words have 32 bits.
        Opcode::Dp4a | Opcode::Dp2a => judged_form("", "", "", &[Count, Count, Count, Count]),
        Opcode::Lop3 => judged_form("", "", "", &[Own, Own, Own, Own, Own, Truth]),
        Opcode::Slct => judged_form("", "", "", &[Named, Named, Named, Own]),
        Opcode::Atom | Opcode::Red | Opcode::Match | Opcode::Redux | Opcode::Shfl | Opcode::Vote => {
            judged_form("", "", "", &[])
        }
        Opcode::Vabsdiff
        | Opcode::Vabsdiff2
        | Opcode::Vabsdiff4
        | Opcode::Vadd
        | Opcode::Vadd2
        | Opcode::Vadd4
        | Opcode::Vavrg2
        | Opcode::Vavrg4
        | Opcode::Vmad
        | Opcode::Vmax
        | Opcode::Vmax2
        | Opcode::Vmax4
        | Opcode::Vmin
        | Opcode::Vmin2
        | Opcode::Vmin4
        | Opcode::Vset
        | Opcode::Vset2
        | Opcode::Vset4
        | Opcode::Vshl
        | Opcode::Vshr
        | Opcode::Vsub
        | Opcode::Vsub2
        | Opcode::Vsub4 => judged_form("", "", "", &[]),
    }
}

/// The operand types of calculations: the destination, then the sources.
const TWO: &[OperandType] = &[Own, Own, Own];
const SHIFT: &[OperandType] = &[Own, Own, Count];
const MULTIPLY: &[OperandType] = &[OperandType::Result, Own, Own];
const MULTIPLY_ADD: &[OperandType] = &[OperandType::Result, Own, Own, OperandType::Result];

fn judged_form(
    types: &'static str,
    others: &'static str,
    spaces: &'static str,
    operands: &'static [OperandType],
) -> Row {
    Row { types, others, spaces, operands }
}

/// Returns the type that an instruction of this form gives to the operand at index `nth`; `None` for an address, a
/// label or a callee.
pub(super) fn operand_type(form: &InstructionForm<'_>, nth: usize) -> Option<ScalarType> {
    let ty = form.ty?;
    if matches!(form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit) {
        return None;
    }
    match row(form.opcode).operands.get(nth).unwrap_or(&Own) {
        Own => Some(ty),
        OperandType::Result if form.others.contains(&".wide") => doubled(ty),
        OperandType::Result => Some(ty),
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

/// Whether a list of words separated by spaces contains a word.
fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// Whether an instruction has a form that every implementation accepts, judging by its modifiers and number of
/// operands.
pub(super) fn has_judged_form(form: &InstructionForm<'_>) -> bool {
    let Row { types, others, spaces, operands, .. } = row(form.opcode);
    let has_type = match form.ty {
        Some(ty) => lists(types, ty.keyword()),
        None => types.is_empty(),
    };
    let has_space = form.space.is_none_or(|space| lists(spaces, space.keyword()));
    let has_known_modifiers = form.others.iter().all(|word| lists(others, word));
    let has_lanes =
        form.lanes.is_none_or(|lanes| matches!(form.opcode, Opcode::Ld | Opcode::St) && fits(form, lanes));
    let has_needed_modifiers = match (form.opcode, &form.others[..]) {
        (Opcode::Mul | Opcode::Mad, others) => others.len() == 1,
        (Opcode::Setp, combined) => has_order(form) && is_comparison(combined, form.operands.len()),
        (Opcode::Set, [combined @ .., result]) => {
            lists(SET, result) && has_order(form) && is_comparison(combined, form.operands.len())
        }
        (Opcode::Set, []) => false,
        (Opcode::Cvt, [to]) => {
            ScalarType::from_keyword(to).is_some_and(is_integer) && form.ty.is_some_and(is_integer)
        }
        (Opcode::Cvt, _) => false,
        (Opcode::Cvta, others) => form.space.is_some() && others.len() < 2,
        _ => true,
    };
    // Comparisons counted their operands above; calls have any number.
    let varies = matches!(form.opcode, Opcode::Setp | Opcode::Set | Opcode::Call);
    let is_complete = varies || form.operands.len() == operands.len();
    has_type && has_space && has_known_modifiers && has_lanes && has_needed_modifiers && is_complete
}

pub(super) fn is_integer(ty: ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned)
}

/// Whether the type of a comparison has the order that the comparison asks for: bits are equal or not.
fn has_order(form: &InstructionForm<'_>) -> bool {
    let is_ordered = form.others.first().is_some_and(|first| !matches!(*first, ".eq" | ".ne"));
    !is_ordered || form.ty.is_none_or(|ty| ty.kind() != TypeKind::Bits)
}

/// Whether these modifiers are a comparison of two numbers, or a comparison combined with a predicate, which is one
/// more operand.
fn is_comparison(modifiers: &[&str], operands: usize) -> bool {
    match *modifiers {
        [compare] => operands == 3 && lists(COMPARISONS, compare),
        [compare, combine] => operands == 4 && lists(COMPARISONS, compare) && lists(COMBINATIONS, combine),
        _ => false,
    }
}

/// Whether a vector access has at most four elements and 128 bits.
fn fits(form: &InstructionForm<'_>, lanes: usize) -> bool {
    lanes <= 4 && form.ty.and_then(ScalarType::size).is_some_and(|size| size * lanes as u64 <= 16)
}

/// Whether an instruction has a form that is executed as an integer calculation.
pub(super) fn is_calculated(form: &InstructionForm<'_>) -> bool {
    *form.calculated.get_or_init(|| {
        let sources = form.operands.len().saturating_sub(1);
        calculated(form, &vec![1; sources]).is_some() && operand_type(form, 0).is_some()
    })
}

/// Returns the result of an instruction for integers of the types that [`operand_type`] gives: `None` if the form is not
/// modelled, `Some(None)` if the result is undefined.
pub(super) fn calculated(form: &InstructionForm<'_>, values: &[u64]) -> Option<Option<u64>> {
    let value = integers::calculated(form, form.ty?, &extended_sources(form, values)?)?;
    let result = operand_type(form, 0)?;
    Some(value.map(|value| low_bits(result, value)))
}

/// Returns the result of `cvt` between integers (9.7.9.21); `None` if its form is not modelled.
pub(super) fn converted(form: &InstructionForm<'_>, bits: u64) -> Option<u64> {
    let (saturates, into) = match form.others.as_slice() {
        [into] => (false, into),
        [".sat", into] => (true, into),
        _ => return None,
    };
    let (from, to) = (form.ty?, ScalarType::from_keyword(into)?);
    if form.space.is_some() || form.lanes.is_some() || !is_integer(to) || !is_integer(from) {
        return None;
    }
    Some(if saturates { saturated(from, to, bits) } else { low_bits(to, extended(from, bits)) })
}

/// Clamps a number of type `from` to the range of type `to` (9.7.9.21).
fn saturated(from: ScalarType, to: ScalarType, bits: u64) -> u64 {
    let value = match from.kind() {
        TypeKind::Signed => i128::from(sign_extended(from, bits)),
        _ => i128::from(low_bits(from, bits)),
    };
    let width = 8 * to.bytes();
    let (least, greatest) = match to.kind() {
        TypeKind::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, (1i128 << width) - 1),
    };
    low_bits(to, value.clamp(least, greatest) as u64)
}

/// Returns the type that `set` writes and the bits that it writes where the comparison holds (9.7.6.1).
pub(super) fn truth_of_set(result: &str) -> Option<(ScalarType, u32)> {
    match ScalarType::from_keyword(result)? {
        ty @ (ScalarType::U32 | ScalarType::S32) => Some((ty, u32::MAX)),
        ty @ ScalarType::F32 => Some((ty, 1f32.to_bits())),
        _ => None,
    }
}

/// Returns what an instruction that is always executed computes from integers (9.7): `None` if that is not modelled,
/// not defined, or takes more than these sources.
pub fn integer_result(instruction: &Instruction, sources: &[u64]) -> Option<u64> {
    let form = InstructionForm::decode(instruction);
    if form.space.is_some() || form.lanes.is_some() || form.ty?.kind() == TypeKind::Float {
        return None;
    }
    match (form.opcode, sources) {
        (Opcode::Mov, &[source]) => Some(low_bits(form.ty?, source)),
        // A register that is wider than the type holds the sign as well.
        (Opcode::Cvt, &[source]) => {
            let to = operand_type(&form, 0)?;
            converted(&form, source).map(|bits| if to.bytes() < 4 { extended(to, bits) } else { bits })
        }
        (Opcode::Setp, &[a, b]) => match form.others.as_slice() {
            [comparison] => compared(comparison, form.ty?, a, b).map(u64::from),
            _ => None,
        },
        (Opcode::Set, &[a, b]) => match form.others.as_slice() {
            [comparison, result] => {
                let (_, truth) = truth_of_set(result)?;
                compared(comparison, form.ty?, a, b).map(|holds| if holds { truth.into() } else { 0 })
            }
            _ => None,
        },
        (Opcode::Selp, &[a, b, condition]) => Some(low_bits(form.ty?, if condition != 0 { a } else { b })),
        _ => calculated(&form, sources)?,
    }
}

/// Returns the sources of a calculation, each extended from its type.
pub(super) fn extended_sources(form: &InstructionForm<'_>, values: &[u64]) -> Option<SmallVec<[u64; 5]>> {
    let sources = values.iter().enumerate();
    sources.map(|(nth, &value)| Some(extended(operand_type(form, nth + 1)?, value))).collect()
}

/// Whether the comparison of two numbers of a type holds; `None` if numbers of this type have no such comparison.
/// Comparisons with a NaN do not hold.
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
    if ty.kind() == TypeKind::Float && !lists(COMPARISONS, comparison) {
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
