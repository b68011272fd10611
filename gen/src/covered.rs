//! What was covered of the grammar, by name, and of what a generator has.

use crate::{
    coverage::Coverage,
    generator::Generator,
    grammar::{Nonterminal, Production, ProductionId, productions},
};

impl Coverage {
    /// Every production that was made, by name, with how often.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        productions().map(|id| (id.get().name, self.count(id))).filter(|&(_, count)| count > 0)
    }

    /// Every pair that was made, by the names of parent and child.
    pub fn pairs_made(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let children = |parent| productions().map(move |child| (parent, child));
        productions()
            .flat_map(children)
            .filter(|&(parent, child)| self.has_pair(parent, child))
            .map(|(parent, child)| (parent.get().name, child.get().name))
    }

    /// Enters what another coverage told of itself, from [`Coverage::counts`] and [`Coverage::pairs_made`]. Returns the
    /// first name that is none of a production.
    ///
    /// # Errors
    /// That name; what came before it is entered.
    pub fn enter<'n>(
        &mut self,
        counts: impl IntoIterator<Item = (&'n str, u64)>,
        pairs: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<(), &'n str> {
        let find = |name| productions().find(|id| id.get().name == name).ok_or(name);
        for (name, count) in counts {
            self.add(find(name)?, count);
        }
        for (parent, child) in pairs {
            self.add_pair(find(parent)?, find(child)?);
        }
        Ok(())
    }

    /// The productions that the generator has and that were never made, in the order of the table.
    pub fn missing(&self, of: &Generator) -> impl Iterator<Item = &'static Production> {
        productions().filter(|&id| of.enables(id) && self.count(id) == 0).map(ProductionId::get)
    }

    /// The pairs that the generator may make and that were never made, in the order of the table.
    pub fn missing_pairs(
        &self,
        of: &Generator,
    ) -> impl Iterator<Item = (&'static Production, &'static Production)> {
        feasible_pairs(of)
            .filter(|&(parent, child)| !self.has_pair(parent, child))
            .map(|(p, c)| (p.get(), c.get()))
    }

    /// How many productions were made, and how many the generator has.
    pub fn productions(&self, of: &Generator) -> (usize, usize) {
        let all = productions().filter(|&id| of.enables(id)).count();
        (all - self.missing(of).count(), all)
    }

    /// How many pairs were made, and how many the generator may make.
    pub fn pairs(&self, of: &Generator) -> (usize, usize) {
        let all = feasible_pairs(of).count();
        (all - self.missing_pairs(of).count(), all)
    }

    /// The clauses that the productions made exercise, each once, in the order of the table.
    pub fn clauses(&self) -> Vec<&'static str> {
        let mut clauses = Vec::new();
        for production in productions().filter(|&id| self.count(id) > 0).map(ProductionId::get) {
            if !clauses.contains(&production.clause) {
                clauses.push(production.clause);
            }
        }
        clauses
    }
}

/// Every pair of productions that the generator has of which the second may stand directly beneath the first.
pub fn feasible_pairs(of: &Generator) -> impl Iterator<Item = (ProductionId, ProductionId)> {
    productions().filter(|&parent| of.enables(parent)).flat_map(move |parent| {
        let beneath = move |of: Nonterminal| parent.get().parts().any(|part| part == of);
        productions()
            .filter(move |&child| of.enables(child) && beneath(child.get().of))
            .map(move |child| (parent, child))
    })
}
