//! Findings of one cause that no reproducer shows to be one.

use std::collections::BTreeMap;

use ptxsmith_diff::Class;

use crate::ledger::Found;

/// Makes one finding of refusals with one complaint, where none was reduced: the programs of users, mostly.
pub(super) fn refusals(findings: &mut Vec<Found>) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Found> = Vec::new();
    for found in findings.drain(..) {
        if !(found.is_new() && found.is_refusal() && found.finding.reduced.is_none()) {
            kept.push(found);
            continue;
        }
        match first.get(&found.finding.title) {
            Some(&at) => kept[at].join(found),
            None => {
                first.insert(found.finding.title.clone(), kept.len());
                kept.push(found);
            }
        }
    }
    *findings = kept;
}

/// Makes one finding of all invalid programs that a subject accepts which refuses nothing.
pub(super) fn acceptances(findings: &mut Vec<Found>, subject: &str) {
    let is_one = |found: &Found| {
        let finding = &found.finding;
        found.is_new() && finding.class == Class::AcceptsInvalid.name() && finding.subjects == [subject]
    };
    let (all, rest): (Vec<Found>, Vec<Found>) = findings.drain(..).partition(is_one);
    *findings = rest;
    let several = all.len() > 1;
    let Some(mut found) = all.into_iter().reduce(|mut all, found| {
        all.join(found);
        all
    }) else {
        return;
    };
    if several {
        found.finding.id = format!("{}-everything", Class::AcceptsInvalid.name());
        found.finding.title = "no invalid program is refused, or hardly one".to_owned();
    }
    findings.push(found);
}
