//! Memory with symbolic addresses: the contents of each variable are known, but not where the variable lies.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use ptxsmith_syntax::{StateSpace, Text};

use crate::{refusal::Stop, step::Ruled};

/// The target of a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointerTarget {
    /// A variable, by the index of its object.
    Object(usize),
    /// A function or a kernel.
    Function(Text),
    /// The start of a state space, so that the offset is an absolute address.
    Absolute(StateSpace),
}

/// An address: a byte offset from a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SymbolicPointer {
    pub target: PointerTarget,
    pub offset: i64,
    /// Whether it is a generic address; otherwise it is an offset in the state space of its target.
    pub generic: bool,
}

/// The contents of a scalar register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegisterCell {
    /// A number in the low bits.
    Bits(u64),
    Pointer(SymbolicPointer),
    /// Unknown: never set, or dependent on where something lies.
    Unknown,
}

impl RegisterCell {
    /// Returns the number in the register, if it is a known number.
    pub(super) fn bits(&self) -> Option<u64> {
        match self {
            RegisterCell::Bits(bits) => Some(*bits),
            _ => None,
        }
    }
}

/// One byte of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    Known(u8),
    /// A byte of a pointer, by its index; 0 is the lowest.
    Pointer(SymbolicPointer, u8),
    Unknown,
}

/// One variable in memory.
#[derive(Clone, Debug)]
pub(super) struct MemoryObject {
    pub name: Text,
    pub space: StateSpace,
    /// The alignment that its declaration guarantees.
    pub align: u64,
    pub bytes: VariableBytes,
}

/// The objects visible to a kernel: the module's objects, which all kernels share; the changed copies of this kernel;
/// and its private objects.
#[derive(Clone)]
pub(super) struct MemoryObjects {
    shared: Rc<[MemoryObject]>,
    changed: BTreeMap<usize, MemoryObject>,
    private: Vec<MemoryObject>,
}

impl MemoryObjects {
    pub(super) fn new(shared: Rc<[MemoryObject]>) -> MemoryObjects {
        MemoryObjects { shared, changed: BTreeMap::new(), private: Vec::new() }
    }

    /// Adds a private object of the kernel, and returns its index.
    pub(super) fn push(&mut self, object: MemoryObject) -> usize {
        self.private.push(object);
        self.shared.len() + self.private.len() - 1
    }

    /// Returns the same objects, all of them shared by later clones.
    pub(super) fn share(self) -> MemoryObjects {
        let MemoryObjects { shared, mut changed, private } = self;
        let mut objects = Vec::with_capacity(shared.len() + private.len());
        for (index, object) in shared.iter().enumerate() {
            objects.push(changed.remove(&index).unwrap_or_else(|| object.clone()));
        }
        objects.extend(private);
        MemoryObjects::new(objects.into())
    }

    /// Returns the index of a private object of the kernel, by name.
    pub(super) fn find_private(&self, name: &str) -> Option<usize> {
        self.private.iter().position(|object| object.name == name).map(|nth| self.shared.len() + nth)
    }
}

impl Index<usize> for MemoryObjects {
    type Output = MemoryObject;

    fn index(&self, at: usize) -> &MemoryObject {
        match self.shared.get(at) {
            Some(shared) => self.changed.get(&at).unwrap_or(shared),
            None => &self.private[at - self.shared.len()],
        }
    }
}

impl IndexMut<usize> for MemoryObjects {
    fn index_mut(&mut self, at: usize) -> &mut MemoryObject {
        match self.shared.get(at) {
            Some(shared) => self.changed.entry(at).or_insert_with(|| shared.clone()),
            None => &mut self.private[at - self.shared.len()],
        }
    }
}

/// The bytes of a variable: the written ones, over its previous contents. A short declaration can declare a variable of
/// any size, so bytes that were never written use no memory.
#[derive(Clone, Debug)]
pub(super) struct VariableBytes {
    size: usize,
    before: InitialContents,
    written: BTreeMap<usize, Byte>,
}

/// The contents of a variable before anything is written.
#[derive(Clone, Debug)]
pub(super) enum InitialContents {
    Unknown,
    Zero,
    /// The initial contents, with as many bytes as the variable.
    Initialized(Rc<[u8]>),
}

impl InitialContents {
    fn byte(&self, at: usize) -> Byte {
        match self {
            InitialContents::Unknown => Byte::Unknown,
            InitialContents::Zero => Byte::Known(0),
            InitialContents::Initialized(bytes) => bytes.get(at).copied().map_or(Byte::Unknown, Byte::Known),
        }
    }
}

/// The most bytes passed to a function or returned.
const MOST_PASSED: usize = 1 << 12;

impl VariableBytes {
    pub(super) fn new(size: usize, before: InitialContents) -> VariableBytes {
        VariableBytes { size, before, written: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// Returns the bytes in `from..to`, which must be inside the variable.
    pub(super) fn read(&self, from: usize, to: usize) -> Vec<Byte> {
        let mut read: Vec<Byte> = (from..to).map(|at| self.before.byte(at)).collect();
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
pub(super) fn to_bytes(cell: &RegisterCell, width: usize) -> Vec<Byte> {
    (0..width)
        .map(|at| match cell {
            _ if width > MOST_BYTES => Byte::Unknown,
            RegisterCell::Bits(bits) => Byte::Known(bits.checked_shr(8 * at as u32).unwrap_or(0) as u8),
            RegisterCell::Pointer(pointer) => Byte::Pointer(pointer.clone(), at as u8),
            RegisterCell::Unknown => Byte::Unknown,
        })
        .collect()
}

/// Combines bytes, lowest first, into a cell: a number if all are known, a pointer if they are its low bytes in order,
/// otherwise unknown.
pub(super) fn from_bytes(bytes: &[Byte]) -> RegisterCell {
    if bytes.len() > MOST_BYTES {
        return RegisterCell::Unknown;
    }
    if let Some(Byte::Pointer(pointer, 0)) = bytes.first() {
        let whole =
            bytes.iter().enumerate().all(|(at, byte)| *byte == Byte::Pointer(pointer.clone(), at as u8));
        return if whole { RegisterCell::Pointer(pointer.clone()) } else { RegisterCell::Unknown };
    }
    let mut bits = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            Byte::Known(value) => bits |= u64::from(*value) << (8 * at),
            Byte::Pointer(..) | Byte::Unknown => return RegisterCell::Unknown,
        }
    }
    RegisterCell::Bits(bits)
}
