//! Executes one kernel on one thread.

use std::rc::Rc;

use ptxsmith_syntax::{
    FunctionKind, Instruction, Name, NodeKind, Operand, ScalarType, StateSpace, Text, TypeKind,
};

use super::{
    memory::{Byte, Cell, Object, Pointer, Target, from_bytes, to_bytes},
    names::{Body, Meaning, Names, Place, Program, Register, Variable},
    operand::{Address, Base, Reader, lanes_of},
};
use crate::{
    clause::Clause,
    evaluate::Evaluator,
    refusal::Stop,
    rules::{Ruled, Stored, Trace},
};

/// Instructions that one kernel may execute, so that no loop goes on for ever.
const MOST_STEPS: u32 = 20_000;
/// Calls that may be open at once.
const MOST_CALLS: u32 = 32;
/// The largest output buffer.
pub(super) const MOST_OUTPUT: usize = 1 << 14;

/// The place of the output buffer among the objects.
pub(super) const OUTPUT: usize = 0;

pub(super) struct Machine<'m, 'r> {
    pub program: &'m Program<'m>,
    pub reader: Reader<'r>,
    pub objects: Vec<Object>,
    /// The objects of the variables at module scope.
    pub module: Vec<usize>,
    /// Where the last byte written to the output lies, and what was written: offset and width of each scalar.
    pub written: Vec<(usize, usize)>,
    pub steps: u32,
    pub calls: u32,
}

/// One call of a function.
struct Frame<'m> {
    body: &'m Body<'m>,
    registers: Vec<Vec<Cell>>,
    objects: Vec<usize>,
}

enum Flow {
    Next,
    Jump(usize),
    Return,
    Exit,
}

const UNKNOWN: Stop = Stop::Unmodelled("what happens depends on a value that is not known");
const FORM: Stop = Stop::Unmodelled("an instruction in a form that is not modelled");

fn mask(ty: ScalarType, bits: u64) -> u64 {
    match ty.size() {
        Some(size @ 1..=7) => bits & ((1 << (8 * size)) - 1),
        None => u64::from(bits != 0),
        _ => bits,
    }
}

fn sign_extended(ty: ScalarType, bits: u64) -> i64 {
    let unused = 64 - 8 * ty.size().unwrap_or(8).min(8) as u32;
    ((bits << unused) as i64) >> unused
}

/// A number of this type as one of 64 bits.
fn extended(ty: ScalarType, bits: u64) -> u64 {
    if ty.kind() == TypeKind::Signed { sign_extended(ty, bits) as u64 } else { mask(ty, bits) }
}

impl<'m> Machine<'m, '_> {
    /// Runs a kernel whose one parameter is the address of the output buffer.
    pub fn kernel(&mut self, body: &'m Body<'m>) -> Ruled<()> {
        let [Meaning::Variable(parameter)] = body.parameters.as_slice() else {
            return Err(Stop::Unmodelled("a kernel with other parameters than an output buffer"));
        };
        if parameter.size != Some(8) || !parameter.extents.is_empty() {
            return Err(Stop::Unmodelled("a kernel with other parameters than an output buffer"));
        }
        let out = Pointer { target: Target::Object(OUTPUT), offset: 0, generic: false };
        self.call(body, &[to_bytes(&Cell::Pointer(out), 8)]).map(|_| ())
    }

    /// Runs a function; arguments and results as the bytes of each. `None`: the thread ended.
    fn call(&mut self, body: &'m Body<'m>, arguments: &[Vec<Byte>]) -> Ruled<Option<Vec<Vec<Byte>>>> {
        if let Some(reason) = body.unmodelled {
            return Err(Stop::Unmodelled(reason));
        }
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(Stop::Unmodelled("more calls at once than are modelled"));
        }
        let registers = body.registers.iter().map(|r| vec![Cell::Unknown; usize::from(r.lanes)]).collect();
        let mut frame = Frame { body, registers, objects: Vec::new() };
        for variable in &body.variables {
            let object = self.object(variable)?;
            frame.objects.push(object);
        }
        if arguments.len() != body.parameters.len() {
            return Err(FORM);
        }
        for (parameter, bytes) in body.parameters.iter().zip(arguments) {
            self.pass(&mut frame, parameter, bytes)?;
        }
        let ended = self.run(&mut frame)?;
        self.calls -= 1;
        if ended {
            return Ok(None);
        }
        let results = body.results.iter().map(|result| match result {
            Meaning::Register(register) => {
                let size = register.ty.size().ok_or(FORM)? as usize;
                Ok(frame.registers[register.id].iter().flat_map(|cell| to_bytes(cell, size)).collect())
            }
            Meaning::Variable(variable) => {
                let Place::Function(at) = variable.place else { return Err(FORM) };
                Ok(self.objects[frame.objects[at]].bytes.clone())
            }
            Meaning::Function(_) | Meaning::Label => Err(FORM),
        });
        results.collect::<Ruled<_>>().map(Some)
    }

    fn pass(&mut self, frame: &mut Frame<'m>, to: &Meaning, bytes: &[Byte]) -> Ruled<()> {
        match to {
            Meaning::Register(register) => {
                let size = register.ty.size().ok_or(FORM)? as usize;
                if bytes.len() != size * usize::from(register.lanes) {
                    return Err(FORM);
                }
                frame.registers[register.id] = bytes.chunks(size).map(from_bytes).collect();
                Ok(())
            }
            Meaning::Variable(variable) => {
                let Place::Function(at) = variable.place else { return Err(FORM) };
                let object = &mut self.objects[frame.objects[at]].bytes;
                if bytes.len() != object.len() {
                    return Err(FORM);
                }
                object.clone_from_slice(bytes);
                Ok(())
            }
            Meaning::Function(_) | Meaning::Label => Err(FORM),
        }
    }

    /// A new object for a variable of a function. What it holds nobody knows.
    fn object(&mut self, variable: &Variable) -> Ruled<usize> {
        let size = variable.size.ok_or(Stop::Unmodelled("a variable of unknown size"))?;
        self.objects.push(Object {
            name: variable.name.clone(),
            space: variable.space,
            align: variable.align,
            bytes: vec![Byte::Unknown; size as usize],
        });
        Ok(self.objects.len() - 1)
    }

    /// Runs to the end of the function; whether the thread ended.
    fn run(&mut self, frame: &mut Frame<'m>) -> Ruled<bool> {
        let mut at = 0;
        while let Some(line) = frame.body.lines.get(at) {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(Stop::Unmodelled("more instructions than are executed here"));
            }
            let (instruction, names) = (line.instruction, Rc::clone(&line.names));
            if let Some(guard) = &instruction.guard {
                let Some(Meaning::Register(register)) = names.find(&guard.predicate.text) else {
                    return Err(FORM);
                };
                match frame.registers[register.id][0] {
                    Cell::Bits(bits) if (bits != 0) != guard.negated => {}
                    Cell::Bits(_) => {
                        at += 1;
                        continue;
                    }
                    _ => return Err(UNKNOWN),
                }
            }
            match self.step(frame, instruction, &names)? {
                Flow::Next => at += 1,
                Flow::Jump(to) => at = to,
                Flow::Return => return Ok(false),
                Flow::Exit => return Ok(true),
            }
        }
        Ok(false)
    }

    fn step(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<Flow> {
        let operands = i.operands.as_slice();
        match i.opcode.text.as_str() {
            "ret" => return Ok(Flow::Return),
            "exit" => return Ok(Flow::Exit),
            "bra" => {
                let [Operand::Value(label)] = operands else { return Err(FORM) };
                self.reader.uses(Clause::LabelOperand);
                return Ok(Flow::Jump(self.label(frame, &label.as_name().ok_or(FORM)?)?));
            }
            "brx" => return self.branch_by_index(frame, i, names),
            "call" => return self.call_instruction(frame, i, names),
            "mov" => self.mov(frame, i, names)?,
            "cvta" => self.cvta(frame, i, names)?,
            "ld" => self.load(frame, i, names)?,
            "st" => self.store(frame, i, names)?,
            "setp" => self.setp(frame, i, names)?,
            "selp" => {
                let (ty, [to, a, b, condition]) = (last_type(i)?, operands) else { return Err(FORM) };
                let cell = match self.predicate(frame, condition, names)? {
                    Some(true) => self.value(frame, a, ty, names)?,
                    Some(false) => self.value(frame, b, ty, names)?,
                    None => Cell::Unknown,
                };
                self.set(frame, to, ty, cell, names)?;
            }
            "cvt" => self.cvt(frame, i, names)?,
            _ => self.arithmetic(frame, i, names)?,
        }
        Ok(Flow::Next)
    }

    fn label(&self, frame: &Frame<'m>, name: &Name) -> Ruled<usize> {
        frame.body.labels.get(name.text.as_str()).copied().ok_or(FORM)
    }

    fn branch_by_index(&mut self, frame: &Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<Flow> {
        let [index, Operand::Value(table)] = i.operands.as_slice() else { return Err(FORM) };
        let table = table.as_name().ok_or(FORM)?;
        let targets = *frame.body.tables.get(table.text.as_str()).ok_or(FORM)?;
        self.reader.uses(Clause::LabelOperand);
        let Cell::Bits(index) = self.value(frame, index, ScalarType::U32, names)? else {
            return Err(UNKNOWN);
        };
        let target = targets.get(index as usize).ok_or(Stop::Unmodelled("an index behind a branch table"))?;
        Ok(Flow::Jump(self.label(frame, target)?))
    }

    fn call_instruction(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<Flow> {
        let none: &[Operand] = &[];
        let (results, rest) = match i.operands.split_first() {
            Some((Operand::List(results), rest)) => (results.as_slice(), rest),
            _ => (none, i.operands.as_slice()),
        };
        let Some((Operand::Value(callee), rest)) = rest.split_first() else { return Err(FORM) };
        let arguments = match rest.first() {
            Some(Operand::List(arguments)) => arguments.as_slice(),
            _ => none,
        };
        let callee = callee.as_name().ok_or(FORM)?;
        let name: Text = match names.find(&callee.text) {
            Some(Meaning::Function(_)) => callee.text,
            Some(Meaning::Register(register)) => match &frame.registers[register.id][0] {
                Cell::Pointer(Pointer { target: Target::Function(name), offset: 0, .. }) => name.clone(),
                _ => return Err(UNKNOWN),
            },
            _ => return Err(FORM),
        };
        self.reader.uses(Clause::FunctionOperand);
        let body = self.program.functions.get(name.as_str()).ok_or(FORM)?;
        if body.kind == FunctionKind::Entry || body.parameters.len() != arguments.len() {
            return Err(FORM);
        }
        let mut passed = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&body.parameters) {
            passed.push(self.argument(frame, argument, parameter, names)?);
        }
        let Some(returned) = self.call(body, &passed)? else { return Ok(Flow::Exit) };
        if returned.len() != results.len() {
            return Err(FORM);
        }
        for (to, bytes) in results.iter().zip(returned) {
            let Operand::Value(expr) = to else { return Err(FORM) };
            let to = names.find(&expr.as_name().ok_or(FORM)?.text).ok_or(FORM)?;
            self.pass(frame, &to, &bytes)?;
        }
        Ok(Flow::Next)
    }

    fn argument(
        &mut self,
        frame: &Frame<'m>,
        argument: &Operand,
        parameter: &Meaning,
        names: &Names,
    ) -> Ruled<Vec<Byte>> {
        if let Operand::Value(expr) = argument
            && let Some(name) = expr.as_name()
        {
            match names.find(&name.text) {
                Some(Meaning::Variable(variable)) => {
                    let Place::Function(at) = variable.place else { return Err(FORM) };
                    return Ok(self.objects[frame.objects[at]].bytes.clone());
                }
                Some(Meaning::Register(register)) => {
                    let size = register.ty.size().ok_or(FORM)? as usize;
                    if register.lanes > 1 {
                        self.reader.uses(Clause::VectorOperand);
                    }
                    let cells = frame.registers[register.id].iter();
                    return Ok(cells.flat_map(|cell| to_bytes(cell, size)).collect());
                }
                _ => return Err(FORM),
            }
        }
        let (ty, size) = match parameter {
            Meaning::Register(register) => (register.ty, register.ty.size()),
            Meaning::Variable(variable) => (variable.ty, variable.size),
            Meaning::Function(_) | Meaning::Label => return Err(FORM),
        };
        let cell = self.value(frame, argument, ty, names)?;
        Ok(to_bytes(&cell, size.ok_or(FORM)? as usize))
    }

    fn mov(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let [to, from] = i.operands.as_slice() else { return Err(FORM) };
        let ty = last_type(i)?;
        if let Some(lanes) = lanes_of(i) {
            let cells = self.values(frame, from, ty, lanes, names)?;
            return self.set_all(frame, to, ty, cells, names);
        }
        if ty == ScalarType::Pred {
            let value = self.predicate(frame, from, names)?;
            let cell = value.map_or(Cell::Unknown, |value| Cell::Bits(u64::from(value)));
            return self.set(frame, to, ty, cell, names);
        }
        let size = ty.size().ok_or(FORM)? as usize;
        let part = |parts: usize| {
            let width = size / parts.max(1);
            [ScalarType::B8, ScalarType::B16, ScalarType::B32, ScalarType::B64]
                .into_iter()
                .find(|ty| ty.size() == Some(width as u64) && width * parts == size)
                .ok_or(FORM)
        };
        match (to, from) {
            (Operand::Vector(parts), from) => {
                self.reader.uses(Clause::VectorBraces);
                let ty_of_part = part(parts.len())?;
                let width = ty_of_part.size().unwrap_or(1) as usize;
                let bytes = to_bytes(&self.value(frame, from, ty, names)?, size);
                let cells = bytes.chunks(width).map(from_bytes).collect();
                self.set_all(frame, to, ty_of_part, cells, names)
            }
            (to, Operand::Vector(parts)) => {
                self.reader.uses(Clause::VectorBraces);
                let ty_of_part = part(parts.len())?;
                let width = ty_of_part.size().unwrap_or(1) as usize;
                let cells = self.values(frame, from, ty_of_part, parts.len(), names)?;
                let bytes: Vec<Byte> = cells.iter().flat_map(|cell| to_bytes(cell, width)).collect();
                self.set(frame, to, ty, from_bytes(&bytes), names)
            }
            (to, from) => {
                let cell = match self.place_of(frame, from, names)? {
                    Some(pointer) => {
                        self.reader.uses(Clause::MoveAddress);
                        Cell::Pointer(pointer)
                    }
                    None => self.value(frame, from, ty, names)?,
                };
                self.set(frame, to, ty, cell, names)
            }
        }
    }

    /// The address that an operand stands for without brackets: `var`, `var + imm`, `var[index]`, a function.
    fn place_of(&mut self, frame: &Frame<'m>, operand: &Operand, names: &Names) -> Ruled<Option<Pointer>> {
        let address = match operand {
            Operand::Element(name, index) => self.reader.element(name, index, names)?,
            Operand::Value(expr) => {
                let first = expr.first(expr.root());
                let NodeKind::Name(name) = expr.kind(first) else { return Ok(None) };
                match names.find(name) {
                    Some(Meaning::Variable(variable)) => {
                        if !variable.extents.is_empty() {
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

    fn cvta(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let [to, from] = i.operands.as_slice() else { return Err(FORM) };
        let (ty, space) = (last_type(i)?, space_of(i).ok_or(FORM)?);
        let cell = match self.place_of(frame, from, names)? {
            Some(pointer) => Cell::Pointer(pointer),
            None => self.value(frame, from, ty, names)?,
        };
        self.reader.uses(Clause::GenericWindows);
        let cell = match cell {
            Cell::Pointer(pointer) => {
                let to_space = i.has(".to");
                if self.space(&pointer.target) != Some(space) {
                    return Err(Stop::Unmodelled("an address of another state space"));
                }
                // A global address and its generic form are the same number.
                if pointer.generic != to_space && space != StateSpace::Global {
                    return Err(Stop::Unmodelled("an address converted twice"));
                }
                Cell::Pointer(Pointer { generic: !to_space, ..pointer })
            }
            _ => Cell::Unknown,
        };
        self.set(frame, to, ty, cell, names)
    }

    fn space(&self, target: &Target) -> Option<StateSpace> {
        match target {
            Target::Object(at) => Some(self.objects[*at].space),
            Target::Absolute(space) => Some(*space),
            Target::Function(_) => None,
        }
    }

    fn load(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let [to, from] = i.operands.as_slice() else { return Err(FORM) };
        let (ty, lanes) = (last_type(i)?, lanes_of(i).unwrap_or(1));
        let size = ty.size().ok_or(FORM)? as usize;
        let (object, at) = self.access(frame, i, from, size * lanes, names)?;
        let bytes = &self.objects[object].bytes[at..at + size * lanes];
        let cells = bytes.chunks(size).map(from_bytes).collect();
        if lanes > 1 {
            self.reader.uses(Clause::VectorAccess);
        }
        self.set_all(frame, to, ty, cells, names)
    }

    fn store(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let [to, from] = i.operands.as_slice() else { return Err(FORM) };
        let (ty, lanes) = (last_type(i)?, lanes_of(i).unwrap_or(1));
        let size = ty.size().ok_or(FORM)? as usize;
        let cells = self.values(frame, from, ty, lanes, names)?;
        let (object, at) = self.access(frame, i, to, size * lanes, names)?;
        if self.objects[object].space == StateSpace::Const {
            return Err(Stop::Unmodelled("a store to .const"));
        }
        if lanes > 1 {
            self.reader.uses(Clause::VectorAccess);
        }
        let bytes: Vec<Byte> = cells.iter().flat_map(|cell| to_bytes(cell, size)).collect();
        self.objects[object].bytes[at..at + bytes.len()].clone_from_slice(&bytes);
        if object == OUTPUT {
            self.written.extend((0..lanes).map(|lane| (at + lane * size, size)));
        }
        Ok(())
    }

    /// Where an access of so many bytes goes: the object, and the offset in it.
    fn access(
        &mut self,
        frame: &Frame<'m>,
        i: &'m Instruction,
        operand: &Operand,
        size: usize,
        names: &Names,
    ) -> Ruled<(usize, usize)> {
        let address = match operand {
            Operand::Address(expr) => self.reader.address(expr, names)?,
            Operand::Element(name, index) => self.reader.element(name, index, names)?,
            _ => return Err(FORM),
        };
        let space = space_of(i);
        let pointer = self.pointer(frame, &address, space)?;
        self.reader.uses(Clause::AccessSize);
        self.reader.uses(Clause::ByteAddresses);
        let target = self.space(&pointer.target).ok_or(Stop::Unmodelled("an access to a function"))?;
        match space {
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
            return Err(Stop::Unmodelled("an access outside of the variable"));
        }
        if !(pointer.offset as usize).is_multiple_of(size) {
            self.reader.uses(Clause::MisalignedAccess);
            return Err(Stop::Unmodelled("an access that is not aligned, which is undefined"));
        }
        if (*align as usize) < size {
            return Err(Stop::Unmodelled("an access of which nobody knows whether it is aligned"));
        }
        Ok((object, pointer.offset as usize))
    }

    /// The memory behind absolute addresses: of a thread that has no variables in `.local` space, where nothing else lies.
    fn absolute(&mut self, frame: &Frame<'m>, space: StateSpace) -> Ruled<usize> {
        const ABSOLUTE: &str = "[absolute]";
        let declares = frame.body.variables.iter().any(|variable| variable.space == StateSpace::Local);
        if space != StateSpace::Local || declares {
            return Err(Stop::Unmodelled("an absolute address in a space where variables may lie"));
        }
        if let Some(at) = self.objects.iter().position(|object| object.name == ABSOLUTE) {
            return Ok(at);
        }
        let bytes = vec![Byte::Unknown; 1 << 10];
        self.objects.push(Object { name: ABSOLUTE.into(), space, align: 16, bytes });
        Ok(self.objects.len() - 1)
    }

    fn pointer(&mut self, frame: &Frame<'m>, address: &Address, space: Option<StateSpace>) -> Ruled<Pointer> {
        let index = match address.index {
            None => 0,
            Some((register, unit)) => match &frame.registers[register.id][0] {
                Cell::Bits(bits) => {
                    let index = extended(register.ty, *bits) as i64;
                    if i32::try_from(index).is_err() {
                        return Err(Stop::Unmodelled("an index of more than 32 bits"));
                    }
                    index.checked_mul(unit).ok_or(FORM)?
                }
                _ => return Err(UNKNOWN),
            },
        };
        let offset = address.offset.checked_add(index).ok_or(FORM)?;
        match &address.base {
            Base::Variable(variable) => {
                let object = match variable.place {
                    Place::Module(at) => self.module[at],
                    Place::Function(at) => frame.objects[at],
                };
                Ok(Pointer { target: Target::Object(object), offset, generic: false })
            }
            Base::Register(register) => match &frame.registers[register.id][0] {
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

    fn setp(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let ty = last_type(i)?;
        let compare = i.modifiers.first().map_or("", |m| m.text.as_str());
        let combine = i.modifiers.get(1).map(|m| m.text.as_str()).filter(|_| i.modifiers.len() == 3);
        let (to, a, b, third) = match (i.operands.as_slice(), combine) {
            ([to, a, b], None) => (to, a, b, None),
            ([to, a, b, c], Some(_)) => (to, a, b, Some(c)),
            _ => return Err(FORM),
        };
        if ty.kind() == TypeKind::Float {
            return Err(FORM);
        }
        let (a, b) = (self.value(frame, a, ty, names)?, self.value(frame, b, ty, names)?);
        let (a, b) = match (a, b) {
            (Cell::Bits(a), Cell::Bits(b)) => (extended(ty, a), extended(ty, b)),
            (Cell::Pointer(a), Cell::Pointer(b)) if a.target == b.target && a.generic == b.generic => {
                if !matches!(compare, ".eq" | ".ne") {
                    return Err(UNKNOWN);
                }
                (a.offset as u64, b.offset as u64)
            }
            _ => return Err(UNKNOWN),
        };
        let order = if ty.kind() == TypeKind::Signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
        let result = match compare {
            ".eq" => order.is_eq(),
            ".ne" => order.is_ne(),
            ".lt" | ".lo" => order.is_lt(),
            ".le" | ".ls" => order.is_le(),
            ".gt" | ".hi" => order.is_gt(),
            ".ge" | ".hs" => order.is_ge(),
            _ => return Err(FORM),
        };
        let third = match third {
            None => None,
            Some(third) => Some(self.predicate(frame, third, names)?.ok_or(UNKNOWN)?),
        };
        let combined = |value: bool| match (combine, third) {
            (None, _) => Ok(value),
            (Some(".and"), Some(c)) => Ok(value && c),
            (Some(".or"), Some(c)) => Ok(value || c),
            (Some(".xor"), Some(c)) => Ok(value ^ c),
            _ => Err(FORM),
        };
        let Operand::Value(expr) = to else { return Err(FORM) };
        let mut destinations = vec![(expr.clone(), combined(result)?)];
        if let NodeKind::Binary(ptxsmith_syntax::BinaryOp::Or, p, q) = *expr.kind(expr.root()) {
            destinations = vec![(expr.part(p), combined(result)?), (expr.part(q), combined(!result)?)];
        }
        for (to, value) in destinations {
            let cell = Cell::Bits(u64::from(value));
            self.set(frame, &Operand::Value(to), ScalarType::Pred, cell, names)?;
        }
        Ok(())
    }

    fn cvt(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let [to, from] = i.operands.as_slice() else { return Err(FORM) };
        let types: Vec<ScalarType> =
            i.modifiers.iter().filter_map(|m| ScalarType::from_keyword(&m.text)).collect();
        let [into, of] = types[..] else { return Err(FORM) };
        let numbers = |ty: ScalarType| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned);
        if i.modifiers.len() != 2 || !numbers(into) || !numbers(of) {
            return Err(FORM);
        }
        let cell = match self.value(frame, from, of, names)? {
            Cell::Bits(bits) => Cell::Bits(mask(into, extended(of, bits))),
            _ => Cell::Unknown,
        };
        self.set(frame, to, into, cell, names)
    }

    fn arithmetic(&mut self, frame: &mut Frame<'m>, i: &'m Instruction, names: &Names) -> Ruled<()> {
        let ty = last_type(i)?;
        if !matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits) {
            return Err(FORM);
        }
        let known: &[&str] = match i.opcode.text.as_str() {
            "mul" | "mad" => &[".lo"],
            _ => &[],
        };
        let modifiers = &i.modifiers[..i.modifiers.len() - 1];
        if modifiers.len() != known.len() || !modifiers.iter().all(|m| known.contains(&m.text.as_str())) {
            return Err(FORM);
        }
        let Some((to, sources)) = i.operands.split_first() else { return Err(FORM) };
        let mut cells = Vec::new();
        for (nth, source) in sources.iter().enumerate() {
            let count = matches!(i.opcode.text.as_str(), "shl" | "shr") && nth == 1;
            cells.push(self.value(frame, source, if count { ScalarType::U32 } else { ty }, names)?);
        }
        let bits = 8 * ty.size().unwrap_or(8);
        let number = |f: &dyn Fn(u64, u64) -> u64, a: u64, b: u64| Cell::Bits(mask(ty, f(a, b)));
        let cell = match (i.opcode.text.as_str(), cells.as_slice()) {
            ("add", [Cell::Bits(a), Cell::Bits(b)]) => number(&u64::wrapping_add, *a, *b),
            ("add", [Cell::Pointer(p), Cell::Bits(b)] | [Cell::Bits(b), Cell::Pointer(p)]) => {
                let offset = p.offset.wrapping_add(sign_extended(ty, *b));
                Cell::Pointer(Pointer { offset, ..p.clone() })
            }
            ("sub", [Cell::Bits(a), Cell::Bits(b)]) => number(&u64::wrapping_sub, *a, *b),
            ("sub", [Cell::Pointer(p), Cell::Bits(b)]) => {
                let offset = p.offset.wrapping_sub(sign_extended(ty, *b));
                Cell::Pointer(Pointer { offset, ..p.clone() })
            }
            ("sub", [Cell::Pointer(p), Cell::Pointer(q)])
                if p.target == q.target && p.generic == q.generic =>
            {
                Cell::Bits(mask(ty, p.offset.wrapping_sub(q.offset) as u64))
            }
            ("mul", [Cell::Bits(a), Cell::Bits(b)]) => number(&u64::wrapping_mul, *a, *b),
            ("mad", [Cell::Bits(a), Cell::Bits(b), Cell::Bits(c)]) => {
                Cell::Bits(mask(ty, a.wrapping_mul(*b).wrapping_add(*c)))
            }
            ("and", [Cell::Bits(a), Cell::Bits(b)]) => number(&|a, b| a & b, *a, *b),
            ("or", [Cell::Bits(a), Cell::Bits(b)]) => number(&|a, b| a | b, *a, *b),
            ("xor", [Cell::Bits(a), Cell::Bits(b)]) => number(&|a, b| a ^ b, *a, *b),
            ("shl", [Cell::Bits(a), Cell::Bits(b)]) if *b < bits => number(&|a, b| a << b, *a, *b),
            ("shr", [Cell::Bits(a), Cell::Bits(b)]) if *b < bits => {
                let shifted = match ty.kind() {
                    TypeKind::Signed => (sign_extended(ty, *a) >> b) as u64,
                    _ => mask(ty, *a) >> b,
                };
                Cell::Bits(mask(ty, shifted))
            }
            ("add" | "sub" | "mul" | "mad" | "and" | "or" | "xor" | "shl" | "shr", _) => Cell::Unknown,
            _ => return Err(FORM),
        };
        self.set(frame, to, ty, cell, names)
    }

    /// A predicate operand: a register, its negation, or a constant (4.5.3). `None`: nobody knows.
    fn predicate(&mut self, frame: &Frame<'m>, operand: &Operand, names: &Names) -> Ruled<Option<bool>> {
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
            let Some(Meaning::Register(register)) = names.find(&name.text) else { return Err(FORM) };
            return Ok(match frame.registers[register.id][0] {
                Cell::Bits(bits) => Some((bits != 0) != negated),
                _ => None,
            });
        }
        self.reader.uses(Clause::PredicateConstant);
        self.reader.uses(Clause::ConstantAsOperand);
        match self.constant(&expr, ScalarType::U64)? {
            Cell::Bits(bits) => Ok(Some(bits != 0)),
            _ => Ok(None),
        }
    }

    fn constant(&mut self, expr: &ptxsmith_syntax::Expr, ty: ScalarType) -> Ruled<Cell> {
        let mut trace = Trace::default();
        let mut evaluator = Evaluator::new(self.reader.rules, self.reader.version);
        let stored = evaluator.store(expr, ty, &mut trace);
        // All that the value rests on, except that it stands in an initializer: it does not.
        trace.clauses = trace.clauses.iter().filter(|&c| c != Clause::ConstantInInitializer).collect();
        self.reader.trace = self.reader.trace.union(trace);
        self.reader.uses(Clause::ConstantAsOperand);
        match stored? {
            Stored::Bits(bits) => Ok(Cell::Bits(mask(ty, bits))),
            Stored::Address(..) => Err(FORM),
        }
    }

    /// The value of a scalar source operand.
    fn value(&mut self, frame: &Frame<'m>, operand: &Operand, ty: ScalarType, names: &Names) -> Ruled<Cell> {
        match operand {
            Operand::Value(expr) => match expr.as_name().map(|name| names.find(&name.text)) {
                Some(Some(Meaning::Register(register))) if register.lanes == 1 => {
                    Ok(frame.registers[register.id][0].clone())
                }
                Some(_) => Err(FORM),
                None => self.constant(expr, ty),
            },
            Operand::Component(name, suffix) => {
                let Some(Meaning::Register(register)) = names.find(&name.text) else { return Err(FORM) };
                let lane = self.reader.lane(register, suffix)?;
                Ok(frame.registers[register.id][lane].clone())
            }
            _ => Err(FORM),
        }
    }

    /// The values of a source operand of so many elements.
    fn values(
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
                match names.find(&expr.as_name().ok_or(FORM)?.text) {
                    Some(Meaning::Register(register)) if usize::from(register.lanes) == lanes => {
                        Ok(frame.registers[register.id].clone())
                    }
                    _ => Err(FORM),
                }
            }
            operand => self.value(frame, operand, ty, names).map(|cell| vec![cell]),
        }
    }

    /// Sets a scalar destination to a value of a type, extended to what the register holds.
    fn set(
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
                match names.find(&name.text) {
                    Some(Meaning::Register(register)) if register.lanes == 1 => (register, 0),
                    _ => return Err(FORM),
                }
            }
            Operand::Component(name, suffix) => {
                let Some(Meaning::Register(register)) = names.find(&name.text) else { return Err(FORM) };
                (register, self.reader.lane(register, suffix)?)
            }
            _ => return Err(FORM),
        };
        let cell = match cell {
            Cell::Bits(bits) => Cell::Bits(mask(register.ty, extended(ty, bits))),
            cell => cell,
        };
        if register.ty.size() < ty.size() {
            return Err(FORM);
        }
        frame.registers[register.id][lane] = cell;
        Ok(())
    }

    /// Sets a destination of several elements.
    fn set_all(
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
                match names.find(&expr.as_name().ok_or(FORM)?.text) {
                    Some(Meaning::Register(Register { id, lanes, ty: of }))
                        if usize::from(lanes) == cells.len() && of.size() >= ty.size() =>
                    {
                        let extend = |cell| match cell {
                            Cell::Bits(bits) => Cell::Bits(mask(of, extended(ty, bits))),
                            cell => cell,
                        };
                        frame.registers[id] = cells.into_iter().map(extend).collect();
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

/// The type of an instruction: the last of its modifiers.
fn last_type(i: &Instruction) -> Ruled<ScalarType> {
    i.modifiers.last().and_then(|m| ScalarType::from_keyword(&m.text)).ok_or(FORM)
}

/// The state space that an instruction names.
fn space_of(i: &Instruction) -> Option<StateSpace> {
    i.modifiers.iter().find_map(|m| StateSpace::from_keyword(&m.text))
}
