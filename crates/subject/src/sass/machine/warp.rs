//! The lanes of a warp: which of them run, which wait at a convergence barrier, and which continue next.
//!
//! Lanes with one place run together. After a branch that only some take, the others go on first, until they
//! block; only a barrier brings lanes together again.

use std::ops::Range;

use super::super::listing::ListedInstruction;
use super::super::operand::{OperandValue, SassOperand, SassRegister, register};
use super::super::operation::SassOperation;
use super::{Execution, ExecutionStop, SassMachine, stop_at, unknown};

/// Lanes, one bit each.
pub(super) type Lanes = u32;

/// Lanes that run together, and the index of their next line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneGroup {
    pub lanes: Lanes,
    pub index: usize,
}

/// The condition under which a waiting lane continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// For the other lanes of a convergence barrier.
    Convergence(usize),
    /// For these lanes.
    Lanes(Lanes),
    /// For all threads of the block.
    Block,
}

const BARRIERS: usize = 16;

/// The state of the lanes.
pub(super) struct Warp {
    /// The lanes that have not ended.
    alive: Lanes,
    /// Groups that can run; the last one is next.
    ready: Vec<LaneGroup>,
    /// The condition for which each lane waits, and the index of the line at which it resumes.
    waits: [Option<(Wait, usize)>; 32],
    /// For each lane, the lanes that take part in each of its convergence barriers.
    barriers: [[Lanes; BARRIERS]; 32],
    /// For each lane, where its calls return to.
    pub returns: [Vec<usize>; 32],
}

/// Returns the numbers of lanes.
pub(super) fn lane_numbers(lanes: Lanes) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| lanes >> lane & 1 == 1)
}

impl Warp {
    pub fn new(lanes: Range<usize>) -> Warp {
        let alive = lanes.map(|lane| 1 << lane).sum();
        Warp {
            alive,
            ready: Vec::new(),
            waits: [None; 32],
            barriers: [[0; BARRIERS]; 32],
            returns: std::array::from_fn(|_| Vec::new()),
        }
    }

    pub fn alive(&self) -> Lanes {
        self.alive
    }

    pub fn add(&mut self, group: LaneGroup) {
        if group.lanes != 0 {
            self.ready.push(group);
        }
    }

    pub fn exit(&mut self, lanes: Lanes) {
        self.alive &= !lanes;
    }

    /// Returns the lanes that run next; `None` if all have ended.
    pub fn next(&mut self) -> Execution<Option<LaneGroup>> {
        self.release();
        match self.ready.pop() {
            None if self.alive != 0 => Err(ExecutionStop("lanes wait for what does not come".to_owned())),
            next => Ok(next),
        }
    }

    /// Makes the lanes ready that wait for nothing more.
    fn release(&mut self) {
        let released: Lanes =
            lane_numbers(self.alive).filter(|&lane| self.has_waited(lane)).map(|lane| 1 << lane).sum();
        // Lanes that waited for other lanes do not run together.
        let mut groups: Vec<(Lanes, LaneGroup)> = Vec::new();
        for lane in lane_numbers(released) {
            let Some((wait, index)) = self.waits[lane].take() else { continue };
            let others = self.awaited(lane, wait);
            match groups.iter_mut().find(|(same, group)| *same == others && group.index == index) {
                Some((_, group)) => group.lanes |= 1 << lane,
                None => groups.push((others, LaneGroup { lanes: 1 << lane, index })),
            }
        }
        self.ready.extend(groups.into_iter().map(|(_, group)| group));
    }

    /// Returns the lanes that have not ended and that a lane waits for.
    fn awaited(&self, lane: usize, wait: Wait) -> Lanes {
        self.alive
            & match wait {
                Wait::Convergence(nth) => self.barriers[lane][nth],
                Wait::Lanes(lanes) => lanes,
                Wait::Block => Lanes::MAX,
            }
    }

    /// Whether all lanes that a waiting lane waits for have arrived; false for a lane that does not wait.
    fn has_waited(&self, lane: usize) -> bool {
        let Some((wait, _)) = self.waits[lane] else { return false };
        let others = self.awaited(lane, wait);
        // A lane that has begun a convergence barrier anew, while others wait there, goes on alone.
        lane_numbers(others).all(|other| {
            self.waits[other].is_some_and(|(same, _)| same == wait && self.awaited(other, wait) == others)
        })
    }

    fn wait(&mut self, lanes: Lanes, wait: Wait, index: usize) {
        lane_numbers(lanes).for_each(|lane| self.waits[lane] = Some((wait, index)));
    }

    /// Lanes begin to take part in a convergence barrier.
    fn begin(&mut self, lanes: Lanes, barrier: usize) {
        lane_numbers(lanes).for_each(|lane| self.barriers[lane][barrier] = lanes);
    }

    /// Lanes leave a convergence barrier.
    fn leave(&mut self, lanes: Lanes, barrier: usize) {
        for lane in lane_numbers(lanes) {
            let others = std::mem::take(&mut self.barriers[lane][barrier]);
            lane_numbers(others).for_each(|other| self.barriers[other][barrier] &= !lanes);
        }
    }
}

impl SassMachine<'_> {
    /// Executes an instruction about barriers for lanes. Returns whether they continue with the next line.
    pub(super) fn converge(
        &mut self,
        line: &ListedInstruction,
        lanes: Lanes,
        index: usize,
    ) -> Execution<bool> {
        let name = line.opcode.split('.').next().unwrap_or_default();
        match (name, line.operands.as_slice()) {
            ("BSSY", [operand, _]) => self.warp.begin(lanes, barrier_of(line, operand)?),
            ("BSYNC", [operand]) => {
                self.warp.wait(lanes, Wait::Convergence(barrier_of(line, operand)?), index + 1);
                return Ok(false);
            }
            ("BREAK", [operand]) => self.warp.leave(lanes, barrier_of(line, operand)?),
            ("BREAK", [condition, operand]) if condition.is_predicate() => {
                let leaving = self.lanes_where(lanes, condition).ok_or_else(|| unknown(line))?;
                self.warp.leave(leaving, barrier_of(line, operand)?);
            }
            ("BMOV", [to, from]) => self.move_barrier(line, to, from, lanes)?,
            // The lanes continue after the next ENDCOLLECTIVE.
            ("WARPSYNC", [mask, target]) if line.opcode == "WARPSYNC.COLLECTIVE" => {
                let target = self.label(line, &target.text)?;
                let last = target.checked_sub(1).and_then(|last| self.listing.line(last).ok());
                if last.is_none_or(|last| last.opcode != "ENDCOLLECTIVE") {
                    return Err(unknown(line));
                }
                let others = self.common(lanes, mask).ok_or_else(|| unknown(line))?;
                self.warp.wait(lanes, Wait::Lanes(others), index + 1);
                return Ok(false);
            }
            ("WARPSYNC", operands) => {
                let others = match (line.opcode.as_str(), operands) {
                    (opcode, []) if opcode.split('.').any(|word| word == "ALL") => u32::MAX,
                    ("WARPSYNC" | "WARPSYNC.EXCLUSIVE", [mask]) => {
                        self.common(lanes, mask).ok_or_else(|| unknown(line))?
                    }
                    _ => return Err(unknown(line)),
                };
                // How several groups of lanes exclude each other is not known.
                if line.opcode == "WARPSYNC.EXCLUSIVE" && self.warp.alive() & !others != 0 {
                    return Err(unknown(line));
                }
                self.warp.wait(lanes, Wait::Lanes(others), index + 1);
                return Ok(false);
            }
            ("BAR", operands) => {
                let words: Vec<&str> = line.opcode.split('.').skip(1).collect();
                let is_first = matches!(operands, [number] if self.common(lanes, number) == Some(0));
                if words.first() != Some(&"SYNC")
                    || words[1..].iter().any(|word| *word != "DEFER_BLOCKING")
                    || !is_first
                {
                    return Err(unknown(line));
                }
                self.warp.wait(lanes, Wait::Block, index + 1);
                return Ok(false);
            }
            _ => return Err(unknown(line)),
        }
        Ok(true)
    }

    /// `BMOV.32.CLEAR R4, B1` and `BMOV.32 B1, R4`: the lanes that take part in a convergence barrier.
    fn move_barrier(
        &mut self,
        line: &ListedInstruction,
        to: &SassOperand,
        from: &SassOperand,
        lanes: Lanes,
    ) -> Execution<()> {
        let clears = match line.opcode.as_str() {
            "BMOV.32" => false,
            "BMOV.32.CLEAR" => true,
            _ => return Err(unknown(line)),
        };
        match (barrier(&to.text), barrier(&from.text), to.register()) {
            (None, Some(from), Some(SassRegister::Plain(_) | SassRegister::Zero)) => {
                for lane in lane_numbers(lanes) {
                    self.registers.lane = lane;
                    let held = self.warp.barriers[lane][from];
                    self.set(Self::destination(line, to)?, Some(held));
                    if clears {
                        self.warp.barriers[lane][from] = 0;
                    }
                }
                Ok(())
            }
            (Some(to), None, _) if !clears => {
                for lane in lane_numbers(lanes) {
                    self.registers.lane = lane;
                    self.warp.barriers[lane][to] = self.read(from).ok_or_else(|| unknown(line))?;
                }
                Ok(())
            }
            _ => Err(unknown(line)),
        }
    }

    /// Returns the lanes where a predicate operand holds; `None` if it is not known of some.
    pub(super) fn lanes_where(&mut self, lanes: Lanes, condition: &SassOperand) -> Option<Lanes> {
        lane_numbers(lanes).try_fold(0, |holding, lane| {
            self.registers.lane = lane;
            Some(holding | Lanes::from(self.truth_of(condition)?) << lane)
        })
    }

    /// Returns the word of an operand if it is the same on all of these lanes.
    fn common(&mut self, lanes: Lanes, operand: &SassOperand) -> Option<u32> {
        let mut words = lane_numbers(lanes).map(|lane| {
            self.registers.lane = lane;
            self.read(operand)
        });
        let first = words.next()??;
        words.all(|word| word == Some(first)).then_some(first)
    }

    /// Executes an instruction with a result that the lanes share. One that copies from the lanes must find the
    /// same on all.
    pub(super) fn step_once(&mut self, line: &ListedInstruction, lanes: Lanes) -> Execution<()> {
        let name = line.opcode.split('.').next().unwrap_or_default();
        let reads_lanes = !name.starts_with('U') && !name.starts_with("LDCU");
        let mut first = None;
        let has_predicate =
            line.operands.first().is_some_and(|operand| operand.is_predicate() && !operand.is_true());
        if name == "R2UR" && has_predicate && lanes.count_ones() > 1 {
            return Err(unknown(line));
        }
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            self.step(line)?;
            if !reads_lanes {
                break;
            }
            let to = line.operands.iter().find_map(SassOperand::register);
            let left = to.map(|to| (self.register(to), self.register(to.nth(1))));
            if *first.get_or_insert(left) != left {
                return Err(stop_at(line, "differs from lane to lane"));
            }
        }
        Ok(())
    }
}

/// Whether the lanes share the result of an instruction.
pub(super) fn is_shared(line: &ListedInstruction) -> bool {
    let name = line.opcode.split('.').next().unwrap_or_default();
    let to = line.operands.iter().find(|operand| !operand.is_predicate());
    let is_uniform = matches!(to.map(|to| to.value), Some(OperandValue::Register(SassRegister::Uniform(_))));
    line.operation != SassOperation::Unknown
        && (name.starts_with('U')
            || ["R2UR", "S2UR", "CS2UR", "LDCU"].contains(&name)
            || is_uniform && is_first(line))
}

/// Whether the first operand that is no predicate is the destination: not of a store.
fn is_first(line: &ListedInstruction) -> bool {
    !matches!(line.operation, SassOperation::Store(..) | SassOperation::Compare(_))
        && line.operands.first().is_some_and(|operand| register(&operand.text).is_some())
}

/// Returns the barrier that an operand of an instruction names.
fn barrier_of(line: &ListedInstruction, operand: &SassOperand) -> Execution<usize> {
    barrier(&operand.text).ok_or_else(|| unknown(line))
}

/// Parses `B4`.
fn barrier(text: &str) -> Option<usize> {
    text.strip_prefix('B')?.parse().ok().filter(|&nth| nth < BARRIERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_that_begins_a_barrier_anew_while_others_wait_there_goes_on_alone() {
        let mut warp = Warp::new(0..4);
        warp.begin(0b1111, 1);
        warp.wait(0b0111, Wait::Convergence(1), 9);
        warp.begin(0b1000, 1);
        warp.wait(0b1000, Wait::Convergence(1), 9);
        let next = |warp: &mut Warp| warp.next().unwrap().map(|group| (group.lanes, group.index));
        assert_eq!(next(&mut warp), Some((0b1000, 9)));
        warp.exit(0b1000);
        assert_eq!(next(&mut warp), Some((0b0111, 9)));
        warp.exit(0b0111);
        assert_eq!(next(&mut warp), None);
    }
}
