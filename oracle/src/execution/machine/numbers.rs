//! Runs a kernel over concrete numbers: places of variables, contents of memory, and the accesses of the kernel.

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{NodeKind, Operand, Role, ScalarType, Span, StateSpace};

use super::super::{
    NOT_MODELLED, inputs, judged,
    memory::{Byte, MemoryObjects, RegisterCell},
    names::{
        DeclaratorId, Meaning, MemoryVariable, ResolvedFunction, ResolvedModule, ScopedTokens, VariableId,
        VisibleNames,
    },
    operand::OperandReader,
    setting::{
        AccessKind, LocalLayout, MemoryAccess, MemoryEffects, PARAMETER, Setting, VariableAllocator,
        VariablePlacement, WINDOW_SIZE, WINDOWS, distance, parameter_bytes, pointer, specials, word,
    },
};
use super::meeting::ExchangeState;
use super::phase::{Pause, Phase, SharedBytes, is_shared, pause};
use super::{CallFrame, NOT_GENERIC, OTHER_SPACE, PtxMachine, UNKNOWN};
use crate::{
    expectation,
    refusal::Stop,
    step::{Ruled, Trace},
    value::low_bits,
};

pub(super) const VALUE: Stop = Stop::Unmodelled("an address that depends on a value that is not known");
pub(super) const UNALIGNED: Stop =
    Stop::Unmodelled("an access that is not aligned with the numbers that were tried");
pub(super) const PREDICATES: Stop = Stop::Unmodelled("a kernel with predicates");
pub(super) const BRANCHES: Stop = Stop::Unmodelled("a kernel with branches or calls");

/// The memory that a kernel reaches over numbers, and the traces of its operands and of its constants; or why the run
/// stopped.
pub(in super::super) type NumericRun = Result<(MemoryEffects, [Trace; 2]), &'static str>;

/// The conditions of a run over numbers.
#[derive(Clone, Copy)]
pub(in super::super) struct RunConditions {
    pub layout: LocalLayout,
    /// Whether to follow accesses that the specification leaves undefined.
    pub anywhere: bool,
    /// The number of the input, if values are compared.
    pub input: Option<u64>,
    /// Whether memory is displaced and the special registers differ, as on another thread.
    pub elsewhere: bool,
}

/// The numbers that a kernel runs over, and the memory that it reaches.
#[derive(Clone)]
pub(in super::super) struct Numbers<'m> {
    /// The places of the variables: of the module, then of the function. `None` if there was no room.
    module: Vec<Option<VariablePlacement>>,
    function: Vec<Option<VariablePlacement>>,
    /// The index of each parameter, by its place in the function.
    parameters: BTreeMap<DeclaratorId, usize>,
    /// The initial contents of variables.
    initial: Vec<(VariablePlacement, &'m expectation::Variable)>,
    pub(super) reached: MemoryEffects,
    /// On a lane of a warp, what all lanes wrote before the last barrier. `reached` has what this lane wrote since.
    pub(super) common: Rc<SharedBytes>,
    /// The accesses since the last barrier, on a lane of a warp.
    pub(super) phase: Option<Box<Phase>>,
    /// The values of the lane for the instruction on which the lanes of the warp meet.
    pub(super) meeting: ExchangeState,
    /// The number of the lane.
    pub(super) lane: u32,
    /// Whether the kernel wrote to an unknown place.
    scattered: bool,
    /// Whether to follow accesses that the specification leaves undefined.
    anywhere: bool,
    /// The number of the input, if values are compared; `None` if only places are compared, which requires
    /// straight-line code.
    input: Option<u64>,
    elsewhere: bool,
    /// The trace of the constants.
    pub(super) values: Trace,
}

impl<'m> Numbers<'m> {
    fn new(
        program: &'m ResolvedModule<'m>,
        body: &'m ResolvedFunction<'m>,
        variables: &'m [expectation::Variable],
        RunConditions { layout, anywhere, input, elsewhere }: RunConditions,
    ) -> Result<Numbers<'m>, &'static str> {
        let mut setting = Setting { specials: specials(body.directives), ..Setting::default() };
        if elsewhere {
            setting.specials.values_mut().for_each(|value| *value = value.wrapping_add(1));
        }
        let mut free = VariableAllocator::new(layout, elsewhere);
        let module: Vec<_> = program.variables.iter().map(|variable| free.place(variable)).collect();
        let function: Vec<_> = body.variables.iter().map(|variable| free.place(variable)).collect();
        // Generated code distinguishes a variable of the function from one of the module, but not two variables of the
        // function.
        if repeats(&program.variables) || repeats(&body.variables) {
            return Err("variables of one name in different scopes");
        }
        setting.variables = module.iter().chain(&function).flatten().cloned().collect();
        let mut parameters = BTreeMap::new();
        for parameter in &body.parameters {
            let Meaning::Variable(variable) = parameter else { return Err("a parameter in a register") };
            let (VariableId::Function(at), Some(size)) = (variable.place, variable.size) else {
                return Err(judged::FORM);
            };
            if size > 1 << 15 {
                return Err("more parameters than a kernel takes");
            }
            let nth = parameters.len();
            parameters.insert(at, nth);
            let bytes = match input {
                Some(input) if size != 8 => inputs::parameter(input, nth as u64, size),
                _ if elsewhere && size == 8 => displaced_pointer(nth as u64),
                _ => parameter_bytes(nth as u64, size),
            };
            setting.parameters.push((variable.align, bytes));
        }
        let by_name: BTreeMap<&str, &expectation::Variable> =
            variables.iter().map(|variable| (variable.name.as_str(), variable)).collect();
        let of_function = body
            .variables
            .iter()
            .zip(&function)
            .filter_map(|(variable, place)| Some((place.clone()?, &**variable.initial.as_ref()?)));
        let of_module = program.variables.iter().zip(&module).filter_map(|(variable, place)| {
            // All variables of a parameterized name have the same contents.
            let first = variable.count.map(|_| format!("{}0", variable.name));
            let name = first.as_deref().unwrap_or(&variable.name);
            Some((place.clone()?, *by_name.get(name)?))
        });
        let initial = of_module.chain(of_function).collect();
        let reached = MemoryEffects { setting, ..MemoryEffects::default() };
        Ok(Numbers {
            module,
            function,
            parameters,
            initial,
            reached,
            common: Rc::default(),
            phase: None,
            meeting: ExchangeState::None,
            lane: 0,
            scattered: false,
            anywhere,
            input,
            elsewhere,
            values: Trace::default(),
        })
    }

    /// Whether only code without predicates and branches is followed.
    pub(super) fn is_straight(&self) -> bool {
        self.input.is_none()
    }

    /// Whether an instruction that stops for this reason only makes its destination unknown, so that the run continues.
    pub(super) fn continues_after(&self, stop: &Stop) -> bool {
        match self.input {
            None => *stop != UNALIGNED,
            Some(_) => *stop == UNKNOWN,
        }
    }

    /// Returns a word of the input's memory. On a warp every other input has small words, because they bound loops.
    fn input_word(&self, input: u64, place: u64) -> u32 {
        let is_small = self.phase.is_some() && input % 8 == 2;
        inputs::word(input, place) & if is_small { 0xf } else { u32::MAX }
    }

    pub(super) fn place_of(&self, variable: &MemoryVariable) -> Option<u64> {
        match variable.place {
            VariableId::Module((at, nth)) => self.module.get(at)?.as_ref()?.nth(nth),
            VariableId::Function(at) if variable.space == StateSpace::Param => {
                self.parameters.get(&at).map(|&nth| nth as u64 * PARAMETER)
            }
            VariableId::Function((at, nth)) => self.function.get(at)?.as_ref()?.nth(nth),
        }
    }

    pub(super) fn special(&self, name: &str, suffix: &str) -> Option<u64> {
        let name = format!("{}{suffix}", name.strip_prefix('%')?);
        let Setting { specials, lanes, .. } = &self.reached.setting;
        let of_lane = lanes.get(self.lane as usize).and_then(|lane| lane.get(name.as_str()));
        of_lane.or_else(|| specials.get(name.as_str())).copied().map(u64::from)
    }

    /// Adds an offset to an address in a register.
    pub(super) fn sum(&self, ty: ScalarType, base: u64, offset: i64) -> Ruled<u64> {
        let base = low_bits(ty, base);
        // 6.4.1 does not say whether an address is extended before an offset is added.
        let sum = base.wrapping_add(offset as u64);
        if !self.anywhere && low_bits(ty, sum) != sum {
            return Err(Stop::Unmodelled("a sum that the register of an address does not hold"));
        }
        Ok(sum)
    }

    /// Converts between an address in a state space and a generic address. `to_space` gives the direction; `None` if
    /// the space has no generic addresses.
    pub(super) fn converted(space: StateSpace, to_space: bool, at: u64) -> Option<u64> {
        match WINDOWS.iter().find(|(windowed, _)| *windowed == space) {
            Some((_, start)) if to_space => Some(at.wrapping_sub(*start)),
            Some((_, start)) => Some(at.wrapping_add(*start)),
            None => (space == StateSpace::Global).then_some(at),
        }
    }

    /// Returns the state space and place that an accessed address refers to. `named` is the state space of the
    /// variable, if the address names one.
    pub(super) fn place(
        &self,
        space: Option<StateSpace>,
        named: Option<StateSpace>,
        at: u64,
    ) -> Ruled<(StateSpace, u64)> {
        let (space, at) = match (space, named) {
            (Some(space), Some(named)) if space != named => return Err(OTHER_SPACE),
            (Some(space), _) => (space, at),
            (None, Some(StateSpace::Param)) => return Err(NOT_GENERIC),
            // 6.4.1.1: a named variable lies in the window of its state space.
            (None, Some(named)) => (named, at),
            (None, None) => {
                let mut windows = WINDOWS.iter();
                let window = windows.find(|(_, start)| (*start..start + WINDOW_SIZE).contains(&at));
                window.map_or((StateSpace::Global, at), |&(space, start)| (space, at - start))
            }
        };
        // Neither the memory outside of variables nor the significant bits of such an address are specified.
        let small = !self.anywhere && !matches!(space, StateSpace::Global | StateSpace::Param);
        let mut variables = self.reached.setting.variables.iter();
        if small && !variables.any(|variable| variable.space == space && variable.holds(at).is_some()) {
            return Err(Stop::Unmodelled("an address outside of the variables of its state space"));
        }
        Ok((space, at))
    }

    pub(super) fn reach(&mut self, access: MemoryAccess) {
        if access.place.is_err() && access.way != AccessKind::Read {
            self.scattered = true;
        }
        self.reached.accesses.push(access);
    }

    pub(super) fn read(&mut self, (space, at): (StateSpace, u64), width: usize) -> Vec<Byte> {
        if let Some(phase) = &mut self.phase {
            phase.reads((space, at), width);
        }
        let bytes = (0..width as u64).map(|nth| self.byte(space, at + nth));
        bytes.map(|byte| byte.map_or(Byte::Unknown, Byte::Known)).collect()
    }

    pub(super) fn is_written(&self, (space, at): (StateSpace, u64), width: usize) -> bool {
        let places = (space, at)..(space, at.saturating_add(width as u64));
        self.reached.written.range(places.clone()).next().is_some()
            || self.common.range(places).next().is_some()
    }

    /// Writes the bytes of the last recorded access.
    pub(super) fn write(&mut self, (space, at): (StateSpace, u64), bytes: &[Byte]) {
        let mut idle = true;
        if let Some(phase) = &mut self.phase {
            phase.writes((space, at), bytes.len());
        }
        for (at, byte) in (at..).zip(bytes) {
            let byte = if let Byte::Known(byte) = byte { Some(*byte) } else { None };
            idle = idle && byte.is_some() && self.byte(space, at) == byte;
            self.reached.written.insert((space, at), byte);
        }
        if let Some(access) = self.reached.accesses.last_mut().filter(|_| space != StateSpace::Param) {
            access.idle = idle;
        }
    }

    /// Returns a byte of memory: the byte written, the initial contents of a variable, or an invented number for the
    /// place.
    fn byte(&mut self, space: StateSpace, at: u64) -> Option<u8> {
        if space == StateSpace::Param {
            let (_, bytes) = self.reached.setting.parameters.get((at / PARAMETER) as usize)?;
            return bytes.get((at % PARAMETER) as usize).copied();
        }
        if self.scattered {
            return None;
        }
        let written = self.reached.written.get(&(space, at));
        if let Some(&byte) = written.or_else(|| self.common.get(&(space, at))) {
            return byte;
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
            (None, StateSpace::Global | StateSpace::Shared) => {
                let usual = if self.elsewhere { self.reached.setting.usual(space, at) } else { at };
                let word =
                    self.input.map_or_else(|| word(usual / 4), |input| self.input_word(input, usual / 4));
                (word >> (8 * (at % 4))) as u8
            }
            _ => return None,
        };
        self.reached.setting.memory.insert((space, at), byte);
        Some(byte)
    }
}

impl<'m, 'r> PtxMachine<'m, 'r> {
    /// Runs a kernel over numbers. Returns the memory that it reaches, and the traces of its operands and of its
    /// constants.
    pub fn over_numbers(
        program: &'m ResolvedModule<'m>,
        body: &'m ResolvedFunction<'m>,
        reader: OperandReader<'r>,
        variables: &'m [expectation::Variable],
        how: RunConditions,
    ) -> NumericRun {
        let mut machine = PtxMachine::prepared(program, body, reader, variables, how)?;
        machine.run(&mut CallFrame::new(body, 0)).map_err(reason_of)?;
        let Some(Numbers { reached, values, .. }) = machine.numbers else { return Err(judged::FORM) };
        Ok((reached, [machine.reader.trace, values]))
    }

    /// Returns a machine before the first instruction of a kernel, over numbers.
    pub(super) fn prepared(
        program: &'m ResolvedModule<'m>,
        body: &'m ResolvedFunction<'m>,
        reader: OperandReader<'r>,
        variables: &'m [expectation::Variable],
        how: RunConditions,
    ) -> Result<PtxMachine<'m, 'r>, &'static str> {
        let numbers = Numbers::new(program, body, variables, how)?;
        if body.unread {
            return Err("a kernel with a statement that is not understood");
        }
        let mut kept = body.kept.values().flatten();
        if how.input.is_some() && (body.is_mixed || kept.any(|kept| pause(kept).is_none())) {
            return Err(NOT_MODELLED);
        }
        let mut machine = PtxMachine::new(program, reader, MemoryObjects::new(Rc::new([])));
        machine.numbers = Some(numbers);
        Ok(machine)
    }

    /// Records an access and returns its place; `None` if the place is unknown.
    pub(super) fn reached(
        &mut self,
        (span, way): (Span, AccessKind),
        width: u64,
        place: Ruled<(StateSpace, u64)>,
    ) -> Ruled<Option<(StateSpace, u64)>> {
        let Some(numbers) = &mut self.numbers else { return Ok(None) };
        if let Ok((_, at)) = place
            && !numbers.anywhere
            && !at.is_multiple_of(width.max(1))
        {
            return Err(UNALIGNED);
        }
        if !matches!(place, Ok((StateSpace::Param, _))) {
            let lane = numbers.lane;
            numbers.reach(MemoryAccess {
                span,
                way,
                width,
                place: place.clone().map_err(reason_of),
                idle: false,
                lane,
            });
        }
        Ok(place.ok())
    }

    /// Executes the unparsed instructions before a line. Returns whether a barrier is among them.
    pub(super) fn run_unparsed(&mut self, frame: &mut CallFrame<'m>, at: usize) -> Ruled<bool> {
        let Some(numbers) = &self.numbers else { return Ok(false) };
        let Some(kept) = frame.body.kept.get(&at) else { return Ok(false) };
        if numbers.is_straight() {
            kept.iter().try_for_each(|kept| self.run_unparsed_instruction(frame, kept))?;
            return Ok(false);
        }
        Ok(kept.iter().any(|kept| pause(kept) == Some(Pause::Barrier)))
    }

    fn run_unparsed_instruction(&mut self, frame: &mut CallFrame<'m>, kept: &ScopedTokens<'m>) -> Ruled<()> {
        let texts: Vec<&str> = kept.tokens.iter().map(|token| token.text.as_str()).collect();
        let Some(&first) = texts.first() else { return Ok(()) };
        if first.starts_with('.') || first == ";" {
            return Ok(());
        }
        let opcode = first.split('.').next().unwrap_or(first);
        match opcode {
            "@" => return Err(PREDICATES),
            "call" | "bra" | "brx" => return Err(BRANCHES),
            _ => {}
        }
        let mut depth = 0;
        // The operands before the first comma outside of brackets are destinations, including both of `p|q` and all of
        // `{a, b}`.
        for text in &texts[1..] {
            match *text {
                "[" | "{" | "(" => depth += 1,
                "]" | "}" | ")" => depth -= 1,
                "," if depth == 0 => break,
                name => self.forget_name(frame, name, &kept.names),
            }
        }
        if !texts.contains(&"[") {
            return Ok(());
        }
        let way = match opcode {
            "ld" | "ldu" | "ldmatrix" | "tex" | "tld4" | "suld" | "prefetch" | "prefetchu" => {
                AccessKind::Read
            }
            "st" | "sust" => AccessKind::Write,
            _ => AccessKind::Both,
        };
        let Some(numbers) = &mut self.numbers else { return Ok(()) };
        let place = Err(judged::FORM);
        numbers.reach(MemoryAccess { span: kept.tokens[0].span, way, width: 0, place, idle: false, lane: 0 });
        Ok(())
    }

    fn forget_name(&mut self, frame: &mut CallFrame<'m>, name: &str, names: &VisibleNames) {
        if let Some(Meaning::Register(register)) = names.find(name, self.reader.rules) {
            frame.registers.get_mut(register).fill(RegisterCell::Unknown);
        }
    }

    /// Makes the destination of an unmodelled instruction unknown.
    pub(super) fn forget(&mut self, frame: &mut CallFrame<'m>, operand: &Operand, names: &VisibleNames) {
        match operand {
            Operand::Value(expr) => {
                for node in expr.nodes() {
                    if let NodeKind::Name(name) = &node.kind {
                        self.forget_name(frame, name, names);
                    }
                }
            }
            Operand::Component(name, _) => self.forget_name(frame, &name.text, names),
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| self.forget(frame, part, names));
            }
            Operand::Address(_) | Operand::Element(..) => {}
        }
    }
}

/// Returns the bytes of the parameter `nth`, an address, in a run with displaced memory.
fn displaced_pointer(nth: u64) -> Vec<u8> {
    (pointer(nth) + distance(Some(nth))).to_le_bytes().to_vec()
}

/// Whether two of these variables outside of `.local` and `.param` have the same name.
fn repeats(variables: &[Rc<MemoryVariable>]) -> bool {
    let mut names = ptxsmith_syntax::Names::default();
    let mut placed = variables.iter().filter(|variable| is_shared(variable.space));
    placed.any(|variable| {
        let role = variable.count.map_or(Role::Variable, Role::Prefix);
        let repeated = names.declares(&variable.name, role);
        names.declare_by_role(&variable.name, role, ());
        repeated
    })
}

pub(super) fn reason_of(stop: Stop) -> &'static str {
    match stop {
        Stop::Unmodelled(reason) => reason,
        Stop::Refused(_) => "an address that is refused",
    }
}
