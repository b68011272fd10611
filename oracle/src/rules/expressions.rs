//! The rules of constant expressions (4.5, 5.4.4).

use ptxsmith_syntax::{BinaryOp, Cast, ScalarType, UnaryOp};

use super::{
    entry::entries,
    specification::{cast, infix, number, prefix, store, ternary, warp_size},
};
use crate::{
    address::{self, Version},
    step::{Ruled, Step, Stored},
    value::Value,
};

entries! {
    /// Evaluates a number literal, given as ASCII text.
    Number(step: &mut Step<'_>, text: &[u8]) -> Ruled<Value>;
    /// Evaluates `WARP_SZ`.
    WarpSize(step: &mut Step<'_>) -> Ruled<Value>;
    /// Applies a prefix operator or a cast to its operand.
    Prefix(step: &mut Step<'_>, operand: Value) -> Ruled<Value>;
    /// Applies an infix operator to its operands.
    Infix(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value>;
    /// Applies `?:` to its operands.
    Ternary(step: &mut Step<'_>, condition: Value, then: Value, otherwise: Value) -> Ruled<Value>;
    /// Returns the precedence of an infix operator (higher binds tighter), and whether operators of equal precedence
    /// group from the right (4.5.4).
    Grouping(op: BinaryOp) -> (u8, bool);
    /// Applies `mask()` to its operand, in modules of this `.version`.
    Mask(step: &mut Step<'_>, version: Version, mask: &str, operand: Value) -> Ruled<Value>;
    /// Converts a value to the type of the variable.
    Store(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored>;
}

impl Grouping {
    /// Whether operators may be grouped differently from the parsed tree.
    pub(crate) fn is_changed(&self) -> bool {
        self.changes[0].is_some()
    }
}

/// The rules of constant expressions.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct ExpressionRules {
    pub number: Number,
    pub warp_size: WarpSize,
    /// Indexed by [`UnaryOp`].
    pub prefix: [Prefix; UnaryOp::ALL.len()],
    /// Indexed by [`Cast`].
    pub cast: [Prefix; Cast::ALL.len()],
    /// Indexed by [`BinaryOp`].
    pub infix: [Infix; BinaryOp::ALL.len()],
    pub ternary: Ternary,
    pub grouping: Grouping,
    pub mask: Mask,
    pub store: Store,
}

/// Builds the array of entries of an operator set, in the order of its `ALL` table.
macro_rules! by_operator {
    ($operator:ident, $entry:ident, $rule:ident) => {{
        let mut table = [$entry::new($rule($operator::ALL[0])); $operator::ALL.len()];
        let mut at = 1;
        while at < table.len() {
            table[$operator::ALL[at] as usize] = $entry::new($rule($operator::ALL[at]));
            at += 1;
        }
        table
    }};
}

impl ExpressionRules {
    pub(super) const SPECIFICATION: ExpressionRules = ExpressionRules {
        number: Number::new(number),
        warp_size: WarpSize::new(warp_size),
        prefix: by_operator!(UnaryOp, Prefix, prefix),
        cast: by_operator!(Cast, Prefix, cast),
        infix: by_operator!(BinaryOp, Infix, infix),
        ternary: Ternary::new(ternary),
        grouping: Grouping::new(|op| (op.precedence(), false)),
        mask: Mask::new(address::mask),
        store: Store::new(store),
    };
}
