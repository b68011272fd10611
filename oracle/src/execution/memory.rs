//! Memory of which addresses are symbols: what lies where is known, where it lies is not.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use ptxsmith_syntax::{StateSpace, Text};

use crate::{refusal::Stop, step::Ruled};

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
    pub bytes: Bytes,
}

/// The objects that a kernel sees: those of the module, which all kernels share, what the kernel changes of them, and its own.
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

    /// Adds an object of the kernel's own, and says its place.
    pub(super) fn push(&mut self, object: Object) -> usize {
        self.own.push(object);
        self.shared.len() + self.own.len() - 1
    }

    /// The same objects, all of them shared with whatever is cloned from here on.
    pub(super) fn share(self) -> Objects {
        let Objects { shared, mut changed, own } = self;
        let before = shared.iter().enumerate();
        let before = before.map(|(at, object)| changed.remove(&at).unwrap_or_else(|| object.clone()));
        Objects::new(before.chain(own).collect::<Vec<_>>().into())
    }

    /// The place of an object of the kernel's own.
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

/// The bytes of a variable: what was written, over what was there before. A few letters declare a variable of any size, so what
/// was never written takes no place here.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    size: usize,
    before: Before,
    written: BTreeMap<usize, Byte>,
}

/// What a variable holds before anything is written.
#[derive(Clone, Debug)]
pub(super) enum Before {
    Unknown,
    Zero,
    /// As many bytes as the variable has.
    Initialized(Rc<[u8]>),
}

/// The most that is handed to a function or back, in bytes.
const MOST_PASSED: usize = 1 << 12;

impl Bytes {
    pub(super) fn new(size: usize, before: Before) -> Bytes {
        Bytes { size, before, written: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// The bytes from one offset up to another; all of them are in the variable.
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

    /// Writes bytes from an offset on; what falls behind the variable is dropped.
    pub(super) fn write(&mut self, from: usize, bytes: impl IntoIterator<Item = Byte>) {
        self.written.extend((from..self.size).zip(bytes));
    }

    /// What was written is not known any more.
    pub(super) fn forget_written(&mut self) {
        self.written.values_mut().for_each(|byte| *byte = Byte::Unknown);
    }

    /// All bytes, to be handed to a function or back.
    pub(super) fn whole(&self) -> Ruled<Vec<Byte>> {
        passed(self.size).map(|size| self.read(0, size))
    }
}

/// The size of a parameter, if it is one that is handed to functions here.
pub(super) fn passed(size: usize) -> Ruled<usize> {
    if size > MOST_PASSED {
        return Err(Stop::Unmodelled("a parameter of more than 2^12 bytes"));
    }
    Ok(size)
}

/// The most bytes that a cell says something of. The texts do not say what a constant or an address is as 128 bits.
const MOST_BYTES: usize = 8;

/// The bytes of a cell, lowest first.
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

/// The cell that these bytes make, lowest first: a number if all are known, a pointer if all are its low bytes.
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
