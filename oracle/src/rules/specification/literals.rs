//! Literals (4.5.1, 4.5.2) and `WARP_SZ`.

use ptxsmith_syntax::{Number, read_number};

use crate::clause::Clause;
use crate::reading::{FloatOverflow, LiteralRange, Question, WarpSizeType};
use crate::refusal::RefusalClass;
use crate::step::{Ruled, Step};
use crate::value::{Integer, Value};

pub(in crate::rules) fn number(step: &mut Step<'_>, text: &[u8]) -> Ruled<Value> {
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

/// Whether a decimal literal denotes a nonzero value below the smallest normal double.
fn is_tiny(nearest: f64, text: &[u8]) -> bool {
    let mut digits = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    nearest < f64::MIN_POSITIVE && digits.any(|digit| matches!(digit, b'1'..=b'9'))
}

/// Returns the clause that a spelling violates if no literal form derives it.
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

pub(in crate::rules) fn warp_size(step: &mut Step<'_>) -> Ruled<Value> {
    step.uses(Clause::WarpSize);
    step.meets(Question::WarpSizeType);
    let signed = step.readings.warp_size_type == WarpSizeType::Signed;
    Ok(Value::Integer(Integer { bits: 32, signed }))
}
