//! Plausible wrong rules of operands (6.4).

use ptxsmith_oracle::Clause;

use super::HypotheticalRule;

/// All plausible wrong rules of operands.
pub const OPERANDS: &[HypotheticalRule] = &[
    HypotheticalRule {
        id: "operand-offset-unsigned",
        title: "an offset in an address has no sign",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| i64::from(next.apply(bytes) as u32)),
    },
    HypotheticalRule {
        id: "operand-offset-16-bits",
        title: "an offset in an address has 16 bits",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| i64::from(next.apply(bytes) as i16)),
    },
    HypotheticalRule {
        id: "operand-offset-ignored",
        title: "an offset in an address is ignored",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|_, _| 0),
    },
    HypotheticalRule {
        id: "operand-offset-counts-words",
        title: "an offset in an address counts words",
        clause: Clause::OperandOffsetWidth,
        change: |rules| rules.operands.offset.change(|next, bytes| next.apply(bytes).wrapping_mul(4)),
    },
    HypotheticalRule {
        id: "index-counts-bytes",
        title: "a constant index counts bytes",
        clause: Clause::ArrayIndex,
        change: |rules| rules.operands.element_offset.change(|next, index, _| next.apply(index, 1)),
    },
    HypotheticalRule {
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
    HypotheticalRule {
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
    HypotheticalRule {
        id: "braces-from-the-highest",
        title: "braces take a scalar apart from its highest part",
        clause: Clause::VectorBraces,
        change: |rules| {
            rules.operands.part_of_scalar.change(|next, place, count| count - 1 - next.apply(place, count))
        },
    },
    HypotheticalRule {
        id: "predicate-is-lowest-bit",
        title: "a predicate constant is its lowest bit",
        clause: Clause::PredicateConstant,
        change: |rules| rules.operands.predicate.change(|next, opcode, bits| next.apply(opcode, bits & 1)),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Rules;
    use ptxsmith_syntax::ScalarType;

    fn with(id: &str) -> Rules {
        let rule = OPERANDS.iter().find(|rule| rule.id == id).expect("it is in the list");
        Rules::default().with(rule.change)
    }

    #[test]
    fn an_index_without_a_sign_has_the_bits_of_its_type() {
        let index =
            |id: Option<&str>, ty, bits| id.map_or_else(Rules::default, with).operands.index.apply(ty, bits);
        let minus_two = [
            (ScalarType::S16, 0xfffe, 0xfffe),
            (ScalarType::S32, 0xffff_fffe, 0xffff_fffe),
            (ScalarType::S64, u64::MAX - 1, -2),
        ];
        for (ty, bits, unsigned) in minus_two {
            assert_eq!(index(None, ty, bits), -2, "{ty:?}");
            assert_eq!(index(Some("register-index-unsigned"), ty, bits), unsigned, "{ty:?}");
        }
    }

    #[test]
    fn reversed_colors_are_those_of_a_vector_of_four_and_other_letters_stay() {
        let named = |letter| with("colors-reversed").operands.element_named.apply(letter, 4);
        assert_eq!(["r", "g", "b", "a"].map(named), [Some(3), Some(2), Some(1), Some(0)]);
        assert_eq!(["x", "y", "z", "w"].map(named), [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn braces_from_the_highest_part_count_down() {
        let part = |place| with("braces-from-the-highest").operands.part_of_scalar.apply(place, 4);
        assert_eq!([0, 1, 2, 3].map(part), [3, 2, 1, 0]);
    }
}
