//! Wrong rules, each a single exchange in the table of the specification.

use ptxsmith_oracle::{
    AddressValue, Integer, Named, Placement, Readings, Ruled, Rules, Slot, Step, Stored, Value, Version,
    narrow,
};
use ptxsmith_syntax::{BinaryOp, Cast, Number, Radix, ScalarType, TypeKind, UnaryOp, read_number};

/// A name that says what is wrong, and the exchange.
pub type Mutant = (&'static str, fn(&mut Rules));

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

/// Exchanges the rule of an infix operator.
macro_rules! infix {
    ($name:literal, $op:ident, |$step:ident, $a:ident, $b:ident| $body:expr) => {
        ($name, |rules| {
            rules.binary[BinaryOp::$op as usize] =
                |$step: &mut Step<'_>, $a: Value, $b: Value| -> Ruled<Value> { $body }
        })
    };
}

/// Exchanges the rule of a prefix operator.
macro_rules! prefix {
    ($name:literal, $op:ident, |$step:ident, $a:ident| $body:expr) => {
        ($name, |rules| {
            rules.unary[UnaryOp::$op as usize] = |$step: &mut Step<'_>, $a: Value| -> Ruled<Value> { $body }
        })
    };
}

fn binary(op: BinaryOp, step: &mut Step<'_>, a: Value, b: Value) -> Ruled<Value> {
    (right().binary[op as usize])(step, a, b)
}

fn unary(op: UnaryOp, step: &mut Step<'_>, a: Value) -> Ruled<Value> {
    (right().unary[op as usize])(step, a)
}

fn number(step: &mut Step<'_>, text: &str) -> Ruled<Value> {
    (right().number)(step, text)
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

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // Literals
    ("literals of 2^63 and more are signed", |r| r.number = |s, t| Ok(as_signed_unless_suffixed(number(s, t)?, t))),
    ("the suffix U means nothing", |r| r.number = |s, t| number(s, t.strip_suffix('U').unwrap_or(t))),
    ("octal numbers are decimal", |r| r.number = octal_as_decimal),
    ("binary numbers lose their first bit", |r| r.number = |s, t| Ok(if radix(t) == Some(Radix::Binary) { integer(number(s, t)?, without_first_bit) } else { number(s, t)? })),
    ("the prefix 0X is none", |r| r.number = |s, t| number(s, &t.replace("0X", "0"))),
    ("decimal floats are read in single precision", |r| r.number = |s, t| Ok(if t.starts_with("0d") || t.starts_with("0D") { number(s, t)? } else { float(number(s, t)?, |f| f64::from(f as f32)) })),
    ("the sign of an exponent is ignored", |r| r.number = |s, t| if radix(t).is_none() && !t.starts_with("0d") && !t.starts_with("0D") { number(s, &t.replace("e-", "e").replace("E-", "E")) } else { number(s, t) }),
    ("the digits of 0d are in another byte order", |r| r.number = |s, t| Ok(if t.starts_with("0d") { float(number(s, t)?, |f| f64::from_bits(f.to_bits().swap_bytes())) } else { number(s, t)? })),
    ("WARP_SZ is 64", |r| r.warp_size = |_| Ok(Value::Integer(Integer::signed(64)))),
    // Prefix operators and casts
    prefix!("- makes its operand signed", Minus, |s, a| Ok(as_signed(unary(UnaryOp::Minus, s, a)?))),
    prefix!("+ makes its operand signed", Plus, |s, a| Ok(as_signed(unary(UnaryOp::Plus, s, a)?))),
    prefix!("- of a float keeps the sign of zero", Minus, |s, a| Ok(float(unary(UnaryOp::Minus, s, a)?, |f| f + 0.0))),
    prefix!("! complements", Not, |s, a| unary(UnaryOp::Complement, s, a)),
    prefix!("! is unsigned", Not, |s, a| Ok(as_unsigned(unary(UnaryOp::Not, s, a)?))),
    prefix!("~ keeps the type of its operand", Complement, |s, a| Ok(match a { Value::Integer(x) => Value::Integer(Integer { bits: !x.bits, ..x }), other => unary(UnaryOp::Complement, s, other)? })),
    ("(.s64) does nothing", |r| r.cast[Cast::S64 as usize] = |_, a| Ok(a)),
    ("(.u64) does nothing", |r| r.cast[Cast::U64 as usize] = |_, a| Ok(a)),
    ("(.s64) extends the sign of 32 bits", |r| r.cast[Cast::S64 as usize] = |s, a| Ok(integer((right().cast[Cast::S64 as usize])(s, a)?, |x| Integer { bits: x.bits as i32 as u64, ..x }))),
    // Arithmetic
    infix!("a product is signed", Mul, |s, a, b| Ok(as_signed(binary(BinaryOp::Mul, s, a, b)?))),
    infix!("a product saturates", Mul, |s, a, b| of_two(BinaryOp::Mul, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_mul(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_mul(y.bits)) })),
    infix!("division rounds down", Div, |s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed(floor(x.bits as i64, y.bits as i64)))), _ => binary(BinaryOp::Div, s, a, b) }),
    infix!("division is signed", Div, |s, a, b| binary(BinaryOp::Div, s, as_signed(a), as_signed(b))),
    infix!("division is unsigned", Div, |s, a, b| binary(BinaryOp::Div, s, as_unsigned(a), as_unsigned(b))),
    infix!("a remainder has the sign of the dividend", Rem, |s, a, b| match (a, b) { (Value::Integer(x), Value::Integer(y)) if x.signed && y.signed && y.bits != 0 => Ok(Value::Integer(Integer::signed((x.bits as i64).wrapping_rem(y.bits as i64)))), _ => binary(BinaryOp::Rem, s, a, b) }),
    infix!("a sum has the type of its left operand", Add, |s, a, b| of_two(BinaryOp::Add, s, a, b, |x, y| Integer { bits: x.bits.wrapping_add(y.bits), ..x })),
    infix!("a sum saturates", Add, |s, a, b| of_two(BinaryOp::Add, s, a, b, |x, y| if x.signed && y.signed { Integer::signed((x.bits as i64).saturating_add(y.bits as i64)) } else { Integer::unsigned(x.bits.wrapping_add(y.bits)) })),
    infix!("a difference has the type of its right operand", Sub, |s, a, b| of_two(BinaryOp::Sub, s, a, b, |x, y| Integer { bits: x.bits.wrapping_sub(y.bits), ..y })),
    infix!("a difference of unsigned numbers is signed", Sub, |s, a, b| Ok(as_signed(binary(BinaryOp::Sub, s, a, b)?))),
    infix!("floats are added in single precision", Add, |s, a, b| Ok(float(binary(BinaryOp::Add, s, a, b)?, |f| f64::from(f as f32)))),
    infix!("floats are multiplied in single precision", Mul, |s, a, b| Ok(float(binary(BinaryOp::Mul, s, a, b)?, |f| f64::from(f as f32)))),
    // Shifts
    infix!(">> is logical", Shr, |s, a, b| match (a, binary(BinaryOp::Shr, s, as_unsigned(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!(">> is arithmetic", Shr, |s, a, b| match (a, binary(BinaryOp::Shr, s, as_signed(a), b)?) { (Value::Integer(x), Value::Integer(y)) => Ok(Value::Integer(Integer { signed: x.signed, ..y })), (_, other) => Ok(other) }),
    infix!(">> is converted with its count", Shr, |s, a, b| Ok(with_sign_of(binary(BinaryOp::Shr, s, a, b)?, a, b))),
    infix!("<< is converted with its count", Shl, |s, a, b| Ok(with_sign_of(binary(BinaryOp::Shl, s, a, b)?, a, b))),
    infix!("<< uses five bits of its count", Shl, |s, a, b| binary(BinaryOp::Shl, s, a, integer(b, |y| Integer { bits: y.bits & 31, ..y }))),
    infix!("a negative count of << shifts right", Shl, |s, a, b| match b { Value::Integer(y) if y.signed && (y.bits as i64) < 0 => binary(BinaryOp::Shr, s, a, Value::Integer(Integer::signed((y.bits as i64).wrapping_neg()))), _ => binary(BinaryOp::Shl, s, a, b) }),
    // Comparisons
    infix!("< compares signed numbers", Lt, |s, a, b| binary(BinaryOp::Lt, s, as_signed(a), as_signed(b))),
    infix!("> compares unsigned numbers", Gt, |s, a, b| binary(BinaryOp::Gt, s, as_unsigned(a), as_unsigned(b))),
    infix!("<= is <", Le, |s, a, b| binary(BinaryOp::Lt, s, a, b)),
    infix!(">= is unsigned", Ge, |s, a, b| Ok(as_unsigned(binary(BinaryOp::Ge, s, a, b)?))),
    infix!("== compares 32 bits", Eq, |s, a, b| binary(BinaryOp::Eq, s, low_32(a), low_32(b))),
    infix!("!= is false for numbers that are none", Ne, |s, a, b| match (a.numeric(), b.numeric()) { (Value::Float(x), Value::Float(y)) if x.is_nan() || y.is_nan() => Ok(Value::truth(false)), _ => binary(BinaryOp::Ne, s, a, b) }),
    // Bits and truth
    infix!("& is signed", And, |s, a, b| Ok(as_signed(binary(BinaryOp::And, s, a, b)?))),
    infix!("^ is |", Xor, |s, a, b| binary(BinaryOp::Or, s, a, b)),
    infix!("| has the type of its left operand", Or, |s, a, b| Ok(match (a, binary(BinaryOp::Or, s, a, b)?) { (Value::Integer(x), Value::Integer(y)) => Value::Integer(Integer { signed: x.signed, ..y }), (_, other) => other })),
    infix!("&& is &", LogicalAnd, |s, a, b| binary(BinaryOp::And, s, a, b)),
    infix!("|| is unsigned", LogicalOr, |s, a, b| Ok(as_unsigned(binary(BinaryOp::LogicalOr, s, a, b)?))),
    infix!("|| looks at 32 bits", LogicalOr, |s, a, b| binary(BinaryOp::LogicalOr, s, low_32(a), low_32(b))),
    ("?: does not convert its choices", |r| r.ternary = |s, c, a, b| Ok(match ((right().ternary)(s, c, a, b)?, c) { (Value::Integer(_), Value::Integer(c)) => if c.bits != 0 { a } else { b }, (other, _) => other })),
    ("?: looks at 32 bits of its condition", |r| r.ternary = |s, c, a, b| (right().ternary)(s, low_32(c), a, b)),
    ("?: takes a negative condition for false", |r| r.ternary = |s, c, a, b| { let c = integer(c, |c| if c.signed && (c.bits as i64) < 0 { Integer::signed(0) } else { c }); (right().ternary)(s, c, a, b) }),
    // Conversion to the type of the variable
    ("narrowing saturates", |r| r.store = |s, v, t| Ok(match (v, store(s, v, t)?) { (Value::Integer(x), Stored::Bits(_)) if t.size() == Some(4) && t.kind() == TypeKind::Unsigned => Stored::Bits(x.bits.min(u32::MAX.into())), (_, stored) => stored })),
    ("floats are cut instead of rounded", |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f.is_finite() => { store(s, v, t)?; Stored::Bits(cut(f).into()) } _ => store(s, v, t)? })),
    ("denormal singles are zero", |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::F32) if f32::from_bits(narrow(f)).is_subnormal() => { store(s, v, t)?; Stored::Bits(0) } _ => store(s, v, t)? })),
    ("0f bits are stored as they are in .f64", |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Single(bits), ScalarType::F64) => { store(s, v, t)?; Stored::Bits(bits.into()) } _ => store(s, v, t)? })),
    ("a bit-size type takes the bits of a double only", |r| r.store = |s, v, t| Ok(match (v, t) { (Value::Float(f), ScalarType::B32) => { store(s, v, t)?; Stored::Bits(f.to_bits()) } _ => store(s, v, t)? })),
    // Placement
    ("rows are packed", |r| r.place = |at: Placement| at.written),
    ("rows lie as far apart as the first is long", |r| r.place = |at: Placement| if at.stride > 1 && at.index > 0 { at.start + at.index * (at.written / at.index).max(1) } else { at.start + at.index * at.stride }),
    // Addresses
    ("generic() is forgotten", |r| r.named = |s, v, n, a, b| named(s, v, n, a, b).map(|_| false)),
    ("every address is generic", |r| r.named = |s, v, n, a, b| named(s, v, n, a, b).map(|generic| generic || matches!(n, Named::Variable(_)))),
    infix!("an offset counts words", Add, |s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => binary(BinaryOp::Add, s, a, Value::Integer(Integer { bits: y.bits.wrapping_mul(4), ..y })), _ => binary(BinaryOp::Add, s, a, b) }),
    infix!("an offset has 32 bits", Add, |s, a, b| match (a, b) { (Value::Address(_), Value::Integer(y)) => binary(BinaryOp::Add, s, a, Value::Integer(Integer { bits: y.bits as i32 as u64, ..y })), _ => binary(BinaryOp::Add, s, a, b) }),
    ("an address has 8 bytes everywhere", |r| r.address_slot = |_, byte, _| Slot { width: if byte.is_some() { 1 } else { 8 }, addend_bits: 64 }),
    ("a mask counts bytes from the other end", |r| r.mask = |s, v, m, o| Ok(match mask(s, v, m, o)? { Value::AddressByte(a, byte) => Value::AddressByte(a, 7 - byte), other => other })),
    ("a mask of a constant does not shift", |r| r.mask = |s, v, m, o| match (mask(s, v, m, o)?, o, read_number(m)) { (Value::Integer(_), Value::Integer(x), Some(Number::Integer { value: Some(m), .. })) => Ok(Value::Integer(Integer::unsigned(x.bits & m))), (other, ..) => Ok(other) }),
    ("numbered names begin with 1", |r| r.numbered = |prefix, number| number != "0" && (right().numbered)(prefix, number)),
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

fn radix(text: &str) -> Option<Radix> {
    match read_number(text)? {
        Number::Integer { radix, .. } => Some(radix),
        _ => None,
    }
}

fn as_signed_unless_suffixed(value: Value, text: &str) -> Value {
    if text.ends_with('U') { value } else { as_signed(value) }
}

fn octal_as_decimal(step: &mut Step<'_>, text: &str) -> Ruled<Value> {
    match radix(text) {
        Some(Radix::Octal) if text.trim_end_matches('U') != "0" => number(step, text.trim_start_matches('0')),
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
