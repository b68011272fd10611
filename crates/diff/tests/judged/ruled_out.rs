//! Which answers to open questions a program of the user's rules out, part by part.

use ptxsmith_diff::{Class, Implementation, PartVerdict, Verdict, judge_module};
use ptxsmith_oracle::{Question, Readings, Rules};
use ptxsmith_subject::{Description, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::parse;
use ptxsmith_testing::{NVIDIA, observe, of_lineage as fake};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// The parts of a program as a subject answers that gives these answers to open questions.
fn parts(answers: &'static [(Question, usize)], declarations: &str) -> Vec<PartVerdict> {
    parts_of(&fake(move |request: &Request<'_>| follows(answers, request)), declarations)
}

fn follows(answers: &[(Question, usize)], request: &Request<'_>) -> Observation {
    let with = |readings: Readings, &(question, answer): &(Question, usize)| {
        readings.with(question, answer).expect("the answer is one of the question")
    };
    let readings = answers.iter().fold(Readings::default(), with);
    observe(Implementation::default(), &Rules::specification(readings), request)
}

fn parts_of(subject: &dyn Subject, declarations: &str) -> Vec<PartVerdict> {
    let text = format!("{HEADER}{declarations}\n");
    let module = parse(&text).expect("the programs of a test parse");
    let verdicts = judge_module(subject, &Rules::default(), &module, &text, "sm_80");
    verdicts.expect("nothing of ours fails").parts()
}

const FORWARD: &str = ".global .u64 a = b; .global .u32 b;";

#[test]
fn an_accepted_program_excludes_the_answer_that_refuses_it() {
    let [a, ..] = &parts(&[], FORWARD)[..] else { panic!("a program has parts") };
    assert_eq!((&a.verdict, &a.excluded[..]), (&Verdict::Conforms, &[(Question::ForwardReference, 1)][..]));
    // Of each question few parts are asked.
    let many =
        ".global .u64 a = z; .global .u64 b = z; .global .u64 c = z; .global .u64 d = z; .global .u32 z;";
    let ruling: Vec<bool> = parts(&[], many).iter().map(|part| !part.excluded.is_empty()).collect();
    assert_eq!(ruling, [true, true, false, false, false]);
}

#[test]
fn a_refusal_under_one_other_answer_rules_out_that_of_the_text() {
    let [part] = &parts(&[(Question::ForwardReference, 1)], FORWARD)[..] else { panic!("it is one part") };
    assert!(matches!(part.verdict, Verdict::Reads(_)), "{:?}", part.verdict);
    assert_eq!(part.excluded, [(Question::ForwardReference, 0)]);
}

#[test]
fn a_value_that_takes_two_other_answers_rules_out_those_of_the_text() {
    let both = &[(Question::ShiftCount, 1), (Question::BitwiseType, 1)];
    let [part] = &parts(both, ".global .s64 a = (3 << 64) + (-7 | -8) / 2;")[..] else {
        panic!("it is one part")
    };
    assert!(matches!(part.verdict, Verdict::Reads(_)), "{:?}", part.verdict);
    let mut expected = [(Question::ShiftCount, 0), (Question::BitwiseType, 0)];
    expected.sort_unstable();
    assert_eq!(part.excluded, expected);
}

/// The other variable may be what is behind it, where no rule says what it holds.
#[test]
fn a_program_with_a_part_that_is_undecided_rules_nothing_out_as_a_whole() {
    let undecided = ".global .f64 n = 0. * 0d7ff0000000000000; .global .u64 a = b; .global .u32 b;";
    for part in parts(&[(Question::ForwardReference, 1)], undecided) {
        assert!(matches!(part.verdict, Verdict::NotCompared(_)), "{:?}", part.verdict);
        assert_eq!(part.excluded, []);
    }
}

#[test]
fn a_crash_of_a_listed_kind_is_known_by_its_signal() {
    use ptxsmith_diff::known::{Effect, KNOWN};
    let listed = KNOWN.iter().filter_map(|known| match known.effect {
        Effect::CrashRule { signal, .. } if known.is_listed_for(NVIDIA) => Some((known, signal)),
        _ => None,
    });
    let mut shown = 0;
    for (known, listed) in listed {
        let judged = |signal: Option<i32>| {
            let died = Observation { signal, ..Observation::new(Outcome::Crashed) };
            let subject = fake(move |_: &Request<'_>| died.clone());
            let version = NVIDIA.version.map(str::to_owned);
            let subject = {
                let description = Description { version, ..subject.description().clone() };
                subject.described(description)
            };
            let module = parse(known.example).unwrap();
            let verdicts = judge_module(&subject, &Rules::default(), &module, known.example, "sm_80");
            verdicts.expect("nothing of ours fails").parts()
        };
        let explained = |parts: &[PartVerdict]| match parts {
            [PartVerdict { verdict: Verdict::Deviates(difference), .. }] => {
                assert_eq!(difference.class, Class::Crash, "{}", known.id);
                difference.explanation.as_ref().is_some_and(|e| e.known.contains(&known.id))
            }
            other => panic!("{}: {other:?}", known.id),
        };
        assert!(explained(&judged(Some(listed))), "{}", known.id);
        assert!(!explained(&judged(Some(if listed == 6 { 8 } else { 6 }))), "{}", known.id);
        shown += 1;
    }
    assert!(shown > 0);
}
