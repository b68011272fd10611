//! The causes of new differences: their examples are evaluated anew under the wrong rules that others name.

use ptxsmith_campaign::ledger::{Ledger, Triage};
use ptxsmith_diff::hypothetical_rules::HYPOTHETICAL_RULES;
use ptxsmith_diff::{
    Alternatives, Class, Difference, Explanation, Header, Implementation, Judge, JudgeOptions, Trial,
    TrialBody, TrialVerdict, Verdict,
};
use ptxsmith_oracle::{Question, Rules};
use ptxsmith_subject::{FnSubject, Request};
use ptxsmith_syntax::{ScalarType, StateSpace, parse_expr};
use ptxsmith_testing::observe;

const CAUSE: &str = "product-saturates";

fn trial(id: u64, text: &str) -> Trial {
    let expr = parse_expr(text).unwrap();
    Trial::new(id, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
}

/// The verdict on a product beyond 64 bits, of an implementation that follows one wrong rule.
fn deviating(id: u64) -> (Trial, TrialVerdict) {
    let mut rules = Rules::default();
    let suspect = HYPOTHETICAL_RULES.iter().find(|suspect| suspect.id == CAUSE).unwrap();
    (suspect.change)(&mut rules);
    let subject = FnSubject::new("fake", move |request: &Request<'_>| {
        observe(Implementation::default(), &rules, request)
    });
    let trial = trial(id, "9223372036854775807 * 3");
    let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
    let judged = judge.batch(std::slice::from_ref(&trial)).unwrap().remove(0);
    (trial, judged)
}

/// The same, put down to these rules, or changed otherwise.
fn changed(id: u64, change: impl FnOnce(&mut Difference)) -> (Trial, TrialVerdict) {
    let (trial, mut judged) = deviating(id);
    let Verdict::Deviates(difference) = &mut judged.verdict else { panic!("{:?}", judged.verdict) };
    change(difference);
    (trial, judged)
}

fn suspected(id: u64, by: &[Alternatives]) -> (Trial, TrialVerdict) {
    changed(id, |difference| difference.suspected = Some(by.to_vec()))
}

/// What conforms, and shows something besides.
fn conforming(id: u64, change: impl FnOnce(&mut TrialVerdict)) -> (Trial, TrialVerdict) {
    let mut judged = TrialVerdict::new(id, Verdict::Conforms, None, Default::default());
    change(&mut judged);
    (trial(id, "1"), judged)
}

fn cause() -> Alternatives {
    vec![vec![CAUSE]]
}

/// The ids and counts of the findings, by id.
fn ids(entries: &[(Trial, TrialVerdict)]) -> Vec<(String, u64)> {
    let mut ledger = Ledger::default();
    for (trial, judged) in entries {
        ledger.enter(trial, judged.clone(), &Header::default());
    }
    let found = ledger.findings(&Triage::new([(&ledger, Implementation::default())]));
    let mut ids: Vec<_> = found.into_iter().map(|found| (found.finding.id, found.finding.count)).collect();
    ids.sort();
    ids
}

fn of_cause(count: u64) -> (String, u64) {
    (CAUSE.to_owned(), count)
}

/// The name of a difference that nothing explains.
fn unexplained(class: Class) -> String {
    let all =
        ids(&[changed(0, |difference| (difference.class, difference.suspected) = (class, Some(Vec::new())))]);
    assert!(all.len() == 1 && all[0].0.starts_with(class.name()) && all[0].1 == 1, "{all:?}");
    all[0].0.clone()
}

#[test]
fn what_nothing_predicts_alone_is_put_down_to_a_rule_that_others_name() {
    let alone = unexplained(Class::WrongValue);
    assert_eq!(
        ids(&[suspected(0, &[cause()]), suspected(1, &[]), suspected(2, &[Vec::new()])]),
        [of_cause(3)]
    );
    // Two variables, of which a rule predicts one.
    assert_eq!(ids(&[suspected(0, &[cause(), Vec::new()])]), [of_cause(2)]);
    // Without a rule that somebody names it has a name of its own.
    assert_eq!(ids(&[suspected(1, &[]), suspected(2, &[])]), [(alone, 2)]);
    // No rule gives two answers to one program.
    let inconsistent = changed(3, |difference| {
        (difference.class, difference.suspected) = (Class::Inconsistent, Some(Vec::new()));
    });
    let name = unexplained(Class::Inconsistent);
    assert_eq!(ids(&[suspected(0, &[cause()]), inconsistent]), [(name, 1), of_cause(1)]);
}

#[test]
fn a_rule_is_no_cause_where_more_than_a_third_as_many_programs_rule_it_out() {
    let alone = unexplained(Class::WrongValue);
    let contradicting = |id| conforming(id, |judged| judged.contradicts = vec![CAUSE]);
    for (against, id) in [(0, CAUSE), (1, CAUSE), (2, &*alone)] {
        let mut entries: Vec<_> = (0..3).map(|id| suspected(id, &[cause()])).collect();
        entries.extend((10..10 + against).map(contradicting));
        assert_eq!(ids(&entries), [(id.to_owned(), 3)], "{against} against it");
    }
}

#[test]
fn an_answer_that_a_wrong_rule_explains_is_followed_by_no_subject() {
    let modulo = (Question::ShiftCount, 1);
    let reads = |id| {
        let (trial, mut judged) = deviating(id);
        let Verdict::Deviates(mut difference) = judged.verdict else { panic!("it deviates") };
        difference.explanation = Some(Explanation { readings: vec![modulo], ..Explanation::default() });
        judged.verdict = Verdict::Reads(difference);
        (trial, judged)
    };
    let excluding =
        |id, answer| conforming(id, |judged| judged.excluded = vec![(Question::ShiftCount, answer)]);
    let mixed = [reads(5), reads(6), excluding(7, 0), excluding(8, 1)];
    assert_eq!(ids(&mixed), [("mixed-shift-count-modulo".to_owned(), 2)]);
    // What seems to be followed is of the wrong rule.
    assert_eq!(ids(&[&mixed[..], &[suspected(0, &[cause()])]].concat()), [of_cause(3)]);
}
