//! Registers, predicates and the values of operands. `None` is an unknown value.

use std::ops::Range;

use super::super::operand::{
    OperandChange, OperandValue, Predicate, SassOperand, SassRegister, relocated, single,
};
use super::{Execution, ListedInstruction, SassMachine, unknown};

/// The contents of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterContent {
    /// The register was never written.
    Unset,
    /// An unknown value.
    Unknown,
    Word(u32),
}

/// The registers and predicates of a lane.
#[derive(Clone)]
struct LaneRegisters {
    plain: [RegisterContent; 256],
    predicates: [RegisterContent; 8],
}

/// The registers and predicates of the lanes of a warp.
pub(super) struct RegisterFile {
    /// The lane to which register numbers refer.
    pub lane: usize,
    first: usize,
    /// The registers of the lanes from the first on.
    lanes: Vec<LaneRegisters>,
    uniform: [RegisterContent; 256],
    uniform_predicates: [RegisterContent; 8],
    /// Seed for the values of unset registers; `None` makes them unknown.
    junk: Option<u64>,
}

impl RegisterFile {
    pub fn new(junk: Option<u64>, lanes: Range<usize>) -> RegisterFile {
        let (plain, predicates) = ([RegisterContent::Unset; 256], [RegisterContent::Unset; 8]);
        RegisterFile {
            lane: lanes.start,
            first: lanes.start,
            lanes: vec![LaneRegisters { plain, predicates }; lanes.len()],
            uniform: plain,
            uniform_predicates: predicates,
            junk,
        }
    }

    /// Returns the number of the current lane among the lanes that run.
    pub fn nth(&self) -> usize {
        self.lane - self.first
    }

    fn word_in(&self, content: RegisterContent, place: u64) -> Option<u32> {
        match content {
            RegisterContent::Word(word) => Some(word),
            RegisterContent::Unknown => None,
            RegisterContent::Unset => self.junk.map(|junk| pseudo_random(junk, place)),
        }
    }

    fn register(&self, register: SassRegister) -> Option<u32> {
        match register {
            SassRegister::Zero => Some(0),
            SassRegister::Plain(number) => {
                let place = u64::from(number) + 1024 * self.nth() as u64;
                self.word_in(self.lanes[self.nth()].plain[usize::from(number)], place)
            }
            SassRegister::Uniform(number) => {
                self.word_in(self.uniform[usize::from(number)], 256 + u64::from(number))
            }
        }
    }

    fn predicate(&self, predicate: Predicate) -> Option<bool> {
        let (content, place) = match predicate {
            Predicate::True => return Some(true),
            Predicate::Plain(number) => {
                let place = 512 + u64::from(number) + 1024 * self.nth() as u64;
                (self.lanes[self.nth()].predicates[usize::from(number & 7)], place)
            }
            Predicate::Uniform(number) => {
                (self.uniform_predicates[usize::from(number & 7)], 520 + u64::from(number))
            }
        };
        Some(self.word_in(content, place)? & 1 == 1)
    }

    pub fn forget_predicates(&mut self) {
        let nth = self.nth();
        self.lanes[nth].predicates = [RegisterContent::Unknown; 8];
        self.uniform_predicates = [RegisterContent::Unknown; 8];
    }
}

/// Returns a pseudo-random number for a register in a run with this seed.
fn pseudo_random(junk: u64, place: u64) -> u32 {
    let mut pseudo_random = (junk ^ place << 48).wrapping_add(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    pseudo_random = (pseudo_random ^ pseudo_random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (pseudo_random >> 27) as u32
}

impl OperandChange {
    fn apply_to_word(self, word: u32) -> u32 {
        let word = if self.absolute { (word as i32).unsigned_abs() } else { word };
        match (self.inverts, self.negates) {
            (true, _) => !word,
            (false, true) => word.wrapping_neg(),
            (false, false) => word,
        }
    }

    /// Returns a single-precision float after the change; `None` if that is no change of floats, or if the float is NaN,
    /// whose sign is not known then.
    fn apply_to_single(self, single: u32) -> Option<u32> {
        if self == OperandChange::default() {
            return Some(single);
        }
        let magnitude = if self.absolute { single & 0x7fff_ffff } else { single };
        let changed = if self.negates { magnitude ^ 0x8000_0000 } else { magnitude };
        (!self.inverts && !f32::from_bits(single).is_nan()).then_some(changed)
    }

    fn apply_to_pair(self, pair: u64) -> u64 {
        let pair = if self.absolute { (pair as i64).unsigned_abs() } else { pair };
        match (self.inverts, self.negates) {
            (true, _) => !pair,
            (false, true) => pair.wrapping_neg(),
            (false, false) => pair,
        }
    }
}

impl SassMachine<'_> {
    /// Returns the value of a 32-bit operand.
    pub(super) fn read(&self, operand: &SassOperand) -> Option<u32> {
        self.word(operand).map(|word| operand.change.apply_to_word(word))
    }

    /// Reads an operand as a single-precision float.
    pub(super) fn read_single(&self, operand: &SassOperand) -> Option<u32> {
        match operand.value {
            OperandValue::Immediate(_) | OperandValue::Other => single(&operand.text),
            _ => self.word(operand).and_then(|word| operand.change.apply_to_single(word)),
        }
    }

    /// Returns the summand for an operand. For a negated operand it is the two's complement, whose carry
    /// differs from the carry of the negated word if the operand is zero.
    pub(super) fn term(&self, operand: &SassOperand) -> Option<u64> {
        match operand.change {
            OperandChange { negates: true, absolute: false, inverts: false } => {
                self.word(operand).map(|word| (1 << 32) - u64::from(word))
            }
            _ => self.read(operand).map(u64::from),
        }
    }

    /// Returns the summand for a 64-bit operand, like [`term`](Self::term).
    pub(super) fn pair_term(&self, operand: &SassOperand) -> Option<u128> {
        match operand.change {
            OperandChange { negates: true, absolute: false, inverts: false } => {
                let plain = SassOperand { change: OperandChange::default(), ..operand.clone() };
                self.pair(&plain).map(|pair| (1 << 64) - u128::from(pair))
            }
            _ => self.pair(operand).map(u128::from),
        }
    }

    /// Returns the word of an operand without its modifications.
    fn word(&self, operand: &SassOperand) -> Option<u32> {
        match operand.value {
            OperandValue::Register(register) => self.registers.register(register),
            OperandValue::Immediate(value) => Some(value as u32),
            OperandValue::Constant(..) => self.constant(operand, 0),
            OperandValue::Predicate(_) | OperandValue::SignOf(_) => None,
            OperandValue::Other => self.named_word(&operand.text),
        }
    }

    /// Returns the value of a relocated name.
    fn named_word(&self, text: &str) -> Option<u32> {
        if text.starts_with("c[") {
            return self.constant(&SassOperand::read(text), 0);
        }
        let halves = [("32@lo", 0), ("32@hi", 32), ("`", 0)];
        let (text, shift, is_whole) = halves
            .iter()
            .find_map(|&(before, shift)| Some((text.strip_prefix(before)?, shift, before == "`")))?;
        let (name, addend) = relocated(text)?;
        let address = self.address_of(name)?;
        // A name without a half selector is a 32-bit address, which has no upper half.
        let fits = if is_whole { address.is_small } else { shift == 0 || !address.is_small };
        fits.then(|| (address.value.wrapping_add(addend as u64) >> shift) as u32)
    }

    pub(super) fn register(&self, register: SassRegister) -> Option<u32> {
        self.registers.register(register)
    }

    /// Returns the 64-bit value in a register and the next one.
    pub(super) fn pair_of(&self, register: SassRegister) -> Option<u64> {
        let (low, high) = (self.register(register)?, self.register(register.nth(1))?);
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// Returns the value of a 64-bit operand.
    pub(super) fn pair(&self, operand: &SassOperand) -> Option<u64> {
        let pair = match operand.value {
            OperandValue::Immediate(value) => Some(value as u64),
            OperandValue::Register(register) => self.pair_of(register),
            OperandValue::Constant(..) => {
                let (low, high) = (self.constant(operand, 0)?, self.constant(operand, 4)?);
                Some(u64::from(high) << 32 | u64::from(low))
            }
            OperandValue::Other if operand.text.starts_with("c[") => {
                let (low, high) = (self.constant(operand, 0)?, self.constant(operand, 4)?);
                Some(u64::from(high) << 32 | u64::from(low))
            }
            _ => None,
        };
        pair.map(|pair| operand.change.apply_to_pair(pair))
    }

    /// Returns the register that an instruction writes.
    pub(super) fn destination(line: &ListedInstruction, operand: &SassOperand) -> Execution<SassRegister> {
        operand.register().ok_or_else(|| unknown(line))
    }

    pub(super) fn set(&mut self, to: SassRegister, value: Option<u32>) {
        let content = value.map_or(RegisterContent::Unknown, RegisterContent::Word);
        match to {
            SassRegister::Plain(number) => {
                let nth = self.registers.nth();
                self.registers.lanes[nth].plain[usize::from(number)] = content;
            }
            SassRegister::Uniform(number) => self.registers.uniform[usize::from(number)] = content,
            SassRegister::Zero => {}
        }
    }

    pub(super) fn set_pair(&mut self, to: SassRegister, value: Option<u64>) {
        self.set(to, value.map(|value| value as u32));
        self.set(to.nth(1), value.map(|value| (value >> 32) as u32));
    }

    pub(super) fn truth(&self, predicate: Predicate) -> Option<bool> {
        self.registers.predicate(predicate)
    }

    /// Returns whether a predicate operand is true.
    pub(super) fn truth_of(&self, operand: &SassOperand) -> Option<bool> {
        match operand.value {
            OperandValue::Predicate(predicate) => {
                self.truth(predicate).map(|holds| holds != operand.change.inverts)
            }
            OperandValue::SignOf(register) if operand.change == OperandChange::default() => {
                self.register(register).map(|word| word >> 31 == 1)
            }
            OperandValue::Other => {
                let constant = operand.text.strip_suffix(".SIGN").filter(|text| text.starts_with("c["))?;
                self.read(&SassOperand::read(constant)).map(|word| word >> 31 == 1)
            }
            _ => None,
        }
    }

    pub(super) fn set_truth(&mut self, to: &SassOperand, truth: Option<bool>) {
        let content = truth.map_or(RegisterContent::Unknown, |truth| RegisterContent::Word(truth.into()));
        match to.value {
            OperandValue::Predicate(Predicate::Plain(number)) => {
                let nth = self.registers.nth();
                self.registers.lanes[nth].predicates[usize::from(number & 7)] = content;
            }
            OperandValue::Predicate(Predicate::Uniform(number)) => {
                self.registers.uniform_predicates[usize::from(number & 7)] = content;
            }
            _ => {}
        }
    }
}
