//! What is known already: comments in the source and a baseline file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::rule::Key;

const SCHEMA: &str = "ptxsmith.cuda-baseline/1";

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
    left: BTreeMap<Entry, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    file: String,
    variable: String,
    keys: Vec<String>,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    findings: Vec<Entry>,
}

impl Baseline {
    /// None is known; paths will be relative to the directory of this file.
    pub fn empty(file: &Path) -> Self {
        Baseline { directory: directory(file), left: BTreeMap::new() }
    }

    /// Reads a baseline file.
    pub fn read(file: &Path) -> io::Result<Self> {
        let text = super::command::read_text(file)?;
        let read: File = serde_json::from_str(&text)?;
        if read.schema != SCHEMA {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is no {SCHEMA}")));
        }
        let mut baseline = Baseline::empty(file);
        for entry in read.findings {
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
        let written = File { schema: SCHEMA.to_owned(), findings: entries.collect() };
        fs::write(file, serde_json::to_string_pretty(&written)? + "\n")
    }

    fn entry(&self, finding: &Finding, path: &Path, line: &str) -> Entry {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Entry {
            file: path.strip_prefix(&self.directory).unwrap_or(&path).to_string_lossy().into_owned(),
            variable: finding.variable.clone(),
            keys: finding.keys.iter().map(|key| key.name().to_owned()).collect(),
            text: line.trim().to_owned(),
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
        let (file, source) = (directory.path().join("base.json"), directory.path().join("a.cu"));
        fs::write(&source, "").unwrap();
        let finding =
            |line| Finding { line, variable: "k".to_owned(), keys: vec![Key::Address], ..Finding::default() };
        let mut baseline = Baseline::empty(&file);
        baseline.add(&finding(3), &source, "  f(&k);");
        baseline.write(&file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("\"a.cu\""));
        let mut baseline = Baseline::read(&file).unwrap();
        assert_eq!(baseline.left(), 1);
        assert!(!baseline.takes(&finding(3), &source, "g(&k);"));
        assert!(baseline.takes(&finding(9), &source, "f(&k);"));
        assert!(!baseline.takes(&finding(9), &source, "f(&k);"));
    }
}
