//! How the listing writes operands.

use super::super::listing::number;

pub(super) enum Register {
    Plain(u16),
    Uniform(u16),
    Zero,
}

impl Register {
    pub fn is_zero(&self) -> bool {
        matches!(self, Register::Zero)
    }
}

/// `R4`, `UR4`, `RZ`, with what says how it is used: `R4.64`, `R4.reuse`.
pub(super) fn register(operand: &str) -> Option<Register> {
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
pub(super) fn nth_register(operand: &str, nth: usize) -> String {
    match register(operand) {
        Some(Register::Plain(at)) => format!("R{}", usize::from(at) + nth),
        Some(Register::Uniform(at)) => format!("UR{}", usize::from(at) + nth),
        Some(Register::Zero) | None => "RZ".to_owned(),
    }
}

pub(super) fn next(operand: &str) -> Option<String> {
    match register(operand)? {
        Register::Zero => None,
        _ => Some(nth_register(operand, 1)),
    }
}

pub(super) fn is_predicate(operand: &str) -> bool {
    let name = operand.trim_start_matches('!').trim_start_matches('U');
    name.strip_prefix('P').is_some_and(|rest| rest == "T" || rest.parse::<u8>().is_ok())
}

/// The parts of a sum in brackets: `R2.64+UR4+-0x4`, ``R0+`((t + 0x4))``.
pub(super) fn summands(text: &str) -> Vec<&str> {
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
pub(super) fn relocated(text: &str) -> Option<(&str, i64)> {
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

/// The bits of a half-precision float whose value is written out; `None` for what is no such value.
pub(super) fn half(text: &str) -> Option<u16> {
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
}
