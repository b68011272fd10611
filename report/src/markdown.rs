//! A report as Markdown: the bundle to report one finding with, or a summary for a pull request.
//!
//! Texts of subjects and programs go into code, whose fence is longer than any that they hold, or are escaped.

use std::fmt::Write as _;

use indicatif::HumanCount;

use crate::against::Against;
use crate::folder::Folder;
use crate::harmless::{line, lines};
use crate::{Finding, Report, Status, clauses, describe};

/// The most findings that a summary lists.
const MOST_FINDINGS: usize = 100;

/// All that somebody needs who is to mend what one finding shows.
pub fn bundle(folder: &Folder, finding: &Finding) -> String {
    let report = &folder.report;
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", text(&finding.title));
    let _ = writeln!(
        out,
        "{} · {} · `{}` · seen {} {}\n",
        finding.status.name(),
        text(&finding.class),
        code_safe(&finding.id),
        HumanCount(finding.count),
        if finding.count == 1 { "time" } else { "times" },
    );
    if let Some(link) = &finding.link {
        let _ = writeln!(out, "Reported: {}\n", span(link));
    }
    let _ = writeln!(out, "## Program\n\n{}", block("ptx", finding.example().program));
    if let Some((relation, other)) = finding.other_program() {
        let _ = writeln!(out, "{relation}:\n\n{}", block("ptx", other));
    }
    let _ = writeln!(out, "## Command\n\n{}", block("sh", &finding.repeat));
    let _ = writeln!(out, "## Expected\n");
    for id in &finding.clauses {
        let _ = match clauses::summary(id) {
            Some(summary) => {
                writeln!(out, "- PTX ISA, section {}, `{id}`: {}", clauses::section(id), text(summary))
            }
            None => writeln!(out, "- {}", span(id)),
        };
    }
    if !finding.clauses.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", block("text", &describe::expected(finding).join("\n")));
    let _ = writeln!(out, "## Actual\n");
    let shown: Vec<String> = finding.subjects.iter().map(|id| span(&report.named(id))).collect();
    if !shown.is_empty() {
        let _ = writeln!(out, "{}\n", shown.join(", "));
    }
    if finding.status == Status::Gone {
        let _ = writeln!(out, "The listed deviation no longer shows.\n");
        if let Some(edit) = &finding.edit {
            let _ = writeln!(out, "{}", block("diff", edit));
        }
    } else {
        let _ = writeln!(out, "{}", block("text", &describe::observed(finding).join("\n")));
    }
    if !finding.releases.is_empty() {
        let _ = writeln!(out, "## Releases\n\n{}\n", text(&report.release_map(finding)));
    }
    environment(&mut out, folder, finding);
    out
}

fn environment(out: &mut String, folder: &Folder, finding: &Finding) {
    let report = &folder.report;
    let _ = writeln!(out, "## Environment\n");
    let _ = writeln!(out, "- ptxsmith {}, seed {}", text(&report.ptxsmith), report.seed);
    for subject in report.subjects.iter().filter(|subject| finding.subjects.contains(&subject.id)) {
        let _ = write!(out, "- {}", span(&report.named(&subject.id)));
        if let Some(sha256) = &subject.sha256 {
            let _ = write!(out, ", SHA-256 {}", span(sha256));
        }
        out.push('\n');
    }
    if let Some(manifest) = &folder.manifest {
        let machine = &manifest.machine;
        if !manifest.build.is_empty() {
            let _ = writeln!(out, "- build {}", span(&manifest.build));
        }
        let _ = writeln!(out, "- {}, {}, {} threads", text(&machine.os), text(&machine.cpu), machine.cores);
        let _ = writeln!(out, "- campaign of {}", text(&manifest.started));
    }
    if let Some(first_seen) = &finding.first_seen {
        let _ = writeln!(out, "- first seen {}", text(first_seen));
    }
}

/// What the campaign found, short enough for a comment; of a report that was narrowed to what a change adds, with how it
/// differs from the campaign before.
pub fn summary(folder: &Folder, against: Option<&Against>) -> String {
    let report = &folder.report;
    let mut out = String::new();
    let (new, gone) = (report.count(Status::New), report.count(Status::Gone));
    let adds = if against.is_some() { "the change adds " } else { "" };
    let _ = writeln!(out, "# ptxsmith: {adds}{}\n", headline(report));
    if let Some(against) = against {
        let _ = writeln!(out, "{}.\n", against.text());
        for doubt in &against.doubts {
            let _ = writeln!(out, "- {doubt}");
        }
        if !against.doubts.is_empty() {
            out.push('\n');
        }
    }
    if !report.complete {
        let _ = writeln!(out, "The campaign is **incomplete**: it goes on, or was stopped.\n");
    }
    let _ = writeln!(out, "| subject | compared | conform | deviate |\n| --- | ---: | ---: | ---: |");
    for subject in &report.subjects {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            text(&report.named(&subject.id)),
            HumanCount(subject.compared),
            HumanCount(subject.conform),
            HumanCount(subject.compared.saturating_sub(subject.conform)),
        );
    }
    let coverage = &report.coverage.clauses;
    let _ = writeln!(out, "\n{} of {} clauses reached.\n", coverage.reached, coverage.total);
    if report.findings.is_empty() {
        return out;
    }
    let _ = writeln!(out, "| status | class | what happens | count | releases | id |");
    let _ = writeln!(out, "| --- | --- | --- | ---: | --- | --- |");
    for finding in report.findings.iter().take(MOST_FINDINGS) {
        let status = finding.status.name();
        let status =
            if finding.status.needs_attention() { format!("**{status}**") } else { status.to_owned() };
        let releases = match finding.releases.is_empty() {
            true => finding.subjects.join(", "),
            false => report.release_map(finding),
        };
        let _ = writeln!(
            out,
            "| {status} | {} | {} | {} | {} | {} |",
            text(&finding.class),
            text(&finding.title),
            HumanCount(finding.count),
            text(&releases),
            text(&finding.id),
        );
    }
    if report.findings.len() > MOST_FINDINGS {
        let _ = writeln!(out, "\nand {} more, which the report has", report.findings.len() - MOST_FINDINGS);
    }
    if new + gone > 0 {
        let _ = writeln!(out, "\nTo repeat what needs attention:\n");
        let commands: Vec<&str> = (report.findings.iter())
            .filter(|finding| finding.status.needs_attention())
            .take(MOST_FINDINGS)
            .map(|finding| &*finding.repeat)
            .collect();
        let _ = writeln!(out, "{}", block("sh", &commands.join("\n")));
    }
    out
}

/// `2 new deviations, 1 gone, 7 known`
pub fn headline(report: &Report) -> String {
    let [new, gone, known] = Status::ALL.map(|status| report.count(status));
    if new + gone + known == 0 {
        return "no deviation".to_owned();
    }
    let mut parts = vec![format!("{new} new {}", if new == 1 { "deviation" } else { "deviations" })];
    if gone > 0 {
        parts.push(format!("{gone} gone"));
    }
    parts.push(format!("{known} known"));
    parts.join(", ")
}

/// Text that means nothing to Markdown, on one line.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '&' | '~' | '@'
        ) {
            out.push('\\');
        }
        out.push(if c == '\t' { ' ' } else { c });
    }
    // What looks like an address becomes a link, unless it is taken apart.
    out.replace("://", ":\\//").replace("www.", "www\\.")
}

/// The text as code in a line.
fn span(text: &str) -> String {
    let text = line(text).replace('\t', " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn code_safe(text: &str) -> String {
    line(text).replace('`', "'")
}

/// The text as a block of code.
fn block(language: &str, text: &str) -> String {
    let text = lines(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_own_code() {
        assert_eq!(block("ptx", "a\n```\nb"), "````ptx\na\n```\nb\n````\n");
        assert_eq!(span("a`b"), "``a`b``");
        assert_eq!(span("`"), "`` ` ``");
        assert_eq!(block("sh", "a\u{1b}[2J\n"), "```sh\na\\u{1b}[2J\n```\n");
    }

    #[test]
    fn text_is_no_markup_table_mention_or_link() {
        assert_eq!(text("<b>|a|</b> *x*"), "\\<b\\>\\|a\\|\\</b\\> \\*x\\*");
        assert_eq!(text("@all https://x"), "\\@all https:\\//x");
    }
}
