//! The stretches of a kernel between two barriers, and the unparsed instructions that part them.

use std::collections::BTreeSet;

use ptxsmith_syntax::{Operand, StateSpace};

use super::super::names::{Body, Kept};

pub(super) type Place = (StateSpace, u64);

/// The bytes that a lane reads and writes between two barriers, outside of its own memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    pub read: BTreeSet<Place>,
    pub written: BTreeSet<Place>,
}

impl Phase {
    pub fn reads(&mut self, (space, at): Place, width: usize) {
        if is_common(space) {
            let places = (at..).take(width).map(|at| (space, at));
            self.read.extend(places.filter(|place| !self.written.contains(place)));
        }
    }

    pub fn writes(&mut self, (space, at): Place, width: usize) {
        if is_common(space) {
            self.written.extend((at..).take(width).map(|at| (space, at)));
        }
    }
}

/// Whether the lanes share a state space.
fn is_common(space: StateSpace) -> bool {
    !matches!(space, StateSpace::Local | StateSpace::Param)
}

/// What an unparsed instruction means for a kernel that runs over numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Nothing: it orders accesses.
    Nothing,
    /// The threads of the block, or of the warp, wait for each other.
    Barrier,
}

/// Returns the meaning of an unparsed instruction; `None` if it is not modelled.
pub(super) fn pause(kept: &Kept<'_>) -> Option<Pause> {
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
pub(in super::super) fn asks_lane(body: &Body<'_>) -> bool {
    let is_of_lane = |name: &str| name == "%tid" || name.starts_with("%lane");
    let mut operands = body.lines.iter().flat_map(|line| &line.instruction.operands);
    operands.any(|operand| match operand {
        Operand::Component(name, _) => is_of_lane(&name.text),
        Operand::Value(expr) => expr.as_name().is_some_and(|name| is_of_lane(&name.text)),
        _ => false,
    })
}

/// Whether a kernel waits at a barrier.
pub(in super::super) fn has_barrier(body: &Body<'_>) -> bool {
    body.kept.values().flatten().any(|kept| pause(kept) == Some(Pause::Barrier))
}
