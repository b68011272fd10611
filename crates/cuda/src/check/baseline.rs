//! What is known already: a list of expected failures.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ptxsmith_report::expected::{self, Expected};

use super::Finding;
/// What is written above the entries.
const HEAD: &str = "\
Violations that are known, `FILE:VARIABLE:MESSAGES # LINE`: `ptxsmith cuda check --expect-failures FILE`.";

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
    pub fn takes(&mut self, finding: &Finding, path: &Path) -> bool {
        let entry = self.entry(finding, path);
        match self.left.get_mut(&entry) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Makes a finding known.
    pub fn add(&mut self, finding: &Finding, path: &Path) {
        let entry = self.entry(finding, path);
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

    fn entry(&self, finding: &Finding, path: &Path) -> Expected {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let file = path.strip_prefix(&self.directory).unwrap_or(&path).display();
        let keys: Vec<&str> = finding.keys.iter().map(|key| key.name()).collect();
        let id = format!("{file}:{}:{}", finding.variable, keys.join(","));
        Expected { id, reason: finding.text.trim().replace(char::is_control, " "), ..Expected::default() }
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
        let finding = |line, text: &str| Finding {
            line,
            text: text.to_owned(),
            variable: "k".to_owned(),
            keys: vec![Key::Address],
            ..Finding::default()
        };
        let mut baseline = Baseline::empty(&file);
        baseline.add(&finding(3, "  f(&k);"), &source);
        baseline.write(&file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("\na.cu:k:"));
        let mut baseline = Baseline::read(&file).unwrap();
        assert_eq!(baseline.left(), 1);
        assert!(!baseline.takes(&finding(3, "g(&k);"), &source));
        assert!(baseline.takes(&finding(9, "f(&k);"), &source));
        assert!(!baseline.takes(&finding(9, "f(&k);"), &source));
    }
}
