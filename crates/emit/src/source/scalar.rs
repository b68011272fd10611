//! Arithmetic types of C++.

use super::number::{BFLOAT, DOUBLE, FloatFormat, HALF, SINGLE};

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
        /// `char8_t` (C++20)
        Char8 = "char8_t",
        /// An enumeration of one byte.
        Tiny = "Tiny",
        /// An enumeration of 8 bytes.
        Wide = "Wide",
        /// An enumeration without a fixed underlying type, whose values are those of `unsigned`.
        Loose = "Loose",
        /// One whose values are those of `int`.
        Negative = "Negative",
        /// One whose values are those of `unsigned long`.
        Huge = "Huge",
        /// `_Float16`, which has no literals: its values are converted.
        Half = "_Float16",
        /// `__bf16`, which has no literals either.
        Bfloat = "__bf16",
        /// `float`
        Float = "float",
        /// `double`
        Double = "double",
        /// `short` aligned to 1.
        UnderShort = "Short1",
        /// `int` aligned to 2.
        UnderInt = "Int2",
        /// `long` aligned to 4.
        UnderLong = "Long4",
        /// `double` aligned to 4.
        UnderDouble = "Double4",
        /// `__int128` aligned to 8.
        UnderInt128 = "Int128x8",
        /// `char` aligned to 8.
        OverChar = "CharAt8",
        /// `int` aligned to 16.
        OverInt = "Int16",
    }
}

impl Scalar {
    /// Returns the type without the alignment that a `typedef` of the prelude gives it.
    pub fn plain(self) -> Scalar {
        match self {
            Scalar::UnderShort => Scalar::Short,
            Scalar::UnderInt | Scalar::OverInt => Scalar::Int,
            Scalar::UnderLong => Scalar::Long,
            Scalar::UnderDouble => Scalar::Double,
            Scalar::UnderInt128 => Scalar::Int128,
            Scalar::OverChar => Scalar::Char,
            other => other,
        }
    }

    /// Returns true for a `typedef` with another alignment.
    pub fn is_realigned(self) -> bool {
        self.plain() != self
    }

    /// Returns true for a `typedef` aligned to more than its size, which cannot be the element of an array.
    pub fn is_over_aligned(self) -> bool {
        matches!(self, Scalar::OverChar | Scalar::OverInt)
    }

    /// Returns the size in bytes, which is the same on every Linux platform that CUDA supports.
    pub fn size(self) -> usize {
        match self.plain() {
            Scalar::Bool
            | Scalar::Char
            | Scalar::SignedChar
            | Scalar::UnsignedChar
            | Scalar::Char8
            | Scalar::Tiny => 1,
            Scalar::Short | Scalar::UnsignedShort | Scalar::Char16 => 2,
            Scalar::Half | Scalar::Bfloat => 2,
            Scalar::Int | Scalar::Unsigned | Scalar::Wchar | Scalar::Char32 => 4,
            Scalar::Loose | Scalar::Negative | Scalar::Float => 4,
            Scalar::Long | Scalar::UnsignedLongLong | Scalar::Wide | Scalar::Huge | Scalar::Double => 8,
            _ => 16,
        }
    }

    /// Returns the number of bits of a value.
    pub fn bits(self) -> usize {
        if self == Scalar::Bool { 1 } else { 8 * self.size() }
    }

    /// Returns true if the type has negative values.
    pub fn is_signed(self) -> bool {
        matches!(
            self.plain(),
            Scalar::Char
                | Scalar::SignedChar
                | Scalar::Short
                | Scalar::Int
                | Scalar::Long
                | Scalar::Int128
                | Scalar::Wchar
                | Scalar::Tiny
                | Scalar::Negative
        )
    }

    /// Returns true for floating-point types.
    pub fn is_floating(self) -> bool {
        self.format().is_some()
    }

    /// Returns true for floating-point types without literals of their own.
    pub fn lacks_literals(self) -> bool {
        matches!(self, Scalar::Half | Scalar::Bfloat)
    }

    /// Returns the format of a floating-point type.
    pub fn format(self) -> Option<FloatFormat> {
        match self.plain() {
            Scalar::Half => Some(HALF),
            Scalar::Bfloat => Some(BFLOAT),
            Scalar::Float => Some(SINGLE),
            Scalar::Double => Some(DOUBLE),
            _ => None,
        }
    }

    /// Returns true if the type is allowed for bit fields. Compilers disagree about bit fields of types with an
    /// alignment of their own.
    pub fn is_integral(self) -> bool {
        !self.is_floating() && !self.is_realigned()
    }

    /// Returns the prefix of a string literal of this character type.
    pub fn string_prefix(self) -> Option<&'static str> {
        match self {
            Scalar::Char | Scalar::SignedChar | Scalar::UnsignedChar => Some(""),
            Scalar::Wchar => Some("L"),
            Scalar::Char16 => Some("u"),
            Scalar::Char32 => Some("U"),
            Scalar::Char8 => Some("u8"),
            _ => None,
        }
    }
}
