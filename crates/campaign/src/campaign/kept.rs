//! The storage of a campaign: its output directory, the lock on it, and the saved progress.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use super::file::{self, paths_of};
use super::{SAVE_EVERY, manifest};
use crate::failure::Failure;
use crate::files;
use crate::ledger::PendingFinding;
use crate::pool::lock_of;
use crate::store::{self, ExistingCampaign, Identity, Lock, Shard};

/// The output directory of a campaign.
pub(super) struct Store {
    /// The directory of the report and the findings; `None` to store nothing.
    pub out: Option<PathBuf>,
    /// The data that makes the campaign resumable and mergeable; `None` if it is neither.
    pub kept: Option<ResumeData>,
    /// The time of the next save.
    pub save_at: Mutex<Instant>,
    /// The ids of the findings that were written to files.
    pub written: Mutex<BTreeSet<String>>,
    /// The ids of the findings with files when the campaign was resumed.
    pub written_before: BTreeSet<String>,
    /// The time at which the campaign began.
    pub started: manifest::StartTime,
    /// The lock, held as long as the campaign may write to its directory.
    _lock: Option<Lock>,
}

/// The data of a resumable campaign.
pub(super) struct ResumeData {
    pub identity: Identity,
    pub shard: Shard,
    /// Whether some programs use features of a later PTX version and target.
    pub wide: bool,
    /// Locked while results are recorded or saved, so that the saved state always covers whole tasks.
    pub progress: Mutex<TaskProgress>,
    /// The task that is done in part.
    pub rest: Option<store::PartialTask>,
}

pub(super) struct TaskProgress {
    pub done: store::FinishedTasks,
    pub verdicts: store::Verdicts,
}

impl Store {
    /// Creates the directory and locks it against other campaigns. `earlier` decides the fate of a campaign
    /// that it already holds.
    pub fn open(out: Option<PathBuf>, earlier: ExistingCampaign) -> Result<Store, Failure> {
        let lock = match &out {
            None => None,
            Some(out) if earlier == ExistingCampaign::Share => {
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
            started: manifest::StartTime::now(),
            _lock: lock,
        })
    }

    /// Returns true if this shard includes the task and it is not done yet.
    pub fn is_to_do(&self, task: u64) -> bool {
        self.kept
            .as_ref()
            .is_none_or(|kept| kept.shard.contains(task) && !lock_of(&kept.progress).done.contains(task))
    }

    /// Returns the first case still to be done if part of the task is done already, otherwise `None`.
    pub fn first_case_of(&self, task: u64) -> Option<u64> {
        let rest = self.kept.as_ref()?.rest.filter(|rest| rest.task == task)?;
        Some(rest.from)
    }

    /// Returns the number of programs in the findings directory that belong to none of these findings. They
    /// come from earlier campaigns, and somebody may still need them.
    pub fn earlier_findings(&self, findings: &[PendingFinding]) -> usize {
        let Some(out) = &self.out else { return 0 };
        let ours: BTreeSet<PathBuf> =
            findings.iter().flat_map(|found| paths_of(out, &found.finding.id)).collect();
        let there = std::fs::read_dir(out.join(file::FOLDER)).into_iter().flatten().flatten();
        there.map(|entry| entry.path()).filter(|path| !ours.contains(path)).count()
    }

    /// Removes the files of findings that were later joined with another one.
    pub fn remove_stale(&self, findings: &[PendingFinding]) {
        let Some(out) = &self.out else { return };
        let current: BTreeSet<&str> = findings.iter().map(|found| found.finding.id.as_str()).collect();
        let written = lock_of(&self.written);
        for id in written.union(&self.written_before).filter(|id| !current.contains(id.as_str())) {
            // A file that cannot be removed is counted in the summary.
            for path in paths_of(out, id) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}
