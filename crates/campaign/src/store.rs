//! What a campaign keeps so that it can go on after it was stopped, and be put together from shards.
//!
//! `state.json` holds everything that was found and which tasks are done, and is replaced at once: a campaign that is
//! killed at any moment has lost what was not saved yet and nothing else. `verdicts.jsonl` has a line for each task and
//! subject. Both say what they are of: results of another build, seed or subject are never mixed in.

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

/// The state's name in the directory.
pub const STATE: &str = "state.json";
/// The verdicts' name in the directory.
pub const VERDICTS: &str = "verdicts.jsonl";
const LOCK: &str = ".lock";
/// The value of `"schema"`.
const SCHEMA: &str = "ptxsmith.state/1";

/// The part of a campaign that one machine does: shard `number` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

impl Shard {
    /// The whole.
    pub const ALL: Shard = Shard { number: 1, of: 1 };

    /// Whether the cases of this task fall to the shard. Cases are dealt out by task, so that every shard shows the same
    /// modules as an undivided campaign does.
    pub fn takes(self, task: u64) -> bool {
        task % self.of == self.number - 1
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// What must be the same for results to belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The version of ptxsmith.
    pub ptxsmith: String,
    /// A hash of its source.
    pub build: String,
    /// `run`.
    pub command: String,
    /// What chose the cases.
    pub seed: u64,
    /// What else chose them: focus, weights, number.
    pub options: BTreeMap<String, String>,
    /// The implementations: id and hash, or version.
    pub subjects: Vec<String>,
}

impl Identity {
    /// The first thing in which another differs, for a person: what, ours, theirs.
    pub fn difference(&self, other: &Identity) -> Option<(String, String, String)> {
        let own = |what: &str, a: &str, b: &str| (a != b).then(|| (what.into(), a.into(), b.into()));
        own("version", &self.ptxsmith, &other.ptxsmith)
            .or_else(|| own("build", &self.build, &other.build))
            .or_else(|| own("command", &self.command, &other.command))
            .or_else(|| own("seed", &self.seed.to_string(), &other.seed.to_string()))
            .or_else(|| {
                let keys: BTreeSet<&String> = self.options.keys().chain(other.options.keys()).collect();
                let of = |of: &Identity, key: &str| of.options.get(key).cloned().unwrap_or_default();
                keys.into_iter().find_map(|key| own(key, &of(self, key), &of(other, key)))
            })
            .or_else(|| own("subjects", &self.subjects.join(", "), &other.subjects.join(", ")))
    }
}

/// The tasks of a shard that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// All of them below this number, and
    before: u64,
    /// these.
    also: BTreeSet<u64>,
}

impl Done {
    /// Whether a task is done.
    pub fn contains(&self, task: u64) -> bool {
        task < self.before || self.also.contains(&task)
    }

    /// Removes the last task that there was.
    pub fn remove_last(&mut self, task: u64) {
        self.also.remove(&task);
        self.before = self.before.min(task);
    }

    /// Adds a task of a shard.
    pub fn insert(&mut self, task: u64, shard: Shard) {
        self.also.insert(task);
        while self.also.remove(&self.before) || !shard.takes(self.before) {
            self.before += 1;
        }
    }
}

/// What is left of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// The task.
    pub task: u64,
    /// Its first case that is not done.
    pub from: u64,
}

/// Everything that a campaign found.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// What it is of.
    pub identity: Identity,
    /// Which part of it.
    pub shard: Shard,
    /// Whether it came to its end.
    pub complete: bool,
    /// The tasks that are in it.
    pub done: Done,
    /// The task of which only the cases from a number on are to be done: those before are in it, from a time when it was to have
    /// no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Whether programs were among them that need a later version and target.
    pub wide: bool,
    /// The implementations, and what was found of each.
    pub subjects: Vec<Kept>,
    /// How often each production was made.
    pub productions: BTreeMap<String, u64>,
    /// The pairs of productions that were made.
    pub pairs: Vec<(String, String)>,
}

/// One implementation and what was found of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Kept {
    /// What is known of it.
    pub description: Description,
    /// What was known of it when the campaign began; nothing where it was shown no case.
    pub profile: Option<Profile>,
    /// What was found.
    pub ledger: Ledger,
}

impl State {
    /// What a campaign found.
    pub fn new(identity: Identity, shard: Shard, coverage: &Coverage) -> State {
        let pairs = coverage.pairs_made().map(|(parent, child)| (parent.to_owned(), child.to_owned()));
        State {
            schema: SCHEMA.to_owned(),
            identity,
            shard,
            complete: false,
            done: Done::default(),
            rest: None,
            wide: false,
            subjects: Vec::new(),
            productions: coverage.counts().map(|(name, count)| (name.to_owned(), count)).collect(),
            pairs: pairs.collect(),
        }
    }

    /// The state in a directory; `None` where there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is none of this version.
    pub fn read(directory: &Path) -> Result<Option<State>, Failure> {
        let path = directory.join(STATE);
        let name = || line(&path.to_string_lossy()).into_owned();
        let Some(file) = open_regular(&path)? else { return Ok(None) };
        let mut text = Vec::new();
        let read = file.take(MOST_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", name())))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(Failure::BadInput(format!("{} is larger than 1 GiB, which no state is", name())));
        }
        let state: State = serde_json::from_slice(&text).map_err(|error| {
            Failure::BadInput(format!("{} is not what a campaign of this version keeps: {error}", name()))
        })?;
        if state.schema != SCHEMA {
            return Err(Failure::BadInput(format!("{} is of another version of ptxsmith", name())));
        }
        match state.contradiction() {
            Some(what) => Err(Failure::BadInput(format!("{} contradicts itself: {what}", name()))),
            None => Ok(Some(state)),
        }
    }

    /// In what numbers of the state do not fit each other; a state that we wrote has none.
    fn contradiction(&self) -> Option<String> {
        let Shard { number, of } = self.shard;
        if !(1..=of).contains(&number) {
            return Some(format!("there is no shard {number}/{of}"));
        }
        if let Some(task) =
            self.done.also.iter().find(|&&task| !self.shard.takes(task) || task < self.done.before)
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
            let (ledger, id) = (&kept.ledger, line(&kept.description.id));
            (ledger.conform > ledger.compared)
                .then(|| format!("of {id} {} conform, and {} were compared", ledger.conform, ledger.compared))
        })
    }

    /// Puts it into a directory in place of what was there.
    pub fn write(&self, directory: &Path) -> Result<(), Failure> {
        write_whole(&directory.join(STATE), &serde_json::to_vec(self)?)?;
        Ok(())
    }

    /// What was generated.
    pub fn coverage(&self) -> Result<Coverage, Failure> {
        let mut coverage = Coverage::new();
        let counts = self.productions.iter().map(|(name, &count)| (name.as_str(), count));
        let pairs = self.pairs.iter().map(|(parent, child)| (parent.as_str(), child.as_str()));
        let entered = coverage.enter(counts, pairs);
        entered.map_err(|name| Failure::BadInput(format!("the grammar has no production `{name}`")))?;
        Ok(coverage)
    }
}

/// What becomes of a campaign that the directory of a new one holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It is not touched: the new one is refused.
    Refuse,
    /// The same, where it could be gone on with. What can be had again by the same command is replaced.
    RefuseResumable,
    /// It is removed, with its findings.
    Replace,
    /// It is gone on with.
    Resume,
    /// More is put beside it, by any number of processes at once.
    Share,
}

impl Earlier {
    /// Looks at what a directory holds, and removes it where that is wanted. The lock of the directory is to be held.
    ///
    /// # Errors
    /// If it holds a campaign that is not to be touched, or that cannot be gone on with.
    pub fn settle(self, directory: &Path) -> Result<(), Failure> {
        let has = |name: &str| std::fs::symlink_metadata(directory.join(name)).is_ok();
        // A campaign that goes on has no report before it has a state.
        let resumable = has(STATE) || (has(folder::MANIFEST) && !has(folder::REPORT));
        let holds = resumable || has(folder::REPORT);
        let name = line(&directory.to_string_lossy()).into_owned();
        match self {
            Earlier::Replace => remove_campaign(directory),
            Earlier::Refuse if holds => Err(Failure::BadInput(format!(
                "{name} holds a campaign{}; give another --out, or --replace to remove it",
                if resumable { " already: --resume goes on with it" } else { " already" }
            ))),
            Earlier::RefuseResumable if has(STATE) => Err(Failure::BadInput(format!(
                "{name} holds a campaign of `ptxsmith run`; give another --out, or --replace to remove it"
            ))),
            Earlier::Resume if holds && !resumable => Err(Failure::BadInput(format!(
                "{name} holds a campaign that cannot be gone on with; give another --out, or --replace to remove it"
            ))),
            _ => Ok(()),
        }
    }
}

/// Removes what a campaign wrote into a directory, and nothing else.
fn remove_campaign(directory: &Path) -> Result<(), Failure> {
    let programs = findings_in(directory);
    // The state goes first: without it nothing is left that could be gone on with.
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

/// The most bytes of a state that are read: that of a campaign of a million findings is smaller.
const MOST_BYTES: u64 = 1 << 30;

/// The most that a campaign can count: ten million cases a second for some years.
const MOST_CASES: u64 = 1 << 50;

/// Opens a file of a campaign; `None` where there is none. What else can be behind a name has no end, or makes us wait for ever.
fn open_regular(path: &Path) -> Result<Option<File>, Failure> {
    let name = || line(&path.to_string_lossy()).into_owned();
    let failed = |error| Failure::BadInput(format!("cannot read {}: {error}", name()));
    match regular::open(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(failed),
    }
}

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Keeps two campaigns out of one directory: held while a campaign lasts, also by one that is killed, since the system
/// lets go of it then.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// Where another campaign holds it.
    pub fn take(directory: &Path) -> Result<Lock, Failure> {
        let name = line(&directory.to_string_lossy()).into_owned();
        let file = regular::open_lock(&directory.join(LOCK));
        let file =
            file.map_err(|error| Failure::BadInput(format!("cannot write to {name}: {LOCK}: {error}")))?;
        let began = Instant::now();
        let mut locked = file.try_lock();
        // A campaign that was killed may hold it for a moment yet.
        while matches!(locked, Err(TryLockError::WouldBlock)) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Failure::BadInput(format!(
                "another campaign is writing to {name}; wait for its end, or give another --out"
            ))),
            // A file system without locks: no other process can be kept out.
            Err(TryLockError::Error(_)) => Ok(Lock { _file: file }),
        }
    }
}

/// A line of `verdicts.jsonl`: what one subject did with the cases of one task.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Line {
    /// The task.
    pub task: u64,
    /// The subject.
    pub subject: String,
    /// How many cases were compared.
    pub compared: u64,
    /// How many of those conform.
    pub conform: u64,
    /// How many were not compared, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub not_compared: BTreeMap<NotCompared, u64>,
    /// How many show each known deviation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub known: BTreeMap<String, u64>,
    /// The first cases that deviate in a way that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub new: Vec<NewCase>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more_new: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A case that deviates in a way that is not known.
#[derive(Debug, Serialize, Deserialize)]
pub struct NewCase {
    /// Its number.
    pub case: u64,
    /// The class of the deviation.
    pub class: Class,
}

/// `verdicts.jsonl` of a campaign under way.
#[derive(Debug)]
pub struct Verdicts {
    file: File,
}

impl Verdicts {
    /// Opens the file of a directory, with the lines of tasks that are done and no others.
    pub fn open(directory: &Path, done: &Done) -> Result<Verdicts, Failure> {
        let path: PathBuf = directory.join(VERDICTS);
        let before = open_regular(&path)?.map(BufReader::new);
        let is_done =
            |line: &[u8]| serde_json::from_slice::<Line>(line).is_ok_and(|line| done.contains(line.task));
        write_whole_by(&path, |file| {
            for line in before.into_iter().flat_map(|before| before.split(b'\n')) {
                let line = line?;
                if is_done(&line) {
                    file.write_all(&line)?;
                    file.write_all(b"\n")?;
                }
            }
            Ok(())
        })?;
        Ok(Verdicts { file: regular::open(&path, OpenOptions::new().append(true))? })
    }

    /// Adds lines.
    pub fn add(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.file.write_all(&text)?;
        Ok(())
    }
}

/// Puts the lines of `verdicts.jsonl` in the order of the tasks: they were written in that of their ends.
pub fn sort_verdicts(directory: &Path) -> Result<(), Failure> {
    merge_verdicts(&[directory], directory)
}

/// Puts the lines of several directories together in the order of the tasks. Of a line only its place is kept in memory.
pub fn merge_verdicts(directories: &[&Path], into: &Path) -> Result<(), Failure> {
    struct Place {
        task: u64,
        // Of one task the lines of several subjects stand in the order of the subjects.
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
    let mut places: Vec<Place> = Vec::new();
    for directory in directories {
        let Some(file) = open_regular(&directory.join(VERDICTS))? else { continue };
        let mut start = 0;
        for (nth, line) in (0..).zip(BufReader::new(&file).split(b'\n')) {
            let line = line?;
            let task = serde_json::from_slice(&line).map_or(u64::MAX, |Task { task }| task);
            places.push(Place { task, nth, file: files.len(), start, length: line.len() });
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
