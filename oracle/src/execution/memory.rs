//! Memory with symbolic addresses: the contents of each variable are known, but not where the variable lies.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use ptxsmith_syntax::{StateSpace, Text};

use crate::{refusal::Stop, step::Ruled};

/// The target of a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A variable, by the index of its object.
    Object(usize),
    /// A function or a kernel.
    Function(Text),
    /// The start of a state space, so that the offset is an absolute address.
    Absolute(StateSpace),
}

/// An address: a byte offset from a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pointer {
    pub target: Target,
    pub offset: i64,
    /// Whether it is a generic address; otherwise it is an offset in the state space of its target.
    pub generic: bool,
}

/// The contents of a scalar register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// A number in the low bits.
    Bits(u64),
    Pointer(Pointer),
    /// Unknown: never set, or dependent on where something lies.
    Unknown,
}

/// One byte of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    Known(u8),
    /// A byte of a pointer, by its index; 0 is the lowest.
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
    pub bytes: Bytes,
}

/// The objects visible to a kernel: the module's objects, which all kernels share; the changed copies of this kernel;
/// and its own.
#[derive(Clone)]
pub(super) struct Objects {
    shared: Rc<[Object]>,
    changed: BTreeMap<usize, Object>,
    own: Vec<Object>,
}

impl Objects {
    pub(super) fn new(shared: Rc<[Object]>) -> Objects {
        Objects { shared, changed: BTreeMap::new(), own: Vec::new() }
    }

    /// Adds an object of the kernel's own, and returns its index.
    pub(super) fn push(&mut self, object: Object) -> usize {
        self.own.push(object);
        self.shared.len() + self.own.len() - 1
    }

    /// Returns the same objects, all of them shared by later clones.
    pub(super) fn share(self) -> Objects {
        let Objects { shared, mut changed, own } = self;
        let before = shared.iter().enumerate();
        let before = before.map(|(at, object)| changed.remove(&at).unwrap_or_else(|| object.clone()));
        Objects::new(before.chain(own).collect::<Vec<_>>().into())
    }

    /// Returns the index of an object of the kernel's own, by name.
    pub(super) fn find_own(&self, name: &str) -> Option<usize> {
        self.own.iter().position(|object| object.name == name).map(|nth| self.shared.len() + nth)
    }
}

impl Index<usize> for Objects {
    type Output = Object;

    fn index(&self, at: usize) -> &Object {
        match self.shared.get(at) {
            Some(shared) => self.changed.get(&at).unwrap_or(shared),
            None => &self.own[at - self.shared.len()],
        }
    }
}

impl IndexMut<usize> for Objects {
    fn index_mut(&mut self, at: usize) -> &mut Object {
        match self.shared.get(at) {
            Some(shared) => self.changed.entry(at).or_insert_with(|| shared.clone()),
            None => &mut self.own[at - self.shared.len()],
        }
    }
}

/// The bytes of a variable: the written ones, over its previous contents. A short declaration can declare a variable of
/// any size, so bytes that were never written use no memory.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    size: usize,
    before: Before,
    written: BTreeMap<usize, Byte>,
}

/// The contents of a variable before anything is written.
#[derive(Clone, Debug)]
pub(super) enum Before {
    Unknown,
    Zero,
    /// The initial contents, with as many bytes as the variable.
    Initialized(Rc<[u8]>),
}

/// The most bytes passed to a function or returned.
const MOST_PASSED: usize = 1 << 12;

impl Bytes {
    pub(super) fn new(size: usize, before: Before) -> Bytes {
        Bytes { size, before, written: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// Returns the bytes in `from..to`, which must be inside the variable.
    pub(super) fn read(&self, from: usize, to: usize) -> Vec<Byte> {
        let before = |at: usize| match &self.before {
            Before::Unknown => Byte::Unknown,
            Before::Zero => Byte::Known(0),
            Before::Initialized(bytes) => bytes.get(at).copied().map_or(Byte::Unknown, Byte::Known),
        };
        let mut read: Vec<Byte> = (from..to).map(before).collect();
        for (at, byte) in self.written.range(from..to) {
            read[at - from] = byte.clone();
        }
        read
    }

    /// Writes bytes starting at an offset. Bytes beyond the end of the variable are dropped.
    pub(super) fn write(&mut self, from: usize, bytes: impl IntoIterator<Item = Byte>) {
        self.written.extend((from..self.size).zip(bytes));
    }

    /// Marks all written bytes as unknown.
    pub(super) fn forget_written(&mut self) {
        self.written.values_mut().for_each(|byte| *byte = Byte::Unknown);
    }

    /// Returns all bytes, for an argument or a result.
    pub(super) fn whole(&self) -> Ruled<Vec<Byte>> {
        passed(self.size).map(|size| self.read(0, size))
    }
}

/// Checks the size of a parameter against the limit for calls.
pub(super) fn passed(size: usize) -> Ruled<usize> {
    if size > MOST_PASSED {
        return Err(Stop::Unmodelled("a parameter of more than 2^12 bytes"));
    }
    Ok(size)
}

/// The largest size in bytes of a known cell. The specification at hand does not define a constant or an address as 128
/// bits.
const MOST_BYTES: usize = 8;

/// Returns the bytes of a cell, lowest first.
pub(super) fn to_bytes(cell: &Cell, width: usize) -> Vec<Byte> {
    (0..width)
        .map(|at| match cell {
            _ if width > MOST_BYTES => Byte::Unknown,
            Cell::Bits(bits) => Byte::Known(bits.checked_shr(8 * at as u32).unwrap_or(0) as u8),
            Cell::Pointer(pointer) => Byte::Of(pointer.clone(), at as u8),
            Cell::Unknown => Byte::Unknown,
        })
        .collect()
}

/// Combines bytes, lowest first, into a cell: a number if all are known, a pointer if they are its low bytes in order,
/// otherwise unknown.
pub(super) fn from_bytes(bytes: &[Byte]) -> Cell {
    if bytes.len() > MOST_BYTES {
        return Cell::Unknown;
    }
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
