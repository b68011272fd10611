//! Finds listed deviations that no longer reproduce.

use ptxsmith_diff::known::{KnownDeviation, listed_for};
use ptxsmith_diff::{Implementation, gone};
use ptxsmith_model::FindingKind;
use ptxsmith_syntax::{Module, parse};

use super::Campaign;
use crate::failure::{Failure, of_subject};
use crate::ledger::{FindingName, PendingFinding};
use crate::pool;
use crate::subjects::{TestSubject, target_for};

/// Runs the minimized reproducers of the deviations listed for each subject, and records the deviations that
/// no longer reproduce.
pub(super) fn look_for_gone(campaign: &Campaign<'_>) -> Result<(), Failure> {
    let mut listed: Vec<(&TestSubject, &'static KnownDeviation)> = Vec::new();
    for tested in &campaign.subjects {
        let description = tested.subject.description();
        // Skip deviations that exhaust resources, because detecting a compiler that hangs takes the whole
        // time limit.
        let candidates = listed_for(Implementation::from_description(description))
            .filter(|known| !known.exhausts() && known.is_refuted_by(description));
        listed.extend(candidates.map(|known| (tested, known)));
    }
    listed.retain(|(tested, known)| tested.supports_version_of(&parse(known.example).unwrap_or_default()));
    let together = pool::map(campaign.session, &campaign.subjects, |tested| {
        let of_subject_under_test = listed.iter().filter(|(other, _)| std::ptr::eq(*other, tested));
        let deviations: Vec<&'static KnownDeviation> =
            of_subject_under_test.map(|&(_, known)| known).collect();
        let description = tested.subject.description();
        gone::shown_together(&*tested.subject, &deviations, |module: &Module| target_for(module, description))
            .map_err(of_subject)
    })?;
    for (tested, shown) in campaign.subjects.iter().zip(together) {
        let shown = shown.unwrap_or_default();
        listed.retain(|(other, known)| !std::ptr::eq(*other, tested) || !shown.contains(known.id));
    }
    let gone = pool::map(campaign.session, &listed, |(tested, known)| {
        let module = parse(known.example).unwrap_or_default();
        let target = target_for(&module, tested.subject.description());
        gone::check(&*tested.subject, known, &target).map_err(of_subject)
    })?;
    for ((tested, known), difference) in listed.iter().zip(gone) {
        let Some(difference) = difference.flatten() else { continue };
        let release = tested.subject.description().version.as_deref().unwrap_or("without a number");
        let name = FindingName {
            id: format!("gone-{}", known.id),
            kind: FindingKind::Fixed(known.id.to_owned()),
            title: format!(
                "listed for {}, but release {release} does not show it: {}",
                known.releases, known.title
            ),
            clauses: known.clauses.to_vec(),
        };
        let program = known.example.to_owned();
        let weight = program.len();
        tested.ledger().put(PendingFinding::new(name, &difference, program, 0, weight));
    }
    Ok(())
}
