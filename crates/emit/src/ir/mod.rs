//! Globals of LLVM's IR: their types and values, their layout, and `llc` as the compiler under test.

pub mod generate;
pub mod layout;
pub mod llc;
mod print;
mod variants;

use num_bigint::BigUint;

/// One global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmGlobal {
    /// The number in the campaign, which is the suffix of its name.
    pub number: u64,
    /// The address space: 1, or 4 for constants.
    pub space: u32,
    /// The linkage.
    pub linkage: LlvmLinkage,
    /// The explicit alignment.
    pub align: Option<u32>,
    /// The type and value.
    pub ty: LlvmType,
}

ptxsmith_syntax::every! {
    /// The linkage of a global.
    pub enum LlvmLinkage {
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
pub enum LlvmType {
    /// An integer of this width.
    Integer(u32, BigUint),
    /// A floating-point number with these bits.
    Float(Float, u128),
    /// A pointer.
    Pointer(LlvmPointer, i64),
    /// An integer of 64 bits made of an address.
    Address(LlvmPointer, i64),
    /// A vector.
    Vector(Box<LlvmType>, u32),
    /// An array.
    Array(Box<LlvmType>, u32),
    /// A structure.
    Struct {
        /// Whether it has no padding.
        is_packed: bool,
        /// The members.
        members: Vec<LlvmType>,
    },
    /// A type with a value that is written as one word.
    Whole(TypelessValue, Box<LlvmType>),
}

ptxsmith_syntax::every! {
    /// A value of any type.
    pub enum TypelessValue {
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
    pub enum LlvmPointer {
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

impl LlvmPointer {
    /// Returns the symbol.
    pub fn symbol(self) -> Option<&'static str> {
        match self {
            LlvmPointer::Null => None,
            LlvmPointer::Global | LlvmPointer::Generic => Some("targets"),
            LlvmPointer::Constant => Some("table"),
            LlvmPointer::Function => Some("function"),
        }
    }
}

impl LlvmGlobal {
    /// Returns the type without values and names, for ids.
    pub fn shape(&self) -> String {
        let mut words = vec![self.ty.shape()];
        if self.linkage != LlvmLinkage::External {
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

impl LlvmType {
    /// Returns the kind of a scalar, for reports.
    fn kind(&self) -> &'static str {
        match self {
            LlvmType::Integer(1, _) => "i1",
            LlvmType::Integer(8 | 16 | 32 | 64, _) => "integer",
            LlvmType::Integer(width, _) if width % 8 == 0 && *width > 64 => "wide integer",
            LlvmType::Integer(width, _) if *width > 64 => "wide integer of odd width",
            LlvmType::Integer(..) => "integer of odd width",
            LlvmType::Float(float, _) => float.name(),
            LlvmType::Pointer(pointer, offset) | LlvmType::Address(pointer, offset) if *offset == 0 => {
                pointer.name()
            }
            LlvmType::Pointer(_, offset) | LlvmType::Address(_, offset) if *offset < 0 => "address before",
            LlvmType::Pointer(..) | LlvmType::Address(..) => "address with an offset",
            LlvmType::Vector(..) => "vector",
            LlvmType::Array(..) => "array",
            LlvmType::Struct { .. } => "structure",
            LlvmType::Whole(..) => "whole",
        }
    }

    fn shape(&self) -> String {
        match self {
            LlvmType::Integer(8 | 16 | 32 | 64, _) => "int".to_owned(),
            LlvmType::Integer(..) => self.kind().to_owned(),
            LlvmType::Float(float, _) => float.name().to_owned(),
            LlvmType::Pointer(pointer, offset) => format!("{}{}", pointer.name(), sign(*offset)),
            LlvmType::Address(pointer, offset) => format!("ptrtoint {}{}", pointer.name(), sign(*offset)),
            LlvmType::Vector(element, length) => {
                let length = if length.is_power_of_two() { "N" } else { "odd" };
                format!("<{length} x {}>", element.shape())
            }
            LlvmType::Array(element, _) => format!("[N x {}]", element.shape()),
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members.iter().map(LlvmType::shape).collect();
                format!("{}{{ {} }}", if *is_packed { "packed " } else { "" }, members.join("; "))
            }
            LlvmType::Whole(whole, ty) => format!("{} {}", whole.name(), ty.shape()),
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
