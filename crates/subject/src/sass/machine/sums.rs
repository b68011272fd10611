//! Executes sums and products of words and of pairs of words, with their carries.

use super::super::listing::ListedInstruction;
use super::super::operand::{OperandChange, SassOperand};
use super::super::operation::{Product, ShiftedPart};
use super::{Execution, SassMachine, operands_of, unknown, words};

impl SassMachine<'_> {
    /// `IMAD R, a, b, c[, P]`
    pub(super) fn multiply_add(&mut self, line: &ListedInstruction, extended: bool) -> Execution<()> {
        let (values, carries) = line.operands.split_at_checked(4).ok_or_else(|| unknown(line))?;
        let [to, a, b, c] = values else { return Err(unknown(line)) };
        self.are_carries(line, carries, extended)?;
        let product = product(self.read(a), self.read(b), u32::wrapping_mul);
        let (value, _) = self.sum([product.map(u64::from), self.term(c)], carries);
        self.set(Self::destination(line, to)?, value);
        Ok(())
    }

    /// `IMAD.WIDE R, [P,] a, b, c, [P]`; `IMAD.HI` returns the upper word.
    pub(super) fn multiply_add_wide(
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
        if outs.len() > 1 || a.is_changed() || b.is_changed() || is_carried && c.is_changed() {
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
    pub(super) fn add(&mut self, line: &ListedInstruction, extended: bool) -> Execution<()> {
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
    pub(super) fn add_saturated(&mut self, line: &ListedInstruction) -> Execution<()> {
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
    pub(super) fn add_bytes(&mut self, line: &ListedInstruction) -> Execution<()> {
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

    /// `IADD.64 R, [P,] a, b`, `IADD.64.X R, a, b, P` and `UIADD3.64 UR, UPT, UPT, a, b, URZ`
    pub(super) fn add_pairs(&mut self, line: &ListedInstruction, extended: bool) -> Execution<()> {
        let (to, rest) = line.operands.split_first().ok_or_else(|| unknown(line))?;
        let (outs, rest) = predicates_first(rest);
        let (terms, carries) =
            rest.split_at(rest.iter().take_while(|operand| !operand.is_predicate()).count());
        self.are_carries(line, carries, extended)?;
        // The effect of a negated term together with a carry is not known.
        let is_odd = extended && terms.iter().any(|term| term.change.negates);
        let is_carried = outs.iter().any(|out| !out.is_true());
        if is_odd || is_carried && (outs.len() > 1 || terms.len() > 2) {
            return Err(unknown(line));
        }
        let carry = carries.iter().try_fold(0, |sum, carry| Some(sum + u128::from(self.truth_of(carry)?)));
        let total = terms.iter().try_fold(carry, |total, term| Some(Some(total? + self.pair_term(term)?)));
        let total = total.flatten();
        if is_carried {
            self.set_truth(&outs[0], total.map(|total| total >> 64 != 0));
        }
        self.set_pair(Self::destination(line, to)?, total.map(|total| total as u64));
        Ok(())
    }

    /// `LEA R, [P,] a, b, shift[, P]` and `LEA.HI.X R, [P,] a, b, high, shift, P`.
    pub(super) fn shift_add(
        &mut self,
        line: &ListedInstruction,
        part: ShiftedPart,
        extended: bool,
    ) -> Execution<()> {
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
        // The shifted value is negated, not the operand before it is shifted. The effect in these cases is not known.
        let is_odd = a.change.negates && part == ShiftedPart::HighOfSigned
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
pub(super) fn predicates_first(operands: &[SassOperand]) -> (&[SassOperand], &[SassOperand]) {
    operands.split_at(operands.iter().take_while(|operand| operand.is_predicate()).count())
}
