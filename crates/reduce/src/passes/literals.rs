//! Finds simpler numbers in place of a number.

use ptxsmith_syntax::{Number, Radix, read_number};

/// Returns candidate spellings for a number: small values of the same type, nearby and shorter ones, other
/// bases, then single digits decreased. For a text that is not a number: its first character, and the same
/// edits of single characters.
pub(super) fn simpler(text: &str) -> Vec<String> {
    let mut found: Vec<String> = match read_number(text) {
        Some(Number::Integer { wrapped, unsigned, .. }) => integers(wrapped, unsigned),
        Some(Number::Float(value)) => floats(value),
        Some(Number::SingleBits(_)) => vec!["0f00000000".into(), "0f00000001".into(), "0f3f800000".into()],
        Some(Number::DoubleBits(bits)) => {
            let mut found = vec!["0.".into(), "1.".into(), "0d0000000000000000".into()];
            found.extend(floats(f64::from_bits(bits)));
            found
        }
        // Not a number, which may be what the question is about.
        None => vec![text[..1].to_owned()],
    };
    found.extend(shorter(text));
    found.extend(lesser_digits(text));
    found.retain(|simpler| simpler != text);
    found
}

fn integers(value: u64, unsigned: bool) -> Vec<String> {
    let suffix = if unsigned { "U" } else { "" };
    let values = [0, 1, 2, value / 2, value & value.wrapping_sub(1), 1 << value.checked_ilog2().unwrap_or(0)];
    let values = values.into_iter().chain([value.saturating_sub(1)]).map(|value| format!("{value}{suffix}"));
    let spellings = Radix::ALL.into_iter().map(|radix| match radix {
        Radix::Decimal => format!("{value}"),
        Radix::Hexadecimal => format!("{value:#x}"),
        Radix::Octal => format!("0{value:o}"),
        Radix::Binary => format!("{value:#b}"),
    });
    // Spellings without the suffix come before those with it.
    values.chain(spellings.flat_map(|spelling| [spelling.clone(), format!("{spelling}{suffix}")])).collect()
}

fn floats(value: f64) -> Vec<String> {
    let mut found: Vec<String> =
        ["0.", "1.", "2.", "1e9", "1e99", "1e-9", "1e-99", "1e-308"].map(Into::into).into();
    if value.is_finite() {
        found.push(format!("{value:e}"));
        found.push(format!("{:e}", value / 2.0));
        found.push(format!("{}.", value.trunc().abs()));
        // Fewer significant digits, and smaller exponents.
        found.push(format!("{value:.0e}"));
        if value != 0.0 {
            found.push(format!("1e{}", value.abs().log10() as i32));
            found.push(format!("1e{}", value.abs().log10() as i32 / 2));
        }
    }
    found.retain(|text| matches!(read_number(text), Some(Number::Float(_))));
    found
}

/// Returns the text without one of its characters, as long as it still begins with a digit.
fn shorter(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        let without = format!("{}{}", &text[..at], &text[at + c.len_utf8()..]);
        if without.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(without);
        }
    }
    found
}

/// Returns the text with one digit decreased, and with one letter in lower case.
fn lesser_digits(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        let mut replacements = Vec::new();
        if let Some(digit) = c.to_digit(16) {
            replacements.extend((0..digit).filter_map(|lesser| char::from_digit(lesser, 16)));
        }
        if c.is_ascii_uppercase() {
            replacements.push(c.to_ascii_lowercase());
        }
        for other in replacements {
            found.push(format!("{}{other}{}", &text[..at], &text[at + 1..]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, expected: &[&str]) {
        let found = simpler(text);
        for expected in expected {
            assert!(found.iter().any(|found| found == expected), "no {expected} for {text}: {found:?}");
        }
    }

    #[test]
    fn simpler_numbers_are_smaller_shorter_or_of_another_base() {
        has(
            "9223372036854775808U",
            &[
                "0U",
                "9223372036854775808",
                "0x8000000000000000",
                "0x8000000000000000U",
                "922337203685477580U",
            ],
        );
        has("0x80", &["128", "0200", "64", "127", "0x8", "0x00"]);
        has("123.456e-7", &["0.", "1.", "1e-4", "23.456e-7", "120.456e-7"]);
        has("0F3F800000", &["0f3f800000", "0f00000000", "0F3F000000"]);
        has("089", &["0"]);
        assert!(!simpler("0").contains(&"0".to_owned()));
    }
}
