//! Runs every form in every context: the cells of the generator's tables.

use ptxsmith_gen::Places;

use crate::campaign::{CampaignOutcome, ProgramSource};
use crate::failure::Failure;
use crate::session::Session;
use crate::texts::{TextOptions, TextSource, judge_texts};

/// Returns the numbers of the cells with these names, which may name single cells or whole families.
///
/// # Errors
/// If no cell has such a name.
pub fn cells_of(places: &Places, names: &[String]) -> Result<Vec<u64>, Failure> {
    let mut all = Vec::new();
    for name in names {
        let Some(cells) = places.find(name) else {
            let families: Vec<&str> = places.families().map(|(family, _)| family).collect();
            return Err(Failure::BadInput(format!(
                "--cell: nothing is named `{name}`; give a family ({}) or FAMILY/CHOICE/..., as findings \
                 name it",
                families.join(", ")
            )));
        };
        all.extend(cells);
    }
    Ok(all)
}

/// Runs the cells with these names, or all cells, on the subjects. Their order is such that every initial
/// part is a sample of the whole.
///
/// # Errors
/// If no cell has such a name, no subject can be opened, or this machine or our code fails.
pub fn places(
    session: &Session,
    cells: &[String],
    options: &TextOptions,
) -> Result<CampaignOutcome, Failure> {
    let places = Places::new();
    let named = cells_of(&places, cells)?;
    let make = |number: u64| {
        let index = match named.get(number as usize) {
            Some(&index) => index,
            None => places.nth(session.seed, number),
        };
        let cell = places.cell(index);
        ProgramSource { path: format!("cell {}", cell.name), text: cell.text }
    };
    let count = if cells.is_empty() { places.count() } else { named.len() as u64 };
    let texts = TextSource { command: "places", unit: "cells", count: Some(count), make: &make };
    let (outcome, tally) = judge_texts(session, options, &texts)?;
    session.events.note(&format!(
        "of {} cells the specification takes {}, refuses {}, does not decide {}; something of {} was \
         compared",
        tally.valid + tally.refused + tally.undecided,
        tally.valid,
        tally.refused,
        tally.undecided,
        tally.compared
    ));
    Ok(outcome)
}
