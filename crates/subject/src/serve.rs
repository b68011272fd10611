//! The subject `serve:`: any program that answers many modules, as JSON lines on standard input and output.
//!
//! The protocol is documented for its implementors in `docs/guide/subjects.md`. One process works on one
//! module at a time, so that a crash or a hang belongs to that module; there are as many processes as threads
//! that ask at once. A process that does anything but answer the current question is not trusted with another
//! module: it is killed and replaced. An invalid line, also one with another number, may be a late answer if
//! the process has answered before; the new process is then asked about the current module again. From a
//! process that has answered nothing yet, it is a crash.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::driver::{KernelRun, WrittenMemory};
use crate::exec::{self, CommandLine};
use crate::open::{OpenOptions, Unavailable};
use crate::probe::Probe;
use crate::process::{Cancel, Invocation, Limits, ProcessEnd, Reply, Session, scratch};
use crate::ptxas::status_as_signal;
use crate::subject::{Description, Error, Launch, Request, RequestedVariable, Subject};
use crate::toolchain::ToolKind;
use crate::unanswered::Unanswered;
use crate::worker::QuestionResult;
use ptxsmith_model::{Observation, Outcome};

/// One request line that we send.
#[derive(Serialize)]
struct QuestionLine<'a> {
    id: u64,
    ptx: &'a str,
    target: &'a str,
    read: &'a [RequestedVariable],
    #[serde(skip_serializing_if = "<[Launch]>::is_empty")]
    launch: &'a [Launch],
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    with: &'a [&'a str],
    /// For our own workers: the module as a cubin, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    /// For our own workers: kernels to run over numbers.
    #[serde(skip_serializing_if = "<[KernelRun]>::is_empty")]
    runs: &'a [KernelRun],
}

/// Additional parts of a question to one of our own workers.
#[derive(Clone, Copy, Debug, Default)]
struct WorkerExtras<'a> {
    /// The module as a cubin, in hex.
    image: Option<&'a str>,
    /// Kernels to run over numbers.
    runs: &'a [KernelRun],
}

/// One response line that we receive.
#[derive(Deserialize)]
struct AnswerLine {
    id: u64,
    observation: Option<Observation>,
    /// From our own workers: the memory that each run left.
    #[serde(default)]
    left: Vec<WrittenMemory>,
    /// From our own workers: the worker itself failed, as opposed to the library that it runs.
    failure: Option<String>,
}

/// A program that is started once and answers many modules.
#[derive(Debug)]
pub struct Serve {
    program: PathBuf,
    args: Vec<String>,
    limits: Limits,
    /// Time limit for its first answer.
    first: Duration,
    cancel: Cancel,
    description: Description,
    /// For our own workers: the number of questions that one process answers. Also enables the retry of a
    /// crash in a new process.
    most_questions: Option<u32>,
    next: AtomicU64,
    waiting: Mutex<Vec<ServingProcess>>,
}

/// A process that waits for a question.
#[derive(Debug)]
struct ServingProcess {
    session: Session,
    answered: u32,
    /// Its `TMPDIR`, removed with the process.
    _temporary: crate::process::Scratch,
}

impl Serve {
    /// Finds the program and asks it to describe itself (`CMD ARGS --describe`), as for `exec:`.
    pub fn open(command: &CommandLine, options: &OpenOptions<'_>) -> Result<Self, Unavailable> {
        let (limits, cancel) = (options.limits.clone(), options.cancel.clone());
        let (program, described) = exec::find_and_describe(command, options.first, options)?;
        let description = Description { id: format!("serve:{}", command.text), ..described };
        let subject = Serve::create(program, command.args.clone(), limits, cancel, description, None);
        Ok(Serve { first: options.first, ..subject })
    }

    /// Creates a subject for one of our own workers. One process answers at most `questions` questions, so
    /// that leaks do not accumulate. Because the library keeps state between questions, a crash or time-out
    /// on any question but a process's first is retried in a new process, and the second answer counts.
    pub(crate) fn own_worker(
        program: PathBuf,
        args: Vec<String>,
        limits: Limits,
        cancel: Cancel,
        description: Description,
        questions: u32,
    ) -> Self {
        Serve::create(program, args, limits, cancel, description, Some(questions))
    }

    fn create(
        program: PathBuf,
        args: Vec<String>,
        limits: Limits,
        cancel: Cancel,
        description: Description,
        most_questions: Option<u32>,
    ) -> Self {
        // An answer holds every byte of every variable as two hex digits.
        let limits = Limits { output: limits.output.max(exec::MAX_ANSWER), ..limits };
        Serve {
            program,
            args,
            first: limits.time,
            limits,
            cancel,
            description,
            most_questions,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
        }
    }

    /// Returns a waiting process, or starts one.
    fn worker(&self) -> Result<ServingProcess, Error> {
        loop {
            let waiting = self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
            let Some(mut worker) = waiting else { return self.start() };
            if worker.session.is_waiting() {
                return Ok(worker);
            }
            // It crashed, or printed more, after its last answer; the current module is not the cause.
        }
    }

    fn start(&self) -> Result<ServingProcess, Error> {
        let temporary = scratch(self.limits.file).map_err(|source| Error::File {
            doing: format!("make a directory for {}", self.description.id),
            source,
        })?;
        let invocation = Invocation {
            program: self.program.clone(),
            args: self.args.iter().map(Into::into).collect(),
            directory: None,
            temporary: temporary.path().to_owned(),
        };
        let invocation = invocation.limited_from_start(&self.limits);
        let session = Session::start(&invocation, self.limits.clone())?;
        Ok(ServingProcess { session, answered: 0, _temporary: temporary })
    }

    /// Serializes a question; returns it with its number.
    fn question(&self, request: &Request<'_>, further: WorkerExtras<'_>) -> Result<(u64, Vec<u8>), Error> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let Request { ptx, target, read, launch, trace: _, form: _, with, stage: _ } = *request;
        let WorkerExtras { image, runs } = further;
        let question = QuestionLine { id, ptx, target, read, launch, image, with, runs };
        let line = serde_json::to_vec(&question).map_err(|error| Error::File {
            doing: format!("write a question for {}", self.description.id),
            source: error.into(),
        })?;
        Ok((id, line))
    }

    /// Asks one process. Keeps the process for later if it can be asked again. Returns `None` if the reply
    /// may belong to an earlier question.
    fn ask(
        &self,
        mut worker: ServingProcess,
        request: &Request<'_>,
        further: WorkerExtras<'_>,
    ) -> Result<Option<QuestionResult>, Error> {
        let (id, line) = self.question(request, further)?;
        let Limits { time, .. } = self.limits.for_text(line.len());
        let reply = worker.session.ask(&line, &self.cancel)?;
        if let Reply::Line(line) = &reply {
            match self.answer(line, id)? {
                Ok(answered) => {
                    // A library of ours that has failed may be in any state.
                    if self.most_questions.is_none() || !is_failure(&answered) {
                        self.keep(worker);
                    }
                    return Ok(Some(answered));
                }
                Err(_) if worker.answered > 0 => return Ok(None),
                Err(_) => {}
            }
        }
        self.unanswered(&worker, &reply, id, time).map(|observation| Some(observation.into()))
    }

    /// Returns a process that has answered to the pool, unless it has answered its maximum number of
    /// questions.
    fn keep(&self, mut worker: ServingProcess) {
        worker.answered += 1;
        if self.most_questions.is_none_or(|questions| worker.answered < questions) {
            self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(worker);
        }
    }

    /// Builds the observation for a reply that is not a valid answer to question `id` within `time`.
    fn unanswered(
        &self,
        worker: &ServingProcess,
        reply: &Reply,
        id: u64,
        time: Duration,
    ) -> Result<Observation, Error> {
        let (signal, crash) = match reply {
            Reply::Line(line) => match self.answer(line, id)? {
                Ok(result) => return Ok(result.observation),
                Err(reason) => (None, format!("its output is no answer: {reason}")),
            },
            Reply::TooLong => (None, format!("an answer of more than {} bytes", self.limits.output)),
            Reply::TimedOut => {
                let reason = format!("no answer after {time:?}");
                return Ok(Observation::because(Outcome::TimedOut, reason));
            }
            Reply::Ended(ProcessEnd::Exited(status)) => {
                (status_as_signal(*status), format!("it ended with exit status {status}"))
            }
            Reply::Ended(ProcessEnd::Signalled(signal)) => {
                (Some(*signal), format!("killed by signal {signal}"))
            }
            Reply::Ended(ProcessEnd::TimedOut) => (None, "it closed its output".to_owned()),
        };
        let reason = match worker.session.last_words() {
            Some(words) => format!("{crash}; it printed {words:?}"),
            None => crash,
        };
        Ok(Observation { signal, ..Observation::because(Outcome::Crashed, reason) })
    }

    /// Extracts the observation from an answer; the inner error says why there is none.
    fn answer(&self, line: &[u8], id: u64) -> Result<Result<QuestionResult, String>, Error> {
        let mut answer = match parse_answer(line, id) {
            Ok(answer) => answer,
            Err(reason) => return Ok(Err(reason)),
        };
        if let (Some(failure), true) = (&answer.failure, self.most_questions.is_some()) {
            let subject = self.description.id.clone();
            return Err(Error::Worker { subject, failure: failure.clone() });
        }
        let left = std::mem::take(&mut answer.left);
        Ok(observation_in(answer)
            .map(|observation| QuestionResult { observation: self.promised(observation), left }))
    }
}

impl Serve {
    /// Adds to an observation the properties that the subject promises.
    fn promised(&self, observation: Observation) -> Observation {
        if self.most_questions.is_some() {
            // The output of our own workers went through a linker or a loader, which may drop unused
            // variables.
            Observation { from_memory: self.description.reads_memory(), ..observation }
        } else {
            exec::promised(observation, &self.description)
        }
    }
}

fn parse_answer(line: &[u8], id: u64) -> Result<AnswerLine, String> {
    let answer: AnswerLine = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    // Leave out the two ids, so that the message is the same for any pair: it is one fault.
    if answer.id == id { Ok(answer) } else { Err("its id is not that of the request".to_owned()) }
}

fn observation_in(answer: AnswerLine) -> Result<Observation, String> {
    let mut observation = answer.observation.ok_or("it has no observation")?;
    exec::check(&mut observation)?;
    Ok(observation)
}

/// Parses the observation in a line that answers question `id`.
///
/// # Errors
/// Returns the reason if the line is not an answer, answers another question, or breaks the contract.
pub fn read_answer(line: &[u8], id: u64) -> Result<Observation, String> {
    parse_answer(line, id).and_then(observation_in)
}

impl Subject for Serve {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        Ok(self.ask_retrying(request, WorkerExtras::default())?.observation)
    }

    fn links(&self) -> bool {
        self.most_questions.is_some() && self.description.name == ToolKind::NvJitLink.name()
    }

    fn probe(&self) -> Result<Option<Unanswered>, Error> {
        if self.most_questions.is_some() {
            return Ok(None);
        }
        let probe = Probe::new(&self.description);
        let mut worker = self.worker()?;
        let (id, line) = self.question(&probe.request(), WorkerExtras::default())?;
        let reply = worker.session.ask_within(self.first, &line, &self.cancel)?;
        let observation = self.unanswered(&worker, &reply, id, self.first)?;
        let printed = match &reply {
            Reply::Line(line) => line,
            _ => worker.session.unfinished(),
        };
        let Some(reason) = probe.fault(&observation, printed) else {
            self.keep(worker);
            return Ok(None);
        };
        let sent = String::from_utf8_lossy(&line).into_owned();
        let expected = format!("{{\"id\": {id}, \"observation\": {}}}", probe.expected());
        Ok(Some(probe.unanswered(reason, sent, printed, expected)))
    }
}

impl Serve {
    /// Shows one of our own workers a module and runs kernels over numbers. If there is a cubin, the worker
    /// loads it; the request's text is then its source.
    pub(crate) fn ask_worker(
        &self,
        request: &Request<'_>,
        cubin: Option<&[u8]>,
        runs: &[KernelRun],
    ) -> Result<QuestionResult, Error> {
        self.ask_retrying(request, WorkerExtras { image: cubin.map(hex::encode).as_deref(), runs })
    }

    fn ask_retrying(
        &self,
        request: &Request<'_>,
        further: WorkerExtras<'_>,
    ) -> Result<QuestionResult, Error> {
        let worker = self.worker()?;
        let is_new = worker.answered == 0;
        if let Some(result) = self.ask(worker, request, further)?
            && (is_new || self.most_questions.is_none() || !is_failure(&result))
        {
            return Ok(result);
        }
        // A new process has no state from earlier questions.
        let result = self.ask(self.start()?, request, further)?;
        Ok(result.unwrap_or_else(|| Observation::because(Outcome::Crashed, "its output is no answer").into()))
    }
}

/// Whether the answer is a crash or a time-out.
fn is_failure(result: &QuestionResult) -> bool {
    matches!(result.observation.outcome, Outcome::Crashed | Outcome::TimedOut)
}

#[cfg(test)]
mod tests;
