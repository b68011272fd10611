//! The command line of `ptxsmith emit`.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use ptxsmith_cuda::subjects::{CompilerSpec, parse_spec};
use ptxsmith_emit::gcc;
use ptxsmith_emit::ir::llc;
use ptxsmith_subject::SubjectSpec;

use crate::args::Presentation;
use crate::describe::{CACHE, JUDGED, NO_COLOR, PATH, help};
use crate::values::subject;
use crate::work::{WorkArgs, idle};

/// `emit`
#[derive(Debug, Subcommand)]
pub enum EmitCommand {
    /// Generate globals in CUDA C++ or LLVM IR, compile them to PTX, and report where the PTX differs from
    /// the source
    #[command(mut_arg("libcuda", idle), mut_arg("start", idle), after_long_help = help("\
Each global is printed with its size, its alignment, the offsets of its scalars and a kernel that reads \
them: the oracle compares what
the PTX says each way with the source. Beside that stands what g++ and clang++ of this machine agree on.

Subjects are cicc@RELEASE, nvcc@RELEASE, nvrtc@RELEASE (installed on demand from NVIDIA's public wheels), \
clang@VERSION, clang,
clang:/PATH and gcc@VERSION (g++ with its offload compiler for NVPTX, which prints no kernels). The subjects llc, llc@VERSION and llc:/PATH are shown globals of LLVM's IR: their layout is \
computed from LLVM's rules, and
counts where llc for x86-64 agrees.

Examples:
  ptxsmith emit run --subject nvcc@13.5
  ptxsmith emit run --subject nvcc@13.5 --subject clang@19 --time 10m --seed 7
  ptxsmith emit run --subject llc@19", JUDGED, &[CACHE, PATH, NO_COLOR]))]
    Run(EmitRunArgs),
    /// Check sources of CUDA C++ or LLVM's IR: do their globals arrive in the PTX as the host's compilers lay
    /// them out?
    #[command(mut_arg("libcuda", idle), mut_arg("start", idle))]
    #[command(mut_arg("seed", idle), after_long_help = help("\
A comment `// reads: KERNEL+OFFSET CONTENT` says what a kernel writes to its output buffer: bytes in hex, \
or an address as variable+4. The
sources of findings have them.

Examples:
  ptxsmith emit check tables.cu --subject nvcc@13.5
  ptxsmith emit check ptxsmith-out/findings/*.cu --subject clang@19", JUDGED, &[CACHE, PATH, NO_COLOR]))]
    Check(EmitCheckArgs),
}

impl EmitCommand {
    /// Returns the options of long-running work.
    pub fn work(&self) -> &WorkArgs {
        match self {
            EmitCommand::Run(args) => &args.work,
            EmitCommand::Check(args) => &args.work,
        }
    }
}

/// A subject as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitterSpec {
    /// A compiler of CUDA C++.
    Cuda(CompilerSpec),
    /// A compiler of LLVM's IR.
    Llc(llc::Spec),
    /// GCC's offload compiler of this version.
    Gcc(u32),
}

fn parse_subject(text: &str) -> Result<EmitterSpec, String> {
    if let Some(version) = gcc::parse_spec(text) {
        return Ok(EmitterSpec::Gcc(version));
    }
    match llc::parse_spec(text) {
        Some(spec) => Ok(EmitterSpec::Llc(spec)),
        None => parse_spec(text)
            .map(EmitterSpec::Cuda)
            .map_err(|error| format!("{error}; or gcc@VERSION, llc, llc@VERSION and llc:/PATH")),
    }
}

/// `emit run`
#[derive(Args, Debug)]
pub struct EmitRunArgs {
    /// A compiler to test; may be repeated
    #[arg(
        long = "subject",
        value_name = "SUBJECT",
        value_parser = parse_subject,
        default_value = "nvcc@13.5",
    )]
    pub subjects: Vec<EmitterSpec>,
    /// Where the report and the findings go
    #[arg(long, value_name = "DIR", default_value = "ptxsmith-out")]
    pub out: PathBuf,
    /// Stop after this many globals [default: 5000]
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub cases: Option<NonZeroU64>,
    /// Stop after this time: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// How long a compiler may take for one unit before it counts as hanging
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// An assembler, such as ptxas@13.5, to which every eighth unit of the printed PTX is shown as `check` shows
    /// a file: does the generated code hold what the PTX says?
    #[arg(long, value_name = "SUBJECT", value_parser = subject, conflicts_with = "time")]
    pub assembler: Option<SubjectSpec>,
    /// How the result is presented.
    #[command(flatten)]
    pub presentation: Presentation,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `emit check`
#[derive(Args, Debug)]
pub struct EmitCheckArgs {
    /// Sources of CUDA C++, or of LLVM's IR for llc
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A compiler to test; may be repeated
    #[arg(
        long = "subject",
        value_name = "SUBJECT",
        value_parser = parse_subject,
        default_value = "nvcc@13.5",
    )]
    pub subjects: Vec<EmitterSpec>,
    /// Print the deviations as JSON, each as a finding of `emit run` has it
    #[arg(long)]
    pub json: bool,
    /// How long a compiler may take for one source before it counts as hanging
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}
