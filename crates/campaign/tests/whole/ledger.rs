//! What a ledger makes of verdicts.

use ptxsmith_campaign::ledger::{Ledger, PendingFinding, Triage};
use ptxsmith_diff::{Class, Header, Judge, JudgeOptions, Trial, TrialBody};
use ptxsmith_oracle::{Question, Rules};
use ptxsmith_report::Status;
use ptxsmith_subject::{FnSubject, Observation, Request, Subject};
use ptxsmith_syntax::{ScalarType, StateSpace, parse, parse_expr};
use ptxsmith_testing::{NVIDIA, fake, observe};

fn expressions(texts: &[&str]) -> Vec<Trial> {
    let trial = |(id, text): (usize, &&str)| {
        let expr = parse_expr(text).expect("the expressions of a test parse");
        Trial::new(id as u64, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
    };
    texts.iter().enumerate().map(trial).collect()
}

/// The ledger of trials that are judged one after the other.
fn ledger(subject: &dyn Subject, trials: &[Trial]) -> Ledger {
    let mut ledger = Ledger::default();
    for trial in trials {
        let judge = Judge::new(subject, Rules::default(), JudgeOptions::default());
        let judged = judge.batch(std::slice::from_ref(trial)).expect("nothing of ours fails").remove(0);
        ledger.enter(trial, judged, &Header::default());
    }
    ledger
}

fn findings(ledger: &Ledger) -> Vec<PendingFinding> {
    ledger.findings(&Triage::new([(ledger, NVIDIA)]))
}

#[test]
fn a_wrong_answer_that_nothing_known_predicts_is_new() {
    let rules = Rules::default().with(|rules| {
        rules.layout.place.change(|next, at| next.apply(at) + u64::from(at.index == 1 && at.stride == 1));
    });
    let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
    let module = parse(&format!("{header}.global .s32 x[2][3] = {{{{1, 2}}, {{3}}}};")).unwrap();
    let trials = [Trial::new(0, TrialBody::Items(module.items[3..].to_vec()))];
    let ledger = ledger(&fake(NVIDIA, rules), &trials);
    let findings = findings(&ledger);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].finding.status, Status::New);
    assert!(findings[0].finding.program.contains("x[2][3]"));
}

#[test]
fn a_subject_that_mixes_two_readings_of_a_question_is_a_finding() {
    let fickle = FnSubject::new("fickle", |request: &Request<'_>| {
        let mut rules = Rules::default();
        if request.ptx.contains("2 >>") {
            rules.readings = rules.readings.with(Question::ShiftCount, 1).unwrap();
        }
        observe(NVIDIA, &rules, request)
    });
    let findings = findings(&ledger(&fickle, &expressions(&["3 >> 64", "2 >> 64"])));
    assert_eq!(findings.len(), 1);
    let finding = &findings[0].finding;
    assert_eq!((finding.class, &*finding.id), (Class::Inconsistent, "mixed-shift-count-modulo"));
}

#[test]
fn a_subject_that_refuses_here_what_it_takes_there_is_a_finding() {
    let fickle = FnSubject::new("fickle", |request: &Request<'_>| {
        let mut rules = Rules::default();
        if request.ptx.contains(".const") {
            rules.readings = rules.readings.with(Question::ForwardReference, 1).unwrap();
        }
        observe(NVIDIA, &rules, request)
    });
    let trial = |(id, space)| {
        let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
        let module = parse(&format!("{header}{space} .u64 a = b; .global .u32 b;")).unwrap();
        Trial::new(id, TrialBody::Items(module.items[3..].to_vec()))
    };
    let found = |trials: &[Trial]| -> Vec<String> {
        findings(&ledger(&fickle, trials)).into_iter().map(|found| found.finding.id.to_string()).collect()
    };
    // Elsewhere the interpretation that refuses it is ruled out.
    let refused = found(&[(0, ".global"), (1, ".const")].map(trial));
    assert!(matches!(&refused[..], [only] if only.starts_with("refuses-valid-")), "{refused:?}");
    assert_eq!(found(&[(0, ".const"), (1, ".const")].map(trial)), [""; 0]);
    assert_eq!(found(&[(0, ".global"), (1, ".global")].map(trial)), [""; 0]);
}

/// That it refuses an empty list is an answer to an open question, which the second program rules out: the
/// alignment is the reason.
#[test]
fn a_subject_that_refuses_an_empty_list_behind_an_alignment_alone_refuses_a_valid_program() {
    let refuses =
        FnSubject::new("refuses", |request: &Request<'_>| match request.ptx.contains(".align 0b100") {
            true => Observation::new(ptxsmith_subject::Outcome::Refused),
            false => observe(NVIDIA, &Rules::default(), request),
        });
    let trial = |(id, alignment): (u64, &str)| {
        let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
        let module = parse(&format!("{header}.global {alignment} .b8 a[4] = {{}};")).unwrap();
        Trial::new(id, TrialBody::Items(module.items[3..].to_vec()))
    };
    let ledger = ledger(&refuses, &[(0, ""), (1, ".align 0b100")].map(trial));
    let findings = findings(&ledger);
    let [found] = &findings[..] else { panic!("{findings:#?}") };
    assert_eq!((found.finding.class, found.finding.count), (Class::RefusesValid, 1));
    assert!(found.finding.program.contains("0b100"));
    assert_eq!((ledger.compared, ledger.conforming()), (2, 1));
}

/// Each of the ambiguous ones would conform by an answer of its own.
#[test]
fn nothing_conforms_of_a_subject_that_refuses_everything() {
    let refuses =
        FnSubject::new("refuses", |_: &Request<'_>| Observation::new(ptxsmith_subject::Outcome::Refused));
    let valid: Vec<String> = (0..40).map(|number| format!("{number} + 1")).collect();
    let ambiguous = ["1 << 64", "18446744073709551616", "1.5 % 2"].map(str::to_owned);
    let all: Vec<&str> = valid.iter().chain(&ambiguous).map(|text| &**text).collect();
    let ledger = ledger(&refuses, &expressions(&all));
    assert_eq!(ledger.conforming(), 0);
    assert_eq!(ledger.refused_apart(), ledger.confusion.must_refuse.refused);
    assert!(ledger.refused_apart() > 0);
}

#[test]
fn what_only_accepts_and_refuses_is_counted_apart() {
    let parser = FnSubject::new("parser", |request: &Request<'_>| {
        let seen = observe(NVIDIA, &Rules::default(), request);
        Observation { variables: Default::default(), ..seen }
    });
    let ledger = ledger(&parser, &expressions(&["1 + 2", "1.5 % 2", "7"]));
    assert_eq!((ledger.compared, ledger.conform, ledger.by_outcome, ledger.unseen), (3, 3, 2, 0));
}

/// All that a ledger holds: listed and new deviations, other answers, differences that wrong rules predict.
#[test]
fn a_ledger_is_read_as_it_was_written_and_what_is_unknown_is_refused() {
    let mut rules = ptxsmith_testing::known_rules(NVIDIA);
    rules.readings = rules.readings.with(Question::ShiftCount, 1).unwrap();
    let suspect =
        ptxsmith_diff::hypothetical_rules::all().find(|suspect| suspect.id == "product-saturates").unwrap();
    (suspect.change)(&mut rules);
    let trials = expressions(&["1", "3 >> 64", "1 + 1.0", "9223372036854775807 * 3", "1 ? 2 : 3U"]);
    let ledger = ledger(&fake(NVIDIA, rules), &trials);
    let text = serde_json::to_string(&ledger).unwrap();
    assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
    for (known, unknown, told) in [
        ("product-saturates", "product-sours", "there is no wrong rule `product-sours`"),
        ("shift-count=modulo", "shift-count=odd", "there is no answer to a question `shift-count=odd`"),
        ("4.5.5/multiplication\":", "4.5.5/magic\":", "there is no clause `4.5.5/magic`"),
    ] {
        assert!(text.contains(known), "{known} in {text}");
        let error = serde_json::from_str::<Ledger>(&text.replace(known, unknown)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
