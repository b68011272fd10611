//! Renders a report as text, so that the most important results can be read in ten seconds.
//!
//! The text contains escape sequences for styles. `anstream` removes them if the output is not a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Reset, Style};
use askama::Template;
use indicatif::HumanCount;
use ptxsmith_model::{FilePlace, Joined};
use ptxsmith_syntax::print;

use crate::harmless::{self, count, lines};
use crate::severity::DeviationSeverity;
use crate::{
    ExpectedFailure, Finding, OutcomeCounts, Report, Status, SubjectResults, clauses, describe, deviations,
};

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
/// The maximum number of lines of known deviations, so that a summary without news fits on a screen.
const MOST_KNOWN: usize = 24;
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
pub struct TextSummary<'a> {
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

impl<'a> TextSummary<'a> {
    /// Creates the summary of a report that was read from a file.
    pub fn new(report: &'a Report) -> TextSummary<'a> {
        TextSummary {
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

    /// Returns the summary as text: the verdict, new findings in full, one line for each known deviation,
    /// then the counts.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn text(&self) -> Result<String, askama::Error> {
        let mut out = self.verdict();
        if self.report.command == "check" {
            self.write_places(&mut out);
        }
        let (known, others): (Vec<&Finding>, Vec<&Finding>) =
            self.report.findings.iter().partition(|finding| finding.is_known());
        // Expected failures come after new findings.
        let (expected, new): (Vec<&Finding>, Vec<&Finding>) =
            others.into_iter().partition(|finding| finding.is_expected());
        let in_full: &[&Finding] = if self.known_in_full { &known } else { &[] };
        let shown = new.iter().chain(&expected).take(MOST_NEW).chain(in_full);
        let is_cut = new.len() + expected.len() > MOST_NEW;
        if !self.report.findings.is_empty() {
            out.push('\n');
        }
        for (number, finding) in (1..).zip(shown) {
            self.write_finding(&mut out, number, finding);
            if number == MOST_NEW && is_cut {
                let _ = writeln!(out, "    ... and {}\n", self.left_out(new.len(), expected.len()));
            }
        }
        if !self.known_in_full {
            // A finding with places has its lines already.
            let mut without_places = known;
            without_places.retain(|finding| self.report.command != "check" || finding.places.is_empty());
            self.write_known(&mut out, &without_places);
        }
        self.render_into(&mut out)?;
        Ok(out)
    }

    /// Returns the first line: `60,412 of 60,475 compared; 18 known deviations, 0 new (status 0)`.
    fn verdict(&self) -> String {
        let report = self.report;
        let total = report.compared + report.not_compared.values().sum::<u64>();
        let [new, gone, known] = Status::ALL.map(|status| report.count(status));
        let expected = report.expected_failures();
        let style = if report.needs_attention() { BAD } else { GOOD };
        let deviations = if known == 1 { "deviation" } else { "deviations" };
        let mut verdict = format!("{style}{} of {} compared", HumanCount(report.compared), HumanCount(total));
        let _ = write!(verdict, "; {known} known {deviations}, {new} new");
        for (count, status) in [(gone, "gone"), (expected, "expected")] {
            if count > 0 {
                let _ = write!(verdict, ", {count} {status}");
            }
        }
        if let Some(status) = self.status {
            let why = if status == 2 { ": a file cannot be read" } else { "" };
            let _ = write!(verdict, " (status {status}{why})");
        }
        let _ = writeln!(verdict, "{style:#}");
        verdict
    }

    /// Writes one line for each place in the user's files: `file:line:column: class: title [id] (status)`.
    fn write_places(&self, out: &mut String) {
        let mut places: Vec<(&FilePlace, &Finding)> = Vec::new();
        for finding in self.report.findings.iter().filter(|finding| finding.status != Status::Gone) {
            places.extend(finding.places.iter().map(|place| (place, finding)));
        }
        places.sort_by_key(|(place, _)| *place);
        for (place, finding) in places.iter().take(MOST_PLACES) {
            let style = if finding.needs_attention() { BAD } else { NOTE };
            let place = line(place.to_string());
            let title = line(&finding.title);
            let id = line(&finding.id);
            let _ = writeln!(
                out,
                "{place}: {style}{}{style:#}: {} [{id}] ({})",
                finding.class,
                cut(&title),
                finding.label()
            );
        }
        if places.len() > MOST_PLACES {
            let _ = writeln!(out, "... and {} more places", places.len() - MOST_PLACES);
        }
    }

    /// Writes one line for each known deviation.
    fn write_known(&self, out: &mut String, known: &[&Finding]) {
        if known.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "Known deviations, how often each shows (`--show known` prints them in full, `ptxsmith explain ID` says what one is):"
        );
        let left_out = known.len().saturating_sub(MOST_KNOWN);
        for finding in &known[..known.len() - left_out] {
            let count = HumanCount(finding.count).to_string();
            let class = finding.class.name();
            let line = line(format!("{count:>9}  {class:<15} {} [{}]", finding.title, finding.id));
            let _ = writeln!(out, "{}", cut(&line));
        }
        if left_out > 0 {
            let _ = writeln!(out, "           and {left_out} more");
        }
        out.push('\n');
    }

    /// Describes how many of the new and of the expected findings are not shown.
    fn left_out(&self, new: usize, expected: usize) -> String {
        let more_new = new.saturating_sub(MOST_NEW);
        let more_expected = (new + expected).saturating_sub(MOST_NEW) - more_new;
        let left_out = match (more_new, more_expected) {
            (new, 0) => format!("{new} more new ones"),
            (0, expected) => format!("{expected} more that are expected"),
            (new, expected) => format!("{new} more new ones, and {expected} that are expected"),
        };
        let has = if self.directory.is_some() { "the report has" } else { "a report has (--out)" };
        format!("{left_out}, which {has}")
    }

    fn write_finding(&self, out: &mut String, number: usize, finding: &Finding) {
        let is_silent = DeviationSeverity::of_class(finding.class) == DeviationSeverity::SilentlyWrong;
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
        write_clauses(out, finding);
        // A deviation that is gone was not observed.
        let is_observed = finding.status != Status::Gone;
        let releases = (!finding.releases.is_empty()).then(|| self.report.release_map(finding));
        let work_around = deviations::work_around(&finding.id);
        let work_around = work_around.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected_failure = finding.expected_failure.as_ref().map(reason_with_link);
        let parts: [(&str, Vec<String>); 9] = [
            ("program", shown_program(self.report, finding)),
            ("expected", describe::expected(finding)),
            ("actual", if is_observed { describe::observed(finding) } else { Vec::new() }),
            ("conforms", finding.neighbour.as_deref().map(declarations_of).unwrap_or_default()),
            ("releases", releases.iter().map(line).collect()),
            ("since", finding.first_seen.iter().map(line).collect()),
            ("avoid by", work_around.iter().map(line).collect()),
            ("xfail", expected_failure.iter().map(line).collect()),
            ("link", finding.link.iter().map(line).collect()),
        ];
        for (key, texts) in &parts {
            for (index, text) in texts.iter().enumerate() {
                write_field(out, if index == 0 { key } else { "" }, text);
            }
        }
        // These lines are not shortened, because users copy them.
        for (index, edit) in finding.edit.iter().flat_map(|edit| edit.lines()).enumerate() {
            let _ = writeln!(out, "    {:<9} {}", if index == 0 { "edit" } else { "" }, line(edit));
        }
        let _ = writeln!(out, "    repeat    {}\n", line(finding.repeat_in(self.directory)));
    }
}

/// Writes the most informative clauses of a finding.
fn write_clauses(out: &mut String, finding: &Finding) {
    let (ids, _) = clauses::informative_first(&finding.clauses);
    for id in ids.iter().take(MOST_CLAUSES) {
        match clauses::summary(id) {
            Some(summary) => write_field(out, "clause", &format!("{id} ({summary})")),
            None => write_field(out, "clause", &harmless::line(id)),
        }
    }
    if ids.len() > MOST_CLAUSES {
        write_field(out, "", &format!("and {} more, which the report has", ids.len() - MOST_CLAUSES));
    }
}

fn write_field(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "    {key:<9} {}", cut(value));
}

fn reason_with_link(expected: &ExpectedFailure) -> String {
    match &expected.link {
        Some(link) => format!("{} ({link})", expected.reason),
        None => expected.reason.clone(),
    }
}

/// Renders one finding with its whole program.
pub fn finding(report: &Report, finding: &Finding) -> String {
    let mut out = String::new();
    TextSummary::new(report).write_finding(&mut out, 1, finding);
    let _ = writeln!(out, "{}", lines(finding.example().program).trim_end());
    for module in finding.linked.iter().flat_map(|linked| &linked.modules) {
        let _ = writeln!(out, "\nlinked with\n{}", lines(module).trim_end());
    }
    if let Some((relation, other)) = finding.other_program() {
        let _ = writeln!(out, "\n{relation}\n{}", lines(other).trim_end());
    }
    for Joined { id, title, count, because } in &finding.joined {
        let text = format!("joined with {id} ({title}), {count} times, because {because}");
        let _ = writeln!(out, "\n{}", line(text));
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

/// Returns the lines of a table of the outcomes of valid and invalid programs, a row for each subject with enough of
/// them.
fn outcome_table(report: &Report) -> Vec<String> {
    let titles = ["valid: accepted", "refused", "died", "invalid: accepted", "refused", "died"];
    let mut lines = Vec::new();
    for subject in report.subjects.iter().filter(|subject| has_table(subject)) {
        let [accept, refuse] = [subject.confusion.must_accept, subject.confusion.must_refuse];
        let counts = [accept, refuse].map(|counts| [counts.accepted, counts.refused, counts.crashed]);
        let [[a, b, c], [d, e, f]] = counts.map(|counts| counts.map(|number| HumanCount(number).to_string()));
        if lines.is_empty() {
            lines.push(table_row("", titles.map(str::to_owned)));
        }
        lines.push(table_row(&line(subject.label()), [a, b, c, d, e, f]));
    }
    lines
}

fn table_row(name: &str, [a, b, c, d, e, f]: [String; 6]) -> String {
    format!("{name:<24} {a:>15} {b:>10} {c:>10}  {d:>17} {e:>10} {f:>10}")
}

/// Returns the reasons for not comparing that have no further explanation, with their numbers, if there are several.
fn unexplained(subject: &SubjectResults) -> String {
    let reasons = subject.not_compared.iter().filter(|(reason, _)| subject.explanations(reason).is_empty());
    let texts: Vec<String> = reasons
        .map(|(reason, number)| format!("{} {}", HumanCount(*number), line(in_words(reason))))
        .collect();
    if texts.len() > 1 { texts.join(", ") } else { String::new() }
}

/// Formats counts as `shift-count=modulo (12), ...`.
fn counted(counts: Option<&std::collections::BTreeMap<String, u64>>) -> String {
    let texts =
        counts.into_iter().flatten().map(|(name, count)| format!("{} ({})", line(name), HumanCount(*count)));
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns the declaration that shows the deviation, or the lines around the one that the error names,
/// without the header.
fn shown_program(report: &Report, finding: &Finding) -> Vec<String> {
    let example = finding.example();
    if let Some(linked) = &finding.linked {
        let modules = [example.program].into_iter().chain(linked.modules.iter().map(String::as_str));
        let modules = (1..).zip(modules);
        return modules
            .map(|(number, text)| format!("{number}: {}", declarations_of(text).join(" ")))
            .collect();
    }
    if let Some(emitted) = &finding.emitted {
        return vec![emitted.declaration.clone()];
    }
    // A user's program contains much that is not relevant.
    if let ("check", Some(failing)) = (&*report.command, example.variable) {
        let mut module = ptxsmith_syntax::parse(example.program).unwrap_or_default().without_header();
        if module.items.iter().any(|item| item.may_declare(failing)) {
            module.items.retain(|item| item.may_declare(failing));
            // Printing a large program completely would take longer than judging it.
            module.items.truncate(MOST_LINES);
            return first_lines(&print(&module));
        }
    }
    shown_lines(example.program, describe::blamed_line(finding))
}

/// Whether a line belongs to the header of a program, including comments and empty lines.
fn is_header(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty()
        || [".version", ".target", ".address_size", "//"].iter().any(|word| line.starts_with(word))
}

/// Returns the first lines of a program after its header, or the lines around the blamed one. Line numbers
/// start at 1.
fn shown_lines(program: &str, blamed: Option<usize>) -> Vec<String> {
    let numbered = (1..).zip(program.lines());
    let header = numbered.take_while(|(number, line)| is_header(line) && blamed != Some(*number)).count();
    let body: Vec<&str> = program.lines().skip(header).collect();
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
        if text.chars().count() <= MOST_CHARACTERS {
            shown.push(line(text));
        } else {
            shown.extend(statements(text).take(MOST_STATEMENTS).map(line));
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

/// The number of programs from which a subject has a table of what it accepted and refused. Fewer are read one
/// by one.
const LEAST_OF_TABLE: u64 = 20;

/// Whether a table shows what a subject accepted and refused.
fn has_table(subject: &SubjectResults) -> bool {
    let [accept, refuse] = [subject.confusion.must_accept, subject.confusion.must_refuse];
    let sum = |counts: OutcomeCounts| counts.accepted + counts.refused + counts.crashed;
    sum(refuse) > 0 && sum(accept) + sum(refuse) >= LEAST_OF_TABLE
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
