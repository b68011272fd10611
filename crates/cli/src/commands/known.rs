//! `--known`: adds the user's own known deviations.

use std::path::{Path, PathBuf};

use ptxsmith_campaign::input;

use crate::args::Command;
use crate::exit::Failure;

/// Adds the entries given by `--known` to the known deviations, until the program ends.
///
/// # Errors
/// If a file cannot be read or is not a valid entry.
pub fn add(command: &Command) -> Result<(), Failure> {
    let paths: &[PathBuf] = match command {
        Command::Run(args) => &args.campaign.known,
        Command::Check(args) => &args.campaign.known,
        Command::Lint(args) => &args.known,
        Command::Reduce(args) => &args.known,
        _ => &[],
    };
    if paths.is_empty() {
        return Ok(());
    }
    let files: Result<Vec<(String, String)>, Failure> =
        input::files(paths)?.iter().map(|path| entry(path)).collect();
    ptxsmith_diff::known::add(files?).map_err(|error| Failure::BadInput(format!("--known: {error}")))
}

/// Returns the id of an entry, which is its file name without extension, and its text.
fn entry(path: &Path) -> Result<(String, String), Failure> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (_, text) = input::read_text(path)?;
    Ok((name, text))
}
