//! `ptxsmith history`: campaigns in one database, and what they say together.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use indicatif::HumanCount;
use ptxsmith_report::Status;
use ptxsmith_report::folder::Folder;
use ptxsmith_report::history::{Entered, History, HistoryError, Run, Seen, date, minute};

use super::Context;
use crate::args;
use crate::console::{BAD, BOLD, NOTE, line};
use crate::exit::{Exit, Failure};

/// Enters campaigns, then answers what was asked.
pub fn run(context: &Context, args: &args::History) -> Result<Exit, Failure> {
    let failed = |error| failed(&args.database, error);
    let mut history = match args.add.is_empty() {
        true => History::open_existing(&args.database),
        false => History::open(&args.database),
    }
    .map_err(failed)?;
    for directory in &args.add {
        let folder = Folder::read(directory).map_err(|error| Failure::BadInput(error.to_string()))?;
        let name = directory.to_string_lossy();
        let entered = history.enter(&folder, &name, SystemTime::now()).map_err(failed)?;
        context.console.note(&match entered {
            Entered::Added => format!("{name} is entered"),
            Entered::Replaced => format!("{name} was entered before, and is replaced"),
        });
    }
    let (runs, findings) = (history.runs().map_err(failed)?, history.findings().map_err(failed)?);
    let text = match (&args.finding, args.since) {
        (Some(id), _) => one(&runs, &findings, id)?,
        (None, Some(since)) => since_then(&runs, &findings, since),
        (None, None) => all(&runs),
    };
    context.console.print(&text)?;
    Ok(Exit::Success)
}

/// A database that cannot be used is the user's to mend: it is named, missing, locked, or something else.
pub fn failed(path: &Path, error: HistoryError) -> Failure {
    Failure::BadInput(format!("{}: {error}", path.display()))
}

fn campaigns(count: usize) -> String {
    format!("{count} {}", if count == 1 { "campaign" } else { "campaigns" })
}

fn all(runs: &[Run]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{BOLD}{:>4}  {:<16}  {:>12}  {:>5}  {:>5}  {:>5}  subjects{BOLD:#}",
        "run", "started (UTC)", "compared", "new", "gone", "known"
    );
    for run in runs {
        let _ = write!(
            out,
            "{:>4}  {:<16}  {:>12}  {:>5}  {:>5}  {:>5}  {}",
            run.number,
            minute(run.started),
            HumanCount(run.compared).to_string(),
            run.count(Status::New),
            run.count(Status::Gone),
            run.count(Status::Known),
            line(&run.subjects.join(" ")),
        );
        let _ = if run.complete { writeln!(out) } else { writeln!(out, "  {NOTE}incomplete{NOTE:#}") };
    }
    let incomplete = runs.iter().filter(|run| !run.complete).count();
    let _ = writeln!(out, "{}, {incomplete} incomplete", campaigns(runs.len()));
    out
}

fn one(runs: &[Run], findings: &[Seen], id: &str) -> Result<String, Failure> {
    let Some(seen) = findings.iter().find(|seen| seen.id == id) else {
        return Err(Failure::BadInput(format!("no campaign saw a finding `{id}`")));
    };
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}: {}", line(&seen.id), line(&seen.title));
    let _ = writeln!(out, "  {}, now {}", line(&seen.class), line(&seen.status));
    let _ = writeln!(out, "  first seen {}, last seen {}", minute(seen.first), minute(seen.last));
    let _ = writeln!(out, "  in {} of {}:", seen.runs.len(), campaigns(runs.len()));
    let saw: BTreeSet<i64> = seen.runs.iter().copied().collect();
    for run in runs.iter().filter(|run| saw.contains(&run.number)) {
        let _ = writeln!(out, "  {:>4}  {}  {}", run.number, minute(run.started), line(&run.folder));
    }
    Ok(out)
}

fn since_then(runs: &[Run], findings: &[Seen], since: SystemTime) -> String {
    let mut out = String::new();
    let first: Vec<&Seen> = findings.iter().filter(|seen| seen.first >= since).collect();
    let _ = writeln!(out, "{BOLD}first seen since {}{BOLD:#}: {}", minute(since), first.len());
    for seen in first {
        let style = if seen.status == "new" { BAD } else { NOTE };
        let (status, class) = (line(&seen.status), line(&seen.class));
        let _ = writeln!(
            out,
            "  {}  {style}{status} {class}{style:#}: {} ({})",
            date(seen.first),
            line(&seen.title),
            line(&seen.id)
        );
    }
    let then: Vec<&Run> = runs.iter().filter(|run| run.started >= since).collect();
    let incomplete: Vec<String> =
        then.iter().filter(|run| !run.complete).map(|run| run.number.to_string()).collect();
    let _ = write!(out, "{} since then", campaigns(then.len()));
    let _ = match incomplete.is_empty() {
        true => writeln!(out, ", all complete"),
        false => writeln!(out, ", {NOTE}incomplete{NOTE:#}: {}", incomplete.join(", ")),
    };
    out
}
