//! Where a campaign is kept: its folder, the lock on it, and what it saves of itself to go on after an interruption.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use super::file::{self, paths_of};
use super::{SAVE_EVERY, manifest};
use crate::failure::Failure;
use crate::files;
use crate::ledger::Found;
use crate::pool::lock_of;
use crate::store::{self, Earlier, Identity, Lock, Shard};

/// The folder of a campaign.
pub(super) struct Store {
    /// The directory of report and findings; `None` keeps nothing.
    pub out: Option<PathBuf>,
    /// What makes the campaign one that can go on, and be merged; `None` for one that cannot.
    pub kept: Option<Kept>,
    /// When to save next.
    pub save_at: Mutex<Instant>,
    /// The findings whose files were written.
    pub written: Mutex<BTreeSet<String>>,
    /// The findings whose files were there when the campaign was gone on with.
    pub written_before: BTreeSet<String>,
    /// When it began.
    pub started: manifest::Started,
    /// Held as long as the campaign may write to its directory.
    _lock: Option<Lock>,
}

/// What a campaign that can go on keeps of itself.
pub(super) struct Kept {
    pub identity: Identity,
    pub shard: Shard,
    /// Whether there are programs that need a later version and target.
    pub wide: bool,
    /// Held while anything is entered or saved, so that what is saved is of whole tasks.
    pub progress: Mutex<Progress>,
    /// The task of which only a part is to be done.
    pub rest: Option<store::Rest>,
}

pub(super) struct Progress {
    pub done: store::Done,
    pub verdicts: store::Verdicts,
}

impl Store {
    /// Makes the directory, and keeps others out of it. `earlier` is done with what it holds.
    pub fn open(out: Option<PathBuf>, earlier: Earlier) -> Result<Store, Failure> {
        let lock = match &out {
            None => None,
            Some(out) if earlier == Earlier::Share => {
                files::make_findings(out)?;
                None
            }
            Some(out) => {
                files::make_findings(out)?;
                let lock = Lock::take(out)?;
                earlier.settle(out)?;
                for directory in [out, &out.join(file::FOLDER)] {
                    files::remove_unfinished(directory);
                }
                Some(lock)
            }
        };
        Ok(Store {
            out,
            kept: None,
            save_at: Mutex::new(Instant::now() + SAVE_EVERY),
            written: Mutex::default(),
            written_before: BTreeSet::new(),
            started: manifest::Started::now(),
            _lock: lock,
        })
    }

    /// Whether a task is to be done: it falls to this shard, and was not done before.
    pub fn is_to_do(&self, task: u64) -> bool {
        self.kept
            .as_ref()
            .is_none_or(|kept| kept.shard.takes(task) && !lock_of(&kept.progress).done.contains(task))
    }

    /// The first case of a task that is to be done, where it is not the task's first.
    pub fn first_case_of(&self, task: u64) -> Option<u64> {
        let rest = self.kept.as_ref()?.rest.filter(|rest| rest.task == task)?;
        Some(rest.from)
    }

    /// How many programs lie with the findings that are none of them: those of earlier campaigns. They stay, since
    /// somebody may still need them.
    pub fn earlier_findings(&self, findings: &[Found]) -> usize {
        let Some(out) = &self.out else { return 0 };
        let ours: BTreeSet<PathBuf> =
            findings.iter().flat_map(|found| paths_of(out, &found.finding.id)).collect();
        let there = std::fs::read_dir(out.join(file::FOLDER)).into_iter().flatten().flatten();
        there.map(|entry| entry.path()).filter(|path| !ours.contains(path)).count()
    }

    /// Removes the files of what was a finding of its own for a while, until its cause was known.
    pub fn remove_stale(&self, findings: &[Found]) {
        let Some(out) = &self.out else { return };
        let current: BTreeSet<&str> = findings.iter().map(|found| found.finding.id.as_str()).collect();
        let written = lock_of(&self.written);
        for id in written.union(&self.written_before).filter(|id| !current.contains(id.as_str())) {
            // What cannot be removed is a file too many, which the summary counts.
            for path in paths_of(out, id) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}
