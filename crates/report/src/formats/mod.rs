//! The formats of a report: one table, of which the command line makes what `--format` takes.

#[cfg(feature = "html")]
pub mod html;
#[cfg(not(feature = "html"))]
pub mod html {
    //! What stands in for the page in a build without the feature `html`.

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

/// What is rendered.
pub struct Shown<'a> {
    /// The campaign, whose report has the findings that are shown and no other.
    pub folder: &'a Folder,
    /// Whether one finding was asked for, to be told in full.
    pub only: bool,
    /// Whether a text shows known deviations in full.
    pub known_in_full: bool,
    /// What was compared with an earlier campaign.
    pub against: Option<&'a Against>,
    /// How campaigns went over time.
    pub runs: &'a [Run],
}

/// One format.
#[derive(Debug)]
pub struct Format {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether people read it in a terminal: it has styles, and paths that are relative to where they are.
    pub for_terminal: bool,
    /// The report in it.
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
    /// The format of this name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

fn json(value: &impl Serialize) -> Result<String, askama::Error> {
    let text = serde_json::to_string_pretty(value).map_err(askama::Error::custom)?;
    Ok(harmless::json(text) + "\n")
}
