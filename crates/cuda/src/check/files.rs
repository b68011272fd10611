//! Reads files that a project names.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The longest source or compilation database that is read.
pub const LONGEST: u64 = 256 << 20;

/// The text of a regular file of at most this many bytes: what else can be behind a path may have no end, or make us wait for ever.
pub fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    if !fs::metadata(path)?.is_file() {
        return Err(invalid("it is no regular file".to_owned()));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(longest + 1).read_to_string(&mut text)?;
    match text.len() as u64 > longest {
        true => Err(invalid(format!("it is larger than {} MiB", longest >> 20))),
        false => Ok(text),
    }
}
