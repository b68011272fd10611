//! The least program that shows each clause broken, in each of the ways.

use std::collections::BTreeMap;

use ptxsmith_oracle::Clause;
use ptxsmith_syntax::Header;

use crate::{trial::Trial, verdict::Class};

/// The least program that breaks one clause in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Least {
    /// The trial's number.
    pub trial: u64,
    /// The program.
    pub program: String,
    pub(super) weight: usize,
}

/// The least programs, by clause and way.
///
/// A finding has one program for all clauses and subjects that it is about; here each clause has its own, of this
/// subject, which shows it though the finding's does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeastPrograms(BTreeMap<(Clause, Class), Least>);

impl LeastPrograms {
    /// All of them, in the order of the clauses.
    pub fn iter(&self) -> impl Iterator<Item = (Clause, Class, &Least)> {
        self.0.iter().map(|(&(clause, class), least)| (clause, class, least))
    }

    /// Offers a trial, of this weight. Its text is made only if it is the least so far.
    pub(super) fn offer(&mut self, of: (Clause, Class), trial: &Trial, header: &Header, weight: usize) {
        let is_less = |known: &Least| (weight, trial.id) < (known.weight, known.trial);
        if self.0.get(&of).is_none_or(is_less) {
            self.put(of, Least { trial: trial.id, program: trial.text(header), weight });
        }
    }

    pub(super) fn put(&mut self, of: (Clause, Class), least: Least) {
        self.0.insert(of, least);
    }

    pub(super) fn merge(&mut self, other: LeastPrograms) {
        for (of, theirs) in other.0 {
            let is_less = |mine: &Least| (theirs.weight, theirs.trial) < (mine.weight, mine.trial);
            if self.0.get(&of).is_none_or(is_less) {
                self.put(of, theirs);
            }
        }
    }
}
