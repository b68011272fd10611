//! Tests every rendering of a handwritten report, which contains all classes and statuses and hostile
//! strings.
//!
//! `INSTA_UPDATE=always` rewrites the snapshots. No snapshot contains an expected value of a program.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ptxsmith_report::folder::Folder;
use ptxsmith_report::history::{History, RecordedCampaign};
use ptxsmith_report::text::TextSummary;
use ptxsmith_report::{FORMATS, Finding, RenderInput, SubjectResults, html, junit, markdown, sarif, text};

fn campaign() -> Folder {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/campaign");
    Folder::read(&path).expect("the campaign of the tests is well formed")
}

fn finding<'a>(folder: &'a Folder, id: &str) -> &'a Finding {
    folder.report.findings.iter().find(|finding| finding.id == id).expect("the campaign of the tests has it")
}

/// Returns two campaigns: the campaign of the tests, and one a day later without findings.
fn runs() -> Vec<RecordedCampaign> {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("history.db")).unwrap();
    let mut later = campaign();
    later.report.findings.clear();
    later.report.complete = true;
    later.manifest.as_mut().unwrap().started = "2026-11-21T02:00:00Z".to_owned();
    for folder in [campaign(), later] {
        history.record(&folder, "night", UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    }
    history.runs().unwrap()
}

/// Asserts that a text contains no control characters except line breaks and tabs, and no characters that
/// hide or reorder others.
#[track_caller]
fn assert_harmless(text: &str) {
    let harmful = text.char_indices().find(|(_, c)| is_harmful(*c));
    assert_eq!(harmful.map(|(index, c)| (c, &text[index.saturating_sub(60)..index])), None);
}

fn is_harmful(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
}

#[test]
fn no_format_contains_harmful_characters() {
    let folder = campaign();
    let runs = runs();
    for only in [false, true] {
        let input = RenderInput { folder: &folder, only, known_in_full: false, against: None, runs: &runs };
        for format in FORMATS {
            let text = (format.render)(&input).unwrap();
            // Only the format's own styles may contain control characters.
            let text =
                if format.for_terminal { anstream::adapter::strip_str(&text).to_string() } else { text };
            assert_harmless(&text);
        }
    }
}

#[test]
fn the_text_is_a_summary_and_a_finding_in_full() {
    let folder = campaign();
    let summary = TextSummary::new(&folder.report).text().unwrap();
    // Only the format's own styles may contain control characters.
    let summary = anstream::adapter::strip_str(&summary).to_string();
    assert_harmless(&summary);
    insta::assert_snapshot!("text", summary);
    let in_full = text::finding(&folder.report, finding(&folder, "new-crash"));
    insta::assert_snapshot!("text_of_a_finding", anstream::adapter::strip_str(&in_full).to_string());
}

#[test]
fn markdown_is_a_summary_and_a_bug_report() {
    let folder = campaign();
    let summary = markdown::summary(&folder, None).unwrap();
    assert_harmless(&summary);
    insta::assert_snapshot!("markdown", summary);
    for id in ["new-crash", "new-hostile", "gone-rule"] {
        let bundle = markdown::bundle(&folder, finding(&folder, id)).unwrap();
        assert_harmless(&bundle);
        insta::assert_snapshot!(format!("markdown_of_{id}"), bundle);
    }
}

#[test]
fn junit_has_a_test_for_each_clause_and_subject() {
    let xml = junit::junit(&campaign().report).unwrap();
    assert_harmless(&xml);
    assert!(!xml.contains("</script>"));
    let count = |text: &str| xml.matches(text).count().to_string();
    assert!(xml.contains(&format!("tests=\"{}\" failures=\"{}\"", count("<testcase "), count("<failure "))));
    assert!(xml.contains("<testcase name=\"addition [ptxas@13.5]\" classname=\"ptxsmith.4_5_5.addition\"/>"));
    // Most tests are about clauses for which this campaign has no verdict.
    let tests = xml.split_inclusive("</testcase>");
    let with_finding = tests.filter(|test| test.contains("<failure ") || test.contains("\"known: "));
    let elements = with_finding.filter_map(|test| Some(&test[test.rfind("<testcase ")?..]));
    insta::assert_snapshot!("junit", elements.collect::<Vec<_>>().join("\n"));
}

#[test]
fn sarif_has_a_result_for_each_finding() {
    let log = sarif::sarif(&campaign().report);
    let text = serde_json::to_string_pretty(&log).unwrap();
    assert_harmless(&text);
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), campaign().report.findings.len());
    insta::assert_snapshot!("sarif", text);
}

#[test]
fn no_string_of_a_report_is_markup_in_the_page() {
    let page = html::page(&campaign(), &runs()).unwrap();
    assert_harmless(&page);
    for markup in ["<img", "<i>", "<b>|", "javascript:", "onerror=alert(1)>", "<odd>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    // Only the page's own script is allowed.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
    assert_eq!(page.matches("<!--").count(), 0);
    for needed in ["4.5.5/division", "killed by signal 8", "until: Some", "2026-11-19", "the page", "x86_64"]
    {
        assert_eq!(page.contains(needed), needed != "the page", "{needed}");
    }
}

#[test]
fn a_page_loads_nothing() {
    let page = html::page(&campaign(), &runs()).unwrap();
    for attribute in ["src=", "@import", "url(", "<link", "<iframe", "<object", "http:"] {
        // The name of the hostile subject contains `src=`, but it is escaped text.
        let page = page.replace("img src=x", "");
        assert!(!page.contains(attribute), "{attribute}");
    }
}

#[test]
fn the_page_of_a_huge_report_is_under_the_limit() {
    let mut folder = campaign();
    let report = &mut folder.report;
    let mut large = finding(&campaign(), "known-inner").clone();
    large.program = "<".repeat(100_000);
    large.title = "\u{1b}".repeat(5_000);
    large.clauses = (0..120).map(|n| format!("4.5.5/{}-{n}", "<".repeat(300))).collect();
    large.subjects = (0..120).map(|n| format!("subject{n}-{}", "<".repeat(1_000))).collect();
    let subject = report.subjects[0].clone();
    report.findings = (0..600).map(|n| Finding { id: format!("large-{n}"), ..large.clone() }).collect();
    report.subjects =
        large.subjects.iter().map(|id| SubjectResults { id: id.clone(), ..subject.clone() }).collect();
    let page = html::page(&folder, &runs()).unwrap();
    assert!(page.len() < html::MOST_BYTES, "{}", page.len());
    assert!(page.contains("report.json has the rest of them") && page.contains("600 of 600 shown"));
}
