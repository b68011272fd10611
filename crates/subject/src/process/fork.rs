//! Server processes: programs stopped at the point where they open their input, and forked for each run
//! instead of started anew.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use ptxsmith_forkserver::Server;

use super::child::{CORES, MonitoredChild, command, unless_busy};
use super::{Cancel, Finished, Invocation, Limits, ProcessError, attend, run, scratch};

/// A server is replaced after this number of forks.
const MOST_FORKS: u32 = 10_000;
/// Number of forks between two checks of a server's memory.
const LOOK_EVERY: u32 = 500;
/// A server is replaced when its memory has grown by this number of bytes.
const MOST_GROWTH: u64 = 64 << 20;

/// How to start a program for a run. Clones share their servers.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// Start a new process for each run.
    #[default]
    Spawn,
    /// Fork a server for each run, if the program can be stopped at its input.
    Fork(Servers),
}

/// A bounded pool of servers; the least recently used server ends first.
#[derive(Clone, Debug, Default)]
pub struct Servers(Arc<Mutex<ServerPool>>);

#[derive(Debug, Default)]
struct ServerPool {
    /// Idle servers, most recently used last.
    idle: Vec<(Server, ServerOrigin)>,
    /// Programs that are started anew for each run, and why.
    unfit: BTreeMap<PathBuf, String>,
    /// Arguments with which a program cannot become a server, and why: for example, a program that rejects
    /// its target exits before it opens its input.
    unfit_with: BTreeMap<(PathBuf, Vec<OsString>), String>,
    /// Programs that have become a server at least once.
    fit: BTreeSet<PathBuf>,
}

/// How a server was started, and how often it was forked.
#[derive(Debug)]
struct ServerOrigin {
    program: PathBuf,
    args: Vec<OsString>,
    forks: u32,
    /// Memory of the program in bytes when it became a server.
    memory: u64,
}

impl Start {
    /// Creates the forking variant, with no server yet.
    pub fn fork() -> Start {
        Start::Fork(Servers::default())
    }

    /// Runs the program to its end, as [`run`] does. `input` is the argument that names the first file that
    /// the program opens, relative to the invocation's directory. The boolean in the result says whether the
    /// run was a fork.
    ///
    /// # Errors
    /// Same as [`run`].
    pub fn run(
        &self,
        invocation: &Invocation,
        input: &str,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<(Finished, bool), ProcessError> {
        if let Start::Fork(servers) = self
            && let Some(finished) = servers.run(invocation, input, limits, cancel)?
        {
            return Ok((finished, true));
        }
        Ok((run(invocation, limits, cancel)?, false))
    }

    /// Starts this program anew from now on, for the reason `why`.
    pub fn give_up(&self, program: &Path, why: impl Into<String>) {
        if let Start::Fork(servers) = self {
            let mut pool = servers.pool();
            pool.unfit.entry(program.to_owned()).or_insert_with(|| why.into());
            pool.idle.retain(|(_, origin)| origin.program != program);
        }
    }

    /// Returns why this program is started anew for each run although forking was requested; `None` if it has
    /// become a server with some arguments.
    pub fn why_not(&self, program: &Path) -> Option<String> {
        match self {
            Start::Spawn => None,
            Start::Fork(servers) => servers.pool().why_not(program),
        }
    }
}

impl ServerPool {
    /// Returns why this program never becomes a server, if it does not.
    fn why_not(&self, program: &Path) -> Option<String> {
        if let Some(why) = self.unfit.get(program) {
            return Some(why.clone());
        }
        if self.fit.contains(program) {
            return None;
        }
        let mut unfit_with = self.unfit_with.iter();
        let (_, why) = unfit_with.find(|((unfit, _), _)| unfit == program)?;
        Some(why.clone())
    }
}

impl Servers {
    fn pool(&self) -> MutexGuard<'_, ServerPool> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Runs the program by forking a server; `None` if it must be started anew.
    fn run(
        &self,
        invocation: &Invocation,
        input: &str,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Option<Finished>, ProcessError> {
        let Some(directory) = &invocation.directory else { return Ok(None) };
        // The first server may have ended since it was last used.
        for _ in 0..2 {
            let Some((server, origin)) = self.take(invocation, input) else { return Ok(None) };
            if cancel.is_cancelled() {
                return Err(ProcessError::Cancelled(invocation.program.clone()));
            }
            let started = Instant::now();
            let Ok(directory) = File::open(directory) else { return Ok(None) };
            let Ok(mut child) = MonitoredChild::fork(server, &directory, invocation, limits) else {
                continue;
            };
            let finished = match attend(&mut child, limits, cancel, started, |_| ()) {
                Ok(finished) => finished,
                Err(ProcessError::Cancelled(program)) => return Err(ProcessError::Cancelled(program)),
                // The server was killed, perhaps because the system was short of memory, and its fork with
                // it.
                Err(_) => continue,
            };
            if let Some(server) = child.into_server() {
                self.put_back(server, origin);
            }
            return Ok(Some(finished));
        }
        Ok(None)
    }

    /// Takes a server for this invocation from the pool or starts one; `None` if that is impossible.
    fn take(&self, invocation: &Invocation, input: &str) -> Option<(Server, ServerOrigin)> {
        {
            let mut pool = self.pool();
            let with = (invocation.program.clone(), invocation.args.clone());
            if pool.unfit.contains_key(&invocation.program) || pool.unfit_with.contains_key(&with) {
                return None;
            }
            let matching = pool.idle.iter().rposition(|(_, origin)| {
                origin.program == invocation.program && origin.args == invocation.args
            });
            if let Some(index) = matching {
                return Some(pool.idle.remove(index));
            }
        }
        match start(invocation, input) {
            Ok(started) => {
                self.pool().fit.insert(invocation.program.clone());
                Some(started)
            }
            Err(why) => {
                let with = (invocation.program.clone(), invocation.args.clone());
                self.pool().unfit_with.entry(with).or_insert(why);
                None
            }
        }
    }

    fn put_back(&self, server: Server, mut origin: ServerOrigin) {
        origin.forks += 1;
        let has_grown = origin.forks.is_multiple_of(LOOK_EVERY)
            && server.memory().is_none_or(|memory| memory > origin.memory + MOST_GROWTH);
        let mut pool = self.pool();
        if has_grown || origin.forks >= MOST_FORKS || pool.unfit.contains_key(&origin.program) {
            return;
        }
        pool.idle.push((server, origin));
        // Several servers for each thread, because each implementation needs one for each target.
        let ended = (pool.idle.len() as u64 > 8 * *CORES).then(|| pool.idle.remove(0));
        // Ending a server takes a moment; release the lock first.
        drop(pool);
        drop(ended);
    }
}

/// Starts a server, or returns why the program cannot become one. The directory in which it started is
/// removed; each fork gets its own.
fn start(invocation: &Invocation, input: &str) -> Result<(Server, ServerOrigin), String> {
    let home = scratch(0).map_err(|error| error.to_string())?;
    // Some programs check that the file exists before they open it.
    File::create(home.path().join(input)).map_err(|error| error.to_string())?;
    let invocation = Invocation {
        directory: Some(home.path().to_owned()),
        temporary: home.path().to_owned(),
        ..invocation.clone()
    };
    let server = unless_busy(|| Server::start(&mut command(&invocation), input).map_err(io::Error::from))
        .map_err(|error| error.to_string())?;
    let memory = server.memory().unwrap_or(0);
    let Invocation { program, args, .. } = invocation;
    Ok((server, ServerOrigin { program, args, forks: 0, memory }))
}
