//! The result of `ptxsmith gpu run` as a table.

use std::collections::BTreeMap;

use askama::Template;

use super::{Door, Measured};

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
    let mut rows: Vec<_> = measured.doors.iter().map(|door| (&*door.door, counts(door))).collect();
    rows.push(("all", std::array::from_fn(|at| rows.iter().map(|(_, counts)| counts[at]).sum())));
    let mut not_accepted = BTreeMap::new();
    for (outcome, count) in measured.doors.iter().flat_map(|door| &door.not_accepted) {
        *not_accepted.entry(&**outcome).or_default() += count;
    }
    Table { measured, rows, not_accepted }.render()
}

/// In the order of the columns.
fn counts(door: &Door) -> [u64; 11] {
    [
        door.modules,
        door.read_back,
        door.conform,
        door.known,
        door.new,
        door.not_observed,
        door.kernels,
        door.kernels_passed,
        door.kernels_agree,
        door.kernels_disagree,
        door.loaded_otherwise,
    ]
}
