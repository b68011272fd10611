//! The shape of a variable: its scalars and how they are grouped.

use ptxsmith_syntax::ScalarType;

use crate::rules::Rules;

/// The type of a variable: its scalars and how they are grouped.
#[derive(Clone, Debug)]
pub(crate) struct VariableShape {
    pub scalar: ScalarType,
    pub(super) scalar_size: u64,
    /// The number of scalars in a vector, if the type is a vector.
    pub vector: Option<u64>,
    /// The extents of the array, outermost first.
    pub extents: Vec<u64>,
}

impl VariableShape {
    /// Returns the number of levels of braces: one per dimension, plus one for a vector.
    pub(super) fn levels(&self) -> usize {
        self.extents.len() + usize::from(self.vector.is_some())
    }

    pub(super) fn extent(&self, level: usize) -> u64 {
        self.extents.get(level).copied().or(self.vector).unwrap_or(1)
    }

    pub(super) fn is_vector_level(&self, level: usize) -> bool {
        level == self.extents.len()
    }

    /// Returns the number of scalars in an entry of this level; `None` if 64 bits cannot hold it.
    pub(super) fn stride(&self, level: usize) -> Option<u64> {
        let inner = self.extents.get(level + 1..).unwrap_or(&[]);
        let vector = if level < self.extents.len() { self.vector.unwrap_or(1) } else { 1 };
        inner.iter().try_fold(vector, |product, &extent| product.checked_mul(extent))
    }

    /// Returns the size in bytes (5.4.3), by the rule [`Size`](crate::rules::Size).
    pub fn size(&self, rules: &Rules) -> u64 {
        rules.layout.size.apply(&self.extents, self.vector.unwrap_or(1) * self.scalar_size)
    }
}
