//! Executes one kernel on one thread. This file implements control flow: launch, branches and calls.

mod instructions;
mod meeting;
mod numbers;
mod phase;
mod places;
mod values;
mod warp;
mod words;

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{FunctionKind, Name, Opcode, Operand, ScalarType, StateSpace, Text};

use super::{
    WrittenScalar,
    form::InstructionForm,
    judged,
    memory::{
        Byte, InitialContents, MemoryObject, MemoryObjects, PointerTarget, RegisterCell, SymbolicPointer,
        VariableBytes, from_bytes, passed, to_bytes,
    },
    names::{
        DeclaratorId, Meaning, MemoryVariable, RegisterFile, ResolvedFunction, ResolvedModule,
        ScopedInstruction, VariableId, VisibleNames,
    },
    operand::OperandReader,
    typing::{TYPES, moves},
};
use crate::{
    clause::Clause,
    expectation,
    refusal::Stop,
    step::{Ruled, Trace},
    undecided::UNDECLARED,
};
pub(super) use meeting::has_meeting;
use meeting::is_meeting;
use numbers::{BRANCHES, Numbers, PREDICATES};
pub(super) use numbers::{NumericRun, RunConditions};
pub(super) use phase::{asks_lane, has_barrier};
pub(super) use warp::RACE;

/// The most instructions that one kernel may execute, so that every run ends.
const MOST_STEPS: u32 = 20_000;
/// The most instructions that one thread may execute over one input, because there are many inputs.
const MOST_STEPS_BY_INPUT: u32 = 4_000;
/// The most nested calls.
const MOST_CALLS: u32 = 32;
/// The size in bytes of the largest output buffer.
pub(super) const MOST_OUTPUT: usize = 1 << 14;

/// The index of the output buffer among the objects.
pub(super) const OUTPUT: usize = 0;

#[derive(Clone)]
pub(super) struct PtxMachine<'m, 'r> {
    pub program: &'m ResolvedModule<'m>,
    pub reader: OperandReader<'r>,
    pub objects: MemoryObjects,
    /// The objects of variables, created on first use.
    pub places: VariableObjects<'m>,
    /// The initial contents of variables at module scope.
    pub expected: Rc<BTreeMap<&'m str, &'m expectation::Variable>>,
    /// The index of the input buffer's object, if there is an input.
    pub input: Option<usize>,
    /// The writes to the output so far.
    pub written: Vec<WrittenScalar>,
    /// The trace of the instructions since the last write to the output; `None` if there were none.
    pub recent: Option<Trace>,
    pub steps: u32,
    /// The current depth of calls.
    pub calls: u32,
    /// The number of calls so far.
    pub called: u32,
    /// Whether registers may be wider than the type of the current instruction.
    pub wider: bool,
    /// The numbers of the run; `None` if addresses are symbolic.
    numbers: Option<Numbers<'m>>,
}

/// The owner of a variable. There is one instance of the variable per owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner<'m> {
    Module,
    /// A function: the owner of variables that outlast its calls.
    Function(&'m str),
    /// One call, by its number.
    Call(u32),
}

/// The objects of variables, by owner and number. Kernels share those of before they began.
#[derive(Clone, Default)]
pub(super) struct VariableObjects<'m> {
    shared: Rc<BTreeMap<(Owner<'m>, DeclaratorId), usize>>,
    own: BTreeMap<(Owner<'m>, DeclaratorId), usize>,
}

impl<'m> VariableObjects<'m> {
    fn get(&self, key: (Owner<'m>, DeclaratorId)) -> Option<usize> {
        self.own.get(&key).or_else(|| self.shared.get(&key)).copied()
    }

    /// Returns the objects of an owner.
    pub fn objects_of(&self, owner: Owner<'m>) -> impl Iterator<Item = usize> {
        let layers = [&self.own, &*self.shared];
        layers.into_iter().flat_map(move |places| {
            let from_owner = places.range((owner, (0, 0))..);
            from_owner.take_while(move |((other, _), _)| *other == owner).map(|(_, &object)| object)
        })
    }

    /// Returns the same places, all of them shared by later clones.
    pub fn share(self) -> VariableObjects<'m> {
        let mut shared = Rc::unwrap_or_clone(self.shared);
        shared.extend(self.own);
        VariableObjects { shared: Rc::new(shared), own: BTreeMap::new() }
    }
}

/// One call of a function.
struct CallFrame<'m> {
    body: &'m ResolvedFunction<'m>,
    call: u32,
    registers: RegisterFile<RegisterCell>,
    /// The carry or borrow, and whether a subtraction produced it; `None` if unknown.
    carry: Option<(bool, bool)>,
    /// The index of the next line, and whether the unparsed instructions before it were executed.
    at: usize,
    is_past: bool,
}

/// How a function stopped.
enum FunctionExit {
    Returned,
    Exited,
    /// At a barrier, or where the lanes meet; the frame goes on from there.
    Waits,
}

enum Flow {
    Next,
    /// To a line, past the unparsed instructions before it or not.
    Jump(usize, bool),
    /// The lanes of the warp meet on this instruction, which is executed once more when they have.
    Meet,
    Return,
    Exit,
}

const STEPS: Stop = Stop::Unmodelled(TOO_LONG);
/// Reason: a kernel does not end soon enough.
pub(super) const TOO_LONG: &str = "more instructions than are executed here";
const UNKNOWN: Stop = Stop::Unmodelled("what happens depends on a value that is not known");
const FORM: Stop = Stop::Unmodelled(judged::FORM);
const ABORTED: Stop = Stop::Unmodelled("a kernel that is aborted");
const OPERAND: Stop = Stop::Unmodelled(judged::OPERAND);
const OTHER_SPACE: Stop = Stop::Unmodelled("an address of another state space");
const NOT_GENERIC: Stop = Stop::Unmodelled("an offset in a state space taken for a generic address");
const PARAMETERS: Stop = Stop::Unmodelled("a kernel with other parameters than an output buffer");

/// Whether a run over numbers stopped for this reason because its behaviour is undefined.
pub(super) fn is_undefined(why: &str) -> bool {
    [UNKNOWN, numbers::UNALIGNED]
        .iter()
        .any(|stop| matches!(stop, Stop::Unmodelled(reason) if *reason == why))
}

impl<'m, 'r> PtxMachine<'m, 'r> {
    pub fn new(
        program: &'m ResolvedModule<'m>,
        reader: OperandReader<'r>,
        objects: MemoryObjects,
    ) -> PtxMachine<'m, 'r> {
        PtxMachine {
            program,
            reader,
            objects,
            places: VariableObjects::default(),
            expected: Rc::default(),
            input: None,
            written: Vec::new(),
            recent: None,
            steps: 0,
            calls: 0,
            called: 0,
            wider: false,
            numbers: None,
        }
    }

    /// Runs a kernel. Its parameters are the address of the output buffer, or the addresses of the input and the output
    /// buffer.
    pub fn kernel(&mut self, body: &'m ResolvedFunction<'m>) -> Ruled<()> {
        let buffers = match (body.parameters.len(), self.input) {
            (1, _) => vec![OUTPUT],
            (2, Some(input)) => vec![input, OUTPUT],
            _ => return Err(PARAMETERS),
        };
        if !body.parameters.iter().all(Meaning::is_pointer) {
            return Err(PARAMETERS);
        }
        let mut arguments = Vec::new();
        for buffer in buffers {
            let target = PointerTarget::Object(buffer);
            let pointer = SymbolicPointer { target, offset: 0, generic: false };
            arguments.push(to_bytes(&RegisterCell::Pointer(pointer), 8));
        }
        self.call(body, &arguments).map(|_| ())
    }

    /// Calls a function with the bytes of each argument. Returns the bytes of each result, or `None` if the thread
    /// exited.
    fn call(
        &mut self,
        body: &'m ResolvedFunction<'m>,
        arguments: &[Vec<Byte>],
    ) -> Ruled<Option<Vec<Vec<Byte>>>> {
        if let Some(reason) = body.unmodelled {
            return Err(Stop::Unmodelled(reason));
        }
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(Stop::Unmodelled("more calls at once than are modelled"));
        }
        self.called += 1;
        let mut frame = CallFrame::new(body, self.called);
        // The specification at hand does not say whether such variables keep their values from one call to the next.
        for object in self.places.objects_of(Owner::Function(body.name)) {
            self.objects[object].bytes.forget_written();
        }
        if arguments.len() != body.parameters.len() {
            return Err(FORM);
        }
        for (parameter, bytes) in body.parameters.iter().zip(arguments) {
            self.pass(&mut frame, parameter, bytes)?;
        }
        let ended = self.run(&mut frame)?;
        self.calls -= 1;
        if !matches!(ended, FunctionExit::Returned) {
            return Ok(None);
        }
        let results = body.results.iter().map(|result| match result {
            Meaning::Register(register) => {
                let size = register.ty.size().ok_or(FORM)? as usize;
                Ok(frame.registers.get(*register).iter().flat_map(|cell| to_bytes(cell, size)).collect())
            }
            Meaning::Variable(variable) => {
                let object = self.function_object(&frame, variable)?;
                self.objects[object].bytes.whole()
            }
            Meaning::Function(_) | Meaning::Label | Meaning::Alias => Err(FORM),
        });
        results.collect::<Ruled<_>>().map(Some)
    }

    fn pass(&mut self, frame: &mut CallFrame<'m>, to: &Meaning, bytes: &[Byte]) -> Ruled<()> {
        match to {
            Meaning::Register(register) => {
                let size = register.ty.size().ok_or(FORM)? as usize;
                if bytes.len() != size * usize::from(register.lanes) {
                    return Err(FORM);
                }
                frame.registers.set(*register, bytes.chunks(size).map(from_bytes).collect());
                Ok(())
            }
            Meaning::Variable(variable) => {
                let object = self.function_object(frame, variable)?;
                let object = &mut self.objects[object].bytes;
                if bytes.len() != object.len() {
                    return Err(FORM);
                }
                object.write(0, bytes.iter().cloned());
                Ok(())
            }
            Meaning::Function(_) | Meaning::Label | Meaning::Alias => Err(FORM),
        }
    }

    /// Returns the object of a variable that the called function declares.
    fn function_object(&mut self, frame: &CallFrame<'m>, variable: &MemoryVariable) -> Ruled<usize> {
        match variable.place {
            VariableId::Function(_) => self.object(frame, variable),
            VariableId::Module(_) => Err(FORM),
        }
    }

    /// Returns the object of a variable in this call.
    fn object(&mut self, frame: &CallFrame<'m>, variable: &MemoryVariable) -> Ruled<usize> {
        let outlasts = matches!(variable.space, StateSpace::Global | StateSpace::Const);
        let (owner, which) = match variable.place {
            VariableId::Module(which) => return Ok(self.module_object(variable, which)),
            VariableId::Function(which) if outlasts => (Owner::Function(frame.body.name), which),
            VariableId::Function(which) => (Owner::Call(frame.call), which),
        };
        if let Some(object) = self.places.get((owner, which)) {
            return Ok(object);
        }
        let size = variable.size.ok_or(Stop::Unmodelled("a variable of unknown size"))?;
        let mut bytes = VariableBytes::new(size as usize, InitialContents::Unknown);
        if let Some(initial) = &variable.initial {
            bytes = VariableBytes::new(
                size as usize,
                InitialContents::Initialized(initial.bytes.as_slice().into()),
            );
            for address in &initial.addresses {
                // The symbol would have to be resolved in the function, so its bytes stay unknown.
                bytes.write(address.offset as usize, (0..address.width).map(|_| Byte::Unknown));
            }
        }
        Ok(self.add_object(owner, which, MemoryObject { bytes, ..empty_object(variable) }))
    }

    /// Returns the object of a variable at module scope.
    pub fn module_object(&mut self, variable: &MemoryVariable, which: DeclaratorId) -> usize {
        if let Some(object) = self.places.get((Owner::Module, which)) {
            return object;
        }
        let bytes = match self.expected.get(variable.name.as_str()) {
            Some(expected) => VariableBytes::new(
                expected.bytes.len(),
                InitialContents::Initialized(expected.bytes.as_slice().into()),
            ),
            None => VariableBytes::new(variable.size.unwrap_or(0) as usize, InitialContents::Unknown),
        };
        self.add_object(Owner::Module, which, MemoryObject { bytes, ..empty_object(variable) })
    }

    fn add_object(&mut self, owner: Owner<'m>, which: DeclaratorId, object: MemoryObject) -> usize {
        let index = self.objects.push(object);
        self.places.own.insert((owner, which), index);
        index
    }

    /// Runs to the end of the function, or to a barrier.
    fn run(&mut self, frame: &mut CallFrame<'m>) -> Ruled<FunctionExit> {
        let by_input = self.numbers.as_ref().is_some_and(|numbers| !numbers.is_straight());
        let most = if by_input { MOST_STEPS_BY_INPUT } else { MOST_STEPS };
        loop {
            if !frame.is_past {
                frame.is_past = true;
                if self.run_unparsed(frame, frame.at)? {
                    return Ok(FunctionExit::Waits);
                }
            }
            let Some(line) = frame.body.lines.get(frame.at) else { return Ok(FunctionExit::Returned) };
            self.steps += 1;
            if self.steps > most {
                return Err(STEPS);
            }
            let ScopedInstruction { instruction, form, names } = line;
            if let Some(guard) = &instruction.guard {
                if self.numbers.as_ref().is_some_and(Numbers::is_straight) {
                    return Err(PREDICATES);
                }
                let Some(Meaning::Register(register)) = names.find(&guard.predicate.text, self.reader.rules)
                else {
                    return Err(FORM);
                };
                self.fits(register, ScalarType::Pred)?;
                match frame.registers.get(register)[0] {
                    RegisterCell::Bits(bits) if (bits != 0) != guard.negated => {}
                    RegisterCell::Bits(_) => {
                        frame.at += 1;
                        frame.is_past = false;
                        continue;
                    }
                    _ => return Err(UNKNOWN),
                }
            }
            let before = std::mem::take(&mut self.reader.trace);
            let writes = self.written.len();
            let flow = self.step(frame, form, names);
            let instruction_trace = self.reader.trace;
            // Loading the address of the output buffer at the start is no evidence about operands.
            let loads_output_address = self.written.is_empty() && form.space == Some(StateSpace::Param);
            if self.written.len() > writes {
                self.recent = None;
            } else if !loads_output_address {
                self.recent = Some(self.recent.unwrap_or_default().union(instruction_trace));
            }
            self.reader.trace = before.union(instruction_trace);
            match flow.map_err(|stop| self.reason(stop, frame.body, line))? {
                Flow::Next => (frame.at, frame.is_past) = (frame.at + 1, false),
                Flow::Jump(to, is_past) => (frame.at, frame.is_past) = (to, is_past),
                Flow::Meet => return Ok(FunctionExit::Waits),
                Flow::Return => return Ok(FunctionExit::Returned),
                Flow::Exit => return Ok(FunctionExit::Exited),
            }
        }
    }

    /// Returns the reason to report for a stopped kernel. If the form is not modelled, it is the more precise reason
    /// why the instruction is not judged.
    fn reason(&self, stop: Stop, body: &ResolvedFunction<'m>, line: &ScopedInstruction<'m>) -> Stop {
        match stop {
            Stop::Unmodelled(judged::FORM | judged::OPERAND | TYPES | UNDECLARED)
                if line.instruction.opcode != Opcode::Call =>
            {
                let rules = self.reader.rules;
                let reason = judged::undecided(line, self.program, body, rules);
                reason.map_or(stop, Stop::Unmodelled)
            }
            stop => stop,
        }
    }

    /// Returns the trace of a scalar written to the output now, from a source with this trace.
    fn since_last_output(&self, source: Trace) -> Trace {
        match (self.recent, self.written.last()) {
            (Some(recent), _) => recent.union(source),
            // Several scalars written together share a trace.
            (None, Some(last)) => last.trace.union(source),
            (None, None) => source,
        }
    }

    fn step(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<Flow> {
        self.wider = moves(form.opcode);
        if let Some(numbers) = &self.numbers
            && (matches!(form.opcode, Opcode::Brx | Opcode::Call)
                || form.opcode == Opcode::Bra && numbers.is_straight())
        {
            return Err(BRANCHES);
        }
        match form.opcode {
            Opcode::Ret => return Ok(Flow::Return),
            Opcode::Exit => return Ok(Flow::Exit),
            Opcode::Trap | Opcode::Brkpt => return Err(ABORTED),
            Opcode::Bra => {
                let [Operand::Value(label)] = form.operands else { return Err(FORM) };
                self.reader.uses(Clause::LabelOperand);
                return self.jump(frame, &label.as_name().ok_or(FORM)?);
            }
            Opcode::Brx => return self.branch_by_index(frame, form, names),
            Opcode::Call => return self.call_instruction(frame, form, names),
            opcode if is_meeting(opcode) && !self.numbers.as_ref().is_some_and(Numbers::is_straight) => {
                return self.meet(frame, form, names);
            }
            _ => {}
        }
        match (self.execute(frame, form, names), form.operands.first()) {
            // In a run over numbers, the destination becomes unknown and the run continues.
            (Err(stop), Some(to))
                if self.numbers.as_ref().is_some_and(|numbers| numbers.continues_after(&stop)) =>
            {
                self.forget(frame, to, names);
            }
            (executed, _) => executed?,
        }
        Ok(Flow::Next)
    }

    fn jump(&self, frame: &CallFrame<'m>, name: &Name) -> Ruled<Flow> {
        let name = name.text.as_str();
        let at = frame.body.labels.get(name).copied().ok_or(FORM)?;
        Ok(Flow::Jump(at, frame.body.behind.contains(name)))
    }

    fn branch_by_index(
        &mut self,
        frame: &CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<Flow> {
        let [index, Operand::Value(table)] = form.operands else { return Err(FORM) };
        let table = table.as_name().ok_or(FORM)?;
        let targets = *frame.body.tables.get(table.text.as_str()).ok_or(FORM)?;
        self.reader.uses(Clause::LabelOperand);
        let RegisterCell::Bits(index) = self.value(frame, index, ScalarType::U32, names)? else {
            return Err(UNKNOWN);
        };
        let target = targets.get(index as usize).ok_or(Stop::Unmodelled("an index behind a branch table"))?;
        self.jump(frame, target)
    }

    fn call_instruction(
        &mut self,
        frame: &mut CallFrame<'m>,
        form: &InstructionForm<'m>,
        names: &VisibleNames,
    ) -> Ruled<Flow> {
        let none: &[Operand] = &[];
        let (results, rest) = match form.operands.split_first() {
            Some((Operand::List(results), rest)) => (results.as_slice(), rest),
            _ => (none, form.operands),
        };
        let Some((Operand::Value(callee), rest)) = rest.split_first() else { return Err(FORM) };
        let arguments = match rest.first() {
            Some(Operand::List(arguments)) => arguments.as_slice(),
            _ => none,
        };
        let callee = callee.as_name().ok_or(FORM)?;
        let name: Text = match names.find(&callee.text, self.reader.rules) {
            Some(Meaning::Function(_)) => callee.text,
            Some(Meaning::Register(register)) => match &frame.registers.get(register)[0] {
                RegisterCell::Pointer(SymbolicPointer {
                    target: PointerTarget::Function(name),
                    offset: 0,
                    ..
                }) => name.clone(),
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
            let to = names.find(&expr.as_name().ok_or(FORM)?.text, self.reader.rules).ok_or(FORM)?;
            self.pass(frame, &to, &bytes)?;
        }
        Ok(Flow::Next)
    }

    fn argument(
        &mut self,
        frame: &CallFrame<'m>,
        argument: &Operand,
        parameter: &Meaning,
        names: &VisibleNames,
    ) -> Ruled<Vec<Byte>> {
        if let Operand::Value(expr) = argument
            && let Some(name) = expr.as_name()
        {
            match names.find(&name.text, self.reader.rules) {
                Some(Meaning::Variable(variable)) => {
                    let object = self.function_object(frame, &variable)?;
                    return self.objects[object].bytes.whole();
                }
                Some(Meaning::Register(register)) => {
                    let size = register.ty.size().ok_or(FORM)? as usize;
                    if register.lanes > 1 {
                        self.reader.uses(Clause::VectorOperand);
                    }
                    let cells = frame.registers.get(register).iter();
                    return Ok(cells.flat_map(|cell| to_bytes(cell, size)).collect());
                }
                _ => return Err(FORM),
            }
        }
        let (ty, size) = match parameter {
            Meaning::Register(register) => (register.ty, register.ty.size()),
            Meaning::Variable(variable) => (variable.shape.scalar, variable.size),
            Meaning::Function(_) | Meaning::Label | Meaning::Alias => return Err(FORM),
        };
        let cell = self.value(frame, argument, ty, names)?;
        Ok(to_bytes(&cell, passed(size.ok_or(FORM)? as usize)?))
    }
}

/// Returns an empty object for a variable, with unknown contents.
fn empty_object(variable: &MemoryVariable) -> MemoryObject {
    let MemoryVariable { name, space, align, .. } = variable;
    MemoryObject {
        name: name.clone(),
        space: *space,
        align: *align,
        bytes: VariableBytes::new(0, InitialContents::Unknown),
    }
}
