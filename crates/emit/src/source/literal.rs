//! Literals and conversions in constant expressions, and their values.

use super::number::{Between, Exact};
use super::scalar::Scalar;

ptxsmith_syntax::every! {
    /// An operator on two numbers.
    pub enum ArithmeticOperator {
        /// Addition
        Plus = "+",
        /// Subtraction
        Minus = "-",
        /// Multiplication
        Times = "*",
        /// Division
        Over = "/",
    }
}

impl ArithmeticOperator {
    /// Returns the exact result. The second operand must not be zero.
    fn exact(self, one: &Exact, two: Exact) -> Exact {
        match self {
            ArithmeticOperator::Plus => one.plus(&two),
            ArithmeticOperator::Minus => one.plus(&two.negated()),
            ArithmeticOperator::Times => one.multiplied(&two),
            ArithmeticOperator::Over => one.multiplied(&two.inverse()),
        }
    }
}

/// The value of an arithmetic type, with the spelling of its expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CxxLiteral {
    /// The low bits of an integer.
    Integer(u128),
    /// A floating-point literal without its suffix, perhaps behind a minus, of this type; converted to the
    /// type of the scalar if that is another.
    Floating(String, Scalar),
    /// The low bits of an integer of this type, converted to floating point.
    Converted(u128, Scalar),
    /// The result of an operator on two numbers of this floating-point type, given by their bits. The second
    /// one is not zero.
    Computed(ArithmeticOperator, [u128; 2], Scalar),
}

impl CxxLiteral {
    /// Returns the bits of the value converted to this type, with `step` added to an integer so that array
    /// elements differ.
    fn bits(&self, scalar: Scalar, step: u128) -> u128 {
        match self {
            CxxLiteral::Integer(bits) if scalar == Scalar::Bool => bits & 1,
            CxxLiteral::Integer(bits) => bits.wrapping_add(step) & mask(8 * scalar.size()),
            _ => self.converted(scalar).unwrap_or_default(),
        }
    }

    /// Returns the exact number that is converted, with `None` if C++ leaves it undefined.
    ///
    /// A literal is rounded to its type once ([lex.fcon]). C++ leaves the choice between the two nearest
    /// numbers to the implementation; IEC 60559 does not.
    fn exact(&self) -> Option<Exact> {
        match self {
            CxxLiteral::Integer(_) => None,
            CxxLiteral::Floating(text, of) => {
                let (exact, format) = (Exact::parse(text)?, of.format()?);
                exact.is_within(format).then(|| Exact::of_bits(exact.round(format), format))
            }
            CxxLiteral::Computed(.., of) => {
                let (exact, format) = (self.before_rounding()?, of.format()?);
                exact.is_within(format).then(|| Exact::of_bits(exact.round(format), format))
            }
            CxxLiteral::Converted(bits, of) => {
                let value = signed(*bits, 8 * of.size());
                Some(if of.is_signed() && value < 0 {
                    Exact::integer(value.unsigned_abs(), true)
                } else {
                    Exact::integer(*bits, false)
                })
            }
        }
    }

    /// Returns the exact number that is rounded first.
    fn before_rounding(&self) -> Option<Exact> {
        match self {
            CxxLiteral::Integer(_) => None,
            CxxLiteral::Floating(text, _) => Exact::parse(text),
            CxxLiteral::Converted(..) => self.exact(),
            CxxLiteral::Computed(operator, operands, of) => {
                let format = of.format()?;
                let [one, two] = operands.map(|bits| Exact::of_bits(bits, format));
                Some(operator.exact(&one, two))
            }
        }
    }

    /// Converts a floating-point number, or to one ([conv.double], [conv.fpint], [conv.bool]); `None` if the
    /// type cannot represent the value, which is undefined.
    fn converted(&self, scalar: Scalar) -> Option<u128> {
        let exact = self.exact()?;
        if let Some(format) = scalar.format() {
            return exact.is_within(format).then(|| exact.round(format));
        }
        if scalar == Scalar::Bool {
            return Some(u128::from(!exact.is_zero()));
        }
        let (magnitude, is_negative) = exact.truncated()?;
        let sign = 1u128 << (8 * scalar.size() - 1);
        let fits = match (scalar.is_signed(), is_negative) {
            (true, true) => magnitude <= sign,
            (true, false) => magnitude < sign,
            (false, true) => false,
            (false, false) => magnitude <= mask(8 * scalar.size()),
        };
        let bits = if is_negative { magnitude.wrapping_neg() } else { magnitude };
        fits.then_some(bits & mask(8 * scalar.size()))
    }

    /// Returns true if C++ defines the value for this type.
    pub fn is_defined(&self, scalar: Scalar) -> bool {
        matches!(self, CxxLiteral::Integer(_)) || self.converted(scalar).is_some()
    }

    /// Returns the property of the number on which its correct conversion depends; empty if there is none.
    pub fn manner(&self, scalar: Scalar) -> &'static str {
        let scalar = scalar.plain();
        match self {
            CxxLiteral::Integer(_) => return "",
            CxxLiteral::Floating(text, of) if *of != scalar => {
                let place = Exact::parse(text).zip(of.format()).map(|(exact, format)| exact.place(format));
                return match place {
                    _ if scalar.is_floating() && text.contains("0x") => "hexadecimal converted",
                    Some(Between::AtTie) if !text.contains("0x") => "converted at a tie",
                    Some(Between::BesideTie) if !text.contains("0x") => "converted beside a tie",
                    _ => "converted",
                };
            }
            CxxLiteral::Computed(.., of) if *of != scalar => return "converted",
            _ => {}
        }
        let exact = self.before_rounding();
        let is_hexadecimal = matches!(self, CxxLiteral::Floating(text, _) if text.contains("0x"));
        let place = exact.zip(scalar.format()).map(|(exact, format)| exact.place(format));
        match (self, place, is_hexadecimal) {
            (CxxLiteral::Converted(..), Some(Between::AtTie | Between::BesideTie), _) => {
                "converted near a tie"
            }
            (CxxLiteral::Converted(..), ..) => "converted",
            (CxxLiteral::Computed(..), Some(Between::AtTie | Between::BesideTie), _) => "computed near a tie",
            (CxxLiteral::Computed(..), ..) => "computed",
            (_, Some(Between::AtTie), false) => "at a tie",
            (_, Some(Between::AtTie), true) => "hexadecimal at a tie",
            (_, Some(Between::BesideTie), false) => "beside a tie",
            (_, Some(Between::BesideTie), true) => "hexadecimal beside a tie",
            (_, Some(Between::Subnormal), false) => "subnormal",
            (_, Some(Between::Subnormal), true) => "hexadecimal subnormal",
            (_, _, true) => "hexadecimal",
            _ => "",
        }
    }

    /// Returns the bytes in memory order, for the array element at index `step`.
    pub fn bytes(&self, scalar: Scalar, step: u128) -> Vec<u8> {
        self.bits(scalar, step).to_le_bytes()[..scalar.size()].to_vec()
    }

    /// Returns the bytes of the value read from a bit field of this type and width.
    pub fn field_bytes(&self, scalar: Scalar, width: u32) -> Vec<u8> {
        // Further bits are padding.
        let width = width.min(8 * scalar.size() as u32);
        let bits = self.bits(scalar, 0) & mask(width as usize);
        let is_negative = scalar.is_signed() && width > 0 && bits >> (width - 1) & 1 == 1;
        let extended = if is_negative { bits | !mask(width as usize) } else { bits };
        extended.to_le_bytes()[..scalar.size()].to_vec()
    }

    /// Returns the value reduced to the range of a bit field.
    pub fn within(&self, scalar: Scalar, width: u32) -> CxxLiteral {
        let mut bytes = [0; 16];
        let field = self.field_bytes(scalar, width);
        bytes[..field.len()].copy_from_slice(&field);
        CxxLiteral::Integer(u128::from_le_bytes(bytes))
    }

    /// Prints an expression of this type.
    pub fn print(&self, scalar: Scalar, step: u128) -> String {
        let scalar = scalar.plain();
        let bits = self.bits(scalar, step);
        match (self, scalar) {
            (CxxLiteral::Floating(text, of), _) => {
                let suffix = if *of == Scalar::Float { "f" } else { "" };
                let cast = if *of == scalar { String::new() } else { format!("({})", scalar.name()) };
                format!("{cast}{text}{suffix}")
            }
            (CxxLiteral::Computed(operator, operands, of), _) => {
                let [one, two] = operands.map(|bits| hexadecimal(bits, *of));
                let cast = if *of == scalar { String::new() } else { format!("({})", scalar.name()) };
                format!("{cast}({one} {} {two})", operator.name())
            }
            (CxxLiteral::Converted(bits, of), _) => {
                format!("({}){}", scalar.name(), CxxLiteral::Integer(*bits).print(*of, 0))
            }
            (_, Scalar::Bool) => if bits == 1 { "true" } else { "false" }.to_owned(),
            (_, Scalar::Int128 | Scalar::UnsignedInt128) => wide(bits, scalar),
            (_, Scalar::UnsignedLongLong) => format!("{bits}ull"),
            (_, Scalar::Unsigned | Scalar::Char32 | Scalar::Loose) => cast(scalar, format!("{bits}u")),
            (_, Scalar::Wide | Scalar::Huge) => cast(scalar, format!("{bits}ull")),
            (_, Scalar::Long) => signed_long(signed(bits, 64)),
            _ if scalar.is_signed() => small(scalar, signed(bits, 8 * scalar.size())),
            _ => cast(scalar, bits.to_string()),
        }
    }
}

/// Prints a floating-point number exactly. It must not be zero.
fn hexadecimal(bits: u128, of: Scalar) -> String {
    let Some(format) = of.format() else { return bits.to_string() };
    let (digits, power) = Exact::of_bits(bits, format).digits(16);
    let digits = digits.to_str_radix(16);
    let short = digits.trim_end_matches('0');
    let power = power + (digits.len() - short.len()) as i64;
    let sign = if bits & format.sign() == 0 { "" } else { "-" };
    let suffix = if of == Scalar::Float { "f" } else { "" };
    format!("{sign}0x{short}p{}{suffix}", 4 * power)
}

fn cast(scalar: Scalar, number: String) -> String {
    if scalar == Scalar::Unsigned { number } else { format!("({}){number}", scalar.name()) }
}

fn small(scalar: Scalar, number: i128) -> String {
    match scalar {
        Scalar::Int if number == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        Scalar::Int => number.to_string(),
        _ => format!("({})({number})", scalar.name()),
    }
}

fn signed_long(number: i128) -> String {
    match number {
        number if number == i128::from(i64::MIN) => "(-9223372036854775807l - 1)".to_owned(),
        number => format!("{number}l"),
    }
}

fn wide(bits: u128, scalar: Scalar) -> String {
    match u64::try_from(bits) {
        Ok(low) => format!("({}){low}ull", scalar.name()),
        Err(_) => format!(
            "({})((unsigned __int128){}ull << 64 | {}ull)",
            scalar.name(),
            (bits >> 64) as u64,
            bits as u64
        ),
    }
}

fn mask(bits: usize) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

fn signed(bits: u128, width: usize) -> i128 {
    let shift = 128 - width as u32;
    (bits << shift) as i128 >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_field_keeps_the_low_bits_and_its_sign() {
        let value = CxxLiteral::Integer(0b1110_1101);
        assert_eq!(value.field_bytes(Scalar::Int, 4), (-3i32).to_le_bytes());
        assert_eq!(value.field_bytes(Scalar::Unsigned, 4), 13u32.to_le_bytes());
        assert_eq!(value.within(Scalar::Int, 4).print(Scalar::Int, 0), "-3");
        let minus_one = CxxLiteral::Integer(u128::MAX);
        assert_eq!(minus_one.field_bytes(Scalar::Int128, 140), [0xff; 16]);
        assert_eq!(minus_one.field_bytes(Scalar::Int, 40), (-1i32).to_le_bytes());
    }

    #[test]
    fn literals_are_spelled_in_their_type() {
        assert_eq!(CxxLiteral::Integer(1 << 31).print(Scalar::Int, 0), "(-2147483647 - 1)");
        assert_eq!(CxxLiteral::Integer(255).print(Scalar::SignedChar, 0), "(signed char)(-1)");
        assert_eq!(CxxLiteral::Integer(255).print(Scalar::Char16, 1), "(char16_t)256");
        assert_eq!(
            CxxLiteral::Integer(1 << 64).print(Scalar::Int128, 2),
            "(__int128)((unsigned __int128)1ull << 64 | 2ull)"
        );
        let literal = |text: &str, of| CxxLiteral::Floating(text.to_owned(), of);
        assert_eq!(literal("0x1000001p-2", Scalar::Float).print(Scalar::Float, 0), "0x1000001p-2f");
        assert_eq!(literal("-1.5", Scalar::Double).print(Scalar::Long, 0), "(long)-1.5");
        assert_eq!(
            CxxLiteral::Converted(7, Scalar::Int128).print(Scalar::Double, 0),
            "(double)(__int128)7ull"
        );
    }

    #[test]
    fn a_number_is_rounded_to_the_type_of_its_literal_and_then_to_that_of_the_scalar() {
        // 1 + 2^-24 + 2^-60: above the middle of two floats. As a double it is the middle, which goes to 1.
        let text = "0x1.000001000000001p0".to_owned();
        assert_eq!(CxxLiteral::Floating(text.clone(), Scalar::Float).bits(Scalar::Float, 0), 0x3f80_0001);
        assert_eq!(CxxLiteral::Floating(text, Scalar::Double).bits(Scalar::Float, 0), 0x3f80_0000);
        let minus = CxxLiteral::Floating("-1.99".to_owned(), Scalar::Float);
        assert_eq!(minus.bits(Scalar::Int, 0), 0xffff_ffff);
        assert!(!minus.is_defined(Scalar::Unsigned) && minus.is_defined(Scalar::Bool));
        let fraction = CxxLiteral::Floating("-0.99".to_owned(), Scalar::Double);
        assert!(fraction.is_defined(Scalar::Unsigned) && fraction.bits(Scalar::Unsigned, 0) == 0);
        assert_eq!(fraction.bits(Scalar::Bool, 0), 1);
    }

    #[test]
    fn a_result_is_rounded_once() {
        // 1.5 + 1.25, and 1 + 2^-53 + 2^-105, which is above a tie.
        let sum = |one, two, of| CxxLiteral::Computed(ArithmeticOperator::Plus, [one, two], of);
        let plain = sum(0x3fc0_0000, 0x3fa0_0000, Scalar::Float);
        assert_eq!(plain.bits(Scalar::Float, 0), 0x4030_0000);
        assert_eq!(plain.print(Scalar::Double, 0), "(double)(0x18p-4f + 0x14p-4f)");
        let beside = sum(0x3ff0_0000_0000_0000, 0x3ca0_0000_0000_0001, Scalar::Double);
        assert_eq!(beside.bits(Scalar::Double, 0), 0x3ff0_0000_0000_0001);
        assert_eq!(beside.manner(Scalar::Double), "computed near a tie");
    }

    #[test]
    fn an_integer_is_rounded_once() {
        // 2^24 + 1 is a tie of floats; 2^64 - 1 is rounded up to 2^64; 2^127 is a negative number of a signed
        // type.
        assert_eq!(CxxLiteral::Converted((1 << 24) + 1, Scalar::Int).bits(Scalar::Float, 0), 0x4b80_0000);
        let ones = CxxLiteral::Converted(u128::from(u64::MAX), Scalar::UnsignedLongLong);
        assert_eq!(ones.bits(Scalar::Double, 0), 0x43f0_0000_0000_0000);
        assert_eq!(CxxLiteral::Converted(1 << 127, Scalar::Int128).bits(Scalar::Float, 0), 0xff00_0000);
        // 2^128 - 1 is above the largest float.
        assert!(!CxxLiteral::Converted(u128::MAX, Scalar::UnsignedInt128).is_defined(Scalar::Float));
    }
}
