//! Random constants in the source of kernels.

use ptxsmith_syntax::{ScalarType, TypeKind};

use crate::{draft::Draft, number::spelled_signed};

/// Returns a constant expression with this value: a literal in any base, or a small sum, difference or shift. Binary
/// expressions are in parentheses, so that the result can be embedded in any expression.
pub(super) fn spelled(d: &mut Draft<'_, '_>, value: i64) -> String {
    let form = d.byte();
    let magnitude = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    match form {
        200..=219 if (0..1 << 30).contains(&value) => {
            let part = d.below(1 + magnitude.min(200) as usize) as u64;
            format!("({} + {})", spelled_signed(d, magnitude - part), spelled_signed(d, part))
        }
        220..=239 if value.abs() < 1 << 30 => {
            let more = u64::from(d.byte());
            format!("{sign}({} - {})", spelled_signed(d, magnitude + more), spelled_signed(d, more))
        }
        240.. if value > 0 && magnitude.is_power_of_two() => {
            format!("({} << {})", spelled_signed(d, 1), spelled_signed(d, magnitude.ilog2().into()))
        }
        _ => format!("{sign}{}", spelled_signed(d, magnitude)),
    }
}

/// Returns a random value of a type as a literal. Floats are written as bit patterns (`0f...`, `0d...`).
pub(super) fn random(d: &mut Draft<'_, '_>, ty: ScalarType) -> String {
    let bits = d.word();
    match ty {
        ScalarType::F32 => format!("0f{:08x}", bits as u32),
        ScalarType::F64 => format!("0d{bits:016x}"),
        _ => {
            let size = 8 * ty.bytes() as u32;
            let bits = bits >> (64 - size);
            let negative = ty.kind() == TypeKind::Signed && bits >> (size - 1) & 1 == 1;
            let magnitude = if negative { bits.wrapping_neg() & (u64::MAX >> (64 - size)) } else { bits };
            format!("{}{}", if negative { "-" } else { "" }, spelled_signed(d, magnitude))
        }
    }
}

/// Returns an initializer of random values, with nested braces for further dimensions.
pub(super) fn list(d: &mut Draft<'_, '_>, ty: ScalarType, extents: &[u64]) -> String {
    let [extent, inner @ ..] = extents else { return random(d, ty) };
    let values: Vec<String> = (0..*extent).map(|_| list(d, ty, inner)).collect();
    braces(&values)
}

/// Joins parts with commas and encloses them in braces.
pub(super) fn braces(parts: &[String]) -> String {
    format!("{{{}}}", parts.join(", "))
}
