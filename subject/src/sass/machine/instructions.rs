//! What instructions do with the words that they read.

use super::super::listing::{Line, number};
use super::super::value::{Root, Symbol, Term, Truth, Wide, Word, sum};
use super::operands::{half, is_predicate, next};
use super::{Known, Machine, unknown};

impl Machine<'_> {
    pub(super) fn step(&mut self, line: &Line, opcode: &[&str]) -> Known<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_permuted_and_combined_as_tables_say() {
        assert_eq!(permuted(0x4433_2211, 0x7610, 0x8877_6655), 0x8877_2211);
        assert_eq!(permuted(0x80, 0x8, 0), 0x8080_80ff);
        assert_eq!(looked_up(0b1100, 0b1010, 0, 0xc0), 0b1000);
    }
}
