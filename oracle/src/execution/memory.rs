//! Memory of which addresses are symbols: what lies where is known, where it lies is not.

use ptxsmith_syntax::{StateSpace, Text};

/// What a pointer points into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A variable, by the place of its object.
    Object(usize),
    /// A function or a kernel.
    Function(Text),
    /// The start of a state space: the address is a number.
    Absolute(StateSpace),
}

/// An address: so many bytes from its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pointer {
    pub target: Target,
    pub offset: i64,
    /// Whether it is a generic address; otherwise it is an offset in the state space of its target.
    pub generic: bool,
}

/// What a scalar register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// A number, in its low bits.
    Bits(u64),
    Pointer(Pointer),
    /// Nothing that anybody can know: it was never set, or depends on where something lies.
    Unknown,
}

/// One byte of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    Known(u8),
    /// This byte of a pointer, 0 the lowest.
    Of(Pointer, u8),
    Unknown,
}

/// One variable in memory.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub name: Text,
    pub space: StateSpace,
    /// The alignment that its declaration guarantees.
    pub align: u64,
    pub bytes: Vec<Byte>,
}

/// The bytes of a cell, lowest first.
pub(super) fn to_bytes(cell: &Cell, width: usize) -> Vec<Byte> {
    (0..width)
        .map(|at| match cell {
            Cell::Bits(bits) => Byte::Known(bits.checked_shr(8 * at as u32).unwrap_or(0) as u8),
            Cell::Pointer(pointer) => Byte::Of(pointer.clone(), at as u8),
            Cell::Unknown => Byte::Unknown,
        })
        .collect()
}

/// The cell that these bytes make, lowest first: a number if all are known, a pointer if all are its low bytes.
pub(super) fn from_bytes(bytes: &[Byte]) -> Cell {
    if let Some(Byte::Of(pointer, 0)) = bytes.first() {
        let whole = bytes.iter().enumerate().all(|(at, byte)| *byte == Byte::Of(pointer.clone(), at as u8));
        return if whole { Cell::Pointer(pointer.clone()) } else { Cell::Unknown };
    }
    let known = |(at, byte): (usize, &Byte)| match byte {
        Byte::Known(value) => Some(u64::from(*value) << (8 * at)),
        Byte::Of(..) | Byte::Unknown => None,
    };
    bytes.iter().enumerate().map(known).sum::<Option<u64>>().map_or(Cell::Unknown, Cell::Bits)
}
