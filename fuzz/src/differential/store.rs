//! Findings as files: each a program that an assembler takes, with what holds of it and the command that repeats it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

use ptxsmith_diff::Finding;

use crate::target::corpus_file;

/// A folder of findings, `ID.ptx` each. Several processes may write to it: a file is put there whole, and the last one counts.
pub(super) struct Store {
    folder: PathBuf,
    /// The length of the program that was kept last, by the name of its finding.
    kept: BTreeMap<String, usize>,
}

impl Store {
    /// Makes the folder, if it is not there.
    pub(super) fn open(folder: PathBuf) -> io::Result<Store> {
        std::fs::create_dir_all(&folder)?;
        Ok(Store { folder, kept: BTreeMap::new() })
    }

    /// Keeps a finding, or the shorter program of one that is there. Says whether it was not there.
    pub(super) fn keep(&mut self, finding: &Finding, subject: &str) -> io::Result<bool> {
        let program = &finding.example.program;
        let earlier = self.kept.get(&finding.id).copied();
        if earlier.is_some_and(|length| length <= program.len()) {
            return Ok(false);
        }
        let path = self.folder.join(format!("{}.ptx", finding.id));
        let repeat = format!("ptxsmith check {} --subject {subject}", path.display());
        let note = format!("{}: {}; {subject}; repeat: {repeat}", finding.class.name(), finding.title);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(corpus_file(program, &note).as_bytes())?;
        file.persist(path)?;
        self.kept.insert(finding.id.clone(), program.len());
        Ok(earlier.is_none())
    }
}
