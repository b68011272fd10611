//! Executes video instructions, and atomic instructions on memory.

use ptxsmith_syntax::{Opcode, Operand, ScalarType, StateSpace};

use super::super::{
    form::Form,
    memory::{Byte, Cell, from_bytes, to_bytes},
    names::{Meaning, Names},
    setting::Way,
    video,
};
use super::{FORM, Frame, Machine};
use crate::{
    step::Ruled,
    value::{low_bits, sign_extended},
};

impl<'m> Machine<'m, '_> {
    /// Executes a video instruction. The operands are words, and a suffix selects parts of one: `%r1.b0`.
    pub(super) fn video(&mut self, frame: &mut Frame<'m>, form: &Form<'m>, names: &Names) -> Ruled<()> {
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        let mut values: Option<Vec<video::Source<'m>>> = Some(Vec::new());
        for source in sources {
            let (cell, suffix) = match source {
                Operand::Component(name, suffix) => match names.find(&name.text, self.reader.rules) {
                    Some(Meaning::Register(register)) if register.lanes == 1 => {
                        self.fits(register, ScalarType::U32)?;
                        (frame.registers.of(register)[0].clone(), suffix.text.as_str())
                    }
                    _ => return Err(FORM),
                },
                source => (self.value(frame, source, ScalarType::U32, names)?, ""),
            };
            match (cell, &mut values) {
                (Cell::Bits(bits), Some(values)) => values.push((low_bits(ScalarType::U32, bits), suffix)),
                _ => values = None,
            }
        }
        let (to, suffix) = match to {
            Operand::Component(name, suffix) => {
                (Operand::Value(ptxsmith_syntax::Expr::name(name.text.clone())), suffix.text.as_str())
            }
            to => (to.clone(), ""),
        };
        // The form is checked in any case; its result is not known where a source is not.
        let ones = vec![(1, ""); sources.len()];
        let result = video::calculated(form, suffix, values.as_deref().unwrap_or(&ones)).ok_or(FORM)?;
        let cell = result.filter(|_| values.is_some()).map_or(Cell::Unknown, Cell::Bits);
        self.set(frame, &to, ScalarType::U32, cell, names)
    }

    /// Executes `atom` or `red` (9.7.13) on one thread. Where only places are compared, the values become unknown.
    pub(super) fn atomic(&mut self, frame: &mut Frame<'m>, form: &Form<'m>, names: &Names) -> Ruled<()> {
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
        let spot = self.access(frame, form, (Some(address), Way::Both), size, names)?;
        let before = match &spot {
            Some(spot) if !only_places => from_bytes(&self.read(spot, size)),
            _ => Cell::Unknown,
        };
        let known: Option<Vec<u64>> = [&before].into_iter().chain(&values).map(bits).collect();
        let after = match (operation, known) {
            (Some(operation), Some(known)) if !only_places => {
                operation.result(ty, &known).map_or(Cell::Unknown, Cell::Bits)
            }
            _ => Cell::Unknown,
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

fn bits(cell: &Cell) -> Option<u64> {
    if let Cell::Bits(bits) = cell { Some(*bits) } else { None }
}

/// The operation of an atomic instruction.
#[derive(Clone, Copy)]
enum Atomic {
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
fn operation(form: &Form<'_>, sources: usize) -> Option<Atomic> {
    const ORDERS: [&str; 8] =
        [".relaxed", ".acquire", ".release", ".acq_rel", ".cta", ".cluster", ".gpu", ".sys"];
    let words: Vec<&str> = form.others.iter().copied().filter(|word| !ORDERS.contains(word)).collect();
    let ([word], Some(ty)) = (words.as_slice(), form.ty) else { return None };
    let (types, operation, count) = match *word {
        ".add" => (".u32 .s32 .u64", Atomic::Add, 1),
        ".min" => (".u32 .s32 .u64 .s64", Atomic::Least, 1),
        ".max" => (".u32 .s32 .u64 .s64", Atomic::Greatest, 1),
        ".and" => (".b32 .b64", Atomic::And, 1),
        ".or" => (".b32 .b64", Atomic::Or, 1),
        ".xor" => (".b32 .b64", Atomic::Xor, 1),
        ".exch" => (".b32 .b64", Atomic::Exchange, 1),
        ".cas" => (".b16 .b32 .b64", Atomic::CompareAndSwap, 2),
        ".inc" => (".u32", Atomic::Increment, 1),
        ".dec" => (".u32", Atomic::Decrement, 1),
        _ => return None,
    };
    let is_exchange = matches!(operation, Atomic::Exchange | Atomic::CompareAndSwap);
    let is_known = types.split(' ').any(|known| known == ty.keyword())
        && count == sources
        && form.lanes.is_none()
        && matches!(form.space, None | Some(StateSpace::Global | StateSpace::Shared))
        && !(is_exchange && form.opcode == Opcode::Red);
    is_known.then_some(operation)
}

impl Atomic {
    /// Returns the new value in memory for the old one and the sources.
    fn result(self, ty: ScalarType, values: &[u64]) -> Option<u64> {
        let signed = ty.kind() == ptxsmith_syntax::TypeKind::Signed;
        let is_less = |a, b| if signed { sign_extended(ty, a) < sign_extended(ty, b) } else { a < b };
        let result = match (self, values) {
            (Atomic::Add, &[old, b]) => old.wrapping_add(b),
            (Atomic::Least, &[old, b]) => {
                if is_less(b, old) {
                    b
                } else {
                    old
                }
            }
            (Atomic::Greatest, &[old, b]) => {
                if is_less(old, b) {
                    b
                } else {
                    old
                }
            }
            (Atomic::And, &[old, b]) => old & b,
            (Atomic::Or, &[old, b]) => old | b,
            (Atomic::Xor, &[old, b]) => old ^ b,
            (Atomic::Exchange, &[_, b]) => b,
            (Atomic::CompareAndSwap, &[old, b, c]) => {
                if old == b {
                    c
                } else {
                    old
                }
            }
            (Atomic::Increment, &[old, b]) => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            (Atomic::Decrement, &[old, b]) => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            _ => return None,
        };
        Some(low_bits(ty, result))
    }
}
