//! Plausible wrong rules, each a change to a single entry of the rules.
//!
//! No implementation is known to follow any of them. They have two uses. A new difference that a wrong rule
//! predicts byte for byte is named after it ([`Difference::suspected`](crate::Difference::suspected)), so
//! that many programs with one cause become one finding. And the power of the generator is measured by how
//! soon its programs tell each wrong rule from the right one.

mod operands;

use ptxsmith_oracle::{Clause, Integer, Ruled, Rules, Step, Stored, SymbolKind, Value, narrow, rules};
use ptxsmith_syntax::{BinaryOp, Cast, Number, Radix, ScalarType, TypeKind, UnaryOp, read_number};

/// A plausible wrong rule.
#[derive(Clone, Copy)]
pub struct HypotheticalRule {
    /// Stable id, stored in findings.
    pub id: &'static str,
    /// The wrong rule in one line.
    pub title: &'static str,
    /// The clause that the rule breaks.
    pub clause: Clause,
    /// The change of the rules.
    pub change: fn(&mut Rules),
}

fn integer(value: Value, change: impl FnOnce(Integer) -> Integer) -> Value {
    match value {
        Value::Integer(value) => Value::Integer(change(value)),
        other => other,
    }
}

fn as_signed(value: Value) -> Value {
    integer(value, |value| Integer { signed: true, ..value })
}

fn as_unsigned(value: Value) -> Value {
    integer(value, |value| Integer { signed: false, ..value })
}

fn float(value: Value, change: impl FnOnce(f64) -> f64) -> Value {
    match value {
        Value::Float(value) => Value::Float(change(value)),
        other => other,
    }
}

/// Defines a hypothetical rule that changes any rule.
macro_rules! rule {
    ($id:literal, $title:literal, $clause:ident, $change:expr) => {
        HypotheticalRule { id: $id, title: $title, clause: Clause::$clause, change: $change }
    };
}

/// Defines a hypothetical rule that changes the rule of an infix operator.
macro_rules! infix {
    ($id:literal, $title:literal, $clause:ident, $op:ident, |$next:ident, $step:ident, $a:ident, $b:ident| $body:expr) => {
        rule!($id, $title, $clause, |rules| {
            let operator = &mut rules.expressions.infix[BinaryOp::$op as usize];
            operator.change(|$next, $step, $a, $b| $body);
        })
    };
}

/// Defines a hypothetical rule that changes the rule of a prefix operator.
macro_rules! prefix {
    ($id:literal, $title:literal, $clause:ident, $op:ident, |$next:ident, $step:ident, $a:ident| $body:expr) => {
        rule!($id, $title, $clause, |rules| {
            rules.expressions.prefix[UnaryOp::$op as usize].change(|$next, $step, $a| $body);
        })
    };
}

/// Defines a hypothetical rule that gives one infix operator the precedence of another.
macro_rules! as_tight {
    ($id:literal, $title:literal, $op:ident as $other:ident) => {
        rule!($id, $title, Precedence, |rules| {
            let grouping = &mut rules.expressions.grouping;
            grouping.change(|next, op| next.apply(if op == BinaryOp::$op { BinaryOp::$other } else { op }));
        })
    };
}

/// Applies another operator under the rules of the specification.
fn binary(op: BinaryOp, step: &mut Step<'_>, a: Value, b: Value) -> Ruled<Value> {
    Rules::default().expressions.infix[op as usize].apply(step, a, b)
}

fn unary(op: UnaryOp, step: &mut Step<'_>, a: Value) -> Ruled<Value> {
    Rules::default().expressions.prefix[op as usize].apply(step, a)
}

fn number(next: &rules::Number, step: &mut Step<'_>, text: impl AsRef<[u8]>) -> Ruled<Value> {
    next.apply(step, text.as_ref())
}

/// Returns the text of a number as a string.
fn spelled(text: &[u8]) -> &str {
    std::str::from_utf8(text).expect("numbers are spelled in ASCII")
}

/// Applies `of` if both values are integers, and the next rule otherwise.
fn of_two(
    next: &rules::Infix,
    step: &mut Step<'_>,
    a: Value,
    b: Value,
    of: impl FnOnce(Integer, Integer) -> Integer,
) -> Ruled<Value> {
    match (a, b) {
        (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(of(x, y))),
        _ => next.apply(step, a, b),
    }
}

fn low_32(value: Value) -> Value {
    integer(value, |value| Integer { bits: value.bits & 0xffff_ffff, ..value })
}

pub use operands::OPERANDS;

/// Returns all plausible wrong rules.
pub fn all() -> impl Iterator<Item = &'static HypotheticalRule> {
    HYPOTHETICAL_RULES.iter().chain(OPERANDS)
}

/// The plausible wrong rules about data.
#[rustfmt::skip]
pub const HYPOTHETICAL_RULES: &[HypotheticalRule] = &[
    // Literals
    rule!("large-literals-signed", "literals of 2^63 and more are signed", LiteralUnsignedByMagnitude, |r| r.expressions.number.change(|next, s, t| Ok(as_signed_unless_suffixed(number(next, s, t)?, t)))),
    rule!("suffix-ignored", "the suffix U means nothing", LiteralUnsignedBySuffix, |r| r.expressions.number.change(|next, s, t| number(next, s, t.strip_suffix(b"U").unwrap_or(t)))),
    rule!("octal-as-decimal", "octal numbers are decimal", LiteralOctal, |r| r.expressions.number.change(octal_as_decimal)),
    rule!("binary-loses-first-bit", "binary numbers lose their first bit", LiteralBinary, |r| r.expressions.number.change(|next, s, t| Ok(if radix(t) == Some(Radix::Binary) { integer(number(next, s, t)?, without_first_bit) } else { number(next, s, t)? }))),
    rule!("upper-case-prefix-ignored", "the prefix 0X is none", LiteralHexadecimal, |r| r.expressions.number.change(|next, s, t| number(next, s, spelled(t).replace("0X", "0")))),
    rule!("decimal-read-as-single", "decimal floats are read in single precision", FloatDecimal, |r| r.expressions.number.change(|next, s, t| Ok(if t.starts_with(b"0d") || t.starts_with(b"0D") { number(next, s, t)? } else { float(number(next, s, t)?, |f| f64::from(f as f32)) }))),
    rule!("exponent-sign-ignored", "the sign of an exponent is ignored", FloatExponent, |r| r.expressions.number.change(|next, s, t| if radix(t).is_none() && !t.starts_with(b"0d") && !t.starts_with(b"0D") { number(next, s, spelled(t).replace("e-", "e").replace("E-", "E")) } else { number(next, s, t) })),
    rule!("double-bits-swapped", "the digits of 0d are in another byte order", FloatDoubleBits, |r| r.expressions.number.change(|next, s, t| Ok(if t.starts_with(b"0d") { float(number(next, s, t)?, |f| f64::from_bits(f.to_bits().swap_bytes())) } else { number(next, s, t)? }))),
    rule!("warp-size-64", "WARP_SZ is 64", WarpSize, |r| r.expressions.warp_size.change(|_, _| Ok(Value::Integer(Integer::signed(64))))),
    // Prefix operators and casts
    prefix!("minus-signed", "- makes its operand signed", PlusMinusKeepType, Minus, |next, s, a| Ok(as_signed(next.apply(s, a)?))),
    prefix!("plus-signed", "+ makes its operand signed", PlusMinusKeepType, Plus, |next, s, a| Ok(as_signed(next.apply(s, a)?))),
    prefix!("minus-keeps-zero", "- of a float keeps the sign of zero", FloatUnary, Minus, |next, s, a| Ok(float(next.apply(s, a)?, |f| f + 0.0))),
    prefix!("not-complements", "! complements", NotSigned, Not, |_next, s, a| unary(UnaryOp::Complement, s, a)),
    prefix!("not-unsigned", "! is unsigned", NotSigned, Not, |next, s, a| Ok(as_unsigned(next.apply(s, a)?))),
    prefix!("complement-keeps-type", "~ keeps the type of its operand", ComplementUnsigned, Complement, |next, s, a| Ok(match a { Value::Integer(x) => Value::Integer(Integer { bits: !x.bits, ..x }), other => next.apply(s, other)? })),
    rule!("cast-s64-ignored", "(.s64) does nothing", CastS64, |r| r.expressions.cast[Cast::S64 as usize].change(|_, _, a| Ok(a))),
    rule!("cast-u64-ignored", "(.u64) does nothing", CastU64, |r| r.expressions.cast[Cast::U64 as usize].change(|_, _, a| Ok(a))),
    rule!("cast-s64-from-32-bits", "(.s64) extends the sign of 32 bits", CastS64, |r| r.expressions.cast[Cast::S64 as usize].change(|next, s, a| Ok(integer(next.apply(s, a)?, |x| Integer { bits: x.bits as i32 as u64, ..x })))),
    // Arithmetic
    infix!("product-signed", "a product is signed", Multiplication, Mul, |next, s, a, b| Ok(as_signed(next.apply(s, a, b)?))),
    infix!("product-saturates", "a product saturates", Multiplication, Mul, |next, s, a, b| of_two(next, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_mul(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_mul(y.bits)) })),
    infix!("division-rounds-down", "division rounds down", Division, Div, |next, s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed(floor(x.bits as i64, y.bits as i64)))), _ => next.apply(s, a, b) }),
    infix!("division-signed", "division is signed", Division, Div, |next, s, a, b| next.apply(s, as_signed(a), as_signed(b))),
    infix!("division-unsigned", "division is unsigned", Division, Div, |next, s, a, b| next.apply(s, as_unsigned(a), as_unsigned(b))),
    infix!("remainder-of-signed", "a remainder has the sign of the dividend", RemUnsigned, Rem, |next, s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed((x.bits as i64).wrapping_rem(y.bits as i64)))), _ => next.apply(s, a, b) }),
    infix!("sum-type-of-left", "a sum has the type of its left operand", Addition, Add, |next, s, a, b| of_two(next, s, a, b, |x, y| Integer { bits: x.bits.wrapping_add(y.bits), ..x })),
    infix!("sum-saturates", "a sum saturates", Addition, Add, |next, s, a, b| of_two(next, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_add(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_add(y.bits)) })),
    infix!("difference-type-of-right", "a difference has the type of its right operand", Subtraction, Sub, |next, s, a, b| of_two(next, s, a, b, |x, y| Integer { bits: x.bits.wrapping_sub(y.bits), ..y })),
    infix!("difference-signed", "a difference of unsigned numbers is signed", Subtraction, Sub, |next, s, a, b| Ok(as_signed(next.apply(s, a, b)?))),
    infix!("sum-in-single", "floats are added in single precision", FloatArithmetic, Add, |next, s, a, b| Ok(float(next.apply(s, a, b)?, |f| f64::from(f as f32)))),
    infix!("product-in-single", "floats are multiplied in single precision", FloatArithmetic, Mul, |next, s, a, b| Ok(float(next.apply(s, a, b)?, |f| f64::from(f as f32)))),
    // Shifts
    infix!("shift-right-logical", ">> is logical", ShiftRightArithmetic, Shr, |next, s, a, b| match (a, next.apply(s, as_unsigned(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!("shift-right-arithmetic", ">> is arithmetic", ShiftRightLogical, Shr, |next, s, a, b| match (a, next.apply(s, as_signed(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!("shift-right-converted", ">> is converted with its count", ShiftResultType, Shr, |next, s, a, b| Ok(with_sign_of(next.apply(s, a, b)?, a, b))),
    infix!("shift-left-converted", "<< is converted with its count", ShiftResultType, Shl, |next, s, a, b| Ok(with_sign_of(next.apply(s, a, b)?, a, b))),
    infix!("shift-left-five-bits", "<< uses five bits of its count", ShiftLeft, Shl, |next, s, a, b| next.apply(s, a, integer(b, |y| Integer { bits: y.bits & 31, ..y }))),
    infix!("shift-left-negative-count", "a negative count of << shifts right", ShiftCountUnsigned, Shl, |next, s, a, b| match b { Value::Integer(y) if y.signed && (y.bits as i64) < 0 => binary(BinaryOp::Shr, s, a, Value::Integer(Integer::signed((y.bits as i64).wrapping_neg()))), _ => next.apply(s, a, b) }),
    // Comparisons
    infix!("less-signed", "< compares signed numbers", Less, Lt, |next, s, a, b| next.apply(s, as_signed(a), as_signed(b))),
    infix!("greater-unsigned", "> compares unsigned numbers", Greater, Gt, |next, s, a, b| next.apply(s, as_unsigned(a), as_unsigned(b))),
    infix!("less-equal-is-less", "<= is <", LessEqual, Le, |_next, s, a, b| binary(BinaryOp::Lt, s, a, b)),
    infix!("greater-equal-unsigned", ">= is unsigned", ComparisonSignedResult, Ge, |next, s, a, b| Ok(as_unsigned(next.apply(s, a, b)?))),
    infix!("equal-32-bits", "== compares 32 bits", Equal, Eq, |next, s, a, b| next.apply(s, low_32(a), low_32(b))),
    infix!("not-equal-nan", "!= is false for numbers that are none", FloatEquality, Ne, |next, s, a, b| match (a.numeric(), b.numeric()) { (Value::Float(x), Value::Float(y)) if x.is_nan() || y.is_nan() => Ok(Value::truth(false)), _ => next.apply(s, a, b) }),
    // Bits and truth
    infix!("and-signed", "& is signed", BitwiseAnd, And, |next, s, a, b| Ok(as_signed(next.apply(s, a, b)?))),
    infix!("xor-is-or", "^ is |", BitwiseXor, Xor, |_next, s, a, b| binary(BinaryOp::Or, s, a, b)),
    infix!("or-type-of-left", "| has the type of its left operand", BitwiseOr, Or, |next, s, a, b| Ok(match (a, next.apply(s, a, b)?) { (Value::Integer(x), Value::Integer(y)) => Value::Integer(Integer { signed: x.signed, ..y }), (_, other) => other })),
    infix!("logical-and-is-bitwise", "&& is &", LogicalAnd, LogicalAnd, |_next, s, a, b| binary(BinaryOp::And, s, a, b)),
    infix!("logical-or-unsigned", "|| is unsigned", LogicalSignedResult, LogicalOr, |next, s, a, b| Ok(as_unsigned(next.apply(s, a, b)?))),
    infix!("logical-or-32-bits", "|| looks at 32 bits", LogicalOr, LogicalOr, |next, s, a, b| next.apply(s, low_32(a), low_32(b))),
    rule!("ternary-condition-32-bits", "?: looks at 32 bits of its condition", TernarySelection, |r| r.expressions.ternary.change(|next, s, c, a, b| next.apply(s, low_32(c), a, b))),
    rule!("ternary-negative-false", "?: takes a negative condition for false", TernarySelection, |r| r.expressions.ternary.change(|next, s, c, a, b| { let c = integer(c, |c| if c.signed && (c.bits as i64) < 0 { Integer::signed(0) } else { c }); next.apply(s, c, a, b) })),
    // Grouping
    as_tight!("multiply-loose", "* binds as + does", Mul as Add),
    as_tight!("remainder-loose", "% binds as + does", Rem as Add),
    as_tight!("add-loose", "+ binds as << does", Add as Shl),
    as_tight!("shift-loose", "<< binds as < does", Shl as Lt),
    as_tight!("less-loose", "< binds as == does", Lt as Eq),
    as_tight!("and-tight", "& binds as == does", And as Eq),
    as_tight!("xor-tight", "^ binds as & does", Xor as And),
    as_tight!("or-tight", "| binds as ^ does", Or as Xor),
    as_tight!("logical-and-tight", "&& binds as | does", LogicalAnd as Or),
    as_tight!("logical-or-tight", "|| binds as && does", LogicalOr as LogicalAnd),
    rule!("minus-from-right", "+ and - group from the right", Associativity, |r| r.expressions.grouping.change(|next, op| (next.apply(op).0, matches!(op, BinaryOp::Add | BinaryOp::Sub)))),
    rule!("divide-from-right", "* / and % group from the right", Associativity, |r| r.expressions.grouping.change(|next, op| (next.apply(op).0, matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem)))),
    rule!("shift-from-right", "<< and >> group from the right", Associativity, |r| r.expressions.grouping.change(|next, op| (next.apply(op).0, matches!(op, BinaryOp::Shl | BinaryOp::Shr)))),
    // Conversion to the type of the variable
    rule!("narrowing-saturates", "narrowing saturates", IntegerNarrowing, |r| r.expressions.store.change(|next, s, v, t| Ok(match (v, next.apply(s, v, t)?) { (Value::Integer(x), Stored::Bits(_)) if t.size() == Some(4) && t.kind() == TypeKind::Unsigned => Stored::Bits(x.bits.min(u32::MAX.into())), (_, stored) => stored }))),
    rule!("narrowing-cuts-floats", "floats are cut instead of rounded", FloatNarrowing, |r| r.expressions.store.change(|next, s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f.is_finite() => { next.apply(s, v, t)?; Stored::Bits(cut(f).into()) } _ => next.apply(s, v, t)? }))),
    rule!("denormals-flushed", "denormal singles are zero", FloatNarrowing, |r| r.expressions.store.change(|next, s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f32::from_bits(narrow(f)).is_subnormal() => { next.apply(s, v, t)?; Stored::Bits(0) } _ => next.apply(s, v, t)? }))),
    rule!("bits-of-double-cut", "a bit-size type takes the bits of a double only", FloatNarrowing, |r| r.expressions.store.change(|next, s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::B32) => { next.apply(s, v, t)?; Stored::Bits(f.to_bits()) } _ => next.apply(s, v, t)? }))),
    // Placement
    rule!("rows-as-long-as-first", "rows lie as far apart as the first is long", IncompleteInner, |r| r.layout.place.change(|next, at| if at.stride > 1 && at.index > 0 { at.start + at.index * (at.written / at.index).max(1) } else { next.apply(at) })),
    // Addresses
    rule!("generic-forgotten", "generic() is forgotten", Generic, |r| r.layout.address_of.change(|next, s, v, n, a, b| next.apply(s, v, n, a, b).map(|_| false))),
    rule!("address-always-generic", "every address is generic", StateSpaceAddress, |r| r.layout.address_of.change(|next, s, v, n, a, b| next.apply(s, v, n, a, b).map(|generic| generic || matches!(n, SymbolKind::Variable(_))))),
    infix!("offset-counts-words", "an offset counts words", AddressOffset, Add, |next, s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => next.apply(s, a, Value::Integer(Integer { bits: y.bits.wrapping_mul(4), ..y })), _ => next.apply(s, a, b) }),
    infix!("offset-32-bits", "an offset has 32 bits", AddressOffset, Add, |next, s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => next.apply(s, a, Value::Integer(Integer { bits: y.bits as i32 as u64, ..y })), _ => next.apply(s, a, b) }),
    rule!("mask-from-other-end", "a mask counts bytes from the other end", Mask, |r| r.expressions.mask.change(|next, s, v, m, o| Ok(match next.apply(s, v, m, o)? { Value::AddressByte(a, byte) => Value::AddressByte(a, 7 - byte), other => other }))),
    rule!("mask-constant-unshifted", "a mask of a constant does not shift", MaskConstant, |r| r.expressions.mask.change(|next, s, v, m, o| match (next.apply(s, v, m, o)?, o, read_number(m)) { (Value::Integer(_), Value::Integer(x), Some(Number::Integer { value: Some(m), .. })) => Ok(Value::Integer(Integer::unsigned(x.bits & m))), (other, ..) => Ok(other) })),
    rule!("numbered-from-1", "numbered names begin with 1", ParameterizedNames, |r| r.layout.numbered.change(|next, prefix, digits| next.apply(prefix, digits).filter(|nth| *nth > 0))),
];

fn radix(text: &[u8]) -> Option<Radix> {
    match read_number(text)? {
        Number::Integer { radix, .. } => Some(radix),
        _ => None,
    }
}

fn as_signed_unless_suffixed(value: Value, text: &[u8]) -> Value {
    if text.ends_with(b"U") { value } else { as_signed(value) }
}

fn octal_as_decimal(next: &rules::Number, step: &mut Step<'_>, text: &[u8]) -> Ruled<Value> {
    match radix(text) {
        Some(Radix::Octal) if spelled(text).trim_end_matches('U') != "0" => {
            number(next, step, spelled(text).trim_start_matches('0'))
        }
        _ => next.apply(step, text),
    }
}

fn without_first_bit(value: Integer) -> Integer {
    match value.bits.checked_ilog2() {
        Some(first) => Integer { bits: value.bits & !(1 << first), ..value },
        None => value,
    }
}

fn floor(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn with_sign_of(value: Value, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Integer(x), Value::Integer(y)) => {
            integer(value, |value| Integer { signed: x.signed && y.signed, ..value })
        }
        _ => value,
    }
}

/// Narrows a double to a single by rounding toward zero.
fn cut(value: f64) -> u32 {
    let nearest = narrow(value);
    if f64::from(f32::from_bits(nearest)).abs() > value.abs() { nearest - 1 } else { nearest }
}

#[cfg(test)]
mod tests;
