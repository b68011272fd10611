//! Opens files with known names in directories that others write to: a cache, the directory of a campaign, the
//! scratch directory of a program under test.
//!
//! Such a name may be a link to a file of the user's, a pipe that nobody writes to, or an endless device.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file, for reading or as the options say. Does not follow a link and does not wait for a
/// pipe.
///
/// # Errors
/// As [`OpenOptions::open`], and if the path is not a regular file.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file =
        options.custom_flags(flags.cast_signed()).open(path).map_err(|error| match error.raw_os_error() {
            Some(code) if code == Errno::LOOP.raw_os_error() => {
                io::Error::other("it is a link, which is not followed")
            }
            // A pipe without a reader.
            Some(code) if code == Errno::NXIO.raw_os_error() => not_regular(),
            _ => error,
        })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::other("it is no regular file")
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`], and if the file is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(io::Error::other(format!("it has more than {most} bytes")))
    } else {
        Ok(bytes)
    }
}

/// Returns the file that a program under test was to write, or `None` if it wrote no regular file of at most
/// `most` bytes: a pipe, a device or a link in its place is no answer, and is not read.
///
/// # Errors
/// As [`File::open`], except for a file that is missing or that may not be read.
pub fn read_output(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::Other | io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(error),
        },
    }
}

/// Returns the text that a program under test wrote, as [`read_output`]; `None` also if it cannot be read or is
/// no UTF-8.
pub fn output_text(path: &Path, most: u64) -> Option<String> {
    String::from_utf8(read_output(path, most).ok()??).ok()
}

/// Opens a lock file for writing, creating it if it is missing; its content is kept.
///
/// # Errors
/// As [`open`].
pub fn open_lock(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create(true).truncate(false).write(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_a_pipe_a_device_and_a_folder_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("victim"), "kept").unwrap();
        std::os::unix::fs::symlink(at("victim"), at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        for path in [at("link"), at("pipe"), at(""), Path::new("/dev/zero").to_owned()] {
            assert!(open_lock(&path).is_err(), "{}", path.display());
            assert!(read(&path, 10).is_err(), "{}", path.display());
            assert_eq!(read_output(&path, 10).unwrap(), None, "{}", path.display());
        }
        assert_eq!(read(&at("victim"), 4).unwrap(), b"kept");
        assert!(read(&at("victim"), 3).is_err());
        assert_eq!(read_output(&at("missing"), 10).unwrap(), None);
        assert_eq!(output_text(&at("victim"), 4).as_deref(), Some("kept"));
        drop(open_lock(&at("victim")).unwrap());
        assert_eq!(read(&at("victim"), 4).unwrap(), b"kept");
    }
}
