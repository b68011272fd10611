//! Tests the ledger with verdicts made by hand.

use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::{Difference, Explanation, Implementation, ShownOperands, TrialBody, WhyNotCompared};
use ptxsmith_oracle::Trace;
use ptxsmith_report::OutcomeCounts;
use ptxsmith_subject::{Observation, Outcome, Variable};
use ptxsmith_syntax::{ScalarType, StateSpace, parse_expr};

use super::*;

/// One literal, the shortest program, and a longer one.
const SHORT: &str = "1";
const LONG: &str = "1 + 2";

const MODULO: (Question, usize) = (Question::ShiftCount, 1);
const SATURATE: (Question, usize) = (Question::ShiftCount, 0);

fn trial(id: u64, text: &str) -> Trial {
    let expr = parse_expr(text).unwrap();
    Trial::new(id, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
}

fn text(id: u64, text: &str) -> String {
    trial(id, text).text(&Header::default())
}

/// Creates a verdict on a valid program that depends on one clause.
fn judged(id: u64, verdict: Verdict) -> TrialVerdict {
    let trace = Trace { clauses: Clause::UnaryPlus.into(), ..Trace::default() };
    TrialVerdict::new(id, verdict, Some(Requirement::Accept), trace)
}

fn conforms(id: u64) -> TrialVerdict {
    judged(id, Verdict::Conforms)
}

fn difference(class: Class) -> Difference {
    let outcome = match class {
        Class::Crash => Outcome::Crashed,
        Class::Hang => Outcome::TimedOut,
        Class::RefusesValid => Outcome::Refused,
        _ => Outcome::Accepted,
    };
    let mut observed = Observation::new(outcome);
    if outcome == Outcome::Accepted {
        // Bytes that no rule predicts.
        let bytes = Some(vec![0xee; 8]);
        let space = Some(".global".into());
        let x = Variable { space, size: Some(8), align: Some(8), bytes, ..Variable::default() };
        observed.variables.insert("x".into(), x);
    }
    Difference {
        class,
        variable: Some("x".to_owned()),
        expected: Default::default(),
        observed,
        explanation: None,
        suspected: None,
    }
}

fn deviates(id: u64, difference: Difference) -> TrialVerdict {
    judged(id, Verdict::Deviates(Box::new(difference)))
}

/// Creates a deviation that these listed ones explain together.
fn listed(id: u64, class: Class, known: &[&KnownDeviation]) -> TrialVerdict {
    let known = known.iter().map(|known| known.id).collect();
    let explanation = Some(Explanation { known, ..Explanation::default() });
    deviates(id, Difference { explanation, ..difference(class) })
}

/// Creates a deviation with the sets of wrong rules that predict each variable.
fn suspected(id: u64, class: Class, by_variable: &[Alternatives]) -> TrialVerdict {
    deviates(id, Difference { suspected: Some(by_variable.to_vec()), ..difference(class) })
}

/// Creates a trial that follows another interpretation.
fn reads(id: u64) -> TrialVerdict {
    let explanation = Some(Explanation { readings: vec![MODULO], ..Explanation::default() });
    judged(id, Verdict::Reads(Box::new(Difference { explanation, ..difference(Class::WrongValue) })))
}

fn not_compared(id: u64, reason: NotCompared, why: &str) -> TrialVerdict {
    let why =
        WhyNotCompared { part: "a".to_owned(), line: None, reason: why.to_owned(), detail: None, said: None };
    TrialVerdict { why: Some(Box::new(why)), unseen: 5, ..judged(id, Verdict::NotCompared(reason)) }
}

fn ledger(entries: &[(&str, TrialVerdict)]) -> Ledger {
    let mut ledger = Ledger::default();
    for (text, judged) in entries {
        ledger.enter(&trial(judged.id, text), judged.clone(), &Header::default());
    }
    ledger
}

/// Returns the findings, without a triage of other ledgers.
fn found(ledger: &Ledger) -> Vec<PendingFinding> {
    ledger.findings(&Triage::new([(ledger, Implementation::default())]))
}

fn ids(ledger: &Ledger) -> Vec<(String, u64)> {
    found(ledger).into_iter().map(|found| (found.finding.id, found.finding.count)).collect()
}

/// Returns one verdict of each kind, each on a trial of its own.
fn every_kind() -> Vec<(&'static str, TrialVerdict)> {
    let refused = |id| TrialVerdict {
        requirement: Some(Requirement::Refuse),
        confirms: Some(Question::ShiftCount),
        ..conforms(id)
    };
    let group = |ids: &[&'static str]| ids.iter().map(|&id| vec![id]).collect::<Alternatives>();
    let share = ShownOperands { seen: 2, total: 3 };
    let memory = ptxsmith_diff::CodeCounts { compared: 2, removed: 1, ..Default::default() };
    vec![
        (LONG, TrialVerdict { excluded: vec![MODULO], unseen: 2, operands: share, ..conforms(0) }),
        (SHORT, TrialVerdict { excluded: vec![MODULO, SATURATE], unseen: 1, operands: share, ..conforms(1) }),
        (SHORT, TrialVerdict { memory_operands: Some(Box::new(memory)), ..conforms(2) }),
        (SHORT, TrialVerdict { contradicts: vec!["product-saturates"], ..conforms(3) }),
        (SHORT, TrialVerdict { contradicts: vec!["product-saturates"], ..conforms(4) }),
        (SHORT, refused(5)),
        (SHORT, refused(6)),
        (SHORT, judged(7, Verdict::ConformsByOutcome)),
        (SHORT, judged(8, Verdict::ConformsByOutcome)),
        (SHORT, not_compared(9, NotCompared::Unsupported, "no shifts")),
        (SHORT, not_compared(10, NotCompared::Unsupported, "no shifts")),
        (SHORT, not_compared(11, NotCompared::Unobserved, "not shown")),
        (LONG, reads(12)),
        (SHORT, reads(13)),
        (LONG, listed(14, Class::WrongValue, &[&KNOWN[0]])),
        (SHORT, listed(15, Class::WrongValue, &[&KNOWN[0], &KNOWN[1]])),
        (SHORT, listed(16, Class::Crash, &[&KNOWN[1]])),
        (SHORT, suspected(17, Class::WrongValue, &[group(&["octal-as-decimal", "warp-size-64"])])),
        (LONG, suspected(18, Class::RefusesValid, &[group(&["warp-size-64"])])),
        (SHORT, suspected(19, Class::WrongValue, &[])),
        (SHORT, suspected(20, Class::WrongValue, &[group(&["octal-as-decimal", "warp-size-64"])])),
        (LONG, deviates(21, difference(Class::WrongAddress))),
        (LONG, deviates(22, difference(Class::WrongAddress))),
    ]
}

#[test]
fn what_conforms_is_counted_by_all_that_it_shows() {
    let ledger = ledger(&every_kind()[..9]);
    assert_eq!((ledger.compared, ledger.conform, ledger.by_outcome, ledger.unseen), (9, 9, 2, 3));
    assert_eq!(ledger.operands, OperandCounts { seen: 4, total: 6 });
    assert_eq!((ledger.memory_operands.compared, ledger.memory_operands.removed), (2, 1));
    assert_eq!(ledger.confirmed, BTreeMap::from([(Question::ShiftCount, 2)]));
    let excluded =
        [(MODULO, 2), (SATURATE, 1)].map(|((question, nth), n)| (Interpretation(question, nth), n));
    assert_eq!(ledger.excluded, excluded.into());
    assert_eq!(ledger.contradicted, BTreeMap::from([("product-saturates", 2)]));
    assert_eq!(ledger.confusion.must_accept, OutcomeCounts { accepted: 7, ..OutcomeCounts::default() });
    assert_eq!(ledger.confusion.must_refuse, OutcomeCounts { refused: 2, ..OutcomeCounts::default() });
    let counts = ClauseCounts { compared: 9, conform: 9, ..ClauseCounts::default() };
    assert_eq!(ledger.clauses, BTreeMap::from([(Clause::UnaryPlus, counts)]));
    assert_eq!(ledger.reached, Clause::UnaryPlus.into());
}

#[test]
fn what_is_not_compared_is_counted_by_reason_and_words_and_no_fault_of_its_clauses() {
    let ledger = ledger(&every_kind()[9..12]);
    assert_eq!((ledger.compared, ledger.conform, ledger.unseen), (0, 0, 0));
    assert_eq!(ledger.not_compared, [(NotCompared::Unobserved, 1), (NotCompared::Unsupported, 2)].into());
    assert_eq!(ledger.why[&NotCompared::Unsupported], [("no shifts".to_owned(), 2)].into());
    assert_eq!(ledger.why[&NotCompared::Unobserved], [("not shown".to_owned(), 1)].into());
    let counts = ClauseCounts { unsupported: 2, ..ClauseCounts::default() };
    assert_eq!(ledger.clauses, BTreeMap::from([(Clause::UnaryPlus, counts)]));
}

#[test]
fn of_very_many_words_some_are_kept_and_the_others_counted_together() {
    let most = MOST_REASONS as u64;
    let entries: Vec<_> = (0..most + 2)
        // The first reason occurs again after the limit is reached.
        .chain([0])
        .map(|id| (SHORT, not_compared(id, NotCompared::Unobserved, &format!("reason {id}"))))
        .collect();
    let ledger = ledger(&entries);
    let why = &ledger.why[&NotCompared::Unobserved];
    assert_eq!((why.len() as u64, why[OTHER], why["reason 0"], why["reason 7"]), (most + 1, 2, 2, 1));
}

#[test]
fn a_broken_clause_is_counted_by_what_became_of_its_programs() {
    let clauses = KNOWN[0].clauses;
    for class in Class::ALL {
        let entries = [(LONG, listed(0, class, &[&KNOWN[0]])), (SHORT, listed(1, class, &[&KNOWN[0]]))];
        let ledger = ledger(&entries);
        let mut counts = ClauseCounts { compared: 2, ..ClauseCounts::default() };
        let mut fates = OutcomeCounts::default();
        match class {
            Class::Crash | Class::Hang => (counts.crashed, fates.crashed) = (2, 2),
            Class::RefusesValid => (counts.refuses_valid, fates.refused) = (2, 2),
            Class::AcceptsInvalid => (counts.accepts_invalid, fates.accepted) = (2, 2),
            _ => (counts.deviates, fates.accepted) = (2, 2),
        }
        assert_eq!(
            (ledger.compared, ledger.conform, ledger.confusion.must_accept),
            (2, 0, fates),
            "{class:?}"
        );
        assert!(ledger.reached.contains(Clause::UnaryPlus));
        for clause in clauses {
            assert_eq!(ledger.clauses[clause], counts, "{class:?}");
            let ShortestProgram { trial, program, .. } = &ledger.least[clause][&class];
            assert_eq!((*trial, program), (1, &text(1, SHORT)), "{class:?}");
        }
        assert_eq!(ids(&ledger), [(KNOWN[0].id.to_owned(), 2)]);
    }
}

#[test]
fn an_example_gives_way_to_a_shorter_one_and_of_equals_to_the_first() {
    let one = |id| listed(id, Class::WrongValue, &[&KNOWN[0]]);
    let both = |id| listed(id, Class::WrongValue, &[&KNOWN[0], &KNOWN[1]]);
    let two = |id| {
        let alone = |id: &'static str| vec![vec![id]];
        suspected(id, Class::WrongValue, &[alone("octal-as-decimal"), alone("warp-size-64")])
    };
    let alone = |id| suspected(id, Class::WrongValue, &[vec![vec!["octal-as-decimal"]]]);
    // The verdicts, and whether each program becomes the example.
    let table: [&[(&str, TrialVerdict, bool)]; 4] = [
        &[(LONG, one(5), true), (LONG, one(6), false), (LONG, one(4), true), (SHORT, one(7), true)],
        // A deviation alone is a better example, however long the program is.
        &[(SHORT, both(0), true), (LONG, one(1), true), (SHORT, both(2), false), (LONG, one(3), false)],
        &[(SHORT, two(0), true), (LONG, alone(1), true), (LONG, alone(2), false)],
        &[(LONG, alone(1), true), (SHORT, two(2), true), (SHORT, two(3), false)],
    ];
    for (row, entries) in table.into_iter().enumerate() {
        let mut ledger = Ledger::default();
        for (text, judged, is_example) in entries {
            let trial = trial(judged.id, text);
            let found = ledger.enter(&trial, judged.clone(), &Header::default());
            let example = found.map(|found| (found.trial, found.finding.program));
            let expected = is_example.then(|| (trial.id, trial.text(&Header::default())));
            // If a program shows two rules, the second may be new; in that case its finding is returned.
            assert_eq!(example, expected, "row {row}, trial {}", trial.id);
        }
    }
}

#[test]
fn the_shortest_program_rules_an_answer_out_and_is_shown_beside_the_mixture() {
    let excluding = |id| TrialVerdict { excluded: vec![MODULO], ..conforms(id) };
    let ledger = ledger(&[
        (LONG, excluding(4)),
        (SHORT, excluding(8)),
        (SHORT, excluding(7)),
        (SHORT, excluding(9)),
        (LONG, TrialVerdict { excluded: vec![SATURATE], ..conforms(10) }),
        (LONG, reads(20)),
        (SHORT, reads(21)),
    ]);
    let all = found(&ledger);
    let [mixed] = &all[..] else { panic!("{all:#?}") };
    let finding = &mixed.finding;
    assert_eq!(
        (&*finding.id, finding.class.name(), finding.count),
        ("mixed-shift-count-modulo", "inconsistent", 2)
    );
    assert_eq!(
        finding.title,
        "no one interpretation of shift-count is followed: ruled out are saturate (1), modulo (4)"
    );
    assert_eq!(finding.clauses, Question::ShiftCount.clauses());
    assert_eq!(finding.neighbour, Some(text(7, SHORT)));
    assert_eq!((mixed.trial, &finding.program), (21, &text(21, SHORT)));
    assert!(mixed.is_mixed() && mixed.is_new());
    // The subject follows neither interpretation if both are excluded.
    assert_eq!(ledger.readings().count(), 0);
}

#[test]
fn another_answer_is_followed_unless_something_rules_it_out() {
    let excluding = |id, answer| (SHORT, TrialVerdict { excluded: vec![answer], ..conforms(id) });
    let modulo = Interpretation(MODULO.0, MODULO.1);
    let readings = |entries: &[(&str, TrialVerdict)]| ledger(entries).readings().collect::<Vec<_>>();
    assert_eq!(readings(&[(SHORT, reads(0)), (LONG, reads(1))]), [(modulo, 2)]);
    // Verdicts that exclude the default also show the other interpretation.
    let against = [excluding(1, SATURATE), excluding(2, SATURATE), excluding(3, SATURATE)];
    assert_eq!(readings(&[&[(SHORT, reads(0))], &against[..]].concat()), [(modulo, 3)]);
    assert_eq!(readings(&[(SHORT, reads(0)), excluding(1, MODULO)]), vec![]);
    assert_eq!(readings(&against), vec![]);
    // A single interpretation that nothing excludes is followed, and no finding is mixed.
    assert_eq!(ids(&ledger(&[(SHORT, reads(0)), excluding(1, SATURATE)])), vec![]);
}

#[test]
fn differences_that_nothing_listed_explains_are_told_apart_by_what_predicts_them() {
    let entries = every_kind();
    let ledger = ledger(&entries);
    // Two that were not analysed, one without a prediction, two and one that wrong rules predict, and two
    // that conform only under an interpretation that others exclude.
    assert_eq!((ledger.unsorted, ledger.unexplained()), (2, 8));
    assert_eq!((ledger.compared, ledger.conform), (20, 11));
    let known = |at: usize, count| (KNOWN[at].id.to_owned(), count);
    let mut expected = vec![
        // On a tie, the first rule in the alphabet is the cause. The rejection is explained by its only rule
        // only if that is a cause of others.
        ("octal-as-decimal".to_owned(), 2),
        ("wrong-value-4-5-4-unary-plus".to_owned(), 1),
        ("refuses-valid-a-valid-program-is-refused-no-message-4-5-4-unary-plus".to_owned(), 1),
        ("mixed-shift-count-modulo".to_owned(), 2),
        known(0, 2),
        known(1, 2),
    ];
    expected.sort();
    let mut all = ids(&ledger);
    all.sort();
    assert_eq!(all, expected);
    // New findings come first.
    let news: Vec<bool> = found(&ledger).iter().map(PendingFinding::is_new).collect();
    assert_eq!(news, [true, true, true, true, false, false]);
    // The clause of a wrong rule counts as violated.
    let octal = FindingName::lead("octal-as-decimal").clauses[0];
    assert_eq!(ledger.clauses[&octal].deviates, 2);
    assert_eq!(ledger.least[&octal][&Class::WrongValue].trial, 17);
}

#[test]
fn ledgers_of_parts_are_merged_in_any_order_to_that_of_the_whole() {
    let entries = every_kind();
    let whole = ledger(&entries);
    for parts in [2, 3, 5] {
        let part = |number: usize| {
            let own = entries.iter().enumerate().filter(|(at, _)| at % parts == number);
            ledger(&own.map(|(_, entry)| entry.clone()).collect::<Vec<_>>())
        };
        for reversed in [false, true] {
            let mut numbers: Vec<usize> = (0..parts).collect();
            if reversed {
                numbers.reverse();
            }
            let mut merged = Ledger::default();
            numbers.into_iter().for_each(|number| merged.merge(part(number)));
            assert_eq!(merged, whole, "{parts} parts, reversed: {reversed}");
        }
    }
}

#[test]
fn what_is_put_in_is_in_place_of_one_of_its_name_and_of_what_is_gone_there_is_one() {
    let of = |status, trial| {
        let kind = match status {
            Status::Known => FindingKind::Known("one".to_owned()),
            Status::Gone => FindingKind::Fixed("one".to_owned()),
            Status::New => FindingKind::Unexplained,
        };
        let name = FindingName { id: "one".to_owned(), kind, ..FindingName::default() };
        PendingFinding::new(name, &difference(Class::WrongValue), text(trial, SHORT), trial, 4)
    };
    let with = |status, trial| {
        let mut ledger = Ledger::default();
        ledger.put(of(Status::New, 99));
        ledger.put(of(status, trial));
        ledger
    };
    assert_eq!(found(&with(Status::Gone, 3)), [of(Status::Gone, 3)]);
    for (status, count) in [(Status::Gone, 1), (Status::Known, 2)] {
        let mut merged = Ledger::default();
        merged.merge(with(status, 3));
        assert_eq!(ids(&merged), [("one".to_owned(), 1)], "{status:?}");
        merged.merge(with(status, 3));
        assert_eq!(ids(&merged), [("one".to_owned(), count)], "{status:?}");
    }
}

#[test]
fn what_was_counted_in_bulk_is_added_to_its_examples() {
    let known = KNOWN.iter().find(|known| !known.clauses.is_empty()).unwrap();
    let mut ledger = ledger(&[(SHORT, listed(0, Class::WrongValue, &[known])), (SHORT, reads(1))]);
    let before = ledger.clone();
    ledger.enter_bulk(&BulkVerdicts::default());
    assert_eq!(ledger, before, "nothing was counted");

    let mut bulk = BulkVerdicts::default();
    (bulk.conform, bulk.unmodelled) = (100, 7);
    bulk.clauses[Clause::UnaryMinus as usize] = 60;
    bulk.read.insert(MODULO, 10);
    bulk.deviate.insert(known.id, 5);
    bulk.deviating = Clause::Precedence.into();
    for times in 1..=2 {
        ledger.enter_bulk(&bulk);
        assert_eq!((ledger.compared, ledger.conform), (2 + times * 105, 1 + times * 100));
        assert_eq!(ledger.not_compared, [(NotCompared::Unmodelled, times * 7)].into());
        assert_eq!(
            ledger.confusion.must_accept,
            OutcomeCounts { accepted: 2 + times * 105, ..OutcomeCounts::default() }
        );
        let counts = ClauseCounts { compared: times * 60, conform: times * 60, ..ClauseCounts::default() };
        assert_eq!(ledger.clauses[&Clause::UnaryMinus], counts);
        assert_eq!(ledger.followed[&Interpretation(MODULO.0, MODULO.1)].finding.count, 1 + times * 10);
        assert_eq!(ids(&ledger), [(known.id.to_owned(), 1 + times * 5)]);
        for clause in known.clauses {
            assert_eq!(ledger.clauses[clause].deviates, 1 + times * 5);
        }
    }
    // A clause in deviating programs only is reached. A clause on which nothing depends is neither reached
    // nor counted.
    assert!(ledger.reached.contains(Clause::UnaryMinus) && ledger.reached.contains(Clause::Precedence));
    assert!(!ledger.reached.contains(Clause::WarpSize) && !ledger.clauses.contains_key(&Clause::WarpSize));
}
