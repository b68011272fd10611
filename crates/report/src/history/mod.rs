//! The history of campaigns in one SQLite file. It answers when a finding was first seen, in which campaigns
//! it was seen, which findings are new since yesterday, and which campaigns were incomplete.
//!
//! Each campaign is stored once. Recording its folder again replaces the earlier entry, so that a resumed
//! campaign does not count twice. The file is an ordinary SQLite database; `schema.sql` documents its tables.

#[cfg(not(feature = "sqlite"))]
mod absent;
#[cfg(feature = "sqlite")]
mod database;

use std::time::SystemTime;

use crate::Status;

#[cfg(not(feature = "sqlite"))]
pub use absent::AbsentHistory as History;
#[cfg(feature = "sqlite")]
pub use database::History;

/// The reason why the history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// An error of SQLite: the file cannot be opened, is locked, or is not a database.
    #[cfg(feature = "sqlite")]
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// This build has no database.
    #[cfg(not(feature = "sqlite"))]
    #[error("this ptxsmith was built without its feature `sqlite`, and so has no history")]
    Absent,
    /// The path is a pipe, a device or a folder. Opening it might block forever.
    #[error("it is no regular file")]
    NoFile,
    /// The file is a database of another program.
    #[error("it is a database of something else")]
    Foreign,
    /// The database was written by a later version.
    #[error("it was written by a later version of ptxsmith")]
    Later,
}

impl HistoryError {
    /// Whether the error is a fault of this machine, such as a full or broken disk, and not of the file.
    #[cfg(feature = "sqlite")]
    pub fn is_of_machine(&self) -> bool {
        use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
        let HistoryError::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure))
    }

    /// Whether the error is a fault of this machine; never in a build without a database.
    #[cfg(not(feature = "sqlite"))]
    pub fn is_of_machine(&self) -> bool {
        false
    }
}

/// Whether a recorded campaign is new in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// The campaign was added.
    Added,
    /// The earlier entry of the campaign was replaced.
    Replaced,
}

/// A campaign in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCampaign {
    /// The number, in the order in which campaigns were first recorded.
    pub number: i64,
    /// The time of the start, or, if it is unknown, of the recording.
    pub started: SystemTime,
    /// The name of the folder at the time of the recording.
    pub folder: String,
    /// The command that judged the programs.
    pub command: String,
    /// The seed from which the cases were generated.
    pub seed: u64,
    /// Whether the campaign finished.
    pub complete: bool,
    /// The number of verdicts.
    pub compared: u64,
    /// The number of verdicts that conform to the specification.
    pub conform: u64,
    /// The subjects, in the order of the report.
    pub subjects: Vec<String>,
    /// The numbers of new, gone and known findings.
    pub findings: [u64; 3],
}

/// A finding, with the campaigns that observed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFinding {
    /// The id of the finding.
    pub id: String,
    /// The description of the deviation.
    pub title: String,
    /// The name of the class.
    pub class: String,
    /// The status in the latest campaign that observed it.
    pub status: String,
    /// The start of the first campaign that observed it.
    pub first: SystemTime,
    /// The start of the latest campaign that observed it.
    pub last: SystemTime,
    /// The numbers of the campaigns that observed it, from the earliest to the latest.
    pub runs: Vec<i64>,
}

impl RecordedCampaign {
    /// Returns the number of findings with this status.
    pub fn count(&self, status: Status) -> u64 {
        let place = Status::ALL.iter().position(|&other| other == status);
        place.map_or(0, |place| self.findings[place])
    }
}

/// Formats a time as date and minute, in UTC: `2026-11-21 02:00`.
pub fn minute(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Formats a time as date, in UTC: `2026-11-21`.
pub fn date(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().chars().take(10).collect()
}
