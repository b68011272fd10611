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
    SubjectSpec, parse_spec, process,
    toolchain::{Installable, Release},
};

/// Tests implementations of PTX data declarations against what the specification says.
#[derive(Debug, Parser)]
#[command(name = "ptxsmith", version, propagate_version = true, max_term_width = 100, after_help = STATUSES)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const STATUSES: &str = "\
Exit status:
  0  everything compared conforms or is a known deviation; for other commands: done
  1  a new deviation
  2  bad usage or bad input
  3  nothing was compared
  4  the harness itself failed";

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Threads, and processes of subjects at a time [default: all cores]
    #[arg(long, short, global = true, value_name = "N")]
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
  ptxsmith check tables.ptx --variants 1000 --seed 7
  clang -x cuda --cuda-device-only -S -o - a.cu | ptxsmith check -")]
    Check(Check),
    /// Print what the specification says a PTX file holds, with the clauses that say so
    #[command(after_help = "\
Examples:
  ptxsmith eval module.ptx
  echo '.version 7.8 .target sm_80 .global .s64 a = -7 % 3;' | ptxsmith eval -
  ptxsmith eval module.ptx --json
  ptxsmith eval module.ptx --reading shift-count=modulo")]
    Eval(Eval),
    /// Write generated PTX modules
    #[command(after_help = "\
Examples:
  ptxsmith gen --count 1
  ptxsmith gen --count 1000 --seed 7 --out modules/
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
    /// Answer an open question of the specification otherwise than by default; may be repeated
    #[arg(long = "reading", value_name = "QUESTION=ANSWER", value_parser = reading)]
    pub readings: Vec<(Question, usize)>,
    /// Status 1 if the answer is another, 3 if the specification does not decide
    #[arg(long, value_name = "ANSWER")]
    pub expect: Option<Expect>,
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
    read()
        .filter(|shard| (1..=shard.of).contains(&shard.number))
        .ok_or_else(|| format!("`{text}` is no part; write K/N, such as 1/4 for the first of four"))
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
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = parse_spec, help = subject_help())]
    pub subjects: Vec<SubjectSpec>,
    /// Stop after this many cases (of check: files)
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "time")]
    pub cases: Option<NonZeroU64>,
    /// Stop after this time: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How long an implementation may take for one module before it counts as hanging [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
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
    /// Go on with the campaign in --out, if it holds one that was stopped
    #[arg(long)]
    pub resume: bool,
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
    /// Merge also where shards are missing or unfinished, and say which
    #[arg(long)]
    pub partial: bool,
    /// A program that the shards tested and that may be run once more: exec:, serve: or a path. Others are not run, since
    /// nobody but the shards names them
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = parse_spec)]
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
    #[arg(long, value_name = "N", default_value_t = 6_000)]
    pub cases: u64,
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
    /// Show also this many variants of each file: edits that keep its meaning, and have to come out the same
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub variants: u64,
    /// Write report and findings here [default: nowhere; the summary is printed]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `reduce`
#[derive(Args, Debug)]
pub struct Reduce {
    /// The PTX file; - reads standard input
    pub file: PathBuf,
    /// The implementation that shows the deviation: ptxas, ptxas@RELEASE, ptxas:/PATH, exec:CMD ARGS [default: ptxas]
    #[arg(long, value_name = "SUBJECT", value_parser = parse_spec, conflicts_with = "command")]
    pub subject: Vec<SubjectSpec>,
    /// The deviation to keep, where there are several: its class, the name of a known or suspected one, or QUESTION=ANSWER
    #[arg(long, value_name = "VERDICT", value_parser = Expected::parse, conflicts_with = "command")]
    pub expect: Option<Expected>,
    /// Keep also on which of these the deviation shows: ptxas@all, or several
    #[arg(long, value_name = "SUBJECT", value_parser = parse_spec, num_args = 1.., conflicts_with_all = ["command", "text"])]
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
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub random: u64,
}

/// `subjects`
#[derive(Args, Debug)]
pub struct Subjects {
    /// Look at this one; may be repeated [default: every form, and every installed release]
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = parse_spec)]
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
    /// List the releases that can be installed, and where those are that are installed
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
    },
    /// Print the path of an installed release's ptxas
    #[command(after_help = "Example:\n  ptxsmith toolchain path 13.5")]
    Path {
        /// 13.5 for the newest of a minor release, or a full version such as 13.0.48
        #[arg(value_name = "RELEASE", value_parser = Release::find)]
        release: &'static Release,
    },
}

/// `1000`, `1_000_000`.
fn count(text: &str) -> Result<NonZeroU64, String> {
    let number = text.replace('_', "").parse::<u64>().map_err(|error| error.to_string())?;
    NonZeroU64::new(number).ok_or_else(|| "must be at least 1".to_owned())
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

/// `shift-count=modulo`
fn reading(text: &str) -> Result<(Question, usize), String> {
    let (name, answer) = text.split_once('=').ok_or("write QUESTION=ANSWER")?;
    let question = Question::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Question::ALL.iter().map(|question| question.name()).collect();
        format!("no open question `{name}`; there are {}", names.join(", "))
    })?;
    let place = question.answers().iter().position(|&known| known == answer);
    let place = place.ok_or_else(|| {
        format!("no answer `{answer}` to `{name}`; there are {}", question.answers().join(", "))
    })?;
    Ok((question, place))
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
    fn durations_and_counts_are_what_people_write() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(duration("10").unwrap_err().contains("write 90s"));
        assert!(duration("0s").is_err() && duration("-1s").is_err() && duration("").is_err());
        assert_eq!(count("1_000").map(NonZeroU64::get), Ok(1000));
        assert!(count("0").is_err() && count("-1").is_err() && count("1.5").is_err());
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

    #[test]
    fn a_reading_that_does_not_exist_is_told_which_do() {
        assert_eq!(reading("shift-count=modulo"), Ok((Question::ShiftCount, 1)));
        assert!(reading("shift-cuont=modulo").unwrap_err().contains("there are address-subtraction, "));
        assert!(reading("shift-count=mod").unwrap_err().contains("there are saturate, modulo"));
        assert!(reading("shift-count").is_err());
    }
}
