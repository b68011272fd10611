//! One campaign in parts: shards, an end before its time, a larger number of cases. The result is that of the
//! whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{Recorder, Told, implementation, options, result, session};
use ptxsmith_campaign::merge::{self, merge};
use ptxsmith_campaign::run::{self, run};
use ptxsmith_campaign::session::Session;
use ptxsmith_campaign::store::{CampaignState, STATE, Shard, VERDICTS};
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_gen::Focus;
use ptxsmith_report::{Report, folder};
use ptxsmith_subject::{Request, SubjectSpec};
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows as wrong;
use tempfile::{TempDir, tempdir};

const SEED: u64 = 11;
/// Of four tasks: of 250, 500, 1,000 and, here, 250.
const CASES: u64 = 2_000;

fn subjects() -> Vec<SubjectSpec> {
    vec![implementation("right", right), implementation("wrong", wrong(&["octal-as-decimal"]))]
}

/// A campaign with this number of cases and this change.
fn part(
    session: &Session,
    cases: u64,
    out: &Path,
    change: impl FnOnce(&mut run::RunOptions),
) -> Result<CampaignOutcome, Failure> {
    let mut options = options(&subjects(), Focus::Mixed, cases, out);
    options.reduce = Some(Duration::ZERO);
    change(&mut options);
    run(session, &options)
}

fn new_session() -> (Session, Recorder) {
    session(SEED)
}

fn whole() -> (TempDir, CampaignOutcome) {
    let out = tempdir().unwrap();
    let outcome = part(&new_session().0, CASES, out.path(), |_| {}).unwrap();
    (out, outcome)
}

/// What a campaign found, without what says how it was divided.
fn found(out: &Path) -> Vec<(String, String)> {
    let files = result(out);
    files.into_iter().filter(|(name, _)| name != STATE && name != VERDICTS).collect()
}

/// The files of the findings.
fn programs(out: &Path) -> Vec<(String, String)> {
    found(out).into_iter().filter(|(name, _)| name != folder::REPORT).collect()
}

/// A report without what each implementation makes of the findings, which only one that is here can tell.
fn without_releases(mut report: Report) -> Report {
    report.findings.iter_mut().for_each(|finding| finding.releases.clear());
    report
}

fn message<T>(result: Result<T, Failure>) -> String {
    match result {
        Ok(_) => panic!("it was done"),
        Err(Failure::BadInput(message)) => message,
        Err(other) => panic!("{other:?}"),
    }
}

fn merged(directories: &[&Path], out: &Path, partial: bool) -> (Result<CampaignOutcome, Failure>, Told) {
    let (session, told) = new_session();
    let directories = directories.iter().map(|&path| PathBuf::from(path)).collect();
    let options = merge::MergeOptions {
        directories,
        out: out.to_owned(),
        replace: false,
        partial,
        subjects: subjects(),
    };
    let outcome = merge(&session, &options);
    (outcome, told.take())
}

#[test]
fn shards_give_together_what_the_undivided_campaign_gives() {
    let (undivided, all) = whole();
    let (one, other, into) = (tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap());
    let mut compared = 0;
    for (number, out) in [(1, &one), (2, &other)] {
        let shard = Shard { number, of: 2 };
        let outcome = part(&new_session().0, CASES, out.path(), |options| options.shard = shard).unwrap();
        assert!(outcome.resumable && outcome.report.complete);
        compared += outcome.report.compared;
        assert_eq!(CampaignState::read(out.path()).unwrap().unwrap().shard, shard);
    }
    assert_eq!(compared, all.report.compared);
    // The order in which they are named plays no part.
    let (outcome, told) = merged(&[other.path(), one.path()], into.path(), false);
    let report = outcome.unwrap().report;
    assert!(report.complete && report.findings.len() == 1, "{:#?}", report.findings);
    assert_eq!(report.findings[0].id, "octal-as-decimal");
    let verdicts = |out: &TempDir| std::fs::read_to_string(out.path().join(VERDICTS)).unwrap();
    assert_eq!(verdicts(&into), verdicts(&undivided));
    assert_eq!(without_releases(report), without_releases(all.report));
    assert_eq!(programs(into.path()), programs(undivided.path()));
    // Neither subject is opened by its name.
    assert_eq!(told.notes.len(), 2, "{:?}", told.notes);

    // One alone is merged only where that is asked for, and is not complete.
    let part = tempdir().unwrap();
    let (outcome, _) = merged(&[other.path()], part.path(), false);
    let told = message(outcome);
    assert!(told.contains("missing: 1/2;"), "{told}");
    let (outcome, told) = merged(&[other.path()], part.path(), true);
    let outcome = outcome.unwrap();
    assert!(!outcome.report.complete && outcome.report.compared < compared);
    assert!(
        told.notes.iter().any(|note| note == "merged without all shards; missing: 1/2"),
        "{:?}",
        told.notes
    );
    // Twice the same, and into one of them.
    let (outcome, _) = merged(&[other.path(), other.path()], part.path(), true);
    assert!(message(outcome).contains("are both shard 2/2"));
    let (outcome, _) = merged(&[one.path(), other.path()], one.path(), false);
    assert!(message(outcome).contains("is to be merged; give another --out"));
}

#[test]
fn parts_of_different_campaigns_are_not_put_together() {
    let into = tempdir().unwrap();
    let shard = |seed, number, of| {
        let out = tempdir().unwrap();
        part(&session(seed).0, 250, out.path(), |options| {
            options.shard = Shard { number, of };
            options.subjects.truncate(1);
        })
        .unwrap();
        out
    };
    let first = shard(SEED, 1, 2);
    for (other, what) in [
        (shard(SEED, 2, 3), "their number of shards is `2` and `3`"),
        (shard(SEED + 1, 2, 2), "their seed is `11` and `12`"),
    ] {
        let (outcome, _) = merged(&[first.path(), other.path()], into.path(), true);
        let told = message(outcome);
        assert!(told.contains(what), "{told}");
    }
    let (outcome, _) = merged(&[into.path()], into.path().join("other").as_path(), true);
    assert!(message(outcome).contains("holds no campaign of `ptxsmith run`"));
}

#[test]
fn a_campaign_that_was_stopped_is_gone_on_with_to_the_same_end() {
    let (undivided, all) = whole();
    let out = tempdir().unwrap();
    let (mut stopped, _) = new_session();
    stopped.jobs = std::num::NonZeroUsize::MIN;
    let cancel = stopped.cancel.clone();
    let seen = Arc::new(AtomicU64::new(0));
    let stops = move |request: &Request<'_>| {
        if seen.fetch_add(1, Ordering::Relaxed) == 20 {
            cancel.cancel();
        }
        right(request)
    };
    let outcome = part(&stopped, CASES, out.path(), |options| {
        options.subjects[0] = implementation("right", stops);
    })
    .unwrap();
    assert!(outcome.interrupted && outcome.resumable && !outcome.report.complete);
    assert!(outcome.report.compared < all.report.compared);
    assert!(!CampaignState::read(out.path()).unwrap().unwrap().complete);

    // It is neither begun anew nor gone on with as another one.
    assert!(message(part(&new_session().0, CASES, out.path(), |_| {})).contains("--resume goes on with it"));
    let other = part(&session(SEED + 1).0, CASES, out.path(), |options| options.resume = true);
    assert!(message(other).contains("holds another campaign (seed `11`, here `12`)"));
    let other = part(&new_session().0, CASES, out.path(), |options| {
        options.resume = true;
        options.shard = Shard { number: 1, of: 2 };
    });
    assert!(message(other).contains("holds another campaign (shard `1/1`, here `1/2`)"));

    let (resumed, told) = new_session();
    let outcome = part(&resumed, CASES, out.path(), |options| options.resume = true).unwrap();
    assert!(outcome.report.complete && !outcome.interrupted);
    assert_eq!(result(out.path()), result(undivided.path()));
    assert_eq!(told.take().done, CASES);
}

#[test]
fn more_cases_are_added_to_a_campaign_that_was_over() {
    let (undivided, all) = whole();
    let out = tempdir().unwrap();
    // The third task has 1,000 cases, of which 250 are done.
    part(&new_session().0, 1_000, out.path(), |_| {}).unwrap();
    let outcome = part(&new_session().0, CASES, out.path(), |options| options.resume = true).unwrap();
    assert_eq!(outcome.report, all.report);
    assert_eq!(found(out.path()), found(undivided.path()));
    // Fewer are another campaign.
    let fewer = part(&new_session().0, 1_000, out.path(), |options| options.resume = true);
    assert!(message(fewer).contains("(cases `2000`, here `1000`)"));
    // In its place nothing is left of it.
    let outcome = part(&new_session().0, 250, out.path(), |options| {
        options.replace = true;
        options.subjects.truncate(1);
    })
    .unwrap();
    assert!(outcome.report.findings.is_empty() && outcome.earlier == 0);
    assert_eq!(outcome.report.subjects.len(), 1);
}
