//! Executes instructions on registers.
//!
//! An instruction with operands in an unknown form is not supported, and its effect is unknown.

use super::super::listing::Line;
use super::super::operand::{Change, Operand, Predicate, Value, half};
use super::super::operation::{
    Combination, Comparison, Extreme, Lanes, Operation, Order, Part, Product, Size,
};
use super::{Known, Machine, exactly, unknown, words};

impl Machine<'_> {
    /// Executes an instruction that is not a jump.
    pub(super) fn step(&mut self, line: &Line) -> Known<()> {
        match line.operation {
            // Where values are compared, lanes wait (`converge`).
            Operation::Nothing | Operation::Converge => Ok(()),
            Operation::Move { pair } => self.copy(line, pair),
            Operation::MovePair => {
                let [to, from] = exactly(line)?;
                let value = self.pair(from);
                self.set_pair(Self::destination(line, to)?, value);
                Ok(())
            }
            Operation::Add { extended } => self.add(line, extended),
            Operation::AddSaturated => self.add_saturated(line),
            Operation::AddHalves => self.binary(line, |a, b| Some(words::by_halves(a, b, u16::wrapping_add))),
            Operation::AddBytes => self.add_bytes(line),
            Operation::AddPairs => self.add_pairs(line),
            Operation::MultiplyAdd { extended } => self.multiply_add(line, extended),
            Operation::MultiplyAddWide(product) => self.multiply_add_wide(line, product, false),
            Operation::MultiplyAddHigh(product) => self.multiply_add_wide(line, product, true),
            Operation::ShiftAdd { part, extended } => self.shift_add(line, part, extended),
            Operation::FunnelShift(funnel) => {
                self.ternary(line, |low, count, high| Some(words::shifted(funnel, low, count, high)))
            }
            Operation::ExtendSign { signed, wraps } => self
                .binary(line, |a, width| words::extended(signed, a, if wraps { width & 31 } else { width })),
            Operation::ShiftLeft { wraps } => {
                self.binary(line, |a, b| Some(a.checked_shl(if wraps { b & 31 } else { b }).unwrap_or(0)))
            }
            Operation::ShiftRight { signed, wraps } => self.binary(line, |a, b| {
                let count = if wraps { b & 31 } else { b };
                Some(match signed {
                    true => ((a as i32) >> count.min(31)) as u32,
                    false => a.checked_shr(count).unwrap_or(0),
                })
            }),
            Operation::Logic { all } => self.logic(line, all),
            Operation::PredicateLogic => self.predicate_logic(line),
            Operation::PermuteBytes(mode) => self.ternary(line, |a, control, b| {
                let control = mode.map_or(control, |mode| mode[control as usize & 3].into());
                Some(words::permuted(a, control, b))
            }),
            Operation::MaskBits { wraps } => self.binary(line, |at, width| words::mask(wraps, at, width)),
            Operation::ReverseBits => self.unary(line, u32::reverse_bits),
            Operation::CountOnes => self.unary(line, u32::count_ones),
            Operation::FindHighest { signed, shift } => {
                self.unary(line, |a| words::highest(signed, shift, a))
            }
            Operation::AbsoluteValue => self.unary(line, |a| (a as i32).unsigned_abs()),
            Operation::AbsoluteDifference { signed } => self.ternary(line, |a, b, c| {
                let distance = if signed { (a as i32).abs_diff(b as i32) } else { a.abs_diff(b) };
                Some(distance.wrapping_add(c))
            }),
            Operation::ByteDifferences { adds } => {
                self.ternary(line, |a, b, c| Some(words::byte_differences(a, b, adds.then_some(c))))
            }
            Operation::Extreme(extreme) => self.extreme(line, extreme),
            Operation::DotProduct(dot) => {
                self.ternary(line, |a, b, c| Some(words::dot_product(dot, a, b, c)))
            }
            Operation::Saturate { bits, signed, from_signed } => {
                self.unary(line, |a| words::saturated(bits, signed, from_signed, a))
            }
            Operation::PredicatesToRegister => self.predicates_to_register(line),
            Operation::RegisterToPredicates => self.register_to_predicates(line),
            Operation::Compare(comparison) => self.compare(line, comparison),
            Operation::Select => self.select(line),
            Operation::SelectPair => {
                let [to, a, b, condition] = exactly(line)?;
                let value = self.truth_of(condition).and_then(|holds| self.pair(if holds { a } else { b }));
                self.set_pair(Self::destination(line, to)?, value);
                Ok(())
            }
            Operation::ConstantHalves => self.constant_halves(line),
            Operation::LoadConstant(width) => self.load_constant(line, width),
            Operation::IsShared => self.is_in_shared(line),
            Operation::Load(..)
            | Operation::Store(..)
            | Operation::Atomic(..)
            | Operation::CompareAndStore
            | Operation::Exchange(_)
            | Operation::Unknown
            | Operation::Exit
            | Operation::Branch
            | Operation::BranchByRegister
            | Operation::Call
            | Operation::Return => Err(unknown(line)),
        }
    }

    fn copy(&mut self, line: &Line, pair: bool) -> Known<()> {
        let (to, from) = match line.operands.as_slice() {
            [to, from] => (to, from),
            // The predicate of `R2UR P0, UR4, R2` does not matter for a single thread.
            [predicate, to, from] if line.opcode == "R2UR" && predicate.is_predicate() => (to, from),
            _ => return Err(unknown(line)),
        };
        let to = Self::destination(line, to)?;
        let value = match from.text.as_str() {
            "SRZ" => Some(0),
            text if text.starts_with("SR") => self.special(text),
            _ => self.read(from),
        };
        if pair {
            self.set(to.nth(1), value);
        }
        self.set(to, value);
        Ok(())
    }

    /// `IMAD R, a, b, c[, P]`
    fn multiply_add(&mut self, line: &Line, extended: bool) -> Known<()> {
        let (values, carries) = line.operands.split_at_checked(4).ok_or_else(|| unknown(line))?;
        let [to, a, b, c] = values else { return Err(unknown(line)) };
        self.are_carries(line, carries, extended)?;
        let product = product(self.read(a), self.read(b), u32::wrapping_mul);
        let (value, _) = self.sum([product.map(u64::from), self.term(c)], carries);
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `IMAD.WIDE R, [P,] a, b, c, [P]`; `IMAD.HI` returns the upper word.
    fn multiply_add_wide(
        &mut self,
        line: &Line,
        Product { signed, extended }: Product,
        high: bool,
    ) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (values, carries) = rest.split_at_checked(3).ok_or_else(|| unknown(line))?;
        let [a, b, c] = values else { return Err(unknown(line)) };
        self.are_carries(line, carries, extended)?;
        let is_changed = |operand: &Operand| operand.change != Change::default();
        let is_carried = outs.iter().any(|out| !out.is_true());
        if outs.len() > 1 || is_changed(a) || is_changed(b) || is_carried && (signed || is_changed(c)) {
            return Err(unknown(line));
        }
        let product = product(self.read(a), self.read(b), |a, b| match signed {
            true => (i64::from(a as i32) * i64::from(b as i32)) as u64,
            false => u64::from(a) * u64::from(b),
        });
        let carry = carries.iter().try_fold(0, |sum, carry| Some(sum + u128::from(self.truth_of(carry)?)));
        let sum = product
            .zip(self.pair(c))
            .zip(carry)
            .map(|((product, c), carry)| u128::from(product) + u128::from(c) + carry);
        for out in outs {
            self.set_truth(out, sum.map(|sum| sum >> 64 != 0));
        }
        let to = Self::destination(line, to)?;
        match high {
            true => self.set(to, sum.map(|sum| (sum >> 32) as u32)),
            false => self.set_pair(to, sum.map(|sum| sum as u64)),
        }
        Ok(())
    }

    /// Whether these operands are the carries of the instruction: one or two if it adds carries.
    fn are_carries(&self, line: &Line, carries: &[Operand], extended: bool) -> Known<()> {
        let is_carry = |operand: &Operand| operand.is_predicate();
        let fits = match extended {
            true => (1..=2).contains(&carries.len()) && carries.iter().all(is_carry),
            // A predicate that is always false adds nothing.
            false => carries.iter().all(Operand::is_false),
        };
        if fits { Ok(()) } else { Err(unknown(line)) }
    }

    /// Returns the sum of terms and carries, and its carry: the number of overflows.
    fn sum(
        &self,
        terms: impl IntoIterator<Item = Option<u64>>,
        carries: &[Operand],
    ) -> (Option<u32>, Option<u64>) {
        let carries = carries.iter().map(|carry| self.truth_of(carry).map(u64::from));
        let sum = terms.into_iter().chain(carries).sum::<Option<u64>>();
        (sum.map(|sum| sum as u32), sum.map(|sum| sum >> 32))
    }

    /// `IADD3 R, [P, [P,]] a, b, c, [!P, [!P]]`
    fn add(&mut self, line: &Line, extended: bool) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let count = rest.iter().take_while(|operand| !operand.is_predicate()).count();
        let (terms, carries) = rest.split_at(count);
        self.are_carries(line, carries, extended)?;
        // The effect of a negated term together with a carry is not known.
        let is_odd = extended && terms.iter().any(|term| term.change.negates);
        if !(2..=3).contains(&terms.len()) || outs.len() > 2 || is_odd {
            return Err(unknown(line));
        }
        let (value, carry) = self.sum(terms.iter().map(|term| self.term(term)), carries);
        match outs {
            [] => {}
            [one] => self.set_truth(one, carry.filter(|&carry| carry < 2).map(|carry| carry == 1)),
            [one, other] if other.is_true() => {
                self.set_truth(one, carry.filter(|&carry| carry < 2).map(|carry| carry == 1));
            }
            [one, _] if one.is_true() => return Err(unknown(line)),
            [one, other, ..] => {
                self.set_truth(one, carry.map(|carry| carry > 0));
                self.set_truth(other, carry.map(|carry| carry > 1));
            }
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `VIADD.S32.ISAT R, a, b`
    fn add_saturated(&mut self, line: &Line) -> Known<()> {
        let [to, a, b] = exactly(line)?;
        let signed = |operand: &Operand| match operand.change {
            // A negated operand is not saturated before the addition.
            Change { negates: true, inverts: false, absolute: false } => self
                .read(&Operand { change: Change::default(), ..operand.clone() })
                .map(|word| -i64::from(word as i32)),
            Change { negates: false, absolute: false, .. } => {
                self.read(operand).map(|word| i64::from(word as i32))
            }
            _ => None,
        };
        let sum =
            signed(a).zip(signed(b)).map(|(a, b)| (a + b).clamp(i32::MIN.into(), i32::MAX.into()) as u32);
        self.set(Self::destination(line, to)?, sum);
        Ok(())
    }

    /// `VIADD.U8x4 R, a, b`; a negated operand is subtracted byte by byte.
    fn add_bytes(&mut self, line: &Line) -> Known<()> {
        let [to, a, b] = exactly(line)?;
        let negated = Change { negates: true, ..Change::default() };
        if a.change != Change::default() || ![Change::default(), negated].contains(&b.change) {
            return Err(unknown(line));
        }
        let plain = self.read(&Operand { change: Change::default(), ..b.clone() });
        let sum = self.read(a).zip(plain).map(|(x, y)| match b.change.negates {
            true => words::by_bytes(x, y, u8::wrapping_sub),
            false => words::by_bytes(x, y, u8::wrapping_add),
        });
        self.set(Self::destination(line, to)?, sum);
        Ok(())
    }

    /// `IADD.64 R, a, b` and `UIADD3.64 UR, UPT, UPT, a, b, URZ`
    fn add_pairs(&mut self, line: &Line) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, terms) = predicates_first(rest);
        if outs.iter().any(|out| !out.is_true()) || terms.iter().any(Operand::is_predicate) {
            return Err(unknown(line));
        }
        let total = terms.iter().try_fold(0u64, |total, term| Some(total.wrapping_add(self.pair(term)?)));
        self.set_pair(Self::destination(line, to)?, total);
        Ok(())
    }

    /// `LEA R, [P,] a, b, shift[, P]` and `LEA.HI.X R, [P,] a, b, high, shift, P`.
    fn shift_add(&mut self, line: &Line, part: Part, extended: bool) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (values, carries) =
            rest.split_at(rest.iter().take_while(|operand| !operand.is_predicate()).count());
        self.are_carries(line, carries, extended)?;
        let (a, b, high, shift) = match (part, values) {
            (Part::High, [a, b, high, shift]) => (a, b, self.read(high), shift),
            (Part::Low | Part::HighOfSigned, [a, b, shift]) => (a, b, Some(0), shift),
            _ => return Err(unknown(line)),
        };
        let is_carried = outs.iter().any(|out| !out.is_true());
        let negates = a.change.negates || b.change.negates;
        // The effect of a negated operand in these cases is not known.
        let is_odd =
            a.change.negates && part != Part::Low || negates && (extended || is_carried && part != Part::Low);
        if outs.len() > 1 || is_odd || a.change.negates && b.change.negates {
            return Err(unknown(line));
        }
        let shift = self.read(shift).filter(|&shift| shift < 32);
        let plain = self.read(&Operand { change: Change { negates: false, ..a.change }, ..a.clone() });
        let shifted = plain.zip(high).zip(shift).map(|((a, high), shift)| match part {
            Part::Low => a << shift,
            Part::High => ((u64::from(high) << 32 | u64::from(a)) << shift >> 32) as u32,
            Part::HighOfSigned => (i64::from(a as i32) << shift >> 32) as u32,
        });
        let shifted = shifted.map(|word| match a.change.negates {
            true => (1 << 32) - u64::from(word),
            false => u64::from(word),
        });
        let (value, carry) = self.sum([shifted, self.term(b)], carries);
        for out in outs {
            self.set_truth(out, carry.filter(|&carry| carry < 2).map(|carry| carry == 1));
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `LOP3.LUT [P,] R, a, b, c, table, P`
    fn logic(&mut self, line: &Line, all: bool) -> Known<()> {
        let (outs, rest) = predicates_first(&line.operands);
        let [to, a, b, c, table, others @ ..] = rest else { return Err(unknown(line)) };
        let Value::Immediate(table) = table.value else { return Err(unknown(line)) };
        let words = self.read(a).zip(self.read(b)).zip(self.read(c));
        let value = words.map(|((a, b), c)| words::looked_up(a, b, c, table as u8));
        match (outs, others) {
            ([], []) => {}
            ([], [other]) if other.is_false() => {}
            ([out], [other]) if other.is_predicate() => {
                let other = self.truth_of(other);
                let combined = value.zip(other).map(|(value, other)| match all {
                    true => value != 0 && other,
                    false => value != 0 || other,
                });
                self.set_truth(out, combined);
            }
            _ => return Err(unknown(line)),
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `PLOP3.LUT P, P, P, P, P, table, table`
    fn predicate_logic(&mut self, line: &Line) -> Known<()> {
        let [to, also, a, b, c, table, other] = exactly(line)?;
        let (Value::Immediate(table), Value::Immediate(other)) = (table.value, other.value) else {
            return Err(unknown(line));
        };
        let bit = |operand| self.truth_of(operand).map(u32::from);
        let index = bit(a).zip(bit(b)).zip(bit(c)).map(|((a, b), c)| a << 2 | b << 1 | c);
        self.set_truth(to, index.map(|index| table >> index & 1 == 1));
        self.set_truth(also, index.map(|index| other >> index & 1 == 1));
        Ok(())
    }

    /// `VIMNMX R, a, b, P`: the minimum if the predicate is true, otherwise the maximum. `VIMNMX3` and `VIADDMNMX` have
    /// one more operand.
    fn extreme(&mut self, line: &Line, extreme: Extreme) -> Known<()> {
        let rest = line.operands.as_slice();
        // Further predicates belong to comparisons of longer values, which this instruction does not make.
        let (before, rest) = predicates_first(rest);
        let (to, rest) = rest.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (values, conditions) =
            rest.split_at(rest.iter().take_while(|operand| !operand.is_predicate()).count());
        let condition = match conditions {
            [condition] => condition,
            [condition, further] if further.is_false() => condition,
            _ => return Err(unknown(line)),
        };
        if before.iter().chain(outs).any(|out| !out.is_true()) {
            return Err(unknown(line));
        }
        let to = Self::destination(line, to)?;
        let least = self.truth_of(condition);
        if extreme.lanes == Lanes::Pair {
            let [a, b] = values else { return Err(unknown(line)) };
            let both = self.pair(a).zip(self.pair(b)).zip(least);
            self.set_pair(to, both.map(|((a, b), least)| words::extreme_pair(extreme.signed, least, a, b)));
            return Ok(());
        }
        let values: Option<Vec<u32>> = values.iter().map(|value| self.read(value)).collect();
        let value = match (values, least) {
            (Some(values), Some(least)) => {
                let values = match (extreme.adds, values.as_slice()) {
                    (true, [a, b, c]) => vec![a.wrapping_add(*b), *c],
                    (false, [_, _] | [_, _, _]) => values,
                    _ => return Err(unknown(line)),
                };
                Some(words::extreme(extreme, least, &values))
            }
            _ => None,
        };
        self.set(to, value);
        Ok(())
    }

    /// `P2R R, PR, a, mask`
    fn predicates_to_register(&mut self, line: &Line) -> Known<()> {
        let [to, from, a, mask] = exactly(line)?;
        let predicate: fn(u8) -> Predicate = match from.text.as_str() {
            "PR" => Predicate::Plain,
            "UPR" => Predicate::Uniform,
            _ => return Err(unknown(line)),
        };
        let mut value = self.read(a).zip(self.read(mask)).map(|(a, mask)| a & !mask);
        for at in 0..7 {
            if self.read(mask).is_some_and(|mask| mask >> at & 1 == 1) {
                let bit = self.truth(predicate(at)).map(u32::from);
                value = value.zip(bit).map(|(value, bit)| value | bit << at);
            }
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `R2P PR, a, mask`
    fn register_to_predicates(&mut self, line: &Line) -> Known<()> {
        let [to, a, mask] = exactly(line)?;
        let (Value::Immediate(mask), "PR") = (mask.value, to.text.as_str()) else {
            return Err(unknown(line));
        };
        let value = self.read(a);
        for at in (0..7).filter(|at| mask >> at & 1 == 1) {
            let to = Operand { value: Value::Predicate(Predicate::Plain(at)), ..to.clone() };
            self.set_truth(&to, value.map(|value| value >> at & 1 == 1));
        }
        Ok(())
    }

    /// `ISETP.LT.U32.AND P0, PT, a, b, PT`; with `.EX`, followed by the predicate that compares the lower words.
    fn compare(&mut self, line: &Line, comparison: Comparison) -> Known<()> {
        let (operands, lower) = match (comparison.size, line.operands.as_slice()) {
            (Size::UpperWord, [operands @ .., lower]) => (operands, Some(lower)),
            (_, operands) => (operands, None),
        };
        let [p, q, a, b, third] = operands else { return Err(unknown(line)) };
        if ![p, q, third].iter().all(|operand| operand.is_predicate()) {
            return Err(unknown(line));
        }
        let order = match comparison.size {
            Size::Pair => self.pair(a).zip(self.pair(b)).map(|(a, b)| match comparison.signed {
                true => (a as i64).cmp(&(b as i64)),
                false => a.cmp(&b),
            }),
            _ => self.read(a).zip(self.read(b)).map(|(a, b)| match comparison.signed {
                true => (a as i32).cmp(&(b as i32)),
                false => a.cmp(&b),
            }),
        };
        // If the upper words are equal, the lower words decide.
        let decides = match lower {
            Some(lower) => {
                order.zip(self.truth_of(lower)).map(|(order, lower)| order.is_eq().then_some(lower))
            }
            None => order.map(|_| None),
        };
        let result = order.zip(decides).map(|(order, lower)| match (comparison.order, lower) {
            (Order::Never, _) => false,
            (Order::Always, _) => true,
            (_, Some(lower)) => lower,
            (Order::Equal, None) => order.is_eq(),
            (Order::NotEqual, None) => order.is_ne(),
            (Order::Less, None) => order.is_lt(),
            (Order::LessOrEqual, None) => order.is_le(),
            (Order::Greater, None) => order.is_gt(),
            (Order::GreaterOrEqual, None) => order.is_ge(),
        });
        let third = self.truth_of(third);
        let combined = |value: Option<bool>| match (comparison.with?, value?, third?) {
            (Combination::And, a, b) => Some(a && b),
            (Combination::Or, a, b) => Some(a || b),
            (Combination::Xor, a, b) => Some(a ^ b),
        };
        self.set_truth(p, combined(result));
        self.set_truth(q, combined(result.map(|value| !value)));
        Ok(())
    }

    fn select(&mut self, line: &Line) -> Known<()> {
        let [to, a, b, condition] = exactly(line)?;
        let value = self.truth_of(condition).and_then(|holds| self.read(if holds { a } else { b }));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn constant_halves(&mut self, line: &Line) -> Known<()> {
        let [to, a, b, high, low] = exactly(line)?;
        let nothing = a.text.trim_start_matches('-') == "RZ" && b.text == "RZ";
        let value = half(&high.text).zip(half(&low.text)).filter(|_| nothing);
        let to = Self::destination(line, to)?;
        self.set(to, value.map(|(high, low)| u32::from(high) << 16 | u32::from(low)));
        Ok(())
    }

    fn unary(&mut self, line: &Line, of: impl Fn(u32) -> u32) -> Known<()> {
        let [to, a] = exactly(line)?;
        let value = self.read(a).map(of);
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn binary(&mut self, line: &Line, of: impl Fn(u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b] = exactly(line)?;
        let value = self.read(a).zip(self.read(b)).and_then(|(a, b)| of(a, b));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn ternary(&mut self, line: &Line, of: impl Fn(u32, u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b, c] = exactly(line)?;
        let value = self.read(a).zip(self.read(b)).zip(self.read(c));
        let value = value.and_then(|((a, b), c)| of(a, b, c));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }
}

/// Returns a product; it is zero if one factor is zero, even if the other is unknown.
fn product<T: Default>(a: Option<u32>, b: Option<u32>, of: impl Fn(u32, u32) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(of(a, b)),
        (Some(0), _) | (_, Some(0)) => Some(T::default()),
        _ => None,
    }
}

/// Splits operands into the leading predicates and the rest.
fn predicates_first(operands: &[Operand]) -> (&[Operand], &[Operand]) {
    operands.split_at(operands.iter().take_while(|operand| operand.is_predicate()).count())
}
