//! The numbers that instructions compute from constants alone, as an optimizer sees them.

use ptxsmith_oracle::integer_result;
use ptxsmith_syntax::{Instruction, Opcode};

use super::facts::ModuleFacts;
use super::matching::value;
use super::node::{PatternKind, PatternNode, repeats};

/// Returns the number that an operand stands for, if constants alone decide it.
pub(super) fn known_number(operand: &PatternNode<'_>, facts: &ModuleFacts<'_>) -> Option<u64> {
    operand.known.or_else(|| value(operand, facts).map(|value| value as u64))
}

/// Returns what an instruction computes, if constants alone decide it: `x - x`, `x < x`, `x & 0`, shifts by the
/// width and fields of no bits included.
pub(super) fn known_result(
    instruction: &Instruction,
    operands: &[PatternNode<'_>],
    facts: &ModuleFacts<'_>,
) -> Option<u64> {
    let (to, sources) = operands.split_first().filter(|_| instruction.guard.is_none())?;
    if let (Opcode::Mov, Some(PatternKind::Vector), [whole]) = (instruction.opcode, to.kind, sources) {
        // Every part of 0 is 0.
        return known_number(whole, facts).filter(|&whole| whole == 0);
    }
    if to.kind != Some(PatternKind::Name) {
        return None;
    }
    let known: Vec<Option<u64>> = sources.iter().map(|source| known_number(source, facts)).collect();
    let with = |unknown: Option<u64>| {
        let numbers: Option<Vec<u64>> = known.iter().map(|known| known.or(unknown)).collect();
        integer_result(instruction, &numbers?)
    };
    let is_high = instruction.modifiers.iter().any(|modifier| modifier.text == ".hi");
    match (instruction.opcode, known.as_slice()) {
        (Opcode::Sub | Opcode::Xor | Opcode::Set | Opcode::Setp, [None, None]) if repeats(sources) => {
            integer_result(instruction, &[0, 0])
        }
        // What these give for no bits and for all bits, they give for all numbers.
        (
            Opcode::And | Opcode::Or | Opcode::Mul | Opcode::Shl | Opcode::Shr,
            [Some(_), None] | [None, Some(_)],
        )
        | (Opcode::Bfe, [None, Some(_), Some(_)])
        | (Opcode::Selp, [_, _, Some(_)])
            if !is_high =>
        {
            with(Some(0)).filter(|&result| with(Some(u64::MAX)) == Some(result))
        }
        _ => with(None),
    }
}
