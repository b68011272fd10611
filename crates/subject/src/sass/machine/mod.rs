//! Executes the generated code of a kernel over numbers, on one thread or on the lanes of a warp.
//!
//! Unknown values are stored as unknown. An instruction that is not supported, or is not certain to execute,
//! makes its results unknown and is recorded (`skipped`). A jump that depends on an unknown value ends the
//! execution.

mod exchange;
mod instructions;
mod memory;
mod registers;
mod sums;
mod warp;
mod words;

use std::cell::RefCell;

use super::listing::{CodeListing, ListedInstruction};
use super::operand::{SassOperand, number, register};
use super::operation::SassOperation;
use memory::{laid_out, touches_memory};
use ptxsmith_model::{FUNCTIONS, Reached, Tracing, Variables};
use registers::RegisterFile;
use warp::{LaneGroup, Lanes, Warp, is_shared, lane_numbers};

/// Maximum number of instructions executed for one kernel.
const MOST_STEPS: u32 = 50_000;
/// Maximum call depth.
const MOST_CALLS: usize = 64;

/// Why a kernel was not executed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExecutionStop(pub String);

/// The result of a step of the execution.
type Execution<T> = Result<T, ExecutionStop>;

const UNCERTAIN: &str = "depends on a predicate that is not known";

/// Addresses that [`Tracing`] does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FixedAddresses {
    /// Address of the thread's stack, in `.local`.
    pub stack: u32,
    /// Address of the first line of code, and the distance between the addresses of consecutive lines when
    /// they are taken as function addresses.
    pub functions: (u64, u64),
}

impl Default for FixedAddresses {
    fn default() -> FixedAddresses {
        FixedAddresses { stack: 0x00f0_0000, functions: (FUNCTIONS.start, 256) }
    }
}

impl FixedAddresses {
    /// Returns the address of the function whose code begins at this line. Two names of one function have the
    /// same address.
    pub fn function_address(self, line: usize) -> u64 {
        let (first, apart) = self.functions;
        first.wrapping_add(apart.wrapping_mul(line as u64))
    }
}

/// The machine that executes a kernel of a listing.
pub(super) struct SassMachine<'a> {
    listing: &'a CodeListing,
    variables: &'a Variables,
    tracing: &'a Tracing,
    base: FixedAddresses,
    /// Offset of the parameters in the constant bank; `passed` are their bytes.
    parameters: u32,
    passed: Vec<u8>,
    registers: RegisterFile,
    warp: Warp,
    reached: RefCell<Reached>,
    /// The first instruction with an unknown effect, and why.
    skipped: Option<String>,
    /// Whether it wrote to an unknown address.
    scattered: bool,
}

impl<'a> SassMachine<'a> {
    /// Creates a machine positioned at the first instruction of a kernel.
    pub fn new(
        listing: &'a CodeListing,
        variables: &'a Variables,
        tracing: &'a Tracing,
        base: FixedAddresses,
    ) -> Execution<Self> {
        let bank = listing.parameters.get(&tracing.kernel).copied().unwrap_or(0);
        let (parameters, passed) = laid_out(bank, &tracing.parameters)
            .ok_or_else(|| ExecutionStop("its parameters are not where they are known to be".to_owned()))?;
        let count = tracing.lanes.len().clamp(1, 32);
        // A single thread has the lane that its special register says.
        let lane = tracing.specials.get("laneid").filter(|_| tracing.lanes.is_empty());
        let first = lane.map_or(0, |&lane| lane as usize % 32);
        let lanes = first..first + count;
        Ok(SassMachine {
            listing,
            variables,
            tracing,
            base,
            parameters,
            passed,
            registers: RegisterFile::new(tracing.junk, lanes.clone()),
            warp: Warp::new(lanes),
            reached: RefCell::default(),
            skipped: None,
            scattered: false,
        })
    }

    /// Runs the kernel as far as it can be followed. Returns what it reaches, and the first instruction whose
    /// effect is unknown, with the reason.
    pub fn run(mut self) -> (Reached, Option<String>) {
        let lost = self.follow().err().map(|lost| lost.0);
        (Reached { lost, ..self.reached.into_inner() }, self.skipped)
    }

    fn follow(&mut self) -> Execution<()> {
        let start = self.listing.sections.get(&format!(".text.{}", self.tracing.kernel)).copied();
        let index = start.ok_or_else(|| ExecutionStop("no code".to_owned()))?;
        self.warp.add(LaneGroup { lanes: self.warp.alive(), index });
        let listing = self.listing;
        let mut steps = 0;
        while let Some(mut group) = self.warp.next()? {
            while group.lanes != 0 {
                steps += 1;
                if steps > MOST_STEPS {
                    return Err(ExecutionStop("more instructions than are executed".to_owned()));
                }
                let line = listing.line(group.index).map_err(ExecutionStop)?;
                if !self.advance(line, &mut group)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Executes a line for the lanes of a group where its guard holds. The group becomes the lanes that go on
    /// at once. Returns false where the run ends because a value is not known.
    fn advance(&mut self, line: &ListedInstruction, group: &mut LaneGroup) -> Execution<bool> {
        let (holding, certain) = self.holding(line, group.lanes);
        let LaneGroup { lanes, index } = *group;
        if holding == 0 {
            group.index += 1;
            return Ok(true);
        }
        // A barrier does not matter for a single thread if values are not compared.
        let waits = line.operation == SassOperation::Converge && self.tracing.junk.is_some();
        let jumps = matches!(
            line.operation,
            SassOperation::Exit
                | SassOperation::Branch
                | SassOperation::BranchByRegister
                | SassOperation::Call
                | SassOperation::Return
        );
        if (jumps || waits) && !certain {
            return Err(stop_at(line, UNCERTAIN));
        }
        match line.operation {
            SassOperation::Exit => {
                let leaving = self.leaving(line, holding)?;
                self.warp.exit(leaving);
                *group = LaneGroup { lanes: lanes & !leaving, index: index + 1 };
            }
            _ if waits => {
                let goes_on = self.converge(line, holding, index)?;
                let lanes = if goes_on { lanes } else { lanes & !holding };
                *group = LaneGroup { lanes, index: index + 1 };
            }
            _ if jumps => *group = self.part(line, *group, holding)?,
            _ => {
                group.index += 1;
                return self.execute(line, holding, certain);
            }
        }
        Ok(true)
    }

    /// Returns the lanes that an `EXIT` ends: `@!P0 EXIT P1` ends those where its operands hold, too.
    fn leaving(&mut self, line: &ListedInstruction, holding: Lanes) -> Execution<Lanes> {
        line.operands.iter().try_fold(holding, |lanes, condition| {
            self.lanes_where(lanes, condition).ok_or_else(|| stop_at(line, "depends on more than its guard"))
        })
    }

    /// Executes a jump for some lanes of a group. Returns the lanes that go on at once; the others are ready.
    fn part(
        &mut self,
        line: &ListedInstruction,
        LaneGroup { lanes, index }: LaneGroup,
        holding: Lanes,
    ) -> Execution<LaneGroup> {
        let mut left = lanes & !holding;
        let mut groups: Vec<LaneGroup> = Vec::new();
        for lane in lane_numbers(holding) {
            self.registers.lane = lane;
            match self.jump(line, index)? {
                None => left |= 1 << lane,
                Some(index) => match groups.iter_mut().find(|group| group.index == index) {
                    Some(group) => group.lanes |= 1 << lane,
                    None => groups.push(LaneGroup { lanes: 1 << lane, index }),
                },
            }
        }
        let next = match left {
            0 => groups.pop().unwrap_or(LaneGroup { lanes: 0, index }),
            left => LaneGroup { lanes: left, index: index + 1 },
        };
        groups.into_iter().for_each(|group| self.warp.add(group));
        Ok(next)
    }

    /// Returns the lanes where the guard of a line holds or may hold, and whether that is known of all.
    fn holding(&mut self, line: &ListedInstruction, lanes: Lanes) -> (Lanes, bool) {
        let Some((predicate, negated)) = line.guard else { return (lanes, true) };
        let mut holding = 0;
        let mut certain = true;
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            let truth = self.truth(predicate);
            certain &= truth.is_some();
            if truth != Some(negated) {
                holding |= 1 << lane;
            }
        }
        (holding, certain)
    }

    /// Returns where the current lane jumps to; `None` if it continues with the next line.
    fn jump(&mut self, line: &ListedInstruction, index: usize) -> Execution<Option<usize>> {
        let lane = self.registers.lane;
        if line.operation != SassOperation::Branch && line.operands.iter().any(SassOperand::is_predicate) {
            return Err(stop_at(line, "depends on more than its guard"));
        }
        Ok(match line.operation {
            SassOperation::Branch => self.branch(line)?,
            SassOperation::BranchByRegister => Some(self.branch_by_register(line, index)?),
            SassOperation::Call => {
                if self.warp.returns[lane].len() == MOST_CALLS {
                    return Err(stop_at(line, "is one call too many"));
                }
                self.warp.returns[lane].push(index + 1);
                Some(self.call(line)?)
            }
            _ => Some(self.warp.returns[lane].pop().ok_or_else(|| stop_at(line, "returns to nowhere"))?),
        })
    }

    /// Executes an instruction that does not jump. Returns false if values are compared and one is not known.
    fn execute(&mut self, line: &ListedInstruction, lanes: Lanes, certain: bool) -> Execution<bool> {
        if let SassOperation::Exchange(exchange) = line.operation
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
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            let done = if certain { Ok(()) } else { Err(stop_at(line, UNCERTAIN)) };
            let done = if touches_memory(line) {
                done.and(self.access(line, certain))
            } else {
                done.and_then(|()| self.step(line))
            };
            if !self.is_done(line, done)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets the results of an instruction that was not executed. Returns false if values are compared.
    fn is_done(&mut self, line: &ListedInstruction, done: Execution<()>) -> Execution<bool> {
        let has_set = touches_memory(line) || done.is_ok() || self.forget(line);
        // An unknown instruction without a destination may be a jump.
        if !has_set && line.operation == SassOperation::Unknown {
            return Err(unknown(line));
        }
        if let Err(ExecutionStop(why)) = done {
            self.skipped.get_or_insert(why);
            // When values are compared, a skipped instruction ends the run: the values are then unknown.
            return Ok(self.tracing.junk.is_none());
        }
        Ok(true)
    }

    /// Returns the target of a branch; `None` if a condition among its operands does not hold.
    fn branch(&self, line: &ListedInstruction) -> Execution<Option<usize>> {
        let [operands @ .., target] = line.operands.as_slice() else {
            return Err(stop_at(line, "has no target"));
        };
        let conditions = operands.iter().map(|condition| self.truth_of(condition));
        match conditions.collect::<Option<Vec<bool>>>() {
            None => Err(stop_at(line, "depends on more than its guard")),
            Some(truths) if truths.iter().all(|&truth| truth) => self.label(line, &target.text).map(Some),
            Some(_) => Ok(None),
        }
    }

    fn label(&self, line: &ListedInstruction, target: &str) -> Execution<usize> {
        let name = target.trim_start_matches('`').trim_start_matches('(').trim_end_matches(')');
        self.listing.labels.get(name).copied().ok_or_else(|| stop_at(line, "goes to what is no label"))
    }

    fn branch_by_register(&self, line: &ListedInstruction, index: usize) -> Execution<usize> {
        let operand = line.operands.first().ok_or_else(|| stop_at(line, "has no target"))?;
        let (name, base) = operand.text.split_once(' ').ok_or_else(|| stop_at(line, "has no base"))?;
        let value = register(name)
            .and_then(|register| self.register(register))
            .ok_or_else(|| stop_at(line, "depends on a register that is not known"))?;
        // The operand's base converts the branch's address to the start of its section.
        let offset = if base.contains("(.text.") {
            Some(value)
        } else {
            number(base).map(|base| (i64::from(line.offset) + 16 + base) as u32 + value)
        };
        let target = offset.and_then(|offset| self.listing.index_at(index, offset));
        target.ok_or_else(|| stop_at(line, "goes to no instruction"))
    }

    fn call(&self, line: &ListedInstruction) -> Execution<usize> {
        let target = line.operands.last().ok_or_else(|| stop_at(line, "has no target"))?;
        if target.text.starts_with('`') {
            return self.label(line, &target.text);
        }
        let address = self.pair(target).ok_or_else(|| stop_at(line, "goes to what is not known"))?;
        let mut labels = self.listing.labels.values().copied();
        labels
            .find(|&index| self.base.function_address(index) == address)
            .ok_or_else(|| stop_at(line, "goes to what is not here"))
    }
}

/// Returns the operands if there are exactly `N`.
fn operands_of<const N: usize>(line: &ListedInstruction) -> Execution<&[SassOperand; N]> {
    line.operands.as_slice().try_into().map_err(|_| unknown(line))
}

/// Formats an instruction as in the listing.
fn format_instruction(line: &ListedInstruction) -> String {
    let operands: Vec<&str> = line.operands.iter().map(|operand| operand.text.as_str()).collect();
    format!("{} {}", line.opcode, operands.join(", "))
}

/// Explains why the execution stops at an instruction.
fn stop_at(line: &ListedInstruction, what: &str) -> ExecutionStop {
    ExecutionStop(format!("{} at {:#x} {what}", line.opcode, line.offset))
}

fn unknown(line: &ListedInstruction) -> ExecutionStop {
    ExecutionStop(format!("{} is not understood", format_instruction(line)))
}
