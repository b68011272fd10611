//! Records findings about the way in which an implementation was started: a forked process whose result differs from a
//! process started anew.

use ptxsmith_diff::{Class, Difference};
use ptxsmith_model::{Expected, Kind};
use ptxsmith_subject::Inconsistent;

use super::Campaign;
use crate::ledger::{Found, Name};

/// Records the modules with a different result in a forked process, and notes if implementations were not started in the
/// way that the user requested.
pub(super) fn enter_inconsistent(campaign: &Campaign<'_>) {
    for tested in &campaign.subjects {
        if let Some(note) = tested.subject.note() {
            campaign.session.events.note(&note);
        }
        // Report the first one. After it, each process was started anew.
        let Some(Inconsistent { ptx, forked, started, .. }) =
            tested.subject.inconsistencies().into_iter().min_by(|a, b| a.ptx.cmp(&b.ptx))
        else {
            continue;
        };
        let difference = Difference::of(Class::Inconsistent, Expected::same_as(started), forked);
        let name = Name {
            id: "forked-otherwise".to_owned(),
            kind: Kind::Forks,
            title: "it answers otherwise when it is forked than when it is started anew (--start)".to_owned(),
            clauses: Vec::new(),
        };
        let weight = ptx.len();
        tested.ledger().put(Found::new(name, &difference, ptx, 0, weight));
    }
}
