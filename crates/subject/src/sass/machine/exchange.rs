//! Executes instructions through which threads exchange values: atomic instructions on memory, and
//! instructions on which the lanes of a warp meet. Both are executed only where values are compared.

use std::cmp::Ordering;

use super::super::exchange::{AtomicOperation, LaneExchange, MemoryChange};
use super::super::listing::ListedInstruction;
use super::super::modifiers::AccessedMemory;
use super::super::operand::SassOperand;
use super::warp::{Lanes, lane_numbers};
use super::{Execution, SassMachine, operands_of, stop_at, unknown};
use ptxsmith_model::Space;

impl SassMachine<'_> {
    /// `ATOMG.E.ADD PT, R, [address], a`, `ATOMS.CAS R, [address], a, b`, `RED.E.ADD [address], a`
    pub(super) fn change(
        &mut self,
        line: &ListedInstruction,
        access: AccessedMemory,
        atomic: AtomicOperation,
    ) -> Execution<()> {
        let address = line.operands.iter().position(|operand| operand.text.starts_with('['));
        let (before, rest) = line.operands.split_at(address.ok_or_else(|| unknown(line))?);
        let (predicate, to) = match (before, atomic.returns, access) {
            ([], false, _) => (None, None),
            ([to], true, AccessedMemory::Small(_)) => (None, Some(to)),
            ([predicate, to], true, AccessedMemory::Global | AccessedMemory::Generic)
                if predicate.is_predicate() =>
            {
                (Some(predicate).filter(|predicate| !predicate.is_true()), Some(to))
            }
            _ => return Err(unknown(line)),
        };
        let [address, sources @ ..] = rest else { return Err(unknown(line)) };
        let is_swap = atomic.change == MemoryChange::CompareAndSwap;
        if sources.len() != 1 + usize::from(is_swap) || predicate.is_some() && !atomic.generic {
            return Err(unknown(line));
        }
        let place = self.place(line, access, &address.text);
        let place = place.ok_or_else(|| stop_at(line, "changes a place that is not known"))?;
        let to = to.map(|to| Self::destination(line, to)).transpose()?;
        if let Some(predicate) = predicate {
            let is_global = place.0 == Space::Global;
            self.set_truth(predicate, Some(is_global));
            if !is_global {
                return Ok(());
            }
        }
        let sources: Option<Vec<u64>> = sources
            .iter()
            .map(
                |source| if atomic.bytes == 8 { self.pair(source) } else { self.read(source).map(u64::from) },
            )
            .collect();
        let old = self.stored_number(place, atomic.bytes);
        let new = old.zip(sources).map(|(old, sources)| atomic.result(old, &sources));
        self.store_number(place, atomic.bytes, new);
        match (to, atomic.bytes) {
            (Some(to), 8) => self.set_pair(to, old),
            (Some(to), _) => self.set(to, old.map(|old| old as u32)),
            (None, _) => {}
        }
        Ok(())
    }

    /// `ATOMS.CAST.SPIN.64 R, [address], a, b`; the destination may be a predicate.
    pub(super) fn compare_and_store(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, address, a, b] = operands_of(line)?;
        let place = self.place(line, AccessedMemory::Small(Space::Shared), &address.text);
        let place = place.ok_or_else(|| stop_at(line, "changes a place that is not known"))?;
        let (old, expected, new) = (self.stored_number(place, 8), self.pair(a), self.pair(b));
        let is_same = old.zip(expected).map(|(old, expected)| old == expected);
        match is_same {
            Some(false) => {}
            Some(true) => self.store_number(place, 8, new),
            None => self.store_number(place, 8, None),
        }
        if to.is_predicate() {
            self.set_truth(to, is_same);
        } else {
            self.set_pair(Self::destination(line, to)?, is_same.map(u64::from));
        }
        Ok(())
    }

    /// `QSPC.E.S P, RZ, [address]`
    pub(super) fn is_in_shared(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [predicate, to, address] = operands_of(line)?;
        if !predicate.is_predicate() || to.text != "RZ" {
            return Err(unknown(line));
        }
        let place = self.place(line, AccessedMemory::Generic, &address.text);
        self.set_truth(predicate, place.map(|(space, _)| space == Space::Shared));
        Ok(())
    }

    fn stored_number(&self, (space, address): (Space, u64), bytes: usize) -> Option<u64> {
        let bytes = (0..bytes as u64).rev().map(|nth| self.byte(space, address.wrapping_add(nth)));
        bytes.into_iter().try_fold(0, |value, byte| Some(value << 8 | u64::from(byte?)))
    }

    fn store_number(&mut self, (space, address): (Space, u64), bytes: usize, value: Option<u64>) {
        for nth in 0..bytes as u64 {
            let byte = value.map(|value| (value >> (8 * nth)) as u8);
            self.reached.get_mut().written.insert((space, address.wrapping_add(nth)), byte);
        }
    }

    /// Executes an instruction on which these lanes exchange values.
    pub(super) fn exchange(
        &mut self,
        line: &ListedInstruction,
        exchange: LaneExchange,
        lanes: Lanes,
    ) -> Execution<()> {
        match exchange {
            LaneExchange::Up | LaneExchange::Down | LaneExchange::Butterfly | LaneExchange::Index => {
                self.shuffle(line, exchange, lanes)
            }
            LaneExchange::Any | LaneExchange::All | LaneExchange::Equal => self.vote(line, exchange, lanes),
            LaneExchange::MatchAny { pair } => {
                let [to, from] = operands_of(line)?;
                self.match_lanes(line, (None, to, from), pair, lanes)
            }
            LaneExchange::MatchAll { pair } => {
                let [predicate, to, from] = operands_of(line)?;
                self.match_lanes(line, (Some(predicate), to, from), pair, lanes)
            }
            _ => self.reduce(line, exchange, lanes),
        }
    }

    /// `SHFL.IDX P, R, a, b, c`: the value of another lane, and whether it lies in the segment.
    fn shuffle(&mut self, line: &ListedInstruction, exchange: LaneExchange, lanes: Lanes) -> Execution<()> {
        let [predicate, to, from, by, limits] = operands_of(line)?;
        if !predicate.is_predicate() {
            return Err(unknown(line));
        }
        let values = self.words_of(from, lanes);
        let (counts, limits) = (self.words_of(by, lanes), self.words_of(limits, lanes));
        let to = Self::destination(line, to)?;
        for lane in lane_numbers(lanes) {
            let other =
                counts[lane].zip(limits[lane]).map(|(by, limits)| other_lane(exchange, lane, by, limits));
            self.registers.lane = lane;
            self.set_truth(predicate, other.map(|(_, is_inside)| is_inside));
            let value = other.and_then(|(other, _)| values[other].filter(|_| lanes >> other & 1 == 1));
            self.set(to, value);
        }
        Ok(())
    }

    /// `VOTE.ANY R, P, a`, `VOTE.ALL P, a`: the lanes where a predicate holds, and whether it holds on any or
    /// on all. ptxas 11.7 writes `VOTE.ALL R, PT, PT` for the lanes that run.
    fn vote(&mut self, line: &ListedInstruction, exchange: LaneExchange, lanes: Lanes) -> Execution<()> {
        let Some((condition, to)) = line.operands.split_last() else { return Err(unknown(line)) };
        let holding = self.lanes_where(lanes, condition);
        let truth = holding.map(|holding| match exchange {
            LaneExchange::Any => holding != 0,
            LaneExchange::All => holding == lanes,
            _ => holding == 0 || holding == lanes,
        });
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            for to in to {
                if to.is_predicate() {
                    self.set_truth(to, truth);
                } else if exchange == LaneExchange::Any
                    || exchange == LaneExchange::All && holding == Some(lanes)
                {
                    self.set(Self::destination(line, to)?, holding);
                } else {
                    return Err(unknown(line));
                }
            }
        }
        Ok(())
    }

    /// `MATCH.ANY R, a`: the lanes with the same value; `MATCH.ALL P, R, a`: all lanes, if the value is the
    /// same on all.
    fn match_lanes(
        &mut self,
        line: &ListedInstruction,
        (predicate, to, from): (Option<&SassOperand>, &SassOperand, &SassOperand),
        pair: bool,
        lanes: Lanes,
    ) -> Execution<()> {
        let mut values = [None; 32];
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            values[lane] = if pair { self.pair(from) } else { self.read(from).map(u64::from) };
        }
        let to = Self::destination(line, to)?;
        let is_known = lane_numbers(lanes).all(|lane| values[lane].is_some());
        for lane in lane_numbers(lanes) {
            let alike =
                lane_numbers(lanes).filter(|&other| values[other] == values[lane]).map(|other| 1 << other);
            let alike = Some(alike.sum::<u32>()).filter(|_| is_known);
            self.registers.lane = lane;
            match predicate {
                None => self.set(to, alike),
                Some(predicate) => {
                    let is_common = alike.map(|alike| alike == lanes);
                    self.set_truth(predicate, is_common);
                    self.set(to, is_common.map(|is_common| if is_common { lanes } else { 0 }));
                }
            }
        }
        Ok(())
    }

    /// `REDUX.SUM UR, a`
    fn reduce(&mut self, line: &ListedInstruction, exchange: LaneExchange, lanes: Lanes) -> Execution<()> {
        let [to, from] = operands_of(line)?;
        let values = self.words_of(from, lanes);
        let values: Option<Vec<u32>> = lane_numbers(lanes).map(|lane| values[lane]).collect();
        let result = values.map(IntoIterator::into_iter).and_then(|values| match exchange {
            LaneExchange::Sum => values.reduce(u32::wrapping_add),
            LaneExchange::Least { signed } => values.min_by_key(|&word| number(word, signed)),
            LaneExchange::Greatest { signed } => values.max_by_key(|&word| number(word, signed)),
            LaneExchange::And => values.reduce(|a, b| a & b),
            LaneExchange::Or => values.reduce(|a, b| a | b),
            LaneExchange::Xor => values.reduce(|a, b| a ^ b),
            _ => None,
        });
        let to = Self::destination(line, to)?;
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            self.set(to, result);
        }
        Ok(())
    }

    /// Returns the word of an operand on each of these lanes.
    fn words_of(&mut self, operand: &SassOperand, lanes: Lanes) -> [Option<u32>; 32] {
        let mut words = [None; 32];
        for lane in lane_numbers(lanes) {
            self.registers.lane = lane;
            words[lane] = self.read(operand);
        }
        words
    }
}

/// Returns the number that a word stands for.
fn number(word: u32, signed: bool) -> i64 {
    if signed { i64::from(word as i32) } else { i64::from(word) }
}

/// Returns the lane that a lane reads from (itself if the other one is outside of its segment), and whether
/// the other one is inside.
fn other_lane(exchange: LaneExchange, lane: usize, by: u32, limits: u32) -> (usize, bool) {
    let (reader, by) = (lane as i32, (by & 31) as i32);
    let (clamp, segment) = ((limits & 31) as i32, (limits >> 8 & 31) as i32);
    let most = reader & segment | clamp & !segment;
    let (other, is_inside) = match exchange {
        LaneExchange::Up => (reader - by, reader - by >= most),
        LaneExchange::Down => (reader + by, reader + by <= most),
        LaneExchange::Butterfly => (reader ^ by, reader ^ by <= most),
        _ => {
            let other = reader & segment | by & !segment;
            (other, other <= most)
        }
    };
    (if is_inside { other as usize } else { lane }, is_inside)
}

impl AtomicOperation {
    /// Compares two values of its type.
    fn order(self, a: u64, b: u64) -> Ordering {
        let unused = 64 - 8 * self.bytes as u32;
        let (a, b) = (a << unused, b << unused);
        if self.signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) }
    }

    /// Returns the new value in memory.
    fn result(self, old: u64, sources: &[u64]) -> u64 {
        let (a, b) = (sources[0], sources.last().copied().unwrap_or_default());
        match self.change {
            MemoryChange::Add => old.wrapping_add(a),
            MemoryChange::Least if self.order(a, old).is_lt() => a,
            MemoryChange::Greatest if self.order(a, old).is_gt() => a,
            MemoryChange::Least | MemoryChange::Greatest => old,
            MemoryChange::And => old & a,
            MemoryChange::Or => old | a,
            MemoryChange::Xor => old ^ a,
            MemoryChange::Exchange => a,
            MemoryChange::CompareAndSwap => {
                if old == a {
                    b
                } else {
                    old
                }
            }
            MemoryChange::Increment => {
                if old >= a {
                    0
                } else {
                    old + 1
                }
            }
            MemoryChange::Decrement => {
                if old == 0 || old > a {
                    a
                } else {
                    old - 1
                }
            }
        }
    }
}
