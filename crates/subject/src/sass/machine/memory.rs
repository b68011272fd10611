//! Memory: initial contents, stores and constant banks.

use super::super::listing::ListedInstruction;
use super::super::modifiers::AccessedMemory;
use super::super::operand::{OperandValue, SassOperand, SassRegister, number, register, relocated, summands};
use super::super::operation::{SassOperation, Width};
use super::{Execution, SassMachine, format_instruction, operands_of, stop_at, unknown};
use ptxsmith_model::{Reach, Space, Tracing};

/// Bytes that the hardware reserves before `.shared` variables from sm_90 on, where parameters begin at
/// [`WITH_CLUSTERS`] or later.
const BEFORE_SHARED: u64 = 0x400;
const WITH_CLUSTERS: u32 = 0x210;

/// The address of a name as the code sees it.
pub(super) struct NameAddress {
    pub value: u64,
    /// Whether it fits in 32 bits.
    pub is_small: bool,
}

impl SassMachine<'_> {
    /// Executes a load, a store or an atomic instruction. If it is not `certain` to be executed, its results
    /// are unknown.
    pub(super) fn access(&mut self, line: &ListedInstruction, certain: bool) -> Execution<()> {
        let (access, width, reads, writes) = match line.operation {
            SassOperation::Atomic(access, atomic) if certain && self.tracing.junk.is_some() => {
                return self.change(line, access, atomic);
            }
            SassOperation::CompareAndStore if certain && self.tracing.junk.is_some() => {
                return self.compare_and_store(line);
            }
            SassOperation::Load(access, width) => (Some(access), width, true, false),
            SassOperation::Store(access, width) => (Some(access), width, false, true),
            _ => (atomic(&line.opcode), atomic_width(&line.opcode), true, true),
        };
        let bracketed: Vec<&str> = line
            .operands
            .iter()
            .map(|operand| operand.text.as_str())
            .filter(|text| text.starts_with('['))
            .collect();
        let place = match (access, bracketed.as_slice()) {
            (Some(access), [operand]) if is_understood(&line.opcode) => self.place(line, access, operand),
            _ => None,
        };
        let bytes = width.bytes as u64;
        let is_plain = line.operands.len() == 2 && reads != writes;
        let is_known = is_plain && certain && place.is_some();
        if reads && is_known {
            self.load(line, place, width);
        } else if reads || !is_plain {
            self.forget(line);
        }
        if writes {
            match place {
                Some((space, address)) => {
                    let from = line.operands.last().and_then(SassOperand::register).filter(|_| is_known);
                    for nth in 0..bytes {
                        let word = from.and_then(|from| self.register(from.nth(nth as usize / 4)));
                        let byte = word.map(|word| (word >> (8 * (nth % 4))) as u8);
                        self.reached.get_mut().written.insert((space, address.wrapping_add(nth)), byte);
                    }
                }
                None => self.scattered = true,
            }
        }
        // Record accesses only when values are not compared.
        if self.tracing.junk.is_none() {
            let instruction = format_instruction(line);
            let reach = Reach { instruction, reads, writes, width: bytes, place, certain };
            self.reached.get_mut().reaches.push(reach);
        }
        match place {
            _ if !is_plain => Err(unknown(line)),
            None if writes => Err(stop_at(line, "stores to a place that is not known")),
            _ => Ok(()),
        }
    }

    fn load(&mut self, line: &ListedInstruction, place: Option<(Space, u64)>, width: Width) {
        let to = line.operands.first().and_then(SassOperand::register);
        let (Some(to), Some((space, address))) = (to, place) else { return };
        let bytes: Vec<Option<u8>> =
            (0..width.bytes as u64).map(|nth| self.byte(space, address.wrapping_add(nth))).collect();
        for (nth, bytes) in bytes.chunks(4).enumerate() {
            self.set(to.nth(nth), word(bytes, width.signed));
        }
    }

    pub(super) fn byte(&self, space: Space, address: u64) -> Option<u8> {
        if self.scattered {
            return None;
        }
        match self.reached.borrow().written.get(&(space, address)) {
            Some(byte) => *byte,
            None => self.tracing.byte(space, address),
        }
    }

    /// Marks the destinations of an unsupported instruction as unknown; returns whether it has any.
    pub(super) fn forget(&mut self, line: &ListedInstruction) -> bool {
        let name = line.opcode.split('.').next().unwrap_or_default();
        if line.operands.iter().any(|operand| operand.text == "PR" || operand.text == "UPR") {
            self.registers.forget_predicates();
        }
        let mut predicates = 0;
        let mut registers = 0;
        for operand in line.operands.iter().take(4) {
            if operand.is_predicate() {
                self.set_truth(operand, None);
                predicates += 1;
            } else if let OperandValue::Register(to) = operand.value
                && (registers == 0 || name.starts_with('T'))
            {
                (0..set_by(name, &line.opcode)).for_each(|nth| self.set(to.nth(nth), None));
                registers += 1;
            } else {
                break;
            }
        }
        predicates + registers > 0
    }

    /// Returns the state space and address of an address operand.
    pub(super) fn place(
        &mut self,
        line: &ListedInstruction,
        access: AccessedMemory,
        operand: &str,
    ) -> Option<(Space, u64)> {
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        let parts = summands(inner);
        let registers = parts.iter().filter(|part| named_register(part).is_some()).count();
        let small = matches!(access, AccessedMemory::Small(_));
        let mut total = 0u64;
        for part in parts {
            let value = match number(part) {
                Some(value) => value as u64,
                None if part.starts_with('`') => {
                    // The combination of a relocated name and the space reserved before `.shared` variables
                    // is not known.
                    if self.parameters >= WITH_CLUSTERS && access == AccessedMemory::Small(Space::Shared) {
                        return None;
                    }
                    let (name, addend) = relocated(part.trim_start_matches('`'))?;
                    self.place_of(name)?.wrapping_add(addend as u64)
                }
                None => self.scaled(part, small, registers, line.opcode.contains(".E"))?,
            };
            total = total.wrapping_add(value);
        }
        Some(match access {
            AccessedMemory::Small(space) => (space, self.lane_address(space, u64::from(total as u32))),
            AccessedMemory::Global => (Space::Global, total),
            AccessedMemory::Generic => {
                let windows = &self.tracing.windows;
                let window = windows.iter().find(|(_, start)| (*start..start + (1 << 32)).contains(&total));
                match window {
                    Some(&(space, start)) => (space, self.lane_address(space, total - start)),
                    None => (Space::Global, total),
                }
            }
        })
    }

    /// Returns the address in memory for an address of the current lane: each lane has its own `.local`.
    fn lane_address(&self, space: Space, address: u64) -> u64 {
        if space == Space::Local { address | (self.registers.nth() as u64) << 32 } else { address }
    }

    /// Returns the value that a register adds to an address: `R2.64`, `R2.U32`, `R2.X4`, `UR4`.
    fn scaled(&self, part: &str, small: bool, registers: usize, extended: bool) -> Option<u64> {
        let mut words = part.split('.');
        let name = words.next()?;
        let register = register(name)?;
        let mut scale = 1;
        let mut wide = false;
        let mut narrow = false;
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
        let low = u64::from(self.register(register)?);
        let pair = wide || !narrow && !small && (name.starts_with("UR") || extended && registers == 1);
        match (small || narrow, pair) {
            (true, false) => Some(low.wrapping_mul(scale)),
            (false, true) if register.is_zero() => Some(0),
            (false, true) if scale == 1 => self.pair_of(register),
            _ => None,
        }
    }

    /// Returns the address of the variable that generated code refers to by this name.
    fn place_of(&self, name: &str) -> Option<u64> {
        let place = self.tracing.place_of(name)?;
        self.reached.borrow_mut().symbols.insert((name.to_owned(), place));
        let shared = self.space_of(name) == Some("shared");
        let before = if shared && self.parameters >= WITH_CLUSTERS { BEFORE_SHARED } else { 0 };
        Some(place.wrapping_sub(before))
    }

    fn space_of(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.space.as_deref()
    }

    /// Returns the address of a variable or a function.
    pub(super) fn address_of(&self, name: &str) -> Option<NameAddress> {
        if let Some(space) = self.space_of(name) {
            return Some(NameAddress { value: self.place_of(name)?, is_small: space != "global" });
        }
        if let Some(&line) = self.listing.labels.get(name) {
            return Some(NameAddress { value: self.base.function_address(line), is_small: false });
        }
        // A variable of another module; the code does not show its state space. In `.shared` the reserved
        // bytes would matter.
        let address = self.place_of(name)?;
        let is_small = u32::try_from(address).is_ok();
        (!is_small || self.parameters < WITH_CLUSTERS).then_some(NameAddress { value: address, is_small })
    }

    pub(super) fn load_constant(&mut self, line: &ListedInstruction, width: Width) -> Execution<()> {
        let [to, from] = operands_of(line)?;
        let to = Self::destination(line, to)?;
        if width.bytes < 4 {
            let bytes = self.constant_bytes(from, 0, width.bytes);
            self.set(to, word(&bytes, width.signed));
            return Ok(());
        }
        let words: Vec<_> = (0..width.bytes / 4).map(|nth| self.constant(from, 4 * nth as i64)).collect();
        for (nth, word) in words.into_iter().enumerate() {
            self.set(to.nth(nth), word);
        }
        Ok(())
    }

    /// Returns a word of a constant bank, `further` bytes after the operand: ``c[0x0][0x160]``,
    /// ``c[0x3][R2+0x4]``, ``c[`((c + 0x8))]``, ``c[R0+`((t + -0x8000))]``.
    pub(super) fn constant(&self, operand: &SassOperand, further: i64) -> Option<u32> {
        word(&self.constant_bytes(operand, further, 4), false)
    }

    fn constant_bytes(&self, operand: &SassOperand, further: i64, width: usize) -> Vec<Option<u8>> {
        let bytes = match operand.value {
            OperandValue::Constant(0, index, offset) => {
                index.map_or(Some(0), |index| self.register(index)).map(|index| {
                    let address = u64::from(index.wrapping_add(offset.wrapping_add(further) as u32));
                    (address..).take(width).map(|address| self.launched(address)).collect()
                })
            }
            _ => self.bank(&operand.text, further, width),
        };
        bytes.unwrap_or_else(|| vec![None; width])
    }

    fn bank(&self, operand: &str, further: i64, width: usize) -> Option<Vec<Option<u8>>> {
        let rest = operand.trim_start_matches(['-', '~', '|']).strip_prefix("c[")?;
        let (bank, inner) = match rest.split_once("][") {
            Some((bank, inner)) => (number(bank)?, inner),
            None => (3, rest),
        };
        let mut address = further as u64;
        let mut table = None;
        for part in summands(inner.strip_suffix(']')?) {
            let further = if let Some(value) = number(part) {
                value as u64
            } else if let Some(relocation) = part.strip_prefix('`') {
                let (name, addend) = relocated(relocation)?;
                table = self.listing.tables.get(name).filter(|_| self.space_of(name).is_none());
                let start = if table.is_some() { 0 } else { self.place_of(name)? };
                start.wrapping_add(addend as u64)
            } else {
                u64::from(self.register(register(part)?)?)
            };
            address = address.wrapping_add(further);
        }
        let address = u64::from(address as u32);
        let places = (address..).take(width);
        if let Some(table) = table {
            return Some(places.map(|place| table.get(place as usize).copied()).collect());
        }
        match bank {
            0 => Some(places.map(|address| self.launched(address)).collect()),
            3 => {
                self.reached.borrow_mut().reaches.push(Reach {
                    instruction: operand.to_owned(),
                    reads: true,
                    writes: false,
                    width: width as u64,
                    place: Some((Space::Const, address)),
                    certain: true,
                });
                Some(places.map(|address| self.byte(Space::Const, address)).collect())
            }
            // A bank of variables, where it stands for itself.
            _ => None,
        }
    }

    /// Returns a byte of the launch bank: the parameters, and the driver's values before them.
    fn launched(&self, address: u64) -> Option<u8> {
        if let Some(address) = address.checked_sub(u64::from(self.parameters)) {
            return self.passed.get(address as usize).copied();
        }
        let Tracing { windows: starts, specials, .. } = self.tracing;
        let (sizes, stack, windows): (u64, u64, &[(Space, u64)]) = match self.parameters {
            0x160 => (0, 0x28, &[(Space::Shared, 0x18), (Space::Local, 0x20), (Space::Const, 0x50)]),
            0x210 => (0, 0x28, &[(Space::Const, 0xd0)]),
            0x380 => (0x360, 0x37c, &[(Space::Const, 0x120)]),
            _ => return None,
        };
        if (stack..stack + 4).contains(&address) {
            return Some(byte_at(address, u64::from(self.base.stack), stack));
        }
        if let Some(&(space, from)) = windows.iter().find(|(_, from)| (*from..from + 8).contains(&address)) {
            let (_, start) = starts.iter().find(|(windowed, _)| *windowed == space)?;
            return Some(byte_at(address, *start, from));
        }
        const SIZES: [(u64, &str); 6] = [
            (0x0, "ntid.x"),
            (0x4, "ntid.y"),
            (0x8, "ntid.z"),
            (0xc, "nctaid.x"),
            (0x10, "nctaid.y"),
            (0x14, "nctaid.z"),
        ];
        for (offset, name) in SIZES {
            // Later generations leave a word between the block sizes and the grid sizes.
            let gap = if sizes > 0 && offset >= 0xc { 4 } else { 0 };
            let from = sizes + offset + gap;
            if (from..from + 4).contains(&address) {
                return Some(byte_at(address, u64::from(*specials.get(name)?), from));
            }
        }
        None
    }

    /// Returns the value of a special register.
    pub(super) fn special(&self, name: &str) -> Option<u32> {
        // The thread is in the first block of a cluster.
        if name == "SR_CgaCtaId" {
            return Some(0);
        }
        // The upper word of the window of `.shared`; its lower word is zero.
        if name == "SR_SWINHI" {
            let mut windows = self.tracing.windows.iter();
            let (_, start) = windows.find(|(space, start)| *space == Space::Shared && *start as u32 == 0)?;
            return Some((start >> 32) as u32);
        }
        let name = name.strip_prefix("SR_").unwrap_or_default().to_lowercase();
        let ptx_name = match name.strip_suffix("mask") {
            Some(relation) => format!("lanemask_{relation}"),
            None => name,
        };
        let lane = self.tracing.lanes.get(self.registers.lane);
        let in_lane = lane.and_then(|specials| specials.get(&ptx_name));
        in_lane.or_else(|| self.tracing.specials.get(&ptx_name)).copied()
    }
}

/// Returns the byte at address `at` of a value that is stored from `start` on.
fn byte_at(address: u64, value: u64, start: u64) -> u8 {
    (value >> (8 * (address - start))) as u8
}

/// Parses the register in a part of an address: `R2.X4`.
fn named_register(part: &str) -> Option<SassRegister> {
    register(part.split('.').next().unwrap_or(part))
}

/// Whether an instruction accesses memory other than constant banks.
pub(super) fn touches_memory(line: &ListedInstruction) -> bool {
    let name = line.opcode.split('.').next().unwrap_or_default();
    let known = matches!(line.operation, SassOperation::Load(..) | SassOperation::Store(..));
    let banks = ["LDC", "ULDC", "LDCU", "LDGDEPBAR"].contains(&name);
    let begins = ["LD", "ST", "ATOM", "RED", "SU", "UBLK", "UTMA", "UST"];
    known || !banks && !name.starts_with("REDUX") && begins.iter().any(|begin| name.starts_with(begin))
}

/// Returns the offset of the parameters in a bank of this size, and their bytes. Parameters are aligned
/// relative to the bank, not to their own start.
pub(super) fn laid_out(bank: u32, parameters: &[(u64, Vec<u8>)]) -> Option<(u32, Vec<u8>)> {
    [0x140u32, 0x160, WITH_CLUSTERS, 0x380].into_iter().find_map(|start| {
        let mut bytes = vec![0; start as usize];
        for (align, parameter) in parameters {
            bytes.resize((bytes.len() as u64).next_multiple_of(*align) as usize, 0);
            bytes.extend(parameter);
        }
        (bytes.len() == bank as usize).then(|| (start, bytes.split_off(start as usize)))
    })
}

/// Combines up to four bytes to a word.
fn word(bytes: &[Option<u8>], signed: bool) -> Option<u32> {
    let value = bytes.iter().rev().try_fold(0u32, |value, byte| Some(value << 8 | u32::from((*byte)?)))?;
    let unused = 32 - 8 * bytes.len() as u32;
    Some(if signed { (((value << unused) as i32) >> unused) as u32 } else { value })
}

/// Returns the number of registers that an unsupported instruction may set.
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

/// Returns the memory that an atomic instruction accesses.
fn atomic(opcode: &str) -> Option<AccessedMemory> {
    Some(match opcode.split('.').next()? {
        "ATOM" | "RED" => AccessedMemory::Generic,
        "ATOMG" | "REDG" => AccessedMemory::Global,
        "ATOMS" => AccessedMemory::Small(Space::Shared),
        _ => return None,
    })
}

fn atomic_width(opcode: &str) -> Width {
    let bytes = if opcode.split('.').any(|word| word == "64" || word == "F64") { 8 } else { 4 };
    Width { bytes, signed: false }
}

/// Whether all modifiers of a memory instruction are supported or do not affect its address.
fn is_understood(opcode: &str) -> bool {
    const KNOWN: [&str; 40] = [
        "E", "SYS", "STRONG", "WEAK", "CONSTANT", "GPU", "SM", "CTA", "VC", "U8", "S8", "U16", "S16", "64",
        "128", "U", "EF", "EL", "LU", "NA", "EFL", "LTC64B", "LTC128B", "LTC256B", "ADD", "MIN", "MAX",
        "AND", "OR", "XOR", "EXCH", "INC", "DEC", "CAS", "S32", "U32", "F32", "F64", "FTZ", "RN",
    ];
    opcode.split('.').skip(1).all(|word| KNOWN.contains(&word))
}
