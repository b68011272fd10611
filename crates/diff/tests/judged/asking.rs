//! What a subject is asked before it is tested, and the profile that its answers make.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptxsmith_diff::{Header, Implementation, Profile};
use ptxsmith_oracle::{Question, Readings, Rules};
use ptxsmith_subject::{Observation, Outcome, Request, Subject};
use ptxsmith_testing::of_lineage as fake;

/// What an implementation that follows these rules would do.
fn observe(rules: &Rules, request: &Request<'_>) -> Observation {
    ptxsmith_testing::observe(Implementation::default(), rules, request)
}

/// A subject that gives these answers to open questions.
fn following(answers: &'static [(Question, usize)]) -> impl Subject {
    fake(move |request: &Request<'_>| {
        let readings = answers.iter().fold(Readings::default(), |readings, &(question, answer)| {
            readings.with(question, answer).expect("the answer is one of the question")
        });
        observe(&Rules::specification(readings), request)
    })
}

#[test]
fn a_subject_is_asked_how_it_answers_every_question_of_the_profile() {
    let json = |subject: &dyn Subject| {
        let profile = Profile::ask(subject, &Header::default()).unwrap();
        serde_json::to_value(profile).unwrap()["answers"].clone()
    };
    assert_eq!(json(&following(&[])), serde_json::json!({}));
    for (question, answers) in [
        (Question::ShiftCount, &[(Question::ShiftCount, 1)][..]),
        (Question::DivisionByZero, &[(Question::DivisionByZero, 1)]),
        (Question::DivisionByZero, &[(Question::DivisionByZero, 2)]),
        (Question::FloatDivisionByZero, &[(Question::FloatDivisionByZero, 1)]),
        (Question::LiteralRange, &[(Question::LiteralRange, 1)]),
        (Question::LiteralRange, &[(Question::LiteralRange, 3)]),
        (Question::ParenthesizedSingle, &[(Question::ParenthesizedSingle, 1)]),
        (Question::NanNarrowing, &[(Question::NanNarrowing, 1)]),
        (Question::BitwiseType, &[(Question::BitwiseType, 1)]),
        (Question::ForwardReference, &[(Question::ForwardReference, 1)]),
        (Question::TrailingComma, &[(Question::TrailingComma, 1)]),
    ] {
        let answer = question.answers()[answers[0].1];
        assert_eq!(json(&following(answers)), serde_json::json!({ question.name(): answer }));
    }
}

#[test]
fn asking_a_subject_takes_few_runs() {
    let runs = AtomicUsize::new(0);
    let rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
    let subject = fake(|request: &Request<'_>| {
        runs.fetch_add(1, Ordering::Relaxed);
        ptxsmith_testing::observe(ptxsmith_testing::NVIDIA, &rules, request)
    });
    Profile::ask(&subject, &Header::default()).unwrap();
    let all = runs.load(Ordering::Relaxed);
    assert!(all <= 12, "{all}");
    let header = Header { version: "8.8".into(), target: "sm_90".into(), ..Header::default() };
    let shown = Mutex::new(Vec::new());
    let subject = fake(|request: &Request<'_>| {
        shown.lock().unwrap().push(request.ptx.to_owned());
        observe(&Rules::default(), request)
    });
    Profile::ask(&subject, &header).unwrap();
    let shown = shown.into_inner().unwrap();
    assert!(shown.iter().all(|ptx| ptx.starts_with(".version 8.8\n.target sm_90\n")), "{}", shown[0]);
    // What is taken is not shown once more by itself, where its names have no prefix.
    assert!(!shown.iter().any(|ptx| ptx.contains("x = y;")), "{shown:?}");
}

#[test]
fn a_question_is_recorded_as_deadly_only_if_it_crashes_the_subject() {
    let profile = |does: fn(Observation) -> Observation| {
        let subject = fake(move |request: &Request<'_>| does(observe(&Rules::default(), request)));
        serde_json::to_value(Profile::ask(&subject, &Header::default()).unwrap()).unwrap()
    };
    let usual = profile(|observation| observation);
    let inverts = |mut observation: Observation| {
        let bytes = observation.variables.values_mut().filter_map(|variable| variable.bytes.as_mut());
        bytes.flatten().for_each(|byte| *byte = !*byte);
        observation
    };
    assert_eq!(profile(inverts), usual);
    let dies = |observation: Observation| match observation.outcome {
        Outcome::Refused => Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) },
        _ => observation,
    };
    let deadly = profile(dies)["deadly"].as_array().unwrap().clone();
    assert!(deadly.contains(&"division-by-zero".into()), "{deadly:?}");
    assert!(!deadly.contains(&"shift-count".into()), "{deadly:?}");
}
