//! Renders a report as Markdown: one finding in full for a bug report, or a summary for a pull request.
//!
//! Strings from subjects and programs become code, with a fence longer than any in them, or are escaped.

use askama::Template;

use crate::against::ReportDifferences;
use crate::folder::Folder;
use crate::harmless::{count, line, lines};
use crate::manifest::Manifest;
use crate::severity::headline;
use crate::{Finding, Report, Status, clauses};

/// The maximum number of findings that a summary lists.
const MOST_FINDINGS: usize = 100;

#[derive(Template)]
#[template(path = "finding.md")]
struct FindingMarkdown<'a> {
    report: &'a Report,
    manifest: &'a Option<Manifest>,
    finding: &'a Finding,
}

/// Renders everything that is needed to fix the deviation that a finding shows.
pub fn bundle(folder: &Folder, finding: &Finding) -> Result<String, askama::Error> {
    FindingMarkdown { report: &folder.report, manifest: &folder.manifest, finding }.render()
}

#[derive(Template)]
#[template(path = "summary.md")]
struct MarkdownSummary<'a> {
    report: &'a Report,
    against: Option<&'a ReportDifferences>,
    shown: &'a [Finding],
    repeat: Vec<&'a str>,
}

/// Renders a summary that is short enough for a comment. For a report that contains only added findings,
/// includes the differences from the earlier campaign.
pub fn summary(folder: &Folder, against: Option<&ReportDifferences>) -> Result<String, askama::Error> {
    let report = &folder.report;
    let shown = &report.findings[..report.findings.len().min(MOST_FINDINGS)];
    let unexpected = report.findings.iter().filter(|finding| finding.needs_attention());
    let repeat = unexpected.take(MOST_FINDINGS).map(|finding| &*finding.repeat).collect();
    MarkdownSummary { report, against, shown, repeat }.render()
}

/// Escapes a text so that Markdown does not interpret it, and puts it on one line.
pub(crate) fn text(text: impl AsRef<str>) -> String {
    let mut out = String::new();
    for c in line(text.as_ref()).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '&' | '~' | '@'
        ) {
            out.push('\\');
        }
        out.push(if c == '\t' { ' ' } else { c });
    }
    // Addresses in plain text become links unless they are interrupted.
    out.replace("://", ":\\//").replace("www.", "www\\.")
}

/// Returns a section of the manual by its heading, or by its number if the heading is empty; as a link if
/// possible.
pub(crate) fn manual(section: &str, heading: &str) -> String {
    let name = match heading {
        "" => format!("section {}", text(section)),
        heading => format!("\"{heading}\""),
    };
    match clauses::link(section) {
        Some(link) => format!("[{name}]({link})"),
        None => name,
    }
}

/// Formats a text as inline code.
pub(crate) fn span(text: impl AsRef<str>) -> String {
    let text = line(text.as_ref()).replace('\t', " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn code_safe(text: &str) -> String {
    line(text).replace('`', "'")
}

/// Formats a text as a code block.
pub(crate) fn block(language: &str, text: impl AsRef<str>) -> String {
    let text = lines(text.as_ref());
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
