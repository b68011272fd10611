//! Programs that the specification refuses, each one edit away from one that it grants.
//!
//! [`EDITS`] has one entry an edit: what rule it breaks, and a function that makes the valid program, the twin, and
//! the broken one beside it. A refusal says something about the edit only where the twin is accepted: an
//! implementation may refuse both for a reason of its own.

mod addresses;
mod edits;
mod operands;
mod pair;

use ptxsmith_syntax::{Header, Item};

use crate::{coverage::Coverage, draft::Draft, generator::Generator, stream::case_bytes};
use addresses as a;
use edits as e;
use operands as o;
use pair::Pair;

/// One way to break a valid declaration.
#[derive(Debug)]
pub struct Edit {
    /// Its name: the label, a slash, and its own.
    pub name: &'static str,
    /// The rule that it breaks. The oracle uses these words for its classes of refusal.
    pub label: &'static str,
    /// The clause that states the rule.
    pub clause: &'static str,
    make: fn(&mut Draft<'_, '_>) -> Pair,
}

/// How many programs in a row are made by one edit: some need a header that no other has, and such are cheaper to judge
/// together.
pub const TURN: u64 = 8;

/// A program that the specification refuses, and its valid twin.
#[derive(Clone, Debug)]
pub struct Negative {
    /// What was done to the twin.
    pub edit: &'static Edit,
    /// What must be accepted. What it declares is named `v0`, `v1` ...
    pub twin: Vec<Item>,
    /// What must be refused.
    pub broken: Vec<Item>,
    /// The header of the twin, where it needs another than the usual one.
    pub twin_header: Option<Header>,
    /// The header of what must be refused, where it needs another than the usual one.
    pub header: Option<Header>,
}

impl PartialEq for Negative {
    fn eq(&self, other: &Negative) -> bool {
        let parts = |n: &Negative| (n.edit.name, n.twin_header.clone(), n.header.clone());
        parts(self) == parts(other) && self.twin == other.twin && self.broken == other.broken
    }
}

impl Generator {
    /// The negative program of this seed and number. The edits take turns, [`TURN`] numbers each.
    pub fn negative(&self, seed: u64, number: u64, coverage: &mut Coverage) -> Negative {
        let edit = &EDITS[(number / TURN % EDITS.len() as u64) as usize];
        let mut bytes = [0; 256];
        case_bytes(seed, number, &mut bytes);
        let Pair { twin, broken, headers } = (edit.make)(&mut Draft::new(self.tables(), &bytes, coverage));
        let (twin_header, header) = headers.map(|headers| (headers.twin, headers.broken)).unzip();
        Negative { edit, twin, broken, twin_header, header }
    }
}

const fn edit(
    name: &'static str,
    label: &'static str,
    clause: &'static str,
    make: fn(&mut Draft<'_, '_>) -> Pair,
) -> Edit {
    Edit { name, label, clause, make }
}

/// Every edit.
#[rustfmt::skip]
pub static EDITS: &[Edit] = &[
    edit("malformed-literal/digit", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["08", "0719", "0b2", "0b102U", "0xfg", "12a"])),
    edit("malformed-literal/no-digits", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["0x", "0b", "0xU", "0B"])),
    edit("malformed-literal/suffix", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["5u", "5L", "5UL", "5UU", "0x5u"])),
    edit("malformed-literal/float-suffix", "malformed-literal", "4.5.2/float-no-suffix", |d| e::malformed_float(d, &["1.5f", "1.5F", "1e3f", "1.5L"])),
    edit("malformed-literal/exponent", "malformed-literal", "4.5.2/float-exponent", |d| e::malformed_float(d, &["1.5e", "1e+", "1.5e-", "1E"])),
    edit("malformed-literal/bits", "malformed-literal", "4.5.2/float-bits-malformed", |d| e::malformed_float(d, &["0f3f80000", "0f3f8000000", "0d3ff000000000000", "0d3ff00000000000000", "0d", "0f"])),
    edit("integer-only-operator/infix", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_infix),
    edit("integer-only-operator/prefix", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_prefix),
    edit("int-float-mix/infix", "int-float-mix", "4.5.4/no-int-float-mix", e::mixed_infix),
    edit("int-float-mix/comparison", "int-float-mix", "4.5.4/no-int-float-mix", e::mixed_comparison),
    edit("int-float-mix/ternary", "int-float-mix", "4.5.5/ternary-same-kind", e::mixed_ternary),
    edit("single-bits-in-expression/infix", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", e::single_infix),
    edit("single-bits-in-expression/prefix", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", e::single_prefix),
    edit("ternary-condition/float", "ternary-condition", "4.5.5/ternary-condition", e::float_condition),
    edit("value-kind/float-in-integer", "value-kind", "5.4.4/value-kind", e::float_in_integer),
    edit("value-kind/float-in-small-bits", "value-kind", "5.4.4/value-kind", e::float_in_small_bits),
    edit("value-kind/integer-in-float", "value-kind", "5.4.4/value-kind", e::integer_in_float),
    edit("type-without-initializer/half", "type-without-initializer", "5.4.4/type-allows-initializer", e::half_initialized),
    edit("initializer-space/other", "initializer-space", "5.4.4/only-global-const", e::other_space),
    edit("extern-initializer/extern", "extern-initializer", "5.4.4/no-extern-initializer", e::extern_initialized),
    edit("too-many-elements/array", "too-many-elements", "5.4.4/too-many-elements", |d| e::too_many(d, 0)),
    edit("too-many-elements/row", "too-many-elements", "5.4.4/too-many-elements", |d| e::too_many(d, 1)),
    edit("too-many-elements/vector", "too-many-elements", "5.4.4/vector-list", e::too_many_lanes),
    edit("nesting/value-for-row", "nesting", "5.4.4/nesting-matches", e::value_for_row),
    edit("nesting/value-for-array", "nesting", "5.4.4/nesting-matches", e::value_for_array),
    edit("scalar-list/scalar", "scalar-list", "5.4.4/scalar-single-value", e::list_for_scalar),
    edit("scalar-list/element", "scalar-list", "5.4.4/nesting-matches", e::list_for_element),
    edit("omitted-dimension/inner", "omitted-dimension", "5.4.3/only-first-omitted", e::inner_omitted),
    edit("omitted-dimension/undetermined", "omitted-dimension", "5.4.3/omitted-needs-initializer", e::undetermined),
    edit("dimension/negative", "dimension", "5.4.3/dimension", e::negative_dimension),
    edit("dimension/float", "dimension", "5.4.3/dimension", e::float_dimension),
    edit("vector-length/other", "vector-length", "5.4.2/vector-other-length", e::other_length),
    edit("vector-size/long", "vector-size", "5.4.2/vector-size-limit", e::too_long),
    edit("vector-type/predicate", "vector-type", "5.4.2/vector-no-predicate", e::predicate_vector),
    edit("alignment/no-power", "alignment", "5.4.5/align-power-of-two", e::no_power),
    edit("predicate-space/data", "predicate-space", "5.4.1/predicate-only-in-registers", e::predicate_data),
    edit("attribute/managed-const", "attribute", "5.4.8/managed-only-global", e::managed_const),
    edit("parameterized/initializer", "parameterized", "5.4.6/no-initializer", e::parameterized_initializer),
    edit("parameterized/array", "parameterized", "5.4.6/no-array", e::parameterized_array),
    edit("literal-out-of-range/integer", "literal-out-of-range", "4.5.1/literal-range", e::huge_literal),
    edit("division-by-zero/constant", "division-by-zero", "4.5.5/division", e::zero_divisor),
    edit("single-bits-in-expression/parentheses", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", e::single_parenthesized),
    edit("integer-only-operator/cast", "integer-only-operator", "4.5.4/integer-only-operator", e::cast_of_float),
    edit("too-few-elements/vector", "too-few-elements", "5.4.4/vector-list", e::too_few_lanes),
    edit("nesting/value-for-vector", "nesting", "5.4.4/nesting-matches", e::value_for_vector),
    edit("scalar-list/lane", "scalar-list", "5.4.4/scalar-single-value", e::list_for_lane),
    edit("trailing-comma/list", "trailing-comma", "5.4.4/nesting-matches", e::trailing_comma),
    edit("dimension/zero", "dimension", "5.4.3/dimension", e::zero_dimension),
    edit("vector-type/opaque", "vector-type", "5.4.2/vector-fundamental-type", e::opaque_vector),
    edit("predicate-space/initialized", "predicate-space", "5.4.1/predicate-only-in-registers", e::predicate_initialized),
    edit("initializer-space/body", "initializer-space", "5.4.4/only-global-const", a::initialized_in_a_body),
    edit("non-constant/dimension", "non-constant", "5.4.3/dimension", a::name_in_dimension),
    edit("non-constant/alignment", "non-constant", "5.4.5/align", a::name_in_align),
    edit("address-space/shared", "address-space", "5.4.4/address-space", a::other_space),
    edit("address-type/other", "address-type", "5.4.4/address-type", a::other_type),
    edit("byte-without-mask/name", "byte-without-mask", "5.4.4/byte-needs-mask", a::byte_without_mask),
    edit("address-arithmetic/subtracted", "address-arithmetic", "5.4.4/address-offset", a::subtracted),
    edit("address-arithmetic/offset-first", "address-arithmetic", "5.4.4/address-offset", a::offset_first),
    edit("address-arithmetic/offset-in-generic", "address-arithmetic", "5.4.4/generic", a::offset_in_generic),
    edit("address-arithmetic/function", "address-arithmetic", "5.4.4/function-address", a::more_than_a_function),
    edit("address-arithmetic/prefix", "address-arithmetic", "5.4.4/address-offset", a::prefix_of_address),
    edit("address-arithmetic/cast", "address-arithmetic", "5.4.4/address-offset", a::cast_of_address),
    edit("address-arithmetic/infix", "address-arithmetic", "5.4.4/address-offset", a::infix_of_address),
    edit("address-arithmetic/two", "address-arithmetic", "5.4.4/address-offset", a::two_addresses),
    edit("address-arithmetic/float-offset", "address-arithmetic", "5.4.4/address-offset", a::float_offset),
    edit("address-arithmetic/ternary", "address-arithmetic", "5.4.4/address-offset", a::ternary_of_addresses),
    edit("address-arithmetic/generic-constant", "address-arithmetic", "5.4.4/generic", a::generic_of_constant),
    edit("address-arithmetic/generic-twice", "address-arithmetic", "5.4.4/generic", a::generic_twice),
    edit("mask-value/other", "mask-value", "5.4.4/mask-value", a::other_mask),
    edit("mask-operand/float", "mask-operand", "5.4.4/mask-operand", a::mask_of_float),
    edit("mask-operand/function", "mask-operand", "5.4.4/mask-operand", a::mask_of_function),
    edit("mask-operand/mask", "mask-operand", "5.4.4/mask-operand", a::mask_of_mask),
    edit("mask-version/address", "mask-version", "5.4.4/mask-needs-7.1", a::mask_before_7_1),
    edit("mask-version/constant", "mask-version", "5.4.4/mask-constant-needs-7.3", a::mask_of_constant_before_7_3),
    edit("address-type/legacy", "address-type", "5.4.4/address-type", a::other_type_before_3_1),
    edit("kernel-version/name", "kernel-version", "5.4.4/kernel-address", a::kernel_before_3_1),
    edit("label-address/body", "label-address", "5.4.4/no-labels", a::label),
    edit("unknown-name/undeclared", "unknown-name", "5.4.4/variable-address", a::unknown_name),
    edit("attribute/version", "attribute", "5.4.8/attribute-needs-4.0", a::managed_before_4_0),
    edit("attribute/managed-arguments", "attribute", "5.4.8/managed", a::managed_with_arguments),
    edit("attribute/unified-arguments", "attribute", "5.4.8/unified", a::unified_arguments),
    edit("attribute/unified-target", "attribute", "5.4.8/unified-needs-sm-90", a::unified_target),
    edit("attribute/function-version", "attribute", "5.4.8/function-attribute-needs-8.0", a::function_attribute_before_8_0),
    edit("label-operand/mov", "label-operand", "6.4.4/label", o::label_moved),
    edit("label-operand/address", "label-operand", "6.4.4/label", o::label_loaded),
    edit("function-operand/address", "function-operand", "6.4.4/function-name", o::function_loaded),
    edit("function-operand/branch", "function-operand", "6.4.4/function-name", o::function_branched),
    edit("function-operand/sum", "function-operand", "6.4.4/function-name", o::function_added),
    edit("address-register/float", "address-register", "6.4.1/register", o::float_register),
    edit("address-register/predicate", "address-register", "6.4.1/register", o::predicate_register),
    edit("address-register/vector", "address-register", "6.4.1/register", o::vector_register),
    edit("offset-type/float", "offset-type", "6.4.1/register-offset", o::float_offset),
    edit("offset-width/offset", "offset-width", "6.4.1/offset-width", o::wide_offset),
    edit("offset-width/absolute", "offset-width", "6.4.1/absolute-address", o::wide_address),
    edit("array-index/float", "array-index", "6.4.2/array-index", o::float_index),
    edit("array-index/register", "array-index", "6.4.2/array-index", o::float_index_register),
    edit("array-index/operator", "array-index", "6.4.2/array-index", o::product_index),
    edit("array-index/registers", "array-index", "6.4.2/array-index", o::register_sum_index),
    edit("vector-element/behind", "vector-element", "6.4.3/element-suffix", o::behind_the_vector),
    edit("vector-element/scalar", "vector-element", "6.4.3/element-suffix", o::element_of_scalar),
    edit("vector-list/length", "vector-list", "6.4.3/vector-access", o::short_list),
];
