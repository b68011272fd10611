//! Predicts the contents of the output buffers of kernels (6.4).
//!
//! [`execute`] runs every kernel with one parameter, the address of an output buffer, on one thread, over a memory of
//! the declared variables. Addresses stay symbolic, because the specification does not say where a variable lies. Only
//! the few instructions that show operands are executed. An unknown instruction, a behaviour that the specification
//! leaves undefined, or a dependence on the place of a variable leads to [`KernelOutcome::Unmodelled`] or to unknown bytes.

pub(crate) mod accesses;
pub(crate) mod computed;
mod form;
mod inputs;
pub(crate) mod instructions;
mod integers;
mod judged;
mod machine;
mod memory;
mod names;
mod operand;
pub(crate) mod setting;
mod typing;
mod video;

use std::rc::Rc;

use ptxsmith_syntax::{FunctionKind, Module, Span, StateSpace, Text};

use crate::{
    expectation::{self, Address},
    refusal::{Refusal, RefusalClass, Stop},
    rules::Rules,
    step::Trace,
};
use machine::{MOST_OUTPUT, OUTPUT, PtxMachine};
use memory::{
    Byte, InitialContents, MemoryObject, MemoryObjects, PointerTarget, SymbolicPointer, VariableBytes,
};

/// The prediction for one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name of the kernel.
    pub name: Text,
    /// Its output.
    pub outcome: KernelOutcome,
    /// The clauses and questions that the answer rests on.
    pub trace: Trace,
}

/// The output of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelOutcome {
    /// The contents of the output buffer.
    Output(Output),
    /// The reason why this kernel has no prediction: it does something that no rule covers or that the
    /// specification leaves undefined, or exceeds a limit. Other kernels are still predicted.
    Unmodelled(&'static str),
}

/// The contents of an output buffer that was zero before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// All bytes up to the last one written; zero where an address goes and where the byte is unknown.
    pub bytes: Vec<u8>,
    /// Whether each byte is known; the bytes of an address count as known.
    pub known: Vec<bool>,
    /// The addresses of variables and functions, sorted by offset.
    pub addresses: Vec<Address>,
    /// Each scalar that was written, sorted by offset and width; if one was written more than once, the last write.
    pub slots: Vec<WrittenScalar>,
}

impl Output {
    /// Converts the output for reports. In `seen`, each known byte is `ff`.
    pub(crate) fn answer(&self) -> ptxsmith_model::Output {
        ptxsmith_model::Output {
            size: self.bytes.len() as u64,
            bytes: Some(self.bytes.clone()),
            seen: Some(self.known.iter().map(|&known| if known { 0xff } else { 0 }).collect()),
            addresses: self.addresses.iter().map(Address::answer).collect(),
            reason: None,
        }
    }
}

/// A scalar that a kernel writes to its output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenScalar {
    /// The byte offset in the buffer.
    pub offset: usize,
    /// Its size in bytes.
    pub width: usize,
    /// The trace of the instructions since the previous write to the output: an approximation by instruction order.
    pub trace: Trace,
}

/// Runs the kernels of a module that [`expect`](crate::expect) accepts, in the order of their names.
///
/// `variables` are the variables of that expectation. A kernel is unmodelled unless it has exactly one parameter, of
/// eight bytes.
pub fn execute(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Kernel> {
    execute_over(module, variables, rules, None)
}

/// Like [`execute`], but kernels may have another parameter before the output: the address of a buffer with this input.
pub(crate) fn execute_over(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    input: Option<&[u8]>,
) -> Vec<Kernel> {
    if !module.functions().any(|function| function.kind == FunctionKind::Entry && function.body.is_some()) {
        return Vec::new();
    }
    let program = names::read(module, rules);
    let output_buffer = MemoryObject {
        name: Text::const_new(""),
        space: StateSpace::Global,
        align: 256,
        bytes: VariableBytes::new(MOST_OUTPUT, InitialContents::Zero),
    };
    let reader = operand::OperandReader::new(rules, program.version);
    let mut first = PtxMachine::new(&program, reader, MemoryObjects::new(Rc::new([output_buffer])));
    first.expected = Rc::new(variables.iter().map(|variable| (variable.name.as_str(), variable)).collect());
    first.fill(variables);
    first.input = input.map(|bytes| {
        first.objects.push(MemoryObject {
            name: Text::const_new("[input]"),
            space: StateSpace::Global,
            align: 256,
            bytes: VariableBytes::new(bytes.len(), InitialContents::Initialized(bytes.into())),
        })
    });
    first.objects = first.objects.share();
    first.places = first.places.share();
    let kernels = program.functions.iter().filter(|(_, body)| body.kind == FunctionKind::Entry);
    kernels
        .map(|(&name, body)| {
            // Every kernel starts with the module's initial memory.
            let mut machine = first.clone();
            let ended = machine.kernel(body);
            let outcome = match ended {
                Ok(()) => KernelOutcome::Output(output(&machine)),
                Err(Stop::Unmodelled(reason)) => KernelOutcome::Unmodelled(reason),
                // Refusals were reported before anything ran.
                Err(Stop::Refused(_)) => KernelOutcome::Unmodelled(REFUSED),
            };
            Kernel { name: name.into(), outcome, trace: machine.reader.trace }
        })
        .collect()
}

/// Reason: the kernel contains a refused instruction, so an implementation need not accept it.
const REFUSED: &str = "an instruction that is refused";
/// Reason: only an interpretation of an open question refuses a constant.
const NO_INITIAL_VALUE: &str = "a constant that a variable of this type may not hold";

/// Checks the instructions of a module. Returns the first refusal with its trace; otherwise `None` and the
/// clauses that only instructions show. Beside a statement that does not parse, an undeclared name is no
/// refusal.
pub(crate) fn checked(module: &Module, rules: &Rules) -> (Option<Refusal>, Trace) {
    if !has_bodies(module) {
        return (None, Trace::default());
    }
    let program = names::read_without_contents(module, rules);
    let unread = module.unread().next().is_some();
    let mut first_refusal: Option<(Refusal, Trace)> = None;
    let mut module_trace = Trace::default();
    for line in program.functions.values().flat_map(|body| &body.lines) {
        let mut reader = operand::OperandReader::new(rules, program.version);
        match reader.check(line) {
            // A statement that does not parse may declare the name.
            Err(Stop::Refused(refusal)) if unread && refusal.class == RefusalClass::UnknownName => {}
            Err(Stop::Refused(refusal)) => {
                if first_refusal.as_ref().is_none_or(|(first, _)| refusal.span.start < first.span.start) {
                    first_refusal = Some((refusal, reader.trace));
                }
            }
            _ => module_trace = module_trace.union(reader.trace),
        }
    }
    if let Some((refusal, trace)) = first_refusal {
        return (Some(refusal), trace);
    }
    let clauses = module_trace.clauses.iter();
    module_trace.clauses = clauses.filter(|clause| !clause.observed().by_data()).collect();
    (None, module_trace)
}

/// Whether a function of the module has a body.
fn has_bodies(module: &Module) -> bool {
    module.functions().any(|function| function.body.is_some())
}

/// Reason: an instruction is kept as unparsed tokens.
pub(crate) const NOT_MODELLED: &str = "an instruction that is not modelled";

/// Returns the undecided instructions of a module: a description, the reason, and the position.
pub(crate) fn undecided(module: &Module, rules: &Rules) -> Vec<(String, &'static str, Span)> {
    if !has_bodies(module) {
        return Vec::new();
    }
    let program = names::read_without_contents(module, rules);
    let mut undecided = Vec::new();
    for (name, body) in &program.functions {
        let kind = if body.kind == FunctionKind::Entry { "kernel" } else { "function" };
        for line in &body.lines {
            if let Some(reason) = judged::undecided(line, &program, body, rules) {
                let part = format!("{kind} {name}, {}", line.instruction.opcode.keyword());
                undecided.push((part, reason, line.instruction.span));
            }
        }
    }
    undecided
}

fn output(machine: &PtxMachine<'_, '_>) -> Output {
    let mut slots = machine.written.clone();
    // After the reversal, the first of equal slots is the last one written.
    slots.reverse();
    slots.sort_by_key(|slot| (slot.offset, slot.width));
    slots.dedup_by_key(|slot| (slot.offset, slot.width));
    let size = slots.iter().map(|slot| slot.offset + slot.width).max().unwrap_or(0);
    let memory = machine.objects[OUTPUT].bytes.read(0, size);
    let mut output = Output { bytes: vec![0; size], known: vec![false; size], addresses: Vec::new(), slots };
    let mut at = 0;
    while at < size {
        match &memory[at] {
            Byte::Known(value) => {
                output.bytes[at] = *value;
                output.known[at] = true;
            }
            Byte::Pointer(pointer, 0) => {
                let run = (0..8usize.min(size - at))
                    .take_while(|&nth| memory[at + nth] == Byte::Pointer(pointer.clone(), nth as u8))
                    .count();
                if let Some((symbol, space)) = symbol(machine, pointer) {
                    output.known[at..at + run].fill(true);
                    output.addresses.push(Address {
                        offset: at as u64,
                        width: run as u8,
                        symbol,
                        addend: pointer.offset,
                        // For a global variable, the generic address and the plain address are the same.
                        generic: pointer.generic || space == Some(StateSpace::Global),
                        byte: None,
                        addend_bits: 64,
                    });
                }
                at += run - 1;
            }
            Byte::Pointer(..) | Byte::Unknown => {}
        }
        at += 1;
    }
    output
}

/// Returns the name of a pointer's target if the name is visible outside, and the state space of a variable.
fn symbol(machine: &PtxMachine<'_, '_>, pointer: &SymbolicPointer) -> Option<(Text, Option<StateSpace>)> {
    match &pointer.target {
        PointerTarget::Function(name) => Some((name.clone(), None)),
        PointerTarget::Object(at) if machine.is_module_object(*at) => {
            let object = &machine.objects[*at];
            Some((object.name.clone(), Some(object.space)))
        }
        PointerTarget::Object(_) | PointerTarget::Absolute(_) => None,
    }
}

impl Kernel {
    /// Whether the kernel is known to write to its output buffer.
    pub fn leaves_output(&self) -> bool {
        matches!(&self.outcome, KernelOutcome::Output(output) if !output.bytes.is_empty())
    }

    /// Whether an implementation may accept the kernel and any behaviour is allowed: no rule covers it, or the
    /// specification leaves it undefined. False for a kernel that is refused.
    pub fn may_do_anything(&self) -> bool {
        match self.outcome {
            KernelOutcome::Unmodelled(reason) => ![REFUSED, NO_INITIAL_VALUE].contains(&reason),
            KernelOutcome::Output(_) => false,
        }
    }
}
