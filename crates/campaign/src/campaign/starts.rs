//! Records findings about the way in which an implementation was started: a forked process whose result
//! differs from a process started anew.

use ptxsmith_diff::{Class, Difference, Verdict};
use ptxsmith_model::{Expected, FindingKind};
use ptxsmith_subject::{FnSubject, Inconsistency, Observation};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::judges::judge;
use crate::ledger::{FindingName, PendingFinding};
use crate::subjects::TestSubject;

/// Records the modules with a different result in a forked process, and notes if implementations were not
/// started in the way that the user requested.
pub(super) fn enter_inconsistent(campaign: &Campaign<'_>) -> Result<(), Failure> {
    for tested in &campaign.subjects {
        if let Some(note) = tested.subject.note() {
            campaign.session.events.note(&note);
        }
        // Report the first one. After it, each process was started anew.
        let mut unlisted = Vec::new();
        for inconsistency in tested.subject.inconsistencies() {
            if !differs_where_listed(tested, &inconsistency)? {
                unlisted.push(inconsistency);
            }
        }
        let Some(Inconsistency { ptx, forked, started, .. }) =
            unlisted.into_iter().min_by(|a, b| a.ptx.cmp(&b.ptx))
        else {
            continue;
        };
        let difference = Difference::new(Class::Inconsistent, Expected::same_as(started), forked);
        let name = FindingName {
            id: "forked-otherwise".to_owned(),
            kind: FindingKind::Forks,
            title: "it answers otherwise when it is forked than when it is started anew (--start)".to_owned(),
            clauses: Vec::new(),
        };
        let weight = ptx.len();
        tested.ledger().put(PendingFinding::new(name, &difference, ptx, 0, weight));
    }
    Ok(())
}

/// Returns true if the two results differ only in variables, one of them deviates, and all deviations of both are
/// listed: bytes that a listed deviation leaves unwritten hold what lay there before, which differs between
/// processes.
fn differs_where_listed(tested: &TestSubject, inconsistency: &Inconsistency) -> Result<bool, Failure> {
    let Inconsistency { ptx, forked, started, .. } = inconsistency;
    let Ok(module) = ptxsmith_syntax::parse(ptx) else { return Ok(false) };
    let without_variables =
        |result: &Observation| Observation { variables: Default::default(), ..result.clone() };
    if without_variables(forked) != without_variables(started) {
        return Ok(false);
    }
    let mut is_listed = Vec::new();
    for result in [forked, started] {
        let description = tested.subject.description().clone();
        let subject = FnSubject::new("", |_| result.clone()).described(description);
        let parts = judge(&subject, &tested.rules, &module, ptx).map_err(of_subject)?.parts();
        is_listed.extend(parts.iter().filter_map(|part| match &part.verdict {
            Verdict::Deviates(difference) => Some(difference.explanation.is_some()),
            _ => None,
        }));
    }
    Ok(!is_listed.is_empty() && is_listed.iter().all(|is_listed| *is_listed))
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::{Outcome, Request, Variable};
    use ptxsmith_testing::{of_lineage, right};

    use super::super::fake::program;
    use super::*;

    /// Returns what a compiler makes of a variable whose first half is 5.
    fn with_second_half(half: u8) -> Observation {
        let mut bytes = vec![0; 16];
        bytes[0] = 5;
        bytes[8..].fill(half);
        let variable =
            Variable { size: Some(16), align: Some(16), bytes: bytes.into(), ..Variable::default() };
        Observation { variables: [("x".into(), variable)].into(), ..Observation::new(Outcome::Accepted) }
    }

    fn is_listed(declaration: &str, forked: Observation) -> bool {
        let ptx = program(declaration).replace("7.8", "8.3");
        let started = right(&Request::new(&ptx, "sm_80"));
        let inconsistency = Inconsistency { ptx, target: "sm_80".to_owned(), forked, started };
        let tested = TestSubject::new(Box::new(of_lineage(|_| unreachable!("nothing is observed again"))));
        differs_where_listed(&tested, &inconsistency).unwrap()
    }

    #[test]
    fn bytes_that_a_listed_deviation_leaves_unwritten_are_no_difference_of_the_start() {
        assert!(is_listed(".global .b128 x = 5;", with_second_half(0x42)));
        assert!(!is_listed(".global .b64 x[2] = {5, 0};", with_second_half(0x42)));
        assert!(!is_listed(".global .b128 x = 5;", with_second_half(0)), "both conform");
    }
}
