//! Shapes of constant expressions.

use ptxsmith_oracle::{Evaluator, Rules, Stored, Trace};
use ptxsmith_syntax::{BinaryOp, Expr, Node, NodeKind, Number, ScalarType, Visit, read_number};

use super::Shaped;

/// A division or remainder by an integer zero or by `0.0`, whatever the left operand is. In a statement that is not understood
/// the divisor is one number.
pub fn divides_by_zero(module: &Shaped<'_>, by: BinaryOp) -> bool {
    let mut divisors = Divisors { by, version: module.version().unwrap_or_default(), has_zero: false };
    divisors.module(module);
    divisors.has_zero
        || module.unread().any(|unread| {
            unread.tokens.windows(2).any(|pair| pair[0].text == by.symbol() && is_zero_number(&pair[1].text))
        })
}

/// Whether a word begins with a number that is zero; `.0` is one for ptxas.
fn is_zero_number(word: &str) -> bool {
    let whole = word.strip_prefix('.').map(|fraction| format!("0.{fraction}"));
    let word = whole.as_deref().unwrap_or(word);
    let starts = (1..=word.len()).rev().filter_map(|end| word.get(..end));
    match starts.map(read_number).find(Option::is_some).flatten() {
        // ptxas counts modulo 2^64.
        Some(Number::Integer { wrapped, .. }) => wrapped == 0,
        Some(Number::Float(value)) => value.to_bits() == 0,
        _ => false,
    }
}

struct Divisors {
    by: BinaryOp,
    version: (u32, u32),
    has_zero: bool,
}

impl<'m> Visit<'m> for Divisors {
    fn expr(&mut self, expr: &'m Expr) {
        let divisors = expr.nodes().iter().filter_map(|node| match node.kind {
            NodeKind::Binary(op, _, divisor) if op == self.by => Some(expr.part(divisor)),
            _ => None,
        });
        self.has_zero |= divisors.into_iter().any(|divisor| {
            let number = match divisor.nodes() {
                [Node { kind: NodeKind::Number(word), .. }] => is_zero_number(word),
                _ => false,
            };
            number || is_zero(&divisor, self.version)
        });
    }
}

/// A division of the least number of `.s64` by -1.
pub fn quotient_overflows(module: &Shaped<'_>) -> bool {
    let mut quotients = Quotients { version: module.version().unwrap_or_default(), overflow: false };
    quotients.module(module);
    quotients.overflow
}

struct Quotients {
    version: (u32, u32),
    overflow: bool,
}

impl<'m> Visit<'m> for Quotients {
    fn expr(&mut self, expr: &'m Expr) {
        let rules = Rules::default();
        let is = |part: u32, bits: u64| {
            let mut evaluator = Evaluator::new(&rules, self.version);
            let stored = evaluator.store(&expr.part(part), ScalarType::S64, &mut Trace::default());
            matches!(stored, Ok(Stored::Bits(found)) if found == bits)
        };
        self.overflow |= expr.nodes().iter().any(|node| {
            matches!(node.kind, NodeKind::Binary(BinaryOp::Div, left, right) if is(left, 1 << 63) && is(right, u64::MAX))
        });
    }
}

/// Whether all bits of a value are zero: -0.0 is none.
fn is_zero(expr: &Expr, version: (u32, u32)) -> bool {
    let rules = Rules::default();
    let mut evaluator = Evaluator::new(&rules, version);
    [ScalarType::U64, ScalarType::F64]
        .into_iter()
        .any(|ty| matches!(evaluator.store(expr, ty, &mut Trace::default()), Ok(Stored::Bits(0))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::module;

    #[test]
    fn zero_of_either_kind_divides() {
        let has = |value: &str, by| divides_by_zero(&module(&format!(".global .s32 a = {value};")), by);
        for value in ["1 % 0", "0. % 0.", "1.0 % 0", "1 % (0.0 + 0.0)", "2 + 1.5 % (1 - 1)"] {
            assert!(has(value, BinaryOp::Rem) && !has(value, BinaryOp::Div), "{value}");
        }
        for value in ["1 % 2", "1 % 0.5", "1 % -0.0", "0.0 % 1", "a % 1"] {
            assert!(!has(value, BinaryOp::Rem), "{value}");
        }
        assert!(has("1 / 0.0", BinaryOp::Div));
        assert!(has("1 / 18446744073709551616", BinaryOp::Div));
        assert!(has("{1 / .0 2 }", BinaryOp::Div) && !has("{1 / .5 2 }", BinaryOp::Div));
        assert!(has("x = 7U % 0U", BinaryOp::Rem));
        assert!(has("0 && 1 / 0.u64", BinaryOp::Div));
        assert!(!has("x = 7U % 1U", BinaryOp::Rem) && !has("x = 7U % 0U", BinaryOp::Div));
    }

    #[test]
    fn the_least_number_by_minus_one_overflows() {
        let does = |text: &str| quotient_overflows(&module(text));
        assert!(does(".s32 a = (-9223372036854775807 - 1) / -1;"));
        assert!(does(".global .s64 a = 1 + 9223372036854775808 / ~0;"));
        assert!(!does(".global .s64 a = -9223372036854775807 / -1;"));
        assert!(!does(".global .s64 a = -9223372036854775808 / 1;"));
    }
}
