//! What loads and stores reach, and what memory holds.

use ptxsmith_syntax::{Opcode, Operand, StateSpace};

use crate::execution::form::Form;
use crate::execution::names::{Line, Names, Place, Variable};
use crate::execution::operand::{Address, Base};
use crate::refusal::Stop;
use crate::value::low_bits;

use super::setting::{PARAMETER, WINDOW_SIZE, WINDOWS, word};
use super::{Access, FORM, Run, VALUE, Value, Way};

impl<'m> Run<'m, '_> {
    /// `ld` and `st`.
    pub(super) fn memory(&mut self, line: &Line<'m>, form: &Form<'m>) -> Result<(), &'static str> {
        let names = &line.names;
        let (way, at) = if form.opcode == Opcode::Ld { (Way::Read, 1) } else { (Way::Write, 0) };
        let lanes = form.lanes.unwrap_or(1);
        let size = form.ty.map_or(0, |ty| ty.bytes());
        let width = size * lanes as u64;
        let place = match form.operands.get(at) {
            Some(operand) if width > 0 => self.place(form.space, operand, names),
            _ => Err(FORM),
        };
        if let Ok((_, at)) = place
            && !self.anywhere
            && !at.is_multiple_of(width)
        {
            return Err("an access that is not aligned with the numbers that were tried");
        }
        let cells = match (way, place) {
            (Way::Read, Ok((space, at))) => (0..width).map(|nth| self.byte(space, at + nth)).collect(),
            _ => vec![None; width as usize],
        };
        let mut idle = false;
        if way == Way::Write {
            let bytes = self.stored(form, size, lanes, names);
            if let Ok((space, at)) = place {
                idle = (0..width)
                    .zip(&bytes)
                    .all(|(nth, byte)| byte.is_some() && self.byte(space, at + nth) == *byte);
                let bytes = bytes.into_iter().enumerate();
                self.reached.written.extend(bytes.map(|(nth, byte)| ((space, at + nth as u64), byte)));
            }
        }
        if form.space != Some(StateSpace::Param) {
            self.reach(Access { span: line.instruction.span, way, width, place, idle });
        }
        if way == Way::Read {
            let (to, ty) = (form.operands.first().ok_or(FORM)?, form.ty.ok_or(FORM)?);
            let values = cells.chunks(size.max(1) as usize).map(number);
            let parts = match to {
                Operand::Vector(parts) => parts.as_slice(),
                _ => std::slice::from_ref(to),
            };
            for (part, value) in parts.iter().zip(values.chain(std::iter::repeat(None))) {
                if self.set(part, ty, value, names).is_none() {
                    self.forget(Some(part), names);
                }
            }
        }
        Ok(())
    }

    /// The bytes that a store writes.
    fn stored(&mut self, form: &Form<'m>, size: u64, lanes: usize, names: &Names) -> Vec<Option<u8>> {
        let unknown = vec![None; size as usize * lanes];
        let (Some(from), Some(ty)) = (form.operands.get(1), form.ty) else { return unknown };
        let parts = match from {
            Operand::Vector(parts) => parts.as_slice(),
            _ => std::slice::from_ref(from),
        };
        if parts.len() != lanes || size > 8 {
            return unknown;
        }
        let mut bytes = Vec::new();
        for part in parts {
            let value = self.value(part, ty, names);
            bytes.extend((0..size).map(|nth| value.map(|value| (value >> (8 * nth)) as u8)));
        }
        bytes
    }

    /// The state space and the place that an address operand stands for.
    pub(super) fn place(
        &mut self,
        space: Option<StateSpace>,
        operand: &Operand,
        names: &Names,
    ) -> Result<(StateSpace, u64), &'static str> {
        let address = match operand {
            Operand::Address(expr) => self.reader.address(expr, names),
            Operand::Element(name, index) => self.reader.element(name, index, names),
            _ => return Err(FORM),
        };
        let (at, own) = self.number_of(&address.map_err(why)?)?;
        let (space, at) = self.in_space(space, own, at)?;
        // What lies there, and what of the number counts, is not specified.
        let small = !self.anywhere && !matches!(space, StateSpace::Global | StateSpace::Param);
        let mut variables = self.reached.setting.variables.iter();
        if small && !variables.any(|variable| variable.space == space && variable.holds(at).is_some()) {
            return Err("an address outside of the variables of its state space");
        }
        Ok((space, at))
    }

    /// An address as a number, and the state space of its variable.
    pub(super) fn number_of(&self, address: &Address) -> Result<(u64, Option<StateSpace>), &'static str> {
        let index = match address.index {
            None => 0,
            Some(index) => {
                let bits = self.registers.of(index.register)[0].ok_or(VALUE)?;
                index.bytes(bits, self.reader.rules).map_err(why)?
            }
        };
        let (base, own) = match &address.base {
            Base::Variable(variable) => (self.place_of(variable).ok_or(VALUE)?, Some(variable.space)),
            Base::Register(register) => {
                let base = low_bits(register.ty, self.registers.of(*register)[0].ok_or(VALUE)?);
                // 6.4.1 does not say whether an address is extended before an offset is added.
                let sum = base.wrapping_add(address.offset as u64);
                if !self.anywhere && low_bits(register.ty, sum) != sum {
                    return Err("a sum that the register of an address does not hold");
                }
                (base, None)
            }
            Base::Absolute => (0, None),
        };
        Ok((base.wrapping_add(address.offset.wrapping_add(index) as u64), own))
    }

    /// The state space that an address means, and the place in it.
    fn in_space(
        &self,
        space: Option<StateSpace>,
        own: Option<StateSpace>,
        at: u64,
    ) -> Result<(StateSpace, u64), &'static str> {
        match (space, own) {
            (Some(space), Some(own)) if space != own => Err("an address of another state space"),
            (Some(space), _) => Ok((space, at)),
            (None, Some(StateSpace::Param)) => Err("an offset in a state space taken for a generic address"),
            // 6.4.1.1: a variable that is named lies in the window of its state space.
            (None, Some(own)) => Ok((own, at)),
            (None, _) => {
                let inside = |&&(_, start): &&(StateSpace, u64)| (start..start + WINDOW_SIZE).contains(&at);
                let window = WINDOWS.iter().find(inside);
                Ok(window.map_or((StateSpace::Global, at), |&(space, start)| (space, at - start)))
            }
        }
    }

    pub(super) fn place_of(&self, variable: &Variable) -> Option<u64> {
        match variable.place {
            Place::Module((at, nth)) => self.module.get(at)?.as_ref()?.nth(nth),
            Place::Function(at) if variable.space == StateSpace::Param => {
                self.parameters.get(&at).map(|&nth| nth as u64 * PARAMETER)
            }
            Place::Function((at, nth)) => self.function.get(at)?.as_ref()?.nth(nth),
        }
    }

    /// A byte of memory: what was written, what a variable holds at first, or a number that is made up for its place.
    fn byte(&mut self, space: StateSpace, at: u64) -> Option<u8> {
        if space == StateSpace::Param {
            let (_, bytes) = self.reached.setting.parameters.get((at / PARAMETER) as usize)?;
            return bytes.get((at % PARAMETER) as usize).copied();
        }
        if let Some(&byte) = self.reached.written.get(&(space, at)) {
            return if self.scattered { None } else { byte };
        }
        if self.scattered {
            return None;
        }
        let held = self.initial.iter().find_map(|(placed, variable)| {
            let (_, offset) = placed.holds(at).filter(|_| placed.space == space)?;
            let is_address = variable
                .addresses
                .iter()
                .any(|address| (address.offset..address.offset + u64::from(address.width)).contains(&offset));
            Some((!is_address).then(|| variable.bytes.get(offset as usize).copied()).flatten())
        });
        let byte = match (held, space) {
            (Some(held), _) => held?,
            (None, StateSpace::Global | StateSpace::Shared) => (word(at / 4) >> (8 * (at % 4))) as u8,
            _ => return None,
        };
        self.reached.setting.memory.insert((space, at), byte);
        Some(byte)
    }
}

fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Unmodelled(reason) => reason,
        Stop::Refused(_) => "an address that is refused",
    }
}

fn number(bytes: &[Option<u8>]) -> Value {
    if bytes.len() > 8 {
        return None;
    }
    bytes.iter().rev().try_fold(0, |number, byte| Some(number << 8 | u64::from((*byte)?)))
}
