//! Computes the bytes of a global from the rules of LLVM's data layout (LLVM Language Reference, "Data
//! Layout"), for the NVPTX back end: little-endian, pointers of 64 bits, `i128:128`.

use num_bigint::BigUint;

use ptxsmith_oracle::Address;

use super::address::{AddressInteger, IntegerForm, LlvmAddress};
use super::print::stepped;
use super::{LlvmGlobal, LlvmType, TypelessValue};

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
    /// An address, or the low bytes of one.
    Address(LlvmAddress),
    /// A difference of addresses, which PTX cannot express.
    Difference,
}

/// What a variable holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldContents<'c> {
    /// The bytes.
    pub bytes: &'c [u8],
    /// The addresses, sorted by offset.
    pub addresses: Vec<Address>,
    /// Whether the addresses say whether they are generic.
    pub tells_generic: bool,
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
            LlvmType::Whole(_, ty) | LlvmType::Holed(ty, ..) => self.store_size(ty),
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
            LlvmType::Whole(_, ty) | LlvmType::Holed(ty, ..) => self.size(ty),
            other => self.store_size(other).next_multiple_of(self.align(other)),
        }
    }

    fn align(self, ty: &LlvmType) -> u64 {
        match ty {
            LlvmType::Integer(width, _) | LlvmType::Address(_, AddressInteger { width, .. }) => {
                u64::from(width.div_ceil(8).next_power_of_two()).min(self.0)
            }
            LlvmType::Vector(..) => self.store_size(ty).next_power_of_two(),
            LlvmType::Array(element, _) => self.align(element),
            LlvmType::Struct { is_packed: true, .. } => 1,
            LlvmType::Struct { members, .. } => {
                members.iter().map(|member| self.align(member)).max().unwrap_or(1)
            }
            LlvmType::Whole(_, ty) | LlvmType::Holed(ty, ..) => self.align(ty),
            scalar => (bits(scalar) / 8).next_power_of_two(),
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
            LlvmType::Pointer(address) => {
                leaves.push(LlvmLeaf { offset: start, size: 8, kind, value: address_value(*address, 8) });
            }
            LlvmType::Address(address, made) => {
                add_address_integer(*address, made.form, self.store_size(ty), (start, kind), leaves);
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
            LlvmType::Holed(inner, index, hole) => {
                let first = leaves.len();
                self.add(inner, start, step, leaves);
                self.make_hole(inner, (start, *index), *hole, first, leaves);
            }
        }
    }

    /// Replaces the leaves of one element of an array or a vector, which begin at `first`, by a word.
    fn make_hole(
        self,
        ty: &LlvmType,
        (start, index): (u64, u32),
        hole: TypelessValue,
        first: usize,
        leaves: &mut Vec<LlvmLeaf>,
    ) {
        let (element, stride) = match ty {
            LlvmType::Array(element, _) => (element, self.size(element)),
            LlvmType::Vector(element, _) => (element, bits(element) / 8),
            _ => return,
        };
        let place = start + u64::from(index) * stride;
        let mut others = leaves.split_off(first);
        others.retain(|leaf| !(place..place + stride).contains(&leaf.offset));
        leaves.extend(others);
        if hole == TypelessValue::Zero {
            let size = self.store_size(element);
            let value = LeafValue::Bytes(vec![0; size as usize]);
            leaves.push(LlvmLeaf { offset: place, size, kind: "whole", value });
            leaves.sort_by_key(|leaf| leaf.offset);
        }
    }
}

/// Adds the scalars of an integer of this size that is made of an address: beyond eight bytes it is zero.
fn add_address_integer(
    address: LlvmAddress,
    form: IntegerForm,
    size: u64,
    (start, kind): (u64, &'static str),
    leaves: &mut Vec<LlvmLeaf>,
) {
    let value = match form {
        IntegerForm::Apart => LeafValue::Difference,
        IntegerForm::Within => LeafValue::Bytes(address.offset.to_le_bytes().to_vec()),
        _ => address_value(address, size.min(8)),
    };
    leaves.push(LlvmLeaf { offset: start, size: size.min(8), kind, value });
    if size > 8 {
        let value = LeafValue::Bytes(vec![0; size as usize - 8]);
        leaves.push(LlvmLeaf { offset: start + 8, size: size - 8, kind, value });
    }
}

/// Returns the value of a leaf of this size that holds an address.
fn address_value(address: LlvmAddress, size: u64) -> LeafValue {
    match address.object.symbol() {
        Some(_) => LeafValue::Address(address),
        None => LeafValue::Bytes(address.constant().to_le_bytes()[..size as usize].to_vec()),
    }
}

fn bits(scalar: &LlvmType) -> u64 {
    match scalar {
        LlvmType::Integer(width, _) | LlvmType::Address(_, AddressInteger { width, .. }) => u64::from(*width),
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
    /// Finds the first scalar that differs from these contents. Returns it with its value in the contents.
    pub fn difference(&self, contents: &HeldContents<'_>) -> Option<(&LlvmLeaf, String)> {
        self.leaves.iter().find_map(|leaf| {
            let actual = contents.format(leaf);
            (actual != leaf.to_text(contents.tells_generic)).then_some((leaf, actual))
        })
    }
}

impl LlvmLeaf {
    /// Formats the value for reports; `tells_generic` says whether that an address is generic matters.
    pub fn to_text(&self, tells_generic: bool) -> String {
        match &self.value {
            LeafValue::Bytes(bytes) => ptxsmith_oracle::hex(bytes),
            LeafValue::Address(address) => {
                let is_generic = tells_generic && address.object.is_generic() == Some(true);
                let symbol = address.object.symbol().unwrap_or_default();
                part(self.size, &format_address(symbol, address.offset, is_generic))
            }
            LeafValue::Difference => "an error: PTX has no differences of addresses".to_owned(),
        }
    }
}

fn format_address(symbol: &str, addend: i64, is_generic: bool) -> String {
    let base = if is_generic { format!("generic {symbol}") } else { symbol.to_owned() };
    if addend == 0 { base } else { format!("{base}{addend:+}") }
}

/// Describes an address, or its first bytes if not all are held.
fn part(size: u64, address: &str) -> String {
    if size == 8 { address.to_owned() } else { format!("the low {size} bytes of {address}") }
}

impl HeldContents<'_> {
    /// Formats what is held in the place of a leaf.
    fn format(&self, leaf: &LlvmLeaf) -> String {
        let range = leaf.offset..leaf.offset + leaf.size;
        let is_inside = |address: &&Address| {
            address.offset + u64::from(address.width) > range.start && address.offset < range.end
        };
        let inside: Vec<&Address> = self.addresses.iter().filter(is_inside).collect();
        let Some(first) = inside.first() else {
            return match self.bytes.get(range.start as usize..range.end as usize) {
                Some(bytes) => ptxsmith_oracle::hex(bytes),
                None => "a place behind the end of the variable".to_owned(),
            };
        };
        // Functions have no state space.
        let is_told = self.tells_generic
            && !matches!(leaf.value, LeafValue::Address(address) if address.object.is_generic().is_none());
        let text = part(leaf.size, &format_address(&first.symbol, first.addend, is_told && first.generic));
        let is_whole =
            first.offset == range.start && u64::from(first.width) == leaf.size && first.byte.is_none();
        let are_bytes = || {
            inside.len() as u64 == leaf.size
                && inside.iter().zip(0..).all(|(address, index)| {
                    address.byte == Some(index)
                        && address.offset == range.start + u64::from(index)
                        && (&address.symbol, address.addend, address.generic)
                            == (&first.symbol, first.addend, first.generic)
                })
        };
        if is_whole || are_bytes() { text } else { format!("a part of {}", first.symbol) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Float;
    use super::super::address::LlvmPointer;
    use super::*;

    fn integer(width: u32, value: u32) -> LlvmType {
        LlvmType::Integer(width, value.into())
    }

    fn of(ty: LlvmType) -> LlvmLayout {
        LargestAlignment(16).layout(&LlvmGlobal::plain(ty))
    }

    #[test]
    fn members_are_aligned_and_packed_ones_are_not() {
        let members = vec![
            integer(8, 1),
            LlvmType::Pointer(LlvmAddress::of(LlvmPointer::Global)),
            integer(24, 2),
            integer(128, 3),
        ];
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
