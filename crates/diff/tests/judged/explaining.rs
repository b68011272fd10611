//! The results of a trial besides its verdict: what it rules out, its cause, and how far it was observed.

use ptxsmith_diff::hypothetical_rules::{HYPOTHETICAL_RULES, OPERANDS};
use ptxsmith_diff::{
    Class, Header, Implementation, Judge, JudgeOptions, NotCompared, Profile, Trial, TrialBody, TrialVerdict,
    Verdict,
};
use ptxsmith_oracle::{Question, Readings, Rules};
use ptxsmith_subject::{Observation, Outcome, Request, Subject, Variable};
use ptxsmith_syntax::{ScalarType, StateSpace, parse, parse_expr};
use ptxsmith_testing::{observe, of_lineage as fake};

fn right(request: &Request<'_>) -> Observation {
    observe(Implementation::default(), &Rules::default(), request)
}

fn reading(answers: &[(Question, usize)], request: &Request<'_>) -> Observation {
    let with = |readings: Readings, &(question, answer): &(Question, usize)| {
        readings.with(question, answer).unwrap()
    };
    let readings = answers.iter().fold(Readings::default(), with);
    observe(Implementation::default(), &Rules::specification(readings), request)
}

/// The rules with these wrong ones of the suspects.
fn suspected(ids: &[&str]) -> Rules {
    ids.iter().fold(Rules::default(), |rules, id| {
        let rule = HYPOTHETICAL_RULES.iter().chain(OPERANDS).find(|rule| rule.id == *id).unwrap();
        rules.with(rule.change)
    })
}

fn declarations(id: u64, text: &str) -> Trial {
    let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
    let module = parse(&format!("{header}{text}")).unwrap();
    Trial::new(id, TrialBody::Items(module.items[3..].to_vec()))
}

fn expressions(texts: &[&str]) -> Vec<Trial> {
    let trial = |(id, text): (usize, &&str)| {
        let expr = parse_expr(text).unwrap();
        Trial::new(id as u64, TrialBody::Expression { ty: ScalarType::S64, space: StateSpace::Global, expr })
    };
    texts.iter().enumerate().map(trial).collect()
}

fn options() -> JudgeOptions {
    JudgeOptions { recheck_every: 0, ..JudgeOptions::default() }
}

fn judge(subject: &dyn Subject, trials: &[Trial]) -> Vec<TrialVerdict> {
    Judge::new(subject, Rules::default(), options()).batch(trials).expect("nothing of ours fails")
}

/// The verdicts of a judge that has asked the subject how it answers open questions.
fn judge_knowing(subject: &dyn Subject, trials: &[Trial]) -> Vec<TrialVerdict> {
    let profile = Profile::ask(subject, &Header::default()).expect("nothing of ours fails");
    let judge = Judge::new(subject, Rules::default(), options()).with_profile(profile);
    judge.batch(trials).expect("nothing of ours fails")
}

fn difference(judged: &TrialVerdict) -> &ptxsmith_diff::Difference {
    match &judged.verdict {
        Verdict::Deviates(difference) | Verdict::Reads(difference) => difference,
        other => panic!("trial {}: {other:?}", judged.id),
    }
}

#[test]
fn of_a_value_that_no_rule_gives_nothing_is_missed_and_of_others_it_is_counted() {
    let shows_nothing_of = |name: &'static str| {
        fake(move |request: &Request<'_>| {
            let mut seen = right(request);
            seen.outcome = Outcome::Accepted;
            if let Some(variable) = seen.variables.get_mut(name) {
                variable.bytes = None;
            }
            seen
        })
    };
    // The bits of a computed NaN are nowhere given.
    let nan = declarations(0, ".global .f64 a = 0. * 0d7ff0000000000000;");
    let judged = judge(&shows_nothing_of("a"), &[nan]).remove(0);
    assert_eq!(judged.verdict, Verdict::NotCompared(NotCompared::Unmodelled));
    let both = declarations(0, ".global .u32 a = 1; .global .u32 b = 2;");
    let unseen = |name| {
        let judged = judge(&shows_nothing_of(name), std::slice::from_ref(&both)).remove(0);
        assert_eq!(judged.verdict, Verdict::Conforms);
        judged.unseen
    };
    assert_eq!([unseen("b"), unseen("none")], [1, 0]);
}

#[test]
fn of_several_wrong_variables_each_has_suspects_of_its_own() {
    let rules = suspected(&["narrowing-saturates", "division-signed"]);
    let subject = fake(move |request: &Request<'_>| observe(Implementation::default(), &rules, request));
    let trial = declarations(0, ".global .u32 a = ~1; .global .u64 b = 0xffffffffffffffff / 2;");
    let judged = judge(&subject, &[trial]).remove(0);
    let suspected = difference(&judged).suspected.clone().expect("nothing listed explains it");
    let [a, b] = &suspected[..] else { panic!("{suspected:?}") };
    assert!(a.contains(&vec!["narrowing-saturates"]) && !a.contains(&vec!["division-signed"]), "{a:?}");
    assert!(b.contains(&vec!["division-signed"]) && !b.contains(&vec!["narrowing-saturates"]), "{b:?}");
}

#[test]
fn a_conforming_case_excludes_the_wrong_rules_that_it_contradicts() {
    let wrong = suspected(&["division-signed"]);
    let subject = fake(move |request: &Request<'_>| {
        let (mut seen, other) = (right(request), observe(Implementation::default(), &wrong, request));
        // Of the two divisions one is wrong.
        for (name, variable) in other.variables {
            if name.ends_with('a') {
                seen.variables.insert(name, variable);
            }
        }
        seen
    });
    let texts = [
        ".global .u64 a = 0xffffffffffffffff / 2;",
        ".global .u64 b = 0xfffffffffffffffe / 2;",
        ".global .u64 c = 6 / 2;",
    ];
    let trials: Vec<Trial> = texts.iter().zip(0..).map(|(text, id)| declarations(id, text)).collect();
    let judged = judge(&subject, &trials);
    assert!(difference(&judged[0]).suspected.as_ref().unwrap()[0].contains(&vec!["division-signed"]));
    assert!(judged[1].contradicts.contains(&"division-signed"), "{:?}", judged[1].contradicts);
    assert!(!judged[2].contradicts.contains(&"division-signed"), "{:?}", judged[2].contradicts);
    assert_eq!(judged[0].contradicts, [] as [&str; 0]);
    // What deviates nowhere is suspected of nothing.
    assert_eq!(judge(&fake(right), &trials)[1].contradicts, [] as [&str; 0]);
}

/// One constant in several places, of which no rule says what it is.
#[test]
fn a_constant_without_a_rule_holds_the_same_in_every_place() {
    let trial = |value: &str| {
        let text = format!(".global .f64 a = {value}; .global .f64 b = {value};");
        let TrialBody::Items(items) = declarations(0, &text).body else { panic!("declarations are items") };
        [Trial::new(0, TrialBody::Contexts(items))]
    };
    let judged =
        |value, answer: fn(&Request<'_>) -> Observation| judge(&fake(answer), &trial(value)).remove(0);
    fn holding(request: &Request<'_>, bytes: [u8; 2]) -> Observation {
        let mut seen = right(request);
        seen.outcome = Outcome::Accepted;
        for name in ["a", "b"] {
            let byte = bytes[usize::from(name.ends_with('b'))];
            let variable = Variable {
                space: Some("global".into()),
                size: Some(8),
                bytes: Some(vec![byte; 8]),
                ..Variable::default()
            };
            seen.variables.insert(name.into(), variable);
        }
        seen
    }
    let nan = "0. * 0d7ff0000000000000";
    assert_eq!(judged(nan, |request| holding(request, [5, 5])).verdict, Verdict::Conforms);
    let differing = judged(nan, |request| holding(request, [5, 6]));
    assert_eq!(difference(&differing).class, Class::Inconsistent);
    assert_eq!(difference(&differing).variable.as_deref(), Some("b"));
    let class = |outcome: fn(&Request<'_>) -> Observation| difference(&judged(nan, outcome)).class;
    assert_eq!(class(|_| Observation::new(Outcome::Crashed)), Class::Crash);
    assert_eq!(class(|_| Observation::new(Outcome::TimedOut)), Class::Hang);
    let refused = judged(nan, |_| Observation::new(Outcome::Refused));
    assert_eq!(refused.verdict, Verdict::NotCompared(NotCompared::Unmodelled));
    // Where there is a rule, it is asked.
    assert_eq!(judged("2.0", right).verdict, Verdict::Conforms);
    assert_eq!(difference(&judged("2.0", |request| holding(request, [5, 5]))).class, Class::WrongValue);
}

fn kernel(id: u64, name: &str) -> Trial {
    let text = format!(
        ".global .u32 g{name}[3] = {{1, 2, 3}};\n.visible .entry {name}(.param .u64 out) {{\n\
         .reg .u64 o; .reg .u32 r;\nld.param.u64 o, [out];\nld.global.u32 r, [g{name} + 4];\n\
         st.global.u32 [o], r;\nret;\n}}\n"
    );
    declarations(id, &text)
}

#[test]
fn a_conforming_kernel_excludes_the_wrong_rules_that_it_contradicts() {
    let wrong = suspected(&["operand-offset-ignored"]);
    let subject = fake(move |request: &Request<'_>| {
        let (mut seen, other) = (right(request), observe(Implementation::default(), &wrong, request));
        for (name, output) in other.kernels {
            if name.ends_with('k') {
                seen.kernels.insert(name, output);
            }
        }
        seen
    });
    let trials = [kernel(0, "k"), kernel(1, "c")];
    let options = JudgeOptions { launch: true, ..options() };
    let judged = Judge::new(&subject, Rules::default(), options).batch(&trials).unwrap();
    assert_eq!(difference(&judged[0]).class, Class::WrongValue);
    assert_eq!(judged[1].verdict, Verdict::Conforms);
    assert!(judged[1].contradicts.contains(&"operand-offset-ignored"), "{:?}", judged[1].contradicts);
    // What another kernel rules out is no cause.
    let suspected = difference(&judged[0]).suspected.as_ref().unwrap();
    assert!(
        !suspected.iter().flatten().flatten().any(|id| judged[1].contradicts.contains(id)),
        "{suspected:?}"
    );
}

/// A row of two words is eight bytes, at a multiple of eight. Where an index counts words, the access is
/// misaligned, and anything may come of it.
#[test]
fn a_kernel_that_some_answer_leaves_without_a_meaning_is_no_deviation() {
    let kernel = |access: &str| {
        let text = format!(
            ".global .align 8 .u32 g[2][2] = {{{{1, 2}}, {{3, 4}}}};\n.visible .entry k(.param .u64 out) {{\n\
             .reg .u64 o, r;\nld.param.u64 o, [out];\nld.global.u64 r, {access};\nst.global.u64 [o], r;\nret;\n}}\n"
        );
        [declarations(0, &text)]
    };
    let subject = fake(|request: &Request<'_>| {
        let mut seen = right(request);
        for output in seen.kernels.values_mut() {
            output.bytes.as_mut().unwrap()[7] ^= 0x55;
        }
        seen
    });
    let verdict = |access: &str| {
        let options = JudgeOptions { launch: true, ..options() };
        Judge::new(&subject, Rules::default(), options).batch(&kernel(access)).unwrap().remove(0).verdict
    };
    assert_eq!(verdict("g[1]"), Verdict::NotCompared(NotCompared::Unmodelled));
    let Verdict::Deviates(difference) = verdict("[g + 8]") else { panic!("it is wrong under every answer") };
    assert_eq!(difference.class, Class::WrongValue);
}

/// What is expected is told once, of the shortest trial that shows the same.
#[test]
fn only_the_shortest_trial_with_an_explanation_has_the_full_expectation() {
    let modulo = fake(|request: &Request<'_>| reading(&[(Question::ShiftCount, 1)], request));
    let is_told = |texts: [&str; 2]| {
        let trials = texts.map(|text| format!(".global .u32 a = {text};"));
        let trials: Vec<Trial> = trials.iter().zip(0..).map(|(text, id)| declarations(id, text)).collect();
        let judged = judge(&modulo, &trials);
        [0, 1].map(|at| difference(&judged[at]).expected != Default::default())
    };
    assert_eq!(is_told(["1 << 64", "(1) << 64"]), [true, false]);
    assert_eq!(is_told(["(1) << 64", "1 << 64"]), [true, true]);
}

/// A name in parentheses and a reference forward may each be refused. It is known which of them this subject
/// refuses.
#[test]
fn a_refusal_is_explained_by_the_known_answer_of_the_subject() {
    let answers = &[(Question::ForwardReference, 1)];
    let subject = fake(move |request: &Request<'_>| reading(answers, request));
    let trials = [
        declarations(0, ".global .u64 a = (b); .global .u32 b;"),
        declarations(1, ".global .u64 c = d; .global .u32 d;"),
    ];
    let readings = |judged: &TrialVerdict| difference(judged).explanation.as_ref().unwrap().readings.clone();
    let judged = judge_knowing(&subject, &trials);
    assert_eq!(readings(&judged[0]), answers);
    assert_eq!(readings(&judged[1]), answers);
    // Nothing is known of one that was not asked: the more special question is named.
    assert_eq!(readings(&judge(&subject, &trials)[0]), [(Question::ParenthesizedAddress, 1)]);
}

/// A listed declaration holds values that nothing predicts. That must hide neither an interpretation of another
/// variable nor a value of it that nothing explains.
#[test]
fn a_variable_that_a_listed_declaration_explains_is_explained_beside_others() {
    let seen = |request: &Request<'_>, last: u8| {
        let mut seen = reading(&[(Question::ShiftCount, 1)], request);
        for (name, variable) in &mut seen.variables {
            let bytes = variable.bytes.as_mut().expect("it has bytes");
            match name.ends_with('x') {
                true => bytes[8] = 0x42,
                false => bytes[7] = last,
            }
        }
        seen
    };
    let trial = [declarations(0, ".global .b128 x = 5 + 0; .global .s64 y = 1 << 65;")];
    let explained = judge(&fake(|request: &Request<'_>| seen(request, 0)), &trial);
    let explanation = difference(&explained[0]).explanation.as_ref().expect("both are known");
    assert_eq!(explanation.readings, [(Question::ShiftCount, 1)]);
    assert_eq!(explanation.known, ["upper-half-left"]);
    let other = judge(&fake(|request: &Request<'_>| seen(request, 7)), &trial);
    assert_eq!(difference(&other[0]).explanation, None, "y holds something else");
}

#[test]
fn a_refusal_that_is_right_rules_no_answer_out() {
    let judged = judge(&fake(right), &[declarations(0, ".global .u32 a[2] = {1, 2,};")]).remove(0);
    assert_eq!((judged.verdict, &judged.excluded[..]), (Verdict::Conforms, &[][..]));
    // Nor does a module with kernels, of which more than the data is seen.
    let launched = JudgeOptions { launch: true, ..options() };
    let judged =
        Judge::new(&fake(right), Rules::default(), launched).batch(&[kernel(0, "k")]).unwrap().remove(0);
    assert_eq!((judged.verdict, &judged.excluded[..]), (Verdict::Conforms, &[][..]));
}

#[test]
fn of_answers_that_are_known_the_first_cases_rule_the_others_out_and_later_ones_do_where_they_differ() {
    // Where it sees 4095, it shifts as the text says.
    let moody = fake(|request: &Request<'_>| match request.ptx.contains("4095") {
        true => right(request),
        false => reading(&[(Question::ShiftCount, 1)], request),
    });
    let excluded = |base: u32| -> Vec<Vec<(Question, usize)>> {
        let texts: Vec<String> = (64..364).map(|count| format!("{base} << {count}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        judge_knowing(&moody, &expressions(&texts)).into_iter().map(|judged| judged.excluded).collect()
    };
    let (saturates, modulo) = ((Question::ShiftCount, 0), (Question::ShiftCount, 1));
    let as_known = excluded(3);
    assert_eq!([&as_known[0], &as_known[299]], [&vec![saturates], &vec![]]);
    let otherwise = excluded(4095);
    assert_eq!([&otherwise[0], &otherwise[299]], [&vec![modulo], &vec![modulo]]);
}

#[test]
fn a_difference_in_the_batch_alone_is_inconsistent_unless_a_neighbour_may_overwrite_it() {
    // The address of `p` ends where `p` ends, and writes over nothing.
    let trials = [
        declarations(0, ".global .u32 v = 5;"),
        declarations(1, ".global .u32 w = 6;"),
        declarations(2, ".global .u32 y; .global .u64 p = y;"),
    ];
    let in_company = |always: bool| {
        let subject = fake(move |request: &Request<'_>| {
            let mut seen = right(request);
            let several = seen.variables.len() > 2;
            for (name, variable) in &mut seen.variables {
                let is_wrong = name.ends_with("_v") && several || name.ends_with('w') && always;
                if let (true, Some(bytes)) = (is_wrong, &mut variable.bytes) {
                    bytes[0] ^= 0xff;
                }
            }
            seen
        });
        judge(&subject, &trials)
    };
    let judged = in_company(false);
    assert_eq!(difference(&judged[0]).class, Class::Inconsistent);
    assert_eq!(difference(&judged[0]).expected.company, Some(true));
    assert_eq!(judged[1].verdict, Verdict::Conforms);
    // What is wrong alone too is that, and says nothing of company.
    let judged = in_company(true);
    assert_eq!(difference(&judged[0]).class, Class::Inconsistent);
    assert_eq!(difference(&judged[1]).class, Class::WrongValue);
    assert_eq!(difference(&judged[1]).expected.company, None);
}

#[test]
fn a_reading_that_is_followed_only_in_company_is_inconsistent() {
    let moody = fake(|request: &Request<'_>| match request.ptx.contains("7,") {
        true => reading(&[(Question::ShiftCount, 1)], request),
        false => right(request),
    });
    let trials = expressions(&["7", "3 << 64"]);
    let every = JudgeOptions { recheck_every: 1, ..JudgeOptions::default() };
    let judged = Judge::new(&moody, Rules::default(), every).batch(&trials).unwrap();
    let Verdict::Deviates(difference) = &judged[1].verdict else { panic!("{judged:?}") };
    assert_eq!(difference.class, Class::Inconsistent);
}
