//! `ptxsmith history`: stores campaigns in a database and answers questions about all of them.

use std::path::Path;
use std::time::SystemTime;

use askama::Template;
use ptxsmith_report::folder::Folder;
use ptxsmith_report::harmless::count;
use ptxsmith_report::history::{
    History, HistoryError, RecordedCampaign, RecordedFinding, Recording, date, minute,
};

use super::CommandContext;
use crate::args;
use crate::console::{BAD, BOLD, END, NOTE, line};
use crate::exit::{Exit, Failure};
use crate::values::meant;

/// Adds campaigns to the database, then prints the requested information.
pub fn run(context: &CommandContext, args: &args::HistoryArgs) -> Result<Exit, Failure> {
    let is_new = std::fs::symlink_metadata(&args.database).is_err();
    let (runs, findings) = match read_history(context, args) {
        Ok(history) => history,
        Err(HistoryFailure::Other(failure)) => return Err(failure),
        Err(HistoryFailure::Database(error)) => {
            if is_new && error.is_of_machine() {
                // Remove a database that was only partly written. If that fails, an unneeded file remains.
                let _ = std::fs::remove_file(&args.database);
            }
            return Err(failed(&args.database, error));
        }
    };
    let seen = match &args.finding {
        None => None,
        Some(id) => {
            let ids: Vec<&str> = findings.iter().map(|seen| &*seen.id).collect();
            Some(&findings[meant(&ids, id).map_err(Failure::BadInput)?])
        }
    };
    let runs: Vec<_> =
        runs.iter().filter(|run| args.since.is_none_or(|since| run.started >= since)).collect();
    let incomplete = runs.iter().filter(|run| !run.complete).map(|run| run.number.to_string()).collect();
    let first = findings.iter().filter(|seen| args.since.is_none_or(|since| seen.first >= since)).collect();
    let page = HistoryPage { runs, incomplete, seen, since: args.since, first };
    context.console.print(&page.render()?)?;
    Ok(Exit::Success)
}

/// The reason why a database could not be read or written.
enum HistoryFailure {
    Database(HistoryError),
    Other(Failure),
}

impl From<HistoryError> for HistoryFailure {
    fn from(error: HistoryError) -> HistoryFailure {
        HistoryFailure::Database(error)
    }
}

/// Adds the campaigns to the database. Returns all campaigns and findings in it.
fn read_history(
    context: &CommandContext,
    args: &args::HistoryArgs,
) -> Result<(Vec<RecordedCampaign>, Vec<RecordedFinding>), HistoryFailure> {
    let mut history = if args.add.is_empty() {
        History::open_existing(&args.database)?
    } else {
        History::open(&args.database)?
    };
    for directory in &args.add {
        let folder = Folder::read(directory)
            .map_err(|error| HistoryFailure::Other(Failure::BadInput(error.to_string())))?;
        let name = directory.to_string_lossy();
        context.console.note(&match history.record(&folder, &name, SystemTime::now())? {
            Recording::Added => format!("{name} is entered"),
            Recording::Replaced => format!("{name} was entered before, and is replaced"),
        });
    }
    Ok((history.runs()?, history.findings()?))
}

#[derive(Template)]
#[template(path = "history.txt")]
struct HistoryPage<'a> {
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

/// Converts a database error. An unusable database (missing, locked or not a database) is bad input, which
/// the user can fix; a full disk is a failure of the machine.
pub fn failed(path: &Path, error: HistoryError) -> Failure {
    if error.is_of_machine() {
        return anyhow::Error::from(error).context(path.display().to_string()).into();
    }
    let name = path.display();
    if path.exists() {
        return Failure::BadInput(format!("{name}: {error}"));
    }
    Failure::BadInput(format!(
        "{name}: no such database; ptxsmith history {name} --add DIR makes one of a campaign's folder"
    ))
}

fn campaigns(count: usize) -> String {
    format!("{count} {}", if count == 1 { "campaign" } else { "campaigns" })
}
