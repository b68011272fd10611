//! What instructions do with the words that they read.

use super::super::listing::{Line, number};
use super::super::operation::{Combination, Comparison, Funnel, Operation, Order, Part};
use super::super::value::{Root, Symbol, Term, Truth, Wide, Word, sum};
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
                let value = self.pair(from);
                self.set_pair(to, &value);
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
            Operation::Load(access, width) => self.load(line, access, width),
            Operation::Store(access, width) => self.store(line, access, width),
            Operation::Opaque => {
                line.operands.iter().take(1).for_each(|to| self.set(to, Word::Unknown));
                Ok(())
            }
            Operation::OpaquePredicates => {
                line.operands.iter().take(2).for_each(|to| self.set_truth(to, Truth::Unknown));
                Ok(())
            }
            Operation::Unknown
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
            "SRZ" => Word::Known(0),
            from if from.starts_with("SR") => self.special(from),
            from => self.read(from).word(),
        };
        if let (true, Some(next)) = (pair, next(to)) {
            self.set(&next, value.clone());
        }
        self.set(to, value);
        Ok(())
    }

    fn multiply_add(&mut self, line: &Line) -> Known<()> {
        let (values, carries) = line.operands.split_at_checked(4).ok_or_else(|| unknown(line))?;
        let ([to, a, b, c], 0..=2) = (values, carries.len()) else { return Err(unknown(line)) };
        let carries: Vec<Truth> = carries.iter().map(|carry| self.truth_of(carry)).collect();
        let product = match (self.read(a).word(), self.read(b).word()) {
            (Word::Known(a), Word::Known(b)) => Word::Known(a.wrapping_mul(b)),
            (Word::Known(0), _) | (_, Word::Known(0)) => Word::Known(0),
            (Word::Known(1), word) | (word, Word::Known(1)) => word,
            _ => Word::Unknown,
        };
        let value = sum(&[Term::Plain(product), self.read(c).term()], &carries).0;
        self.set(to, value);
        Ok(())
    }

    fn multiply_add_wide(&mut self, line: &Line, signed: bool) -> Known<()> {
        let [to, a, b, c] = exactly(line)?;
        let product = match (self.read(a).word(), self.read(b).word()) {
            (Word::Known(a), Word::Known(b)) if signed => {
                Some((i64::from(a as i32) * i64::from(b as i32)) as u64)
            }
            (Word::Known(a), Word::Known(b)) => Some(u64::from(a) * u64::from(b)),
            (Word::Known(0), _) | (_, Word::Known(0)) => Some(0),
            _ => None,
        };
        let value = match (product, self.pair(c)) {
            (Some(a), Wide::Known(b)) => Wide::Known(a.wrapping_add(b)),
            (Some(a), Wide::Address(symbol)) => Wide::Address(symbol.plus(a as i64)),
            _ => Wide::Unknown,
        };
        self.set_pair(to, &value);
        Ok(())
    }

    /// `IADD3 R, [P, [P,]] a, b, c, [!P, [!P]]`
    fn add(&mut self, line: &Line) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let terms = rest.iter().take_while(|operand| !is_predicate(operand)).count();
        let (terms, carries) = rest.split_at(terms);
        let terms: Vec<Term> = terms.iter().map(|operand| self.read(operand).term()).collect();
        let carries: Vec<Truth> = carries.iter().map(|carry| self.truth_of(carry)).collect();
        let (value, carry) = sum(&terms, &carries);
        for (nth, out) in outs.iter().enumerate() {
            // A second carry tells of a sum of three that carries twice.
            self.set_truth(out, if nth == 0 { carry.clone() } else { Truth::Unknown });
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
        let mut total = Wide::Known(0);
        for term in terms {
            total = match (total, self.pair(term)) {
                (Wide::Known(a), Wide::Known(b)) => Wide::Known(a.wrapping_add(b)),
                (Wide::Address(symbol), Wide::Known(b)) | (Wide::Known(b), Wide::Address(symbol)) => {
                    Wide::Address(symbol.plus(b as i64))
                }
                _ => Wide::Unknown,
            };
        }
        self.set_pair(to, &total);
        Ok(())
    }

    /// `LEA R, [P,] a, b, shift` and `LEA.HI.X R, a, b, high, shift, P`.
    fn shift_add(&mut self, line: &Line, part: Part) -> Known<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (carries, rest): (Vec<&String>, Vec<&String>) =
            rest.iter().partition(|operand| is_predicate(operand));
        let carries: Vec<Truth> = carries.into_iter().map(|carry| self.truth_of(carry)).collect();
        let (a, b, high, shift) = match (part, rest.as_slice()) {
            (Part::High, [a, b, high, shift]) => (a, b, self.number(high), shift),
            (Part::Low | Part::HighOfSigned, [a, b, shift]) => (a, b, Some(0), shift),
            _ => return Err(unknown(line)),
        };
        let shift = self.number(shift).filter(|&shift| shift < 32);
        let shifted = self.number(a).zip(high).zip(shift).map(|((a, high), shift)| match part {
            Part::Low => a << shift,
            Part::High => ((u64::from(high) << 32 | u64::from(a)) << shift >> 32) as u32,
            Part::HighOfSigned => (i64::from(a as i32) << shift >> 32) as u32,
        });
        let shifted = shifted.map_or(Word::Unknown, Word::Known);
        let (value, carry) = sum(&[Term::Plain(shifted), self.read(b).term()], &carries);
        for out in outs {
            self.set_truth(out, carry.clone());
        }
        self.set(to, value);
        Ok(())
    }

    /// `LOP3.LUT [P,] R, a, b, c, table, P`
    fn logic(&mut self, line: &Line) -> Known<()> {
        let (outs, rest) = predicates_first(&line.operands);
        let [to, a, b, c, table, ..] = rest else { return Err(unknown(line)) };
        let known = (self.read(a).word(), self.read(b).word(), self.read(c).word(), number(table));
        let value = match known {
            (Word::Known(a), Word::Known(b), Word::Known(c), Some(table)) => {
                Word::Known(looked_up(a, b, c, table as u8))
            }
            // The stack pointer, aligned. What its top is aligned to does not matter, as long as all that follows
            // counts from the result.
            (Word::Low(symbol), Word::Known(mask), _, Some(0xc0))
                if symbol.root == Root::Stack
                    && !symbol.generic
                    && (!mask).wrapping_add(1).is_power_of_two() =>
            {
                let addend = symbol.addend & i64::from(mask as i32);
                Word::Low(Symbol { addend, ..symbol })
            }
            _ => Word::Unknown,
        };
        let truth = match value {
            Word::Known(value) => Truth::Known(value != 0),
            _ => Truth::Unknown,
        };
        for out in outs {
            self.set_truth(out, truth.clone());
        }
        self.set(to, value);
        Ok(())
    }

    /// `ISETP.LT.U32.AND P0, PT, a, b, PT`
    fn compare(&mut self, line: &Line, comparison: Comparison) -> Known<()> {
        let [p, q, a, b, third] = exactly(line)?;
        let result = self.number(a).zip(self.number(b)).map(|(a, b)| {
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
        let combined = |value: Option<bool>| match (comparison.with, value, &third) {
            (Some(Combination::And), Some(a), Truth::Known(b)) => Truth::Known(a && *b),
            (Some(Combination::Or), Some(a), Truth::Known(b)) => Truth::Known(a || *b),
            (Some(Combination::Xor), Some(a), Truth::Known(b)) => Truth::Known(a ^ *b),
            _ => Truth::Unknown,
        };
        self.set_truth(p, combined(result));
        self.set_truth(q, combined(result.map(|value| !value)));
        Ok(())
    }

    fn select(&mut self, line: &Line) -> Known<()> {
        let [to, a, b, condition] = exactly(line)?;
        let value = match self.truth_of(condition) {
            Truth::Known(true) => self.read(a).word(),
            Truth::Known(false) => self.read(b).word(),
            _ => Word::Unknown,
        };
        self.set(to, value);
        Ok(())
    }

    fn constant_halves(&mut self, line: &Line) -> Known<()> {
        let [to, a, b, high, low] = exactly(line)?;
        let nothing = a.trim_start_matches('-') == "RZ" && b == "RZ";
        let value = match (half(high), half(low)) {
            (Some(high), Some(low)) if nothing => Word::Known(u32::from(high) << 16 | u32::from(low)),
            _ => Word::Unknown,
        };
        self.set(to, value);
        Ok(())
    }

    /// What an operand holds, where that is a number.
    fn number(&self, operand: &str) -> Option<u32> {
        match self.read(operand).word() {
            Word::Known(value) => Some(value),
            _ => None,
        }
    }

    fn binary(&mut self, line: &Line, of: impl Fn(u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b] = exactly(line)?;
        let value = self.number(a).zip(self.number(b)).and_then(|(a, b)| of(a, b));
        self.set(to, value.map_or(Word::Unknown, Word::Known));
        Ok(())
    }

    fn ternary(&mut self, line: &Line, of: impl Fn(u32, u32, u32) -> Option<u32>) -> Known<()> {
        let [to, a, b, c] = exactly(line)?;
        let value = self.number(a).zip(self.number(b)).zip(self.number(c));
        let value = value.and_then(|((a, b), c)| of(a, b, c));
        self.set(to, value.map_or(Word::Unknown, Word::Known));
        Ok(())
    }
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
    fn bytes_are_permuted_and_combined_as_tables_say() {
        assert_eq!(permuted(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permuted(0x80, 0x8, 0), 0x8080_80ff);
        assert_eq!(looked_up(0b1100, 0b1010, 0, 0xc0), 0b1000);
    }
}
