//! Known deviations as executable claims.
//!
//! A deviation is a file of `corpus/deviations` or of a list of the user's own ([`add`]). The file states how a subject ends, in which
//! releases, a reproducer, and a pattern of the constructs that the deviation concerns. If the subject follows a rule other than the
//! specification's, this module defines that rule and finds it by id.
//!
//! An entry explains a difference only if it predicts exactly what was observed, and only in the releases that it lists. No entry changes
//! the expected result. An entry that a listed release no longer shows is reported as well ([`crate::gone`]).

mod addresses;
mod declarations;
mod entry;
mod expressions;
mod file;
mod initializers;
mod names;
mod operands;

use std::sync::{LazyLock, OnceLock};

use include_dir::{Dir, include_dir};
use ptxsmith_oracle::Rules;
use ptxsmith_syntax::Module;

use self::entry::Change;
pub use self::entry::{Effect, End, Known};
pub(crate) use self::file::{Comments, read_releases};
pub use crate::maker::{Maker, Releases};
use crate::pattern::{Pattern, Place, matches_of};

pub(crate) static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/deviations");

/// The entries of the user's own lists.
static ADDED: OnceLock<Vec<Known>> = OnceLock::new();

/// Every known deviation: first the entries that change a rule, in the order of `changes`, then the others by id, then the user's own.
/// Documents list them in this order. If two entries explain the same difference, the first is named.
pub static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let of_arithmetic = FILES.get_dir("arithmetic").into_iter().flat_map(|folder| folder.files());
    let mut listed: Vec<Known> = FILES
        .files()
        .chain(of_arithmetic)
        .filter_map(|file| {
            let id = file.path().file_stem()?.to_str()?;
            let text =
                file.contents_utf8().filter(|_| file.path().extension().is_some_and(|end| end == "ptx"))?;
            Some(file::read(id, text, change(id)).unwrap_or_else(|error| panic!("{id}.ptx: {error}")))
        })
        .collect();
    let place = |known: &Known| changes().position(|(id, _)| id == known.id).unwrap_or(usize::MAX);
    listed.sort_by_key(|known| (place(known), known.id));
    listed.extend(ADDED.get().into_iter().flatten());
    listed
});

fn changes() -> impl Iterator<Item = (&'static str, Change)> {
    let files = [
        expressions::CHANGES,
        initializers::CHANGES,
        declarations::CHANGES,
        addresses::CHANGES,
        operands::CHANGES,
        names::CHANGES,
    ];
    files.into_iter().flatten().copied()
}

fn change(id: &str) -> Option<Change> {
    changes().find(|(own, _)| *own == id).map(|(_, change)| change)
}

/// Adds entries to [`KNOWN`] for the rest of the process. Each is a pair of a name and the text of its file. Must be called at most once,
/// before the list is used.
///
/// # Errors
/// Returns the name of the first faulty file and the error in it. Fails if a name is listed already, or on a second call.
pub fn add(files: Vec<(String, String)>) -> Result<(), String> {
    let mut added: Vec<Known> = Vec::new();
    for (id, text) in files {
        let is_listed = |id: &str| FILES.get_file(format!("{id}.ptx")).is_some();
        if is_listed(&id) || added.iter().any(|known| known.id == id) {
            return Err(format!("{id}: a deviation of this name is listed already"));
        }
        let read = file::read(id.clone().leak(), text.leak(), None);
        added.push(read.map_err(|error| format!("{id}: {error}"))?);
    }
    ADDED.set(added).map_err(|_| "known deviations are added once".to_owned())
}

/// Returns the deviations that are listed for an implementation.
pub fn listed_for(maker: Maker<'_>) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.is_of(maker))
}

/// Returns the deviations whose pattern matches the module, with the places. Finds all of them in one pass.
pub fn matching<'k>(
    listed: impl Iterator<Item = &'k Known>,
    module: &Module,
) -> impl Iterator<Item = (&'k Known, Vec<Place>)> {
    matching_by(|known| known.pattern, listed, module)
}

/// Like [`matching`], with the pattern that `pattern` selects.
pub(crate) fn matching_by<'k>(
    pattern: fn(&Known) -> Option<&'static Pattern>,
    listed: impl Iterator<Item = &'k Known>,
    module: &Module,
) -> impl Iterator<Item = (&'k Known, Vec<Place>)> {
    let listed: Vec<(&Known, &Pattern)> = listed.filter_map(|known| Some((known, pattern(known)?))).collect();
    let patterns: Vec<&Pattern> = listed.iter().map(|(_, pattern)| *pattern).collect();
    let places = if patterns.is_empty() { Vec::new() } else { matches_of(module, &patterns).places };
    let found = listed.into_iter().zip(places).filter(|(_, places)| !places.is_empty());
    found.map(|((known, _), places)| (known, places))
}

/// Returns `base` changed by every known deviation of an implementation.
pub fn with_known(base: &Rules, maker: Maker<'_>) -> Rules {
    base.with(|rules| listed_for(maker).filter_map(Known::change).for_each(|change| change(rules)))
}
