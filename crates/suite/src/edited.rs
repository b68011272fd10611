//! Invalid programs made by each edit of the generator, each with its valid counterpart.

use ptxsmith_gen::negative::{EDITS, TURN};
use ptxsmith_gen::{Coverage, Generator};
use ptxsmith_oracle::Expectation;

use crate::case::{CaseSource, SuiteCase};
use crate::drawn::pair;

/// The number of programs for each edit.
const PROGRAMS_PER_EDIT: usize = 3;
/// The maximum number of attempts for each edit: an edit may produce duplicates or fail.
const MOST_ATTEMPTS: u64 = 32;
/// The seed is fixed, so that every suite contains the same programs.
const SEED: u64 = 1;

/// Returns the programs and valid counterparts of every edit, in the order of the edits. A pair is left out
/// if the oracle rejects the program in another class than the edit intends, or not at all.
pub fn cases() -> Vec<SuiteCase> {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let mut cases = Vec::new();
    for (index, edit) in EDITS.iter().enumerate() {
        let mut texts: Vec<String> = Vec::new();
        for attempt in 0..MOST_ATTEMPTS {
            if texts.len() == PROGRAMS_PER_EDIT {
                break;
            }
            // The generator uses an edit for `TURN` successive numbers, then the next edit.
            let turns = attempt / TURN * EDITS.len() as u64 + index as u64;
            let negative = generator.negative(SEED, turns * TURN + attempt % TURN, &mut coverage);
            let broken = negative.header.unwrap_or_default().module(negative.broken);
            let counterpart = negative.counterpart_header.unwrap_or_default().module(negative.counterpart);
            let text = ptxsmith_syntax::print(&broken);
            let id = format!("edited/{}-{}", edit.name.replace('/', "."), texts.len() + 1);
            let note = format!("one edit away from its valid counterpart: {}", edit.name);
            if texts.contains(&text) {
                continue;
            }
            let Some(pair) = pair(&id, CaseSource::Edited, broken, counterpart, &note) else { continue };
            // The generator makes no predictions: keep the program only if the oracle rejects it for the
            // intended reason.
            let Expectation::Refused { refusal, .. } = &pair[1].expected else { continue };
            if refusal.class.name() == edit.label {
                texts.push(text);
                cases.extend(pair);
            }
        }
    }
    cases
}
