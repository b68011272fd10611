//! `ptxsmith bundle`: packs findings for a bug report.

use ptxsmith_campaign::bundle::{Options, Written, bundle};
use ptxsmith_diff::known::KNOWN;

use super::Context;
use crate::args;
use crate::console::line;
use crate::exit::{Exit, Failure};
use crate::values::did_you_mean;

/// Writes a directory and an archive for each id.
pub fn run(context: &Context, args: &args::Bundle) -> Result<Exit, Failure> {
    let options = Options { ids: &args.ids, from: &args.from, subjects: &args.subjects, out: &args.out };
    // Suggest a similar listed deviation for each id that is not listed.
    let hint = |failure| match failure {
        Failure::BadInput(message) => {
            let ids = args.ids.iter().filter(|id| KNOWN.iter().all(|known| known.id != **id));
            let near = ids.map(|id| did_you_mean(id, KNOWN.iter().map(|known| known.id)));
            Failure::BadInput(message + &near.collect::<String>())
        }
        failure => failure,
    };
    for Written { folder, archive } in bundle(&context.session(), &options).map_err(hint)? {
        let (folder, archive) = (folder.to_string_lossy(), archive.to_string_lossy());
        context.console.print(&format!("{} {}\n", line(&folder), line(&archive)))?;
    }
    Ok(Exit::Success)
}
