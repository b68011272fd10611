//! Known deviations of the operands of instructions that are no addresses.

use ptxsmith_oracle::{Clause, rules::ElementNamed};
use ptxsmith_syntax::Opcode;

use super::entry::{Effect, End, Known, example};
use crate::maker::Releases;
use crate::shapes::operands as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "function-in-sum-accepted",
        title: "the name of a function is taken as an operand of arithmetic, logic, conversions, comparisons and st",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            let operand = &mut rules.operands.function_operand;
            operand.change(|next, opcode, place| {
                let taken = place > 0 && opcode != Opcode::Ld;
                taken || opcode == Opcode::St || next.apply(opcode, place)
            });
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .u64 p; add.u64 p, f, 4; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "wide-predicate-in-comparison",
        title: "of a constant that setp combines its result with, only 32 bits count",
        clauses: &[Clause::PredicateConstant],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.predicate.change(|next, opcode, bits| {
                let bits = if opcode == Opcode::Setp { bits & 0xffff_ffff } else { bits };
                next.apply(opcode, bits)
            });
        }),
        example: example!(
            "7.7",
            ".visible .entry k(.param .u64 out) { .reg .u64 o; .reg .u32 r; .reg .pred p; ld.param.u64 o, [out]; setp.eq.and.u32 p, 1, 1, 4294967296; selp.u32 r, 1, 0, p; st.global.u32 [o], r; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "missing-element-accepted",
        title: "an element that the vector lacks is taken",
        clauses: &[Clause::VectorElementExists],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.operands.element_named.change(first_for_missing)),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .v2 .u32 v; .reg .u32 r, s; mov.u32 r, 1; mov.v2.u32 v, {r, r}; mov.u32 s, v.z; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    // Whether such an element is taken or kills depends on what the optimizer knows of the vector: one that was never
    // set kills every release, one that was set before kills from 12.3 on, and one whose value is not used is taken.
    Known {
        id: "part-in-list-crash",
        title: "a part of a scalar, such as r.b0 or r.h1, in a list kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::part_in_list },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .f32 f<4>; mov.v2.f32 {f0, f1}, {f2, f3.b0}; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "function-as-predicate-hang",
        title: "a function as an operand of and, or or xor on predicates can leave the compiler without an end, or without memory",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::function_as_predicate },
        example: example!(
            "7.7",
            ".func f() { ret; }\n.visible .entry k() { .reg .pred q; and.pred q, f, q; @q trap; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "missing-element-crash",
        title: "an element that the vector lacks kills the compiler (SIGSEGV)",
        clauses: &[Clause::VectorElementExists],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Crash {
            signal: 11,
            when: |trace| trace.clauses.contains(Clause::VectorElementExists),
            of: shapes::missing_element,
        },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .v2 .u32 v; .reg .u32 c; mov.u32 c, v.z; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "converted-function-crash",
        title: "the name of a function or kernel as the operand of cvt kills the compiler (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::converted_function },
        example: example!(
            "7.7",
            ".func f() { ret; }\n.visible .entry k() { .reg .u64 d; cvt.u64.u32 d, f; ret; }"
        ),
        first_seen: "2026-11-23",
    },
    Known {
        id: "float-register-sum-crash",
        title: "a floating-point register plus a constant as an operand kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::float_register_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .f64 f; .reg .b32 a, b; mov.b64 {a, b}, f + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "parameter-sum-crash",
        title: "a .param variable of a body plus a constant as an operand kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::parameter_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .param .u32 p; .reg .u32 r; mov.u32 r, p + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "address-in-list-crash",
        title: "a .local or .param variable in a list of values kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::address_in_list },
        example: example!(
            "7.7",
            ".visible .entry k() { .local .u32 x; .reg .v2 .u32 v; mov.v2.u32 v, {x, x}; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "integer-list-for-f64-crash",
        title: "a list of integer constants as a vector of .f64 kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::integer_list_for_f64 },
        example: example!("7.7", ".visible .entry k() { .reg .v2 .f64 v; mov.v2.f64 v, {1, 1}; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "stored-function-crash",
        title: "a function as what st, tensormap.replace or a mov of four elements takes kills the compiler (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("13.1"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::stored_function },
        example: example!(
            "7.7",
            ".global .u64 g;\n.func f() { ret; }\n.visible .entry k() { st.global.b64 [g], f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "surface-load-list-crash",
        title: "a list as the result of an suld of one value kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::surface_load_list },
        example: example!(
            "7.7",
            ".global .surfref s;\n.visible .entry k() { .reg .b32 r, i; suld.b.1d.b32.trap {r, r}, [s, {i}]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-matrix-crash",
        title: "_ as the result of an instruction on matrices, and of some others, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_matrix },
        example: example!(
            "7.7",
            ".shared .align 16 .b8 s[64];\n.visible .entry k() { ldmatrix.sync.aligned.m8n8.x1.shared.b16 _, [s]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-load-crash",
        title: "_ as the result of ld, mov or tex kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "12.4"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_load },
        example: example!("7.7", ".global .u32 g;\n.visible .entry k() { ld.global.u32 _, [g]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-wide-load-crash",
        title: "_ as the result of an ld of 32 bytes kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.9"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_wide_load },
        example: example!(
            "8.7",
            "sm_100",
            ".visible .entry k() { .reg .b64 d; ld.global.v8.b32 _, [d]; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "vector-for-list-crash",
        title: "a vector register in place of a list, or of the offsets of tex, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::vector_for_list },
        example: example!(
            "7.7",
            ".global .texref t;\n.visible .entry k() { .reg .f32 f; .reg .v2 .b32 v; .reg .v4 .f32 w; tex.1d.v4.f32.f32 w, [t, {f}], v; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "absolute-tensor-shift-crash",
        title: "a number, a label or an undeclared name as the address of tcgen05.shift or tcgen05.cp kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.8"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::absolute_tensor_shift },
        example: example!(
            "8.6",
            "sm_100a",
            ".visible .entry k() { tcgen05.shift.cta_group::1.down [1]; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "tensor-copy-without-brackets-crash",
        title: "a copy of a tensor with an operand that lacks its brackets kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::tensor_copy_without_brackets },
        example: example!(
            "8.0",
            "sm_90a",
            ".global .texref t;\n.visible .entry k() { .reg .b64 d; .reg .b32 r; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [d, {r, r}], t; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "predicate-tensor-copy-hang",
        title: "a predicate in an operand of a copy of a tensor makes the compiler run on, until its memory is full",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.0"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::predicate_in_tensor_copy },
        example: example!(
            "8.0",
            "sm_90a",
            ".shared .align 16 .b8 s[16];\n.shared .b64 m;\n.visible .entry k() { .reg .pred p; .reg .b32 r; \
             cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p, {r}], [m]; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "wide-atomic-constant-crash",
        title: "a constant, a sum or a function as a value of an atom of 128 bits kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.3"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::constant_in_wide_atom },
        example: example!(
            "8.3",
            "sm_90",
            ".visible .entry k() { .reg .b64 d; .reg .b128 q; atom.global.cas.b128 q, [d], q, 1; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "surface-store-scalar-crash",
        title: "one value for an sust or st.async of a vector kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::scalar_for_surface_vector },
        example: example!(
            "7.7",
            ".global .surfref s;\n.visible .entry k() { .reg .b32 r; .reg .s32 i; sust.b.1d.v2.b32.trap [s, {i}], r; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "scalar-coordinate-crash",
        title: "a scalar as the coordinates of a texture or surface that has several kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::scalar_coordinate },
        example: example!(
            "7.7",
            ".global .texref t;\n.visible .entry k() { .reg .u32 r; .reg .v4 .f32 v; tex.a1d.v4.f32.s32 v, [t, r]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "texture-constant-list-crash",
        title: "a list of an integer register and a constant in a texture access kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::mixed_texture_list },
        example: example!(
            "7.7",
            ".global .texref t;\n.visible .entry k() { .reg .u32 r; .reg .v4 .f32 v; tld4.r.2d.v4.f32.f32 v, [t, {r, 1}]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "float-function-crash",
        title: "a function as a floating-point operand kills the compiler where the module has another kernel (SIGSEGV)",
        clauses: &[Clause::FunctionOperand],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::float_function },
        example: example!(
            "7.7",
            ".func f() { ret; }\n.visible .entry a() { ret; }\n.visible .entry k() { .reg .f32 x; div.rn.f32 x, x, f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "predicate-sum-hang",
        title: "a predicate plus a constant takes all time and memory",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Exhausted, of: shapes::predicate_sum },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r; .reg .pred p; bar.red.popc.u32 r, 0, p + 4; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "constant-result-crash",
        title: "a number in place of the register for the result of a call kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::constant_result },
        example: example!(
            "7.7",
            ".func (.reg .u32 r) f() { mov.u32 r, 1; ret; }\n.visible .entry k() { call (1), f; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "mixed-integer-list-crash",
        title: "a list of a signed integer constant and another integer as a vector of .f32 or .f64 kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::mixed_integer_list },
        example: example!("7.7", ".visible .entry k() { .reg .v2 .f32 v; mov.v2.f32 v, {1U, 1}; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "vector-prototype-crash",
        title: "a call with a scalar through a prototype whose parameter is a vector of that size kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::vector_prototype },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u64 a; .reg .u32 r; P: .callprototype _ (.param .v2 .b16 p); call a, (r), P; ret; }"
        ),
        first_seen: "2026-11-24",
    },
];

fn first_for_missing(next: &ElementNamed, letter: &str, count: usize) -> Option<usize> {
    next.apply(letter, count).map(|element| if element < count { element } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Rules;

    #[test]
    fn an_element_that_a_vector_lacks_is_its_first() {
        let rules = Rules::default().with(|rules| rules.operands.element_named.change(first_for_missing));
        let named = |letter| rules.operands.element_named.apply(letter, 2);
        assert_eq!(["x", "y", "z", "a", "q"].map(named), [Some(0), Some(1), Some(0), Some(0), None]);
    }

    /// The first operand is written, and the second of a load is a place.
    #[test]
    fn a_function_is_taken_where_a_value_is_read() {
        let listed = LISTED.iter().find(|known| known.id == "function-in-sum-accepted");
        let change = listed.and_then(Known::change).expect("it changes a rule");
        let (text, rules) = (Rules::default(), Rules::default().with(change));
        let takes = |rules: &Rules, opcode, place| rules.operands.function_operand.apply(opcode, place);
        for (opcode, place, taken) in [
            (Opcode::Add, 1, true),
            (Opcode::Add, 2, true),
            (Opcode::Add, 0, false),
            (Opcode::Ld, 1, false),
            (Opcode::St, 0, true),
            (Opcode::St, 1, true),
        ] {
            assert!(!takes(&text, opcode, place), "{opcode:?} {place}");
            assert_eq!(takes(&rules, opcode, place), taken, "{opcode:?} {place}");
        }
    }
}
