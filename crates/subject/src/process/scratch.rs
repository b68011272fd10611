//! Private directories of single runs, and those that killed runs left behind.

use std::fs::{self, File, Permissions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::FlockOperation;

const SHARED_MEMORY: &str = "/dev/shm";

/// The names of scratch directories: this, the process that owns it, `-` and random characters.
const PREFIX: &str = "ptxsmith-";

/// A directory that only this user can enter, and that is removed when dropped. It is locked, so that other
/// processes can tell whether its owner lives.
#[derive(Debug)]
pub struct Scratch {
    directory: tempfile::TempDir,
    _lock: File,
}

impl Deref for Scratch {
    type Target = tempfile::TempDir;

    fn deref(&self) -> &tempfile::TempDir {
        &self.directory
    }
}

/// Creates a private directory for one run. The first call of a process removes what killed runs left.
///
/// It is created in memory (`/dev/shm`) if that is writable and has `room` bytes left, else in the temporary
/// directory. A run writes two small files; on a disk that costs more than a short child does.
///
/// # Errors
/// If neither place is writable.
pub fn scratch(room: u64) -> io::Result<Scratch> {
    static LEFTOVERS: Once = Once::new();
    LEFTOVERS.call_once(|| {
        for place in [Path::new(SHARED_MEMORY), &std::env::temp_dir()] {
            remove_leftovers(place);
        }
    });
    if left_in(Path::new(SHARED_MEMORY)).is_some_and(|left| left >= room)
        && let Ok(directory) = scratch_in(Path::new(SHARED_MEMORY))
    {
        return Ok(directory);
    }
    scratch_in(&std::env::temp_dir())
}

fn scratch_in(place: &Path) -> io::Result<Scratch> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let directory = builder.prefix(&prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(place)?;
    let lock = File::open(directory.path())?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(Scratch { directory, _lock: lock })
}

/// Removes the scratch directories of this user whose process has ended. Errors do no harm.
fn remove_leftovers(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ended = owner(&entry.file_name().to_string_lossy()).is_some_and(|process| {
            let process = PathBuf::from(format!("/proc/{process}"));
            !process.exists()
        });
        if is_ended && is_free(&entry.path()) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Returns the number of the process in the name of a scratch directory.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

/// Returns true if this user owns the directory and no process has locked it. A process in another container
/// may not show in `/proc`, but its lock does.
fn is_free(directory: &Path) -> bool {
    let is_own = directory
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::getuid().as_raw());
    is_own
        && File::open(directory).is_ok_and(|directory| {
            rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok()
        })
}

/// Returns the number of bytes left on the file system that [`scratch`] chooses for `room` bytes; `None` if
/// the system does not report it. A full disk is hard to tell from a deviation: ptxas crashes with a signal,
/// or reads its own temporary file as empty.
pub fn scratch_left(room: u64) -> Option<u64> {
    let shared = left_in(Path::new(SHARED_MEMORY)).filter(|&left| left >= room);
    shared.or_else(|| left_in(&std::env::temp_dir()))
}

fn left_in(directory: &Path) -> Option<u64> {
    let fs = rustix::fs::statvfs(directory).ok()?;
    Some(fs.f_bavail.saturating_mul(fs.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a process that cannot exist: it is above the system's limit.
    const NO_PROCESS: u32 = 1 << 30;

    #[test]
    fn only_unlocked_directories_of_ended_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: String| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("module.ptx"), "").unwrap();
            path
        };
        let ended = make(format!("{PREFIX}{NO_PROCESS}-abcdef"));
        let locked = make(format!("{PREFIX}{NO_PROCESS}-locked"));
        let lock = File::open(&locked).unwrap();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        let others = [make("ptxsmith-notes".to_owned()), make(format!("other-{NO_PROCESS}-a"))];
        let living = scratch_in(place.path()).unwrap();
        remove_leftovers(place.path());
        assert!(!ended.exists());
        assert!(locked.exists() && living.path().exists() && others.iter().all(|path| path.exists()));
        drop(lock);
        remove_leftovers(place.path());
        assert!(!locked.exists());
    }

    #[test]
    fn a_scratch_directory_is_closed_to_others_and_removed_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let scratch = scratch_in(place.path()).unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(!path.exists());
    }
}
