//! `ptxsmith atlas`: writes campaigns as static pages, one per clause, form and deviation.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_report::atlas::{AtlasError, INDEX, SCHEMA, atlas};
use serde_json::Value;

use super::{CommandContext, report};
use crate::args;
use crate::console::line;
use crate::exit::{Exit, Failure};

/// The intended maximum size of all pages together, in bytes.
const MOST_BYTES: usize = 5_000_000;

/// The subdirectories of an atlas.
const FOLDERS: [&str; 3] = ["clauses", "forms", "deviations"];

/// Writes all pages, or none if the campaigns cannot be combined.
pub fn run(context: &CommandContext, args: &args::AtlasArgs) -> Result<Exit, Failure> {
    let folders = args.directories.iter().map(|path| report::read(path)).collect::<Result<Vec<_>, _>>()?;
    let files = atlas(&folders).map_err(|error| match error {
        AtlasError::Render(error) => Failure::Harness(error.into()),
        other => Failure::BadInput(other.to_string()),
    })?;
    make_directory(&args.out)?;
    make_room(&args.out, args.replace)?;
    for folder in FOLDERS {
        make_directory(&args.out.join(folder))?;
    }
    for file in &files {
        if context.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        write_whole(&args.out.join(&file.path), file.text.as_bytes())?;
    }
    let pages = files.iter().filter(|file| file.path.ends_with(".html"));
    let (count, size) = pages.fold((0, 0), |(count, size), page| (count + 1, size + page.text.len()));
    let all: usize = files.iter().map(|file| file.text.len()).sum();
    if size > MOST_BYTES {
        context.console.note(&format!("the pages have more than {MOST_BYTES} bytes; give fewer programs"));
    }
    let first = args.out.join(format!("{INDEX}.html"));
    let first = first.to_string_lossy();
    context.console.print(&format!("{}: {count} pages, {size} bytes; {all} with JSON\n", line(&first)))?;
    Ok(Exit::Success)
}

/// Removes the files of an earlier atlas from a directory. Other files are never touched.
fn make_room(out: &Path, replace: bool) -> Result<(), Failure> {
    if fs::read_dir(out).map_err(unreadable)?.next().is_none() {
        return Ok(());
    }
    if !replace || !is_atlas(out) {
        let name = out.to_string_lossy();
        let how = if replace { "and holds no atlas" } else { "; --replace removes the atlas that is there" };
        return Err(Failure::BadInput(format!("{} is not empty{how}; give another --out", line(&name))));
    }
    for folder in FOLDERS {
        let entries = match fs::read_dir(out.join(folder)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries.map_err(unreadable)?,
        };
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            let is_page =
                path.extension().is_some_and(|extension| extension == "html" || extension == "json");
            if is_page && path.is_file() {
                fs::remove_file(&path).map_err(unreadable)?;
            }
        }
    }
    Ok(())
}

/// Returns true if a directory holds an atlas, judging by its index.
fn is_atlas(directory: &Path) -> bool {
    let Ok(text) = fs::read(directory.join(format!("{INDEX}.json"))) else { return false };
    serde_json::from_slice::<Value>(&text).is_ok_and(|index| index["schema"] == SCHEMA)
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::Harness(error.into())
}
