//! Registers and predicates, and what operands say of them; `None` is a value that is not known.

use super::super::listing::number;
use super::Machine;
use super::operands::{Register, next, register, relocated};

impl Machine<'_> {
    /// What an operand of 32 bits holds.
    pub(super) fn read(&self, operand: &str) -> Option<u32> {
        let negated =
            operand.strip_prefix('-').filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        match (negated, operand.strip_prefix('~')) {
            (Some(rest), _) => self.read_plain(rest).map(u32::wrapping_neg),
            (None, Some(rest)) => self.read_plain(rest).map(|word| !word),
            (None, None) => self.read_plain(operand),
        }
    }

    /// What an operand adds to a sum: of a negated one the complement of two, whose carry differs from that of its word where it is zero.
    pub(super) fn term(&self, operand: &str) -> Option<u64> {
        match operand.strip_prefix('-').filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) {
            Some(rest) => self.read_plain(rest).map(|word| (1 << 32) - u64::from(word)),
            None => self.read(operand).map(u64::from),
        }
    }

    fn read_plain(&self, operand: &str) -> Option<u32> {
        if let Some(value) = number(operand) {
            return Some(value as u32);
        }
        if operand.starts_with("c[") {
            return self.constant(operand, 0);
        }
        let halves = [("32@lo", 0), ("32@hi", 32), ("`", 0)];
        if let Some((text, shift)) =
            halves.iter().find_map(|&(before, shift)| Some((operand.strip_prefix(before)?, shift)))
        {
            let (name, addend) = relocated(text)?;
            let address = self.address_of(name)?;
            // A name without a half is an address of 32 bits, which has no upper half.
            let fits = match operand.starts_with('`') {
                true => address.is_small,
                false => shift == 0 || !address.is_small,
            };
            return fits.then(|| (address.at.wrapping_add(addend as u64) >> shift) as u32);
        }
        match register(operand)? {
            Register::Zero => Some(0),
            Register::Plain(at) => self.registers.get(&at).copied(),
            Register::Uniform(at) => self.uniform.get(&at).copied(),
        }
    }

    /// What a register and the next one hold.
    pub(super) fn pair(&self, operand: &str) -> Option<u64> {
        if let Some(value) = number(operand) {
            return Some(value as u64);
        }
        let (low, high) = match (operand.starts_with("c["), next(operand)) {
            (true, _) => (self.constant(operand, 0)?, self.constant(operand, 4)?),
            (false, Some(upper)) => (self.read(operand)?, self.read(&upper)?),
            (false, None) => return register(operand).map(|_| 0),
        };
        Some(u64::from(high) << 32 | u64::from(low))
    }

    pub(super) fn set(&mut self, to: &str, value: Option<u32>) {
        let (registers, at) = match register(to) {
            Some(Register::Plain(at)) => (&mut self.registers, at),
            Some(Register::Uniform(at)) => (&mut self.uniform, at),
            Some(Register::Zero) | None => return,
        };
        match value {
            Some(value) => registers.insert(at, value),
            None => registers.remove(&at),
        };
    }

    pub(super) fn set_pair(&mut self, to: &str, value: Option<u64>) {
        self.set(to, value.map(|value| value as u32));
        if let Some(upper) = next(to) {
            self.set(&upper, value.map(|value| (value >> 32) as u32));
        }
    }

    pub(super) fn truth(&self, predicate: &str) -> Option<bool> {
        match predicate {
            "PT" | "UPT" => Some(true),
            name => self.predicates.get(name).copied(),
        }
    }

    pub(super) fn truth_of(&self, operand: &str) -> Option<bool> {
        match operand.strip_prefix('!') {
            Some(name) => self.truth(name).map(|value| !value),
            None => self.truth(operand),
        }
    }

    pub(super) fn set_truth(&mut self, predicate: &str, truth: Option<bool>) {
        match truth {
            _ if matches!(predicate, "PT" | "UPT") => {}
            Some(truth) => _ = self.predicates.insert(predicate.to_owned(), truth),
            None => _ = self.predicates.remove(predicate),
        }
    }
}
