//! The subject `nvjitlink@`: the compiler behind ptxas as a library, in worker processes.
//!
//! A worker is this very program, started again with a hidden command ([`Workers`]); it loads the library and speaks the
//! protocol of `serve:` ([`work`]). What the library does to its process (a signal, a hang, memory that it never gives
//! back) is then seen from outside, as for any other subject.

mod unseen;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use ptxsmith_nvjitlink::{LoadError, NvJitLink};
use serde::{Deserialize, Serialize};

use crate::cubin::{self, CubinError};
use crate::exec::{self, OpenError};
use crate::observation::{Diagnostic, Observation, Outcome, Severity};
use crate::process::{Cancel, Limits};
use crate::ptxas::{self, messages};
use crate::serve::Serve;
use crate::spec::CommandLine;
use crate::subject::{DESCRIPTION_SCHEMA, Description};

/// Modules that one process is given. Memory was seen to stay flat over 10,000; this is for libraries not seen yet.
const QUESTIONS: u32 = 5000;

/// How a program starts itself again as a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    /// The program.
    pub program: PathBuf,
    /// The arguments that make it one; the path of the library comes after them.
    pub args: Vec<String>,
}

/// Makes the library at this path the subject called `id`. A worker is started to see that it can be loaded.
pub fn open(
    id: String,
    library: &Path,
    version: Option<&str>,
    workers: &Workers,
    limits: Limits,
    cancel: Cancel,
) -> Result<Serve, OpenError> {
    let failed = |reason: &str| OpenError::Description {
        program: library.display().to_string(),
        reason: reason.to_owned(),
    };
    let path = library.to_str().ok_or_else(|| failed("its path is not UTF-8"))?;
    let mut args = workers.args.clone();
    args.push(path.to_owned());
    let command =
        CommandLine { text: id.clone(), program: workers.program.display().to_string(), args: args.clone() };
    let (program, described) = exec::find_and_describe(&command, &limits, &cancel)?;
    if described.name != NAME {
        return Err(failed("a worker process cannot load it"));
    }
    let sha256 =
        ptxas::sha256(library).map_err(|source| OpenError::File { program: path.to_owned(), source })?;
    let version = version.map(str::to_owned).or(described.version);
    let description = Description {
        id,
        max_ptx: version.as_deref().and_then(ptxas::max_ptx).map(str::to_owned),
        version,
        path: Some(path.to_owned()),
        sha256: Some(sha256),
        ..described
    };
    Ok(Serve::own_worker(program, args, limits, cancel, description, QUESTIONS))
}

const NAME: &str = "nvjitlink";

/// Results of the library (`nvJitLinkResult`) for a text that does not look like PTX, of older and newer releases.
const INVALID_INPUT: i32 = 3;
const INCORRECT_INPUT_TYPE: i32 = 12;

/// One question, as `serve:` asks it.
#[derive(Deserialize)]
struct Question {
    id: u64,
    ptx: String,
    target: String,
}

/// One answer: an observation, or that we failed.
#[derive(Serialize)]
struct Answer {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// What a worker answers to `--describe`.
#[derive(Serialize)]
struct Described {
    schema: &'static str,
    #[serde(flatten)]
    description: Description,
}

/// Why a worker gave up.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The library cannot be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Whoever asks went away, or asked nonsense.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Describes the library at this path, as `CMD --describe` is answered.
pub fn describe(library: &Path, mut to: impl Write) -> Result<(), WorkError> {
    let loaded = NvJitLink::load(library)?;
    let description = Description {
        name: NAME.to_owned(),
        version: loaded.version().map(|(major, minor)| format!("{major}.{minor}")),
        lineage: Some(ptxas::LINEAGE.to_owned()),
        relocations: Some(true),
        ..Description::default()
    };
    serde_json::to_writer(&mut to, &Described { schema: DESCRIPTION_SCHEMA, description })
        .map_err(io::Error::from)?;
    Ok(writeln!(to)?)
}

/// The life of a worker: loads the library, then answers a line for each line, until there are no more.
pub fn work(library: &Path, from: impl BufRead, mut to: impl Write) -> Result<(), WorkError> {
    let library = NvJitLink::load(library)?;
    for line in from.lines() {
        let question: Question = serde_json::from_str(&line?).map_err(io::Error::from)?;
        let answer = match observe(&library, &question) {
            Ok(observation) => Answer { id: question.id, observation: Some(observation), failure: None },
            Err(error) => Answer { id: question.id, observation: None, failure: Some(error.to_string()) },
        };
        let mut text = serde_json::to_vec(&answer).map_err(io::Error::from)?;
        text.push(b'\n');
        to.write_all(&text)?;
        to.flush()?;
    }
    Ok(())
}

/// What the library makes of one module; `Err` where our reader lacks something.
fn observe(library: &NvJitLink, question: &Question) -> Result<Observation, CubinError> {
    let linked = library.link(&question.ptx, &question.target);
    let (mut diagnostics, other) = messages::parse(&linked.log);
    let crashed = |reason: String| Observation::because(Outcome::Crashed, reason);
    let own_failure = (diagnostics.iter().map(|diagnostic| &*diagnostic.message))
        .chain(other.iter().copied())
        .find_map(messages::own_failure);
    let mut observation = match (&linked.cubin, linked.failed) {
        (Some(cubin), None) => match cubin::read(cubin) {
            Ok(mut variables) => {
                for name in unseen::variables(&question.ptx, library.is_relocatable()) {
                    if let Some(variable) = variables.get_mut(&name) {
                        (variable.bytes, variable.addresses) = (None, None);
                    }
                }
                Observation { variables, ..Observation::new(Outcome::Accepted) }
            }
            Err(error) if error.is_malformed() => crashed(format!("success, but {error}")),
            Err(error) => return Err(error),
        },
        (None, None) => crashed("success, but no cubin".to_owned()),
        (_, Some(_)) if own_failure.is_some() => crashed(own_failure.unwrap_or_default().to_owned()),
        // It has seen nothing but the target. Releases differ in the result that they give for one they do not know.
        (_, Some(("create", result))) => {
            Observation::because(Outcome::Unsupported, format!("target {}: result {result}", question.target))
        }
        (_, Some(_)) if other.iter().any(|line| line.contains("Undefined reference to")) => {
            Observation::because(Outcome::Unsupported, "it cannot leave a name undefined")
        }
        (_, Some((step, result))) => match (ptxas::refusal(&diagnostics), other.last()) {
            (Some(outcome), _) => Observation::new(outcome),
            // A look at the text before it is read: an empty file is no PTX, for one.
            (None, Some(said)) if [INVALID_INPUT, INCORRECT_INPUT_TYPE].contains(&result) => {
                let message = (*said).to_owned();
                diagnostics.push(Diagnostic { severity: Severity::Error, line: None, message });
                Observation::new(Outcome::Refused)
            }
            (None, said) => {
                let said = said.map(|line| format!("; it said {line:?}")).unwrap_or_default();
                crashed(format!("cannot {step}: result {result} without a diagnostic{said}"))
            }
        },
    };
    if observation.outcome == Outcome::Unsupported && observation.reason.is_none() {
        let cause = diagnostics.iter().find(|diagnostic| messages::is_unsupported(&diagnostic.message));
        observation.reason = cause.map(|diagnostic| diagnostic.message.clone());
    }
    observation.diagnostics = diagnostics;
    Ok(observation)
}
