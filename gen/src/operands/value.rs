//! Values that kernels use.

use ptxsmith_syntax::{BinaryOp, Expr, Initializer, ScalarType, TypeKind, UnaryOp};

use crate::{draft::Draft, number::add_signed};

/// A constant expression of this value: a literal in some base, or a little arithmetic around one.
pub(crate) fn spelled(d: &mut Draft<'_, '_>, value: i64) -> Expr {
    let form = d.byte();
    d.expression(|d| {
        let magnitude = value.unsigned_abs();
        match form {
            // `(a + b)`, `(a - b)`: in parentheses, since what stands around them binds as it likes.
            200..=219 if (0..1 << 30).contains(&value) => {
                let part = d.below(1 + magnitude.min(200) as usize) as u64;
                add_signed(d, magnitude - part);
                add_signed(d, part);
                d.infix(BinaryOp::Add);
                d.paren();
            }
            220..=239 if value.abs() < 1 << 30 => {
                let more = u64::from(d.byte());
                add_signed(d, magnitude + more);
                add_signed(d, more);
                d.infix(BinaryOp::Sub);
                d.paren();
                if value < 0 {
                    d.unary(UnaryOp::Minus);
                }
            }
            240.. if value > 0 && magnitude.is_power_of_two() => {
                add_signed(d, 1);
                add_signed(d, u64::from(magnitude.ilog2()));
                d.infix(BinaryOp::Shl);
                d.paren();
            }
            _ => {
                add_signed(d, magnitude);
                if value < 0 {
                    d.unary(UnaryOp::Minus);
                }
            }
        }
    })
}

/// A random value of a type, as a literal, and for floats as bits.
pub(crate) fn random(d: &mut Draft<'_, '_>, ty: ScalarType) -> Expr {
    let bits = d.word();
    match ty {
        ScalarType::F32 => Expr::number(format!("0f{:08x}", bits as u32)),
        ScalarType::F64 => Expr::number(format!("0d{bits:016x}")),
        _ => {
            let size = 8 * ty.size().unwrap_or(8) as u32;
            let bits = bits >> (64 - size);
            let negative = ty.kind() == TypeKind::Signed && bits >> (size - 1) & 1 == 1;
            let magnitude = if negative { bits.wrapping_neg() & (u64::MAX >> (64 - size)) } else { bits };
            d.expression(|d| {
                add_signed(d, magnitude);
                if negative {
                    d.unary(UnaryOp::Minus);
                }
            })
        }
    }
}

/// A list of random values, of so many rows where there are rows.
pub(crate) fn list(d: &mut Draft<'_, '_>, ty: ScalarType, extents: &[u64]) -> Initializer {
    match extents {
        [] => Initializer::Value(random(d, ty)),
        [extent, inner @ ..] => Initializer::list((0..*extent).map(|_| list(d, ty, inner)).collect()),
    }
}
