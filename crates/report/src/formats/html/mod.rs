//! Renders a report as one self-contained HTML page. It loads nothing, and strings from subjects and programs
//! are inserted as text.
//!
//! `templates/` contains the page, its style sheet and its script. The page's content security policy allows
//! only these two, by hash, so that no string in a report can become a style or a script, even if the
//! template failed to escape it.

mod bytes;
mod programs;
mod trend;
mod view;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::Status;
use crate::folder::Folder;
use crate::harmless::count;
use crate::history::RecordedCampaign;
use view::{PageLimits, ReportView, followed_class, name, percent, short};

/// The maximum size of a page, in bytes.
pub const MOST_BYTES: usize = 5_000_000;

/// The limits for the contents of a page. The later ones apply if the page is too large with the earlier
/// ones.
const LIMITS: [PageLimits; 3] = [
    PageLimits { findings: 900_000, rest: 1_700_000, programs: 800_000, subjects: 80, clauses: 400 },
    PageLimits { findings: 1_000_000, rest: 1_000_000, programs: 400_000, subjects: 40, clauses: 200 },
    PageLimits { findings: 500_000, rest: 100_000, programs: 100_000, subjects: 16, clauses: 200 },
];

const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    view: ReportView<'a>,
    style: &'static str,
    script: &'static str,
    style_hash: String,
    script_hash: String,
}

/// Renders the page. `runs` are the campaigns of a history; if there are none, the page shows no trend.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn page(folder: &Folder, runs: &[RecordedCampaign]) -> Result<String, askama::Error> {
    let mut page = ReportPage {
        view: ReportView::new(folder, runs, LIMITS[0])?,
        style: STYLE,
        script: SCRIPT,
        style_hash: policy_hash(STYLE),
        script_hash: policy_hash(SCRIPT),
    };
    let mut text = page.render()?;
    for limits in &LIMITS[1..] {
        if text.len() > MOST_BYTES {
            page.view = ReportView::new(folder, runs, *limits)?;
            text = page.render()?;
        }
    }
    Ok(text)
}

/// Returns the hash of a style or a script in the form in which a content security policy allows it.
fn policy_hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_do_not_end_themselves() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}
