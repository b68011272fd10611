//! Runs every form in every context: the cells of the generator's tables.

use ptxsmith_gen::Places;

use crate::campaign::{Outcome, Source};
use crate::failure::Failure;
use crate::session::Session;
use crate::texts::{Options, Texts, judge_texts};

/// Returns the numbers of the cells with these names, which may name single cells or whole families.
///
/// # Errors
/// If no cell has such a name.
pub fn cells_of(places: &Places, names: &[String]) -> Result<Vec<u64>, Failure> {
    let mut all = Vec::new();
    for name in names {
        let families = || places.families().map(|(family, _)| family).collect::<Vec<_>>().join(", ");
        let cells = places.find(name).ok_or_else(|| {
            Failure::BadInput(format!(
                "--cell: nothing is named `{name}`; give a family ({}) or FAMILY/CHOICE/..., as findings name it",
                families()
            ))
        })?;
        all.extend(cells);
    }
    Ok(all)
}

/// Runs the cells with these names, or all cells, on the subjects. Their order is such that every initial part is a
/// sample of the whole.
///
/// # Errors
/// If no cell has such a name, no subject can be opened, or this machine or our code fails.
pub fn places(session: &Session, cells: &[String], options: &Options) -> Result<Outcome, Failure> {
    let places = Places::new();
    let named = cells_of(&places, cells)?;
    let make = |number: u64| {
        let index = match named.get(number as usize) {
            Some(&index) => index,
            None => places.nth(session.seed, number),
        };
        let cell = places.cell(index);
        Source { path: format!("cell {}", cell.name), text: cell.text }
    };
    let count = if cells.is_empty() { places.count() } else { named.len() as u64 };
    let texts = Texts { command: "places", unit: "cells", count: Some(count), make: &make };
    let (outcome, tally) = judge_texts(session, options, &texts)?;
    session.events.note(&format!(
        "of {} cells the specification takes {}, refuses {}, does not decide {}; something of {} was compared",
        tally.valid + tally.refused + tally.undecided,
        tally.valid,
        tally.refused,
        tally.undecided,
        tally.compared
    ));
    Ok(outcome)
}
