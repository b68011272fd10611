//! The formats of a report, in one table from which the command line derives the values of `--format`.

#[cfg(feature = "html")]
pub mod html;
#[cfg(not(feature = "html"))]
pub mod html {
    //! Replaces the HTML page in a build without the feature `html`.

    /// # Errors
    /// Always.
    pub fn page(_: &crate::folder::Folder, _: &[crate::history::Run]) -> Result<String, askama::Error> {
        Err(askama::Error::custom("this ptxsmith was built without its feature `html`, and so has no page"))
    }
}
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod text;

use serde::Serialize;

use crate::{against::Against, folder::Folder, harmless, history::Run};

/// The input of a rendering.
pub struct Shown<'a> {
    /// The campaign. Its report contains only the findings to be shown.
    pub folder: &'a Folder,
    /// Whether a single finding was requested, which is then shown in full.
    pub only: bool,
    /// Whether a text shows known deviations in full.
    pub known_in_full: bool,
    /// The comparison with an earlier campaign, if there is one.
    pub against: Option<&'a Against>,
    /// The campaigns of the history, for the trend.
    pub runs: &'a [Run],
}

/// An output format.
#[derive(Debug)]
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Whether the format is for a terminal: it contains styles, and paths that are relative to the working directory.
    pub for_terminal: bool,
    /// Renders a report in this format.
    ///
    /// # Errors
    /// If a template or a value cannot be rendered, or this build lacks the format.
    pub render: fn(&Shown<'_>) -> Result<String, askama::Error>,
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "For a terminal",
        for_terminal: true,
        render: |shown| {
            let report = &shown.folder.report;
            let mut text = match shown.only {
                true => report.findings.iter().map(|found| text::finding(report, found)).collect(),
                false => text::Summary { known_in_full: shown.known_in_full, ..text::Summary::of(report) }
                    .text()?,
            };
            if let Some(against) = shown.against {
                text.push_str(&against.text());
                text.push('\n');
            }
            Ok(text)
        },
    },
    Format {
        name: "json",
        about: "ptxsmith.report/1",
        for_terminal: false,
        render: |shown| json(&shown.folder.report),
    },
    Format {
        name: "junit",
        about: "JUnit XML, a test for each clause and subject",
        for_terminal: false,
        render: |shown| junit::junit(&shown.folder.report),
    },
    Format {
        name: "sarif",
        about: "SARIF 2.1.0",
        for_terminal: false,
        render: |shown| json(&sarif::sarif(&shown.folder.report)),
    },
    Format {
        name: "markdown",
        about: "A summary; with --finding, a bug report",
        for_terminal: false,
        render: |shown| {
            let findings = &shown.folder.report.findings;
            match shown.only {
                true => findings.iter().map(|found| markdown::bundle(shown.folder, found)).collect(),
                false => markdown::summary(shown.folder, shown.against),
            }
        },
    },
    Format {
        name: "html",
        about: "One self-contained page",
        for_terminal: false,
        render: |shown| html::page(shown.folder, shown.runs),
    },
];

impl Format {
    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

fn json(value: &impl Serialize) -> Result<String, askama::Error> {
    let text = serde_json::to_string_pretty(value).map_err(askama::Error::custom)?;
    Ok(harmless::json(text) + "\n")
}
