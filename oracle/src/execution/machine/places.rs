//! Computes the places in memory that operands refer to.

use ptxsmith_syntax::{FunctionKind, NodeKind, Operand, StateSpace};

use super::super::{
    form::InstructionForm,
    judged::{MAY_BE_MISALIGNED, MISALIGNED},
    memory::{
        Byte, InitialContents, MemoryObject, PointerTarget, RegisterCell, SymbolicPointer, VariableBytes,
    },
    names::{Meaning, MemoryVariable, VariableId, VisibleNames},
    operand::{AddressBase, OperandAddress},
    setting::AccessKind,
};
use super::{CallFrame, FORM, NOT_GENERIC, OTHER_SPACE, Owner, PtxMachine, UNKNOWN, numbers::VALUE};
use crate::{clause::Clause, expectation, refusal::Stop, step::Ruled, undecided::ALIAS};

/// The place of an access: an object and the offset in it, or, in a run over numbers, a state space and the place in
/// it.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Object(usize, usize),
    Number(StateSpace, u64),
}

impl<'m> PtxMachine<'m, '_> {
    /// Writes the addresses in initial values into the objects of variables at module scope (5.4.4).
    pub fn fill(&mut self, expected: &[expectation::Variable]) {
        let rules = self.reader.rules;
        for variable in expected {
            for address in &variable.addresses {
                let names = &self.program.names;
                let target = match names.find(&address.symbol, rules) {
                    Some(Meaning::Variable(target)) => PointerTarget::Object(self.named_object(&target)),
                    _ => PointerTarget::Function(address.symbol.clone()),
                };
                let pointer = SymbolicPointer { target, offset: address.addend, generic: address.generic };
                let Some(Meaning::Variable(holder)) = names.find(&variable.name, rules) else { continue };
                let holder = self.named_object(&holder);
                let bytes =
                    (0..address.width).map(|nth| Byte::Pointer(pointer.clone(), address.byte.unwrap_or(nth)));
                self.objects[holder].bytes.write(address.offset as usize, bytes);
            }
        }
    }

    /// Returns the object of a variable found at module scope.
    fn named_object(&mut self, variable: &MemoryVariable) -> usize {
        let (VariableId::Module(which) | VariableId::Function(which)) = variable.place;
        self.module_object(variable, which)
    }

    /// Whether an object belongs to a variable at module scope.
    pub fn is_module_object(&self, object: usize) -> bool {
        self.places.objects_of(Owner::Module).any(|of_module| of_module == object)
    }

    /// Returns the address that an operand without brackets denotes: `var`, `var + imm`, `var[index]`, or a function.
    pub(super) fn place_of(
        &mut self,
        frame: &CallFrame<'m>,
        operand: &Operand,
        names: &VisibleNames,
    ) -> Ruled<Option<RegisterCell>> {
        let address = match operand {
            Operand::Element(name, index) => self.reader.element(name, index, names)?,
            Operand::Value(expr) => {
                let first = expr.first(expr.root());
                let NodeKind::Name(name) = expr.kind(first) else { return Ok(None) };
                match names.find(name, self.reader.rules) {
                    Some(Meaning::Variable(variable)) => {
                        if !variable.shape.extents.is_empty() {
                            self.reader.uses(Clause::ArrayName);
                        }
                        self.reader.address(expr, names)?
                    }
                    Some(Meaning::Function(kind)) if expr.nodes().len() == 1 => {
                        self.reader.uses(match kind {
                            FunctionKind::Entry => Clause::MoveKernelAddress,
                            FunctionKind::Func => Clause::FunctionOperand,
                        });
                        let target = PointerTarget::Function(name.clone());
                        let pointer = SymbolicPointer { target, offset: 0, generic: false };
                        return Ok(Some(if self.numbers.is_some() {
                            RegisterCell::Unknown
                        } else {
                            RegisterCell::Pointer(pointer)
                        }));
                    }
                    Some(Meaning::Alias) => return Err(Stop::Unmodelled(ALIAS)),
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if let AddressBase::Variable(variable) = &address.base
            && variable.space == StateSpace::Param
        {
            return Err(Stop::Unmodelled("the address of a parameter"));
        }
        self.address(frame, &address, None).map(Some)
    }

    pub(super) fn space(&self, target: &PointerTarget) -> Option<StateSpace> {
        match target {
            PointerTarget::Object(at) => Some(self.objects[*at].space),
            PointerTarget::Absolute(space) => Some(*space),
            PointerTarget::Function(_) => None,
        }
    }

    /// Returns the place of an access of `size` bytes. `None` if it has no effect, under a rule for accesses outside of
    /// variables, or if the place is unknown.
    pub(super) fn access(
        &mut self,
        frame: &CallFrame<'m>,
        form: &InstructionForm<'m>,
        (operand, way): (Option<&Operand>, AccessKind),
        size: usize,
        names: &VisibleNames,
    ) -> Ruled<Option<Spot>> {
        let space = form.accessed_space().ok_or(FORM);
        if self.numbers.is_some() {
            let place = match (operand, space) {
                (Some(operand), Ok(space)) if size > 0 => self.number_of(frame, space, operand, names),
                _ => Err(FORM),
            };
            let place = self.reached((form.span, way), size as u64, place)?;
            return Ok(place.map(|(space, at)| Spot::Number(space, at)));
        }
        let (address, space) = (self.operand_address(operand.ok_or(FORM)?, names)?, space?);
        let RegisterCell::Pointer(pointer) = self.address(frame, &address, space)? else {
            return Err(UNKNOWN);
        };
        self.reader.uses(Clause::AccessSize);
        self.reader.uses(Clause::ByteAddresses);
        let target = self.space(&pointer.target).ok_or(Stop::Unmodelled("an access to a function"))?;
        match space {
            // 6.4.1.1: a named variable lies in the window of its state space.
            None if matches!(address.base, AddressBase::Variable(_)) && target != StateSpace::Param => {
                self.reader.uses(Clause::GenericByDefault);
                self.reader.uses(Clause::GenericWindows);
            }
            None => {
                self.reader.uses(Clause::GenericByDefault);
                if !pointer.generic && target != StateSpace::Global {
                    return Err(NOT_GENERIC);
                }
            }
            Some(space) => {
                if space != target || pointer.generic && space != StateSpace::Global {
                    return Err(OTHER_SPACE);
                }
            }
        }
        let object = match pointer.target {
            PointerTarget::Object(object) => object,
            PointerTarget::Absolute(space) => self.absolute(frame, space)?,
            PointerTarget::Function(_) => return Err(FORM),
        };
        let MemoryObject { bytes, align, .. } = &self.objects[object];
        let inside = pointer.offset >= 0 && pointer.offset as usize + size <= bytes.len();
        if !inside {
            return self.reader.rules.operands.outside.apply(target).map(|()| None);
        }
        if !(pointer.offset as usize).is_multiple_of(size) {
            self.reader.uses(Clause::MisalignedAccess);
            return Err(Stop::Unmodelled(MISALIGNED));
        }
        if (*align as usize) < size {
            return Err(Stop::Unmodelled(MAY_BE_MISALIGNED));
        }
        Ok(Some(Spot::Object(object, pointer.offset as usize)))
    }

    fn operand_address(&mut self, operand: &Operand, names: &VisibleNames) -> Ruled<OperandAddress> {
        match operand {
            Operand::Address(expr) => self.reader.address(expr, names),
            Operand::Element(name, index) => self.reader.element(name, index, names),
            _ => Err(FORM),
        }
    }

    /// Returns the place that an operand refers to in a run over numbers.
    pub(super) fn number_of(
        &mut self,
        frame: &CallFrame<'m>,
        space: Option<StateSpace>,
        operand: &Operand,
        names: &VisibleNames,
    ) -> Ruled<(StateSpace, u64)> {
        let address = self.operand_address(operand, names)?;
        let named = match &address.base {
            AddressBase::Variable(variable) => Some(variable.space),
            _ => None,
        };
        match (self.address(frame, &address, space)?, &self.numbers) {
            (RegisterCell::Bits(at), Some(numbers)) => numbers.place(space, named, at),
            _ => Err(VALUE),
        }
    }

    pub(super) fn read(&mut self, spot: &Spot, width: usize) -> Vec<Byte> {
        match (*spot, &mut self.numbers) {
            (Spot::Number(space, at), Some(numbers)) => numbers.read((space, at), width),
            (Spot::Object(object, at), _) => self.objects[object].bytes.read(at, at + width),
            (Spot::Number(..), None) => vec![Byte::Unknown; width],
        }
    }

    /// Whether the kernel wrote to this place before; always false if addresses are symbolic.
    pub(super) fn is_written(&self, spot: &Spot, width: usize) -> bool {
        match (*spot, &self.numbers) {
            (Spot::Number(space, at), Some(numbers)) => numbers.is_written((space, at), width),
            _ => false,
        }
    }

    pub(super) fn write(&mut self, spot: &Spot, bytes: Vec<Byte>) {
        match (*spot, &mut self.numbers) {
            (Spot::Number(space, at), Some(numbers)) => numbers.write((space, at), &bytes),
            (Spot::Object(object, at), _) => self.objects[object].bytes.write(at, bytes),
            (Spot::Number(..), None) => {}
        }
    }

    /// Returns the memory behind absolute addresses in `.local`, for a function without variables in `.local`: no
    /// variable lies there.
    fn absolute(&mut self, frame: &CallFrame<'m>, space: StateSpace) -> Ruled<usize> {
        const ABSOLUTE: &str = "[absolute]";
        let declares = frame.body.variables.iter().any(|variable| variable.space == StateSpace::Local);
        if space != StateSpace::Local || declares {
            return Err(Stop::Unmodelled("an absolute address in a space where variables may lie"));
        }
        if let Some(at) = self.objects.find_private(ABSOLUTE) {
            return Ok(at);
        }
        let bytes = VariableBytes::new(1 << 10, InitialContents::Unknown);
        Ok(self.objects.push(MemoryObject { name: ABSOLUTE.into(), space, align: 16, bytes }))
    }

    /// Returns an address as the contents of a register.
    pub(super) fn address(
        &mut self,
        frame: &CallFrame<'m>,
        address: &OperandAddress,
        space: Option<StateSpace>,
    ) -> Ruled<RegisterCell> {
        let unknown = if self.numbers.is_some() { VALUE } else { UNKNOWN };
        let index = match address.index {
            None => 0,
            Some(index) => match &frame.registers.get(index.register)[0] {
                RegisterCell::Bits(bits) => index.bytes(*bits, self.reader.rules)?,
                _ => return Err(unknown),
            },
        };
        let offset = address.offset.checked_add(index).ok_or(FORM)?;
        let pointer = match (&address.base, &self.numbers) {
            (AddressBase::Variable(variable), Some(numbers)) => {
                let place = numbers.place_of(variable).ok_or(VALUE)?;
                return Ok(RegisterCell::Bits(place.wrapping_add(offset as u64)));
            }
            (AddressBase::Variable(variable), None) => SymbolicPointer {
                target: PointerTarget::Object(self.object(frame, variable)?),
                offset,
                generic: false,
            },
            (AddressBase::Register(register), numbers) => {
                match (&frame.registers.get(*register)[0], numbers) {
                    (RegisterCell::Pointer(pointer), _) => {
                        SymbolicPointer { offset: pointer.offset.wrapping_add(offset), ..pointer.clone() }
                    }
                    (RegisterCell::Bits(bits), Some(numbers)) => {
                        return numbers.sum(register.ty, *bits, offset).map(RegisterCell::Bits);
                    }
                    _ => return Err(unknown),
                }
            }
            (AddressBase::Absolute, Some(_)) => return Ok(RegisterCell::Bits(offset as u64)),
            (AddressBase::Absolute, None) => {
                let space = space.ok_or(Stop::Unmodelled("an absolute generic address"))?;
                SymbolicPointer { target: PointerTarget::Absolute(space), offset, generic: false }
            }
        };
        Ok(RegisterCell::Pointer(pointer))
    }
}
