//! Versions of implementations, and their order.

use std::cmp::Ordering;
use std::fmt;

use smallvec::SmallVec;

/// The numbers of a version, compared in order. `12.10` is later than `12.9`, and `12.9.41` than `12.9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(SmallVec<[u64; 4]>);

impl Version {
    /// Finds the first version in a string: numbers with dots between them, such as `21.1.8` in
    /// `clang-21.1.8-rc2`. Returns `None` if the string has no digit.
    pub fn find(text: &str) -> Option<Version> {
        let mut numbers = SmallVec::new();
        let mut rest = &text[text.find(|c: char| c.is_ascii_digit())?..];
        loop {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(number) = rest[..end].parse() else { break };
            numbers.push(number);
            match rest[end..].strip_prefix('.') {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        // A version with a number of twenty digits does not occur.
        (!numbers.is_empty()).then_some(Version(numbers))
    }

    /// Returns the first number.
    pub fn major(&self) -> u64 {
        self.0[0]
    }

    /// Returns the first two numbers, as in a `.version`; `None` if there is only one.
    pub fn minor(&self) -> Option<(u64, u64)> {
        Some((self.major(), *self.0.get(1)?))
    }

    /// Parses the two numbers of a module's `.version`; `None` if it is malformed.
    pub fn parse_ptx(text: &str) -> Option<(u32, u32)> {
        let (major, minor) = Version::find(text)?.minor()?;
        Some((major.try_into().ok()?, minor.try_into().ok()?))
    }

    /// Compares with a release, which is named by its significant numbers: every `12.6.x` equals `12.6`.
    pub fn cmp_release(&self, release: &Version) -> Ordering {
        self.0.iter().take(release.0.len()).cmp(&release.0)
    }
}

/// A range of releases, both ends included; see [`Version::cmp_release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    first: &'static str,
    last: Option<&'static str>,
}

impl Releases {
    /// Creates the range of a release and all later ones.
    pub const fn since(first: &'static str) -> Releases {
        Releases { first, last: None }
    }

    /// Creates the range from one release to another, both included.
    pub const fn between(first: &'static str, last: &'static str) -> Releases {
        Releases { first, last: Some(last) }
    }

    /// Parses `A and later`, `A to B`, or `A`. The strings are leaked: they live as long as the program.
    pub fn parse(text: &str) -> Option<Releases> {
        let text = text.trim();
        if let Some(first) = text.strip_suffix(" and later") {
            return Some(Releases { first: leaked_version(first)?, last: None });
        }
        let (first, last) = text.split_once(" to ").unwrap_or((text, text));
        Some(Releases { first: leaked_version(first)?, last: Some(leaked_version(last)?) })
    }

    /// Whether a version is in the range. True for an unknown version.
    pub fn contains(&self, version: Option<&str>) -> bool {
        let Some(version) = version.and_then(Version::find) else { return true };
        let first = Version::find(self.first);
        let last = self.last.and_then(Version::find);
        first.is_none_or(|first| version.cmp_release(&first).is_ge())
            && last.is_none_or(|last| version.cmp_release(&last).is_le())
    }
}

/// Returns the text as a string that lives as long as the program, if it is a version.
fn leaked_version(text: &str) -> Option<&'static str> {
    let is_version = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_version && Version::find(text).is_some()).then(|| &*text.to_owned().leak())
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => f.write_str(last),
            Some(last) => write!(f, "{} to {last}", self.first),
            None => write!(f, "{} and later", self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let version = |text| Version::find(text).unwrap();
        assert!(version("12.10.1") > version("12.9.86"));
        assert!(version("12.9.41") > version("12.9"));
        assert_eq!(version("clang-21.1.8-rc2"), version("21.1.8"));
        assert_eq!(version("535.261.03"), version("535.261.3"));
        assert_eq!(version("13.").cmp_release(&version("13")), Ordering::Equal);
        assert_eq!(Version::find("unknown"), None);
        assert_eq!(Version::find("99999999999999999999.1"), None);
    }

    #[test]
    fn releases_are_compared_by_number_and_by_no_more_than_is_stated() {
        let some = Releases::between("11.7", "12.6");
        for (version, inside) in
            [("11.7.99", true), ("11.6.1", false), ("12.6.85", true), ("12.10.1", false), ("9.9", false)]
        {
            assert_eq!(some.contains(Some(version)), inside, "{version}");
        }
        assert!(Releases::since("9.0").contains(Some("13.5.37")));
        assert!(!Releases::between("13.3.33", "13.3.33").contains(Some("13.3.73")));
    }

    #[test]
    fn releases_are_read_as_they_are_shown() {
        for text in ["11.7", "11.7 to 12.6", "13.0 and later"] {
            assert_eq!(Releases::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "newest", "11.7 to", "11.7 and earlier", "."] {
            assert_eq!(Releases::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_version_without_a_number_may_be_of_any_release() {
        assert!(Releases::between("1.0", "1.0").contains(None));
        assert!(Releases::between("1.0", "1.0").contains(Some("unknown")));
    }
}
