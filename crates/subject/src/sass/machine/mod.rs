//! Executes the generated code of one kernel on one thread, over numbers.
//!
//! Unknown values are stored as unknown. An instruction that is not supported, or is not certain to execute, makes
//! its results unknown and is recorded (`skipped`). A jump that depends on an unknown value ends the execution.

mod instructions;
mod memory;
mod registers;
mod words;

use std::cell::RefCell;

use super::listing::{Line, Listing};
use super::operand::{Operand, number, register};
use super::operation::Operation;
use memory::{laid_out, touches_memory};
use ptxsmith_model::{FUNCTIONS, Reached, Tracing, Variables};
use registers::Registers;

/// Maximum number of instructions executed for one kernel.
const MOST_STEPS: u32 = 50_000;
/// Maximum call depth.
const MOST_CALLS: usize = 64;
/// Why a kernel was not executed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost(pub String);

type Known<T> = Result<T, Lost>;

/// Addresses that [`Tracing`] does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// Address of the thread's stack, in `.local`.
    pub stack: u32,
    /// Address of the first line of code, and the distance between the addresses of consecutive lines when they are
    /// taken as function addresses.
    pub functions: (u64, u64),
}

impl Default for Base {
    fn default() -> Base {
        Base { stack: 0x00f0_0000, functions: (FUNCTIONS.start, 256) }
    }
}

impl Base {
    /// Returns the address of the function whose code begins at this line. Two names of one function have the same
    /// address.
    pub fn of_function(self, line: usize) -> u64 {
        let (first, apart) = self.functions;
        first.wrapping_add(apart.wrapping_mul(line as u64))
    }
}

pub(super) struct Machine<'a> {
    listing: &'a Listing,
    variables: &'a Variables,
    tracing: &'a Tracing,
    base: Base,
    /// Offset of the parameters in the constant bank; `passed` are their bytes.
    parameters: u32,
    passed: Vec<u8>,
    registers: Registers,
    reached: RefCell<Reached>,
    /// The first instruction with an unknown effect, and why.
    skipped: Option<String>,
    /// Whether it wrote to an unknown address.
    scattered: bool,
}

impl<'a> Machine<'a> {
    /// Creates a machine positioned at the first instruction of a kernel.
    pub fn new(
        listing: &'a Listing,
        variables: &'a Variables,
        tracing: &'a Tracing,
        base: Base,
    ) -> Known<Self> {
        let bank = listing.parameters.get(&tracing.kernel).copied().unwrap_or(0);
        let (parameters, passed) = laid_out(bank, &tracing.parameters)
            .ok_or_else(|| Lost("its parameters are not where they are known to be".to_owned()))?;
        Ok(Machine {
            listing,
            variables,
            tracing,
            base,
            parameters,
            passed,
            registers: Registers::new(tracing.junk),
            reached: RefCell::default(),
            skipped: None,
            scattered: false,
        })
    }

    /// Runs the kernel as far as it can be followed. Returns what it reaches, and the first instruction whose effect is
    /// unknown, with the reason.
    pub fn run(mut self) -> (Reached, Option<String>) {
        let lost = self.follow().err().map(|lost| lost.0);
        (Reached { lost, ..self.reached.into_inner() }, self.skipped)
    }

    fn follow(&mut self) -> Known<()> {
        let start = self.listing.sections.get(&format!(".text.{}", self.tracing.kernel)).copied();
        let mut at = start.ok_or_else(|| Lost("no code".to_owned()))?;
        let mut returns = Vec::new();
        let listing = self.listing;
        for _ in 0..MOST_STEPS {
            let line = listing.line(at).map_err(Lost)?;
            let certain = match &line.guard {
                None => true,
                Some((predicate, negated)) => match self.truth(*predicate) {
                    Some(holds) if holds == *negated => {
                        at += 1;
                        continue;
                    }
                    known => known.is_some(),
                },
            };
            let uncertain = || lost(line, "depends on a predicate that is not known");
            at = match line.operation {
                Operation::Exit
                | Operation::Branch
                | Operation::BranchByRegister
                | Operation::Call
                | Operation::Return
                    if !certain =>
                {
                    return Err(uncertain());
                }
                Operation::Exit => return Ok(()),
                Operation::Branch => self.branch(line)?,
                Operation::BranchByRegister => self.branch_by_register(line, at)?,
                Operation::Call => {
                    if returns.len() == MOST_CALLS {
                        return Err(lost(line, "is one call too many"));
                    }
                    returns.push(at + 1);
                    self.call(line)?
                }
                Operation::Return => returns.pop().ok_or_else(|| lost(line, "returns to nowhere"))?,
                _ => {
                    let done = if certain { Ok(()) } else { Err(uncertain()) };
                    let done = match touches_memory(line) {
                        true => done.and(self.access(line, certain)),
                        false => done.and_then(|()| self.step(line)),
                    };
                    let has_set = touches_memory(line) || done.is_ok() || self.forget(line);
                    // An unknown instruction without a destination may be a jump.
                    if !has_set && line.operation == Operation::Unknown {
                        return Err(unknown(line));
                    }
                    if let Err(Lost(why)) = done {
                        self.skipped.get_or_insert(why);
                        // When values are compared, a skipped instruction ends the run: the values are then unknown.
                        if self.tracing.junk.is_some() {
                            return Ok(());
                        }
                    }
                    at + 1
                }
            };
        }
        Err(Lost("more instructions than are executed".to_owned()))
    }

    fn branch(&self, line: &Line) -> Known<usize> {
        let [operands @ .., target] = line.operands.as_slice() else {
            return Err(lost(line, "has no target"));
        };
        if operands.iter().any(|condition| self.truth_of(condition) != Some(true)) {
            return Err(lost(line, "depends on more than its guard"));
        }
        self.label(line, &target.text)
    }

    fn label(&self, line: &Line, target: &str) -> Known<usize> {
        let name = target.trim_start_matches('`').trim_start_matches('(').trim_end_matches(')');
        self.listing.labels.get(name).copied().ok_or_else(|| lost(line, "goes to what is no label"))
    }

    fn branch_by_register(&self, line: &Line, at: usize) -> Known<usize> {
        let operand = line.operands.first().ok_or_else(|| lost(line, "has no target"))?;
        let (name, base) = operand.text.split_once(' ').ok_or_else(|| lost(line, "has no base"))?;
        let value = register(name)
            .and_then(|register| self.register(register))
            .ok_or_else(|| lost(line, "depends on a register that is not known"))?;
        // The operand's base converts the branch's address to the start of its section.
        let offset = match base.contains("(.text.") {
            true => Some(value),
            false => {
                number(base).map(|base| (i64::from(line.offset) + 16 + base) as u32).map(|base| base + value)
            }
        };
        let target = offset.and_then(|offset| self.listing.at(at, offset));
        target.ok_or_else(|| lost(line, "goes to no instruction"))
    }

    fn call(&self, line: &Line) -> Known<usize> {
        let target = line.operands.last().ok_or_else(|| lost(line, "has no target"))?;
        if target.text.starts_with('`') {
            return self.label(line, &target.text);
        }
        let address = self.pair(target).ok_or_else(|| lost(line, "goes to what is not known"))?;
        let mut labels = self.listing.labels.values().copied();
        labels
            .find(|&at| self.base.of_function(at) == address)
            .ok_or_else(|| lost(line, "goes to what is not here"))
    }
}

/// Returns the operands if there are exactly `N`.
fn exactly<const N: usize>(line: &Line) -> Known<&[Operand; N]> {
    line.operands.as_slice().try_into().map_err(|_| unknown(line))
}

/// Formats an instruction as in the listing.
fn shown(line: &Line) -> String {
    let operands: Vec<&str> = line.operands.iter().map(|operand| operand.text.as_str()).collect();
    format!("{} {}", line.opcode, operands.join(", "))
}

fn lost(line: &Line, what: &str) -> Lost {
    Lost(format!("{} at {:#x} {what}", line.opcode, line.offset))
}

fn unknown(line: &Line) -> Lost {
    Lost(format!("{} is not understood", shown(line)))
}
