//! Known deviations as executable claims.
//!
//! A deviation is a file of `corpus/deviations` or of a user's list ([`add`]). The file states the effect on
//! a subject, in which releases, a reproducer, and a pattern of the constructs that the deviation concerns.
//! If the subject follows a rule other than the specification's, this module defines that rule and finds it
//! by id.
//!
//! An entry explains a difference only if it predicts exactly what was observed, and only in the releases
//! that it lists. No entry changes the expected result. An entry that a listed release no longer shows is
//! reported as well ([`crate::gone`]).

mod addresses;
mod declarations;
mod entry;
mod expressions;
mod file;
mod initializers;
mod names;
mod operands;

use std::ffi::OsStr;
use std::sync::{LazyLock, OnceLock};

use include_dir::{Dir, include_dir};
use ptxsmith_oracle::Rules;
use ptxsmith_syntax::Module;

use self::entry::RuleChange;
pub use self::entry::{Effect, KnownDeviation, Termination};
pub(crate) use self::file::{Comments, read_releases};
pub use crate::implementation::{Implementation, Releases};
use crate::pattern::{MatchedPlace, Pattern, matches_of};

pub(crate) static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/deviations");

/// The entries of the user's own lists.
static ADDED: OnceLock<Vec<KnownDeviation>> = OnceLock::new();

/// Every known deviation: first the entries that change a rule, in the order of `changes`, then the others by
/// id, then the user's own. Documents list them in this order. If two entries explain the same difference,
/// the first is named.
pub static KNOWN: LazyLock<Vec<KnownDeviation>> = LazyLock::new(|| {
    let arithmetic = FILES.get_dir("arithmetic").into_iter().flat_map(|folder| folder.files());
    let mut listed: Vec<KnownDeviation> = Vec::new();
    for file in FILES.files().chain(arithmetic) {
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let (Some(id), Some(text)) = (path.file_stem().and_then(OsStr::to_str), file.contents_utf8()) else {
            continue;
        };
        listed.push(file::read(id, text, change(id)).unwrap_or_else(|error| panic!("{id}.ptx: {error}")));
    }
    listed.sort_by_key(|known| {
        let place = changes().position(|(id, _)| id == known.id);
        (place.unwrap_or(usize::MAX), known.id)
    });
    listed.extend(ADDED.get().into_iter().flatten());
    listed
});

/// Returns the rules that listed deviations follow and the crashes that rules predict, by id.
fn changes() -> impl Iterator<Item = (&'static str, RuleChange)> {
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

fn change(id: &str) -> Option<RuleChange> {
    changes().find(|(known, _)| *known == id).map(|(_, change)| change)
}

/// Adds entries to [`KNOWN`] for the rest of the process. Each is a pair of a name and the text of its file.
/// Must be called at most once, before the list is used.
///
/// # Errors
/// Returns the name of the first faulty file and the error in it. Fails if a name is listed already, or on a
/// second call.
pub fn add(files: Vec<(String, String)>) -> Result<(), String> {
    let mut added: Vec<KnownDeviation> = Vec::new();
    for (id, text) in files {
        let is_listed = FILES.get_file(format!("{id}.ptx")).is_some();
        if is_listed || added.iter().any(|known| known.id == id) {
            return Err(format!("{id}: a deviation of this name is listed already"));
        }
        let read = file::read(id.clone().leak(), text.leak(), None);
        added.push(read.map_err(|error| format!("{id}: {error}"))?);
    }
    ADDED.set(added).map_err(|_| "known deviations are added once".to_owned())
}

/// Returns the deviations that are listed for an implementation.
pub fn listed_for(implementation: Implementation<'_>) -> impl Iterator<Item = &'static KnownDeviation> {
    KNOWN.iter().filter(move |known| known.is_listed_for(implementation))
}

/// Returns the deviations whose pattern matches the module, with the places. Finds all of them in one pass.
pub fn matching<'k>(
    listed: impl Iterator<Item = &'k KnownDeviation>,
    module: &Module,
) -> impl Iterator<Item = (&'k KnownDeviation, Vec<MatchedPlace>)> {
    matching_by(|known| known.pattern, listed, module)
}

/// Like [`matching`], with the pattern that `pattern` selects.
pub(crate) fn matching_by<'k>(
    pattern: fn(&KnownDeviation) -> Option<&'static Pattern>,
    listed: impl Iterator<Item = &'k KnownDeviation>,
    module: &Module,
) -> impl Iterator<Item = (&'k KnownDeviation, Vec<MatchedPlace>)> {
    let listed: Vec<(&KnownDeviation, &Pattern)> =
        listed.filter_map(|known| Some((known, pattern(known)?))).collect();
    let patterns: Vec<&Pattern> = listed.iter().map(|(_, pattern)| *pattern).collect();
    let places = if patterns.is_empty() { Vec::new() } else { matches_of(module, &patterns).places };
    let found = listed.into_iter().zip(places).filter(|(_, places)| !places.is_empty());
    found.map(|((known, _), places)| (known, places))
}

/// Returns `base` changed by every known deviation of an implementation.
pub fn with_known(base: &Rules, implementation: Implementation<'_>) -> Rules {
    base.with(|rules| {
        listed_for(implementation).filter_map(KnownDeviation::change).for_each(|change| change(rules))
    })
}
