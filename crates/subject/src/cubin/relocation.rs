//! The relocation types that ptxas leaves in variables.
//!
//! Found by experiment with every minor release from 11.7 to 13.5; the names are those of NVIDIA's
//! `cuobjdump`. The example `relocations` measures which PTX gives which relocation, for each release and
//! target, and writes the table `docs/reference/relocations.md`. In short:
//!
//! | written in PTX | executable output | relocatable output |
//! | --- | --- | --- |
//! | `g`, `generic(g)+8` for a `.global` variable | `R_CUDA_G64`: the two spellings cannot be told apart | the same |
//! | `generic(c)+4` for a `.const` variable | `R_CUDA_G64` | the same |
//! | `c+4` for a `.const` variable | none: the offset in the constant bank, as plain bytes | `R_CUDA_64`; `R_CUDA_32` before sm_75 |
//! | a kernel | `R_CUDA_FUNC_DESC_64` | the same |
//! | a device function | none: a small number, its place in a table | `R_CUDA_64`; `R_CUDA_32` before sm_75; `R_CUDA_UNIFIED` from sm_90 on, since 12.0 |
//!
//! 32-bit modules, which releases up to 12.0 produce with `-m32`, have `R_CUDA_G32`, `R_CUDA_32` and
//! `R_CUDA_FUNC_DESC_32` in these places: four bytes each, even in a slot of eight bytes.
//!
//! Under a mask, each relocation writes one byte: `R_CUDA_G8_16` for `0xff0000(g)`, and so on.
//!
//! Two more facts about entries:
//!
//! - Below sm_90 a zero addend is a REL entry whose slot holds zero, and other addends are RELA entries; from
//!   sm_90 on all are RELA entries.
//! - The slot of an address is eight bytes wide even in a `.u32`. From sm_90 on, ptxas computes the addend of
//!   such an entry from all eight bytes, including the bytes of the next element and bytes past the end of
//!   its buffer: `.u32 x[2] = {g, 5}` gets the addend 5 << 32, and the last `.u32` of a section gets an
//!   addend that differs from run to run.

/// The effect of a relocation type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelocationKind {
    /// Number of bytes written.
    pub width: u8,
    /// The selected byte of the address, for the types that write one byte.
    pub byte: Option<u8>,
    /// The kind of address.
    pub address: AddressKind,
}

/// The kind of address that a relocation type writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressKind {
    /// The address within the state space of the symbol.
    Space,
    /// The generic address.
    Generic,
    /// The number of a function, or the descriptor of a kernel.
    Function,
}

impl RelocationKind {
    /// Returns the effect of a type; `None` for a type that no release was seen to use in a variable.
    pub(super) fn from_type(r_type: u32) -> Option<RelocationKind> {
        // For the types that write one byte, the first type of their family writes the lowest one.
        let (width, first, address) = match r_type {
            1 => (4, None, AddressKind::Space), // R_CUDA_32, also in a slot of eight bytes
            2 => (8, None, AddressKind::Space), // R_CUDA_64
            3 => (4, None, AddressKind::Generic), // R_CUDA_G32, of modules of 32 bits
            4 => (8, None, AddressKind::Generic), // R_CUDA_G64
            34 => (4, None, AddressKind::Function), // R_CUDA_FUNC_DESC_32, likewise
            35 => (8, None, AddressKind::Function), // R_CUDA_FUNC_DESC_64
            76..=83 => (1, Some(76), AddressKind::Space), // R_CUDA_8_0 ... R_CUDA_8_56
            84..=91 => (1, Some(84), AddressKind::Generic), // R_CUDA_G8_0 ... R_CUDA_G8_56
            92..=99 => (1, Some(92), AddressKind::Function), // R_CUDA_FUNC_DESC_8_0 ... R_CUDA_FUNC_DESC_8_56
            102 => (8, None, AddressKind::Function), // R_CUDA_UNIFIED
            104..=111 => (1, Some(104), AddressKind::Function), // R_CUDA_UNIFIED_8_0 ... R_CUDA_UNIFIED_8_56
            _ => return None,
        };
        let byte = first.map(|first: u32| (r_type - first) as u8);
        Some(RelocationKind { width, byte, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_count_bytes_from_the_lowest() {
        assert_eq!(
            RelocationKind::from_type(84),
            Some(RelocationKind { width: 1, byte: Some(0), address: AddressKind::Generic })
        );
        assert_eq!(RelocationKind::from_type(91).unwrap().byte, Some(7));
        assert_eq!(RelocationKind::from_type(93).unwrap().byte, Some(1));
        assert_eq!(RelocationKind::from_type(111).unwrap().byte, Some(7));
    }

    #[test]
    fn types_that_were_not_seen_in_variables_are_unknown() {
        for r_type in [0, 5, 36, 75, 100, 103, 112, u32::MAX] {
            assert_eq!(RelocationKind::from_type(r_type), None, "{r_type}");
        }
    }
}
