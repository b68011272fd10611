//! A C++ global as a tree: its type, with a value in each leaf.

pub mod leaves;
mod literal;
pub mod number;
pub mod print;
mod scalar;
mod vector;

pub use literal::{ArithmeticOperator, CxxLiteral};
pub use scalar::Scalar;
pub use vector::{CxxVector, ELEMENTS};

/// A global in the language of a compiler under test.
pub trait TestGlobal: Clone {
    /// Returns the number in the campaign, which is the suffix of its names.
    fn number(&self) -> u64;
    /// Returns the global with another number.
    fn numbered(&self, number: u64) -> Self;
    /// Returns the declaration.
    fn text(&self) -> String;
    /// Returns the shape: the type without names and values.
    fn shape(&self) -> String;
    /// Returns every global that is one step smaller or simpler.
    fn variants(&self) -> Vec<Self>;
}

/// One global with everything that it needs except the [prelude](print::prelude).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxGlobal {
    /// The number in the campaign, which is the suffix of its names.
    pub number: u64,
    /// The memory space.
    pub space: MemorySpace,
    /// The specifiers of its declaration.
    pub form: GlobalSpecifier,
    /// How it gets its value.
    pub initialization: Initialization,
    /// The type and value.
    pub ty: CxxType,
}

ptxsmith_syntax::every! {
    /// How a global gets its value.
    pub enum Initialization {
        /// By an initializer.
        Listed = "",
        /// By a `constexpr` function, which assigns each scalar of an object and returns it. Only for classes.
        Computed = "computed",
    }
}

ptxsmith_syntax::every! {
    /// Where a global resides.
    pub enum MemorySpace {
        /// `__device__`
        Device = "__device__",
        /// `__constant__`
        Constant = "__constant__",
        /// `__managed__`
        Managed = "__managed__",
    }
}

ptxsmith_syntax::every! {
    /// How a global is declared.
    pub enum GlobalSpecifier {
        /// Nothing besides.
        Plain = "",
        /// `const`, and visible outside.
        Const = "extern const",
        /// `static`
        Static = "static",
        /// `inline`
        Inline = "inline",
        /// `constexpr`: a kernel's reads are folded.
        Constexpr = "constexpr",
        /// Declared with `extern` before it is defined.
        Declared = "declared",
        /// A variable template.
        Template = "template",
        /// A static variable of its kernel.
        Local = "local",
    }
}

/// A type, with the value of an object of this type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CxxType {
    /// A number.
    Scalar(Scalar, CxxLiteral),
    /// A pointer.
    Pointer(CxxPointer),
    /// An array.
    Array(Box<CxxArray>),
    /// An array of characters initialized by a string.
    Text(CxxString),
    /// A vector.
    Vector(CxxVector),
    /// A class.
    Class(CxxClass),
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxArray {
    /// The element type and value. In each element, the index is added to the integers.
    pub element: CxxType,
    /// The number of elements.
    pub length: u64,
    /// The number of elements with an initializer.
    pub given: u64,
}

/// An array of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxString {
    /// The character type.
    pub scalar: Scalar,
    /// The string. Characters other than letters are in strings of character types whose encoding is known:
    /// UTF-8, UTF-16 or UTF-32 ([lex.string]), and of `wchar_t` UTF-32 on Linux.
    pub text: String,
    /// The number of characters in the array.
    pub length: u64,
}

impl CxxString {
    /// Returns the code units of the string in the array element at index `step`.
    pub fn units(&self, step: u128) -> Vec<u32> {
        let text = self.shifted(step);
        match self.scalar.size() {
            1 => text.bytes().map(u32::from).collect(),
            2 => text.encode_utf16().map(u32::from).collect(),
            _ => text.chars().map(u32::from).collect(),
        }
    }

    /// Returns the prefix of the literal. Without one, only the encoding of ASCII is known.
    fn prefix(&self) -> &'static str {
        match self.scalar.string_prefix() {
            Some("") if !self.text.is_ascii() => "u8",
            prefix => prefix.unwrap_or_default(),
        }
    }

    /// Returns the string in the array element at index `step`: its letters are `step` further in the alphabet,
    /// so that elements differ.
    pub fn shifted(&self, step: u128) -> String {
        let shift = |c: char| match c {
            'a'..='z' => (b'a' + ((c as u128 - u128::from(b'a') + step) % 26) as u8) as char,
            other => other,
        };
        self.text.chars().map(shift).collect()
    }
}

ptxsmith_syntax::every! {
    /// A pointer to something in the prelude.
    pub enum CxxPointer {
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
        /// The address of a base class at an offset.
        Base = "(const Second *)&derived",
        /// The address of an object, from that of its base class.
        Back = "(const Derived *)(const Second *)&derived",
        /// The address of a member of an element.
        Nested = "&records[2].second",
        /// The address of a variable in `.const`.
        Fixed = "fixed + 1",
        /// A reference to a variable.
        Reference = "target",
        /// The address of a string literal.
        Text = "\"text\"",
        /// An address inside of an integer.
        Inside = "(const char *)&target + 3",
        /// The address of a function.
        Function = "function",
        /// A pointer to a data member.
        DataMember = "&Record::third",
        /// A pointer to a data member of a base class at an offset.
        DerivedMember = "&Second::y",
        /// A null pointer to a data member.
        NullDataMember = "(int Record::*)nullptr",
        /// A pointer to a member function.
        Method = "&Record::method",
        /// A pointer to a virtual member function, the second of its class.
        VirtualMethod = "&Dynamic::second",
        /// A pointer to a member function of a base class at an offset.
        DerivedMethod = "&Second::other",
        /// A null pointer to a member function.
        NullMethod = "(Method)nullptr",
    }
}

/// Returns the string literal to which a pointer in the array element at index `step` points.
pub fn pointed_text(step: u128) -> String {
    if step == 0 { "text".to_owned() } else { format!("text{step}") }
}

impl CxxPointer {
    /// Returns the type in C++.
    pub fn type_name(self) -> &'static str {
        match self {
            CxxPointer::Inside | CxxPointer::Text => "const char *",
            CxxPointer::Base => "const Second *",
            CxxPointer::Back => "const Derived *",
            CxxPointer::Reference => "const int &",
            CxxPointer::Function => "Function",
            CxxPointer::DataMember | CxxPointer::NullDataMember => "DataMember",
            CxxPointer::Method | CxxPointer::NullMethod => "Method",
            CxxPointer::DerivedMember => "DerivedMember",
            CxxPointer::DerivedMethod => "DerivedMethod",
            CxxPointer::VirtualMethod => "VirtualMethod",
            _ => "const int *",
        }
    }

    /// Returns the symbol and the offset of an address; `None` if the value is a number.
    pub fn address(self) -> Option<(&'static str, i64)> {
        match self {
            CxxPointer::Object | CxxPointer::Reference => Some(("target", 0)),
            CxxPointer::Base => Some(("derived", 12)),
            CxxPointer::Back => Some(("derived", 0)),
            CxxPointer::Nested => Some(("records", 28)),
            CxxPointer::Fixed => Some(("fixed", 4)),
            CxxPointer::Element => Some(("targets", 12)),
            CxxPointer::End => Some(("targets", 32)),
            CxxPointer::Member => Some(("record", 8)),
            CxxPointer::Inside => Some(("target", 3)),
            CxxPointer::Function => Some(("function", 0)),
            _ => None,
        }
    }

    /// Returns the value if it is a number: a pointer to a data member is an offset, and a null one is -1
    /// (Itanium C++ ABI, 2.3).
    pub fn number(self) -> u64 {
        match self {
            CxxPointer::DataMember => 8,
            CxxPointer::DerivedMember => 16,
            CxxPointer::NullDataMember => u64::MAX,
            _ => 0,
        }
    }
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CxxClass {
    /// The number within the global.
    pub id: u32,
    /// Whether it is a union.
    pub is_union: bool,
    /// Whether it has the attribute `packed`.
    pub is_packed: bool,
    /// The value of a `#pragma pack` around it.
    pub pack: Option<u32>,
    /// The value of `alignas`.
    pub align: Option<u32>,
    /// Whether a constructor initializes it. It is not an aggregate then, so other members may lie in its
    /// tail padding.
    pub has_constructor: bool,
    /// Whether default member initializers give the values; the initializer of an object is `{}` then.
    pub has_defaults: bool,
    /// Whether the initializer names the members (C++20).
    pub is_designated: bool,
    /// The index of a member that an initializer with names leaves out, and one without names initializes by
    /// `{}`.
    pub skipped: Option<usize>,
    /// Whether it declares a virtual function. It has a constructor then.
    pub has_virtual: bool,
    /// The base classes.
    pub bases: Vec<CxxClass>,
    /// The members.
    pub members: Vec<Member>,
    /// The number of members with an initializer.
    pub given: usize,
    /// For a union, the index of the member that is initialized, by its class or by the initializer of an
    /// object.
    pub active: usize,
}

/// A member of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number within the global.
    pub id: u32,
    /// The type and value.
    pub ty: CxxType,
    /// The width of a bit field.
    pub width: Option<u32>,
    /// The value of `alignas`.
    pub align: Option<u32>,
    /// Whether it has no name. It is then padding bits, or an anonymous class; the members of an anonymous
    /// class belong to the enclosing class.
    pub is_unnamed: bool,
    /// Whether it has the attribute `no_unique_address`.
    pub may_overlap: bool,
    /// Whether it has the attribute `packed`.
    pub is_packed: bool,
}

impl Member {
    /// Creates a member without attributes.
    pub fn new(id: u32, ty: CxxType) -> Member {
        Member { id, ty, width: None, align: None, is_unnamed: false, may_overlap: false, is_packed: false }
    }

    /// Returns the width of a bit field if it is wider than its type, which has no more bits then.
    pub fn excess_width(&self) -> Option<u32> {
        let CxxType::Scalar(scalar, _) = &self.ty else { return None };
        self.width.filter(|&width| width as usize > scalar.bits())
    }

    /// Returns true for unnamed bits, which have no value.
    pub fn is_padding(&self) -> bool {
        self.is_unnamed && self.width.is_some()
    }
}

impl CxxType {
    /// Returns true if a `constexpr` function can assign every scalar. In a union it can only begin the
    /// lifetime of a scalar: the other parts of a class or array would have no value. A reference is never
    /// assigned.
    pub fn is_assignable(&self) -> bool {
        match self {
            CxxType::Pointer(CxxPointer::Reference) => false,
            CxxType::Scalar(..) | CxxType::Pointer(_) | CxxType::Text(_) | CxxType::Vector(_) => true,
            CxxType::Array(array) => array.element.is_assignable(),
            CxxType::Class(class) => {
                let mut types = class.members.iter().map(|member| &member.ty);
                let active = class.members.get(class.active).map(|member| &member.ty);
                let is_scalar = matches!(active, None | Some(CxxType::Scalar(..) | CxxType::Pointer(_)));
                class.bases.iter().all(|base| CxxType::Class(base.clone()).is_assignable())
                    && if class.is_union { is_scalar } else { types.all(CxxType::is_assignable) }
            }
        }
    }

    /// Returns true if a constructor or default member initializers initialize an object of this type or a
    /// part of it.
    pub fn has_constructor(&self) -> bool {
        match self {
            CxxType::Scalar(..) | CxxType::Pointer(_) | CxxType::Text(_) | CxxType::Vector(_) => false,
            CxxType::Array(array) => array.element.has_constructor(),
            CxxType::Class(class) => class.is_constructed(),
        }
    }
}

impl CxxClass {
    /// Creates a structure without attributes, whose members all have initializers.
    pub fn new(id: u32, members: Vec<Member>) -> CxxClass {
        CxxClass {
            id,
            is_union: false,
            is_packed: false,
            pack: None,
            align: None,
            has_constructor: false,
            has_defaults: false,
            is_designated: false,
            skipped: None,
            has_virtual: false,
            bases: Vec::new(),
            given: members.len(),
            members,
            active: 0,
        }
    }

    /// Returns true if the class gives its members their values, whatever the initializer of an object.
    pub fn sets_values(&self) -> bool {
        self.has_constructor || self.has_defaults
    }

    /// Returns true if an initializer gives a value to the member with this index, or to the active member of a
    /// union.
    pub fn is_given(&self, index: usize) -> bool {
        if self.is_union {
            self.given > 0 && index == self.active
        } else {
            index < self.given && self.skipped != Some(index)
        }
    }

    /// Returns true if an initializer can name every member: the class has no bases, and all members have
    /// names.
    pub fn can_be_designated(&self) -> bool {
        !self.is_union
            && !self.sets_values()
            && self.bases.is_empty()
            && self.given == self.members.len()
            && self.members.iter().all(|member| !member.is_unnamed)
    }

    /// Returns true if the class has neither members nor bases.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.bases.is_empty() && !self.has_virtual
    }

    /// Returns true if the class or a base has a virtual function. It is no aggregate then.
    pub fn is_polymorphic(&self) -> bool {
        self.has_virtual || self.bases.iter().any(CxxClass::is_polymorphic)
    }

    /// Returns true if a constructor or default member initializers initialize the class or a part of it.
    pub fn is_constructed(&self) -> bool {
        self.sets_values()
            || self.bases.iter().any(CxxClass::is_constructed)
            || self.members.iter().any(|member| member.ty.has_constructor())
    }
}
