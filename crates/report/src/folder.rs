//! Reads the folder that a campaign wrote.
//!
//! A folder may come from an untrusted source. Only two files are read, both with fixed names; the contents
//! of the folder never name a file that is read or written.

use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_subject::regular;
use serde::de::DeserializeOwned;

use crate::manifest::{self, Manifest};
use crate::{Report, SCHEMA};

/// The name of the report in the folder.
pub const REPORT: &str = "report.json";
/// The name of the manifest in the folder.
pub const MANIFEST: &str = "manifest.json";
/// The name of the subfolder with the findings.
pub const FINDINGS: &str = "findings";

/// The maximum size of a file in bytes. A report of a million findings is smaller.
const MOST_BYTES: u64 = 1 << 30;

/// The reason why a folder cannot be read. The user can correct all of these errors.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist or is not a regular file.
    #[error("cannot read {}: {error}; give the folder of a campaign, which `run --out DIR` wrote", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file has other contents.
    #[error("{} is no report of a campaign: {error}", path.display())]
    Json {
        /// The path of the file.
        path: PathBuf,
        /// The position and the expected contents.
        error: serde_json::Error,
    },
    /// The file has another schema or one of a later version.
    #[error("{} has the schema `{found}`, and this version reads `{wanted}`", path.display())]
    Schema {
        /// The path of the file.
        path: PathBuf,
        /// The schema of the file.
        found: String,
        /// The schema that this version reads.
        wanted: &'static str,
    },
}

/// The results of a campaign, read from its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    /// The report.
    pub report: Report,
    /// The manifest, if there is one.
    pub manifest: Option<Manifest>,
}

impl Folder {
    /// Reads a folder. The path may also name the report file itself.
    ///
    /// # Errors
    /// If there is no report, or if the report or the manifest is malformed.
    pub fn read(path: &Path) -> Result<Folder, ReadError> {
        let (folder, file) = if path.is_dir() {
            (path, path.join(REPORT))
        } else {
            (path.parent().unwrap_or(Path::new("")), path.to_owned())
        };
        let mut report: Report = read(&file)?;
        expect_schema(&file, &report.schema, SCHEMA)?;
        // Earlier versions sorted the findings differently.
        report.findings.sort_by_key(crate::severity::order);
        Ok(Folder { report, manifest: read_manifest(folder)? })
    }

    /// Counts the mismatches between the report and the folder that contains it: the findings of the report
    /// without a file, and the files of findings that are not in the report. Both counts are 0 if report and
    /// folder belong together.
    pub fn count_mismatches(&self, folder: &Path) -> (usize, usize) {
        let folder = folder.join(FINDINGS);
        let findings = &self.report.findings;
        let with_file = findings.iter().filter(|finding| finding.file.is_some());
        let missing =
            with_file.filter(|finding| !folder.join(format!("{}.ptx", finding.id)).is_file()).count();
        let mut unknown = 0;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(id_of_file);
            unknown += usize::from(id.is_some_and(|id| findings.iter().all(|finding| finding.id != id)));
        }
        (missing, unknown)
    }
}

/// Returns the id of the finding to which a file belongs, by the file's name: `ID.ptx`, `ID.found.ptx`, or
/// `ID.2.ptx` for the second module of a linked program.
fn id_of_file(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".ptx")?;
    let stem = stem.strip_suffix(".found").unwrap_or(stem);
    match stem.rsplit_once('.') {
        Some((id, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Some(id),
        _ => Some(stem),
    }
}

/// Reads the manifest of a folder, if there is one.
///
/// # Errors
/// If the manifest is malformed.
pub fn read_manifest(folder: &Path) -> Result<Option<Manifest>, ReadError> {
    let file = folder.join(MANIFEST);
    if fs::symlink_metadata(&file).is_err() {
        return Ok(None);
    }
    let manifest: Manifest = read(&file)?;
    expect_schema(&file, &manifest.schema, manifest::SCHEMA)?;
    Ok(Some(manifest))
}

fn expect_schema(path: &Path, found: &str, wanted: &'static str) -> Result<(), ReadError> {
    if found == wanted {
        return Ok(());
    }
    // The schema is untrusted text from the file, and the message prints it.
    let found = crate::harmless::line(found).chars().take(80).collect();
    Err(ReadError::Schema { path: path.to_owned(), found, wanted })
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, ReadError> {
    let text =
        regular::read(path, MOST_BYTES).map_err(|error| ReadError::Io { path: path.to_owned(), error })?;
    serde_json::from_slice(&text).map_err(|error| ReadError::Json { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Folder, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(REPORT), text).unwrap();
        Folder::read(folder.path())
    }

    const EMPTY: &str = r#""subjects": [], "compared": 0, "conform": 0, "findings": []}"#;

    #[test]
    fn a_report_is_read_with_and_without_a_manifest() {
        let text = format!("{{\"schema\": \"ptxsmith.report/1\", {EMPTY}");
        assert_eq!(read_text(&text).unwrap().manifest, None);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(REPORT), &text).unwrap();
        fs::write(folder.path().join(MANIFEST), r#"{"schema": "ptxsmith.manifest/1", "seed": 3}"#).unwrap();
        assert_eq!(Folder::read(folder.path()).unwrap().manifest.unwrap().seed, 3);
        assert!(Folder::read(&folder.path().join(REPORT)).unwrap().manifest.is_some());
    }

    #[test]
    fn files_of_findings_show_that_a_report_does_not_belong_to_its_folder() {
        let text = r#"{"schema": "ptxsmith.report/1", "subjects": [], "compared": 0, "conform": 0, "findings": [
            {"id": "a", "status": "new", "class": "crash", "subjects": [], "clauses": [], "title": "", "count": 1,
             "program": "", "variable": null, "expected": null, "observed": {"outcome": "crashed"},
             "repeat": "", "file": "findings/a.ptx"}]}"#;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(REPORT), text).unwrap();
        let folder = Folder::read(directory.path()).unwrap();
        fs::create_dir(directory.path().join(FINDINGS)).unwrap();
        assert_eq!(folder.count_mismatches(directory.path()), (1, 0));
        for name in ["a.ptx", "a.found.ptx", "notes.txt"] {
            fs::write(directory.path().join(FINDINGS).join(name), "").unwrap();
        }
        assert_eq!(folder.count_mismatches(directory.path()), (0, 0));
        fs::write(directory.path().join(FINDINGS).join("b.ptx"), "").unwrap();
        assert_eq!(folder.count_mismatches(directory.path()), (0, 1));
    }

    #[test]
    fn an_error_names_the_file_that_is_no_report() {
        let message = |text: &str| read_text(text).unwrap_err().to_string();
        assert!(message("{").contains("report.json is no report of a campaign: EOF"), "{}", message("{"));
        let later = message(&format!("{{\"schema\": \"ptxsmith.report/2\\u001b\", {EMPTY}"));
        assert!(later.contains("has the schema `ptxsmith.report/2\\u{1b}`"), "{later}");
        let deep = format!("{{\"findings\": [{{\"expected\": {}", "[".repeat(100_000));
        assert!(message(&deep).contains("recursion limit"));
        let nothing = tempfile::tempdir().unwrap();
        assert!(Folder::read(nothing.path()).unwrap_err().to_string().starts_with("cannot read "));
    }
}
