//! Computes the bytes of a global from the rules of LLVM's data layout (LLVM Language Reference, "Data Layout"), for
//! the NVPTX back end: little-endian, pointers of 64 bits, `i128:128`.

use num_bigint::BigUint;

use super::print::stepped;
use super::{Global, Type, Whole};
use crate::host::Held;

/// A scalar of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The offset in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// The kind, for reports.
    pub kind: &'static str,
    /// The value.
    pub value: Value,
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Bytes in memory order.
    Bytes(Vec<u8>),
    /// An address.
    Address(&'static str, i64),
}

/// The layout of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The size in bytes, including tail padding.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// The scalars that have a value, in order of their offsets.
    pub leaves: Vec<Leaf>,
}

/// The largest alignment of an integer in bytes: NVPTX has `i256:256` since LLVM 22 at the latest, before `i128:128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widest(pub u64);

impl Widest {
    /// Returns the layout of a global.
    pub fn layout(self, global: &Global) -> Layout {
        let mut leaves = Vec::new();
        self.add(&global.ty, 0, 0, &mut leaves);
        let align = global.align.map_or_else(|| self.align(&global.ty), u64::from);
        Layout { size: self.size(&global.ty), align, leaves }
    }

    /// Returns the bytes that a value of this type needs.
    fn store_size(self, ty: &Type) -> u64 {
        match ty {
            Type::Vector(element, length) => (bits(element) * u64::from(*length)).div_ceil(8),
            Type::Whole(_, ty) => self.store_size(ty),
            Type::Array(..) | Type::Struct { .. } => self.size(ty),
            scalar => bits(scalar).div_ceil(8),
        }
    }

    /// Returns the distance of two elements of this type in an array.
    fn size(self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, length) => self.size(element) * u64::from(*length),
            Type::Struct { is_packed, members } => {
                let end = self.offsets(*is_packed, members).last().copied().unwrap_or_default();
                end.next_multiple_of(self.align(ty))
            }
            Type::Whole(_, ty) => self.size(ty),
            other => self.store_size(other).next_multiple_of(self.align(other)),
        }
    }

    fn align(self, ty: &Type) -> u64 {
        match ty {
            Type::Integer(width, _) => u64::from(width.div_ceil(8).next_power_of_two()).min(self.0),
            Type::Vector(..) => self.store_size(ty).next_power_of_two(),
            Type::Array(element, _) => self.align(element),
            Type::Struct { is_packed: true, .. } => 1,
            Type::Struct { members, .. } => {
                members.iter().map(|member| self.align(member)).max().unwrap_or(1)
            }
            Type::Whole(_, ty) => self.align(ty),
            scalar => bits(scalar) / 8,
        }
    }

    /// Returns the offset of each member, and the end of the last one.
    fn offsets(self, is_packed: bool, members: &[Type]) -> Vec<u64> {
        let mut end: u64 = 0;
        let mut all = Vec::new();
        for member in members {
            let at = if is_packed { end } else { end.next_multiple_of(self.align(member)) };
            all.push(at);
            end = at + self.size(member);
        }
        all.push(end);
        all
    }

    fn add(self, ty: &Type, at: u64, step: u32, all: &mut Vec<Leaf>) {
        let mut leaf = |size: u64, value: Value| all.push(Leaf { offset: at, size, kind: ty.kind(), value });
        match ty {
            Type::Integer(width, value) => {
                let size = self.store_size(ty);
                leaf(size, Value::Bytes(little(&stepped(value, *width, step), size)));
            }
            Type::Float(float, bits) => {
                leaf(float.size(), Value::Bytes(bits.to_le_bytes()[..float.size() as usize].to_vec()));
            }
            Type::Pointer(pointer, offset) | Type::Address(pointer, offset) => {
                let null = Value::Bytes(vec![0; 8]);
                leaf(8, pointer.symbol().map_or(null, |symbol| Value::Address(symbol, *offset)));
            }
            Type::Vector(element, length) if !bits(element).is_multiple_of(8) => {
                // The first element is in the lowest bits.
                let Type::Integer(width, value) = &**element else { return };
                let together = (0..*length).fold(BigUint::ZERO, |together, index| {
                    together | stepped(value, *width, step + index) << (width * index)
                });
                leaf(self.store_size(ty), Value::Bytes(little(&together, self.store_size(ty))));
            }
            Type::Vector(element, length) => {
                for index in 0..*length {
                    let first = all.len();
                    self.add(element, at + u64::from(index) * bits(element) / 8, step + index, all);
                    all[first..].iter_mut().for_each(|leaf| leaf.kind = "vector");
                }
            }
            Type::Array(element, length) => {
                for index in 0..*length {
                    self.add(element, at + u64::from(index) * self.size(element), step + index, all);
                }
            }
            Type::Struct { is_packed, members } => {
                for (member, offset) in members.iter().zip(self.offsets(*is_packed, members)) {
                    self.add(member, at + offset, step, all);
                }
            }
            Type::Whole(Whole::Zero, inner) => {
                let size = self.store_size(inner);
                leaf(size, Value::Bytes(vec![0; size as usize]));
            }
            Type::Whole(Whole::Undef | Whole::Poison, _) => {}
        }
    }
}

fn bits(scalar: &Type) -> u64 {
    match scalar {
        Type::Integer(width, _) => u64::from(*width),
        Type::Float(float, _) => 8 * float.size(),
        _ => 64,
    }
}

fn little(number: &BigUint, size: u64) -> Vec<u8> {
    let mut bytes = number.to_bytes_le();
    bytes.resize(size as usize, 0);
    bytes
}

impl Layout {
    /// Returns the variable in PTX, as the pattern of a test: bytes if no address is among them, else its beginning.
    pub fn printed(&self) -> String {
        let name = format!("g0[{}]", self.size);
        let mut bytes = vec![0; self.size as usize];
        for leaf in &self.leaves {
            let Value::Bytes(own) = &leaf.value else { return "g0".to_owned() };
            bytes[leaf.offset as usize..][..own.len()].copy_from_slice(own);
        }
        let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
        format!(".b8 {name} = {{{{{{}}{}{{}}}}}}", bytes.join(", "))
    }

    /// Returns the first scalar that these contents have otherwise, with its contents there.
    pub fn difference(&self, held: &Held) -> Option<(&Leaf, String)> {
        self.leaves.iter().find_map(|leaf| {
            let seen = shown(held, leaf);
            (seen != leaf.value.shown()).then_some((leaf, seen))
        })
    }
}

impl Value {
    /// Formats the value for reports.
    pub fn shown(&self) -> String {
        match self {
            Value::Bytes(bytes) => ptxsmith_oracle::hex(bytes),
            Value::Address(symbol, 0) => (*symbol).to_owned(),
            Value::Address(symbol, addend) => format!("{symbol}{addend:+}"),
        }
    }
}

fn shown(held: &Held, leaf: &Leaf) -> String {
    let range = leaf.offset..leaf.offset + leaf.size;
    let mut inside = held.addresses.iter().filter(|(at, ..)| *at + 8 > range.start && *at < range.end);
    match inside.next() {
        Some((at, symbol, addend)) if *at == range.start && leaf.size == 8 => {
            if *addend == 0 {
                symbol.clone()
            } else {
                format!("{symbol}{addend:+}")
            }
        }
        Some((_, symbol, _)) => format!("a part of {symbol}"),
        None => match held.bytes.get(range.start as usize..range.end as usize) {
            Some(bytes) => ptxsmith_oracle::hex(bytes),
            None => "a place behind the end of the variable".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Float, Linkage, Pointer};
    use super::*;

    fn integer(width: u32, value: u32) -> Type {
        Type::Integer(width, value.into())
    }

    fn of(ty: Type) -> Layout {
        Widest(16).layout(&Global { number: 0, space: 1, linkage: Linkage::External, align: None, ty })
    }

    #[test]
    fn members_are_aligned_and_packed_ones_are_not() {
        let members = vec![integer(8, 1), Type::Pointer(Pointer::Global, 4), integer(24, 2), integer(128, 3)];
        let plain = of(Type::Struct { is_packed: false, members: members.clone() });
        let offsets: Vec<u64> = plain.leaves.iter().map(|leaf| leaf.offset).collect();
        assert_eq!((plain.size, plain.align, offsets), (48, 16, vec![0, 8, 16, 32]));
        let packed = of(Type::Struct { is_packed: true, members });
        let offsets: Vec<u64> = packed.leaves.iter().map(|leaf| leaf.offset).collect();
        // i24 has three bytes, and four in memory.
        assert_eq!((packed.size, packed.align, offsets), (29, 1, vec![0, 1, 9, 13]));
    }

    #[test]
    fn bits_of_a_vector_are_packed_and_three_elements_have_the_room_of_four() {
        let bits = of(Type::Vector(Box::new(integer(1, 1)), 8));
        // The values are 1, 0, 1, 0, ...: each index adds one.
        assert_eq!(bits.leaves[0].value, Value::Bytes(vec![0b0101_0101]));
        let three = Type::Vector(Box::new(integer(32, 1)), 3);
        let array = of(Type::Array(Box::new(three), 2));
        assert_eq!((array.size, array.align, array.leaves[3].offset), (32, 16, 16));
        let half = of(Type::Array(Box::new(Type::Float(Float::Half, 0x3c00)), 3));
        assert_eq!((half.size, half.align), (6, 2));
    }
}
