//! The numbers that a kernel is run over, made up so that what is computed of them overflows nowhere, and what it reaches over them.

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{Span, StateSpace, Text};

use super::names::{Place, Variable};
use crate::expectation;

/// What an instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both at once.
    Both,
}

/// One memory operand of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where its instruction stands.
    pub span: Span,
    /// What it does there.
    pub way: Way,
    /// How many bytes it reaches.
    pub width: u64,
    /// The state space and the place in it, or why that is not known.
    pub place: Result<(StateSpace, u64), &'static str>,
    /// Whether it may leave memory as it was: what it writes is there already.
    pub idle: bool,
}

/// What a kernel reaches, and what it leaves there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// What it was run over.
    pub setting: Setting,
    /// Its memory operands outside of `.param`, in the order executed.
    pub accesses: Vec<Access>,
    /// What was written, `None` for bytes that are written with an unknown value.
    pub written: BTreeMap<(StateSpace, u64), Option<u8>>,
}

/// The numbers that a kernel is run over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its parameters, in order: the alignment of each, and its bytes.
    pub parameters: Vec<(u64, Vec<u8>)>,
    /// The variables that it may name.
    pub variables: Vec<Placed>,
    /// What special registers hold, by name: `tid.x`.
    pub specials: BTreeMap<&'static str, u32>,
    /// The bytes that it read from memory, by state space and place.
    pub memory: BTreeMap<(StateSpace, u64), u8>,
}

impl Setting {
    /// Where a place usually lies, of a setting in which memory lies elsewhere.
    pub(super) fn usual(&self, space: StateSpace, at: u64) -> u64 {
        if space != StateSpace::Global {
            return at;
        }
        let is_near = |nth: &u64| {
            at.wrapping_sub(pointer(*nth).wrapping_add(distance(Some(*nth)))).wrapping_add(1 << 31) < 1 << 32
        };
        let nth = (0..self.parameters.len() as u64).find(is_near);
        at.wrapping_sub(distance(nth))
    }
}

/// A variable, or the variables of a parameterized name, and where they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its name; of a parameterized one the common prefix.
    pub name: Text,
    /// Whether the kernel declares it, and not the module.
    pub own: bool,
    /// Its state space.
    pub space: StateSpace,
    /// The first place of the first in it.
    pub start: u64,
    /// Its bytes, where its declaration says that.
    pub size: Option<u64>,
    /// How many there are of a parameterized one, and how far apart they lie.
    pub several: Option<(u64, u64)>,
    /// What it holds at first, of one of the kernel's own where that is decided.
    pub initial: Option<Rc<expectation::Variable>>,
}

impl Placed {
    /// Where the one of this number lies; `None` where there are not so many.
    pub fn nth(&self, nth: u64) -> Option<u64> {
        let (count, apart) = self.several.unwrap_or((1, 0));
        (nth < count).then(|| self.start + nth * apart)
    }

    /// The number of the one that a place is in, and the offset in it.
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

    /// The name of the one of this number.
    pub fn name_of(&self, nth: u64) -> Text {
        self.several.map_or(self.name.clone(), |_| format!("{}{nth}", self.name).into())
    }
}

/// The window of the generic address space that a state space has, by where it begins.
pub const WINDOWS: [(StateSpace, u64); 3] = [
    (StateSpace::Shared, 0x7a00_0000_0000),
    (StateSpace::Local, 0x7b00_0000_0000),
    (StateSpace::Const, 0x7c00_0000_0000),
];
pub(super) const WINDOW_SIZE: u64 = 1 << 32;
/// Where variables in `.global` lie, and pointers that parameters hold point to.
const GLOBALS: u64 = 0x7f00_0000_0000;
const POINTERS: u64 = 0x7d00_0000_0000;
/// How far apart variables lie, so that none is near another.
pub(super) const APART: u64 = 1 << 20;

/// How far apart parameters lie here; where they lie elsewhere does not matter.
pub(super) const PARAMETER: u64 = 1 << 16;

/// What lies in memory at the place of a word: two together are an address, and each alone a small number, so that what is
/// computed of them overflows nowhere.
pub(super) fn word(at: u64) -> u32 {
    let mut mixed = at.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = (mixed >> 40) as u32;
    if at.is_multiple_of(2) { mixed & 0xf_ff00 } else { mixed & 0x3fff }
}

/// Where memory lies that a parameter points to.
pub(super) fn pointer(nth: u64) -> u64 {
    POINTERS + nth * (1 << 32) + (u64::from(word(2 * nth)) << 4)
}

/// How far from there it lies elsewhere: for each parameter another distance, and of variables in `.global` another one.
pub(super) fn distance(nth: Option<u64>) -> u64 {
    nth.map_or(0x4000_0000_0100, |nth| 0x300_0000_0100 * (nth % 16 + 1))
}

/// The bytes of a parameter: of eight an address, of fewer a small number.
pub(super) fn parameter_bytes(nth: u64, size: u64) -> Vec<u8> {
    match size {
        8 => pointer(nth).to_le_bytes().to_vec(),
        1 | 2 | 4 => (24 + 8 * nth).to_le_bytes()[..size as usize].to_vec(),
        _ => (0..size).map(|at| (word(nth * PARAMETER + at / 4) >> (8 * (at % 4))) as u8).collect(),
    }
}

/// What special registers hold, with as many threads as a kernel's directives ask for.
pub(super) fn specials(directives: &[ptxsmith_syntax::Token]) -> BTreeMap<&'static str, u32> {
    let asked = |word: &str| {
        let at = directives.iter().position(|token| token.text == word)?;
        let numbers = directives[at + 1..].iter().map(|token| token.text.as_str());
        let numbers = numbers.filter(|&text| text != ",").map_while(|text| text.parse::<u32>().ok());
        Some(numbers.chain([1, 1, 1]).take(3).collect::<Vec<_>>())
    };
    let threads = match (asked(".reqntid"), asked(".maxntid")) {
        (Some(threads), _) => threads,
        (None, Some(most)) => vec![most[0].min(64), 1, 1],
        (None, None) => vec![64, 2, 2],
    };
    let thread = |nth: usize, wanted: u32| wanted.min(threads[nth].saturating_sub(1));
    BTreeMap::from([
        ("ntid.x", threads[0]),
        ("ntid.y", threads[1]),
        ("ntid.z", threads[2]),
        ("tid.x", thread(0, 37)),
        ("tid.y", thread(1, 1)),
        ("tid.z", thread(2, 1)),
        ("nctaid.x", 19),
        ("nctaid.y", 7),
        ("nctaid.z", 3),
        ("ctaid.x", 11),
        ("ctaid.y", 5),
        ("ctaid.z", 2),
    ])
}

/// In which order variables in `.local` lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Upwards,
    /// And aligned only as far as is asked.
    Downwards,
}

/// Where there is room for variables.
pub(super) struct Free {
    used: BTreeMap<StateSpace, u64>,
    frame: Frame,
}

impl Free {
    pub(super) fn new(frame: Frame, elsewhere: bool) -> Free {
        let globals = GLOBALS + if elsewhere { distance(None) } else { 0 };
        Free { used: BTreeMap::from([(StateSpace::Global, globals)]), frame }
    }

    /// Makes room for a variable; `None` where there is none, or it is a parameter.
    pub(super) fn place(&mut self, variable: &Variable) -> Option<Placed> {
        let Variable { name, space, size, count, initial, .. } = variable;
        let apart = size.unwrap_or(APART).checked_next_multiple_of(variable.align.max(256))?;
        let apart = apart.checked_next_multiple_of(APART)?.checked_add(APART)?;
        let all = match count {
            None => size.unwrap_or(APART),
            Some(count) => apart.checked_mul(*count)?,
        };
        let several = count.map(|count| (count, apart));
        let start = self.room(variable, all)?;
        let own = matches!(variable.place, Place::Function(_));
        let (name, initial) = (name.clone(), initial.clone());
        Some(Placed { name, own, space: *space, start, size: *size, several, initial })
    }

    fn room(&mut self, variable: &Variable, size: u64) -> Option<u64> {
        let (start, most) = match variable.space {
            StateSpace::Global => (GLOBALS, u64::MAX),
            // Where 32 bits end.
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
        if variable.space == StateSpace::Local && self.frame == Frame::Downwards {
            // Another distance to each, of less than what lies between them.
            let distance = (end / APART).wrapping_mul(0x2_545d) % (APART / 2);
            let place = WINDOW_SIZE.checked_sub(end + distance)? / align;
            return Some((place | 1) * align);
        }
        Some(place)
    }
}
