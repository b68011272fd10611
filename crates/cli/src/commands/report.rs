//! `ptxsmith report`: renders the result of a campaign again.

use std::io;
use std::path::Path;

use anstream::adapter::strip_str;
use ptxsmith_campaign::files::{is_of_full_disk, write_whole};
use ptxsmith_report::against::ReportDifferences;
use ptxsmith_report::folder::{self, Folder};
use ptxsmith_report::history::History;
use ptxsmith_report::{RenderInput, ReportFormat};

use super::{CommandContext, history};
use crate::args;
use crate::console::line;
use crate::exit::{Exit, Failure};
use crate::values::meant;

/// Renders the result in a campaign's folder.
///
/// The exit status is 0, or [`Exit::Deviation`] if `--against` shows an added deviation that is not listed as
/// known.
pub fn run(context: &CommandContext, args: &args::ReportArgs) -> Result<Exit, Failure> {
    let mut folder = read(&args.directory)?;
    // A report that was copied elsewhere has no findings folder.
    if args.directory.join(folder::FINDINGS).is_dir() {
        let (missing, strangers) = folder.count_mismatches(&args.directory);
        if missing + strangers > 0 {
            context.console.note(&format!(
                "the report is not of this folder's findings: {missing} that it has are not there, and \
                 {strangers} files are of none that it has"
            ));
        }
    }
    let against = match &args.against {
        None => None,
        Some(earlier) => {
            let against = ReportDifferences::between(&folder.report, &read(earlier)?.report);
            against.keep_added(&mut folder.report);
            for doubt in &against.doubts {
                context.console.note(doubt);
            }
            Some(against)
        }
    };
    let mut runs = Vec::new();
    if let Some(path) = &args.history {
        let known = History::open_existing(path).map_err(|error| history::failed(path, error))?;
        known.set_first_seen(&mut folder.report).map_err(|error| history::failed(path, error))?;
        runs = known.runs().map_err(|error| history::failed(path, error))?;
    }
    if args.format.for_terminal {
        // Adapt the commands that repeat a finding to the user's current directory.
        let directory =
            if args.directory.is_dir() { Some(&*args.directory) } else { args.directory.parent() };
        for found in &mut folder.report.findings {
            found.repeat = found.repeat_in(directory);
        }
    }
    if let Some(id) = &args.finding {
        keep_only(&mut folder, id)?;
    }
    let only = args.finding.is_some();
    let known_in_full = args.show.contains(&args::FullListing::Known);
    let input = RenderInput { folder: &folder, only, known_in_full, against: against.as_ref(), runs: &runs };
    let rendered = (args.format.render)(&input)?;
    write(context, args.out.as_deref(), args.format, &rendered)?;
    let adds = against.is_some() && folder.report.findings.iter().any(|found| found.needs_attention());
    Ok(if adds { Exit::Deviation } else { Exit::Success })
}

/// Reads a campaign's folder. A folder that cannot be read is bad input.
pub fn read(path: &Path) -> Result<Folder, Failure> {
    Folder::read(path).map_err(|error| Failure::BadInput(error.to_string()))
}

/// Removes all findings except the one with this id, or with an id that uniquely begins with it.
fn keep_only(folder: &mut Folder, id: &str) -> Result<(), Failure> {
    let findings = &mut folder.report.findings;
    let ids: Vec<&str> = findings.iter().map(|found| &*found.id).collect();
    let meant = meant(&ids, id).map_err(Failure::BadInput)?;
    *findings = vec![findings.swap_remove(meant)];
    Ok(())
}

/// Writes a rendered report to a file or to standard output. A form for people loses its styles in a file; a
/// form for machines is written unchanged.
fn write(
    context: &CommandContext,
    out: Option<&Path>,
    format: &ReportFormat,
    rendered: &str,
) -> Result<(), Failure> {
    match out {
        Some(out) => {
            // Remove colors and styles from text that is written to a file.
            let text =
                if format.for_terminal { strip_str(rendered).to_string() } else { rendered.to_owned() };
            write_whole(out, text.as_bytes()).map_err(|error| {
                if is_of_full_disk(&error) {
                    return error.into();
                }
                // Do not mention the path of the temporary file in the error message.
                let why = error.chain().last().map(ToString::to_string).unwrap_or_default();
                let why = why.split(" at path ").next().unwrap_or_default();
                let name = out.to_string_lossy();
                Failure::BadInput(format!("cannot write {}: {why}; give another --out", line(&name)))
            })
        }
        None => {
            let written = if format.for_terminal {
                context.console.print(rendered)
            } else {
                // Write machine-readable formats unchanged: the program that reads them needs every byte.
                io::Write::write_all(&mut io::stdout().lock(), rendered.as_bytes())
            };
            match written {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(()),
            }
        }
    }
}
