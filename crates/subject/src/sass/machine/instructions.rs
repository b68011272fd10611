//! Executes instructions on registers.
//!
//! An instruction with operands in an unknown form is not supported, and its effect is unknown.

use super::super::listing::ListedInstruction;
use super::super::operand::{OperandChange, OperandValue, Predicate, SassOperand, half};
use super::super::operation::{
    Combination, ComparedSize, ComparisonOrder, Extreme, Granularity, IntegerComparison, Product,
    SassOperation, ShiftedPart,
};
use super::{Execution, SassMachine, operands_of, unknown, words};

impl SassMachine<'_> {
    /// Executes an instruction that is not a jump.
    pub(super) fn step(&mut self, line: &ListedInstruction) -> Execution<()> {
        match line.operation {
            // Where values are compared, lanes wait (`converge`).
            SassOperation::Nothing | SassOperation::Converge => Ok(()),
            SassOperation::Move { pair } => self.copy(line, pair),
            SassOperation::MovePair => {
                let [to, from] = operands_of(line)?;
                let value = self.pair(from);
                self.set_pair(Self::destination(line, to)?, value);
                Ok(())
            }
            SassOperation::Add { extended } => self.add(line, extended),
            SassOperation::AddSaturated => self.add_saturated(line),
            SassOperation::AddHalves => {
                self.binary(line, |a, b| Some(words::by_halves(a, b, u16::wrapping_add)))
            }
            SassOperation::AddBytes => self.add_bytes(line),
            SassOperation::AddPairs => self.add_pairs(line),
            SassOperation::MultiplyAdd { extended } => self.multiply_add(line, extended),
            SassOperation::MultiplyAddWide(product) => self.multiply_add_wide(line, product, false),
            SassOperation::MultiplyAddHigh(product) => self.multiply_add_wide(line, product, true),
            SassOperation::ShiftAdd { part, extended } => self.shift_add(line, part, extended),
            SassOperation::FunnelShift(funnel) => {
                self.ternary(line, |low, count, high| Some(words::funnel_shift(funnel, low, count, high)))
            }
            SassOperation::ExtendSign { signed, wraps } => self.binary(line, |a, width| {
                words::sign_extend(signed, a, if wraps { width & 31 } else { width })
            }),
            SassOperation::ShiftLeft { wraps } => {
                self.binary(line, |a, b| Some(a.checked_shl(if wraps { b & 31 } else { b }).unwrap_or(0)))
            }
            SassOperation::ShiftRight { signed, wraps } => self.binary(line, |a, b| {
                let count = if wraps { b & 31 } else { b };
                Some(if signed {
                    ((a as i32) >> count.min(31)) as u32
                } else {
                    a.checked_shr(count).unwrap_or(0)
                })
            }),
            SassOperation::Logic { all } => self.logic(line, all),
            SassOperation::PredicateLogic => self.predicate_logic(line),
            SassOperation::PermuteBytes(mode) => self.ternary(line, |a, control, b| {
                let control = mode.map_or(control, |mode| mode[control as usize & 3].into());
                Some(words::permute(a, control, b))
            }),
            SassOperation::MaskBits { wraps } => {
                self.binary(line, |start, width| words::mask(wraps, start, width))
            }
            SassOperation::ReverseBits => self.unary(line, u32::reverse_bits),
            SassOperation::CountOnes => self.unary(line, u32::count_ones),
            SassOperation::FindHighest { signed, shift } => {
                self.unary(line, |a| words::highest(signed, shift, a))
            }
            SassOperation::AbsoluteValue => self.unary(line, |a| (a as i32).unsigned_abs()),
            SassOperation::AbsoluteDifference { signed } => self.ternary(line, |a, b, c| {
                let distance = if signed { (a as i32).abs_diff(b as i32) } else { a.abs_diff(b) };
                Some(distance.wrapping_add(c))
            }),
            SassOperation::ByteDifferences { adds } => {
                self.ternary(line, |a, b, c| Some(words::byte_differences(a, b, adds.then_some(c))))
            }
            SassOperation::Extreme(extreme) => self.extreme(line, extreme),
            SassOperation::DotProduct(dot) => {
                self.ternary(line, |a, b, c| Some(words::dot_product(dot, a, b, c)))
            }
            SassOperation::Saturate { bits, signed, from_signed } => {
                self.unary(line, |a| words::saturate(bits, signed, from_signed, a))
            }
            SassOperation::PredicatesToRegister => self.predicates_to_register(line),
            SassOperation::RegisterToPredicates => self.register_to_predicates(line),
            SassOperation::Compare(comparison) => self.compare(line, comparison),
            SassOperation::Select => self.select(line),
            SassOperation::SelectPair => {
                let [to, a, b, condition] = operands_of(line)?;
                let value = self.truth_of(condition).and_then(|holds| self.pair(if holds { a } else { b }));
                self.set_pair(Self::destination(line, to)?, value);
                Ok(())
            }
            SassOperation::ConstantHalves => self.constant_halves(line),
            SassOperation::LoadConstant(width) => self.load_constant(line, width),
            SassOperation::IsShared => self.is_in_shared(line),
            SassOperation::Load(..)
            | SassOperation::Store(..)
            | SassOperation::Atomic(..)
            | SassOperation::CompareAndStore
            | SassOperation::Exchange(_)
            | SassOperation::Unknown
            | SassOperation::Exit
            | SassOperation::Branch
            | SassOperation::BranchByRegister
            | SassOperation::Call
            | SassOperation::Return => Err(unknown(line)),
        }
    }

    fn copy(&mut self, line: &ListedInstruction, pair: bool) -> Execution<()> {
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
    fn multiply_add(&mut self, line: &ListedInstruction, extended: bool) -> Execution<()> {
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
        line: &ListedInstruction,
        Product { signed, extended }: Product,
        high: bool,
    ) -> Execution<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (values, carries) = rest.split_at_checked(3).ok_or_else(|| unknown(line))?;
        let [a, b, c] = values else { return Err(unknown(line)) };
        self.are_carries(line, carries, extended)?;
        let is_carried = outs.iter().any(|out| !out.is_true());
        if outs.len() > 1 || a.is_changed() || b.is_changed() || is_carried && (signed || c.is_changed()) {
            return Err(unknown(line));
        }
        let product = product(self.read(a), self.read(b), |a, b| {
            if signed {
                (i64::from(a as i32) * i64::from(b as i32)) as u64
            } else {
                u64::from(a) * u64::from(b)
            }
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
        if high {
            self.set(to, sum.map(|sum| (sum >> 32) as u32));
        } else {
            self.set_pair(to, sum.map(|sum| sum as u64));
        }
        Ok(())
    }

    /// Whether these operands are the carries of the instruction: one or two if it adds carries.
    fn are_carries(
        &self,
        line: &ListedInstruction,
        carries: &[SassOperand],
        extended: bool,
    ) -> Execution<()> {
        let fits = if extended {
            (1..=2).contains(&carries.len()) && carries.iter().all(SassOperand::is_predicate)
        } else {
            // A predicate that is always false adds nothing.
            carries.iter().all(SassOperand::is_false)
        };
        if fits { Ok(()) } else { Err(unknown(line)) }
    }

    /// Returns the sum of terms and carries, and its carry: the number of overflows.
    fn sum(
        &self,
        terms: impl IntoIterator<Item = Option<u64>>,
        carries: &[SassOperand],
    ) -> (Option<u32>, Option<u64>) {
        let carries = carries.iter().map(|carry| self.truth_of(carry).map(u64::from));
        let sum = terms.into_iter().chain(carries).sum::<Option<u64>>();
        (sum.map(|sum| sum as u32), sum.map(|sum| sum >> 32))
    }

    /// `IADD3 R, [P, [P,]] a, b, c, [!P, [!P]]`
    fn add(&mut self, line: &ListedInstruction, extended: bool) -> Execution<()> {
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
    fn add_saturated(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, b] = operands_of(line)?;
        let sum = self
            .signed_term(a)
            .zip(self.signed_term(b))
            .map(|(a, b)| (a + b).clamp(i32::MIN.into(), i32::MAX.into()) as u32);
        self.set(Self::destination(line, to)?, sum);
        Ok(())
    }

    /// Returns the signed summand for an operand. A negated operand is not saturated before the addition.
    fn signed_term(&self, operand: &SassOperand) -> Option<i64> {
        match operand.change {
            OperandChange { negates: true, inverts: false, absolute: false } => self
                .read(&SassOperand { change: OperandChange::default(), ..operand.clone() })
                .map(|word| -i64::from(word as i32)),
            OperandChange { negates: false, absolute: false, .. } => {
                self.read(operand).map(|word| i64::from(word as i32))
            }
            _ => None,
        }
    }

    /// `VIADD.U8x4 R, a, b`; a negated operand is subtracted byte by byte.
    fn add_bytes(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, b] = operands_of(line)?;
        let negated = OperandChange { negates: true, ..OperandChange::default() };
        if a.change != OperandChange::default() || ![OperandChange::default(), negated].contains(&b.change) {
            return Err(unknown(line));
        }
        let plain = self.read(&SassOperand { change: OperandChange::default(), ..b.clone() });
        let operation = if b.change.negates { u8::wrapping_sub } else { u8::wrapping_add };
        let sum = self.read(a).zip(plain).map(|(x, y)| words::by_bytes(x, y, operation));
        self.set(Self::destination(line, to)?, sum);
        Ok(())
    }

    /// `IADD.64 R, a, b` and `UIADD3.64 UR, UPT, UPT, a, b, URZ`
    fn add_pairs(&mut self, line: &ListedInstruction) -> Execution<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, terms) = predicates_first(rest);
        if outs.iter().any(|out| !out.is_true()) || terms.iter().any(SassOperand::is_predicate) {
            return Err(unknown(line));
        }
        let total = terms.iter().try_fold(0u64, |total, term| Some(total.wrapping_add(self.pair(term)?)));
        self.set_pair(Self::destination(line, to)?, total);
        Ok(())
    }

    /// `LEA R, [P,] a, b, shift[, P]` and `LEA.HI.X R, [P,] a, b, high, shift, P`.
    fn shift_add(&mut self, line: &ListedInstruction, part: ShiftedPart, extended: bool) -> Execution<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (values, carries) =
            rest.split_at(rest.iter().take_while(|operand| !operand.is_predicate()).count());
        self.are_carries(line, carries, extended)?;
        let (a, b, high, shift) = match (part, values) {
            (ShiftedPart::High, [a, b, high, shift]) => (a, b, self.read(high), shift),
            (ShiftedPart::Low | ShiftedPart::HighOfSigned, [a, b, shift]) => (a, b, Some(0), shift),
            _ => return Err(unknown(line)),
        };
        let is_carried = outs.iter().any(|out| !out.is_true());
        let negates = a.change.negates || b.change.negates;
        // The effect of a negated operand in these cases is not known.
        let is_odd = a.change.negates && part != ShiftedPart::Low
            || negates && (extended || is_carried && part != ShiftedPart::Low);
        if outs.len() > 1 || is_odd || a.change.negates && b.change.negates {
            return Err(unknown(line));
        }
        let shift = self.read(shift).filter(|&shift| shift < 32);
        let plain =
            self.read(&SassOperand { change: OperandChange { negates: false, ..a.change }, ..a.clone() });
        let shifted = plain.zip(high).zip(shift).map(|((a, high), shift)| match part {
            ShiftedPart::Low => a << shift,
            ShiftedPart::High => ((u64::from(high) << 32 | u64::from(a)) << shift >> 32) as u32,
            ShiftedPart::HighOfSigned => (i64::from(a as i32) << shift >> 32) as u32,
        });
        let shifted = shifted.map(u64::from);
        let shifted = if a.change.negates { shifted.map(|word| (1 << 32) - word) } else { shifted };
        let (value, carry) = self.sum([shifted, self.term(b)], carries);
        for out in outs {
            self.set_truth(out, carry.filter(|&carry| carry < 2).map(|carry| carry == 1));
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `LOP3.LUT [P,] R, a, b, c, table, P`
    fn logic(&mut self, line: &ListedInstruction, all: bool) -> Execution<()> {
        let (outs, rest) = predicates_first(&line.operands);
        let [to, a, b, c, table, others @ ..] = rest else { return Err(unknown(line)) };
        let OperandValue::Immediate(table) = table.value else { return Err(unknown(line)) };
        let words = self.read(a).zip(self.read(b)).zip(self.read(c));
        let value = words.map(|((a, b), c)| words::apply_table(a, b, c, table as u8));
        match (outs, others) {
            ([], []) => {}
            ([], [other]) if other.is_false() => {}
            ([out], [other]) if other.is_predicate() => {
                let other = self.truth_of(other);
                let combined = value
                    .zip(other)
                    .map(|(value, other)| if all { value != 0 && other } else { value != 0 || other });
                self.set_truth(out, combined);
            }
            _ => return Err(unknown(line)),
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `PLOP3.LUT P, P, P, P, P, table, table`
    fn predicate_logic(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, also, a, b, c, table, other] = operands_of(line)?;
        let (OperandValue::Immediate(table), OperandValue::Immediate(other)) = (table.value, other.value)
        else {
            return Err(unknown(line));
        };
        let truths = self.truth_of(a).zip(self.truth_of(b)).zip(self.truth_of(c));
        let index = truths.map(|((a, b), c)| u32::from(a) << 2 | u32::from(b) << 1 | u32::from(c));
        self.set_truth(to, index.map(|index| table >> index & 1 == 1));
        self.set_truth(also, index.map(|index| other >> index & 1 == 1));
        Ok(())
    }

    /// `VIMNMX R, a, b, P`: the minimum if the predicate is true, otherwise the maximum. `VIMNMX3` and
    /// `VIADDMNMX` have one more operand.
    fn extreme(&mut self, line: &ListedInstruction, extreme: Extreme) -> Execution<()> {
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
        if extreme.granularity == Granularity::Pair {
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
    fn predicates_to_register(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, from, a, mask] = operands_of(line)?;
        let predicate: fn(u8) -> Predicate = match from.text.as_str() {
            "PR" => Predicate::Plain,
            "UPR" => Predicate::Uniform,
            _ => return Err(unknown(line)),
        };
        let mut value = self.read(a).zip(self.read(mask)).map(|(a, mask)| a & !mask);
        for number in 0..7 {
            if self.read(mask).is_some_and(|mask| mask >> number & 1 == 1) {
                let bit = self.truth(predicate(number)).map(u32::from);
                value = value.zip(bit).map(|(value, bit)| value | bit << number);
            }
        }
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `R2P PR, a, mask`
    fn register_to_predicates(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, mask] = operands_of(line)?;
        let (OperandValue::Immediate(mask), "PR") = (mask.value, to.text.as_str()) else {
            return Err(unknown(line));
        };
        let value = self.read(a);
        for number in (0..7).filter(|number| mask >> number & 1 == 1) {
            let to = SassOperand { value: OperandValue::Predicate(Predicate::Plain(number)), ..to.clone() };
            self.set_truth(&to, value.map(|value| value >> number & 1 == 1));
        }
        Ok(())
    }

    /// `ISETP.LT.U32.AND P0, PT, a, b, PT`; with `.EX`, followed by the predicate that compares the lower
    /// words.
    fn compare(&mut self, line: &ListedInstruction, comparison: IntegerComparison) -> Execution<()> {
        let (operands, lower) = match (comparison.size, line.operands.as_slice()) {
            (ComparedSize::UpperWord, [operands @ .., lower]) => (operands, Some(lower)),
            (_, operands) => (operands, None),
        };
        let [p, q, a, b, third] = operands else { return Err(unknown(line)) };
        if ![p, q, third].iter().all(|operand| operand.is_predicate()) {
            return Err(unknown(line));
        }
        let order = match comparison.size {
            ComparedSize::Pair => self
                .pair(a)
                .zip(self.pair(b))
                .map(|(a, b)| if comparison.signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) }),
            _ => self
                .read(a)
                .zip(self.read(b))
                .map(|(a, b)| if comparison.signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) }),
        };
        // If the upper words are equal, the lower words decide.
        let decides = match lower {
            Some(lower) => {
                order.zip(self.truth_of(lower)).map(|(order, lower)| order.is_eq().then_some(lower))
            }
            None => order.map(|_| None),
        };
        let result = order.zip(decides).map(|(order, lower)| match (comparison.order, lower) {
            (ComparisonOrder::Never, _) => false,
            (ComparisonOrder::Always, _) => true,
            (_, Some(lower)) => lower,
            (ComparisonOrder::Equal, None) => order.is_eq(),
            (ComparisonOrder::NotEqual, None) => order.is_ne(),
            (ComparisonOrder::Less, None) => order.is_lt(),
            (ComparisonOrder::LessOrEqual, None) => order.is_le(),
            (ComparisonOrder::Greater, None) => order.is_gt(),
            (ComparisonOrder::GreaterOrEqual, None) => order.is_ge(),
        });
        let third = self.truth_of(third);
        self.set_truth(p, combined(comparison.with, result, third));
        self.set_truth(q, combined(comparison.with, result.map(|value| !value), third));
        Ok(())
    }

    fn select(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, b, condition] = operands_of(line)?;
        let value = self.truth_of(condition).and_then(|holds| self.read(if holds { a } else { b }));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn constant_halves(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, b, high, low] = operands_of(line)?;
        let nothing = a.text.trim_start_matches('-') == "RZ" && b.text == "RZ";
        let value = half(&high.text).zip(half(&low.text)).filter(|_| nothing);
        let to = Self::destination(line, to)?;
        self.set(to, value.map(|(high, low)| u32::from(high) << 16 | u32::from(low)));
        Ok(())
    }

    fn unary(&mut self, line: &ListedInstruction, operation: impl Fn(u32) -> u32) -> Execution<()> {
        let [to, a] = operands_of(line)?;
        let value = self.read(a).map(operation);
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn binary(
        &mut self,
        line: &ListedInstruction,
        operation: impl Fn(u32, u32) -> Option<u32>,
    ) -> Execution<()> {
        let [to, a, b] = operands_of(line)?;
        let value = self.read(a).zip(self.read(b)).and_then(|(a, b)| operation(a, b));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    fn ternary(
        &mut self,
        line: &ListedInstruction,
        operation: impl Fn(u32, u32, u32) -> Option<u32>,
    ) -> Execution<()> {
        let [to, a, b, c] = operands_of(line)?;
        let value = self.read(a).zip(self.read(b)).zip(self.read(c));
        let value = value.and_then(|((a, b), c)| operation(a, b, c));
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }
}

/// Combines the result of a comparison with the value of another predicate.
fn combined(combination: Option<Combination>, result: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (combination?, result?, other?) {
        (Combination::And, a, b) => Some(a && b),
        (Combination::Or, a, b) => Some(a || b),
        (Combination::Xor, a, b) => Some(a ^ b),
    }
}

/// Returns a product; it is zero if one factor is zero, even if the other is unknown.
fn product<T: Default>(a: Option<u32>, b: Option<u32>, multiply: impl Fn(u32, u32) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(multiply(a, b)),
        (Some(0), _) | (_, Some(0)) => Some(T::default()),
        _ => None,
    }
}

/// Splits operands into the leading predicates and the rest.
fn predicates_first(operands: &[SassOperand]) -> (&[SassOperand], &[SassOperand]) {
    operands.split_at(operands.iter().take_while(|operand| operand.is_predicate()).count())
}
