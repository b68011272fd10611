//! The names of subjects, pages and cells: stable ones for addresses, and readable ones for people.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::matrix::Standing;
use crate::releases::family;
use crate::{SubjectResults, harmless};

/// The maximum number of characters of a text on one line.
const MOST_CHARACTERS: usize = 300;
/// The maximum number of bytes of a program on a page.
const MOST_PROGRAM: usize = 16_000;

/// Converts a name into a part of an address: letters, digits, `.`, `_` and `-`. If other characters were
/// removed, the beginning of a hash keeps names distinct.
pub fn slug(name: &str) -> String {
    /// The maximum length of a name that is kept whole.
    const LONGEST: usize = 100;
    // Names use `/` and `@` only as separators, so replacing them does not make two names equal.
    let plain: String = name.chars().map(|c| if "/@".contains(c) { '-' } else { c }).collect();
    if !plain.is_empty() && plain.len() <= LONGEST && plain.chars().all(is_plain) && !plain.starts_with('.') {
        return plain;
    }
    let kept: String = plain.chars().filter(|&c| is_plain(c)).take(LONGEST / 2).collect();
    let hash = hex::encode(Sha256::digest(name));
    format!("{}_{}", kept.trim_start_matches('.'), &hash[..10])
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || ".-_".contains(c)
}

/// Returns the anchor of a subject's cell on a page. It uses the subject's own name, without its version, so
/// that it is stable.
pub fn anchor(subject: &SubjectResults) -> String {
    slug(subject.name.as_deref().unwrap_or(&subject.id))
}

/// Shortens and escapes a text for one line.
pub fn short(text: &str) -> String {
    harmless::cut(&harmless::line(text), MOST_CHARACTERS).into_owned()
}

/// Shortens and escapes a program for a page.
pub fn program(text: &str) -> String {
    harmless::cut(&harmless::lines(text), MOST_PROGRAM).trim_end().to_owned()
}

/// Lists the selected subjects compactly: `ptxas 12.0, 13.5; nvjitlink 13.5; toy 1`. If all subjects of a
/// program are selected, only the program is named.
pub fn list_subjects(subjects: &[&SubjectResults], is_selected: impl Fn(usize) -> bool) -> String {
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        let family = family(&subject.id);
        if !families.contains_key(family) {
            order.push(family);
        }
        families.entry(family).or_default().push(index);
    }
    let mut texts = Vec::new();
    for family in order {
        let members = &families[family];
        let selected = members.iter().filter(|&&index| is_selected(index));
        let selected: Vec<&SubjectResults> = selected.map(|&index| subjects[index]).collect();
        texts.extend(list_family(family, members.len(), &selected));
    }
    short(&texts.join("; "))
}

/// Lists the selected subjects of a program with this number of subjects; `None` if none is selected.
fn list_family(family: &str, members: usize, selected: &[&SubjectResults]) -> Option<String> {
    match selected {
        [] => None,
        _ if members > 2 && selected.len() == members => Some(format!("all {members} of {family}")),
        [only] if !only.id.contains('@') => Some(only.label()),
        _ => {
            let releases =
                selected.iter().map(|subject| subject.id.split_once('@').map_or("", |(_, release)| release));
            Some(format!("{family} {}", releases.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// A standing, and the subjects that have it.
pub struct StandingGroup {
    pub standing: Standing,
    /// The list of the subjects; see [`list_subjects`].
    pub subjects: String,
}

/// Groups the subjects by standing, in the order of the legend.
pub fn groups(subjects: &[&SubjectResults], standing_of: impl Fn(usize) -> Standing) -> Vec<StandingGroup> {
    let groups = Standing::LEGEND.into_iter().map(|(standing, ..)| StandingGroup {
        standing,
        subjects: list_subjects(subjects, |index| standing_of(index) == standing),
    });
    groups.filter(|group| !group.subjects.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_plain_and_stable_and_differs_where_names_differ() {
        assert_eq!(slug("ptxas@13.5"), "ptxas-13.5");
        assert_eq!(slug("4.5.5/division"), "4.5.5-division");
        assert_eq!(slug("ld.global.u32:2/[ga+4]"), "ld.global.u322-ga4_1ffa9b55d0");
        assert_ne!(slug("[ga+4]"), slug("[ga-4]"));
        for evil in ["..", "../../etc/passwd", ".", "", "a\u{202e}b", "\"><script>"] {
            let slug = slug(evil);
            assert!(
                !slug.starts_with('.')
                    && !slug.contains(['/', '<', '"'])
                    && slug.is_ascii()
                    && !slug.is_empty(),
                "{slug}"
            );
        }
    }

    #[test]
    fn subjects_are_listed_by_program_and_release() {
        let subject = |id: &str| SubjectResults { id: id.into(), ..SubjectResults::default() };
        let subjects = ["p@1", "p@2", "p@3", "q@1", "exec:mine"].map(subject);
        let subjects: Vec<&SubjectResults> = subjects.iter().collect();
        assert_eq!(list_subjects(&subjects, |index| index != 1), "p 1, 3; q 1; exec:mine");
        assert_eq!(list_subjects(&subjects, |index| index < 3), "all 3 of p");
        assert_eq!(list_subjects(&subjects, |_| false), "");
    }
}
