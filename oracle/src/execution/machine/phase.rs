//! The stretches of a kernel between two barriers, and the unparsed instructions that part them.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{Operand, StateSpace};

use super::super::names::{ResolvedFunction, ScopedTokens};

pub(super) type MemoryPlace = (StateSpace, u64);

/// The bytes that lanes have written where all of them see it; `None` if a byte is not known.
pub(super) type SharedBytes = BTreeMap<MemoryPlace, Option<u8>>;

/// The bytes that a lane reads and writes between two barriers, outside of its own memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    pub read: BTreeSet<MemoryPlace>,
    pub written: BTreeSet<MemoryPlace>,
}

impl Phase {
    pub fn reads(&mut self, (space, at): MemoryPlace, width: usize) {
        if is_shared(space) {
            let places = (at..).take(width).map(|at| (space, at));
            self.read.extend(places.filter(|place| !self.written.contains(place)));
        }
    }

    pub fn writes(&mut self, (space, at): MemoryPlace, width: usize) {
        if is_shared(space) {
            self.written.extend((at..).take(width).map(|at| (space, at)));
        }
    }
}

/// Whether the lanes share a state space.
pub(super) fn is_shared(space: StateSpace) -> bool {
    !matches!(space, StateSpace::Local | StateSpace::Param)
}

/// The effect of an unparsed instruction on a kernel that runs over numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Nothing: it orders accesses.
    Nothing,
    /// The threads of the block, or of the warp, wait for each other.
    Barrier,
}

/// Returns the meaning of an unparsed instruction; `None` if it is not modelled.
pub(super) fn pause(kept: &ScopedTokens<'_>) -> Option<Pause> {
    let text: String = kept.tokens.iter().map(|token| token.text.as_str()).collect();
    const BARRIERS: [&str; 6] = [
        "bar.sync0",
        "bar.cta.sync0",
        "barrier.sync0",
        "barrier.sync.aligned0",
        "barrier.cta.sync0",
        "barrier.cta.sync.aligned0",
    ];
    let text = text.trim_end_matches(';');
    if BARRIERS.contains(&text) {
        return Some(Pause::Barrier);
    }
    let is_fence = text.starts_with("membar.") || text.starts_with("fence.");
    let is_plain =
        text.split('.').skip(1).all(|word| ["cta", "gl", "gpu", "sys", "sc", "acq_rel"].contains(&word));
    (is_fence && is_plain).then_some(Pause::Nothing)
}

/// Whether the text of a kernel asks which thread of its warp it runs on.
pub(in super::super) fn asks_lane(body: &ResolvedFunction<'_>) -> bool {
    let mut operands = body.lines.iter().flat_map(|line| &line.instruction.operands);
    operands.any(|operand| match operand {
        Operand::Component(name, _) => differs_by_lane(&name.text),
        Operand::Value(expr) => expr.as_name().is_some_and(|name| differs_by_lane(&name.text)),
        _ => false,
    })
}

/// Whether a special register differs between the lanes of a warp.
fn differs_by_lane(name: &str) -> bool {
    name == "%tid" || name.starts_with("%lane")
}

/// Whether a kernel waits at a barrier.
pub(in super::super) fn has_barrier(body: &ResolvedFunction<'_>) -> bool {
    body.kept.values().flatten().any(|kept| pause(kept) == Some(Pause::Barrier))
}
