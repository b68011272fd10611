//! Whose implementation is judged, and of which release.

use ptxsmith_subject::Description;

/// Who made an implementation, and which release it is. Known deviations are listed for makers and releases: the same
/// fault in another implementation is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maker<'a> {
    /// Implementations of one lineage share code. One that does not say its lineage has no known deviations.
    pub lineage: Option<&'a str>,
    /// The release, `13.5.37`. One that does not say it has those of every release.
    pub version: Option<&'a str>,
}

impl<'a> Maker<'a> {
    /// The maker of an implementation.
    pub fn of(description: &'a Description) -> Maker<'a> {
        Maker { lineage: description.lineage.as_deref(), version: description.version.as_deref() }
    }
}

/// The releases from one to another, both included. A release is named by the numbers that matter: `12.6` is every
/// `12.6.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    first: &'static str,
    last: Option<&'static str>,
}

impl Releases {
    /// This release and all later ones.
    pub const fn from(first: &'static str) -> Releases {
        Releases { first, last: None }
    }

    /// These two releases and those between them.
    pub const fn between(first: &'static str, last: &'static str) -> Releases {
        Releases { first, last: Some(last) }
    }

    /// Whether a release is one of them. One without a number, or with one that is none, may be any.
    pub fn contain(&self, version: Option<&str>) -> bool {
        let Some(version) = version.filter(|version| numbers(version).all(|n| n.is_some())) else {
            return true;
        };
        // Asked of every case: nothing is allocated.
        let compare = |bound: &str| numbers(version).take(numbers(bound).count()).cmp(numbers(bound));
        compare(self.first).is_ge() && self.last.is_none_or(|last| compare(last).is_le())
    }
}

impl std::fmt::Display for Releases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.last {
            Some(last) if last == self.first => f.write_str(last),
            Some(last) => write!(f, "{} to {last}", self.first),
            None => write!(f, "{} and later", self.first),
        }
    }
}

fn numbers(version: &str) -> impl Iterator<Item = Option<u32>> {
    version.split('.').map(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number_and_by_no_more_than_is_stated() {
        let some = Releases::between("11.7", "12.6");
        for (version, inside) in
            [("11.7.99", true), ("11.6.1", false), ("12.6.85", true), ("12.10.1", false), ("9.9", false)]
        {
            assert_eq!(some.contain(Some(version)), inside, "{version}");
        }
        assert!(Releases::from("9.0").contain(Some("13.5.37")));
        assert!(!Releases::between("13.3.33", "13.3.33").contain(Some("13.3.73")));
    }

    #[test]
    fn an_implementation_without_a_number_may_be_of_any_release() {
        assert!(Releases::between("1.0", "1.0").contain(None));
        assert!(Releases::between("1.0", "1.0").contain(Some("unknown")));
    }
}
