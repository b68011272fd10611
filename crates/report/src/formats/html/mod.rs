//! A report as one self-contained page: nothing is loaded from anywhere, and what subjects and programs say is text.
//!
//! `templates/` has the page, its style and its script. The page forbids itself everything but these two, by hash, so
//! that no text of a report could become either, even if it got past the escaping of the template.

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
use crate::history::Run;
use view::{Limits, View, followed_class, name, percent, short};

/// The page as it is sent may not be larger than this, in bytes.
pub const MOST_BYTES: usize = 5_000_000;

/// How much goes into a page: what a report has, and less where that does not fit.
const LIMITS: [Limits; 3] = [
    Limits { findings: 900_000, rest: 1_700_000, programs: 800_000, subjects: 80, clauses: 400 },
    Limits { findings: 1_000_000, rest: 1_000_000, programs: 400_000, subjects: 40, clauses: 200 },
    Limits { findings: 500_000, rest: 100_000, programs: 100_000, subjects: 16, clauses: 200 },
];

const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    view: View<'a>,
    style: &'static str,
    script: &'static str,
    style_hash: String,
    script_hash: String,
}

/// The page. `runs` are the campaigns of a history; without any, it shows no trend.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn page(folder: &Folder, runs: &[Run]) -> Result<String, askama::Error> {
    let hash = |text: &str| format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)));
    let (style_hash, script_hash) = (hash(STYLE), hash(SCRIPT));
    let mut page = Page {
        view: View::of(folder, runs, LIMITS[0])?,
        style: STYLE,
        script: SCRIPT,
        style_hash,
        script_hash,
    };
    let mut text = page.render()?;
    for limits in &LIMITS[1..] {
        if text.len() > MOST_BYTES {
            page.view = View::of(folder, runs, *limits)?;
            text = page.render()?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_do_not_end_themselves() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}
