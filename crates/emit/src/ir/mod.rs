//! Globals of LLVM's IR: their types and values, their layout, and `llc` as the compiler under test.

pub mod generate;
pub mod layout;
pub mod llc;
mod print;
mod variants;

use num_bigint::BigUint;

/// One global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The number in the campaign, which is the suffix of its name.
    pub number: u64,
    /// The address space: 1, or 4 for constants.
    pub space: u32,
    /// The linkage.
    pub linkage: Linkage,
    /// The explicit alignment.
    pub align: Option<u32>,
    /// The type and value.
    pub ty: Type,
}

ptxsmith_syntax::every! {
    /// The linkage of a global.
    pub enum Linkage {
        /// The default.
        External = "",
        /// `internal`
        Internal = "internal",
        /// `weak_odr`
        Weak = "weak_odr",
        /// `linkonce_odr`
        Linkonce = "linkonce_odr",
    }
}

/// A type, with the value of an object of this type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer of this width.
    Integer(u32, BigUint),
    /// A floating-point number with these bits.
    Float(Float, u128),
    /// A pointer.
    Pointer(Pointer, i64),
    /// An integer of 64 bits made of an address.
    Address(Pointer, i64),
    /// A vector.
    Vector(Box<Type>, u32),
    /// An array.
    Array(Box<Type>, u32),
    /// A structure.
    Struct {
        /// Whether it has no padding.
        is_packed: bool,
        /// The members.
        members: Vec<Type>,
    },
    /// A type whose value is one of these words.
    Whole(Whole, Box<Type>),
}

ptxsmith_syntax::every! {
    /// A value of any type.
    pub enum Whole {
        /// All zeros.
        Zero = "zeroinitializer",
        /// Any value.
        Undef = "undef",
        /// No value.
        Poison = "poison",
    }
}

ptxsmith_syntax::every! {
    /// The type of a floating-point number.
    pub enum Float {
        /// 16 bits
        Half = "half",
        /// 16 bits
        Bfloat = "bfloat",
        /// 32 bits
        Single = "float",
        /// 64 bits
        Double = "double",
        /// 128 bits
        Quad = "fp128",
    }
}

impl Float {
    /// Returns the size in bytes.
    pub fn size(self) -> u64 {
        match self {
            Float::Half | Float::Bfloat => 2,
            Float::Single => 4,
            Float::Double => 8,
            Float::Quad => 16,
        }
    }
}

ptxsmith_syntax::every! {
    /// The object of a pointer, with the address space of the pointer.
    pub enum Pointer {
        /// A null pointer.
        Null = "null *",
        /// An array, as an address of its own space.
        Global = "global *",
        /// The same array, as a generic address.
        Generic = "*",
        /// A table in `.const`.
        Constant = "constant *",
        /// A function.
        Function = "function *",
    }
}

impl Pointer {
    /// Returns the symbol.
    pub fn symbol(self) -> Option<&'static str> {
        match self {
            Pointer::Null => None,
            Pointer::Global | Pointer::Generic => Some("targets"),
            Pointer::Constant => Some("table"),
            Pointer::Function => Some("function"),
        }
    }
}

impl Global {
    /// Returns the type without values and names, for ids.
    pub fn shape(&self) -> String {
        let mut words = vec![self.ty.shape()];
        if self.linkage != Linkage::External {
            words.insert(0, self.linkage.name().to_owned());
        }
        if self.space == 4 {
            words.insert(0, "constant".to_owned());
        }
        if self.align.is_some() {
            words.push("align".to_owned());
        }
        words.join(" ")
    }
}

impl Type {
    /// Returns the kind of a scalar, for reports.
    fn kind(&self) -> &'static str {
        match self {
            Type::Integer(1, _) => "i1",
            Type::Integer(8 | 16 | 32 | 64, _) => "integer",
            Type::Integer(width, _) if width % 8 == 0 && *width > 64 => "wide integer",
            Type::Integer(width, _) if *width > 64 => "wide integer of odd width",
            Type::Integer(..) => "integer of odd width",
            Type::Float(float, _) => float.name(),
            Type::Pointer(pointer, offset) | Type::Address(pointer, offset) if *offset == 0 => pointer.name(),
            Type::Pointer(_, offset) | Type::Address(_, offset) if *offset < 0 => "address before",
            Type::Pointer(..) | Type::Address(..) => "address with an offset",
            Type::Vector(..) => "vector",
            Type::Array(..) => "array",
            Type::Struct { .. } => "structure",
            Type::Whole(..) => "whole",
        }
    }

    fn shape(&self) -> String {
        match self {
            Type::Integer(8 | 16 | 32 | 64, _) => "int".to_owned(),
            Type::Integer(..) => self.kind().to_owned(),
            Type::Float(float, _) => float.name().to_owned(),
            Type::Pointer(pointer, offset) => format!("{}{}", pointer.name(), sign(*offset)),
            Type::Address(pointer, offset) => format!("ptrtoint {}{}", pointer.name(), sign(*offset)),
            Type::Vector(element, length) => {
                let length = if length.is_power_of_two() { "N" } else { "odd" };
                format!("<{length} x {}>", element.shape())
            }
            Type::Array(element, _) => format!("[N x {}]", element.shape()),
            Type::Struct { is_packed, members } => {
                let members: Vec<String> = members.iter().map(Type::shape).collect();
                format!("{}{{ {} }}", if *is_packed { "packed " } else { "" }, members.join("; "))
            }
            Type::Whole(whole, ty) => format!("{} {}", whole.name(), ty.shape()),
        }
    }
}

fn sign(offset: i64) -> &'static str {
    match offset {
        0 => "",
        1.. => "+N",
        _ => "-N",
    }
}
