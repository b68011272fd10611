//! Worker processes: this program, started again to load a library that may bring down its process.
//!
//! A worker speaks the protocol of `serve:`. A crash, a hang or a memory leak of the library is then observed
//! from outside, as for any other subject.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::driver::{KernelRun, WrittenMemory};
use crate::subject::{DESCRIPTION_SCHEMA, Description, Launch, RequestedVariable};
use ptxsmith_model::Observation;

/// How a program starts itself again as a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    /// The program.
    pub program: PathBuf,
    /// The arguments that select worker mode; the kind of worker and its own arguments follow them.
    pub args: Vec<String>,
}

impl Workers {
    /// Returns the arguments that start a worker of this kind.
    pub(crate) fn args(&self, kind: &str, more: impl IntoIterator<Item = String>) -> Vec<String> {
        self.args.iter().cloned().chain([kind.to_owned()]).chain(more).collect()
    }
}

/// Why a worker stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The library cannot be used.
    #[error("{0}")]
    Load(String),
    /// The parent process went away, or sent an invalid question.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One question, in the format of `serve:`.
#[derive(Deserialize)]
pub(crate) struct WorkerQuestion {
    pub id: u64,
    pub ptx: String,
    pub target: String,
    #[serde(default)]
    pub read: Vec<RequestedVariable>,
    #[serde(default)]
    pub launch: Vec<Launch>,
    /// Further modules to link.
    #[serde(default)]
    pub with: Vec<String>,
    /// The module as a cubin, in hex, if the cubin is to be loaded.
    #[serde(default)]
    pub image: Option<String>,
    /// Kernels to run over numbers.
    #[serde(default)]
    pub runs: Vec<KernelRun>,
}

/// The result of a question.
#[derive(Debug, Default)]
pub(crate) struct QuestionResult {
    /// The observation of the module.
    pub observation: Observation,
    /// The memory that each run left.
    pub left: Vec<WrittenMemory>,
}

impl From<Observation> for QuestionResult {
    fn from(observation: Observation) -> QuestionResult {
        QuestionResult { observation, left: Vec::new() }
    }
}

/// One answer: an observation, or our own failure.
#[derive(Serialize)]
struct WorkerAnswer {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<WrittenMemory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// Whether a worker can answer further questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerState {
    Ready,
    /// The library is unusable: a new process is needed.
    Spent,
}

/// Answers questions line by line until there are no more or the library is spent. An `Err` of `observe`
/// reports something that our reader does not support.
pub(crate) fn answer<A: Into<QuestionResult>>(
    from: impl BufRead,
    mut to: impl Write,
    mut observe: impl FnMut(&WorkerQuestion) -> (Result<A, String>, WorkerState),
) -> Result<(), WorkError> {
    for line in from.lines() {
        let question: WorkerQuestion = serde_json::from_str(&line?).map_err(io::Error::from)?;
        let (observed, next) = observe(&question);
        let id = question.id;
        let answer = match observed.map(Into::into) {
            Ok(QuestionResult { observation, left }) => {
                WorkerAnswer { id, observation: Some(observation), left, failure: None }
            }
            Err(failure) => WorkerAnswer { id, observation: None, left: Vec::new(), failure: Some(failure) },
        };
        let mut text = serde_json::to_vec(&answer).map_err(io::Error::from)?;
        text.push(b'\n');
        to.write_all(&text)?;
        to.flush()?;
        if next == WorkerState::Spent {
            break;
        }
    }
    Ok(())
}

/// Prints a description in the format of the answer to `CMD --describe`.
pub(crate) fn print_description(description: Description, mut to: impl Write) -> Result<(), WorkError> {
    #[derive(Serialize)]
    struct DescriptionAnswer {
        schema: &'static str,
        #[serde(flatten)]
        description: Description,
    }
    serde_json::to_writer(&mut to, &DescriptionAnswer { schema: DESCRIPTION_SCHEMA, description })
        .map_err(io::Error::from)?;
    Ok(writeln!(to)?)
}
