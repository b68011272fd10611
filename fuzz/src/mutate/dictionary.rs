//! The vocabulary of PTX for mutators: for the mutator of syntax trees and, as a dictionary file, for mutators of bytes.

use std::sync::LazyLock;

use ptxsmith_gen::boundary;
use ptxsmith_syntax::{BinaryOp, Cast, Linkage, ScalarType, StateSpace, UnaryOp, VectorLength};

/// Spellings of the boundary values, in every notation, sorted.
pub static NUMBERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut numbers: Vec<String> = Vec::new();
    for (nth, value) in boundary::INTEGERS.iter().enumerate() {
        numbers.push(value.to_string());
        numbers.push(match nth % 4 {
            0 => format!("{value:#x}"),
            1 => format!("0{value:o}"),
            2 => format!("{value:#b}"),
            _ => format!("{value}U"),
        });
    }
    let more = boundary::SHIFT_COUNTS.iter().chain(&boundary::WIDE_SHIFT_COUNTS).map(u64::to_string);
    numbers.extend(more);
    numbers.extend(
        boundary::DOUBLE_BITS.iter().chain(&boundary::DOUBLE_NANS).map(|bits| format!("0d{bits:016x}")),
    );
    numbers.extend(boundary::SINGLE_BITS.iter().map(|bits| format!("0f{bits:08x}")));
    let texts = boundary::HUGE.iter().chain(&boundary::DECIMALS).chain(&boundary::DENORMAL_DECIMALS);
    numbers.extend(texts.chain(&boundary::DECIMALS_OUT_OF_RANGE).map(|text| (*text).to_owned()));
    numbers.sort();
    numbers.dedup();
    numbers
});

/// Returns the words other than numbers.
fn words() -> Vec<&'static str> {
    let mut words = vec![
        ".version 7.8\n",
        ".target sm_80\n",
        ".address_size 64\n",
        ".align ",
        ".attribute(",
        ".managed",
        ".unified(1, 2)",
        ".entry ",
        ".func ",
        ".param ",
        ".reg ",
        "generic(",
        "0xFF00(",
        "WARP_SZ",
        "mov.u64 ",
        "ld.global.u32 ",
        "ret;",
        "/*",
        "*/",
        "//",
        "? ",
        ": ",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<2>",
        ";",
        ",",
        "=",
    ];
    words.extend(UnaryOp::ALL.iter().map(|op| op.symbol()));
    words.extend(Cast::ALL.iter().map(|cast| cast.symbol()));
    words.extend(BinaryOp::ALL.iter().map(|op| op.symbol()));
    words.extend(ScalarType::ALL.iter().map(|ty| ty.keyword()));
    words.extend(StateSpace::ALL.iter().map(|space| space.keyword()));
    words.extend(VectorLength::ALL.iter().map(|length| length.keyword()));
    words.extend(Linkage::ALL.iter().map(|linkage| linkage.keyword()));
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the dictionary in the format of libFuzzer and AFL: one quoted word per line.
pub fn file() -> String {
    let words = words().into_iter().map(str::to_owned).chain(NUMBERS.iter().cloned());
    let escaped = words.map(|word| word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\x0a"));
    let lines: Vec<String> = escaped.map(|word| format!("\"{word}\"\n")).collect();
    format!(
        "# The words of PTX's data side. Written by `PTXSMITH_BLESS=1 cargo test -p ptxsmith-fuzz`.\n{}",
        lines.concat()
    )
}
