//! Reduces globals that show a difference, many at a time: each step compiles the variants of all globals together.

use std::collections::BTreeMap;

use crate::Error;
use crate::judge::{Difference, OF_HOST};
use crate::judged::{Judged, Pair};
use crate::source::Global;
use crate::source::print::declaration;
use crate::variants::variants;

/// The most variants of one global per step.
const MOST_VARIANTS: usize = 48;

/// The most globals to compile at once.
const UNIT: usize = 400;

/// A global that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The global.
    pub global: Global,
    /// The difference.
    pub difference: Difference,
}

/// Reduces the examples as far as they still show their differences. If `is_over` returns true or the run is stopped,
/// leaves them as they are.
///
/// # Errors
/// If a compiler cannot be run.
pub fn reduce(pair: &Pair<'_>, examples: &mut [Example], is_over: &dyn Fn() -> bool) -> Result<(), Error> {
    let mut active: Vec<usize> = (0..examples.len()).collect();
    while !active.is_empty() {
        let mut still_active = Vec::new();
        for places in active.chunks(UNIT / MOST_VARIANTS) {
            if is_over() {
                return Ok(());
            }
            match step(pair, examples, places) {
                Ok(smaller) => still_active.extend(smaller),
                Err(error) if error.is_cancelled() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        active = still_active;
    }
    Ok(())
}

/// Reduces each of these examples by one step. Returns the indices of those that became smaller.
fn step(pair: &Pair<'_>, examples: &mut [Example], places: &[usize]) -> Result<Vec<usize>, Error> {
    let mut asked: Vec<Global> = Vec::new();
    let mut origins: Vec<usize> = Vec::new();
    for &place in places {
        for variant in smaller(&examples[place].global) {
            origins.push(place);
            asked.push(Global { number: asked.len() as u64, ..variant });
        }
    }
    // Run the host's compilers only if a difference is based on them.
    let is_of_host = places.iter().any(|&place| examples[place].difference.symptom.ends_with(OF_HOST));
    let pair = Pair { host: pair.host.filter(|_| is_of_host), ..*pair };
    let judged = pair.judge(&asked.iter().collect::<Vec<_>>())?;
    let mut next: BTreeMap<usize, (&Global, &Difference)> = BTreeMap::new();
    for (global, &place) in asked.iter().zip(&origins) {
        let difference = judged.get(&global.number).and_then(Judged::difference);
        let symptom = examples[place].difference.symptom();
        if let Some(difference) = difference.filter(|difference| difference.symptom() == symptom) {
            // The smallest variants come first.
            next.entry(place).or_insert((global, difference));
        }
    }
    for (&place, &(global, difference)) in &next {
        examples[place] = Example { global: global.clone(), difference: difference.clone() };
    }
    Ok(next.into_keys().collect())
}

/// Returns the variants of a global, the smallest first.
fn smaller(global: &Global) -> Vec<Global> {
    let mut all = variants(global);
    all.sort_by_cached_key(|variant| declaration(variant).len());
    all.truncate(MOST_VARIANTS);
    all
}
