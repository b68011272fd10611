//! Records findings about the way in which an implementation was started: a forked process whose result
//! differs from a process started anew.

use ptxsmith_diff::{Class, Difference};
use ptxsmith_model::{Expected, FindingKind};
use ptxsmith_subject::Inconsistency;

use super::Campaign;
use crate::ledger::{FindingName, PendingFinding};

/// Records the modules with a different result in a forked process, and notes if implementations were not
/// started in the way that the user requested.
pub(super) fn enter_inconsistent(campaign: &Campaign<'_>) {
    for tested in &campaign.subjects {
        if let Some(note) = tested.subject.note() {
            campaign.session.events.note(&note);
        }
        // Report the first one. After it, each process was started anew.
        let Some(Inconsistency { ptx, forked, started, .. }) =
            tested.subject.inconsistencies().into_iter().min_by(|a, b| a.ptx.cmp(&b.ptx))
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
}
