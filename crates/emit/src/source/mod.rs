//! A global of C++ as a tree: its type, and in each leaf the value that it gets.

pub mod leaves;
pub mod print;
mod scalar;

pub use scalar::{Literal, Scalar};

/// One global with everything that it needs but the [prelude](print::prelude).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its number in the campaign, which its names end in.
    pub number: u64,
    /// Where it resides.
    pub space: Space,
    /// What it is declared as besides.
    pub form: Form,
    /// Its type and value.
    pub ty: Type,
}

ptxsmith_syntax::every! {
    /// Where a global resides.
    pub enum Space {
        /// `__device__`
        Device = "__device__",
        /// `__constant__`
        Constant = "__constant__",
    }
}

ptxsmith_syntax::every! {
    /// What a global is declared as.
    pub enum Form {
        /// Nothing besides.
        Plain = "",
        /// `const`, and visible outside.
        Const = "extern const",
        /// `static`
        Static = "static",
        /// `inline`
        Inline = "inline",
    }
}

/// A type, with the value of an object of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Scalar(Scalar, Literal),
    /// A pointer.
    Pointer(Pointer),
    /// An array.
    Array(Box<Array>),
    /// An array of characters that a string initializes.
    Text(Text),
    /// A class.
    Class(Class),
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// An element, whose value each element has with its integers moved by the index.
    pub element: Type,
    /// How many there are.
    pub length: u64,
    /// How many have an initializer.
    pub given: u64,
}

/// An array of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The type of a character.
    pub scalar: Scalar,
    /// The string: letters.
    pub text: String,
    /// How many characters the array has.
    pub length: u64,
}

ptxsmith_syntax::every! {
    /// A pointer to something in the prelude.
    pub enum Pointer {
        /// A null pointer.
        Null = "nullptr",
        /// The address of a variable.
        Object = "&target",
        /// The address of an element.
        Element = "&targets[3]",
        /// One past the end of an array.
        End = "targets + 8",
        /// The address of a member.
        Member = "&record.third",
        /// An address inside of an integer.
        Inside = "(const char *)&target + 3",
        /// The address of a function.
        Function = "function",
        /// A pointer to a data member.
        DataMember = "&Record::third",
        /// A null pointer to a data member.
        NullDataMember = "(int Record::*)nullptr",
    }
}

impl Pointer {
    /// Its type.
    pub fn type_name(self) -> &'static str {
        match self {
            Pointer::Inside => "const char *",
            Pointer::Function => "Function",
            Pointer::DataMember | Pointer::NullDataMember => "DataMember",
            _ => "const int *",
        }
    }

    /// The variable or function whose address it is, with what is added; `None` of one that is a number.
    pub fn address(self) -> Option<(&'static str, i64)> {
        match self {
            Pointer::Object => Some(("target", 0)),
            Pointer::Element => Some(("targets", 12)),
            Pointer::End => Some(("targets", 32)),
            Pointer::Member => Some(("record", 8)),
            Pointer::Inside => Some(("target", 3)),
            Pointer::Function => Some(("function", 0)),
            Pointer::Null | Pointer::DataMember | Pointer::NullDataMember => None,
        }
    }

    /// Its value where it is a number: a pointer to a data member is an offset, and a null one -1 (the C++ ABI of Itanium, 2.3).
    pub fn number(self) -> u64 {
        match self {
            Pointer::DataMember => 8,
            Pointer::NullDataMember => u64::MAX,
            _ => 0,
        }
    }
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its number in the global.
    pub id: u32,
    /// Whether it is a union.
    pub is_union: bool,
    /// Whether it has the attribute `packed`.
    pub is_packed: bool,
    /// `#pragma pack` around it.
    pub pack: Option<u32>,
    /// `alignas`
    pub align: Option<u32>,
    /// Whether a constructor initializes it, which makes it no aggregate: then others may lie in its tail padding.
    pub has_constructor: bool,
    /// Its bases.
    pub bases: Vec<Class>,
    /// Its members.
    pub members: Vec<Member>,
    /// How many of the members have an initializer.
    pub given: usize,
    /// Of a union: which member has it.
    pub active: usize,
}

/// A member of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number in the global.
    pub id: u32,
    /// Its type and value.
    pub ty: Type,
    /// The width of a bit field.
    pub width: Option<u32>,
    /// `alignas`
    pub align: Option<u32>,
    /// Whether it has no name: a class whose members are members of the one around it, or bits that are padding.
    pub is_unnamed: bool,
    /// Whether it has the attribute `no_unique_address`.
    pub may_overlap: bool,
}

impl Member {
    /// A plain member.
    pub fn new(id: u32, ty: Type) -> Member {
        Member { id, ty, width: None, align: None, is_unnamed: false, may_overlap: false }
    }

    /// Whether it is bits without a name, which have no value.
    pub fn is_padding(&self) -> bool {
        self.is_unnamed && self.width.is_some()
    }
}

impl Type {
    /// Whether an object of it, or of a part of it, is initialized by a constructor.
    pub fn has_constructor(&self) -> bool {
        match self {
            Type::Scalar(..) | Type::Pointer(_) | Type::Text(_) => false,
            Type::Array(array) => array.element.has_constructor(),
            Type::Class(class) => class.is_constructed(),
        }
    }
}

impl Class {
    /// Whether a constructor initializes it or a part of it.
    pub fn is_constructed(&self) -> bool {
        let in_member = |member: &Member| member.ty.has_constructor();
        self.has_constructor
            || self.bases.iter().any(Class::is_constructed)
            || self.members.iter().any(in_member)
    }
}
