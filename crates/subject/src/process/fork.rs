//! Programs that wait where they open their input, to be forked for each run instead of started anew.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use ptxsmith_forkserver::Server;

use super::child::{Attended, CORES, command, unless_busy};
use super::{Cancel, Error, Finished, Invocation, Limits, attend, run, scratch};

/// A server that has been forked so often is made anew.
const MOST_FORKS: u32 = 10_000;
/// So often the memory of a server is looked at.
const LOOK_EVERY: u32 = 500;
/// A server that has grown by so many bytes is made anew.
const MOST_GROWTH: u64 = 64 << 20;

/// How programs are started for a run. Clones share the programs that wait.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// Each run starts its program anew.
    #[default]
    Spawn,
    /// Runs fork a program that waits, where the program can be made to wait.
    Fork(Servers),
}

/// The programs that wait, of a bounded number: what was not used for longest ends first.
#[derive(Clone, Debug, Default)]
pub struct Servers(Arc<Mutex<Pool>>);

#[derive(Debug, Default)]
struct Pool {
    /// What was used last stands last.
    idle: Vec<(Server, Origin)>,
    /// The programs that are started anew for each run, and why.
    unfit: BTreeMap<PathBuf, String>,
    /// The arguments with which a program does not wait, and why: one that does not know its target ends before it opens its input.
    unfit_with: BTreeMap<(PathBuf, Vec<OsString>), String>,
    /// The programs that have waited.
    fit: BTreeSet<PathBuf>,
}

/// How a program that waits was started, and how often it was forked.
#[derive(Debug)]
struct Origin {
    program: PathBuf,
    args: Vec<OsString>,
    forks: u32,
    /// Bytes that it had when it began to wait.
    memory: u64,
}

impl Start {
    /// Forking, with no program that waits yet.
    pub fn fork() -> Start {
        Start::Fork(Servers::default())
    }

    /// Runs the program to its end, as [`run`] does. `input` is the argument that names the file that it opens first, in the
    /// invocation's directory. Tells also whether it was forked.
    ///
    /// # Errors
    /// As of [`run`].
    pub fn run(
        &self,
        invocation: &Invocation,
        input: &str,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<(Finished, bool), Error> {
        if let Start::Fork(servers) = self
            && let Some(finished) = servers.run(invocation, input, limits, cancel)?
        {
            return Ok((finished, true));
        }
        Ok((run(invocation, limits, cancel)?, false))
    }

    /// Starts this program anew from now on, for this reason.
    pub fn give_up(&self, program: &Path, why: impl Into<String>) {
        if let Start::Fork(servers) = self {
            let mut pool = servers.pool();
            pool.unfit.entry(program.to_owned()).or_insert_with(|| why.into());
            pool.idle.retain(|(_, origin)| origin.program != program);
        }
    }

    /// Why this program is started anew for each run although it was to be forked; `None` where it has waited with some arguments.
    pub fn why_not(&self, program: &Path) -> Option<String> {
        match self {
            Start::Spawn => None,
            Start::Fork(servers) => servers.pool().why_not(program),
        }
    }
}

impl Pool {
    /// Why this program never waits, where it does not.
    fn why_not(&self, program: &Path) -> Option<String> {
        let with_some = || {
            let of_program = self.unfit_with.iter().find(|((own, _), _)| own == program);
            of_program.filter(|_| !self.fit.contains(program)).map(|(_, why)| why)
        };
        self.unfit.get(program).or_else(with_some).cloned()
    }
}

impl Servers {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Runs the program by a fork; `None` where it has to be started.
    fn run(
        &self,
        invocation: &Invocation,
        input: &str,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Option<Finished>, Error> {
        let Some(directory) = &invocation.directory else { return Ok(None) };
        // The first may have died since it was last used.
        for _ in 0..2 {
            let Some((server, origin)) = self.take(invocation, input) else { return Ok(None) };
            if cancel.is_cancelled() {
                return Err(Error::Cancelled(invocation.program.clone()));
            }
            let started = Instant::now();
            let Ok(at) = File::open(directory) else { return Ok(None) };
            let Ok(mut child) = Attended::fork(server, &at, invocation, limits) else { continue };
            let finished = match attend(&mut child, limits, cancel, started, |_| ()) {
                Ok(finished) => finished,
                Err(Error::Cancelled(program)) => return Err(Error::Cancelled(program)),
                // The server was killed, by a system that was short of memory perhaps, and its fork with it.
                Err(_) => continue,
            };
            if let Some(server) = child.into_server() {
                self.put_back(server, origin);
            }
            return Ok(Some(finished));
        }
        Ok(None)
    }

    /// A program that waits to be run in this way; `None` if it cannot be made to.
    fn take(&self, invocation: &Invocation, input: &str) -> Option<(Server, Origin)> {
        {
            let mut pool = self.pool();
            let with = (invocation.program.clone(), invocation.args.clone());
            if pool.unfit.contains_key(&invocation.program) || pool.unfit_with.contains_key(&with) {
                return None;
            }
            let is_it =
                |origin: &Origin| origin.program == invocation.program && origin.args == invocation.args;
            if let Some(at) = pool.idle.iter().rposition(|(_, origin)| is_it(origin)) {
                return Some(pool.idle.remove(at));
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

    fn put_back(&self, server: Server, mut origin: Origin) {
        origin.forks += 1;
        let has_grown = origin.forks.is_multiple_of(LOOK_EVERY)
            && server.memory().is_none_or(|memory| memory > origin.memory + MOST_GROWTH);
        let mut pool = self.pool();
        if has_grown || origin.forks >= MOST_FORKS || pool.unfit.contains_key(&origin.program) {
            return;
        }
        pool.idle.push((server, origin));
        // Some for each thread: each of several implementations waits for several targets.
        let ended = (pool.idle.len() as u64 > 8 * *CORES).then(|| pool.idle.remove(0));
        // It takes a moment to end, in which others can go on.
        drop(pool);
        drop(ended);
    }
}

/// Starts a program that waits where it opens its input, or tells why it does not. The directory in which it was started is
/// gone then: each fork has one of its own.
fn start(invocation: &Invocation, input: &str) -> Result<(Server, Origin), String> {
    let told = |error: io::Error| error.to_string();
    let home = scratch(0).map_err(told)?;
    // Some programs look whether it is there before they open it.
    File::create(home.path().join(input)).map_err(told)?;
    let own = Invocation {
        directory: Some(home.path().to_owned()),
        temporary: home.path().to_owned(),
        ..invocation.clone()
    };
    let server =
        unless_busy(|| Server::start(&mut command(&own), input).map_err(io::Error::from)).map_err(told)?;
    let memory = server.memory().unwrap_or(0);
    let Invocation { program, args, .. } = own;
    Ok((server, Origin { program, args, forks: 0, memory }))
}
