//! The relocation types that ptxas leaves in variables.
//!
//! Found by experiment with every minor release from 11.7 to 13.5, and named as NVIDIA's `cuobjdump` names them:
//!
//! | written in PTX | in the cubin |
//! | --- | --- |
//! | `g`, `generic(g)`, `g+8` for a `.global` variable | `R_CUDA_G64`: the two spellings cannot be told apart |
//! | `generic(c)+4` for a `.const` variable | `R_CUDA_G64` |
//! | `c+4` for a `.const` variable | no relocation: the offset in the constant bank, as plain bytes |
//! | `0xff00(g)`, `0xff00(generic(c))` | `R_CUDA_G8_8`, and so on for each of the eight bytes |
//! | `0xff00(c+260)` for a `.const` variable | no relocation: that byte of the bank offset |
//! | a kernel | `R_CUDA_FUNC_DESC_64`; under a mask `R_CUDA_FUNC_DESC_8_0` and so on |
//! | a device function | no relocation: a small number, its offset in the kernel that it was placed in |
//! | an address in a `.u32`, also with `.address_size 32` | `R_CUDA_G64` too, over the bytes of the neighbour |
//!
//! Relocatable output (`--compile-only`) leaves nothing to numbers: `c+4` and a device function are `R_CUDA_64` there,
//! and `R_CUDA_8_0` and so on under a mask. A `.global` variable is `R_CUDA_G64` there too, and a variable with the
//! attribute `.unified`, which only that output can have.
//!
//! Up to compute capability 9.0 a zero addend is a REL entry whose slot holds zero, and others are RELA entries; from
//! 10.0 on all are RELA entries. No REL entry was seen with an addend in place.
//!
//! `cuobjdump` knows more types that could be in a variable (`R_CUDA_32`, `R_CUDA_G32`, `R_CUDA_UNIFIED` ...). None was
//! seen in one, so that they are not taken for granted here: meeting one is an error that names it.

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
    /// A function.
    Function,
}

impl Kind {
    /// What the type writes, or `None` for a type that no release was seen to use in a variable.
    pub(super) fn of(r_type: u32) -> Option<Kind> {
        let word = |width, of| Some(Kind { width, byte: None, of });
        let lane = |first: u32, of| Some(Kind { width: 1, byte: Some((r_type - first) as u8), of });
        match r_type {
            2 => word(8, Of::Space),           // R_CUDA_64
            4 => word(8, Of::Generic),         // R_CUDA_G64
            35 => word(8, Of::Function),       // R_CUDA_FUNC_DESC_64
            76..=83 => lane(76, Of::Space),    // R_CUDA_8_0 ... R_CUDA_8_56
            84..=91 => lane(84, Of::Generic),  // R_CUDA_G8_0 ... R_CUDA_G8_56
            92..=99 => lane(92, Of::Function), // R_CUDA_FUNC_DESC_8_0 ... R_CUDA_FUNC_DESC_8_56
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
    }

    #[test]
    fn types_that_were_not_seen_in_variables_are_unknown() {
        for r_type in [0, 1, 3, 5, 34, 36, 75, 100, 102, 112, u32::MAX] {
            assert_eq!(Kind::of(r_type), None, "{r_type}");
        }
    }
}
