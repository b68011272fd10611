//! The commands, one file each.

pub mod atlas;
pub mod bundle;
pub mod check;
pub mod completions;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod drift;
#[cfg(feature = "cuda")]
pub mod emit;
pub mod eval;
pub mod explain;
pub mod generate;
#[cfg(test)]
mod growth;
pub mod history;
mod hover;
mod known;
mod link;
pub mod lint;
pub mod lsp;
pub mod merge;
pub mod reduce;
pub mod report;
pub mod run;
pub mod subjects;
pub mod suite;
pub mod toolchain;
pub mod worker;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ptxsmith_campaign::Session;
use ptxsmith_campaign::expected::ExpectedFailures;
use ptxsmith_campaign::session::Limit;
use ptxsmith_oracle::Question;
use ptxsmith_subject::{Cancel, process::Start};

use crate::args::{self, Command};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::TerminalEvents;
use crate::work::WorkArgs;

/// Runs a command.
pub fn run_command(context: &CommandContext, command: &Command) -> Result<Exit, Failure> {
    match dispatched(context, command) {
        Err(Failure::Interrupted) if context.cancel.is_late() => {
            Err(Failure::NoSubject("--time was over before there was a result".to_owned()))
        }
        result => result,
    }
}

fn dispatched(context: &CommandContext, command: &Command) -> Result<Exit, Failure> {
    known::add(command)?;
    match command {
        Command::Run(args) => run::run(context, args),
        Command::Check(args) => check::run(context, args),
        Command::Eval(args) if !args.link.is_empty() => link::evaluate(context, args),
        Command::Eval(args) => eval::run(context, args),
        Command::Lint(args) => lint::run(context, args),
        Command::Reduce(args) => reduce::run(context, args),
        Command::Merge(args) => merge::run(context, args),
        Command::Drift(args) => drift::run(context, args),
        Command::Report(args) => report::run(context, args),
        Command::Bundle(args) => bundle::run(context, args),
        Command::Atlas(args) => atlas::run(context, args),
        Command::History(args) => history::run(context, args),
        Command::Gen(args) => generate::run(context, args),
        Command::Suite(args) => suite::run(context, args),
        Command::Subjects(args) => subjects::run(context, args),
        Command::Toolchain(args) => toolchain::run(context, args),
        #[cfg(feature = "cuda")]
        Command::Cuda(args) => cuda::run(context, args),
        #[cfg(feature = "cuda")]
        Command::Emit(args) => emit::run(context, args),
        Command::Explain(args) => explain::run(context, args),
        Command::Lsp => lsp::run(context),
        Command::Completions(args) => completions::run(context, args),
        Command::Worker(args) => worker::run(context, args),
    }
}

/// The settings that every command uses.
pub struct CommandContext {
    /// The console for messages and results.
    pub console: Console,
    /// The number of threads, and of concurrent processes of subjects.
    pub jobs: NonZeroUsize,
    /// The seed of the generator.
    pub seed: u64,
    /// The complete command line with which the campaign can be resumed.
    pub command_line: Vec<String>,
    /// Raised by Ctrl-C and other signals.
    pub cancel: Cancel,
    /// The CUDA driver library, if the user gave one.
    pub libcuda: Option<PathBuf>,
    /// How an implementation is started for each module.
    pub start: Start,
    /// The time when the command started.
    pub began: Instant,
}

impl CommandContext {
    /// Creates the context from the options, and starts to handle signals.
    pub fn new(
        work: &WorkArgs,
        command_line: Vec<String>,
        console: Console,
    ) -> Result<CommandContext, Failure> {
        let jobs = work.jobs.unwrap_or_else(|| {
            // One thread for each core.
            std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
        });
        Ok(CommandContext {
            console,
            jobs,
            seed: work.seed,
            command_line,
            cancel: interrupt::watch(move || console.failure(&Failure::Interrupted))?,
            libcuda: work.libcuda.clone(),
            start: work.start.into(),
            began: Instant::now(),
        })
    }

    /// Returns the settings of a campaign without a time limit.
    pub fn session(&self) -> Session {
        self.session_for(None)
    }

    /// Returns the settings of a campaign that must end after the given time.
    pub fn session_for(&self, time: Option<Duration>) -> Session {
        let limit = time.map(|time| Limit::new(self.began, time));
        if let Some(limit) = limit {
            self.cancel.cancel_at(limit.end_is_cut());
        }
        Session {
            limit,
            jobs: self.jobs,
            seed: self.seed,
            command_line: self.command_line.clone(),
            cancel: self.cancel.clone(),
            libcuda: self.libcuda.clone(),
            start: self.start.clone(),
            workers: worker::workers(),
            events: Box::new(TerminalEvents { console: self.console, limit }),
            expected: ExpectedFailures::default(),
            known: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Returns the settings of a campaign with its expected failures, known deviations and time limit.
    pub fn session_of(&self, campaign: &args::CampaignArgs) -> Result<Session, Failure> {
        let expected = campaign.expect_failures.as_deref().map(ExpectedFailures::read).transpose()?;
        let (expected, known) = (expected.unwrap_or_default(), campaign.known.clone());
        let answers = given_answers(&campaign.interpretations)?.to_vec();
        Ok(Session { expected, known, answers, ..self.session_for(campaign.time) })
    }
}

/// Returns the answers given by `--interpretation`, each question at most once.
fn given_answers(answers: &[(Question, usize)]) -> Result<&[(Question, usize)], Failure> {
    for (index, &(question, _)) in answers.iter().enumerate() {
        if answers[..index].iter().any(|&(earlier, _)| earlier == question) {
            return Err(Failure::BadInput(format!("--interpretation answers `{}` twice", question.name())));
        }
    }
    Ok(answers)
}
