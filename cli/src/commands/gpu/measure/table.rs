//! The result of `ptxsmith gpu run` as a table.

use std::collections::BTreeMap;

use askama::Template;

use super::{EntryPoint, Measured};

/// Differences that are shown below the table.
const SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "gpu.md")]
struct Table<'a> {
    measured: &'a Measured,
    rows: Vec<(&'a str, [u64; 11])>,
    not_accepted: BTreeMap<&'a str, u64>,
}

/// The result in Markdown.
pub(super) fn markdown(measured: &Measured) -> Result<String, askama::Error> {
    let mut rows: Vec<_> = measured
        .entry_points
        .iter()
        .map(|entry_point| (&*entry_point.entry_point, counts(entry_point)))
        .collect();
    rows.push(("all", std::array::from_fn(|at| rows.iter().map(|(_, counts)| counts[at]).sum())));
    let mut not_accepted = BTreeMap::new();
    for (outcome, count) in measured.entry_points.iter().flat_map(|entry_point| &entry_point.not_accepted) {
        *not_accepted.entry(&**outcome).or_default() += count;
    }
    Table { measured, rows, not_accepted }.render()
}

/// In the order of the columns.
fn counts(entry_point: &EntryPoint) -> [u64; 11] {
    [
        entry_point.modules,
        entry_point.read_back,
        entry_point.conform,
        entry_point.known,
        entry_point.new,
        entry_point.not_observed,
        entry_point.kernels,
        entry_point.kernels_passed,
        entry_point.kernels_agree,
        entry_point.kernels_disagree,
        entry_point.loaded_otherwise,
    ]
}
