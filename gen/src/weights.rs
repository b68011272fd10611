//! The weights of productions that a configuration changes.

use std::collections::BTreeMap;

use crate::nonterminal::ProductionId;

/// How often each production is chosen, relative to the other productions of its nonterminal.
///
/// The default weights are those of the grammar table. The first and smallest production of a nonterminal is needed when the
/// bytes run out, so its weight is at least 1. Productions with odds in the table use the odds of the
/// [`Config`](crate::Config); a weight of 0 disables them, and other weights have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    changed: BTreeMap<ProductionId, u16>,
}

impl Weights {
    /// Returns the weight of a production if it was changed.
    pub(crate) fn changed(&self, production: ProductionId) -> Option<u16> {
        self.changed.get(&production).copied()
    }

    pub(crate) fn change(&mut self, production: ProductionId, weight: u16) {
        self.changed.insert(production, weight);
    }
}

/// The error for a name that no production has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProduction(pub String);

impl std::fmt::Display for UnknownProduction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no production is named `{}`", self.0)
    }
}

impl std::error::Error for UnknownProduction {}
