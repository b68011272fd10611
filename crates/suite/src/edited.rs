//! Programs that must be refused, by every edit of the generator, each beside its valid counterpart.

use ptxsmith_gen::negative::{EDITS, TURN};
use ptxsmith_gen::{Coverage, Generator, Header};
use ptxsmith_oracle::Expectation;

use crate::case::{Case, Source};
use crate::drawn::pair;

/// How many programs each edit gives.
const EACH: u64 = 3;
/// How many are looked at for them: two may be alike, and an edit may miss.
const MOST_LOOKED_AT: u64 = 32;
/// The programs are the same in every suite.
const SEED: u64 = 1;

/// Every edit's programs and valid counterparts, in the order of the edits.
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
            // The generator predicts nothing: what it meant to break must be what the oracle finds broken.
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
