//! `report` and `history`: later uses of a campaign's folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;
use ptxsmith_report::FORMATS;
use serde_json::Value;

/// Returns a hand-made campaign with hostile strings.
fn campaign() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/campaign")
}

/// Copies the campaign with only the selected findings.
fn with_findings(directory: &Path, name: &str, keep: impl Fn(&str) -> bool) -> PathBuf {
    let mut report: Value =
        serde_json::from_slice(&fs::read(campaign().join("report.json")).unwrap()).unwrap();
    report["findings"].as_array_mut().unwrap().retain(|finding| keep(finding["id"].as_str().unwrap()));
    let folder = directory.join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("report.json"), report.to_string()).unwrap();
    folder
}

#[test]
fn every_form_is_made_and_goes_where_it_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let forms = [
        ("text", "2 known deviations, 6 new, 1 gone"),
        ("json", "\"schema\": \"ptxsmith.report/1\""),
        ("junit", "<testsuites name=\"ptxsmith\""),
        ("sarif", "\"version\": \"2.1.0\""),
        ("markdown", "1 valid program refused: 6 new, 1 gone, 2 known"),
        ("html", "<!doctype html>"),
    ];
    assert_eq!(forms.map(|(form, _)| form)[..], FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
    for (form, says) in forms {
        let mut command = ptxsmith();
        let printed = command.arg("report").arg(campaign()).args(["--format", form]).output().unwrap();
        assert_eq!(status(&printed), 0, "{}", stderr(&printed));
        assert!(stdout(&printed).contains(says), "{form}");
        let file = directory.path().join(form);
        let mut command = ptxsmith();
        command
            .args(["--color", "always", "report"])
            .arg(campaign())
            .args(["--format", form, "--out"])
            .arg(&file);
        let written = command.output().unwrap();
        assert_eq!((status(&written), stdout(&written).as_str()), (0, ""), "{}", stderr(&written));
        assert_eq!(fs::read_to_string(&file).unwrap(), stdout(&printed), "{form}");
    }
    // No file that the report names was written: these are all the files.
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), forms.len());
}

#[test]
fn the_report_of_a_run_is_read_and_written_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let ptxas = script(directory.path(), "kill -SEGV $$");
    let mut command = ptxsmith();
    let ran = command
        .args(["run", "--cases", "30", "--quiet", "--subject", &ptxas, "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(status(&ran), 1, "{}", stderr(&ran));
    let before = fs::read_to_string(out.join("report.json")).unwrap();
    let mut command = ptxsmith();
    let again = command.arg("report").arg(&out).args(["--format", "json"]).output().unwrap();
    assert!(stdout(&again) == before, "read and written again it differs");
    // `report` shows the same as `run`, except for data that only the run has.
    let shown = stdout(&ptxsmith().arg("report").arg(&out).output().unwrap());
    let last = shown.lines().last().unwrap();
    assert!(stdout(&ran).contains(last), "{last}\n{}", stdout(&ran));
}

#[test]
fn one_finding_is_a_bug_report() {
    let bundle = |id: &str| {
        let mut command = ptxsmith();
        command
            .arg("report")
            .arg(campaign())
            .args(["--format", "markdown", "--finding", id])
            .output()
            .unwrap()
    };
    let output = bundle("new-cr");
    assert!(
        stdout(&output).starts_with("# dividing by zero kills it\n"),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    for part in ["## Program", "## Command", "## Expected", "## Actual", "## Releases", "## Environment"] {
        assert_eq!(stdout(&output).lines().filter(|line| *line == part).count(), 1, "{part}");
    }
    assert!(
        one_line_error(&bundle("new-")).contains("more than one finding `new-`; there are new-address, ")
    );
    assert!(one_line_error(&bundle("\u{1b}")).contains("no finding `\\u{1b}`; there are "));
}

#[test]
fn against_another_campaign_only_what_is_added_shows_and_decides_the_status() {
    let directory = tempfile::tempdir().unwrap();
    let before = with_findings(directory.path(), "before", |id| id != "new-hang" && id != "known-inner");
    let known_only = with_findings(directory.path(), "known only", |id| id.starts_with("known-"));
    let against = |folder: &Path, earlier: &Path| {
        let mut command = ptxsmith();
        command.arg("report").arg(folder).arg("--against").arg(earlier).output().unwrap()
    };
    let output = against(&campaign(), &before);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("new hang") && text.contains("  wrong-value     "), "{text}");
    assert!(!text.contains("dividing by zero"), "{text}");
    assert!(text.ends_with("2 findings are added, 7 are in both, 0 are no longer shown\n"), "{text}");
    assert!(stderr(&output).contains("the earlier campaign is incomplete"), "{}", stderr(&output));
    let mut command = ptxsmith();
    command.arg("report").arg(campaign()).arg("--against").arg(&before).args(["--format", "markdown"]);
    let summary = stdout(&command.output().unwrap());
    assert!(
        summary.starts_with("# ptxsmith: the change adds 1 silent wrong value, 1 hang: 1 new, 1 known\n"),
        "{summary}"
    );
    // Known deviations are not attributed to a change.
    let output = against(&known_only, &before);
    assert_eq!(status(&output), 0);
    assert!(stdout(&output).contains("1 finding is added, 1 is in both, 6 are no longer shown"));
    assert_eq!(status(&against(&campaign(), &campaign())), 0);
}

#[test]
fn the_history_tells_what_is_new_and_what_was_incomplete() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("history.db");
    let history = |arguments: &[&str]| {
        let mut command = ptxsmith();
        command.arg("history").arg(&database).args(arguments).output().unwrap()
    };
    assert!(one_line_error(&history(&[])).contains("no such database; ptxsmith history"));
    assert!(!database.exists(), "asking made a database");
    let folder = campaign();
    let output = history(&["--add", folder.to_str().unwrap()]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("2026-11-20 02:00") && text.contains("  incomplete\n"), "{text}");
    assert!(text.ends_with("1 campaign, 1 incomplete\n"), "{text}");
    assert!(stdout(&history(&["--add", folder.to_str().unwrap()])).ends_with("1 campaign, 1 incomplete\n"));
    let since = stdout(&history(&["--since", "2026-11-20"]));
    assert!(since.starts_with("first seen since 2026-11-20 00:00: 8\n"), "{since}");
    assert!(!since.contains('\u{1b}') && since.contains("new crash: dividing by zero kills it (new-crash)"));
    assert!(
        stdout(&history(&["--since", "2026-11-21"])).starts_with("first seen since 2026-11-21 00:00: 0\n")
    );
    let one = stdout(&history(&["--finding", "new-hang"]));
    assert!(
        one.contains("first seen 2026-11-20 02:00, last seen 2026-11-20 02:00\n  in 1 of 1 campaign:"),
        "{one}"
    );
    assert!(one_line_error(&history(&["--finding", "none"])).contains("no finding `none`"));
    // `report --history` shows these dates, too.
    let mut command = ptxsmith();
    let report = command
        .arg("report")
        .arg(&folder)
        .arg("--history")
        .arg(&database)
        .args(["--show", "known"])
        .output()
        .unwrap();
    assert_eq!(stdout(&report).matches("    since     2026-11-20\n").count(), 7, "{}", stdout(&report));
    assert_eq!(stdout(&report).matches("    since     2026-11-19\n").count(), 1);
}

#[test]
fn what_is_no_campaign_is_told_in_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let report = |path: &Path| ptxsmith().arg("report").arg(path).output().unwrap();
    assert!(one_line_error(&report(directory.path())).contains("cannot read "));
    file(directory.path(), "report.json", "{\"schema\": \"\u{1b}[2J\"}");
    assert!(one_line_error(&report(directory.path())).contains("is no report of a campaign: "));
    let mut command = ptxsmith();
    let nowhere = directory.path().join("none").join("x");
    let output = command.arg("report").arg(campaign()).arg("--out").arg(&nowhere).output().unwrap();
    assert!(one_line_error(&output).contains("cannot write "));
}

#[test]
fn a_name_that_a_report_shows_is_explained_and_a_misspelt_one_is_corrected() {
    let explain = |name: &str| ptxsmith().args(["explain", name]).output().unwrap();
    let page = explain("incomplete-rows-packed");
    assert_eq!(status(&page), 0, "{}", stderr(&page));
    assert!(stdout(&page).contains("## Work-around"), "{}", stdout(&page));
    assert!(one_line_error(&explain("shift-cuont")).contains("did you mean `shift-count`?"));
}
