//! `ptxsmith bundle`: findings for a bug report.

use ptxsmith_campaign::bundle::{Options, Written, bundle};

use super::Context;
use crate::args;
use crate::console::line;
use crate::exit::{Exit, Failure};

/// Writes a folder and an archive for each id.
pub fn run(context: &Context, args: &args::Bundle) -> Result<Exit, Failure> {
    let options = Options { ids: &args.ids, from: &args.from, subjects: &args.subjects, out: &args.out };
    for Written { folder, archive } in bundle(&context.session(), &options)? {
        let (folder, archive) = (folder.to_string_lossy(), archive.to_string_lossy());
        context.console.print(&format!("{} {}\n", line(&folder), line(&archive)))?;
    }
    Ok(Exit::Success)
}
