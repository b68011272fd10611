//! A kernel under construction: its instructions, and the values that they may use.

use super::forms::{ArithmeticForm, IntegerType, OperandSlot};
use crate::stream::Draw;

/// A register with a value in it.
#[derive(Clone, Debug)]
pub(super) struct FilledRegister {
    pub name: String,
    /// The width of the register in bits; 1 for a predicate.
    pub bits: u32,
    used: bool,
}

/// A kernel under construction.
#[derive(Default)]
pub(super) struct KernelDraft {
    pub lines: Vec<String>,
    values: Vec<FilledRegister>,
    /// The numbers of registers of 1, 16, 32 and 64 bits.
    counts: [usize; 4],
    /// The number of words of the input read so far.
    read: u64,
    /// The number of places in the output that atomic instructions have changed so far.
    changed: u64,
    /// The likelihood that a source is an immediate: 0 is never, 2 is often.
    immediates: u64,
    /// The register with the number of the lane, of a kernel that runs on a warp.
    lane: Option<String>,
    /// The number of labels.
    labels: usize,
    /// The number of blocks around the next instruction.
    open_blocks: usize,
}

/// The offset in the output of the places that atomic instructions change, behind all stored values.
const CHANGED: u64 = 1 << 12;
/// The bytes of input and of output for each lane.
const LANE_BYTES: u64 = 1 << 13;

/// Returns the letter and the type of registers of this width in bits, and their index in [`KernelDraft::counts`].
fn class(bits: u32) -> (&'static str, &'static str, usize) {
    match bits {
        1 => ("p", "pred", 0),
        16 => ("h", "b16", 1),
        32 => ("r", "b32", 2),
        _ => ("d", "b64", 3),
    }
}

impl KernelDraft {
    /// Creates an empty kernel with this likelihood of immediates.
    pub fn new(immediates: u64) -> KernelDraft {
        KernelDraft { immediates, ..KernelDraft::default() }
    }

    /// Returns the letter, the type and the number of the registers of each width.
    pub fn registers(&self) -> [(&'static str, &'static str, usize); 4] {
        [1, 16, 32, 64].map(|bits| {
            let (letter, ty, place) = class(bits);
            (letter, ty, self.counts[place])
        })
    }

    /// Adds a register of this width in bits, to be set by an instruction.
    pub fn fresh(&mut self, bits: u32) -> String {
        let (letter, _, place) = class(bits);
        let name = format!("%{letter}{}", self.counts[place]);
        self.counts[place] += 1;
        self.values.push(FilledRegister { name: name.clone(), bits, used: false });
        name
    }

    /// Writes an instruction that sets a new register.
    pub fn set(&mut self, bits: u32, opcode: &str, sources: &[&str]) -> String {
        let to = self.fresh(bits);
        self.lines.push(format!("{opcode} {to}, {}", sources.join(", ")));
        to
    }

    /// Like [`KernelDraft::set`], and marks the sources as used, so that the kernel need not store them.
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

    /// Writes instructions after which each lane of the warp reads and writes memory of its own.
    pub fn separate_lanes(&mut self, draw: &mut Draw) {
        let special = *draw.pick(&["%tid.x", "%tid.x", "%laneid"]);
        let lane = self.set(32, "mov.u32", &[special]);
        self.mark_used(&[&lane]);
        for buffer in ["%in", "%out"] {
            self.lines.push(format!("mad.wide.u32 {buffer}, {lane}, {LANE_BYTES}, {buffer}"));
        }
        self.lane = Some(lane);
    }

    /// Returns the register with the number of the lane, of a kernel that runs on a warp.
    pub fn lane(&self) -> Option<String> {
        self.lane.clone()
    }

    /// Returns a new label.
    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    /// Returns a new predicate register that other instructions do not use.
    pub fn condition_register(&mut self) -> String {
        let name = self.fresh(1);
        self.values.pop();
        name
    }

    /// Whether the next instruction stands within a block.
    pub fn is_in_block(&self) -> bool {
        self.open_blocks > 0
    }

    /// Begins a block. Returns the number of values outside of it.
    pub fn open_block(&mut self) -> usize {
        self.open_blocks += 1;
        self.values.len()
    }

    /// Ends a block. Returns the names and widths in bits of its values that nothing uses.
    pub fn close_block(&mut self, outside: usize) -> Vec<(String, u32)> {
        self.open_blocks -= 1;
        let inside = self.values.split_off(outside);
        inside.into_iter().filter(|value| !value.used).map(|value| (value.name, value.bits)).collect()
    }

    /// Marks registers as used, so that the kernel need not store them.
    pub fn mark_used(&mut self, names: &[&str]) {
        for value in self.values.iter_mut().filter(|value| names.contains(&value.name.as_str())) {
            value.used = true;
        }
    }

    /// Marks a register as unused, because it has a new value.
    pub fn mark_changed(&mut self, name: &str) {
        for value in self.values.iter_mut().filter(|value| value.name == name) {
            value.used = false;
        }
    }

    /// Returns a value of this width in bits: a recent one, an earlier one, or a new one read from the input.
    pub fn value(&mut self, draw: &mut Draw, bits: u32) -> String {
        let fitting: Vec<usize> = (0..self.values.len()).filter(|&at| self.values[at].bits == bits).collect();
        let chosen = match draw.below(8) {
            _ if fitting.is_empty() => None,
            0..4 => fitting.last().copied(),
            4..6 => Some(*draw.pick(&fitting)),
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

    /// Reads a value from the input.
    pub fn leaf(&mut self, draw: &mut Draw, bits: u32) -> String {
        if bits == 1 {
            let word = self.leaf(draw, 32);
            let opcode = *draw.pick(&["setp.ne.u32", "setp.lt.s32", "setp.gt.s32"]);
            let p = self.set(1, opcode, &[&word, "0"]);
            return self.last_used(p);
        }
        if bits == 32 && draw.below(4) == 0 {
            let parameter = *draw.pick(&["[s0]", "[s1]"]);
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
        let ty = *draw.pick(types);
        let value = self.set(bits, &format!("ld.global.{ty}"), &[&place]);
        self.last_used(value)
    }

    /// Marks the last value as used, and returns its name.
    fn last_used(&mut self, name: String) -> String {
        if let Some(last) = self.values.last_mut() {
            last.used = true;
        }
        name
    }

    /// Whether an instruction can use a value of this width in bits.
    pub fn fits(&self, form: &ArithmeticForm, last: Option<u32>) -> bool {
        last.is_none_or(|bits| form.sources.iter().any(|slot| uses(*slot, bits)))
    }

    /// Writes an instruction that uses the last value if the widths agree. Returns the width of its result in bits.
    pub fn instruction(&mut self, draw: &mut Draw, form: &ArithmeticForm, last: Option<u32>) -> Option<u32> {
        let fitting: Vec<usize> = (0..form.sources.len())
            .filter(|&at| last.is_some_and(|bits| uses(form.sources[at], bits)))
            .collect();
        let forced = (!fitting.is_empty()).then(|| *draw.pick(&fitting));
        // Values read for other sources come later, so the index of the latest value is taken now.
        let latest = self.values.len().checked_sub(1);
        let mut sources = Vec::new();
        for (at, &slot) in form.sources.iter().enumerate() {
            let source = match latest {
                Some(latest) if forced == Some(at) => match slot {
                    OperandSlot::Part(suffix) => self.take(latest) + suffix,
                    _ => self.take(latest),
                },
                _ => self.source(draw, slot, at),
            };
            sources.push(source);
        }
        let (bits, suffix) = match form.result {
            OperandSlot::Nothing => {
                self.lines.push(format!("{} {}", form.opcode, sources.join(", ")));
                return None;
            }
            OperandSlot::Part(suffix) => (32, suffix),
            result => (KernelDraft::result_bits(draw, form, result), ""),
        };
        let to = self.fresh(bits);
        self.lines.push(format!("{} {to}{suffix}, {}", form.opcode, sources.join(", ")));
        Some(bits)
    }

    /// Returns the width in bits of the register for a result.
    fn result_bits(draw: &mut Draw, form: &ArithmeticForm, result: OperandSlot) -> u32 {
        match result {
            OperandSlot::Value(ty) if ty.bits == 8 => *draw.pick(&[16, 32]),
            OperandSlot::Value(ty)
                if form.opcode.starts_with("cvt") && ty.bits < 32 && draw.below(3) == 0 =>
            {
                32
            }
            OperandSlot::Value(ty) => ty.register(),
            _ => 1,
        }
    }

    fn source(&mut self, draw: &mut Draw, slot: OperandSlot, at: usize) -> String {
        // An immediate as the first source is rare: the compiler would have nothing to do.
        let often = if at == 0 { 1 } else { 5 };
        let immediate = self.immediates > 0 && draw.below(16) < often * self.immediates;
        match slot {
            OperandSlot::Value(ty) if immediate => immediate_of(draw, ty),
            OperandSlot::Value(ty) if ty.bits == 8 => {
                let bits = *draw.pick(&[16, 32]);
                self.value(draw, bits)
            }
            OperandSlot::Value(ty) => self.value(draw, ty.register()),
            OperandSlot::Bits(width) if self.immediates > 0 && draw.below(4) > 0 => {
                bits_of(draw, width).to_string()
            }
            OperandSlot::Bits(_) => self.value(draw, 32),
            OperandSlot::Divisor(ty) => divisor_of(draw, ty),
            OperandSlot::Selectors if draw.below(4) == 0 => self.value(draw, 32),
            OperandSlot::Selectors => {
                let common =
                    [0x3210, 0x7654, 0x0123, 0x4440, 0x5410, 0x7632, 0x8888, 0xba98, 0x4190, 0x3324, 0x9910];
                match draw.below(2) {
                    0 => format!("{:#x}", draw.pick(&common)),
                    _ => format!("{:#x}", draw.below(1 << 16)),
                }
            }
            OperandSlot::Choice if draw.below(4) == 0 => self.value(draw, 32),
            OperandSlot::Choice => draw.below(4).to_string(),
            OperandSlot::Table => format!("{:#x}", draw.below(256)),
            OperandSlot::Predicate => self.value(draw, 1),
            OperandSlot::Part(suffix) => self.value(draw, 32) + suffix,
            OperandSlot::Place => {
                // Often one that was changed already.
                if self.changed == 0 || draw.below(2) == 0 {
                    self.changed += 1;
                }
                format!("[%out+{}]", CHANGED + 8 * draw.below(self.changed))
            }
            OperandSlot::Nothing => String::new(),
        }
    }

    /// Stores every value that nothing uses.
    pub fn store_unused(&mut self) {
        let unused: Vec<FilledRegister> = self.values.iter().filter(|value| !value.used).cloned().collect();
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
fn uses(slot: OperandSlot, bits: u32) -> bool {
    match slot {
        OperandSlot::Value(ty) if ty.bits == 8 => bits == 16 || bits == 32,
        OperandSlot::Value(ty) => ty.register() == bits,
        OperandSlot::Bits(_) | OperandSlot::Selectors | OperandSlot::Choice | OperandSlot::Part(_) => {
            bits == 32
        }
        OperandSlot::Predicate => bits == 1,
        OperandSlot::Divisor(_) | OperandSlot::Table | OperandSlot::Place | OperandSlot::Nothing => false,
    }
}

/// Draws a constant of a type, often at a boundary.
pub(super) fn immediate_of(draw: &mut Draw, IntegerType { bits, signed }: IntegerType) -> String {
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
        8 => *draw.pick(&[0xff, 0xff00, 0xffff, 0x7fff, 0x8000, 0x5555_5555, 0xff00_ff00, 0xffff_0000]),
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

/// Draws the number of a bit, or a count of bits, for a type of this width.
pub(super) fn bits_of(draw: &mut Draw, width: u32) -> u32 {
    match draw.below(6) {
        0 => *draw.pick(&[0, 1, width / 2, width - 1, width, width + 1]),
        1 => *draw.pick(&[7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 128, 254, 255]),
        _ => draw.below(u64::from(width)) as u32,
    }
}

fn divisor_of(draw: &mut Draw, ty: IntegerType) -> String {
    let most = if ty.signed { 1u64 << (ty.bits - 1) } else { u64::MAX >> (64 - ty.bits) };
    let small = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 25, 60, 100, 127, 128, 255, 256, 641, 1000];
    let value = match draw.below(4) {
        0 | 1 => *draw.pick(&small),
        2 => 1 << draw.below(u64::from(ty.bits) - 1),
        _ => 1 + draw.below(most - 1),
    };
    match ty.signed && draw.below(3) == 0 {
        true => format!("-{value}"),
        false => value.to_string(),
    }
}
