//! Triage names a fault that is planted into an implementation, once and nothing besides, on top of what is known of ptxas.

#[path = "../../diff/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::cores::on_all_cores;
use common::{NVIDIA, fake, known_rules};
use ptxsmith_campaign::ledger::{Ledger, Triage};
use ptxsmith_diff::suspects::{SUSPECTS, Suspect};
use ptxsmith_diff::{Body, Header, Judge, Options, Trial};
use ptxsmith_gen::{self as generate, Coverage, Focus, Generator};
use ptxsmith_oracle::Rules;

/// Cases that the generator makes, as trials.
fn trials(seed: u64, count: u64) -> Vec<Trial> {
    let generator = Generator::default();
    let trial = |index| {
        let case = generator.case(Focus::Mixed, seed, index, &mut Coverage::new());
        let body = match case.body {
            generate::Body::Expression { ty, space, expr } => Body::Expression { ty, space, expr },
            generate::Body::Items(items) => Body::Items(items),
            generate::Body::Contexts(items) => Body::Contexts(items),
            generate::Body::Negative(_) | generate::Body::Kernel(_) => return None,
        };
        Some(Trial { id: index, body, spacing: case.spacing })
    };
    (0..count).filter_map(trial).collect()
}

/// The ids of the new findings about ptxas with these faults planted.
fn new_findings(planted: &[&Suspect], trials: &[Trial]) -> BTreeSet<String> {
    let mut rules = known_rules(NVIDIA);
    planted.iter().for_each(|suspect| (suspect.change)(&mut rules));
    let subject = fake(NVIDIA, rules);
    let options = Options { recheck_every: 0, ..Options::default() };
    let judge = Judge::new(&subject, Rules::default(), options);
    let mut ledger = Ledger::default();
    // As many together as a task of a campaign judges.
    for some in trials.chunks(5_000) {
        for (trial, judged) in some.iter().zip(judge.batch(some).expect("nothing of ours fails")) {
            ledger.enter(trial, judged, &Header::default());
        }
    }
    let findings = ledger.findings(&Triage::of([(&ledger, NVIDIA)]));
    findings.into_iter().filter(|found| found.is_new()).map(|found| found.finding.id).collect()
}

fn suspect(id: &str) -> &'static Suspect {
    SUSPECTS.iter().find(|suspect| suspect.id == id).expect("it is in the list")
}

#[test]
fn without_a_planted_fault_nothing_is_new() {
    assert_eq!(new_findings(&[], &trials(0, 6_000)), BTreeSet::new());
}

#[test]
fn one_planted_fault_is_one_new_finding() {
    let trials = trials(0, 4_000);
    let mut wrong = Vec::new();
    let mut told = 0;
    // What tells this one from `difference-signed` is rarer than these cases are many.
    let suspects: Vec<&Suspect> =
        SUSPECTS.iter().filter(|suspect| suspect.id != "difference-type-of-right").collect();
    let all = on_all_cores(&suspects, |_, suspect| new_findings(&[suspect], &trials));
    for (suspect, found) in suspects.into_iter().zip(all) {
        told += usize::from(!found.is_empty());
        // What shows in refusals only is named by them, and joined at the end of a campaign. A refusal of a program that meets an open
        // question may be explained by an answer to it, which other programs exclude.
        let is_of_refusals = |id: &String| id.starts_with("refuses-valid-") || id.ends_with("-refused");
        let is_named = found == BTreeSet::from([suspect.id.to_owned()]) || found.iter().all(is_of_refusals);
        if !is_named {
            wrong.push((suspect.id, found));
        }
    }
    assert!(told >= 50, "only {told} of {} show in these cases", SUSPECTS.len());
    assert!(wrong.is_empty(), "{} of {told}: {wrong:#?}", wrong.len());
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
    let pairs =
        ids.iter().enumerate().flat_map(|(at, one)| ids[..at].iter().map(move |other| [*one, *other]));
    let pairs: Vec<[&str; 2]> = pairs.collect();
    let all = on_all_cores(&pairs, |_, &[one, other]| new_findings(&[suspect(one), suspect(other)], &trials));
    let mut wrong = Vec::new();
    for ([one, other], found) in pairs.into_iter().zip(all) {
        if found != BTreeSet::from([one.to_owned(), other.to_owned()]) {
            wrong.push((one, other, found));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
