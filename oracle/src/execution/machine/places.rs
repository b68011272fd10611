//! Where in memory operands lie.

use ptxsmith_syntax::{FunctionKind, NodeKind, Operand, StateSpace};

use super::super::{
    judged::{MAY_BE_MISALIGNED, MISALIGNED},
    memory::{Before, Byte, Bytes, Cell, Object, Pointer, Target},
    names::{Meaning, Names, Place, Variable},
    operand::{Address, Base},
};
use super::{FORM, Frame, Machine, Owner, UNKNOWN};
use crate::{clause::Clause, expectation, refusal::Stop, step::Ruled, undecided::ALIAS};

impl<'m> Machine<'m, '_> {
    /// Puts addresses into the variables at module scope that hold some (5.4.4).
    pub fn fill(&mut self, expected: &[expectation::Variable]) {
        let rules = self.reader.rules;
        for variable in expected {
            for address in &variable.addresses {
                let names = &self.program.names;
                let target = match names.find(&address.symbol, rules) {
                    Some(Meaning::Variable(target)) => Target::Object(self.declared(&target)),
                    _ => Target::Function(address.symbol.clone()),
                };
                let pointer = Pointer { target, offset: address.addend, generic: address.generic };
                let Some(Meaning::Variable(holder)) = names.find(&variable.name, rules) else { continue };
                let holder = self.declared(&holder);
                let byte = |at| Byte::Of(pointer.clone(), address.byte.unwrap_or(at));
                self.objects[holder].bytes.write(address.offset as usize, (0..address.width).map(byte));
            }
        }
    }

    /// The object of what is found at module scope.
    fn declared(&mut self, variable: &Variable) -> usize {
        let (Place::Module(which) | Place::Function(which)) = variable.place;
        self.of_module(variable, which)
    }

    /// Whether an object is of a variable at module scope.
    pub fn is_of_module(&self, object: usize) -> bool {
        let mut places = self.places.range((Owner::Module, (0, 0))..);
        places.any(|((owner, _), &at)| *owner == Owner::Module && at == object)
    }

    /// The address that an operand stands for without brackets: `var`, `var + imm`, `var[index]`, a function.
    pub(super) fn place_of(
        &mut self,
        frame: &Frame<'m>,
        operand: &Operand,
        names: &Names,
    ) -> Ruled<Option<Pointer>> {
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
                        let target = Target::Function(name.clone());
                        return Ok(Some(Pointer { target, offset: 0, generic: false }));
                    }
                    Some(Meaning::Alias) => return Err(Stop::Unmodelled(ALIAS)),
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if let Base::Variable(variable) = &address.base
            && variable.space == StateSpace::Param
        {
            return Err(Stop::Unmodelled("the address of a parameter"));
        }
        self.pointer(frame, &address, None).map(Some)
    }

    pub(super) fn space(&self, target: &Target) -> Option<StateSpace> {
        match target {
            Target::Object(at) => Some(self.objects[*at].space),
            Target::Absolute(space) => Some(*space),
            Target::Function(_) => None,
        }
    }

    /// Where an access of so many bytes goes: the object, and the offset in it. `None`: nowhere, under a rule that misses the
    /// variable.
    pub(super) fn access(
        &mut self,
        frame: &Frame<'m>,
        space: Option<StateSpace>,
        operand: &Operand,
        size: usize,
        names: &Names,
    ) -> Ruled<Option<(usize, usize)>> {
        let address = match operand {
            Operand::Address(expr) => self.reader.address(expr, names)?,
            Operand::Element(name, index) => self.reader.element(name, index, names)?,
            _ => return Err(FORM),
        };
        let pointer = self.pointer(frame, &address, space)?;
        self.reader.uses(Clause::AccessSize);
        self.reader.uses(Clause::ByteAddresses);
        let target = self.space(&pointer.target).ok_or(Stop::Unmodelled("an access to a function"))?;
        match space {
            // 6.4.1.1: a variable that is named lies in the window of its state space.
            None if matches!(address.base, Base::Variable(_)) && target != StateSpace::Param => {
                self.reader.uses(Clause::GenericByDefault);
                self.reader.uses(Clause::GenericWindows);
            }
            None => {
                self.reader.uses(Clause::GenericByDefault);
                if !pointer.generic && target != StateSpace::Global {
                    return Err(Stop::Unmodelled("an offset in a state space taken for a generic address"));
                }
            }
            Some(space) => {
                if space != target || pointer.generic && space != StateSpace::Global {
                    return Err(Stop::Unmodelled("an address of another state space"));
                }
            }
        }
        let object = match pointer.target {
            Target::Object(object) => object,
            Target::Absolute(space) => self.absolute(frame, space)?,
            Target::Function(_) => return Err(FORM),
        };
        let Object { bytes, align, .. } = &self.objects[object];
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
        Ok(Some((object, pointer.offset as usize)))
    }

    /// The memory behind absolute addresses: of a thread that has no variables in `.local` space, where nothing else lies.
    fn absolute(&mut self, frame: &Frame<'m>, space: StateSpace) -> Ruled<usize> {
        const ABSOLUTE: &str = "[absolute]";
        let declares = frame.body.variables.iter().any(|variable| variable.space == StateSpace::Local);
        if space != StateSpace::Local || declares {
            return Err(Stop::Unmodelled("an absolute address in a space where variables may lie"));
        }
        if let Some(at) = self.objects.find_own(ABSOLUTE) {
            return Ok(at);
        }
        let bytes = Bytes::new(1 << 10, Before::Unknown);
        Ok(self.objects.push(Object { name: ABSOLUTE.into(), space, align: 16, bytes }))
    }

    pub(super) fn pointer(
        &mut self,
        frame: &Frame<'m>,
        address: &Address,
        space: Option<StateSpace>,
    ) -> Ruled<Pointer> {
        let index = match address.index {
            None => 0,
            Some(index) => match &frame.registers.of(index.register)[0] {
                Cell::Bits(bits) => index.bytes(*bits, self.reader.rules)?,
                _ => return Err(UNKNOWN),
            },
        };
        let offset = address.offset.checked_add(index).ok_or(FORM)?;
        match &address.base {
            Base::Variable(variable) => {
                let object = self.object(frame, variable)?;
                Ok(Pointer { target: Target::Object(object), offset, generic: false })
            }
            Base::Register(register) => match &frame.registers.of(*register)[0] {
                Cell::Pointer(pointer) => {
                    Ok(Pointer { offset: pointer.offset.wrapping_add(offset), ..pointer.clone() })
                }
                _ => Err(UNKNOWN),
            },
            Base::Absolute => {
                let space = space.ok_or(Stop::Unmodelled("an absolute generic address"))?;
                Ok(Pointer { target: Target::Absolute(space), offset, generic: false })
            }
        }
    }
}
