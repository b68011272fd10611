//! Executes instructions on registers.
//!
//! An instruction with operands in an unknown form is not supported, and its effect is unknown.

use super::super::listing::ListedInstruction;
use super::super::operand::{OperandValue, Predicate, SassOperand, half};
use super::super::operation::{
    Combination, ComparedSize, ComparisonOrder, Extreme, Granularity, IntegerComparison, SassOperation,
};
use super::sums::predicates_first;
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
            // How an operand of several parts is negated is not known.
            SassOperation::AddHalves if line.operands.iter().any(SassOperand::is_changed) => {
                Err(unknown(line))
            }
            SassOperation::AddHalves => {
                self.binary(line, |a, b| Some(words::by_halves(a, b, u16::wrapping_add)))
            }
            SassOperation::AddBytes => self.add_bytes(line),
            SassOperation::AddPairs { extended } => self.add_pairs(line, extended),
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
            SassOperation::ToFloatUpwards { signed, pair } => self.round_upwards(line, signed, pair),
            SassOperation::Reciprocal => self.reciprocal(line),
            SassOperation::ToInteger { pair } => self.truncate(line, pair),
            SassOperation::PredicatesToRegister => self.predicates_to_register(line),
            SassOperation::RegisterToPredicates => self.register_to_predicates(line),
            SassOperation::Compare(comparison) => self.compare(line, comparison),
            SassOperation::Select => self.select(line),
            SassOperation::SelectSingle => self.select_single(line),
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

    /// `I2F.U32.RP R, a`
    fn round_upwards(&mut self, line: &ListedInstruction, signed: bool, pair: bool) -> Execution<()> {
        let [to, a] = operands_of(line)?;
        let value = match (pair, signed) {
            (true, _) => self.pair(a).map(i128::from),
            (false, true) => self.read(a).map(|word| i128::from(word as i32)),
            (false, false) => self.read(a).map(i128::from),
        };
        let float = value.map(|value| words::float_upwards(value).to_bits());
        self.set(Self::destination(line, to)?, float);
        Ok(())
    }

    /// `MUFU.RCP R, a`. The manual allows an error of one unit in the last place (9.7.3, `rcp.approx`), so the result
    /// differs between runs; code that is right must not depend on it.
    fn reciprocal(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a] = operands_of(line)?;
        let junk = self.tracing.junk.ok_or_else(|| unknown(line))?;
        let value = self.read(a).map(f32::from_bits);
        let result = value.and_then(|value| words::reciprocal(value, junk % 3));
        self.set(Self::destination(line, to)?, result.map(f32::to_bits));
        Ok(())
    }

    /// `F2I.FTZ.U32.TRUNC.NTZ R, a`
    fn truncate(&mut self, line: &ListedInstruction, pair: bool) -> Execution<()> {
        let [to, a] = operands_of(line)?;
        // Casts saturate, as the instruction does. What it makes of a NaN depends on a modifier.
        let value = self.read(a).map(f32::from_bits).filter(|value| !value.is_nan());
        let to = Self::destination(line, to)?;
        if pair {
            self.set_pair(to, value.map(|value| value as u64));
        } else {
            self.set(to, value.map(|value| value as u32));
        }
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
        // `VIMNMX.S16x2 R, P, P, a, b, P` also sets two predicates. Their meaning is not known, so they become unknown.
        let tells_halves = extreme.granularity == Granularity::Halves && before.is_empty();
        if before.iter().chain(outs).any(|out| !out.is_true() && !tells_halves) {
            return Err(unknown(line));
        }
        outs.iter().for_each(|out| self.set_truth(out, None));
        let to = Self::destination(line, to)?;
        let least = self.truth_of(condition);
        if extreme.granularity == Granularity::Pair {
            let [a, b] = values else { return Err(unknown(line)) };
            let both = self.pair(a).zip(self.pair(b)).zip(least);
            self.set_pair(to, both.map(|((a, b), least)| words::extreme_pair(extreme.signed, least, a, b)));
            return Ok(());
        }
        // How an operand of several parts is negated is not known.
        if extreme.granularity != Granularity::Word && values.iter().any(|value| value.is_changed()) {
            return Err(unknown(line));
        }
        let values: Option<Vec<u32>> = values.iter().map(|value| self.read(value)).collect();
        let value = match (values, least) {
            (Some(values), Some(least)) => {
                let values = match (extreme.adds, extreme.granularity, values.as_slice()) {
                    (true, Granularity::Word, [a, b, c]) => vec![a.wrapping_add(*b), *c],
                    (true, Granularity::Halves, [a, b, c]) => {
                        vec![words::by_halves(*a, *b, u16::wrapping_add), *c]
                    }
                    (false, _, [_, _] | [_, _, _]) => values,
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

    /// `FSEL R, a, b, P`: like `SEL`, with numbers as floats.
    fn select_single(&mut self, line: &ListedInstruction) -> Execution<()> {
        let [to, a, b, condition] = operands_of(line)?;
        let value = self.truth_of(condition).and_then(|holds| self.read_single(if holds { a } else { b }));
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
