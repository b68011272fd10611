//! The history of campaigns in one SQLite file: when a finding was first seen, in which campaigns, what is new since
//! yesterday, which campaigns were incomplete.
//!
//! A campaign is entered once: entering its folder again replaces what was kept of it, so that one that was resumed
//! does not count twice. The file is an ordinary SQLite database; `schema.sql` says what is in it.

#[cfg(not(feature = "sqlite"))]
mod absent;
#[cfg(feature = "sqlite")]
mod database;

use std::time::SystemTime;

use crate::Status;

#[cfg(not(feature = "sqlite"))]
pub use absent::History;
#[cfg(feature = "sqlite")]
pub use database::History;

/// Why the history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The database failed: the file cannot be opened, is locked, or is none.
    #[cfg(feature = "sqlite")]
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// This build has no database.
    #[cfg(not(feature = "sqlite"))]
    #[error("this ptxsmith was built without its feature `sqlite`, and so has no history")]
    Absent,
    /// It is a pipe, a device or a folder: opening it may never end.
    #[error("it is no regular file")]
    NoFile,
    /// It is a database, but of something else.
    #[error("it is a database of something else")]
    Foreign,
    /// It was written by a later version.
    #[error("it was written by a later version of ptxsmith")]
    Later,
}

impl HistoryError {
    /// Whether this machine failed, not what the file is: its disk is full, or broken.
    #[cfg(feature = "sqlite")]
    pub fn is_of_machine(&self) -> bool {
        use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
        let HistoryError::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure))
    }

    /// Whether this machine failed: without a database it does not.
    #[cfg(not(feature = "sqlite"))]
    pub fn is_of_machine(&self) -> bool {
        false
    }
}

/// Whether an entry is the first one of its campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// It is.
    Added,
    /// What was kept of the campaign was replaced.
    Replaced,
}

/// A campaign, as the history keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number, in the order in which campaigns were entered.
    pub number: i64,
    /// When it began, or, where nothing says that, when it was entered.
    pub started: SystemTime,
    /// The folder, as it was named then.
    pub folder: String,
    /// What was judged.
    pub command: String,
    /// What chose the cases.
    pub seed: u64,
    /// Whether it came to its end.
    pub complete: bool,
    /// Verdicts.
    pub compared: u64,
    /// Those that agree with the specification.
    pub conform: u64,
    /// The subjects, in the order of the report.
    pub subjects: Vec<String>,
    /// Findings that are new, gone and known.
    pub findings: [u64; 3],
}

/// A finding in the campaigns that saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its id.
    pub id: String,
    /// What happens.
    pub title: String,
    /// Its class.
    pub class: String,
    /// What the latest campaign that saw it says of it.
    pub status: String,
    /// When the first campaign that saw it began.
    pub first: SystemTime,
    /// When the latest one began.
    pub last: SystemTime,
    /// The numbers of the campaigns that saw it, from the earliest to the latest.
    pub runs: Vec<i64>,
}

impl Run {
    /// How many findings have this status.
    pub fn count(&self, status: Status) -> u64 {
        let place = Status::ALL.iter().position(|&other| other == status);
        place.map_or(0, |place| self.findings[place])
    }
}

/// A time as a date and a minute, in UTC: `2026-11-21 02:00`.
pub fn minute(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// A time as a date, in UTC: `2026-11-21`.
pub fn date(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().chars().take(10).collect()
}
