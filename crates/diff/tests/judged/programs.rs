//! Judging programs as they are, those of a user's, against subjects made from the oracle itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptxsmith_diff::{Class, Implementation, NotCompared, PartVerdict, Verdict, judge_data, judge_module};
use ptxsmith_oracle::{Question, Rules};
use ptxsmith_subject::{Description, Observation, Outcome, Request, Subject, Variable};
use ptxsmith_syntax::parse;
use ptxsmith_testing::{observe, of_lineage as fake};

/// The texts at hand do not say what comments may hold.
#[test]
fn a_refusal_of_a_text_with_characters_beyond_ascii_is_not_compared() {
    let refuses = fake(|request: &Request<'_>| {
        let refused = request.ptx.contains("// é") || request.ptx.contains("// e");
        Observation::new(if refused { Outcome::Refused } else { Outcome::Accepted })
    });
    let parts = |comment: &str| {
        let text =
            format!(".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a = 1; // {comment}\n");
        let module = parse(&text).unwrap();
        judge_module(&refuses, &Rules::default(), &module, &text, "sm_80").unwrap().parts()
    };
    let [PartVerdict { verdict: Verdict::NotCompared(NotCompared::Unmodelled), why: Some(why), .. }] =
        &parts("é")[..]
    else {
        panic!("{:?}", parts("é"))
    };
    assert_eq!(why.line, Some(4));
    let plain = parts("e");
    assert!(
        matches!(&plain[..], [PartVerdict { verdict: Verdict::Deviates(d), .. }] if d.class == Class::RefusesValid)
    );
}

#[test]
fn a_variable_without_a_value_is_reported_with_the_reason_that_the_subject_gives() {
    let why = |reason: Option<&str>| {
        let seen = Variable { reason: reason.map(str::to_owned), ..Variable::default() };
        let variables = [("a".into(), seen)].into();
        let observation = Observation { variables, ..Observation::new(Outcome::Accepted) };
        let subject = fake(move |_: &Request<'_>| observation.clone());
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a = 1;\n";
        let module = parse(text).unwrap();
        let mut parts = judge_module(&subject, &Rules::default(), &module, text, "sm_80").unwrap().parts();
        assert_eq!(parts[0].verdict, Verdict::NotCompared(NotCompared::Unobserved));
        parts.remove(0).why.expect("there is a reason").reason
    };
    assert_eq!(why(None), "the subject does not show it");
    assert_eq!(why(Some("optimized away")), "optimized away");
}

/// A request to a subject that cannot list its variables names them, and each request is for the named
/// target.
#[test]
fn a_subject_is_shown_the_program_for_the_target_that_is_named() {
    let asked = Mutex::new(Vec::new());
    let subject = fake(|request: &Request<'_>| {
        let names: Vec<String> = request.read.iter().map(|one| one.name.to_string()).collect();
        asked.lock().unwrap().push((request.target.to_owned(), names, request.launch.len()));
        observe(Default::default(), &Rules::default(), request)
    });
    let text = ".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 a = 1;\n\
        .visible .entry k(.param .u64 out) { .reg .u64 o; .reg .u32 r; ld.param.u64 o, [out]; ld.global.u32 r, [a]; \
        st.global.u32 [o], r; ret; }\n";
    let module = parse(text).unwrap();
    let parts = judge_module(&subject, &Rules::default(), &module, text, "sm_100").unwrap().parts();
    assert!(parts.iter().all(|part| part.verdict == Verdict::Conforms), "{parts:?}");
    assert_eq!(parts.len(), 2);
    ptxsmith_diff::observe(&subject, &Rules::default(), &module, text, "sm_120").unwrap();
    let mut asked = asked.into_inner().unwrap();
    let last = asked.pop().unwrap();
    assert_eq!(last, ("sm_120".to_owned(), vec!["a".to_owned()], 0));
    assert!(asked.iter().all(|(target, ..)| target == "sm_100"), "{asked:?}");
    assert!(asked.iter().any(|(.., launched)| *launched == 1), "{asked:?}");
    assert!(asked.iter().any(|(_, names, launched)| *launched == 0 && *names == ["a"]), "{asked:?}");
}

/// A subject that shows no values takes the program: more cannot be said of its variables.
#[test]
fn a_program_that_a_subject_without_values_takes_conforms_by_outcome() {
    let verdicts = |values: Option<bool>, declaration: &str| -> Vec<Verdict> {
        let subject = fake(|_| Observation::new(Outcome::Accepted));
        let description = Description { values, ..subject.description().clone() };
        let subject = subject.described(description);
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{declaration}\n");
        let module = parse(&text).unwrap();
        let parts = judge_data(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
        parts.into_iter().map(|part| part.verdict).collect()
    };
    let one = ".global .u32 a = 1;";
    assert_eq!(verdicts(Some(false), one), [Verdict::ConformsByOutcome]);
    assert_eq!(verdicts(Some(true), one), [Verdict::NotCompared(NotCompared::Unobserved)]);
    assert_eq!(verdicts(Some(true), ".func f();"), [Verdict::ConformsByOutcome]);
}

/// Of a subject that shows no values, that it takes a program is all that an explanation can predict, and all
/// that an answer to an open question can be ruled out by.
#[test]
fn what_a_subject_without_values_takes_is_explained_and_rules_out_by_that_alone() {
    let parts = |values: bool, text: &str| {
        let rules = ptxsmith_testing::known_rules(ptxsmith_testing::NVIDIA);
        let subject = fake(move |request: &Request<'_>| match values {
            true => observe(ptxsmith_testing::NVIDIA, &rules, request),
            false => Observation::new(Outcome::Accepted),
        });
        let description = subject.description().clone();
        let version = Some("13.5.37".into());
        let subject = subject.described(Description { version, values: Some(values), ..description });
        judge_data(&subject, &Rules::default(), &parse(text).unwrap(), text, "sm_80").unwrap()
    };
    // The mask of a constant came with .version 7.3, and is listed as taken before.
    let early = ".version 7.2\n.target sm_80\n.address_size 64\n.global .u8 a = 0xFF(1);\n";
    for values in [false, true] {
        let known = |text: &str| match &parts(values, text)[..] {
            [PartVerdict { verdict: Verdict::Deviates(found), .. }] => {
                assert_eq!(found.class, Class::AcceptsInvalid);
                found.explanation.as_ref().map(|own| own.known.clone())
            }
            parts => panic!("{parts:?}"),
        };
        assert_eq!(known(early), Some(vec!["mask-of-constant-before-7.3"]), "{values}");
    }
    // 3 << 65 is 0, and 6 to one that takes the count modulo 64.
    let shift = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u64 a = 3 << 65;\n";
    let excluded = |values| parts(values, shift).remove(0).excluded;
    assert_eq!(excluded(false), []);
    assert_eq!(excluded(true), [(Question::ShiftCount, 1)]);
    // Taken, where another answer would refuse it.
    let forward = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u64 a = b;\n.global .u32 b;\n";
    let excluded = |values| parts(values, forward).remove(0).excluded;
    assert_eq!(excluded(false), [(Question::ForwardReference, 1)]);
}

/// How long a compiler takes to generate code the specification does not say; that data get an answer, they do.
#[test]
fn a_timeout_counts_only_against_judged_statements() {
    let small = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a = 5;\n\
                 .entry k() { .reg .u32 %r; mov.u32 %r, %tid.x; }\n";
    let large = format!("{small}.entry l() {{ .reg .u32 %r; {} }}\n", "mov.u32 %r, %tid.x; ".repeat(1_000));
    let of = |text: &str, slow: &'static str| {
        let subject = fake(move |request: &Request<'_>| match request.ptx.contains(slow) {
            true => Observation::new(Outcome::TimedOut),
            false => observe(Implementation::default(), &Rules::default(), request),
        });
        judge_module(&subject, &Rules::default(), &parse(text).unwrap(), text, "sm_80").unwrap().parts()
    };
    let parts = |slow| of(&large, slow);
    let of_the_kernel = parts("%tid");
    let [PartVerdict { verdict: Verdict::NotCompared(_), why: Some(why), .. }] = &of_the_kernel[..] else {
        panic!("{of_the_kernel:?}")
    };
    assert_eq!(why.reason, "no end in time, of a large program");
    let of_the_data = parts(".global");
    let hang = of_the_data.iter().find(|part| matches!(&part.verdict, Verdict::Deviates(_))).unwrap();
    let derived = &hang.derived.as_ref().expect("the program itself is not accused").text;
    assert!(derived.contains("a = 5") && !derived.contains("%tid"), "{derived}");
    // So is a program that is decided, if it is larger still; it is not shown again.
    let decided = format!(
        "{}.global .u32 b[] = {{ {}5 }};\n",
        &small[..small.find(".entry").unwrap()],
        "7, ".repeat(30_000)
    );
    let of_decided = of(&decided, ".global");
    assert!(
        matches!(of_decided[..], [PartVerdict { verdict: Verdict::NotCompared(_), .. }]),
        "{of_decided:?}"
    );
    // A small program gets an answer, whatever is in it.
    assert!(matches!(
        of(small, "%tid")[..],
        [PartVerdict { verdict: Verdict::Deviates(_), derived: None, .. }]
    ));
}

#[test]
fn what_is_no_variable_is_not_called_one() {
    let text =
        ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a = 5;\n# 1 \"a.cu\"\n.global .u32 b;\n";
    let follows =
        fake(|request: &Request<'_>| observe(Implementation::default(), &Rules::default(), request));
    let parts = judge_module(&follows, &Rules::default(), &parse(text).unwrap(), text, "sm_80");
    let whys: Vec<String> =
        parts.unwrap().parts().into_iter().filter_map(|part| Some(part.why?.part)).collect();
    assert_eq!(whys, ["statement #"]);
}

#[test]
fn a_crash_on_an_undecided_program_does_not_say_that_it_is_to_be_accepted() {
    let dying = fake(|_| Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) });
    for (text, outcome) in [
        (".global .texref t = {width = foo};", "unmodelled"),
        (".pragma \"nounroll\"; .global .u32 a;", "unmodelled"),
        (".global .u32 a;", "accepted"),
        (".pragma \"nounroll\"; .global .u32 a[1] = {1, 2};", "refused"),
    ] {
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n{text}\n");
        let module = parse(&text).unwrap();
        let parts = judge_data(&dying, &Rules::default(), &module, &text, "sm_80").unwrap();
        let Verdict::Deviates(found) = &parts[0].verdict else { panic!("{parts:?}") };
        assert_eq!((found.class, found.expected.outcome()), (Class::Crash, Some(outcome)), "{text}");
    }
}

#[test]
fn a_size_that_comes_to_nothing_is_explained_by_the_rule_that_gives_it() {
    let nothing = fake(|_| {
        let variable = Variable { size: Some(0), ..Variable::default() };
        Observation {
            variables: BTreeMap::from([("x".into(), variable)]),
            ..Observation::new(Outcome::Accepted)
        }
    });
    let description = Description { version: Some("13.5.37".into()), ..nothing.description().clone() };
    let nothing = nothing.described(description);
    for (dimensions, known) in [
        ("[2][4294967296]", Some(&["size-modulo-2-64"][..])),
        ("[9223372036854775808]", Some(&["size-modulo-2-64"])),
        ("[9223372036854775808][2]", Some(&["size-modulo-2-64"])),
        ("[4611686018427387904] = {1}", Some(&["size-modulo-2-64"])),
        ("[9223372036854775809]", None),
    ] {
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 x{dimensions};\n");
        let module = parse(&text).unwrap();
        let parts = judge_data(&nothing, &Rules::default(), &module, &text, "sm_80").unwrap();
        let Verdict::Deviates(found) = &parts[0].verdict else { panic!("{parts:?}") };
        assert_eq!(found.explanation.as_ref().map(|own| &own.known[..]), known, "{dimensions}");
    }
}

#[test]
fn a_variable_under_the_name_of_nothing_is_undeclared_even_where_not_all_is_promised() {
    for (shown, count, expected) in
        [("a<", "0", Some(vec!["count-of-zero-declares"])), ("b<", "0", None), ("a<", "1", None)]
    {
        let subject = fake(move |_| {
            let variable = Variable { size: Some(4), bytes: Some(vec![0; 4]), ..Variable::default() };
            let named = |name: &str| (name.into(), variable.clone());
            Observation {
                variables: [named(shown), named("a0"), named("$x")].into(),
                ..Observation::new(Outcome::Accepted)
            }
        });
        let description = Description { version: Some("13.5.37".into()), ..subject.description().clone() };
        let subject = subject.described(description);
        let text = format!(".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a<{count}>;\n");
        let module = parse(&text).unwrap();
        let parts = judge_data(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
        let found = parts.iter().find_map(|part| match &part.verdict {
            Verdict::Deviates(found) => Some(found),
            _ => None,
        });
        let found = found.unwrap_or_else(|| panic!("{parts:?}"));
        assert_eq!((found.class, found.variable.as_deref()), (Class::WrongLayout, Some(shown)));
        assert_eq!(found.explanation.as_ref().map(|own| own.known.clone()), expected, "{shown} {count}");
    }
}
