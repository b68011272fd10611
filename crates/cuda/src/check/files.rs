//! Reads files that a project names.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The size limit of sources and compilation databases, in bytes.
pub const LONGEST: u64 = 256 << 20;

/// Reads a regular file of at most `longest` bytes. Other files, such as pipes and devices, may have no end
/// or block.
pub fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(invalid("it is no regular file".to_owned()));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(longest + 1).read_to_string(&mut text)?;
    if text.len() as u64 > longest {
        return Err(invalid(format!("it is larger than {} MiB", longest >> 20)));
    }
    Ok(text)
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
