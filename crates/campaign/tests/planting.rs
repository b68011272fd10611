//! Triage names a fault that is planted into an implementation, once and nothing besides, on top of what is
//! known of ptxas.

use std::collections::BTreeSet;

use ptxsmith_campaign::ledger::{Ledger, Triage};
use ptxsmith_diff::{Header, Judge, JudgeOptions, Trial, TrialBody};
use ptxsmith_gen::{self as generate, Coverage, Focus, Generator};
use ptxsmith_oracle::Rules;
use ptxsmith_testing::wrong::{self, RuleOrigin, WrongRule};
use ptxsmith_testing::{NVIDIA, fake, is_whole, known_rules, on_all_cores};

/// Cases that the generator makes, as trials.
fn trials(seed: u64, count: u64) -> Vec<Trial> {
    let generator = Generator::default();
    let trial = |index| {
        let case = generator.case(Focus::Mixed, seed, index, &mut Coverage::new());
        let body = match case.body {
            generate::Body::Expression { ty, space, expr } => TrialBody::Expression { ty, space, expr },
            generate::Body::Items(items) => TrialBody::Items(items),
            generate::Body::Contexts(items) => TrialBody::Contexts(items),
            generate::Body::Negative(_) | generate::Body::Kernel(_) => return None,
        };
        Some(Trial { id: index, body, spacing: case.spacing })
    };
    (0..count).filter_map(trial).collect()
}

/// The ids of the new findings about ptxas with these faults planted.
fn new_findings(planted: &[WrongRule], trials: &[Trial]) -> BTreeSet<String> {
    let mut rules = known_rules(NVIDIA);
    planted.iter().for_each(|wrong| (wrong.change)(&mut rules));
    let subject = fake(NVIDIA, rules);
    let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
    let judge = Judge::new(&subject, Rules::default(), options);
    let mut ledger = Ledger::default();
    // As many together as a task of a campaign judges.
    for some in trials.chunks(5_000) {
        for (trial, judged) in some.iter().zip(judge.batch(some).expect("nothing of ours fails")) {
            ledger.enter(trial, judged, &Header::default());
        }
    }
    let findings = ledger.findings(&Triage::new([(&ledger, NVIDIA)]));
    findings.into_iter().filter(|found| found.is_new()).map(|found| found.finding.id).collect()
}

#[test]
fn without_a_planted_fault_nothing_is_new() {
    assert_eq!(new_findings(&[], &trials(0, 6_000)), BTreeSet::new());
}

#[test]
fn one_planted_fault_is_one_new_finding() {
    let trials = trials(0, 4_000);
    let mut unnamed = Vec::new();
    let mut told = 0;
    // Each takes a second; that each shows at all is proven in crates/diff/tests/mutants.
    let every = if is_whole() { 1 } else { 3 };
    // What tells this one from `difference-signed` is rarer than these cases are many.
    let rules: Vec<WrongRule> = wrong::with_origin(RuleOrigin::Hypothesis)
        .filter(|own| own.id != "difference-type-of-right")
        .step_by(every)
        .collect();
    let all = on_all_cores(&rules, |_, &planted| new_findings(&[planted], &trials));
    for (planted, found) in rules.iter().zip(all) {
        told += usize::from(!found.is_empty());
        // What shows in refusals only is named by them, and joined at the end of a campaign.
        let is_of_refusals = |id: &String| id.starts_with("refuses-valid-");
        let is_named = found == BTreeSet::from([planted.id.to_owned()]) || found.iter().all(is_of_refusals);
        if !is_named {
            unnamed.push((planted.id, found));
        }
    }
    assert!(told * every >= 50, "only {told} of {} show in these cases", rules.len());
    assert!(unnamed.is_empty(), "{} of {told}: {unnamed:#?}", unnamed.len());
}

#[test]
fn two_planted_faults_are_two_new_findings() {
    let ids = [
        "large-literals-signed",
        "warp-size-64",
        "not-complements",
        "product-saturates",
        "division-signed",
        "shift-right-logical",
        "less-signed",
        "narrowing-saturates",
        "add-loose",
        "offset-counts-words",
    ];
    let trials = trials(1, 3_000);
    let pairs: Vec<[&str; 2]> =
        ids.windows(2).step_by(if is_whole() { 1 } else { 3 }).map(|pair| [pair[0], pair[1]]).collect();
    let all = on_all_cores(&pairs, |_, &[one, other]| new_findings(&[one, other].map(wrong::rule), &trials));
    let mut wrong = Vec::new();
    for ([one, other], found) in pairs.into_iter().zip(all) {
        if found != BTreeSet::from([one.to_owned(), other.to_owned()]) {
            wrong.push((one, other, found));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
