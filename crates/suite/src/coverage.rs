//! Which clauses a suite shows, from both sides.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Clause, Observed};

use crate::case::Case;

/// The cases that are about one clause, by id.
#[derive(Clone, Debug)]
pub struct Covered<'a> {
    /// The clause.
    pub clause: Clause,
    /// Cases that are accepted by default, the valid counterparts of those that are refused among them.
    pub positive: Vec<&'a Case>,
    /// Cases that are refused by default.
    pub negative: Vec<&'a Case>,
}

/// Clauses that are seen in values, layout or addresses and that refuse programs as well: each states a form, and a
/// program of another form breaks it.
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
    /// Whether programs can break the clause so that they must be refused.
    pub fn can_be_refused(&self) -> bool {
        self.clause.observed() == Observed::Refusal || ALSO_REFUSE.contains(&self.clause)
    }
}

/// Every clause with the cases that are about it, in the order of the text.
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
