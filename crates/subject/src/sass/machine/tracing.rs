//! Executes a kernel over numbers, for what it reaches. What is not understood makes what it sets unknown, and ends nothing.

use super::super::listing::{Line, number};
use super::super::operation::{Access, Operation, Width};
use super::super::value::{Root, Symbol, Truth, Word};
use super::operands::{is_predicate, nth_register, register, relocated, summands};
use super::{Known, Lost, MOST_STEPS, Machine, lost};
use ptxsmith_model::{FUNCTIONS, Reach, Reached, Space, Tracing};

/// Where the stack of the thread begins.
const STACK: u32 = 0x00f0_0000;
/// What the hardware puts in front of `.shared` variables from sm_90 on, where parameters begin here or later.
const BEFORE_SHARED: u64 = 0x400;
const WITH_CLUSTERS: u32 = 0x210;

impl Machine<'_> {
    /// Runs a kernel as far as it can be followed.
    pub fn trace(mut self, kernel: &str) -> Reached {
        let lost = self.followed(kernel).err().map(|lost| lost.0);
        let mut reached = self.reached.into_inner();
        reached.lost = lost;
        reached
    }

    fn followed(&mut self, kernel: &str) -> Known<()> {
        let start = self.listing.sections.get(&format!(".text.{kernel}")).copied();
        let mut at = start.ok_or_else(|| Lost("no code".to_owned()))?;
        for _ in 0..MOST_STEPS {
            let line = self.listing.line(at).map_err(Lost)?;
            at += 1;
            let certain = match &line.guard {
                None => true,
                Some((predicate, negated)) => match self.truth(predicate) {
                    Truth::Known(holds) if holds == *negated => continue,
                    Truth::Known(_) => true,
                    _ => false,
                },
            };
            match line.operation {
                Operation::Exit if certain => return Ok(()),
                Operation::Branch if certain => at = self.branch(line)?,
                Operation::Exit
                | Operation::Branch
                | Operation::BranchByRegister
                | Operation::Call
                | Operation::Return => return Err(lost(line, "is not followed")),
                _ if self.touches_memory(line) => self.access(line, certain),
                _ if !certain || self.step(line).is_err() => self.forget(line),
                _ => {}
            }
        }
        Err(Lost("more instructions than are executed".to_owned()))
    }

    fn touches_memory(&self, line: &Line) -> bool {
        let name = line.opcode.split('.').next().unwrap_or_default();
        let known = matches!(line.operation, Operation::Load(..) | Operation::Store(..));
        let banks = ["LDC", "ULDC", "LDCU", "LDGDEPBAR"].contains(&name);
        let begins = ["LD", "ST", "ATOM", "RED", "SU", "UBLK", "UTMA", "UST"];
        known || !banks && !name.starts_with("REDUX") && begins.iter().any(|begin| name.starts_with(begin))
    }

    /// A load, a store or an atomic instruction; where it is not `certain` to be executed, what it leaves is not known.
    fn access(&mut self, line: &Line, certain: bool) {
        let (access, width, reads, writes) = match line.operation {
            Operation::Load(access, width) => (Some(access), width, true, false),
            Operation::Store(access, width) => (Some(access), width, false, true),
            _ => (atomic(&line.opcode), atomic_width(&line.opcode), true, true),
        };
        let bracketed: Vec<&String> =
            line.operands.iter().filter(|operand| operand.starts_with('[')).collect();
        let place = match (access, bracketed.as_slice()) {
            (Some(access), [operand]) if is_understood(&line.opcode) => {
                self.reached_place(line, access, operand)
            }
            _ => None,
        };
        let bytes = width.bytes as u64;
        let instruction = format!("{} {}", line.opcode, line.operands.join(", "));
        let plain = [&line.operands[..]].concat().len() == 2 && certain && place.is_some();
        let word = |machine: &Self, nth: usize| {
            let from = line.operands.last().map(String::as_str).unwrap_or_default();
            match machine.read(&nth_register(from, nth)).word() {
                Word::Known(word) => Some(word),
                _ => None,
            }
        };
        if reads && !writes && plain {
            self.load_bytes(line, place, width);
        } else if !writes || line.operands.len() > 2 {
            self.forget(line);
        }
        if writes {
            match place {
                Some((space, at)) => {
                    for nth in 0..bytes {
                        let held = if plain && !reads { word(self, nth as usize / 4) } else { None };
                        let byte = held.map(|word| (word >> (8 * (nth % 4))) as u8);
                        self.reached.get_mut().written.insert((space, at.wrapping_add(nth)), byte);
                    }
                }
                None => self.scattered = true,
            }
        }
        self.reached.get_mut().reaches.push(Reach {
            instruction,
            reads,
            writes,
            width: bytes,
            place,
            certain,
        });
    }

    fn load_bytes(&mut self, line: &Line, place: Option<(Space, u64)>, width: Width) {
        let (Some(to), Some((space, at))) = (line.operands.first(), place) else { return self.forget(line) };
        let bytes: Vec<Option<u8>> =
            (0..width.bytes as u64).map(|nth| self.traced_byte(space, at.wrapping_add(nth))).collect();
        for (nth, bytes) in bytes.chunks(4).enumerate() {
            self.set(&nth_register(to, nth), word_of(bytes, width.signed));
        }
    }

    fn traced_byte(&self, space: Space, at: u64) -> Option<u8> {
        if self.scattered {
            return None;
        }
        match self.reached.borrow().written.get(&(space, at)) {
            Some(byte) => *byte,
            None => self.tracing?.memory.get(&(space, at)).copied(),
        }
    }

    /// What an instruction sets that is not understood is not known.
    fn forget(&mut self, line: &Line) {
        let name = line.opcode.split('.').next().unwrap_or_default();
        if line.operands.iter().any(|operand| operand == "PR" || operand == "UPR") {
            self.predicates.clear();
        }
        let mut registers = 0;
        for operand in line.operands.iter().take(4) {
            if is_predicate(operand) {
                self.set_truth(operand, Truth::Unknown);
            } else if register(operand).is_some() && (registers == 0 || name.starts_with('T')) {
                (0..set_by(name, &line.opcode))
                    .for_each(|nth| self.set(&nth_register(operand, nth), Word::Unknown));
                registers += 1;
            } else {
                break;
            }
        }
    }

    /// The state space and the place that an address operand means.
    fn reached_place(&self, line: &Line, access: Access, operand: &str) -> Option<(Space, u64)> {
        let tracing = self.tracing?;
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        let parts = summands(inner);
        let registers = parts.iter().filter(|part| register(part).is_some()).count();
        let small = matches!(access, Access::Small(_));
        let mut total = 0u64;
        for part in parts {
            let value = match number(part) {
                Some(value) => value as u64,
                None if part.starts_with('`') => {
                    // How these two go together is not known.
                    if self.parameters >= WITH_CLUSTERS
                        && access == Access::Small(super::super::value::Space::Shared)
                    {
                        return None;
                    }
                    let (name, addend) = relocated(part.trim_start_matches('`'))?;
                    self.traced_place(name)?.wrapping_add(addend as u64)
                }
                None => self.scaled(part, small, registers, line.opcode.contains(".E"))?,
            };
            total = total.wrapping_add(value);
        }
        Some(match access {
            Access::Small(space) => (space_of(space), u64::from(total as u32)),
            Access::Global => (Space::Global, total),
            Access::Generic => {
                let inside = |&&(_, start): &&(Space, u64)| (start..start + (1 << 32)).contains(&total);
                let window = tracing.windows.iter().find(inside);
                window.map_or((Space::Global, total), |&(space, start)| (space, total - start))
            }
        })
    }

    /// What a register adds to an address: `R2.64`, `R2.U32`, `R2.X4`, `UR4`.
    fn scaled(&self, part: &str, small: bool, registers: usize, extended: bool) -> Option<u64> {
        let mut words = part.split('.');
        let name = words.next()?;
        let (mut scale, mut wide, mut narrow) = (1, false, false);
        for word in words {
            match word {
                "reuse" => {}
                "64" => wide = true,
                "U32" => narrow = true,
                "X4" => scale = 4,
                "X8" => scale = 8,
                "X16" => scale = 16,
                _ => return None,
            }
        }
        let known = |word| match word {
            Word::Known(word) => Some(u64::from(word)),
            _ => None,
        };
        let low = known(self.read(name).word())?;
        let pair = wide || !narrow && !small && (name.starts_with("UR") || extended && registers == 1);
        match (small || narrow, pair) {
            (true, false) => Some(low.wrapping_mul(scale)),
            (false, true) if register(name).is_some_and(|register| register.is_zero()) => Some(0),
            (false, true) if scale == 1 => Some(known(self.read(&nth_register(name, 1)).word())? << 32 | low),
            _ => None,
        }
    }

    /// Where a variable lies that generated code calls so.
    fn traced_place(&self, name: &str) -> Option<u64> {
        let place = self.tracing?.place_of(name)?;
        self.reached.borrow_mut().symbols.insert((name.to_owned(), place));
        let shared =
            self.variables.get(name).is_some_and(|variable| variable.space.as_deref() == Some("shared"));
        let before = if shared && self.parameters >= WITH_CLUSTERS { BEFORE_SHARED } else { 0 };
        Some(place.wrapping_sub(before))
    }

    /// Half an address of a variable that another module declares, as the number that was made up for it: `32@hi(a)`.
    pub(super) fn undeclared(&self, operand: &str) -> Option<Word> {
        let halves = [("32@lo", 0), ("32@hi", 32), ("`", 0)];
        let (text, shift) =
            halves.iter().find_map(|&(before, shift)| Some((operand.strip_prefix(before)?, shift)))?;
        let (name, addend) = relocated(text)?;
        if self.root(name).is_some() {
            return None;
        }
        let place = self.traced_place(name)?;
        // What lies before variables in `.shared` counts there, and the code does not say where this one is.
        let small = u32::try_from(place).is_ok();
        (!small || self.parameters < WITH_CLUSTERS)
            .then(|| Word::Known((place.wrapping_add(addend as u64) >> shift) as u32))
    }

    /// Half an address as the number that it is.
    pub(super) fn traced(&self, word: Word) -> Word {
        let place = |symbol: &Symbol| match &symbol.root {
            Root::Variable { name, .. } if !symbol.generic => {
                Some(self.traced_place(name)?.wrapping_add(symbol.addend as u64))
            }
            Root::Function(name) => {
                // Where its code begins, so that two names of one function are at one place.
                let line = *self.listing.labels.get(&**name)? as u64;
                Some((FUNCTIONS.start + 256 * line).wrapping_add(symbol.addend as u64))
            }
            _ => None,
        };
        let known = match (self.tracing, &word) {
            (None, _) | (_, Word::Known(_)) => return word,
            (_, Word::Low(symbol)) => place(symbol).map(|place| place as u32),
            (_, Word::High(symbol)) if !symbol.is_small() => place(symbol).map(|place| (place >> 32) as u32),
            _ => None,
        };
        known.map_or(Word::Unknown, Word::Known)
    }

    /// ``c[0x0][0x160]``, ``c[0x3][R2+0x4]``, ``c[`((c + 0x8))]``, so many bytes on.
    pub(super) fn traced_constant(
        &self,
        tracing: &Tracing,
        operand: &str,
        further: i64,
        width: Width,
    ) -> Word {
        let place = || {
            let rest = operand.strip_prefix("c[")?;
            let (bank, inner) = match rest.split_once("][") {
                Some((bank, inner)) => (number(bank)?, inner),
                None => (3, rest),
            };
            let mut at = further as u64;
            for part in summands(inner.strip_suffix(']')?) {
                at = at.wrapping_add(match number(part) {
                    Some(value) => value as u64,
                    None if part.starts_with('`') => {
                        let (name, addend) = relocated(part.trim_start_matches('`'))?;
                        self.traced_place(name)?.wrapping_add(addend as u64)
                    }
                    None => match self.read(part).word() {
                        Word::Known(word) => u64::from(word),
                        _ => return None,
                    },
                });
            }
            Some((bank, u64::from(at as u32)))
        };
        let bytes: Vec<Option<u8>> = match place() {
            Some((0, at)) => {
                (0..width.bytes as u64).map(|nth| self.launched(tracing, at.wrapping_add(nth))).collect()
            }
            Some((3, at)) => {
                let bytes = width.bytes as u64;
                let (instruction, place) = (operand.to_owned(), Some((Space::Const, at)));
                let reach =
                    Reach { instruction, reads: true, writes: false, width: bytes, place, certain: true };
                self.reached.borrow_mut().reaches.push(reach);
                (0..bytes).map(|nth| self.traced_byte(Space::Const, at + nth)).collect()
            }
            // The assembler's own tables; a bank of variables, where it stands for itself.
            _ => return Word::Unknown,
        };
        word_of(&bytes, width.signed)
    }

    /// A byte of the bank of the launch: the parameters, and what the driver puts in front of them.
    fn launched(&self, tracing: &Tracing, at: u64) -> Option<u8> {
        let parameters = u64::from(self.parameters);
        if let Some(at) = at.checked_sub(parameters) {
            return self.passed.get(at as usize).copied();
        }
        let (sizes, stack, windows): (u64, u64, &[(Space, u64)]) = match self.parameters {
            0x160 => (0, 0x28, &[(Space::Shared, 0x18), (Space::Local, 0x20), (Space::Const, 0x50)]),
            0x210 => (0, 0x28, &[(Space::Const, 0xd0)]),
            0x380 => (0x360, 0x37c, &[(Space::Const, 0x120)]),
            _ => return None,
        };
        let byte = |value: u64, from: u64| (value >> (8 * (at - from))) as u8;
        if (stack..stack + 4).contains(&at) {
            return Some(byte(u64::from(STACK), stack));
        }
        if let Some(&(space, from)) = windows.iter().find(|(_, from)| (*from..from + 8).contains(&at)) {
            let window = tracing.windows.iter().find(|(own, _)| *own == space)?;
            return Some(byte(window.1, from));
        }
        const SIZES: [(u64, &str); 6] = [
            (0x0, "ntid.x"),
            (0x4, "ntid.y"),
            (0x8, "ntid.z"),
            (0xc, "nctaid.x"),
            (0x10, "nctaid.y"),
            (0x14, "nctaid.z"),
        ];
        // Later generations leave a word between the two.
        let gap = |offset: u64| if sizes > 0 && offset >= 0xc { 4 } else { 0 };
        let places = SIZES.iter().map(|(offset, name)| (sizes + offset + gap(*offset), *name));
        let (from, name) = places.into_iter().find(|(from, _)| (*from..from + 4).contains(&at))?;
        Some(byte(u64::from(*tracing.specials.get(name)?), from))
    }

    /// What a special register holds.
    pub(super) fn special(&self, name: &str) -> Word {
        let Some(tracing) = self.tracing else { return Word::Unknown };
        // The first block of a cluster.
        if name == "SR_CgaCtaId" {
            return Word::Known(0);
        }
        let own = name.strip_prefix("SR_").unwrap_or_default().to_lowercase();
        tracing.specials.get(own.as_str()).map_or(Word::Unknown, |&value| Word::Known(value))
    }
}

/// Where the parameters begin in a bank of this size, and their bytes. They are aligned in the bank, not from its parameters on.
pub(super) fn laid_out(bank: u32, parameters: &[(u64, Vec<u8>)]) -> Option<(u32, Vec<u8>)> {
    [0x160u32, WITH_CLUSTERS, 0x380].into_iter().find_map(|start| {
        let mut bytes = vec![0; start as usize];
        for (align, own) in parameters {
            bytes.resize((bytes.len() as u64).next_multiple_of(*align) as usize, 0);
            bytes.extend(own);
        }
        (bytes.len() == bank as usize).then(|| (start, bytes.split_off(start as usize)))
    })
}

fn space_of(space: super::super::value::Space) -> Space {
    match space {
        super::super::value::Space::Global => Space::Global,
        super::super::value::Space::Const => Space::Const,
        super::super::value::Space::Shared => Space::Shared,
        super::super::value::Space::Local => Space::Local,
    }
}

/// Up to four bytes as a word.
fn word_of(bytes: &[Option<u8>], signed: bool) -> Word {
    let value = bytes.iter().rev().try_fold(0u32, |value, byte| Some(value << 8 | u32::from((*byte)?)));
    let unused = 32 - 8 * bytes.len() as u32;
    value.map_or(Word::Unknown, |value| {
        Word::Known(if signed { (((value << unused) as i32) >> unused) as u32 } else { value })
    })
}

/// How many registers an instruction may set that is not executed here.
fn set_by(name: &str, opcode: &str) -> usize {
    const ONE: [&str; 23] = [
        "FADD", "FMUL", "FFMA", "FMNMX", "FSEL", "FSWZADD", "MUFU", "HADD2", "HMUL2", "HFMA2", "HMNMX2",
        "IABS", "IMNMX", "VIMNMX", "FLO", "POPC", "BREV", "SHFL", "VOTE", "SHF", "I2FP", "PRMT", "P2R",
    ];
    let plain = name.strip_prefix('U').unwrap_or(name);
    let wide = opcode.contains("64") || opcode.contains("WIDE");
    match (ONE.contains(&name) || ONE.contains(&plain), wide) {
        (true, false) => 1,
        _ if ["DADD", "DMUL", "DFMA", "DMNMX"].contains(&name) => 2,
        _ if ["I2F", "F2I", "F2F", "I2I", "FRND", "IADD3", "IADD", "IMAD", "LOP3", "LEA", "MOV", "SEL"]
            .contains(&plain) =>
        {
            2
        }
        _ => 8,
    }
}

/// Where an atomic instruction reaches.
fn atomic(opcode: &str) -> Option<Access> {
    Some(match opcode.split('.').next()? {
        "ATOM" | "RED" => Access::Generic,
        "ATOMG" | "REDG" => Access::Global,
        "ATOMS" => Access::Small(super::super::value::Space::Shared),
        _ => return None,
    })
}

fn atomic_width(opcode: &str) -> Width {
    let bytes = if opcode.split('.').any(|word| word == "64" || word == "F64") { 8 } else { 4 };
    Width { bytes, signed: false }
}

/// Whether all modifiers of a memory instruction are known not to change where it reaches, or to be taken into account.
fn is_understood(opcode: &str) -> bool {
    const KNOWN: [&str; 40] = [
        "E", "SYS", "STRONG", "WEAK", "CONSTANT", "GPU", "SM", "CTA", "VC", "U8", "S8", "U16", "S16", "64",
        "128", "U", "EF", "EL", "LU", "NA", "EFL", "LTC64B", "LTC128B", "LTC256B", "ADD", "MIN", "MAX",
        "AND", "OR", "XOR", "EXCH", "INC", "DEC", "CAS", "S32", "U32", "F32", "F64", "FTZ", "RN",
    ];
    opcode.split('.').skip(1).all(|word| KNOWN.contains(&word))
}
