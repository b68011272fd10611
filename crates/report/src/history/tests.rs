//! Tests of the history's queries.

use super::super::minute;
use super::*;
use crate::Status;
use crate::manifest::Manifest;

fn campaign(started: &str, complete: bool, findings: &[(&str, &str)]) -> Folder {
    let mut report: Report = serde_json::from_str(
        r#"{"schema": "ptxsmith.report/1", "command": "run", "compared": 5, "conform": 4,
            "subjects": [{"id": "b"}, {"id": "a"}], "findings": []}"#,
    )
    .unwrap();
    report.complete = complete;
    for (id, status) in findings {
        let finding = serde_json::json!(
            {"id": id, "status": status, "class": "crash", "title": format!("{id} of {started}"), "subjects": ["a"]});
        report.findings.push(serde_json::from_value(finding).unwrap());
    }
    let manifest = Manifest { started: started.to_owned(), ..Manifest::default() };
    Folder { report, manifest: (!started.is_empty()).then_some(manifest) }
}

fn history() -> (tempfile::TempDir, History) {
    let folder = tempfile::tempdir().unwrap();
    let history = History::open(&folder.path().join("history.db")).unwrap();
    (folder, history)
}

const FIRST: &str = "2026-11-19T02:00:00Z";
const SECOND: &str = "2026-11-20T02:00:00Z";
const THIRD: &str = "2026-11-21T02:00:00Z";

#[test]
fn a_finding_has_its_first_time_and_its_campaigns() {
    let (_folder, mut history) = history();
    // Campaigns are recorded out of order, as shards or old folders may be.
    for campaign in [
        campaign(SECOND, true, &[("x", "new"), ("y", "known")]),
        campaign(FIRST, true, &[("y", "new")]),
        campaign(THIRD, false, &[("x", "known"), ("y", "gone")]),
    ] {
        assert_eq!(history.record(&campaign, "out", UNIX_EPOCH).unwrap(), Recording::Added);
    }
    let findings = history.findings().unwrap();
    assert_eq!(
        findings.iter().map(|seen| &*seen.id).collect::<Vec<_>>(),
        ["x", "y"],
        "the latest come first"
    );
    let x = &findings[0];
    let y = &findings[1];
    assert_eq!((&*x.status, &*minute(x.first), &*date(x.last)), ("known", "2026-11-20 02:00", "2026-11-21"));
    assert_eq!(x.title, "x of 2026-11-21T02:00:00Z");
    assert_eq!((x.runs.len(), &*date(y.first), &*date(y.last)), (2, "2026-11-19", "2026-11-20"));

    let mut report = campaign(THIRD, true, &[("y", "known"), ("z", "new")]).report;
    history.set_first_seen(&mut report).unwrap();
    assert_eq!(report.findings[0].first_seen.as_deref(), Some("2026-11-19"));
    assert_eq!(report.findings[1].first_seen, None);

    let runs = history.runs().unwrap();
    let incomplete: Vec<String> =
        runs.iter().filter(|run| !run.complete).map(|run| date(run.started)).collect();
    assert_eq!(incomplete, ["2026-11-21"]);
    assert_eq!((runs[0].findings, runs[1].findings, runs[2].findings), ([1, 0, 0], [1, 0, 1], [0, 1, 1]));
    assert_eq!(runs[0].subjects, ["b", "a"]);
}

#[test]
fn a_campaign_that_is_recorded_again_is_replaced() {
    let (folder, mut history) = history();
    history.record(&campaign(FIRST, false, &[("x", "new")]), "out", UNIX_EPOCH).unwrap();
    history.record(&campaign(SECOND, true, &[]), "out", UNIX_EPOCH).unwrap();
    let resumed = campaign(FIRST, true, &[("x", "new"), ("y", "new")]);
    assert_eq!(history.record(&resumed, "out", UNIX_EPOCH).unwrap(), Recording::Replaced);
    drop(history);
    let history = History::open_existing(&folder.path().join("history.db")).unwrap();
    let runs = history.runs().unwrap();
    assert_eq!((runs.len(), runs[0].number, runs[0].complete, runs[0].count(Status::New)), (2, 1, true, 2));
}

#[test]
fn a_campaign_without_a_manifest_has_the_time_of_its_recording() {
    let (_folder, mut history) = history();
    let [first, second] = [60, 120].map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let campaign = campaign("", true, &[]);
    assert_eq!(history.record(&campaign, "out", first).unwrap(), Recording::Added);
    assert_eq!(history.record(&campaign, "out", second).unwrap(), Recording::Replaced);
    assert_eq!(history.runs().unwrap()[0].started, first);
}

#[test]
fn a_database_of_another_program_is_rejected_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE run (x)").unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(History::open(&path), Err(HistoryError::Foreign)));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::write(&path, "no database at all, but longer than the header of one would be, which matters")
        .unwrap();
    assert!(matches!(History::open(&path), Err(HistoryError::Sqlite(_))));
    assert!(History::open_existing(&folder.path().join("none.db")).is_err());
    assert!(!folder.path().join("none.db").exists());
}

#[test]
fn a_database_of_a_later_version_is_rejected() {
    let (folder, history) = history();
    history.db.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(history);
    assert!(matches!(History::open(&folder.path().join("history.db")), Err(HistoryError::Later)));
}
