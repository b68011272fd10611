//! A program in executable and in relocatable output: what the subject as it is named does with it, and what
//! the other form adds.

use ptxsmith_diff::{
    Class, Implementation, ModuleVerdicts, NotCompared, PartVerdict, Rejection, Verdict, judge_module,
};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Diagnostic, Observation, Outcome, OutputForm, Request, Severity};
use ptxsmith_syntax::parse;
use ptxsmith_testing::{observe, of_lineage as fake};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";
use OutputForm::{Executable, Relocatable};

fn verdicts(text: &str, answer: impl Fn(&Request<'_>) -> Observation + Send + Sync) -> ModuleVerdicts {
    let text = format!("{HEADER}{text}\n");
    let module = parse(&text).expect("the programs of a test parse");
    let subject = fake(answer).with_both_forms();
    judge_module(&subject, &Rules::default(), &module, &text, "sm_80").expect("nothing of ours fails")
}

fn follows(request: &Request<'_>) -> Observation {
    observe(Implementation::default(), &Rules::default(), request)
}

fn refusal(line: Option<u32>, message: &str) -> Observation {
    let diagnostics = vec![Diagnostic { severity: Severity::Error, line, message: message.into() }];
    Observation { diagnostics, ..Observation::new(Outcome::Refused) }
}

/// Each verdict in a word, with its variable.
fn told(parts: &[PartVerdict]) -> Vec<String> {
    let one = |part: &PartVerdict| {
        let verdict = match &part.verdict {
            Verdict::Conforms | Verdict::ConformsByOutcome => "conforms",
            Verdict::Reads(_) => "reads",
            Verdict::Deviates(difference) => difference.class.name(),
            Verdict::NotCompared(reason) => reason.name(),
        };
        format!("{}: {verdict}", part.variable.as_deref().unwrap_or("module"))
    };
    parts.iter().map(one).collect()
}

/// What needs a linker, and how much there is of shared memory, the specification does not say. 30-extern-unresolved
/// and 32-shared-init-hidden of the trial.
#[test]
fn a_form_that_is_refused_alone_is_not_compared_and_its_message_is_reported() {
    let text = ".extern .func f();\n.global .u64 a = f;\n.global .u32 b = 7;";
    let unresolved = |refused| {
        move |request: &Request<'_>| match request.form == refused {
            true => refusal(None, "Cannot take address of function 'f'"),
            false => follows(request),
        }
    };
    let one = verdicts(text, unresolved(Executable));
    assert_eq!(told(&one.data), ["module: unmodelled"]);
    let why = one.data[0].why.as_deref().unwrap();
    assert_eq!(why.said.as_deref(), Some("Cannot take address of function 'f'"));
    assert_eq!(told(&one.added), ["a: conforms", "b: conforms"]);
    let expected =
        Rejection { form: Executable, line: None, said: "Cannot take address of function 'f'".into() };
    assert_eq!(one.refusals, [expected]);
    // The form that nobody asked for is told as well; nothing is left out for it but what it alone shows.
    let other = verdicts(text, unresolved(Relocatable));
    assert_eq!(
        (told(&other.data), other.added.len()),
        (vec!["a: unobserved".into(), "b: conforms".into()], 0)
    );
    assert_eq!(other.refusals[0].form, Relocatable);
    // Where both are refused, that is a refusal.
    let both = verdicts(".global .u32 b = 7;", |request| match request.ptx.contains("b = 7") {
        true => refusal(Some(4), "no"),
        false => follows(request),
    });
    assert_eq!((told(&both.data), both.added.len()), (vec!["module: refuses-valid".into()], 0));
    assert_eq!(both.refusals.iter().map(Rejection::placed).collect::<Vec<_>>(), ["line 4: no", "line 4: no"]);
}

/// In an executable the address of a function is a number, which only a loader can tell from others.
#[test]
fn relocatable_output_adds_results_that_an_executable_does_not_show() {
    let text = ".func f() { }\n.global .u64 a[2] = {f, 5};\n.global .u32 b = 7;";
    let as_number = |request: &Request<'_>| {
        let mut seen = follows(request);
        if let (Executable, Some(a)) = (request.form, seen.variables.get_mut("a")) {
            a.addresses = Some(Vec::new());
            a.bytes.as_mut().unwrap()[0] = 0xc0;
        }
        seen
    };
    let all = verdicts(text, as_number);
    assert_eq!((told(&all.data), told(&all.added)), (vec!["b: conforms".into()], vec!["a: conforms".into()]));
    assert_eq!(all.refusals, []);
    // The other side: where it shows no address of the function there, that counts.
    let lost = verdicts(text, |request| {
        let mut seen = as_number(request);
        if let (Relocatable, Some(a)) = (request.form, seen.variables.get_mut("a")) {
            a.addresses = Some(Vec::new());
        }
        seen
    });
    assert_eq!(
        (told(&lost.data), told(&lost.added)),
        (vec!["b: conforms".into()], vec!["a: wrong-address".into()])
    );
}

#[test]
fn a_deviation_of_one_form_counts_and_one_of_both_counts_once() {
    let text = ".global .u32 a = 5;\n.global .u32 b = 7;";
    let wrong = |is_wrong: fn(OutputForm) -> bool| {
        let answer = move |request: &Request<'_>| {
            let mut seen = follows(request);
            if let (true, Some(a)) = (is_wrong(request.form), seen.variables.get_mut("a")) {
                a.bytes = Some(vec![6, 0, 0, 0]);
            }
            seen
        };
        let all = verdicts(text, answer);
        (told(&all.data), told(&all.added))
    };
    let (right, wrong_value) = ("a: conforms".to_owned(), "a: wrong-value".to_owned());
    let b = "b: conforms".to_owned();
    assert_eq!(wrong(|_| false), (vec![right.clone(), b.clone()], vec![]));
    assert_eq!(wrong(|form| form == Executable), (vec![wrong_value.clone(), b.clone()], vec![]));
    assert_eq!(wrong(|form| form == Relocatable), (vec![right, b.clone()], vec![wrong_value.clone()]));
    assert_eq!(wrong(|_| true), (vec![wrong_value, b], vec![]));
}

#[test]
fn a_crash_or_an_accepted_invalid_program_counts_for_its_form_alone() {
    let invalid = ".global .u32 a[1] = {1, 2};";
    let all = verdicts(invalid, |request| match request.form {
        Executable => refusal(Some(4), "too many"),
        Relocatable => Observation::new(Outcome::Accepted),
    });
    assert_eq!(
        (told(&all.data), told(&all.added)),
        (vec!["module: conforms".into()], vec!["module: accepts-invalid".into()])
    );
    let dies = verdicts(".global .u32 a = 5;", |request| match request.form {
        Executable => follows(request),
        Relocatable => Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) },
    });
    assert_eq!(
        (told(&dies.data), told(&dies.added)),
        (vec!["a: conforms".into()], vec!["module: crash".into()])
    );
    let [PartVerdict { verdict: Verdict::Deviates(found), .. }] = &dies.added[..] else { panic!() };
    assert_eq!(found.class, Class::Crash);
    // A form that a subject does not have for the program is no refusal.
    let lacks = verdicts(".global .u32 a = 5;", |request| match request.form {
        Executable => follows(request),
        Relocatable => Observation::because(Outcome::Unsupported, "'Compile only(-c)' requires PTX ISA 3.1"),
    });
    assert_eq!(
        (told(&lacks.data), lacks.added.len(), lacks.refusals.len()),
        (vec!["a: conforms".into()], 0, 0)
    );
}

/// `.unified` needs relocatable output, which a release lacks for modules of 32 bits on a later target.
#[test]
fn a_program_whose_form_is_not_to_be_had_is_not_compared() {
    let of = |text: &str| {
        let all = verdicts(text, |request| match request.form {
            _ if !request.ptx.contains("a = 1") => follows(request),
            Executable => refusal(Some(4), "it requires '--compile-only'"),
            Relocatable => Observation::because(Outcome::Unsupported, "32-Bit ABI is not supported on sm_90"),
        });
        (told(&all.data), all.added.len())
    };
    assert_eq!(of(".extern .func f();\n.global .u32 a = 1;"), (vec!["module: unsupported".into()], 0));
    // The other side: what needs no linker is refused.
    assert_eq!(of(".global .u32 a = 1;"), (vec!["module: refuses-valid".into()], 0));
}

/// A subject of one form is shown a program in that.
#[test]
fn what_a_subject_of_one_form_refuses_is_told_too() {
    let text = format!("{HEADER}.global .u64 a = b;\n.global .u32 b;\n");
    let module = parse(&text).unwrap();
    let subject = fake(|_: &Request<'_>| refusal(Some(4), "Invalid initial value symbol 'b'"));
    let all = judge_module(&subject, &Rules::default(), &module, &text, "sm_80").unwrap();
    assert_eq!(
        all.refusals.iter().map(Rejection::placed).collect::<Vec<_>>(),
        ["line 4: Invalid initial value symbol 'b'"]
    );
}

/// 03-dwarf-dotted-symbol of the trial: with `debug` the header alone lacks debug information, which the
/// program has.
#[test]
fn a_header_that_is_refused_alone_for_what_the_program_has_is_not_at_fault() {
    let text = ".version 7.5\n.target sm_75, debug\n.address_size 64\n.global .u32 a = 1;\n\
                .section .debug_info\n{\n.b32 10\n.b64 a._b\n}\n";
    let module = parse(text).unwrap();
    let why = |of_all: &'static str| {
        let subject = fake(move |request: &Request<'_>| match request.ptx.contains(".section") {
            true => refusal(Some(8), of_all),
            false => refusal(None, "Debug information not found in presence of .target debug"),
        });
        let mut parts = judge_module(&subject, &Rules::default(), &module, text, "sm_75").unwrap().parts();
        assert_eq!(parts.len(), 1, "{parts:?}");
        let Verdict::NotCompared(reason) = parts[0].verdict else { panic!("{parts:?}") };
        let why = *parts.remove(0).why.unwrap();
        (reason, why.part, why.line, why.said.unwrap())
    };
    let said = "Parsing error near '.': syntax error";
    assert_eq!(why(said), (NotCompared::Unmodelled, ".section".into(), Some(5), format!("line 8: {said}")));
    // The other side: what is said of the header alone is what is said of the program.
    let said = "Debug information not found in presence of .target debug";
    assert_eq!(why(said), (NotCompared::Unsupported, "header".into(), None, said.into()));
}
