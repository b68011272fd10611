//! Every array of small extents, with every pattern of elements that are missing.

use super::{INTEGER_TYPES, digit};
use crate::{case::Body, written::items};

/// The largest extents, outermost first, of an array of `RANK` dimensions.
pub(super) fn most<const RANK: usize>() -> [u64; RANK] {
    const MOST: [u64; 3] = [3, 3, 2];
    std::array::from_fn(|i| MOST[i])
}

/// How many initial values an array has, complete or not: lists of up to `extent` patterns of what is within.
pub(super) fn patterns(extents: &[u64]) -> u64 {
    match extents {
        [] => 1,
        [extent, inner @ ..] => (0..=*extent).map(|count| patterns(inner).pow(count as u32)).sum(),
    }
}

/// The extents of an array, from the number of a choice of them.
pub(super) fn extents<const RANK: usize>(mut index: u64) -> [u64; RANK] {
    most::<RANK>().map(|most| 1 + digit(&mut index, most as usize) as u64)
}

pub(super) fn shapes<const RANK: usize>() -> u64 {
    let all: u64 = most::<RANK>().iter().product();
    (0..all).map(|choice| patterns(&extents::<RANK>(choice))).sum()
}

/// An array of these extents with one pattern of elements that are there. Elements count up from one, so a misplaced
/// one shows; types take turns.
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
