//! Joins findings with the same cause for which no reproducer can show that.

use std::collections::BTreeMap;

use ptxsmith_diff::Class;

use crate::ledger::PendingFinding;

/// Joins rejections with the same diagnostic if none was reduced. These are mostly programs of users.
pub(super) fn refusals(findings: &mut Vec<PendingFinding>) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<PendingFinding> = Vec::new();
    for found in findings.drain(..) {
        if !(found.is_new() && found.is_refusal() && found.finding.reduced.is_none()) {
            kept.push(found);
            continue;
        }
        match first.get(&found.finding.title) {
            Some(&index) => kept[index].join(found, "the subject gives the same complaint"),
            None => {
                first.insert(found.finding.title.clone(), kept.len());
                kept.push(found);
            }
        }
    }
    *findings = kept;
}

/// Joins all invalid programs accepted by a subject that rejects nothing.
pub(super) fn acceptances(findings: &mut Vec<PendingFinding>, subject: &str) {
    let (accepted, rest): (Vec<PendingFinding>, Vec<PendingFinding>) =
        findings.drain(..).partition(|found| {
            let finding = &found.finding;
            found.is_new() && finding.class == Class::AcceptsInvalid && finding.subjects == [subject]
        });
    *findings = rest;
    let are_several = accepted.len() > 1;
    let joined = accepted.into_iter().reduce(|mut sum, found| {
        sum.join(found, "the subject refuses hardly any invalid program");
        sum
    });
    let Some(mut found) = joined else { return };
    if are_several {
        found.finding.id = format!("{}-everything", Class::AcceptsInvalid.name());
        found.finding.title = "no invalid program is refused, or hardly one".to_owned();
    }
    findings.push(found);
}

#[cfg(test)]
mod tests {
    use ptxsmith_report::{Reduced, Status};
    use ptxsmith_subject::Observation;

    use super::*;
    use crate::campaign::fake::found;

    fn titled(id: &str, class: Class, title: &str, count: u64) -> PendingFinding {
        let mut found = found(id, class, ".global .s32 a;", None, Observation::default());
        (found.finding.title, found.finding.count) = (title.to_owned(), count);
        found
    }

    fn ids(findings: &[PendingFinding]) -> Vec<(&str, u64)> {
        findings.iter().map(|found| (&*found.finding.id, found.finding.count)).collect()
    }

    #[test]
    fn new_refusals_with_one_complaint_are_one_finding_where_none_was_reduced() {
        let refusal = |id, title, count| titled(id, Class::RefusesValid, title, count);
        let mut reduced = refusal("reduced", "no", 16);
        reduced.finding.reduced = Some(Reduced::default());
        let mut known = refusal("known", "no", 32);
        known.finding.status = Status::Known;
        let mut findings = vec![
            refusal("first", "no", 1),
            reduced,
            refusal("other", "never", 2),
            titled("crash", Class::Crash, "no", 4),
            refusal("second", "no", 8),
            known,
        ];
        refusals(&mut findings);
        let all = [("first", 9), ("reduced", 16), ("other", 2), ("crash", 4), ("known", 32)];
        assert_eq!(ids(&findings), all);
    }

    #[test]
    fn what_one_accepts_that_refuses_nothing_is_one_finding() {
        let accepts = |id, count| titled(id, Class::AcceptsInvalid, "one", count);
        let mut of_other = accepts("of-other", 4);
        of_other.finding.subjects = vec!["b".to_owned()];
        let mut known = accepts("known", 8);
        known.finding.status = Status::Known;
        let crash = titled("crash", Class::Crash, "dies", 16);
        let mut findings = vec![accepts("first", 1), of_other, known, crash, accepts("second", 2)];
        acceptances(&mut findings, "a");
        let all = [("of-other", 4), ("known", 8), ("crash", 16), ("accepts-invalid-everything", 3)];
        assert_eq!(ids(&findings), all);
        assert_eq!(findings[3].finding.title, "no invalid program is refused, or hardly one");

        let mut findings = vec![accepts("only", 1)];
        acceptances(&mut findings, "a");
        assert_eq!((ids(&findings), &*findings[0].finding.title), (vec![("only", 1)], "one"));
        let mut findings = Vec::new();
        acceptances(&mut findings, "a");
        assert!(findings.is_empty());
    }
}
