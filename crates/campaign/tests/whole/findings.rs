//! What a campaign reports of implementations that follow wrong rules: whole findings, with their files.

use std::path::Path;

use crate::common::{described, implementation, options, refusal, result, run_cases, session};
use ptxsmith_campaign::expected::ExpectedFailures;
use ptxsmith_campaign::run::run;
use ptxsmith_campaign::store::Shard;
use ptxsmith_diff::Class;
use ptxsmith_diff::known::{KNOWN, listed_for};
use ptxsmith_gen::Focus;
use ptxsmith_report::releases::ReleaseVerdict;
use ptxsmith_report::{ExpectedFailure, Finding, Status, UnexpectedPass, folder};
use ptxsmith_subject::{Description, Observation, Outcome as Seen, OutputForm, Request, SubjectSpec};
use ptxsmith_testing::wrong::follows as wrong;
use ptxsmith_testing::{NVIDIA, known_rules, observe, right};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A program under the header of generated cases.
fn headed(declarations: &str) -> String {
    format!("{HEADER}{declarations}\n")
}

/// The names of the files of findings in a directory.
fn files_of_findings(out: &Path) -> Vec<String> {
    let files = result(out).into_iter().map(|(name, _)| name);
    files.filter_map(|name| name.strip_prefix("findings/").map(str::to_owned)).collect()
}

fn lines(out: &Path, file: &str) -> Vec<String> {
    std::fs::read_to_string(out.join(file)).unwrap().lines().map(str::to_owned).collect()
}

/// A release of a maker that much is listed of.
/// An implementation of NVIDIA's. Its id is the name of a program, with a release behind `@`.
fn nvidia(
    id: &str,
    observe: impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + 'static,
) -> SubjectSpec {
    let description = Description {
        id: id.to_owned(),
        name: id.split('@').next().unwrap_or(id).to_owned(),
        lineage: NVIDIA.lineage.map(str::to_owned),
        version: NVIDIA.version.map(str::to_owned),
        ..Description::default()
    };
    described(description, observe)
}

#[test]
fn a_wrong_rule_is_one_finding_of_the_implementation_that_follows_it() {
    let out = tempfile::tempdir().unwrap();
    let expected = out.path().join("expected.txt");
    let text = "octal-as-decimal wrong  # to be mended\nwarp-size-64 right  # was mended\n";
    std::fs::write(&expected, text).unwrap();
    let out = out.path().join("campaign");
    let subjects = [implementation("wrong", wrong(&["octal-as-decimal"])), implementation("right", right)];
    let (mut session, told) = session(7);
    session.expected = ExpectedFailures::read(&expected).unwrap();
    let outcome = run(&session, &options(&subjects, Focus::Mixed, 2_000, &out)).unwrap();
    let told = told.take();
    let report = outcome.report;
    let [of_wrong, of_right] = &report.subjects[..] else { panic!("{:?}", report.subjects) };
    assert!(report.complete && !outcome.interrupted && outcome.resumable && outcome.earlier == 0);
    let deviate = of_wrong.compared - of_wrong.conform;
    assert!(deviate > 50 && of_right.conform == of_right.compared && of_right.compared == of_wrong.compared);
    assert_eq!(report.compared, 2 * of_wrong.compared);
    assert_eq!(report.not_compared.values().sum::<u64>(), 2 * (2_000 - of_wrong.compared));

    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    let verdict = |subject: &str, verdict: &str| ReleaseVerdict {
        subject: subject.to_owned(),
        version: String::new(),
        verdict: verdict.to_owned().into(),
    };
    let reduced = finding.reduced.clone().unwrap();
    let whole = Finding {
        id: "octal-as-decimal".to_owned(),
        status: Status::New,
        kind: ptxsmith_model::FindingKind::Hypothesis("octal-as-decimal".to_owned()),
        class: Class::WrongValue,
        subjects: vec!["wrong".to_owned()],
        clauses: vec!["4.5.1/literal-octal".to_owned()],
        validity: "valid".to_owned(),
        title: "a wrong rule: octal numbers are decimal".to_owned(),
        count: deviate,
        // What it was found with is the generator's choice.
        program: finding.program.clone(),
        variable: finding.variable.clone(),
        expected: finding.expected.clone(),
        observed: finding.observed.clone(),
        repeat: "ptxsmith check findings/octal-as-decimal.ptx --subject wrong".to_owned(),
        expected_failure: Some(ExpectedFailure { reason: "to be mended".to_owned(), link: None }),
        file: Some("findings/octal-as-decimal.ptx".to_owned()),
        releases: vec![verdict("wrong", "wrong-value"), verdict("right", "conform")],
        reduced: Some(reduced.clone()),
        neighbour: Some(headed(".global .s32 a = 8;")),
        ..Finding::default()
    };
    assert_eq!(*finding, whole);
    let answers = reduced.answers.unwrap();
    assert_eq!((reduced.program, reduced.tokens), (headed(".global .s32 a = 010;"), 6));
    assert_eq!(answers.variable.as_deref(), Some("a"));
    assert_eq!(answers.expected.variable("a").unwrap().bytes.as_deref(), Some(&[8, 0, 0, 0][..]));
    assert_eq!(answers.observed.variables["a"].bytes.as_deref(), Some(&[10, 0, 0, 0][..]));
    let passes = UnexpectedPass {
        id: "warp-size-64".to_owned(),
        subject: "right".to_owned(),
        reason: "was mended".to_owned(),
    };
    assert_eq!(report.unexpected_passes, [passes]);

    let names = ["octal-as-decimal.found.ptx", "octal-as-decimal.ptx"].map(str::to_owned);
    assert_eq!(files_of_findings(&out), names);
    let version = env!("CARGO_PKG_VERSION");
    let from = |case: &str| format!("found by ptxsmith {version}, seed 7, case {case}");
    let smallest = lines(&out, "findings/octal-as-decimal.ptx");
    let (_, case) = smallest[6].rsplit_once(' ').unwrap();
    let comments = [
        "// clause: 4.5.1/literal-octal".to_owned(),
        "// expect: accepted".to_owned(),
        "// variable: a size=4 align=4 bytes=08000000".to_owned(),
        "// note: wrong-value: a wrong rule: octal numbers are decimal".to_owned(),
        "// note: wrong: a: 0a000000  = 10".to_owned(),
        "// note: repeat: ptxsmith check findings/octal-as-decimal.ptx --subject wrong".to_owned(),
        format!("// note: reduced from what was {}", from(case)),
    ];
    let program = headed(".global .s32 a = 010;");
    assert_eq!(smallest, comments.iter().map(String::as_str).chain(program.lines()).collect::<Vec<_>>());
    let found = std::fs::read_to_string(out.join("findings/octal-as-decimal.found.ptx")).unwrap();
    assert!(
        found.starts_with("// clause: 4.5.1/literal-octal\n// expect: accepted\n// variable: "),
        "{found}"
    );
    assert!(found.ends_with(&format!("// note: {}\n{}", from(case), finding.program)), "{found}");

    // The minimized reproducers of the clause that it breaks, one for each way.
    let [(clause, least)] = &of_wrong.reproducers.iter().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(*clause, "4.5.1/literal-octal");
    assert_eq!(least.keys().collect::<Vec<_>>(), [&Class::WrongValue, &Class::RefusesValid]);
    assert_eq!(least[&Class::WrongValue], finding.program);
    assert!(of_right.reproducers.is_empty());
    for subject in [of_wrong, of_right] {
        assert_eq!((subject.name.clone(), subject.refuses_everything.clone()), (None, None));
    }
    let clauses = &report.coverage.clauses;
    let missing = clauses.missing.as_ref().unwrap();
    assert_eq!(clauses.reached + missing.len() as u64, clauses.total);
    assert!(!missing.contains(&"4.5.1/literal-octal".to_owned()) && clauses.reached > clauses.total / 2);

    assert_eq!(told.notes, [] as [&str; 0]);
    assert_eq!(told.found.last().unwrap(), "octal-as-decimal");
    assert_eq!(told.said, format!("{deviate} deviate, {deviate} new"));
    let manifest = folder::read_manifest(&out).unwrap().unwrap();
    assert_eq!((manifest.seed, manifest.cases, manifest.command_line.len()), (7, Some(2_000), 2));
    assert!(manifest.ended >= Some(manifest.started));
    let ids: Vec<&str> = manifest.subjects.iter().map(|subject| &*subject.id).collect();
    assert_eq!(ids, ["wrong", "right"]);
    let machine = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = manifest.machine.cpu;
    assert!(machine.contains(&format!(": {cpu}\n")) || cpu == std::env::consts::ARCH, "{cpu}");
}

#[test]
fn a_shard_does_not_tell_what_passes_of_what_is_expected() {
    let directory = tempfile::tempdir().unwrap();
    let expected = directory.path().join("expected.txt");
    std::fs::write(&expected, "warp-size-64  # was mended\n").unwrap();
    let (mut session, _) = session(7);
    session.expected = ExpectedFailures::read(&expected).unwrap();
    let out = directory.path().join("shard");
    let mut options = options(&[implementation("right", right)], Focus::Mixed, 500, &out);
    options.shard = Shard { number: 1, of: 2 };
    let report = run(&session, &options).unwrap().report;
    assert!(report.complete && report.compared > 0);
    assert_eq!(report.unexpected_passes, []);
}

#[test]
fn what_is_listed_is_shown_by_its_reproducer() {
    let out = tempfile::tempdir().unwrap();
    let lists = |request: &Request<'_>| observe(NVIDIA, &known_rules(NVIDIA), request);
    let (outcome, _) = run_cases(7, &[nvidia("ptxas", lists)], Focus::Mixed, 2_000, out.path());
    let known: Vec<&Finding> =
        outcome.report.findings.iter().filter(|finding| finding.status == Status::Known).collect();
    assert!(known.len() > 3, "{known:#?}");
    // What a shell can show without us has a command that does.
    assert!(known.iter().any(|finding| finding.reproduce.is_some()));
    for finding in known {
        let listed = KNOWN.iter().find(|known| known.id == finding.id).unwrap();
        let reduced = finding.reduced.as_ref().unwrap();
        assert_eq!(reduced.program, listed.example);
        assert!(reduced.answers.is_some() && reduced.tokens > 0, "{}", finding.id);
        assert_eq!(finding.first_seen.as_deref(), Some(listed.first_seen));
        assert_eq!((&*finding.title, &finding.edit), (listed.title, &None));
        let text = std::fs::read_to_string(out.path().join(finding.file.as_ref().unwrap())).unwrap();
        assert!(text.contains("// note: the listed program of what was found by ptxsmith "), "{text}");
    }
    assert!(!outcome.report.findings.iter().any(|finding| finding.status == Status::New));
}

#[test]
fn a_listed_deviation_that_a_listed_release_does_not_show_is_gone() {
    let out = tempfile::tempdir().unwrap();
    let (outcome, _) = run_cases(7, &[nvidia("ptxas", right)], Focus::Mixed, 250, out.path());
    let gone: Vec<&str> =
        outcome.report.findings.iter().filter_map(|finding| finding.id.strip_prefix("gone-")).collect();
    assert_eq!(gone.len(), outcome.report.findings.len());
    assert!(gone.contains(&"remainder-unsigned") && gone.contains(&"address-in-list-crash"), "{gone:?}");
    assert!(listed_for(NVIDIA).all(|known| !known.exhausts() || !gone.contains(&known.id)), "{gone:?}");
    let finding = outcome.report.findings.iter().find(|f| f.id == "gone-remainder-unsigned").unwrap();
    assert_eq!(finding.status, Status::Gone);
    let listed = KNOWN.iter().find(|known| known.id == "remainder-unsigned").unwrap();
    let release = "release 13.5.37 does not show it";
    assert_eq!(finding.title, format!("listed for {}, but {release}: {}", listed.releases, listed.title));
    assert_eq!(finding.edit, ptxsmith_diff::gone::edit("remainder-unsigned", &["ptxas".to_owned()]));
    assert!(finding.edit.is_some());
    assert_eq!(finding.program, listed.example);
}

#[test]
fn another_entry_point_to_a_compiler_does_not_refute_what_is_listed() {
    let out = tempfile::tempdir().unwrap();
    let (outcome, _) = run_cases(7, &[nvidia("nvjitlink", right)], Focus::Expressions, 10, out.path());
    assert!(outcome.report.findings.is_empty(), "{:?}", outcome.report.findings);
}

#[test]
fn what_one_implementation_shows_may_be_gone_from_another() {
    let lists = |request: &Request<'_>| observe(NVIDIA, &known_rules(NVIDIA), request);
    let out = tempfile::tempdir().unwrap();
    let subjects = [nvidia("ptxas@one", lists), nvidia("ptxas@other", right)];
    let (outcome, _) = run_cases(7, &subjects, Focus::Expressions, 10, out.path());
    // Its reproducer is a kernel, which is shown together with others.
    let id = "gone-negative-index-unsigned";
    let gone = outcome.report.findings.iter().find(|finding| finding.id == id).unwrap();
    assert_eq!(gone.subjects, ["ptxas@other"]);
}

/// What an implementation does with a program that holds this word.
fn at_word(
    word: &'static str,
    seen: impl Fn() -> Observation + Clone + Send + Sync + 'static,
) -> impl Fn(&Request<'_>) -> Observation + Clone + Send + Sync + 'static {
    move |request| if request.ptx.contains(word) { seen() } else { right(request) }
}

#[test]
fn what_one_word_does_is_one_finding_that_is_called_after_it() {
    let killed = || Observation { signal: Some(11), ..Observation::new(Seen::Crashed) };
    let late = || Observation::new(Seen::TimedOut);
    let refused = || refusal(4, "Unknown symbol 'WARP_SZ'");
    let several = || {
        let mut seen = refusal(4, "Unknown symbol 'WARP_SZ'");
        seen.diagnostics.extend(refusal(5, "too many errors").diagnostics);
        seen
    };
    type Does = Box<dyn Fn(&Request<'_>) -> Observation + Send + Sync>;
    let rows: [(&str, Does, &str); 4] = [
        ("crash-warp-sz", Box::new(at_word("WARP_SZ", killed)), "the subject is killed by signal 11"),
        ("hang-warp-sz", Box::new(at_word("WARP_SZ", late)), "the subject gives no answer in time"),
        (
            "refuses-valid-warp-sz",
            Box::new(at_word("WARP_SZ", refused)),
            "a valid program is refused: Unknown symbol 'WARP_SZ'",
        ),
        (
            "refuses-valid-warp-sz",
            Box::new(at_word("WARP_SZ", several)),
            "a valid program is refused: Unknown symbol 'WARP_SZ'",
        ),
    ];
    for (id, does, title) in rows {
        let does = std::sync::Arc::new(does);
        let out = tempfile::tempdir().unwrap();
        let subjects = [implementation("wrong", move |request| does(request))];
        let (outcome, told) = run_cases(7, &subjects, Focus::Mixed, 400, out.path());
        let report = outcome.report;
        let [finding] = &report.findings[..] else { panic!("{id}: {:#?}", report.findings) };
        assert_eq!((&*finding.id, &*finding.title), (id, &*format!("`WARP_SZ`: {title}")));
        // A refusal is that of an interpretation, too, where another one would refuse the program; but not
        // each is.
        let deviate = report.compared - report.conform;
        let mixed = u64::from(id.starts_with("refuses"));
        assert!((deviate..=deviate + mixed).contains(&finding.count), "{id}: {} of {deviate}", finding.count);
        assert_eq!(finding.least_program(), headed(".global .s32 a = WARP_SZ;"), "{id}");
        let neighbour = finding.neighbour.as_ref().unwrap();
        assert!(!neighbour.contains("WARP_SZ"), "{id}: {neighbour}");
        // Of the clauses that a long program met, those that the smallest one rests on.
        assert!(
            finding.clauses.contains(&"4.5.1/warp-size".to_owned()) && finding.clauses.len() <= 6,
            "{finding:#?}"
        );
        assert_eq!(files_of_findings(out.path()), [format!("{id}.found.ptx"), format!("{id}.ptx")]);
        assert_eq!(told.notes, [] as [&str; 0]);
    }
}

#[test]
fn of_one_that_takes_no_program_only_that_is_told() {
    let says = |message: &'static str| implementation("none", move |_: &Request<'_>| refusal(1, message));
    let dies = implementation("none", |_: &Request<'_>| Observation {
        signal: Some(6),
        ..Observation::new(Seen::Crashed)
    });
    for (subject, told, findings) in [(says("no license"), "no license", 0), (dies, "signal 6", 1)] {
        let out = tempfile::tempdir().unwrap();
        let (outcome, _) = run_cases(7, &[subject], Focus::Mixed, 60, out.path());
        let report = outcome.report;
        assert_eq!(report.subjects[0].refuses_everything.as_deref(), Some(told));
        assert_eq!(report.findings.len(), findings, "{:#?}", report.findings);
        assert_eq!(outcome.earlier, 0);
    }
}

#[test]
fn of_one_that_refuses_no_program_there_is_one_finding() {
    let out = tempfile::tempdir().unwrap();
    let takes_all = |request: &Request<'_>| match right(request) {
        seen if seen.outcome == Seen::Refused => Observation::new(Seen::Accepted),
        seen => seen,
    };
    let (outcome, _) = run_cases(7, &[implementation("all", takes_all)], Focus::Negatives, 100, out.path());
    let report = outcome.report;
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    let said = ["accepts-invalid-everything", "no invalid program is refused, or hardly one", "refused"];
    assert_eq!([&*finding.id, &*finding.title, &*finding.validity], said);
    assert_eq!(finding.count, report.compared - report.conform);
    assert!(finding.count >= 10);
}

#[test]
fn a_release_that_answers_otherwise_behind_another_entry_point_is_a_finding() {
    let release = |name: &str, observe: Box<dyn Fn(&Request<'_>) -> Observation + Send + Sync>| {
        let observe = std::sync::Arc::new(observe);
        let description = Description {
            id: format!("{name}@2.1"),
            name: name.to_owned(),
            lineage: Some("mine".to_owned()),
            version: Some("2.1.7".to_owned()),
            ..Description::default()
        };
        described(description, move |request| observe(request))
    };
    let octal = || wrong(&["octal-as-decimal"]);
    let out = tempfile::tempdir().unwrap();
    let subjects = [release("program", Box::new(octal())), release("library", Box::new(octal()))];
    let (outcome, _) = run_cases(7, &subjects, Focus::Mixed, 400, out.path());
    let report = outcome.report;
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    assert_eq!(finding.subjects, ["program@2.1", "library@2.1"]);
    assert_eq!(finding.count, report.compared - report.conform);
    let versions: Vec<&str> = finding.releases.iter().map(|release| &*release.version).collect();
    assert_eq!(versions, ["2.1.7", "2.1.7"]);

    // Both are wrong about octal numbers, and one of them refuses them where the output is relocatable.
    let refuses = move |request: &Request<'_>| match request.form {
        OutputForm::Relocatable if request.ptx.contains(" 0") => refusal(4, "no octal numbers"),
        _ => octal()(request),
    };
    let out = tempfile::tempdir().unwrap();
    let subjects =
        [release("program", Box::new(wrong(&["octal-as-decimal"]))), release("library", Box::new(refuses))];
    let (outcome, _) = run_cases(7, &subjects, Focus::Expressions, 400, out.path());
    let all: Vec<&Finding> =
        outcome.report.findings.iter().filter(|finding| finding.id.starts_with("doors-")).collect();
    let [finding] = all[..] else { panic!("{:#?}", outcome.report.findings) };
    assert_eq!(finding.id, "doors-octal-as-decimal");
    assert_eq!(finding.title, "program@2.1 and library@2.1 answer differently, one release of one compiler");
    assert_eq!(
        (finding.class.name(), &finding.subjects[..]),
        ("inconsistent", &["library@2.1".to_owned()][..])
    );
    assert_eq!(finding.observed.outcome, Seen::Refused);
    assert_eq!(finding.expected.outcome(), Some("accepted"));
}
