//! Looks for listed deviations that are no longer there.

use ptxsmith_diff::known::Effect;
use ptxsmith_diff::{Maker, gone};
use ptxsmith_syntax::parse;

use super::{Campaign, target_for};
use crate::exit::Failure;

impl Campaign<'_> {
    /// Shows every subject the least programs of what is listed for it, and enters what does not show.
    pub(super) fn look_for_gone(&self) -> Result<(), Failure> {
        for tested in &self.subjects {
            let description = tested.subject.description();
            for known in gone::listed_for(Maker::of(description)) {
                // What a compiler reads beyond its memory is what earlier modules left there: one that answers for many in
                // one process may live where the program of its own dies.
                if matches!(known.effect, Effect::Crash { .. }) && description.name != "ptxas" {
                    continue;
                }
                let module = parse(known.example).unwrap_or_default();
                if !tested.takes_version_of(&module) {
                    continue;
                }
                let target = target_for(&module, description);
                let subject = match gone::header_of_kernels(&module) {
                    Some(_) => tested.relocatable(),
                    None => tested.subject_for(&module),
                };
                match gone::check(subject, known, &target) {
                    Ok(Some(finding)) => tested.ledger().put(finding),
                    Ok(None) => {}
                    Err(error) if error.is_cancelled() => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}
