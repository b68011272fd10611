//! Compares the expected and the actual bytes of a variable.

use ptxsmith_subject::Variable;

use crate::Finding;
use crate::describe;
use crate::harmless::line;

/// The number of bytes in a row.
const ROW: usize = 8;
/// The maximum number of rows that are shown, beginning near the first difference.
const MOST_ROWS: usize = 24;

/// A byte of the expected or actual contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Byte {
    /// Two hexadecimal digits; `··` if there is no byte, `&·` in the slot of an address.
    pub text: String,
    /// `same`, `differs`, or `address`, with `differs` added if the other side has another address.
    pub kind: &'static str,
    /// The address in this slot, if there is one.
    pub note: String,
}

/// A row of expected and actual bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The offset of the first byte.
    pub offset: String,
    /// The expected bytes.
    pub expected: Vec<Byte>,
    /// The actual bytes.
    pub observed: Vec<Byte>,
}

/// The comparison of both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The rows, from shortly before the first difference.
    pub rows: Vec<Row>,
    /// The number of bytes that differ.
    pub different: usize,
    /// The number of rows that are not shown.
    pub left_out: usize,
}

/// Compares the bytes of the variable that shows the deviation. Empty if there is no such variable, or if its bytes are unknown on either
/// side.
pub fn bytes(finding: &Finding) -> Bytes {
    let example = finding.example();
    let Some(name) = example.variable else { return Bytes::default() };
    let (Some(expected), Some(observed)) =
        (example.expected.variable(name), example.observed.variables.get(name))
    else {
        return Bytes::default();
    };
    let (Some(left), Some(right)) = (&expected.bytes, &observed.bytes) else { return Bytes::default() };
    let (names, others) = (addresses(expected), addresses(observed));
    let length = left.len().max(right.len());
    let at = |offset: usize| (cell(left, &names, offset), cell(right, &others, offset));
    let differs = |offset: &usize| {
        let (left, right) = at(*offset);
        left != right
    };
    let different = (0..length).filter(differs).count();
    let first = (0..length).find(differs).unwrap_or(0) / ROW;
    let begin = first.saturating_sub(1);
    let rows: Vec<Row> = (begin..length.div_ceil(ROW))
        .take(MOST_ROWS)
        .map(|row| {
            let (mut expected, mut observed) = (Vec::new(), Vec::new());
            for offset in (row * ROW..(row + 1) * ROW).take_while(|&offset| offset < length) {
                let (left, right) = at(offset);
                let differs = left != right;
                expected.push(byte(left, differs));
                observed.push(byte(right, differs));
            }
            Row { offset: format!("{:04x}", row * ROW), expected, observed }
        })
        .collect();
    Bytes { left_out: length.div_ceil(ROW) - rows.len(), rows, different }
}

/// Returns the slots of the addresses in a variable, and the addresses as text.
fn addresses(variable: &Variable) -> Vec<(u64, u64, String)> {
    let slot = |a: &ptxsmith_subject::Address| {
        let text = crate::values::address(&a.symbol, a.addend, a.generic.unwrap_or(false), a.byte);
        (a.offset, a.offset.saturating_add(u64::from(a.width)), line(&text).into_owned())
    };
    variable.addresses.iter().flatten().take(describe::MOST_SLOTS).map(slot).collect()
}

/// Returns the byte and the address at an offset, if there are any.
fn cell<'a>(
    bytes: &[u8],
    addresses: &'a [(u64, u64, String)],
    offset: usize,
) -> (Option<u8>, Option<&'a str>) {
    let at = offset as u64;
    let address = addresses.iter().find(|(begin, end, _)| (*begin..*end).contains(&at));
    (bytes.get(offset).copied(), address.map(|(_, _, text)| text.as_str()))
}

fn byte((byte, address): (Option<u8>, Option<&str>), differs: bool) -> Byte {
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
    Byte { text, kind, note: address.unwrap_or_default().to_owned() }
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

    fn texts(row: &[Byte]) -> Vec<(&str, &str)> {
        row.iter().map(|byte| (&*byte.text, byte.kind)).collect()
    }

    #[test]
    fn every_byte_that_differs_is_marked_on_both_sides() {
        let bytes = bytes(&finding("01000300", "010203", "null"));
        assert_eq!((bytes.rows.len(), bytes.different, bytes.left_out), (1, 2, 0));
        let (same, differs) = ("same", "differs");
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
