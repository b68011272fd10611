//! Finds listed deviations that no longer reproduce.

use ptxsmith_diff::known::{Known, listed_for};
use ptxsmith_diff::{Maker, gone};
use ptxsmith_model::Kind;
use ptxsmith_syntax::{Module, parse};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::ledger::{Found, Name};
use crate::pool;
use crate::subjects::{Tested, target_for};

/// Runs the minimized reproducers of the deviations listed for each subject, and records those that no longer reproduce.
pub(super) fn look_for_gone(campaign: &Campaign<'_>) -> Result<(), Failure> {
    let mut listed: Vec<(&Tested, &'static Known)> = Vec::new();
    for tested in &campaign.subjects {
        let description = tested.subject.description();
        // Skip deviations that exhaust resources, because detecting a compiler that hangs takes the whole time limit.
        let of_it = listed_for(Maker::of(description))
            .filter(|known| !known.exhausts() && known.is_refuted_by(description));
        listed.extend(of_it.map(|known| (tested, known)));
    }
    let takes =
        |tested: &Tested, known: &Known| tested.takes_version_of(&parse(known.example).unwrap_or_default());
    listed.retain(|&(tested, known)| takes(tested, known));
    let together = pool::map(campaign.session, &campaign.subjects, |tested| {
        let own = listed.iter().filter(|(of, _)| std::ptr::eq(*of, tested));
        let own: Vec<&'static Known> = own.map(|&(_, known)| known).collect();
        let target = |module: &Module| target_for(module, tested.subject.description());
        gone::shown_together(&*tested.subject, &own, target).map_err(of_subject)
    })?;
    for (tested, shown) in campaign.subjects.iter().zip(together) {
        let shown = shown.unwrap_or_default();
        listed.retain(|(of, known)| !std::ptr::eq(*of, tested) || !shown.contains(known.id));
    }
    let gone = pool::map(campaign.session, &listed, |(tested, known)| {
        let module = parse(known.example).unwrap_or_default();
        let target = target_for(&module, tested.subject.description());
        gone::check(&*tested.subject, known, &target).map_err(of_subject)
    })?;
    for ((tested, known), difference) in listed.iter().zip(gone) {
        let Some(difference) = difference.flatten() else { continue };
        let release = tested.subject.description().version.as_deref().unwrap_or("without a number");
        let name = Name {
            id: format!("gone-{}", known.id),
            kind: Kind::Fixed(known.id.to_owned()),
            title: format!(
                "listed for {}, but release {release} does not show it: {}",
                known.releases, known.title
            ),
            clauses: known.clauses.to_vec(),
        };
        let program = known.example.to_owned();
        let weight = program.len();
        tested.ledger().put(Found::new(name, &difference, program, 0, weight));
    }
    Ok(())
}
