//! What each command says of itself beyond its options: which options of every command it has, exit statuses, environment.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};

use crate::args::Cli;

/// What a command is by its path: `cuda check`.
struct Facts {
    /// The command, or the first words of several.
    command: &'static str,
    /// The options of every command that do something here.
    options: &'static [&'static str],
    /// Whether the others are errors here; long work takes all of them.
    is_strict: bool,
    /// Exit statuses that are not those of every command: 0 done, 2 bad usage or input, 4 failed.
    statuses: &'static [(&'static str, &'static str)],
    /// The environment that it reads.
    environment: &'static [Variable],
}

/// A variable of the environment, with what it does.
type Variable = (&'static str, &'static str);

/// The options of every command that not every command has a use for.
const SHARED: [&str; 4] = ["jobs", "seed", "libcuda", "start"];

const CACHE: Variable =
    ("PTXSMITH_CACHE", "where releases are installed [default: ptxsmith in XDG_CACHE_HOME, or in ~/.cache]");
const CUDA_HOME: Variable = ("CUDA_HOME, CUDA_PATH", "a CUDA whose ptxas is used where none is installed");
const PATH: Variable = ("PATH", "a ptxas, where there is none of these; python3, which installs releases");
const LIBCUDA: Variable = ("PTXSMITH_LIBCUDA", "the driver's library, as --libcuda");
const SHARDS: Variable = (
    "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with PTXSMITH_SHARDS, CI_NODE_INDEX, BUILDKITE_PARALLEL_JOB",
    "the shard, where --shard is absent",
);
const NO_COLOR: Variable = ("NO_COLOR", "where it is set, nothing is colored unless --color says so");

const JUDGED: &[(&str, &str)] = &[
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
const TESTS: &[Variable] = &[CACHE, CUDA_HOME, PATH, LIBCUDA, NO_COLOR];

/// Every command that differs from the plain one.
const FACTS: &[Facts] = &[
    Facts {
        command: "run",
        options: &SHARED,
        is_strict: false,
        statuses: JUDGED,
        environment: &[CACHE, CUDA_HOME, PATH, LIBCUDA, SHARDS, NO_COLOR],
    },
    Facts {
        command: "check",
        options: &["jobs", "seed", "libcuda", "start"],
        is_strict: false,
        statuses: JUDGED,
        environment: TESTS,
    },
    Facts { command: "merge", options: &SHARED, is_strict: false, statuses: JUDGED, environment: TESTS },
    Facts {
        command: "drift",
        options: &["jobs", "seed", "start"],
        is_strict: false,
        statuses: &[
            ("1", "with --deny: a change that a known deviation explains, or what was not compared"),
            ("3", "no program was compared in two releases"),
        ],
        environment: TESTS,
    },
    Facts {
        command: "bundle",
        options: &["jobs", "libcuda", "start"],
        is_strict: false,
        statuses: &[],
        environment: TESTS,
    },
    Facts {
        command: "reduce",
        options: &["jobs", "libcuda", "start"],
        is_strict: false,
        statuses: &[("130", "stopped by Ctrl-C; the best so far is on disk")],
        environment: TESTS,
    },
    Facts { command: "atlas", options: &[], is_strict: true, statuses: &[], environment: &[NO_COLOR] },
    Facts { command: "gen", options: &["seed"], is_strict: false, statuses: &[], environment: &[] },
    Facts { command: "suite", options: &["seed"], is_strict: false, statuses: &[], environment: &[] },
    Facts { command: "subjects", options: &["libcuda"], is_strict: false, statuses: &[], environment: TESTS },
    Facts { command: "cuda gen", options: &["seed"], is_strict: false, statuses: &[], environment: &[] },
    Facts {
        command: "cuda run",
        options: &["jobs", "seed"],
        is_strict: false,
        statuses: JUDGED,
        environment: &[CACHE, CUDA_HOME, PATH, NO_COLOR],
    },
    Facts {
        command: "cuda check",
        options: &["jobs"],
        is_strict: false,
        statuses: &[],
        environment: &[PATH],
    },
    Facts { command: "worker", options: &SHARED, is_strict: false, statuses: &[], environment: &[] },
    Facts { command: "toolchain", options: &[], is_strict: true, statuses: &[], environment: &[CACHE, PATH] },
];

/// A command that none of the options is of use for.
const PLAIN: Facts =
    Facts { command: "", options: &[], is_strict: true, statuses: &[], environment: &[NO_COLOR] };

impl Facts {
    /// The facts of a command.
    fn of(path: &str) -> &'static Facts {
        let is_of = |facts: &&Facts| {
            path.strip_prefix(facts.command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        FACTS.iter().find(is_of).unwrap_or(&PLAIN)
    }

    /// Its exit statuses, those of every command among them.
    fn statuses(&self) -> Vec<(&'static str, &'static str)> {
        let of_all = [("0", "done"), ("2", "bad usage or bad input"), ("4", "ptxsmith itself failed")];
        let own = |status: &str| self.statuses.iter().any(|(own, _)| *own == status);
        let mut all: Vec<_> = of_all.into_iter().filter(|(status, _)| !own(status)).collect();
        all.extend(self.statuses);
        all.sort_by_key(|(status, _)| status.split(',').next().and_then(|first| first.parse::<u32>().ok()));
        all
    }

    fn help(&self, own: &str) -> String {
        let mut help = own.to_owned();
        if !self.statuses.is_empty() {
            help.push_str("\n\nExit status:");
            for (status, meaning) in self.statuses() {
                help.push_str(&format!("\n  {status}  {meaning}"));
            }
        }
        if self.environment.len() > 1 {
            help.push_str("\n\nEnvironment:");
            for (name, meaning) in self.environment {
                help.push_str(&format!("\n  {name}: {meaning}"));
            }
        }
        help
    }
}

/// The command line, in which each command shows the options that do something, and says its statuses and environment.
pub fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    described(command, "")
}

fn described(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = command;
    for name in names.iter().filter(|name| *name != "help") {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |sub| described(sub, &path));
    }
    if path.is_empty() {
        return command;
    }
    let facts = Facts::of(path);
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.mut_args(|arg| {
        let is_idle =
            SHARED.contains(&arg.get_id().as_str()) && !facts.options.contains(&arg.get_id().as_str());
        if is_idle { arg.hide(true) } else { arg }
    });
    if names.is_empty() { command.after_help(facts.help(&help)) } else { command }
}

/// What was written, or the error that an option does nothing here.
pub fn matches(args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    let (mut path, mut at) = (Vec::new(), &matches);
    while let Some((name, sub)) = at.subcommand() {
        path.push(name);
        at = sub;
    }
    let facts = Facts::of(&path.join(" "));
    let idle = SHARED.iter().filter(|option| !facts.options.contains(option));
    let mut written = idle.filter(|option| at.value_source(option) == Some(ValueSource::CommandLine));
    match written.next() {
        Some(option) if facts.is_strict => {
            let message = format!("--{option} does nothing for `ptxsmith {}`", path.join(" "));
            Err(command.error(ErrorKind::ArgumentConflict, message))
        }
        _ => Ok(matches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ArgMatches, clap::Error> {
        matches(format!("ptxsmith {line}").split(' ').map(OsString::from))
    }

    #[test]
    fn an_option_that_does_nothing_is_an_error_before_and_behind_the_command() {
        for line in ["completions bash --jobs 2", "--seed 7 eval a.ptx", "toolchain list --libcuda /x"] {
            let error = parse(line).unwrap_err();
            assert!(error.to_string().contains("does nothing for `ptxsmith "), "{error}");
        }
        for line in
            ["--seed 7 run", "check a.ptx --jobs 2 --seed 1", "gen --count 1 --jobs 3", "eval a.ptx -q"]
        {
            assert!(parse(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn help_shows_the_options_that_do_something_with_statuses_and_environment() {
        let help = |path: &[&str]| {
            let mut command = command();
            let mut at = &mut command;
            for name in path {
                at = at.find_subcommand_mut(name).unwrap();
            }
            at.render_help().to_string()
        };
        assert!(!help(&["completions"]).contains("--seed") && !help(&["suite"]).contains("--libcuda"));
        let run = help(&["run"]);
        for part in [
            "--seed",
            "--jobs",
            "--libcuda",
            "Exit status:",
            "130, 143, 129",
            "PTXSMITH_CACHE",
            "SLURM_ARRAY_TASK_ID",
        ] {
            assert!(run.contains(part), "{part}");
        }
        assert!(help(&["lint"]).contains("--deny"));
    }

    #[test]
    fn every_fact_is_of_a_command() {
        let command = command();
        let is_built = |facts: &&Facts| cfg!(feature = "cuda") || !facts.command.starts_with("cuda");
        for facts in FACTS.iter().filter(is_built) {
            let mut at = &command;
            for name in facts.command.split(' ') {
                at = at.find_subcommand(name).unwrap();
            }
        }
    }
}
