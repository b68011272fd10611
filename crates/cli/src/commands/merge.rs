//! `ptxsmith merge`: merges the shards of a campaign into one result.

use std::time::Instant;

use ptxsmith_campaign::merge::{MergeOptions, merge};

use super::CommandContext;
use super::run::summed_up;
use crate::args;
use crate::exit::{Exit, Failure};

/// Merges shards and prints the summary.
pub fn run(context: &CommandContext, args: &args::MergeArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    let options = MergeOptions {
        directories: args.directories.clone(),
        out: args.out.clone(),
        replace: args.replace,
        partial: args.partial,
        subjects: args.subjects.clone(),
    };
    let outcome = merge(&context.session(), &options)?;
    summed_up(context, &outcome, Some(&args.out), started, &args::Presentation::default())
}
