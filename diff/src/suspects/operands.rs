//! Plausible wrong rules of operands (6.4).

use ptxsmith_oracle::Clause;

use super::{Suspect, right};

/// Every plausible wrong rule of operands that is looked for.
pub const OPERANDS: &[Suspect] = &[
    Suspect {
        id: "operand-offset-unsigned",
        title: "an offset in an address has no sign",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operand_offset = |bytes| i64::from(bytes as u32),
    },
    Suspect {
        id: "operand-offset-16-bits",
        title: "an offset in an address has 16 bits",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operand_offset = |bytes| i64::from(bytes as i16),
    },
    Suspect {
        id: "operand-offset-ignored",
        title: "an offset in an address is ignored",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operand_offset = |_| 0,
    },
    Suspect {
        id: "operand-offset-counts-words",
        title: "an offset in an address counts words",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operand_offset = |bytes| bytes.wrapping_mul(4),
    },
    Suspect {
        id: "index-counts-bytes",
        title: "a constant index counts bytes",
        clause: Clause::ArrayIndex,
        change: |rules| rules.element_offset = |index, _| Some(index),
    },
    Suspect {
        id: "register-index-unsigned",
        title: "an index in a register has no sign",
        clause: Clause::ArrayIndex,
        change: |rules| {
            rules.index = |ty, bits| {
                let unused = 64 - 8 * ty.size().unwrap_or(8).min(8) as u32;
                (right().index)(ty, bits) & (u64::MAX >> unused) as i64
            }
        },
    },
    Suspect {
        id: "colors-reversed",
        title: ".r .g .b .a name the elements from the last",
        clause: Clause::VectorSuffix,
        change: |rules| {
            rules.element_named = |letter| match letter {
                "r" | "g" | "b" | "a" => (right().element_named)(letter).map(|element| 3 - element),
                _ => (right().element_named)(letter),
            }
        },
    },
    Suspect {
        id: "braces-from-the-highest",
        title: "braces take a scalar apart from its highest part",
        clause: Clause::VectorBraces,
        change: |rules| rules.part_of_scalar = |place, count| count - 1 - place,
    },
    Suspect {
        id: "predicate-is-lowest-bit",
        title: "a predicate constant is its lowest bit",
        clause: Clause::PredicateConstant,
        change: |rules| rules.predicate = |bits| bits & 1 == 1,
    },
];
