//! Memory: what variables begin with, what was stored, constant banks.

use super::super::listing::{Line, number};
use super::super::operation::{Access, Width};
use super::super::value::{Root, Space, Symbol, Wide, Word, halves};
use super::operands::{nth_register, relocated, summands};
use super::{Byte, Known, Machine, exactly, lost};

impl Machine<'_> {
    pub(super) fn load_constant(&mut self, line: &Line, width: Width) -> Known<()> {
        let [to, from] = exactly(line)?;
        if width.bytes < 4 {
            let value = match self.tracing {
                Some(tracing) => self.traced_constant(tracing, from, 0, width),
                None => self.constant_bytes(from, width),
            };
            self.set(to, value);
            return Ok(());
        }
        for nth in 0..width.bytes / 4 {
            let value = self.constant(from, 4 * nth as i64).unwrap_or(Word::Unknown);
            self.set(&nth_register(to, nth), value);
        }
        Ok(())
    }

    pub(super) fn load(&mut self, line: &Line, access: Access, width: Width) -> Known<()> {
        let [to, from] = exactly(line)?;
        let Some((root, offset)) = self.place(access, from) else {
            for nth in 0..width.bytes.div_ceil(4) {
                self.set(&nth_register(to, nth), Word::Unknown);
            }
            return Ok(());
        };
        let bytes: Vec<Byte> =
            (0..width.bytes as i64).map(|nth| self.byte(&root, offset.wrapping_add(nth))).collect();
        if width.bytes < 4 {
            self.set(to, narrow(&bytes, width.signed));
        } else {
            for (nth, word) in bytes.chunks(4).enumerate() {
                self.set(&nth_register(to, nth), whole(word));
            }
        }
        Ok(())
    }

    pub(super) fn store(&mut self, line: &Line, access: Access, width: Width) -> Known<()> {
        let [to, from] = exactly(line)?;
        let Some((root, offset)) = self.place(access, to) else {
            return Err(lost(line, "stores to a place that is not known"));
        };
        if let Root::Variable { name, .. } = &root {
            let end = self.variables.get(&**name).and_then(|variable| variable.size);
            if offset < 0 || end.is_none_or(|end| offset as u64 + width.bytes as u64 > end) {
                return Err(lost(line, "stores outside of a variable"));
            }
        }
        for nth in 0..width.bytes {
            let word = self.read(&nth_register(from, nth / 4)).word();
            let byte = Byte { word, nth: (nth % 4) as u8 };
            self.written.insert((root.clone(), offset + nth as i64), byte);
        }
        Ok(())
    }

    /// What an address operand means: what it is counted from, and the offset.
    fn place(&self, access: Access, operand: &str) -> Option<(Root, i64)> {
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        let mut symbol: Option<Symbol> = None;
        let mut bytes = 0i64;
        for part in summands(inner) {
            let value = match number(part) {
                Some(value) => Wide::Known(value as u64),
                None => self.address(access, part),
            };
            match value {
                Wide::Known(value) => bytes = bytes.wrapping_add(value as i64),
                Wide::Address(found) if symbol.is_none() => symbol = Some(found),
                _ => return None,
            }
        }
        let zero = || match access {
            // Code names addresses of `.shared` variables by relocation, so that a number is one that the program wrote.
            Access::Small(Space::Local) => Some(Symbol::of(Root::Zero(Space::Local))),
            _ => None,
        };
        let symbol = symbol.or_else(zero)?.plus(bytes);
        let reached = match access {
            Access::Generic => !symbol.is_small(),
            // Global accesses do not reach into windows.
            Access::Global => symbol.root.small().is_none(),
            Access::Small(space) => symbol.is_small() && symbol.root.small() == Some(space),
        };
        reached.then_some((symbol.root, symbol.addend))
    }

    /// The address in a register, or in a pair of them.
    fn address(&self, access: Access, operand: &str) -> Wide {
        match access {
            Access::Generic | Access::Global => self.pair(operand),
            Access::Small(_) => match self.read(operand).word() {
                Word::Known(value) => Wide::Known(i64::from(value as i32) as u64),
                Word::Low(symbol) => Wide::Address(symbol),
                _ => Wide::Unknown,
            },
        }
    }

    /// One byte of memory: what was written there, or what the variable began with.
    fn byte(&self, root: &Root, offset: i64) -> Byte {
        if let Some(byte) = self.written.get(&(root.clone(), offset)) {
            return byte.clone();
        }
        let unknown = Byte { word: Word::Unknown, nth: 0 };
        match root {
            Root::Output if offset >= 0 => Byte { word: Word::Known(0), nth: 0 },
            Root::Variable { name, space: Space::Global | Space::Const } => {
                self.initial(name, offset).unwrap_or(unknown)
            }
            _ => unknown,
        }
    }

    /// What a variable begins with.
    fn initial(&self, name: &str, offset: i64) -> Option<Byte> {
        let variable = self.variables.get(name)?;
        let offset = u64::try_from(offset).ok()?;
        let value = *variable.bytes.as_ref()?.get(usize::try_from(offset).ok()?)?;
        let reaches = |address: &&ptxsmith_model::Address| {
            (address.offset..address.offset + u64::from(address.width)).contains(&offset)
        };
        let mut addresses = variable.addresses.as_ref()?.iter().filter(reaches);
        match (addresses.next(), addresses.next()) {
            (None, _) => Some(Byte { word: Word::Known(u32::from(value)), nth: 0 }),
            (Some(address), None) if address.byte.is_none() => {
                let root = self.root(&address.symbol)?;
                let symbol = Symbol {
                    generic: address.generic == Some(true) && root.small().is_some(),
                    root,
                    addend: address.addend,
                };
                let at = offset - address.offset;
                let (low, high) = halves(&Wide::Address(symbol));
                let word = if at < 4 { low } else { high };
                Some(Byte { word, nth: (at % 4) as u8 })
            }
            _ => None,
        }
    }

    /// What a symbol of the listing stands for.
    pub(super) fn root(&self, name: &str) -> Option<Root> {
        if let Some(variable) = self.variables.get(name) {
            let space = match variable.space.as_deref()? {
                "global" => Space::Global,
                "const" => Space::Const,
                "shared" => Space::Shared,
                "local" => Space::Local,
                _ => return None,
            };
            return Some(Root::Variable { name: name.into(), space });
        }
        self.listing.labels.contains_key(name).then(|| Root::Function(name.into()))
    }

    /// ``c[0x0][0x160]``, ``c[0x3][R2+0x4]``, ``c[`((c + 0x8))]``, ``c[R0+`((t + -0x8000))]``, so many bytes on.
    pub(super) fn constant(&self, operand: &str, further: i64) -> Option<Word> {
        if let Some(tracing) = self.tracing {
            return Some(self.traced_constant(tracing, operand, further, Width { bytes: 4, signed: false }));
        }
        if let Some(rest) = operand.strip_prefix("c[0x0][") {
            let offset = number(rest.strip_suffix(']')?)? + further;
            return Some(self.bank_zero(offset));
        }
        let (symbol, name) = self.constant_place(operand)?;
        let offset = symbol.checked_add(further)?;
        if let Some(table) = self.listing.tables.get(name) {
            let index = usize::try_from(offset).ok().filter(|offset| offset.is_multiple_of(4))? / 4;
            return table.get(index).copied().map(Word::Known);
        }
        let root = self.root(name).filter(|root| root.small() == Some(Space::Const))?;
        let bytes: Vec<Byte> = (0..4).map(|nth| self.byte(&root, offset + nth)).collect();
        Some(whole(&bytes))
    }

    fn constant_bytes(&self, operand: &str, width: Width) -> Word {
        let place = self.constant_place(operand).and_then(|(offset, name)| {
            let root = self.root(name).filter(|root| root.small() == Some(Space::Const))?;
            Some((root, offset))
        });
        let Some((root, offset)) = place else { return Word::Unknown };
        let bytes: Vec<Byte> = (0..width.bytes as i64).map(|nth| self.byte(&root, offset + nth)).collect();
        narrow(&bytes, width.signed)
    }

    /// The symbol in a constant operand, and the offset from it.
    fn constant_place<'o>(&self, operand: &'o str) -> Option<(i64, &'o str)> {
        let inner = operand.strip_prefix("c[")?.strip_suffix(']')?;
        let mut offset = 0i64;
        let mut name = None;
        for part in summands(inner) {
            if let Some(value) = number(part) {
                offset += value;
            } else if part.starts_with('`') {
                let (symbol, addend) = relocated(part.trim_start_matches('`'))?;
                (name, offset) = (Some(symbol), offset + addend);
            } else {
                let Word::Known(value) = self.read(part).word() else { return None };
                offset += i64::from(value as i32);
            }
        }
        Some((offset, name?))
    }

    /// The bank of the launch: the parameters, and what the driver puts in front of them.
    fn bank_zero(&self, offset: i64) -> Word {
        let out = Symbol::of(Root::Output);
        let window = |space| Symbol::of(Root::Window(space));
        let from_parameters = offset - i64::from(self.parameters);
        match (from_parameters, self.parameters, offset) {
            (0, ..) => Word::Low(out),
            (4, ..) => Word::High(out),
            (_, _, 0x28) => Word::Low(Symbol::of(Root::Stack)),
            // Where the windows stand is known of the generations whose parameters begin here: sm_70 to sm_89.
            (_, 0x160, 0x18) => Word::Low(window(Space::Shared)),
            (_, 0x160, 0x1c) => Word::High(window(Space::Shared)),
            (_, 0x160, 0x20) => Word::Low(window(Space::Local)),
            (_, 0x160, 0x24) => Word::High(window(Space::Local)),
            (_, 0x160, 0x50) => Word::Low(window(Space::Const)),
            (_, 0x160, 0x54) => Word::High(window(Space::Const)),
            _ => Word::Unknown,
        }
    }
}

/// Four bytes as a word.
fn whole(bytes: &[Byte]) -> Word {
    let first = &bytes[0];
    if first.nth == 0
        && bytes.iter().enumerate().all(|(nth, b)| usize::from(b.nth) == nth && b.word == first.word)
    {
        return first.word.clone();
    }
    let values: Option<Vec<u8>> = bytes.iter().map(value).collect();
    match values.and_then(|values| <[u8; 4]>::try_from(values).ok()) {
        Some(bytes) => Word::Known(u32::from_le_bytes(bytes)),
        None => Word::Unknown,
    }
}

/// The value of a byte, where it is a number.
pub(in super::super) fn value(byte: &Byte) -> Option<u8> {
    match byte.word {
        Word::Known(word) => Some((word >> (8 * byte.nth)) as u8),
        _ => None,
    }
}

/// One or two bytes, extended.
fn narrow(bytes: &[Byte], signed: bool) -> Word {
    let Some(values) = bytes.iter().map(value).collect::<Option<Vec<u8>>>() else { return Word::Unknown };
    let number = values.iter().rev().fold(0u32, |number, &byte| number << 8 | u32::from(byte));
    let unused = 32 - 8 * bytes.len() as u32;
    Word::Known(if signed { (((number << unused) as i32) >> unused) as u32 } else { number })
}
