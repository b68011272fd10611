//! Globals of LLVM's IR: their types and values, their layout, and `llc` as the compiler under test.

pub mod address;
pub mod filecheck;
pub mod generate;
pub mod judge;
pub mod layout;
pub mod llc;
pub mod names;
mod print;
mod variants;

use address::{AddressInteger, IntegerForm, LlvmAddress};
use names::OddName;
use num_bigint::BigUint;
use print::stepped;

/// One global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmGlobal {
    /// The number in the campaign, which is the suffix of its name.
    pub number: u64,
    /// The address space: 0, 1, or 4 for constants.
    pub space: u32,
    /// The linkage.
    pub linkage: LlvmLinkage,
    /// The explicit alignment.
    pub align: Option<u32>,
    /// The name of the variable to which [`address::LlvmPointer::Named`] points.
    pub name: OddName,
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
        /// `private`
        Private = "private",
        /// `weak`
        Weak = "weak",
        /// `weak_odr`
        WeakOdr = "weak_odr",
        /// `linkonce`
        Linkonce = "linkonce",
        /// `linkonce_odr`
        LinkonceOdr = "linkonce_odr",
        /// `common`, for zeros only
        Common = "common",
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
    Pointer(LlvmAddress),
    /// An integer made of an address.
    Address(LlvmAddress, AddressInteger),
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
    /// An array or a vector whose element at this index is written as one word.
    Holed(Box<LlvmType>, u32, TypelessValue),
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
        /// 80 bits
        Extended = "x86_fp80",
    }
}

impl Float {
    /// Returns the size in bytes, without padding.
    pub fn size(self) -> u64 {
        match self {
            Float::Half | Float::Bfloat => 2,
            Float::Single => 4,
            Float::Double => 8,
            Float::Quad => 16,
            Float::Extended => 10,
        }
    }
}

impl LlvmGlobal {
    /// Returns an external variable in `.global`, the first of its module.
    #[cfg(test)]
    pub(super) fn plain(ty: LlvmType) -> LlvmGlobal {
        let linkage = LlvmLinkage::External;
        LlvmGlobal { number: 0, space: 1, linkage, align: None, name: OddName::Plain, ty }
    }

    /// Returns the type without values and names, for ids.
    pub fn shape(&self) -> String {
        let mut words = vec![self.ty.shape()];
        if self.linkage != LlvmLinkage::External {
            words.insert(0, self.linkage.name().to_owned());
        }
        match self.space {
            4 => words.insert(0, "constant".to_owned()),
            0 => words.insert(0, "generic".to_owned()),
            _ => {}
        }
        if self.align.is_some() {
            words.push("align".to_owned());
        }
        let named = format!("named {:?} *", self.name).to_lowercase();
        words.join(" ").replace("named *", &named)
    }

    /// Returns the global for a compiler of the host, which has no integers of a part of an address.
    pub fn for_host(&self) -> LlvmGlobal {
        LlvmGlobal { linkage: LlvmLinkage::External, ty: self.ty.for_host(), ..self.clone() }
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
            LlvmType::Address(_, made) if *made != AddressInteger::WHOLE => made.form.name(),
            LlvmType::Pointer(address) | LlvmType::Address(address, _) => match address.offset {
                0 => address.object.name(),
                1.. => "address with an offset",
                _ => "address before",
            },
            LlvmType::Vector(..) => "vector",
            LlvmType::Array(..) => "array",
            LlvmType::Struct { .. } => "structure",
            LlvmType::Whole(..) | LlvmType::Holed(..) => "whole",
        }
    }

    fn shape(&self) -> String {
        match self {
            LlvmType::Integer(8 | 16 | 32 | 64, _) => "int".to_owned(),
            LlvmType::Integer(..) => self.kind().to_owned(),
            LlvmType::Float(float, _) => float.name().to_owned(),
            LlvmType::Pointer(address) => address.shape(),
            LlvmType::Address(address, made) => {
                let width = match made.width {
                    64 => "",
                    65.. => " wide",
                    _ => " narrow",
                };
                format!("{}{width} {}", made.form.name(), address.shape())
            }
            LlvmType::Vector(element, length) => {
                let length = if length.is_power_of_two() { "N" } else { "odd" };
                let element = match **element {
                    LlvmType::Integer(2.., _) if is_of_bits(element) => "bits".to_owned(),
                    _ => element.shape(),
                };
                let hole = if self.has_padded_zero() { "zeroinitializer in " } else { "" };
                format!("{hole}<{length} x {element}>")
            }
            LlvmType::Array(element, _) => format!("[N x {}]", element.shape()),
            LlvmType::Struct { is_packed, members } => {
                let members: Vec<String> = members.iter().map(LlvmType::shape).collect();
                format!("{}{{ {} }}", if *is_packed { "packed " } else { "" }, members.join("; "))
            }
            LlvmType::Whole(whole, ty) => format!("{} {}", whole.name(), ty.shape()),
            LlvmType::Holed(ty, _, hole) => format!("{} in {}", hole.name(), ty.shape()),
        }
    }

    /// Returns true for a vector with a zero among other elements that are smaller than variables of their type.
    fn has_padded_zero(&self) -> bool {
        let LlvmType::Vector(element, length) = self else { return false };
        let LlvmType::Integer(width, value) = &**element else { return false };
        let zeros = (0..*length).filter(|index| stepped(value, *width, *index) == BigUint::ZERO).count();
        let is_whole = (width / 8).is_power_of_two() && *width <= 128;
        width % 8 == 0 && !is_whole && zeros > 0 && zeros < *length as usize
    }

    fn for_host(&self) -> LlvmType {
        match self {
            LlvmType::Address(_, made) if made.width != 64 || made.form == IntegerForm::Apart => {
                LlvmType::Integer(made.width, BigUint::ZERO)
            }
            LlvmType::Vector(element, length) => LlvmType::Vector(Box::new(element.for_host()), *length),
            LlvmType::Array(element, length) => LlvmType::Array(Box::new(element.for_host()), *length),
            LlvmType::Struct { is_packed, members } => LlvmType::Struct {
                is_packed: *is_packed,
                members: members.iter().map(LlvmType::for_host).collect(),
            },
            LlvmType::Whole(whole, ty) => LlvmType::Whole(*whole, Box::new(ty.for_host())),
            LlvmType::Holed(ty, index, hole) => LlvmType::Holed(Box::new(ty.for_host()), *index, *hole),
            LlvmType::Integer(..) | LlvmType::Float(..) | LlvmType::Pointer(_) | LlvmType::Address(..) => {
                self.clone()
            }
        }
    }
}

/// Returns true for an integer that is no whole number of bytes.
fn is_of_bits(ty: &LlvmType) -> bool {
    matches!(ty, LlvmType::Integer(width, _) if width % 8 != 0)
}
