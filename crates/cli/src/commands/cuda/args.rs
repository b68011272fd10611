//! The command line of `ptxsmith cuda`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use ptxsmith_cuda::check::INTERPRETATIONS;
use ptxsmith_cuda::reading::RuleQuestion;
use ptxsmith_cuda::subjects::{CompilerSpec, parse_spec};

use crate::describe::{CACHE, CUDA_HOME, JUDGED, NO_COLOR, PATH, help};
use crate::work::{WorkArgs, idle};

/// `cuda`
#[derive(Debug, Subcommand)]
pub enum CudaCommand {
    /// Write generated uses of host variables as CUDA C++, with what the rule says of each
    #[command(
        mut_arg("jobs", idle),
        mut_arg("libcuda", idle),
        mut_arg("start", idle),
        after_long_help = "\
Each use is one line, in a namespace of its own. Units begin with the annotations as macros, so any \
compiler that has
them as attributes takes them without headers.

Examples:
  ptxsmith cuda gen --count 10
  ptxsmith cuda gen --count 20000 --per-unit 5000 --seed 7 --out units/
  ptxsmith cuda gen --first 4711 --count 1 --expect"
    )]
    Gen(CudaGenArgs),
    /// Show generated uses to compilers, and report what differs from the rule
    #[command(mut_arg("libcuda", idle), mut_arg("start", idle), after_long_help = help("\
Subjects are cicc@RELEASE, nvcc@RELEASE (13.0 to 13.5, or all; installed on demand from NVIDIA's public \
wheels), clang, and clang:/PATH. Without --subject: cicc@13.0, cicc@13.5 and clang.

Examples:
  ptxsmith cuda run
  ptxsmith cuda run --cases 100000 --subject cicc@all --out night/
  ptxsmith cuda run --time 10m --seed 7 --subject nvcc@13.5", JUDGED, &[CACHE, CUDA_HOME, PATH, NO_COLOR]))]
    Run(CudaRunArgs),
    /// Check CUDA C++ sources against the rule
    #[command(
        mut_arg("seed", idle),
        mut_arg("libcuda", idle),
        mut_arg("start", idle),
        after_long_help = "\
clang makes the syntax tree (Debian: apt install clang). `// ptxsmith-ignore(KEY)` on a line or above it \
suppresses a message, and
so do clang-tidy's `NOLINT` and `NOLINTNEXTLINE`. Warnings are violations of the letter that nvcc accepts. \
Exit status: 0 no violation, 1 violations, 2 a file cannot be
read or not be understood, 3 nothing was analysed.

Examples:
  ptxsmith cuda check kernel.cu
  ptxsmith cuda check src/*.cu --format sarif > report.sarif
  ptxsmith cuda check --compile-commands build/ --write-expected known.txt
  ptxsmith cuda check --compile-commands build/ --expect-failures known.txt
  ptxsmith cuda check kernel.cu -- -Iinclude -DBLOCK=256"
    )]
    Check(CudaCheckArgs),
}

impl CudaCommand {
    /// Returns the options of long-running work.
    pub fn work(&self) -> &WorkArgs {
        match self {
            CudaCommand::Gen(args) => &args.work,
            CudaCommand::Run(args) => &args.work,
            CudaCommand::Check(args) => &args.work,
        }
    }
}

/// `cuda gen`
#[derive(Args, Debug)]
pub struct CudaGenArgs {
    /// How many uses
    #[arg(long, value_name = "N")]
    pub count: NonZeroU64,
    /// The number of the first one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first: u64,
    /// How many uses a unit holds
    #[arg(long, value_name = "N", default_value = "5000")]
    pub per_unit: NonZeroUsize,
    /// Write unit-SEED-FIRST.cu files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say behind each use what the rule says of it
    #[arg(long)]
    pub expect: bool,
    /// Expect what holds with Microsoft's host compiler
    #[arg(long)]
    pub microsoft: bool,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `cuda run`
#[derive(Args, Debug)]
pub struct CudaRunArgs {
    /// A compiler to test; may be repeated
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = parse_spec)]
    pub subjects: Vec<CompilerSpec>,
    /// Where the report and the findings go
    #[arg(long, value_name = "DIR", default_value = "ptxsmith-out")]
    pub out: PathBuf,
    /// Stop after this many uses [default: 25000; 66000 are the whole table of the generator and some draws]
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub cases: Option<NonZeroU64>,
    /// Stop after this time: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// The number of the first use
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first: u64,
    /// How long a compiler may take for one unit before it counts as hanging
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "2m")]
    pub timeout: Duration,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `cuda check`
#[derive(Args, Debug)]
pub struct CudaCheckArgs {
    /// CUDA C++ sources
    #[arg(value_name = "FILE", required_unless_present = "compile_commands")]
    pub files: Vec<PathBuf>,
    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CudaCheckFormat,
    /// A compile_commands.json, or its directory: flags are taken from there, and without FILE its .cu files
    #[arg(long, value_name = "PATH")]
    pub compile_commands: Option<PathBuf>,
    /// The host compiler is Microsoft's: floating-point types are excepted
    #[arg(long)]
    pub microsoft: bool,
    /// Answer what the rule's text leaves open, QUESTION=ANSWER; may be repeated. Questions: enumeration,
    /// constexpr-variable, long-double, extended-integer, host-compiler, uninstantiated (docs/guide/cuda.md
    /// has the answers)
    #[arg(long = "interpretation", value_name = "QUESTION=ANSWER", value_parser = parse_interpretation)]
    pub interpretations: Vec<(RuleQuestion, bool)>,
    /// The clang to use, a path or a name in PATH [default: clang, else the newest clang-NN]
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
    /// Report violations in the files given and in headers with a path that matches [default: those below the
    /// nearest .git, or below the file's directory]
    #[arg(long, value_name = "REGEX")]
    pub header_filter: Option<String>,
    /// Violations that are expected, and are left out
    #[arg(long, alias = "baseline", value_name = "FILE")]
    pub expect_failures: Option<PathBuf>,
    /// Write the violations that there are now as a file for --expect-failures
    #[arg(long, alias = "write-baseline", value_name = "FILE", conflicts_with = "expect_failures")]
    pub write_expected: Option<PathBuf>,
    /// Write a patch that ends the violations where a copy of the value does as well (patch -p0)
    #[arg(long, value_name = "FILE")]
    pub fix_patch: Option<PathBuf>,
    /// Make these changes in the files
    #[arg(long)]
    pub fix: bool,
    /// How long clang may take for one file
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Flags for clang
    #[arg(last = true, value_name = "FLAG")]
    pub flags: Vec<std::ffi::OsString>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// Parses an interpretation of the checker. The result is true if the answer departs from the literal text.
fn parse_interpretation(text: &str) -> Result<(RuleQuestion, bool), String> {
    let (name, answer) = text.split_once('=').ok_or("it is QUESTION=ANSWER")?;
    let names: Vec<&str> = INTERPRETATIONS.iter().map(|question| question.name()).collect();
    let question = INTERPRETATIONS.into_iter().find(|question| question.name() == name);
    let question = question.ok_or_else(|| format!("the questions are {}", names.join(", ")))?;
    let [literal, other] = question.answers();
    match answer {
        _ if answer == literal => Ok((question, false)),
        _ if answer == other => Ok((question, true)),
        _ => Err(format!("the answers to {name} are {literal} and {other}")),
    }
}

/// How a report of `cuda check` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CudaCheckFormat {
    /// For people
    Text,
    /// ptxsmith.cuda-check/1
    Json,
    /// SARIF 2.1.0
    Sarif,
}
