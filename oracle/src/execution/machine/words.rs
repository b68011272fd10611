//! Executes video instructions, and atomic instructions on memory.

use ptxsmith_syntax::{Opcode, Operand, ScalarType, StateSpace, TypeKind};

use super::super::{
    form::InstructionForm,
    memory::{Byte, RegisterCell, from_bytes, to_bytes},
    names::{Meaning, VisibleNames},
    setting::AccessKind,
    video,
};
use super::{CallFrame, FORM, PtxMachine};
use crate::{
    step::Ruled,
    value::{low_bits, sign_extended},
};

impl<'m> PtxMachine<'m, '_> {
    /// Executes a video instruction. The operands are words, and a suffix selects parts of a word: `%r1.b0`.
    pub(super) fn video(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        let mut values: Option<Vec<video::Source<'m>>> = Some(Vec::new());
        for source in sources {
            let (cell, suffix) = match source {
                Operand::Component(name, suffix) => match names.find(&name.text, self.reader.rules) {
                    Some(Meaning::Register(register)) if register.lanes == 1 => {
                        self.fits(register, ScalarType::U32)?;
                        (frame.registers.get(register)[0].clone(), suffix.text.as_str())
                    }
                    _ => return Err(FORM),
                },
                source => (self.value(frame, source, ScalarType::U32, names)?, ""),
            };
            match (cell, &mut values) {
                (RegisterCell::Bits(bits), Some(values)) => {
                    values.push((low_bits(ScalarType::U32, bits), suffix))
                }
                _ => values = None,
            }
        }
        let (to, suffix) = match to {
            Operand::Component(name, suffix) => {
                (Operand::Value(ptxsmith_syntax::Expr::name(name.text.clone())), suffix.text.as_str())
            }
            to => (to.clone(), ""),
        };
        // The form is checked in any case; its result is unknown if a source is unknown.
        let ones = vec![(1, ""); sources.len()];
        let result = video::calculated(form, suffix, values.as_deref().unwrap_or(&ones)).ok_or(FORM)?;
        let cell = result.filter(|_| values.is_some()).map_or(RegisterCell::Unknown, RegisterCell::Bits);
        self.set(frame, &to, ScalarType::U32, cell, names)
    }

    /// Executes `atom` or `red` (9.7.13) on one thread. Where only places are compared, the values become unknown.
    pub(super) fn atomic(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let Some(numbers) = &self.numbers else { return Err(FORM) };
        let only_places = numbers.is_straight();
        let (to, operands) = match (form.opcode, form.operands) {
            (Opcode::Atom, [to, rest @ ..]) => (Some(to), rest),
            (Opcode::Red, rest) => (None, rest),
            _ => return Err(FORM),
        };
        let Some((address, sources)) = operands.split_first() else { return Err(FORM) };
        let operation = operation(form, sources.len());
        let ty = form.ty.unwrap_or(ScalarType::Pred);
        let is_plain = form.lanes.is_none() && !form.others.iter().any(|word| word.contains("::"));
        let size = if is_plain { ty.bytes() as usize } else { 0 };
        if !only_places && operation.is_none() {
            return Err(FORM);
        }
        let mut values = Vec::new();
        for source in sources.iter().filter(|_| !only_places) {
            values.push(self.value(frame, source, ty, names)?);
        }
        let spot = self.access(frame, form, (Some(address), AccessKind::Both), size, names)?;
        let before = match &spot {
            Some(spot) if !only_places => from_bytes(&self.read(spot, size)),
            _ => RegisterCell::Unknown,
        };
        let known: Option<Vec<u64>> = [&before].into_iter().chain(&values).map(RegisterCell::bits).collect();
        let after = match (operation, known) {
            (Some(operation), Some(known)) if !only_places => {
                operation.result(ty, &known).map_or(RegisterCell::Unknown, RegisterCell::Bits)
            }
            _ => RegisterCell::Unknown,
        };
        if let Some(spot) = spot {
            let bytes = if size == 0 { Vec::<Byte>::new() } else { to_bytes(&after, size) };
            self.write(&spot, bytes);
        }
        match to {
            Some(to) if only_places => {
                self.forget(frame, to, names);
                Ok(())
            }
            Some(to) => self.set(frame, to, ty, before, names),
            None => Ok(()),
        }
    }
}

/// The operation of an atomic instruction.
#[derive(Clone, Copy)]
enum AtomicOperation {
    Add,
    Least,
    Greatest,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// Returns the operation of `atom` or `red` with this number of sources; `None` if the form is not modelled.
fn operation(form: &InstructionForm<'_>, sources: usize) -> Option<AtomicOperation> {
    const ORDERS: [&str; 8] =
        [".relaxed", ".acquire", ".release", ".acq_rel", ".cta", ".cluster", ".gpu", ".sys"];
    let words: Vec<&str> = form.others.iter().copied().filter(|word| !ORDERS.contains(word)).collect();
    let ([word], Some(ty)) = (words.as_slice(), form.ty) else { return None };
    let (types, operation, count) = match *word {
        ".add" => (".u32 .s32 .u64", AtomicOperation::Add, 1),
        ".min" => (".u32 .s32 .u64 .s64", AtomicOperation::Least, 1),
        ".max" => (".u32 .s32 .u64 .s64", AtomicOperation::Greatest, 1),
        ".and" => (".b32 .b64", AtomicOperation::And, 1),
        ".or" => (".b32 .b64", AtomicOperation::Or, 1),
        ".xor" => (".b32 .b64", AtomicOperation::Xor, 1),
        ".exch" => (".b32 .b64", AtomicOperation::Exchange, 1),
        ".cas" => (".b16 .b32 .b64", AtomicOperation::CompareAndSwap, 2),
        ".inc" => (".u32", AtomicOperation::Increment, 1),
        ".dec" => (".u32", AtomicOperation::Decrement, 1),
        _ => return None,
    };
    let is_exchange = matches!(operation, AtomicOperation::Exchange | AtomicOperation::CompareAndSwap);
    let is_known = types.split(' ').any(|known| known == ty.keyword())
        && count == sources
        && form.lanes.is_none()
        && matches!(form.space, None | Some(StateSpace::Global | StateSpace::Shared))
        && !(is_exchange && form.opcode == Opcode::Red);
    is_known.then_some(operation)
}

impl AtomicOperation {
    /// Returns the new value in memory for the old one and the sources.
    fn result(self, ty: ScalarType, values: &[u64]) -> Option<u64> {
        let result = match (self, values) {
            (AtomicOperation::Add, &[old, b]) => old.wrapping_add(b),
            (AtomicOperation::Least, &[old, b]) if is_less(ty, b, old) => b,
            (AtomicOperation::Greatest, &[old, b]) if is_less(ty, old, b) => b,
            (AtomicOperation::Least | AtomicOperation::Greatest, &[old, _]) => old,
            (AtomicOperation::And, &[old, b]) => old & b,
            (AtomicOperation::Or, &[old, b]) => old | b,
            (AtomicOperation::Xor, &[old, b]) => old ^ b,
            (AtomicOperation::Exchange, &[_, b]) => b,
            (AtomicOperation::CompareAndSwap, &[old, b, c]) if old == b => c,
            (AtomicOperation::CompareAndSwap, &[old, _, _]) => old,
            (AtomicOperation::Increment, &[old, b]) if old >= b => 0,
            (AtomicOperation::Increment, &[old, _]) => old + 1,
            (AtomicOperation::Decrement, &[old, b]) if old == 0 || old > b => b,
            (AtomicOperation::Decrement, &[old, _]) => old - 1,
            _ => return None,
        };
        Some(low_bits(ty, result))
    }
}

/// Whether a number of this type is less than another.
fn is_less(ty: ScalarType, a: u64, b: u64) -> bool {
    if ty.kind() == TypeKind::Signed { sign_extended(ty, a) < sign_extended(ty, b) } else { a < b }
}
