//! What the user can write on the command line.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::exit::Failure;
use anstream::ColorChoice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use ptxsmith_campaign::reducing::Expected;
use ptxsmith_campaign::store::Shard;
use ptxsmith_gen::Focus;
use ptxsmith_oracle::Question;
use ptxsmith_subject::{
    SubjectSpec, process,
    toolchain::{Installable, Release},
};

use crate::values::{Deny, count, count_or_none, jobs, ptx_version, reading, regex, subject, target};
use regex_lite::Regex;

/// Tests implementations of PTX data declarations against what the specification says.
#[derive(Debug, Parser)]
#[command(name = "ptxsmith", version = version(), propagate_version = true, max_term_width = 100, after_help = STATUSES)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The version, and the commit where the build was told it.
fn version() -> String {
    let commit = option_env!("PTXSMITH_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}

const STATUSES: &str = "\
Exit status:
  0  everything compared conforms or is a known deviation; for other commands: done
  1  a new deviation, or a listed one that no longer reproduces; what --deny names
  2  bad usage or bad input
  3  nothing was compared, or a subject refuses nearly everything valid
  4  ptxsmith itself failed
  130, 143, 129  stopped by SIGINT, SIGTERM, SIGHUP; what was found until then is kept";

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Threads, and processes of subjects at a time [default: all cores]
    #[arg(long, short, global = true, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// Chooses the programs that are generated: the same seed, the same programs, on any machine
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// No progress and no notes, only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// The CUDA driver library for the subject driver [default: libcuda.so.1 where the system's loader finds it]
    #[arg(long, global = true, value_name = "PATH", env = "PTXSMITH_LIBCUDA", hide_env_values = true)]
    pub libcuda: Option<PathBuf>,
    /// A file of named subjects, and of options for each command; nothing is read from a place that is not named
    #[arg(long, global = true, value_name = "FILE", help_heading = "Options of every command")]
    pub config: Option<PathBuf>,
    /// How ptxas is started for each module: forked where it opens its input, which is faster, or anew
    #[arg(long, global = true, value_name = "HOW", default_value = "fork")]
    pub start: Start,
}

/// How implementations are started for each module.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Start {
    /// Forked from one that waits, where it can be made to; a sample is started anew as well
    Fork,
    /// Started anew
    Spawn,
}

impl From<Start> for process::Start {
    fn from(start: Start) -> process::Start {
        match start {
            Start::Fork => process::Start::fork(),
            Start::Spawn => process::Start::Spawn,
        }
    }
}

/// When to color.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> ColorChoice {
        match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate programs, show them to implementations, and report what differs from the specification
    #[command(after_help = "\
Without --subject, ptxas is tested: release 13.5 if it is installed, else the one in CUDA_HOME,
CUDA_PATH or PATH, else release 13.5 is installed first. Findings are written as they are found,
so Ctrl-C loses none.

Examples:
  ptxsmith run
  ptxsmith run --time 10m --seed 7 --out night/
  ptxsmith run --subject ptxas@12.9 --subject ptxas@13.5 --cases 50000
  ptxsmith run --subject 'exec:my-assembler --observe {ptx}' --focus initializers
  ptxsmith run --exhaustive 2")]
    Run(Run),
    /// Judge PTX files that exist already
    #[command(after_help = "\
Examples:
  ptxsmith check kernel.ptx
  ptxsmith check corpus/ --subject ptxas@13.5
  ptxsmith check corpus/5.4.4/ --expectations
  ptxsmith check tables.ptx --variants 1000 --seed 7
  clang -x cuda --cuda-device-only -S -o - a.cu | ptxsmith check -")]
    Check(Check),
    /// Print what the specification says a PTX file holds
    #[command(after_help = "\
Exit status: 0, also where the specification refuses the file, which is an answer; 2 it is no PTX. With --expect: 0 the
answer is the one expected, 1 it is another, 3 the specification does not decide.

Examples:
  ptxsmith eval module.ptx
  echo '.version 7.8 .target sm_80 .global .s64 a = -7 % 3;' | ptxsmith eval -
  ptxsmith eval module.ptx --json
  llc -mtriple nvptx64 kernel.ll -o - | ptxsmith eval - --expect accepted
  ptxsmith eval module.ptx --reading shift-count=modulo")]
    Eval(Eval),
    /// Warn of forms that listed releases of ptxas take otherwise than the specification says; no ptxas is needed
    #[command(after_help = "\
Exit status: 0 no error, 1 the specification refuses a file, or with --deny known a warning, 2 a file is no PTX.

Examples:
  llc -mtriple nvptx64 kernel.ll -o - | ptxsmith lint -
  ptxsmith lint build/ --deny known --release 12.9 --release 13.5
  ptxsmith lint kernel.ptx --format sarif > lint.sarif")]
    Lint(Lint),
    /// Write generated PTX modules
    #[command(after_help = "\
Examples:
  ptxsmith gen --count 1
  ptxsmith gen --count 1000 --seed 7 --out modules/
  ptxsmith gen --first 25189 --count 1
  ptxsmith gen --count 10 --focus initializers
  ptxsmith gen --count 100000 --stats
  ptxsmith gen --grammar")]
    Gen(Gen),
    /// Reduce a PTX file to the least one that shows the same deviation
    #[command(after_help = "\
What is kept is the verdict on the subject, and its cause: the known deviation that explains it, the signal of a crash.
The file on disk is at any time the best so far, so Ctrl-C loses nothing.

Examples:
  ptxsmith reduce crash.ptx
  ptxsmith reduce kernel.ptx --subject ptxas@12.9 --expect wrong-value --out least.ptx
  ptxsmith reduce kernel.ptx --command ./interesting.sh
  ptxsmith reduce garbage.ptx --text --subject 'exec:my-assembler --observe {ptx}'")]
    Reduce(Reduce),
    /// What changed between releases of ptxas, on the corpus and on fresh programs
    #[command(after_help = "\
Examples:
  ptxsmith drift --from 12.0 --to 13.5
  ptxsmith drift --all --cases 20000 --out drift/")]
    Drift(Drift),
    /// Put the shards of one campaign together
    #[command(after_help = "\
The result is byte for byte that of the undivided campaign. Shards that are missing, doubled, unfinished, or of another
build, seed or subject are refused by name.

Examples:
  ptxsmith run --cases 1000000 --shard 1/2 --out shard1/
  ptxsmith run --cases 1000000 --shard 2/2 --out shard2/
  ptxsmith merge shard1/ shard2/ --out result/")]
    Merge(Merge),
    /// Render the result of a campaign again: for people, for CI, as a bug report, as a page
    #[command(after_help = "\
The status is 0; with --against, it is 1 where something was added that no listed deviation explains.

Examples:
  ptxsmith report ptxsmith-out/
  ptxsmith report night/ --format html --history history.db --out night.html
  ptxsmith report night/ --format markdown --finding quotient-overflow-crash
  ptxsmith report change/ --against main/ --format junit --out junit.xml")]
    Report(Report),
    /// Bundle findings for a bug report: program, script that reproduces it, text
    #[command(after_help = "\
For each id a folder and a .tar.gz: the program, reproduce.sh, which needs nothing but the compiler (and python3 where values
are compared), and report.md. An id of a listed deviation (docs/deviations/) needs no campaign: it is shown to every
installed release of ptxas. Nothing is sent anywhere.

Examples:
  ptxsmith bundle octal-as-decimal --from night/ --out bundles/
  ptxsmith bundle incomplete-rows-packed quotient-overflow-crash --out bundles/
  sh bundles/incomplete-rows-packed/reproduce.sh /usr/local/cuda/bin/ptxas")]
    Bundle(Bundle),
    /// Render campaigns as static pages: clauses, forms and deviations by implementation, JSON beside each
    #[command(after_help = "\
Addresses stay the same when the atlas is made again: clauses/CLAUSE.html#SUBJECT, forms/FORM.html#CELL,
deviations/ID.html. scripts/atlas makes one of every implementation that is there.

Examples:
  ptxsmith check suite/cases --by-case --subject ptxas@all --out campaign/
  ptxsmith atlas campaign/ --out atlas/
  ptxsmith atlas campaign/ places/ parsers/ --out atlas/ --replace")]
    Atlas(Atlas),
    /// Remember campaigns: when was a finding first seen, what is new since yesterday, what was incomplete
    #[command(after_help = "\
Examples:
  ptxsmith history history.db --add ptxsmith-out/
  ptxsmith history history.db --since 1d
  ptxsmith history history.db --finding quotient-overflow-crash")]
    History(History),
    /// Write a conformance suite that others can run without ptxsmith
    #[command(after_help = "\
The suite is the same on every machine: cases, a manifest with its schema, an index by clause, and a runner in Python.

Examples:
  ptxsmith suite --out suite/
  ptxsmith suite --out suite/ --random 1000 --seed 7
  ptxsmith suite --out cuda/ --as cuda
  ptxsmith suite --out old/ --target sm_35 --max-ptx 4.3 --only '^5.4.4/'
  python3 suite/run.py --ptxas /usr/local/cuda/bin/ptxas")]
    Suite(Suite),
    /// List the implementations that can be tested: available or not, why, version
    #[command(after_help = "\
Examples:
  ptxsmith subjects
  ptxsmith subjects --subject ptxas:/usr/local/cuda/bin/ptxas --json")]
    Subjects(Subjects),
    /// List, install or locate NVIDIA's releases of ptxas
    #[command(
        subcommand,
        after_help = "\
Releases are installed from NVIDIA's public wheels with pip, into PTXSMITH_CACHE or the user's cache directory.

Examples:
  ptxsmith toolchain list
  ptxsmith toolchain install 13.5 12.9
  $(ptxsmith toolchain path 13.5) --version"
    )]
    Toolchain(Toolchain),
    #[cfg(feature = "cuda")]
    /// Test compilers, and check sources, against the rule on host const variables in CUDA C++ device code
    #[command(subcommand, after_help = "Example:\n  ptxsmith cuda check kernel.cu")]
    Cuda(crate::commands::cuda::Cuda),
    /// Read variables back from a GPU, on a machine that has nothing but a driver
    #[command(
        subcommand,
        after_help = "\
The first is done where releases of ptxas can be installed, the second where the GPU is; docs/gpu.md has the details.

Examples:
  ptxsmith gpu prepare --out prepared/ --release 12.9 --release 13.5 --target sm_90
  ptxsmith gpu run prepared/ --json gpu.json --markdown gpu.md"
    )]
    Gpu(crate::commands::gpu::Gpu),
    /// Write manual pages
    #[command(after_help = "Example:\n  ptxsmith manual --out ~/.local/share/man/man1")]
    Manual(Manual),
    /// Print what a shell needs to complete command lines
    #[command(
        after_help = "Example:\n  ptxsmith completions bash > ~/.local/share/bash-completion/completions/ptxsmith"
    )]
    Completions(Completions),
    /// Load a library and answer questions, one a line: what this program starts itself as
    #[command(subcommand, hide = true)]
    Worker(Worker),
}

/// `eval`
#[derive(Args, Debug)]
pub struct Eval {
    /// The PTX file; - reads standard input
    pub file: PathBuf,
    /// Print JSON (ptxsmith.module/1)
    #[arg(long)]
    pub json: bool,
    /// Print the clauses that say so
    #[arg(long)]
    pub clauses: bool,
    /// Warn on standard error of what listed releases of ptxas take otherwise; lint has more
    #[arg(long)]
    pub lint: bool,
    /// Answer an open question of the specification otherwise than by default; may be repeated
    #[arg(long = "reading", value_name = "QUESTION=ANSWER", value_parser = reading)]
    pub readings: Vec<(Question, usize)>,
    /// Status 1 if the answer is another, 3 if the specification does not decide
    #[arg(long, value_name = "ANSWER")]
    pub expect: Option<Expect>,
}

/// `lint`
#[derive(Args, Debug)]
pub struct Lint {
    /// PTX files, and directories of them; - reads standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// How the result is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: LintFormat,
    /// Status 1 also for this; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<Deny>,
    /// Only what this release of ptxas shows; may be repeated [default: every listed release]
    #[arg(long = "release", value_name = "RELEASE", value_parser = Release::find)]
    pub releases: Vec<&'static Release>,
}

/// The form of what `lint` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// FILE:LINE:COLUMN: warning: ..., with the id, as compilers write it
    Text,
    /// ptxsmith.lint/1
    Json,
    /// SARIF 2.1.0
    Sarif,
}

/// What `eval --expect` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Expect {
    /// Nothing is refused, and every variable is judged
    Accepted,
    /// The specification refuses a part
    Refused,
    /// Every part is judged: variables, instructions, header
    Valid,
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = || {
        let (number, of) = text.split_once('/')?;
        Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
    };
    read().filter(|shard| (1..=shard.of).contains(&shard.number)).ok_or_else(|| {
        format!("`{text}` is not a shard: write K/N with K from 1 to N, such as 1/4 for the first of four")
    })
}

/// Where engines that run one job many times say which it is: variable of the index, of its least value, of the count.
const ENGINES: [(&str, Option<&str>, &str); 4] = [
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"), "SLURM_ARRAY_TASK_COUNT"),
    // Kubernetes does not tell how many there are: the job's file says it once more.
    ("JOB_COMPLETION_INDEX", None, "PTXSMITH_SHARDS"),
    ("BUILDKITE_PARALLEL_JOB", None, "BUILDKITE_PARALLEL_JOB_COUNT"),
    ("CI_NODE_INDEX", Some("1"), "CI_NODE_TOTAL"),
];

/// The shard that the environment of a Slurm array task, a Kubernetes Indexed Job, or a CI matrix (GitLab, Buildkite)
/// says; all, where it says nothing. GitHub has no variable for it: its matrix is passed with `--shard`.
fn from_environment(of: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    for (index, least, count) in ENGINES {
        let (Some(own), Some(all)) = (of(index), of(count)) else { continue };
        let number = |name: &str, text: &str| {
            text.parse::<u64>().map_err(|_| format!("{name} is `{text}`, which is no number; give --shard"))
        };
        let least = match least {
            None => 0,
            Some(fixed) if fixed.bytes().all(|b| b.is_ascii_digit()) => number(index, fixed)?,
            Some(name) => of(name).map_or(Ok(0), |text| number(name, &text))?,
        };
        let (own, all) = (number(index, &own)?, number(count, &all)?);
        let place = own.checked_sub(least).filter(|&place| place < all);
        let place = place.ok_or_else(|| format!("{index} is {own}, with {all} in {count}; give --shard"))?;
        return Ok(Shard { number: place + 1, of: all });
    }
    Ok(Shard::ALL)
}

fn subject_help() -> String {
    format!("An implementation to test: {}; may be repeated", SubjectSpec::forms())
}

/// What every campaign takes.
#[derive(Args, Debug)]
pub struct Campaign {
    /// An implementation to test; may be repeated
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject, help = subject_help())]
    pub subjects: Vec<SubjectSpec>,
    /// Stop after this many cases (of check: files): 5000, 5k, 1e6 [default of run: 250000]
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "time")]
    pub cases: Option<NonZeroU64>,
    /// End within this time, reporting included: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How long an implementation may take for one module before it counts as hanging [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Status 1 also for this; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<Deny>,
    /// Failures that are expected and so make no status 1, as TOML; one that does not fail any more does
    #[arg(long, value_name = "FILE")]
    pub expect_failures: Option<PathBuf>,
    /// Write the failures that were found as a file for --expect-failures
    #[arg(long, value_name = "FILE")]
    pub write_expected: Option<PathBuf>,
}

/// `run`
#[derive(Args, Debug)]
pub struct Run {
    /// What every campaign takes.
    #[command(flatten)]
    pub campaign: Campaign,
    /// Where report and findings go
    #[arg(long, value_name = "DIR", default_value = "ptxsmith-out")]
    pub out: PathBuf,
    /// What to generate
    #[arg(long, value_name = "WHAT", default_value = "mixed", value_parser = focus())]
    pub focus: What,
    /// Only this cell of the tables of `--focus places`, or this family of them; may be repeated
    #[arg(long = "cell", value_name = "NAME")]
    pub cells: Vec<String>,
    /// Say in the report what each subject makes of each cell of `--focus places`; `atlas` renders it
    #[arg(long, conflicts_with_all = ["exhaustive", "weights", "mutate", "resume", "shard"])]
    pub by_case: bool,
    /// Judge every small program instead: 1 or 2, how deep operators nest in them
    #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..=2), conflicts_with_all = ["focus", "weights"])]
    pub exhaustive: Option<u32>,
    /// Weights of the grammar's productions, a line each: NAME = WEIGHT
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Change tokens of these programs instead: delete, double, swap, replace, splice. No implementation may die of what comes out
    #[arg(long, value_name = "FILE|DIR", num_args = 1.., conflicts_with_all = ["focus", "cells", "weights", "exhaustive", "resume", "shard"])]
    pub mutate: Vec<PathBuf>,
    /// How long new findings are made smaller for, all together; 0s leaves them as they are [default: a limit in programs,
    /// with which the report does not depend on the machine]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub reduce: Option<Duration>,
    /// Go on with the campaign in --out, if it holds one. Every other argument is taken from there; --cases or --time
    /// raises its budget
    #[arg(long)]
    pub resume: bool,
    /// Remove the campaign that --out holds, if it holds one
    #[arg(long, conflicts_with = "resume")]
    pub replace: bool,
    /// Do the K-th of N parts, to be put together with merge [default: the part that a Slurm array, a Kubernetes Indexed
    /// Job or a CI matrix says; else all]
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub shard: Option<Shard>,
}

impl Run {
    /// The shard that is asked for, by flag or by the environment.
    pub fn shard(&self) -> Result<Shard, Failure> {
        match self.shard {
            Some(shard) => Ok(shard),
            None => from_environment(|name| std::env::var(name).ok()).map_err(Failure::BadInput),
        }
    }
}

/// `merge`
#[derive(Args, Debug)]
pub struct Merge {
    /// The directories of the shards
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where the result goes
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Remove the campaign that --out holds, if it holds one
    #[arg(long)]
    pub replace: bool,
    /// Merge also where shards are missing or unfinished, and say which
    #[arg(long)]
    pub partial: bool,
    /// A program that the shards tested and that may be run once more: exec:, serve: or a path. Others are not run, since
    /// nobody but the shards names them
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject)]
    pub subjects: Vec<SubjectSpec>,
}

/// `drift`
#[derive(Args, Debug)]
pub struct Drift {
    /// The older release: 12.0
    #[arg(long, value_name = "RELEASE", requires = "to")]
    pub from: Option<String>,
    /// The newer one
    #[arg(long, value_name = "RELEASE", requires = "from")]
    pub to: Option<String>,
    /// Every release that is installed, each against the one before it
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub all: bool,
    /// Programs that are tried besides generated ones [default: corpus, where there is one]
    #[arg(long, value_name = "FILE|DIR")]
    pub corpus: Vec<PathBuf>,
    /// How many generated cases are tried
    #[arg(long, value_name = "N", default_value = "6000", value_parser = count_or_none)]
    pub cases: u64,
    /// End within this time, with the programs that were tried until then: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Status 1 for a change that a known deviation explains, or for programs that some release did not compare; may be
    /// repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<Deny>,
    /// Where drift.json and drift.md go
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `check`
#[derive(Args, Debug)]
pub struct Check {
    /// PTX files, and directories of them; - reads standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// What every campaign takes.
    #[command(flatten)]
    pub campaign: Campaign,
    /// Verify what the files say of themselves in their leading comments, as the cases of the corpus do (status 2 where
    /// something does not hold); without --subject nothing else is done, and no implementation is needed
    #[arg(long)]
    pub expectations: bool,
    /// Show also this many variants of each file: edits that keep its meaning, and have to come out the same
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub variants: u64,
    /// Say in the report what each subject makes of each file; `atlas` renders it
    #[arg(long, requires = "out")]
    pub by_case: bool,
    /// Write report and findings here [default: nowhere; the summary is printed]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Remove the campaign that --out holds, if it holds one
    #[arg(long, requires = "out")]
    pub replace: bool,
}

/// `reduce`
#[derive(Args, Debug)]
pub struct Reduce {
    /// The PTX file; - reads standard input
    pub file: PathBuf,
    /// The implementation that shows the deviation: ptxas, ptxas@RELEASE, ptxas:/PATH, exec:CMD ARGS [default: ptxas]
    #[arg(long, value_name = "SUBJECT", value_parser = subject, conflicts_with = "command")]
    pub subject: Vec<SubjectSpec>,
    /// The deviation to keep, where there are several: its class, the name of a known or suspected one, or QUESTION=ANSWER
    #[arg(long, value_name = "VERDICT", value_parser = Expected::parse, conflicts_with = "command")]
    pub expect: Option<Expected>,
    /// Keep also on which of these the deviation shows: ptxas@all, or several
    #[arg(long, value_name = "SUBJECT", value_parser = subject, num_args = 1.., conflicts_with_all = ["command", "text"])]
    pub same_on: Vec<SubjectSpec>,
    /// Keep instead what this command ends with status 0 for, given the program's file as its last argument
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// Reduce lines, tokens and characters, not declarations and expressions: for what is no PTX, and for lexers
    #[arg(long)]
    pub text: bool,
    /// Where the result goes [default: beside FILE, as FILE.reduced.ptx]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Stop after this time with the best so far: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How long the implementation, or the command, may take for one program [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// `bundle`
#[derive(Args, Debug)]
pub struct Bundle {
    /// Findings of the campaign, and listed deviations
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// The folder of the campaign
    #[arg(long, value_name = "DIR", default_value = "ptxsmith-out")]
    pub from: PathBuf,
    /// A release to show listed deviations to; may be repeated [default: every installed one]
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject)]
    pub subjects: Vec<SubjectSpec>,
    /// Where the folders and archives go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// `atlas`
#[derive(Args, Debug)]
pub struct Atlas {
    /// The folders of campaigns, or their report.json; `check --by-case` and `run --focus places --by-case` have programs
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where the pages go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Remove the atlas that --out holds, if it holds one
    #[arg(long)]
    pub replace: bool,
}

/// `report`
#[derive(Args, Debug)]
pub struct Report {
    /// The folder of a campaign, or its report.json
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The form
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Only this finding, in full: its id, or how its id begins
    #[arg(long, value_name = "ID")]
    pub finding: Option<String>,
    /// Only the findings that the campaign of this folder does not have: what a change adds
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Say when findings were first seen and, in the page, how campaigns went over time
    #[arg(long, value_name = "DB")]
    pub history: Option<PathBuf>,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    Text,
    /// ptxsmith.report/1
    Json,
    /// JUnit XML, a test for each clause and subject
    Junit,
    /// SARIF 2.1.0
    Sarif,
    /// A summary; with --finding, a bug report
    Markdown,
    /// One self-contained page
    Html,
}

/// `history`
#[derive(Args, Debug)]
pub struct History {
    /// The database, made where there is none and --add is given
    #[arg(value_name = "DB")]
    pub database: PathBuf,
    /// Enter the campaign of this folder; may be repeated
    #[arg(long, value_name = "DIR")]
    pub add: Vec<PathBuf>,
    /// Tell when this finding was first and last seen, and in which campaigns
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    pub finding: Option<String>,
    /// Tell what was first seen since then: a time ago (1d, 12h), or a date in UTC (2026-11-20)
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<SystemTime>,
}

/// `gen`
#[derive(Args, Debug)]
pub struct Gen {
    /// How many modules [default with --exhaustive or --cell: all]
    #[arg(long, value_name = "N", value_parser = count, required_unless_present_any = ["grammar", "exhaustive", "cells"])]
    pub count: Option<NonZeroU64>,
    /// The number of the first one, as reports name cases: 25189, with the same --seed
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none, conflicts_with_all = ["stats", "grammar", "cells"])]
    pub first: u64,
    /// Write case-SEED-INDEX.ptx files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to generate
    #[arg(long, value_name = "WHAT", default_value = "mixed", value_parser = focus())]
    pub focus: What,
    /// Only this cell of the tables of `--focus places`, or this family of them; may be repeated
    #[arg(long = "cell", value_name = "NAME")]
    pub cells: Vec<String>,
    /// Every small program instead: 1 or 2, how deep operators nest in them
    #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..=2), conflicts_with_all = ["focus", "weights"])]
    pub exhaustive: Option<u32>,
    /// Weights of the grammar's productions, a line each: NAME = WEIGHT
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Programs for .version 8.3 and sm_90, in which all productions are of use [default: for 7.8 and sm_80]
    #[arg(long)]
    pub wide: bool,
    /// Print what was reached of the grammar and of the specification, and how the modules fare, instead of modules
    #[arg(long)]
    pub stats: bool,
    /// Print the grammar and nothing else
    #[arg(long, conflicts_with_all = ["count", "out", "stats", "exhaustive"])]
    pub grammar: bool,
}

/// What is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Cases drawn from a seed.
    Drawn(Focus),
    /// The cells of the tables of forms and places.
    Places,
}

impl What {
    const PLACES: &str = "places";

    /// What is drawn; the usual mixture beside tables.
    pub fn drawn(self) -> Focus {
        match self {
            What::Drawn(focus) => focus,
            What::Places => Focus::Mixed,
        }
    }
}

/// What to generate, by name.
fn focus() -> impl TypedValueParser<Value = What> {
    let value = |focus: Focus| PossibleValue::new(focus.name()).help(focus.summary());
    let places = PossibleValue::new(What::PLACES)
        .help("Every form in every place: tables of operands, declarations and headers, of which a compiler must not die");
    PossibleValuesParser::new(Focus::ALL.map(value).into_iter().chain([places]).collect::<Vec<_>>())
        .map(|name| Focus::from_name(&name).map_or(What::Places, What::Drawn))
}

/// `suite`
#[derive(Args, Debug)]
pub struct Suite {
    /// Where the suite goes; a directory that is empty or not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Programs to draw from --seed, beside those that every suite has
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none)]
    pub random: u64,
    /// Only what runs on this target: cases for it and for earlier ones
    #[arg(long, value_name = "sm_NN", value_parser = target)]
    pub target: Option<String>,
    /// Only cases of this version of PTX and earlier ones
    #[arg(long, value_name = "MAJOR.MINOR", value_parser = ptx_version)]
    pub max_ptx: Option<(u32, u32)>,
    /// Only cases whose id matches this regular expression; the valid counterpart of a refused case comes with it
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    pub only: Option<Regex>,
    /// What the cases are written as
    #[arg(long = "as", value_name = "FORM", default_value = "ptx")]
    pub form: SuiteForm,
}

/// What the cases of `suite` are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SuiteForm {
    /// PTX modules
    Ptx,
    /// CUDA C++ with inline assembly: cases about operands, judged on what a compiler takes and refuses
    Cuda,
}

/// `subjects`
#[derive(Args, Debug)]
pub struct Subjects {
    /// Look at this one; may be repeated [default: every form, and every installed release]
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject)]
    pub subjects: Vec<SubjectSpec>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `manual`
#[derive(Args, Debug)]
pub struct Manual {
    /// The directory of the pages
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// `completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// A worker that loads a library.
#[derive(Args, Debug)]
pub struct WithLibrary {
    /// The library
    pub library: PathBuf,
    /// Print what it is instead
    #[arg(long)]
    pub describe: bool,
}

/// `worker`
#[derive(Debug, Subcommand)]
pub enum Worker {
    /// NVIDIA's nvJitLink
    Nvjitlink(WithLibrary),
    /// NVIDIA's PTX compiler, as the driver's JIT compiler library has it
    Ptxjit(WithLibrary),
    /// The CUDA driver
    Driver {
        /// Print what it is instead, and whether there is a device
        #[arg(long)]
        describe: bool,
    },
}

/// `toolchain`
#[derive(Debug, Subcommand)]
pub enum Toolchain {
    /// List everything that can be installed, and where that is which is installed
    #[command(after_help = "Example:\n  ptxsmith toolchain list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install releases of ptxas, and other tools
    #[command(
        after_help = "Example:\n  ptxsmith toolchain install 13.5 12.9.41 nvjitlink@13.5 ptxjit@535.261.03 cuobjdump"
    )]
    Install {
        /// 13.5 for the newest ptxas of a minor release, a full version such as 13.0.48, nvjitlink@RELEASE, ptxjit@VERSION
        /// (of a driver), or cuobjdump
        #[arg(required = true, value_name = "RELEASE", value_parser = Installable::find)]
        releases: Vec<Installable>,
        /// Install anew what is there and is not what was installed
        #[arg(long)]
        repair: bool,
    },
    /// Compare what is installed with what was installed, byte by byte. Before each use only size and time are compared
    #[command(after_help = "Example:\n  ptxsmith toolchain verify 13.5")]
    Verify {
        /// As install takes them [default: all that is installed]
        #[arg(value_name = "RELEASE", value_parser = Installable::find)]
        releases: Vec<Installable>,
    },
    /// Print the path of an installed release's ptxas
    #[command(after_help = "Example:\n  ptxsmith toolchain path 13.5")]
    Path {
        /// 13.5 for the newest of a minor release, or a full version such as 13.0.48
        #[arg(value_name = "RELEASE", value_parser = Release::find)]
        release: &'static Release,
    },
}

/// `10m`, `90s`, `1h 30m`.
fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text.trim())
        .map_err(|error| format!("{error}; write 90s, 10m or 1h30m"))?;
    if duration.is_zero() { Err("must be more than nothing".to_owned()) } else { Ok(duration) }
}

/// `1d`, `2026-11-20`, `2026-11-20 02:00:00`
fn since(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    if let Ok(ago) = humantime::parse_duration(text) {
        return SystemTime::now().checked_sub(ago).ok_or_else(|| "that is before all time".to_owned());
    }
    let time = if text.len() == "2026-11-20".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    humantime::parse_rfc3339_weak(&time)
        .map_err(|_| "write 1d, 12h, 2026-11-20 or 2026-11-20 02:00:00".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
            for command in command.get_subcommands().filter(shown) {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example"), "{}", command.get_name());
                check(command);
            }
        }
        check(&Cli::command());
    }

    #[test]
    fn durations_are_what_people_write() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(duration("10").unwrap_err().contains("write 90s"));
        assert!(duration("0s").is_err() && duration("-1s").is_err() && duration("").is_err());
    }

    #[test]
    fn since_is_a_time_ago_or_a_date() {
        let day = Duration::from_secs(86_400);
        let then = since("1d").unwrap();
        let ago = SystemTime::now().duration_since(then).unwrap();
        assert!(ago >= day && ago < day + Duration::from_secs(60));
        assert_eq!(since("1970-01-02"), Ok(std::time::UNIX_EPOCH + day));
        assert_eq!(since("1970-01-02 00:00:00"), since("1970-01-02T00:00:00Z"));
        assert!(since("yesterday").unwrap_err().contains("write 1d"));
    }
}
