//! `ptxsmith gpu`: what a GPU holds, on a machine that has a driver and nothing else.
//!
//! Everything that needs releases of ptxas is made beforehand ([`prepare`]): modules whose kernels check their own variables,
//! and cubins of them. Where the GPU is, the driver is given both ([`measure`]), and what comes back is judged as everywhere.

mod measure;
mod prepare;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use ptxsmith_oracle::Variable;
use ptxsmith_subject::toolchain::Release;
use ptxsmith_suite::selfcheck::{self, SelfCheck};

use super::Context;
use crate::exit::{Exit, Failure};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Gpu {
    /// Make modules with kernels that check their variables, and cubins of them
    #[command(after_help = "Example:\n  ptxsmith gpu prepare --out prepared/ --release 13.5 --target sm_90")]
    Prepare(Prepare),
    /// Read the variables back from a GPU, run the kernels, and tell what differs
    #[command(after_help = "Example:\n  ptxsmith gpu run prepared/ --json gpu.json --markdown gpu.md")]
    Run(Run),
}

/// `gpu prepare`
#[derive(clap::Args, Debug)]
pub struct Prepare {
    /// The folder that goes to the machine with the GPU
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// How many modules, each of some hundred variables
    #[arg(long, value_name = "N", default_value = "400")]
    pub modules: NonZeroU32,
    /// A release of ptxas that makes cubins, installed where it is missing; may be repeated
    #[arg(long = "release", value_name = "RELEASE", required = true, value_parser = Release::find)]
    pub releases: Vec<&'static Release>,
    /// A target that cubins are made for: a device runs those of its generation up to its own; may be repeated
    #[arg(long = "target", value_name = "SM", default_values = ["sm_80", "sm_90"])]
    pub targets: Vec<String>,
}

/// `gpu run`
#[derive(clap::Args, Debug)]
pub struct Run {
    /// What `gpu prepare` made
    #[arg(value_name = "DIR")]
    pub prepared: PathBuf,
    /// Write the result there as JSON (ptxsmith.gpu/1)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the result there as a table
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Stop after this time with what was measured so far
    #[arg(long, value_name = "TIME", default_value = "9m", value_parser = humantime::parse_duration)]
    pub time: Duration,
}

/// Does it.
pub fn run(context: &Context, args: &Gpu) -> Result<Exit, Failure> {
    match args {
        Gpu::Prepare(args) => prepare::run(context, args),
        Gpu::Run(args) => measure::run(context, args),
    }
}

/// Variables that one kernel checks: a kernel stops at its first mismatch, so that one wrong variable hides no more than these.
const CHECKED_AT_ONCE: usize = 10;

/// The kernels that check these variables, with the names that they have in a prepared module.
fn kernels(variables: &[Variable]) -> Vec<(String, SelfCheck)> {
    let space_of = |name: &str| variables.iter().find(|v| v.name == name).map(|v| v.space);
    let named = |(index, some): (usize, &[Variable])| {
        let name = format!("check_{index}");
        let kernel = selfcheck::kernel(&name, some, space_of);
        (name, kernel)
    };
    variables.chunks(CHECKED_AT_ONCE).enumerate().map(named).collect()
}
