use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ptxsmith_diff::Class;
use ptxsmith_report::Status;
use ptxsmith_subject::{Address, Description, Observation, Outcome, Request, Variable};
use ptxsmith_testing::right;
use ptxsmith_testing::wrong::follows;
use serde_json::json;

use super::*;
use crate::campaign::fake::{campaign, described, found, program, seen, session, tested};

const OCTAL: &str = ".global .s32 a = 010;";

/// Creates a finding whose minimized reproducer should hold `expected` in its variable `a`, and holds
/// `bytes`.
fn held(expected: &[u8], bytes: &[u8]) -> PendingFinding {
    let hex: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    with_answers(json!({"bytes": hex}), Variable { bytes: Some(bytes.to_vec()), ..Variable::default() })
}

fn with_answers(expected: serde_json::Value, variable: Variable) -> PendingFinding {
    let mut observed = Observation::new(Outcome::Accepted);
    observed.variables.insert("a".into(), variable);
    let mut found = found("x", Class::WrongValue, OCTAL, Some("a"), Observation::default());
    found.finding.reduced = Some(Reduced {
        program: program(".global .s32 a = 1 + 1;"),
        tokens: 1,
        answers: Some(Answers {
            variable: Some("a".to_owned()),
            expected: serde_json::from_value(json!({"variables": {"a": expected}})).unwrap(),
            observed,
        }),
    });
    found
}

/// Like [`held`], with addresses.
fn addressed(expected: &[Address], seen: &[Address]) -> PendingFinding {
    let seen = Variable { addresses: Some(seen.to_vec()), ..Variable::default() };
    with_answers(json!({ "addresses": expected }), seen)
}

#[test]
fn one_number_that_is_wrong_in_the_same_bits_is_one_effect() {
    let bits = |expected: &[u8], seen: &[u8]| wrong_bits(&held(expected, seen).finding);
    assert_eq!(bits(&[5, 0, 0, 0], &[4, 0, 0, 3]), Some(vec![1, 0, 0, 3]));
    assert_eq!(bits(&[2], &[3]), Some(vec![1]));
    assert_eq!(bits(&[1, 1], &[1, 0]), Some(vec![0, 1]));
    // Any number would do.
    assert_eq!(bits(&[1, 0, 0, 0], &[2, 0, 0, 0]), None);
    assert_eq!(bits(&[0], &[2]), None);
    // More than one number, or another variable.
    assert_eq!(bits(&[5; 9], &[4; 9]), None);
    assert_eq!(bits(&[5; 8], &[4; 8]), Some(vec![1; 8]));
    assert_eq!(bits(&[5, 5], &[4]), None);
    assert_eq!(expected_bytes(&held(&[7, 8], &[0]).finding), Some(("a".to_owned(), vec![7, 8])));
    let no_answers = found("x", Class::WrongValue, OCTAL, Some("a"), Observation::default());
    assert_eq!(expected_bytes(&no_answers.finding), None);

    assert!(has_same_effect(&held(&[5], &[4]), &held(&[9], &[8])));
    assert!(!has_same_effect(&held(&[5], &[4]), &held(&[9], &[7])));
    assert!(!has_same_effect(&held(&[1], &[2]), &held(&[1], &[2])), "nothing is known of either");
}

#[test]
fn of_an_address_the_first_field_that_differs_is_wrong() {
    let plain =
        Address { offset: 0, width: 8, symbol: "t".to_owned(), addend: 4, generic: Some(false), byte: None };
    let other = Address { offset: 8, ..plain.clone() };
    let rows = [
        (Address { symbol: "u".to_owned(), ..other.clone() }, Some("symbol")),
        (Address { addend: 5, byte: Some(1), ..other.clone() }, Some("addend")),
        (Address { generic: Some(true), ..other.clone() }, Some("generic")),
        (Address { byte: Some(1), ..other.clone() }, Some("byte")),
        (other.clone(), None),
    ];
    let expected = [plain.clone(), other];
    for (wrong, field) in rows {
        let found = addressed(&expected, &[plain.clone(), wrong]);
        assert_eq!(wrong_field(&found.finding), field);
        assert_eq!(has_same_wrong_field(&found, &found), field.is_some());
    }
    let fewer = addressed(&expected, std::slice::from_ref(&plain));
    assert_eq!(wrong_field(&fewer.finding), Some("count"));
    let moved = Address { addend: 5, ..plain.clone() };
    let moved = addressed(&expected, &[moved, expected[1].clone()]);
    assert!(!has_same_wrong_field(&fewer, &moved));
}

#[test]
fn a_cause_shows_in_what_has_all_of_it() {
    let of = |declarations: &str| ProgramFeatures::new(&program(declarations), None);
    let (plain, octal) = (of(".global .s32 a = 0;"), of(OCTAL));
    let more = of(".global .u64 a = ~010;");
    for (cause, features, is_shown) in [
        (&plain, &octal, true),
        (&plain, &plain, true),
        (&octal, &more, true),
        (&more, &octal, false),
        (&octal, &plain, false),
    ] {
        assert_eq!(shows(cause, features), is_shown, "{cause} in {features}");
    }
    let of_kind = |kind| rule_of(&Finding { kind, ..Finding::default() });
    assert_eq!(of_kind(FindingKind::Hypothesis("octal-as-decimal".to_owned())), Some("octal-as-decimal"));
    assert_eq!(of_kind(FindingKind::Unexplained), None);
}

#[test]
fn what_the_budget_was_not_enough_for_is_one_finding_of_each_class() {
    let found = |id: &str, class, count| {
        let mut found = found(id, class, OCTAL, Some("a"), Observation::default());
        found.finding.count = count;
        found.left_unreduced = true;
        (found, ProgramFeatures::new(&program(OCTAL), None))
    };
    let mut reduced = found("reduced", Class::WrongValue, 1);
    reduced.0.finding.reduced = held(&[5], &[4]).finding.reduced;
    reduced.0.left_unreduced = false;
    let mut written = found("written", Class::WrongValue, 2);
    written.0.only_as_written = true;
    written.0.left_unreduced = false;
    let mut causes = vec![
        found("one", Class::WrongValue, 4),
        reduced,
        found("two", Class::WrongValue, 8),
        written,
        found("three", Class::WrongValue, 16),
        found("crash", Class::Crash, 32),
    ];
    join_unreduced(&mut causes);
    let all: Vec<_> = causes
        .iter()
        .map(|(found, features)| (&*found.finding.id, found.finding.count, features.is_plain()))
        .collect();
    let rows = [
        ("reduced", 1, false),
        ("written", 2, false),
        ("crash", 32, true),
        ("wrong-value-not-reduced", 28, true),
    ];
    assert_eq!(all, rows);
    assert_eq!(causes[2].0.finding.title, "title of crash");
    assert_eq!(causes[3].0.finding.title, "title of one, as 2 others that were not reduced");
}

#[test]
fn what_is_wrong_beside_others_follows_from_what_most_others_show() {
    let cause = |id: &str, outcome, subject: &str, count| {
        let mut found = found(id, Class::WrongValue, OCTAL, Some("a"), Observation::new(outcome));
        (found.finding.subjects, found.finding.count) = (vec![subject.to_owned()], count);
        (found, ProgramFeatures::default())
    };
    let mut of_company =
        found("company", Class::Inconsistent, OCTAL, Some("a"), Observation::new(Outcome::Accepted));
    of_company.finding.expected.company = Some(true);
    let other = found("other", Class::WrongValue, OCTAL, Some("a"), Observation::new(Outcome::Accepted));
    let mut causes = [
        cause("refuses", Outcome::Refused, "a", 90),
        cause("few", Outcome::Accepted, "a", 2),
        cause("most", Outcome::Accepted, "a", 5),
        cause("of another", Outcome::Accepted, "b", 70),
    ];
    let mut rest = vec![of_company.clone(), other.clone()];
    join_neighbours(&mut causes, &mut rest);
    assert_eq!(rest, std::slice::from_ref(&other));
    assert_eq!(causes.each_ref().map(|(found, _)| found.finding.count), [90, 2, 6, 70]);
    let mut rest = vec![of_company.clone()];
    join_neighbours(&mut causes[..1], &mut rest);
    assert_eq!(rest, [of_company]);
}

#[test]
fn only_a_program_that_the_subject_takes_and_is_wrong_about_has_answers() {
    let octal = tested("a", follows(&["octal-as-decimal"]));
    let told = answers(&octal, &program(OCTAL), None).unwrap().unwrap();
    assert_eq!(told.variable.as_deref(), Some("a"));
    assert_eq!(told.observed.variables["a"].bytes.as_deref(), Some(&[10, 0, 0, 0][..]));
    assert_eq!(told.expected.variable("a").unwrap().bytes.as_deref(), Some(&[8, 0, 0, 0][..]));
    let known = KNOWN[0].id;
    assert_eq!(answers(&octal, &program(OCTAL), Some(known)).unwrap(), None);
    assert_eq!(answers(&octal, &program(".global .s32 a = 8;"), None).unwrap(), None);
    let description = Description { max_ptx: Some("7.7".to_owned()), ..Description::default() };
    let old = described(description, follows(&["octal-as-decimal"]));
    assert_eq!(answers(&old, &program(OCTAL), None).unwrap(), None);
}

#[test]
fn a_finding_is_of_a_cause_of_its_class_that_shows_in_it() {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", right)]);
    let of = |class, declarations: &str| {
        let found = found("x", class, declarations, Some("a"), Observation::default());
        let features = ProgramFeatures::new(&program(declarations), None);
        (found, features)
    };
    let (cause, own) = of(Class::WrongValue, OCTAL);
    for (class, declarations, is_of) in [
        (Class::WrongValue, ".global .u64 a = 010;", true),
        (Class::WrongValue, ".global .u64 a = 8;", false),
        (Class::Crash, ".global .u64 a = 010;", false),
    ] {
        let (found, features) = of(class, declarations);
        assert_eq!(same_cause(&campaign, &cause, &own, &found, &features).is_some(), is_of, "{declarations}");
    }
    // One common effect is enough, and so is a common wrong address field together with a common feature.
    let same = |one: &PendingFinding, other: &PendingFinding, forms: [&str; 2]| {
        let [own, features] = forms.map(|declarations| ProgramFeatures::new(&program(declarations), None));
        same_cause(&campaign, one, &own, other, &features).is_some()
    };
    let forms = [".global .u32 a = 010;", ".global .u64 a = 8;"];
    assert!(same(&held(&[5], &[4]), &held(&[9], &[8]), forms));
    assert!(!same(&held(&[5], &[4]), &held(&[9], &[7]), forms));
}

#[test]
fn of_two_causes_the_one_with_less_takes_the_other_in() {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", right)]);
    let join = |causes: &mut Vec<(PendingFinding, ProgramFeatures)>, id: &str, declarations: &str| {
        let found = found(id, Class::WrongValue, declarations, Some("a"), Observation::default());
        join_same(&campaign, causes, found, ProgramFeatures::new(&program(declarations), None));
    };
    let mut causes = Vec::new();
    join(&mut causes, "long", ".global .u64 a = ~010;");
    join(&mut causes, "longer", ".const .u64 a = ~010;");
    join(&mut causes, "other", ".global .s32 a = 1 + 1;");
    join(&mut causes, "short", OCTAL);
    let all: Vec<_> = causes.iter().map(|(found, _)| (&*found.finding.id, found.finding.count)).collect();
    assert_eq!(all, [("other", 1), ("short", 3)]);
}

#[test]
fn a_rule_is_taken_back_where_more_deviates_as_it_does_not_predict() {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", right)]);
    let named = |count| {
        let observed = seen(follows(&["octal-as-decimal"]), OCTAL);
        let mut found = found("octal-as-decimal", Class::WrongValue, OCTAL, Some("a"), observed);
        found.finding.reduced = None;
        found.finding.count = count;
        (found, ProgramFeatures::new(&program(OCTAL), None))
    };
    let declarations = ".global .u64 a = 017;";
    // As a decimal number it is 17.
    let holds = |byte: u8, class, declarations: &str, count| {
        let mut observed = seen(right, declarations);
        observed.variables.get_mut("a").unwrap().bytes = Some(vec![byte, 0, 0, 0, 0, 0, 0, 0]);
        let mut found = found("x", class, declarations, Some("a"), observed);
        found.finding.count = count;
        found
    };
    let take_back = |own: u64, others: &[PendingFinding]| {
        let mut causes = vec![named(own)];
        let refuted = remove_refuted_rules(&campaign, &mut causes, others);
        assert_eq!(causes.len() + refuted.len(), 1);
        refuted.into_iter().next()
    };
    let unpredicted = holds(99, Class::WrongValue, declarations, 3);
    let refuted = take_back(3, std::slice::from_ref(&unpredicted)).unwrap();
    assert_eq!(refuted.finding.id, "wrong-value");
    assert_eq!(refuted.finding.title, "a variable holds other bytes");
    assert_eq!(take_back(4, &[unpredicted]), None);
    for other in [
        holds(17, Class::WrongValue, declarations, 9),
        holds(99, Class::WrongValue, ".global .u64 a = 15;", 9),
        holds(99, Class::WrongAddress, declarations, 9),
    ] {
        assert_eq!(take_back(3, &[other]), None);
    }
}

#[test]
fn an_interpretation_that_is_followed_here_and_not_there_follows_from_a_cause_that_does_the_same() {
    let always = |request: &Request<'_>| match request.ptx.contains("a = 6") {
        true => Observation::new(Outcome::Refused),
        false => right(request),
    };
    let spaced = |request: &Request<'_>| match request.ptx.contains("a  = 6") {
        true => Observation::new(Outcome::Refused),
        false => right(request),
    };
    let refused = || Observation::new(Outcome::Refused);
    let cause = |id: &str, declarations: &str, observed| {
        let found = found(id, Class::RefusesValid, declarations, None, observed);
        (found, ProgramFeatures::new(&program(declarations), None))
    };
    let octal = || cause("octal", OCTAL, refused());
    let accepted = || cause("accepted", ".global .s32 a = 0;", Observation::new(Outcome::Accepted));
    let plain = || cause("plain", ".global .s32 a = 0;", refused());
    let written = || {
        let mut cause = octal();
        (cause.0.finding.id, cause.0.only_as_written) = ("written".to_owned(), true);
        cause
    };
    type Does = fn(&Request<'_>) -> Observation;
    let (own, as_written) = (".global .s32 a = 6;", ".global .s32 a  = 6;");
    type Row = (Does, &'static str, Vec<(PendingFinding, ProgramFeatures)>, Option<&'static str>);
    let rows: [Row; 5] = [
        // It shows alone, and it does not show any cause with the same effect.
        (always, own, vec![octal(), accepted()], None),
        // It shows a cause with the same effect.
        (always, own, vec![accepted(), octal(), plain()], Some("plain")),
        // It does not show alone, so it depends on the other declarations.
        (right, own, vec![accepted(), octal()], Some("octal")),
        (right, own, vec![accepted()], None),
        // It shows only as written.
        (spaced, as_written, vec![octal(), written()], Some("written")),
    ];
    for (does, declarations, mut causes, joined) in rows {
        let session = session();
        let campaign = campaign(&session, vec![tested("a", does)]);
        let mut mixed = found("mixed-x", Class::Inconsistent, declarations, None, refused());
        mixed.finding.kind = FindingKind::Interpretation("x".to_owned());
        let other = found("other", Class::Inconsistent, declarations, None, refused());
        let mut rest = vec![mixed.clone(), other.clone()];
        join_mixed(&campaign, &mut causes, &mut rest).unwrap();
        let taken: Vec<&str> = (causes.iter())
            .filter(|(found, _)| found.finding.count == 2)
            .map(|(found, _)| &*found.finding.id)
            .collect();
        assert_eq!(taken, joined.as_slice(), "{declarations}");
        assert_eq!(rest, if joined.is_some() { vec![other] } else { vec![mixed, other] });
    }
}

/// Reduces a finding alone with this rule. Returns it with the number of programs run.
fn reduced(
    observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
    rule: Option<&'static str>,
    mut found: PendingFinding,
) -> (PendingFinding, u64) {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", observe)]);
    let rule = rule.map(ExpectedDeviation::Rule);
    let asked = reduce_new(&campaign, &mut found, rule.as_ref(), None, MOST_OF_ONE).unwrap();
    (found, asked)
}

fn wrong_value(declarations: &str, variable: &str) -> PendingFinding {
    let observed = seen(right, declarations);
    found("x", Class::WrongValue, declarations, Some(variable), observed)
}

#[test]
fn a_finding_is_reduced_to_what_its_rule_predicts() {
    let both = || follows(&["octal-as-decimal", "warp-size-64"]);
    let own = || wrong_value(".global .u64 a = WARP_SZ;\n.global .u64 b = 010;", "a");
    for (rule, smallest, byte) in
        [("octal-as-decimal", OCTAL, 10), ("warp-size-64", ".global .s32 a = WARP_SZ;", 64)]
    {
        let (found, asked) = reduced(both(), Some(rule), own());
        let reduced = found.finding.reduced.unwrap();
        assert_eq!((reduced.program, reduced.tokens), (program(smallest), 6));
        assert_eq!(reduced.answers.unwrap().observed.variables["a"].bytes, Some(vec![byte, 0, 0, 0]));
        assert!(asked > 0 && !found.only_as_written);
    }
    // A finding that does not show the rule keeps its class.
    let (found, _) = reduced(follows(&["octal-as-decimal"]), Some("warp-size-64"), own());
    assert_eq!(found.finding.reduced.unwrap().program, program(OCTAL));
    // If the program shows nothing, it is run again only if there is another question to ask.
    let asked = |rule| {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        let observe = move |request: &Request<'_>| {
            counted.fetch_add(1, Ordering::Relaxed);
            right(request)
        };
        let (found, asked) = reduced(observe, rule, own());
        assert_eq!((found.finding.reduced, asked), (None, 0));
        calls.load(Ordering::Relaxed)
    };
    assert_eq!(asked(Some("warp-size-64")), 2 * asked(None));
}

#[test]
fn what_shows_only_as_it_is_written_is_not_reduced_as_a_tree() {
    let at = |text: &'static str, found: PendingFinding| {
        reduced(
            move |request| match request.ptx.contains(text) {
                true => Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) },
                false => right(request),
            },
            None,
            found,
        )
    };
    let crash = |declarations| found("x", Class::Crash, declarations, None, Observation::default());
    let (spaced, asked) = at("a  =", crash(".global .s32 a  = 6;"));
    assert!(spaced.only_as_written);
    assert_eq!((spaced.finding.reduced, asked), (None, 2));
    assert_eq!(spaced.finding.neighbour.unwrap(), program(".global .s32 a = 6;"));
    // A program that we cannot parse is reduced as text, after a header.
    let (unread, _) = at("%%%", crash(".global .s32 a = 6;\n%%% b c d;"));
    assert!(unread.only_as_written);
    let reduced = unread.finding.reduced.unwrap();
    let header = program("").trim_end().to_owned();
    assert!(reduced.program.starts_with(&header) && reduced.program.contains("%%%"), "{}", reduced.program);
    assert!(!reduced.program.contains(" b c d"), "{}", reduced.program);
    assert_eq!(unread.finding.neighbour, None);
}

#[test]
fn an_answer_that_does_not_come_again_while_it_is_reduced_changes() {
    let (calls, octal) = (AtomicU64::new(0), follows(&["octal-as-decimal"]));
    let once = move |request: &Request<'_>| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => octal(request),
        _ => right(request),
    };
    let (found, asked) = reduced(once, None, wrong_value(OCTAL, "a"));
    assert_eq!((found.finding.class.name(), found.finding.reduced), ("inconsistent", None));
    assert_eq!((found.reproduced, found.runs, asked), (0, 2 * REPEATED, u64::from(2 * REPEATED)));
}

/// Returns the minimized reproducer of a finding with this id, its essential features, and whether it refutes
/// its rule.
fn essential(
    observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
    id: &str,
    declarations: &str,
) -> (PendingFinding, ProgramFeatures, bool) {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", observe)]);
    let mut found = wrong_value(declarations, "a");
    found.finding.kind =
        id_of(id).map_or(FindingKind::Unexplained, |rule| FindingKind::Hypothesis(rule.to_owned()));
    let text = program(declarations);
    let answers = answers(&campaign.subjects[0], &text, None).unwrap();
    found.finding.reduced = Some(Reduced { program: text, tokens: 6, answers });
    let (features, is_refuted) = super::essential(&campaign, &mut found).unwrap();
    (found, features, is_refuted)
}

#[test]
fn what_a_smallest_program_holds_only_to_be_valid_is_no_part_of_its_cause() {
    for declarations in [OCTAL, ".global .u64 a = 010;", ".const .s32 a = 010;"] {
        let (found, features, is_refuted) =
            essential(follows(&["octal-as-decimal"]), "octal-as-decimal", declarations);
        assert_eq!(
            (features.id(), is_refuted),
            (ProgramFeatures::new(&program(OCTAL), None).id(), false),
            "{declarations}"
        );
        // The nearest conforming program holds the same number.
        let neighbour = program(&declarations.replace("010", "8"));
        assert_eq!(found.finding.neighbour, Some(neighbour));
    }
    // The expected number itself is nearer than another operator.
    let (found, ..) = essential(follows(&["not-complements"]), "not-complements", ".global .s32 a = !5;");
    assert_eq!(found.finding.neighbour, Some(program(".global .s32 a = 0;")));
    // Every program holds 10.
    let ten = |request: &Request<'_>| {
        let mut seen = right(request);
        for variable in seen.variables.values_mut() {
            let bytes = variable.bytes.iter_mut().flatten();
            bytes.zip([10].into_iter().chain(std::iter::repeat(0))).for_each(|(byte, own)| *byte = own);
        }
        seen
    };
    let (_, _, is_refuted) = essential(ten, "octal-as-decimal", OCTAL);
    assert!(is_refuted);
    let (found, features, is_refuted) = essential(ten, "wrong-value-x", OCTAL);
    assert!(!is_refuted && features.features().is_empty(), "{features}");
    assert_eq!(found.finding.neighbour, None);
}

#[test]
fn new_findings_of_one_cause_are_one_and_nothing_is_asked_about_what_shows_it() {
    let shown = Arc::new(Mutex::new(Vec::<String>::new()));
    let observe = || {
        let (shown, octal) = (Arc::clone(&shown), follows(&["octal-as-decimal"]));
        move |request: &Request<'_>| {
            shown.lock().unwrap().push(request.ptx.to_owned());
            octal(request)
        }
    };
    let named = || {
        let declarations = ".global .s32 a = 010;";
        found(
            "octal-as-decimal",
            Class::WrongValue,
            declarations,
            Some("a"),
            seen(follows(&["octal-as-decimal"]), declarations),
        )
    };
    let unnamed = || {
        let declarations = ".global .u64 unasked = 017 + 1;";
        let observed = seen(follows(&["octal-as-decimal"]), declarations);
        found("wrong-value-y", Class::WrongValue, declarations, Some("unasked"), observed)
    };
    let mut listed = named();
    (listed.finding.id, listed.finding.status) = ("listed".to_owned(), Status::Known);
    let mut mixed = found("mixed-x", Class::Inconsistent, OCTAL, None, Observation::new(Outcome::Refused));
    mixed.finding.kind = FindingKind::Interpretation("x".to_owned());
    let all = || vec![listed.clone(), unnamed(), mixed.clone(), named()];
    let join = |time: Option<Duration>| {
        let session = session();
        let mut campaign = campaign(&session, vec![tested("a", observe())]);
        campaign.reduce_for = time;
        let mut findings = all();
        join_new(&campaign, &mut findings).unwrap();
        findings
    };
    assert_eq!(join(Some(Duration::ZERO)), all());
    for time in [None, Some(Duration::from_secs(600))] {
        let findings = join(time);
        let ids: Vec<(&str, u64)> =
            findings.iter().map(|found| (&*found.finding.id, found.finding.count)).collect();
        // Only the mixed interpretation rejects a program.
        assert_eq!(ids, [("octal-as-decimal", 2), ("listed", 1), ("mixed-x", 1)]);
        assert_eq!(findings[0].finding.least_program(), program(OCTAL));
        assert!(findings[0].finding.reduced.is_some() && findings[1].finding.reduced.is_none());
    }
    assert!(!shown.lock().unwrap().iter().any(|program| program.contains("unasked")));
}

#[test]
fn what_no_rule_explains_is_called_after_its_smallest_program_and_rests_on_its_clauses() {
    let session = session();
    let campaign = campaign(&session, vec![tested("a", follows(&["octal-as-decimal"]))]);
    let declarations = ".global .u64 a = 017 + 1;";
    let mut long = wrong_value(declarations, "a");
    long.finding.clauses = ["4.5.1/literal-octal", "4.5.5/addition"].map(str::to_owned).to_vec();
    long.finding.title = "a title".to_owned();
    let mut findings = vec![long];
    join_new(&campaign, &mut findings).unwrap();
    let [found] = &findings[..] else { panic!("{findings:#?}") };
    assert_eq!(found.finding.id, "wrong-value-octal");
    assert_eq!(found.finding.title, "an octal number: a title");
    assert_eq!(found.finding.clauses, ["4.5.1/literal-octal"]);
    assert_eq!(found.finding.least_program(), program(OCTAL));
}

#[test]
fn only_findings_for_which_the_budget_did_not_suffice_are_joined_unreduced() {
    for (left_unreduced, expected) in [(true, 1), (false, 2)] {
        let mut found = PendingFinding::default();
        found.left_unreduced = left_unreduced;
        let mut causes = vec![(found, ProgramFeatures::default()); 2];
        join_unreduced(&mut causes);
        assert_eq!(causes.len(), expected);
    }
}

#[test]
fn a_finding_lists_with_what_each_other_was_joined_before() {
    let named = |id| found(id, Class::WrongValue, OCTAL, None, Observation::default());
    let [mut first, mut second, third] = ["first", "second", "third"].map(named);
    second.join(third, "both are odd");
    first.join(second, "both are wrong");
    let joined: Vec<_> = first.finding.joined.iter().map(|joined| (&*joined.id, &*joined.because)).collect();
    let before = "it was joined with second before, because both are odd";
    assert_eq!(joined, [("third", before), ("second", "both are wrong")]);
}
