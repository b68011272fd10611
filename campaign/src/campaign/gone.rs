//! Looks for listed deviations that are no longer there.

use ptxsmith_diff::known::{Effect, Known, listed_for};
use ptxsmith_diff::{Maker, gone};
use ptxsmith_syntax::parse;

use super::Campaign;
use crate::failure::Failure;
use crate::judges::of_subject;
use crate::pool;
use crate::subjects::{Tested, target_for};

impl Campaign<'_> {
    /// Shows every subject the least programs of what is listed for it, and enters what does not show.
    pub(super) fn look_for_gone(&self) -> Result<(), Failure> {
        let mut listed: Vec<(&Tested, &'static Known)> = Vec::new();
        for tested in &self.subjects {
            let description = tested.subject.description();
            let of_it = listed_for(Maker::of(description)).filter(|known| {
                // What a compiler reads beyond its memory is what earlier modules left there: one that answers for many in
                // one process may live where the program of its own dies.
                !matches!(known.effect, Effect::Crash { .. }) || description.name == "ptxas"
            });
            listed.extend(of_it.map(|known| (tested, known)));
        }
        let gone = pool::map(self.session, &listed, |(tested, known)| {
            let module = parse(known.example).unwrap_or_default();
            if !tested.takes_version_of(&module) {
                return Ok(None);
            }
            let target = target_for(&module, tested.subject.description());
            gone::check(&*tested.subject, known, &target).map_err(of_subject)
        })?;
        for ((tested, _), finding) in listed.iter().zip(gone) {
            if let Some(finding) = finding.flatten() {
                tested.ledger().put(finding);
            }
        }
        Ok(())
    }
}
