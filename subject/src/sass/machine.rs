//! Executes the generated code of one kernel on one thread, as far as it is understood.
//!
//! Whatever is not understood ends the execution, and then nothing was seen: an instruction that is not known, a branch
//! or a store that depends on what is not known. A value that is not known is no such thing; it is stored as what it is.

use std::collections::BTreeMap;

use super::listing::{Line, Listing, number};
use super::value::{Root, Space, Symbol, Term, Truth, Wide, Word, halves, sum, wide};
use crate::observation::Variable;

/// Instructions that one kernel may execute.
const MOST_STEPS: u32 = 50_000;
/// Calls that may be open at once.
const MOST_CALLS: usize = 64;

/// Why a kernel was not executed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost(pub String);

type Known<T> = Result<T, Lost>;

/// One byte of memory: this byte of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Byte {
    pub word: Word,
    pub nth: u8,
}

pub(super) struct Machine<'a> {
    listing: &'a Listing,
    variables: &'a BTreeMap<String, Variable>,
    /// Where the parameters begin in the constant bank.
    parameters: u32,
    registers: BTreeMap<u16, Word>,
    uniform: BTreeMap<u16, Word>,
    predicates: BTreeMap<String, Truth>,
    /// Memory that was written.
    written: BTreeMap<(Root, i64), Byte>,
}

/// An operand as it is read.
enum Source {
    Word(Word),
    Negated(Word),
    Complemented(Word),
}

impl Source {
    fn term(self) -> Term {
        match self {
            Source::Word(word) => Term::Plain(word),
            Source::Negated(word) => Term::Minus(word),
            Source::Complemented(word) => Term::Not(word),
        }
    }

    fn word(self) -> Word {
        match self {
            Source::Word(word) => word,
            Source::Negated(Word::Known(word)) => Word::Known(word.wrapping_neg()),
            Source::Complemented(Word::Known(word)) => Word::Known(!word),
            _ => Word::Unknown,
        }
    }
}

impl<'a> Machine<'a> {
    /// A machine that stands before the first instruction of a kernel.
    pub fn new(listing: &'a Listing, variables: &'a BTreeMap<String, Variable>, kernel: &str) -> Known<Self> {
        let bank = listing.parameters.get(kernel).copied().unwrap_or(0);
        let parameters = bank.checked_sub(8).ok_or_else(|| Lost("no parameter".to_owned()))?;
        Ok(Machine {
            listing,
            variables,
            parameters,
            registers: BTreeMap::new(),
            uniform: BTreeMap::new(),
            predicates: BTreeMap::new(),
            written: BTreeMap::new(),
        })
    }

    /// Runs a kernel to its end, and gives what it left in the output buffer, by offset.
    pub fn run(mut self, kernel: &str) -> Known<BTreeMap<i64, Byte>> {
        let start = self.listing.sections.get(&format!(".text.{kernel}")).copied();
        let mut at = start.ok_or_else(|| Lost("no code".to_owned()))?;
        let mut returns = Vec::new();
        for _ in 0..MOST_STEPS {
            let line = self.listing.lines.get(at).ok_or_else(|| Lost("the end of the code".to_owned()))?;
            if let Some((predicate, negated)) = &line.guard {
                match self.truth(predicate) {
                    Truth::Known(holds) if holds != *negated => {}
                    Truth::Known(_) => {
                        at += 1;
                        continue;
                    }
                    _ => return Err(lost(line, "depends on a predicate that is not known")),
                }
            }
            let opcode: Vec<&str> = line.opcode.iter().map(String::as_str).collect();
            at = match opcode[0] {
                "EXIT" => {
                    let outputs = self.written.into_iter().filter(|((root, _), _)| *root == Root::Output);
                    return Ok(outputs.map(|((_, offset), byte)| (offset, byte)).collect());
                }
                "BRA" | "JMP" => self.branch(line)?,
                "BRX" => self.branch_by_register(line, at)?,
                "CALL" => {
                    if returns.len() == MOST_CALLS {
                        return Err(lost(line, "is one call too many"));
                    }
                    returns.push(at + 1);
                    self.call(line)?
                }
                "RET" => returns.pop().ok_or_else(|| lost(line, "returns to nowhere"))?,
                _ => {
                    self.step(line, &opcode)?;
                    at + 1
                }
            };
        }
        Err(Lost("more instructions than are executed".to_owned()))
    }

    fn branch(&self, line: &Line) -> Known<usize> {
        let [operands @ .., target] = line.operands.as_slice() else {
            return Err(lost(line, "has no target"));
        };
        for condition in operands {
            match self.truth_of(condition) {
                Truth::Known(true) => {}
                _ => return Err(lost(line, "depends on more than its guard")),
            }
        }
        self.label(line, target)
    }

    fn label(&self, line: &Line, target: &str) -> Known<usize> {
        let name = target.trim_start_matches('`').trim_start_matches('(').trim_end_matches(')');
        self.listing.labels.get(name).copied().ok_or_else(|| lost(line, "goes to what is no label"))
    }

    fn branch_by_register(&self, line: &Line, at: usize) -> Known<usize> {
        let operand = line.operands.first().ok_or_else(|| lost(line, "has no target"))?;
        let (register, base) = operand.split_once(' ').ok_or_else(|| lost(line, "has no base"))?;
        let Word::Known(value) = self.read(register).word() else {
            return Err(lost(line, "depends on a register that is not known"));
        };
        // The base is what brings the place of the branch back to the start of its section.
        let offset = match base.contains("(.text.") {
            true => Some(value),
            false => {
                number(base).map(|base| (i64::from(line.offset) + 16 + base) as u32).map(|base| base + value)
            }
        };
        let target = offset.and_then(|offset| self.listing.at(at, offset));
        target.ok_or_else(|| lost(line, "goes to no instruction"))
    }

    fn call(&self, line: &Line) -> Known<usize> {
        let target = line.operands.last().ok_or_else(|| lost(line, "has no target"))?;
        if target.starts_with('`') {
            return self.label(line, target);
        }
        match self.pair(target) {
            Wide::Address(Symbol { root: Root::Function(name), addend: 0, .. }) => {
                self.listing.labels.get(&*name).copied().ok_or_else(|| lost(line, "goes to what is not here"))
            }
            _ => Err(lost(line, "goes to what is not known")),
        }
    }

    fn step(&mut self, line: &Line, opcode: &[&str]) -> Known<()> {
        let ops: Vec<&str> = line.operands.iter().map(String::as_str).collect();
        match (opcode[0], &opcode[1..]) {
            (
                "NOP" | "BSSY" | "BSYNC" | "BREAK" | "WARPSYNC" | "YIELD" | "DEPBAR" | "MEMBAR" | "ERRBAR"
                | "CCTL" | "BMOV" | "BAR",
                _,
            ) => {}
            ("MOV" | "UMOV" | "R2UR" | "UR2UR" | "S2R" | "S2UR" | "CS2R", modifiers) => {
                let [to, .., from] = ops[..] else { return Err(unknown(line)) };
                let value = if from.starts_with("SR") && from != "SRZ" {
                    Word::Unknown
                } else if from == "SRZ" {
                    Word::Known(0)
                } else {
                    self.read(from).word()
                };
                if opcode[0] == "CS2R" && !modifiers.contains(&"32") {
                    self.set(next(to).as_deref().unwrap_or("RZ"), value.clone());
                }
                self.set(to, value);
            }
            ("IMAD" | "UIMAD", ["WIDE", rest @ ..]) => {
                let [to, a, b, c] = ops[..] else { return Err(unknown(line)) };
                let signed = !rest.contains(&"U32");
                let product = match (self.read(a).word(), self.read(b).word()) {
                    (Word::Known(a), Word::Known(b)) if signed => {
                        Some((i64::from(a as i32) * i64::from(b as i32)) as u64)
                    }
                    (Word::Known(a), Word::Known(b)) => Some(u64::from(a) * u64::from(b)),
                    (Word::Known(0), _) | (_, Word::Known(0)) => Some(0),
                    _ => None,
                };
                let value = match (product, self.pair(c)) {
                    (Some(a), Wide::Known(b)) => Wide::Known(a.wrapping_add(b)),
                    (Some(a), Wide::Address(symbol)) => Wide::Address(symbol.plus(a as i64)),
                    _ => Wide::Unknown,
                };
                self.set_pair(to, &value);
            }
            ("IMAD" | "UIMAD", modifiers) if modifiers.contains(&"HI") => self.set(ops[0], Word::Unknown),
            ("IMAD" | "UIMAD", _) => {
                let ([to, a, b, c] | [to, a, b, c, _] | [to, a, b, c, _, _]) = ops[..] else {
                    return Err(unknown(line));
                };
                let carries: Vec<Truth> = ops[4..].iter().map(|carry| self.truth_of(carry)).collect();
                let product = match (self.read(a).word(), self.read(b).word()) {
                    (Word::Known(a), Word::Known(b)) => Word::Known(a.wrapping_mul(b)),
                    (Word::Known(0), _) | (_, Word::Known(0)) => Word::Known(0),
                    (Word::Known(1), word) | (word, Word::Known(1)) => word,
                    _ => Word::Unknown,
                };
                let value = sum(&[Term::Plain(product), self.read(c).term()], &carries).0;
                self.set(to, value);
            }
            ("IADD3" | "UIADD3" | "VIADD" | "IADD" | "UIADD" | "UVIADD" | "IADD2", _) => {
                let (to, rest) = ops.split_first().ok_or_else(|| unknown(line))?;
                let outs = rest.iter().take_while(|operand| is_predicate(operand)).count();
                let (outs, rest) = rest.split_at(outs);
                let terms = rest.iter().take_while(|operand| !is_predicate(operand)).count();
                let (terms, carries) = rest.split_at(terms);
                let terms: Vec<Term> = terms.iter().map(|operand| self.read(operand).term()).collect();
                let carries: Vec<Truth> = carries.iter().map(|carry| self.truth_of(carry)).collect();
                let (value, carry) = sum(&terms, &carries);
                for (nth, out) in outs.iter().enumerate() {
                    // A second carry tells of a sum of three that carries twice.
                    self.set_truth(out, if nth == 0 { carry.clone() } else { Truth::Unknown });
                }
                self.set(to, value);
            }
            ("LEA" | "ULEA", modifiers) => self.lea(line, modifiers, &ops)?,
            ("SHF" | "USHF", [direction, kind, rest @ ..]) => {
                let [to, low, count, high] = ops[..] else { return Err(unknown(line)) };
                let values = (self.read(low).word(), self.read(count).word(), self.read(high).word());
                let value = match values {
                    (Word::Known(low), Word::Known(count), Word::Known(high)) => {
                        shifted(direction, kind, rest, low, count, high).map_or(Word::Unknown, Word::Known)
                    }
                    _ => Word::Unknown,
                };
                self.set(to, value);
            }
            ("SGXT" | "USGXT", modifiers) => {
                let unsigned = modifiers.contains(&"U32");
                self.binary(&ops, |a, width| {
                    let unused = 32u32.checked_sub(width).filter(|&unused| unused < 32)?;
                    Some(if unsigned {
                        a << unused >> unused
                    } else {
                        ((a << unused) as i32 >> unused) as u32
                    })
                });
            }
            ("SHL" | "USHL", _) => self.binary(&ops, |a, b| Some(a.checked_shl(b).unwrap_or(0))),
            ("SHR" | "USHR", modifiers) => {
                let unsigned = modifiers.contains(&"U32");
                self.binary(&ops, |a, b| {
                    Some(if unsigned {
                        a.checked_shr(b).unwrap_or(0)
                    } else {
                        ((a as i32) >> b.min(31)) as u32
                    })
                });
            }
            ("LOP3" | "ULOP3", _) => {
                let outs = ops.iter().take_while(|operand| is_predicate(operand)).count();
                let (outs, rest) = ops.split_at(outs);
                let [to, a, b, c, table, ..] = rest[..] else { return Err(unknown(line)) };
                let known = (self.read(a).word(), self.read(b).word(), self.read(c).word(), number(table));
                let value = match known {
                    (Word::Known(a), Word::Known(b), Word::Known(c), Some(table)) => {
                        Word::Known(looked_up(a, b, c, table as u8))
                    }
                    // The stack pointer, aligned. What its top is aligned to does not matter, as long as all that follows
                    // counts from the result.
                    (Word::Low(symbol), Word::Known(mask), _, Some(0xc0))
                        if symbol.root == Root::Stack
                            && !symbol.generic
                            && (!mask).wrapping_add(1).is_power_of_two() =>
                    {
                        let addend = symbol.addend & i64::from(mask as i32);
                        Word::Low(Symbol { addend, ..symbol })
                    }
                    _ => Word::Unknown,
                };
                for out in outs {
                    let truth = match value {
                        Word::Known(value) => Truth::Known(value != 0),
                        _ => Truth::Unknown,
                    };
                    self.set_truth(out, truth);
                }
                self.set(to, value);
            }
            ("PRMT" | "UPRMT", []) => {
                let [to, a, control, b] = ops[..] else { return Err(unknown(line)) };
                let known = (self.read(a).word(), self.read(control).word(), self.read(b).word());
                let value = match known {
                    (Word::Known(a), Word::Known(control), Word::Known(b)) => {
                        Word::Known(permuted(a, control, b))
                    }
                    _ => Word::Unknown,
                };
                self.set(to, value);
            }
            ("ISETP" | "UISETP", [compare, rest @ ..]) => self.isetp(line, compare, rest, &ops)?,
            ("SEL" | "USEL" | "FSEL", _) => {
                let [to, a, b, condition] = ops[..] else { return Err(unknown(line)) };
                let value = match self.truth_of(condition) {
                    Truth::Known(true) => self.read(a).word(),
                    Truth::Known(false) => self.read(b).word(),
                    _ => Word::Unknown,
                };
                self.set(to, value);
            }
            ("PLOP3" | "UPLOP3", _) => {
                for out in ops.iter().take(2) {
                    self.set_truth(out, Truth::Unknown);
                }
            }
            ("HFMA2", _) => {
                // How the assembler writes a constant: two halves as floats, added to a product that is zero.
                let [to, a, b, high, low] = ops[..] else { return Err(unknown(line)) };
                let nothing = a.trim_start_matches('-') == "RZ" && b == "RZ";
                let value = match (half(high), half(low)) {
                    (Some(high), Some(low)) if nothing => Word::Known(u32::from(high) << 16 | u32::from(low)),
                    _ => Word::Unknown,
                };
                self.set(to, value);
            }
            ("ULDC" | "LDC" | "LDCU" | "LDG" | "LD" | "LDS" | "LDL", modifiers) => {
                self.load(line, opcode[0], modifiers, &ops)?;
            }
            ("STG" | "ST" | "STS" | "STL", modifiers) => self.store(line, opcode[0], modifiers, &ops)?,
            _ => return Err(unknown(line)),
        }
        Ok(())
    }

    fn binary(&mut self, ops: &[&str], of: impl Fn(u32, u32) -> Option<u32>) {
        let &[to, a, b] = ops else { return };
        let value = match (self.read(a).word(), self.read(b).word()) {
            (Word::Known(a), Word::Known(b)) => of(a, b).map_or(Word::Unknown, Word::Known),
            _ => Word::Unknown,
        };
        self.set(to, value);
    }

    /// `LEA R, [P,] a, b, shift` and `LEA.HI.X R, a, b, high, shift, P`.
    fn lea(&mut self, line: &Line, modifiers: &[&str], ops: &[&str]) -> Known<()> {
        let (to, rest) = ops.split_first().ok_or_else(|| unknown(line))?;
        let outs = rest.iter().take_while(|operand| is_predicate(operand)).count();
        let (outs, rest) = rest.split_at(outs);
        let carries: Vec<Truth> =
            rest.iter().filter(|operand| is_predicate(operand)).map(|carry| self.truth_of(carry)).collect();
        let rest: Vec<&str> = rest.iter().copied().filter(|operand| !is_predicate(operand)).collect();
        let shift = rest.last().and_then(|shift| number(shift)).unwrap_or(0) as u32;
        let high_part = modifiers.contains(&"HI");
        let known = |word: Word| match word {
            Word::Known(value) => Some(value),
            _ => None,
        };
        let (shifted, b) = if high_part {
            let (a, b, high) = match (modifiers.contains(&"SX32"), rest.as_slice()) {
                (true, [a, b, _]) => {
                    let a = known(self.read(a).word());
                    (a, *b, a.map(|a| ((a as i32) >> 31) as u32))
                }
                (false, [a, b, high, _]) => (known(self.read(a).word()), *b, known(self.read(high).word())),
                _ => return Err(unknown(line)),
            };
            let wide = a.zip(high).map(|(a, high)| u64::from(high) << 32 | u64::from(a));
            (wide.map(|wide| ((wide << shift) >> 32) as u32), b)
        } else {
            let (a, b) = match rest.as_slice() {
                [a, b, _] => (*a, *b),
                _ => return Err(unknown(line)),
            };
            (known(self.read(a).word()).map(|a| a << shift), b)
        };
        let shifted = shifted.map_or(Word::Unknown, Word::Known);
        let (value, carry) = sum(&[Term::Plain(shifted), self.read(b).term()], &carries);
        for out in outs {
            self.set_truth(out, carry.clone());
        }
        self.set(to, value);
        Ok(())
    }

    /// `ISETP.LT.U32.AND P0, PT, a, b, PT`
    fn isetp(&mut self, line: &Line, compare: &str, rest: &[&str], ops: &[&str]) -> Known<()> {
        if rest.contains(&"EX") {
            for out in ops.iter().take(2) {
                self.set_truth(out, Truth::Unknown);
            }
            return Ok(());
        }
        let [p, q, a, b, third] = ops[..] else { return Err(unknown(line)) };
        let result = match (self.read(a).word(), self.read(b).word()) {
            (Word::Known(a), Word::Known(b)) => {
                let order = if rest.contains(&"U32") { a.cmp(&b) } else { (a as i32).cmp(&(b as i32)) };
                match compare {
                    "EQ" => Some(order.is_eq()),
                    "NE" => Some(order.is_ne()),
                    "LT" => Some(order.is_lt()),
                    "LE" => Some(order.is_le()),
                    "GT" => Some(order.is_gt()),
                    "GE" => Some(order.is_ge()),
                    _ => return Err(unknown(line)),
                }
            }
            _ => None,
        };
        let third = match self.truth_of(third) {
            Truth::Known(value) => Some(value),
            _ => None,
        };
        let combined = |value: Option<bool>| match (rest.last(), value, third) {
            (Some(&"AND"), Some(a), Some(b)) => Truth::Known(a && b),
            (Some(&"OR"), Some(a), Some(b)) => Truth::Known(a || b),
            (Some(&"XOR"), Some(a), Some(b)) => Truth::Known(a ^ b),
            _ => Truth::Unknown,
        };
        self.set_truth(p, combined(result));
        self.set_truth(q, combined(result.map(|value| !value)));
        Ok(())
    }

    fn load(&mut self, line: &Line, opcode: &str, modifiers: &[&str], ops: &[&str]) -> Known<()> {
        let [to, from] = ops[..] else { return Err(unknown(line)) };
        let (size, signed) = size_of(modifiers);
        if opcode.contains("LDC") {
            for nth in 0..size.div_ceil(4) {
                let value = match size {
                    1 | 2 => self.constant_bytes(from, size, signed),
                    _ => self.constant(from, 4 * nth as i64).unwrap_or(Word::Unknown),
                };
                self.set(&nth_register(to, nth), value);
            }
            return Ok(());
        }
        let place = self.place(opcode, from);
        let bytes: Option<Vec<Byte>> = place.map(|(root, offset)| {
            (0..size as i64).map(|nth| self.byte(&root, offset.wrapping_add(nth))).collect()
        });
        let Some(bytes) = bytes else {
            for nth in 0..size.div_ceil(4) {
                self.set(&nth_register(to, nth), Word::Unknown);
            }
            return Ok(());
        };
        if size < 4 {
            self.set(to, narrow(&bytes, signed));
        } else {
            for (nth, word) in bytes.chunks(4).enumerate() {
                self.set(&nth_register(to, nth), whole(word));
            }
        }
        Ok(())
    }

    fn store(&mut self, line: &Line, opcode: &str, modifiers: &[&str], ops: &[&str]) -> Known<()> {
        let [to, from] = ops[..] else { return Err(unknown(line)) };
        let (size, _) = size_of(modifiers);
        let Some((root, offset)) = self.place(opcode, to) else {
            return Err(lost(line, "stores to a place that is not known"));
        };
        if let Root::Variable { name, .. } = &root {
            let end = self.variables.get(&**name).and_then(|variable| variable.size);
            if offset < 0 || end.is_none_or(|end| offset as u64 + size as u64 > end) {
                return Err(lost(line, "stores outside of a variable"));
            }
        }
        for nth in 0..size {
            let word = self.read(&nth_register(from, nth / 4)).word();
            let byte = Byte { word, nth: (nth % 4) as u8 };
            self.written.insert((root.clone(), offset + nth as i64), byte);
        }
        Ok(())
    }

    /// What an address operand means: what it is counted from, and the offset.
    fn place(&self, opcode: &str, operand: &str) -> Option<(Root, i64)> {
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        let small = matches!(opcode, "LDS" | "STS" | "LDL" | "STL");
        let mut symbol: Option<Symbol> = None;
        let mut bytes = 0i64;
        for part in summands(inner) {
            let value = if let Some(value) = number(part) {
                Wide::Known(value as u64)
            } else if small {
                match self.read(part).word() {
                    Word::Known(value) => Wide::Known(i64::from(value as i32) as u64),
                    Word::Low(symbol) => Wide::Address(symbol),
                    _ => Wide::Unknown,
                }
            } else {
                self.pair(part)
            };
            match value {
                Wide::Known(value) => bytes = bytes.wrapping_add(value as i64),
                Wide::Address(found) if symbol.is_none() => symbol = Some(found),
                _ => return None,
            }
        }
        let zero = || match opcode {
            // Code names addresses of `.shared` variables by relocation, so that a number is one that the program wrote.
            "LDL" | "STL" => Some(Symbol::of(Root::Zero(Space::Local))),
            _ => None,
        };
        let symbol = symbol.or_else(zero)?.plus(bytes);
        let fits = if small { symbol.is_small() } else { !symbol.is_small() };
        let space = match opcode {
            "LDS" | "STS" => Some(Space::Shared),
            "LDL" | "STL" => Some(Space::Local),
            _ => None,
        };
        let right = space.is_none() || symbol.root.small() == space;
        // Global accesses do not reach into windows.
        let global = matches!(opcode, "LDG" | "STG") && symbol.root.small().is_some();
        (fits && right && !global).then_some((symbol.root, symbol.addend))
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
        let reaches = |address: &&crate::observation::Address| {
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
    fn root(&self, name: &str) -> Option<Root> {
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
    fn constant(&self, operand: &str, further: i64) -> Option<Word> {
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

    fn constant_bytes(&self, operand: &str, size: usize, signed: bool) -> Word {
        let place = self.constant_place(operand).and_then(|(offset, name)| {
            let root = self.root(name).filter(|root| root.small() == Some(Space::Const))?;
            Some((root, offset))
        });
        let Some((root, offset)) = place else { return Word::Unknown };
        let bytes: Vec<Byte> = (0..size as i64).map(|nth| self.byte(&root, offset + nth)).collect();
        narrow(&bytes, signed)
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

    /// What an operand of 32 bits holds.
    fn read(&self, operand: &str) -> Source {
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
    fn pair(&self, operand: &str) -> Wide {
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

    fn set(&mut self, to: &str, value: Word) {
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

    fn set_pair(&mut self, to: &str, value: &Wide) {
        let (low, high) = halves(value);
        self.set(to, low);
        if let Some(upper) = next(to) {
            self.set(&upper, high);
        }
    }

    fn truth(&self, predicate: &str) -> Truth {
        match predicate {
            "PT" | "UPT" => Truth::Known(true),
            name => self.predicates.get(name).cloned().unwrap_or(Truth::Unknown),
        }
    }

    fn truth_of(&self, operand: &str) -> Truth {
        match operand.strip_prefix('!') {
            Some(name) => match self.truth(name) {
                Truth::Known(value) => Truth::Known(!value),
                _ => Truth::Unknown,
            },
            None => self.truth(operand),
        }
    }

    fn set_truth(&mut self, predicate: &str, truth: Truth) {
        if !matches!(predicate, "PT" | "UPT") {
            self.predicates.insert(predicate.to_owned(), truth);
        }
    }
}

fn lost(line: &Line, what: &str) -> Lost {
    Lost(format!("{} at {:#x} {what}", line.opcode.join("."), line.offset))
}

fn unknown(line: &Line) -> Lost {
    Lost(format!("{} {} is not understood", line.opcode.join("."), line.operands.join(", ")))
}

/// Bytes that an access moves, and whether a smaller one extends the sign.
fn size_of(modifiers: &[&str]) -> (usize, bool) {
    for modifier in modifiers {
        match *modifier {
            "U8" => return (1, false),
            "S8" => return (1, true),
            "U16" => return (2, false),
            "S16" => return (2, true),
            "64" => return (8, false),
            "128" => return (16, false),
            _ => {}
        }
    }
    (4, false)
}

enum Register {
    Plain(u16),
    Uniform(u16),
    Zero,
}

/// `R4`, `UR4`, `RZ`, with what says how it is used: `R4.64`, `R4.reuse`.
fn register(operand: &str) -> Option<Register> {
    let name = operand.split('.').next().unwrap_or(operand);
    match name {
        "RZ" | "URZ" => return Some(Register::Zero),
        _ => {}
    }
    if let Some(number) = name.strip_prefix("UR") {
        return number.parse().ok().map(Register::Uniform);
    }
    name.strip_prefix('R').and_then(|number| number.parse().ok()).map(Register::Plain)
}

/// The register so many behind this one.
fn nth_register(operand: &str, nth: usize) -> String {
    match register(operand) {
        Some(Register::Plain(at)) => format!("R{}", usize::from(at) + nth),
        Some(Register::Uniform(at)) => format!("UR{}", usize::from(at) + nth),
        Some(Register::Zero) | None => "RZ".to_owned(),
    }
}

fn next(operand: &str) -> Option<String> {
    match register(operand)? {
        Register::Zero => None,
        _ => Some(nth_register(operand, 1)),
    }
}

fn is_predicate(operand: &str) -> bool {
    let name = operand.trim_start_matches('!').trim_start_matches('U');
    name.strip_prefix('P').is_some_and(|rest| rest == "T" || rest.parse::<u8>().is_ok())
}

/// The parts of a sum in brackets: `R2.64+UR4+-0x4`, ``R0+`((t + 0x4))``.
fn summands(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// The symbol and addend of a relocated operand: `(a)`, `((a + 0x4))`, `(fun@fdesc(k))`, `(fun@unified(f))`.
fn relocated(text: &str) -> Option<(&str, i64)> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    if let Some(sum) = inner.strip_prefix('(') {
        let (symbol, addend) = sum.strip_suffix(')')?.split_once(" + ")?;
        return Some((bare(symbol)?, number(addend)?));
    }
    Some((bare(inner)?, 0))
}

fn bare(symbol: &str) -> Option<&str> {
    match symbol.split_once('@') {
        None => Some(symbol),
        Some(("fun", described)) => {
            let (kind, name) = described.split_once('(')?;
            matches!(kind, "fdesc" | "unified").then(|| name.trim_end_matches(')'))
        }
        Some(_) => None,
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
pub(super) fn value(byte: &Byte) -> Option<u8> {
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

fn looked_up(a: u32, b: u32, c: u32, table: u8) -> u32 {
    (0..32).fold(0, |result, bit| {
        let of = |word: u32| (word >> bit & 1) as u8;
        let index = of(a) << 2 | of(b) << 1 | of(c);
        result | u32::from(table >> index & 1) << bit
    })
}

fn permuted(a: u32, control: u32, b: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, nth| {
        let selector = control >> (4 * nth) & 0xf;
        let byte = (both >> (8 * (selector & 7))) as u8;
        // The fourth bit asks for the sign of the byte instead of its value.
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result | u32::from(byte) << (8 * nth)
    })
}

/// `SHF.L.U32`, `SHF.R.S32.HI`, `SHF.L.U64.HI`, `SHF.R.U64`: a shift of two words, of which one is kept.
fn shifted(direction: &str, kind: &str, rest: &[&str], low: u32, count: u32, high: u32) -> Option<u32> {
    let upper = rest.contains(&"HI");
    let both = u64::from(high) << 32 | u64::from(low);
    let result = match (direction, kind, upper) {
        ("L", "U32" | "S32", false) => return (count < 32).then(|| low << count),
        ("R", "U32", true) => return (count < 32).then(|| high >> count),
        ("R", "S32", true) => return (count < 32).then(|| ((high as i32) >> count) as u32),
        ("L", "U64" | "S64", _) if count < 64 => both << count,
        ("R", "U64", _) if count < 64 => both >> count,
        ("R", "S64", _) if count < 64 => ((both as i64) >> count) as u64,
        _ => return None,
    };
    Some(if upper { (result >> 32) as u32 } else { result as u32 })
}

/// The bits of a half-precision float whose value is written out; `None` for what is no such value.
fn half(text: &str) -> Option<u16> {
    match text {
        "INF" | "+INF" => return Some(0x7c00),
        "-INF" => return Some(0xfc00),
        _ => {}
    }
    let value: f64 = text.parse().ok()?;
    if value.is_nan() || value.is_infinite() {
        return None;
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // In units of the smallest denormal each half is an integer.
    let units = magnitude * f64::from(1u32 << 24);
    if units.fract() != 0.0 || units >= (1u64 << 40) as f64 {
        return None;
    }
    let units = units as u64;
    let bits = if units < 1 << 10 {
        units
    } else {
        let exponent = units.ilog2() - 10;
        if exponent > 29 || units & ((1 << exponent) - 1) != 0 {
            return None;
        }
        (u64::from(exponent) + 1) << 10 | (units >> exponent & 0x3ff)
    };
    Some(sign | bits as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_written_as_halves_are_read_exactly() {
        assert_eq!(half("4.589557647705078125e-06"), Some(0x4d));
        assert_eq!(half("2.086162567138671875e-06"), Some(0x23));
        assert_eq!(half("0"), Some(0));
        assert_eq!(half("-0"), Some(0x8000));
        assert_eq!(half("1"), Some(0x3c00));
        assert_eq!(half("65504"), Some(0x7bff));
        assert_eq!(half("-1.5"), Some(0xbe00));
        assert_eq!(half("+QNAN"), None);
        assert_eq!(half("1e-9"), None);
    }

    #[test]
    fn relocated_operands_name_a_symbol_and_an_addend() {
        assert_eq!(relocated("(a)"), Some(("a", 0)));
        assert_eq!(relocated("((a + -0x4))"), Some(("a", -4)));
        assert_eq!(relocated("(fun@fdesc(k0))"), Some(("k0", 0)));
        assert_eq!(relocated("((k1 + .L_x_0@srel))"), None);
    }

    #[test]
    fn bytes_are_permuted_and_combined_as_tables_say() {
        assert_eq!(permuted(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permuted(0x80, 0x8, 0), 0x8080_80ff);
        assert_eq!(looked_up(0b1100, 0b1010, 0, 0xc0), 0b1000);
    }
}
