//! Sections of the help texts after the options: exit statuses and environment variables.

/// An environment variable and its effect.
pub type Variable = (&'static str, &'static str);

/// An exit status and its meaning.
pub type Status = (&'static str, &'static str);

/// The variable that sets the cache directory.
pub const CACHE: Variable =
    ("PTXSMITH_CACHE", "where releases are installed [default: ptxsmith in XDG_CACHE_HOME, or in ~/.cache]");
/// The variables that point to a CUDA installation.
pub const CUDA_HOME: Variable =
    ("CUDA_HOME, CUDA_PATH", "a CUDA whose ptxas is used where none is installed");
/// The search path.
pub const PATH: Variable =
    ("PATH", "a ptxas, where there is none of these; python3, which installs releases");
/// The variable that sets the CUDA driver library.
pub const LIBCUDA: Variable = ("PTXSMITH_LIBCUDA", "the driver's library, as --libcuda");
/// The variables that select a shard.
pub const SHARDS: Variable = (
    "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with PTXSMITH_SHARDS, CI_NODE_INDEX, BUILDKITE_PARALLEL_JOB",
    "the shard, where --shard is absent",
);
/// The variable that disables colors.
pub const NO_COLOR: Variable = ("NO_COLOR", "where it is set, nothing is colored unless --color says so");

/// The exit statuses of commands that compare implementations with the specification.
pub const JUDGED: &[Status] = &[
    ("0", "everything compared conforms or is a known deviation"),
    (
        "1",
        "a new deviation, or a listed one that no longer reproduces; with --deny also a known one, or what \
         was not compared",
    ),
    (
        "3",
        "nothing was compared, or a subject gives no valid answer or refuses nearly everything valid: is it \
         configured?",
    ),
    ("130, 143, 129", "stopped by SIGINT, SIGTERM, SIGHUP; what was found so far is on disk"),
];
/// The exit statuses of `reduce` that differ from the common ones.
pub const REDUCING: &[Status] = &[("130", "stopped by Ctrl-C; the best so far is on disk")];
/// The exit statuses of `drift` that differ from the common ones.
pub const COMPARING_RELEASES: &[Status] = &[
    ("1", "with --deny: a change that a known deviation explains, or what was not compared"),
    ("3", "no program was compared in two releases"),
];
/// The environment variables of commands that run implementations.
pub const TESTS: &[Variable] = &[CACHE, CUDA_HOME, PATH, LIBCUDA, NO_COLOR];

/// Builds the help text after the options: `text`, the exit statuses if they differ from the common ones, and
/// the environment variables.
pub fn help(text: &str, statuses: &[Status], environment: &[Variable]) -> String {
    let mut help = text.to_owned();
    if !statuses.is_empty() {
        help.push_str("\n\nExit status:");
        for (status, meaning) in with_common(statuses) {
            help.push_str(&format!("\n  {status}  {meaning}"));
        }
    }
    if !environment.is_empty() {
        help.push_str("\n\nEnvironment:");
        for (name, meaning) in environment {
            help.push_str(&format!("\n  {name}: {meaning}"));
        }
    }
    help
}

/// Merges these exit statuses with the common ones, in ascending order. An entry in `statuses` replaces the
/// common entry.
fn with_common(statuses: &[Status]) -> Vec<Status> {
    let common = [("0", "done"), ("2", "bad usage or bad input"), ("4", "ptxsmith itself failed")];
    let mut all = statuses.to_vec();
    all.extend(common.iter().filter(|(status, _)| !statuses.iter().any(|(listed, _)| listed == status)));
    all.sort_by_key(|(status, _)| status.split(',').next().and_then(|first| first.parse::<u32>().ok()));
    all
}
