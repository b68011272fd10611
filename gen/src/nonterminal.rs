//! The nonterminals of the grammar, and the ids of their productions.

use ptxsmith_syntax::{ScalarType, every};

every! {
    /// A construct of the grammar. Its productions are its forms.
    pub enum Nonterminal {
        Integer = "integer", "An integer expression of any value.";
        Literal = "literal", "An integer literal.";
        Magnitude = "magnitude", "The value of an integer literal.";
        Spelling = "spelling", "The base that an integer literal is written in.";
        Suffix = "suffix", "What stands behind the digits of an integer literal.";
        Signed = "signed", "A negative signed constant.";
        Unsigned = "unsigned", "An unsigned constant.";
        One = "one", "The constant one.";
        Divisor = "divisor", "What an integer is divided by.";
        ShiftCount = "shift-count", "How far an integer is shifted.";
        Least = "least", "The least signed number, made of operators.";
        MinusOne = "minus-one", "Minus one, signed, made of operators.";
        Truth = "truth", "An integer of which only whether it is zero counts.";
        Overflow = "overflow", "A quotient or remainder of the least signed number and minus one.";
        LowBits = "low-bits", "A literal of at most seven bits, which every type holds.";
        Float = "float", "A float expression of any value.";
        FloatLiteral = "float-literal", "A float literal.";
        FloatDivisor = "float-divisor", "What a float is divided by.";
        SingleBits = "single-bits", "The bits of a single-precision value.";
        WideValue = "wide-value", "The value of an integer type of 64 bits.";
        NarrowValue = "narrow-value", "The value of an integer type of less than 64 bits.";
        B32Value = "b32-value", "The value of a `.b32`.";
        B64Value = "b64-value", "The value of a `.b64`.";
        F32Value = "f32-value", "The value of an `.f32`.";
        F64Value = "f64-value", "The value of an `.f64`.";
        Declaration = "declaration", "A declaration statement at module scope.";
        Linkage = "linkage", "A linking directive.";
        Space = "space", "The state space.";
        Align = "align", "The alignment.";
        Type = "type", "A fundamental type that takes an initial value.";
        HalfType = "half-type", "A fundamental type that takes no initial value.";
        AnyType = "any-type", "A fundamental type of data.";
        ShortVector = "short-vector", "The length of a vector of elements of at most 32 bits.";
        LongVector = "long-vector", "The length of a vector of elements of 64 bits.";
        Variable = "variable", "One variable of a declaration: its dimensions and its initial value.";
        Rank = "rank", "How many dimensions an array has.";
        Extent = "extent", "How many entries a dimension has.";
        ExtentExpression = "extent-expression", "How many entries a dimension has, as an expression.";
        List = "list", "The initial values of one dimension of known extent.";
        CountedList = "counted-list", "The initial values of a dimension that they determine.";
        Lanes = "lanes", "The initial values of a vector.";
        Name = "name", "The name of a variable or a function.";
        Group = "group", "Statements, of which some hold addresses of what others declare.";
        Target = "target", "A statement that declares something with an address.";
        Holder = "holder", "A declaration of variables that hold addresses.";
        AddressValue = "address-value", "The value of a variable of 32 or 64 bits that holds addresses.";
        Address = "address", "The address of a variable.";
        OddAddress = "odd-address", "An address in a form of which the text says nothing.";
        Offset = "offset", "What is added to an address.";
        MaskedValue = "masked-value", "The value of a byte of an address.";
        MaskValue = "mask-value", "Which byte a mask takes.";
        Kernel = "kernel", "A kernel that writes what its operands mean into an output buffer.";
        Probe = "probe", "Instructions that use one form of operand and show what it means.";
        Storage = "storage", "The state space of a variable that a kernel uses.";
        Place = "place", "The form of an address operand.";
        Access = "access", "What an access moves to or from: a scalar, a list in braces, a vector.";
    }
}

impl Nonterminal {
    /// Returns the nonterminal for values of a type, or `None` if the type cannot have an initializer.
    #[inline]
    pub(crate) const fn value_of(ty: ScalarType) -> Option<Nonterminal> {
        Some(match ty {
            ScalarType::S64 | ScalarType::U64 | ScalarType::B128 => Nonterminal::WideValue,
            ScalarType::B64 => Nonterminal::B64Value,
            ScalarType::B32 => Nonterminal::B32Value,
            ScalarType::F32 => Nonterminal::F32Value,
            ScalarType::F64 => Nonterminal::F64Value,
            ScalarType::S8 | ScalarType::S16 | ScalarType::S32 => Nonterminal::NarrowValue,
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Nonterminal::NarrowValue,
            ScalarType::B8 | ScalarType::B16 => Nonterminal::NarrowValue,
            ScalarType::F16 | ScalarType::F16x2 | ScalarType::Pred => return None,
        })
    }
}

/// The index of a production in [`GRAMMAR`](crate::grammar::GRAMMAR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductionId(pub(crate) u16);

impl ProductionId {
    /// No production: the parent of the outermost production.
    pub(crate) const NONE: ProductionId = ProductionId(511);

    /// Returns the index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
