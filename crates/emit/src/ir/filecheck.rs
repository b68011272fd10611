//! Writes a global as a test of LLVM: what to run, and what the PTX must hold.

use std::fmt::Write as _;

use super::address::{LlvmAddress, NAMED};
use super::layout::{LargestAlignment, LeafValue, LlvmLayout};
use super::llc::NVPTX;
use super::print::module;
use super::{Float, LlvmGlobal, LlvmType};
use crate::source::TestGlobal as _;

/// Any identifier of PTX.
const IDENTIFIER: &str = "{{[_$%a-zA-Z][_$a-zA-Z0-9]*}}";

/// Returns a test of LLVM with a `RUN` line and a `CHECK` line. A global that PTX cannot express must be
/// refused.
pub fn test(global: &LlvmGlobal) -> String {
    let global = global.numbered(0);
    let layout = LargestAlignment(16).layout(&global);
    let options = NVPTX.join(" ");
    let mut text = String::new();
    if layout.leaves.iter().any(|leaf| leaf.value == LeafValue::Difference) {
        let _ = writeln!(text, "; RUN: not llc < %s {options} 2>&1 | FileCheck %s");
        let _ = writeln!(text, "; CHECK: {{{{error|ERROR}}}}");
    } else {
        let _ = writeln!(text, "; RUN: llc < %s {options} | FileCheck %s");
        let _ = writeln!(text, "; CHECK: {}", pattern(&global, &layout));
    }
    text + &module(&[&global])
}

/// Returns the declaration in PTX as a pattern, in the style of LLVM.
fn pattern(global: &LlvmGlobal, layout: &LlvmLayout) -> String {
    let end = |value: &str| if value == "0" { ";".to_owned() } else { format!(" = {value};") };
    match (&global.ty, &layout.leaves[..]) {
        (LlvmType::Integer(1 | 8 | 16 | 32 | 64, bits), _) => {
            let bytes = bits.to_bytes_le();
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(&bytes);
            let (number, width) = (i64::from_le_bytes(wide), 8 * layout.size);
            // LLVM writes integers with a sign.
            let unused = 64 - if bits.bits() < width { 64 } else { width };
            format!(".u{width} g0{}", end(&((number << unused) >> unused).to_string()))
        }
        (LlvmType::Float(Float::Single, bits), _) => format!(".f32 g0 = 0f{bits:08X};"),
        (LlvmType::Float(Float::Double, bits), _) => format!(".f64 g0 = 0d{bits:016X};"),
        (LlvmType::Float(Float::Half | Float::Bfloat, bits), _) => format!(".b16 g0 = 0x{bits:04X};"),
        (LlvmType::Pointer(_) | LlvmType::Address(..), [leaf]) if leaf.size == 8 => match &leaf.value {
            LeafValue::Address(address) => format!(".u64 g0 = {};", symbol(*address)),
            LeafValue::Bytes(bytes) => format!(".u64 g0{}", end(&unsigned(bytes).to_string())),
            LeafValue::Difference => String::new(),
        },
        _ => list(layout),
    }
}

/// Returns the declaration of an array of bytes, or of words if it holds addresses at multiples of eight.
fn list(layout: &LlvmLayout) -> String {
    let size = layout.size as usize;
    let mut bytes: Vec<u8> = vec![0; size];
    let mut addresses = Vec::new();
    for leaf in &layout.leaves {
        match &leaf.value {
            LeafValue::Bytes(value) => bytes[leaf.offset as usize..][..value.len()].copy_from_slice(value),
            LeafValue::Address(address) => addresses.push((leaf, symbol(*address))),
            LeafValue::Difference => {}
        }
    }
    let is_whole = |(leaf, _): &(&super::layout::LlvmLeaf, String)| leaf.offset % 8 == 0 && leaf.size == 8;
    let is_in_words = size.is_multiple_of(8) && addresses.iter().all(is_whole) && !addresses.is_empty();
    let (ty, mut elements): (&str, Vec<String>) = if is_in_words {
        (".u64", bytes.chunks(8).map(|word| unsigned(word).to_string()).collect())
    } else {
        (".{{[bu]}}8", bytes.iter().map(u8::to_string).collect())
    };
    for (leaf, symbol) in addresses {
        if is_in_words {
            elements[leaf.offset as usize / 8] = symbol;
            continue;
        }
        for byte in 0..leaf.size {
            elements[(leaf.offset + byte) as usize] = format!("0x{:X}({symbol})", 0xff_u64 << (8 * byte));
        }
    }
    let count = elements.len();
    // LLVM need not write the zeros at the end.
    while elements.last().is_some_and(|element| element == "0") {
        elements.pop();
    }
    let elements = elements.join(", ");
    // Two braces would begin a regular expression.
    let brace = if elements.starts_with('{') { "{{[{]}}" } else { "{" };
    match elements.is_empty() {
        true => format!("{ty} g0[{count}]"),
        false => format!("{ty} g0[{count}] = {brace}{elements}{{{{(, 0)*}}}}}};"),
    }
}

fn unsigned(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

/// Returns an address as PTX has it.
fn symbol(address: LlvmAddress) -> String {
    let name = address.object.symbol().unwrap_or("0");
    let name = if name == &NAMED[1..] { IDENTIFIER } else { name };
    let base = match address.object.is_generic() {
        Some(true) => format!("generic({name})"),
        _ => name.to_owned(),
    };
    if address.offset == 0 { base } else { format!("{base}{:+}", address.offset) }
}

#[cfg(test)]
mod tests {
    use super::super::address::{AddressForm, LlvmPointer};
    use super::*;

    fn pattern_of(ty: LlvmType) -> String {
        let global = LlvmGlobal::plain(ty);
        pattern(&global, &LargestAlignment(16).layout(&global))
    }

    #[test]
    fn a_test_expects_what_llvm_writes() {
        let pointer =
            |object, offset| LlvmType::Pointer(LlvmAddress { object, offset, form: AddressForm::Bytes });
        let byte = LlvmType::Integer(8, 200u8.into());
        assert_eq!(pattern_of(byte.clone()), ".u8 g0 = -56;");
        assert_eq!(pattern_of(LlvmType::Integer(16, 200u8.into())), ".u16 g0 = 200;");
        assert_eq!(pattern_of(LlvmType::Integer(1, 1u8.into())), ".u8 g0 = 1;");
        assert_eq!(pattern_of(pointer(LlvmPointer::Generic, 4)), ".u64 g0 = generic(targets)+4;");
        let members = vec![pointer(LlvmPointer::Global, 0), byte];
        assert_eq!(
            pattern_of(LlvmType::Struct { is_packed: false, members: members.clone() }),
            ".u64 g0[2] = {targets, 200{{(, 0)*}}};"
        );
        let packed = pattern_of(LlvmType::Struct { is_packed: true, members });
        assert!(packed.starts_with(".{{[bu]}}8 g0[9] = {0xFF(targets), 0xFF00(targets), "), "{packed}");
    }
}
