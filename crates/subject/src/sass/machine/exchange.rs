//! Executes instructions through which threads exchange values: atomic ones on memory, and those on which the lanes of a warp
//! meet. Both are executed only where values are compared.

use super::super::exchange::{Atomic, Exchange, MemoryChange};
use super::super::listing::Line;
use super::super::modifiers::Access;
use super::super::operand::Operand;
use super::warp::{Lanes, each};
use super::{Known, Machine, exactly, lost, unknown};
use ptxsmith_model::Space;

impl Machine<'_> {
    /// `ATOMG.E.ADD PT, R, [address], a`, `ATOMS.CAS R, [address], a, b`, `RED.E.ADD [address], a`
    pub(super) fn change(&mut self, line: &Line, access: Access, atomic: Atomic) -> Known<()> {
        let address = line.operands.iter().position(|operand| operand.text.starts_with('['));
        let (before, rest) = line.operands.split_at(address.ok_or_else(|| unknown(line))?);
        let (predicate, to) = match (before, atomic.returns, access) {
            ([], false, _) => (None, None),
            ([to], true, Access::Small(_)) => (None, Some(to)),
            ([predicate, to], true, Access::Global | Access::Generic) if predicate.is_predicate() => {
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
        let place = place.ok_or_else(|| lost(line, "changes a place that is not known"))?;
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
        let old = self.held(place, atomic.bytes);
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
    pub(super) fn compare_and_store(&mut self, line: &Line) -> Known<()> {
        let [to, address, a, b] = exactly(line)?;
        let place = self.place(line, Access::Small(Space::Shared), &address.text);
        let place = place.ok_or_else(|| lost(line, "changes a place that is not known"))?;
        let (old, expected, new) = (self.held(place, 8), self.pair(a), self.pair(b));
        let is_same = old.zip(expected).map(|(old, expected)| old == expected);
        match is_same {
            Some(false) => {}
            Some(true) => self.store_number(place, 8, new),
            None => self.store_number(place, 8, None),
        }
        match to.is_predicate() {
            true => self.set_truth(to, is_same),
            false => self.set_pair(Self::destination(line, to)?, is_same.map(u64::from)),
        }
        Ok(())
    }

    /// `QSPC.E.S P, RZ, [address]`
    pub(super) fn is_in_shared(&mut self, line: &Line) -> Known<()> {
        let [predicate, to, address] = exactly(line)?;
        if !predicate.is_predicate() || to.text != "RZ" {
            return Err(unknown(line));
        }
        let place = self.place(line, Access::Generic, &address.text);
        self.set_truth(predicate, place.map(|(space, _)| space == Space::Shared));
        Ok(())
    }

    fn held(&self, (space, at): (Space, u64), bytes: usize) -> Option<u64> {
        let bytes = (0..bytes as u64).rev().map(|nth| self.byte(space, at.wrapping_add(nth)));
        bytes.into_iter().try_fold(0, |value, byte| Some(value << 8 | u64::from(byte?)))
    }

    fn store_number(&mut self, (space, at): (Space, u64), bytes: usize, value: Option<u64>) {
        for nth in 0..bytes as u64 {
            let byte = value.map(|value| (value >> (8 * nth)) as u8);
            self.reached.get_mut().written.insert((space, at.wrapping_add(nth)), byte);
        }
    }

    /// Executes an instruction on which these lanes exchange values.
    pub(super) fn exchange(&mut self, line: &Line, exchange: Exchange, lanes: Lanes) -> Known<()> {
        match exchange {
            Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => {
                self.shuffle(line, exchange, lanes)
            }
            Exchange::Any | Exchange::All | Exchange::Equal => self.vote(line, exchange, lanes),
            Exchange::MatchAny { pair } => {
                let [to, from] = exactly(line)?;
                self.match_lanes(line, (None, to, from), pair, lanes)
            }
            Exchange::MatchAll { pair } => {
                let [predicate, to, from] = exactly(line)?;
                self.match_lanes(line, (Some(predicate), to, from), pair, lanes)
            }
            _ => self.reduce(line, exchange, lanes),
        }
    }

    /// `SHFL.IDX P, R, a, b, c`: the value of another lane, and whether it lies in the segment.
    fn shuffle(&mut self, line: &Line, exchange: Exchange, lanes: Lanes) -> Known<()> {
        let [predicate, to, from, by, limits] = exactly(line)?;
        if !predicate.is_predicate() {
            return Err(unknown(line));
        }
        let values = self.words_of(from, lanes);
        let (counts, limits) = (self.words_of(by, lanes), self.words_of(limits, lanes));
        let to = Self::destination(line, to)?;
        for lane in each(lanes) {
            let other =
                counts[lane].zip(limits[lane]).map(|(by, limits)| other_lane(exchange, lane, by, limits));
            self.registers.lane = lane;
            self.set_truth(predicate, other.map(|(_, is_inside)| is_inside));
            let value = other.and_then(|(other, _)| values[other].filter(|_| lanes >> other & 1 == 1));
            self.set(to, value);
        }
        Ok(())
    }

    /// `VOTE.ANY R, P, a`, `VOTE.ALL P, a`: the lanes where a predicate holds, and whether it holds on any or on all.
    fn vote(&mut self, line: &Line, exchange: Exchange, lanes: Lanes) -> Known<()> {
        let Some((condition, to)) = line.operands.split_last() else { return Err(unknown(line)) };
        let holding = self.lanes_where(lanes, condition);
        let truth = holding.map(|holding| match exchange {
            Exchange::Any => holding != 0,
            Exchange::All => holding == lanes,
            _ => holding == 0 || holding == lanes,
        });
        for lane in each(lanes) {
            self.registers.lane = lane;
            for to in to {
                match to.is_predicate() {
                    true => self.set_truth(to, truth),
                    false if exchange == Exchange::Any => self.set(Self::destination(line, to)?, holding),
                    false => return Err(unknown(line)),
                }
            }
        }
        Ok(())
    }

    /// `MATCH.ANY R, a`: the lanes with the same value; `MATCH.ALL P, R, a`: all lanes, if the value is the same on all.
    fn match_lanes(
        &mut self,
        line: &Line,
        (predicate, to, from): (Option<&Operand>, &Operand, &Operand),
        pair: bool,
        lanes: Lanes,
    ) -> Known<()> {
        let mut values = [None; 32];
        for lane in each(lanes) {
            self.registers.lane = lane;
            values[lane] = if pair { self.pair(from) } else { self.read(from).map(u64::from) };
        }
        let to = Self::destination(line, to)?;
        let is_known = each(lanes).all(|lane| values[lane].is_some());
        for lane in each(lanes) {
            let alike = each(lanes).filter(|&other| values[other] == values[lane]).map(|other| 1 << other);
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
    fn reduce(&mut self, line: &Line, exchange: Exchange, lanes: Lanes) -> Known<()> {
        let [to, from] = exactly(line)?;
        let values = self.words_of(from, lanes);
        let values: Option<Vec<u32>> = each(lanes).map(|lane| values[lane]).collect();
        let key = |value: &u32, signed| if signed { i64::from(*value as i32) } else { i64::from(*value) };
        let result = values.map(IntoIterator::into_iter).and_then(|values| match exchange {
            Exchange::Sum => values.reduce(u32::wrapping_add),
            Exchange::Least { signed } => values.min_by_key(|value| key(value, signed)),
            Exchange::Greatest { signed } => values.max_by_key(|value| key(value, signed)),
            Exchange::And => values.reduce(|a, b| a & b),
            Exchange::Or => values.reduce(|a, b| a | b),
            Exchange::Xor => values.reduce(|a, b| a ^ b),
            _ => None,
        });
        let to = Self::destination(line, to)?;
        for lane in each(lanes) {
            self.registers.lane = lane;
            self.set(to, result);
        }
        Ok(())
    }

    /// Returns the word of an operand on each of these lanes.
    fn words_of(&mut self, operand: &Operand, lanes: Lanes) -> [Option<u32>; 32] {
        let mut words = [None; 32];
        for lane in each(lanes) {
            self.registers.lane = lane;
            words[lane] = self.read(operand);
        }
        words
    }
}

/// Returns the lane that a lane reads from, itself if the other one is outside of its segment, and whether it is inside.
fn other_lane(exchange: Exchange, lane: usize, by: u32, limits: u32) -> (usize, bool) {
    let (own, by) = (lane as i32, (by & 31) as i32);
    let (clamp, segment) = ((limits & 31) as i32, (limits >> 8 & 31) as i32);
    let most = own & segment | clamp & !segment;
    let (other, is_inside) = match exchange {
        Exchange::Up => (own - by, own - by >= most),
        Exchange::Down => (own + by, own + by <= most),
        Exchange::Butterfly => (own ^ by, own ^ by <= most),
        _ => {
            let other = own & segment | by & !segment;
            (other, other <= most)
        }
    };
    (if is_inside { other as usize } else { lane }, is_inside)
}

impl Atomic {
    /// Returns the new value in memory.
    fn result(self, old: u64, sources: &[u64]) -> u64 {
        let (a, b) = (sources[0], sources.last().copied().unwrap_or_default());
        let unused = 64 - 8 * self.bytes as u32;
        let number = |value: u64| match self.signed {
            true => i128::from((value << unused) as i64),
            false => i128::from(value << unused),
        };
        match self.change {
            MemoryChange::Add => old.wrapping_add(a),
            MemoryChange::Least if number(a) < number(old) => a,
            MemoryChange::Greatest if number(a) > number(old) => a,
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
