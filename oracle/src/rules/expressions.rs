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
    /// What a number as it is written means, in ASCII.
    Number(step: &mut Step<'_>, text: &[u8]) -> Ruled<Value>;
    /// What `WARP_SZ` means.
    WarpSize(step: &mut Step<'_>) -> Ruled<Value>;
    /// What a prefix operator or a cast makes of its operand.
    Prefix(step: &mut Step<'_>, operand: Value) -> Ruled<Value>;
    /// What an infix operator makes of its operands.
    Infix(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value>;
    /// What `?:` makes of its operands.
    Ternary(step: &mut Step<'_>, condition: Value, then: Value, otherwise: Value) -> Ruled<Value>;
    /// How tightly an infix operator binds, higher tighter, and whether equal ones group from the right (4.5.4).
    Grouping(op: BinaryOp) -> (u8, bool);
    /// What a mask makes of its operand, for modules of this `.version`.
    Mask(step: &mut Step<'_>, version: Version, mask: &str, operand: Value) -> Ruled<Value>;
    /// Conversion of a value to the type of the variable.
    Store(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored>;
}

impl Grouping {
    /// Whether operators may be grouped otherwise than they were parsed.
    pub(crate) fn is_changed(&self) -> bool {
        self.changes[0].is_some()
    }
}

/// The rules of constant expressions.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "an entry is described at its type")]
pub struct Expressions {
    pub number: Number,
    pub warp_size: WarpSize,
    /// By [`UnaryOp`].
    pub prefix: [Prefix; UnaryOp::ALL.len()],
    /// By [`Cast`].
    pub cast: [Prefix; Cast::ALL.len()],
    /// By [`BinaryOp`].
    pub infix: [Infix; BinaryOp::ALL.len()],
    pub ternary: Ternary,
    pub grouping: Grouping,
    pub mask: Mask,
    pub store: Store,
}

/// The entries of all operators, in the order of their table.
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

impl Expressions {
    pub(super) const SPECIFICATION: Expressions = Expressions {
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
