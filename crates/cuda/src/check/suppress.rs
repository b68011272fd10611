//! Comments in the source that suppress violations: ours, and those of clang-tidy.
//!
//! `// ptxsmith-ignore(KEY, ...)` counts on its line, and for the next one where it stands alone. `NOLINT`, `NOLINTNEXTLINE` and
//! `NOLINTBEGIN` to `NOLINTEND` count as clang-tidy has them: without names of checks for all of them, else for those that are our keys.

use std::collections::HashMap;

use super::Finding;
use crate::rule::Key;

/// A comment that suppresses violations.
#[derive(Debug)]
struct Suppression {
    /// The first and the last line that it counts for.
    lines: (u32, u32),
    /// Which messages; none for all.
    keys: Option<Vec<Key>>,
}

/// The suppressions of a file.
#[derive(Debug, Default)]
struct Suppressions {
    suppressions: Vec<Suppression>,
    /// What is wrong with comments of ours: the line, and what.
    wrong: Vec<(u32, String)>,
}

/// Takes out what comments suppress; how many violations that is, and what is wrong with comments in `main` and in the files of the
/// violations.
pub fn apply(
    findings: &mut Vec<Finding>,
    main: &str,
    text_of: &dyn Fn(&str) -> String,
) -> (usize, Vec<String>) {
    let mut files: HashMap<String, Suppressions> = HashMap::new();
    let mut notes = Vec::new();
    let named: Vec<String> = findings.iter().map(|finding| finding.file.clone()).collect();
    for file in std::iter::once(main.to_owned()).chain(named) {
        files.entry(file).or_insert_with_key(|file| {
            let read = Suppressions::read(&text_of(file));
            notes.extend(read.wrong.iter().map(|(line, wrong)| format!("{file}:{line}: {wrong}")));
            read
        });
    }
    let found = findings.len();
    for finding in findings.iter_mut() {
        if let Some(read) = files.get(&finding.file) {
            finding.keys.retain(|&key| !read.suppress(finding.line, key));
        }
    }
    findings.retain(|finding| !finding.keys.is_empty());
    (found - findings.len(), notes)
}

impl Suppressions {
    fn read(text: &str) -> Self {
        let mut read = Suppressions::default();
        let mut begun: Vec<(u32, Option<Vec<Key>>)> = Vec::new();
        for (text, line) in text.lines().zip(1..) {
            let Some(comment) = text.find("//").or_else(|| text.find("/*")) else { continue };
            let is_alone = text[..comment].trim().is_empty();
            let comment = &text[comment..];
            if let Some((_, behind)) = comment.split_once("ptxsmith-ignore") {
                read.ours(line, is_alone, behind);
            }
            if let Some((_, behind)) = comment.split_once("NOLINT") {
                let word = behind.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(behind.len());
                let keys = listed(&behind[word..]).map(|names| {
                    Key::ALL
                        .into_iter()
                        .filter(|key| names.iter().any(|name| globs(name, key.name())))
                        .collect()
                });
                match &behind[..word] {
                    "" => read.suppressions.push(Suppression { lines: (line, line), keys }),
                    "NEXTLINE" => read.suppressions.push(Suppression { lines: (line + 1, line + 1), keys }),
                    "BEGIN" => begun.push((line, keys)),
                    "END" => {
                        if let Some((first, keys)) = begun.pop() {
                            read.suppressions.push(Suppression { lines: (first, line), keys });
                        }
                    }
                    _ => {}
                }
            }
        }
        read
    }

    /// A comment of ours.
    fn ours(&mut self, line: u32, is_alone: bool, behind: &str) {
        let mut keys = Vec::new();
        let names = listed(behind).unwrap_or_default();
        for name in &names {
            match Key::ALL.into_iter().find(|key| key.name() == *name) {
                Some(key) => keys.push(key),
                None => self.wrong.push((
                    line,
                    format!("ptxsmith-ignore: `{name}` is no message, so nothing is suppressed by it"),
                )),
            }
        }
        if names.is_empty() {
            let wrong = "ptxsmith-ignore names no message, so nothing is suppressed: ptxsmith-ignore(KEY)";
            self.wrong.push((line, wrong.to_owned()));
        }
        self.suppressions.push(Suppression { lines: (line, line + u32::from(is_alone)), keys: Some(keys) });
    }

    fn suppress(&self, line: u32, key: Key) -> bool {
        self.suppressions.iter().any(|Suppression { lines: (first, last), keys }| {
            (*first..=*last).contains(&line) && keys.as_ref().is_none_or(|keys| keys.contains(&key))
        })
    }
}

/// The names in brackets, if brackets follow.
fn listed(behind: &str) -> Option<Vec<&str>> {
    let (names, _) = behind.strip_prefix('(')?.split_once(')')?;
    Some(names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
}

/// Whether a name with stars for any text fits.
fn globs(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
        last = Some(part);
    }
    match last {
        None | Some("") => last.is_some() || rest.is_empty(),
        Some(last) => name.ends_with(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_suppresses_the_messages_that_it_names_on_its_line_and_below_it_where_it_stands_alone() {
        let text = "a // ptxsmith-ignore(address_of_host_var_in_device_code)\nb\n  // ptxsmith-ignore(device_uses_volatile_const_host_var)\nc\n";
        let read = Suppressions::read(text);
        assert!(
            read.suppress(1, Key::Address)
                && !read.suppress(1, Key::Volatile)
                && !read.suppress(2, Key::Address)
        );
        assert!(read.suppress(4, Key::Volatile) && !read.suppress(4, Key::Address));
        assert!(read.wrong.is_empty());
    }

    #[test]
    fn comments_of_clang_tidy_count_as_there() {
        let text = "a // NOLINT\nb // NOLINT(address_of_*, other)\nc // NOLINT(other)\n// NOLINTNEXTLINE(*)\nd\n// NOLINTBEGIN\ne\n// NOLINTEND\nf\n";
        let read = Suppressions::read(text);
        let lines = |key| (1..=9).filter(|&line| read.suppress(line, key)).collect::<Vec<_>>();
        assert_eq!(lines(Key::Address), [1, 2, 5, 6, 7, 8]);
        assert_eq!(lines(Key::Volatile), [1, 5, 6, 7, 8]);
        assert!(
            globs("*", "k")
                && globs("a*c", "abc")
                && globs("*_c*", "a_cd")
                && !globs("a*b", "abc")
                && !globs("ab", "abc")
        );
    }

    #[test]
    fn a_comment_that_names_no_message_is_wrong_and_suppresses_nothing() {
        let read = Suppressions::read("a // ptxsmith-ignore\nb // ptxsmith-ignore(adress)\n");
        assert_eq!(read.wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
        assert!(!read.suppress(1, Key::Address) && !read.suppress(2, Key::Address));
    }
}
