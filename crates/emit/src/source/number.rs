//! Exact rational numbers and their rounding to floating-point formats (IEEE 754, roundTiesToEven).

use num_bigint::BigUint;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The bits of the exponent.
    pub exponent: u32,
    /// The bits of the fraction, without the leading bit.
    pub fraction: u32,
}

/// `_Float16`
pub const HALF: FloatFormat = FloatFormat { exponent: 5, fraction: 10 };
/// `__bf16`
pub const BFLOAT: FloatFormat = FloatFormat { exponent: 8, fraction: 7 };
/// `float`
pub const SINGLE: FloatFormat = FloatFormat { exponent: 8, fraction: 23 };
/// `double`
pub const DOUBLE: FloatFormat = FloatFormat { exponent: 11, fraction: 52 };

impl FloatFormat {
    /// Returns the exponent of the last bit of a subnormal number.
    fn least(self) -> i64 {
        2 - (1i64 << (self.exponent - 1)) - i64::from(self.fraction)
    }

    /// Returns the bits of infinity.
    pub fn infinity(self) -> u128 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// Returns the bit of the sign.
    pub fn sign(self) -> u128 {
        1 << (self.exponent + self.fraction)
    }

    /// Splits the finite positive number with these bits into an integer and a power of two.
    fn parts(self, bits: u128) -> (u128, i64) {
        let field = bits >> self.fraction;
        let fraction = bits & ((1 << self.fraction) - 1);
        match field {
            0 => (fraction, self.least()),
            _ => (fraction | 1 << self.fraction, self.least() + field as i64 - 1),
        }
    }
}

/// A rational number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    is_negative: bool,
    numerator: BigUint,
    denominator: BigUint,
}

impl Exact {
    /// Creates an integer.
    pub fn integer(magnitude: u128, is_negative: bool) -> Exact {
        Exact { is_negative, numerator: magnitude.into(), denominator: 1u8.into() }
    }

    /// Returns the finite number with these bits.
    pub fn of_bits(bits: u128, format: FloatFormat) -> Exact {
        let (integer, power) = format.parts(bits & !format.sign());
        let is_negative = bits & format.sign() != 0;
        Exact { is_negative, ..Exact::integer(integer, false).times(2, power) }
    }

    /// Returns the number in the middle between the positive number with these bits and the next one.
    pub fn middle(bits: u128, format: FloatFormat) -> Exact {
        let (integer, power) = format.parts(bits);
        Exact::integer(2 * integer + 1, false).times(2, power - 1)
    }

    /// Returns the exact sum.
    pub fn plus(&self, other: &Exact) -> Exact {
        let (one, two) = (&self.numerator * &other.denominator, &other.numerator * &self.denominator);
        let (is_negative, numerator) = match self.is_negative == other.is_negative {
            true => (self.is_negative, one + two),
            false if one > two => (self.is_negative, one - two),
            false => (other.is_negative && one != two, two - one),
        };
        Exact { is_negative, numerator, denominator: &self.denominator * &other.denominator }
    }

    /// Returns the exact product.
    pub fn multiplied(&self, other: &Exact) -> Exact {
        Exact {
            is_negative: self.is_negative != other.is_negative,
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    /// Returns one divided by the number, which must not be zero.
    pub fn inverse(self) -> Exact {
        Exact { is_negative: self.is_negative, numerator: self.denominator, denominator: self.numerator }
    }

    /// Returns the number with the other sign.
    pub fn negated(self) -> Exact {
        Exact { is_negative: !self.is_negative, ..self }
    }

    fn times(mut self, base: u32, power: i64) -> Exact {
        let factor = BigUint::from(base).pow(power.unsigned_abs() as u32);
        match power {
            0.. => self.numerator *= factor,
            _ => self.denominator *= factor,
        }
        self
    }

    /// Parses a floating-point literal of C++ without a suffix ([lex.fcon]); a sign may precede it.
    pub fn parse(text: &str) -> Option<Exact> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = text.replace('\'', "").to_lowercase();
        let (base, mark, text) = match text.strip_prefix("0x") {
            Some(rest) => (16, 'p', rest),
            None => (10, 'e', &*text),
        };
        let (digits, power) = match text.split_once(mark) {
            Some((digits, power)) => (digits, power.parse().ok()?),
            None => (text, 0),
        };
        let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
        let numerator = BigUint::parse_bytes(format!("{before}{after}").as_bytes(), base)?;
        let number = Exact { is_negative, numerator, denominator: 1u8.into() };
        let number = number.times(base, -(after.len() as i64));
        Some(number.times(if base == 16 { 2 } else { 10 }, power))
    }

    /// Returns the magnitude as an integer times a power of the base, 10 or 16, which are exact: the
    /// denominator must be a power of two, as for every number of a format.
    pub fn digits(&self, base: u32) -> (BigUint, i64) {
        let power = self.denominator.bits() - 1;
        let power = if base == 10 { power } else { power.div_ceil(4) };
        let scale = BigUint::from(base).pow(power as u32);
        (&self.numerator * scale / &self.denominator, -(power as i64))
    }

    /// Returns the bits of the nearest number of a format, and of two that are as near the one with an even
    /// last bit.
    pub fn round(&self, format: FloatFormat) -> u128 {
        let sign = if self.is_negative { format.sign() } else { 0 };
        if self.numerator == BigUint::ZERO {
            return sign;
        }
        let estimate = self.numerator.bits() as i64 - self.denominator.bits() as i64;
        let mut power = (estimate - i64::from(format.fraction)).max(format.least());
        let (mut quotient, mut twice_rest, mut divisor) = self.divided(power);
        // The estimate may be one too high.
        if quotient >> format.fraction == 0 && power > format.least() {
            power -= 1;
            (quotient, twice_rest, divisor) = self.divided(power);
        }
        let is_up = twice_rest > divisor || twice_rest == divisor && quotient & 1 == 1;
        quotient += u128::from(is_up);
        // A carry into the leading bit continues in the exponent.
        let bits = (((power - format.least()) as u128) << format.fraction) + quotient;
        sign | bits.min(format.infinity())
    }

    /// Returns the number divided by two to the power: the integer, and twice the rest with the divisor.
    fn divided(&self, power: i64) -> (u128, BigUint, BigUint) {
        let shift = power.unsigned_abs();
        let (dividend, divisor) = match power {
            0.. => (self.numerator.clone(), &self.denominator << shift),
            _ => (&self.numerator << shift, self.denominator.clone()),
        };
        let quotient = &dividend / &divisor;
        let rest = (dividend - &quotient * &divisor) << 1u8;
        (u128::try_from(&quotient).unwrap_or(u128::MAX), rest, divisor)
    }

    /// Returns the integer that remains without the fraction, as a magnitude with its sign; `None` beyond 128
    /// bits.
    pub fn truncated(&self) -> Option<(u128, bool)> {
        let magnitude = u128::try_from(&self.numerator / &self.denominator).ok()?;
        Some((magnitude, self.is_negative && magnitude != 0))
    }

    /// Returns true if the magnitude is at most the largest number of a format.
    pub fn is_within(&self, format: FloatFormat) -> bool {
        let largest = Exact::of_bits(format.infinity() - 1, format);
        &self.numerator * &largest.denominator <= &largest.numerator * &self.denominator
    }

    /// Returns true if the number is zero.
    pub fn is_zero(&self) -> bool {
        self.numerator == BigUint::ZERO
    }

    /// Classifies the number by the two numbers of a format around it.
    pub fn place(&self, format: FloatFormat) -> Between {
        let bits = self.round(format) & !format.sign();
        if bits >= format.infinity() {
            return Between::Beyond;
        }
        let magnitude = Exact { is_negative: false, ..self.clone() };
        if magnitude.is_equal(&Exact::of_bits(bits, format)) {
            return if bits >> format.fraction == 0 { Between::Subnormal } else { Between::Exactly };
        }
        // A format with more bits tells a tie from its neighbourhood, in which compilers of 64 bits are wrong.
        let fine = FloatFormat { exponent: 15, fraction: format.fraction + 9 };
        let middles = [bits.saturating_sub(1), bits].map(|bits| Exact::middle(bits, format));
        match middles {
            middles if middles.iter().any(|middle| magnitude.is_equal(middle)) => Between::AtTie,
            middles if middles.iter().any(|middle| magnitude.round(fine) == middle.round(fine)) => {
                Between::BesideTie
            }
            _ if bits >> format.fraction == 0 => Between::Subnormal,
            _ => Between::Elsewhere,
        }
    }

    fn is_equal(&self, other: &Exact) -> bool {
        self.is_negative == other.is_negative
            && &self.numerator * &other.denominator == &other.numerator * &self.denominator
    }
}

/// Where a number lies between two numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// It is one of them.
    Exactly,
    /// In their middle.
    AtTie,
    /// So near to the middle that twelve more bits do not tell it from there.
    BesideTie,
    /// Among numbers below the normal ones.
    Subnormal,
    /// Anywhere else.
    Elsewhere,
    /// It is rounded to infinity.
    Beyond,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(text: &str) -> u128 {
        Exact::parse(text).unwrap().round(SINGLE)
    }

    #[test]
    fn a_tie_goes_to_the_even_number_and_its_neighbours_do_not() {
        // 2^24 + 1 lies between 2^24 (even) and 2^24 + 2 (odd).
        assert_eq!(single("16777217"), 0x4b80_0000);
        assert_eq!(single("16777217.00000000000000000000000001"), 0x4b80_0001);
        assert_eq!(single("16777216.99999999999999999999999999"), 0x4b80_0000);
        assert_eq!(single("16777219"), 0x4b80_0002);
        assert_eq!(single("16777218.9999999999999999999"), 0x4b80_0001);
        assert_eq!(single("-0x1000001p0"), 0xcb80_0000);
    }

    #[test]
    fn subnormal_numbers_have_one_exponent() {
        // The least number is 2^-149; half of it is a tie with zero, one and a half of it one with its
        // double.
        assert_eq!((single("0x1p-149"), single("0x1p-150"), single("0x1.000001p-150")), (1, 0, 1));
        assert_eq!(single("0x3p-150"), 2);
        assert_eq!(single("0x0.ffffffp-126"), 0x0080_0000);
        assert_eq!(Exact::parse("4.9e-324").unwrap().round(DOUBLE), 1);
    }

    #[test]
    fn the_largest_number_ends_half_a_step_before_infinity() {
        assert_eq!(single("0x1.fffffep127"), 0x7f7f_ffff);
        assert_eq!(single("0x1.fffffeffffffp127"), 0x7f7f_ffff);
        assert_eq!(single("0x1.ffffffp127"), 0x7f80_0000);
    }

    #[test]
    fn the_library_of_rust_rounds_the_same() {
        for text in
            ["0.1", "1'0.5e-3", "123456.789e30", "2.2250738585072011e-308", "9007199254740993.0", "3.5"]
        {
            let plain = text.replace('\'', "");
            let (single, double) = (plain.parse::<f32>().unwrap(), plain.parse::<f64>().unwrap());
            let exact = Exact::parse(text).unwrap();
            assert_eq!(exact.round(SINGLE), u128::from(single.to_bits()), "{text}");
            assert_eq!(exact.round(DOUBLE), u128::from(double.to_bits()), "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let [half, third] = [Exact::integer(2, true).inverse(), Exact::integer(3, false).inverse()];
        assert!(half.plus(&third).is_equal(&Exact::integer(6, true).inverse()));
        assert!(half.multiplied(&third).is_equal(&Exact::integer(6, true).inverse()));
        assert_eq!(half.plus(&half.clone().negated()).round(SINGLE), 0);
    }

    #[test]
    fn a_middle_is_written_in_decimal() {
        // Between 1 and 1 + 2^-23.
        let middle = Exact::middle(0x3f80_0000, SINGLE);
        let (digits, power) = middle.digits(10);
        assert_eq!((&*digits.to_string(), power), ("1000000059604644775390625", -24));
        assert_eq!(middle.digits(16), (0x0100_0001u32.into(), -6));
        assert_eq!(Exact::parse(&format!("{digits}e{power}")).unwrap().place(SINGLE), Between::AtTie);
        assert_eq!(
            Exact::parse(&format!("{digits}1e{}", power - 1)).unwrap().place(SINGLE),
            Between::BesideTie
        );
        assert_eq!(Exact::parse("1.1").unwrap().place(SINGLE), Between::Elsewhere);
    }
}
