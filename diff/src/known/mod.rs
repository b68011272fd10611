//! Known deviations as executable claims.
//!
//! Each entry says how the language of an implementation differs from the specification's: a changed rule, or a crash
//! where a predicate on the evaluation holds. An entry explains a difference only if it predicts exactly what was
//! observed, and only in the releases that it lists. No entry changes what is expected. An entry that a listed release no
//! longer shows is reported as well ([`crate::gone`]).

mod addresses;
mod declarations;
mod entry;
mod expressions;
mod initializers;
mod names;
mod operands;

use ptxsmith_oracle::Rules;

pub use self::entry::{Effect, End, Known};
pub use crate::maker::{Maker, Releases};

/// Every known deviation, in the order in which documents show them.
pub const KNOWN: &[Known] = &[
    expressions::QUOTIENT_OVERFLOW_CRASH,
    expressions::DIVISION_BY_ZERO_CRASH,
    expressions::REMAINDER_BY_ZERO_CRASH,
    expressions::REMAINDER_UNSIGNED,
    initializers::INCOMPLETE_ROWS_PACKED,
    initializers::SINGLE_BITS_RAW_IN_F64,
    initializers::FLOAT_IN_SMALL_BITS,
    expressions::TERNARY_NOT_CONVERTED,
    expressions::FLOAT_TERNARY_REFUSED,
    expressions::TINY_DECIMAL_REFUSED,
    declarations::DIMENSION_EXPRESSION_REFUSED,
    initializers::ADDRESS_ALWAYS_8_BYTES,
    initializers::MASK_OF_FUNCTION_ACCEPTED,
    expressions::MASK_OF_CONSTANT_BEFORE_7_3,
    operands::FUNCTION_IN_SUM_ACCEPTED,
    addresses::NEGATIVE_INDEX_UNSIGNED,
    addresses::INCOMPLETE_ARRAY_UNSCALED,
    addresses::NARROW_INDEX_CONSTANT,
    addresses::WIDE_OFFSET_ACCEPTED,
    operands::MISSING_ELEMENT_ACCEPTED,
    operands::MISSING_ELEMENT_CRASH,
    addresses::VECTOR_REGISTER_ADDRESS_CRASH,
    addresses::OPAQUE_TYPE_AS_PART_CRASH,
    addresses::LOCAL_ADDRESS_IN_32_BITS,
    operands::WIDE_PREDICATE_IN_COMPARISON,
    addresses::SUBTRACTED_INDEX_REFUSED,
    names::NUMBERED_PREFIX_REFUSED,
    names::PADDED_NUMBER_ACCEPTED,
    names::NUMBER_MODULO,
    names::COUNT_OF_ZERO_DECLARES,
    initializers::SCALAR_FOR_ARRAY_CRASH,
    addresses::SPECIAL_REGISTER_ADDRESS_CRASH,
    operands::CONVERTED_FUNCTION_CRASH,
    addresses::NARROW_ADDRESS_INTERNAL_ERROR,
    addresses::OPAQUE_ADDRESS_CRASH,
    addresses::LOCAL_ATOMIC_CRASH,
    operands::FLOAT_REGISTER_SUM_CRASH,
    operands::PARAMETER_SUM_CRASH,
    addresses::OWN_PARAMETER_LOAD_CRASH,
    operands::ADDRESS_IN_LIST_CRASH,
    operands::INTEGER_LIST_FOR_F64_CRASH,
    operands::STORED_FUNCTION_CRASH,
    operands::SURFACE_LOAD_LIST_CRASH,
    addresses::SINK_ADDRESS_CRASH,
    operands::SINK_MATRIX_CRASH,
    operands::SINK_LOAD_CRASH,
    operands::PREDICATE_TENSOR_COPY_HANG,
    operands::WIDE_ATOMIC_CONSTANT_CRASH,
    operands::SURFACE_STORE_SCALAR_CRASH,
    operands::SCALAR_COORDINATE_CRASH,
    operands::SINK_WIDE_LOAD_CRASH,
    operands::VECTOR_FOR_LIST_CRASH,
    operands::ABSOLUTE_TENSOR_SHIFT_CRASH,
    operands::TENSOR_COPY_WITHOUT_BRACKETS_CRASH,
    operands::TEXTURE_CONSTANT_LIST_CRASH,
    operands::FLOAT_FUNCTION_CRASH,
    names::VARIABLE_AND_FUNCTION_CRASH,
    declarations::NTID_OVERFLOW_CRASH,
    declarations::PRESERVED_REGISTERS_CRASH,
    declarations::PRESERVED_CONTROL_EXHAUSTED,
    declarations::INSTRUCTION_TYPE_ARRAY_CRASH,
    declarations::HEADER_CRASH,
    declarations::HUGE_ALIGNMENT_HANG,
    declarations::LOCAL_ALIGNMENT_CRASH,
    operands::PREDICATE_SUM_HANG,
    names::PROTOTYPE_NAME_CRASH,
    names::NESTED_FUNCTION_CRASH,
    addresses::UNIFIED_ABSOLUTE_CRASH,
    names::INTERNAL_NAME_SHARED,
    names::SPECIAL_REGISTER_NAME_CRASH,
    operands::CONSTANT_RESULT_CRASH,
    operands::MIXED_INTEGER_LIST_CRASH,
    operands::VECTOR_PROTOTYPE_CRASH,
    names::NON_ASCII_CRASH,
    declarations::SIZE_IN_32_BITS,
    declarations::SIZE_MODULO,
    initializers::HUGE_CONSTANT_MEMORY,
    declarations::HUGE_LOCAL_MEMORY,
    names::NUMBERED_NAMES_MEMORY,
    declarations::MANY_DIMENSIONS_HANG,
    addresses::ABSOLUTE_ADDRESS_REFUSED,
    addresses::NARROW_ADDRESS_REFUSED,
    initializers::EXTERN_FUNCTION_RELOCATION,
    initializers::OPAQUE_LIST_CRASH,
    initializers::NAME_AS_PROPERTY_CRASH,
    declarations::DATA_WITHOUT_SECTION_CRASH,
    operands::PART_IN_LIST_CRASH,
    operands::FUNCTION_AS_PREDICATE_HANG,
    initializers::PACKED_NAME_CRASH,
    initializers::PACKED_LIST_ACCEPTED,
    declarations::ALIGNMENT_FIRST_ACCEPTED,
    declarations::NAMELESS_DECLARATION_ACCEPTED,
    declarations::ALIGNMENT_TWICE_ACCEPTED,
    declarations::ALIGNMENT_LAST_ACCEPTED,
    initializers::EMPTY_HALF_LIST_ACCEPTED,
    initializers::ZERO_DIMENSION_ACCEPTED,
    names::PADDED_NUMBER_REFUSED,
    names::REPEATED_NUMBER_CRASH,
    addresses::VARIABLE_INDEX_ACCEPTED,
    initializers::OFFSET_EXPRESSION_ACCEPTED,
    initializers::PARENTHESIZED_SINGLE_ACCEPTED,
];

/// The deviations that are listed for an implementation.
pub fn listed_for(maker: Maker<'_>) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.is_of(maker))
}

/// These rules with all that is known of an implementation.
pub fn with_known(base: &Rules, maker: Maker<'_>) -> Rules {
    base.with(|rules| listed_for(maker).filter_map(Known::change).for_each(|change| change(rules)))
}
