//! Programs that the specification refuses, each one edit away from one that it grants.
//!
//! [`EDITS`] has one entry an edit: what rule it breaks, and a function that makes the valid program, the twin, and
//! the broken one beside it. A refusal says something about the edit only where the twin is accepted: an
//! implementation may refuse both for a reason of its own.

mod edits;

use arbitrary::Unstructured;
use ptxsmith_syntax::{Declaration, Name};

use crate::{case::CaseId, coverage::Coverage, draft::Draft, generator::Generator, stream::case_bytes};
use edits::{self as e, Pair};

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

/// A program that the specification refuses, and its valid twin.
#[derive(Clone, Debug)]
pub struct Negative {
    /// Which one it is.
    pub id: CaseId,
    /// What was done to the twin.
    pub edit: &'static Edit,
    /// What must be accepted. Its variables are named `v0`, `v1` ... in order.
    pub twin: Declaration,
    /// What must be refused. Its variables have the names of the twin's.
    pub broken: Declaration,
}

impl Negative {
    /// The twin and the broken declaration with their variables named `PREFIX0`, `PREFIX1` ... in order.
    pub fn renamed(&self, prefix: &str) -> (Declaration, Declaration) {
        let rename = |declaration: &Declaration| {
            let mut declaration = declaration.clone();
            for (i, declarator) in declaration.declarators.iter_mut().enumerate() {
                declarator.name = Name::new(format!("{prefix}{i}"));
            }
            declaration
        };
        (rename(&self.twin), rename(&self.broken))
    }
}

impl Generator {
    /// The negative program of this seed and index. The edits take turns, so as many indices as there are edits have
    /// one of each.
    pub fn negative(&self, seed: u64, index: u64, coverage: &mut Coverage) -> Negative {
        let edit = &EDITS[(index % EDITS.len() as u64) as usize];
        let mut bytes = [0; 256];
        case_bytes(seed, index, &mut bytes);
        let u = Unstructured::new(&bytes);
        let Pair { twin, broken } = (edit.make)(&mut Draft::new(self, &u, coverage));
        Negative { id: CaseId { seed, index }, edit, twin, broken }
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
];
