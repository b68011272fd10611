//! The invented numbers that a kernel runs over, chosen so that computations on them do not overflow, and the memory
//! that the kernel reaches over them.

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{Span, StateSpace, Text};

use super::names::{MemoryVariable, VariableId};
use crate::expectation;

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read and a write in one operation.
    Both,
}

/// One memory operand of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The position of the instruction.
    pub span: Span,
    /// Whether it reads or writes.
    pub way: AccessKind,
    /// The width in bytes.
    pub width: u64,
    /// The state space and the place in it, or why they are unknown.
    pub place: Result<(StateSpace, u64), &'static str>,
    /// Whether the access may leave memory unchanged: it writes the bytes that are there already.
    pub idle: bool,
    /// The lane of the warp; 0 of a single thread.
    pub lane: u32,
}

impl MemoryAccess {
    /// Whether the place is known to lie in `.local`.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.place, Ok((StateSpace::Local, _)))
    }
}

/// The memory that a kernel reaches and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryEffects {
    /// The numbers of the run.
    pub setting: Setting,
    /// The accesses outside of `.param`, in execution order.
    pub accesses: Vec<MemoryAccess>,
    /// The bytes written; `None` for a byte of unknown value.
    pub written: BTreeMap<(StateSpace, u64), Option<u8>>,
}

impl MemoryEffects {
    /// Iterates over the bytes written outside of `.local`, by place.
    pub(super) fn written_outside_local(&self) -> impl Iterator<Item = (&(StateSpace, u64), &Option<u8>)> {
        self.written.iter().filter(|((space, _), _)| *space != StateSpace::Local)
    }
}

/// The concrete numbers of a run: parameters, special registers, and the memory that the kernel reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The parameters in order: the alignment and the bytes of each.
    pub parameters: Vec<(u64, Vec<u8>)>,
    /// The variables that the kernel may name.
    pub variables: Vec<VariablePlacement>,
    /// The values of special registers, by name: `tid.x`.
    pub specials: BTreeMap<&'static str, u32>,
    /// The values of further special registers on each lane of a warp; empty for a single thread.
    pub lanes: Vec<BTreeMap<&'static str, u32>>,
    /// The bytes read from memory, by state space and place.
    pub memory: BTreeMap<(StateSpace, u64), u8>,
}

impl Setting {
    /// Maps a place of a run with displaced memory back to its place in the usual setting.
    pub(super) fn usual(&self, space: StateSpace, at: u64) -> u64 {
        if space != StateSpace::Global {
            return at;
        }
        let mut parameters = 0..self.parameters.len() as u64;
        let nearest = parameters.find(|&nth| {
            let start = pointer(nth).wrapping_add(distance(Some(nth)));
            at.wrapping_sub(start).wrapping_add(1 << 31) < 1 << 32
        });
        at.wrapping_sub(distance(nearest))
    }
}

/// A variable, or all variables of a parameterized name, with their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariablePlacement {
    /// Its name; for a parameterized name, the common prefix.
    pub name: Text,
    /// Whether the kernel declares it, and not the module.
    pub own: bool,
    /// Its state space.
    pub space: StateSpace,
    /// The place of its first byte; for a parameterized name, of the first variable.
    pub start: u64,
    /// Its size in bytes, if the declaration gives one.
    pub size: Option<u64>,
    /// For a parameterized name: the number of variables, and the distance between them.
    pub several: Option<(u64, u64)>,
    /// The initial contents, for a variable of the kernel if they are decided.
    pub initial: Option<Rc<expectation::Variable>>,
}

impl VariablePlacement {
    /// Returns the place of the variable with this number; `None` if there are fewer.
    pub fn nth(&self, nth: u64) -> Option<u64> {
        let (count, apart) = self.several.unwrap_or((1, 0));
        (nth < count).then(|| self.start + nth * apart)
    }

    /// Returns the number of the variable that contains a place, and the offset in it.
    pub fn holds(&self, at: u64) -> Option<(u64, u64)> {
        let from_start = at.checked_sub(self.start)?;
        let (nth, offset) = match self.several {
            None => (0, from_start),
            Some((count, apart)) => {
                Some((from_start / apart, from_start % apart)).filter(|(nth, _)| *nth < count)?
            }
        };
        (offset < self.size.unwrap_or(APART)).then_some((nth, offset))
    }

    /// Returns the name of the variable with this number.
    pub fn name_of(&self, nth: u64) -> Text {
        self.several.map_or(self.name.clone(), |_| format!("{}{nth}", self.name).into())
    }
}

/// The windows of state spaces in the generic address space, with their start addresses.
pub const WINDOWS: [(StateSpace, u64); 3] = [
    (StateSpace::Shared, 0x7a00_0000_0000),
    (StateSpace::Local, 0x7b00_0000_0000),
    (StateSpace::Const, 0x7c00_0000_0000),
];
pub(super) const WINDOW_SIZE: u64 = 1 << 32;
/// The start of the variables in `.global`, and the start of the memory that pointer parameters refer to.
const GLOBALS: u64 = 0x7f00_0000_0000;
const POINTERS: u64 = 0x7d00_0000_0000;
/// The distance between variables, so that none is near another.
pub(super) const APART: u64 = 1 << 20;

/// The distance between parameters in this model; real places do not matter.
pub(super) const PARAMETER: u64 = 1 << 16;

/// Returns the word in memory at a place. Two words together form an address, and each alone is a small number, so that
/// computations on them do not overflow.
pub(super) fn word(at: u64) -> u32 {
    let mut mixed = at.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = (mixed >> 40) as u32;
    if at.is_multiple_of(2) { mixed & 0xf_ff00 } else { mixed & 0x3fff }
}

/// Returns the start of the memory that the parameter `nth` points to.
pub(super) fn pointer(nth: u64) -> u64 {
    POINTERS + nth * (1 << 32) + (u64::from(word(2 * nth)) << 4)
}

/// Returns the displacement of memory in a displaced run: different for each parameter, and again for variables in
/// `.global` (`None`).
pub(super) fn distance(nth: Option<u64>) -> u64 {
    nth.map_or(0x4000_0000_0100, |nth| 0x300_0000_0100 * (nth % 16 + 1))
}

/// Returns the bytes of a parameter: an address for 8 bytes; a small number for 1, 2 or 4; words as in memory otherwise.
pub(super) fn parameter_bytes(nth: u64, size: u64) -> Vec<u8> {
    match size {
        8 => pointer(nth).to_le_bytes().to_vec(),
        1 | 2 | 4 => (24 + 8 * nth).to_le_bytes()[..size as usize].to_vec(),
        _ => (0..size).map(|at| (word(nth * PARAMETER + at / 4) >> (8 * (at % 4))) as u8).collect(),
    }
}

/// Returns the values of the special registers, with the number of threads from the kernel's directives.
pub(super) fn specials(directives: &[ptxsmith_syntax::Token]) -> BTreeMap<&'static str, u32> {
    let threads = threads(directives, [64, 2, 2]);
    let [x, y, z] = threads.map(|count| count.saturating_sub(1));
    let thread = [x.min(37), y.min(1), z.min(1)];
    let mut specials = BTreeMap::from([
        ("ntid.x", threads[0]),
        ("ntid.y", threads[1]),
        ("ntid.z", threads[2]),
        ("nctaid.x", 19),
        ("nctaid.y", 7),
        ("nctaid.z", 3),
        ("ctaid.x", 11),
        ("ctaid.y", 5),
        ("ctaid.z", 2),
    ]);
    specials.extend(thread_specials(threads, thread));
    specials
}

/// Returns the number of threads in each dimension of the block, the values of the special registers that differ
/// between the lanes of a warp, and whether the block has no other threads.
pub(super) fn warp(
    directives: &[ptxsmith_syntax::Token],
) -> ([u32; 3], Vec<BTreeMap<&'static str, u32>>, bool) {
    let [x, y, z] = threads(directives, [LANES, 1, 1]);
    let all = x.saturating_mul(y).saturating_mul(z);
    // The first warp of a block is less telling than a later one.
    let first = if all >= 2 * LANES { LANES } else { 0 };
    let threads = first..first + LANES.min(all - first);
    let lanes = threads.map(|nth| thread_specials([x, y, z], [nth % x, nth / x % y, nth / x / y]));
    ([x, y, z], lanes.collect(), all <= LANES)
}

/// The number of threads of a warp.
pub(super) const LANES: u32 = 32;

/// Returns the values of the special registers that differ between the threads of a block.
fn thread_specials(threads: [u32; 3], [x, y, z]: [u32; 3]) -> BTreeMap<&'static str, u32> {
    let lane = (x + threads[0] * (y + threads[1] * z)) % LANES;
    let equal = 1u32 << lane;
    BTreeMap::from([
        ("tid.x", x),
        ("tid.y", y),
        ("tid.z", z),
        ("laneid", lane),
        ("lanemask_eq", equal),
        ("lanemask_lt", equal - 1),
        ("lanemask_le", equal | (equal - 1)),
        ("lanemask_gt", !(equal | (equal - 1))),
        ("lanemask_ge", !(equal - 1)),
    ])
}

/// Returns the number of threads in each dimension from the kernel's directives; the last argument if there are none.
fn threads(directives: &[ptxsmith_syntax::Token], usual: [u32; 3]) -> [u32; 3] {
    if let Some(threads) = directive_numbers(directives, ".reqntid") {
        return threads.map(|count| count.max(1));
    }
    match directive_numbers(directives, ".maxntid") {
        Some([most, ..]) => [most.clamp(1, usual[0]), 1, 1],
        None => usual,
    }
}

/// Returns the numbers after a directive, with 1 for each omitted dimension.
fn directive_numbers(directives: &[ptxsmith_syntax::Token], directive: &str) -> Option<[u32; 3]> {
    let at = directives.iter().position(|token| token.text == directive)?;
    let words = directives[at + 1..].iter().map(|token| token.text.as_str()).filter(|&text| text != ",");
    let mut numbers = [1; 3];
    for (number, given) in numbers.iter_mut().zip(words.map_while(|text| text.parse().ok())) {
        *number = given;
    }
    Some(numbers)
}

/// The order of variables in `.local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalLayout {
    Upwards,
    /// Descending, and aligned only as far as the declaration requires.
    Downwards,
}

/// Allocates places for variables.
pub(super) struct VariableAllocator {
    used: BTreeMap<StateSpace, u64>,
    frame: LocalLayout,
}

impl VariableAllocator {
    pub(super) fn new(frame: LocalLayout, elsewhere: bool) -> VariableAllocator {
        let globals = GLOBALS + if elsewhere { distance(None) } else { 0 };
        VariableAllocator { used: BTreeMap::from([(StateSpace::Global, globals)]), frame }
    }

    /// Allocates a variable; `None` if there is no room, or it is a parameter.
    pub(super) fn place(&mut self, variable: &MemoryVariable) -> Option<VariablePlacement> {
        let MemoryVariable { name, space, size, count, initial, .. } = variable;
        let apart = size.unwrap_or(APART).checked_next_multiple_of(variable.align.max(256))?;
        let apart = apart.checked_next_multiple_of(APART)?.checked_add(APART)?;
        let total = match count {
            None => size.unwrap_or(APART),
            Some(count) => apart.checked_mul(*count)?,
        };
        let several = count.map(|count| (count, apart));
        let start = self.allocate(variable, total)?;
        Some(VariablePlacement {
            name: name.clone(),
            own: matches!(variable.place, VariableId::Function(_)),
            space: *space,
            start,
            size: *size,
            several,
            initial: initial.clone(),
        })
    }

    /// Allocates `size` bytes and returns their start.
    fn allocate(&mut self, variable: &MemoryVariable, size: u64) -> Option<u64> {
        let (start, most) = match variable.space {
            StateSpace::Global => (GLOBALS, u64::MAX),
            // 32-bit addresses end there.
            StateSpace::Const | StateSpace::Shared | StateSpace::Local => (APART, WINDOW_SIZE),
            _ => return None,
        };
        let used = self.used.entry(variable.space).or_insert(start);
        let align = variable.align;
        let place = used.checked_next_multiple_of(align.max(256))?;
        let end = place.checked_add(size)?.checked_next_multiple_of(APART)?.checked_add(APART)?;
        if end >= most {
            return None;
        }
        *used = end;
        if variable.space == StateSpace::Local && self.frame == LocalLayout::Downwards {
            // Shifts each variable by a different distance, less than the gap between variables.
            let distance = (end / APART).wrapping_mul(0x2_545d) % (APART / 2);
            let place = WINDOW_SIZE.checked_sub(end + distance)? / align;
            return Some((place | 1) * align);
        }
        Some(place)
    }
}
