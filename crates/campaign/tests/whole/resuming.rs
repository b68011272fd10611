//! Campaigns that go on, are stopped, or are put together from shards: they find what an undivided one does.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{described, implementation, options, result, session};
use ptxsmith_campaign::merge::{self, merge};
use ptxsmith_campaign::run::run;
use ptxsmith_campaign::session::{Events, Progress};
use ptxsmith_campaign::store::Shard;
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_gen::Focus;
use ptxsmith_report::Report;
use ptxsmith_report::folder::{self, Folder};
use ptxsmith_subject::{Cancel, Description, Request, SubjectSpec};
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows as wrong;

const CASES: u64 = 1_000;

fn subjects() -> [SubjectSpec; 2] {
    [implementation("right", right), implementation("wrong", wrong(&["octal-as-decimal"]))]
}

/// Runs a campaign with this number of cases in a directory that may hold one already. Returns its notes too.
fn campaign(out: &Path, cases: u64, resume: bool) -> (CampaignOutcome, Vec<String>) {
    let (session, told) = session(7);
    let options =
        ptxsmith_campaign::run::RunOptions { resume, ..options(&subjects(), Focus::Mixed, cases, out) };
    let outcome = run(&session, &options).unwrap();
    (outcome, told.take().notes)
}

/// Report and findings: what does not say in which parts they were found.
fn found(out: &Path) -> Vec<(String, String)> {
    let parts = ["state.json", "verdicts.jsonl"];
    result(out).into_iter().filter(|(name, _)| !parts.contains(&&**name)).collect()
}

fn undivided() -> (tempfile::TempDir, Vec<(String, String)>) {
    let out = tempfile::tempdir().unwrap();
    let (outcome, notes) = campaign(out.path(), CASES, false);
    assert_eq!((outcome.report.findings.len(), notes), (1, Vec::new()));
    let found = found(out.path());
    assert_eq!(found.len(), 3, "a report, and a finding as it was found and at its smallest");
    (out, found)
}

#[test]
fn a_larger_budget_goes_on_within_a_task() {
    let (_, found_at_once) = undivided();
    let out = tempfile::tempdir().unwrap();
    // The second task has the cases from 250 to 750.
    campaign(out.path(), 600, false);
    let started = || folder::read_manifest(out.path()).unwrap().unwrap().started;
    let began = started();
    let findings = out.path().join(folder::FINDINGS);
    let provenance = "// note: found by ptxsmith 0.1.0, seed 1\n";
    for (name, text) in
        [("was-one.ptx", provenance), ("was-one.found.ptx", provenance), ("of-the-user.ptx", "")]
    {
        std::fs::write(findings.join(name), text).unwrap();
    }
    let (outcome, notes) = campaign(out.path(), CASES, true);
    assert_eq!((outcome.earlier, notes, started()), (1, Vec::new(), began));
    assert!(findings.join("of-the-user.ptx").exists() && !findings.join("was-one.ptx").exists());
    std::fs::remove_file(findings.join("of-the-user.ptx")).unwrap();
    assert_eq!(found(out.path()), found_at_once);
    // What is done is not done again.
    let (outcome, _) = campaign(out.path(), CASES, true);
    assert!(outcome.report.complete && !outcome.interrupted);
    assert_eq!(found(out.path()), found_at_once);
}

#[test]
fn where_there_is_nothing_to_go_on_with_a_new_campaign_starts() {
    let out = tempfile::tempdir().unwrap();
    let name = out.path().display();
    let (outcome, notes) = campaign(out.path(), 10, true);
    assert_eq!(notes, [format!("{name} holds no campaign: a new one starts")]);
    assert_eq!(outcome.report.subjects.len(), 2);
}

#[test]
fn shards_are_put_together_to_what_an_undivided_campaign_counts() {
    let (at_once, _) = undivided();
    let at_once = Folder::read(at_once.path()).unwrap().report;
    let directory = tempfile::tempdir().unwrap();
    let shards: Vec<_> = [1, 2].map(|number| directory.path().join(number.to_string())).to_vec();
    for (out, number) in shards.iter().zip(1..) {
        let mut options = options(&subjects(), Focus::Mixed, CASES, out);
        options.shard = Shard { number, of: 2 };
        run(&session(7).0, &options).unwrap();
    }
    let out = directory.path().join("all");
    let options = merge::MergeOptions {
        directories: shards,
        out: out.clone(),
        replace: false,
        partial: false,
        subjects: subjects().to_vec(),
    };
    let (session, told) = session(7);
    let outcome = merge(&session, &options).unwrap();
    let report = outcome.report;
    assert!(report.complete);
    assert_eq!((report.compared, report.conform), (at_once.compared, at_once.conform));
    assert_eq!(report.subjects, at_once.subjects);
    assert_eq!(report.coverage, at_once.coverage);
    let counted = |report: &Report| {
        report.findings.iter().map(|finding| (finding.id.clone(), finding.count)).collect::<Vec<_>>()
    };
    assert_eq!(counted(&report), counted(&at_once));
    // They are no programs that could be run once more.
    let absent = ["right", "wrong"].map(|id| {
        format!(
            "{id} is not here as it was tested, or not to be run (--subject): its findings stay as the shards have them"
        )
    });
    assert_eq!(told.take().notes, absent);
}

#[test]
fn another_campaign_is_not_gone_on_with() {
    let subject = |hash: &str| {
        let sha256 = Some(hash.repeat(64));
        let (id, name) = ("mine".to_owned(), "mine".to_owned());
        [described(Description { id, name, sha256, ..Description::default() }, right)]
    };
    let out = tempfile::tempdir().unwrap();
    run(&session(7).0, &options(&subject("a"), Focus::Mixed, 10, out.path())).unwrap();
    let name = out.path().display();
    let refused = |seed: u64, hash: &str, shard: Shard| {
        let mut options = options(&subject(hash), Focus::Mixed, 10, out.path());
        (options.resume, options.shard) = (true, shard);
        match run(&session(seed).0, &options) {
            Ok(_) => None,
            Err(Failure::BadInput(message)) => Some(message),
            Err(failure) => panic!("{failure:?}"),
        }
    };
    let message = |differs: &str| {
        Some(format!(
            "{name} holds another campaign ({differs}); --resume without other arguments goes on with it, --replace \
             removes it"
        ))
    };
    assert_eq!(refused(8, "a", Shard::ALL), message("seed `7`, here `8`"));
    assert_eq!(refused(7, "b", Shard::ALL), message("subjects `mine aaaaaaaa`, here `mine bbbbbbbb`"));
    assert_eq!(refused(7, "a", Shard { number: 1, of: 2 }), message("shard `1/1`, here `1/2`"));
    assert_eq!(refused(7, "a", Shard::ALL), None);
}

/// Notes when all cases are judged.
#[derive(Clone)]
struct Judged {
    left: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Events for Judged {
    fn begin(&self, _unit: &str, _count: Option<u64>) -> Box<dyn Progress> {
        Box::new(self.clone())
    }
}

impl Progress for Judged {
    fn done(&self, units: u64) {
        // Units of each subject: the cases of a task are done when the last one has judged them.
        if self.left.fetch_sub(units, Ordering::Relaxed) == units {
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_campaign_that_is_stopped_while_it_looks_again_is_interrupted() {
    let (_, found_at_once) = undivided();
    let out = tempfile::tempdir().unwrap();
    let judged = Judged { left: Arc::new(AtomicU64::new(CASES)), over: Arc::default() };
    let (mut session, _) = session(7);
    session.events = Box::new(judged.clone());
    let (cancel, does): (Cancel, _) = (session.cancel.clone(), wrong(&["octal-as-decimal"]));
    let stops = move |request: &Request<'_>| {
        if judged.over.load(Ordering::Relaxed) {
            cancel.cancel();
        }
        does(request)
    };
    let subjects = [implementation("right", right), implementation("wrong", stops)];
    let outcome = run(&session, &options(&subjects, Focus::Mixed, CASES, out.path())).unwrap();
    assert!(outcome.interrupted && outcome.resumable && !outcome.report.complete);
    assert!(outcome.report.compared > CASES && !outcome.report.findings.is_empty());
    assert!(outcome.report.findings.iter().all(|finding| finding.releases.is_empty()));
    assert_eq!(folder::read_manifest(out.path()).unwrap().unwrap().ended, None);

    let (outcome, _) = campaign(out.path(), CASES, true);
    assert!(outcome.report.complete && !outcome.interrupted);
    assert_eq!(found(out.path()), found_at_once);
}
