//! `ptxsmith merge`: merges the shards of a campaign into one result.

use std::time::Instant;

use ptxsmith_campaign::merge::{Options, merge};

use super::Context;
use super::run::summed_up;
use crate::args;
use crate::exit::{Exit, Failure};

/// Merges shards and prints the summary.
pub fn run(context: &Context, args: &args::Merge) -> Result<Exit, Failure> {
    let started = Instant::now();
    let options = Options {
        directories: args.directories.clone(),
        out: args.out.clone(),
        replace: args.replace,
        partial: args.partial,
        subjects: args.subjects.clone(),
    };
    let outcome = merge(&context.session(), &options)?;
    summed_up(context, &outcome, Some(&args.out), started, &args::Presentation::default())
}
