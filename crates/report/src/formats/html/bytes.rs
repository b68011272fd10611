//! Compares the expected and the actual bytes of a variable.

use std::ops::Range;

use ptxsmith_subject::Variable;

use crate::Finding;
use crate::describe;

/// The number of bytes in a row.
const ROW: usize = 8;
/// The maximum number of rows that are shown, beginning near the first difference.
const MOST_ROWS: usize = 24;

/// A byte of the expected or actual contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteView {
    /// Two hexadecimal digits; `··` if there is no byte, `&·` in the slot of an address.
    pub text: String,
    /// `same`, `differs`, or `address`, with `differs` added if the other side has another address.
    pub kind: &'static str,
    /// The address in this slot, if there is one.
    pub note: String,
}

/// A row of expected and actual bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRow {
    /// The offset of the first byte.
    pub offset: String,
    /// The expected bytes.
    pub expected: Vec<ByteView>,
    /// The actual bytes.
    pub observed: Vec<ByteView>,
}

/// The comparison of both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteComparison {
    /// The rows, from shortly before the first difference.
    pub rows: Vec<ByteRow>,
    /// The number of bytes that differ.
    pub different: usize,
    /// The number of rows that are not shown.
    pub left_out: usize,
}

/// Compares the bytes of the variable that shows the deviation. Empty if there is no such variable, or if its
/// bytes are unknown on either side.
pub fn bytes(finding: &Finding) -> ByteComparison {
    let example = finding.example();
    let Some(name) = example.variable else { return ByteComparison::default() };
    let (Some(expected), Some(observed)) =
        (example.expected.variable(name), example.observed.variables.get(name))
    else {
        return ByteComparison::default();
    };
    let (Some(left), Some(right)) = (&expected.bytes, &observed.bytes) else {
        return ByteComparison::default();
    };
    let expected_slots = slots(expected);
    let observed_slots = slots(observed);
    let length = left.len().max(right.len());
    let mut cells = Vec::new();
    for offset in 0..length {
        cells.push((cell(left, &expected_slots, offset), cell(right, &observed_slots, offset)));
    }
    let different = cells.iter().filter(|(expected, observed)| expected != observed).count();
    let first = cells.iter().position(|(expected, observed)| expected != observed).unwrap_or(0);
    let begin = (first / ROW).saturating_sub(1);
    let chunks = cells.chunks(ROW).enumerate().skip(begin).take(MOST_ROWS);
    let rows: Vec<ByteRow> = chunks.map(|(row, cells)| byte_row(row * ROW, cells)).collect();
    ByteComparison { left_out: length.div_ceil(ROW) - rows.len(), rows, different }
}

/// The byte and the address at an offset, if there are any.
type Cell<'a> = (Option<u8>, Option<&'a str>);

fn byte_row(offset: usize, cells: &[(Cell<'_>, Cell<'_>)]) -> ByteRow {
    let expected = cells.iter().map(|(expected, observed)| byte_view(expected, expected != observed));
    let observed = cells.iter().map(|(expected, observed)| byte_view(observed, expected != observed));
    ByteRow { offset: format!("{offset:04x}"), expected: expected.collect(), observed: observed.collect() }
}

/// Returns the ranges of bytes that hold the addresses in a variable, and the addresses as text.
fn slots(variable: &Variable) -> Vec<(Range<u64>, String)> {
    let addresses = variable.addresses.iter().flatten().take(describe::MOST_SLOTS);
    let slots = addresses.map(|address| {
        let end = address.offset.saturating_add(u64::from(address.width));
        (address.offset..end, describe::address_text(address))
    });
    slots.collect()
}

fn cell<'a>(bytes: &[u8], slots: &'a [(Range<u64>, String)], offset: usize) -> Cell<'a> {
    let slot = slots.iter().find(|(range, _)| range.contains(&(offset as u64)));
    (bytes.get(offset).copied(), slot.map(|(_, text)| text.as_str()))
}

fn byte_view(&(byte, address): &Cell<'_>, differs: bool) -> ByteView {
    let text = match (address, byte) {
        (Some(_), _) => "&·".to_owned(),
        (None, Some(byte)) => format!("{byte:02x}"),
        (None, None) => "··".to_owned(),
    };
    let kind = match (address.is_some(), differs) {
        (false, false) => "same",
        (false, true) => "differs",
        (true, false) => "address",
        (true, true) => "address differs",
    };
    ByteView { text, kind, note: address.unwrap_or_default().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(expected: &str, observed: &str, addresses: &str) -> Finding {
        let json = format!(
            r#"{{"id": "a", "status": "new", "class": "wrong-value", "title": "", "variable": "x",
                "expected": {{"variables": {{"x": {{"bytes": "{expected}"}}}}}},
                "observed": {{"outcome": "accepted",
                              "variables": {{"x": {{"bytes": "{observed}", "addresses": {addresses}}}}}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn texts(row: &[ByteView]) -> Vec<(&str, &str)> {
        row.iter().map(|byte| (&*byte.text, byte.kind)).collect()
    }

    #[test]
    fn every_byte_that_differs_is_marked_on_both_sides() {
        let bytes = bytes(&finding("01000300", "010203", "null"));
        assert_eq!((bytes.rows.len(), bytes.different, bytes.left_out), (1, 2, 0));
        let same = "same";
        let differs = "differs";
        let row = &bytes.rows[0];
        assert_eq!(texts(&row.expected), [("01", same), ("00", differs), ("03", same), ("00", differs)]);
        assert_eq!(texts(&row.observed), [("01", same), ("02", differs), ("03", same), ("··", differs)]);
    }

    #[test]
    fn where_an_address_goes_no_byte_is_shown() {
        let address = r#"[{"offset": 1, "width": 2, "symbol": "f\u001b", "addend": 4, "generic": true}]"#;
        let bytes = bytes(&finding("000000", "000000", address));
        let row = &bytes.rows[0];
        assert_eq!(texts(&row.observed)[1], ("&·", "address differs"));
        assert_eq!(row.observed[1].note, "generic(f\\u{1b}+4)");
        assert_eq!(texts(&row.expected)[1], ("00", "differs"));
    }

    #[test]
    fn of_many_bytes_those_around_the_first_difference_are_shown() {
        let zeros = "00".repeat(1000);
        let mut other = zeros.clone();
        other.replace_range(1600..1602, "ff");
        let bytes = bytes(&finding(&zeros, &other, "null"));
        assert_eq!((&*bytes.rows[0].offset, bytes.rows.len(), bytes.left_out), ("0318", 24, 101));
        assert_eq!(bytes.rows[1].observed[0].text, "ff");
    }
}
