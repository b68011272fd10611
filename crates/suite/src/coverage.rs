//! Coverage of the clauses by accepted and by rejected cases.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Clause, Observed};

use crate::case::SuiteCase;

/// A clause and the cases that test it, ordered by id.
#[derive(Clone, Debug)]
pub struct CoveredClause<'a> {
    /// The covered clause.
    pub clause: Clause,
    /// Cases that are accepted by default, including the valid counterparts of the rejected ones.
    pub positive: Vec<&'a SuiteCase>,
    /// Cases that are rejected by default.
    pub negative: Vec<&'a SuiteCase>,
}

/// Clauses that are observed in values, layout or addresses but also reject programs: each describes a form,
/// and a program that violates the form is invalid.
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

impl<'a> CoveredClause<'a> {
    fn new(clause: Clause, cases: &'a [SuiteCase]) -> CoveredClause<'a> {
        let (mut negative, mut positive): (Vec<&SuiteCase>, Vec<&SuiteCase>) =
            cases.iter().partition(|case| case.is_refused());
        negative.retain(|case| case.clauses.contains(&clause));
        let counterparts: BTreeSet<&str> =
            negative.iter().filter_map(|case| case.counterpart.as_deref()).collect();
        positive.retain(|case| case.clauses.contains(&clause) || counterparts.contains(case.id.as_str()));
        CoveredClause { clause, positive, negative }
    }

    /// Returns true if a program that violates the clause can be invalid.
    pub fn can_be_refused(&self) -> bool {
        self.clause.observed() == Observed::Refusal || ALSO_REFUSE.contains(&self.clause)
    }
}

/// Returns every clause with the cases that test it, in the order of the specification.
pub fn coverage(cases: &[SuiteCase]) -> Vec<CoveredClause<'_>> {
    Clause::ALL.iter().map(|&clause| CoveredClause::new(clause, cases)).collect()
}
