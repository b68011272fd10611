//! A report as text, for a person with ten seconds.
//!
//! The text holds the escape sequences of styles.
//! `anstream` takes them out where it writes to no terminal.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use ptxsmith_syntax::{Item, Module, print};

use crate::harmless::{line, lines};
use crate::{Finding, Operands, Report, Status, clauses, describe, folder};

/// Headings and names.
const BOLD: Style = Style::new().bold();
/// What deviates.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// What conforms.
const GOOD: Style = AnsiColor::Green.on_default();
/// What was expected to differ, and notes.
const NOTE: Style = AnsiColor::Yellow.on_default();

/// The most new findings that are shown; the report has all. Known ones are few by nature.
const MOST_NEW: usize = 10;
/// The most clauses of a finding that are shown.
const MOST_CLAUSES: usize = 4;
/// The most lines of a program that are shown.
const MOST_LINES: usize = 6;
/// The most characters of a line.
const MOST_CHARACTERS: usize = 160;

/// A report, and what only the campaign that has just ended knows.
#[derive(Clone, Copy, Debug)]
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
    pub fn text(&self) -> String {
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
        self.totals(&mut out);
        out
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
                None => say("clause", &line(id)),
            }
        }
        if telling.len() > MOST_CLAUSES {
            say("", &format!("and {} more, which the report has", telling.len() - MOST_CLAUSES));
        }
        for (nth, text) in shown_program(self.report, finding).iter().enumerate() {
            say(if nth == 0 { "program" } else { "" }, text);
        }
        for (nth, text) in describe::expected(finding).iter().enumerate() {
            say(if nth == 0 { "expected" } else { "" }, text);
        }
        // Of one that is gone there is nothing to see.
        if finding.status != Status::Gone {
            for (nth, text) in describe::observed(finding).iter().enumerate() {
                say(if nth == 0 { "actual" } else { "" }, text);
            }
        }
        if !finding.releases.is_empty() {
            say("releases", &line(&self.report.release_map(finding)));
        }
        if let Some(first_seen) = &finding.first_seen {
            say("since", &line(first_seen));
        }
        if let Some(link) = &finding.link {
            say("link", &line(link));
        }
        // Not cut: these are there to be copied.
        for (nth, edit) in finding.edit.iter().flat_map(|edit| edit.lines()).enumerate() {
            let _ = writeln!(out, "    {:<9} {}", if nth == 0 { "edit" } else { "" }, line(edit));
        }
        let _ = writeln!(out, "    repeat    {}\n", line(&finding.repeat));
    }

    /// The share of the grammar that was made, where anything was.
    fn productions(&self) -> String {
        let (productions, pairs) = (&self.report.coverage.productions, &self.report.coverage.pairs);
        match productions.reached {
            0 => String::new(),
            reached => format!(
                ", {reached} of {} productions, {} of {} pairs",
                productions.total, pairs.reached, pairs.total
            ),
        }
    }

    /// What was accepted and what refused, where anything was that must be refused.
    fn confusion(&self, out: &mut String) {
        for subject in &self.report.subjects {
            let (accept, refuse) = (subject.confusion.must_accept, subject.confusion.must_refuse);
            if [refuse.accepted, refuse.refused, refuse.died] == [0; 3] {
                continue;
            }
            let _ = writeln!(
                out,
                "{:<24} {:>10} {:>10} {:>10}",
                line(&subject.label()),
                "accepted",
                "refused",
                "died"
            );
            for (name, fates) in [("  must be accepted", accept), ("  must be refused", refuse)] {
                let [accepted, refused, died] =
                    [fates.accepted, fates.refused, fates.died].map(|fate| HumanCount(fate).to_string());
                let _ = writeln!(out, "{name:<24} {accepted:>10} {refused:>10} {died:>10}");
            }
        }
    }

    fn totals(&self, out: &mut String) {
        let report = self.report;
        for subject in &report.subjects {
            let _ = writeln!(
                out,
                "{BOLD}{}{BOLD:#}: {} {} compared, {GOOD}{} conform{GOOD:#}, {} deviate",
                line(&report.named(&subject.id)),
                HumanCount(subject.compared),
                report.unit(),
                HumanCount(subject.conform),
                HumanCount(subject.compared.saturating_sub(subject.conform)),
            );
            for (reason, count) in &subject.not_compared {
                let _ = writeln!(out, "  not compared, {}: {}", line(reason), HumanCount(*count));
            }
            if !subject.operands.is_empty() {
                let Operands { seen, total } = subject.operands;
                let percent = seen as f64 * 100.0 / total as f64;
                let (seen, total) = (HumanCount(seen), HumanCount(total));
                let _ = writeln!(out, "  operands observed: {seen} of {total} ({percent:.1} %)");
            }
            if subject.compared_by_outcome > 0 {
                let accepted = HumanCount(subject.compared_by_outcome);
                let _ = writeln!(out, "  accepted without showing values, as they should be: {accepted}");
            }
            if subject.variables_not_shown > 0 {
                let unseen = HumanCount(subject.variables_not_shown);
                let _ = writeln!(out, "  not compared, variables not shown beside others that are: {unseen}");
            }
            let followed = counted(report.readings.get(&subject.id));
            if !followed.is_empty() {
                let _ = writeln!(out, "  follows other readings of open questions: {followed}");
            }
        }
        for subject in &report.subjects {
            let confirmed = counted(report.default_readings.get(&subject.id));
            if !confirmed.is_empty() {
                let id = line(&subject.id);
                let _ = writeln!(out, "{id} refuses, as the default reading does: {confirmed}");
            }
        }
        self.confusion(out);
        let (new, gone) = (report.count(Status::New), report.count(Status::Gone));
        let deviations = if report.findings.len() == 1 { "deviation" } else { "deviations" };
        let style = if new + gone > 0 { BAD } else { GOOD };
        let gone = if gone > 0 { format!(", {BAD}{gone} gone{BAD:#}") } else { String::new() };
        let took = self.took.map_or_else(String::new, |took| format!("; {:.1} s", took.as_secs_f64()));
        let _ = writeln!(
            out,
            "{} distinct {deviations}, {style}{new} new{style:#}{gone}; {} of {} clauses reached{}{took}",
            report.findings.len(),
            report.coverage.clauses.reached,
            report.coverage.clauses.total,
            self.productions(),
        );
        if self.interrupted {
            let _ = writeln!(out, "{NOTE}stopped by Ctrl-C{NOTE:#}: this is what was found until then");
        } else if !report.complete {
            let _ = writeln!(out, "{NOTE}incomplete{NOTE:#}: the campaign goes on, or was stopped");
        }
        if let Some(directory) = self.directory {
            let _ = writeln!(
                out,
                "report: {}, findings: {}",
                line(&directory.join(folder::REPORT).to_string_lossy()),
                line(&directory.join(folder::FINDINGS).to_string_lossy()),
            );
            match self.earlier {
                0 => {}
                earlier => {
                    let _ = writeln!(out, "{earlier} of the files there are of earlier campaigns");
                }
            }
        }
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

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
