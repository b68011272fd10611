//! `ptxsmith check`: the same judgement on programs that exist already.

use std::time::Instant;

use ptxsmith_campaign::check::{Options, check};
use ptxsmith_campaign::input;

use super::Context;
use super::run::summed_up;
use crate::args;
use crate::exit::{Exit, Failure};

/// Judges every variable of every file.
///
/// A file that cannot be read or parsed is told and left out; the others are judged. The status is then that of bad
/// input, unless a deviation was found, which is the greater news.
pub fn run(context: &Context, args: &args::Check) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut files = input::files(&args.paths)?;
    if let Some(most) = args.campaign.cases {
        files.truncate(usize::try_from(most.get()).unwrap_or(usize::MAX));
    }
    let options = Options {
        files,
        subjects: args.campaign.subjects.clone(),
        timeout: args.campaign.timeout,
        variants: args.variants,
        time: args.campaign.time,
        out: args.out.clone(),
        counterpart: ptxsmith_suite::twin,
    };
    let outcome = check(&context.session(), options)?;
    let exit = summed_up(context, &outcome, args.out.as_deref(), started)?;
    Ok(if outcome.left_out && exit != Exit::Deviation { Exit::BadInput } else { exit })
}
