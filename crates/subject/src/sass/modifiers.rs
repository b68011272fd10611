//! The modifiers of an opcode, and the memory that it reaches.

use ptxsmith_model::Space;

/// The memory that an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessedMemory {
    Generic,
    Global,
    /// A state space with 32-bit addresses.
    Small(Space),
}

/// The modifiers of an opcode. Decoding removes them; any that remain are unknown.
pub(super) struct OpcodeModifiers<'a>(pub Vec<&'a str>);

impl OpcodeModifiers<'_> {
    /// Removes a modifier; returns whether it was present.
    pub fn take(&mut self, modifier: &str) -> bool {
        let index = self.0.iter().position(|present| *present == modifier);
        index.map(|index| self.0.remove(index)).is_some()
    }

    /// Removes modifiers that have no effect here.
    pub fn ignore(&mut self, modifiers: &[&str]) {
        self.0.retain(|present| !modifiers.contains(present));
    }
}
