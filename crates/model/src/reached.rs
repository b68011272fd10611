//! The memory accesses of a kernel, for a run in which all inputs are numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ptxsmith_syntax::{NameLookup, Names, numbered};

/// A state space that kernels access as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the state spaces")]
pub enum Space {
    Global,
    Const,
    Shared,
    Local,
}

/// The input for a simulated run of a kernel, for an implementation that shows its generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracing {
    /// The name of the kernel.
    pub kernel: String,
    /// The alignment and the bytes of each parameter, in order.
    pub parameters: Vec<(u64, Vec<u8>)>,
    /// The addresses of the module's variables in their state spaces, by name.
    pub module: Places,
    /// The addresses of the variables that the kernel declares, by name.
    pub own: Places,
    /// The start of each state space's window in the generic address space.
    pub windows: Vec<(Space, u64)>,
    /// The values of special registers, by name: `tid.x`.
    pub specials: BTreeMap<String, u32>,
    /// The values of further special registers on each lane of a warp; empty for a single thread.
    pub lanes: Vec<BTreeMap<String, u32>>,
    /// The known contents of memory: runs of adjacent bytes, by state space and address of the first byte.
    /// `None` for an unknown byte.
    pub memory: BTreeMap<(Space, u64), Vec<Option<u8>>>,
    /// The seed of the values of registers that were not set. `None`: such values are unknown, and so is
    /// everything computed from them.
    pub junk: Option<u64>,
}

/// The addresses of variables by name. For a parameterized name: the address of its first variable, and the
/// distance between two.
pub type Places = Names<(u64, u64)>;

/// The range of the numbers that stand for addresses of functions.
pub const FUNCTIONS: Range<u64> = 0x7e00_0000_0000..0x7f00_0000_0000;

impl Tracing {
    /// Returns a byte of memory, or `None` if it is unknown.
    pub fn byte(&self, space: Space, at: u64) -> Option<u8> {
        let (&(own, start), bytes) = self.memory.range(..=(space, at)).next_back()?;
        let offset = at.checked_sub(start).filter(|_| own == space)?;
        *bytes.get(usize::try_from(offset).ok()?)?
    }

    /// Returns the address of a variable by its symbol in generated code. The symbol of a function's variable
    /// is `$__NAME__NUMBER`, except that variables of a parameterized name keep their plain name.
    pub fn place_of(&self, symbol: &str) -> Option<u64> {
        place_in(&self.module, symbol).or_else(|| place_in(&self.own, symbol)).or_else(|| {
            let (name, _) = symbol.strip_prefix("$__")?.rsplit_once("__")?;
            place_in(&self.own, name)
        })
    }
}

fn place_in(places: &Places, name: &str) -> Option<u64> {
    match places.find(name, |_, digits| numbered(digits)) {
        NameLookup::Plain(&(start, _)) => Some(start),
        NameLookup::Numbered(&(start, apart), nth) => Some(start.wrapping_add(nth.wrapping_mul(apart))),
        NameLookup::OtherNumber | NameLookup::Nothing => None,
    }
}

/// One memory access of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The instruction, as it is displayed.
    pub instruction: String,
    /// Whether the instruction reads memory.
    pub reads: bool,
    /// Whether the instruction writes memory.
    pub writes: bool,
    /// The number of bytes accessed.
    pub width: u64,
    /// The state space and the address in it; `None` if unknown.
    pub place: Option<(Space, u64)>,
    /// Whether the instruction is certain to be executed.
    pub certain: bool,
}

/// The memory accesses of a kernel, as far as its code was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The kernel's memory accesses.
    pub reaches: Vec<Reach>,
    /// The bytes that the kernel writes, by state space and address; `None` for a byte whose new value is
    /// unknown.
    pub written: BTreeMap<(Space, u64), Option<u8>>,
    /// The symbols of variables in the code, each with its address in its state space.
    pub symbols: BTreeSet<(String, u64)>,
    /// The reason why the simulation stopped before the end of the kernel.
    pub lost: Option<String>,
}
