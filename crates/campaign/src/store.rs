//! Saved campaigns: the files needed to resume an interrupted campaign and to merge shards.
//!
//! `state.json` holds all results and the list of finished tasks. It is replaced atomically, so a campaign
//! killed at any moment loses only its unsaved work. `verdicts.jsonl` has a line for each task and subject.
//! The state records its [`Identity`], so results of another build, seed or subject are never mixed in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ptxsmith_diff::{Class, NotCompared, Profile};
use ptxsmith_gen::Coverage;
use ptxsmith_report::{folder, harmless::line};
use ptxsmith_subject::{Description, regular};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::{findings_in, write_whole, write_whole_by};
use crate::ledger::Ledger;

/// The name of the state file in the output directory.
pub const STATE: &str = "state.json";
/// The name of the verdicts file in the output directory.
pub const VERDICTS: &str = "verdicts.jsonl";
const LOCK: &str = ".lock";
/// The value of `"schema"`.
const SCHEMA: &str = "ptxsmith.state/1";

/// The part of a campaign that one machine runs: shard `number` of `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the shard, from 1.
    pub number: u64,
    /// The number of shards.
    pub of: u64,
}

impl Shard {
    /// The only shard of an undivided campaign.
    pub const ALL: Shard = Shard { number: 1, of: 1 };

    /// Returns true if the task belongs to this shard. Shards divide the campaign by task, so that each
    /// module is the same as in an undivided campaign.
    pub fn contains(self, task: u64) -> bool {
        task % self.of == self.number - 1
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The settings that must be equal for results to be combined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The version of ptxsmith.
    pub ptxsmith: String,
    /// A hash of its source code.
    pub build: String,
    /// The command: `run`.
    pub command: String,
    /// The seed that chose the cases.
    pub seed: u64,
    /// The other options that chose them: focus, weights, number.
    pub options: BTreeMap<String, String>,
    /// The implementations: id, and hash or version.
    pub subjects: Vec<String>,
}

impl Identity {
    /// Returns the first setting in which `other` differs: its name, our value, their value.
    pub fn difference(&self, other: &Identity) -> Option<(String, String, String)> {
        self.settings(other).into_iter().find(|(_, ours, theirs)| ours != theirs)
    }

    /// Returns all settings with both values, in the order in which differences are reported.
    fn settings(&self, other: &Identity) -> Vec<(String, String, String)> {
        let mut settings = vec![
            ("version".to_owned(), self.ptxsmith.clone(), other.ptxsmith.clone()),
            ("build".to_owned(), self.build.clone(), other.build.clone()),
            ("command".to_owned(), self.command.clone(), other.command.clone()),
            ("seed".to_owned(), self.seed.to_string(), other.seed.to_string()),
        ];
        let keys: BTreeSet<&String> = self.options.keys().chain(other.options.keys()).collect();
        settings.extend(keys.into_iter().map(|key| (key.clone(), self.option(key), other.option(key))));
        settings.push(("subjects".to_owned(), self.subjects.join(", "), other.subjects.join(", ")));
        settings
    }

    fn option(&self, key: &str) -> String {
        self.options.get(key).cloned().unwrap_or_default()
    }
}

/// The finished tasks of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedTasks {
    /// All tasks below this number are finished,
    before: u64,
    /// and these as well.
    also: BTreeSet<u64>,
}

impl FinishedTasks {
    /// Returns true if the task is finished.
    pub fn contains(&self, task: u64) -> bool {
        task < self.before || self.also.contains(&task)
    }

    /// Removes the task, which must be the last one of the campaign.
    pub fn remove_last(&mut self, task: u64) {
        self.also.remove(&task);
        self.before = self.before.min(task);
    }

    /// Adds a task of a shard.
    pub fn insert(&mut self, task: u64, shard: Shard) {
        self.also.insert(task);
        while self.also.remove(&self.before) || !shard.contains(self.before) {
            self.before += 1;
        }
    }
}

/// The unfinished part of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialTask {
    /// The task.
    pub task: u64,
    /// The first case that is still to be done.
    pub from: u64,
}

/// The saved results of a campaign.
#[derive(Debug, Serialize, Deserialize)]
pub struct CampaignState {
    schema: String,
    /// The settings of the campaign.
    pub identity: Identity,
    /// The shard that these results cover.
    pub shard: Shard,
    /// Whether the campaign finished.
    pub complete: bool,
    /// The tasks whose results are included.
    pub done: FinishedTasks,
    /// A task that was left half done when the budget was raised; earlier cases of it are included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<PartialTask>,
    /// Whether some programs use features of a later PTX version and target.
    pub wide: bool,
    /// The implementations with their results.
    pub subjects: Vec<SubjectState>,
    /// The number of times each grammar production was generated.
    pub productions: BTreeMap<String, u64>,
    /// The pairs of parent and child productions that were generated.
    pub pairs: Vec<(String, String)>,
}

/// One implementation and its results.
#[derive(Debug, Serialize, Deserialize)]
pub struct SubjectState {
    /// The description of the implementation.
    pub description: Description,
    /// The profile from the start of the campaign; `None` if no case was run on the subject.
    pub profile: Option<Profile>,
    /// The results.
    pub ledger: Ledger,
}

impl CampaignState {
    /// Creates a state without any subjects or finished tasks.
    pub fn new(identity: Identity, shard: Shard, coverage: &Coverage) -> CampaignState {
        let pairs = coverage.pairs_made().map(|(parent, child)| (parent.to_owned(), child.to_owned()));
        CampaignState {
            schema: SCHEMA.to_owned(),
            identity,
            shard,
            complete: false,
            done: FinishedTasks::default(),
            rest: None,
            wide: false,
            subjects: Vec::new(),
            productions: coverage.counts().map(|(name, count)| (name.to_owned(), count)).collect(),
            pairs: pairs.collect(),
        }
    }

    /// Reads the state in a directory; `None` if there is none.
    ///
    /// # Errors
    /// If the file cannot be read or was written in another format.
    pub fn read(directory: &Path) -> Result<Option<CampaignState>, Failure> {
        let path = directory.join(STATE);
        let name = line(&path.to_string_lossy()).into_owned();
        let Some(file) = open_regular(&path)? else { return Ok(None) };
        let mut text = Vec::new();
        let read = file.take(MOST_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| Failure::BadInput(format!("cannot read {name}: {error}")))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(Failure::BadInput(format!("{name} is larger than 1 GiB, which no state is")));
        }
        let state: CampaignState = serde_json::from_slice(&text).map_err(|error| {
            Failure::BadInput(format!("{name} is not what a campaign of this version keeps: {error}"))
        })?;
        if state.schema != SCHEMA {
            return Err(Failure::BadInput(format!("{name} is of another version of ptxsmith")));
        }
        match state.contradiction() {
            Some(what) => Err(Failure::BadInput(format!("{name} contradicts itself: {what}"))),
            None => Ok(Some(state)),
        }
    }

    /// Describes a contradiction between numbers of the state; `None` if there is none. States written by
    /// this program have none.
    fn contradiction(&self) -> Option<String> {
        let Shard { number, of } = self.shard;
        if !(1..=of).contains(&number) {
            return Some(format!("there is no shard {number}/{of}"));
        }
        if let Some(task) =
            self.done.also.iter().find(|&&task| !self.shard.contains(task) || task < self.done.before)
        {
            return Some(format!("task {task} is none that shard {number}/{of} has still to enter"));
        }
        let counts = self
            .subjects
            .iter()
            .map(|kept| kept.ledger.largest_count())
            .chain(self.productions.values().copied());
        if let Some(count) = counts.chain([self.done.before]).find(|&count| count > MOST_CASES) {
            return Some(format!("{count} is more than any campaign can count"));
        }
        if self.subjects.len() > self.identity.subjects.len() {
            return Some("there are more ledgers than subjects".to_owned());
        }
        self.subjects.iter().find_map(|kept| {
            let ledger = &kept.ledger;
            let id = line(&kept.description.id);
            (ledger.conform > ledger.compared)
                .then(|| format!("of {id} {} conform, and {} were compared", ledger.conform, ledger.compared))
        })
    }

    /// Writes the state into a directory and replaces the previous one.
    pub fn write(&self, directory: &Path) -> Result<(), Failure> {
        write_whole(&directory.join(STATE), &serde_json::to_vec(self)?)?;
        Ok(())
    }

    /// Returns the grammar coverage.
    pub fn coverage(&self) -> Result<Coverage, Failure> {
        let mut coverage = Coverage::new();
        let counts = self.productions.iter().map(|(name, &count)| (name.as_str(), count));
        let pairs = self.pairs.iter().map(|(parent, child)| (parent.as_str(), child.as_str()));
        let entered = coverage.enter(counts, pairs);
        entered.map_err(|name| Failure::BadInput(format!("the grammar has no production `{name}`")))?;
        Ok(coverage)
    }
}

/// The treatment of a campaign that the output directory already holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingCampaign {
    /// Fail and leave it untouched.
    Refuse,
    /// Fail if it could be resumed. Results that the same command would produce again are replaced.
    RefuseResumable,
    /// Remove it, with its findings.
    Replace,
    /// Resume it, or start one if there is none. Fail if only its report is there, which cannot be resumed.
    Resume,
    /// Add to it; several processes may do so at once.
    Share,
}

impl ExistingCampaign {
    /// Checks the directory, and removes the campaign in it if `self` is `Replace`. The caller must hold the
    /// directory's lock.
    ///
    /// # Errors
    /// If the directory holds a campaign that must not be touched or cannot be resumed.
    pub fn settle(self, directory: &Path) -> Result<(), Failure> {
        let has_state = is_present(directory, STATE);
        let has_report = is_present(directory, folder::REPORT);
        // A running campaign writes its state before its first report.
        let resumable = has_state || (is_present(directory, folder::MANIFEST) && !has_report);
        let holds = resumable || has_report;
        let name = line(&directory.to_string_lossy()).into_owned();
        match self {
            ExistingCampaign::Replace => remove_campaign(directory),
            ExistingCampaign::Refuse if holds => Err(Failure::BadInput(format!(
                "{name} holds a campaign{}; give another --out, or --replace to remove it",
                if resumable { " already: --resume goes on with it" } else { " already" }
            ))),
            ExistingCampaign::RefuseResumable if has_state => Err(Failure::BadInput(format!(
                "{name} holds a campaign of `ptxsmith run`; give another --out, or --replace to remove it"
            ))),
            ExistingCampaign::Resume if holds && !resumable => Err(Failure::BadInput(format!(
                "{name} holds a campaign that cannot be continued; give another --out, or --replace to \
                 remove it"
            ))),
            _ => Ok(()),
        }
    }
}

fn is_present(directory: &Path, name: &str) -> bool {
    std::fs::symlink_metadata(directory.join(name)).is_ok()
}

/// Removes the state, the verdicts, the report and the manifest from a directory, and the programs in its
/// findings directory whose leading comments say that ptxsmith found them. Leaves everything else.
fn remove_campaign(directory: &Path) -> Result<(), Failure> {
    let programs = findings_in(directory);
    // Remove the state first: without it, nothing can be resumed from a half-removed campaign.
    let files = [STATE, VERDICTS, folder::REPORT, folder::MANIFEST].map(|name| directory.join(name));
    for path in files.into_iter().chain(programs) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(anyhow::Error::from(error)
                    .context(format!("cannot remove {}", path.display()))
                    .into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The largest state file to read, in bytes. A campaign with a million findings writes less.
const MOST_BYTES: u64 = 1 << 30;

/// The largest plausible case count: ten million cases a second for some years.
const MOST_CASES: u64 = 1 << 50;

/// Opens a file of a campaign; `None` if it does not exist. Refuses anything but regular files, because
/// reading others may never end or block for ever.
fn open_regular(path: &Path) -> Result<Option<File>, Failure> {
    match regular::open(path, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let name = path.to_string_lossy();
            Err(Failure::BadInput(format!("cannot read {}: {error}", line(&name))))
        }
    }
}

/// The time to wait for a lock.
const PATIENCE: Duration = Duration::from_secs(1);

/// Keeps other campaigns out of a directory while it is held. The system releases the lock of a process that
/// is killed.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Acquires the lock of a directory.
    ///
    /// # Errors
    /// If another campaign holds it.
    pub fn take(directory: &Path) -> Result<Lock, Failure> {
        let name = line(&directory.to_string_lossy()).into_owned();
        let file = regular::open_lock(&directory.join(LOCK));
        let file =
            file.map_err(|error| Failure::BadInput(format!("cannot write to {name}: {LOCK}: {error}")))?;
        let began = Instant::now();
        let mut locked = file.try_lock();
        // A killed campaign may still hold the lock for a moment.
        while matches!(locked, Err(TryLockError::WouldBlock)) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Failure::BadInput(format!(
                "another campaign is writing to {name}; wait for its end, or give another --out"
            ))),
            // The file system has no locks, so no other process can be kept out.
            Err(TryLockError::Error(_)) => Ok(Lock { _file: file }),
        }
    }
}

/// A line of `verdicts.jsonl`: a subject's results for the cases of a task.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct VerdictLine {
    /// The number of the task.
    pub task: u64,
    /// The id of the subject.
    pub subject: String,
    /// The number of cases compared.
    pub compared: u64,
    /// The number of compared cases that conform.
    pub conform: u64,
    /// The number of cases not compared, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// The number of cases that show each known deviation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub known: BTreeMap<String, u64>,
    /// The first cases with a new deviation.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub new: Vec<NewCase>,
    /// The number of further cases with a new deviation.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more_new: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A case with a new deviation.
#[derive(Debug, Serialize, Deserialize)]
pub struct NewCase {
    /// The number of the case.
    pub case: u64,
    /// The class of the deviation.
    pub class: Class,
}

/// The open `verdicts.jsonl` of a running campaign.
#[derive(Debug)]
pub struct Verdicts {
    file: File,
}

impl Verdicts {
    /// Opens the file in a directory and removes all lines but those of finished tasks.
    pub fn open(directory: &Path, done: &FinishedTasks) -> Result<Verdicts, Failure> {
        let path: PathBuf = directory.join(VERDICTS);
        let before = open_regular(&path)?.map(BufReader::new);
        write_whole_by(&path, |file| {
            for line in before.into_iter().flat_map(|before| before.split(b'\n')) {
                let line = line?;
                let is_done = serde_json::from_slice::<VerdictLine>(&line)
                    .is_ok_and(|verdicts| done.contains(verdicts.task));
                if is_done {
                    file.write_all(&line)?;
                    file.write_all(b"\n")?;
                }
            }
            Ok(())
        })?;
        Ok(Verdicts { file: regular::open(&path, OpenOptions::new().append(true))? })
    }

    /// Appends lines.
    pub fn add(&mut self, lines: &[VerdictLine]) -> Result<(), Failure> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.file.write_all(&text)?;
        Ok(())
    }
}

/// Sorts `verdicts.jsonl` by task; it was written in the order in which tasks finished.
pub fn sort_verdicts(directory: &Path) -> Result<(), Failure> {
    merge_verdicts(&[directory], directory)
}

/// Merges the lines of several directories, sorted by task. Keeps only the position of each line in memory,
/// not its contents.
pub fn merge_verdicts(directories: &[&Path], into: &Path) -> Result<(), Failure> {
    struct LinePosition {
        task: u64,
        // Lines of the same task are sorted by subject.
        nth: u64,
        file: usize,
        start: u64,
        length: usize,
    }
    #[derive(Deserialize)]
    struct Task {
        task: u64,
    }
    let mut files: Vec<File> = Vec::new();
    let mut places: Vec<LinePosition> = Vec::new();
    for directory in directories {
        let Some(file) = open_regular(&directory.join(VERDICTS))? else { continue };
        let mut start = 0;
        for (nth, line) in (0..).zip(BufReader::new(&file).split(b'\n')) {
            let line = line?;
            let task = serde_json::from_slice(&line).map_or(u64::MAX, |Task { task }| task);
            places.push(LinePosition { task, nth, file: files.len(), start, length: line.len() });
            start += line.len() as u64 + 1;
        }
        files.push(file);
    }
    places.sort_by_key(|place| (place.task, place.nth));
    write_whole_by(&into.join(VERDICTS), |out| {
        let mut line = Vec::new();
        for place in &places {
            line.resize(place.length, 0);
            files[place.file].read_exact_at(&mut line, place.start)?;
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
