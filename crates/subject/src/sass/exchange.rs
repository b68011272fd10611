//! Decodes instructions through which threads exchange values: atomic instructions on memory, and
//! instructions on which the lanes of a warp meet.

use ptxsmith_model::Space;

use super::modifiers::{AccessedMemory, OpcodeModifiers};

/// `ATOMG.E.MIN.S64.STRONG.GPU`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtomicOperation {
    pub change: MemoryChange,
    /// The number of bytes in memory.
    pub bytes: usize,
    pub signed: bool,
    /// Whether it returns what was there.
    pub returns: bool,
    /// Whether a predicate among its operands says that the address lies in global memory, so that memory is
    /// changed.
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
pub(super) enum LaneExchange {
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
pub(super) fn atomic(name: &str, modifiers: &[&str]) -> Option<(AccessedMemory, AtomicOperation)> {
    let (access, returns) = match name {
        "ATOMG" => (AccessedMemory::Global, true),
        "ATOM" => (AccessedMemory::Generic, true),
        "ATOMS" => (AccessedMemory::Small(Space::Shared), true),
        "REDG" => (AccessedMemory::Global, false),
        "RED" => (AccessedMemory::Generic, false),
        _ => return None,
    };
    let mut words = OpcodeModifiers(modifiers.to_vec());
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
    let generic = access == AccessedMemory::Generic && returns;
    Some((access, AtomicOperation { change, bytes, signed, returns, generic }))
}

/// `SHFL.IDX`, `VOTE.ANY`, `MATCH.ANY.U64`, `REDUX.SUM.S32`
pub(super) fn exchange(name: &str, modifiers: &[&str]) -> Option<LaneExchange> {
    Some(match (name, modifiers) {
        ("SHFL", ["UP"]) => LaneExchange::Up,
        ("SHFL", ["DOWN"]) => LaneExchange::Down,
        ("SHFL", ["BFLY"]) => LaneExchange::Butterfly,
        ("SHFL", ["IDX"]) => LaneExchange::Index,
        ("VOTE" | "VOTEU", ["ANY"]) => LaneExchange::Any,
        ("VOTE" | "VOTEU", ["ALL"]) => LaneExchange::All,
        ("VOTE" | "VOTEU", ["EQ"]) => LaneExchange::Equal,
        ("MATCH", ["ANY"]) => LaneExchange::MatchAny { pair: false },
        ("MATCH", ["ANY", "U64"]) => LaneExchange::MatchAny { pair: true },
        ("MATCH", ["ALL"]) => LaneExchange::MatchAll { pair: false },
        ("MATCH", ["ALL", "U64"]) => LaneExchange::MatchAll { pair: true },
        ("REDUX", ["SUM"] | ["SUM", "S32"]) => LaneExchange::Sum,
        ("REDUX" | "CREDUX", ["MIN"]) => LaneExchange::Least { signed: false },
        ("REDUX" | "CREDUX", ["MIN", "S32"]) => LaneExchange::Least { signed: true },
        ("REDUX" | "CREDUX", ["MAX"]) => LaneExchange::Greatest { signed: false },
        ("REDUX" | "CREDUX", ["MAX", "S32"]) => LaneExchange::Greatest { signed: true },
        ("REDUX", []) => LaneExchange::And,
        ("REDUX", ["OR"]) => LaneExchange::Or,
        ("REDUX", ["XOR"]) => LaneExchange::Xor,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::operation::{SassOperation, decode};
    use super::*;

    #[test]
    fn a_modifier_that_is_not_known_makes_the_opcode_unknown() {
        let least = AtomicOperation {
            change: MemoryChange::Least,
            bytes: 8,
            signed: true,
            returns: true,
            generic: false,
        };
        for (text, expected) in [
            ("ATOMG.E.MIN.S64.STRONG.GPU", SassOperation::Atomic(AccessedMemory::Global, least)),
            ("ATOMG.E.MIN.S64.STRONG.GPU.FTZ", SassOperation::Unknown),
            ("ATOMG.E.ADD.F32.STRONG.GPU", SassOperation::Unknown),
            ("ATOMS.CAST.SPIN", SassOperation::Unknown),
            ("ATOMS.POPC.INC.32", SassOperation::Unknown),
            ("QSPC.E.S", SassOperation::IsShared),
            ("QSPC.E.L", SassOperation::Unknown),
            ("REDUX.MIN.S32", SassOperation::Exchange(LaneExchange::Least { signed: true })),
            ("REDUX.MIN.F32", SassOperation::Unknown),
            ("VOTE.ANY", SassOperation::Exchange(LaneExchange::Any)),
            ("SHFL", SassOperation::Unknown),
            ("VABSDIFF4.S8.ACC", SassOperation::Unknown),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
