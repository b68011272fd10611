//! Files of the user's that are checked: what is told of each, and what is found.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::bare::is_bare;
use crate::common::{Told, implementation, module, refusal, session};
use ptxsmith_campaign::check::{FileCheckOptions, check};
use ptxsmith_campaign::{CampaignOutcome, Failure};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{
    Description, Error, FnSubject, Observation, Outcome as Seen, OutputForm, Request, Subject, SubjectSpec,
    parse_spec,
};
use ptxsmith_testing::wrong::follows as wrong;
use ptxsmith_testing::{reached, right};

/// Options that show these files and keep nothing.
fn options(subjects: &[SubjectSpec], files: &[PathBuf]) -> FileCheckOptions {
    FileCheckOptions {
        files: files.to_vec(),
        subjects: subjects.to_vec(),
        timeout: None,
        by_case: false,
        out: None,
        replace: false,
        counterpart: |_| None,
    }
}

/// What becomes of a check, and what is told: the lines in their order, without the folder.
fn checked(folder: &Path, options: FileCheckOptions) -> (CampaignOutcome, Told) {
    let (session, told) = session(1);
    let outcome = check(&session, options).unwrap();
    let mut told = told.take();
    let folder = format!("{}/", folder.display());
    told.judged.iter_mut().for_each(|line| *line = line.replace(&folder, ""));
    told.judged.sort();
    (outcome, told)
}

/// Writes a program of these declarations.
fn write(folder: &Path, name: &str, declarations: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, module(declarations)).unwrap();
    path
}

#[test]
fn each_of_a_few_files_has_a_line_and_one_that_cannot_be_read_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = [
        write(folder, "a.ptx", ".global .u32 a = 4 + 5, b = WARP_SZ;"),
        folder.join("missing.ptx"),
        write(folder, "b.ptx", ".global .u32 c = 1;"),
        write(folder, "refused.ptx", ".global .u32 d = 1.0;"),
    ];
    let subjects = [implementation("right", right), implementation("wide", wrong(&["warp-size-64"]))];
    let out = Some(folder.join("out"));
    let (outcome, told) =
        checked(folder, FileCheckOptions { by_case: true, out, ..options(&subjects, &files) });
    assert_eq!(
        told.judged,
        [
            "a.ptx: right: 2 variables compared",
            "a.ptx: wide: 2 variables compared, 1 answer not as the specification says",
            "b.ptx: right: 1 variable compared",
            "b.ptx: wide: 1 variable compared",
            "refused.ptx: right: refused by the specification: line 4: a value of a kind that the type cannot take (5.4.4/value-kind); the subject refuses it, too: line 4: a value of a kind that the type cannot take",
            "refused.ptx: wide: refused by the specification: line 4: a value of a kind that the type cannot take (5.4.4/value-kind); the subject refuses it, too: line 4: a value of a kind that the type cannot take",
        ]
    );
    let [left_out] = &told.left_out[..] else { panic!("{:?}", told.left_out) };
    assert!(outcome.left_out && left_out.contains("missing.ptx: no such file"), "{left_out}");
    assert_eq!((&told.begun[..], told.done), (&[("files".to_owned(), Some(4))][..], 4));
    let report = &outcome.report;
    assert_eq!((report.compared, report.conform), (8, 7));
    let ids: Vec<&str> = report.findings.iter().map(|finding| &*finding.id).collect();
    assert_eq!((&ids[..], told.found.last().map(|id| &**id)), (&["warp-size-64"][..], Some("warp-size-64")));
    assert_eq!(report.findings[0].subjects, ["wide"]);
    assert_eq!(report.findings[0].program, fs::read_to_string(&files[0]).unwrap());
    let cases: Vec<_> = report
        .cases
        .iter()
        .map(|case| (case.name.rsplit('/').next().unwrap(), case.standings.len(), &*case.program))
        .collect();
    let text = |file: &PathBuf| fs::read_to_string(file).unwrap();
    let texts = [&files[0], &files[2], &files[3]].map(text);
    assert_eq!(cases, [("a.ptx", 2, &*texts[0]), ("b.ptx", 2, &texts[1]), ("refused.ptx", 2, &texts[2])]);
    assert_ne!(report.cases[0].standings[..1], report.cases[0].standings[1..]);
    assert_eq!(report.cases[1].standings[..1], report.cases[1].standings[1..]);
    // Nothing is left out where all can be read, and what is not asked for is not told.
    let (outcome, _) = checked(folder, options(&subjects, &files[2..]));
    assert!(!outcome.left_out && outcome.report.cases.is_empty());
    // A single file that cannot be read leaves nothing to do.
    let (session, _) = session(1);
    let failed = check(&session, options(&subjects, &files[1..2])).map(|_| ());
    assert!(matches!(failed, Err(Failure::BadInput(_))), "{failed:?}");
}

#[test]
fn of_many_files_only_those_have_a_line_of_which_something_was_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let number = |n: usize| write(folder, &format!("{n:02}.ptx"), &format!(".global .u32 a = {n};"));
    let mut files: Vec<PathBuf> = (0..19).map(number).collect();
    files.push(write(folder, "partly.ptx", ".global .u32 a = 1, hidden = 2;"));
    let shy = implementation("shy", |request: &Request<'_>| {
        let mut seen = right(request);
        seen.variables.remove("hidden");
        seen
    });
    let shy = [shy];
    let lines = |files: &[PathBuf]| checked(folder, options(&shy, files)).1.judged;
    assert_eq!(lines(&files).len(), 20);
    files.push(number(20));
    let [line] = &lines(&files)[..] else { panic!("one line is due") };
    let told =
        "partly.ptx: shy: 1 variable compared; not compared: variable hidden: the subject does not show it";
    assert_eq!(line, told);
}

#[test]
fn a_refusal_counts_where_the_counterpart_that_a_program_names_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let valid = write(folder, "valid.ptx", ".global .u32 a = 1;");
    let invalid = write(folder, "invalid.ptx", "// twin\n.global .u32 a = 1.0;");
    let named = |files: &[PathBuf], subject: SubjectSpec| {
        let counterpart = |text: &str| text.contains("// twin").then_some("valid.ptx");
        let (outcome, told) = checked(folder, FileCheckOptions { counterpart, ..options(&[subject], files) });
        let not_compared: Vec<_> =
            outcome.report.not_compared.into_iter().filter(|(_, count)| *count > 0).collect();
        (outcome.report.compared, not_compared, told.judged)
    };
    let counted = named(std::slice::from_ref(&invalid), implementation("right", right));
    assert_eq!(
        counted,
        (
            1,
            vec![],
            vec!["invalid.ptx: right: refused by the specification: line 5: a value of a kind that the type cannot take (5.4.4/value-kind); the subject refuses it, too: line 5: a value of a kind that the type cannot take".to_owned()]
        )
    );
    let strict = || implementation("strict", |_: &Request<'_>| refusal(4, "I take nothing with a variable"));
    let (compared, not_compared, lines) = named(std::slice::from_ref(&invalid), strict());
    assert_eq!((compared, not_compared), (0, vec![("twin-refused".to_owned(), 1)]));
    assert!(lines[0].starts_with("invalid.ptx: strict: nothing compared"), "{lines:?}");
    // Where the counterpart does not lie beside the program, the refusal counts.
    fs::remove_file(valid).unwrap();
    assert_eq!(named(&[invalid], strict()).0, 1);
}

/// What a user gets is an executable; what relocatable output adds, and which of both is refused, each line
/// says.
#[test]
fn each_line_says_in_which_form_and_for_which_target_a_file_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = [
        write(folder, "alike.ptx", ".global .u32 a = 1;"),
        write(folder, "linked.ptx", ".extern .func f();\n.global .u64 p = f;"),
        write(folder, "refused.ptx", ".global .u64 x = y;\n.global .u32 y;"),
    ];
    let lines = |targets: &'static [&'static str]| {
        let both = SubjectSpec::custom("both", move |_| {
            let answer = |request: &Request<'_>| match request.form {
                OutputForm::Executable if request.ptx.contains(".extern") => refusal(4, "Unresolved extern"),
                _ if request.ptx.contains("x = y") => refusal(4, "Invalid initial value symbol 'y'"),
                _ => right(request),
            };
            let targets = targets.iter().map(|&target| target.to_owned()).collect();
            let name = || "both".to_owned();
            let description = Description {
                id: name(),
                name: name(),
                targets,
                relocations: Some(true),
                ..Description::default()
            };
            Ok(vec![Box::new(FnSubject::new("both", answer).described(description).with_both_forms())])
        });
        checked(folder, options(&[both], &files)).1.judged
    };
    let unresolved = "nothing compared; refused: line 4: Unresolved extern; not compared: module, line 4: it is refused where it is \
                      linked at once, and the specification does not say what that needs";
    assert_eq!(
        lines(&["sm_80"]),
        [
            "alike.ptx: both, with and without -c: 1 variable compared",
            "linked.ptx: both -c: 1 variable compared",
            &format!("linked.ptx: both: {unresolved}"),
            "refused.ptx: both, with and without -c: compared as a whole; refused: line 4: Invalid initial value symbol 'y'",
        ]
    );
    let later = lines(&["sm_90"]);
    assert_eq!(
        later[0],
        "alike.ptx: both, with and without -c for sm_90, as it has no sm_80: 1 variable compared"
    );
    assert_eq!(later[1], "linked.ptx: both -c for sm_90, as it has no sm_80: 1 variable compared");
}

/// A program with parts that the specification does not decide.
const UNDECIDED: &str = ".func f() { frobnicate.u32 x; }\n.global .u32 a = 16;\n.global .u32 b = 32;";

#[test]
fn what_was_derived_from_a_program_accuses_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = write(folder, "a.ptx", UNDECIDED);
    // One refuses a statement that is judged, as such, the other dies of the whole program.
    let refuses = implementation("refuses", |request: &Request<'_>| {
        let at = request.ptx.lines().position(|line| line.contains(" b = 32"));
        at.map_or_else(|| right(request), |at| refusal(at as u32 + 1, "no b"))
    });
    let dies = implementation("dies", |request: &Request<'_>| match request.ptx.contains("frobnicate") {
        true => Observation { signal: Some(11), ..Observation::new(Seen::Crashed) },
        false => right(request),
    });
    let (outcome, _) = checked(folder, options(&[refuses, dies], std::slice::from_ref(&file)));
    let of = |subject: &str| {
        let all = &outcome.report.findings;
        let own: Vec<_> = all.iter().filter(|finding| finding.subjects == [subject]).collect();
        let [one] = own[..] else { panic!("{subject}: {all:#?}") };
        one
    };
    let derived = of("refuses");
    assert_eq!(
        (derived.class.name(), &*derived.program),
        ("refuses-valid", &*module(".global .u32 b = 32;"))
    );
    let own = of("dies");
    assert_eq!((own.class.name(), &*own.program), ("crash", &*fs::read_to_string(&file).unwrap()));
}

/// An implementation that shows its code, which does what the specification says, and what its variables hold
/// under these names.
struct Shows {
    description: Description,
    names: &'static [&'static str],
}

fn shows(names: &'static [&'static str]) -> SubjectSpec {
    SubjectSpec::custom("shows", move |_| {
        let (id, name) = ("shows".to_owned(), "shows".to_owned());
        Ok(vec![Box::new(Shows { description: Description { id, name, ..Description::default() }, names })])
    })
}

impl Subject for Shows {
    fn description(&self) -> &Description {
        &self.description
    }

    fn shows_code(&self) -> bool {
        true
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let mut seen = right(request);
        seen.variables.retain(|name, _| self.names.contains(&&**name));
        seen.kernels.clear();
        if seen.outcome == Seen::Accepted && !request.trace.is_empty() {
            seen.reached.extend(reached(&Rules::default(), request));
        }
        Ok(seen)
    }
}

/// A variable, and a kernel that copies one of its elements.
const KERNEL: &str = ".global .u32 a[4] = {1, 2};\n.visible .entry k(.param .u64 P)\n{\n.reg .b64 %p;\n.reg .b32 %r;\n\
    ld.param.u64 %p, [P];\nld.global.u32 %r, [a+4];\nst.global.u32 [%p], %r;\nret;\n}";

#[test]
fn memory_operands_of_kernels_are_counted_and_are_a_verdict_where_there_is_no_other() {
    if !is_bare(
        "checking::memory_operands_of_kernels_are_counted_and_are_a_verdict_where_there_is_no_other",
        "",
    ) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = [write(folder, "a.ptx", KERNEL)];
    let counts = |subject| {
        let (outcome, told) = checked(folder, options(&[subject], &files));
        let report = outcome.report;
        let operands = report.subjects[0].memory_operands.clone();
        let others: u64 = operands.not_compared.values().sum();
        (
            report.compared,
            operands.compared,
            others,
            told.judged.join("\n").split(';').next().unwrap().to_owned(),
        )
    };
    // The element and the place of the result. The kernel itself is not run by who shows only code.
    assert_eq!(counts(shows(&["a"])), (1, 2, 0, "a.ptx: shows: 1 variable compared".to_owned()));
    assert_eq!(counts(shows(&[])), (1, 2, 0, "a.ptx: shows: compared as a whole".to_owned()));
    // Who shows no code has none to compare.
    let silent = || implementation("right", right);
    assert_eq!(counts(silent()), (2, 0, 2, "a.ptx: right: 1 variable compared".to_owned()));
    // Of a program that is not taken none is looked at.
    let refuses = implementation("refuses", |request: &Request<'_>| match request.ptx.contains(".entry") {
        true => refusal(5, "no"),
        false => right(request),
    });
    let (compared, operands, others, _) = counts(refuses);
    assert_eq!((compared, operands, others), (1, 0, 0));
    // Several files are looked through for kernels too, and nothing is said where there are none.
    let notes = |subject: SubjectSpec, files: &[PathBuf]| {
        let (session, told) = session(5);
        let _ = check(&session, options(&[subject], files));
        told.take().notes
    };
    let compiler = || parse_spec("ptxas:/none").unwrap();
    let plain = write(folder, "plain.ptx", ".global .u32 b = 1;");
    assert!(notes(compiler(), &[plain.clone(), plain.clone()]).is_empty());
    for with_kernels in [vec![files[0].clone()], vec![plain, files[0].clone()]] {
        assert!(notes(silent(), &with_kernels).is_empty(), "it answers for itself");
        let notes = notes(compiler(), &with_kernels);
        assert!(notes.iter().any(|note| note.contains("kernels will not be observed")), "{notes:?}");
    }
}
