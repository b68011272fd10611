//! A kernel as it is made: its instructions, and the values that they may use.

use super::forms::{Form, Slot, Type};
use crate::stream::Draw;

/// A register with a value in it.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub name: String,
    /// The bits of the register; one of a predicate.
    pub bits: u32,
    used: bool,
}

/// A kernel as it is made.
#[derive(Default)]
pub(super) struct Draft {
    pub lines: Vec<String>,
    values: Vec<Value>,
    /// How many registers there are of 1, 16, 32 and 64 bits.
    counts: [usize; 4],
    /// Words of the input that are read so far.
    read: u64,
    /// Places in the output that atomic instructions change so far.
    changed: u64,
    /// How likely a source is an immediate.
    immediates: u64,
}

/// The offset in the output of the places that atomic instructions change, behind all that is stored.
const CHANGED: u64 = 1 << 12;

/// Registers of one width in bits: the letter, the type, and the place among the counts.
fn class(bits: u32) -> (&'static str, &'static str, usize) {
    match bits {
        1 => ("p", "pred", 0),
        16 => ("h", "b16", 1),
        32 => ("r", "b32", 2),
        _ => ("d", "b64", 3),
    }
}

impl Draft {
    /// An empty kernel whose sources are immediates this likely: 0 is never, 2 often.
    pub fn new(immediates: u64) -> Draft {
        Draft { immediates, ..Draft::default() }
    }

    /// The registers: their letter, their type, and how many there are.
    pub fn registers(&self) -> [(&'static str, &'static str, usize); 4] {
        [1, 16, 32, 64].map(|bits| {
            let (letter, ty, place) = class(bits);
            (letter, ty, self.counts[place])
        })
    }

    /// A new register of this width in bits, which an instruction sets.
    pub fn fresh(&mut self, bits: u32) -> String {
        let (letter, _, place) = class(bits);
        let name = format!("%{letter}{}", self.counts[place]);
        self.counts[place] += 1;
        self.values.push(Value { name: name.clone(), bits, used: false });
        name
    }

    /// Writes an instruction that sets a new register.
    pub fn set(&mut self, bits: u32, opcode: &str, sources: &[&str]) -> String {
        let to = self.fresh(bits);
        self.lines.push(format!("{opcode} {to}, {}", sources.join(", ")));
        to
    }

    /// The same, of sources that nothing else need show.
    pub fn use_in(&mut self, bits: u32, opcode: &str, sources: &[&str]) -> String {
        self.mark_used(sources);
        self.set(bits, opcode, sources)
    }

    /// Writes a `mov` that joins parts to a new register.
    pub fn join_parts(&mut self, bits: u32, opcode: &str, parts: &[String]) -> String {
        let names: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.mark_used(&names);
        self.set(bits, opcode, &[&format!("{{{}}}", parts.join(", "))])
    }

    fn mark_used(&mut self, names: &[&str]) {
        for value in self.values.iter_mut().filter(|value| names.contains(&value.name.as_str())) {
            value.used = true;
        }
    }

    /// A value of this width in bits: a recent one, an earlier one, or one that is read from the input.
    pub fn value(&mut self, draw: &mut Draw, bits: u32) -> String {
        let fitting: Vec<usize> = (0..self.values.len()).filter(|&at| self.values[at].bits == bits).collect();
        let chosen = match draw.below(8) {
            _ if fitting.is_empty() => None,
            0..4 => fitting.last().copied(),
            4..6 => Some(*draw.of(&fitting)),
            _ => None,
        };
        match chosen {
            Some(at) => self.take(at),
            None => self.leaf(draw, bits),
        }
    }

    fn take(&mut self, at: usize) -> String {
        self.values[at].used = true;
        self.values[at].name.clone()
    }

    /// A value of the input.
    pub fn leaf(&mut self, draw: &mut Draw, bits: u32) -> String {
        if bits == 1 {
            let word = self.leaf(draw, 32);
            let opcode = *draw.of(&["setp.ne.u32", "setp.lt.s32", "setp.gt.s32"]);
            let p = self.set(1, opcode, &[&word, "0"]);
            return self.last_used(p);
        }
        if bits == 32 && draw.below(4) == 0 {
            let parameter = *draw.of(&["[s0]", "[s1]"]);
            let word = self.set(32, "ld.param.u32", &[parameter]);
            return self.last_used(word);
        }
        let types: &[&str] = match bits {
            16 => &["u16", "u16", "s16", "u8", "s8"],
            32 => &["u32", "u32", "u32", "u32", "s32", "u16", "s16", "u8", "s8"],
            _ => &["u64", "u64", "u64", "u32", "s32"],
        };
        let place = format!("[%in+{}]", 8 * self.read);
        self.read += 1;
        let ty = *draw.of(types);
        let value = self.set(bits, &format!("ld.global.{ty}"), &[&place]);
        self.last_used(value)
    }

    /// The last value, which an instruction uses.
    fn last_used(&mut self, name: String) -> String {
        if let Some(last) = self.values.last_mut() {
            last.used = true;
        }
        name
    }

    /// Whether an instruction can use a value of this width in bits.
    pub fn fits(&self, form: &Form, last: Option<u32>) -> bool {
        last.is_none_or(|bits| form.sources.iter().any(|slot| uses(*slot, bits)))
    }

    /// Writes an instruction that uses the last value where the widths agree; returns the width of its result in bits.
    pub fn instruction(&mut self, draw: &mut Draw, form: &Form, last: Option<u32>) -> Option<u32> {
        let fitting: Vec<usize> = (0..form.sources.len())
            .filter(|&at| last.is_some_and(|bits| uses(form.sources[at], bits)))
            .collect();
        let forced = (!fitting.is_empty()).then(|| *draw.of(&fitting));
        // What is read for another source comes behind it.
        let latest = self.values.len().checked_sub(1);
        let mut sources = Vec::new();
        for (at, &slot) in form.sources.iter().enumerate() {
            let source = match latest {
                Some(latest) if forced == Some(at) => match slot {
                    Slot::Part(suffix) => self.take(latest) + suffix,
                    _ => self.take(latest),
                },
                _ => self.source(draw, slot, at),
            };
            sources.push(source);
        }
        let (bits, suffix) = match form.result {
            Slot::Nothing => {
                self.lines.push(format!("{} {}", form.opcode, sources.join(", ")));
                return None;
            }
            Slot::Part(suffix) => (32, suffix),
            result => (Draft::result_bits(draw, form, result), ""),
        };
        let to = self.fresh(bits);
        self.lines.push(format!("{} {to}{suffix}, {}", form.opcode, sources.join(", ")));
        Some(bits)
    }

    /// Returns the width in bits of the register for a result.
    fn result_bits(draw: &mut Draw, form: &Form, result: Slot) -> u32 {
        match result {
            Slot::Value(ty) if ty.bits == 8 => *draw.of(&[16, 32]),
            Slot::Value(ty) if form.opcode.starts_with("cvt") && ty.bits < 32 && draw.below(3) == 0 => 32,
            Slot::Value(ty) => ty.register(),
            _ => 1,
        }
    }

    fn source(&mut self, draw: &mut Draw, slot: Slot, at: usize) -> String {
        // One that is first is rarely an immediate: then the compiler has nothing to do.
        let often = if at == 0 { 1 } else { 5 };
        let immediate = self.immediates > 0 && draw.below(16) < often * self.immediates;
        match slot {
            Slot::Value(ty) if immediate => immediate_of(draw, ty),
            Slot::Value(ty) if ty.bits == 8 => {
                let bits = *draw.of(&[16, 32]);
                self.value(draw, bits)
            }
            Slot::Value(ty) => self.value(draw, ty.register()),
            Slot::Bits(width) if self.immediates > 0 && draw.below(4) > 0 => bits_of(draw, width).to_string(),
            Slot::Bits(_) => self.value(draw, 32),
            Slot::Divisor(ty) => divisor_of(draw, ty),
            Slot::Selectors if draw.below(4) == 0 => self.value(draw, 32),
            Slot::Selectors => {
                let common =
                    [0x3210, 0x7654, 0x0123, 0x4440, 0x5410, 0x7632, 0x8888, 0xba98, 0x4190, 0x3324, 0x9910];
                match draw.below(2) {
                    0 => format!("{:#x}", draw.of(&common)),
                    _ => format!("{:#x}", draw.below(1 << 16)),
                }
            }
            Slot::Choice if draw.below(4) == 0 => self.value(draw, 32),
            Slot::Choice => draw.below(4).to_string(),
            Slot::Table => format!("{:#x}", draw.below(256)),
            Slot::Predicate => self.value(draw, 1),
            Slot::Part(suffix) => self.value(draw, 32) + suffix,
            Slot::Place => {
                // Often one that was changed already.
                if self.changed == 0 || draw.below(2) == 0 {
                    self.changed += 1;
                }
                format!("[%out+{}]", CHANGED + 8 * draw.below(self.changed))
            }
            Slot::Nothing => String::new(),
        }
    }

    /// Stores every value that nothing uses.
    pub fn store_unused(&mut self) {
        let unused: Vec<Value> = self.values.iter().filter(|value| !value.used).cloned().collect();
        for (nth, value) in unused.into_iter().enumerate() {
            let place = format!("[%out+{}]", 8 * nth);
            if value.bits == 1 {
                let word = self.set(32, "selp.u32", &["1", "0", &value.name]);
                self.lines.push(format!("st.global.u32 {place}, {word}"));
            } else {
                self.lines.push(format!("st.global.u{} {place}, {}", value.bits, value.name));
            }
        }
    }
}

/// Whether a slot can hold a register of this width in bits.
fn uses(slot: Slot, bits: u32) -> bool {
    match slot {
        Slot::Value(ty) if ty.bits == 8 => bits == 16 || bits == 32,
        Slot::Value(ty) => ty.register() == bits,
        Slot::Bits(_) | Slot::Selectors | Slot::Choice | Slot::Part(_) => bits == 32,
        Slot::Predicate => bits == 1,
        Slot::Divisor(_) | Slot::Table | Slot::Place | Slot::Nothing => false,
    }
}

/// A constant of a type, often at one of its boundaries.
pub(super) fn immediate_of(draw: &mut Draw, Type { bits, signed }: Type) -> String {
    let one = 1u64 << draw.below(bits.into());
    let value = match draw.below(10) {
        0 => draw.below(4),
        1 => one,
        2 => one.wrapping_sub(1),
        3 => one.wrapping_neg(),
        4 => 1 << (bits - 1),
        5 => (1 << (bits - 1)) - 1,
        6 => draw.below(300),
        7 => draw.below(300).wrapping_neg(),
        8 => *draw.of(&[0xff, 0xff00, 0xffff, 0x7fff, 0x8000, 0x5555_5555, 0xff00_ff00, 0xffff_0000]),
        _ => draw.0.next_u64(),
    };
    let value = if bits < 64 { value & ((1 << bits) - 1) } else { value };
    if !signed {
        return format!("{value:#x}");
    }
    let unused = 64 - bits;
    let value = (value << unused) as i64 >> unused;
    // The least number of 64 bits is no literal.
    value.max(i64::MIN + 1).to_string()
}

/// The number of a bit, or a count of bits, for a type of this width.
pub(super) fn bits_of(draw: &mut Draw, width: u32) -> u32 {
    match draw.below(6) {
        0 => *draw.of(&[0, 1, width / 2, width - 1, width, width + 1]),
        1 => *draw.of(&[7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 128, 254, 255]),
        _ => draw.below(u64::from(width)) as u32,
    }
}

fn divisor_of(draw: &mut Draw, ty: Type) -> String {
    let most = if ty.signed { 1u64 << (ty.bits - 1) } else { u64::MAX >> (64 - ty.bits) };
    let small = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 25, 60, 100, 127, 128, 255, 256, 641, 1000];
    let value = match draw.below(4) {
        0 | 1 => *draw.of(&small),
        2 => 1 << draw.below(u64::from(ty.bits) - 1),
        _ => 1 + draw.below(most - 1),
    };
    match ty.signed && draw.below(3) == 0 {
        true => format!("-{value}"),
        false => value.to_string(),
    }
}
