//! Reads the values of operands, and sets destinations.

use ptxsmith_syntax::{Expr, Name, NodeKind, Opcode, Operand, ScalarType};

use super::super::NO_INITIAL_VALUE;
use super::super::{
    memory::{Cell, Pointer},
    names::{Meaning, Names, Register},
    operand::Base,
    typing::{TYPES, alike},
};
use super::{FORM, Frame, Machine, OPERAND};
use crate::{
    clause::Clause,
    evaluate::Evaluator,
    refusal::Stop,
    step::{Ruled, Stored, Trace},
    value::{extended, low_bits},
};

impl<'m> Machine<'m, '_> {
    /// Returns the value of a predicate operand: a register, its negation, or a constant (4.5.3). `None` if it is
    /// unknown.
    pub(super) fn predicate(
        &mut self,
        frame: &Frame<'m>,
        opcode: Opcode,
        operand: &Operand,
        names: &Names,
    ) -> Ruled<Option<bool>> {
        let Operand::Value(expr) = operand else { return Err(FORM) };
        let (expr, negated) = match *expr.kind(expr.root()) {
            NodeKind::Unary(ptxsmith_syntax::UnaryOp::Not, inner)
                if matches!(expr.kind(inner), NodeKind::Name(_)) =>
            {
                (expr.part(inner), true)
            }
            _ => (expr.clone(), false),
        };
        if let Some(name) = expr.as_name() {
            let Some(Meaning::Register(register)) = names.find(&name.text, self.reader.rules) else {
                return Err(FORM);
            };
            self.fits(register, ScalarType::Pred)?;
            return Ok(match frame.registers.of(register)[0] {
                Cell::Bits(bits) => Some((bits != 0) != negated),
                _ => None,
            });
        }
        self.reader.uses(Clause::PredicateConstant);
        self.reader.uses(Clause::ConstantAsOperand);
        match self.constant(&expr, ScalarType::U64)? {
            Cell::Bits(bits) => Ok(Some(self.reader.rules.operands.predicate.apply(opcode, bits))),
            _ => Ok(None),
        }
    }

    fn constant(&mut self, expr: &Expr, ty: ScalarType) -> Ruled<Cell> {
        let mut trace = Trace::default();
        let mut evaluator = Evaluator::new(self.reader.rules, self.reader.version);
        let stored = evaluator.store(expr, ty, &mut trace);
        // The constant is not in an initializer, so this clause does not apply.
        trace.clauses = trace.clauses.iter().filter(|&c| c != Clause::ConstantInInitializer).collect();
        let rests = self.numbers.as_mut().map_or(&mut self.reader.trace, |numbers| &mut numbers.values);
        *rests = rests.union(trace);
        rests.clauses.insert(Clause::ConstantAsOperand);
        match stored {
            Ok(Stored::Bits(bits)) => Ok(Cell::Bits(low_bits(ty, bits))),
            Ok(Stored::Wide(_) | Stored::Address(..)) => Err(OPERAND),
            // Refusals of operands were reported before; this refusal applies to initial values only.
            Err(Stop::Refused(_)) => Err(Stop::Unmodelled(NO_INITIAL_VALUE)),
            Err(stop) => Err(stop),
        }
    }

    /// Checks that a scalar register, or an element of a vector, has the type that the instruction gives it.
    pub(super) fn fits(&self, register: Register, ty: ScalarType) -> Ruled<()> {
        let element = Register { lanes: 1, ..register };
        // A kernel that runs over numbers was accepted, so its types need no check.
        if self.numbers.is_some() || alike(element, ty, self.wider) {
            Ok(())
        } else {
            Err(Stop::Unmodelled(TYPES))
        }
    }

    /// Returns the value of a name with an offset: the address of a variable, or a register that holds an address
    /// (6.4.1).
    fn sum(&mut self, frame: &Frame<'m>, expr: &Expr, ty: ScalarType, names: &Names) -> Ruled<Cell> {
        let address = self.reader.address(expr, names).map_err(|stop| match stop {
            Stop::Refused(_) => OPERAND,
            stop => stop,
        })?;
        match &address.base {
            Base::Register(register) => {
                self.fits(*register, ty)?;
                Ok(match &frame.registers.of(*register)[0] {
                    Cell::Bits(bits) => Cell::Bits(low_bits(ty, bits.wrapping_add(address.offset as u64))),
                    Cell::Pointer(pointer) => {
                        let offset = pointer.offset.wrapping_add(address.offset);
                        Cell::Pointer(Pointer { offset, ..pointer.clone() })
                    }
                    Cell::Unknown => Cell::Unknown,
                })
            }
            Base::Variable(_) => self.address(frame, &address, None),
            Base::Absolute => Err(OPERAND),
        }
    }

    /// Returns the value of a scalar source operand.
    pub(super) fn value(
        &mut self,
        frame: &Frame<'m>,
        operand: &Operand,
        ty: ScalarType,
        names: &Names,
    ) -> Ruled<Cell> {
        if self.numbers.is_some()
            && let Some(address) = self.place_of(frame, operand, names)?
        {
            return Ok(address);
        }
        let cell = match operand {
            Operand::Value(expr) => {
                match expr.as_name().map(|name| names.find(&name.text, self.reader.rules)) {
                    Some(Some(Meaning::Register(register))) if register.lanes == 1 => {
                        self.fits(register, ty)?;
                        Ok(frame.registers.of(register)[0].clone())
                    }
                    Some(None) if self.numbers.is_some() => {
                        return Ok(expr.as_name().map_or(Cell::Unknown, |name| self.special(&name, "")));
                    }
                    Some(_) => Err(FORM),
                    None if expr.has_names() => self.sum(frame, expr, ty, names),
                    None => self.constant(expr, ty),
                }
            }
            Operand::Component(name, suffix) => {
                let register = match names.find(&name.text, self.reader.rules) {
                    Some(Meaning::Register(register)) => register,
                    None if self.numbers.is_some() => return Ok(self.special(name, &suffix.text)),
                    _ => return Err(FORM),
                };
                let lane = self.reader.lane(register, suffix)?;
                self.fits(register, ty)?;
                Ok(frame.registers.of(register)[lane].clone())
            }
            _ => Err(FORM),
        };
        cell.map(|cell| if let Cell::Bits(bits) = cell { Cell::Bits(low_bits(ty, bits)) } else { cell })
    }

    /// Returns the value of a special register.
    fn special(&self, name: &Name, suffix: &str) -> Cell {
        let held = self.numbers.as_ref().and_then(|numbers| numbers.special(&name.text, suffix));
        held.map_or(Cell::Unknown, Cell::Bits)
    }

    /// Returns the values of a source operand with `lanes` elements.
    pub(super) fn values(
        &mut self,
        frame: &Frame<'m>,
        operand: &Operand,
        ty: ScalarType,
        lanes: usize,
        names: &Names,
    ) -> Ruled<Vec<Cell>> {
        match operand {
            Operand::Vector(parts) => {
                self.reader.uses(Clause::VectorBraces);
                if parts.len() != lanes {
                    return Err(FORM);
                }
                parts.iter().map(|part| self.value(frame, part, ty, names)).collect()
            }
            Operand::Value(expr) if lanes > 1 => {
                self.reader.uses(Clause::VectorOperand);
                self.reader.uses(Clause::VectorInRegisters);
                match names.find(&expr.as_name().ok_or(FORM)?.text, self.reader.rules) {
                    Some(Meaning::Register(register)) if usize::from(register.lanes) == lanes => {
                        self.fits(register, ty)?;
                        Ok(frame.registers.of(register).to_vec())
                    }
                    _ => Err(FORM),
                }
            }
            operand => self.value(frame, operand, ty, names).map(|cell| vec![cell]),
        }
    }

    /// Sets a scalar destination to a value of a type, extended to the size of the register.
    pub(super) fn set(
        &mut self,
        frame: &mut Frame<'m>,
        to: &Operand,
        ty: ScalarType,
        cell: Cell,
        names: &Names,
    ) -> Ruled<()> {
        let (register, lane) = match to {
            Operand::Value(expr) => {
                let name = expr.as_name().ok_or(FORM)?;
                if name.text == "_" {
                    return Ok(());
                }
                match names.find(&name.text, self.reader.rules) {
                    Some(Meaning::Register(register)) if register.lanes == 1 => (register, 0),
                    _ => return Err(FORM),
                }
            }
            Operand::Component(name, suffix) => {
                let Some(Meaning::Register(register)) = names.find(&name.text, self.reader.rules) else {
                    return Err(FORM);
                };
                (register, self.reader.lane(register, suffix)?)
            }
            _ => return Err(FORM),
        };
        self.fits(register, ty)?;
        let cell = match cell {
            Cell::Bits(bits) => Cell::Bits(low_bits(register.ty, extended(ty, bits))),
            cell => cell,
        };
        frame.registers.of_mut(register)[lane] = cell;
        Ok(())
    }

    /// Sets a destination of several elements.
    pub(super) fn set_all(
        &mut self,
        frame: &mut Frame<'m>,
        to: &Operand,
        ty: ScalarType,
        cells: Vec<Cell>,
        names: &Names,
    ) -> Ruled<()> {
        match to {
            Operand::Vector(parts) => {
                self.reader.uses(Clause::VectorBraces);
                if parts.len() != cells.len() {
                    return Err(FORM);
                }
                let repeated = |at: usize| {
                    let name = |part: &Operand| matches!(part, Operand::Value(e) if e.as_name().is_some_and(|n| n.text == "_"));
                    !name(&parts[at]) && parts[..at].contains(&parts[at])
                };
                if (1..parts.len()).any(repeated) {
                    self.reader.uses(Clause::VectorUniqueDestination);
                    return Err(Stop::Unmodelled(
                        "a destination that repeats an element, which is undefined",
                    ));
                }
                let mut parts = parts.iter().zip(cells);
                parts.try_for_each(|(part, cell)| self.set(frame, part, ty, cell, names))
            }
            Operand::Value(expr) if cells.len() > 1 => {
                self.reader.uses(Clause::VectorOperand);
                self.reader.uses(Clause::VectorInRegisters);
                match names.find(&expr.as_name().ok_or(FORM)?.text, self.reader.rules) {
                    Some(Meaning::Register(register @ Register { lanes, ty: of, .. }))
                        if usize::from(lanes) == cells.len() =>
                    {
                        self.fits(register, ty)?;
                        let extend = |cell| match cell {
                            Cell::Bits(bits) => Cell::Bits(low_bits(of, extended(ty, bits))),
                            cell => cell,
                        };
                        frame.registers.set(register, cells.into_iter().map(extend).collect());
                        Ok(())
                    }
                    _ => Err(FORM),
                }
            }
            to => {
                let [cell] = <[Cell; 1]>::try_from(cells).map_err(|_| FORM)?;
                self.set(frame, to, ty, cell, names)
            }
        }
    }
}
