//! The runs of a list that a pass tries to remove, largest first.

use std::ops::Range;

/// Returns runs of `0..length`: both halves, then the quarters, and so on to single elements. Each level
/// covers the whole list.
pub(crate) fn cuts(length: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut size = length.div_ceil(2);
    while size > 0 {
        runs.extend((0..length).step_by(size).map(|start| start..(start + size).min(length)));
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    runs
}

/// Returns the whole list, then [`cuts`].
pub(crate) fn all_and_cuts(length: usize) -> Vec<Range<usize>> {
    let all = (length > 1).then_some(0..length);
    all.into_iter().chain(cuts(length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_halve_until_they_are_single() {
        assert_eq!(cuts(5), [0..3, 3..5, 0..2, 2..4, 4..5, 0..1, 1..2, 2..3, 3..4, 4..5]);
        assert_eq!(cuts(2), [0..1, 1..2]);
        assert_eq!(cuts(1).len(), 1);
        assert_eq!(cuts(0), []);
        assert_eq!(all_and_cuts(1), cuts(1));
        assert_eq!(all_and_cuts(2), [0..2, 0..1, 1..2]);
    }
}
