//! Sets of clauses.

use std::fmt;

use super::Clause;

/// A small, `Copy` set of clauses. Equal sets compare equal, whatever the order of insertion.
///
/// Sets are totally ordered, but the order has no meaning.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClauseSet([u64; ClauseSet::N]);

impl ClauseSet {
    /// The number of 64-bit words that hold one bit per clause.
    pub const N: usize = Clause::ALL.len().div_ceil(64);

    /// The empty set.
    pub const EMPTY: Self = Self([0; Self::N]);

    /// Returns the set of all clauses.
    pub fn all() -> Self {
        Clause::ALL.iter().copied().collect()
    }

    /// Adds a clause. Returns true if it was not in the set.
    pub const fn insert(&mut self, clause: Clause) -> bool {
        let (word, bit) = Self::place(clause);
        let fresh = self.0[word] & bit == 0;
        self.0[word] |= bit;
        fresh
    }

    /// Adds a clause if a condition holds.
    pub(crate) const fn insert_if(&mut self, condition: bool, clause: Clause) {
        let (word, bit) = Self::place(clause);
        self.0[word] |= bit * condition as u64;
    }

    /// Whether the set contains a clause.
    pub const fn contains(&self, clause: Clause) -> bool {
        let (word, bit) = Self::place(clause);
        self.0[word] & bit != 0
    }

    /// Returns the clauses that are in either set.
    #[must_use]
    pub const fn union(mut self, other: Self) -> Self {
        let mut word = 0;
        while word < Self::N {
            self.0[word] |= other.0[word];
            word += 1;
        }
        self
    }

    /// Returns the clauses that are in both sets.
    #[must_use]
    pub const fn intersection(mut self, other: Self) -> Self {
        let mut word = 0;
        while word < Self::N {
            self.0[word] &= other.0[word];
            word += 1;
        }
        self
    }

    /// Whether any clause is in both sets.
    pub const fn meets(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Returns the bits of the clauses, 64 per word, in the order of [`Clause::ALL`].
    pub const fn words(self) -> [u64; Self::N] {
        self.0
    }

    /// Returns the number of clauses.
    pub const fn len(&self) -> usize {
        let mut count = 0;
        let mut word = 0;
        while word < Self::N {
            count += self.0[word].count_ones() as usize;
            word += 1;
        }
        count
    }

    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        let (mut any, mut word) = (0, 0);
        while word < Self::N {
            any |= self.0[word];
            word += 1;
        }
        any == 0
    }

    /// Iterates over the clauses in table order.
    pub fn iter(&self) -> Iter {
        Iter { rest: self.0, word: 0 }
    }

    const fn place(clause: Clause) -> (usize, u64) {
        let index = clause as usize;
        (index / 64, 1 << (index % 64))
    }
}

impl From<Clause> for ClauseSet {
    fn from(clause: Clause) -> Self {
        let mut set = Self::EMPTY;
        set.insert(clause);
        set
    }
}

impl<const K: usize> From<[Clause; K]> for ClauseSet {
    fn from(clauses: [Clause; K]) -> Self {
        clauses.into_iter().collect()
    }
}

impl FromIterator<Clause> for ClauseSet {
    fn from_iter<T: IntoIterator<Item = Clause>>(clauses: T) -> Self {
        let mut set = Self::EMPTY;
        set.extend(clauses);
        set
    }
}

impl Extend<Clause> for ClauseSet {
    fn extend<T: IntoIterator<Item = Clause>>(&mut self, clauses: T) {
        for clause in clauses {
            self.insert(clause);
        }
    }
}

impl IntoIterator for ClauseSet {
    type Item = Clause;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl IntoIterator for &ClauseSet {
    type Item = Clause;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl fmt::Debug for ClauseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Clause::id)).finish()
    }
}

/// Iterator over the clauses of a [`ClauseSet`], in table order.
#[derive(Clone, Debug)]
pub struct Iter {
    rest: [u64; ClauseSet::N],
    word: usize,
}

impl Iterator for Iter {
    type Item = Clause;

    fn next(&mut self) -> Option<Clause> {
        while let Some(bits) = self.rest.get_mut(self.word) {
            if *bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                return Clause::ALL.get(self.word * 64 + bit).copied();
            }
            self.word += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_meet_where_a_clause_is_in_both() {
        let (first, last) = (Clause::ALL[0], Clause::ALL[Clause::ALL.len() - 1]);
        let both = ClauseSet::from([first, last]);
        assert!(both.meets(last.into()) && both.meets(first.into()));
        assert!(!ClauseSet::from(first).meets(last.into()) && !ClauseSet::EMPTY.meets(both));
        assert!(ClauseSet::EMPTY.is_empty() && !both.is_empty());
        assert_eq!(both.words()[0], 1);
        assert_eq!(both.words()[ClauseSet::N - 1], 1 << ((Clause::ALL.len() - 1) % 64));
    }

    #[test]
    fn a_set_contains_the_inserted_clauses() {
        for clause in Clause::ALL {
            let mut set = ClauseSet::default();
            assert!(!set.contains(clause));
            assert!(set.insert(clause));
            assert!(!set.insert(clause));
            assert!(set.contains(clause));
            assert_eq!(set.len(), 1);
            assert_eq!(set.iter().collect::<Vec<_>>(), [clause]);
        }
    }

    #[test]
    fn a_set_iterates_in_table_order_however_it_was_filled() {
        let backwards: ClauseSet = Clause::ALL.iter().rev().copied().collect();
        assert_eq!(backwards, ClauseSet::all());
        assert_eq!(backwards.len(), Clause::ALL.len());
        assert_eq!(backwards.iter().collect::<Vec<_>>(), Clause::ALL);
    }

    #[test]
    fn union_and_intersection_are_those_of_sets() {
        let a = ClauseSet::from([Clause::RemUnsigned, Clause::MoveKernelAddress]);
        let b = ClauseSet::from([Clause::RemUnsigned, Clause::ConstantInInitializer]);
        assert_eq!(a.union(b).len(), 3);
        assert_eq!(a.intersection(b), Clause::RemUnsigned.into());
        assert!(ClauseSet::EMPTY.is_empty());
        assert_eq!(ClauseSet::EMPTY.union(a), a);
        assert_eq!(format!("{:?}", a.intersection(b)), r#"{"4.5.5/rem-unsigned"}"#);
    }
}
