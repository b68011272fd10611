//! The cause of the answer to a program as a whole: its header, one statement, or a part that the
//! specification does not decide.

use std::sync::Mutex;

use ptxsmith_diff::{
    Class, Implementation, NotCompared, ParsedProgram, PartVerdict, Requirement, Verdict, WhyNotCompared,
    judge_module, judge_modules,
};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{
    Description, Diagnostic, Error, OUT_OF_MEMORY, Observation, Outcome, OutputForm, Request, Severity,
    Subject,
};
use ptxsmith_syntax::parse;
use ptxsmith_testing::{observe, of_lineage as fake};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn parts(text: &str, answer: impl Fn(&Request<'_>) -> Observation + Send + Sync) -> Vec<PartVerdict> {
    let text = format!("{HEADER}{text}\n");
    let module = parse(&text).expect("the programs of a test parse");
    let verdicts = judge_module(&fake(answer), &Rules::default(), &module, &text, "sm_80");
    verdicts.expect("nothing of ours fails").parts()
}

fn follows(request: &Request<'_>) -> Observation {
    observe(Implementation::default(), &Rules::default(), request)
}

/// A refusal with these messages: severity, line, text.
fn refusal(messages: &[(Severity, Option<u32>, &str)]) -> Observation {
    let mut refused = Observation::new(Outcome::Refused);
    refused.diagnostics = messages
        .iter()
        .map(|&(severity, line, message)| Diagnostic { severity, line, message: message.into() })
        .collect();
    refused
}

/// The one part, which was not compared, and why.
fn not_compared(parts: &[PartVerdict]) -> (NotCompared, &WhyNotCompared) {
    match parts {
        [PartVerdict { verdict: Verdict::NotCompared(reason), why: Some(why), requirement: None, .. }] => {
            (*reason, why)
        }
        other => panic!("{other:?}"),
    }
}

fn class(part: &PartVerdict) -> Option<Class> {
    match &part.verdict {
        Verdict::Deviates(difference) => Some(difference.class),
        _ => None,
    }
}

#[test]
fn a_refusal_of_the_header_is_no_refusal_of_the_statements_below() {
    // It looks at the header when a statement follows.
    let late = parts(".global .u32 a;", |request| match request.ptx.contains(".global") {
        true => refusal(&[(Severity::Error, Some(2), "no such target")]),
        false => follows(request),
    });
    let (reason, why) = not_compared(&late);
    assert_eq!(
        (reason, &*why.part, why.said.as_deref()),
        (NotCompared::Unsupported, "header", Some("line 2: no such target"))
    );
    // It counts no lines.
    let silent = parts(".global .u32 a;", |_| refusal(&[(Severity::Error, None, "no")]));
    let (reason, why) = not_compared(&silent);
    assert_eq!((reason, &*why.part, why.said.as_deref()), (NotCompared::Unsupported, "header", Some("no")));
    // It takes the header, and blames the statement that stands first.
    let first = parts(".global .u32 a;", |request| match request.ptx.contains(".global") {
        true => refusal(&[(Severity::Error, Some(4), "no variables")]),
        false => follows(request),
    });
    assert_eq!((first.len(), class(&first[0])), (1, Some(Class::RefusesValid)));
    assert_eq!(first[0].requirement, Some(Requirement::Accept));
}

#[test]
fn each_header_is_shown_once_and_every_program_with_the_names_to_show() {
    let shown = Mutex::new(Vec::new());
    let answer = |request: &Request<'_>| {
        let read: Vec<String> = request.read.iter().map(|one| one.name.clone()).collect();
        shown.lock().unwrap().push((request.ptx.replace(HEADER, "").replace('\n', ""), read));
        refusal(&[(Severity::Error, Some(2), "no such target")])
    };
    let texts = [".global .u32 b;", ".global .u32 c = 1;"].map(|text| format!("{HEADER}{text}\n"));
    let modules = texts.each_ref().map(|text| parse(text).unwrap());
    let programs: Vec<_> = texts
        .iter()
        .zip(&modules)
        .map(|(text, module)| ParsedProgram { module, text, target: "sm_80" })
        .collect();
    let subject = fake(answer);
    judge_modules(&subject, &Rules::default(), &programs).unwrap();
    let of = |text: &str, name: &str| (text.to_owned(), vec![name.to_owned()]);
    let own = [of(".global .u32 b;", "b"), of(".global .u32 c = 1;", "c")];
    // As executables and in relocatable form, and then what everything takes.
    let expected = [&own[..], &own[..], &[of(".global .u32 a;", "a")]].concat();
    assert_eq!(*shown.lock().unwrap(), expected);
}

#[test]
fn the_accepted_form_counts() {
    for refused in [OutputForm::Executable, OutputForm::Relocatable] {
        let parts = parts(".global .u32 a = 1;", |request| match request.form == refused {
            true => refusal(&[(Severity::Error, Some(4), "not in this form")]),
            false => follows(request),
        });
        assert!(matches!(&parts[..], [PartVerdict { verdict: Verdict::Conforms, .. }]), "{parts:?}");
    }
}

#[test]
fn the_blamed_statement_of_an_undecided_program_is_shown_alone_with_its_dependencies() {
    let text = ".pragma \"any\";\n.global .u32 named;\n.global .u64 blamed = named;\n.global .u32 other = 7;";
    let blaming = |line: u32, refused: &'static str| {
        parts(text, move |request| match request.ptx.contains(refused) {
            true => {
                refusal(&[(Severity::Warning, None, "careful"), (Severity::Error, Some(line), "not this")])
            }
            false => follows(request),
        })
    };
    // The third statement is refused alone too.
    let accused = blaming(6, "blamed");
    let [whole, alone] = &accused[..] else { panic!("{accused:?}") };
    let (reason, why) = not_compared(std::slice::from_ref(whole));
    assert_eq!(reason, NotCompared::Unmodelled);
    assert_eq!((&*why.part, why.line, why.said.as_deref()), (".pragma", Some(4), Some("line 6: not this")));
    assert_eq!((class(alone), alone.requirement), (Some(Class::RefusesValid), Some(Requirement::Accept)));
    let derived = &alone.derived.as_ref().unwrap().text;
    assert!(derived.contains("blamed = named") && derived.contains(".u32 named"), "{derived}");
    assert!(!derived.contains("other") && !derived.contains(".pragma"), "{derived}");
    // What is refused for the statement that is undecided, or for none, accuses nothing.
    assert_eq!(blaming(4, ".pragma").len(), 1);
    assert_eq!(blaming(9, "blamed").len(), 1);
    assert_eq!(blaming(6, ".pragma").len(), 1, "alone it is taken");
}

#[test]
fn of_a_refused_program_with_undecided_parts_the_refused_statement_is_shown_alone() {
    let takes = |_: &Request<'_>| Observation::new(Outcome::Accepted);
    let wrong = ".global .u32 fine = 1;\n.global .u32 wrong = 1.5;";
    let derived = parts(&format!(".pragma \"any\";\n{wrong}"), takes);
    let alone = derived.iter().find(|part| class(part) == Some(Class::AcceptsInvalid)).unwrap();
    let text = &alone.derived.as_ref().expect("the program itself is not accused").text;
    assert!(text.contains("wrong") && !text.contains("fine"), "{text}");
    // Where all is decided the program itself is.
    let whole = parts(wrong, takes);
    assert_eq!((whole.len(), class(&whole[0])), (1, Some(Class::AcceptsInvalid)));
    assert!(whole[0].derived.is_none() && whole[0].requirement == Some(Requirement::Refuse));
}

#[test]
fn an_undecided_part_of_a_kernel_is_reported_with_its_own_line() {
    let kernel =
        |name: &str, code: &str| format!(".entry {name}(.param .u64 p) {{\n.reg .u32 r;\n{code}\nret;\n}}\n");
    let text = kernel("j", "mov.u32 r, %tid.x;") + &kernel("k", "frobnicate.u32 r;");
    let parts = parts(&text, follows);
    let told: Vec<_> = parts
        .iter()
        .filter_map(|part| part.why.as_deref())
        .map(|why| (&*why.part, why.line))
        .filter(|(part, _)| part.starts_with("kernel"))
        .collect();
    assert_eq!(told.len(), 2, "{parts:?}");
    for (name, lines) in [("kernel j", 4..=8), ("kernel k", 9..=13)] {
        let line = told.iter().find(|(part, _)| *part == name).and_then(|told| told.1).unwrap();
        assert!(lines.contains(&line), "{name}: {line}");
    }
}

/// Parts of lines 8 to 11 are undecided; the subject names one of them, or another line.
#[test]
fn the_reported_undecided_part_is_the_one_that_the_subject_blames() {
    let text = ".entry k(.param .u64 p)\n{\n.reg .u32 r, s;\n.reg .u64 a;\nmov.u32 r, %tid.x;\nfrob.u32 s, 0,\n r;\n.odd r;\nret;\n}";
    let blaming = |line: u32| {
        let parts = parts(text, move |request| match request.ptx.contains(".entry") {
            true => refusal(&[(Severity::Warning, Some(5), "careful"), (Severity::Error, Some(line), "no")]),
            false => follows(request),
        });
        let (_, why) = not_compared(&parts);
        (why.line, why.detail.clone(), why.said.clone())
    };
    let said = |ours: u32, theirs: u32| (Some(ours), None, Some(format!("line {theirs}: no")));
    assert_eq!(blaming(8), said(8, 8));
    assert_eq!(blaming(9), said(9, 9));
    // The second line of that statement.
    assert_eq!(blaming(10), said(9, 10));
    let detail = Some("expected a directive of functions, found `.odd`".to_owned());
    assert_eq!(blaming(11), (Some(11), detail, Some("line 11: no".to_owned())));
    // No undecided part stands there.
    assert_eq!(blaming(12), said(8, 12));
}

#[test]
fn a_large_program_for_which_there_is_no_memory_is_not_accused() {
    let exhausted = |_: &Request<'_>| Observation::because(Outcome::Crashed, OUT_OF_MEMORY);
    let large = format!(".global .u32 b[] = {{ {}5 }};", "7, ".repeat(30_000));
    let unanswered = parts(&large, exhausted);
    let (reason, why) = not_compared(&unanswered);
    assert_eq!((reason, &*why.reason), (NotCompared::Unobserved, "out of memory, of a large program"));
    // A crash is one, and so is what takes all memory for a small program.
    let crashes = parts(&large, |_| Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) });
    assert_eq!(class(&crashes[0]), Some(Class::Crash));
    assert_eq!(class(&parts(".global .u32 b = 5;", exhausted)[0]), Some(Class::Crash));
}

/// A subject that takes several modules in one run.
struct Several<S> {
    inner: S,
    runs: Mutex<Vec<usize>>,
}

impl<S: Subject> Subject for Several<S> {
    fn description(&self) -> &Description {
        self.inner.description()
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        self.inner.observe(request)
    }

    fn observe_each(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        self.runs.lock().unwrap().push(requests.len());
        requests.iter().map(|request| self.inner.observe(request)).collect()
    }
}

#[test]
fn only_invalid_programs_without_shared_symbols_share_a_run() {
    let runs = |texts: [&str; 2]| {
        let texts = texts.map(|text| format!("{HEADER}{text}\n"));
        let modules = texts.each_ref().map(|text| parse(text).unwrap());
        let programs: Vec<_> = texts
            .iter()
            .zip(&modules)
            .map(|(text, module)| ParsedProgram { module, text, target: "sm_80" })
            .collect();
        let subject = Several { inner: fake(follows), runs: Mutex::default() };
        judge_modules(&subject, &Rules::default(), &programs).unwrap();
        subject.runs.into_inner().unwrap()
    };
    assert_eq!(runs([".global .u32 a = 1.5;", ".global .u32 b = 2.5;"]), [2]);
    assert_eq!(runs([".visible .global .u32 a = 1.5;", ".global .u32 b = 2.5;"]), [1, 1]);
    assert_eq!(runs([".global .u32 a = 1;", ".global .u32 b = 2;"]), [1, 1]);
}

#[test]
fn kernels_are_shown_under_the_header_and_for_the_target_of_their_program() {
    let shown = Mutex::new(Vec::new());
    let subject = fake(|request: &Request<'_>| {
        if !request.launch.is_empty() {
            shown.lock().unwrap().push((request.target.to_owned(), request.ptx.contains(".version 8.0")));
        }
        follows(request)
    });
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
                .reg .u64 a; .reg .u32 r; ld.param.u64 a, [p]; mov.u32 r, 7; st.global.u32 [a], r; ret;\n}\n";
    let verdicts = judge_module(&subject, &Rules::default(), &parse(text).unwrap(), text, "sm_90").unwrap();
    let kernels = verdicts.kernels.expect("it leaves something");
    assert_eq!(kernels.verdict, Verdict::Conforms);
    assert_eq!(kernels.operands.seen, 1, "{:?}", kernels.operands);
    let shown = shown.into_inner().unwrap();
    assert!(!shown.is_empty() && shown.iter().all(|one| *one == ("sm_90".to_owned(), true)), "{shown:?}");
    // As one of many, too.
    let judged = kernels.clone().judged(3);
    assert_eq!((judged.id, judged.operands), (3, kernels.operands));
    let why = WhyNotCompared {
        part: "kernel k".into(),
        line: Some(4),
        reason: "so".into(),
        detail: None,
        said: None,
    };
    let part = PartVerdict {
        why: Some(Box::new(why)),
        excluded: vec![(ptxsmith_oracle::Question::ShiftCount, 1)],
        ..kernels
    };
    let judged = part.clone().judged(4);
    assert_eq!((judged.why, judged.excluded), (part.why, part.excluded));
}
