//! Options of commands that run for a long time.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Arg, Args, ValueEnum};
use ptxsmith_subject::process;

use crate::values::jobs;

/// Flags of long work. Each command hides the ones that it does not use.
#[derive(Args, Clone, Debug)]
pub struct WorkArgs {
    /// Threads, and processes of subjects at a time [default: all cores]
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Chooses the generated programs.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help = "Chooses the generated programs",
        long_help = SEED,
    )]
    pub seed: u64,
    /// The CUDA driver library for the subject driver [default: libcuda.so.1 where the system's loader finds
    /// it]
    #[arg(
        long,
        value_name = "PATH",
        env = "PTXSMITH_LIBCUDA",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub libcuda: Option<PathBuf>,
    /// How ptxas is started for each module: forked just before it opens its input, which is faster, or anew
    #[arg(long, value_name = "HOW", default_value = "fork", hide_short_help = true)]
    pub start: StartMode,
}

const SEED: &str =
    "Chooses the programs that are generated: the same seed, the same programs, on any machine";

impl Default for WorkArgs {
    fn default() -> WorkArgs {
        WorkArgs { jobs: None, seed: 0, libcuda: None, start: StartMode::Fork }
    }
}

/// Hides an option that the command accepts but does not use.
pub fn idle(arg: Arg) -> Arg {
    arg.hide(true)
}

/// How implementations are started for each module.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StartMode {
    /// Forked from a waiting process, if possible; a sample is started anew as well
    Fork,
    /// Started anew
    Spawn,
}

impl From<StartMode> for process::Start {
    fn from(start: StartMode) -> process::Start {
        match start {
            StartMode::Fork => process::Start::fork(),
            StartMode::Spawn => process::Start::Spawn,
        }
    }
}
