//! What is known already: comments in the source and a list of expected failures.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ptxsmith_report::expected::{self, Expected};

use super::Finding;
use crate::rule::Key;

/// What is written above the entries.
const HEAD: &str = "\
Violations that are known, `FILE:VARIABLE:MESSAGES # LINE`: `ptxsmith cuda check --expect-failures FILE`.";

/// Whether the text says of a line that this message is to be ignored there: `// ptxsmith-ignore(KEY, ...)` on the line itself
/// or alone on the line before.
pub fn is_ignored(text: &str, line: u32, key: Key) -> bool {
    let at = |line: u32| text.lines().nth(line.checked_sub(1)? as usize);
    let names = |line: &str| {
        let (_, comment) = line.split_once("//")?;
        let (_, keys) = comment.split_once("ptxsmith-ignore(")?;
        Some(keys.split(')').next()?.split(',').any(|name| name.trim() == key.name()))
    };
    let before = line.checked_sub(1).and_then(at).filter(|line| line.trim_start().starts_with("//"));
    [at(line), before].into_iter().flatten().filter_map(names).any(|named| named)
}

/// Violations that are known. A line that moves stays known, one that changes does not.
#[derive(Debug, Default)]
pub struct Baseline {
    directory: PathBuf,
    left: BTreeMap<Expected, usize>,
}

impl Baseline {
    /// None is known; paths will be relative to the directory of this file.
    pub fn empty(file: &Path) -> Self {
        Baseline { directory: directory(file), left: BTreeMap::new() }
    }

    /// Reads a list.
    pub fn read(file: &Path) -> io::Result<Self> {
        let list = expected::read(&super::files::read_text(file, super::files::LONGEST)?);
        let mut baseline = Baseline::empty(file);
        for entry in list.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))? {
            *baseline.left.entry(entry).or_default() += 1;
        }
        Ok(baseline)
    }

    /// Whether a finding is known; each entry stands for one.
    pub fn takes(&mut self, finding: &Finding, path: &Path, line: &str) -> bool {
        let entry = self.entry(finding, path, line);
        match self.left.get_mut(&entry) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Makes a finding known.
    pub fn add(&mut self, finding: &Finding, path: &Path, line: &str) {
        let entry = self.entry(finding, path, line);
        *self.left.entry(entry).or_default() += 1;
    }

    /// How many entries no finding has taken.
    pub fn left(&self) -> usize {
        self.left.values().sum()
    }

    /// Writes it.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let entries = self.left.iter().flat_map(|(entry, &count)| std::iter::repeat_n(entry.clone(), count));
        fs::write(file, expected::write(HEAD, &entries.collect::<Vec<_>>()))
    }

    fn entry(&self, finding: &Finding, path: &Path, line: &str) -> Expected {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let file = path.strip_prefix(&self.directory).unwrap_or(&path).display();
        let keys: Vec<&str> = finding.keys.iter().map(|key| key.name()).collect();
        let id = format!("{file}:{}:{}", finding.variable, keys.join(","));
        Expected { id, reason: line.trim().replace(char::is_control, " "), ..Expected::default() }
    }
}

fn directory(file: &Path) -> PathBuf {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    fs::canonicalize(directory.unwrap_or(Path::new("."))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_ignores_the_messages_that_it_names_on_its_line_and_below_it() {
        let text = "a // ptxsmith-ignore(address_of_host_var_in_device_code)\nb\n  // ptxsmith-ignore(x, device_uses_volatile_const_host_var)\nc\n";
        assert!(is_ignored(text, 1, Key::Address) && !is_ignored(text, 1, Key::Volatile));
        assert!(!is_ignored(text, 2, Key::Address));
        assert!(is_ignored(text, 4, Key::Volatile) && !is_ignored(text, 4, Key::Address));
    }

    #[test]
    fn a_known_violation_stays_known_where_its_line_moves_and_once_only() {
        let directory = tempfile::tempdir().unwrap();
        let (file, source) = (directory.path().join("base.txt"), directory.path().join("a.cu"));
        fs::write(&source, "").unwrap();
        let finding =
            |line| Finding { line, variable: "k".to_owned(), keys: vec![Key::Address], ..Finding::default() };
        let mut baseline = Baseline::empty(&file);
        baseline.add(&finding(3), &source, "  f(&k);");
        baseline.write(&file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("\na.cu:k:"));
        let mut baseline = Baseline::read(&file).unwrap();
        assert_eq!(baseline.left(), 1);
        assert!(!baseline.takes(&finding(3), &source, "g(&k);"));
        assert!(baseline.takes(&finding(9), &source, "f(&k);"));
        assert!(!baseline.takes(&finding(9), &source, "f(&k);"));
    }
}
