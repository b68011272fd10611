//! Open questions: points on which the specification is silent or contradicts itself.
//!
//! Each question is an enum in one table. The first variant is the default, the most literal interpretation.
//! Explanations try the questions in the order of the table, so special questions come before general ones.
//! `Readings` holds one answer to every question. No answer is listed because some implementation behaves that
//! way; an implementation that follows another answer than the default follows another interpretation, not
//! another specification.

macro_rules! questions {
    ($(
        $(#[$meta:meta])*
        $question:ident, $field:ident, $name:literal, [$($clause:literal),+] {
            $($(#[$default:meta])? $answer:ident = $text:literal, $summary:literal;)+
        }
    )+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $question { $($(#[$default])? #[doc = $summary] $answer),+ }

            impl $question {
                const ALL: &'static [$question] = &[$($question::$answer),+];
                const NAMES: &'static [&'static str] = &[$($text),+];
                const SUMMARIES: &'static [&'static str] = &[$($summary),+];
            }
        )+

        ptxsmith_syntax::every! {
            /// The name of an open question.
            pub enum Question { $(#[doc = $name] $question = $name),+ }
        }

        impl Question {
            /// Returns the clauses that leave the question open.
            pub const fn clauses(self) -> &'static [&'static str] {
                match self { $(Question::$question => &[$($clause),+]),+ }
            }

            /// Returns the names of its answers, the default first.
            pub const fn answers(self) -> &'static [&'static str] {
                match self { $(Question::$question => $question::NAMES),+ }
            }

            /// Returns a summary of each answer, in the order of [`Question::answers`].
            pub const fn summaries(self) -> &'static [&'static str] {
                match self { $(Question::$question => $question::SUMMARIES),+ }
            }
        }

        /// One answer to every open question. The default is the literal text.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct Readings { $(#[doc = $name] pub $field: $question),+ }

        impl Readings {
            /// Returns the index of the chosen answer in [`Question::answers`].
            pub fn answer(&self, question: Question) -> usize {
                match question { $(Question::$question => self.$field as usize),+ }
            }

            /// Returns these interpretations with another answer to one question; `None` if there is no such answer.
            pub fn with(mut self, question: Question, answer: usize) -> Option<Readings> {
                match question { $(Question::$question => self.$field = *$question::ALL.get(answer)?),+ }
                Some(self)
            }
        }
    };
}

// Explanations are tried in this order, so special questions come before general ones.
questions! {
    /// Whether an offset may be subtracted from an address. The text gives the form var+offset only.
    AddressSubtraction, address_subtraction, "address-subtraction", ["5.4.4/address-offset"] {
        #[default] Refused = "refused", "only var+offset is allowed; a negative offset is written var+-4";
        Accepted = "accepted", "var-4 is the address four bytes before var";
    }
    /// Whether the offset may stand before the variable. The text gives the form var+offset only.
    OffsetFirst, offset_first, "offset-first", ["5.4.4/address-offset"] {
        #[default] Refused = "refused", "only var+offset is allowed";
        Accepted = "accepted", "4+var is var+4";
    }
    /// Whether an offset may stand within `generic()`. The text makes generic addresses of variables.
    OffsetInGeneric, offset_in_generic, "offset-in-generic", ["5.4.4/generic"] {
        #[default] Refused = "refused", "generic() takes the name of a variable";
        Accepted = "accepted", "generic(var+4) is generic(var)+4";
    }
    /// Whether a variable's name may stand in parentheses of its own.
    ParenthesizedAddress, parenthesized_address, "parenthesized-address", ["5.4.4/variable-address", "4.5.4/parentheses"] {
        #[default] Accepted = "accepted", "parentheses group, and change nothing";
        Refused = "refused", "they belong to constant expressions, which hold no addresses";
    }
    /// The unit of an index into an array with several dimensions, or of vectors. The text speaks of elements.
    ElementUnit, element_unit, "element-unit", ["6.4.1/array-element", "6.4.2/array-index"] {
        #[default] Declared = "declared", "an element of the array as in C: a row of it, a vector";
        Scalar = "scalar", "a scalar, whatever the dimensions";
    }
    /// Whether `generic()` accepts a function. The text speaks of variables.
    GenericFunction, generic_function, "generic-function", ["5.4.4/generic", "5.4.4/function-address"] {
        #[default] Refused = "refused", "generic() takes variables";
        Accepted = "accepted", "it is the address of the function, of which there is one only";
    }
    /// Whether an offset may be added to the address of a function. The text gives the form var+offset.
    FunctionOffset, function_offset, "function-offset", ["5.4.4/address-offset", "5.4.4/function-address"] {
        #[default] Refused = "refused", "offsets are added to variables";
        Accepted = "accepted", "the offset is added as for a variable";
    }
    /// Whether an initial value may use a name that is declared later. The text does not say.
    ForwardReference, forward_reference, "forward-reference", ["5.4.4/variable-address", "5.4.4/function-address"] {
        #[default] Accepted = "accepted", "names at module scope are known throughout the module";
        Refused = "refused", "a name is declared before it is used, as in C";
    }
    /// Whether the initial value of a variable may name the variable itself, or one that the same declaration declares
    /// before it. In C it may.
    SelfReference, self_reference, "self-reference", ["5.4.4/variable-address"] {
        #[default] Accepted = "accepted", "the name is declared where its initial value begins";
        Refused = "refused", "the name is declared where the declaration ends";
    }
    /// The types that can store a byte of an address selected by `mask()`. The text says that `.u8` needs `mask()`, and
    /// that the bits go to the lowest position of the variable, without limiting its type.
    MaskedType, masked_type, "masked-type", ["5.4.4/mask", "5.4.4/address-type", "5.4.4/byte-needs-mask"] {
        #[default] Listed = "listed", "the types that hold addresses: .u8, .u32 and .u64";
        ByteOnly = "byte-only", ".u8 alone";
        Integers = "integers", "any integer or bit-size type";
    }
    /// Whether `mask()` accepts the address of a function. The text of `mask()` names only the address of a variable;
    /// but the types that hold addresses of variables or functions include `.u8`, which is for `mask()`.
    MaskedFunction, masked_function, "masked-function", ["5.4.4/mask-operand", "5.4.4/address-type", "5.4.4/byte-needs-mask"] {
        #[default] Refused = "refused", "mask() takes constants and addresses of variables";
        Accepted = "accepted", "mask() takes a byte of the address of a function too";
    }
    /// The order of `.align` and `.attribute` in the same declaration. The text places `.align` immediately after the
    /// state space, the examples of `.attribute` place that word there too, and nothing describes both together.
    AttributeOrder, attribute_order, "attribute-order", ["5.4.5/align-place", "5.4.7/attribute-list"] {
        #[default] Either = "either", "both stand behind the state space, in either order";
        AlignFirst = "align-first", ".align follows the state space immediately, and .attribute stands behind it";
        AttributeFirst = "attribute-first", ".attribute follows the state space immediately, and .align stands behind it";
    }
    /// The upper half of a 128-bit variable initialized with a negative integer constant. The constant is converted to
    /// the size of the type; a bit-size type has no sign that determines how.
    UpperHalf, upper_half, "upper-half", ["4.5.1/integer-width", "4.5/bit-size-type"] {
        #[default] Converted = "converted", "copies of the sign, as in a conversion of C";
        Zero = "zero", "zeros: the 64 bits of the constant are all that it has";
    }
    /// The result of a shift by 64 or more. The text treats the count as an unsigned number and sets no limit.
    ShiftCount, shift_count, "shift-count", ["4.5.5/shift-count-unsigned", "4.5.5/shift-left"] {
        #[default] Saturate = "saturate", "all bits are shifted out: zero, or copies of the sign";
        Modulo = "modulo", "only the low six bits of the count are used";
    }
    /// The result of dividing the least integer by -1: the only signed quotient that 64 bits cannot hold.
    QuotientOverflow, quotient_overflow, "quotient-overflow", ["4.5.5/division", "4.5.5/fully-defined"] {
        #[default] Wrap = "wrap", "the low 64 bits of the quotient, which are the dividend again";
        Refused = "refused", "it is not a constant expression, as in C";
    }
    /// The result of a division or remainder by zero. The text calls all cases defined, but does not describe this one.
    DivisionByZero, division_by_zero, "division-by-zero", ["4.5.5/division", "4.5.5/rem-unsigned"] {
        #[default] Refused = "refused", "it is not a constant expression, as in C";
        Zero = "zero", "zero";
        AllOnes = "all-ones", "all bits set";
    }
    /// The result of a floating-point division by zero. Arithmetic is in double precision; C leaves the case undefined.
    FloatDivisionByZero, float_division_by_zero, "float-division-by-zero", ["4.5.6/float-arithmetic"] {
        #[default] Ieee = "ieee", "an infinity or a NaN, as in IEEE 754";
        Refused = "refused", "it is not a constant expression, as in C";
    }
    /// The value of an integer literal of 2^64 or more. Constants have 64 bits; the text does not mention larger ones.
    LiteralRange, literal_range, "literal-range", ["4.5.1/literal-range"] {
        #[default] Refused = "refused", "no 64-bit type can represent it, so it is no constant";
        Wrapped = "wrapped", "the value modulo 2^64, taken as unsigned";
        WrappedByMagnitude = "wrapped-by-magnitude", "the value modulo 2^64, typed by what is left";
        Saturated = "saturated", "2^64 - 1";
    }
    /// The value of a decimal floating-point literal that double precision cannot represent.
    FloatOverflow, float_overflow, "float-overflow", ["4.5.2/float-decimal"] {
        #[default] Infinity = "infinity", "rounding to double precision gives an infinity";
        Refused = "refused", "it is not representable, so it is no constant";
    }
    /// Whether a division by zero counts in an operand of `?:`, `&&` or `||` that does not affect the result.
    SkippedOperand, skipped_operand, "skipped-operand", ["4.5.5/ternary-condition", "4.5.5/logical-and"] {
        #[default] Evaluated = "evaluated", "all operands are evaluated";
        Skipped = "skipped", "an operand that C would not evaluate is not evaluated";
    }
    /// Whether parentheses around a single-precision bit pattern make it an operand.
    ParenthesizedSingle, parenthesized_single, "parenthesized-single", ["4.5.2/single-bits-not-in-expression"] {
        #[default] Refused = "refused", "parentheses form an expression, and it may not be used in one";
        Allowed = "allowed", "parentheses change nothing";
    }
    /// The payload of a NaN after its conversion to another format.
    NanNarrowing, nan_narrowing, "nan-narrowing", ["4.5.2/float-narrowing"] {
        #[default] Payload = "payload", "sign and leading payload bits stay, the quiet bit is set";
        Canonical = "canonical", "the one canonical NaN of the format, 0x7fffffff for .f32";
    }
    /// Whether an array may have no elements.
    ZeroDimension, zero_dimension, "zero-dimension", ["5.4.3/dimension"] {
        #[default] Refused = "refused", "it reserves nothing, so it is no array";
        Allowed = "allowed", "it may, and has size zero";
    }
    /// Whether a comma may stand behind the last value of a list, as in C.
    TrailingComma, trailing_comma, "trailing-comma", ["5.4.4/nesting-matches"] {
        #[default] Refused = "refused", "it may not";
        Allowed = "allowed", "it may, and means nothing";
    }
    /// Whether a list may be empty. Fewer values than elements are allowed; C before 2023 wants at least one.
    EmptyList, empty_list, "empty-list", ["5.4.4/empty-list"] {
        #[default] Zero = "zero", "all elements are zero";
        Refused = "refused", "a list has at least one value";
    }
    /// Whether the initializer of a vector may have fewer values than elements. The text allows it for arrays.
    IncompleteVector, incomplete_vector, "incomplete-vector", ["5.4.4/incomplete-inner"] {
        #[default] Refused = "refused", "only arrays may be incomplete";
        ZeroFilled = "zero-filled", "the remaining elements are zero, as in arrays";
    }
    /// The type of `& ^ |`. The prose asks for the usual conversions; Table 5 says `.u64`.
    BitwiseType, bitwise_type, "bitwise-type", ["4.5.5/bitwise-and", "4.5.5/bitwise-or", "4.5.5/bitwise-xor"] {
        #[default] Converted = "converted", "the type of the usual conversions, as in the prose";
        Unsigned = "unsigned", "always .u64, as in Table 5";
    }
    /// The type of `WARP_SZ`.
    WarpSizeType, warp_size_type, "warp-size-type", ["4.5.1/warp-size"] {
        #[default] Signed = "signed", "signed, as the literal 32 would be";
        Unsigned = "unsigned", "unsigned";
    }
    /// Whether a bit-size type accepts a floating-point constant. Type checking treats it as any type of its size.
    BitsFromFloat, bits_from_float, "bits-from-float", ["5.4.4/value-kind"] {
        #[default] SameSize = "same-size", "the bits of the floating-point type of the same size";
        Refused = "refused", "a bit-size type takes integer constants only";
    }
    /// The result of a signed sum, difference, product or negation that 64 bits cannot hold.
    SignedOverflow, signed_overflow, "signed-overflow", ["4.5.5/addition", "4.5.5/subtraction", "4.5.5/multiplication"] {
        #[default] Wrap = "wrap", "the low 64 bits of the result";
        Refused = "refused", "it is not a constant expression, as in C";
    }
}

/// One answer to one open question: the index of the answer in [`Question::answers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interpretation(pub Question, pub usize);

impl Interpretation {
    /// Parses an interpretation in the form used by reports and the corpus: `shift-count=modulo`.
    pub fn from_name(name: &str) -> Option<Interpretation> {
        let (question, answer) = name.split_once('=')?;
        let question = Question::from_name(question)?;
        Some(Interpretation(question, question.answers().iter().position(|&known| known == answer)?))
    }
}

impl std::fmt::Display for Interpretation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.0.name(), self.0.answers()[self.1])
    }
}

/// A set of open questions, such as the ones that an evaluation met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionSet(u64);

const _: () = assert!(Question::ALL.len() <= 64);

impl QuestionSet {
    /// The set without any question.
    pub const EMPTY: QuestionSet = QuestionSet(0);

    /// Adds a question.
    pub fn insert(&mut self, question: Question) {
        self.0 |= 1 << question as u64;
    }

    /// Whether the question is in the set.
    pub fn contains(self, question: Question) -> bool {
        self.0 & 1 << question as u64 != 0
    }

    /// Returns the questions that are in either set.
    pub fn union(self, other: QuestionSet) -> QuestionSet {
        QuestionSet(self.0 | other.0)
    }

    /// Whether any question is in both sets.
    pub fn meets(self, other: QuestionSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether this set contains every question of the other set.
    pub fn has_all(self, other: QuestionSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the questions in the order of [`Question::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Question> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros() as usize;
            rest &= rest.checked_sub(1)?;
            Some(Question::ALL[lowest])
        })
    }
}

impl FromIterator<Question> for QuestionSet {
    fn from_iter<T: IntoIterator<Item = Question>>(questions: T) -> QuestionSet {
        let mut set = QuestionSet::default();
        questions.into_iter().for_each(|question| set.insert(question));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_of_every_question_can_be_chosen_and_no_other() {
        for question in Question::ALL {
            let count = question.answers().len();
            assert!(count >= 2, "{} has one answer, so it is not open", question.name());
            for answer in 0..count {
                assert_eq!(Readings::default().with(question, answer).unwrap().answer(question), answer);
            }
            assert_eq!(Readings::default().with(question, count), None);
            assert_eq!(Question::from_name(question.name()), Some(question));
        }
    }

    #[test]
    fn sets_of_questions_iterate_in_order() {
        let (&first, &last) = (Question::ALL.first().unwrap(), Question::ALL.last().unwrap());
        let none = QuestionSet::default();
        assert!(none.is_empty());
        assert_eq!(none.iter().next(), None);
        for question in Question::ALL {
            let mut one = none;
            one.insert(question);
            one.insert(question);
            assert!(!one.is_empty());
            assert!(Question::ALL.iter().all(|&other| one.contains(other) == (other == question)));
            assert_eq!(one.iter().collect::<Vec<_>>(), [question]);
        }
        let both = QuestionSet::from_iter([last, first]);
        assert_eq!(both.iter().collect::<Vec<_>>(), [first, last]);
        assert_eq!(QuestionSet::from_iter(Question::ALL.iter().copied()).iter().count(), Question::ALL.len());
    }

    #[test]
    fn sets_of_questions_are_united_and_compared() {
        let set =
            |questions: &[usize]| -> QuestionSet { questions.iter().map(|&at| Question::ALL[at]).collect() };
        assert_eq!(set(&[0, 1]).union(set(&[1, 2])), set(&[0, 1, 2]));
        assert!(set(&[0, 1]).meets(set(&[1, 2])));
        assert!(!set(&[0, 1]).meets(set(&[2])));
        assert!(!set(&[0]).meets(set(&[])));
        assert!(set(&[0, 1]).has_all(set(&[1])));
        assert!(set(&[0, 1]).has_all(set(&[])));
        assert!(!set(&[0, 1]).has_all(set(&[1, 2])));
        assert!(!set(&[]).has_all(set(&[1])));
    }
}
