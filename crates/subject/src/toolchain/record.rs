//! Records the size, time and hash of an installed file next to it, so that a later change is detected.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Tool, Toolchains};
use crate::regular;

/// Maximum size of a record in bytes.
const MOST_BYTES: u64 = 1 << 16;

const FILE: &str = ".installed.json";

/// Properties of a program or library when it was installed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    size: u64,
    /// Time of the last modification, in nanoseconds since 1970.
    modified: u128,
    sha256: String,
}

/// An installed program or library has changed since its installation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not the file that was installed; \
         `ptxsmith toolchain install --repair {tool}` installs it anew", .path.display())]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// Its name in `ptxsmith toolchain install`.
    pub tool: String,
}

/// The result of checking an installed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The file is unchanged.
    Same,
    /// The file was installed by a version of ptxsmith that kept no record.
    NoRecord,
    /// The file has changed.
    Damaged(Damaged),
}

impl Toolchains {
    /// Returns the program or library of a tool, if it is installed. Compares its size and time with the
    /// record, and its hash only if they differ.
    ///
    /// # Errors
    /// If the file has changed since its installation.
    pub fn usable(&self, tool: &Tool) -> Result<Option<PathBuf>, Damaged> {
        let Some(path) = self.tool_path(tool) else { return Ok(None) };
        match self.verify(tool, &path, false) {
            Verified::Damaged(damaged) => Err(damaged),
            Verified::Same | Verified::NoRecord => Ok(Some(path)),
        }
    }

    /// Compares the hash of an installed file with the record.
    pub fn verified(&self, tool: &Tool) -> Option<Verified> {
        Some(self.verify(tool, &self.tool_path(tool)?, true))
    }

    fn verify(&self, tool: &Tool, path: &Path, by_hash: bool) -> Verified {
        let record = regular::read(&self.root().join(tool.folder()).join(FILE), MOST_BYTES).ok();
        let record = record.and_then(|text| serde_json::from_slice::<Record>(&text).ok());
        let Some(record) = record else { return Verified::NoRecord };
        let stamp = fs::metadata(path).ok().and_then(|file| stamp(&file).ok());
        let same_stamp = stamp == Some((record.size, record.modified));
        if !by_hash && same_stamp {
            return Verified::Same;
        }
        match hash(path) {
            Ok(sha256) if sha256 == record.sha256 => Verified::Same,
            _ => Verified::Damaged(Damaged { path: path.to_owned(), tool: tool.name_to_install() }),
        }
    }
}

/// Writes the record of a file that is about to be installed in a folder.
pub(super) fn write(folder: &Path, file: &Path) -> io::Result<()> {
    let (size, modified) = stamp(&fs::metadata(file)?)?;
    let record = Record { size, modified, sha256: hash(file)? };
    fs::write(folder.join(FILE), serde_json::to_vec(&record).map_err(io::Error::other)?)
}

fn stamp(file: &fs::Metadata) -> io::Result<(u64, u128)> {
    let modified: SystemTime = file.modified()?;
    let since = modified.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok((file.len(), since.as_nanos()))
}

/// SHA-256 of a file, in hex.
fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            break;
        }
        hasher.update(read);
        let count = read.len();
        file.consume(count);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{Release, Tool};

    #[test]
    fn a_file_that_was_changed_is_not_used_and_one_that_was_only_touched_is() {
        let directory = tempfile::tempdir().unwrap();
        let toolchains = Toolchains::at(directory.path());
        let tool = Tool::from(Release::find("12.9").unwrap());
        assert_eq!(toolchains.usable(&tool), Ok(None));
        let folder = directory.path().join("12.9.86");
        let path = folder.join("bin/ptxas");
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(&path, "program").unwrap();
        assert_eq!(toolchains.verified(&tool), Some(Verified::NoRecord));
        assert_eq!(toolchains.usable(&tool), Ok(Some(path.clone())));
        write(&folder, &path).unwrap();
        let is = |touched: u64, usable: bool| {
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(touched)).unwrap();
            assert_eq!(toolchains.usable(&tool).is_ok(), usable);
            assert_eq!(toolchains.verified(&tool) == Some(Verified::Same), usable);
        };
        is(1_000_000_000, true);
        // Same size; emptied; and restored.
        fs::write(&path, "progrAm").unwrap();
        is(1_000_000_001, false);
        fs::write(&path, "").unwrap();
        is(1_000_000_002, false);
        let message = toolchains.usable(&tool).unwrap_err().to_string();
        assert!(
            message.ends_with("`ptxsmith toolchain install --repair 12.9.86` installs it anew"),
            "{message}"
        );
        fs::write(&path, "program").unwrap();
        is(1_000_000_003, true);
    }
}
