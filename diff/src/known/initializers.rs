//! Known deviations of initial values: lists, what a value becomes in a variable of its type, addresses in variables.

use ptxsmith_oracle::{
    COMPUTED_NAN, Clause, Ruled, Slot, Step, Stop, Stored, Value,
    rules::{SlotOf, Store},
};
use ptxsmith_syntax::ScalarType;

use super::entry::{Effect, End, Known, example};
use crate::maker::Releases;
use crate::shapes::initializers as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "incomplete-rows-packed",
        title: "the values of incomplete inner rows are packed to the front of the array",
        clauses: &[Clause::IncompleteInner],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.place.change(|_, at| at.written)),
        example: example!("7.7", ".global .s32 x[2][2] = {{1}, {3}};"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "single-bits-raw-in-f64",
        title: "a single-precision bit pattern is stored unconverted in a double-precision variable",
        clauses: &[Clause::FloatSingleBits, Clause::FloatNarrowing],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.store.change(single_bits_raw)),
        example: example!("7.7", ".global .f64 x = 0f3f800000;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "float-in-small-bits",
        title: "a bit-size type that is smaller than any float takes the low bytes of one",
        clauses: &[Clause::ValueKind],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.expressions.store.change(float_in_small_bits)),
        example: example!("7.7", ".global .b16 x = 0d400921FB54442D18;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "address-always-8-bytes",
        title: "an address is written as 8 bytes also where the variable that holds it has 4, so it reaches beyond it",
        clauses: &[Clause::AddressType],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.layout.slot_of.change(always_8_bytes)),
        example: example!("7.7", ".global .u32 g;\n.global .u32 x = g;"),
        first_seen: "2026-11-21",
    },
    Known {
        id: "scalar-for-array-crash",
        title: "a single value for an array of no length, or a property for any array, kills the compiler (SIGSEGV)",
        clauses: &[Clause::NestingMatches],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::scalar_for_array },
        example: example!("7.7", ".global .u32 x[] = 1;"),
        first_seen: "2026-11-23",
    },
    Known {
        id: "huge-constant-memory",
        title: "a .const or initialized variable of 2^30 bytes or more takes all memory or time",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::huge_constant },
        example: example!("7.7", ".const .u8 x[4294967295];"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "extern-function-relocation",
        title: "the address of an .extern function in a variable of a body is a relocation to no symbol",
        clauses: &[Clause::FunctionAddress],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Broken, of: shapes::extern_function_in_body },
        example: example!("7.7", ".extern .func f();\n.visible .entry k() { .global .u64 x = f; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "name-as-property-crash",
        title: "a name as a property of a texture, sampler or surface kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::name_as_property },
        example: example!("7.7", ".global .texref t = {width = foo};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "opaque-list-crash",
        title: "a list in a list for a texture, sampler or surface kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::opaque_list },
        example: example!("7.7", ".global .texref x = {{}};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "packed-name-crash",
        title: "a name in a list for a .f16x2 variable kills the compiler (SIGSEGV), or is an internal error of it",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Noticed(11), of: shapes::name_in_packed_list },
        example: example!("7.7", ".global .f16x2 x = {x, x};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "packed-list-accepted",
        title: "a list is taken for a .f16x2 variable, a type that takes no initial value",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::packed_list),
        example: example!("7.7", ".global .f16x2 x = {1, 2};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "empty-half-list-accepted",
        title: "a list without values is taken for an array of .f16, a type that takes no initial value",
        clauses: &[Clause::TypeAllowsInitializer],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::empty_list_of_halves),
        example: example!("7.7", ".global .f16 x[2] = {};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "zero-dimension-accepted",
        title: "a first dimension of zero is taken where an initial value stands",
        clauses: &[Clause::Dimension, Clause::LiteralRange],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::zero_dimension_with_value),
        example: example!("7.7", ".global .u8 x[0] = {1};"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "parenthesized-single-accepted",
        title: "a single-precision bit pattern in parentheses is taken as an operand, and its bits for those of a double",
        clauses: &[Clause::SingleBitsNotInExpression],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::parenthesized_single_operand),
        example: example!("7.7", ".global .f32 x = -(0f3f800000);"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "offset-expression-accepted",
        title: "behind NAME + all of an expression is taken for the offset, operators that bind less included",
        clauses: &[Clause::AddressOffset],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::offset_expression),
        example: example!("7.7", ".global .u32 g;\n.global .u64 x = g + 4 == 4;"),
        first_seen: "2026-11-24",
    },
];

/// From sm_90 on the addend is read from eight bytes too: what stands in the upper half of it is the next element, or
/// whatever the compiler had in its memory there, which differs from run to run.
fn always_8_bytes(next: &SlotOf, size: u64, byte: Option<u8>, architecture: Option<u32>) -> Slot {
    if byte.is_some() || size >= 8 {
        return next.apply(size, byte, architecture);
    }
    Slot { width: 8, addend_bits: if architecture.is_some_and(|sm| sm >= 90) { 32 } else { 64 } }
}

fn single_bits_raw(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    match value {
        Value::Single(bits) if matches!(ty, ScalarType::F64 | ScalarType::B64) => {
            Ok(Stored::Bits(bits.into()))
        }
        other => next.apply(step, other, ty),
    }
}

fn float_in_small_bits(next: &Store, step: &mut Step<'_>, value: Value, ty: ScalarType) -> Ruled<Stored> {
    let small = matches!(ty, ScalarType::B8 | ScalarType::B16);
    match value {
        Value::Float(float) if small => Ok(Stored::Bits(float.to_bits())),
        Value::Single(bits) if small => Ok(Stored::Bits(bits.into())),
        Value::ComputedNan if small => Err(Stop::Unmodelled(COMPUTED_NAN)),
        value => next.apply(step, value, ty),
    }
}
