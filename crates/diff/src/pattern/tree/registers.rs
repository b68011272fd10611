//! What is known of the registers of a function at each instruction: which instruction set them, and which of them
//! equal a constant on this side of a branch.

use std::collections::BTreeMap;

use ptxsmith_syntax::{Function, Instruction, Opcode, Operand, Statement, Text};

use super::super::constants::known_number;
use super::{ModuleFacts, PatternKind, PatternNode, Walk, operand_names};

/// Returns true if an instruction sets the registers in its first operand. `has_results` is whether that is a list
/// with others behind it: the results of a call.
pub(super) fn sets_first(opcode: &str, has_results: bool) -> bool {
    match opcode {
        "st" | "red" | "bra" | "brx" => false,
        "call" => has_results,
        _ => true,
    }
}

impl<'m, F: FnMut(&PatternNode<'m>, &ModuleFacts<'m>)> Walk<'m, F> {
    /// Records what the instructions of a function use, set and pass.
    pub(super) fn record_uses(&mut self, function: &'m Function) {
        (self.passed, self.set, self.used) = Default::default();
        (self.setters, self.first_setters) = Default::default();
        (self.equated, self.equated_at, self.branches_to, self.has_jumped) = Default::default();
        let mut times_set: BTreeMap<&'m str, u32> = BTreeMap::new();
        for statement in function.statements() {
            if let Statement::Tokens(tokens) = statement {
                self.used.extend(tokens.iter().map(|token| token.text.as_str()));
                // Any of them may be set, or jumped to.
                for token in tokens {
                    *times_set.entry(&token.text).or_default() += 2;
                    *self.branches_to.entry(&token.text).or_default() += 2;
                }
            }
            let Statement::Instruction(own) = statement else { continue };
            self.used.extend(own.operands.iter().flat_map(operand_names));
            match own.opcode {
                Opcode::Call => self.passed.extend(own.operands.iter().flat_map(operand_names)),
                Opcode::Ld | Opcode::St => {}
                _ => self.set.extend(own.operands.iter().take(1).flat_map(operand_names)),
            }
            let first = own.operands.iter().take(1);
            let is_list = matches!(own.operands.as_slice(), [Operand::List(_), _, ..]);
            if sets_first(own.opcode.keyword(), is_list) {
                first.flat_map(operand_names).for_each(|name| *times_set.entry(name).or_default() += 1);
            } else {
                first
                    .flat_map(operand_names)
                    .for_each(|name| *self.branches_to.entry(name).or_default() += 1);
            }
        }
        self.set_once =
            times_set.into_iter().filter(|(_, times)| *times == 1).map(|(name, _)| name).collect();
    }

    /// Records the registers that an instruction sets: those in its first operand.
    pub(super) fn sets(&mut self, node: PatternNode<'m>) {
        let Some(first) = node.parts.first() else { return };
        let index = self.facts.instructions.len();
        first.each_name(&mut |name| {
            self.setters.insert(name.clone(), (index, self.labels_before));
            self.first_setters.entry(name.clone()).or_insert(index);
            self.equated.remove(name);
        });
        self.facts.instructions.push(node);
    }

    /// Returns the instruction that set a register last, if no label stands in between or no other sets it.
    pub(super) fn setter(&self, name: &Text) -> Option<usize> {
        let &(setter, labels_before) = self.setters.get(name)?;
        (labels_before == self.labels_before || self.set_once.contains(name.as_str())).then_some(setter)
    }

    /// Records where a branch leads, and the register that equals a constant on one of its sides.
    pub(super) fn record_branch(&mut self, instruction: &'m Instruction) {
        self.has_jumped = instruction.guard.is_none()
            && matches!(
                instruction.opcode,
                Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap
            );
        let (Opcode::Bra, Some(guard)) = (instruction.opcode, &instruction.guard) else { return };
        let Some((name, equal)) = self.compared(&guard.predicate.text) else { return };
        let target = instruction.operands.iter().flat_map(operand_names).next();
        if guard.negated == equal {
            self.equated.insert(name);
        } else if let Some(label) = target.filter(|_| guard.negated) {
            self.equated_at.insert(label, name);
        }
    }

    /// Returns the register that a predicate compares with a constant, unless it was set since, and whether the
    /// predicate holds if they are equal.
    fn compared(&self, predicate: &Text) -> Option<(Text, bool)> {
        let comparison = &self.facts.instructions[self.setter(predicate)?];
        let [to, a, b] = comparison.parts.as_slice() else { return None };
        if comparison.text != "setp" || comparison.guarded || to.kind != Some(PatternKind::Name) {
            return None;
        }
        let equal = match comparison.words.first()?.as_str() {
            ".eq" => true,
            ".ne" => false,
            _ => return None,
        };
        let register = match (known_number(a, &self.facts), known_number(b, &self.facts)) {
            (Some(_), None) => b,
            (None, Some(_)) => a,
            _ => return None,
        };
        (register.setter == self.setter(&register.text)).then(|| (register.text.clone(), equal))
    }

    /// Forgets what does not hold at a label. What one branch alone has found, and nothing else leads to, holds.
    pub(super) fn reach_label(&mut self, name: &'m Text) {
        self.labels_before += 1;
        let found = self.equated_at.remove(name.as_str());
        let is_alone = self.has_jumped && self.branches_to.get(name.as_str()) == Some(&1);
        self.equated = found.filter(|_| is_alone).into_iter().collect();
        self.has_jumped = false;
    }
}
