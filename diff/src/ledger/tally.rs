//! What was seen of each clause.

use ptxsmith_oracle::{Clause, ClauseSet};

use crate::verdict::Class;

/// What became of the programs that rest on one clause. A program that conforms counts for every clause that it rests
/// on; one that deviates only for those that it breaks, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// They hold what the specification says.
    pub conform: u64,
    /// They hold something else, or the subject contradicts itself.
    pub deviates: u64,
    /// They are valid and refused.
    pub refuses_valid: u64,
    /// They are invalid and taken.
    pub accepts_invalid: u64,
    /// The subject dies or hangs.
    pub crashed: u64,
    /// The subject says that it lacks this part of the language.
    pub unsupported: u64,
}

impl Tally {
    /// How many were compared.
    pub fn compared(&self) -> u64 {
        self.conform + self.deviates + self.refuses_valid + self.accepts_invalid + self.crashed
    }

    /// The counts in the order of the fields.
    pub fn counts(&self) -> [u64; 6] {
        let Tally { conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported } = *self;
        [conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported]
    }

    /// The tally with these counts.
    pub fn from_counts(counts: [u64; 6]) -> Tally {
        let [conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported] = counts;
        Tally { conform, deviates, refuses_valid, accepts_invalid, crashed, unsupported }
    }
}

/// A tally for every clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tallies(Vec<Tally>);

impl Default for Tallies {
    fn default() -> Tallies {
        Tallies(vec![Tally::default(); Clause::ALL.len()])
    }
}

impl Tallies {
    /// The tally of one clause.
    pub fn of(&self, clause: Clause) -> Tally {
        self.0[clause as usize]
    }

    /// The clauses of which anything was seen.
    pub fn iter(&self) -> impl Iterator<Item = (Clause, Tally)> {
        let all = Clause::ALL.iter().map(|&clause| (clause, self.of(clause)));
        all.filter(|(_, tally)| *tally != Tally::default())
    }

    pub(super) fn conforms(&mut self, clauses: ClauseSet) {
        clauses.iter().for_each(|clause| self.0[clause as usize].conform += 1);
    }

    pub(super) fn conform_many(&mut self, clause: Clause, count: u64) {
        self.0[clause as usize].conform += count;
    }

    pub(super) fn unsupported(&mut self, clauses: ClauseSet) {
        clauses.iter().for_each(|clause| self.0[clause as usize].unsupported += 1);
    }

    pub(super) fn deviate_many(&mut self, clause: Clause, class: Class, count: u64) {
        let tally = &mut self.0[clause as usize];
        *match class {
            Class::Crash | Class::Hang => &mut tally.crashed,
            Class::RefusesValid => &mut tally.refuses_valid,
            Class::AcceptsInvalid => &mut tally.accepts_invalid,
            Class::WrongValue | Class::WrongAddress | Class::WrongLayout | Class::Inconsistent => {
                &mut tally.deviates
            }
        } += count;
    }

    pub(super) fn set(&mut self, clause: Clause, tally: Tally) {
        self.0[clause as usize] = tally;
    }

    pub(super) fn merge(&mut self, other: &Tallies) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            let (a, b) = (mine.counts(), theirs.counts());
            *mine = Tally::from_counts(std::array::from_fn(|at| a[at] + b[at]));
        }
    }
}
