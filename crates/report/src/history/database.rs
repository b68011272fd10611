//! The SQLite database of the history. SQLite is compiled in.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use super::{HistoryError, RecordedCampaign, RecordedFinding, Recording, date};
use crate::folder::Folder;
use crate::{Finding, Report, SubjectResults};

/// The `application_id` of history databases: `ptxs`.
const APPLICATION: i32 = 0x7074_7873;

const VERSION: i32 = 1;

fn pragma(db: &Connection, name: &str) -> rusqlite::Result<i32> {
    db.pragma_query_value(None, name, |row| row.get(0))
}

/// Rejects a path that exists and is not a regular file.
fn expect_regular(path: &Path) -> Result<(), HistoryError> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => Err(HistoryError::NoFile),
        _ => Ok(()),
    }
}

/// The history of campaigns, backed by the database.
pub struct History {
    db: Connection,
}

impl History {
    /// Opens the database, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a history of ptxsmith.
    pub fn open(path: &Path) -> Result<History, HistoryError> {
        expect_regular(path)?;
        History::prepare(Connection::open(path)?)
    }

    /// Opens an existing database.
    ///
    /// # Errors
    /// If it does not exist, or is not a history of ptxsmith.
    pub fn open_existing(path: &Path) -> Result<History, HistoryError> {
        use rusqlite::OpenFlags;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        expect_regular(path)?;
        History::prepare(Connection::open_with_flags(path, flags)?)
    }

    fn prepare(db: Connection) -> Result<History, HistoryError> {
        // Two nightly jobs may write at the same time.
        db.busy_timeout(Duration::from_secs(30))?;
        db.pragma_update(None, "foreign_keys", true)?;
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (tables, pragma(&db, "application_id")?, pragma(&db, "user_version")?) {
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

    /// Records a campaign. `folder` is the name of its folder to be stored; `now` is the time to be stored if
    /// the campaign does not contain the time of its start.
    ///
    /// # Errors
    /// If the database cannot be written. Then no part of the campaign is stored.
    pub fn record(
        &mut self,
        campaign: &Folder,
        folder: &str,
        now: SystemTime,
    ) -> Result<Recording, HistoryError> {
        let report = &campaign.report;
        let manifest = campaign.manifest.as_ref();
        let key = key(campaign);
        let own_start = manifest.and_then(|manifest| humantime::parse_rfc3339_weak(&manifest.started).ok());
        let transaction = self.db.transaction()?;
        let earlier: Option<(i64, i64)> = transaction
            .query_row("SELECT number, started FROM run WHERE key = ?1", [&key], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let started = match (own_start, earlier) {
            (Some(start), _) => seconds(start),
            (None, Some((_, started))) => started,
            (None, None) => seconds(now),
        };
        if let Some((number, _)) = earlier {
            transaction.execute("DELETE FROM run WHERE number = ?1", [number])?;
        }
        transaction.execute(
            "INSERT INTO run (number, key, started, folder, ptxsmith, build, command, seed, complete, compared, conform)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                earlier.map(|(number, _)| number),
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
        insert_subjects(&transaction, run, &report.subjects)?;
        insert_findings(&transaction, run, &report.findings)?;
        transaction.commit()?;
        Ok(if earlier.is_some() { Recording::Replaced } else { Recording::Added })
    }

    /// Returns all campaigns, the earliest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn runs(&self) -> Result<Vec<RecordedCampaign>, HistoryError> {
        let mut subjects = self.db.prepare("SELECT id FROM subject WHERE run = ?1 ORDER BY place")?;
        let mut runs = self.db.prepare(
            "SELECT number, started, folder, command, seed, complete, compared, conform,
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'new'),
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'gone'),
                    (SELECT count(*) FROM finding WHERE run = number AND status = 'known')
             FROM run ORDER BY started, number",
        )?;
        let mut rows = runs.query([])?;
        let mut campaigns = Vec::new();
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let ids = subjects.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
            campaigns.push(RecordedCampaign {
                number,
                started: time(row.get(1)?),
                folder: row.get(2)?,
                command: row.get(3)?,
                seed: row.get::<_, String>(4)?.parse().unwrap_or_default(),
                complete: row.get(5)?,
                compared: count(row, 6)?,
                conform: count(row, 7)?,
                subjects: ids,
                findings: [count(row, 8)?, count(row, 9)?, count(row, 10)?],
            });
        }
        Ok(campaigns)
    }

    /// Returns all findings that any campaign observed; the one that was first seen most recently comes
    /// first. Campaigns in which a finding is gone do not count, because they did not observe it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn findings(&self) -> Result<Vec<RecordedFinding>, HistoryError> {
        let mut statement = self.db.prepare(
            "SELECT finding.id, finding.title, finding.class, finding.status, run.started, run.number
             FROM finding JOIN run ON run.number = finding.run
             WHERE finding.status != 'gone' ORDER BY finding.id, run.started, run.number",
        )?;
        let mut rows = statement.query([])?;
        let mut findings: Vec<RecordedFinding> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let started = time(row.get(4)?);
            let run: i64 = row.get(5)?;
            let (first, mut runs) = match findings.pop_if(|earlier| earlier.id == id) {
                Some(earlier) => (earlier.first, earlier.runs),
                None => (started, Vec::new()),
            };
            runs.push(run);
            findings.push(RecordedFinding {
                id,
                title: row.get(1)?,
                class: row.get(2)?,
                status: row.get(3)?,
                first,
                last: started,
                runs,
            });
        }
        findings.sort_by(|a, b| (b.first, &a.id).cmp(&(a.first, &b.id)));
        Ok(findings)
    }

    /// Sets the time at which each finding of a report was first seen, if it is not set and the history knows
    /// it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn set_first_seen(&self, report: &mut Report) -> Result<(), HistoryError> {
        let mut first = self.db.prepare(
            "SELECT min(run.started) FROM finding JOIN run ON run.number = finding.run
             WHERE finding.id = ?1 AND finding.status != 'gone'",
        )?;
        for finding in report.findings.iter_mut().filter(|finding| finding.first_seen.is_none()) {
            let started: Option<i64> = first.query_row([&finding.id], |row| row.get(0))?;
            finding.first_seen = started.map(|started| date(time(started)));
        }
        Ok(())
    }
}

fn insert_subjects(db: &Connection, run: i64, subjects: &[SubjectResults]) -> rusqlite::Result<()> {
    let mut statement = db.prepare(
        "INSERT OR IGNORE INTO subject (run, place, id, version, lineage, sha256, compared, conform)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (index, subject) in (0_i64..).zip(subjects) {
        let SubjectResults { id, version, lineage, sha256, compared, conform, .. } = subject;
        let compared = number(*compared);
        let conform = number(*conform);
        statement.execute(params![run, index, id, version, lineage, sha256, compared, conform])?;
    }
    Ok(())
}

fn insert_findings(db: &Connection, run: i64, findings: &[Finding]) -> rusqlite::Result<()> {
    let mut insert_finding = db.prepare(
        "INSERT OR IGNORE INTO finding (run, id, status, class, title, count, program)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut insert_subject =
        db.prepare("INSERT OR IGNORE INTO shows (run, finding, subject) VALUES (?1, ?2, ?3)")?;
    for finding in findings {
        insert_finding.execute(params![
            run,
            finding.id,
            finding.status.name(),
            finding.class.name(),
            finding.title,
            number(finding.count),
            finding.least_program()
        ])?;
        for subject in &finding.subjects {
            insert_subject.execute(params![run, finding.id, subject])?;
        }
    }
    Ok(())
}

/// Returns the key that identifies a campaign: a hash of its start, build, seed and command line, which stay
/// the same when it is resumed. Without a manifest, it is a hash of the whole report.
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

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

/// Converts a count to SQLite's signed integers.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| number(since.as_secs()))
}

/// Converts seconds to a time. A time that cannot be displayed, as in a manipulated database, becomes the
/// Unix epoch.
fn time(seconds: i64) -> SystemTime {
    /// The end of the year 9999.
    const LAST: i64 = 253_402_300_799;
    UNIX_EPOCH + Duration::from_secs(if (0..=LAST).contains(&seconds) { seconds.unsigned_abs() } else { 0 })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
