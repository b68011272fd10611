//! Reads the values of operands, and sets destinations.

use ptxsmith_syntax::{Expr, Name, NodeKind, Opcode, Operand, ScalarType};

use super::super::NO_INITIAL_VALUE;
use super::super::{
    memory::{RegisterCell, SymbolicPointer},
    names::{Meaning, RegisterVariable, VisibleNames},
    operand::AddressBase,
    typing::{TYPES, has_type},
};
use super::{CallFrame, FORM, OPERAND, PtxMachine};
use crate::{
    clause::Clause,
    evaluate::Evaluator,
    refusal::Stop,
    step::{Ruled, Stored, Trace},
    value::{extended, low_bits},
};

impl<'m> PtxMachine<'m, '_> {
    /// Returns the value of a predicate operand: a register, its negation, or a constant (4.5.3). `None` if it is
    /// unknown.
    pub(super) fn predicate(
        &mut self,
        frame: &CallFrame<'m>,
        opcode: Opcode,
        operand: &Operand,
        names: &VisibleNames,
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
            return Ok(match frame.registers.get(register)[0] {
                RegisterCell::Bits(bits) => Some((bits != 0) != negated),
                _ => None,
            });
        }
        self.reader.uses(Clause::PredicateConstant);
        self.reader.uses(Clause::ConstantAsOperand);
        match self.constant(&expr, ScalarType::U64)? {
            RegisterCell::Bits(bits) => Ok(Some(self.reader.rules.operands.predicate.apply(opcode, bits))),
            _ => Ok(None),
        }
    }

    fn constant(&mut self, expr: &Expr, ty: ScalarType) -> Ruled<RegisterCell> {
        let mut trace = Trace::default();
        let mut evaluator = Evaluator::new(self.reader.rules, self.reader.version);
        let stored = evaluator.store(expr, ty, &mut trace);
        // The constant is not in an initializer, so this clause does not apply.
        trace.clauses = trace.clauses.iter().filter(|&c| c != Clause::ConstantInInitializer).collect();
        let rests = self.numbers.as_mut().map_or(&mut self.reader.trace, |numbers| &mut numbers.values);
        *rests = rests.union(trace);
        rests.clauses.insert(Clause::ConstantAsOperand);
        match stored {
            Ok(Stored::Bits(bits)) => Ok(RegisterCell::Bits(low_bits(ty, bits))),
            Ok(Stored::Wide(_) | Stored::Address(..)) => Err(OPERAND),
            // Refusals of operands were reported before; this refusal applies to initial values only.
            Err(Stop::Refused(_)) => Err(Stop::Unmodelled(NO_INITIAL_VALUE)),
            Err(stop) => Err(stop),
        }
    }

    /// Checks that a scalar register, or an element of a vector, has the type that the instruction gives it.
    pub(super) fn fits(&self, register: RegisterVariable, ty: ScalarType) -> Ruled<()> {
        let element = RegisterVariable { lanes: 1, ..register };
        // A kernel that runs over numbers was accepted, so its types need no check.
        if self.numbers.is_some() || has_type(element, ty, self.wider) {
            Ok(())
        } else {
            Err(Stop::Unmodelled(TYPES))
        }
    }

    /// Returns the value of a name with an offset: the address of a variable, or a register that holds an address
    /// (6.4.1).
    fn sum(
        &mut self,
        frame: &CallFrame<'m>,
        expr: &Expr,
        ty: ScalarType,
        names: &VisibleNames,
    ) -> Ruled<RegisterCell> {
        let address = self.reader.address(expr, names).map_err(|stop| match stop {
            Stop::Refused(_) => OPERAND,
            stop => stop,
        })?;
        match &address.base {
            AddressBase::Register(register) => {
                self.fits(*register, ty)?;
                Ok(match &frame.registers.get(*register)[0] {
                    RegisterCell::Bits(bits) => {
                        RegisterCell::Bits(low_bits(ty, bits.wrapping_add(address.offset as u64)))
                    }
                    RegisterCell::Pointer(pointer) => {
                        let offset = pointer.offset.wrapping_add(address.offset);
                        RegisterCell::Pointer(SymbolicPointer { offset, ..pointer.clone() })
                    }
                    RegisterCell::Unknown => RegisterCell::Unknown,
                })
            }
            AddressBase::Variable(_) => self.address(frame, &address, None),
            AddressBase::Absolute => Err(OPERAND),
        }
    }

    /// Returns the value of a scalar source operand.
    pub(super) fn value(
        &mut self,
        frame: &CallFrame<'m>,
        operand: &Operand,
        ty: ScalarType,
        names: &VisibleNames,
    ) -> Ruled<RegisterCell> {
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
                        Ok(frame.registers.get(register)[0].clone())
                    }
                    Some(None) if self.numbers.is_some() => {
                        return Ok(expr
                            .as_name()
                            .map_or(RegisterCell::Unknown, |name| self.special(&name, "")));
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
                Ok(frame.registers.get(register)[lane].clone())
            }
            _ => Err(FORM),
        };
        cell.map(|cell| {
            if let RegisterCell::Bits(bits) = cell { RegisterCell::Bits(low_bits(ty, bits)) } else { cell }
        })
    }

    /// Returns the value of a special register.
    fn special(&self, name: &Name, suffix: &str) -> RegisterCell {
        let held = self.numbers.as_ref().and_then(|numbers| numbers.special(&name.text, suffix));
        held.map_or(RegisterCell::Unknown, RegisterCell::Bits)
    }

    /// Returns the values of a source operand with `lanes` elements.
    pub(super) fn values(
        &mut self,
        frame: &CallFrame<'m>,
        operand: &Operand,
        ty: ScalarType,
        lanes: usize,
        names: &VisibleNames,
    ) -> Ruled<Vec<RegisterCell>> {
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
                        Ok(frame.registers.get(register).to_vec())
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
        frame: &mut CallFrame<'m>,
        to: &Operand,
        ty: ScalarType,
        cell: RegisterCell,
        names: &VisibleNames,
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
        frame.registers.get_mut(register)[lane] = converted(cell, ty, register.ty);
        Ok(())
    }

    /// Sets a destination of several elements.
    pub(super) fn set_all(
        &mut self,
        frame: &mut CallFrame<'m>,
        to: &Operand,
        ty: ScalarType,
        cells: Vec<RegisterCell>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        match to {
            Operand::Vector(parts) => {
                self.reader.uses(Clause::VectorBraces);
                if parts.len() != cells.len() {
                    return Err(FORM);
                }
                if (1..parts.len()).any(|at| !is_sink(&parts[at]) && parts[..at].contains(&parts[at])) {
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
                    Some(Meaning::Register(register)) if usize::from(register.lanes) == cells.len() => {
                        self.fits(register, ty)?;
                        let cells = cells.into_iter().map(|cell| converted(cell, ty, register.ty));
                        frame.registers.set(register, cells.collect());
                        Ok(())
                    }
                    _ => Err(FORM),
                }
            }
            to => {
                let [cell] = <[RegisterCell; 1]>::try_from(cells).map_err(|_| FORM)?;
                self.set(frame, to, ty, cell, names)
            }
        }
    }
}

/// Converts a value of a type to the type of the register that holds it.
fn converted(cell: RegisterCell, ty: ScalarType, register: ScalarType) -> RegisterCell {
    match cell {
        RegisterCell::Bits(bits) => RegisterCell::Bits(low_bits(register, extended(ty, bits))),
        cell => cell,
    }
}

/// Whether an operand is `_`, the destination of a result that is not wanted.
fn is_sink(operand: &Operand) -> bool {
    matches!(operand, Operand::Value(expr) if expr.as_name().is_some_and(|name| name.text == "_"))
}
