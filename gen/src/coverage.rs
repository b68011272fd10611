//! Coverage of productions and of parent-child pairs of productions.

use crate::nonterminal::ProductionId;

/// The number of values of a [`ProductionId`], `NONE` included.
const PRODUCTIONS: usize = ProductionId::NONE.index() + 1;
const WORDS: usize = PRODUCTIONS / 64;

/// Counts of productions, and a bit for each pair of a production and one directly beneath it.
///
/// Recording is two additions, so it is left on always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    counts: Box<[u64; PRODUCTIONS]>,
    /// One row per parent, including `NONE`, so that recording needs no check.
    pairs: Box<[[u64; WORDS]; PRODUCTIONS]>,
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage { counts: Box::new([0; PRODUCTIONS]), pairs: Box::new([[0; WORDS]; PRODUCTIONS]) }
    }
}

impl Coverage {
    /// Creates an empty coverage.
    pub fn new() -> Coverage {
        Coverage::default()
    }

    #[inline]
    pub(crate) fn record(&mut self, parent: ProductionId, made: ProductionId) {
        self.add(made, 1);
        self.add_pair(parent, made);
    }

    /// Adds to the count of a production.
    #[inline]
    pub(crate) fn add(&mut self, made: ProductionId, count: u64) {
        self.counts[made.index()] += count;
    }

    #[inline]
    pub(crate) fn add_pair(&mut self, parent: ProductionId, made: ProductionId) {
        self.pairs[parent.index()][made.index() / 64] |= 1 << (made.index() % 64);
    }

    /// Adds what another coverage recorded.
    pub fn merge(&mut self, other: &Coverage) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count += more;
        }
        for (bits, more) in self.pairs.iter_mut().flatten().zip(other.pairs.iter().flatten()) {
            *bits |= more;
        }
    }

    /// Returns the number of times that a production was generated.
    pub fn count(&self, production: ProductionId) -> u64 {
        self.counts[production.index()]
    }

    /// Returns true if a production was generated directly beneath another.
    pub fn has_pair(&self, parent: ProductionId, child: ProductionId) -> bool {
        self.pairs[parent.index()][child.index() / 64] >> (child.index() % 64) & 1 == 1
    }
}
