//! The lanes of a warp: which of them run, which wait at a convergence barrier, and which go on next.
//!
//! Lanes with one place run together. After a branch that only some take, the others go on first, until they block;
//! only a barrier brings lanes together again.

use std::ops::Range;

use super::super::listing::Line;
use super::super::operand::{Operand, Register, Value, register};
use super::super::operation::Operation;
use super::{Known, Lost, Machine, lost, unknown};

/// Lanes, one bit each.
pub(super) type Lanes = u32;

/// Lanes that run together, and the index of their next line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub lanes: Lanes,
    pub at: usize,
}

/// What a lane waits for.
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
    ready: Vec<Group>,
    /// What each lane waits for, and where it goes on.
    waits: [Option<(Wait, usize)>; 32],
    /// For each lane, the lanes that take part in each of its convergence barriers.
    barriers: [[Lanes; BARRIERS]; 32],
    /// For each lane, where its calls return to.
    pub returns: [Vec<usize>; 32],
}

/// Returns the numbers of lanes.
pub(super) fn each(lanes: Lanes) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| lanes >> lane & 1 == 1)
}

impl Warp {
    pub fn new(lanes: Range<usize>) -> Warp {
        let alive = lanes.map(|lane| 1 << lane).sum();
        let (waits, barriers) = ([None; 32], [[0; BARRIERS]; 32]);
        Warp { alive, ready: Vec::new(), waits, barriers, returns: std::array::from_fn(|_| Vec::new()) }
    }

    pub fn alive(&self) -> Lanes {
        self.alive
    }

    pub fn add(&mut self, group: Group) {
        if group.lanes != 0 {
            self.ready.push(group);
        }
    }

    pub fn exit(&mut self, lanes: Lanes) {
        self.alive &= !lanes;
    }

    /// Returns the lanes that run next; `None` if all have ended.
    pub fn next(&mut self) -> Known<Option<Group>> {
        self.release();
        match self.ready.pop() {
            None if self.alive != 0 => Err(Lost("lanes wait for what does not come".to_owned())),
            next => Ok(next),
        }
    }

    /// Makes the lanes ready that wait for nothing more.
    fn release(&mut self) {
        let is_over = |lane: usize| {
            let (wait, _) = self.waits[lane]?;
            let others = match wait {
                Wait::Convergence(nth) => self.barriers[lane][nth],
                Wait::Lanes(lanes) => lanes,
                Wait::Block => Lanes::MAX,
            };
            let arrived = |other: usize| self.waits[other].is_some_and(|(own, _)| own == wait);
            each(others & self.alive).all(arrived).then_some(1 << lane)
        };
        let over: Lanes = each(self.alive).filter_map(is_over).sum();
        let mut groups: Vec<Group> = Vec::new();
        for lane in each(over) {
            let Some((_, at)) = self.waits[lane].take() else { continue };
            match groups.iter_mut().find(|group| group.at == at) {
                Some(group) => group.lanes |= 1 << lane,
                None => groups.push(Group { lanes: 1 << lane, at }),
            }
        }
        self.ready.extend(groups);
    }

    fn wait(&mut self, lanes: Lanes, wait: Wait, at: usize) {
        each(lanes).for_each(|lane| self.waits[lane] = Some((wait, at)));
    }

    /// Lanes begin to take part in a convergence barrier.
    fn begin(&mut self, lanes: Lanes, barrier: usize) {
        each(lanes).for_each(|lane| self.barriers[lane][barrier] = lanes);
    }

    /// Lanes leave a convergence barrier.
    fn leave(&mut self, lanes: Lanes, barrier: usize) {
        for lane in each(lanes) {
            let others = std::mem::take(&mut self.barriers[lane][barrier]);
            each(others).for_each(|other| self.barriers[other][barrier] &= !lanes);
        }
    }
}

impl Machine<'_> {
    /// Executes an instruction about barriers for lanes. Returns whether they go on with the next line.
    pub(super) fn converge(&mut self, line: &Line, lanes: Lanes, at: usize) -> Known<bool> {
        let name = line.opcode.split('.').next().unwrap_or_default();
        let barrier = |nth: usize| {
            let operand = line.operands.get(nth).and_then(|operand| barrier(&operand.text));
            operand.ok_or_else(|| unknown(line))
        };
        match (name, line.operands.as_slice()) {
            ("BSSY", [_, _]) => self.warp.begin(lanes, barrier(0)?),
            ("BSYNC", [_]) => {
                self.warp.wait(lanes, Wait::Convergence(barrier(0)?), at + 1);
                return Ok(false);
            }
            ("BREAK", [_]) => self.warp.leave(lanes, barrier(0)?),
            ("BREAK", [condition, _]) if condition.is_predicate() => {
                let leaving = self.lanes_where(lanes, condition).ok_or_else(|| unknown(line))?;
                self.warp.leave(leaving, barrier(1)?);
            }
            ("BMOV", [to, from]) => self.move_barrier(line, to, from, lanes)?,
            // The lanes go on behind the next ENDCOLLECTIVE.
            ("WARPSYNC", [mask, target]) if line.opcode == "WARPSYNC.COLLECTIVE" => {
                let target = self.label(line, &target.text)?;
                let last = target.checked_sub(1).and_then(|last| self.listing.line(last).ok());
                if last.is_none_or(|last| last.opcode != "ENDCOLLECTIVE") {
                    return Err(unknown(line));
                }
                let others = self.common(lanes, mask).ok_or_else(|| unknown(line))?;
                self.warp.wait(lanes, Wait::Lanes(others), at + 1);
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
                self.warp.wait(lanes, Wait::Lanes(others), at + 1);
                return Ok(false);
            }
            ("BAR", operands) => {
                let words: Vec<&str> = line.opcode.split('.').skip(1).collect();
                let is_first = matches!(operands, [one] if self.common(lanes, one) == Some(0));
                if words.first() != Some(&"SYNC")
                    || words[1..].iter().any(|word| *word != "DEFER_BLOCKING")
                    || !is_first
                {
                    return Err(unknown(line));
                }
                self.warp.wait(lanes, Wait::Block, at + 1);
                return Ok(false);
            }
            _ => return Err(unknown(line)),
        }
        Ok(true)
    }

    /// `BMOV.32.CLEAR R4, B1` and `BMOV.32 B1, R4`: the lanes that take part in a convergence barrier.
    fn move_barrier(&mut self, line: &Line, to: &Operand, from: &Operand, lanes: Lanes) -> Known<()> {
        let clears = match line.opcode.as_str() {
            "BMOV.32" => false,
            "BMOV.32.CLEAR" => true,
            _ => return Err(unknown(line)),
        };
        match (barrier(&to.text), barrier(&from.text), to.register()) {
            (None, Some(from), Some(Register::Plain(_) | Register::Zero)) => {
                for lane in each(lanes) {
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
                for lane in each(lanes) {
                    self.registers.lane = lane;
                    self.warp.barriers[lane][to] = self.read(from).ok_or_else(|| unknown(line))?;
                }
                Ok(())
            }
            _ => Err(unknown(line)),
        }
    }

    /// Returns the lanes where a predicate operand holds; `None` if it is not known of some.
    pub(super) fn lanes_where(&mut self, lanes: Lanes, condition: &Operand) -> Option<Lanes> {
        each(lanes).try_fold(0, |holding, lane| {
            self.registers.lane = lane;
            Some(holding | Lanes::from(self.truth_of(condition)?) << lane)
        })
    }

    /// Returns the word of an operand if it is the same on all of these lanes.
    fn common(&mut self, lanes: Lanes, operand: &Operand) -> Option<u32> {
        let mut words = each(lanes).map(|lane| {
            self.registers.lane = lane;
            self.read(operand)
        });
        let first = words.next()??;
        words.all(|word| word == Some(first)).then_some(first)
    }

    /// Executes an instruction whose result the lanes share. One that copies from the lanes must find the same on all.
    pub(super) fn step_once(&mut self, line: &Line, lanes: Lanes) -> Known<()> {
        let name = line.opcode.split('.').next().unwrap_or_default();
        let reads_lanes = !name.starts_with('U') && !name.starts_with("LDCU");
        let mut first = None;
        let has_predicate =
            line.operands.first().is_some_and(|operand| operand.is_predicate() && !operand.is_true());
        if name == "R2UR" && has_predicate && lanes.count_ones() > 1 {
            return Err(unknown(line));
        }
        for lane in each(lanes) {
            self.registers.lane = lane;
            self.step(line)?;
            if !reads_lanes {
                break;
            }
            let to = line.operands.iter().find_map(Operand::register);
            let left = to.map(|to| (self.register(to), self.register(to.nth(1))));
            if *first.get_or_insert(left) != left {
                return Err(lost(line, "differs from lane to lane"));
            }
        }
        Ok(())
    }
}

/// Whether the lanes share the result of an instruction.
pub(super) fn is_shared(line: &Line) -> bool {
    let name = line.opcode.split('.').next().unwrap_or_default();
    let to = line.operands.iter().find(|operand| !operand.is_predicate());
    let is_uniform = matches!(to.map(|to| to.value), Some(Value::Register(Register::Uniform(_))));
    line.operation != Operation::Unknown
        && (name.starts_with('U')
            || ["R2UR", "S2UR", "CS2UR", "LDCU"].contains(&name)
            || is_uniform && is_first(line))
}

/// Whether the first operand that is no predicate is the destination: not of a store.
fn is_first(line: &Line) -> bool {
    !matches!(line.operation, Operation::Store(..) | Operation::Compare(_))
        && line.operands.first().is_some_and(|operand| register(&operand.text).is_some())
}

/// Parses `B4`.
fn barrier(text: &str) -> Option<usize> {
    text.strip_prefix('B')?.parse().ok().filter(|&nth| nth < BARRIERS)
}
