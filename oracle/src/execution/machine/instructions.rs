//! Executes instructions: reads their operands, and sets registers or memory.

use ptxsmith_syntax::{Opcode, Operand, ScalarType, StateSpace, TypeKind};
use smallvec::SmallVec;

use super::super::{
    form::InstructionForm,
    instructions::{
        calculated, compared, converted, extended_sources, is_calculated, is_integer, operand_type,
        truth_of_set,
    },
    integers::{carried, is_carried, reads_carry, subtracts},
    judged::destinations,
    memory::{Byte, RegisterCell, SymbolicPointer, from_bytes, to_bytes},
    names::VisibleNames,
    setting::AccessKind,
    video::is_video,
};
use super::{CallFrame, FORM, OUTPUT, PtxMachine, UNKNOWN, WrittenScalar, numbers::Numbers, places::Spot};
use crate::{
    clause::Clause,
    refusal::Stop,
    step::Ruled,
    value::{low_bits, sign_extended},
};

impl<'m> PtxMachine<'m, '_> {
    /// Executes an instruction that does not jump.
    pub(super) fn execute(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        match form.opcode {
            Opcode::Mov => self.mov(frame, form, names),
            Opcode::Cvta => self.cvta(frame, form, names),
            Opcode::Ld => self.load(frame, form, names),
            Opcode::St => self.store(frame, form, names),
            Opcode::Setp => self.setp(frame, form, names),
            Opcode::Set => self.set_if(frame, form, names),
            Opcode::Selp => self.selp(frame, form, names),
            Opcode::Cvt => self.cvt(frame, form, names),
            Opcode::Lop3 if form.operands.len() > 5 => self.logic_with_predicate(frame, form, names),
            Opcode::Atom | Opcode::Red => self.atomic(frame, form, names),
            opcode if is_video(opcode) => self.video(frame, form, names),
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not if form.ty == Some(ScalarType::Pred) => {
                self.logic_on_predicates(frame, form, names)
            }
            _ if is_carried(form) => self.carried(frame, form, names),
            _ => self.arithmetic(frame, form, names),
        }
    }

    fn mov(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let [to, from] = form.operands else { return Err(FORM) };
        let ty = ty_of(form)?;
        if let Some(lanes) = form.lanes {
            let cells = self.values(frame, from, ty, lanes, names)?;
            return self.set_all(frame, to, ty, cells, names);
        }
        if ty == ScalarType::Pred {
            let value = self.predicate(frame, Opcode::Mov, from, names)?;
            let cell = value.map_or(RegisterCell::Unknown, |value| RegisterCell::Bits(u64::from(value)));
            return self.set(frame, to, ty, cell, names);
        }
        let size = ty.size().ok_or(FORM)? as usize;
        match (to, from) {
            (Operand::Vector(parts), from) => {
                self.reader.uses(Clause::VectorBraces);
                let part_type = part_type(size, parts.len())?;
                let width = part_type.bytes() as usize;
                let bytes = to_bytes(&self.value(frame, from, ty, names)?, size);
                let part_of_scalar = self.reader.rules.operands.part_of_scalar;
                let mut cells = Vec::new();
                for place in 0..parts.len() {
                    let start = width * part_of_scalar.apply(place, parts.len());
                    cells.push(from_bytes(&bytes[start..start + width]));
                }
                self.set_all(frame, to, part_type, cells, names)
            }
            (to, Operand::Vector(parts)) => {
                self.reader.uses(Clause::VectorBraces);
                let part_type = part_type(size, parts.len())?;
                let width = part_type.bytes() as usize;
                let cells = self.values(frame, from, part_type, parts.len(), names)?;
                let mut bytes = vec![Byte::Unknown; size];
                for (place, cell) in cells.iter().enumerate() {
                    let start = width * self.reader.rules.operands.part_of_scalar.apply(place, cells.len());
                    bytes[start..start + width].clone_from_slice(&to_bytes(cell, width));
                }
                self.set(frame, to, ty, from_bytes(&bytes), names)
            }
            (to, from) => {
                let cell = match self.place_of(frame, from, names)? {
                    Some(address) => {
                        self.reader.uses(Clause::MoveAddress);
                        address
                    }
                    None => self.value(frame, from, ty, names)?,
                };
                self.set(frame, to, ty, cell, names)
            }
        }
    }

    fn cvta(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let [to, from] = form.operands else { return Err(FORM) };
        let (ty, space) = (ty_of(form)?, form.space.ok_or(FORM)?);
        let cell = match self.place_of(frame, from, names)? {
            Some(address) => address,
            None => self.value(frame, from, ty, names)?,
        };
        self.reader.uses(Clause::GenericWindows);
        let to_space = form.others.contains(&".to");
        let cell = match cell {
            RegisterCell::Bits(at) if self.numbers.is_some() => {
                Numbers::converted(space, to_space, at).map_or(RegisterCell::Unknown, RegisterCell::Bits)
            }
            RegisterCell::Pointer(pointer) => {
                if self.space(&pointer.target) != Some(space) {
                    return Err(Stop::Unmodelled("an address of another state space"));
                }
                // A global address and its generic form are the same number.
                if pointer.generic != to_space && space != StateSpace::Global {
                    return Err(Stop::Unmodelled("an address converted twice"));
                }
                RegisterCell::Pointer(SymbolicPointer { generic: !to_space, ..pointer })
            }
            _ => RegisterCell::Unknown,
        };
        self.set(frame, to, ty, cell, names)
    }

    fn load(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (size, lanes) = self.portions(form)?;
        let from = form.operands.get(1);
        let bytes = match self.access(frame, form, (from, AccessKind::Read), size * lanes, names)? {
            // 9.7.9.9: the non-coherent cache need not show what the kernel has written.
            Some(spot) if form.others.contains(&".nc") && self.is_written(&spot, size * lanes) => {
                vec![Byte::Unknown; size * lanes]
            }
            Some(spot) => self.read(&spot, size * lanes),
            None => vec![Byte::Unknown; size * lanes],
        };
        if lanes > 1 {
            self.reader.uses(Clause::VectorAccess);
        }
        let ([to, _], ty) = (form.operands, ty_of(form)?) else { return Err(FORM) };
        self.set_all(frame, to, ty, bytes.chunks(size.max(1)).map(from_bytes).collect(), names)
    }

    fn store(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (size, lanes) = self.portions(form)?;
        let cells = match (form.operands, form.ty) {
            ([_, from], Some(ty)) => self.values(frame, from, ty, lanes, names),
            _ => Err(FORM),
        };
        let cells = match cells {
            Err(_) if self.numbers.is_some() => vec![RegisterCell::Unknown; lanes],
            cells => cells?,
        };
        // The place in the output is not part of the result, so the trace of its address is left out.
        let source = self.reader.trace;
        let to = form.operands.first();
        let Some(spot) = self.access(frame, form, (to, AccessKind::Write), size * lanes, names)? else {
            return Ok(());
        };
        if let Spot::Object(object, _) = spot
            && self.objects[object].space == StateSpace::Const
        {
            return Err(Stop::Unmodelled("a store to .const"));
        }
        if lanes > 1 {
            self.reader.uses(Clause::VectorAccess);
        }
        self.write(&spot, cells.iter().flat_map(|cell| to_bytes(cell, size)).collect());
        if let Spot::Object(OUTPUT, at) = spot {
            let trace = self.since_last_output(source);
            let offsets = (0..lanes).map(|lane| at + lane * size);
            self.written.extend(offsets.map(|offset| WrittenScalar { offset, width: size, trace }));
        }
        Ok(())
    }

    /// Returns the size of each element that a load or store moves, and the number of elements. In a run over numbers,
    /// a type without a size counts as zero bytes, and the access has an unknown place.
    fn portions(&self, form: &InstructionForm<'m>) -> Ruled<(usize, usize)> {
        let size = form.ty.and_then(ScalarType::size);
        let size = if self.numbers.is_some() { size.unwrap_or(0) } else { size.ok_or(FORM)? };
        Ok((size as usize, form.lanes.unwrap_or(1)))
    }

    fn setp(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (compare, combine) = match *form.others {
            [compare] => (compare, None),
            [compare, combine] => (compare, Some(combine)),
            _ => return Err(FORM),
        };
        let Some(Operand::Value(expr)) = form.operands.first() else { return Err(FORM) };
        let [plain, opposite] = self.comparison(frame, form, names, compare, combine)?;
        for (to, value) in destinations(expr).into_iter().zip([plain, opposite]) {
            let cell = RegisterCell::Bits(u64::from(value));
            self.set(frame, &Operand::Value(to), ScalarType::Pred, cell, names)?;
        }
        Ok(())
    }

    /// Executes `set`. If the comparison holds, the result is an integer of all ones, or the float 1.
    fn set_if(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (compare, combine, result) = match *form.others {
            [compare, result] => (compare, None, result),
            [compare, combine, result] => (compare, Some(combine), result),
            _ => return Err(FORM),
        };
        let (ty, truth) = truth_of_set(result).ok_or(FORM)?;
        let [holds, _] = self.comparison(frame, form, names, compare, combine)?;
        let to = form.operands.first().ok_or(FORM)?;
        let cell = RegisterCell::Bits(if holds { truth.into() } else { 0 });
        self.set(frame, to, ty, cell, names)
    }

    /// Returns the result of comparing two operands, combined with a predicate if there is a third, and the result of
    /// the opposite comparison.
    fn comparison(
        &mut self,
        frame: &CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
        compare: &str,
        combine: Option<&str>,
    ) -> Ruled<[bool; 2]> {
        let (ty, [_, a, b, third @ ..]) = (ty_of(form)?, form.operands) else { return Err(FORM) };
        let (a, b) = (self.value(frame, a, ty, names)?, self.value(frame, b, ty, names)?);
        let (a, b) = match (a, b) {
            (RegisterCell::Bits(a), RegisterCell::Bits(b)) => (a, b),
            (RegisterCell::Pointer(a), RegisterCell::Pointer(b))
                if a.target == b.target && a.generic == b.generic =>
            {
                if !matches!(compare, ".eq" | ".ne") {
                    return Err(UNKNOWN);
                }
                (a.offset as u64, b.offset as u64)
            }
            _ => return Err(UNKNOWN),
        };
        let result = compared(compare, ty, a, b).ok_or(FORM)?;
        let third = match third {
            [] => None,
            [third] => Some(self.predicate(frame, form.opcode, third, names)?.ok_or(UNKNOWN)?),
            _ => return Err(FORM),
        };
        Ok([combined(result, combine, third)?, combined(!result, combine, third)?])
    }

    fn selp(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (ty, [to, a, b, condition]) = (ty_of(form)?, form.operands) else { return Err(FORM) };
        let cell = match self.predicate(frame, Opcode::Selp, condition, names)? {
            Some(true) => self.value(frame, a, ty, names)?,
            Some(false) => self.value(frame, b, ty, names)?,
            None => RegisterCell::Unknown,
        };
        self.set(frame, to, ty, cell, names)
    }

    fn cvt(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let [to, from] = form.operands else { return Err(FORM) };
        let to_type = operand_type(form, 0).ok_or(FORM)?;
        let cell = match self.value(frame, from, ty_of(form)?, names)? {
            RegisterCell::Bits(bits) => RegisterCell::Bits(converted(form, bits).ok_or(FORM)?),
            _ if converted(form, 0).is_some() => RegisterCell::Unknown,
            _ => return Err(FORM),
        };
        self.set(frame, to, to_type, cell, names)
    }

    /// Executes `lop3.or.b32 d|p, a, b, c, table, q`. The predicate `p` tells whether the result is nonzero, combined
    /// with `q`.
    fn logic_with_predicate(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (Some(Operand::Value(to)), [.., combined]) = (form.operands.first(), form.operands) else {
            return Err(FORM);
        };
        let mut sources = Vec::new();
        for (nth, source) in form.operands[1..5].iter().enumerate() {
            let RegisterCell::Bits(bits) =
                self.value(frame, source, operand_type(form, nth + 1).ok_or(FORM)?, names)?
            else {
                return Err(UNKNOWN);
            };
            sources.push(bits);
        }
        let value = calculated(form, &sources).ok_or(FORM)?.ok_or(UNKNOWN)?;
        let combined = self.predicate(frame, form.opcode, combined, names)?.ok_or(UNKNOWN)?;
        let truth = match form.others.as_slice() {
            [".or"] => value != 0 || combined,
            [".and"] => value != 0 && combined,
            _ => return Err(FORM),
        };
        let [to, predicate] = <[_; 2]>::try_from(destinations(to)).map_err(|_| FORM)?;
        self.set(frame, &Operand::Value(to), ty_of(form)?, RegisterCell::Bits(value), names)?;
        self.set(frame, &Operand::Value(predicate), ScalarType::Pred, RegisterCell::Bits(truth.into()), names)
    }

    /// Executes `and`, `or`, `xor` and `not` on predicates, all in registers (9.7.7.1 to 9.7.7.4).
    fn logic_on_predicates(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        if !form.others.is_empty() || form.space.is_some() || form.lanes.is_some() {
            return Err(FORM);
        }
        let mut truths: SmallVec<[Option<bool>; 2]> = SmallVec::new();
        for source in sources {
            let Operand::Value(expr) = source else { return Err(FORM) };
            expr.as_name().ok_or(FORM)?;
            truths.push(self.predicate(frame, form.opcode, source, names)?);
        }
        let truth = match (form.opcode, truths.as_slice()) {
            (Opcode::And, &[a, b]) => a.zip(b).map(|(a, b)| a && b),
            (Opcode::Or, &[a, b]) => a.zip(b).map(|(a, b)| a || b),
            (Opcode::Xor, &[a, b]) => a.zip(b).map(|(a, b)| a != b),
            (Opcode::Not, &[a]) => a.map(|a| !a),
            _ => return Err(FORM),
        };
        let cell = truth.map_or(RegisterCell::Unknown, |truth| RegisterCell::Bits(truth.into()));
        self.set(frame, to, ScalarType::Pred, cell, names)
    }

    /// Executes an instruction that reads or writes the carry (9.7.2). The manual does not say how additions and
    /// subtractions share it.
    fn carried(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let (ty, Some((to, sources))) = (ty_of(form)?, form.operands.split_first()) else { return Err(FORM) };
        if !is_integer(ty) {
            return Err(FORM);
        }
        let mut values = Some(Vec::new());
        for (nth, source) in sources.iter().enumerate() {
            let cell = self.value(frame, source, operand_type(form, nth + 1).ok_or(FORM)?, names)?;
            match (cell, &mut values) {
                (RegisterCell::Bits(bits), Some(values)) => values.push(bits),
                _ => values = None,
            }
        }
        let subtracts = subtracts(form.opcode);
        let carry = if reads_carry(form.opcode) {
            frame.carry.filter(|(_, subtracted)| *subtracted == subtracts).map(|(carry, _)| carry)
        } else {
            Some(false)
        };
        let result = match (values, carry) {
            (Some(values), Some(carry)) => {
                let values = extended_sources(form, &values).ok_or(FORM)?;
                Some(carried(form, ty, &values, carry).ok_or(FORM)?)
            }
            _ => None,
        };
        if form.others.contains(&".cc") {
            frame.carry = result.map(|(_, carry)| (carry, subtracts));
        }
        let cell = result.map_or(RegisterCell::Unknown, |(value, _)| RegisterCell::Bits(value));
        self.set(frame, to, ty, cell, names)
    }

    /// Returns how far a constant moves an address.
    fn moved(&self, pointer: &SymbolicPointer, bytes: i64) -> i64 {
        match self.space(&pointer.target) {
            Some(space) => self.reader.rules.operands.moved.apply(space, bytes),
            None => bytes,
        }
    }

    fn arithmetic(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<()> {
        let ty = ty_of(form)?;
        if !matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits) {
            return Err(FORM);
        }
        if !is_calculated(form) || form.space.is_some() || form.lanes.is_some() {
            return Err(FORM);
        }
        let Some((to, sources)) = form.operands.split_first() else { return Err(FORM) };
        let mut cells: SmallVec<[RegisterCell; 3]> = SmallVec::new();
        for (nth, source) in sources.iter().enumerate() {
            cells.push(self.value(frame, source, operand_type(form, nth + 1).ok_or(FORM)?, names)?);
        }
        let is_plain = form.others.is_empty();
        let cell = match (form.opcode, cells.as_slice()) {
            (
                Opcode::Add,
                [RegisterCell::Pointer(p), RegisterCell::Bits(b)]
                | [RegisterCell::Bits(b), RegisterCell::Pointer(p)],
            ) if is_plain => {
                let offset = p.offset.wrapping_add(self.moved(p, sign_extended(ty, *b)));
                RegisterCell::Pointer(SymbolicPointer { offset, ..p.clone() })
            }
            (Opcode::Sub, [RegisterCell::Pointer(p), RegisterCell::Bits(b)]) if is_plain => {
                let offset = p.offset.wrapping_sub(self.moved(p, sign_extended(ty, *b)));
                RegisterCell::Pointer(SymbolicPointer { offset, ..p.clone() })
            }
            (Opcode::Sub, [RegisterCell::Pointer(p), RegisterCell::Pointer(q)])
                if is_plain && p.target == q.target && p.generic == q.generic =>
            {
                RegisterCell::Bits(low_bits(ty, p.offset.wrapping_sub(q.offset) as u64))
            }
            (_, cells) => {
                let numbers: Option<SmallVec<[u64; 5]>> = cells.iter().map(RegisterCell::bits).collect();
                numbers
                    .and_then(|numbers| calculated(form, &numbers)?)
                    .map_or(RegisterCell::Unknown, RegisterCell::Bits)
            }
        };
        self.set(frame, to, operand_type(form, 0).ok_or(FORM)?, cell, names)
    }
}

/// Returns the type of the parts of a scalar of `size` bytes.
fn part_type(size: usize, parts: usize) -> Ruled<ScalarType> {
    let width = size / parts.max(1);
    let types = [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64];
    let part_type = types.into_iter().find(|ty| ty.size() == Some(width as u64) && width * parts == size);
    part_type.ok_or(FORM)
}

/// Combines the result of a comparison with a predicate.
fn combined(result: bool, combine: Option<&str>, predicate: Option<bool>) -> Ruled<bool> {
    match (combine, predicate) {
        (None, None) => Ok(result),
        (Some(".and"), Some(predicate)) => Ok(result && predicate),
        (Some(".or"), Some(predicate)) => Ok(result || predicate),
        (Some(".xor"), Some(predicate)) => Ok(result ^ predicate),
        _ => Err(FORM),
    }
}

/// Returns the type of an instruction, which must have one.
fn ty_of(form: &InstructionForm<'_>) -> Ruled<ScalarType> {
    form.ty.ok_or(FORM)
}
