//! Detects that a program was replaced after its hash was taken.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The identity of a program's file when it was hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenedFile {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl OpenedFile {
    /// Identifies the file at this path.
    pub fn of(path: &Path) -> io::Result<OpenedFile> {
        let file = fs::metadata(path)?;
        Ok(OpenedFile {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
        })
    }

    /// Fails if the path now names another file, or the file has changed. Results of another program must not
    /// be reported under the hash of this one.
    pub fn is_still_at(self, path: &Path) -> io::Result<()> {
        if OpenedFile::of(path)? == self {
            return Ok(());
        }
        Err(io::Error::other(format!("{} changed since its hash was taken; start again", path.display())))
    }
}
