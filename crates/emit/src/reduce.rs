//! Reduction of globals that show a difference, many at a time: what is left of each is asked of the compiler together.

use std::collections::BTreeMap;

use crate::Error;
use crate::judge::Symptom;
use crate::judged::{Judged, Pair};
use crate::source::Global;
use crate::source::print::declaration;
use crate::variants::variants;

/// The most variants of one global that are asked at once.
const MOST_VARIANTS: usize = 48;

/// The smallest globals that still show what these do, in their order. When `is_over` says so, those that there are.
///
/// # Errors
/// If a compiler cannot be asked.
pub fn reduce(
    pair: &Pair<'_>,
    examples: &[(Symptom, Global)],
    is_over: &dyn Fn() -> bool,
) -> Result<Vec<Global>, Error> {
    let mut best: Vec<Global> = examples.iter().map(|(_, global)| global.clone()).collect();
    let mut active: Vec<usize> = (0..best.len()).collect();
    while !active.is_empty() && !is_over() {
        let mut asked: Vec<Global> = Vec::new();
        let mut of: Vec<usize> = Vec::new();
        for &place in &active {
            for variant in smaller(&best[place]) {
                of.push(place);
                asked.push(Global { number: asked.len() as u64, ..variant });
            }
        }
        let judged = pair.judge(&asked.iter().collect::<Vec<_>>())?;
        let mut next: BTreeMap<usize, &Global> = BTreeMap::new();
        for (global, &place) in asked.iter().zip(&of) {
            let shows = judged.get(&global.number).is_some_and(|judged| shows(judged, &examples[place].0));
            if shows {
                // They come with the smallest first.
                next.entry(place).or_insert(global);
            }
        }
        active = next.keys().copied().collect();
        for (place, global) in next {
            best[place] = Global { number: best[place].number, ..global.clone() };
        }
    }
    Ok(best)
}

/// The variants of a global, the smallest first.
fn smaller(global: &Global) -> Vec<Global> {
    let mut all = variants(global);
    all.sort_by_cached_key(|variant| declaration(variant).len());
    all.truncate(MOST_VARIANTS);
    all
}

fn shows(judged: &Judged, symptom: &Symptom) -> bool {
    judged.symptom().as_ref() == Some(symptom)
}
