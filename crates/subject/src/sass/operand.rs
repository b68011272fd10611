//! Operands of generated code, in the notation of the listing.

/// A parsed operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SassOperand {
    /// As the listing writes it.
    pub text: String,
    pub value: OperandValue,
    pub change: OperandChange,
}

/// The value that an operand refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandValue {
    Register(SassRegister),
    Predicate(Predicate),
    /// The sign bit of a register, as a predicate.
    SignOf(SassRegister),
    Immediate(i64),
    /// A word of a constant bank: the bank, an optional index register, and the offset.
    Constant(i64, Option<SassRegister>, i64),
    /// An address in brackets, a name with a relocation, or an unknown form.
    Other,
}

/// The modification of an operand's value before its use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperandChange {
    pub negates: bool,
    /// Inverts every bit of a register, or the truth of a predicate.
    pub inverts: bool,
    pub absolute: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SassRegister {
    Plain(u8),
    Uniform(u8),
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predicate {
    Plain(u8),
    Uniform(u8),
    True,
}

impl SassRegister {
    pub fn is_zero(self) -> bool {
        self == SassRegister::Zero
    }

    /// Returns the register `nth` numbers after this one.
    pub fn nth(self, nth: usize) -> SassRegister {
        match self {
            SassRegister::Plain(number) => SassRegister::Plain(number.wrapping_add(nth as u8)),
            SassRegister::Uniform(number) => SassRegister::Uniform(number.wrapping_add(nth as u8)),
            SassRegister::Zero => SassRegister::Zero,
        }
    }
}

impl SassOperand {
    pub fn read(text: &str) -> SassOperand {
        let (change, value) = read(text);
        SassOperand { text: text.to_owned(), value, change }
    }

    /// Returns the register that the operand refers to without modification.
    pub fn register(&self) -> Option<SassRegister> {
        match self.value {
            OperandValue::Register(register) if self.change == OperandChange::default() => Some(register),
            _ => None,
        }
    }

    pub fn is_predicate(&self) -> bool {
        matches!(self.value, OperandValue::Predicate(_))
    }

    /// Whether it is the predicate that is always true. As a destination it discards the result.
    pub fn is_true(&self) -> bool {
        self.value == OperandValue::Predicate(Predicate::True) && !self.change.inverts
    }

    /// Whether its value is modified before its use.
    pub fn is_changed(&self) -> bool {
        self.change != OperandChange::default()
    }

    /// Whether it is a predicate that is always false.
    pub fn is_false(&self) -> bool {
        self.value == OperandValue::Predicate(Predicate::True) && self.change.inverts
    }
}

fn read(text: &str) -> (OperandChange, OperandValue) {
    let mut change = OperandChange::default();
    if let Some(value) = number(text) {
        return (change, OperandValue::Immediate(value));
    }
    let mut rest = text.strip_suffix(".reuse").unwrap_or(text);
    if let Some(inner) = rest.strip_prefix('!') {
        let value = predicate(inner).map_or(OperandValue::Other, OperandValue::Predicate);
        return (OperandChange { inverts: true, ..change }, value);
    }
    if let Some(inner) = rest.strip_prefix('-') {
        (change.negates, rest) = (true, inner);
    } else if let Some(inner) = rest.strip_prefix('~') {
        (change.inverts, rest) = (true, inner);
    }
    if let Some(inner) = rest.strip_prefix('|').and_then(|inner| inner.strip_suffix('|')) {
        (change.absolute, rest) = (true, inner);
    }
    let rest = rest.strip_suffix(".reuse").unwrap_or(rest);
    if let Some(of) = rest.strip_suffix(".SIGN") {
        return (
            change,
            register(of.strip_suffix(".reuse").unwrap_or(of))
                .map_or(OperandValue::Other, OperandValue::SignOf),
        );
    }
    if let Some(register) = register(rest.strip_suffix(".64").unwrap_or(rest)) {
        return (change, OperandValue::Register(register));
    }
    if let Some(predicate) = predicate(rest).filter(|_| change == OperandChange::default()) {
        return (change, OperandValue::Predicate(predicate));
    }
    (change, constant(rest).unwrap_or(OperandValue::Other))
}

/// Parses `c[0x0][0x160]`, `c[0x3][R2+0x4]`.
fn constant(text: &str) -> Option<OperandValue> {
    let (bank, place) = text.strip_prefix("c[")?.strip_suffix(']')?.split_once("][")?;
    let mut index = None;
    let mut offset = 0i64;
    for part in summands(place) {
        match (number(part), register(part), index) {
            (Some(further), ..) => offset = offset.wrapping_add(further),
            (None, Some(register), None) => index = Some(register),
            _ => return None,
        }
    }
    Some(OperandValue::Constant(number(bank)?, index, offset))
}

/// Parses `R4`, `UR4`, `RZ`.
pub(super) fn register(name: &str) -> Option<SassRegister> {
    if name == "RZ" || name == "URZ" {
        return Some(SassRegister::Zero);
    }
    if let Some(number) = name.strip_prefix("UR") {
        return number.parse().ok().map(SassRegister::Uniform);
    }
    name.strip_prefix('R').and_then(|number| number.parse().ok()).map(SassRegister::Plain)
}

/// Parses `P4`, `UP4`, `PT`.
pub(super) fn predicate(name: &str) -> Option<Predicate> {
    if name == "PT" || name == "UPT" {
        return Some(Predicate::True);
    }
    let (uniform, number) = match name.strip_prefix("UP") {
        Some(number) => (true, number),
        None => (false, name.strip_prefix('P')?),
    };
    let number = number.parse().ok().filter(|&number: &u8| number < 8)?;
    Some(if uniform { Predicate::Uniform(number) } else { Predicate::Plain(number) })
}

/// Splits a sum in brackets: `R2.64+UR4+-0x4`, ``R0+`((t + 0x4))``.
pub(super) fn summands(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut from = 0;
    let mut parts = Vec::new();
    for (end, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' if depth == 0 => {
                parts.push(text[from..end].trim());
                from = end + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// Parses the symbol and addend of a relocated operand: `(a)`, `((a + 0x4))`, `(fun@fdesc(k))`,
/// `(fun@unified(f))`.
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

/// Parses a number as listings write it: `0x1f`, `-0x5`, `12`.
pub(super) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map(|value| value as i64),
        None => digits.parse(),
    };
    value.ok().map(|value| if negative { -value } else { value })
}

/// Returns the bits of a single-precision float from its decimal value, in which listings print enough digits;
/// `None` if there is no such value.
pub(super) fn single(text: &str) -> Option<u32> {
    match text {
        "INF" | "+INF" => return Some(f32::INFINITY.to_bits()),
        "-INF" => return Some(f32::NEG_INFINITY.to_bits()),
        _ => {}
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let rounded = value as f32;
    (f64::from(rounded) == value).then(|| rounded.to_bits())
}

/// Returns the bits of a half-precision float from its decimal value; `None` if there is no such value.
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
    // In units of the smallest denormal, every half is an integer.
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
    fn operands_name_a_value_and_what_is_done_to_it() {
        let plain = OperandChange::default();
        let negated = OperandChange { negates: true, ..plain };
        let inverted = OperandChange { inverts: true, ..plain };
        let absolute = OperandChange { absolute: true, ..plain };
        for (text, change, value) in [
            ("R12.reuse", plain, OperandValue::Register(SassRegister::Plain(12))),
            ("-R3", negated, OperandValue::Register(SassRegister::Plain(3))),
            ("~UR3", inverted, OperandValue::Register(SassRegister::Uniform(3))),
            ("|R3|", absolute, OperandValue::Register(SassRegister::Plain(3))),
            ("R2.64", plain, OperandValue::Register(SassRegister::Plain(2))),
            ("-0x5", plain, OperandValue::Immediate(-5)),
            ("!PT", inverted, OperandValue::Predicate(Predicate::True)),
            ("UP2", plain, OperandValue::Predicate(Predicate::Uniform(2))),
            ("c[0x0][0x160]", plain, OperandValue::Constant(0, None, 0x160)),
            ("-c[0x3][R2+-0x4]", negated, OperandValue::Constant(3, Some(SassRegister::Plain(2)), -4)),
            ("R3.SIGN", plain, OperandValue::SignOf(SassRegister::Plain(3))),
            ("R3.reuse.SIGN", plain, OperandValue::SignOf(SassRegister::Plain(3))),
            // Accesses to parts of a register are not supported.
            ("R3.H0_H0", plain, OperandValue::Other),
            ("R3.B1", plain, OperandValue::Other),
            ("[R2.64+0x4]", plain, OperandValue::Other),
            ("SR_TID.X", plain, OperandValue::Other),
        ] {
            assert_eq!((change, value), read(text), "{text}");
        }
    }

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
    fn constants_written_as_floats_are_read_exactly() {
        assert_eq!(single("1"), Some(0x3f80_0000));
        assert_eq!(single("-1.875"), Some(0xbff0_0000));
        assert_eq!(single("0.10000000149011611938"), Some(0x3dcc_cccd));
        assert_eq!(single("-INF"), Some(0xff80_0000));
        assert_eq!(single("+QNAN"), None);
        assert_eq!(single("0.1"), None);
        assert_eq!(single("0x1"), None);
    }

    #[test]
    fn relocated_operands_name_a_symbol_and_an_addend() {
        assert_eq!(relocated("(a)"), Some(("a", 0)));
        assert_eq!(relocated("((a + -0x4))"), Some(("a", -4)));
        assert_eq!(relocated("(fun@fdesc(k0))"), Some(("k0", 0)));
        assert_eq!(relocated("((k1 + .L_x_0@srel))"), None);
    }

    #[test]
    fn numbers_have_a_sign_in_front_of_the_base() {
        assert_eq!(number("-0x8000"), Some(-0x8000));
        assert_eq!(number("0xfffffffb"), Some(0xffff_fffb));
        assert_eq!(number("0xfffffffffffffffb"), Some(-5));
        assert_eq!(number("R1"), None);
    }
}
