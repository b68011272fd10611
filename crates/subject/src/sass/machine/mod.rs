//! Executes the generated code of one kernel over numbers, on one thread or on the lanes of a warp.
//!
//! Unknown values are stored as unknown. An instruction that is not supported, or is not certain to execute, makes
//! its results unknown and is recorded (`skipped`). A jump that depends on an unknown value ends the execution.

mod exchange;
mod instructions;
mod memory;
mod registers;
mod warp;
mod words;

use std::cell::RefCell;

use super::listing::{Line, Listing};
use super::operand::{Operand, number, register};
use super::operation::Operation;
use memory::{laid_out, touches_memory};
use ptxsmith_model::{FUNCTIONS, Reached, Tracing, Variables};
use registers::Registers;
use warp::{Group, Lanes, Warp, each, is_shared};

/// Maximum number of instructions executed for one kernel.
const MOST_STEPS: u32 = 50_000;
/// Maximum call depth.
const MOST_CALLS: usize = 64;
/// Why a kernel was not executed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost(pub String);

type Known<T> = Result<T, Lost>;

const UNCERTAIN: &str = "depends on a predicate that is not known";

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
    warp: Warp,
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
        let count = tracing.lanes.len().clamp(1, 32);
        // A single thread has the lane that its special register says.
        let own = tracing.specials.get("laneid").filter(|_| tracing.lanes.is_empty());
        let first = own.map_or(0, |&lane| lane as usize % 32);
        let lanes = first..first + count;
        Ok(Machine {
            listing,
            variables,
            tracing,
            base,
            parameters,
            passed,
            registers: Registers::new(tracing.junk, lanes.clone()),
            warp: Warp::new(lanes),
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
        let at = start.ok_or_else(|| Lost("no code".to_owned()))?;
        self.warp.add(Group { lanes: self.warp.alive(), at });
        let listing = self.listing;
        let mut steps = 0;
        while let Some(mut group) = self.warp.next()? {
            while group.lanes != 0 {
                steps += 1;
                if steps > MOST_STEPS {
                    return Err(Lost("more instructions than are executed".to_owned()));
                }
                let line = listing.line(group.at).map_err(Lost)?;
                if !self.advance(line, &mut group)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Executes a line for the lanes of a group where its guard holds. The group becomes the lanes that go on at once.
    /// Returns false where the run ends because a value is not known.
    fn advance(&mut self, line: &Line, group: &mut Group) -> Known<bool> {
        let (holding, certain) = self.holding(line, group.lanes);
        let Group { lanes, at } = *group;
        if holding == 0 {
            group.at += 1;
            return Ok(true);
        }
        // A barrier does not matter for a single thread whose values are not compared.
        let waits = line.operation == Operation::Converge && self.tracing.junk.is_some();
        let jumps = matches!(
            line.operation,
            Operation::Exit
                | Operation::Branch
                | Operation::BranchByRegister
                | Operation::Call
                | Operation::Return
        );
        if (jumps || waits) && !certain {
            return Err(lost(line, UNCERTAIN));
        }
        match line.operation {
            Operation::Exit => {
                self.warp.exit(holding);
                *group = Group { lanes: lanes & !holding, at: at + 1 };
            }
            _ if waits => {
                let goes_on = self.converge(line, holding, at)?;
                let lanes = if goes_on { lanes } else { lanes & !holding };
                *group = Group { lanes, at: at + 1 };
            }
            _ if jumps => *group = self.part(line, *group, holding)?,
            _ => {
                group.at += 1;
                return self.execute(line, holding, certain);
            }
        }
        Ok(true)
    }

    /// Executes a jump for some lanes of a group. Returns the lanes that go on at once; the others are ready.
    fn part(&mut self, line: &Line, Group { lanes, at }: Group, holding: Lanes) -> Known<Group> {
        let mut left = lanes & !holding;
        let mut groups: Vec<Group> = Vec::new();
        for lane in each(holding) {
            self.registers.lane = lane;
            match self.jump(line, at)? {
                None => left |= 1 << lane,
                Some(at) => match groups.iter_mut().find(|group| group.at == at) {
                    Some(group) => group.lanes |= 1 << lane,
                    None => groups.push(Group { lanes: 1 << lane, at }),
                },
            }
        }
        let next = match left {
            0 => groups.pop().unwrap_or(Group { lanes: 0, at }),
            left => Group { lanes: left, at: at + 1 },
        };
        groups.into_iter().for_each(|group| self.warp.add(group));
        Ok(next)
    }

    /// Returns the lanes where the guard of a line holds or may hold, and whether that is known of all.
    fn holding(&mut self, line: &Line, lanes: Lanes) -> (Lanes, bool) {
        let Some((predicate, negated)) = line.guard else { return (lanes, true) };
        let (mut holding, mut certain) = (0, true);
        for lane in each(lanes) {
            self.registers.lane = lane;
            let truth = self.truth(predicate);
            certain &= truth.is_some();
            if truth != Some(negated) {
                holding |= 1 << lane;
            }
        }
        (holding, certain)
    }

    /// Returns where the current lane jumps to; `None` if it goes on with the next line.
    fn jump(&mut self, line: &Line, at: usize) -> Known<Option<usize>> {
        let lane = self.registers.lane;
        Ok(match line.operation {
            Operation::Branch => self.branch(line)?,
            Operation::BranchByRegister => Some(self.branch_by_register(line, at)?),
            Operation::Call => {
                if self.warp.returns[lane].len() == MOST_CALLS {
                    return Err(lost(line, "is one call too many"));
                }
                self.warp.returns[lane].push(at + 1);
                Some(self.call(line)?)
            }
            _ => Some(self.warp.returns[lane].pop().ok_or_else(|| lost(line, "returns to nowhere"))?),
        })
    }

    /// Executes an instruction that does not jump. Returns false if values are compared and one is not known.
    fn execute(&mut self, line: &Line, lanes: Lanes, certain: bool) -> Known<bool> {
        if let Operation::Exchange(exchange) = line.operation
            && certain
            && self.tracing.junk.is_some()
        {
            let done = self.exchange(line, exchange, lanes);
            return self.is_done(line, done);
        }
        if certain && is_shared(line) {
            let done = self.step_once(line, lanes);
            return self.is_done(line, done);
        }
        for lane in each(lanes) {
            self.registers.lane = lane;
            let done = if certain { Ok(()) } else { Err(lost(line, UNCERTAIN)) };
            let done = match touches_memory(line) {
                true => done.and(self.access(line, certain)),
                false => done.and_then(|()| self.step(line)),
            };
            if !self.is_done(line, done)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets the results of an instruction that was not executed. Returns false if values are compared.
    fn is_done(&mut self, line: &Line, done: Known<()>) -> Known<bool> {
        let has_set = touches_memory(line) || done.is_ok() || self.forget(line);
        // An unknown instruction without a destination may be a jump.
        if !has_set && line.operation == Operation::Unknown {
            return Err(unknown(line));
        }
        if let Err(Lost(why)) = done {
            self.skipped.get_or_insert(why);
            // When values are compared, a skipped instruction ends the run: the values are then unknown.
            return Ok(self.tracing.junk.is_none());
        }
        Ok(true)
    }

    /// Returns the target of a branch; `None` if a condition among its operands does not hold.
    fn branch(&self, line: &Line) -> Known<Option<usize>> {
        let [operands @ .., target] = line.operands.as_slice() else {
            return Err(lost(line, "has no target"));
        };
        let conditions = operands.iter().map(|condition| self.truth_of(condition));
        match conditions.collect::<Option<Vec<bool>>>() {
            None => Err(lost(line, "depends on more than its guard")),
            Some(truths) if truths.iter().all(|&truth| truth) => self.label(line, &target.text).map(Some),
            Some(_) => Ok(None),
        }
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
