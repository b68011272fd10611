//! Arithmetic types of C++ and their literals.

ptxsmith_syntax::every! {
    /// An arithmetic type, or an enumeration of the prelude.
    pub enum Scalar {
        /// `bool`
        Bool = "bool",
        /// `char`
        Char = "char",
        /// `signed char`
        SignedChar = "signed char",
        /// `unsigned char`
        UnsignedChar = "unsigned char",
        /// `short`
        Short = "short",
        /// `unsigned short`
        UnsignedShort = "unsigned short",
        /// `int`
        Int = "int",
        /// `unsigned`
        Unsigned = "unsigned",
        /// `long`
        Long = "long",
        /// `unsigned long long`
        UnsignedLongLong = "unsigned long long",
        /// `__int128`
        Int128 = "__int128",
        /// `unsigned __int128`
        UnsignedInt128 = "unsigned __int128",
        /// `wchar_t`
        Wchar = "wchar_t",
        /// `char16_t`
        Char16 = "char16_t",
        /// `char32_t`
        Char32 = "char32_t",
        /// An enumeration of one byte.
        Tiny = "Tiny",
        /// An enumeration of 8 bytes.
        Wide = "Wide",
        /// `float`
        Float = "float",
        /// `double`
        Double = "double",
    }
}

impl Scalar {
    /// Returns the size in bytes, which is the same on every Linux platform that CUDA supports.
    pub fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::Char | Scalar::SignedChar | Scalar::UnsignedChar | Scalar::Tiny => 1,
            Scalar::Short | Scalar::UnsignedShort | Scalar::Char16 => 2,
            Scalar::Int | Scalar::Unsigned | Scalar::Wchar | Scalar::Char32 | Scalar::Float => 4,
            Scalar::Long | Scalar::UnsignedLongLong | Scalar::Wide | Scalar::Double => 8,
            Scalar::Int128 | Scalar::UnsignedInt128 => 16,
        }
    }

    /// Returns true if the type has negative values.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Scalar::Char
                | Scalar::SignedChar
                | Scalar::Short
                | Scalar::Int
                | Scalar::Long
                | Scalar::Int128
                | Scalar::Wchar
                | Scalar::Tiny
        )
    }

    /// Returns true for floating-point types.
    pub fn is_floating(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double)
    }

    /// Returns true if the type is allowed for bit fields.
    pub fn is_integral(self) -> bool {
        !self.is_floating()
    }

    /// Returns the prefix of a string literal of this character type.
    pub fn string_prefix(self) -> Option<&'static str> {
        match self {
            Scalar::Char | Scalar::SignedChar | Scalar::UnsignedChar => Some(""),
            Scalar::Wchar => Some("L"),
            Scalar::Char16 => Some("u"),
            Scalar::Char32 => Some("U"),
            _ => None,
        }
    }
}

/// The value of an arithmetic type, with the spelling of its literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// The low bits of an integer.
    Integer(u128),
    /// A decimal floating-point number without a suffix.
    Decimal(String),
    /// A 128-bit signed integer converted to floating point.
    Converted(i128),
    /// A hexadecimal floating-point number: this integer times a power of two. The result is neither subnormal nor
    /// infinite.
    Hexadecimal(u64, i32),
}

impl Literal {
    /// Returns the bits of the value converted to this type, with `step` added so that array elements differ.
    fn bits(&self, scalar: Scalar, step: u128) -> u128 {
        match self {
            Literal::Integer(bits) if scalar == Scalar::Bool => bits & 1,
            Literal::Integer(bits) => bits.wrapping_add(step) & mask(8 * scalar.size()),
            // Rounded once, to the nearest value ([lex.fcon], [conv.fpint]).
            _ if scalar == Scalar::Float => u128::from(self.single().to_bits()),
            _ => u128::from(self.double().to_bits()),
        }
    }

    fn single(&self) -> f32 {
        match self {
            Literal::Integer(_) => 0.0,
            Literal::Decimal(text) => text.parse().unwrap_or_default(),
            Literal::Converted(integer) => *integer as f32,
            Literal::Hexadecimal(integer, power) => (*integer as f32) * 2f32.powi(*power),
        }
    }

    fn double(&self) -> f64 {
        match self {
            Literal::Integer(_) => 0.0,
            Literal::Decimal(text) => text.parse().unwrap_or_default(),
            Literal::Converted(integer) => *integer as f64,
            Literal::Hexadecimal(integer, power) => (*integer as f64) * 2f64.powi(*power),
        }
    }

    /// Returns the bytes in memory order, for the array element at index `step`.
    pub fn bytes(&self, scalar: Scalar, step: u128) -> Vec<u8> {
        self.bits(scalar, step).to_le_bytes()[..scalar.size()].to_vec()
    }

    /// Returns the bytes of the value read from a bit field of this type and width.
    pub fn field_bytes(&self, scalar: Scalar, width: u32) -> Vec<u8> {
        let bits = self.bits(scalar, 0) & mask(width as usize);
        let is_negative = scalar.is_signed() && width > 0 && bits >> (width - 1) & 1 == 1;
        let extended = if is_negative { bits | !mask(width as usize) } else { bits };
        extended.to_le_bytes()[..scalar.size()].to_vec()
    }

    /// Returns the value reduced to the range of a bit field.
    pub fn within(&self, scalar: Scalar, width: u32) -> Literal {
        let mut bytes = [0; 16];
        let field = self.field_bytes(scalar, width);
        bytes[..field.len()].copy_from_slice(&field);
        Literal::Integer(u128::from_le_bytes(bytes))
    }

    /// Prints an expression of this type.
    pub fn print(&self, scalar: Scalar, step: u128) -> String {
        let bits = self.bits(scalar, step);
        match (self, scalar) {
            (Literal::Decimal(text), Scalar::Float) => format!("{text}f"),
            (Literal::Decimal(text), _) => text.clone(),
            (Literal::Converted(integer), _) => {
                format!("({}){}", scalar.name(), wide(*integer as u128, Scalar::Int128))
            }
            (Literal::Hexadecimal(integer, power), _) => {
                let suffix = if scalar == Scalar::Float { "f" } else { "" };
                format!("{integer:#x}p{power}{suffix}")
            }
            (_, Scalar::Bool) => if bits == 1 { "true" } else { "false" }.to_owned(),
            (_, Scalar::Int128 | Scalar::UnsignedInt128) => wide(bits, scalar),
            (_, Scalar::UnsignedLongLong) => format!("{bits}ull"),
            (_, Scalar::Unsigned | Scalar::Char32) => cast(scalar, format!("{bits}u")),
            (_, Scalar::Wide) => format!("(Wide){bits}ull"),
            (_, Scalar::Long) => signed_long(signed(bits, 64)),
            _ if scalar.is_signed() => small(scalar, signed(bits, 8 * scalar.size())),
            _ => cast(scalar, bits.to_string()),
        }
    }
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
        let value = Literal::Integer(0b1110_1101);
        assert_eq!(value.field_bytes(Scalar::Int, 4), (-3i32).to_le_bytes());
        assert_eq!(value.field_bytes(Scalar::Unsigned, 4), 13u32.to_le_bytes());
        assert_eq!(value.within(Scalar::Int, 4).print(Scalar::Int, 0), "-3");
    }

    #[test]
    fn literals_are_spelled_in_their_type() {
        assert_eq!(Literal::Integer(1 << 31).print(Scalar::Int, 0), "(-2147483647 - 1)");
        assert_eq!(Literal::Integer(255).print(Scalar::SignedChar, 0), "(signed char)(-1)");
        assert_eq!(Literal::Integer(255).print(Scalar::Char16, 1), "(char16_t)256");
        assert_eq!(
            Literal::Integer(1 << 64).print(Scalar::Int128, 2),
            "(__int128)((unsigned __int128)1ull << 64 | 2ull)"
        );
        assert_eq!(Literal::Hexadecimal(0x0100_0001, -2).print(Scalar::Float, 0), "0x1000001p-2f");
        // 2^24 + 1 lies between two numbers of single precision and is rounded to the even one.
        assert_eq!(Literal::Converted((1 << 24) + 1).bytes(Scalar::Float, 0), 16_777_216f32.to_le_bytes());
        assert_eq!(Literal::Decimal("0.1".to_owned()).bytes(Scalar::Float, 0), 0x3dcc_cccd_u32.to_le_bytes());
    }
}
