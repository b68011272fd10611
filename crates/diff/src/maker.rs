//! Whose implementation is judged, and of which release.

use ptxsmith_subject::Description;

pub use ptxsmith_subject::version::Releases;

/// Who made an implementation, and which release it is. Known deviations are listed for makers and releases: the same
/// fault in another implementation is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maker<'a> {
    /// Implementations of one lineage share code. One that does not say its lineage is the only one of its name.
    pub lineage: Option<&'a str>,
    /// The release, `13.5.37`. One that does not say it has those of every release.
    pub version: Option<&'a str>,
}

impl<'a> Maker<'a> {
    /// The maker of an implementation.
    pub fn of(description: &'a Description) -> Maker<'a> {
        let lineage = description.lineage.as_deref().or(Some(&description.name));
        Maker { lineage, version: description.version.as_deref() }
    }
}
