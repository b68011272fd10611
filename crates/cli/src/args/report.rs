//! Arguments of commands that show results: `report`, `history`.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use ptxsmith_report::{FORMATS, ReportFormat};

use crate::values::since;

/// The parts of a report that `--show` prints in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FullListing {
    /// Known deviations
    Known,
}

/// `report`
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The folder of a campaign, or its report.json
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The form
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].name, value_parser = formats())]
    pub format: &'static ReportFormat,
    /// Print this in full
    #[arg(long, value_name = "WHAT")]
    pub show: Vec<FullListing>,
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

/// Parses the name of a report format.
pub(super) fn formats() -> impl TypedValueParser<Value = &'static ReportFormat> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(values).try_map(|name| ReportFormat::from_name(&name).ok_or("no format"))
}

/// `explain`
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The id of a listed deviation, a clause, a section of the specification, or an ambiguity
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// `history`
#[derive(Args, Debug)]
pub struct HistoryArgs {
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

/// `atlas`
#[derive(Args, Debug)]
pub struct AtlasArgs {
    /// The folders of campaigns, or their report.json; `check --by-case` and `run --focus places --by-case`
    /// have programs
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where the pages go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Remove the atlas that --out holds, if it holds one
    #[arg(long)]
    pub replace: bool,
}
