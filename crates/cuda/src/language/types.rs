//! The types that the variable of a case can have.

use ptxsmith_syntax::every;

every! {
    /// The type of a variable, without its qualifiers.
    #[expect(missing_docs, reason = "the names are those of C++")]
    pub enum VariableType {
        Bool,
        Char,
        SignedChar,
        UnsignedChar,
        WideChar,
        Char8,
        Char16,
        Char32,
        Short,
        UnsignedShort,
        Int,
        UnsignedInt,
        Long,
        UnsignedLong,
        LongLong,
        UnsignedLongLong,
        Int128,
        UnsignedInt128,
        Float,
        Double,
        LongDouble,
        Enumeration,
        ScopedEnumeration,
        Pointer,
        FunctionPointer,
        NullPointer,
        MemberPointer,
        Class,
        Union,
        Array,
        CharArray,
    }
}

/// The category of a type in C++, as far as the rule and the cases distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A standard integral type.
    Integral {
        /// Whether the type has negative values.
        signed: bool,
        /// The width in bits; 1 for `bool`.
        bits: u32,
    },
    /// An integral type that only some compilers support: 128-bit integers.
    Extended {
        /// Whether the type has negative values.
        signed: bool,
    },
    /// `float` or `double`, with the width in bits.
    Floating(u32),
    /// `long double`.
    LongDouble,
    /// An enumeration.
    Enumeration {
        /// Whether it is an `enum class`.
        scoped: bool,
    },
    /// A pointer to an object or to a function.
    Pointer,
    /// `decltype(nullptr)`.
    NullPointer,
    /// A pointer to a member.
    MemberPointer,
    /// A class or a union.
    Class,
    /// An array.
    Array,
}

impl VariableType {
    /// The spelling of the type in cases, its category, and the declaration that the spelling needs (empty if
    /// none).
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Category, &'static str) {
        const fn integral(signed: bool, bits: u32) -> Category {
            Category::Integral { signed, bits }
        }
        match self {
            VariableType::Bool => ("bool", integral(false, 1), ""),
            VariableType::Char => ("char", integral(true, 8), ""),
            VariableType::SignedChar => ("signed char", integral(true, 8), ""),
            VariableType::UnsignedChar => ("unsigned char", integral(false, 8), ""),
            VariableType::WideChar => ("wchar_t", integral(true, 32), ""),
            VariableType::Char8 => ("char8_t", integral(false, 8), ""),
            VariableType::Char16 => ("char16_t", integral(false, 16), ""),
            VariableType::Char32 => ("char32_t", integral(false, 32), ""),
            VariableType::Short => ("short", integral(true, 16), ""),
            VariableType::UnsignedShort => ("unsigned short", integral(false, 16), ""),
            VariableType::Int => ("int", integral(true, 32), ""),
            VariableType::UnsignedInt => ("unsigned", integral(false, 32), ""),
            VariableType::Long => ("long", integral(true, 64), ""),
            VariableType::UnsignedLong => ("unsigned long", integral(false, 64), ""),
            VariableType::LongLong => ("long long", integral(true, 64), ""),
            VariableType::UnsignedLongLong => ("unsigned long long", integral(false, 64), ""),
            VariableType::Int128 => ("__int128", Category::Extended { signed: true }, ""),
            VariableType::UnsignedInt128 => ("unsigned __int128", Category::Extended { signed: false }, ""),
            VariableType::Float => ("float", Category::Floating(32), ""),
            VariableType::Double => ("double", Category::Floating(64), ""),
            VariableType::LongDouble => ("long double", Category::LongDouble, ""),
            VariableType::Enumeration => ("E", Category::Enumeration { scoped: false }, "enum E { e0, e1 = 5, e2 = 9 };"),
            VariableType::ScopedEnumeration => ("E", Category::Enumeration { scoped: true }, "enum class E : int { e0, e1 = 5, e2 = 9 };"),
            VariableType::Pointer => ("A", Category::Pointer, "using A = const int *; extern int pointee;"),
            VariableType::FunctionPointer => ("A", Category::Pointer, "using A = int (*)(); int function();"),
            VariableType::NullPointer => ("A", Category::NullPointer, "using A = decltype(nullptr);"),
            VariableType::MemberPointer => ("A", Category::MemberPointer, "struct M0 { int x; }; using A = int M0::*;"),
            VariableType::Class => ("P", Category::Class, "struct P { int x; int y; __host__ __device__ constexpr int get() const { return x; } };"),
            VariableType::Union => ("U", Category::Class, "union U { int x; float y; };"),
            VariableType::Array => ("A", Category::Array, "using A = int[3];"),
            VariableType::CharArray => ("A", Category::Array, "using A = char[4];"),
        }
    }

    /// The spelling of the type in cases. Types without a keyword are spelled by a name that
    /// [`VariableType::declared`] declares.
    pub const fn spelled(self) -> &'static str {
        self.row().0
    }

    /// The category of the type in C++.
    pub const fn category(self) -> Category {
        self.row().1
    }

    /// The declaration that the spelling needs; empty if none.
    pub const fn declared(self) -> &'static str {
        self.row().2
    }

    /// Whether this is an integral type, standard or extended.
    pub const fn is_integral(self) -> bool {
        matches!(self.category(), Category::Integral { .. } | Category::Extended { .. })
    }

    /// Whether this is a floating-point type.
    pub const fn is_floating(self) -> bool {
        matches!(self.category(), Category::Floating(_) | Category::LongDouble)
    }

    /// Whether this is an integral or a floating-point type.
    pub const fn is_arithmetic(self) -> bool {
        self.is_integral() || self.is_floating()
    }

    /// Whether this is neither a class, a union nor an array.
    pub const fn is_scalar(self) -> bool {
        !matches!(self.category(), Category::Class | Category::Array)
    }
}
