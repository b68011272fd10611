//! What the help of a command says beyond its options: exit statuses and environment.

/// A variable of the environment, with its effect.
pub type Variable = (&'static str, &'static str);

/// An exit status, with its meaning.
pub type Status = (&'static str, &'static str);

/// The cache.
pub const CACHE: Variable =
    ("PTXSMITH_CACHE", "where releases are installed [default: ptxsmith in XDG_CACHE_HOME, or in ~/.cache]");
/// An installed CUDA.
pub const CUDA_HOME: Variable =
    ("CUDA_HOME, CUDA_PATH", "a CUDA whose ptxas is used where none is installed");
/// The search path.
pub const PATH: Variable =
    ("PATH", "a ptxas, where there is none of these; python3, which installs releases");
/// The driver's library.
pub const LIBCUDA: Variable = ("PTXSMITH_LIBCUDA", "the driver's library, as --libcuda");
/// The shard.
pub const SHARDS: Variable = (
    "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with PTXSMITH_SHARDS, CI_NODE_INDEX, BUILDKITE_PARALLEL_JOB",
    "the shard, where --shard is absent",
);
/// Colors.
pub const NO_COLOR: Variable = ("NO_COLOR", "where it is set, nothing is colored unless --color says so");

/// The exit statuses of commands that judge.
pub const JUDGED: &[Status] = &[
    ("0", "everything compared conforms or is a known deviation"),
    (
        "1",
        "a new deviation, or a listed one that no longer reproduces; with --deny also a known one, or what was not compared",
    ),
    (
        "3",
        "nothing was compared, or a subject gives no valid answer or refuses nearly everything valid: is it configured?",
    ),
    ("130, 143, 129", "stopped by SIGINT, SIGTERM, SIGHUP; what was found so far is on disk"),
];
/// The environment of commands that run implementations.
pub const TESTS: &[Variable] = &[CACHE, CUDA_HOME, PATH, LIBCUDA, NO_COLOR];

/// The help behind the options: this text, the exit statuses where they differ from those of every command, and the environment.
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

/// These exit statuses and those of every command, in order.
fn with_common(statuses: &[Status]) -> Vec<Status> {
    let common = [("0", "done"), ("2", "bad usage or bad input"), ("4", "ptxsmith itself failed")];
    let mut all = statuses.to_vec();
    all.extend(common.iter().filter(|(status, _)| !statuses.iter().any(|(own, _)| own == status)));
    all.sort_by_key(|(status, _)| status.split(',').next().and_then(|first| first.parse::<u32>().ok()));
    all
}
