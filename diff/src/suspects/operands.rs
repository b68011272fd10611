//! Plausible wrong rules of operands (6.4).

use ptxsmith_oracle::Clause;

use super::Suspect;

/// Every plausible wrong rule of operands that is looked for.
pub const OPERANDS: &[Suspect] = &[
    Suspect {
        id: "operand-offset-unsigned",
        title: "an offset in an address has no sign",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| i64::from(next.apply(bytes) as u32)),
    },
    Suspect {
        id: "operand-offset-16-bits",
        title: "an offset in an address has 16 bits",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| i64::from(next.apply(bytes) as i16)),
    },
    Suspect {
        id: "operand-offset-ignored",
        title: "an offset in an address is ignored",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|_, _| 0),
    },
    Suspect {
        id: "operand-offset-counts-words",
        title: "an offset in an address counts words",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| next.apply(bytes).wrapping_mul(4)),
    },
    Suspect {
        id: "index-counts-bytes",
        title: "a constant index counts bytes",
        clause: Clause::ArrayIndex,
        change: |rules| rules.operands.element_offset.change(|next, index, _| next.apply(index, 1)),
    },
    Suspect {
        id: "register-index-unsigned",
        title: "an index in a register has no sign",
        clause: Clause::ArrayIndex,
        change: |rules| {
            rules.operands.index.change(|next, ty, bits| {
                let unused = 64 - 8 * ty.size().unwrap_or(8).min(8) as u32;
                next.apply(ty, bits) & (u64::MAX >> unused) as i64
            });
        },
    },
    Suspect {
        id: "colors-reversed",
        title: ".r .g .b .a name the elements from the last",
        clause: Clause::VectorSuffix,
        change: |rules| {
            rules.operands.element_named.change(|next, letter, count| match letter {
                "r" | "g" | "b" | "a" => next.apply(letter, count).map(|element| 3 - element),
                _ => next.apply(letter, count),
            });
        },
    },
    Suspect {
        id: "braces-from-the-highest",
        title: "braces take a scalar apart from its highest part",
        clause: Clause::VectorBraces,
        change: |rules| {
            rules.operands.part_of_scalar.change(|next, place, count| count - 1 - next.apply(place, count))
        },
    },
    Suspect {
        id: "predicate-is-lowest-bit",
        title: "a predicate constant is its lowest bit",
        clause: Clause::PredicateConstant,
        change: |rules| rules.operands.predicate.change(|next, opcode, bits| next.apply(opcode, bits & 1)),
    },
];
