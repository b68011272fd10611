//! The weights of the productions, which a configuration may change.

use crate::grammar::{GRAMMAR, Production, ProductionId, Weight};

/// How often each production is chosen, relative to the others of its nonterminal.
///
/// Begins with the weights of the table. The first production of a nonterminal is the smallest one, which must
/// remain for when the bytes run out: its weight does not fall below one. Productions whose table entry states odds
/// take those from the [`Config`](crate::Config); here they can only be switched off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    of: Box<[u16]>,
}

impl Default for Weights {
    fn default() -> Weights {
        let of = GRAMMAR.iter().map(|production| match production.weight {
            Weight::Of(weight) => weight,
            Weight::Odds(_) => 1,
        });
        Weights { of: of.collect() }
    }
}

impl Weights {
    /// The weight of a production.
    pub fn get(&self, production: ProductionId) -> u16 {
        self.of[production.index()]
    }

    /// Changes the weight of a production.
    ///
    /// The first of a nonterminal keeps at least a weight of one.
    pub fn set(&mut self, production: ProductionId, weight: u16) {
        let least = u16::from(production.is_first());
        self.of[production.index()] = weight.max(least);
    }

    /// Changes the weight of the production of this name; an error where there is none.
    pub fn set_by_name(&mut self, name: &str, weight: u16) -> Result<(), UnknownProduction> {
        let production = Production::by_name(name).ok_or_else(|| UnknownProduction(name.to_owned()))?;
        self.set(production, weight);
        Ok(())
    }

    pub(crate) fn switch_off(&mut self, production: ProductionId) {
        self.set(production, 0);
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
