//! The formats of a report, in one table from which the command line derives the values of `--format`.

#[cfg(feature = "html")]
pub mod html;
#[cfg(not(feature = "html"))]
pub mod html {
    //! Replaces the HTML page in a build without the feature `html`.

    /// # Errors
    /// Always.
    pub fn page(
        _: &crate::folder::Folder,
        _: &[crate::history::RecordedCampaign],
    ) -> Result<String, askama::Error> {
        Err(askama::Error::custom("this ptxsmith was built without its feature `html`, and so has no page"))
    }
}
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod text;

use serde::Serialize;

use crate::{against::ReportDifferences, folder::Folder, harmless, history::RecordedCampaign};

/// The input of a rendering.
pub struct RenderInput<'a> {
    /// The campaign. Its report contains only the findings to be shown.
    pub folder: &'a Folder,
    /// Whether a single finding was requested, which is then shown in full.
    pub only: bool,
    /// Whether a text shows known deviations in full.
    pub known_in_full: bool,
    /// The comparison with an earlier campaign, if there is one.
    pub against: Option<&'a ReportDifferences>,
    /// The campaigns of the history, for the trend.
    pub runs: &'a [RecordedCampaign],
}

/// An output format.
#[derive(Debug)]
pub struct ReportFormat {
    /// The name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Whether the format is for a terminal: it contains styles, and paths that are relative to the working
    /// directory.
    pub for_terminal: bool,
    /// Renders a report in this format.
    ///
    /// # Errors
    /// If a template or a value cannot be rendered, or this build lacks the format.
    pub render: fn(&RenderInput<'_>) -> Result<String, askama::Error>,
}

/// All formats; the first is the default.
pub const FORMATS: &[ReportFormat] = &[
    ReportFormat { name: "text", about: "For a terminal", for_terminal: true, render: terminal_text },
    ReportFormat {
        name: "json",
        about: "ptxsmith.report/1",
        for_terminal: false,
        render: |input| json(&input.folder.report),
    },
    ReportFormat {
        name: "junit",
        about: "JUnit XML, a test for each clause and subject",
        for_terminal: false,
        render: |input| junit::junit(&input.folder.report),
    },
    ReportFormat {
        name: "sarif",
        about: "SARIF 2.1.0",
        for_terminal: false,
        render: |input| json(&sarif::sarif(&input.folder.report)),
    },
    ReportFormat {
        name: "markdown",
        about: "A summary; with --finding, a bug report",
        for_terminal: false,
        render: markdown_text,
    },
    ReportFormat {
        name: "html",
        about: "One self-contained page",
        for_terminal: false,
        render: |input| html::page(input.folder, input.runs),
    },
];

impl ReportFormat {
    /// Returns the format with this name.
    pub fn from_name(name: &str) -> Option<&'static ReportFormat> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

fn terminal_text(input: &RenderInput<'_>) -> Result<String, askama::Error> {
    let report = &input.folder.report;
    let mut text = if input.only {
        report.findings.iter().map(|finding| text::finding(report, finding)).collect()
    } else {
        text::TextSummary { known_in_full: input.known_in_full, ..text::TextSummary::new(report) }.text()?
    };
    if let Some(differences) = input.against {
        text.push_str(&differences.text());
        text.push('\n');
    }
    Ok(text)
}

fn markdown_text(input: &RenderInput<'_>) -> Result<String, askama::Error> {
    if input.only {
        let findings = input.folder.report.findings.iter();
        findings.map(|finding| markdown::bundle(input.folder, finding)).collect()
    } else {
        markdown::summary(input.folder, input.against)
    }
}

fn json(value: &impl Serialize) -> Result<String, askama::Error> {
    let text = serde_json::to_string_pretty(value).map_err(askama::Error::custom)?;
    Ok(harmless::json(text) + "\n")
}
