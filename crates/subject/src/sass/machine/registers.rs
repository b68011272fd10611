//! Registers, predicates and the values of operands. `None` is an unknown value.

use std::ops::Range;

use super::super::operand::{Change, Operand, Predicate, Register, Value, relocated};
use super::{Known, Line, Machine, unknown};

/// The contents of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The register was never written.
    Unset,
    /// An unknown value.
    Unknown,
    Word(u32),
}

/// The registers and predicates of one lane.
#[derive(Clone)]
struct Own {
    plain: [Held; 256],
    predicates: [Held; 8],
}

/// The registers and predicates of the lanes of a warp.
pub(super) struct Registers {
    /// The lane whose registers are meant.
    pub lane: usize,
    first: usize,
    /// The registers of the lanes from the first on.
    own: Vec<Own>,
    uniform: [Held; 256],
    uniform_predicates: [Held; 8],
    /// Seed for the values of unset registers; `None` makes them unknown.
    junk: Option<u64>,
}

impl Registers {
    pub fn new(junk: Option<u64>, lanes: Range<usize>) -> Registers {
        let (plain, predicates) = ([Held::Unset; 256], [Held::Unset; 8]);
        let own = vec![Own { plain, predicates }; lanes.len()];
        let first = lanes.start;
        Registers { lane: first, first, own, uniform: plain, uniform_predicates: predicates, junk }
    }

    /// Returns the number of the current lane among the lanes that run.
    pub fn nth(&self) -> usize {
        self.lane - self.first
    }

    fn held(&self, held: Held, place: u64) -> Option<u32> {
        match held {
            Held::Word(word) => Some(word),
            Held::Unknown => None,
            Held::Unset => self.junk.map(|junk| mixed(junk, place)),
        }
    }

    fn register(&self, register: Register) -> Option<u32> {
        match register {
            Register::Zero => Some(0),
            Register::Plain(at) => {
                let place = u64::from(at) + 1024 * self.nth() as u64;
                self.held(self.own[self.nth()].plain[usize::from(at)], place)
            }
            Register::Uniform(at) => self.held(self.uniform[usize::from(at)], 256 + u64::from(at)),
        }
    }

    fn predicate(&self, predicate: Predicate) -> Option<bool> {
        let (held, place) = match predicate {
            Predicate::True => return Some(true),
            Predicate::Plain(at) => {
                let place = 512 + u64::from(at) + 1024 * self.nth() as u64;
                (self.own[self.nth()].predicates[usize::from(at & 7)], place)
            }
            Predicate::Uniform(at) => (self.uniform_predicates[usize::from(at & 7)], 520 + u64::from(at)),
        };
        Some(self.held(held, place)? & 1 == 1)
    }

    pub fn forget_predicates(&mut self) {
        let nth = self.nth();
        self.own[nth].predicates = [Held::Unknown; 8];
        self.uniform_predicates = [Held::Unknown; 8];
    }
}

/// Returns a pseudo-random number for a register in a run with this seed.
fn mixed(junk: u64, place: u64) -> u32 {
    let mut mixed = (junk ^ place << 48).wrapping_add(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 27) as u32
}

impl Change {
    fn of_word(self, word: u32) -> u32 {
        let word = if self.absolute { (word as i32).unsigned_abs() } else { word };
        match (self.inverts, self.negates) {
            (true, _) => !word,
            (false, true) => word.wrapping_neg(),
            (false, false) => word,
        }
    }

    fn of_pair(self, pair: u64) -> u64 {
        let pair = if self.absolute { (pair as i64).unsigned_abs() } else { pair };
        match (self.inverts, self.negates) {
            (true, _) => !pair,
            (false, true) => pair.wrapping_neg(),
            (false, false) => pair,
        }
    }
}

impl Machine<'_> {
    /// Returns the value of a 32-bit operand.
    pub(super) fn read(&self, operand: &Operand) -> Option<u32> {
        self.word(operand).map(|word| operand.change.of_word(word))
    }

    /// Returns the summand for an operand. For a negated operand it is the two's complement, whose carry differs from
    /// the carry of the negated word if the operand is zero.
    pub(super) fn term(&self, operand: &Operand) -> Option<u64> {
        match operand.change {
            Change { negates: true, absolute: false, inverts: false } => {
                self.word(operand).map(|word| (1 << 32) - u64::from(word))
            }
            _ => self.read(operand).map(u64::from),
        }
    }

    /// Returns the word of an operand without its modifications.
    fn word(&self, operand: &Operand) -> Option<u32> {
        match operand.value {
            Value::Register(register) => self.registers.register(register),
            Value::Immediate(value) => Some(value as u32),
            Value::Constant(..) => self.constant(operand, 0),
            Value::Predicate(_) | Value::SignOf(_) => None,
            Value::Other => self.named(&operand.text),
        }
    }

    /// Returns the value of a relocated name.
    fn named(&self, text: &str) -> Option<u32> {
        if text.starts_with("c[") {
            return self.constant(&Operand::read(text), 0);
        }
        let halves = [("32@lo", 0), ("32@hi", 32), ("`", 0)];
        let (text, shift, is_whole) = halves
            .iter()
            .find_map(|&(before, shift)| Some((text.strip_prefix(before)?, shift, before == "`")))?;
        let (name, addend) = relocated(text)?;
        let address = self.address_of(name)?;
        // A name without a half selector is a 32-bit address, which has no upper half.
        let fits = if is_whole { address.is_small } else { shift == 0 || !address.is_small };
        fits.then(|| (address.at.wrapping_add(addend as u64) >> shift) as u32)
    }

    pub(super) fn register(&self, register: Register) -> Option<u32> {
        self.registers.register(register)
    }

    /// Returns the 64-bit value in a register and the next one.
    pub(super) fn pair_of(&self, register: Register) -> Option<u64> {
        let (low, high) = (self.register(register)?, self.register(register.nth(1))?);
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// Returns the value of a 64-bit operand.
    pub(super) fn pair(&self, operand: &Operand) -> Option<u64> {
        let pair = match operand.value {
            Value::Immediate(value) => Some(value as u64),
            Value::Register(register) => self.pair_of(register),
            Value::Constant(..) => {
                let (low, high) = (self.constant(operand, 0)?, self.constant(operand, 4)?);
                Some(u64::from(high) << 32 | u64::from(low))
            }
            Value::Other if operand.text.starts_with("c[") => {
                let (low, high) = (self.constant(operand, 0)?, self.constant(operand, 4)?);
                Some(u64::from(high) << 32 | u64::from(low))
            }
            _ => None,
        };
        pair.map(|pair| operand.change.of_pair(pair))
    }

    /// Returns the register that an instruction writes.
    pub(super) fn destination(line: &Line, operand: &Operand) -> Known<Register> {
        operand.register().ok_or_else(|| unknown(line))
    }

    pub(super) fn set(&mut self, to: Register, value: Option<u32>) {
        let held = value.map_or(Held::Unknown, Held::Word);
        match to {
            Register::Plain(at) => {
                let nth = self.registers.nth();
                self.registers.own[nth].plain[usize::from(at)] = held;
            }
            Register::Uniform(at) => self.registers.uniform[usize::from(at)] = held,
            Register::Zero => {}
        }
    }

    pub(super) fn set_pair(&mut self, to: Register, value: Option<u64>) {
        self.set(to, value.map(|value| value as u32));
        self.set(to.nth(1), value.map(|value| (value >> 32) as u32));
    }

    pub(super) fn truth(&self, predicate: Predicate) -> Option<bool> {
        self.registers.predicate(predicate)
    }

    /// Returns whether a predicate operand is true.
    pub(super) fn truth_of(&self, operand: &Operand) -> Option<bool> {
        match operand.value {
            Value::Predicate(predicate) => self.truth(predicate).map(|holds| holds != operand.change.inverts),
            Value::SignOf(register) if operand.change == Change::default() => {
                self.register(register).map(|word| word >> 31 == 1)
            }
            Value::Other => {
                let constant = operand.text.strip_suffix(".SIGN").filter(|text| text.starts_with("c["))?;
                self.read(&Operand::read(constant)).map(|word| word >> 31 == 1)
            }
            _ => None,
        }
    }

    pub(super) fn set_truth(&mut self, to: &Operand, truth: Option<bool>) {
        let held = truth.map_or(Held::Unknown, |truth| Held::Word(truth.into()));
        match to.value {
            Value::Predicate(Predicate::Plain(at)) => {
                let nth = self.registers.nth();
                self.registers.own[nth].predicates[usize::from(at & 7)] = held;
            }
            Value::Predicate(Predicate::Uniform(at)) => {
                self.registers.uniform_predicates[usize::from(at & 7)] = held;
            }
            _ => {}
        }
    }
}
