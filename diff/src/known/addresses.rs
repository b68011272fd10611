//! Known deviations of the addresses of instructions: indices, offsets, what stands in brackets.

use ptxsmith_oracle::Clause;
use ptxsmith_syntax::{BinaryOp, StateSpace, TypeKind};

use super::entry::{Effect, End, Known, example};
use crate::maker::Releases;
use crate::shapes::addresses as shapes;

pub(super) const LISTED: &[Known] = &[
    Known {
        id: "negative-index-unsigned",
        title: "the offset of an index is unsigned and of 32 bits, so that a negative or a large one is another",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.element_offset.change(|next, index, step| {
                let offset = next.apply(index, step)?;
                Some(i64::from(offset as u32))
            });
            rules.operands.indexed_offset.change(|next, ty, index, constant, step| {
                let offset = next.apply(ty, index, constant, step)?;
                Some(i64::from(offset as u32))
            });
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k(.param .u64 out) { .reg .u64 p, o; mov.u64 p, a[-2]; ld.param.u64 o, [out]; st.global.u64 [o], p; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "incomplete-array-unscaled",
        title: "an index of an .extern array without a size counts bytes, not elements",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            let step = &mut rules.operands.element_step;
            step.change(|next, is_sized, bytes| if is_sized { next.apply(is_sized, bytes) } else { 1 });
        }),
        example: example!(
            "7.7",
            ".extern .shared .u32 a[];\n.visible .entry k(.param .u64 out) { .reg .u64 o; .reg .u32 p, q; ld.param.u64 o, [out]; mov.u32 p, a[2]; mov.u32 q, a; sub.u32 p, p, q; st.global.u32 [o], p; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "narrow-index-constant",
        title: "a constant that is added to an index of 8 or 16 bits is cut to the type of the register",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.indexed_offset.change(|next, ty, index, constant, step| {
                let constant = match (ty.size(), ty.kind()) {
                    (Some(1), TypeKind::Signed) => i64::from(constant as i8),
                    (Some(2), TypeKind::Signed) => i64::from(constant as i16),
                    (Some(1), _) => i64::from(constant as u8),
                    (Some(2), _) => i64::from(constant as u16),
                    _ => constant,
                };
                next.apply(ty, index, constant, step)
            });
        }),
        example: example!(
            "7.7",
            ".global .u32 a[8];\n.visible .entry k(.param .u64 out) { .reg .u64 o, p; .reg .u16 h; .reg .u8 i; ld.param.u64 o, [out]; mov.u16 h, 3; cvt.u8.u16 i, h; mov.u64 p, a[i + -1]; st.global.u64 [o], p; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "wide-offset-accepted",
        title: "an offset of more than 32 bits is taken",
        clauses: &[Clause::OperandOffsetWidth, Clause::OperandAbsolute],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| rules.operands.offset_fits.change(|_, _, _| true)),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.func f() { ret; }\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, [a + 2147483648]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "opaque-type-as-part-crash",
        title: "a type such as .texref behind a name, where a part of a register stands, kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "13.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::opaque_type_as_part },
        example: example!("7.7", ".func f() { .reg .u32 r; mov.u32 r, r.texref; ret; }"),
        first_seen: "2026-11-25",
    },
    Known {
        id: "vector-register-address-crash",
        title: "a vector register as an address or an index kills the compiler (SIGSEGV)",
        clauses: &[Clause::OperandRegister, Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::between("11.7", "13.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::vector_address },
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k() { .reg .v2 .u32 v; .reg .u32 r; ld.global.u32 r, a[v]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    // The address is followed in 64 bits, but constants in 32 with their sign: after `add p, v, 0x80000006` and an
    // offset of -0x80000000 it is taken for v + 6 - 2^32, which no other access meets, so that a store there is dropped
    // and a load has nothing to load. With -O0 and -O1 both are there.
    Known {
        id: "local-address-in-32-bits",
        title: "a .local variable is missed by way of an address 2^31 bytes and more behind it",
        clauses: &[Clause::ByteAddresses],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Rule(|rules| {
            rules.operands.moved.change(|next, space, bytes| {
                let bytes = if space == StateSpace::Local { i64::from(bytes as i32) } else { bytes };
                next.apply(space, bytes)
            });
            let outside = &mut rules.operands.outside;
            outside.change(|next, space| if space == StateSpace::Local { Ok(()) } else { next.apply(space) });
        }),
        example: example!(
            "7.7",
            ".visible .entry k(.param .u64 out) { .local .u16 v[4]; .reg .u64 o, p; .reg .u16 h; ld.param.u64 o, [out]; mov.u64 p, v; add.u64 p, p, 2147483654; st.local.u16 [p + -2147483648], 7; ld.local.u16 h, [v + 6]; st.global.u16 [o], h; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "subtracted-index-refused",
        title: "an index of a register minus a constant is refused",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refusal(|rules| {
            rules.operands.index_operator.change(|next, op| op != BinaryOp::Sub && next.apply(op));
        }),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k() { .reg .u32 r, i; mov.u32 i, 1; ld.global.u32 r, a[i - 1]; ret; }"
        ),
        first_seen: "2026-11-21",
    },
    Known {
        id: "special-register-address-crash",
        title: "a special register as an address kills the compiler (SIGSEGV)",
        clauses: &[Clause::OperandRegister],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::special_register_address },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; st.global.u32 [%laneid], r; ret; }"),
        first_seen: "2026-11-23",
    },
    Known {
        id: "narrow-address-internal-error",
        title: "a narrow register as the address of prefetch, applypriority, discard or cp.async ends the compiler with an internal error",
        clauses: &[Clause::AddressWidth],
        lineage: "nvidia",
        releases: Releases::from("12.8"),
        effect: Effect::Death { end: End::Internal, of: shapes::narrow_fetched_address },
        example: example!(
            "8.6",
            "sm_100",
            ".visible .entry k() { .reg .b16 h; prefetch.global.L2 [h]; ret; }"
        ),
        first_seen: "2026-11-25",
    },
    Known {
        id: "opaque-address-crash",
        title: "a texture or surface as the address of atom, red, prefetch or applypriority kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::opaque_address },
        example: example!("7.7", ".global .texref t;\n.visible .entry k() { prefetch.global.L1 [t]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "local-atomic-crash",
        title: "a .local variable as the address of a generic atom kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::local_atomic },
        example: example!(
            "7.7",
            ".visible .entry k() { .local .b32 x; .reg .u32 r; atom.add.u32 r, [x], r; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "own-parameter-load-crash",
        title: "an ld of a .param variable of the body outside of a call kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::between("11.7", "13.3"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::own_parameter_load },
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r; .param .u32 x; ld.param.u32 r, [x]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "sink-address-crash",
        title: "_ in place of the address of red or multimem.red kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::sink_address },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; red.global.add.u32 _, r; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "unified-absolute-crash",
        title: "an absolute address marked .unified kills the compiler (SIGSEGV)",
        clauses: &[],
        lineage: "nvidia",
        releases: Releases::from("12.0"),
        effect: Effect::Death { end: End::Signal(11), of: shapes::unified_absolute },
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [16].unified; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "absolute-address-refused",
        title: "an absolute address is refused in all state spaces but .local",
        clauses: &[Clause::OperandAbsolute],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Refused(shapes::absolute_address),
        example: example!("7.7", ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [16]; ret; }"),
        first_seen: "2026-11-24",
    },
    Known {
        id: "narrow-address-refused",
        title: "a register of 32 bits is refused as an address where addresses have 64",
        clauses: &[Clause::AddressWidth],
        lineage: "nvidia",
        releases: Releases::from("12.1"),
        effect: Effect::Refused(shapes::narrow_address),
        example: example!(
            "7.7",
            ".visible .entry k() { .reg .u32 r, p; mov.u32 p, 16; ld.global.u32 r, [p]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
    Known {
        id: "variable-index-accepted",
        title: "a variable is taken as the index of an array",
        clauses: &[Clause::ArrayIndex],
        lineage: "nvidia",
        releases: Releases::from("11.7"),
        effect: Effect::Taken(shapes::variable_index),
        example: example!(
            "7.7",
            ".global .u32 a[4];\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, a[a]; ret; }"
        ),
        first_seen: "2026-11-24",
    },
];
