//! The relocation types that ptxas leaves in variables.
//!
//! Found by experiment with every minor release from 11.7 to 13.5, and named as NVIDIA's `cuobjdump` names them. What in
//! PTX leads to which, release by release and target by target, is measured: the table is `docs/reference/relocations.md`, which
//! the example `relocations` writes. In short:
//!
//! | written in PTX | executable output | relocatable output |
//! | --- | --- | --- |
//! | `g`, `generic(g)+8` for a `.global` variable | `R_CUDA_G64`: the two spellings cannot be told apart | the same |
//! | `generic(c)+4` for a `.const` variable | `R_CUDA_G64` | the same |
//! | `c+4` for a `.const` variable | none: the offset in the constant bank, as plain bytes | `R_CUDA_64`; `R_CUDA_32` before sm_75 |
//! | a kernel | `R_CUDA_FUNC_DESC_64` | the same |
//! | a device function | none: a small number, its place in a table | `R_CUDA_64`; `R_CUDA_32` before sm_75; `R_CUDA_UNIFIED` from sm_90 on, since 12.0 |
//!
//! Modules of 32 bits, which releases up to 12.0 make with `-m32`, have `R_CUDA_G32`, `R_CUDA_32` and `R_CUDA_FUNC_DESC_32` in these places:
//! four bytes each, also in a slot of eight.
//!
//! Under a mask each of them writes one byte: `R_CUDA_G8_16` for `0xff0000(g)`, and so on.
//!
//! Two more facts that no table of types shows:
//!
//! - Below sm_90 a zero addend is a REL entry whose slot holds zero and others are RELA entries; from sm_90 on all are
//!   RELA entries.
//! - The slot of an address is eight bytes wide even in a `.u32`. From sm_90 on, ptxas takes the addend of such an entry
//!   from all eight bytes, those of the neighbour and those behind the end of its buffer included: `.u32 x[2] = {g, 5}`
//!   gets the addend 5 << 32, and the last `.u32` of a section one that differs from run to run.

/// What one relocation type writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Bytes written.
    pub width: u8,
    /// Which byte of the address, for the types that write one byte.
    pub byte: Option<u8>,
    /// Which address.
    pub of: Of,
}

/// Whose address a relocation type writes, and of which sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The address within the state space of the symbol.
    Space,
    /// The generic address.
    Generic,
    /// A function, or the descriptor of a kernel.
    Function,
}

impl Kind {
    /// What the type writes, or `None` for a type that no release was seen to use in a variable.
    pub(super) fn of(r_type: u32) -> Option<Kind> {
        let word = |width, of| Some(Kind { width, byte: None, of });
        let lane = |first: u32, of| Some(Kind { width: 1, byte: Some((r_type - first) as u8), of });
        match r_type {
            1 => word(4, Of::Space),              // R_CUDA_32, also in a slot of eight bytes
            2 => word(8, Of::Space),              // R_CUDA_64
            3 => word(4, Of::Generic),            // R_CUDA_G32, of modules of 32 bits
            4 => word(8, Of::Generic),            // R_CUDA_G64
            34 => word(4, Of::Function),          // R_CUDA_FUNC_DESC_32, likewise
            35 => word(8, Of::Function),          // R_CUDA_FUNC_DESC_64
            76..=83 => lane(76, Of::Space),       // R_CUDA_8_0 ... R_CUDA_8_56
            84..=91 => lane(84, Of::Generic),     // R_CUDA_G8_0 ... R_CUDA_G8_56
            92..=99 => lane(92, Of::Function),    // R_CUDA_FUNC_DESC_8_0 ... R_CUDA_FUNC_DESC_8_56
            102 => word(8, Of::Function),         // R_CUDA_UNIFIED
            104..=111 => lane(104, Of::Function), // R_CUDA_UNIFIED_8_0 ... R_CUDA_UNIFIED_8_56
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_count_bytes_from_the_lowest() {
        assert_eq!(Kind::of(84), Some(Kind { width: 1, byte: Some(0), of: Of::Generic }));
        assert_eq!(Kind::of(91).unwrap().byte, Some(7));
        assert_eq!(Kind::of(93).unwrap().byte, Some(1));
        assert_eq!(Kind::of(111).unwrap().byte, Some(7));
    }

    #[test]
    fn types_that_were_not_seen_in_variables_are_unknown() {
        for r_type in [0, 5, 36, 75, 100, 103, 112, u32::MAX] {
            assert_eq!(Kind::of(r_type), None, "{r_type}");
        }
    }
}
