//! The verdicts of all tested releases in one line: `11.7, 12.6 crash · 13.5 conform`.

pub use ptxsmith_model::{ProgramVerdict, ReleaseVerdict, family};
use ptxsmith_subject::version::Version;

/// Returns the version that determines the order of a program's releases: the full version, or else the
/// release in the subject's name.
pub fn version_of(subject: &str, version: &str) -> Option<Version> {
    Version::find(version).or_else(|| Version::find(subject.split_once('@')?.1))
}

/// Consecutive releases of a program with the same verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval<'a> {
    /// The program: `ptxas`.
    pub family: &'a str,
    /// The tested releases, from the oldest to the newest.
    pub releases: Vec<&'a str>,
    /// The verdict that all of them have.
    pub verdict: &'a ProgramVerdict,
}

/// Groups verdicts into intervals, by program and then from the oldest release to the newest. Releases that
/// were not tested do not interrupt an interval and are not listed.
pub fn intervals(verdicts: &[ReleaseVerdict]) -> Vec<Interval<'_>> {
    let mut ordered: Vec<&ReleaseVerdict> = verdicts.iter().collect();
    ordered.sort_by_cached_key(|&verdict| {
        (verdict.family(), version_of(&verdict.subject, &verdict.version), &verdict.subject)
    });
    let mut intervals: Vec<Interval<'_>> = Vec::new();
    for verdict in ordered {
        let family = verdict.family();
        match intervals.last_mut() {
            Some(last) if last.family == family && *last.verdict == verdict.verdict => {
                last.releases.push(verdict.release());
            }
            _ => intervals.push(Interval {
                family,
                releases: vec![verdict.release()],
                verdict: &verdict.verdict,
            }),
        }
    }
    intervals
}

/// Returns the intervals in one line. The program is named only if there are several.
pub fn release_map(verdicts: &[ReleaseVerdict]) -> String {
    let intervals = intervals(verdicts);
    let several = intervals.iter().any(|interval| interval.family != intervals[0].family);
    let mut map = String::new();
    let mut family = "";
    for interval in &intervals {
        if !map.is_empty() {
            map.push_str(if family == interval.family { " · " } else { "; " });
        }
        if several && family != interval.family {
            map.push_str(interval.family);
            map.push(' ');
        }
        family = interval.family;
        map.push_str(&interval.releases.join(", "));
        map.push(' ');
        map.push_str(&interval.verdict.to_string());
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(releases: &[(&str, &str, &str)]) -> Vec<ReleaseVerdict> {
        let verdict = |&(subject, version, verdict): &(&str, &str, &str)| ReleaseVerdict {
            subject: subject.to_owned(),
            version: version.to_owned(),
            verdict: verdict.to_owned().into(),
        };
        releases.iter().map(verdict).collect()
    }

    #[test]
    fn successive_releases_with_one_verdict_are_one_interval() {
        let releases = verdicts(&[
            ("ptxas@13.5", "13.5.37", "conform"),
            ("ptxas@11.7", "11.7.99", "crash"),
            ("ptxas@13.4", "13.4.92", "conform"),
            ("ptxas@12.0", "12.0.140", "crash"),
            ("ptxas@13.3", "13.3.73", "crash"),
        ]);
        assert_eq!(release_map(&releases), "11.7, 12.0, 13.3 crash · 13.4, 13.5 conform");
    }

    #[test]
    fn a_verdict_that_comes_back_is_an_interval_of_its_own() {
        let releases = verdicts(&[
            ("ptxas@12.0", "12.0.140", "crash"),
            ("ptxas@12.1", "12.1.105", "conform"),
            ("ptxas@12.2", "12.2.140", "crash"),
        ]);
        assert_eq!(release_map(&releases), "12.0 crash · 12.1 conform · 12.2 crash");
    }

    #[test]
    fn versions_are_ordered_as_numbers_and_patches_are_releases() {
        let releases = verdicts(&[
            ("ptxas@12.10", "12.10.1", "conform"),
            ("ptxas@12.9", "12.9.86", "crash"),
            ("ptxas@12.9.41", "12.9.41", "crash"),
            ("ptxas@12.10.9", "", "conform"),
        ]);
        assert_eq!(release_map(&releases), "12.9.41, 12.9 crash · 12.10, 12.10.9 conform");
    }

    #[test]
    fn programs_are_named_where_there_are_several() {
        let releases = verdicts(&[
            ("ptxas@13.5", "13.5.37", "crash"),
            ("nvjitlink@13.5", "13.5.37", "crash"),
            ("exec:mine", "1", "conform"),
        ]);
        assert_eq!(release_map(&releases), "exec:mine 1 conform; nvjitlink 13.5 crash; ptxas 13.5 crash");
        assert_eq!(release_map(&[]), "");
    }
}
