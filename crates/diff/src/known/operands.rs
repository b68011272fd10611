//! Known deviations of the operands of instructions, other than addresses.

use ptxsmith_oracle::rules::ElementNamed;
use ptxsmith_syntax::Opcode;

use super::entry::RuleChange;

/// The rules that listed deviations follow, by id.
pub(super) const CHANGES: &[(&str, RuleChange)] = &[
    (
        "function-in-sum-accepted",
        RuleChange::Rule(|rules| {
            let operand = &mut rules.operands.function_operand;
            operand.change(|next, opcode, place| {
                let taken = place > 0 && opcode != Opcode::Ld;
                taken || opcode == Opcode::St || next.apply(opcode, place)
            });
        }),
    ),
    (
        "wide-predicate-in-comparison",
        RuleChange::Rule(|rules| {
            rules.operands.predicate.change(|next, opcode, bits| {
                let bits = if opcode == Opcode::Setp { bits & 0xffff_ffff } else { bits };
                next.apply(opcode, bits)
            });
        }),
    ),
    (
        "missing-element-accepted",
        RuleChange::Rule(|rules| rules.operands.element_named.change(first_for_missing)),
    ),
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

    /// Except in a store, operand 0 is written. Operand 1 of a load is an address. Neither accepts a
    /// function.
    #[test]
    fn a_function_is_accepted_where_a_value_is_read() {
        let (_, RuleChange::Rule(change)) = CHANGES[0] else { panic!("it changes a rule") };
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
