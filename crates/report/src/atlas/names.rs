//! The names of subjects, pages and cells: stable ones for addresses, and readable ones for people.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::matrix::Standing;
use crate::releases::family;
use crate::{Subject, harmless};

/// The maximum number of characters of a text on one line.
const MOST_CHARACTERS: usize = 300;
/// The maximum number of bytes of a program on a page.
const MOST_PROGRAM: usize = 16_000;

/// Converts a name into a part of an address: letters, digits, `.`, `_` and `-`. If other characters were removed, the beginning of a hash
/// keeps names distinct.
pub fn slug(name: &str) -> String {
    /// The maximum length of a name that is kept whole.
    const LONGEST: usize = 100;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    // Names use `/` and `@` only as separators, so replacing them does not make two names equal.
    let plain: String = name.chars().map(|c| if "/@".contains(c) { '-' } else { c }).collect();
    if !plain.is_empty() && plain.len() <= LONGEST && plain.chars().all(is_plain) && !plain.starts_with('.') {
        return plain;
    }
    let kept: String = plain.chars().filter(|&c| is_plain(c)).take(LONGEST / 2).collect();
    let hash = hex::encode(Sha256::digest(name));
    format!("{}_{}", kept.trim_start_matches('.'), &hash[..10])
}

/// Returns the anchor of a subject's cell on a page. It uses the subject's own name, without its version, so that it is stable.
pub fn anchor(subject: &Subject) -> String {
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

/// A piece of a text; text between backticks is code.
pub struct Piece<'a> {
    pub text: &'a str,
    pub is_code: bool,
}

/// Splits Markdown, as the pages of deviations use it, into code and other text.
pub fn pieces(markdown: &str) -> Vec<Piece<'_>> {
    let pieces = markdown.split('`').enumerate();
    pieces.map(|(nth, text)| Piece { text, is_code: nth % 2 == 1 }).collect()
}

/// Lists subjects compactly: `ptxas 12.0, 13.5; nvjitlink 13.5; toy 1`. If all subjects of a program are meant, only the program is named.
pub fn listed(all: &[&Subject], meant: impl Fn(usize) -> bool) -> String {
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (nth, subject) in all.iter().enumerate() {
        let family = family(&subject.id);
        if !families.contains_key(family) {
            order.push(family);
        }
        families.entry(family).or_default().push(nth);
    }
    let of = |family: &&str| {
        let members = &families[family];
        let shown: Vec<usize> = members.iter().copied().filter(|&nth| meant(nth)).collect();
        match shown[..] {
            [] => None,
            _ if members.len() > 2 && shown.len() == members.len() => {
                Some(format!("all {} of {family}", members.len()))
            }
            [only] if !all[only].id.contains('@') => Some(all[only].label()),
            _ => {
                let release = |&nth: &usize| all[nth].id.split_once('@').map_or("", |(_, release)| release);
                Some(format!("{family} {}", shown.iter().map(release).collect::<Vec<_>>().join(", ")))
            }
        }
    };
    short(&order.iter().filter_map(of).collect::<Vec<_>>().join("; "))
}

/// A standing, and the subjects that have it.
pub struct Group {
    /// The standing.
    pub standing: Standing,
    /// The subjects, as a list.
    pub who: String,
}

/// Groups the subjects by standing, in the order of the legend.
pub fn groups(all: &[&Subject], standing: impl Fn(usize) -> Standing) -> Vec<Group> {
    let legend = Standing::LEGEND.into_iter().map(|entry| entry.0);
    let group = |of: Standing| Group { standing: of, who: listed(all, |nth| standing(nth) == of) };
    legend.map(group).filter(|group| !group.who.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_plain_stays_and_tells_names_apart() {
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
        let subject = |id: &str| Subject { id: id.into(), ..Subject::default() };
        let all = ["p@1", "p@2", "p@3", "q@1", "exec:mine"].map(subject);
        let all: Vec<&Subject> = all.iter().collect();
        assert_eq!(listed(&all, |nth| nth != 1), "p 1, 3; q 1; exec:mine");
        assert_eq!(listed(&all, |nth| nth < 3), "all 3 of p");
        assert_eq!(listed(&all, |_| false), "");
    }
}
