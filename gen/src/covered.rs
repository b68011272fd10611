//! Reports coverage by the names of productions, and compares it with the productions that a generator enables.

use crate::{
    coverage::Coverage,
    generator::Generator,
    grammar::{Nonterminal, Production, ProductionId, productions},
};

impl Coverage {
    /// Returns the name of every production that was generated, with its count.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        productions().map(|id| (id.get().name, self.count(id))).filter(|&(_, count)| count > 0)
    }

    /// Returns the names of parent and child for every pair that was generated.
    pub fn pairs_made(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let children = |parent| productions().map(move |child| (parent, child));
        productions()
            .flat_map(children)
            .filter(|&(parent, child)| self.has_pair(parent, child))
            .map(|(parent, child)| (parent.get().name, child.get().name))
    }

    /// Adds the coverage that another [`Coverage`] reported by [`Coverage::counts`] and [`Coverage::pairs_made`].
    ///
    /// # Errors
    /// If a name is not the name of a production: that name. The entries before it have been added.
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

    /// Returns the productions that the generator enables but never generated, in table order.
    pub fn missing(&self, of: &Generator) -> impl Iterator<Item = &'static Production> {
        productions().filter(|&id| of.enables(id) && self.count(id) == 0).map(ProductionId::get)
    }

    /// Returns the pairs that the generator can generate but never did, in table order.
    pub fn missing_pairs(
        &self,
        of: &Generator,
    ) -> impl Iterator<Item = (&'static Production, &'static Production)> {
        feasible_pairs(of)
            .filter(|&(parent, child)| !self.has_pair(parent, child))
            .map(|(p, c)| (p.get(), c.get()))
    }

    /// Returns the number of generated productions, and the number that the generator enables.
    pub fn productions(&self, of: &Generator) -> (usize, usize) {
        let all = productions().filter(|&id| of.enables(id)).count();
        (all - self.missing(of).count(), all)
    }

    /// Returns the number of generated pairs, and the number that the generator can generate.
    pub fn pairs(&self, of: &Generator) -> (usize, usize) {
        let all = feasible_pairs(of).count();
        (all - self.missing_pairs(of).count(), all)
    }

    /// Returns the clauses that the generated productions exercise, each once, in table order.
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

/// Returns every pair of enabled productions in which the second can occur directly beneath the first.
pub fn feasible_pairs(of: &Generator) -> impl Iterator<Item = (ProductionId, ProductionId)> {
    productions().filter(|&parent| of.enables(parent)).flat_map(move |parent| {
        let beneath = move |of: Nonterminal| parent.get().parts().any(|part| part == of);
        productions()
            .filter(move |&child| of.enables(child) && beneath(child.get().of))
            .map(move |child| (parent, child))
    })
}
