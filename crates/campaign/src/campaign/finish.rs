//! Ends a campaign: turns the contents of the ledgers into the findings of the report.
//!
//! Each step is a function over findings in a file of its own. It may run subjects and has no other side
//! effects. Findings are joined by cause ([`minimized::join_new`]), by varying results ([`again`]), and, if
//! they were not reduced, by the complaint ([`joined`]). Each finding lists the others that were joined with
//! it, and the reason (`joined` in `report.json`).

use ptxsmith_report::severity;

use super::{Campaign, again, entry_points, gone, joined, minimized, releases, starts};
use crate::failure::Failure;
use crate::ledger::PendingFinding;
use crate::pool::Completion;

/// Returns the findings of a campaign, sorted by [`severity::order`]. After an interruption, skips the search
/// for gone deviations, the comparison of entry points and releases, and reducing and joining by cause. A
/// `check` also skips the first and the last of these.
pub(super) fn finish(campaign: &Campaign<'_>, ended: Completion) -> Result<Vec<PendingFinding>, Failure> {
    let is_whole = ended == Completion::All;
    observe_more(campaign, is_whole)?;
    let mut findings = campaign.findings();
    // Repeat each example alone.
    again::observe_again(campaign, &mut findings)?;
    // Reduce, and join findings with the same cause.
    if is_whole && campaign.command != "check" {
        minimized::show_known_minimized(campaign, &mut findings)?;
        minimized::join_new(campaign, &mut findings)?;
    }
    if is_whole {
        releases::map_releases(campaign, &mut findings)?;
    }
    if is_whole && campaign.session.cancel.is_late() {
        campaign.note_late();
    }
    // Join the findings that were not reduced.
    joined::refusals(&mut findings);
    for tested in campaign.subjects.iter().filter(|tested| tested.ledger().confusion.accepts_everything()) {
        joined::acceptances(&mut findings, tested.subject.id());
    }
    again::quote_examples(&mut findings);
    findings.sort_by_key(|found| severity::order(&found.finding));
    Ok(findings)
}

/// Records findings that need the whole campaign: listed deviations that no longer reproduce, and differences
/// between entry points or ways to start a subject.
fn observe_more(campaign: &Campaign<'_>, is_whole: bool) -> Result<(), Failure> {
    if campaign.command == "run" && is_whole {
        gone::look_for_gone(campaign)?;
    }
    if is_whole {
        entry_points::compare_entry_points(campaign)?;
    }
    starts::enter_inconsistent(campaign)
}
