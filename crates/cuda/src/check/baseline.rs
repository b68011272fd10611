//! Known violations, kept in a file of expected failures.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ptxsmith_report::expected::{self, ListedFailure};

use super::Violation;

/// The comment at the beginning of the file.
const HEAD: &str = "\
Violations that are known, `FILE:VARIABLE:MESSAGES # LINE`: `ptxsmith cuda check --expect-failures FILE`.";

/// A set of known violations. An entry holds the text of the line and not its number, so a violation stays
/// known when its line moves, but not when the line changes.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Paths in the entries are relative to this directory.
    directory: PathBuf,
    /// The number of violations by entry.
    entries: BTreeMap<ListedFailure, usize>,
}

impl Baseline {
    /// Creates an empty set, to be written to this file.
    pub fn empty(file: &Path) -> Self {
        Baseline { directory: directory(file), entries: BTreeMap::new() }
    }

    /// Reads the set from a file.
    pub fn read(file: &Path) -> io::Result<Self> {
        let list = expected::read(&super::files::read_text(file, super::files::LONGEST)?);
        let mut baseline = Baseline::empty(file);
        for entry in list.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))? {
            *baseline.entries.entry(entry).or_default() += 1;
        }
        Ok(baseline)
    }

    /// Removes a violation from the set; returns whether it was there. `path` is the path of the violation's
    /// file.
    pub fn remove(&mut self, violation: &Violation, path: &Path) -> bool {
        let entry = self.entry(violation, path);
        match self.entries.get_mut(&entry) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Adds a violation to the set. `path` is the path of the violation's file.
    pub fn add(&mut self, violation: &Violation, path: &Path) {
        let entry = self.entry(violation, path);
        *self.entries.entry(entry).or_default() += 1;
    }

    /// The number of violations in the set.
    pub fn count(&self) -> usize {
        self.entries.values().sum()
    }

    /// Writes the set to a file.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let mut entries = Vec::new();
        for (entry, &count) in &self.entries {
            entries.extend(std::iter::repeat_n(entry.clone(), count));
        }
        fs::write(file, expected::write(HEAD, &entries))
    }

    fn entry(&self, violation: &Violation, path: &Path) -> ListedFailure {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let file = path.strip_prefix(&self.directory).unwrap_or(&path).display();
        let keys: Vec<&str> = violation.keys.iter().map(|key| key.name()).collect();
        let id = format!("{file}:{}:{}", violation.variable, keys.join(","));
        ListedFailure {
            id,
            reason: violation.text.trim().replace(char::is_control, " "),
            ..ListedFailure::default()
        }
    }
}

fn directory(file: &Path) -> PathBuf {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    fs::canonicalize(directory.unwrap_or(Path::new("."))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Key;

    #[test]
    fn a_known_violation_stays_known_where_its_line_moves_and_once_only() {
        let directory = tempfile::tempdir().unwrap();
        let (file, source) = (directory.path().join("base.txt"), directory.path().join("a.cu"));
        fs::write(&source, "").unwrap();
        let violation = |line, text: &str| Violation {
            line,
            text: text.to_owned(),
            variable: "k".to_owned(),
            keys: vec![Key::Address],
            ..Violation::default()
        };
        let mut baseline = Baseline::empty(&file);
        baseline.add(&violation(3, "  f(&k);"), &source);
        baseline.write(&file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("\na.cu:k:"));
        let mut baseline = Baseline::read(&file).unwrap();
        assert_eq!(baseline.count(), 1);
        assert!(!baseline.remove(&violation(3, "g(&k);"), &source));
        assert!(baseline.remove(&violation(9, "f(&k);"), &source));
        assert!(!baseline.remove(&violation(9, "f(&k);"), &source));
    }
}
