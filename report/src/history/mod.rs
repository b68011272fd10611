//! The history of campaigns in one SQLite file: when a finding was first seen, in which campaigns, what is new since
//! yesterday, which campaigns were incomplete.
//!
//! A campaign is entered once: entering its folder again replaces what was kept of it, so that one that was resumed
//! does not count twice. The file is an ordinary SQLite database; `schema.sql` says what is in it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::folder::Folder;
use crate::{Finding, Report, Status};

/// The `application_id` of our databases: `ptxs`.
const APPLICATION: i32 = 0x7074_7873;
/// The `user_version` of the tables in `schema.sql`.
const VERSION: i32 = 1;

/// Why the history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The database failed: the file cannot be opened, is locked, or is none.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It is a database, but of something else.
    #[error("it is a database of something else")]
    Foreign,
    /// It was written by a later version.
    #[error("it was written by a later version of ptxsmith")]
    Later,
}

impl HistoryError {
    /// Whether this machine failed, not what the file is: its disk is full, or broken.
    pub fn is_of_machine(&self) -> bool {
        use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
        let HistoryError::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure))
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

/// The history.
pub struct History {
    db: Connection,
}

impl History {
    /// Opens the database, and makes one where there is none.
    ///
    /// # Errors
    /// If it cannot be opened, or is not one of ours.
    pub fn open(path: &Path) -> Result<History, HistoryError> {
        History::prepare(Connection::open(path)?)
    }

    /// Opens a database that exists.
    ///
    /// # Errors
    /// If there is none, or it is not one of ours.
    pub fn open_existing(path: &Path) -> Result<History, HistoryError> {
        use rusqlite::OpenFlags;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        History::prepare(Connection::open_with_flags(path, flags)?)
    }

    fn prepare(db: Connection) -> Result<History, HistoryError> {
        // Two nightly jobs may end at the same time.
        db.busy_timeout(Duration::from_secs(30))?;
        db.pragma_update(None, "foreign_keys", true)?;
        let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (tables, pragma("application_id")?, pragma("user_version")?) {
            (0, 0, 0) => {
                db.execute_batch(&format!(
                    "BEGIN IMMEDIATE;\n{}\nPRAGMA application_id = {APPLICATION};\nPRAGMA user_version = {VERSION};\nCOMMIT;",
                    include_str!("schema.sql")
                ))?;
            }
            (_, APPLICATION, VERSION) => {}
            (_, APPLICATION, later) if later > VERSION => return Err(HistoryError::Later),
            _ => return Err(HistoryError::Foreign),
        }
        Ok(History { db })
    }

    /// Enters a campaign; `folder` is the name to keep of its folder, and `now` the time where it has none of its own.
    ///
    /// # Errors
    /// If the database cannot be written; then nothing of the campaign is kept.
    pub fn enter(
        &mut self,
        campaign: &Folder,
        folder: &str,
        now: SystemTime,
    ) -> Result<Entered, HistoryError> {
        let report = &campaign.report;
        let manifest = campaign.manifest.as_ref();
        let key = key(campaign);
        let own = manifest.and_then(|manifest| humantime::parse_rfc3339_weak(&manifest.started).ok());
        let transaction = self.db.transaction()?;
        let before: Option<(i64, i64)> = transaction
            .query_row("SELECT number, started FROM run WHERE key = ?1", [&key], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let started = match (own, before) {
            (Some(own), _) => seconds(own),
            (None, Some((_, started))) => started,
            (None, None) => seconds(now),
        };
        if let Some((number, _)) = before {
            transaction.execute("DELETE FROM run WHERE number = ?1", [number])?;
        }
        transaction.execute(
            "INSERT INTO run (number, key, started, folder, ptxsmith, build, command, seed, complete, compared, conform)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                before.map(|(number, _)| number),
                key,
                started,
                folder,
                report.ptxsmith,
                manifest.map(|manifest| &manifest.build),
                report.command,
                report.seed.to_string(),
                report.complete,
                number(report.compared),
                number(report.conform),
            ],
        )?;
        let run = transaction.last_insert_rowid();
        {
            let mut subject = transaction.prepare(
                "INSERT OR IGNORE INTO subject (run, place, id, version, lineage, sha256, compared, conform)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            for (place, of) in (0_i64..).zip(&report.subjects) {
                let (compared, conform) = (number(of.compared), number(of.conform));
                subject.execute(params![
                    run, place, of.id, of.version, of.lineage, of.sha256, compared, conform
                ])?;
            }
            let mut finding = transaction.prepare(
                "INSERT OR IGNORE INTO finding (run, id, status, class, title, count, program)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let mut shows = transaction
                .prepare("INSERT OR IGNORE INTO shows (run, finding, subject) VALUES (?1, ?2, ?3)")?;
            for of in &report.findings {
                let (status, count) = (of.status.name(), number(of.count));
                finding.execute(params![
                    run,
                    of.id,
                    status,
                    of.class,
                    of.title,
                    count,
                    of.least_program()
                ])?;
                for id in &of.subjects {
                    shows.execute(params![run, of.id, id])?;
                }
            }
        }
        transaction.commit()?;
        Ok(if before.is_some() { Entered::Replaced } else { Entered::Added })
    }

    /// All campaigns, the earliest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, HistoryError> {
        let mut subjects = self.db.prepare("SELECT id FROM subject WHERE run = ?1 ORDER BY place")?;
        let mut runs = self.db.prepare(
            "SELECT number, started, folder, command, seed, complete, compared, conform,
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'new'),
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'gone'),
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'known')
             FROM run ORDER BY started, number",
        )?;
        let mut rows = runs.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let count = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
            let ids = subjects.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
            all.push(Run {
                number,
                started: time(row.get(1)?),
                folder: row.get(2)?,
                command: row.get(3)?,
                seed: row.get::<_, String>(4)?.parse().unwrap_or_default(),
                complete: row.get(5)?,
                compared: count(6)?,
                conform: count(7)?,
                subjects: ids,
                findings: [count(8)?, count(9)?, count(10)?],
            });
        }
        Ok(all)
    }

    /// All findings that any campaign saw, the latest first seen first. One that is gone was looked for and not seen:
    /// such campaigns do not count.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn findings(&self) -> Result<Vec<Seen>, HistoryError> {
        let mut statement = self.db.prepare(
            "SELECT finding.id, finding.title, finding.class, finding.status, run.started, run.number
             FROM finding JOIN run ON run.number = finding.run
             WHERE finding.status != 'gone' ORDER BY finding.id, run.started, run.number",
        )?;
        let mut rows = statement.query([])?;
        let mut all: Vec<Seen> = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, started, run): (String, i64, i64) = (row.get(0)?, row.get(4)?, row.get(5)?);
            if all.last().is_none_or(|seen| seen.id != id) {
                let (first, text) = (time(started), String::new);
                all.push(Seen {
                    id,
                    title: text(),
                    class: text(),
                    status: text(),
                    first,
                    last: first,
                    runs: vec![],
                });
            }
            if let Some(seen) = all.last_mut() {
                (seen.title, seen.class, seen.status) = (row.get(1)?, row.get(2)?, row.get(3)?);
                seen.last = time(started);
                seen.runs.push(run);
            }
        }
        all.sort_by(|a, b| (b.first, &a.id).cmp(&(a.first, &b.id)));
        Ok(all)
    }

    /// Says of every finding of a report when it was first seen, where the report does not and the history knows.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn tell_first_seen(&self, report: &mut Report) -> Result<(), HistoryError> {
        let mut first = self.db.prepare(
            "SELECT min(run.started) FROM finding JOIN run ON run.number = finding.run
             WHERE finding.id = ?1 AND finding.status != 'gone'",
        )?;
        let unsaid = |finding: &&mut Finding| finding.first_seen.is_none();
        for finding in report.findings.iter_mut().filter(unsaid) {
            let started: Option<i64> = first.query_row([&finding.id], |row| row.get(0))?;
            finding.first_seen = started.map(|started| date(time(started)));
        }
        Ok(())
    }
}

impl Run {
    /// How many findings have this status.
    pub fn count(&self, status: Status) -> u64 {
        let place = Status::ALL.iter().position(|&other| other == status);
        place.map_or(0, |place| self.findings[place])
    }
}

/// What a campaign is known by: by its beginning, build, seed and command line, which stay when it is resumed; without a
/// manifest, by all of its report.
fn key(campaign: &Folder) -> String {
    let mut hash = Sha256::new();
    match &campaign.manifest {
        Some(manifest) if !manifest.started.is_empty() => {
            let parts = [&manifest.started, &manifest.build].into_iter().chain(&manifest.command_line);
            for part in parts {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            hash.update(manifest.seed.to_le_bytes());
        }
        _ => hash.update(serde_json::to_vec(&campaign.report).unwrap_or_default()),
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SQLite's integers are signed.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| number(since.as_secs()))
}

/// A time that cannot be shown, as one in a hostile database may be, is the beginning of time.
fn time(seconds: i64) -> SystemTime {
    /// The end of the year 9999.
    const LAST: i64 = 253_402_300_799;
    UNIX_EPOCH + Duration::from_secs(if (0..=LAST).contains(&seconds) { seconds.unsigned_abs() } else { 0 })
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

#[cfg(test)]
mod tests;
