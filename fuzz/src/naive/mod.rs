//! A second evaluator of constant expressions, deliberately naive and written differently from the oracle.
//!
//! It implements the same sections (4.5.1 to 4.5.6, 5.4.4) and shares only the syntax tree and the names of the ambiguities
//! with the oracle. The oracle makes one pass from front to back over 64-bit machine words, and marks values that are
//! rejected if they are used. This evaluator first determines the type of every part, and then computes the value by
//! recursion on numbers without a size: an integer is a mathematical integer within the range of its type, and a
//! floating-point result is an exact fraction that is rounded once (`float`). It is slow, has no rule table, records no
//! clauses and does not support addresses.

mod float;
mod number;

use std::cmp::Ordering;

use num_bigint::BigUint;
use ptxsmith_oracle::{
    BitsFromFloat, BitwiseType, DivisionByZero, FloatDivisionByZero, FloatOverflow, LiteralRange,
    NanNarrowing, ParenthesizedSingle, QuotientOverflow, Readings, ShiftCount, SignedOverflow,
    SkippedOperand, WarpSizeType,
};
use ptxsmith_syntax::{BinaryOp, Cast, Expr, NodeId, NodeKind, ScalarType, TypeKind, UnaryOp};

use float::{DOUBLE, FloatOperation, SINGLE};
use number::ExactLiteral;

/// The maximum number of nodes in an evaluated expression. The recursion depth grows with the number of nested operators.
pub const MOST_NODES: usize = 1000;

/// The result of initializing a scalar with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveAnswer {
    /// The bits of the scalar; the type determines their number.
    Bits(u64),
    /// The specification rejects the initializer.
    Refused,
    /// The specification does not say enough.
    Open,
    /// This evaluator has no answer: the expression uses an address or is too large.
    Unknown,
}

/// Evaluates an expression as the initializer of a scalar of this type, in a module with this `.version`.
pub fn store(expr: &Expr, ty: ScalarType, version: (u32, u32), readings: &Readings) -> NaiveAnswer {
    let has_address =
        expr.nodes().iter().any(|node| matches!(node.kind, NodeKind::Name(_) | NodeKind::Generic(_)));
    if expr.nodes().len() > MOST_NODES || has_address {
        return NaiveAnswer::Unknown;
    }
    let naive = Naive { expr, kinds: Vec::new(), version, readings };
    let stored = naive.typed().and_then(|naive| {
        let value = naive.value(expr.root())?;
        naive.fits(naive.kind(expr.root()), ty)?;
        naive.stored(value, ty)
    });
    match stored {
        Ok(bits) => NaiveAnswer::Bits(bits),
        Err(NaiveStop::Refused) => NaiveAnswer::Refused,
        Err(NaiveStop::Open) => NaiveAnswer::Open,
    }
}

enum NaiveStop {
    Refused,
    Open,
}

type Result<T> = std::result::Result<T, NaiveStop>;

/// The type of a part of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    Signed,
    Unsigned,
    Double,
    /// A single-precision bit pattern, which can be a value but not an operand (4.5.2).
    Single,
}

impl NumberType {
    fn is_integer(self) -> bool {
        matches!(self, NumberType::Signed | NumberType::Unsigned)
    }
}

#[derive(Clone, Copy, Debug)]
enum NaiveValue {
    /// A number within the range of its type.
    Integer(i128),
    /// The bits of a double. `None` for a NaN that an operation produced, because its bits are not specified.
    Double(Option<u64>),
    Single(u32),
}

const TWO_64: i128 = 1 << 64;

/// Returns the number in the range of a type that is equal modulo 2^64.
fn wrap(number: i128, kind: NumberType) -> i128 {
    let unsigned = number.rem_euclid(TWO_64);
    if kind == NumberType::Signed && unsigned >= TWO_64 / 2 { unsigned - TWO_64 } else { unsigned }
}

struct Naive<'a> {
    expr: &'a Expr,
    /// The type of each node, by index.
    kinds: Vec<NumberType>,
    version: (u32, u32),
    readings: &'a Readings,
}

fn require(condition: bool) -> Result<()> {
    if condition { Ok(()) } else { Err(NaiveStop::Refused) }
}

/// Applies the usual arithmetic conversions (4.5.5).
fn usual(a: NumberType, b: NumberType) -> NumberType {
    if a == NumberType::Signed && b == NumberType::Signed { NumberType::Signed } else { NumberType::Unsigned }
}

// Types. This pass rejects expressions that are invalid for any values.
impl Naive<'_> {
    fn typed(mut self) -> Result<Self> {
        for id in 0..=self.expr.root() {
            let kind = self.kind_of(id)?;
            self.kinds.push(kind);
        }
        Ok(self)
    }

    fn kind(&self, id: NodeId) -> NumberType {
        self.kinds[id as usize]
    }

    fn kind_of(&self, id: NodeId) -> Result<NumberType> {
        match *self.expr.kind(id) {
            NodeKind::Number(ref text) => self.literal(text).map(|(kind, _)| kind),
            NodeKind::WarpSize => Ok(match self.readings.warp_size_type {
                WarpSizeType::Signed => NumberType::Signed,
                WarpSizeType::Unsigned => NumberType::Unsigned,
            }),
            NodeKind::Paren(inner) => {
                let kind = self.kind(inner);
                let allowed = self.readings.parenthesized_single == ParenthesizedSingle::Allowed;
                require(kind != NumberType::Single || allowed)?;
                Ok(kind)
            }
            NodeKind::Unary(op, operand) => {
                let kind = self.kind(operand);
                require(
                    kind.is_integer()
                        || kind == NumberType::Double && matches!(op, UnaryOp::Plus | UnaryOp::Minus),
                )?;
                Ok(match op {
                    UnaryOp::Plus | UnaryOp::Minus => kind,
                    UnaryOp::Not => NumberType::Signed,
                    UnaryOp::Complement => NumberType::Unsigned,
                })
            }
            NodeKind::Cast(cast, operand) => {
                require(self.kind(operand).is_integer())?;
                Ok(if cast == Cast::S64 { NumberType::Signed } else { NumberType::Unsigned })
            }
            NodeKind::Binary(op, left, right) => self.binary_kind(op, self.kind(left), self.kind(right)),
            NodeKind::Ternary(condition, then, otherwise) => {
                let (condition, a, b) = (self.kind(condition), self.kind(then), self.kind(otherwise));
                require(condition.is_integer())?;
                match (a, b) {
                    (NumberType::Double, NumberType::Double) => Ok(NumberType::Double),
                    _ => {
                        require(a.is_integer() && b.is_integer())?;
                        Ok(usual(a, b))
                    }
                }
            }
            NodeKind::Mask(ref mask, operand) => {
                let kind = self.kind(operand);
                if id != self.expr.root() {
                    // A mask of a mask is rejected. The specification does not cover a mask as another operand.
                    let nested = matches!(self.expr.kind(id + 1), NodeKind::Mask(..));
                    return Err(if nested { NaiveStop::Refused } else { NaiveStop::Open });
                }
                require(self.version >= (7, 1) && self.masked_byte(mask).is_some())?;
                require(kind.is_integer() && self.version >= (7, 3))?;
                Ok(NumberType::Unsigned)
            }
            NodeKind::Name(_) | NodeKind::Generic(_) => unreachable!("addresses were told apart"),
        }
    }

    fn binary_kind(&self, op: BinaryOp, a: NumberType, b: NumberType) -> Result<NumberType> {
        use BinaryOp as B;
        let integers = a.is_integer() && b.is_integer();
        let doubles = a == NumberType::Double && b == NumberType::Double;
        match op {
            B::Mul | B::Div | B::Add | B::Sub => {
                require(integers || doubles)?;
                Ok(if doubles { NumberType::Double } else { usual(a, b) })
            }
            B::Lt | B::Gt | B::Le | B::Ge | B::Eq | B::Ne => {
                require(integers || doubles)?;
                Ok(NumberType::Signed)
            }
            B::Rem => {
                require(integers)?;
                Ok(NumberType::Signed)
            }
            B::Shl | B::Shr => {
                require(integers)?;
                Ok(a)
            }
            B::And | B::Or | B::Xor => {
                require(integers)?;
                Ok(match self.readings.bitwise_type {
                    BitwiseType::Converted => usual(a, b),
                    BitwiseType::Unsigned => NumberType::Unsigned,
                })
            }
            B::LogicalAnd | B::LogicalOr => {
                require(integers)?;
                Ok(NumberType::Signed)
            }
        }
    }

    /// Evaluates a literal (4.5.1, 4.5.2).
    fn literal(&self, text: &str) -> Result<(NumberType, NaiveValue)> {
        match number::read(text).ok_or(NaiveStop::Refused)? {
            ExactLiteral::Integer(value, suffixed) => {
                let largest = BigUint::from(u64::MAX);
                let low = i128::from((&value & &largest).iter_u64_digits().next().unwrap_or(0));
                let number = match (value <= largest, self.readings.literal_range) {
                    (true, _) | (false, LiteralRange::WrappedByMagnitude) => low,
                    (false, LiteralRange::Refused) => return Err(NaiveStop::Refused),
                    (false, LiteralRange::Wrapped) => {
                        return Ok((NumberType::Unsigned, NaiveValue::Integer(low)));
                    }
                    (false, LiteralRange::Saturated) => TWO_64 - 1,
                };
                let unsigned = suffixed || number >= TWO_64 / 2;
                Ok((
                    if unsigned { NumberType::Unsigned } else { NumberType::Signed },
                    NaiveValue::Integer(number),
                ))
            }
            ExactLiteral::Decimal(bits) => {
                require(
                    bits != DOUBLE.infinity(false) || self.readings.float_overflow == FloatOverflow::Infinity,
                )?;
                Ok((NumberType::Double, NaiveValue::Double(Some(bits))))
            }
            ExactLiteral::Double(bits) => Ok((NumberType::Double, NaiveValue::Double(Some(bits)))),
            ExactLiteral::Single(bits) => Ok((NumberType::Single, NaiveValue::Single(bits))),
        }
    }

    /// Returns the index of the byte that a mask selects, counted from the lowest.
    fn masked_byte(&self, mask: &str) -> Option<u32> {
        let ExactLiteral::Integer(mask, _) = number::read(mask)? else { return None };
        (0..8).find(|byte| mask == BigUint::from(255u32) << (8 * byte))
    }

    /// Checks whether a value of this kind can initialize a scalar of this type (5.4.4).
    fn fits(&self, kind: NumberType, ty: ScalarType) -> Result<()> {
        let takes = !matches!(ty, ScalarType::F16 | ScalarType::F16x2 | ScalarType::Pred);
        require(takes)?;
        match (kind.is_integer(), ty.kind()) {
            (true, TypeKind::Bits) if ty.size() == Some(16) => Err(NaiveStop::Open),
            (true, TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits) | (false, TypeKind::Float) => {
                Ok(())
            }
            (false, TypeKind::Bits) => {
                require(self.readings.bits_from_float == BitsFromFloat::SameSize)?;
                match ty.size() {
                    Some(16) => Err(NaiveStop::Open),
                    size => require(matches!(size, Some(4 | 8))),
                }
            }
            _ => Err(NaiveStop::Refused),
        }
    }
}

// Values. This pass rejects an expression because of a value, and only if the value is used.
impl Naive<'_> {
    fn value(&self, id: NodeId) -> Result<NaiveValue> {
        match *self.expr.kind(id) {
            NodeKind::Number(ref text) => self.literal(text).map(|(_, value)| value),
            NodeKind::WarpSize => Ok(NaiveValue::Integer(32)),
            NodeKind::Paren(inner) => self.value(inner),
            NodeKind::Unary(op, operand) => match (op, self.value(operand)?) {
                (UnaryOp::Plus, value) => Ok(value),
                (UnaryOp::Minus, NaiveValue::Double(bits)) => {
                    Ok(NaiveValue::Double(bits.map(|bits| bits ^ 1 << 63)))
                }
                (UnaryOp::Minus, value) => {
                    self.limited(-integer(value), self.kind(id)).map(NaiveValue::Integer)
                }
                (UnaryOp::Not, value) => Ok(truth(integer(value) == 0)),
                (UnaryOp::Complement, value) => {
                    Ok(NaiveValue::Integer(TWO_64 - 1 - wrap(integer(value), NumberType::Unsigned)))
                }
            },
            NodeKind::Cast(_, operand) => {
                Ok(NaiveValue::Integer(wrap(integer(self.value(operand)?), self.kind(id))))
            }
            NodeKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), left, right) => {
                let decisive = op == BinaryOp::LogicalOr;
                let left = integer(self.value(left)?) != 0;
                if left == decisive && self.readings.skipped_operand == SkippedOperand::Skipped {
                    return Ok(truth(decisive));
                }
                let right = integer(self.value(right)?) != 0;
                Ok(truth(if decisive { left || right } else { left && right }))
            }
            NodeKind::Binary(op, left, right) => self.binary(op, id, left, right),
            NodeKind::Ternary(condition, then, otherwise) => {
                let condition = integer(self.value(condition)?) != 0;
                let (chosen, other) = if condition { (then, otherwise) } else { (otherwise, then) };
                let value = self.value(chosen)?;
                if self.readings.skipped_operand == SkippedOperand::Evaluated {
                    self.value(other)?;
                }
                Ok(match value {
                    NaiveValue::Integer(number) => NaiveValue::Integer(wrap(number, self.kind(id))),
                    other => other,
                })
            }
            NodeKind::Mask(ref mask, operand) => {
                let number = wrap(integer(self.value(operand)?), NumberType::Unsigned);
                let byte = self.masked_byte(mask).ok_or(NaiveStop::Refused)?;
                Ok(NaiveValue::Integer(number >> (8 * byte) & 0xff))
            }
            NodeKind::Name(_) | NodeKind::Generic(_) => unreachable!("addresses were told apart"),
        }
    }

    /// Wraps a result into the range of its type. Rejects signed overflow if the interpretation does.
    fn limited(&self, number: i128, kind: NumberType) -> Result<i128> {
        let wrapped = wrap(number, kind);
        let refuses = self.readings.signed_overflow == SignedOverflow::Refused;
        require(wrapped == number || kind == NumberType::Unsigned || !refuses)?;
        Ok(wrapped)
    }

    fn binary(&self, op: BinaryOp, id: NodeId, left: NodeId, right: NodeId) -> Result<NaiveValue> {
        let common = usual(self.kind(left), self.kind(right));
        let (left, right) = (self.value(left)?, self.value(right)?);
        if let (NaiveValue::Double(left), NaiveValue::Double(right)) = (left, right) {
            return self.floats(op, left, right);
        }
        let (left, right) = (integer(left), integer(right));
        let kind = self.kind(id);
        let (a, b) = (wrap(left, common), wrap(right, common));
        let unsigned = |number| wrap(number, NumberType::Unsigned);
        use BinaryOp as B;
        Ok(match op {
            B::Add => NaiveValue::Integer(self.limited(a + b, common)?),
            B::Sub => NaiveValue::Integer(self.limited(a - b, common)?),
            // The product of two unsigned factors may overflow `i128`. The low bits are still correct.
            B::Mul if common == NumberType::Unsigned => NaiveValue::Integer(wrap(a.wrapping_mul(b), common)),
            B::Mul => NaiveValue::Integer(self.limited(a * b, common)?),
            B::Div if b == 0 => NaiveValue::Integer(self.by_zero(kind)?),
            B::Div => {
                let quotient = a / b;
                let fits = wrap(quotient, common) == quotient;
                require(fits || self.readings.quotient_overflow == QuotientOverflow::Wrap)?;
                NaiveValue::Integer(wrap(quotient, common))
            }
            B::Rem if right == 0 => NaiveValue::Integer(self.by_zero(kind)?),
            B::Rem => NaiveValue::Integer(wrap(unsigned(left) % unsigned(right), kind)),
            B::Shl | B::Shr => {
                let count = match (unsigned(right), self.readings.shift_count) {
                    (count, ShiftCount::Modulo) => count % 64,
                    (count, ShiftCount::Saturate) => count.min(64),
                };
                let power = 1i128 << count;
                // An arithmetic shift rounds towards minus infinity.
                let shifted = if op == B::Shr {
                    left.div_euclid(power)
                } else {
                    wrap(left, NumberType::Signed) * power
                };
                NaiveValue::Integer(wrap(shifted, kind))
            }
            B::Lt => truth(a < b),
            B::Gt => truth(a > b),
            B::Le => truth(a <= b),
            B::Ge => truth(a >= b),
            B::Eq => truth(a == b),
            B::Ne => truth(a != b),
            B::And => NaiveValue::Integer(wrap(by_bits(a, b, |a, b| a == 1 && b == 1), kind)),
            B::Or => NaiveValue::Integer(wrap(by_bits(a, b, |a, b| a == 1 || b == 1), kind)),
            B::Xor => NaiveValue::Integer(wrap(by_bits(a, b, |a, b| a != b), kind)),
            B::LogicalAnd | B::LogicalOr => unreachable!("they look at one operand at a time"),
        })
    }

    fn by_zero(&self, kind: NumberType) -> Result<i128> {
        match self.readings.division_by_zero {
            DivisionByZero::Refused => Err(NaiveStop::Refused),
            DivisionByZero::Zero => Ok(0),
            DivisionByZero::AllOnes => Ok(wrap(TWO_64 - 1, kind)),
        }
    }

    fn floats(&self, op: BinaryOp, left: Option<u64>, right: Option<u64>) -> Result<NaiveValue> {
        use BinaryOp as B;
        let operation = match op {
            B::Add => Some(FloatOperation::Add),
            B::Sub => Some(FloatOperation::Subtract),
            B::Mul => Some(FloatOperation::Multiply),
            B::Div => Some(FloatOperation::Divide),
            _ => None,
        };
        if let Some(operation) = operation {
            let is_by_zero = op == B::Div && right.is_some_and(|bits| bits << 1 == 0);
            require(!is_by_zero || self.readings.float_division_by_zero == FloatDivisionByZero::Ieee)?;
            let result = left.zip(right).and_then(|(left, right)| float::apply(operation, left, right));
            return Ok(NaiveValue::Double(result));
        }
        let order = left.zip(right).and_then(|(left, right)| float::compare(left, right));
        Ok(match op {
            B::Lt => truth(order == Some(Ordering::Less)),
            B::Gt => truth(order == Some(Ordering::Greater)),
            B::Le => truth(matches!(order, Some(Ordering::Less | Ordering::Equal))),
            B::Ge => truth(matches!(order, Some(Ordering::Greater | Ordering::Equal))),
            B::Eq => truth(order == Some(Ordering::Equal)),
            B::Ne => truth(order != Some(Ordering::Equal)),
            _ => return Err(NaiveStop::Refused),
        })
    }

    fn stored(&self, value: NaiveValue, ty: ScalarType) -> Result<u64> {
        let size = ty.size().ok_or(NaiveStop::Refused)?;
        match value {
            NaiveValue::Integer(number) => Ok(number.rem_euclid(1 << (8 * size)) as u64),
            NaiveValue::Double(None) => Err(NaiveStop::Open),
            NaiveValue::Double(Some(bits)) => Ok(if size == 8 { bits } else { self.narrowed(bits) }),
            NaiveValue::Single(bits) => Ok(if size == 4 { bits.into() } else { self.widened(bits) }),
        }
    }

    fn narrowed(&self, bits: u64) -> u64 {
        let fraction = bits & 0x000f_ffff_ffff_ffff;
        let is_nan = bits >> 52 & 0x7ff == 0x7ff && fraction != 0;
        match self.readings.nan_narrowing {
            _ if !is_nan => float::convert(DOUBLE, SINGLE, bits),
            NanNarrowing::Canonical => 0x7fff_ffff,
            // The leading 23 bits of the fraction, made quiet.
            NanNarrowing::Payload => bits >> 63 << 31 | 0xff << 23 | fraction >> 29 | 1 << 22,
        }
    }

    fn widened(&self, bits: u32) -> u64 {
        let bits = u64::from(bits);
        let fraction = bits & 0x007f_ffff;
        let is_nan = bits >> 23 & 0xff == 0xff && fraction != 0;
        match self.readings.nan_narrowing {
            _ if !is_nan => float::convert(SINGLE, DOUBLE, bits),
            NanNarrowing::Canonical => 0x7fff_ffff_ffff_ffff,
            NanNarrowing::Payload => bits >> 31 << 63 | 0x7ff << 52 | fraction << 29 | 1 << 51,
        }
    }
}

fn integer(value: NaiveValue) -> i128 {
    match value {
        NaiveValue::Integer(number) => number,
        NaiveValue::Double(_) | NaiveValue::Single(_) => unreachable!("its type is that of an integer"),
    }
}

fn truth(truth: bool) -> NaiveValue {
    NaiveValue::Integer(truth.into())
}

/// Applies an operation to each of the 64 bits of two numbers.
fn by_bits(a: i128, b: i128, operation: fn(i128, i128) -> bool) -> i128 {
    let bit = |number: i128, place: u32| wrap(number, NumberType::Unsigned) >> place & 1;
    (0..64).map(|place| i128::from(operation(bit(a, place), bit(b, place))) << place).sum()
}

#[cfg(test)]
mod tests;
