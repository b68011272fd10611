//! `ptxsmith history`: stores campaigns in a database and answers questions about all of them.

use std::path::Path;
use std::time::SystemTime;

use askama::Template;
use ptxsmith_report::folder::Folder;
use ptxsmith_report::harmless::count;
use ptxsmith_report::history::{
    History, HistoryError, RecordedCampaign, RecordedFinding, Recording, date, minute,
};

use super::Context;
use crate::args;
use crate::console::{BAD, BOLD, END, NOTE, line};
use crate::exit::{Exit, Failure};
use crate::values::meant;

/// Adds campaigns to the database, then prints the requested information.
pub fn run(context: &Context, args: &args::History) -> Result<Exit, Failure> {
    let failed = |error| failed(&args.database, error);
    let is_new = std::fs::symlink_metadata(&args.database).is_err();
    let failed = |error: HistoryError| {
        if is_new && error.is_of_machine() {
            // Remove a database that was only partly written. If that fails, an unneeded file remains.
            let _ = std::fs::remove_file(&args.database);
        }
        failed(error)
    };
    let mut history = match args.add.is_empty() {
        true => History::open_existing(&args.database),
        false => History::open(&args.database),
    }
    .map_err(failed)?;
    for directory in &args.add {
        let folder = Folder::read(directory).map_err(|error| Failure::BadInput(error.to_string()))?;
        let name = directory.to_string_lossy();
        let entered = history.record(&folder, &name, SystemTime::now()).map_err(failed)?;
        context.console.note(&match entered {
            Recording::Added => format!("{name} is entered"),
            Recording::Replaced => format!("{name} was entered before, and is replaced"),
        });
    }
    let (runs, findings) = (history.runs().map_err(failed)?, history.findings().map_err(failed)?);
    let seen = args.finding.as_ref().map(|id| {
        let ids: Vec<&str> = findings.iter().map(|seen| &*seen.id).collect();
        meant(&ids, id).map(|meant| &findings[meant]).map_err(Failure::BadInput)
    });
    let is_asked = |time: SystemTime| args.since.is_none_or(|since| time >= since);
    let runs: Vec<_> = runs.iter().filter(|run| is_asked(run.started)).collect();
    let incomplete = runs.iter().filter(|run| !run.complete).map(|run| run.number.to_string()).collect();
    let first = findings.iter().filter(|seen| is_asked(seen.first)).collect();
    let page = Page { runs, incomplete, seen: seen.transpose()?, since: args.since, first };
    context.console.print(&page.render()?)?;
    Ok(Exit::Success)
}

#[derive(Template)]
#[template(path = "history.txt")]
struct Page<'a> {
    /// The requested campaigns.
    runs: Vec<&'a RecordedCampaign>,
    /// The numbers of the incomplete campaigns.
    incomplete: Vec<String>,
    /// The requested finding.
    seen: Option<&'a RecordedFinding>,
    since: Option<SystemTime>,
    /// The findings that were first seen after `since`.
    first: Vec<&'a RecordedFinding>,
}

/// Converts a database error. An unusable database (missing, locked or not a database) is bad input, which the user can
/// fix; a full disk is a failure of the machine.
pub fn failed(path: &Path, error: HistoryError) -> Failure {
    if error.is_of_machine() {
        return anyhow::Error::from(error).context(path.display().to_string()).into();
    }
    let name = path.display();
    Failure::BadInput(match path.exists() {
        true => format!("{name}: {error}"),
        false => format!(
            "{name}: no such database; ptxsmith history {name} --add DIR makes one of a campaign's folder"
        ),
    })
}

fn campaigns(count: usize) -> String {
    format!("{count} {}", if count == 1 { "campaign" } else { "campaigns" })
}
