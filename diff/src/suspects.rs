//! Plausible wrong rules, each a single exchange in the table of the specification.
//!
//! No implementation is known to follow one. They serve twice: a new difference that one of them predicts to the byte is
//! named after it ([`Difference::suspected`](crate::Difference::suspected)), so that many programs with one cause become
//! one finding; and the power of the generator is measured by how soon it tells each from the right rule.

mod operands;

use ptxsmith_oracle::{
    AddressValue, Clause, Integer, Named, Placement, Readings, Ruled, Rules, Step, Stored, Value, Version,
    narrow,
};
use ptxsmith_syntax::{BinaryOp, Cast, Number, Radix, ScalarType, TypeKind, UnaryOp, read_number};

/// A plausible wrong rule.
#[derive(Clone, Copy)]
pub struct Suspect {
    /// Its stable name.
    pub id: &'static str,
    /// What is wrong, in a line.
    pub title: &'static str,
    /// The clause that it breaks.
    pub clause: Clause,
    /// The exchange.
    pub change: fn(&mut Rules),
}

fn right() -> Rules {
    Rules::specification(Readings::default())
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

/// Exchanges any rule.
macro_rules! rule {
    ($id:literal, $title:literal, $clause:ident, $change:expr) => {
        Suspect { id: $id, title: $title, clause: Clause::$clause, change: $change }
    };
}

/// Exchanges the rule of an infix operator.
macro_rules! infix {
    ($id:literal, $title:literal, $clause:ident, $op:ident, |$step:ident, $a:ident, $b:ident| $body:expr) => {
        rule!($id, $title, $clause, |rules| {
            rules.binary[BinaryOp::$op as usize] =
                |$step: &mut Step<'_>, $a: Value, $b: Value| -> Ruled<Value> { $body }
        })
    };
}

/// Exchanges the rule of a prefix operator.
macro_rules! prefix {
    ($id:literal, $title:literal, $clause:ident, $op:ident, |$step:ident, $a:ident| $body:expr) => {
        rule!($id, $title, $clause, |rules| {
            rules.unary[UnaryOp::$op as usize] = |$step: &mut Step<'_>, $a: Value| -> Ruled<Value> { $body }
        })
    };
}

/// Makes one infix operator bind as another does.
macro_rules! as_tight {
    ($id:literal, $title:literal, $op:ident as $other:ident) => {
        rule!($id, $title, Precedence, |rules| {
            rules.grouping =
                Some(|op| (if op == BinaryOp::$op { BinaryOp::$other } else { op }.precedence(), false));
        })
    };
}

fn binary(op: BinaryOp, step: &mut Step<'_>, a: Value, b: Value) -> Ruled<Value> {
    (right().binary[op as usize])(step, a, b)
}

fn unary(op: UnaryOp, step: &mut Step<'_>, a: Value) -> Ruled<Value> {
    (right().unary[op as usize])(step, a)
}

fn number(step: &mut Step<'_>, text: impl AsRef<[u8]>) -> Ruled<Value> {
    (right().number)(step, text.as_ref())
}

/// A number as text.
fn spelled(text: &[u8]) -> &str {
    std::str::from_utf8(text).expect("numbers are spelled in ASCII")
}

fn store(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    (right().store)(step, value, ty)
}

/// The value of two integers where both are; else the right rule.
fn of_two(
    op: BinaryOp,
    step: &mut Step<'_>,
    a: Value,
    b: Value,
    of: impl FnOnce(Integer, Integer) -> Integer,
) -> Ruled<Value> {
    match (a, b) {
        (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(of(x, y))),
        _ => binary(op, step, a, b),
    }
}

fn low_32(value: Value) -> Value {
    integer(value, |value| Integer { bits: value.bits & 0xffff_ffff, ..value })
}

pub use operands::OPERANDS;

/// Every plausible wrong rule that is looked for.
pub fn all() -> impl Iterator<Item = &'static Suspect> {
    SUSPECTS.iter().chain(OPERANDS)
}

/// Every plausible wrong rule of data.
#[rustfmt::skip]
pub const SUSPECTS: &[Suspect] = &[
    // Literals
    rule!("large-literals-signed", "literals of 2^63 and more are signed", LiteralUnsignedByMagnitude, |r| r.number = |s, t| Ok(as_signed_unless_suffixed(number(s, t)?, t))),
    rule!("suffix-ignored", "the suffix U means nothing", LiteralUnsignedBySuffix, |r| r.number = |s, t| number(s, t.strip_suffix(b"U").unwrap_or(t))),
    rule!("octal-as-decimal", "octal numbers are decimal", LiteralOctal, |r| r.number = octal_as_decimal),
    rule!("binary-loses-first-bit", "binary numbers lose their first bit", LiteralBinary, |r| r.number = |s, t| Ok(if radix(t) == Some(Radix::Binary) { integer(number(s, t)?, without_first_bit) } else { number(s, t)? })),
    rule!("upper-case-prefix-ignored", "the prefix 0X is none", LiteralHexadecimal, |r| r.number = |s, t| number(s, spelled(t).replace("0X", "0"))),
    rule!("decimal-read-as-single", "decimal floats are read in single precision", FloatDecimal, |r| r.number = |s, t| Ok(if t.starts_with(b"0d") || t.starts_with(b"0D") { number(s, t)? } else { float(number(s, t)?, |f| f64::from(f as f32)) })),
    rule!("exponent-sign-ignored", "the sign of an exponent is ignored", FloatExponent, |r| r.number = |s, t| if radix(t).is_none() && !t.starts_with(b"0d") && !t.starts_with(b"0D") { number(s, spelled(t).replace("e-", "e").replace("E-", "E")) } else { number(s, t) }),
    rule!("double-bits-swapped", "the digits of 0d are in another byte order", FloatDoubleBits, |r| r.number = |s, t| Ok(if t.starts_with(b"0d") { float(number(s, t)?, |f| f64::from_bits(f.to_bits().swap_bytes())) } else { number(s, t)? })),
    rule!("warp-size-64", "WARP_SZ is 64", WarpSize, |r| r.warp_size = |_| Ok(Value::Integer(Integer::signed(64)))),
    // Prefix operators and casts
    prefix!("minus-signed", "- makes its operand signed", PlusMinusKeepType, Minus, |s, a| Ok(as_signed(unary(UnaryOp::Minus, s, a)?))),
    prefix!("plus-signed", "+ makes its operand signed", PlusMinusKeepType, Plus, |s, a| Ok(as_signed(unary(UnaryOp::Plus, s, a)?))),
    prefix!("minus-keeps-zero", "- of a float keeps the sign of zero", FloatUnary, Minus, |s, a| Ok(float(unary(UnaryOp::Minus, s, a)?, |f| f + 0.0))),
    prefix!("not-complements", "! complements", NotSigned, Not, |s, a| unary(UnaryOp::Complement, s, a)),
    prefix!("not-unsigned", "! is unsigned", NotSigned, Not, |s, a| Ok(as_unsigned(unary(UnaryOp::Not, s, a)?))),
    prefix!("complement-keeps-type", "~ keeps the type of its operand", ComplementUnsigned, Complement, |s, a| Ok(match a { Value::Integer(x) => Value::Integer(Integer { bits: !x.bits, ..x }), other => unary(UnaryOp::Complement, s, other)? })),
    rule!("cast-s64-ignored", "(.s64) does nothing", CastS64, |r| r.cast[Cast::S64 as usize] = |_, a| Ok(a)),
    rule!("cast-u64-ignored", "(.u64) does nothing", CastU64, |r| r.cast[Cast::U64 as usize] = |_, a| Ok(a)),
    rule!("cast-s64-from-32-bits", "(.s64) extends the sign of 32 bits", CastS64, |r| r.cast[Cast::S64 as usize] = |s, a| Ok(integer((right().cast[Cast::S64 as usize])(s, a)?, |x| Integer { bits: x.bits as i32 as u64, ..x }))),
    // Arithmetic
    infix!("product-signed", "a product is signed", Multiplication, Mul, |s, a, b| Ok(as_signed(binary(BinaryOp::Mul, s, a, b)?))),
    infix!("product-saturates", "a product saturates", Multiplication, Mul, |s, a, b| of_two(BinaryOp::Mul, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_mul(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_mul(y.bits)) })),
    infix!("division-rounds-down", "division rounds down", Division, Div, |s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed(floor(x.bits as i64, y.bits as i64)))), _ => binary(BinaryOp::Div, s, a, b) }),
    infix!("division-signed", "division is signed", Division, Div, |s, a, b| binary(BinaryOp::Div, s, as_signed(a), as_signed(b))),
    infix!("division-unsigned", "division is unsigned", Division, Div, |s, a, b| binary(BinaryOp::Div, s, as_unsigned(a), as_unsigned(b))),
    infix!("remainder-of-signed", "a remainder has the sign of the dividend", RemUnsigned, Rem, |s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed((x.bits as i64).wrapping_rem(y.bits as i64)))), _ => binary(BinaryOp::Rem, s, a, b) }),
    infix!("sum-type-of-left", "a sum has the type of its left operand", Addition, Add, |s, a, b| of_two(BinaryOp::Add, s, a, b, |x, y| Integer { bits: x.bits.wrapping_add(y.bits), ..x })),
    infix!("sum-saturates", "a sum saturates", Addition, Add, |s, a, b| of_two(BinaryOp::Add, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_add(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_add(y.bits)) })),
    infix!("difference-type-of-right", "a difference has the type of its right operand", Subtraction, Sub, |s, a, b| of_two(BinaryOp::Sub, s, a, b, |x, y| Integer { bits: x.bits.wrapping_sub(y.bits), ..y })),
    infix!("difference-signed", "a difference of unsigned numbers is signed", Subtraction, Sub, |s, a, b| Ok(as_signed(binary(BinaryOp::Sub, s, a, b)?))),
    infix!("sum-in-single", "floats are added in single precision", FloatArithmetic, Add, |s, a, b| Ok(float(binary(BinaryOp::Add, s, a, b)?, |f| f64::from(f as f32)))),
    infix!("product-in-single", "floats are multiplied in single precision", FloatArithmetic, Mul, |s, a, b| Ok(float(binary(BinaryOp::Mul, s, a, b)?, |f| f64::from(f as f32)))),
    // Shifts
    infix!("shift-right-logical", ">> is logical", ShiftRightArithmetic, Shr, |s, a, b| match (a, binary(BinaryOp::Shr, s, as_unsigned(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!("shift-right-arithmetic", ">> is arithmetic", ShiftRightLogical, Shr, |s, a, b| match (a, binary(BinaryOp::Shr, s, as_signed(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!("shift-right-converted", ">> is converted with its count", ShiftResultType, Shr, |s, a, b| Ok(with_sign_of(binary(BinaryOp::Shr, s, a, b)?, a, b))),
    infix!("shift-left-converted", "<< is converted with its count", ShiftResultType, Shl, |s, a, b| Ok(with_sign_of(binary(BinaryOp::Shl, s, a, b)?, a, b))),
    infix!("shift-left-five-bits", "<< uses five bits of its count", ShiftLeft, Shl, |s, a, b| binary(BinaryOp::Shl, s, a, integer(b, |y| Integer { bits: y.bits & 31, ..y }))),
    infix!("shift-left-negative-count", "a negative count of << shifts right", ShiftCountUnsigned, Shl, |s, a, b| match b { Value::Integer(y) if y.signed && (y.bits as i64) < 0 => binary(BinaryOp::Shr, s, a, Value::Integer(Integer::signed((y.bits as i64).wrapping_neg()))), _ => binary(BinaryOp::Shl, s, a, b) }),
    // Comparisons
    infix!("less-signed", "< compares signed numbers", Less, Lt, |s, a, b| binary(BinaryOp::Lt, s, as_signed(a), as_signed(b))),
    infix!("greater-unsigned", "> compares unsigned numbers", Greater, Gt, |s, a, b| binary(BinaryOp::Gt, s, as_unsigned(a), as_unsigned(b))),
    infix!("less-equal-is-less", "<= is <", LessEqual, Le, |s, a, b| binary(BinaryOp::Lt, s, a, b)),
    infix!("greater-equal-unsigned", ">= is unsigned", ComparisonSignedResult, Ge, |s, a, b| Ok(as_unsigned(binary(BinaryOp::Ge, s, a, b)?))),
    infix!("equal-32-bits", "== compares 32 bits", Equal, Eq, |s, a, b| binary(BinaryOp::Eq, s, low_32(a), low_32(b))),
    infix!("not-equal-nan", "!= is false for numbers that are none", FloatEquality, Ne, |s, a, b| match (a.numeric(), b.numeric()) { (Value::Float(x), Value::Float(y)) if x.is_nan() || y.is_nan() => Ok(Value::truth(false)), _ => binary(BinaryOp::Ne, s, a, b) }),
    // Bits and truth
    infix!("and-signed", "& is signed", BitwiseAnd, And, |s, a, b| Ok(as_signed(binary(BinaryOp::And, s, a, b)?))),
    infix!("xor-is-or", "^ is |", BitwiseXor, Xor, |s, a, b| binary(BinaryOp::Or, s, a, b)),
    infix!("or-type-of-left", "| has the type of its left operand", BitwiseOr, Or, |s, a, b| Ok(match (a, binary(BinaryOp::Or, s, a, b)?) { (Value::Integer(x), Value::Integer(y)) => Value::Integer(Integer { signed: x.signed, ..y }), (_, other) => other })),
    infix!("logical-and-is-bitwise", "&& is &", LogicalAnd, LogicalAnd, |s, a, b| binary(BinaryOp::And, s, a, b)),
    infix!("logical-or-unsigned", "|| is unsigned", LogicalSignedResult, LogicalOr, |s, a, b| Ok(as_unsigned(binary(BinaryOp::LogicalOr, s, a, b)?))),
    infix!("logical-or-32-bits", "|| looks at 32 bits", LogicalOr, LogicalOr, |s, a, b| binary(BinaryOp::LogicalOr, s, low_32(a), low_32(b))),
    rule!("ternary-condition-32-bits", "?: looks at 32 bits of its condition", TernarySelection, |r| r.ternary = |s, c, a, b| (right().ternary)(s, low_32(c), a, b)),
    rule!("ternary-negative-false", "?: takes a negative condition for false", TernarySelection, |r| r.ternary = |s, c, a, b| { let c = integer(c, |c| if c.signed && (c.bits as i64) < 0 { Integer::signed(0) } else { c }); (right().ternary)(s, c, a, b) }),
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
    rule!("minus-from-right", "+ and - group from the right", Associativity, |r| r.grouping = Some(|op| (op.precedence(), matches!(op, BinaryOp::Add | BinaryOp::Sub)))),
    rule!("divide-from-right", "* / and % group from the right", Associativity, |r| r.grouping = Some(|op| (op.precedence(), matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem)))),
    rule!("shift-from-right", "<< and >> group from the right", Associativity, |r| r.grouping = Some(|op| (op.precedence(), matches!(op, BinaryOp::Shl | BinaryOp::Shr)))),
    // Conversion to the type of the variable
    rule!("narrowing-saturates", "narrowing saturates", IntegerNarrowing, |r| r.store = |s, v, t| Ok(match (v, store(s, v, t)?) { (Value::Integer(x), Stored::Bits(_)) if t.size() == Some(4) && t.kind() == TypeKind::Unsigned => Stored::Bits(x.bits.min(u32::MAX.into())), (_, stored) => stored })),
    rule!("narrowing-cuts-floats", "floats are cut instead of rounded", FloatNarrowing, |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f.is_finite() => { store(s, v, t)?; Stored::Bits(cut(f).into()) } _ => store(s, v, t)? })),
    rule!("denormals-flushed", "denormal singles are zero", FloatNarrowing, |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f32::from_bits(narrow(f)).is_subnormal() => { store(s, v, t)?; Stored::Bits(0) } _ => store(s, v, t)? })),
    rule!("bits-of-double-cut", "a bit-size type takes the bits of a double only", FloatNarrowing, |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::B32) => { store(s, v, t)?; Stored::Bits(f.to_bits()) } _ => store(s, v, t)? })),
    // Placement
    rule!("rows-as-long-as-first", "rows lie as far apart as the first is long", IncompleteInner, |r| r.place = |at: Placement| if at.stride > 1 && at.index > 0 { at.start + at.index * (at.written / at.index).max(1) } else { at.start + at.index * at.stride }),
    // Addresses
    rule!("generic-forgotten", "generic() is forgotten", Generic, |r| r.named = |s, v, n, a, b| named(s, v, n, a, b).map(|_| false)),
    rule!("address-always-generic", "every address is generic", StateSpaceAddress, |r| r.named = |s, v, n, a, b| named(s, v, n, a, b).map(|generic| generic || matches!(n, Named::Variable(_)))),
    infix!("offset-counts-words", "an offset counts words", AddressOffset, Add, |s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => binary(BinaryOp::Add, s, a, Value::Integer(Integer { bits: y.bits.wrapping_mul(4), ..y })), _ => binary(BinaryOp::Add, s, a, b) }),
    infix!("offset-32-bits", "an offset has 32 bits", AddressOffset, Add, |s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => binary(BinaryOp::Add, s, a, Value::Integer(Integer { bits: y.bits as i32 as u64, ..y })), _ => binary(BinaryOp::Add, s, a, b) }),
    rule!("mask-from-other-end", "a mask counts bytes from the other end", Mask, |r| r.mask = |s, v, m, o| Ok(match mask(s, v, m, o)? { Value::AddressByte(a, byte) => Value::AddressByte(a, 7 - byte), other => other })),
    rule!("mask-constant-unshifted", "a mask of a constant does not shift", MaskConstant, |r| r.mask = |s, v, m, o| match (mask(s, v, m, o)?, o, read_number(m)) { (Value::Integer(_), Value::Integer(x), Some(Number::Integer { value: Some(m), .. })) => Ok(Value::Integer(Integer::unsigned(x.bits & m))), (other, ..) => Ok(other) }),
    rule!("numbered-from-1", "numbered names begin with 1", ParameterizedNames, |r| r.numbered = |prefix, number| number != "0" && (right().numbered)(prefix, number)),
];

fn named(
    step: &mut Step<'_>,
    version: Version,
    named: Named,
    address: AddressValue,
    byte: Option<u8>,
) -> Ruled<bool> {
    (right().named)(step, version, named, address, byte)
}

fn mask(step: &mut Step<'_>, version: Version, mask: &str, operand: Value) -> Ruled<Value> {
    (right().mask)(step, version, mask, operand)
}

fn radix(text: &[u8]) -> Option<Radix> {
    match read_number(text)? {
        Number::Integer { radix, .. } => Some(radix),
        _ => None,
    }
}

fn as_signed_unless_suffixed(value: Value, text: &[u8]) -> Value {
    if text.ends_with(b"U") { value } else { as_signed(value) }
}

fn octal_as_decimal(step: &mut Step<'_>, text: &[u8]) -> Ruled<Value> {
    match radix(text) {
        Some(Radix::Octal) if spelled(text).trim_end_matches('U') != "0" => {
            number(step, spelled(text).trim_start_matches('0'))
        }
        _ => number(step, text),
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

/// The single next to a double on the side of zero.
fn cut(value: f64) -> u32 {
    let nearest = narrow(value);
    if f64::from(f32::from_bits(nearest)).abs() > value.abs() { nearest - 1 } else { nearest }
}
