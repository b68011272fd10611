//! `ptxsmith bundle`: packs findings for a bug report.

use ptxsmith_campaign::bundle::{BundleOptions, WrittenBundle, bundle};
use ptxsmith_diff::known::KNOWN;

use super::CommandContext;
use crate::args;
use crate::console::line;
use crate::exit::{Exit, Failure};
use crate::values::did_you_mean;

/// Writes a directory and an archive for each id.
pub fn run(context: &CommandContext, args: &args::BundleArgs) -> Result<Exit, Failure> {
    let options =
        BundleOptions { ids: &args.ids, from: &args.from, subjects: &args.subjects, out: &args.out };
    let bundles =
        bundle(&context.session(), &options).map_err(|failure| with_suggestions(failure, &args.ids))?;
    for WrittenBundle { folder, archive } in bundles {
        let folder = folder.to_string_lossy();
        let archive = archive.to_string_lossy();
        context.console.print(&format!("{} {}\n", line(&folder), line(&archive)))?;
    }
    Ok(Exit::Success)
}

/// Adds a similar listed deviation for each id that is not listed to an error of the user.
fn with_suggestions(failure: Failure, ids: &[String]) -> Failure {
    let Failure::BadInput(mut message) = failure else { return failure };
    for id in ids.iter().filter(|id| KNOWN.iter().all(|known| known.id != **id)) {
        message += &did_you_mean(id, KNOWN.iter().map(|known| known.id));
    }
    Failure::BadInput(message)
}
