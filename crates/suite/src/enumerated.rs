//! Small programs of every form, chosen so that each clause is covered often enough in each family. Refused
//! ones are left out: without a valid counterpart a refusal proves nothing, and edits (`edited.rs`) give such
//! pairs.

use std::collections::BTreeMap;

use ptxsmith_gen::{Enumeration, Header};
use ptxsmith_oracle::{Clause, Readings};
use ptxsmith_syntax::Module;

use crate::alternatives::expect_under;
use crate::case::{CaseSource, SuiteCase};
use crate::drawn::complete;

/// The minimum number of cases for each clause in each family larger than [`MOST_COMPLETE`], if there are
/// enough.
const CASES_PER_CLAUSE: u32 = 10;
/// The maximum size of a family that is included completely.
const MOST_COMPLETE: u64 = 300;
/// The maximum number of programs of a family that are considered.
const MOST_CONSIDERED: u64 = 3_000;

/// Returns the chosen programs by family, in the order of their numbers.
pub fn cases() -> Vec<SuiteCase> {
    let enumeration = Enumeration::new(2);
    let mut cases = Vec::new();
    let mut first = 0;
    for family in enumeration.families() {
        let count = family.count();
        let is_complete = count <= MOST_COMPLETE;
        let mut chosen = Vec::new();
        let mut counts: BTreeMap<Clause, u32> = BTreeMap::new();
        for place in 0..count.min(MOST_CONSIDERED) {
            let number = if is_complete { place } else { scattered(place, count) };
            let Some(generated) = enumeration.case(first + number) else { continue };
            let id = format!("enumerated/{}-{number}", family.name);
            let note = format!("program {number} of all small ones of the form {}", family.name);
            let module = generated.module(&Header::default());
            if !is_complete && !covers_rare_clause(&module, &counts) {
                continue;
            }
            let Some(case) = complete(&id, CaseSource::Enumerated, module, generated.spacing, &note, None)
            else {
                continue;
            };
            // Skip rejected programs: without a valid counterpart they prove nothing. The edits provide such
            // pairs.
            if case.is_accepted() {
                for &clause in &case.clauses {
                    *counts.entry(clause).or_default() += 1;
                }
                chosen.push((number, case));
            }
        }
        chosen.sort_by_key(|&(number, _)| number);
        cases.extend(chosen.into_iter().map(|(_, case)| case));
        first += count;
    }
    cases
}

/// Returns true if the expectation of a program depends on a clause that still has too few cases.
fn covers_rare_clause(module: &Module, counts: &BTreeMap<Clause, u32>) -> bool {
    let clauses = expect_under(module, Readings::default()).trace().clauses;
    clauses.iter().any(|clause| counts.get(&clause).is_none_or(|&count| count < CASES_PER_CLAUSE))
}

/// Returns the number at position `place` in a permutation of `0..count` that spreads early numbers over the
/// range, so that the first programs differ.
fn scattered(place: u64, count: u64) -> u64 {
    // A step near the golden section, made coprime to the count so that every number occurs once.
    let mut step = (count as f64 * 0.618_033_988_749_895) as u64;
    while gcd(step, count) != 1 {
        step += 1;
    }
    (u128::from(place) * u128::from(step) % u128::from(count)) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_occurs_once_in_the_scattered_order() {
        for count in [301, 1000, 4096] {
            let mut numbers: Vec<u64> = (0..count).map(|place| scattered(place, count)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{count}");
        }
    }
}
