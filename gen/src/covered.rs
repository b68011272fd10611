//! Reports coverage by the names of productions, and compares it with the productions that a generator enables.

use crate::{
    coverage::Coverage,
    generator::Generator,
    grammar::{Production, ProductionId, productions},
};

impl Coverage {
    /// Returns the name of every production that was generated, with its count.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        productions().map(|id| (id.get().name, self.count(id))).filter(|&(_, count)| count > 0)
    }

    /// Returns the names of parent and child for every pair that was generated.
    pub fn pairs_made(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        productions().flat_map(move |parent| {
            let children = productions().filter(move |&child| self.has_pair(parent, child));
            children.map(move |child| (parent.get().name, child.get().name))
        })
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
        for (name, count) in counts {
            self.add(production_named(name)?, count);
        }
        for (parent, child) in pairs {
            self.add_pair(production_named(parent)?, production_named(child)?);
        }
        Ok(())
    }

    /// Returns the productions that the generator enables but never generated, in table order.
    pub fn missing(&self, generator: &Generator) -> impl Iterator<Item = &'static Production> {
        productions().filter(|&id| generator.enables(id) && self.count(id) == 0).map(ProductionId::get)
    }

    /// Returns the pairs that the generator can generate but never did, in table order.
    pub fn missing_pairs(
        &self,
        generator: &Generator,
    ) -> impl Iterator<Item = (&'static Production, &'static Production)> {
        feasible_pairs(generator)
            .filter(|&(parent, child)| !self.has_pair(parent, child))
            .map(|(p, c)| (p.get(), c.get()))
    }

    /// Returns the number of generated productions, and the number that the generator enables.
    pub fn productions(&self, generator: &Generator) -> (usize, usize) {
        let enabled = productions().filter(|&id| generator.enables(id)).count();
        (enabled - self.missing(generator).count(), enabled)
    }

    /// Returns the number of generated pairs, and the number that the generator can generate.
    pub fn pairs(&self, generator: &Generator) -> (usize, usize) {
        let feasible = feasible_pairs(generator).count();
        (feasible - self.missing_pairs(generator).count(), feasible)
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

/// Finds a production by name. `Err` holds the name if there is none.
fn production_named(name: &str) -> Result<ProductionId, &str> {
    productions().find(|id| id.get().name == name).ok_or(name)
}

/// Returns every pair of enabled productions in which the second can occur directly beneath the first.
pub fn feasible_pairs(generator: &Generator) -> impl Iterator<Item = (ProductionId, ProductionId)> {
    productions().filter(|&parent| generator.enables(parent)).flat_map(move |parent| {
        let children = productions().filter(move |&child| {
            generator.enables(child) && parent.get().parts().any(|part| part == child.get().of)
        });
        children.map(move |child| (parent, child))
    })
}
