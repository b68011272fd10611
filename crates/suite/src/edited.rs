//! Invalid programs made by each edit of the generator, each with its valid counterpart.

use ptxsmith_gen::negative::{EDITS, TURN};
use ptxsmith_gen::{Coverage, Generator, Header};
use ptxsmith_oracle::Expectation;

use crate::case::{Case, Source};
use crate::drawn::pair;

/// The number of programs for each edit.
const EACH: u64 = 3;
/// The maximum number of attempts for each edit: an edit may produce duplicates or fail.
const MOST_LOOKED_AT: u64 = 32;
/// The seed is fixed, so that every suite contains the same programs.
const SEED: u64 = 1;

/// Returns the programs and valid counterparts of every edit, in the order of the edits.
pub fn cases() -> Vec<Case> {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let mut cases = Vec::new();
    for (at, edit) in EDITS.iter().enumerate() {
        let mut texts: Vec<String> = Vec::new();
        for look in 0..MOST_LOOKED_AT {
            if texts.len() as u64 == EACH {
                break;
            }
            let turns = look / TURN * EDITS.len() as u64 + at as u64;
            let negative = generator.negative(SEED, turns * TURN + look % TURN, &mut coverage);
            let header = Header::default();
            let of = |header: &Option<Header>, own: &Header, items: &[_]| {
                header.as_ref().unwrap_or(own).module(items.iter().cloned())
            };
            let broken = of(&negative.header, &header, &negative.broken);
            let counterpart = of(&negative.counterpart_header, &header, &negative.counterpart);
            let text = ptxsmith_syntax::print(&broken);
            let id = format!("edited/{}-{}", edit.name.replace('/', "."), texts.len() + 1);
            let note = format!("one edit away from its valid counterpart: {}", edit.name);
            if texts.contains(&text) {
                continue;
            }
            let Some(made) = pair(&id, Source::Edited, broken, counterpart, &note) else { continue };
            // The generator makes no predictions: keep the program only if the oracle rejects it for the intended
            // reason.
            let class = match &made[1].expected {
                Expectation::Refused { refusal, .. } => refusal.class.name(),
                _ => continue,
            };
            if class == edit.label {
                texts.push(text);
                cases.extend(made);
            }
        }
    }
    cases
}
