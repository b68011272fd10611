//! Coverage of the clauses by accepted and by rejected cases.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Clause, Observed};

use crate::case::Case;

/// A clause and the cases that test it, ordered by id.
#[derive(Clone, Debug)]
pub struct Covered<'a> {
    /// The covered clause.
    pub clause: Clause,
    /// Cases that are accepted by default, including the valid counterparts of the rejected ones.
    pub positive: Vec<&'a Case>,
    /// Cases that are rejected by default.
    pub negative: Vec<&'a Case>,
}

/// Clauses that are observed in values, layout or addresses but also reject programs: each describes a form, and a
/// program that violates the form is invalid.
pub const ALSO_REFUSE: &[Clause] = &[
    Clause::Division,
    Clause::RemUnsigned,
    Clause::FloatDecimal,
    Clause::FloatExponent,
    Clause::Dimension,
    Clause::VectorList,
    Clause::VariableAddress,
    Clause::AddressOffset,
    Clause::Generic,
    Clause::KernelAddress,
    Clause::ParameterizedNames,
    Clause::Managed,
    Clause::Unified,
];

impl Covered<'_> {
    /// Returns true if a program that violates the clause can be invalid.
    pub fn can_be_refused(&self) -> bool {
        self.clause.observed() == Observed::Refusal || ALSO_REFUSE.contains(&self.clause)
    }
}

/// Returns every clause with the cases that test it, in the order of the specification.
pub fn coverage(cases: &[Case]) -> Vec<Covered<'_>> {
    let of = |&clause: &Clause| {
        let about = |case: &Case| case.clauses.contains(&clause);
        let negative: Vec<&Case> = cases.iter().filter(|case| case.is_refused() && about(case)).collect();
        let counterparts: BTreeSet<&str> =
            negative.iter().filter_map(|case| case.counterpart.as_deref()).collect();
        let keeps =
            |case: &&Case| !case.is_refused() && (about(case) || counterparts.contains(case.id.as_str()));
        Covered { clause, positive: cases.iter().filter(keeps).collect(), negative }
    };
    Clause::ALL.iter().map(of).collect()
}
