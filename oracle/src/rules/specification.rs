//! The entries of the table as the specification gives them, each naming the clauses that it rests on. They live here and
//! nowhere else.

use ptxsmith_syntax::{
    BinaryOp, Cast, Expr, Number, Opcode, ScalarType, StateSpace, TypeKind, UnaryOp, read_number,
};

use crate::{
    address,
    clause::Clause,
    reading::{
        AddressSubtraction, BitsFromFloat, BitwiseType, DivisionByZero, FloatDivisionByZero, FloatOverflow,
        LiteralRange, NanNarrowing, OffsetFirst, Question, QuotientOverflow, ShiftCount, SignedOverflow,
        SkippedOperand, WarpSizeType,
    },
    refusal::{RefusalClass, Stop},
    step::{Placement, Ruled, Step, Stored},
    undecided::COMPUTED_NAN,
    value::{Address, Integer, Kind, Value, narrow, widen},
};

/// The rule of each prefix operator.
pub(super) const fn prefix(op: UnaryOp) -> fn(&mut Step<'_>, Value) -> Ruled<Value> {
    match op {
        UnaryOp::Plus => plus,
        UnaryOp::Minus => minus,
        UnaryOp::Not => not,
        UnaryOp::Complement => complement,
    }
}

/// The rule of each cast.
pub(super) const fn cast(cast: Cast) -> fn(&mut Step<'_>, Value) -> Ruled<Value> {
    match cast {
        Cast::S64 => cast_s64,
        Cast::U64 => cast_u64,
    }
}

/// The rule of each infix operator.
pub(super) const fn infix(op: BinaryOp) -> fn(&mut Step<'_>, Value, Value) -> Ruled<Value> {
    match op {
        BinaryOp::Mul => multiply,
        BinaryOp::Div => divide,
        BinaryOp::Rem => remainder,
        BinaryOp::Add => add,
        BinaryOp::Sub => subtract,
        BinaryOp::Shr => shift_right,
        BinaryOp::Shl => shift_left,
        BinaryOp::Lt => less,
        BinaryOp::Gt => greater,
        BinaryOp::Le => less_equal,
        BinaryOp::Ge => greater_equal,
        BinaryOp::Eq => equal,
        BinaryOp::Ne => not_equal,
        BinaryOp::And => and,
        BinaryOp::Xor => xor,
        BinaryOp::Or => or,
        BinaryOp::LogicalAnd => logical_and,
        BinaryOp::LogicalOr => logical_or,
    }
}

// 4.5.1, 4.5.2: literals

pub(super) fn number(step: &mut Step<'_>, text: &[u8]) -> Ruled<Value> {
    let Some(number) = read_number(text) else {
        return step.refuse(RefusalClass::MalformedLiteral, malformed(text));
    };
    match number {
        Number::Integer { value, wrapped, unsigned, radix } => {
            step.uses(Clause::LiteralNonNegative);
            step.uses(match radix {
                ptxsmith_syntax::Radix::Decimal => Clause::LiteralDecimal,
                ptxsmith_syntax::Radix::Hexadecimal => Clause::LiteralHexadecimal,
                ptxsmith_syntax::Radix::Octal => Clause::LiteralOctal,
                ptxsmith_syntax::Radix::Binary => Clause::LiteralBinary,
            });
            let value = match value {
                Some(value) => value,
                None => {
                    step.uses(Clause::LiteralRange);
                    step.meets(Question::LiteralRange);
                    match step.readings.literal_range {
                        LiteralRange::Refused => {
                            return step.refuse(RefusalClass::LiteralOutOfRange, Clause::LiteralRange);
                        }
                        LiteralRange::Wrapped => return Ok(Value::Integer(Integer::unsigned(wrapped))),
                        LiteralRange::WrappedByMagnitude => wrapped,
                        LiteralRange::Saturated => u64::MAX,
                    }
                }
            };
            let fits = value <= i64::MAX as u64;
            step.uses_if(unsigned, Clause::LiteralUnsignedBySuffix);
            step.uses_if(!unsigned && !fits, Clause::LiteralUnsignedByMagnitude);
            let signed = !unsigned && fits;
            step.uses_if(signed, Clause::LiteralSigned);
            Ok(Value::Integer(Integer { bits: value, signed }))
        }
        Number::Float(value) => {
            step.uses(Clause::FloatDecimal);
            step.uses(Clause::FloatNoSuffix);
            step.uses(Clause::FloatExponent);
            if is_tiny(value, text) {
                step.uses(Clause::FloatTiny);
            }
            if value.is_infinite() {
                step.meets(Question::FloatOverflow);
                if step.readings.float_overflow == FloatOverflow::Refused {
                    return step.refuse(RefusalClass::LiteralOutOfRange, Clause::FloatDecimal);
                }
            }
            Ok(Value::Float(value))
        }
        Number::DoubleBits(bits) => {
            step.uses(Clause::FloatDoubleBits);
            Ok(Value::Float(f64::from_bits(bits)))
        }
        Number::SingleBits(bits) => {
            step.uses(Clause::FloatSingleBits);
            Ok(Value::Single(bits))
        }
    }
}

/// Whether a decimal literal states a value other than zero that is below the least normal double.
fn is_tiny(nearest: f64, text: &[u8]) -> bool {
    let mut digits = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    nearest < f64::MIN_POSITIVE && digits.any(|digit| matches!(digit, b'1'..=b'9'))
}

/// The clause that a spelling breaks when no literal form derives it.
fn malformed(text: &[u8]) -> Clause {
    let hexadecimal = matches!(text, [b'0', b'x' | b'X', ..]);
    match text {
        [b'0', b'f' | b'F' | b'd' | b'D', ..] => Clause::FloatBitsMalformed,
        _ if hexadecimal && text.contains(&b'.') => Clause::FloatDecimal,
        _ if hexadecimal => Clause::LiteralMalformed,
        [.., b'e' | b'E' | b'+' | b'-'] => Clause::FloatExponent,
        _ if text.contains(&b'.') => Clause::FloatNoSuffix,
        _ => Clause::LiteralMalformed,
    }
}

pub(super) fn warp_size(step: &mut Step<'_>) -> Ruled<Value> {
    step.uses(Clause::WarpSize);
    step.meets(Question::WarpSizeType);
    let signed = step.readings.warp_size_type == WarpSizeType::Signed;
    Ok(Value::Integer(Integer { bits: 32, signed }))
}

// Operands. A single-precision bit pattern is no operand, whatever the operator (4.5.2).

fn refuse_operand<T>(step: &mut Step<'_>, value: Value, class: RefusalClass, clause: Clause) -> Ruled<T> {
    match value {
        Value::Single(_) => {
            step.refuse(RefusalClass::SingleBitsInExpression, Clause::SingleBitsNotInExpression)
        }
        Value::Address(_) | Value::AddressByte(..) => {
            step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset)
        }
        Value::Integer(_) | Value::Float(_) | Value::ComputedNan | Value::Undefined(_) => {
            step.refuse(class, clause)
        }
    }
}

fn integer(step: &mut Step<'_>, value: Value) -> Ruled<Integer> {
    integer_for(step, value, Clause::IntegerOnlyOperator)
}

fn integer_for(step: &mut Step<'_>, value: Value, clause: Clause) -> Ruled<Integer> {
    match value {
        Value::Integer(integer) => Ok(integer),
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, clause),
    }
}

/// Two operands of one kind.
enum Pair {
    Integers(Integer, Integer),
    Floats(f64, f64),
}

fn pair(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Pair> {
    match (left.numeric(), right.numeric()) {
        (Value::Integer(a), Value::Integer(b)) => Ok(Pair::Integers(a, b)),
        (Value::Float(a), Value::Float(b)) => Ok(Pair::Floats(a, b)),
        (Value::Integer(_) | Value::Float(_), other) | (other, _) => {
            refuse_operand(step, other, RefusalClass::IntFloatMix, Clause::NoIntFloatMix)
        }
    }
}

/// Whether the usual arithmetic conversions leave two operands signed (4.5.5).
fn both_signed(step: &mut Step<'_>, a: Integer, b: Integer) -> bool {
    step.uses(Clause::UsualConversions);
    a.signed && b.signed
}

// 4.5.5: prefix operators and casts

fn plus(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    step.uses(Clause::UnaryPlus);
    match value {
        Value::Integer(_) => {
            step.uses(Clause::PlusMinusKeepType);
            Ok(value)
        }
        Value::Float(_) | Value::ComputedNan => {
            step.uses(Clause::FloatUnary);
            Ok(value)
        }
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, Clause::PlusMinusKeepType),
    }
}

fn minus(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    step.uses(Clause::UnaryMinus);
    match value {
        Value::Integer(Integer { bits, signed }) => {
            step.uses(Clause::PlusMinusKeepType);
            let overflows = signed && bits == i64::MIN as u64;
            Ok(wrapped(step, Clause::PlusMinusKeepType, bits.wrapping_neg(), signed, overflows))
        }
        Value::Float(value) => {
            step.uses(Clause::FloatUnary);
            Ok(Value::Float(f64::from_bits(value.to_bits() ^ 1 << 63)))
        }
        Value::ComputedNan => {
            step.uses(Clause::FloatUnary);
            Ok(value)
        }
        other => refuse_operand(step, other, RefusalClass::IntegerOnlyOperator, Clause::PlusMinusKeepType),
    }
}

fn not(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer(step, value)?;
    step.uses(Clause::NotSigned);
    Ok(Value::truth(value.bits == 0))
}

fn complement(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer(step, value)?;
    step.uses(Clause::ComplementUnsigned);
    Ok(Value::Integer(Integer::unsigned(!value.bits)))
}

fn cast_s64(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer_for(step, value, Clause::NoIntFloatCast)?;
    step.uses(Clause::CastS64);
    Ok(Value::Integer(Integer { signed: true, ..value }))
}

fn cast_u64(step: &mut Step<'_>, value: Value) -> Ruled<Value> {
    let value = integer_for(step, value, Clause::NoIntFloatCast)?;
    step.uses(Clause::CastU64);
    Ok(Value::Integer(Integer { signed: false, ..value }))
}

// 4.5.5, 4.5.6: arithmetic

fn wrapped(step: &mut Step<'_>, clause: Clause, bits: u64, signed: bool, overflows: bool) -> Value {
    if overflows {
        step.meets(Question::SignedOverflow);
        if step.readings.signed_overflow == SignedOverflow::Refused {
            return step.undefined(RefusalClass::SignedOverflow, clause, signed);
        }
    }
    Value::Integer(Integer { bits, signed })
}

/// A floating-point result. Which NaN an operation gives is not said.
fn float_result(step: &mut Step<'_>, result: f64) -> Value {
    step.uses(Clause::FloatArithmetic);
    step.uses(Clause::FloatDoubleEvaluation);
    if result.is_nan() { Value::ComputedNan } else { Value::Float(result) }
}

fn arithmetic(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    float: fn(f64, f64) -> f64,
    wrapping: fn(u64, u64) -> u64,
    checked: fn(i64, i64) -> Option<i64>,
) -> Ruled<Value> {
    match pair(step, left, right)? {
        Pair::Floats(a, b) => Ok(float_result(step, float(a, b))),
        Pair::Integers(a, b) => {
            step.uses(clause);
            let signed = both_signed(step, a, b);
            let overflows = signed && checked(a.bits as i64, b.bits as i64).is_none();
            Ok(wrapped(step, clause, wrapping(a.bits, b.bits), signed, overflows))
        }
    }
}

/// The address this many bytes behind (5.4.4).
fn moved(step: &mut Step<'_>, address: Address, offset: i64) -> Value {
    step.uses(Clause::AddressOffset);
    Value::Address(Address { addend: address.addend.wrapping_add(offset), moved: true, ..address })
}

fn add(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    if let (Value::Address(address), Value::Integer(offset)) = (left, right) {
        return Ok(moved(step, address, offset.bits as i64));
    }
    if let (Value::Integer(offset), Value::Address(address)) = (left, right) {
        step.meets(Question::OffsetFirst);
        return match step.readings.offset_first {
            OffsetFirst::Refused => step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset),
            OffsetFirst::Accepted => Ok(moved(step, address, offset.bits as i64)),
        };
    }
    arithmetic(step, (left, right), Clause::Addition, |a, b| a + b, u64::wrapping_add, i64::checked_add)
}

fn subtract(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    if let (Value::Address(address), Value::Integer(offset)) = (left, right) {
        step.meets(Question::AddressSubtraction);
        return match step.readings.address_subtraction {
            AddressSubtraction::Refused => {
                step.refuse(RefusalClass::AddressArithmetic, Clause::AddressOffset)
            }
            AddressSubtraction::Accepted => Ok(moved(step, address, (offset.bits as i64).wrapping_neg())),
        };
    }
    arithmetic(step, (left, right), Clause::Subtraction, |a, b| a - b, u64::wrapping_sub, i64::checked_sub)
}

fn multiply(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    arithmetic(step, (left, right), Clause::Multiplication, |a, b| a * b, u64::wrapping_mul, i64::checked_mul)
}

fn by_zero(step: &mut Step<'_>, clause: Clause, signed: bool) -> Value {
    step.uses(clause);
    step.meets(Question::DivisionByZero);
    match step.readings.division_by_zero {
        DivisionByZero::Refused => step.undefined(RefusalClass::DivisionByZero, clause, signed),
        DivisionByZero::Zero => Value::Integer(Integer { bits: 0, signed }),
        DivisionByZero::AllOnes => Value::Integer(Integer { bits: u64::MAX, signed }),
    }
}

fn divide(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    match pair(step, left, right)? {
        Pair::Floats(a, b) => {
            if b == 0.0 {
                step.meets(Question::FloatDivisionByZero);
                if step.readings.float_division_by_zero == FloatDivisionByZero::Refused {
                    return step.refuse(RefusalClass::DivisionByZero, Clause::FloatArithmetic);
                }
            }
            Ok(float_result(step, a / b))
        }
        Pair::Integers(a, b) => {
            step.uses(Clause::Division);
            let signed = both_signed(step, a, b);
            if b.bits == 0 {
                return Ok(by_zero(step, Clause::Division, signed));
            }
            if !signed {
                return Ok(Value::Integer(Integer::unsigned(a.bits / b.bits)));
            }
            let (a, b) = (a.bits as i64, b.bits as i64);
            if a.checked_div(b).is_none() {
                step.uses(Clause::FullyDefined);
                step.meets(Question::QuotientOverflow);
                if step.readings.quotient_overflow == QuotientOverflow::Refused {
                    return Ok(step.undefined(RefusalClass::SignedOverflow, Clause::Division, true));
                }
            }
            Ok(Value::Integer(Integer::signed(a.wrapping_div(b))))
        }
    }
}

fn remainder(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(Clause::RemUnsigned);
    step.uses(Clause::RemResult);
    match a.bits.checked_rem(b.bits) {
        Some(bits) => Ok(Value::Integer(Integer { bits, signed: true })),
        None => Ok(by_zero(step, Clause::RemUnsigned, true)),
    }
}

// 4.5.5: shifts

fn shift_count(step: &mut Step<'_>, count: Integer) -> u64 {
    step.uses(Clause::ShiftCountUnsigned);
    step.uses(Clause::ShiftResultType);
    if count.bits < 64 {
        return count.bits;
    }
    step.meets(Question::ShiftCount);
    match step.readings.shift_count {
        ShiftCount::Saturate => 64,
        ShiftCount::Modulo => count.bits % 64,
    }
}

fn shift_left(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(Clause::ShiftLeft);
    let count = shift_count(step, b);
    Ok(Value::Integer(Integer { bits: if count == 64 { 0 } else { a.bits << count }, ..a }))
}

fn shift_right(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    let count = shift_count(step, b);
    let bits = if a.signed {
        step.uses(Clause::ShiftRightArithmetic);
        (a.bits as i64 >> count.min(63)) as u64
    } else {
        step.uses(Clause::ShiftRightLogical);
        if count == 64 { 0 } else { a.bits >> count }
    };
    Ok(Value::Integer(Integer { bits, ..a }))
}

// 4.5.5, 4.5.6: comparisons

fn compare(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    float: fn(&f64, &f64) -> bool,
    signed: fn(&i64, &i64) -> bool,
    unsigned: fn(&u64, &u64) -> bool,
) -> Ruled<Value> {
    let operands = pair(step, left, right)?;
    step.uses(clause);
    let equality = matches!(clause, Clause::Equal | Clause::NotEqual);
    step.uses(if equality { Clause::EqualitySignedResult } else { Clause::ComparisonSignedResult });
    Ok(Value::truth(match operands {
        Pair::Floats(a, b) => {
            step.uses(if equality { Clause::FloatEquality } else { Clause::FloatComparison });
            float(&a, &b)
        }
        Pair::Integers(a, b) if both_signed(step, a, b) => signed(&(a.bits as i64), &(b.bits as i64)),
        Pair::Integers(a, b) => unsigned(&a.bits, &b.bits),
    }))
}

fn less(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Less, f64::lt, i64::lt, u64::lt)
}

fn greater(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Greater, f64::gt, i64::gt, u64::gt)
}

fn less_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::LessEqual, f64::le, i64::le, u64::le)
}

fn greater_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::GreaterEqual, f64::ge, i64::ge, u64::ge)
}

fn equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::Equal, f64::eq, i64::eq, u64::eq)
}

fn not_equal(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    compare(step, (left, right), Clause::NotEqual, f64::ne, i64::ne, u64::ne)
}

// 4.5.5: bitwise and logical operators

fn bitwise(
    step: &mut Step<'_>,
    (left, right): (Value, Value),
    clause: Clause,
    operation: fn(u64, u64) -> u64,
) -> Ruled<Value> {
    let (a, b) = (integer(step, left)?, integer(step, right)?);
    step.uses(clause);
    step.meets(Question::BitwiseType);
    let signed = match step.readings.bitwise_type {
        BitwiseType::Converted => both_signed(step, a, b),
        BitwiseType::Unsigned => false,
    };
    Ok(Value::Integer(Integer { bits: operation(a.bits, b.bits), signed }))
}

fn and(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseAnd, |a, b| a & b)
}

fn or(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseOr, |a, b| a | b)
}

fn xor(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    bitwise(step, (left, right), Clause::BitwiseXor, |a, b| a ^ b)
}

/// `&&` and `||`: the result is `decisive` as soon as one operand's truth is.
fn logical(step: &mut Step<'_>, left: Value, right: Value, clause: Clause, decisive: bool) -> Ruled<Value> {
    step.uses(clause);
    step.uses(Clause::LogicalSignedResult);
    let left = truth(step, left)?;
    let right = truth(step, right)?;
    match (left, right) {
        (Some(left), Some(right)) => Ok(Value::truth(if decisive { left || right } else { left && right })),
        (Some(left), None) if left == decisive && skips(step) => Ok(Value::truth(decisive)),
        _ => Ok(Value::Undefined(Kind::Signed)),
    }
}

/// Whether an operand of `&&` and `||` is not zero; `None` if it is undefined.
fn truth(step: &mut Step<'_>, value: Value) -> Ruled<Option<bool>> {
    let integer = integer(step, value.or_one())?;
    Ok(if let Value::Undefined(_) = value { None } else { Some(integer.bits != 0) })
}

/// Whether an operand that C would not evaluate is not evaluated here either.
fn skips(step: &mut Step<'_>) -> bool {
    step.meets(Question::SkippedOperand);
    step.readings.skipped_operand == SkippedOperand::Skipped
}

fn logical_and(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    logical(step, left, right, Clause::LogicalAnd, false)
}

fn logical_or(step: &mut Step<'_>, left: Value, right: Value) -> Ruled<Value> {
    logical(step, left, right, Clause::LogicalOr, true)
}

pub(super) fn ternary(step: &mut Step<'_>, condition: Value, then: Value, otherwise: Value) -> Ruled<Value> {
    step.uses(Clause::TernaryCondition);
    step.uses(Clause::TernarySelection);
    let condition = match condition {
        Value::Integer(integer) => Some(integer.bits != 0),
        Value::Undefined(Kind::Signed | Kind::Unsigned) => None,
        other => {
            return refuse_operand(step, other, RefusalClass::TernaryCondition, Clause::TernaryCondition);
        }
    };
    let kind = |value| match value {
        Value::Integer(Integer { signed, .. }) => Some(Kind::integer(signed)),
        Value::Float(_) | Value::ComputedNan => Some(Kind::Float),
        Value::Undefined(kind) => Some(kind),
        _ => None,
    };
    let common = match (kind(then), kind(otherwise)) {
        (Some(Kind::Float), Some(Kind::Float)) => {
            step.uses(Clause::TernarySameKind);
            step.uses(Clause::FloatTernary);
            Kind::Float
        }
        (Some(a @ (Kind::Signed | Kind::Unsigned)), Some(b @ (Kind::Signed | Kind::Unsigned))) => {
            step.uses(Clause::TernaryConversions);
            step.uses(Clause::UsualConversions);
            Kind::integer((a, b) == (Kind::Signed, Kind::Signed))
        }
        (of_then, _) => {
            let other = if of_then.is_some() { otherwise } else { then };
            return refuse_operand(step, other, RefusalClass::IntFloatMix, Clause::TernarySameKind);
        }
    };
    let Some(condition) = condition else { return Ok(Value::Undefined(common)) };
    let (chosen, skipped) = if condition { (then, otherwise) } else { (otherwise, then) };
    Ok(match (chosen, skipped) {
        (Value::Undefined(_), _) => Value::Undefined(common),
        (_, Value::Undefined(_)) if !skips(step) => Value::Undefined(common),
        (Value::Integer(Integer { bits, .. }), _) => {
            Value::Integer(Integer { bits, signed: common == Kind::Signed })
        }
        (float, _) => float,
    })
}

// 4.5.1, 4.5.2, 5.4.4: conversion to the type of the variable

pub(super) fn store(step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    let size = ty.size().unwrap_or(0);
    match (value, ty.kind()) {
        (_, TypeKind::Predicate | TypeKind::Float) if size < 4 || ty == ScalarType::F16x2 => {
            step.refuse(RefusalClass::TypeWithoutInitializer, Clause::TypeAllowsInitializer)
        }
        (Value::Integer(_), TypeKind::Bits) if size == 16 => {
            Err(Stop::Unmodelled("an integer constant has 64 bits; how it fills 128 is not said"))
        }
        (Value::Integer(integer), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits) => {
            step.uses(Clause::ValueKind);
            step.uses(if size < 8 { Clause::IntegerNarrowing } else { Clause::IntegerWidth });
            if ty.kind() == TypeKind::Bits {
                step.uses(Clause::ConstantForBitSizeType);
            }
            Ok(Stored::Bits(integer.bits))
        }
        (Value::Float(_) | Value::ComputedNan | Value::Single(_), TypeKind::Float) => {
            store_float(step, value, size)
        }
        (Value::Float(_) | Value::ComputedNan | Value::Single(_), TypeKind::Bits) => {
            step.meets(Question::BitsFromFloat);
            if step.readings.bits_from_float == BitsFromFloat::Refused || !matches!(size, 4 | 8) {
                return step.refuse(RefusalClass::ValueKind, Clause::ValueKind);
            }
            step.uses(Clause::ConstantForBitSizeType);
            store_float(step, value, size)
        }
        (Value::Address(address), _) => address::store(step, address, ty),
        (Value::AddressByte(address, byte), _) => address::store_byte(step, address, byte, ty),
        (Value::Integer(_) | Value::Float(_) | Value::ComputedNan | Value::Single(_), _) => {
            step.refuse(RefusalClass::ValueKind, Clause::ValueKind)
        }
        (Value::Undefined(_), _) => {
            Err(step.pending.take().unwrap_or(Stop::Unmodelled("an undefined value without a reason")))
        }
    }
}

fn store_float(step: &mut Step<'_>, value: Value, size: u64) -> Ruled<Stored> {
    step.uses(Clause::ValueKind);
    if let Value::ComputedNan = value {
        return Err(Stop::Unmodelled(COMPUTED_NAN));
    }
    let nan = match value {
        Value::Float(value) => value.is_nan(),
        Value::Single(bits) => f32::from_bits(bits).is_nan(),
        _ => false,
    };
    let changes = matches!((value, size), (Value::Float(_), 4) | (Value::Single(_), 8));
    if changes {
        step.uses(Clause::FloatNarrowing);
    }
    if changes && nan {
        step.meets(Question::NanNarrowing);
        if step.readings.nan_narrowing == NanNarrowing::Canonical {
            return Ok(Stored::Bits(if size == 4 { 0x7fff_ffff } else { 0x7fff_ffff_ffff_ffff }));
        }
    }
    Ok(Stored::Bits(match (value, size) {
        (Value::Float(value), 4) => narrow(value).into(),
        (Value::Float(value), _) => value.to_bits(),
        (Value::Single(bits), 4) => bits.into(),
        (Value::Single(bits), _) => widen(bits),
        _ => return step.refuse(RefusalClass::ValueKind, Clause::ValueKind),
    }))
}

// 5.4.3: dimensions

pub(super) fn dimension(step: &mut Step<'_>, _: &Expr, value: Integer) -> Ruled<Integer> {
    step.uses(Clause::Dimension);
    Ok(value)
}

// 5.4.4: placement

pub(super) fn place(at: Placement) -> u64 {
    at.start + at.index * at.stride
}

// 6.4: operands

/// `mov` takes the address of a function.
pub(super) fn function_operand(opcode: Opcode, place: usize) -> bool {
    (opcode, place) == (Opcode::Mov, 1)
}

/// Offsets are signed and absolute addresses unsigned, of 32 bits both.
pub(super) fn fits(value: i128, ty: ScalarType) -> bool {
    match ty.kind() {
        TypeKind::Unsigned => u32::try_from(value).is_ok(),
        _ => i32::try_from(value).is_ok(),
    }
}

/// `x y z w` and `r g b a`, in order.
pub(super) fn element_named(letter: &str, _count: usize) -> Option<usize> {
    [["x", "y", "z", "w"], ["r", "g", "b", "a"]]
        .iter()
        .find_map(|names| names.iter().position(|&name| name == letter))
}

/// What an access outside of a variable does is not said.
pub(super) fn outside(_: StateSpace) -> Ruled<()> {
    Err(Stop::Unmodelled("an access outside of the variable"))
}
