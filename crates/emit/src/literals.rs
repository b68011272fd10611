//! Generates literals by class of value: ties and numbers beside them, subnormal numbers, long digits,
//! conversions.

use num_bigint::BigUint;
use ptxsmith_gen::stream::Draw;

use crate::source::number::{Exact, FloatFormat};
use crate::source::{ArithmeticOperator, CxxLiteral, Scalar};

/// Decimal literals to use besides generated ones.
const DECIMALS: &[&str] = &[
    "0.0",
    "1.0",
    "-1.5",
    "0.1",
    ".5",
    "5.",
    "3.0E10",
    "1e-40",
    "1.17549435e-38",
    "4.9e-324",
    "16777217.0",
    "1e22",
    "2.2250738585072011e-308",
    "-0.0",
];
/// The integer types to convert to floating point.
const INTEGERS: [Scalar; 6] = [
    Scalar::Int,
    Scalar::Unsigned,
    Scalar::Long,
    Scalar::UnsignedLongLong,
    Scalar::Int128,
    Scalar::UnsignedInt128,
];

/// Draws a value of this type.
pub fn literal(draw: &mut Draw, scalar: Scalar) -> CxxLiteral {
    match scalar.format() {
        Some(format) => {
            let literal = floating(draw, scalar, format);
            if literal.is_defined(scalar) { literal } else { CxxLiteral::Floating("1.0".to_owned(), scalar) }
        }
        None if draw.chance(8) => {
            let literal = truncated(draw, scalar);
            if literal.is_defined(scalar) { literal } else { integer(draw, scalar) }
        }
        None => integer(draw, scalar),
    }
}

fn wide(draw: &mut Draw) -> u128 {
    u128::from(draw.bits()) << 64 | u128::from(draw.bits())
}

fn integer(draw: &mut Draw, scalar: Scalar) -> CxxLiteral {
    let bits = wide(draw);
    let bits = match draw.below(8) {
        0 => 0,
        1 => 1,
        2 => u128::MAX,
        3 => 1 << (8 * scalar.size() - 1),
        4 => bits & 0xff,
        5 => bits & u128::from(u64::MAX),
        _ => bits,
    };
    CxxLiteral::Integer(bits & (u128::MAX >> (128 - 8 * scalar.size())))
}

fn floating(draw: &mut Draw, scalar: Scalar, format: FloatFormat) -> CxxLiteral {
    let of = if draw.chance(15) || scalar.lacks_literals() { other(scalar) } else { scalar };
    match draw.below(11) {
        10 => computed(draw, of),
        0 => CxxLiteral::Floating((*draw.pick(DECIMALS)).to_owned(), of),
        1 => CxxLiteral::Floating(format!("{}.{:03}", draw.below(1000), draw.below(1000)), of),
        2 => {
            let number = Exact::of_bits(finite(draw, format), format);
            CxxLiteral::Floating(spelled(draw, &number, Side::At), of)
        }
        3 | 4 => {
            let from = *draw.pick(&INTEGERS);
            CxxLiteral::Converted(
                near_tie_integer(draw, format) & (u128::MAX >> (128 - 8 * from.size())),
                from,
            )
        }
        _ => {
            let number = Exact::middle(finite(draw, format), format);
            let side = *draw.pick(&[Side::Below, Side::At, Side::Above]);
            CxxLiteral::Floating(spelled(draw, &number, side), of)
        }
    }
}

/// Draws an operation on two normal numbers whose exact result is often near a tie.
fn computed(draw: &mut Draw, of: Scalar) -> CxxLiteral {
    let Some(format) = of.format() else { return CxxLiteral::Integer(0) };
    let operator = *draw.pick(&ArithmeticOperator::ALL);
    let bias = (1u128 << (format.exponent - 1)) - 1;
    let exponents = [0; 2].map(|_| bias - 20 + u128::from(draw.below(40)));
    let fractions = match operator {
        ArithmeticOperator::Plus | ArithmeticOperator::Minus => {
            // Half of the last place of the first number, and a little more.
            let one = exponents[0] << format.fraction | fraction(draw, format);
            let half = (exponents[0] - u128::from(format.fraction) - 1) << format.fraction;
            let two = half | 1 << draw.below(u64::from(format.fraction));
            return CxxLiteral::Computed(operator, [one, two], of);
        }
        _ => near_tie_factors(draw, operator, format),
    };
    let operand = |index: usize| exponents[index] << format.fraction | fractions[index];
    CxxLiteral::Computed(operator, [operand(0), operand(1)], of)
}

fn fraction(draw: &mut Draw, format: FloatFormat) -> u128 {
    u128::from(draw.bits()) & ((1 << format.fraction) - 1)
}

/// The number of pairs to try for one near a tie. A format with eleven bits more does not tell some of the best
/// ones from ties.
const FACTORS: u32 = 2000;

/// Draws the fractions of two numbers whose product or quotient is near a tie.
fn near_tie_factors(draw: &mut Draw, operator: ArithmeticOperator, format: FloatFormat) -> [u128; 2] {
    let leading = 1u128 << format.fraction;
    let pairs = (0..FACTORS).map(|_| {
        let [one, two] = [0; 2].map(|_| fraction(draw, format));
        let result = match operator {
            ArithmeticOperator::Over => ((leading | one) << 74) / (leading | two),
            _ => (leading | one) * (leading | two),
        };
        let rest_bits = 128 - result.leading_zeros() - format.fraction - 1;
        let rest = result & ((1 << rest_bits) - 1);
        let distance = rest.abs_diff(1 << (rest_bits - 1));
        let nearness = if distance == 0 { 0 } else { rest_bits + distance.leading_zeros() };
        (nearness, [one, two])
    });
    pairs.max().map_or([0; 2], |(_, pair)| pair)
}

fn other(scalar: Scalar) -> Scalar {
    if scalar == Scalar::Float { Scalar::Double } else { Scalar::Float }
}

/// Draws a floating-point literal for an integer type: its digits before the point fit, and a fraction
/// follows.
fn truncated(draw: &mut Draw, scalar: Scalar) -> CxxLiteral {
    let bits = wide(draw) >> (128 - 8 * scalar.size()) >> draw.below(8 * scalar.size() as u64);
    let fraction = *draw.pick(&["0", "25", "5", "75", "999", "99999999999999999999999999999"]);
    let sign = if draw.chance(30) { "-" } else { "" };
    let of = *draw.pick(&[Scalar::Float, Scalar::Double, Scalar::Double]);
    CxxLiteral::Floating(format!("{sign}{bits}.{fraction}"), of)
}

/// Draws the bits of a positive finite number.
fn finite(draw: &mut Draw, format: FloatFormat) -> u128 {
    let ones = (1u128 << format.fraction) - 1;
    let bias = (1 << (format.exponent - 1)) - 1;
    let exponent = match draw.below(8) {
        0 => 0,
        1 => 1,
        2 => 2 * bias - u64::from(draw.chance(50)),
        3 => 1 + draw.below(2 * bias),
        _ => {
            let reach = 40.min(bias - 1);
            bias - reach + draw.below(100.min(bias + reach + 1))
        }
    };
    let fraction = match draw.below(8) {
        0 => 0,
        1 => 1,
        2 => ones,
        _ => u128::from(draw.bits()) & ones,
    };
    u128::from(exponent) << format.fraction | fraction
}

/// Draws an integer in the middle of two numbers of a format, or next to it.
fn near_tie_integer(draw: &mut Draw, format: FloatFormat) -> u128 {
    let leading = 1u128 << (format.fraction + 1);
    let odd = leading | u128::from(draw.bits()) & (leading - 1) | 1;
    let shifted = odd << draw.below(u64::from(127 - format.fraction));
    match draw.below(4) {
        0 => shifted.wrapping_add(1),
        1 => shifted.wrapping_sub(1),
        2 => shifted.wrapping_neg(),
        _ => shifted,
    }
}

/// On which side of a number a literal lies.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    At,
    Above,
}

/// Spells a number, or one that differs from it in a digit far behind.
fn spelled(draw: &mut Draw, number: &Exact, side: Side) -> String {
    let base = if draw.chance(25) { 16 } else { 10 };
    let (mut digits, mut power) = number.digits(base);
    if side != Side::At {
        let more = 1 + draw.below(40) as u32;
        digits *= BigUint::from(base).pow(more);
        power -= i64::from(more);
        match side {
            Side::Below => digits -= 1u8,
            _ => digits += 1u8,
        }
    }
    let digits = digits.to_str_radix(base);
    let sign = if draw.chance(20) { "-" } else { "" };
    sign.to_owned()
        + &if base == 16 { hexadecimal(draw, &digits, power) } else { decimal(draw, &digits, power) }
}

fn hexadecimal(draw: &mut Draw, digits: &str, power: i64) -> String {
    let before = 1 + draw.below(digits.len() as u64) as usize;
    let power = 4 * (power + (digits.len() - before) as i64);
    let (before, after) = digits.split_at(before);
    let point = if after.is_empty() { "" } else { "." };
    format!("0x{before}{point}{after}p{power}")
}

fn decimal(draw: &mut Draw, digits: &str, power: i64) -> String {
    let behind = power.unsigned_abs() as usize;
    match draw.below(4) {
        0 | 1 if (0..60).contains(&power) => format!("{digits}{}.0", "0".repeat(behind)),
        0 | 1 if power < 0 && behind < digits.len() => {
            let (before, after) = digits.split_at(digits.len() - behind);
            format!("{before}.{after}")
        }
        0 | 1 if power < 0 && behind < digits.len() + 60 => {
            format!("0.{}{digits}", "0".repeat(behind - digits.len()))
        }
        2 => format!("{digits}e{power}"),
        _ => {
            let (first, rest) = digits.split_at(1);
            let zero = if rest.is_empty() { "0" } else { "" };
            format!("{first}.{rest}{zero}E{:+}", power + rest.len() as i64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::number::{Between, SINGLE};

    #[test]
    fn every_spelling_has_the_value_of_its_number() {
        let mut draw = Draw::new(3, 1);
        for _ in 0..300 {
            let bits = finite(&mut draw, SINGLE);
            let number = Exact::of_bits(bits, SINGLE);
            let text = spelled(&mut draw, &number, Side::At);
            assert_eq!(Exact::parse(&text).unwrap().round(SINGLE) & 0x7fff_ffff, bits, "{text}");
            let middle = Exact::middle(bits, SINGLE);
            let [below, at, above] = [Side::Below, Side::At, Side::Above]
                .map(|side| Exact::parse(&spelled(&mut draw, &middle, side)).unwrap());
            let rounded = [&below, &at, &above].map(|number| number.round(SINGLE) & 0x7fff_ffff);
            assert_eq!(rounded, [bits, bits + (bits & 1), bits + 1]);
            assert!(bits + 1 == SINGLE.infinity() || at.place(SINGLE) == Between::AtTie, "{bits:x}");
        }
    }
}
