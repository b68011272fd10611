//! What instructions do with the words that they read.

use super::super::listing::{Line, number};
use super::super::operation::{Combination, Comparison, Funnel, Operation, Order, Part};
use super::operands::{half, is_predicate, next};
use super::{Known, Machine, exactly, unknown};

impl Machine<'_> {
    /// Executes a line that does not end in a jump.
    pub(super) fn step(&mut self, line: &Line) -> Known<()> {
        match line.operation {
            Operation::Nothing => Ok(()),
            Operation::Move { pair } => self.copy(line, pair),
            Operation::MultiplyAdd => self.multiply_add(line),
            Operation::MultiplyAddWide { signed } => self.multiply_add_wide(line, signed),
            Operation::Add => self.add(line),
            Operation::MovePair => {
                let [to, from] = exactly(line)?;
                self.set_pair(to, self.pair(from));
                Ok(())
            }
            Operation::AddPairs => self.add_pairs(line),
            Operation::ShiftAdd(part) => self.shift_add(line, part),
            Operation::FunnelShift(funnel) => {
                self.ternary(line, |low, count, high| shifted(funnel, low, count, high))
            }
            Operation::ExtendSign { signed } => self.binary(line, |a, width| extended(signed, a, width)),
            Operation::ShiftLeft => self.binary(line, |a, b| Some(a.checked_shl(b).unwrap_or(0))),
            Operation::ShiftRight { signed: true } => {
                self.binary(line, |a, b| Some(((a as i32) >> b.min(31)) as u32))
            }
            Operation::ShiftRight { signed: false } => {
                self.binary(line, |a, b| Some(a.checked_shr(b).unwrap_or(0)))
            }
            Operation::Logic => self.logic(line),
            Operation::PermuteBytes => self.ternary(line, |a, control, b| Some(permuted(a, control, b))),
            Operation::Compare(comparison) => self.compare(line, comparison),
            Operation::Select => self.select(line),
            Operation::ConstantHalves => self.constant_halves(line),
            Operation::LoadConstant(width) => self.load_constant(line, width),
            Operation::Opaque => {
                line.operands.iter().take(1).for_each(|to| self.set(to, None));
                Ok(())
            }
            Operation::OpaquePredicates => {
                line.operands.iter().take(2).for_each(|to| self.set_truth(to, None));
                Ok(())
            }
            Operation::Load(..)
            | Operation::Store(..)
            | Operation::Unknown
            | Operation::Exit
            | Operation::Branch
            | Operation::BranchByRegister
            | Operation::Call
            | Operation::Return => Err(unknown(line)),
        }
    }

    fn copy(&mut self, line: &Line, pair: bool) -> Known<()> {
        let [to, .., from] = line.operands.as_slice() else { return Err(unknown(line)) };
        if is_predicate(to) {
            return Err(unknown(line));
        }
        let value = match from.as_str() {
            "SRZ" => Some(0),
            from if from.starts_with("SR") => self.special(from),
            from => self.read(from),
        };
        if let (true, Some(next)) = (pair, next(to)) {
            self.set(&next, value);
        }
        self.set(to, value);
        Ok(())
    }

    fn multiply_add(&mut self, line: &Line) -> Known<()> {
        let (values, carries) = line.operands.split_at_checked(4).ok_or_else(|| unknown(line))?;
        let ([to, a, b, c], 0..=2) = (values, carries.len()) else { return Err(unknown(line)) };
        let product = product(self.read(a), self.read(b), u32::wrapping_mul);
        let (value, _) =
            sum([product.map(u64::from), self.term(c)], carries.iter().map(|p| self.truth_of(p)));
        self.set(to, value);
        Ok(())
    }

    fn multiply_add_wide(&mut self, line: &Line, signed: bool) -> Known<()> {
        let [to, a, b, c] = exactly(line)?;
        let product = product(self.read(a), self.read(b), |a, b| match signed {
            true => (i64::from(a as i32) * i64::from(b as i32)) as u64,
            false => u64::from(a) * u64::from(b),
        });
        let value = product.zip(self.pair(c)).map(|(product, c)| product.wrapping_add(c));
        self.set_pair(to, value);
        Ok(())
    }

    /// `IADD3 R, [P, [P,]] a, b, c, [!P, [!P]]`
    fn add(&mut self, line: &Line) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let terms = rest.iter().take_while(|operand| !is_predicate(operand)).count();
        let (terms, carries) = rest.split_at(terms);
        let (value, carry) =
            sum(terms.iter().map(|term| self.term(term)), carries.iter().map(|p| self.truth_of(p)));
        for (nth, out) in outs.iter().enumerate() {
            // A second carry tells of a sum of three that carries twice.
            self.set_truth(out, carry.filter(|_| nth == 0));
        }
        self.set(to, value);
        Ok(())
    }

    /// `IADD.64 R, a, b` and `UIADD3.64 UR, UPT, UPT, a, b, URZ`
    fn add_pairs(&mut self, line: &Line) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, terms) = predicates_first(rest);
        if outs.iter().any(|out| !matches!(out.as_str(), "PT" | "UPT")) {
            return Err(unknown(line));
        }
        let total = terms.iter().try_fold(0u64, |total, term| Some(total.wrapping_add(self.pair(term)?)));
        self.set_pair(to, total);
        Ok(())
    }

    /// `LEA R, [P,] a, b, shift` and `LEA.HI.X R, a, b, high, shift, P`.
    fn shift_add(&mut self, line: &Line, part: Part) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (carries, rest): (Vec<&String>, Vec<&String>) =
            rest.iter().partition(|operand| is_predicate(operand));
        let (a, b, high, shift) = match (part, rest.as_slice()) {
            (Part::High, [a, b, high, shift]) => (a, b, self.read(high), shift),
            (Part::Low | Part::HighOfSigned, [a, b, shift]) => (a, b, Some(0), shift),
            _ => return Err(unknown(line)),
        };
        let shift = self.read(shift).filter(|&shift| shift < 32);
        let shifted = self.read(a).zip(high).zip(shift).map(|((a, high), shift)| match part {
            Part::Low => a << shift,
            Part::High => ((u64::from(high) << 32 | u64::from(a)) << shift >> 32) as u32,
            Part::HighOfSigned => (i64::from(a as i32) << shift >> 32) as u32,
        });
        let carries = carries.into_iter().map(|carry| self.truth_of(carry));
        let (value, carry) = sum([shifted.map(u64::from), self.term(b)], carries);
        for out in outs {
            self.set_truth(out, carry);
        }
        self.set(to, value);
        Ok(())
    }

    /// `LOP3.LUT [P,] R, a, b, c, table, P`
    fn logic(&mut self, line: &Line) -> Known<()> {
        let (outs, rest) = predicates_first(&line.operands);
        let [to, a, b, c, table, ..] = rest else { return Err(unknown(line)) };
        let words = self.read(a).zip(self.read(b)).zip(self.read(c));
        let value = words.zip(number(table)).map(|(((a, b), c), table)| looked_up(a, b, c, table as u8));
        for out in outs {
            self.set_truth(out, value.map(|value| value != 0));
        }
        self.set(to, value);
        Ok(())
    }

    /// `ISETP.LT.U32.AND P0, PT, a, b, PT`
    fn compare(&mut self, line: &Line, comparison: Comparison) -> Known<()> {
        let [p, q, a, b, third] = exactly(line)?;
        let result = self.read(a).zip(self.read(b)).map(|(a, b)| {
            let order = if comparison.signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
            match comparison.order {
                Order::Equal => order.is_eq(),
                Order::NotEqual => order.is_ne(),
                Order::Less => order.is_lt(),
                Order::LessOrEqual => order.is_le(),
                Order::Greater => order.is_gt(),
                Order::GreaterOrEqual => order.is_ge(),
            }
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
        self.set(to, value);
        Ok(())
    }

    fn constant_halves(&mut self, line: &Line) -> Known<()> {
        let [to, a, b, high, low] = exactly(line)?;
        let nothing = a.trim_start_matches('-') == "RZ" && b == "RZ";
        let value = half(high).zip(half(low)).filter(|_| nothing);
        self.set(to, value.map(|(high, low)| u32::from(high) << 16 | u32::from(low)));
        Ok(())
    }

    fn binary(&mut self, line: &Line, of: impl Fn(u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b] = exactly(line)?;
        let value = self.read(a).zip(self.read(b)).and_then(|(a, b)| of(a, b));
        self.set(to, value);
        Ok(())
    }

    fn ternary(&mut self, line: &Line, of: impl Fn(u32, u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b, c] = exactly(line)?;
        let value = self.read(a).zip(self.read(b)).zip(self.read(c));
        self.set(to, value.and_then(|((a, b), c)| of(a, b, c)));
        Ok(())
    }
}

/// A product, which is zero where one factor is.
fn product<T: Default>(a: Option<u32>, b: Option<u32>, of: impl Fn(u32, u32) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(of(a, b)),
        (Some(0), _) | (_, Some(0)) => Some(T::default()),
        _ => None,
    }
}

/// The sum of terms and carries, and its carry, which is known where it is at most one.
fn sum(
    terms: impl IntoIterator<Item = Option<u64>>,
    carries: impl IntoIterator<Item = Option<bool>>,
) -> (Option<u32>, Option<bool>) {
    let terms = terms.into_iter().chain(carries.into_iter().map(|carry| carry.map(u64::from)));
    let sum = terms.sum::<Option<u64>>();
    (sum.map(|sum| sum as u32), sum.map(|sum| sum >> 32).filter(|&carry| carry < 2).map(|carry| carry == 1))
}

/// The predicates in front, and the operands behind them.
fn predicates_first(operands: &[String]) -> (&[String], &[String]) {
    operands.split_at(operands.iter().take_while(|operand| is_predicate(operand)).count())
}

fn looked_up(a: u32, b: u32, c: u32, table: u8) -> u32 {
    (0..32).fold(0, |result, bit| {
        let of = |word: u32| (word >> bit & 1) as u8;
        let index = of(a) << 2 | of(b) << 1 | of(c);
        result | u32::from(table >> index & 1) << bit
    })
}

fn permuted(a: u32, control: u32, b: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, nth| {
        let selector = control >> (4 * nth) & 0xf;
        let byte = (both >> (8 * (selector & 7))) as u8;
        // The fourth bit asks for the sign of the byte instead of its value.
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | u32::from(byte) << (8 * nth)
    })
}

/// A shift of two words; counts that shift everything out are left alone.
fn shifted(funnel: Funnel, low: u32, count: u32, high: u32) -> Option<u32> {
    let Funnel { left, wide, signed, upper } = funnel;
    if count >= if wide { 64 } else { 32 } {
        return None;
    }
    if !wide {
        return Some(match (left, signed) {
            (true, _) => low << count,
            (false, false) => high >> count,
            (false, true) => ((high as i32) >> count) as u32,
        });
    }
    let both = u64::from(high) << 32 | u64::from(low);
    let result = match (left, signed) {
        (true, _) => both << count,
        (false, false) => both >> count,
        (false, true) => ((both as i64) >> count) as u64,
    };
    Some(if upper { (result >> 32) as u32 } else { result as u32 })
}

/// The lowest bits of a word, extended to all of it.
fn extended(signed: bool, a: u32, width: u32) -> Option<u32> {
    let unused = 32u32.checked_sub(width).filter(|&unused| unused < 32)?;
    Some(if signed { ((a << unused) as i32 >> unused) as u32 } else { a << unused >> unused })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_add_and_carry_as_numbers_do() {
        let known = |a: u64, b: u64| sum([Some(a), Some(b)], []);
        assert_eq!(known(u32::MAX.into(), 2), (Some(1), Some(true)));
        assert_eq!(known(3, 4), (Some(7), Some(false)));
        assert_eq!(known(3, (1 << 32) - 3), (Some(0), Some(true)));
        assert_eq!(sum([Some(3)], [Some(true)]), (Some(4), Some(false)));
        assert_eq!(sum([Some(3), None], []), (None, None));
        // Three terms may carry twice.
        assert_eq!(sum([Some(1 << 32), Some(1 << 32)], []), (Some(0), None));
    }

    #[test]
    fn bytes_are_permuted_and_combined_as_tables_say() {
        assert_eq!(permuted(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permuted(0x80, 0x8, 0), 0x8080_80ff);
        assert_eq!(looked_up(0b1100, 0b1010, 0, 0xc0), 0b1000);
    }
}
