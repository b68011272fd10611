//! Every array with small extents, with every pattern of missing elements.

use super::{INTEGER_TYPES, digit};
use crate::{case::Body, written::items};

/// Returns the largest extents, outermost first, of an array of `RANK` dimensions.
pub(super) fn most<const RANK: usize>() -> [u64; RANK] {
    const MOST: [u64; 3] = [3, 3, 2];
    std::array::from_fn(|i| MOST[i])
}

/// Returns the number of initializers of an array, complete or not. A list has 0 to `extent` entries, each with any inner pattern.
pub(super) fn patterns(extents: &[u64]) -> u64 {
    match extents {
        [] => 1,
        [extent, inner @ ..] => (0..=*extent).map(|count| patterns(inner).pow(count as u32)).sum(),
    }
}

/// Returns the extents with this index among all choices of extents.
pub(super) fn extents<const RANK: usize>(mut index: u64) -> [u64; RANK] {
    most::<RANK>().map(|most| 1 + digit(&mut index, most as usize) as u64)
}

pub(super) fn shapes<const RANK: usize>() -> u64 {
    let all: u64 = most::<RANK>().iter().product();
    (0..all).map(|choice| patterns(&extents::<RANK>(choice))).sum()
}

/// Returns an array with the extents and the pattern of this index. Elements count up from 1, so that a misplaced
/// element is visible. Types alternate.
pub(super) fn shape<const RANK: usize>(mut index: u64) -> Body {
    let mut choice = 0;
    let extents = loop {
        let extents = extents::<RANK>(choice);
        let count = patterns(&extents);
        if index < count {
            break extents;
        }
        index -= count;
        choice += 1;
    };
    let ty = INTEGER_TYPES[index as usize % INTEGER_TYPES.len()];
    let dimensions: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
    Body::Items(items(&format!(".global {ty} v0{dimensions} = {};", list(&extents, index, &mut 0))))
}

fn list(extents: &[u64], mut pattern: u64, last: &mut u64) -> String {
    let [_, inner @ ..] = extents else {
        *last += 1;
        return last.to_string();
    };
    let within = patterns(inner);
    let mut count = 0;
    while pattern >= within.pow(count) {
        pattern -= within.pow(count);
        count += 1;
    }
    let entries = (0..count).map(|_| list(inner, digit(&mut pattern, within as usize) as u64, last));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}
