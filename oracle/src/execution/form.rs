//! Decodes an instruction into its opcode and modifiers.

use std::cell::OnceCell;

use ptxsmith_syntax::{Instruction, Opcode, Operand, ScalarType, Span, StateSpace, VectorLength};

/// An instruction with its modifiers decoded.
pub(super) struct InstructionForm<'m> {
    pub opcode: Opcode,
    /// The type: the last modifier.
    pub ty: Option<ScalarType>,
    /// The number of elements of a vector instruction: 2, 4 or 8 for `.v2`, `.v4` or `.v8`.
    pub lanes: Option<usize>,
    /// The state space among its modifiers.
    pub space: Option<StateSpace>,
    /// The other modifiers in source order, each with its dot.
    pub others: Vec<&'m str>,
    pub operands: &'m [Operand],
    pub span: Span,
    /// Whether it is executed as an integer calculation, once that was asked.
    pub calculated: OnceCell<bool>,
}

impl<'m> InstructionForm<'m> {
    pub fn decode(instruction: &'m Instruction) -> InstructionForm<'m> {
        let mut form = InstructionForm {
            opcode: instruction.opcode,
            ty: None,
            lanes: None,
            space: None,
            others: Vec::new(),
            operands: &instruction.operands,
            span: instruction.span,
            calculated: OnceCell::new(),
        };
        let mut words: Vec<&str> =
            instruction.modifiers.iter().map(|modifier| modifier.text.as_str()).collect();
        // `prmt.b32.f4e` is the only opcode with its mode after the type.
        if instruction.opcode == Opcode::Prmt {
            words.reverse();
        }
        let rest = match words.split_last() {
            Some((last, rest)) => {
                form.ty = ScalarType::from_keyword(last);
                match *last {
                    // Two halves in a word: the modifier says how they are taken.
                    ".u16x2" | ".s16x2" => {
                        form.ty = Some(ScalarType::B32);
                        &words
                    }
                    _ if form.ty.is_some() => rest,
                    _ => &words,
                }
            }
            None => &words,
        };
        for &word in rest {
            let lanes = VectorLength::from_keyword(word).filter(|&length| length != VectorLength::V3);
            match (lanes, StateSpace::from_keyword(word)) {
                (Some(length), _) if form.lanes.is_none() => form.lanes = Some(length.count() as usize),
                (_, Some(space)) if form.space.is_none() => form.space = Some(space),
                _ => form.others.push(word),
            }
        }
        form
    }

    /// Returns the state space of an access; `None` for a part of one that is not known. `.shared::cta` is another name
    /// of `.shared`, `.param::entry` and `.param::func` are parts of `.param` (9.7.9, `ld` and `st`).
    pub fn accessed_space(&self) -> Option<Option<StateSpace>> {
        let part =
            self.others.iter().find(|word| word.starts_with(".shared::") || word.starts_with(".param::"));
        match part {
            None => Some(self.space),
            Some(&".shared::cta") => Some(Some(StateSpace::Shared)),
            Some(&(".param::entry" | ".param::func")) => Some(Some(StateSpace::Param)),
            Some(_) => None,
        }
    }
}
