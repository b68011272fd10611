//! The weights of the productions, where a configuration changes them.

use std::collections::BTreeMap;

use crate::nonterminal::ProductionId;

/// How often each production is chosen, relative to the others of its nonterminal.
///
/// Begins with the weights of the table. The first production of a nonterminal is the smallest one, which must
/// remain for when the bytes run out: its weight does not fall below one. Productions whose table entry states odds
/// take those from the [`Config`](crate::Config); here they can only be switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    changed: BTreeMap<ProductionId, u16>,
}

impl Weights {
    /// The weight of a production that was changed.
    pub(crate) fn changed(&self, production: ProductionId) -> Option<u16> {
        self.changed.get(&production).copied()
    }

    pub(crate) fn change(&mut self, production: ProductionId, weight: u16) {
        self.changed.insert(production, weight);
    }
}

/// A name that no production has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProduction(pub String);

impl std::fmt::Display for UnknownProduction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no production is named `{}`", self.0)
    }
}

impl std::error::Error for UnknownProduction {}
