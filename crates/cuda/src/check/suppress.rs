//! Comments in the source that suppress violations: those of ptxsmith and those of clang-tidy.
//!
//! `// ptxsmith-ignore(KEY, ...)` applies to its own line, and also to the next one if the comment is alone
//! in its line. `NOLINT`, `NOLINTNEXTLINE`, and `NOLINTBEGIN` with `NOLINTEND` have the same meaning as in
//! clang-tidy. They apply to all messages, or to the keys that they list.

use std::collections::HashMap;

use super::Violation;
use crate::rule::Key;

/// A comment that suppresses violations.
#[derive(Debug)]
struct Suppression {
    /// The first and the last line that the comment applies to.
    lines: (u32, u32),
    /// The suppressed messages; `None` for all.
    keys: Option<Vec<Key>>,
}

/// The suppressing comments of a file.
#[derive(Debug, Default)]
struct Suppressions {
    suppressions: Vec<Suppression>,
    /// The mistakes in comments of ptxsmith, with their lines.
    mistakes: Vec<(u32, String)>,
}

/// Removes violations that comments suppress. Returns the number of removed violations, and the mistakes in
/// comments of the file `main` and of the files with violations.
pub fn apply(
    findings: &mut Vec<Violation>,
    main: &str,
    text_of: &dyn Fn(&str) -> String,
) -> (usize, Vec<String>) {
    let mut by_file: HashMap<String, Suppressions> = HashMap::new();
    let mut notes = Vec::new();
    let mut files = vec![main.to_owned()];
    files.extend(findings.iter().map(|violation| violation.file.clone()));
    for file in files {
        by_file.entry(file).or_insert_with_key(|file| {
            let suppressions = Suppressions::read(&text_of(file));
            let mistakes = suppressions.mistakes.iter();
            notes.extend(mistakes.map(|(line, mistake)| format!("{file}:{line}: {mistake}")));
            suppressions
        });
    }
    let count = findings.len();
    for violation in findings.iter_mut() {
        if let Some(suppressions) = by_file.get(&violation.file) {
            violation.keys.retain(|&key| !suppressions.suppress(violation.line, key));
        }
    }
    findings.retain(|violation| !violation.keys.is_empty());
    (count - findings.len(), notes)
}

impl Suppressions {
    fn read(text: &str) -> Self {
        let mut read = Suppressions::default();
        let mut begun: Vec<(u32, Option<Vec<Key>>)> = Vec::new();
        for (text, line) in text.lines().zip(1..) {
            let Some(comment) = text.find("//").or_else(|| text.find("/*")) else { continue };
            let is_alone = text[..comment].trim().is_empty();
            let comment = &text[comment..];
            if let Some((_, rest)) = comment.split_once("ptxsmith-ignore") {
                read.add_ptxsmith(line, is_alone, rest);
            }
            if let Some((_, rest)) = comment.split_once("NOLINT") {
                read.add_clang_tidy(line, rest, &mut begun);
            }
        }
        read
    }

    /// Adds a comment of ptxsmith. `rest` is the text behind its name.
    fn add_ptxsmith(&mut self, line: u32, is_alone: bool, rest: &str) {
        let mut keys = Vec::new();
        let names = listed_names(rest).unwrap_or_default();
        for name in &names {
            match Key::ALL.into_iter().find(|key| key.name() == *name) {
                Some(key) => keys.push(key),
                None => self.mistakes.push((
                    line,
                    format!("ptxsmith-ignore: `{name}` is no message, so nothing is suppressed by it"),
                )),
            }
        }
        if names.is_empty() {
            let mistake = "ptxsmith-ignore names no message, so nothing is suppressed: ptxsmith-ignore(KEY)";
            self.mistakes.push((line, mistake.to_owned()));
        }
        self.suppressions.push(Suppression { lines: (line, line + u32::from(is_alone)), keys: Some(keys) });
    }

    /// Adds a comment of clang-tidy. `rest` is the text behind `NOLINT`, and `begun` holds the `NOLINTBEGIN`
    /// that have not ended yet.
    fn add_clang_tidy(&mut self, line: u32, rest: &str, begun: &mut Vec<(u32, Option<Vec<Key>>)>) {
        let end = rest.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(rest.len());
        let keys = listed_names(&rest[end..]).map(|patterns| keys_matching(&patterns));
        match &rest[..end] {
            "" => self.suppressions.push(Suppression { lines: (line, line), keys }),
            "NEXTLINE" => self.suppressions.push(Suppression { lines: (line + 1, line + 1), keys }),
            "BEGIN" => begun.push((line, keys)),
            "END" => {
                if let Some((first, keys)) = begun.pop() {
                    self.suppressions.push(Suppression { lines: (first, line), keys });
                }
            }
            _ => {}
        }
    }

    /// Whether a comment suppresses this message in this line.
    fn suppress(&self, line: u32, key: Key) -> bool {
        self.suppressions.iter().any(|Suppression { lines: (first, last), keys }| {
            (*first..=*last).contains(&line) && keys.as_ref().is_none_or(|keys| keys.contains(&key))
        })
    }
}

/// Returns the names in parentheses at the beginning of a text; `None` without parentheses.
fn listed_names(text: &str) -> Option<Vec<&str>> {
    let (names, _) = text.strip_prefix('(')?.split_once(')')?;
    Some(names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
}

/// Returns the messages whose key matches one of these patterns.
fn keys_matching(patterns: &[&str]) -> Vec<Key> {
    let mut keys = Key::ALL.to_vec();
    keys.retain(|key| patterns.iter().any(|pattern| matches_pattern(pattern, key.name())));
    keys
}

/// Whether a name matches a pattern, in which a star stands for any text.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(last) => name.ends_with(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_suppresses_the_messages_that_it_names_on_its_line_and_on_the_next_if_it_is_alone() {
        let text = "a // ptxsmith-ignore(address_of_host_var_in_device_code)\nb\n  \
                    // ptxsmith-ignore(device_uses_volatile_const_host_var)\nc\n";
        let suppressions = Suppressions::read(text);
        assert!(
            suppressions.suppress(1, Key::Address)
                && !suppressions.suppress(1, Key::Volatile)
                && !suppressions.suppress(2, Key::Address)
        );
        assert!(suppressions.suppress(4, Key::Volatile) && !suppressions.suppress(4, Key::Address));
        assert!(suppressions.mistakes.is_empty());
    }

    #[test]
    fn comments_of_clang_tidy_have_their_meaning_in_clang_tidy() {
        let text = "a // NOLINT\nb // NOLINT(address_of_*, other)\nc // NOLINT(other)\n// NOLINTNEXTLINE(*)\nd\n\
                    // NOLINTBEGIN\ne\n// NOLINTEND\nf\n";
        let suppressions = Suppressions::read(text);
        let lines = |key| (1..=9).filter(|&line| suppressions.suppress(line, key)).collect::<Vec<_>>();
        assert_eq!(lines(Key::Address), [1, 2, 5, 6, 7, 8]);
        assert_eq!(lines(Key::Volatile), [1, 5, 6, 7, 8]);
        assert!(
            matches_pattern("*", "k")
                && matches_pattern("a*c", "abc")
                && matches_pattern("*_c*", "a_cd")
                && !matches_pattern("a*b", "abc")
                && !matches_pattern("ab", "abc")
        );
    }

    #[test]
    fn a_comment_that_names_no_message_is_a_mistake_and_suppresses_nothing() {
        let suppressions = Suppressions::read("a // ptxsmith-ignore\nb // ptxsmith-ignore(adress)\n");
        assert_eq!(suppressions.mistakes.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
        assert!(!suppressions.suppress(1, Key::Address) && !suppressions.suppress(2, Key::Address));
    }
}
