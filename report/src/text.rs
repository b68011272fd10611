//! A report as text, for a person with ten seconds.
//!
//! The text holds the escape sequences of styles.
//! `anstream` takes them out where it writes to no terminal.

use std::fmt::{Display, Write as _};
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Reset, Style};
use askama::Template;
use indicatif::HumanCount;
use ptxsmith_syntax::{Item, Module, print};

use crate::harmless::{self, count, lines};
use crate::{Fates, Finding, Report, Status, clauses, describe};

/// Headings and names.
const BOLD: Style = Style::new().bold();
/// What deviates.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// What conforms.
const GOOD: Style = AnsiColor::Green.on_default();
/// What was expected to differ, and notes.
const NOTE: Style = AnsiColor::Yellow.on_default();
/// Where a style ends.
const END: Reset = Reset;

/// The most new findings that are shown; the report has all. Known ones are few by nature.
const MOST_NEW: usize = 10;
/// The most clauses of a finding that are shown.
const MOST_CLAUSES: usize = 4;
/// The most lines of a program that are shown.
const MOST_LINES: usize = 6;
/// The most characters of a line.
const MOST_CHARACTERS: usize = 160;

/// A report, and what only the campaign that has just ended knows.
#[derive(Clone, Copy, Debug, Template)]
#[template(path = "totals.txt")]
pub struct Summary<'a> {
    /// The report.
    pub report: &'a Report,
    /// How long it took.
    pub took: Option<Duration>,
    /// The folder where report and findings are.
    pub directory: Option<&'a Path>,
    /// How many files of earlier campaigns are among the findings there.
    pub earlier: usize,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
}

impl<'a> Summary<'a> {
    /// The summary of a report that was read from somewhere.
    pub fn of(report: &'a Report) -> Summary<'a> {
        Summary { report, took: None, directory: None, earlier: 0, interrupted: false }
    }

    /// The summary as text.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn text(&self) -> Result<String, askama::Error> {
        let mut out = String::new();
        let findings = &self.report.findings;
        let new = self.report.count(Status::New);
        let (mut number, mut seen) = (0, 0);
        for found in findings {
            // New ones stand first.
            if found.status == Status::New {
                seen += 1;
                if seen > MOST_NEW {
                    continue;
                }
            }
            number += 1;
            self.finding(&mut out, number, found);
            if number == MOST_NEW && new > MOST_NEW {
                let _ = writeln!(out, "    ... and {} more new ones, which the report has\n", new - MOST_NEW);
            }
        }
        self.render_into(&mut out)?;
        Ok(out)
    }

    fn finding(&self, out: &mut String, number: usize, finding: &Finding) {
        let style = match finding.status {
            Status::New | Status::Gone => BAD,
            Status::Known => NOTE,
        };
        let _ = writeln!(
            out,
            "{number:>2}. {style}{} {}{style:#}: {BOLD}{}{BOLD:#} ({} {})",
            finding.status.name(),
            line(&finding.class),
            line(&finding.title),
            HumanCount(finding.count),
            if finding.count == 1 { "time" } else { "times" },
        );
        let mut say = |key: &str, value: &str| {
            let _ = writeln!(out, "    {key:<9} {}", cut(value));
        };
        let (telling, _) = clauses::telling(&finding.clauses);
        for id in telling.iter().take(MOST_CLAUSES) {
            match clauses::summary(id) {
                Some(summary) => say("clause", &format!("{id} ({summary})")),
                None => say("clause", &harmless::line(id)),
            }
        }
        if telling.len() > MOST_CLAUSES {
            say("", &format!("and {} more, which the report has", telling.len() - MOST_CLAUSES));
        }
        // Of one that is gone there is nothing to see.
        let seen = finding.status != Status::Gone;
        let releases = (!finding.releases.is_empty()).then(|| self.report.release_map(finding));
        let one = |text: Option<&String>| text.map(line).into_iter().collect();
        let neighbour = finding.neighbour.as_deref().map(declarations_of).unwrap_or_default();
        let same_as = finding.same_as.as_deref().map(declarations_of).unwrap_or_default();
        let parts: [(&str, Vec<String>); 8] = [
            ("program", shown_program(self.report, finding)),
            ("same as", same_as),
            ("expected", describe::expected(finding)),
            ("actual", if seen { describe::observed(finding) } else { Vec::new() }),
            ("conforms", neighbour),
            ("releases", one(releases.as_ref())),
            ("since", one(finding.first_seen.as_ref())),
            ("link", one(finding.link.as_ref())),
        ];
        for (key, texts) in &parts {
            texts.iter().enumerate().for_each(|(nth, text)| say(if nth == 0 { key } else { "" }, text));
        }
        // Not cut: these are there to be copied.
        for (nth, edit) in finding.edit.iter().flat_map(|edit| edit.lines()).enumerate() {
            let _ = writeln!(out, "    {:<9} {}", if nth == 0 { "edit" } else { "" }, line(edit));
        }
        let _ = writeln!(out, "    repeat    {}\n", line(&finding.repeat));
    }
}

/// One finding with all of its program.
pub fn finding(report: &Report, finding: &Finding) -> String {
    let mut out = String::new();
    Summary::of(report).finding(&mut out, 1, finding);
    let _ = writeln!(out, "{}", lines(finding.example().program).trim_end());
    if let Some((relation, other)) = finding.other_program() {
        let _ = writeln!(out, "\n{relation}\n{}", lines(other).trim_end());
    }
    out
}

fn line(text: impl AsRef<str>) -> String {
    harmless::line(text.as_ref()).into_owned()
}

fn row(name: impl Display, accepted: impl Display, refused: impl Display, died: impl Display) -> String {
    let [accepted, refused, died] = [accepted.to_string(), refused.to_string(), died.to_string()];
    format!("{name:<24} {accepted:>10} {refused:>10} {died:>10}")
}

/// `shift-count=modulo (12), ...`
fn counted(counts: Option<&std::collections::BTreeMap<String, u64>>) -> String {
    let texts =
        counts.into_iter().flatten().map(|(name, count)| format!("{} ({})", line(name), HumanCount(*count)));
    texts.collect::<Vec<_>>().join(", ")
}

/// The declaration at fault, or the program without its header.
fn shown_program(report: &Report, finding: &Finding) -> Vec<String> {
    let mut module = ptxsmith_syntax::parse(finding.example().program).unwrap_or_default().without_header();
    // A program of the user's holds much else.
    if let ("check", Some(guilty)) = (&*report.command, finding.example().variable) {
        let declares = |item: &Item| item.may_declare(guilty);
        if module.items.iter().any(declares) {
            module.items.retain(declares);
        }
    }
    // Printing all of a large program for six lines of it would take longer than judging it.
    module.items.truncate(MOST_LINES);
    let text = print(&Module { items: module.items });
    let mut shown: Vec<String> = lines(&text).lines().take(MOST_LINES).map(str::to_owned).collect();
    if text.lines().count() > MOST_LINES {
        shown.push("...".to_owned());
    }
    shown
}

/// The lines of a short program behind its header.
fn declarations_of(program: &str) -> Vec<String> {
    let module = ptxsmith_syntax::parse(program).unwrap_or_default().without_header();
    lines(&print(&module)).lines().take(MOST_LINES).map(str::to_owned).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
