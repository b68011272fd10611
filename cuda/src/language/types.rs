//! The types of the variables.

/// The type of a variable, without its qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of C++")]
pub enum Type {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    WideChar,
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

/// What C++ calls a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A standard integral type; with a sign or not, and its width in bits.
    Integral {
        /// Whether it has negative values.
        signed: bool,
        /// Its width; of `bool` 1.
        bits: u32,
    },
    /// An integral type that only some compilers have.
    Extended {
        /// Whether it has negative values.
        signed: bool,
    },
    /// `float` and `double`, with their width in bits.
    Floating(u32),
    /// `long double`.
    LongDouble,
    /// An enumeration; whether it is scoped.
    Enumeration {
        /// `enum class`.
        scoped: bool,
    },
    /// A pointer, also to a function.
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

impl Type {
    /// Every type.
    pub const ALL: [Type; 30] = [
        Type::Bool,
        Type::Char,
        Type::SignedChar,
        Type::UnsignedChar,
        Type::WideChar,
        Type::Char16,
        Type::Char32,
        Type::Short,
        Type::UnsignedShort,
        Type::Int,
        Type::UnsignedInt,
        Type::Long,
        Type::UnsignedLong,
        Type::LongLong,
        Type::UnsignedLongLong,
        Type::Int128,
        Type::UnsignedInt128,
        Type::Float,
        Type::Double,
        Type::LongDouble,
        Type::Enumeration,
        Type::ScopedEnumeration,
        Type::Pointer,
        Type::FunctionPointer,
        Type::NullPointer,
        Type::MemberPointer,
        Type::Class,
        Type::Union,
        Type::Array,
        Type::CharArray,
    ];

    /// How the case spells it; types that C++ has no word for are declared as [`Type::declared`] says.
    pub const fn spelled(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::Char => "char",
            Type::SignedChar => "signed char",
            Type::UnsignedChar => "unsigned char",
            Type::WideChar => "wchar_t",
            Type::Char16 => "char16_t",
            Type::Char32 => "char32_t",
            Type::Short => "short",
            Type::UnsignedShort => "unsigned short",
            Type::Int => "int",
            Type::UnsignedInt => "unsigned",
            Type::Long => "long",
            Type::UnsignedLong => "unsigned long",
            Type::LongLong => "long long",
            Type::UnsignedLongLong => "unsigned long long",
            Type::Int128 => "__int128",
            Type::UnsignedInt128 => "unsigned __int128",
            Type::Float => "float",
            Type::Double => "double",
            Type::LongDouble => "long double",
            Type::Enumeration | Type::ScopedEnumeration => "E",
            Type::Pointer | Type::FunctionPointer | Type::NullPointer | Type::MemberPointer => "A",
            Type::Class => "P",
            Type::Union => "U",
            Type::Array | Type::CharArray => "A",
        }
    }

    /// The declaration that the spelling needs, if any.
    pub const fn declared(self) -> &'static str {
        match self {
            Type::Enumeration => "enum E { e0, e1 = 5, e2 = 9 };",
            Type::ScopedEnumeration => "enum class E : int { e0, e1 = 5, e2 = 9 };",
            Type::Pointer => "using A = const int *; extern int pointee;",
            Type::FunctionPointer => "using A = int (*)(); int function();",
            Type::NullPointer => "using A = decltype(nullptr);",
            Type::MemberPointer => "struct M0 { int x; }; using A = int M0::*;",
            Type::Class => {
                "struct P { int x; int y; __host__ __device__ constexpr int get() const { return x; } };"
            }
            Type::Union => "union U { int x; float y; };",
            Type::Array => "using A = int[3];",
            Type::CharArray => "using A = char[4];",
            _ => "",
        }
    }

    /// What C++ calls it.
    pub const fn category(self) -> Category {
        const fn integral(signed: bool, bits: u32) -> Category {
            Category::Integral { signed, bits }
        }
        match self {
            Type::Bool => integral(false, 1),
            Type::Char | Type::SignedChar => integral(true, 8),
            Type::UnsignedChar => integral(false, 8),
            Type::WideChar | Type::Int => integral(true, 32),
            Type::Char16 | Type::UnsignedShort => integral(false, 16),
            Type::Char32 | Type::UnsignedInt => integral(false, 32),
            Type::Short => integral(true, 16),
            Type::Long | Type::LongLong => integral(true, 64),
            Type::UnsignedLong | Type::UnsignedLongLong => integral(false, 64),
            Type::Int128 => Category::Extended { signed: true },
            Type::UnsignedInt128 => Category::Extended { signed: false },
            Type::Float => Category::Floating(32),
            Type::Double => Category::Floating(64),
            Type::LongDouble => Category::LongDouble,
            Type::Enumeration => Category::Enumeration { scoped: false },
            Type::ScopedEnumeration => Category::Enumeration { scoped: true },
            Type::Pointer | Type::FunctionPointer => Category::Pointer,
            Type::NullPointer => Category::NullPointer,
            Type::MemberPointer => Category::MemberPointer,
            Type::Class | Type::Union => Category::Class,
            Type::Array | Type::CharArray => Category::Array,
        }
    }

    /// Whether it has integral values: the integral types, also the extended ones.
    pub const fn is_integral(self) -> bool {
        matches!(self.category(), Category::Integral { .. } | Category::Extended { .. })
    }

    /// Whether it is a floating-point type.
    pub const fn is_floating(self) -> bool {
        matches!(self.category(), Category::Floating(_) | Category::LongDouble)
    }

    /// Whether it is one or the other.
    pub const fn is_arithmetic(self) -> bool {
        self.is_integral() || self.is_floating()
    }

    /// Whether it has no parts: everything but classes and arrays.
    pub const fn is_scalar(self) -> bool {
        !matches!(self.category(), Category::Class | Category::Array)
    }
}
