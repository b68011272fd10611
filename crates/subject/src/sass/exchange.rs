//! Decodes instructions through which threads exchange values: atomic ones on memory, and those on which the lanes of a warp
//! meet.

use ptxsmith_model::Space;

use super::modifiers::{Access, Modifiers};

/// `ATOMG.E.MIN.S64.STRONG.GPU`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atomic {
    pub change: MemoryChange,
    /// The number of bytes in memory.
    pub bytes: usize,
    pub signed: bool,
    /// Whether it returns what was there.
    pub returns: bool,
    /// Whether a predicate among its operands says that the address lies in global memory, so that memory is changed.
    pub generic: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryChange {
    Add,
    Least,
    Greatest,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// How lanes exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// `SHFL`: the value of another lane.
    Up,
    Down,
    Butterfly,
    Index,
    /// `VOTE`: whether a predicate holds on any lane, on all, or is the same on all.
    Any,
    All,
    Equal,
    /// `MATCH`: the lanes with the same word, or pair of words.
    MatchAny {
        pair: bool,
    },
    MatchAll {
        pair: bool,
    },
    /// `REDUX`
    Sum,
    Least {
        signed: bool,
    },
    Greatest {
        signed: bool,
    },
    And,
    Or,
    Xor,
}

/// `ATOMG.E.ADD.64.STRONG.GPU`, `ATOMS.CAS`, `RED.E.MAX.S64.STRONG.GPU`
pub(super) fn atomic(name: &str, modifiers: &[&str]) -> Option<(Access, Atomic)> {
    let (access, returns) = match name {
        "ATOMG" => (Access::Global, true),
        "ATOM" => (Access::Generic, true),
        "ATOMS" => (Access::Small(Space::Shared), true),
        "REDG" => (Access::Global, false),
        "RED" => (Access::Generic, false),
        _ => return None,
    };
    let mut words = Modifiers(modifiers.to_vec());
    words.ignore(&["E", "STRONG", "GPU", "SYS", "SM", "CTA"]);
    let (operation, ty) = words.0.split_first()?;
    let change = match *operation {
        "ADD" => MemoryChange::Add,
        "MIN" => MemoryChange::Least,
        "MAX" => MemoryChange::Greatest,
        "AND" => MemoryChange::And,
        "OR" => MemoryChange::Or,
        "XOR" => MemoryChange::Xor,
        "EXCH" => MemoryChange::Exchange,
        "CAS" => MemoryChange::CompareAndSwap,
        "INC" => MemoryChange::Increment,
        "DEC" => MemoryChange::Decrement,
        _ => return None,
    };
    let (bytes, signed) = match *ty {
        [] => (4, false),
        ["S32"] => (4, true),
        ["64"] => (8, false),
        ["S64"] => (8, true),
        _ => return None,
    };
    let generic = access == Access::Generic && returns;
    Some((access, Atomic { change, bytes, signed, returns, generic }))
}

/// `SHFL.IDX`, `VOTE.ANY`, `MATCH.ANY.U64`, `REDUX.SUM.S32`
pub(super) fn exchange(name: &str, modifiers: &[&str]) -> Option<Exchange> {
    Some(match (name, modifiers) {
        ("SHFL", ["UP"]) => Exchange::Up,
        ("SHFL", ["DOWN"]) => Exchange::Down,
        ("SHFL", ["BFLY"]) => Exchange::Butterfly,
        ("SHFL", ["IDX"]) => Exchange::Index,
        ("VOTE" | "VOTEU", ["ANY"]) => Exchange::Any,
        ("VOTE" | "VOTEU", ["ALL"]) => Exchange::All,
        ("VOTE" | "VOTEU", ["EQ"]) => Exchange::Equal,
        ("MATCH", ["ANY"]) => Exchange::MatchAny { pair: false },
        ("MATCH", ["ANY", "U64"]) => Exchange::MatchAny { pair: true },
        ("MATCH", ["ALL"]) => Exchange::MatchAll { pair: false },
        ("MATCH", ["ALL", "U64"]) => Exchange::MatchAll { pair: true },
        ("REDUX", ["SUM"] | ["SUM", "S32"]) => Exchange::Sum,
        ("REDUX" | "CREDUX", ["MIN"]) => Exchange::Least { signed: false },
        ("REDUX" | "CREDUX", ["MIN", "S32"]) => Exchange::Least { signed: true },
        ("REDUX" | "CREDUX", ["MAX"]) => Exchange::Greatest { signed: false },
        ("REDUX" | "CREDUX", ["MAX", "S32"]) => Exchange::Greatest { signed: true },
        ("REDUX", []) => Exchange::And,
        ("REDUX", ["OR"]) => Exchange::Or,
        ("REDUX", ["XOR"]) => Exchange::Xor,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::operation::{Operation, decode};
    use super::*;

    #[test]
    fn a_modifier_that_is_not_known_makes_the_opcode_unknown() {
        let least =
            Atomic { change: MemoryChange::Least, bytes: 8, signed: true, returns: true, generic: false };
        for (text, expected) in [
            ("ATOMG.E.MIN.S64.STRONG.GPU", Operation::Atomic(Access::Global, least)),
            ("ATOMG.E.MIN.S64.STRONG.GPU.FTZ", Operation::Unknown),
            ("ATOMG.E.ADD.F32.STRONG.GPU", Operation::Unknown),
            ("ATOMS.CAST.SPIN", Operation::Unknown),
            ("ATOMS.POPC.INC.32", Operation::Unknown),
            ("QSPC.E.S", Operation::IsShared),
            ("QSPC.E.L", Operation::Unknown),
            ("REDUX.MIN.S32", Operation::Exchange(Exchange::Least { signed: true })),
            ("REDUX.MIN.F32", Operation::Unknown),
            ("VOTE.ANY", Operation::Exchange(Exchange::Any)),
            ("SHFL", Operation::Unknown),
            ("VABSDIFF4.S8.ACC", Operation::Unknown),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
