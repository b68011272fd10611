//! Known deviations of declarations: dimensions and sizes, alignment, directives.

use ptxsmith_oracle::{Clause, Integer, RefusalClass, Ruled, Step, Stop, rules::Dimension};
use ptxsmith_syntax::Expr;

use super::entry::RuleChange;

/// The rules that listed deviations follow, and the crashes that rules predict, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    (
        "dimension-expression-refused",
        RuleChange::Rule(|rules| rules.layout.dimension.change(dimension_expression_refused)),
    ),
    (
        "size-modulo-2-64",
        RuleChange::Rule(|rules| {
            rules.layout.size.change(|_, extents, element| size_in_bits(extents, element))
        }),
    ),
];

fn dimension_expression_refused(
    next: &Dimension,
    step: &mut Step<'_>,
    dimension: &Expr,
    value: Integer,
) -> Ruled<Integer> {
    if dimension.nodes().len() > 1 {
        return Err(Stop::refused(RefusalClass::Dimension, Clause::Dimension, step.span));
    }
    next.apply(step, dimension, value)
}

/// Returns the bytes of an array, with the size counted in bits: the whole array modulo 2^64, each row below
/// the outermost dimension as a signed 32-bit number.
fn size_in_bits(extents: &[u64], element: u64) -> u64 {
    let Some((&outermost, inner)) = extents.split_first() else { return element };
    let mut bits = 8 * element as i64;
    for &extent in inner.iter().rev() {
        bits = i64::from(bits.wrapping_mul(extent as i64) as i32);
    }
    (bits as u64).wrapping_mul(outermost) / 8
}
