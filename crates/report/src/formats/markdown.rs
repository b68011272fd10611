//! A report as Markdown: the bundle to report one finding with, or a summary for a pull request.
//!
//! Texts of subjects and programs go into code, whose fence is longer than any that they hold, or are escaped.

use askama::Template;

use crate::against::Against;
use crate::folder::Folder;
use crate::harmless::{count, line, lines};
use crate::manifest::Manifest;
use crate::severity::headline;
use crate::{Finding, Report, Status, clauses};

/// The most findings that a summary lists.
const MOST_FINDINGS: usize = 100;

#[derive(Template)]
#[template(path = "finding.md")]
struct Bundle<'a> {
    report: &'a Report,
    manifest: &'a Option<Manifest>,
    finding: &'a Finding,
}

/// All that somebody needs who is to mend what one finding shows.
pub fn bundle(folder: &Folder, finding: &Finding) -> Result<String, askama::Error> {
    Bundle { report: &folder.report, manifest: &folder.manifest, finding }.render()
}

#[derive(Template)]
#[template(path = "summary.md")]
struct Summary<'a> {
    report: &'a Report,
    against: Option<&'a Against>,
    shown: &'a [Finding],
    repeat: Vec<&'a str>,
}

/// What the campaign found, short enough for a comment; of a report that was narrowed to what a change adds, with how it
/// differs from the campaign before.
pub fn summary(folder: &Folder, against: Option<&Against>) -> Result<String, askama::Error> {
    let report = &folder.report;
    let shown = &report.findings[..report.findings.len().min(MOST_FINDINGS)];
    let open = report.findings.iter().filter(|finding| finding.needs_attention());
    let repeat = open.take(MOST_FINDINGS).map(|finding| &*finding.repeat).collect();
    Summary { report, against, shown, repeat }.render()
}

/// Text that means nothing to Markdown, on one line.
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
    // What looks like an address becomes a link, unless it is taken apart.
    out.replace("://", ":\\//").replace("www.", "www\\.")
}

/// A section of the manual by its heading, or by its number where that is empty, as a link where there is one.
pub(crate) fn manual(section: &str, heading: &str) -> String {
    let named = match heading {
        "" => format!("section {}", text(section)),
        heading => format!("\"{heading}\""),
    };
    match clauses::link(section) {
        Some(link) => format!("[{named}]({link})"),
        None => named,
    }
}

/// The text as code in a line.
pub(crate) fn span(text: impl AsRef<str>) -> String {
    let text = line(text.as_ref()).replace('\t', " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn code_safe(text: &str) -> String {
    line(text).replace('`', "'")
}

/// The text as a block of code.
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
