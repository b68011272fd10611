//! Renders a report as text, so that the most important results can be read in ten seconds.
//!
//! The text contains escape sequences for styles. `anstream` removes them if the output is not a terminal.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Reset, Style};
use askama::Template;
use indicatif::HumanCount;
use ptxsmith_model::{Joined, Place};
use ptxsmith_syntax::{Item, print};

use crate::harmless::{self, count, lines};
use crate::{ExpectedFailure, Fates, Finding, Report, Status, clauses, describe, deviations, severity};

/// For headings and names.
const BOLD: Style = Style::new().bold();
/// For deviations.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// For conforming results.
const GOOD: Style = AnsiColor::Green.on_default();
/// For expected differences, and notes.
const NOTE: Style = AnsiColor::Yellow.on_default();
/// Ends a style.
const END: Reset = Reset;

/// The maximum number of new findings that are shown. The report contains all.
const MOST_NEW: usize = 10;
/// The maximum number of places in the user's files that are shown.
const MOST_PLACES: usize = 200;
/// The maximum number of clauses of a finding that are shown.
const MOST_CLAUSES: usize = 4;
/// The maximum number of lines of a program that are shown.
const MOST_LINES: usize = 6;
/// The maximum number of statements of a long line that are shown.
const MOST_STATEMENTS: usize = 24;
/// The maximum number of characters of a line.
const MOST_CHARACTERS: usize = 160;

/// A report, with the information that is available only at the end of a campaign.
#[derive(Clone, Copy, Debug, Template)]
#[template(path = "totals.txt")]
pub struct Summary<'a> {
    /// The report.
    pub report: &'a Report,
    /// The duration of the campaign.
    pub took: Option<Duration>,
    /// The folder that contains the report and the findings.
    pub directory: Option<&'a Path>,
    /// The number of files of earlier campaigns among the findings in the folder.
    pub earlier: usize,
    /// The signal that ended the campaign, in words.
    pub stopped_by: Option<&'a str>,
    /// The command that resumes the campaign.
    pub resume: Option<&'a str>,
    /// The exit status, if the command is about to exit with it.
    pub status: Option<u8>,
    /// Whether known deviations are shown in full, as new ones are.
    pub known_in_full: bool,
}

impl<'a> Summary<'a> {
    /// Creates the summary of a report that was read from a file.
    pub fn of(report: &'a Report) -> Summary<'a> {
        Summary {
            report,
            took: None,
            directory: None,
            earlier: 0,
            stopped_by: None,
            resume: None,
            status: None,
            known_in_full: false,
        }
    }

    /// Returns the summary as text: the verdict, new findings in full, one line for each known deviation, then the counts.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn text(&self) -> Result<String, askama::Error> {
        let mut out = self.verdict();
        if self.report.command == "check" {
            self.places(&mut out);
        }
        let (known, others): (Vec<&Finding>, Vec<&Finding>) =
            self.report.findings.iter().partition(|found| found.is_known());
        // Expected failures come after new findings.
        let (expected, new): (Vec<&Finding>, Vec<&Finding>) =
            others.into_iter().partition(|found| found.is_expected());
        let in_full: &[&Finding] = if self.known_in_full { &known } else { &[] };
        let shown = new.iter().chain(&expected).take(MOST_NEW).chain(in_full);
        let left = (new.len() + expected.len()).saturating_sub(MOST_NEW);
        if !self.report.findings.is_empty() {
            out.push('\n');
        }
        for (number, found) in (1..).zip(shown) {
            self.finding(&mut out, number, found);
            if number == MOST_NEW && left > 0 {
                let _ = writeln!(out, "    ... and {}\n", self.left_out(new.len(), expected.len()));
            }
        }
        if !self.known_in_full {
            let has_no_line = |found: &&Finding| self.report.command != "check" || found.places.is_empty();
            self.known(&mut out, &known.into_iter().filter(has_no_line).collect::<Vec<_>>());
        }
        self.render_into(&mut out)?;
        Ok(out)
    }

    /// Returns the first line: `60,412 of 60,475 compared; 18 known deviations, 0 new (status 0)`.
    fn verdict(&self) -> String {
        let report = self.report;
        let all = report.compared + report.not_compared.values().sum::<u64>();
        let [new, gone, known] = Status::ALL.map(|status| report.count(status));
        let expected = report.expected_failures();
        let style = if report.needs_attention() { BAD } else { GOOD };
        let deviations = if known == 1 { "deviation" } else { "deviations" };
        let mut verdict = format!("{style}{} of {} compared", HumanCount(report.compared), HumanCount(all));
        let _ = write!(verdict, "; {known} known {deviations}, {new} new");
        for (count, what) in [(gone, "gone"), (expected, "expected")] {
            if count > 0 {
                let _ = write!(verdict, ", {count} {what}");
            }
        }
        if let Some(status) = self.status {
            let _ = write!(verdict, " (status {status})");
        }
        let _ = writeln!(verdict, "{style:#}");
        verdict
    }

    /// Writes one line for each place in the user's files: `file:line:column: class: title [id] (status)`.
    fn places(&self, out: &mut String) {
        let findings = self.report.findings.iter().filter(|found| found.status != Status::Gone);
        let mut places: Vec<(&Place, &Finding)> =
            findings.flat_map(|found| found.places.iter().map(move |place| (place, found))).collect();
        places.sort_by_key(|(place, _)| *place);
        for (place, found) in places.iter().take(MOST_PLACES) {
            let style = if found.needs_attention() { BAD } else { NOTE };
            let (place, title, id) = (line(place.to_string()), line(&found.title), line(&found.id));
            let _ = writeln!(
                out,
                "{place}: {style}{}{style:#}: {} [{id}] ({})",
                found.class,
                cut(&title),
                found.label()
            );
        }
        if places.len() > MOST_PLACES {
            let _ = writeln!(out, "... and {} more places", places.len() - MOST_PLACES);
        }
    }

    /// Writes one line for each known deviation.
    fn known(&self, out: &mut String, known: &[&Finding]) {
        if known.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "Known deviations, how often each shows (`--show known` prints them in full, `ptxsmith explain ID` says what one is):"
        );
        for found in known {
            let (count, class) = (HumanCount(found.count).to_string(), found.class.name());
            let line = line(format!("{count:>9}  {class:<15} {} [{}]", found.title, found.id));
            let _ = writeln!(out, "{}", cut(&line));
        }
        out.push('\n');
    }

    /// Describes how many of the new and of the expected findings are not shown.
    fn left_out(&self, new: usize, expected: usize) -> String {
        let (more, all) = (new.saturating_sub(MOST_NEW), (new + expected).saturating_sub(MOST_NEW));
        let what = match all - more {
            0 => format!("{more} more new ones"),
            expected if more == 0 => format!("{expected} more that are expected"),
            expected => format!("{more} more new ones, and {expected} that are expected"),
        };
        let has = if self.directory.is_some() { "the report has" } else { "a report has (--out)" };
        format!("{what}, which {has}")
    }

    fn finding(&self, out: &mut String, number: usize, finding: &Finding) {
        let is_silent = severity::Severity::of(finding.class) == severity::Severity::SilentlyWrong;
        let style = if finding.needs_attention() || is_silent { BAD } else { NOTE };
        let _ = writeln!(
            out,
            "{number:>2}. {style}{} {}{style:#}: {BOLD}{}{BOLD:#} [{}] ({} {})",
            finding.label(),
            finding.class,
            cut(&line(&finding.title)),
            line(&finding.id),
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
        let expected = finding.expected_failure.as_ref();
        let work_around = deviations::work_around(&finding.id);
        let avoided = work_around.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let reported = |of: &ExpectedFailure| {
            of.link.iter().fold(of.reason.clone(), |text, link| format!("{text} ({link})"))
        };
        // A deviation that is gone was not observed.
        let seen = finding.status != Status::Gone;
        let releases = (!finding.releases.is_empty()).then(|| self.report.release_map(finding));
        let one = |text: Option<&String>| text.map(line).into_iter().collect();
        let neighbour = finding.neighbour.as_deref().map(declarations_of).unwrap_or_default();
        let parts: [(&str, Vec<String>); 9] = [
            ("program", shown_program(self.report, finding)),
            ("expected", describe::expected(finding)),
            ("actual", if seen { describe::observed(finding) } else { Vec::new() }),
            ("conforms", neighbour),
            ("releases", one(releases.as_ref())),
            ("since", one(finding.first_seen.as_ref())),
            ("avoid by", one(avoided.as_ref())),
            ("xfail", one(expected.map(reported).as_ref())),
            ("link", one(finding.link.as_ref())),
        ];
        for (key, texts) in &parts {
            texts.iter().enumerate().for_each(|(nth, text)| say(if nth == 0 { key } else { "" }, text));
        }
        // These lines are not shortened, because users copy them.
        for (nth, edit) in finding.edit.iter().flat_map(|edit| edit.lines()).enumerate() {
            let _ = writeln!(out, "    {:<9} {}", if nth == 0 { "edit" } else { "" }, line(edit));
        }
        let _ = writeln!(out, "    repeat    {}\n", line(finding.repeat_in(self.directory)));
    }
}

/// Renders one finding with its whole program.
pub fn finding(report: &Report, finding: &Finding) -> String {
    let mut out = String::new();
    Summary::of(report).finding(&mut out, 1, finding);
    let _ = writeln!(out, "{}", lines(finding.example().program).trim_end());
    for module in finding.linked.iter().flat_map(|linked| &linked.modules) {
        let _ = writeln!(out, "\nlinked with\n{}", lines(module).trim_end());
    }
    if let Some((relation, other)) = finding.other_program() {
        let _ = writeln!(out, "\n{relation}\n{}", lines(other).trim_end());
    }
    for Joined { id, title, count, because } in &finding.joined {
        let told = format!("joined with {id} ({title}), {count} times, because {because}");
        let _ = writeln!(out, "\n{}", line(told));
    }
    out
}

fn line(text: impl AsRef<str>) -> String {
    harmless::line(text.as_ref()).into_owned()
}

/// Returns the displayed form of a reason why something was not compared. Report files keep an older name.
fn in_words(reason: &str) -> &str {
    match reason {
        "twin-refused" => "valid counterpart refused",
        reason => reason,
    }
}

fn row(name: impl Display, accepted: impl Display, refused: impl Display, died: impl Display) -> String {
    let [accepted, refused, died] = [accepted.to_string(), refused.to_string(), died.to_string()];
    format!("{name:<24} {accepted:>10} {refused:>10} {died:>10}")
}

/// Formats counts as `shift-count=modulo (12), ...`.
fn counted(counts: Option<&std::collections::BTreeMap<String, u64>>) -> String {
    let texts =
        counts.into_iter().flatten().map(|(name, count)| format!("{} ({})", line(name), HumanCount(*count)));
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns the declaration that shows the deviation, or the lines around the one that the error names, without the header.
fn shown_program(report: &Report, finding: &Finding) -> Vec<String> {
    let example = finding.example();
    if let Some(linked) = &finding.linked {
        let modules = [example.program].into_iter().chain(linked.modules.iter().map(String::as_str));
        let shown =
            (1..).zip(modules).map(|(number, text)| format!("{number}: {}", declarations_of(text).join(" ")));
        return shown.collect();
    }
    if let Some(emitted) = &finding.emitted {
        return vec![emitted.declaration.clone()];
    }
    // A user's program contains much that is not relevant.
    if let ("check", Some(failing)) = (&*report.command, example.variable) {
        let mut module = ptxsmith_syntax::parse(example.program).unwrap_or_default().without_header();
        let declares = |item: &Item| item.may_declare(failing);
        if module.items.iter().any(declares) {
            module.items.retain(declares);
            // Printing a large program completely would take longer than judging it.
            module.items.truncate(MOST_LINES);
            return first_lines(&print(&module));
        }
    }
    let is_header = |line: &str| {
        let line = line.trim_start();
        [".version", ".target", ".address_size", "//"].iter().any(|word| line.starts_with(word))
            || line.is_empty()
    };
    let blamed = describe::blamed_line(finding);
    let is_blamed = |nth: usize| blamed == Some(nth + 1);
    let lines_of_header = example.program.lines().enumerate();
    let header = lines_of_header.take_while(|(nth, line)| is_header(line) && !is_blamed(*nth)).count();
    let body: Vec<&str> = example.program.lines().skip(header).collect();
    let (first, last) = match blamed.and_then(|line| line.checked_sub(1 + header)) {
        Some(blamed) if body.len() > MOST_LINES && blamed < body.len() => {
            let first = blamed.saturating_sub(MOST_LINES / 2).min(body.len() - MOST_LINES);
            (first, first + MOST_LINES)
        }
        _ => (0, body.len().min(MOST_LINES)),
    };
    let mut shown = Vec::new();
    if first > 0 {
        shown.push("...".to_owned());
    }
    for text in &body[first..last] {
        // A kernel on one line is shown statement by statement, because every statement may matter.
        match text.chars().count() {
            0..=MOST_CHARACTERS => shown.push(line(text)),
            _ => shown.extend(statements(text).take(MOST_STATEMENTS).map(line)),
        }
    }
    if last < body.len() {
        shown.push("...".to_owned());
    }
    shown
}

fn first_lines(text: &str) -> Vec<String> {
    let mut shown: Vec<String> = lines(text).lines().take(MOST_LINES).map(str::to_owned).collect();
    if text.lines().count() > MOST_LINES {
        shown.push("...".to_owned());
    }
    shown
}

/// Splits a line into statements.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive([';', '{']).map(str::trim).filter(|statement| !statement.is_empty())
}

/// Returns the lines of a short program after its header.
fn declarations_of(program: &str) -> Vec<String> {
    let module = ptxsmith_syntax::parse(program).unwrap_or_default().without_header();
    lines(&print(&module)).lines().take(MOST_LINES).map(str::to_owned).collect()
}

fn cut(text: &str) -> Cow<'_, str> {
    harmless::cut(text, MOST_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::{Diagnostic, Observation, Outcome, Severity};

    fn shown(program: &str, blamed: u32) -> Vec<String> {
        let message = Diagnostic { severity: Severity::Error, line: Some(blamed), message: "no".to_owned() };
        let observed = Observation { diagnostics: vec![message], ..Observation::new(Outcome::Refused) };
        let finding = Finding { program: program.to_owned(), observed, ..Finding::default() };
        let empty =
            r#"{"schema": "ptxsmith.report/1", "subjects": [], "compared": 0, "conform": 0, "findings": []}"#;
        shown_program(&serde_json::from_str(empty).unwrap(), &finding)
    }

    #[test]
    fn a_program_is_shown_around_the_blamed_line() {
        let body: String = (0..40).map(|n| format!(".global .u32 a{n};\n")).collect();
        let lines = shown(&format!("// c\n.version 7.8\n.target sm_80\n{body}"), 24);
        assert_eq!(lines.len(), MOST_LINES + 2);
        assert!(lines.contains(&".global .u32 a20;".to_owned()), "{lines:?}");
        assert_eq!((&*lines[0], lines.last().map(String::as_str)), ("...", Some("...")));
    }

    #[test]
    fn a_blamed_line_of_the_header_is_shown() {
        let lines = shown(".target sm_80\n.version\n7.8\n.global .u32 a;\n", 2);
        assert_eq!(lines, [".version", "7.8", ".global .u32 a;"]);
    }

    #[test]
    fn a_kernel_on_one_long_line_is_shown_by_statements() {
        let statements = "mov.u32 r, 1; ".repeat(12);
        let text = format!(
            ".version 7.8\n.entry k() {{ .reg .u32 r; {statements}ld.u32 r, [99999999999]; ret; }}\n"
        );
        let lines = shown(&text, 2);
        assert!(lines.contains(&"ld.u32 r, [99999999999];".to_owned()), "{lines:?}");
        assert!(lines.iter().all(|line| line.len() < MOST_CHARACTERS));
    }
}
