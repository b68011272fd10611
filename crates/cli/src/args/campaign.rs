//! Arguments of campaigns: `run`, `merge`, `drift`; and the detection of the shard from the environment.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ptxsmith_campaign::store::Shard;
use ptxsmith_oracle::Question;
use ptxsmith_report::ReportFormat;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::DEFAULT;

use crate::exit::Failure;
use crate::values::{DeniedResult, count, count_or_none, interpretation, subject};
use crate::work::WorkArgs;

use super::generate::ProgramKind;
use super::generate::{focus, focuses};
use super::report::{FullListing, formats};
use crate::values::duration;

fn shard(text: &str) -> Result<Shard, String> {
    read_shard(text).filter(|shard| (1..=shard.of).contains(&shard.number)).ok_or_else(|| {
        format!("`{text}` is not a shard: write K/N with K from 1 to N, such as 1/4 for the first of four")
    })
}

fn read_shard(text: &str) -> Option<Shard> {
    let (number, of) = text.split_once('/')?;
    Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
}

/// Environment variables of job engines: the index of the job, the lowest index, and the number of jobs.
const ENGINES: [(&str, Option<&str>, &str); 4] = [
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"), "SLURM_ARRAY_TASK_COUNT"),
    // Kubernetes does not provide the number of jobs, so the job file must set PTXSMITH_SHARDS.
    ("JOB_COMPLETION_INDEX", None, "PTXSMITH_SHARDS"),
    ("BUILDKITE_PARALLEL_JOB", None, "BUILDKITE_PARALLEL_JOB_COUNT"),
    ("CI_NODE_INDEX", Some("1"), "CI_NODE_TOTAL"),
];

/// Returns the shard set by the environment of a Slurm array task, a Kubernetes Indexed Job, or a CI matrix
/// (GitLab, Buildkite). Without such variables the shard is the whole campaign. GitHub has no such variables:
/// its matrix is passed with `--shard`.
fn from_environment(value_of: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    for (index_name, least_name, count_name) in ENGINES {
        let (Some(index), Some(count)) = (value_of(index_name), value_of(count_name)) else { continue };
        let least = match least_name {
            None => 0,
            Some(fixed) if fixed.bytes().all(|b| b.is_ascii_digit()) => variable_number(index_name, fixed)?,
            Some(name) => value_of(name).map_or(Ok(0), |text| variable_number(name, &text))?,
        };
        let index = variable_number(index_name, &index)?;
        let count = variable_number(count_name, &count)?;
        let Some(position) = index.checked_sub(least).filter(|&position| position < count) else {
            return Err(format!("{index_name} is {index}, with {count} in {count_name}; give --shard"));
        };
        return Ok(Shard { number: position + 1, of: count });
    }
    Ok(Shard::ALL)
}

/// Parses the value of the environment variable `name`.
fn variable_number(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{name} is `{text}`, which is no number; give --shard"))
}

fn subject_help() -> String {
    let default = SubjectSpec::default();
    format!(
        "An implementation to test: {}; may be repeated [default: {default}, release {DEFAULT} where it is \
         installed or no other is there]",
        SubjectSpec::forms()
    )
}

/// The options of every campaign.
#[derive(Args, Debug)]
pub struct CampaignArgs {
    /// An implementation to test; may be repeated
    #[arg(
        long = "subject",
        value_name = "SUBJECT",
        value_parser = subject,
        help = "An implementation to test, such as ptxas@13.5 or exec:CMD; repeatable",
        long_help = subject_help(),
    )]
    pub subjects: Vec<SubjectSpec>,
    /// Stop after this many cases: 5000, 5k, 1e6
    ///
    /// Cases of check are files. [default of run: 250000]
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "time")]
    pub cases: Option<NonZeroU64>,
    /// End within this time, reporting included: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How long an implementation may take for one module before it counts as hanging, and as much again for
    /// each MiB of the module [default: 10s]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// How the result is presented.
    #[command(flatten)]
    pub presentation: Presentation,
    /// Failures that are expected and do not change the status
    ///
    /// A line each, `ID [SUBJECT] [RELEASES] # REASON`. An expected failure that passes makes status 1.
    #[arg(long, value_name = "FILE")]
    pub expect_failures: Option<PathBuf>,
    /// Write the failures that were found as a file for --expect-failures
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub write_expected: Option<PathBuf>,
    /// Known deviations of your own: files in the form of docs/guide/known-deviations.md, and directories of
    /// them; may be repeated
    #[arg(long = "known", hide_short_help = true, value_name = "FILE|DIR")]
    pub known: Vec<PathBuf>,
    /// Answer an open question of the specification; another interpretation of it is a deviation then; may be
    /// repeated
    #[arg(
        long = "interpretation",
        hide_short_help = true,
        value_name = "QUESTION=ANSWER",
        value_parser = interpretation
    )]
    pub interpretations: Vec<(Question, usize)>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// How the result of a campaign is presented, and its status.
#[derive(Args, Debug, Default)]
pub struct Presentation {
    /// Status 1 also for this; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<DeniedResult>,
    /// Print this in full
    #[arg(long, hide_short_help = true, value_name = "WHAT")]
    pub show: Vec<FullListing>,
    /// Print the report in this form instead
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<&'static ReportFormat>,
}

/// `run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The options of every campaign.
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Where report and findings go
    #[arg(long, value_name = "DIR", default_value = "ptxsmith-out")]
    pub out: PathBuf,
    /// What to generate
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "mixed",
        value_parser = focus(),
        hide_possible_values = true,
        long_help = focuses(),
    )]
    pub focus: ProgramKind,
    /// Only this cell of the tables of `--focus places`, or this family of them; may be repeated
    #[arg(long = "cell", hide_short_help = true, value_name = "NAME")]
    pub cells: Vec<String>,
    /// List in the report the result of each subject for each cell of `--focus places`; `atlas` renders it
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with_all = ["exhaustive", "weights", "mutate", "resume", "shard"],
    )]
    pub by_case: bool,
    /// Test all small programs instead, with operators nested up to 1 or 2 deep
    #[arg(
        long,
        value_name = "DEPTH",
        value_parser = clap::value_parser!(u32).range(1..=2),
        conflicts_with_all = ["focus", "weights"],
    )]
    pub exhaustive: Option<u32>,
    /// Weights of the grammar's productions, a line each: NAME = WEIGHT
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Change tokens of these programs instead: delete, double, swap, replace, splice. No implementation may
    /// crash on the result
    #[arg(
        long,
        hide_short_help = true,
        value_name = "FILE|DIR",
        num_args = 1..,
        conflicts_with_all = ["focus", "cells", "weights", "exhaustive", "resume", "shard"],
    )]
    pub mutate: Vec<PathBuf>,
    /// Total time for reducing new findings; 0s disables it [default: a limit on programs run, so reports do
    /// not depend on the machine]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub reduce: Option<Duration>,
    /// Continue the campaign in --out, if it holds one
    ///
    /// Every other argument comes from that campaign; --cases or --time raises its budget.
    #[arg(long)]
    pub resume: bool,
    /// Remove the campaign that --out holds, if it holds one
    #[arg(long, conflicts_with = "resume")]
    pub replace: bool,
    /// Do the K-th of N parts, for `ptxsmith merge`
    ///
    /// [default: the part that a Slurm array, a Kubernetes Indexed Job or a CI matrix names; else all]
    #[arg(long, value_name = "K/N", value_parser = shard)]
    pub shard: Option<Shard>,
}

impl RunArgs {
    /// Returns the shard given by `--shard` or by the environment.
    pub fn shard(&self) -> Result<Shard, Failure> {
        match self.shard {
            Some(shard) => Ok(shard),
            None => from_environment(|name| std::env::var(name).ok()).map_err(Failure::BadInput),
        }
    }
}

/// `merge`
#[derive(Args, Debug)]
pub struct MergeArgs {
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
    /// Your program (exec:, serve: or a path) that the shards tested and that merge may run again; others
    /// named only by the shards are never run
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject)]
    pub subjects: Vec<SubjectSpec>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `drift`
#[derive(Args, Debug)]
pub struct DriftArgs {
    /// The older release: 12.0, nvlink@13.0
    #[arg(long, value_name = "RELEASE", requires = "to")]
    pub from: Option<String>,
    /// The newer one
    #[arg(long, value_name = "RELEASE", requires = "from")]
    pub to: Option<String>,
    /// Every release that is installed, each against the one before it
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub all: bool,
    /// Programs that are tried besides generated ones [default: the cases of ptxsmith's corpus]
    #[arg(long, value_name = "FILE|DIR")]
    pub corpus: Vec<PathBuf>,
    /// How many generated cases are tried [default: 6000; 1000 programs for linkers]
    #[arg(long, value_name = "N", value_parser = count_or_none)]
    pub cases: Option<u64>,
    /// End within this time, with the programs that were tried until then: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Status 1 for a change that a known deviation explains, or for programs that some release did not
    /// compare; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<DeniedResult>,
    /// Where drift.json and drift.md go
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}
