//! Compares a cubin with the memory that a loader produced from it.

use crate::solve::{self, HeldAddress};
use ptxsmith_model::{Variable, Variables};

use ptxsmith_syntax::Text;

/// Returns the variables with memory that differs from the bytes and relocated addresses in the file.
pub(super) fn different_variables(in_cubin: &Variables, loaded: &Variables) -> Vec<String> {
    // Skip variables with addresses: a recognized write past the end was reported as an address.
    let plain = loaded.iter().filter(|(_, variable)| variable.addresses.as_ref().is_none_or(Vec::is_empty));
    plain
        .filter(|(name, variable)| differs(in_cubin, loaded, name, variable))
        .map(|(name, _)| name.to_string())
        .collect()
}

/// Whether memory differs. A variable missing from either side is not compared.
fn differs(in_cubin: &Variables, loaded: &Variables, name: &Text, in_memory: &Variable) -> bool {
    let Some(in_cubin) = in_cubin.get(name) else { return false };
    let (Some(bytes), Some(memory)) = (in_cubin.bytes.as_deref(), in_memory.bytes.as_deref()) else {
        return false;
    };
    let slots = in_cubin.addresses.iter().flatten().map(|address| HeldAddress {
        offset: address.offset,
        width: address.width,
        symbol: &address.symbol,
        addend: address.addend,
        bits: 64,
        byte: address.byte,
    });
    let expected = solve::memory(bytes, slots, |symbol| base_of(loaded, symbol));
    expected.len() != memory.len()
        || expected.iter().zip(memory).any(|(expected, byte)| expected.is_some_and(|known| known != *byte))
}

/// Returns the address of a variable in `.global`. The file does not contain other addresses.
fn base_of(loaded: &Variables, symbol: &str) -> Option<u64> {
    loaded.get(symbol).filter(|v| v.space.as_deref() == Some("global"))?.base
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_model::Address;

    fn variable(bytes: Vec<u8>, base: Option<u64>, addresses: Option<Vec<Address>>) -> Variable {
        Variable {
            space: Some("global".into()),
            size: Some(bytes.len() as u64),
            bytes: Some(bytes),
            base,
            addresses,
            ..Variable::default()
        }
    }

    fn address(symbol: &str) -> Address {
        let symbol = symbol.to_owned();
        Address { offset: 0, width: 8, symbol, addend: 4, generic: None, byte: None }
    }

    #[test]
    fn memory_is_held_against_the_cubin_with_its_addresses() {
        let held = Variables::from([
            ("a".into(), variable(vec![1, 2], None, Some(Vec::new()))),
            ("p".into(), variable(vec![0; 8], None, Some(vec![address("a")]))),
            ("f".into(), variable(vec![0; 8], None, Some(vec![address("function")]))),
        ]);
        let loaded = |a: Vec<u8>, p: u64| {
            Variables::from([
                ("a".into(), variable(a, Some(0x1000), Some(Vec::new()))),
                ("p".into(), variable(p.to_le_bytes().to_vec(), Some(0x2000), None)),
                ("f".into(), variable(vec![9; 8], Some(0x3000), None)),
            ])
        };
        assert!(different_variables(&held, &loaded(vec![1, 2], 0x1004)).is_empty());
        assert_eq!(different_variables(&held, &loaded(vec![1, 3], 0x1004)), ["a"]);
        assert_eq!(different_variables(&held, &loaded(vec![1, 2], 0x1005)), ["p"]);
    }
}
