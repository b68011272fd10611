//! The classes of refusals, and the two ways in which an evaluation can stop.

use ptxsmith_syntax::{Span, every};

use crate::clause::Clause;

every! {
    /// Why the specification refuses a module. One class a rule that can be broken.
    pub enum RefusalClass {
        MalformedLiteral = "malformed-literal", "a number that no literal form derives";
        LiteralOutOfRange = "literal-out-of-range", "a literal that its representation cannot hold";
        IntegerOnlyOperator = "integer-only-operator", "an integer operator on a floating-point operand";
        IntFloatMix = "int-float-mix", "an operator on one integer and one floating-point operand";
        SingleBitsInExpression = "single-bits-in-expression", "a single-precision bit pattern as an operand";
        NonConstant = "non-constant", "a value that is not constant";
        DivisionByZero = "division-by-zero", "a division or remainder by zero";
        SignedOverflow = "signed-overflow", "a signed result that 64 bits cannot hold";
        ValueKind = "value-kind", "a value of a kind that the type cannot take";
        TypeWithoutInitializer = "type-without-initializer", "an initializer for a type that takes none";
        InitializerSpace = "initializer-space", "an initializer outside .global and .const";
        ExternInitializer = "extern-initializer", "an initializer of an external variable";
        TooManyElements = "too-many-elements", "more initializers than elements";
        TooFewElements = "too-few-elements", "fewer initializers than the vector has elements";
        Nesting = "nesting", "a value where a list belongs";
        ScalarList = "scalar-list", "a list where a single value belongs";
        TrailingComma = "trailing-comma", "a comma behind the last initializer";
        EmptyList = "empty-list", "an empty list of initializers";
        OmittedDimension = "omitted-dimension", "a dimension that nothing determines";
        Dimension = "dimension", "a dimension that is no positive integer";
        Specifiers = "specifiers", "the words before the names, too few, too many or in another order";
        VectorLength = "vector-length", "a vector of neither two nor four elements";
        VectorType = "vector-type", "a vector of predicates or of no fundamental type";
        VectorSize = "vector-size", "a vector of more than 128 bits";
        Alignment = "alignment", "an alignment that is no power of two";
        PredicateSpace = "predicate-space", "a predicate outside the register space";
        AddressSpace = "address-space", "the address of a variable outside .global and .const";
        AddressType = "address-type", "an address in a type that holds none";
        ByteWithoutMask = "byte-without-mask", "an address in a byte without mask()";
        AddressArithmetic = "address-arithmetic", "arithmetic on an address other than adding an offset";
        MaskValue = "mask-value", "a mask that is not one of the eight";
        MaskOperand = "mask-operand", "an operand that mask() does not take";
        MaskVersion = "mask-version", "mask() before the version that brought it";
        LabelAddress = "label-address", "a label as an initial value";
        KernelVersion = "kernel-version", "the name of a kernel before the version that allows it";
        UnknownName = "unknown-name", "a name that nothing declares";
        Attribute = "attribute", "an attribute where the text does not allow it";
        Parameterized = "parameterized", "a parameterized name with a dimension or an initializer";
        LabelOperand = "label-operand", "a label as an operand of another instruction than a branch";
        FunctionOperand = "function-operand", "a function as an operand of another instruction than call and mov";
        AddressRegister = "address-register", "a register that holds no address, in brackets";
        OffsetType = "offset-type", "an offset that is no integer";
        OffsetWidth = "offset-width", "an address or offset that 32 bits cannot hold";
        ArrayIndex = "array-index", "an index that is no integer, no register and not the sum of both";
        VectorElement = "vector-element", "an element that the vector does not have";
        VectorList = "vector-list", "a vector operand that is none, or of another length";
        TernaryCondition = "ternary-condition", "a condition that is no integer";
    }
}

/// A refusal: the specification rejects a module because it breaks a rule. A refusal is an answer, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The class of the violation.
    pub class: RefusalClass,
    /// The violated clause.
    pub clause: Clause,
    /// The position of the violation.
    pub span: Span,
}

/// Why an evaluation has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The specification rejects the program.
    Refused(Refusal),
    /// The oracle has no rule: a gap of ours, which implies nothing about the program.
    Unmodelled(&'static str),
}

impl Stop {
    /// Creates a refusal of this class under this clause.
    pub fn refused(class: RefusalClass, clause: Clause, span: Span) -> Stop {
        Stop::Refused(Refusal { class, clause, span })
    }
}
