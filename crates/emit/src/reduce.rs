//! Reduces globals that show a difference, many at a time: each step compiles the variants of all globals
//! together.

use std::collections::BTreeMap;

use crate::EmitError;
use crate::judge::{HOST_DIFFERENCE, SourceDifference};
use crate::judged::{GlobalResult, Tester};
use crate::source::TestGlobal;

/// The maximum number of variants of a global in one step.
const MOST_VARIANTS: usize = 48;

/// The maximum number of globals to compile at once.
const UNIT: usize = 400;

/// A global that shows a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceExample<S> {
    /// The global.
    pub global: S,
    /// The difference.
    pub difference: SourceDifference,
}

/// Reduces the examples as far as they still show their differences. If `is_over` returns true or the run is
/// stopped, leaves them as they are.
///
/// # Errors
/// If a compiler cannot be run.
pub fn reduce<T: Tester>(
    tester: &T,
    examples: &mut [DifferenceExample<T::Global>],
    is_over: &dyn Fn() -> bool,
) -> Result<(), EmitError> {
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

/// Reduces each of these examples by one step. Returns the indices of the examples that became smaller.
fn step<T: Tester>(
    tester: &T,
    examples: &mut [DifferenceExample<T::Global>],
    places: &[usize],
) -> Result<Vec<usize>, EmitError> {
    let mut variants: Vec<T::Global> = Vec::new();
    let mut origins: Vec<usize> = Vec::new();
    for &place in places {
        for variant in smallest_variants(&examples[place].global) {
            origins.push(place);
            variants.push(variant.numbered(variants.len() as u64));
        }
    }
    // Run the host's compilers only if a difference is based on them.
    let mut differences = places.iter().map(|&place| &examples[place].difference);
    let host_difference =
        differences.clone().find(|difference| difference.symptom.ends_with(HOST_DIFFERENCE));
    let sought = host_difference.or_else(|| differences.next());
    let results = tester.judge(&variants.iter().collect::<Vec<_>>(), sought)?;
    let mut next: BTreeMap<usize, (&T::Global, &SourceDifference)> = BTreeMap::new();
    for (global, &place) in variants.iter().zip(&origins) {
        let difference = results.get(&global.number()).and_then(GlobalResult::difference);
        let symptom = examples[place].difference.symptom();
        if let Some(difference) = difference.filter(|difference| difference.symptom() == symptom) {
            // The smallest variants come first.
            next.entry(place).or_insert((global, difference));
        }
    }
    for (&place, &(global, difference)) in &next {
        examples[place] = DifferenceExample { global: global.clone(), difference: difference.clone() };
    }
    Ok(next.into_keys().collect())
}

/// Returns the variants of a global, the smallest first.
fn smallest_variants<S: TestGlobal>(global: &S) -> Vec<S> {
    let mut variants = global.variants();
    variants.sort_by_cached_key(|variant| variant.text().len());
    variants.truncate(MOST_VARIANTS);
    variants
}
