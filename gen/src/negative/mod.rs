//! Programs that the specification rejects, each one edit away from a valid counterpart.
//!
//! Each entry of [`EDITS`] names the rule it breaks and a function that generates the valid counterpart and the broken
//! program. A rejection is evidence about the edit only if the valid counterpart is accepted, because an implementation
//! may reject both for a reason of its own.

mod addresses;
mod edits;
mod operands;
mod pair;

use ptxsmith_syntax::{Header, Item};

use crate::{
    coverage::Coverage, draft::Draft, generator::Generator, nonterminal::Nonterminal as N, stream::case_bytes,
};
use addresses as a;
use edits as e;
use operands as o;
use pair::ProgramPair;

/// One way to break a valid declaration.
#[derive(Debug)]
pub struct Edit {
    /// The full name: label, slash, edit.
    pub name: &'static str,
    /// The rule that the edit breaks. The oracle uses the same labels for its classes of rejection.
    pub label: &'static str,
    /// The clause that states the rule.
    pub clause: &'static str,
    make: fn(&mut Draft<'_, '_>) -> ProgramPair,
}

/// The number of consecutive programs that use the same edit. Some edits need a special header, and programs with the same
/// header are cheaper to judge together.
pub const TURN: u64 = 8;

/// Permutes the numbers of negative cases in a mixture, which has few: consecutive ones use different edits,
/// until all edits have been used.
pub(crate) fn in_turn(nth: u64) -> u64 {
    let edits = EDITS.len() as u64;
    let (round, edit) = (nth / edits, nth % edits);
    (round / TURN * edits + edit) * TURN + round % TURN
}

/// A program that the specification rejects, and its valid counterpart.
#[derive(Clone, Debug)]
pub struct Negative {
    /// The edit that breaks the valid counterpart.
    pub edit: &'static Edit,
    /// The valid program, which must be accepted. It declares `v0`, `v1` ...
    pub counterpart: Vec<Item>,
    /// The broken program, which must be rejected.
    pub broken: Vec<Item>,
    /// The header of the valid counterpart, if the usual one does not fit.
    pub counterpart_header: Option<Header>,
    /// The header of the broken program, if the usual one does not fit.
    pub header: Option<Header>,
}

impl PartialEq for Negative {
    fn eq(&self, other: &Negative) -> bool {
        self.edit.name == other.edit.name
            && self.counterpart_header == other.counterpart_header
            && self.header == other.header
            && self.counterpart == other.counterpart
            && self.broken == other.broken
    }
}

impl Generator {
    /// Generates the negative program with this seed and number. The edits alternate every [`TURN`] numbers.
    pub fn negative(&self, seed: u64, number: u64, coverage: &mut Coverage) -> Negative {
        let edit = &EDITS[(number / TURN % EDITS.len() as u64) as usize];
        let mut bytes = [0; 256];
        case_bytes(seed, number, &mut bytes);
        let ProgramPair { counterpart, broken, headers } =
            (edit.make)(&mut Draft::new(self.tables(), &bytes, coverage));
        let (counterpart_header, header) = headers.unzip();
        Negative { edit, counterpart, broken, counterpart_header, header }
    }
}

const fn edit(
    name: &'static str,
    label: &'static str,
    clause: &'static str,
    make: fn(&mut Draft<'_, '_>) -> ProgramPair,
) -> Edit {
    Edit { name, label, clause, make }
}

/// All edits.
#[rustfmt::skip]
pub static EDITS: &[Edit] = &[
    edit("malformed-literal/digit", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["08", "0719", "0b2", "0b102U", "0xfg", "12a"])),
    edit("malformed-literal/no-digits", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["0x", "0b", "0xU", "0B"])),
    edit("malformed-literal/suffix", "malformed-literal", "4.5.1/literal-malformed", |d| e::malformed(d, &["5u", "5L", "5UL", "5UU", "0x5u"])),
    edit("malformed-literal/float-suffix", "malformed-literal", "4.5.2/float-no-suffix", |d| e::other_literal(d, e::FLOATS, N::FloatLiteral, &["1.5f", "1.5F", "1e3f", "1.5L"])),
    edit("malformed-literal/exponent", "malformed-literal", "4.5.2/float-exponent", |d| e::other_literal(d, e::FLOATS, N::FloatLiteral, &["1.5e", "1e+", "1.5e-", "1E"])),
    edit("malformed-literal/bits", "malformed-literal", "4.5.2/float-bits-malformed", |d| e::other_literal(d, e::FLOATS, N::FloatLiteral, &["0f3f80000", "0f3f8000000", "0d3ff000000000000", "0d3ff00000000000000", "0d", "0f"])),
    edit("integer-only-operator/infix", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_infix),
    edit("integer-only-operator/prefix", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_prefix),
    edit("integer-only-operator/infix-in-integer", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_infix_in_integer),
    edit("integer-only-operator/prefix-in-integer", "integer-only-operator", "4.5.4/integer-only-operator", e::integer_only_prefix_in_integer),
    edit("int-float-mix/infix", "int-float-mix", "4.5.4/no-int-float-mix", e::mixed_infix),
    edit("int-float-mix/comparison", "int-float-mix", "4.5.4/no-int-float-mix", e::mixed_comparison),
    edit("int-float-mix/ternary", "int-float-mix", "4.5.5/ternary-same-kind", e::mixed_ternary),
    edit("single-bits-in-expression/infix", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", e::single_infix),
    edit("single-bits-in-expression/prefix", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", |d| e::single_in(d, &["-#", "+#"])),
    edit("single-bits-in-expression/ternary", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", |d| e::single_in(d, &["1 ? # : #", "0 ? # : #", "1 ? 1.0 : #"])),
    edit("ternary-condition/float", "ternary-condition", "4.5.5/ternary-condition", e::float_condition),
    edit("value-kind/float-in-integer", "value-kind", "5.4.4/value-kind", |d| e::value_kind(d, N::Integer, N::Float, e::INTEGERS)),
    edit("value-kind/float-in-small-bits", "value-kind", "5.4.4/value-kind", |d| e::value_kind(d, N::Integer, N::Float, &[".b8", ".b16"])),
    edit("value-kind/integer-in-float", "value-kind", "5.4.4/value-kind", |d| e::value_kind(d, N::Float, N::Integer, e::FLOATS)),
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
    edit("omitted-dimension/undetermined", "omitted-dimension", "5.4.3/omitted-needs-initializer", |d| e::dimension(d, &[""])),
    edit("dimension/negative", "dimension", "5.4.3/dimension", |d| e::dimension(d, &["-#"])),
    edit("dimension/float", "dimension", "5.4.3/dimension", |d| e::dimension(d, &["#.0", "#.", "#e0", "#.5"])),
    edit("specifiers/two-spaces", "specifiers", "5.4.1/one-state-space", e::two_spaces),
    edit("specifiers/two-types", "specifiers", "5.4.1/one-type", e::two_types),
    edit("specifiers/no-name", "specifiers", "5.4.1/name", e::no_name),
    edit("specifiers/align-behind", "specifiers", "5.4.5/align-place", e::align_behind),
    edit("specifiers/vector-behind", "specifiers", "5.4.2/vector-prefix", e::vector_behind),
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
    edit("single-bits-in-expression/parentheses", "single-bits-in-expression", "4.5.2/single-bits-not-in-expression", |d| e::single_in(d, &["(#)"])),
    edit("integer-only-operator/cast", "integer-only-operator", "4.5.4/integer-only-operator", e::cast_of_float),
    edit("too-few-elements/vector", "too-few-elements", "5.4.4/vector-list", e::too_few_lanes),
    edit("nesting/value-for-vector", "nesting", "5.4.4/nesting-matches", e::value_for_vector),
    edit("scalar-list/lane", "scalar-list", "5.4.4/scalar-single-value", e::list_for_lane),
    edit("trailing-comma/list", "trailing-comma", "5.4.4/nesting-matches", e::trailing_comma),
    edit("dimension/zero", "dimension", "5.4.3/dimension", |d| e::dimension(d, &["0"])),
    edit("vector-type/opaque", "vector-type", "5.4.2/vector-fundamental-type", e::opaque_vector),
    edit("predicate-space/initialized", "predicate-space", "5.4.1/predicate-only-in-registers", e::predicate_initialized),
    edit("initializer-space/body", "initializer-space", "5.4.4/only-global-const", a::initialized_in_a_body),
    edit("non-constant/dimension", "non-constant", "5.4.3/dimension", a::name_in_dimension),
    edit("non-constant/alignment", "non-constant", "5.4.5/align", a::name_in_align),
    edit("address-space/shared", "address-space", "5.4.4/address-space", a::other_space),
    edit("address-type/other", "address-type", "5.4.4/address-type", a::other_type),
    edit("byte-without-mask/name", "byte-without-mask", "5.4.4/byte-needs-mask", a::byte_without_mask),
    edit("address-arithmetic/subtracted", "address-arithmetic", "5.4.4/address-offset", |d| a::offset(d, "v1 + -#", "v1 - #")),
    edit("address-arithmetic/offset-first", "address-arithmetic", "5.4.4/address-offset", |d| a::offset(d, "v1 + #", "# + v1")),
    edit("address-arithmetic/offset-in-generic", "address-arithmetic", "5.4.4/generic", |d| a::offset(d, "generic(v1) + #", "generic(v1 + #)")),
    edit("address-arithmetic/function", "address-arithmetic", "5.4.4/function-address", a::more_than_a_function),
    edit("address-arithmetic/prefix", "address-arithmetic", "5.4.4/address-offset", |d| a::word_of(d, &["-v1", "~v1", "!v1", "+v1"])),
    edit("address-arithmetic/cast", "address-arithmetic", "5.4.4/address-offset", |d| a::word_of(d, &["(.s64)v1", "(.u64)v1"])),
    edit("address-arithmetic/infix", "address-arithmetic", "5.4.4/address-offset", a::infix_of_address),
    edit("address-arithmetic/two", "address-arithmetic", "5.4.4/address-offset", |d| a::word_of(d, &["v1 - v1", "v1 + v1", "v1 == v1"])),
    edit("address-arithmetic/float-offset", "address-arithmetic", "5.4.4/address-offset", |d| a::word_of(d, &["v1 + 4.0"])),
    edit("address-arithmetic/ternary", "address-arithmetic", "5.4.4/address-offset", |d| a::word_of(d, &["1 ? v1 : v1"])),
    edit("address-arithmetic/generic-constant", "address-arithmetic", "5.4.4/generic", |d| a::word_of(d, &["generic(8)"])),
    edit("address-arithmetic/generic-twice", "address-arithmetic", "5.4.4/generic", |d| a::word_of(d, &["generic(generic(v1))"])),
    edit("mask-value/other", "mask-value", "5.4.4/mask-value", a::other_mask),
    edit("mask-operand/float", "mask-operand", "5.4.4/mask-operand", a::mask_of_float),
    edit("mask-operand/function", "mask-operand", "5.4.4/mask-operand", a::mask_of_function),
    edit("mask-operand/mask", "mask-operand", "5.4.4/mask-operand", a::mask_of_mask),
    edit("mask-version/address", "mask-version", "5.4.4/mask-needs-7.1", a::mask_before_7_1),
    edit("mask-version/constant", "mask-version", "5.4.4/mask-constant-needs-7.3", a::mask_of_constant_before_7_3),
    edit("address-type/legacy", "address-type", "5.4.4/address-type", |d| a::other_type(d).under(["3.0", "sm_20"], ["3.0", "sm_20"])),
    edit("kernel-version/name", "kernel-version", "5.4.4/kernel-address", a::kernel_before_3_1),
    edit("label-address/body", "label-address", "5.4.4/no-labels", a::label),
    edit("unknown-name/undeclared", "unknown-name", "5.4.4/variable-address", a::unknown_name),
    edit("attribute/version", "attribute", "5.4.8/attribute-needs-4.0", |d| a::attribute(d, ".managed", &[".managed"]).under(["4.0", "sm_30"], ["3.2", "sm_30"])),
    edit("attribute/managed-arguments", "attribute", "5.4.8/managed", |d| a::attribute(d, ".managed", &[".managed(1)"])),
    edit("attribute/unified-arguments", "attribute", "5.4.8/unified", |d| a::attribute(d, ".unified(19, 95)", &[".unified", ".unified(19)", ".unified(19, 95, 1)"]).under(["8.0", "sm_90"], ["8.0", "sm_90"])),
    edit("attribute/unified-const", "attribute", "5.4.8/unified-only-global", |d| e::unified_const(d).under(["8.0", "sm_90"], ["8.0", "sm_90"])),
    edit("attribute/unified-target", "attribute", "5.4.8/unified-needs-sm-90", |d| a::attribute(d, ".unified(19, 95)", &[".unified(19, 95)"]).under(["8.0", "sm_90"], ["8.0", "sm_80"])),
    edit("attribute/function-version", "attribute", "5.4.8/function-attribute-needs-8.0", |_| ProgramPair::since(".func .attribute(.unified(171, 205)) v0() { ret; }", ["8.0", "sm_90"], ["7.8", "sm_90"])),
    edit("label-operand/mov", "label-operand", "6.4.4/label", |_| o::plain("mov.u64 p, v1;", "mov.u64 p, L;")),
    edit("label-operand/address", "label-operand", "6.4.4/label", |d| o::pair(d, o::INSIDE, "ld.global.u32 a, [v1 + #];", "ld.global.u32 a, [L + #];")),
    edit("function-operand/address", "function-operand", "6.4.4/function-name", |_| o::plain("ld.global.u32 a, [v1];", "ld.global.u32 a, [v2];")),
    edit("function-operand/branch", "function-operand", "6.4.4/function-name", |_| o::plain("bra L;", "bra v2;")),
    edit("function-operand/sum", "function-operand", "6.4.4/function-name", |d| o::pair(d, o::INSIDE, "add.u64 p, p, #;", "add.u64 p, v2, #;")),
    edit("address-register/float", "address-register", "6.4.1/register", |d| o::pair(d, &["f", "g"], "ld.global.u32 a, [p];", "ld.global.u32 a, [#];")),
    edit("address-register/predicate", "address-register", "6.4.1/register", |_| o::plain("ld.global.u32 a, [p];", "ld.global.u32 a, [q];")),
    edit("address-register/vector", "address-register", "6.4.1/register", |_| o::plain("ld.global.u32 a, [p];", "ld.global.u32 a, [v];")),
    edit("offset-type/float", "offset-type", "6.4.1/register-offset", |d| o::pair(d, &["v1", "p"], "ld.global.u32 a, [# + 4];", "ld.global.u32 a, [# + 4.0];")),
    edit("offset-width/offset", "offset-width", "6.4.1/offset-width", o::wide_offset),
    edit("offset-width/absolute", "offset-width", "6.4.1/absolute-address", |d| o::pair(d, &["4294967296", "0x100000010", "-4"], "st.local.u32 [16], a; ld.local.u32 b, [16];", "st.local.u32 [16], a; ld.local.u32 b, [#];")),
    edit("array-index/float", "array-index", "6.4.2/array-index", |d| o::pair(d, &["1.0", "0.0", "0f3f800000"], "ld.global.u32 a, v1[1];", "ld.global.u32 a, v1[#];")),
    edit("array-index/register", "array-index", "6.4.2/array-index", |d| o::pair(d, &["f", "g", "q"], "ld.global.u32 a, v1[b];", "ld.global.u32 a, v1[#];")),
    edit("array-index/operator", "array-index", "6.4.2/array-index", |d| o::pair(d, &["*", "<<", "/", "&"], "ld.global.u32 a, v1[b + 2];", "ld.global.u32 a, v1[b # 2];")),
    edit("array-index/registers", "array-index", "6.4.2/array-index", |_| o::plain("ld.global.u32 a, v1[b + 1];", "ld.global.u32 a, v1[b + a];")),
    edit("vector-element/behind", "vector-element", "6.4.3/element-suffix", o::behind_the_vector),
    edit("vector-element/scalar", "vector-element", "6.4.3/element-suffix", |d| o::pair(d, &[".x", ".r", ".y"], "mov.v4.u32 w, {a, b, a, b}; mov.u32 c, w#;", "mov.v4.u32 w, {a, b, a, b}; mov.u32 c, a#;")),
    edit("vector-list/length", "vector-list", "6.4.3/vector-access", |d| o::pair(d, &["{a, b}", "{a}", "{a, b, c}"], "ld.global.v4.u32 {a, b, c, d}, [v1];", "ld.global.v4.u32 #, [v1];")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn in_turn_every_edit_comes_before_one_comes_again_and_no_number_twice() {
        let edits = EDITS.len() as u64;
        let edit = |number| number / TURN % edits;
        let numbers: Vec<u64> = (0..3 * edits * TURN).map(in_turn).collect();
        for round in numbers.chunks(EDITS.len()) {
            assert!(round.iter().map(|&number| edit(number)).eq(0..edits));
        }
        assert!(numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len());
    }
}
