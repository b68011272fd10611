//! Computes the bytes of a global from the rules of LLVM's data layout (LLVM Language Reference, "Data
//! Layout"), for the NVPTX back end: little-endian, pointers of 64 bits, `i128:128`.

use num_bigint::BigUint;

use super::print::stepped;
use super::{LlvmGlobal, LlvmType, TypelessValue};
use crate::host::VariableContents;

/// A scalar of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmLeaf {
    /// The offset in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// The kind, for reports.
    pub kind: &'static str,
    /// The value.
    pub value: LeafValue,
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafValue {
    /// Bytes in memory order.
    Bytes(Vec<u8>),
    /// An address.
    Address(&'static str, i64),
}

/// The layout of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmLayout {
    /// The size in bytes, including tail padding.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// The scalars that have a value, in order of their offsets.
    pub leaves: Vec<LlvmLeaf>,
}

/// The largest alignment of an integer in bytes: NVPTX has `i256:256` since LLVM 22 at the latest, before
/// `i128:128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargestAlignment(pub u64);

impl LargestAlignment {
    /// Returns the layout of a global.
    pub fn layout(self, global: &LlvmGlobal) -> LlvmLayout {
        let mut leaves = Vec::new();
        self.add(&global.ty, 0, 0, &mut leaves);
        let align = global.align.map_or_else(|| self.align(&global.ty), u64::from);
        LlvmLayout { size: self.size(&global.ty), align, leaves }
    }

    /// Returns the bytes that a value of this type needs.
    fn store_size(self, ty: &LlvmType) -> u64 {
        match ty {
            LlvmType::Vector(element, length) => (bits(element) * u64::from(*length)).div_ceil(8),
            LlvmType::Whole(_, ty) => self.store_size(ty),
            LlvmType::Array(..) | LlvmType::Struct { .. } => self.size(ty),
            scalar => bits(scalar).div_ceil(8),
        }
    }

    /// Returns the distance of two elements of this type in an array.
    fn size(self, ty: &LlvmType) -> u64 {
        match ty {
            LlvmType::Array(element, length) => self.size(element) * u64::from(*length),
            LlvmType::Struct { is_packed, members } => {
                let end = self.offsets(*is_packed, members).last().copied().unwrap_or_default();
                end.next_multiple_of(self.align(ty))
            }
            LlvmType::Whole(_, ty) => self.size(ty),
            other => self.store_size(other).next_multiple_of(self.align(other)),
        }
    }

    fn align(self, ty: &LlvmType) -> u64 {
        match ty {
            LlvmType::Integer(width, _) => u64::from(width.div_ceil(8).next_power_of_two()).min(self.0),
            LlvmType::Vector(..) => self.store_size(ty).next_power_of_two(),
            LlvmType::Array(element, _) => self.align(element),
            LlvmType::Struct { is_packed: true, .. } => 1,
            LlvmType::Struct { members, .. } => {
                members.iter().map(|member| self.align(member)).max().unwrap_or(1)
            }
            LlvmType::Whole(_, ty) => self.align(ty),
            scalar => bits(scalar) / 8,
        }
    }

    /// Returns the offset of each member, and the end of the last one.
    fn offsets(self, is_packed: bool, members: &[LlvmType]) -> Vec<u64> {
        let mut end: u64 = 0;
        let mut offsets = Vec::new();
        for member in members {
            let offset = if is_packed { end } else { end.next_multiple_of(self.align(member)) };
            offsets.push(offset);
            end = offset + self.size(member);
        }
        offsets.push(end);
        offsets
    }

    /// Adds the scalars of a type that begins at offset `start`, with `step` added to its integers.
    fn add(self, ty: &LlvmType, start: u64, step: u32, leaves: &mut Vec<LlvmLeaf>) {
        let kind = ty.kind();
        match ty {
            LlvmType::Integer(width, value) => {
                let size = self.store_size(ty);
                let value = LeafValue::Bytes(little_endian(&stepped(value, *width, step), size));
                leaves.push(LlvmLeaf { offset: start, size, kind, value });
            }
            LlvmType::Float(float, bits) => {
                let size = float.size();
                let value = LeafValue::Bytes(bits.to_le_bytes()[..size as usize].to_vec());
                leaves.push(LlvmLeaf { offset: start, size, kind, value });
            }
            LlvmType::Pointer(pointer, offset) | LlvmType::Address(pointer, offset) => {
                let value = match pointer.symbol() {
                    Some(symbol) => LeafValue::Address(symbol, *offset),
                    None => LeafValue::Bytes(vec![0; 8]),
                };
                leaves.push(LlvmLeaf { offset: start, size: 8, kind, value });
            }
            LlvmType::Vector(element, length) if !bits(element).is_multiple_of(8) => {
                // The first element is in the lowest bits.
                let LlvmType::Integer(width, value) = &**element else { return };
                let together = (0..*length).fold(BigUint::ZERO, |together, index| {
                    together | stepped(value, *width, step + index) << (width * index)
                });
                let size = self.store_size(ty);
                let value = LeafValue::Bytes(little_endian(&together, size));
                leaves.push(LlvmLeaf { offset: start, size, kind, value });
            }
            LlvmType::Vector(element, length) => {
                for index in 0..*length {
                    let first = leaves.len();
                    self.add(element, start + u64::from(index) * bits(element) / 8, step + index, leaves);
                    leaves[first..].iter_mut().for_each(|leaf| leaf.kind = "vector");
                }
            }
            LlvmType::Array(element, length) => {
                for index in 0..*length {
                    self.add(element, start + u64::from(index) * self.size(element), step + index, leaves);
                }
            }
            LlvmType::Struct { is_packed, members } => {
                for (member, offset) in members.iter().zip(self.offsets(*is_packed, members)) {
                    self.add(member, start + offset, step, leaves);
                }
            }
            LlvmType::Whole(TypelessValue::Zero, inner) => {
                let size = self.store_size(inner);
                let value = LeafValue::Bytes(vec![0; size as usize]);
                leaves.push(LlvmLeaf { offset: start, size, kind, value });
            }
            LlvmType::Whole(TypelessValue::Undef | TypelessValue::Poison, _) => {}
        }
    }
}

fn bits(scalar: &LlvmType) -> u64 {
    match scalar {
        LlvmType::Integer(width, _) => u64::from(*width),
        LlvmType::Float(float, _) => 8 * float.size(),
        _ => 64,
    }
}

fn little_endian(number: &BigUint, size: u64) -> Vec<u8> {
    let mut bytes = number.to_bytes_le();
    bytes.resize(size as usize, 0);
    bytes
}

impl LlvmLayout {
    /// Returns the variable in PTX, as the pattern of a test: bytes if no address is among them, else its
    /// beginning.
    pub fn printed(&self) -> String {
        let name = format!("g0[{}]", self.size);
        let mut bytes = vec![0; self.size as usize];
        for leaf in &self.leaves {
            let LeafValue::Bytes(value) = &leaf.value else { return "g0".to_owned() };
            bytes[leaf.offset as usize..][..value.len()].copy_from_slice(value);
        }
        let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
        format!(".b8 {name} = {{{{{{}}{}{{}}}}}}", bytes.join(", "))
    }

    /// Finds the first scalar that differs from these contents. Returns it with its value in the contents.
    pub fn difference(&self, contents: &VariableContents) -> Option<(&LlvmLeaf, String)> {
        self.leaves.iter().find_map(|leaf| {
            let actual = format_value(contents, leaf);
            (actual != leaf.value.to_text()).then_some((leaf, actual))
        })
    }
}

impl LeafValue {
    /// Formats the value for reports.
    pub fn to_text(&self) -> String {
        match self {
            LeafValue::Bytes(bytes) => ptxsmith_oracle::hex(bytes),
            LeafValue::Address(symbol, 0) => (*symbol).to_owned(),
            LeafValue::Address(symbol, addend) => format!("{symbol}{addend:+}"),
        }
    }
}

fn format_value(contents: &VariableContents, leaf: &LlvmLeaf) -> String {
    let range = leaf.offset..leaf.offset + leaf.size;
    let mut inside = contents.addresses.iter().filter(|(at, ..)| *at + 8 > range.start && *at < range.end);
    match inside.next() {
        Some((at, symbol, addend)) if *at == range.start && leaf.size == 8 => {
            if *addend == 0 {
                symbol.clone()
            } else {
                format!("{symbol}{addend:+}")
            }
        }
        Some((_, symbol, _)) => format!("a part of {symbol}"),
        None => match contents.bytes.get(range.start as usize..range.end as usize) {
            Some(bytes) => ptxsmith_oracle::hex(bytes),
            None => "a place behind the end of the variable".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Float, LlvmLinkage, LlvmPointer};
    use super::*;

    fn integer(width: u32, value: u32) -> LlvmType {
        LlvmType::Integer(width, value.into())
    }

    fn of(ty: LlvmType) -> LlvmLayout {
        LargestAlignment(16).layout(&LlvmGlobal {
            number: 0,
            space: 1,
            linkage: LlvmLinkage::External,
            align: None,
            ty,
        })
    }

    #[test]
    fn members_are_aligned_and_packed_ones_are_not() {
        let members =
            vec![integer(8, 1), LlvmType::Pointer(LlvmPointer::Global, 4), integer(24, 2), integer(128, 3)];
        let plain = of(LlvmType::Struct { is_packed: false, members: members.clone() });
        let offsets: Vec<u64> = plain.leaves.iter().map(|leaf| leaf.offset).collect();
        assert_eq!((plain.size, plain.align, offsets), (48, 16, vec![0, 8, 16, 32]));
        let packed = of(LlvmType::Struct { is_packed: true, members });
        let offsets: Vec<u64> = packed.leaves.iter().map(|leaf| leaf.offset).collect();
        // i24 has three bytes, and four in memory.
        assert_eq!((packed.size, packed.align, offsets), (29, 1, vec![0, 1, 9, 13]));
    }

    #[test]
    fn bits_of_a_vector_are_packed_and_three_elements_have_the_room_of_four() {
        let bits = of(LlvmType::Vector(Box::new(integer(1, 1)), 8));
        // The values are 1, 0, 1, 0, ...: each index adds one.
        assert_eq!(bits.leaves[0].value, LeafValue::Bytes(vec![0b0101_0101]));
        let three = LlvmType::Vector(Box::new(integer(32, 1)), 3);
        let array = of(LlvmType::Array(Box::new(three), 2));
        assert_eq!((array.size, array.align, array.leaves[3].offset), (32, 16, 16));
        let half = of(LlvmType::Array(Box::new(LlvmType::Float(Float::Half, 0x3c00)), 3));
        assert_eq!((half.size, half.align), (6, 2));
    }
}
