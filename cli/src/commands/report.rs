//! `ptxsmith report`: the result of a campaign, rendered again.

use std::io;
use std::path::Path;

use anstream::adapter::strip_str;
use ptxsmith_campaign::files::write_whole;
use ptxsmith_report::against::Against;
use ptxsmith_report::folder::Folder;
use ptxsmith_report::history::{History, Run};
use ptxsmith_report::text::Summary;
use ptxsmith_report::{html, junit, markdown, sarif, text};

use super::{Context, history};
use crate::args::{self, Format};
use crate::console::line;
use crate::exit::{Exit, Failure};
use crate::values::did_you_mean;

/// The most ids that are named to somebody who asked for another.
const MOST_IDS: usize = 20;

/// Renders a campaign's folder.
///
/// The status is 0, but that of [`Exit::Deviation`] where `--against` shows that something was added which nothing
/// listed explains.
pub fn run(context: &Context, args: &args::Report) -> Result<Exit, Failure> {
    let mut folder = read(&args.directory)?;
    let against = match &args.against {
        None => None,
        Some(earlier) => {
            let against = Against::of(&folder.report, &read(earlier)?.report);
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
        known.tell_first_seen(&mut folder.report).map_err(|error| history::failed(path, error))?;
        runs = known.runs().map_err(|error| history::failed(path, error))?;
    }
    if let Some(id) = &args.finding {
        keep_only(&mut folder, id)?;
    }
    let mut rendered = render(&folder, args.format, args.finding.is_some(), against.as_ref(), &runs)?;
    if let (Some(against), Format::Text) = (&against, args.format) {
        rendered.push_str(&against.text());
        rendered.push('\n');
    }
    write(context, args.out.as_deref(), args.format, &rendered)?;
    let adds = against.is_some() && folder.report.findings.iter().any(|found| found.status.needs_attention());
    Ok(if adds { Exit::Deviation } else { Exit::Success })
}

/// Reads a folder; that it cannot be read is the user's to mend.
pub fn read(path: &Path) -> Result<Folder, Failure> {
    Folder::read(path).map_err(|error| Failure::BadInput(error.to_string()))
}

fn render(
    folder: &Folder,
    format: Format,
    only: bool,
    against: Option<&Against>,
    runs: &[Run],
) -> Result<String, Failure> {
    let report = &folder.report;
    let lines = |json: serde_json::Result<String>| json.map(|text| text + "\n");
    Ok(match format {
        Format::Text if only => report.findings.iter().map(|found| text::finding(report, found)).collect(),
        Format::Text => Summary::of(report).text()?,
        Format::Json => lines(serde_json::to_string_pretty(report))?,
        Format::Markdown if only => {
            report.findings.iter().map(|found| markdown::bundle(folder, found)).collect::<Result<_, _>>()?
        }
        Format::Markdown => markdown::summary(folder, against)?,
        Format::Junit => junit::junit(report)?,
        Format::Sarif => lines(serde_json::to_string_pretty(&sarif::sarif(report)))?,
        Format::Html => html::page(folder, runs)?,
    })
}

/// Leaves one finding: that of this id, or of the only id that begins so.
fn keep_only(folder: &mut Folder, id: &str) -> Result<(), Failure> {
    let findings = &mut folder.report.findings;
    let ids: Vec<&str> = findings.iter().map(|found| &*found.id).collect();
    let meant = meant(&ids, id)?;
    *findings = vec![findings.swap_remove(meant)];
    Ok(())
}

/// The place of the id that is meant: the id itself, or the only one that begins so.
pub fn meant(ids: &[&str], id: &str) -> Result<usize, Failure> {
    let places = |is_meant: &dyn Fn(&str) -> bool| {
        ids.iter().enumerate().filter(|(_, of)| is_meant(of)).map(|(nth, _)| nth).collect::<Vec<_>>()
    };
    let exact = places(&|of| of == id);
    let meant = if exact.is_empty() { places(&|of| of.starts_with(id)) } else { exact };
    if let [only] = meant[..] {
        return Ok(only);
    }
    let shown: Vec<&str> = ids.iter().copied().take(MOST_IDS).collect();
    let there = match (shown.len(), ids.len()) {
        (0, _) => "there is none".to_owned(),
        (shown_count, all) if shown_count < all => {
            format!("there are {} and {} more", shown.join(", "), all - shown_count)
        }
        _ => format!("there are {}", shown.join(", ")),
    };
    let problem = if meant.is_empty() { "no finding" } else { "more than one finding" };
    let hint = if meant.is_empty() { did_you_mean(id, ids.iter().copied()) } else { String::new() };
    Err(Failure::BadInput(format!("{problem} `{id}`; {there}{hint}")))
}

fn write(context: &Context, out: Option<&Path>, format: Format, rendered: &str) -> Result<(), Failure> {
    match out {
        Some(out) => {
            // A file holds no styles.
            let text =
                if format == Format::Text { strip_str(rendered).to_string() } else { rendered.to_owned() };
            write_whole(out, text.as_bytes()).map_err(|error| {
                // Not the name of a file that is there for a moment.
                let why = error.chain().last().map(ToString::to_string).unwrap_or_default();
                let why = why.split(" at path ").next().unwrap_or_default();
                let name = out.to_string_lossy();
                Failure::BadInput(format!("cannot write {}: {why}; give another --out", line(&name)))
            })
        }
        None => match format {
            Format::Text => context.console.print(rendered),
            // As it is: what is no text for a terminal is for a program, which wants every byte.
            _ => io::Write::write_all(&mut io::stdout().lock(), rendered.as_bytes()),
        }
        .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
        .map_err(Failure::from),
    }
}
