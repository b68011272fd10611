//! Reduces globals that show a difference, many at a time: each step compiles the variants of all globals together.

use std::collections::BTreeMap;

use crate::Error;
use crate::judge::{Difference, OF_HOST};
use crate::judged::{Judged, Tester};
use crate::source::Source;

/// The most variants of one global per step.
const MOST_VARIANTS: usize = 48;

/// The most globals to compile at once.
const UNIT: usize = 400;

/// A global that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example<S> {
    /// The global.
    pub global: S,
    /// The difference.
    pub difference: Difference,
}

/// Reduces the examples as far as they still show their differences. If `is_over` returns true or the run is stopped,
/// leaves them as they are.
///
/// # Errors
/// If a compiler cannot be run.
pub fn reduce<T: Tester>(
    tester: &T,
    examples: &mut [Example<T::Source>],
    is_over: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let mut active: Vec<usize> = (0..examples.len()).collect();
    while !active.is_empty() {
        let mut still_active = Vec::new();
        for places in active.chunks(UNIT / MOST_VARIANTS) {
            if is_over() {
                return Ok(());
            }
            match step(tester, examples, places) {
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
fn step<T: Tester>(
    tester: &T,
    examples: &mut [Example<T::Source>],
    places: &[usize],
) -> Result<Vec<usize>, Error> {
    let mut asked: Vec<T::Source> = Vec::new();
    let mut origins: Vec<usize> = Vec::new();
    for &place in places {
        for variant in smaller(&examples[place].global) {
            origins.push(place);
            asked.push(variant.numbered(asked.len() as u64));
        }
    }
    // Run the host's compilers only if a difference is based on them.
    let differences = || places.iter().map(|&place| &examples[place].difference);
    let of_host = differences().find(|difference| difference.symptom.ends_with(OF_HOST));
    let sought = of_host.or_else(|| differences().next());
    let judged = tester.judge(&asked.iter().collect::<Vec<_>>(), sought)?;
    let mut next: BTreeMap<usize, (&T::Source, &Difference)> = BTreeMap::new();
    for (global, &place) in asked.iter().zip(&origins) {
        let difference = judged.get(&global.number()).and_then(Judged::difference);
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
fn smaller<S: Source>(global: &S) -> Vec<S> {
    let mut all = global.variants();
    all.sort_by_cached_key(|variant| variant.text().len());
    all.truncate(MOST_VARIANTS);
    all
}
