//! The files in a campaign's directory. Each is written atomically.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ptxsmith_report::folder::FINDINGS;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::regular;

use crate::failure::Failure;

/// Creates the output directory and checks that files can be created there, before any work is done.
pub fn make_directory(path: &Path) -> Result<(), Failure> {
    let made = std::fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path).map(drop));
    made.map_err(|error| {
        if is_full(&error) {
            return anyhow::Error::from(error).context(format!("cannot write to {}", path.display())).into();
        }
        let name = path.to_string_lossy();
        Failure::BadInput(format!("cannot write to {}: {error}; give another --out", line(&name)))
    })
}

/// Returns true if the disk or the user's quota is full, which is not an error in the input.
pub fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Returns true if the cause of an error is a full disk.
pub fn is_of_full_disk(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full))
}

/// The text that marks the leading comments of a finding's file.
pub const FOUND_BY: &str = "found by ptxsmith ";
/// The most bytes of leading comments to read from a finding's file.
const MOST_COMMENTS: u64 = 1 << 20;

/// Returns the programs that campaigns wrote into a directory. Other files there belong to the user.
pub fn findings_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join(FINDINGS)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_finding(path)).collect()
}

/// Returns true if a campaign wrote the file, judging by its leading comments.
fn is_finding(path: &Path) -> bool {
    if path.extension().is_none_or(|extension| extension != "ptx") {
        return false;
    }
    let Ok(file) = regular::open(path, std::fs::OpenOptions::new().read(true)) else { return false };
    let lines = BufReader::new(file.take(MOST_COMMENTS)).lines().map_while(Result::ok);
    lines.take_while(|line| line.starts_with("//")).any(|line| line.contains(FOUND_BY))
}

/// Returns the comment that says which campaign found a program.
pub fn provenance(origin: &str) -> String {
    format!("// note: {FOUND_BY}{}, {origin}\n", env!("CARGO_PKG_VERSION"))
}

/// Creates the folder of findings in a directory and returns its path. Fails if it is a link, because files
/// would be written and removed elsewhere.
pub fn make_findings(directory: &Path) -> Result<PathBuf, Failure> {
    let findings = directory.join(FINDINGS);
    if findings.symlink_metadata().is_ok_and(|there| there.is_symlink()) {
        let name = findings.to_string_lossy();
        return Err(Failure::BadInput(format!(
            "{} is a link; remove it, or give another --out",
            line(&name)
        )));
    }
    make_directory(&findings)?;
    Ok(findings)
}

/// The prefix of the names of unfinished files.
const UNFINISHED: &str = ".writing-";

/// Removes unfinished files of a killed process from a directory. No other process may be writing there.
pub fn remove_unfinished(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED)) {
        // Ignore errors: the leftover file does no harm.
        let _ = std::fs::remove_file(entry.path());
    }
}

/// Writes a file atomically: a reader sees all of it or nothing, even after a crash.
pub fn write_whole(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    write_whole_by(path, |file| file.write_all(contents))
}

/// Like [`write_whole`], for contents that are not in memory at once.
pub fn write_whole_by(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    write_and_rename(path, contents).with_context(|| format!("cannot write {}", path.display()))
}

fn write_and_rename(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;
    let mut writer = std::io::BufWriter::with_capacity(1 << 16, file);
    contents(&mut writer)?;
    let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    // Temporary files are readable only by their owner, but results are for all readers of the directory.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_directory_is_made_with_all_above_it_or_the_user_is_told_that_it_cannot_be() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("a/b");
        make_directory(&deep).unwrap();
        assert!(deep.is_dir());
        // The file that proved the directory writable has been removed.
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 0);
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let Err(Failure::BadInput(message)) = make_directory(&file.join("below")) else {
            panic!("made in a file")
        };
        assert!(
            message.starts_with("cannot write to ") && message.contains("give another --out"),
            "{message}"
        );
    }

    #[test]
    fn a_full_disk_is_found_behind_what_could_not_be_done_for_it() {
        for (kind, is) in [
            (ErrorKind::StorageFull, true),
            (ErrorKind::QuotaExceeded, true),
            (ErrorKind::FileTooLarge, true),
            (ErrorKind::PermissionDenied, false),
        ] {
            let error = anyhow::Error::from(Error::from(kind)).context("cannot write").context("cannot save");
            assert_eq!(is_of_full_disk(&error), is, "{kind:?}");
        }
        assert!(!is_of_full_disk(&anyhow::anyhow!("the disk is full, says somebody")));
    }

    #[test]
    fn only_what_a_writer_left_unfinished_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let [unfinished, whole] = [".writing-x", "report.json"].map(|name| directory.path().join(name));
        std::fs::write(&unfinished, "half").unwrap();
        write_whole(&whole, b"all").unwrap();
        remove_unfinished(directory.path());
        assert!(!unfinished.exists());
        assert_eq!(std::fs::read(&whole).unwrap(), b"all");
    }
}
