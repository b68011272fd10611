//! Arguments of commands that work on existing programs: `eval`, `lint`, `check`, `reduce`, `bundle`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ptxsmith_campaign::reducing::ExpectedDeviation;
use ptxsmith_oracle::Question;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::Release;

use crate::values::{DeniedResult, InputBytes, bytes, interpretation, subject};
use crate::work::WorkArgs;

use super::campaign::CampaignArgs;
use crate::values::duration;

/// `eval`
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// The PTX file; - reads standard input
    pub file: PathBuf,
    /// Further modules of the program: evaluate the variables of all, linked
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["json", "clauses", "input", "expect"],
    )]
    pub link: Vec<PathBuf>,
    /// Print JSON (ptxsmith.module/1)
    #[arg(long)]
    pub json: bool,
    /// Print the clauses that say so
    #[arg(long)]
    pub clauses: bool,
    /// Answer an open question of the specification otherwise than by default; may be repeated
    #[arg(long = "interpretation", alias = "reading", value_name = "QUESTION=ANSWER", value_parser = interpretation)]
    pub interpretations: Vec<(Question, usize)>,
    /// Also evaluate kernels of an input buffer, which holds these bytes, and an output buffer
    #[arg(long, value_name = "HEX", value_parser = bytes)]
    pub input: Option<InputBytes>,
    /// Status 1 if the answer is another
    ///
    /// Status 3 if the specification does not decide.
    #[arg(long, value_name = "ANSWER")]
    pub expect: Option<ExpectedValidity>,
}

/// `lint`
#[derive(Args, Debug)]
pub struct LintArgs {
    /// PTX files, and directories of them; - reads standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// How the result is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: LintFormat,
    /// Status 1 also for this; may be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<DeniedResult>,
    /// Do not warn of this listed deviation; may be repeated. A comment `// ptxsmith: allow ID` allows it on
    /// its line and the next
    #[arg(long, value_name = "ID")]
    pub allow: Vec<String>,
    /// Only what this release of ptxas shows; may be repeated [default: every listed release]
    #[arg(long = "release", value_name = "RELEASE", value_parser = Release::find)]
    pub releases: Vec<&'static Release>,
    /// Known deviations of your own: files in the form of docs/guide/known-deviations.md, and directories of
    /// them; may be repeated
    #[arg(long = "known", hide_short_help = true, value_name = "FILE|DIR")]
    pub known: Vec<PathBuf>,
}

/// The output formats of `lint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// FILE:LINE:COLUMN: warning: ..., with the id, as compilers write it
    Text,
    /// ptxsmith.lint/1
    Json,
    /// SARIF 2.1.0
    Sarif,
}

/// The answers that `eval --expect` tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExpectedValidity {
    /// Nothing is refused, and every variable is judged
    Accepted,
    /// The specification refuses a part
    Refused,
    /// Every part is judged: variables, instructions, header
    Valid,
}

/// `check`
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// PTX files, and directories of them; - reads standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// The options of every campaign.
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Verify the expectations in the leading comments of the files
    ///
    /// As the cases of the corpus do; status 2 where something does not hold. Without --subject nothing else
    /// is done, and no implementation is needed.
    #[arg(long)]
    pub expectations: bool,
    /// Judge the files as modules of a single program, which the subjects link in every order:
    /// nvlink@RELEASE, nvjitlink@RELEASE
    #[arg(long, conflicts_with_all = ["expectations", "by_case", "out"])]
    pub link: bool,
    /// List in the report the result of each subject for each file; `atlas` renders it
    #[arg(long, hide_short_help = true, requires = "out")]
    pub by_case: bool,
    /// Write report and findings here
    ///
    /// [default: nowhere; the summary is printed]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Remove the campaign that --out holds, if it holds one
    #[arg(long, hide_short_help = true, requires = "out")]
    pub replace: bool,
}

/// `reduce`
#[derive(Args, Debug)]
pub struct ReduceArgs {
    /// The PTX file; - reads standard input
    pub file: PathBuf,
    /// The implementation that shows the deviation [default: ptxas]
    ///
    /// ptxas, ptxas@RELEASE, ptxas:/PATH, exec:CMD ARGS
    #[arg(long, value_name = "SUBJECT", value_parser = subject, conflicts_with = "command")]
    pub subject: Vec<SubjectSpec>,
    /// The deviation to keep, where there are several
    ///
    /// Its class, the name of a known or suspected one, or QUESTION=ANSWER.
    #[arg(long, value_name = "VERDICT", value_parser = ExpectedDeviation::parse, conflicts_with = "command")]
    pub expect: Option<ExpectedDeviation>,
    /// Keep also which of these subjects deviate: ptxas@all, or several
    #[arg(
        long,
        hide_short_help = true,
        value_name = "SUBJECT",
        value_parser = subject,
        num_args = 1..,
        conflicts_with_all = ["command", "text"],
    )]
    pub same_on: Vec<SubjectSpec>,
    /// Interestingness test: keep a candidate when `CMD FILE` exits with 0
    ///
    /// It gets the program's file as its last argument.
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// Reduce lines, tokens and characters: for files that are not PTX
    #[arg(long)]
    pub text: bool,
    /// Known deviations of your own: files in the form of docs/guide/known-deviations.md, and directories of
    /// them; may be repeated
    #[arg(long = "known", hide_short_help = true, value_name = "FILE|DIR")]
    pub known: Vec<PathBuf>,
    /// Where the result goes [default: FILE.reduced.ptx]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Stop after this time with the best so far: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How long the implementation, or the command, may take for one program [default: 10s]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `bundle`
#[derive(Args, Debug)]
pub struct BundleArgs {
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
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}
