//! Registers and predicates, and what operands say of them.

use super::super::listing::number;
use super::super::value::{Symbol, Truth, Wide, Word, halves, wide};
use super::operands::{Register, next, register, relocated};
use super::{Machine, Source};

impl Machine<'_> {
    /// What an operand of 32 bits holds.
    pub(super) fn read(&self, operand: &str) -> Source {
        if let Some(rest) = operand.strip_prefix('-')
            && !rest.starts_with(|c: char| c.is_ascii_digit())
        {
            return Source::Negated(self.read_plain(rest));
        }
        match operand.strip_prefix('~') {
            Some(rest) => Source::Complemented(self.read_plain(rest)),
            None => Source::Word(self.read_plain(operand)),
        }
    }

    fn read_plain(&self, operand: &str) -> Word {
        if let Some(value) = number(operand) {
            return Word::Known(value as u32);
        }
        if operand.starts_with("c[") {
            return self.constant(operand, 0).unwrap_or(Word::Unknown);
        }
        self.traced(self.named(operand))
    }

    /// What a register holds, or what a relocation names.
    fn named(&self, operand: &str) -> Word {
        if let Some(word) = self.undeclared(operand) {
            return word;
        }
        let half = |text: &str| {
            let (name, addend) = relocated(text)?;
            Some(Symbol { addend, ..Symbol::of(self.root(name)?) })
        };
        if let Some(text) = operand.strip_prefix("32@lo") {
            return half(text).map_or(Word::Unknown, Word::Low);
        }
        if let Some(text) = operand.strip_prefix("32@hi") {
            return half(text).map_or(Word::Unknown, Word::High);
        }
        if let Some(text) = operand.strip_prefix('`') {
            return half(text).filter(Symbol::is_small).map_or(Word::Unknown, Word::Low);
        }
        match register(operand) {
            Some(Register::Zero) => Word::Known(0),
            Some(Register::Plain(at)) => self.registers.get(&at).cloned().unwrap_or(Word::Unknown),
            Some(Register::Uniform(at)) => self.uniform.get(&at).cloned().unwrap_or(Word::Unknown),
            None => Word::Unknown,
        }
    }

    /// What a register and the next one hold.
    pub(super) fn pair(&self, operand: &str) -> Wide {
        if let Some(value) = number(operand) {
            return Wide::Known(value as u64);
        }
        if operand.starts_with("c[") {
            let half = |further| self.constant(operand, further).unwrap_or(Word::Unknown);
            return wide(&half(0), &half(4));
        }
        match next(operand) {
            Some(upper) => wide(&self.read(operand).word(), &self.read(&upper).word()),
            None if register(operand).is_some() => Wide::Known(0),
            None => Wide::Unknown,
        }
    }

    pub(super) fn set(&mut self, to: &str, value: Word) {
        match register(to) {
            Some(Register::Plain(at)) => {
                self.registers.insert(at, value);
            }
            Some(Register::Uniform(at)) => {
                self.uniform.insert(at, value);
            }
            Some(Register::Zero) | None => {}
        }
    }

    pub(super) fn set_pair(&mut self, to: &str, value: &Wide) {
        let (low, high) = halves(value);
        self.set(to, low);
        if let Some(upper) = next(to) {
            self.set(&upper, high);
        }
    }

    pub(super) fn truth(&self, predicate: &str) -> Truth {
        match predicate {
            "PT" | "UPT" => Truth::Known(true),
            name => self.predicates.get(name).cloned().unwrap_or(Truth::Unknown),
        }
    }

    pub(super) fn truth_of(&self, operand: &str) -> Truth {
        match operand.strip_prefix('!') {
            Some(name) => match self.truth(name) {
                Truth::Known(value) => Truth::Known(!value),
                _ => Truth::Unknown,
            },
            None => self.truth(operand),
        }
    }

    pub(super) fn set_truth(&mut self, predicate: &str, truth: Truth) {
        if !matches!(predicate, "PT" | "UPT") {
            self.predicates.insert(predicate.to_owned(), truth);
        }
    }
}
