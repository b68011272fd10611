//! The lineage and release of an implementation.

use ptxsmith_subject::Description;

pub use ptxsmith_subject::version::Releases;

/// The lineage and release of an implementation. Known deviations are listed by lineage and release: the same
/// fault in another lineage is a new finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Implementation<'a> {
    /// The code base that implementations share. An implementation without a declared lineage has its name as
    /// its lineage.
    pub lineage: Option<&'a str>,
    /// The release, for example `13.5.37`. Without one, the deviations of all releases apply.
    pub version: Option<&'a str>,
}

impl<'a> Implementation<'a> {
    /// Returns the lineage and release that a description declares.
    pub fn from_description(description: &'a Description) -> Implementation<'a> {
        let lineage = description.lineage.as_deref().or(Some(&description.name));
        Implementation { lineage, version: description.version.as_deref() }
    }
}
