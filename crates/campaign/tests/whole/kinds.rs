//! What a run makes: expressions in bulk, negatives, addresses, every small program, other weights, a later
//! version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::{described, implementation, options, run_cases, session};
use ptxsmith_campaign::cases::{Cases, wide_header};
use ptxsmith_campaign::run::{self, run};
use ptxsmith_campaign::store::{CampaignState, Shard};
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_gen::{Coverage, Enumeration, Focus};
use ptxsmith_subject::{Description, Observation, Outcome as Seen, Request, SubjectSpec};
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows as wrong;
use tempfile::tempdir;

/// A conforming implementation that notes the versions of the programs that it is shown.
fn noting(max_ptx: Option<&str>) -> (SubjectSpec, Arc<Mutex<BTreeSet<String>>>) {
    let versions: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let log = Arc::clone(&versions);
    let max_ptx = max_ptx.map(str::to_owned);
    let description = Description { id: "noting".to_owned(), max_ptx, ..Description::default() };
    let observe = move |request: &Request<'_>| {
        log.lock().unwrap().insert(request.ptx.lines().next().unwrap().to_owned());
        right(request)
    };
    (described(description, observe), versions)
}

/// Of one conforming implementation, with nothing that is not as usual but this.
fn run_as(
    subject: SubjectSpec,
    focus: Focus,
    cases: u64,
    out: &Path,
    change: impl FnOnce(&mut run::RunOptions),
) -> Result<CampaignOutcome, Failure> {
    let mut options = options(&[subject], focus, cases, out);
    change(&mut options);
    run(&session(1).0, &options)
}

fn productions(out: &Path) -> BTreeMap<String, u64> {
    CampaignState::read(out).unwrap().unwrap().productions
}

/// What the cases of a seed are made of, each made once.
fn counted(cases: &Cases, indices: std::ops::Range<u64>, wide: bool) -> BTreeMap<String, u64> {
    let mut coverage = Coverage::new();
    indices.for_each(|index| drop(cases.case(index, wide, &mut coverage)));
    coverage.counts().map(|(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn expressions_in_bulk_are_counted_once_however_many_implementations_judge_them_and_how() {
    let out = tempdir().unwrap();
    // The fourth task is of 2,000 cases, which are judged in bulk; of the second implementation all are, one
    // by one, after all.
    let cases = 3_750;
    let subjects = [implementation("right", right), implementation("wrong", wrong(&["octal-as-decimal"]))];
    let (outcome, told) = run_cases(5, &subjects, Focus::Expressions, cases, out.path());
    let report = outcome.report;
    let once = counted(&Cases::drawn(5, Focus::Expressions, None), 0..cases, false);
    let made = productions(out.path());
    assert!(made.keys().eq(once.keys()), "{made:?}");
    // Numbers that many expressions share are spelled once only, so that what they are spelled as is counted
    // less often.
    let is_spelling =
        |name: &str| ["magnitude/", "spelling/", "suffix/"].iter().any(|of| name.starts_with(of));
    for (name, count) in made {
        assert!(count == once[&name] || is_spelling(&name) && count < once[&name], "{name}: {count}");
    }
    for subject in &report.subjects {
        assert_eq!(subject.compared + subject.not_compared.values().sum::<u64>(), cases, "{}", subject.id);
    }
    let [right, wrong] = &report.subjects[..] else { panic!("two subjects") };
    assert_eq!(
        (right.compared, right.conform),
        (wrong.compared, wrong.compared + right.conform - right.compared)
    );
    assert_eq!(right.conform, right.compared);
    assert!(wrong.conform < wrong.compared);
    let ids: Vec<&str> = report.findings.iter().map(|finding| &*finding.id).collect();
    assert_eq!(ids, ["octal-as-decimal"]);
    assert_eq!(report.findings[0].count, wrong.compared - wrong.conform);
    assert_eq!((told.begun, told.done), (vec![("cases".to_owned(), Some(cases))], cases));
}

#[test]
fn one_task_of_eight_makes_what_needs_a_later_version_where_every_subject_takes_it() {
    // The eighth task begins with case 17,750; only that one falls to this shard.
    let cases = 17_800;
    let shard = Shard { number: 8, of: 8 };
    let all = Cases::drawn(1, Focus::Mixed, None);
    let total = |wide| Coverage::new().productions(&all.generator(wide)).1 as u64;
    assert!(total(true) > total(false));
    for (max_ptx, is_wide, version) in [
        (None, true, ".version 8.3"),
        (Some("8.3"), true, ".version 8.3"),
        (Some("8.2"), false, ".version 7.8"),
    ] {
        let out = tempdir().unwrap();
        let (subject, versions) = noting(max_ptx);
        let outcome =
            run_as(subject, Focus::Mixed, cases, out.path(), |options| options.shard = shard).unwrap();
        let report = outcome.report;
        assert_eq!(report.compared + report.not_compared.values().sum::<u64>(), 50);
        assert!(report.findings.is_empty() && report.conform == report.compared, "{:#?}", report.findings);
        let versions = versions.lock().unwrap();
        assert!(versions.contains(version), "{max_ptx:?}: {versions:?}");
        assert_eq!(versions.contains(&format!(".version {}", wide_header().version)), is_wide);
        assert_eq!(productions(out.path()), counted(&all, 17_750..cases, is_wide));
        assert_eq!(report.coverage.productions.total, total(is_wide));
        assert_eq!(CampaignState::read(out.path()).unwrap().unwrap().wide, is_wide);
    }
    // What only longer campaigns make is not missing in a short one.
    let out = tempdir().unwrap();
    let (subject, versions) = noting(None);
    let report = run_as(subject, Focus::Mixed, 250, out.path(), |_| {}).unwrap().report;
    assert_eq!(report.coverage.productions.total, total(false));
    assert!(!versions.lock().unwrap().contains(".version 8.3"));
    assert!(!CampaignState::read(out.path()).unwrap().unwrap().wide);
}

#[test]
fn every_small_program_is_made_once() {
    let all = Enumeration::new(0).count();
    for (cases, unlimited, made) in
        [(None, true, all), (None, false, all), (Some(40), false, 40), (Some(all + 7), false, all)]
    {
        let out = tempdir().unwrap();
        let report = run_as(implementation("right", right), Focus::Mixed, 0, out.path(), |options| {
            (options.exhaustive, options.cases, options.unlimited) = (Some(0), cases, unlimited);
        })
        .unwrap()
        .report;
        assert_eq!(report.compared + report.not_compared.values().sum::<u64>(), made, "{cases:?}");
        assert!(report.complete && report.findings.is_empty() && report.conform == report.compared);
        let identity = CampaignState::read(out.path()).unwrap().unwrap().identity;
        assert_eq!(
            (&*identity.options["exhaustive"], &*identity.options["cases"]),
            ("0", &*made.to_string())
        );
    }
}

#[test]
fn weights_of_a_file_choose_what_is_made() {
    let directory = tempdir().unwrap();
    let weights = directory.path().join("weights");
    std::fs::write(&weights, "# no sums\ninteger/add = 0\n").unwrap();
    let out = directory.path().join("out");
    let weigh = |options: &mut run::RunOptions| options.weights = Some(weights.clone());
    let report = run_as(implementation("right", right), Focus::Mixed, 250, &out, weigh).unwrap().report;
    assert_eq!(report.compared + report.not_compared.values().sum::<u64>(), 250);
    let made = productions(&out);
    assert!(!made.contains_key("integer/add") && made.contains_key("integer/subtract"), "{made:?}");
    let identity = CampaignState::read(&out).unwrap().unwrap().identity;
    assert_eq!(identity.options["weights"], "# no sums\ninteger/add = 0\n");
    // They are a part of what the campaign is.
    let other =
        run_as(implementation("right", right), Focus::Mixed, 250, &out, |options| options.resume = true);
    let Err(Failure::BadInput(message)) = other else { panic!("gone on with") };
    assert!(message.contains("(weights `"), "{message}");
    std::fs::write(&weights, "integer/ad = 0\n").unwrap();
    let broken =
        run_as(implementation("right", right), Focus::Mixed, 250, &directory.path().join("new"), weigh);
    let Err(Failure::BadInput(message)) = broken else { panic!("it is run") };
    assert!(message.contains("weights, line 1: no production is named `integer/ad`"), "{message}");
}

#[test]
fn negatives_are_judged_beside_their_valid_counterparts() {
    let out = tempdir().unwrap();
    let takes_all = |request: &Request<'_>| {
        let seen = right(request);
        if seen.outcome == Seen::Refused { Observation::new(Seen::Accepted) } else { seen }
    };
    let subjects = [implementation("right", right), implementation("takes all", takes_all)];
    let (outcome, _) = run_cases(2, &subjects, Focus::Negatives, 500, out.path());
    let [right, takes_all] = &outcome.report.subjects[..] else { panic!("two subjects") };
    for subject in [right, takes_all] {
        assert_eq!(subject.compared + subject.not_compared.values().sum::<u64>(), 500);
    }
    assert!(right.compared > 450, "{}", right.compared);
    let refused = &right.confusion.must_refuse;
    assert_eq!((right.conform, refused.refused, refused.accepted), (right.compared, right.compared, 0));
    let refused = &takes_all.confusion.must_refuse;
    assert_eq!((refused.refused, refused.accepted), (0, takes_all.compared));
    // Refusals that only the default answer to a question demands show that answer; to take such a program is
    // to follow another one.
    let answers = |id: &str| outcome.report.default_readings[id].values().sum::<u64>();
    assert!(answers("right") > 0 && answers("takes all") == 0, "{:?}", outcome.report.default_readings);
    assert!(takes_all.conform >= answers("right") && takes_all.conform < 100, "{}", takes_all.conform);
}

#[test]
fn a_wrong_rule_of_addresses_is_one_finding_under_its_name() {
    let out = tempdir().unwrap();
    let subjects = [implementation("right", right), implementation("wrong", wrong(&["generic-forgotten"]))];
    let (outcome, _) = run_cases(2, &subjects, Focus::Addresses, 250, out.path());
    let ids: Vec<&str> = outcome.report.findings.iter().map(|finding| &*finding.id).collect();
    assert_eq!(ids, ["generic-forgotten"]);
    assert_eq!(outcome.report.findings[0].subjects, ["wrong"]);
}
