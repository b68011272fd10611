//! The clause table: one entry for each statement of the specification that a test can observe.
//!
//! A rule of the oracle names its clause, a refusal names the clauses that refuse, and a report counts the clauses that
//! a run reached. The ids are stable, because they appear in other people's files (`// clause:` lines of the corpus,
//! `"clauses"` in JSON). The part before the slash is the manual's section; the name after it is ours. The summaries
//! are our own words. If the specification leaves a point open, the clause states only the settled part, and an
//! interpretation decides the rest.

mod set;

use std::fmt;

pub use self::set::ClauseSet;

ptxsmith_syntax::every! {
    /// How a test sees that an implementation keeps a clause.
    pub enum Observed {
        /// In the bytes that a variable holds.
        Value = "value",
        /// In a variable's presence, state space, size or alignment.
        Layout = "layout",
        /// In the refusal of a module that breaks it.
        Refusal = "refusal",
        /// In the address that a variable holds: its symbol, addend, kind and place.
        Address = "address",
        /// Only by an instruction that uses the operand, so outside what module-scope data can show.
        Instruction = "instruction",
        /// By no program: it permits something, or leaves the behaviour undefined.
        Nothing = "nothing",
    }
}

impl Observed {
    /// Whether module-scope data, or its refusal, can show that the clause is kept or broken.
    pub const fn by_data(self) -> bool {
        match self {
            Self::Value | Self::Layout | Self::Refusal | Self::Address => true,
            Self::Instruction | Self::Nothing => false,
        }
    }
}

/// Defines `Clause` and its table, with one line per clause: `Variant = "section/name", how observed, "summary";`.
macro_rules! clauses {
    ($($name:ident = $id:literal, $observed:ident, $summary:literal;)+) => {
        ptxsmith_syntax::every! {
            /// One statement of the specification that an implementation can keep or break.
            ///
            /// The order is that of the text, and is the order of [`ClauseSet::iter`].
            pub enum Clause { $(#[doc = concat!("`", $id, "`: ", $summary, ".")] $name),+ }
        }

        impl Clause {
            /// Returns the stable name, such as `4.5.5/rem-unsigned`.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)+
                }
            }

            /// Returns the clause of this name; `None` for any other string, even one that differs only in case.
            pub fn from_id(id: &str) -> Option<Self> {
                match id {
                    $($id => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// Returns how a test observes the clause.
            pub const fn observed(self) -> Observed {
                match self {
                    $(Self::$name => Observed::$observed,)+
                }
            }

            /// Returns a summary of the clause in our words: a fragment without a full stop.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => $summary,)+
                }
            }
        }
    };
}

clauses! {
    // 4.5 Constants
    ConstantInInitializer = "4.5/initializer", Value, "constants and constant expressions initialize data";
    ConstantAsOperand = "4.5/operand", Instruction, "constants and constant expressions are operands";
    ConstantForBitSizeType = "4.5/bit-size-type", Value, "bit-size types check constants as the others do";

    // 4.5.1 Integer Constants
    IntegerWidth = "4.5.1/integer-width", Value, "an integer constant has 64 bits and is .s64 or .u64";
    IntegerNarrowing = "4.5.1/narrowing", Value, "an integer constant takes the size of the type that uses it";
    LiteralHexadecimal = "4.5.1/literal-hexadecimal", Value, "0x or 0X and digits of base 16";
    LiteralOctal = "4.5.1/literal-octal", Value, "0 and digits of base 8";
    LiteralBinary = "4.5.1/literal-binary", Value, "0b or 0B and digits of base 2";
    LiteralDecimal = "4.5.1/literal-decimal", Value, "digits of base 10, the first not zero";
    LiteralMalformed = "4.5.1/literal-malformed", Refusal, "a literal has a digit, and only its base's digits";
    LiteralNonNegative = "4.5.1/literal-non-negative", Value, "a literal has no sign: a minus is an operator";
    LiteralSigned = "4.5.1/literal-signed", Value, "a literal without U that .s64 can hold is .s64";
    LiteralUnsignedBySuffix = "4.5.1/literal-unsigned-by-suffix", Value, "a literal with the suffix U is .u64";
    LiteralUnsignedByMagnitude = "4.5.1/literal-unsigned-by-magnitude", Value, "a literal from 2^63 on is .u64";
    LiteralRange = "4.5.1/literal-range", Refusal, "a literal fits 64 bits";
    WarpSize = "4.5.1/warp-size", Value, "WARP_SZ is 32";

    // 4.5.2 Floating-Point Constants
    FloatDecimal = "4.5.2/float-decimal", Value, "a decimal literal is the nearest double";
    FloatTiny = "4.5.2/float-tiny", Value, "below the least normal double it is the nearest denormal, or zero";
    FloatExponent = "4.5.2/float-exponent", Value, "the point and the signed exponent may each be left out";
    FloatNoSuffix = "4.5.2/float-no-suffix", Refusal, "no suffix letter states a size";
    FloatDoubleBits = "4.5.2/float-double-bits", Value, "0d or 0D and 16 digits are the bits of a double";
    FloatSingleBits = "4.5.2/float-single-bits", Value, "0f or 0F and 8 digits are the bits of a single, kept";
    FloatBitsMalformed = "4.5.2/float-bits-malformed", Refusal, "exact bits have 8 digits or 16, no other number";
    SingleBitsNotInExpression = "4.5.2/single-bits-not-in-expression", Refusal, "0f stands alone, no operand";
    FloatDoubleEvaluation = "4.5.2/float-double-evaluation", Value, "float expressions are evaluated in double";
    FloatNarrowing = "4.5.2/float-narrowing", Value, "a double takes the size of the type that uses it";

    // 4.5.3 Predicate Constants
    PredicateConstant = "4.5.3/predicate-constant", Instruction, "as a predicate, zero is false, all else true";

    // 4.5.4 Constant Expressions
    ConstantOperands = "4.5.4/constant-operands", Refusal, "an expression is made of constants only";
    UnaryPlus = "4.5.4/unary-plus", Value, "plus leaves its operand's value";
    UnaryMinus = "4.5.4/unary-minus", Value, "minus negates its operand, modulo 2^64 for integers";
    Parentheses = "4.5.4/parentheses", Value, "parentheses group, and keep the type inside them";
    IntegerOnlyOperator = "4.5.4/integer-only-operator", Refusal, "! ~ % << >> & | ^ && || take integers only";
    NoIntFloatMix = "4.5.4/no-int-float-mix", Refusal, "no operand becomes an integer or a float from the other";
    NoIntFloatCast = "4.5.4/no-int-float-cast", Refusal, "no cast leads from integer to float or back";
    Precedence = "4.5.4/precedence", Value, "operators bind as in C";
    Associativity = "4.5.4/associativity", Value, "binary operators group left, unary ones and ?: right";

    // 4.5.5 Integer Constant Expression Evaluation
    FullyDefined = "4.5.5/fully-defined", Value, "no integer expression depends on the implementation";
    PlusMinusKeepType = "4.5.5/plus-minus-keep-type", Value, "unary plus and minus keep the operand's type";
    NotSigned = "4.5.5/not-signed", Value, "! gives 0 or 1, signed";
    ComplementUnsigned = "4.5.5/complement-unsigned", Value, "~ takes its operand as unsigned and gives unsigned";
    UsualConversions = "4.5.5/usual-conversions", Value, "both operands become unsigned if either is";
    Addition = "4.5.5/addition", Value, "+ after the usual conversions, in the converted type";
    Subtraction = "4.5.5/subtraction", Value, "- after the usual conversions, in the converted type";
    Multiplication = "4.5.5/multiplication", Value, "* after the usual conversions, in the converted type";
    Division = "4.5.5/division", Value, "/ after the usual conversions, in the converted type, towards zero";
    RemUnsigned = "4.5.5/rem-unsigned", Value, "both operands of % are taken as unsigned";
    RemResult = "4.5.5/rem-result", Value, "the result of % has the type that Table 5 states";
    ShiftLeft = "4.5.5/shift-left", Value, "<< shifts in zero bits from below";
    ShiftRightArithmetic = "4.5.5/shift-right-arithmetic", Value, ">> of a signed value keeps the sign";
    ShiftRightLogical = "4.5.5/shift-right-logical", Value, ">> of an unsigned value shifts in zero bits";
    ShiftCountUnsigned = "4.5.5/shift-count-unsigned", Value, "the second operand of a shift is unsigned";
    ShiftResultType = "4.5.5/shift-result-type", Value, "a shift has the type of its first operand";
    BitwiseAnd = "4.5.5/bitwise-and", Value, "& of each pair of bits, in the converted type";
    BitwiseOr = "4.5.5/bitwise-or", Value, "| of each pair of bits, in the converted type";
    BitwiseXor = "4.5.5/bitwise-xor", Value, "^ of each pair of bits, in the converted type";
    LogicalAnd = "4.5.5/logical-and", Value, "&& is 1 if both operands are not zero, else 0";
    LogicalOr = "4.5.5/logical-or", Value, "|| is 1 if either operand is not zero, else 0";
    LogicalSignedResult = "4.5.5/logical-signed-result", Value, "the result of && and || is signed";
    Equal = "4.5.5/equal", Value, "== is 1 if its converted operands are the same, else 0";
    NotEqual = "4.5.5/not-equal", Value, "!= is 0 if its converted operands are the same, else 1";
    EqualitySignedResult = "4.5.5/equality-signed-result", Value, "the result of == and != is signed";
    Less = "4.5.5/less", Value, "< of the converted operands is 0 or 1";
    LessEqual = "4.5.5/less-equal", Value, "<= of the converted operands is 0 or 1";
    Greater = "4.5.5/greater", Value, "> of the converted operands is 0 or 1";
    GreaterEqual = "4.5.5/greater-equal", Value, ">= of the converted operands is 0 or 1";
    ComparisonSignedResult = "4.5.5/comparison-signed-result", Value, "an ordered comparison's result is signed";
    CastS64 = "4.5.5/cast-s64", Value, "(.s64) makes an integer signed and keeps its bits";
    CastU64 = "4.5.5/cast-u64", Value, "(.u64) makes an integer unsigned and keeps its bits";
    TernaryCondition = "4.5.5/ternary-condition", Refusal, "the first operand of ?: is an integer";
    TernarySelection = "4.5.5/ternary-selection", Value, "?: gives the second operand if the first is not zero";
    TernaryConversions = "4.5.5/ternary-conversions", Value, "?: converts both of its choices, taken or not";
    TernarySameKind = "4.5.5/ternary-same-kind", Refusal, "the choices of ?: are two integers or two floats";

    // 4.5.6 Summary of Constant Expression Evaluation Rules
    FloatUnary = "4.5.6/float-unary", Value, "unary plus and minus of a float are a float";
    FloatArithmetic = "4.5.6/float-arithmetic", Value, "+ - * / of two floats are a float";
    FloatComparison = "4.5.6/float-comparison", Value, "< > <= >= of two floats give a signed integer";
    FloatEquality = "4.5.6/float-equality", Value, "== != of two floats give a signed integer";
    FloatTernary = "4.5.6/float-ternary", Value, "an integer chooses between two floats";

    // 5.4.1 Variable Declarations
    Scalar = "5.4.1/scalar", Layout, "a scalar has the size of its type";
    StateSpace = "5.4.1/state-space", Layout, "a variable lies in the state space that its declaration names";
    FixedAddress = "5.4.1/fixed-address", Nothing, "a declaration may fix the address, by no syntax that is given";
    OneStateSpace = "5.4.1/one-state-space", Refusal, "a declaration names one state space";
    OneType = "5.4.1/one-type", Refusal, "a declaration names one type";
    Named = "5.4.1/name", Refusal, "a declaration names a variable";
    PredicateOnlyInRegisters = "5.4.1/predicate-only-in-registers", Refusal, "predicates are registers only";

    // 5.4.2 Vectors
    VectorLength = "5.4.2/vector-length", Layout, "a vector has two elements or four, one after the other";
    VectorOtherLength = "5.4.2/vector-other-length", Refusal, "no vector has another length than two or four";
    VectorNoPredicate = "5.4.2/vector-no-predicate", Refusal, "no vector has predicates as elements";
    VectorFundamentalType = "5.4.2/vector-fundamental-type", Refusal, "a vector's elements are of fundamental type";
    VectorPrefix = "5.4.2/vector-prefix", Refusal, "the length of a vector stands right before the type";
    VectorInRegisters = "5.4.2/vector-in-registers", Instruction, "a vector may be a register";
    VectorSizeLimit = "5.4.2/vector-size-limit", Refusal, "a vector has at most 128 bits";
    VectorAlignment = "5.4.2/vector-alignment", Layout, "a vector is aligned to its whole size";

    // 5.4.3 Array Declarations
    Dimension = "5.4.3/dimension", Layout, "each dimension is a constant expression";
    ArraySize = "5.4.3/array-size", Layout, "an array reserves the product of its dimensions in elements";
    FirstDimensionOmitted = "5.4.3/first-dimension-omitted", Layout, "an omitted first dimension is counted";
    OmittedNeedsInitializer = "5.4.3/omitted-needs-initializer", Refusal, "without initializer none is omitted";
    OnlyFirstOmitted = "5.4.3/only-first-omitted", Refusal, "no dimension but the first may be omitted";

    // 5.4.4 Initializers
    ScalarSingleValue = "5.4.4/scalar-single-value", Refusal, "a scalar takes one value and no list";
    VectorList = "5.4.4/vector-list", Value, "a vector takes a list, also within that of an array";
    NestingMatches = "5.4.4/nesting-matches", Refusal, "lists nest as deep as the declaration's dimensions";
    IncompleteOuter = "5.4.4/incomplete-outer", Value, "elements omitted from an outer list are zero-initialized";
    IncompleteInner = "5.4.4/incomplete-inner", Value, "elements omitted from an inner list are zero-initialized in place";
    EmptyList = "5.4.4/empty-list", Value, "a list without elements leaves all of them zero";
    TooManyElements = "5.4.4/too-many-elements", Refusal, "a list is no longer than its dimension";
    DefaultZero = "5.4.4/default-zero", Value, "a variable without initializer is zero";
    OnlyGlobalConst = "5.4.4/only-global-const", Refusal, "only .global and .const variables are initialized";
    NoExternInitializer = "5.4.4/no-extern-initializer", Refusal, "an external declaration has no initializer";
    TypeAllowsInitializer = "5.4.4/type-allows-initializer", Refusal, ".f16, .f16x2 and .pred take none";
    ValueKind = "5.4.4/value-kind", Refusal, "an integer type takes integers, a float type floats";
    VariableAddress = "5.4.4/variable-address", Address, "a variable's name is its address";
    AddressOffset = "5.4.4/address-offset", Address, "an offset to a name counts bytes";
    AddressSpace = "5.4.4/address-space", Refusal, "only the names of .global and .const variables stand there";
    StateSpaceAddress = "5.4.4/state-space-address", Address, "a name alone is the offset in its state space";
    Generic = "5.4.4/generic", Address, "generic() makes the generic address";
    Mask = "5.4.4/mask", Address, "a mask takes one byte of an address, to the lowest position";
    MaskValue = "5.4.4/mask-value", Refusal, "a mask is 0xFF shifted by a multiple of eight up to 56";
    MaskOperand = "5.4.4/mask-operand", Refusal, "a mask's operand is an integer constant or an address";
    MaskConstant = "5.4.4/mask-constant", Value, "a mask takes one byte of an integer constant";
    MaskNeeds71 = "5.4.4/mask-needs-7.1", Refusal, "no mask before PTX 7.1";
    MaskConstantNeeds73 = "5.4.4/mask-constant-needs-7.3", Refusal, "no mask of a constant before PTX 7.3";
    FunctionAddress = "5.4.4/function-address", Address, "a device function's name is its first instruction's";
    KernelAddress = "5.4.4/kernel-address", Address, "from PTX 3.1 a kernel's name is one too";
    NoLabels = "5.4.4/no-labels", Refusal, "a label is no initializer";
    AddressType = "5.4.4/address-type", Refusal, "an address is held by .u8, .u32 or .u64";
    ByteNeedsMask = "5.4.4/byte-needs-mask", Refusal, ".u8 holds an address only under a mask";
    LegacyGeneric = "5.4.4/legacy-generic", Address, "before PTX 3.1 a .global name is its generic address";

    // 5.4.5 Alignment
    Align = "5.4.5/align", Layout, ".align places a variable at a multiple of its count";
    AlignPlace = "5.4.5/align-place", Refusal, ".align stands right behind the state space";
    AlignArrayStart = "5.4.5/align-array-start", Layout, ".align of an array moves its start, not its elements";
    AlignPowerOfTwo = "5.4.5/align-power-of-two", Refusal, "an alignment is a power of two";
    DefaultScalar = "5.4.5/default-scalar", Layout, "a scalar or array is aligned to its base type's size";
    DefaultVector = "5.4.5/default-vector", Layout, "a vector is aligned to its whole size by default";
    AccessAlignment = "5.4.5/access-alignment", Instruction, "an access is aligned to its size";

    // 5.4.6 Parameterized Variable Names
    ParameterizedNames = "5.4.6/names", Layout, "a name and a count declare that many, numbered from 0";
    ParameterizedAlign = "5.4.6/align", Layout, "such a declaration may state an alignment";
    ParameterizedNoArray = "5.4.6/no-array", Refusal, "no array is declared so";
    ParameterizedNoInitializer = "5.4.6/no-initializer", Refusal, "such a declaration has no initializer";

    // 5.4.7 Variable Attributes
    AttributeList = "5.4.7/attribute-list", Layout, "attributes stand in parentheses, with commas between";

    // 5.4.8 Variable and Function Attribute Directive
    AttributeNeeds40 = "5.4.8/attribute-needs-4.0", Refusal, "no attribute before PTX 4.0";
    FunctionAttributeNeeds80 = "5.4.8/function-attribute-needs-8.0", Refusal, "none on a function before PTX 8.0";
    Managed = "5.4.8/managed", Layout, ".managed puts a variable where host and devices share it";
    ManagedOnlyGlobal = "5.4.8/managed-only-global", Refusal, ".managed is for .global variables";
    ManagedNeedsSm30 = "5.4.8/managed-needs-sm-30", Refusal, ".managed needs sm_30";
    Unified = "5.4.8/unified", Layout, ".unified takes two integer constants, the upper half of the id first";
    UnifiedOnlyGlobal = "5.4.8/unified-only-global", Refusal, ".unified is for .global and device functions";
    UnifiedNeedsSm90 = "5.4.8/unified-needs-sm-90", Refusal, ".unified needs sm_90";
    UnifiedReadOnly = "5.4.8/unified-read-only", Instruction, "a .unified variable is read by ld.unified only";

    // 6.4.1 Addresses as Operands
    OperandVariable = "6.4.1/variable", Instruction, "a variable's name in brackets is its place";
    OperandRegister = "6.4.1/register", Instruction, "a register in brackets holds the byte address";
    OperandRegisterOffset = "6.4.1/register-offset", Instruction, "an offset to a register counts bytes from it";
    OperandVariableOffset = "6.4.1/variable-offset", Instruction, "an offset to a name counts bytes from its place";
    OperandOffsetWidth = "6.4.1/offset-width", Instruction, "an offset is signed and has 32 bits";
    OperandAbsolute = "6.4.1/absolute-address", Instruction, "a number in brackets is an absolute place";
    OperandElement = "6.4.1/array-element", Instruction, "a name and an index are an element of the array";
    AccessSize = "6.4.1/access-size", Instruction, "an access is as large as all the bytes it touches";
    MisalignedAccess = "6.4.1/misaligned-access", Nothing, "an access that is not aligned is undefined";
    AddressWidth = "6.4.1/address-width", Instruction, "an address has 32 bits or 64, extended by zeros or cut";
    ByteAddresses = "6.4.1/byte-addresses", Instruction, "address arithmetic counts bytes, whatever the type";
    MoveAddress = "6.4.1/move-address", Instruction, "mov of a name is the offset in its state space";

    // 6.4.1.1 Generic Addressing
    GenericByDefault = "6.4.1.1/generic-by-default", Instruction, "without state space an access is generic";
    GenericWindows = "6.4.1.1/windows", Instruction, ".const, .local and .shared are windows, the rest is global";
    GenericParameterWindow = "6.4.1.1/parameter-window", Instruction, "the .param window lies in the .global one";

    // 6.4.2 Arrays as Operands
    ArrayName = "6.4.2/array-name", Instruction, "an array's name is an address in its state space";
    ArrayIndex = "6.4.2/array-index", Instruction, "an index is a constant, a register, or their sum or difference";

    // 6.4.3 Vectors as Operands
    VectorOperand = "6.4.3/vector-operand", Instruction, "a vector is a source, a destination or an argument";
    VectorUniqueDestination = "6.4.3/unique-destination", Nothing, "a destination that repeats is undefined";
    VectorSuffix = "6.4.3/element-suffix", Instruction, ".x .y .z .w or .r .g .b .a name the elements in order";
    VectorElementExists = "6.4.3/element-exists", Instruction, "a suffix names an element that the vector has";
    VectorBraces = "6.4.3/braces", Instruction, "braces take a vector apart or put it together, in order";
    VectorAccess = "6.4.3/vector-access", Instruction, "a wide access moves a vector or a list of like scalars";

    // 6.4.4 Labels and Function Names as Operands
    LabelOperand = "6.4.4/label", Instruction, "a label stands in bra and brx.idx only";
    FunctionOperand = "6.4.4/function-name", Instruction, "a function's name stands in call, and in mov";
    MoveKernelAddress = "6.4.4/move-kernel-address", Instruction, "from PTX 3.1 mov takes a kernel's address";
}

impl Clause {
    /// Returns the section of the manual: the id up to its slash.
    pub fn section(self) -> &'static str {
        match self.id().split_once('/') {
            Some((section, _)) => section,
            None => self.id(),
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<_> = Clause::ALL.iter().map(|clause| clause.id()).collect();
        assert_eq!(ids.len(), Clause::ALL.len());
    }

    #[test]
    fn summaries_are_unique_fragments() {
        let summaries: BTreeSet<_> = Clause::ALL.iter().map(|clause| clause.summary()).collect();
        assert_eq!(summaries.len(), Clause::ALL.len());
        for summary in summaries {
            assert!(!summary.is_empty() && !summary.ends_with('.'), "{summary}");
        }
    }

    #[test]
    fn from_id_is_the_inverse_of_id() {
        for clause in Clause::ALL {
            assert_eq!(Clause::from_id(clause.id()), Some(clause));
        }
        assert_eq!(Clause::from_id("4.5.5/no-such-clause"), None);
        assert_eq!(Clause::from_id(""), None);
    }

    #[test]
    fn ids_are_a_section_and_a_kebab_case_name() {
        for clause in Clause::ALL {
            let (section, name) = clause.id().split_once('/').expect("an id has a slash");
            assert_eq!(clause.section(), section);
            assert!(section.split('.').all(|part| part.parse::<u8>().is_ok()), "{clause}");
            assert!(!name.is_empty(), "{clause}");
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
            assert!(name.chars().all(plain), "{clause}");
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_text() {
        let sections: Vec<Vec<u8>> = Clause::ALL
            .iter()
            .map(|clause| clause.section().split('.').filter_map(|part| part.parse().ok()).collect())
            .collect();
        assert!(sections.is_sorted());
        assert!(Clause::ALL.is_sorted());
    }

    #[test]
    fn a_clause_is_written_as_its_id() {
        assert_eq!(Clause::RemUnsigned.to_string(), "4.5.5/rem-unsigned");
    }

    #[test]
    fn every_other_way_than_by_instructions_or_none_is_seen_by_data() {
        let by_data = [Observed::Value, Observed::Layout, Observed::Refusal, Observed::Address];
        assert!(by_data.into_iter().all(Observed::by_data));
        assert!(![Observed::Instruction, Observed::Nothing].into_iter().any(Observed::by_data));
    }

    #[test]
    fn clauses_of_instructions_are_not_shown_by_data() {
        for clause in Clause::ALL.iter().filter(|clause| clause.section().starts_with("6.4")) {
            assert!(!clause.observed().by_data(), "{clause}");
        }
    }
}
