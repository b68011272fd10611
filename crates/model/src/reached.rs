//! What a kernel reaches in memory, where everything that it is given is a number.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ptxsmith_syntax::{Found, Names, numbered};

/// A state space of which kernels reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the state spaces")]
pub enum Space {
    Global,
    Const,
    Shared,
    Local,
}

/// The numbers that a kernel is to be run over, by an implementation that shows its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracing {
    /// The kernel.
    pub kernel: String,
    /// Its parameters, in order: the alignment of each, and its bytes.
    pub parameters: Vec<(u64, Vec<u8>)>,
    /// Where the variables of the module lie in their state space, by name.
    pub module: Places,
    /// The same of the variables that the kernel declares.
    pub own: Places,
    /// Where the generic address space shows other state spaces.
    pub windows: Vec<(Space, u64)>,
    /// What special registers hold, by name: `tid.x`.
    pub specials: BTreeMap<String, u32>,
    /// What is known of memory: bytes that lie side by side, by state space and place of the first.
    pub memory: BTreeMap<(Space, u64), Vec<Option<u8>>>,
    /// What registers hold that were not set is made of this number. `None`: that is not known, and what depends on it neither.
    pub junk: Option<u64>,
}

/// Where variables lie: of a parameterized name the first, and how far apart they lie.
pub type Places = Names<(u64, u64)>;

/// Where functions lie, of which their addresses are numbers.
pub const FUNCTIONS: Range<u64> = 0x7e00_0000_0000..0x7f00_0000_0000;

impl Tracing {
    /// A byte of memory, where it is known.
    pub fn byte(&self, space: Space, at: u64) -> Option<u8> {
        let (&(own, start), bytes) = self.memory.range(..=(space, at)).next_back()?;
        let offset = at.checked_sub(start).filter(|_| own == space)?;
        *bytes.get(usize::try_from(offset).ok()?)?
    }

    /// Where a variable lies, by what generated code calls it: one of a function has a name around its own, `$__NAME__` and a
    /// number, but one of a parameterized name.
    pub fn place_of(&self, symbol: &str) -> Option<u64> {
        let place = |names: &Places, name: &str| match names.find(name, |_, digits| numbered(digits)) {
            Found::Plain(&(at, _)) => Some(at),
            Found::Numbered(&(at, apart), nth) => Some(at.wrapping_add(nth.wrapping_mul(apart))),
            Found::OtherNumber | Found::Nothing => None,
        };
        let bare = || symbol.strip_prefix("$__")?.rsplit_once("__").map(|(bare, _)| bare);
        place(&self.module, symbol).or_else(|| place(&self.own, symbol)).or_else(|| place(&self.own, bare()?))
    }
}

/// One access of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The instruction, as it is shown.
    pub instruction: String,
    /// Whether it reads there.
    pub reads: bool,
    /// Whether it writes there.
    pub writes: bool,
    /// How many bytes it reaches.
    pub width: u64,
    /// The state space and the place in it; `None` where that is not known.
    pub place: Option<(Space, u64)>,
    /// Whether it is certain to be executed.
    pub certain: bool,
}

/// What a kernel reaches, as far as its code was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Its accesses.
    pub reaches: Vec<Reach>,
    /// What it leaves where it writes; `None` for bytes of which only that is known.
    pub written: BTreeMap<(Space, u64), Option<u8>>,
    /// What the code calls variables, and where each lies in its state space.
    pub symbols: BTreeSet<(String, u64)>,
    /// Why it was not followed to its end.
    pub lost: Option<String>,
}
