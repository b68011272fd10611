//! The documents that are rendered from the tables are current: `PTXSMITH_BLESS=1` writes them anew.
//!
//! `docs/reference/specification.md` holds the clauses and the open questions, `docs/guide/subjects.md` the
//! forms of naming a subject. `docs/deviations/` has a page for each known deviation, all of it rendered from
//! its file in `corpus/deviations/`; of the others what stands between the marks is rendered, the rest
//! written by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ptxsmith_diff::gone::class_of;
use ptxsmith_diff::known::{Effect, KNOWN, KnownDeviation, Termination};
use ptxsmith_diff::linking::LINKER_DEVIATIONS;
use ptxsmith_oracle::{
    Clause, Expectation, KernelOutcome, Observed, Question, Rules, Validity, execute, expect, hex, predict,
};
use ptxsmith_report::severity::DeviationSeverity;
use ptxsmith_subject::SubjectSpec;
use ptxsmith_syntax::{Item, Module, parse};
use ptxsmith_testing::{rendered, rendered_between};

fn observed(how: Observed) -> &'static str {
    match how {
        Observed::Value => "the bytes of a variable",
        Observed::Layout => "space, size or alignment",
        Observed::Refusal => "a refusal",
        Observed::Address => "an address",
        Observed::Instruction => "an instruction",
        Observed::Nothing => "nothing",
    }
}

#[test]
fn the_table_of_clauses_and_questions_is_current() {
    let mut text = String::from("## Clauses\n");
    let mut section = "";
    for clause in Clause::ALL {
        if clause.section() != section {
            section = clause.section();
            let _ =
                writeln!(text, "\n### {section}\n\n| clause | says that | seen in |\n| --- | --- | --- |");
        }
        let known: Vec<String> = KNOWN
            .iter()
            .filter(|known| known.clauses.contains(&clause))
            .map(|known| format!(" [{0}](../deviations/{0}.md)", known.id))
            .collect();
        let broken = if known.is_empty() { String::new() } else { format!("; broken by{}", known.join(",")) };
        let (summary, seen) = (clause.summary().replace('|', "\\|"), observed(clause.observed()));
        let _ = writeln!(text, "| `{}` | {summary} | {seen}{broken} |", clause.id());
    }
    text.push_str("\n## Open questions\n\nThe first answer is the literal text, and the oracle's default.\n");
    for question in Question::ALL {
        let clauses: Vec<String> = question.clauses().iter().map(|clause| format!("`{clause}`")).collect();
        let _ = writeln!(text, "\n### {}\n\nLeft open by {}.\n", question.name(), clauses.join(", "));
        for (answer, summary) in question.answers().iter().zip(question.summaries()) {
            let _ = writeln!(text, "- `{answer}`: {summary}");
        }
    }
    assert!(Clause::ALL.len() > 100 && Question::ALL.len() > 20);
    rendered_between("docs/reference/specification.md", "rendered", &text);
}

#[test]
fn the_table_of_subjects_is_current() {
    let mut text = String::from("| `--subject` | names |\n| --- | --- |\n");
    for form in SubjectSpec::FORMS {
        let _ = writeln!(
            text,
            "| `{}` | {} |",
            form.form,
            form.meaning.replace("docs/guide/subjects.md", "see below")
        );
    }
    rendered_between("docs/guide/subjects.md", "rendered", &text);
}

/// What these rules say of a program, a line each.
fn said(module: &Module, rules: &Rules) -> Vec<String> {
    match expect(module, rules) {
        Expectation::Accepted { variables, .. } => {
            let mut lines: Vec<String> = Vec::new();
            for variable in &variables {
                let held = match (variable.has_content(), variable.size) {
                    (true, _) => hex(&variable.bytes),
                    (false, u64::MAX) => "2^64 bytes or more".to_owned(),
                    (false, size) => format!("{size} bytes"),
                };
                let mut line = format!("{}: {held}", variable.name);
                for address in &variable.addresses {
                    let byte = address.byte.map_or(String::new(), |byte| format!("byte {byte} of "));
                    let _ = write!(
                        line,
                        ", {byte}the address of {} + {} in {} bytes at {}",
                        address.symbol, address.addend, address.width, address.offset
                    );
                }
                lines.push(line);
            }
            for kernel in execute(module, &variables, rules) {
                if let KernelOutcome::Output(output) = kernel.outcome {
                    let of = |a: &ptxsmith_oracle::Address| {
                        format!(", the address of {} + {}", a.symbol, a.addend)
                    };
                    let addresses: String = output.addresses.iter().map(of).collect();
                    lines.push(format!("{} leaves {}{addresses}", kernel.name, hex(&output.bytes)));
                }
            }
            match predict(module, rules).validity() {
                _ if !lines.is_empty() => lines,
                Validity::Undecided => vec![UNDECIDED.to_owned()],
                _ => vec!["accepted".to_owned()],
            }
        }
        Expectation::Refused { refusal, .. } => vec![format!("refused: {}", refusal.class.summary())],
        Expectation::Unmodelled { reason, .. } => vec![format!("no rule: {reason}")],
    }
}

/// What is expected of a program on which the specification does not decide.
const UNDECIDED: &str = "undecided, but no implementation may crash on it";

/// How a subject ends that dies, in words.
fn ended(end: Termination) -> String {
    match end {
        Termination::InternalError => "an internal error".into(),
        Termination::Signal(8) => "killed by SIGFPE".into(),
        Termination::Signal(11) => "killed by SIGSEGV".into(),
        Termination::Signal(signal) => format!("killed by signal {signal}"),
        Termination::SignalOrInternal(signal) => {
            format!("{}, or an internal error", ended(Termination::Signal(signal)))
        }
        Termination::SignalOrHang(signal) => {
            format!("{}, or no answer in time", ended(Termination::Signal(signal)))
        }
        Termination::Hang => "no answer within the time limit".into(),
        Termination::UnreadableOutput => "an internal error, or output that cannot be read".into(),
        Termination::OutOfMemory => "all memory or all time is used up".into(),
    }
}

fn page(known: &KnownDeviation) -> String {
    let module = parse(known.example).expect("the example parses");
    let short = |line: &str| match line.len() {
        0..1_000 => line.to_owned(),
        all => format!("{} ... {} ({all} characters)", &line[..40], &line[all - 8..]),
    };
    let lines = known.example.lines().skip(3);
    let body: String = lines.fold(String::new(), |text, line| text + &short(line) + "\n");
    let mut expected = said(&module, &Rules::default());
    if matches!(known.effect, Effect::WrongValue) && expected == [UNDECIDED] {
        // Results of kernels: the second authority decides.
        expected = vec!["accepted, with the values that section 9.7 of the PTX manual gives".to_owned()];
    }
    let actual = match known.effect {
        Effect::CrashRule { signal, .. } => vec![ended(Termination::Signal(signal))],
        Effect::CrashPattern { end } => vec![ended(end)],
        Effect::AcceptsInvalid => vec!["accepted".to_owned()],
        Effect::RefusesValid => vec!["refused".to_owned()],
        Effect::WrongValue => vec!["accepted, with other values".to_owned()],
        Effect::Rule(change) | Effect::RefusalRule(change) => {
            let rules = Rules::default().with(change);
            // Of what should have been refused, no rule says what it holds.
            let refused = expected[0].starts_with("refused");
            if refused { vec!["accepted".to_owned()] } else { said(&module, &rules) }
        }
    };
    assert_ne!(expected, actual, "{}: the page would show no difference", known.id);
    let version = module.items.iter().find_map(|item| match item {
        Item::Version(version) => Some(version.text.as_str()),
        _ => None,
    });
    let mut text = format!("# {}\n\n{}.\n\n```text\n{body}```\n\n", known.id, known.title);
    let _ = writeln!(text, "| | |\n| --- | --- |");
    let _ = writeln!(text, "| expected | `{}` |", expected.join("`, `"));
    let _ = writeln!(text, "| actual | `{}` |", actual.join("`, `"));
    for clause in known.clauses {
        let summary = clause.summary().replace('|', "\\|");
        let _ = writeln!(text, "| clause | `{}`: {summary} |", clause.id());
    }
    let _ = writeln!(text, "| ptxas | {} |", known.releases);
    let _ = writeln!(text, "| first seen | {} |", known.first_seen);
    let target =
        known.example.lines().find_map(|line| line.strip_prefix(".target ")).filter(|own| *own != "sm_80");
    let target = target.map_or_else(String::new, |target| format!(" and `.target {target}`"));
    let _ = writeln!(text, "\nThe program needs `.version {}`{target}.", version.unwrap_or("1.0"));
    for (heading, said) in [
        ("What it means for people who emit PTX", known.means),
        ("Work-around", known.work_around),
        ("How it was found", known.found),
    ] {
        assert!(said.len() >= 15, "{}: {heading}", known.id);
        let _ = write!(text, "\n## {heading}\n\n{said}\n");
    }
    text
}

#[test]
fn every_known_deviation_has_a_page_that_is_current_and_says_what_it_means() {
    for known in KNOWN.iter() {
        rendered(&format!("docs/deviations/{}.md", known.id), &page(known));
    }
    let mut index = String::from("| deviation | class | what happens | ptxas |\n| --- | --- | --- | --- |\n");
    let class = |known: &KnownDeviation| class_of(known, &parse(known.example).expect("the example parses"));
    let mut ordered: Vec<&KnownDeviation> = KNOWN.iter().collect();
    ordered.sort_by_key(|known| DeviationSeverity::of_class(class(known)));
    for known in ordered {
        let _ = writeln!(
            index,
            "| [{0}]({0}.md) | {3} | {1} | {2} |",
            known.id,
            known.title.replace('|', "\\|"),
            known.releases,
            class(known),
        );
    }
    rendered_between("docs/deviations/README.md", "rendered", &index);
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deviations"))
        .expect("the folder is there")
        .count();
    // The index, and the pages of linkers and of compilers.
    assert_eq!(pages, KNOWN.len() + 3, "a page of a deviation that is not listed any more");
}

#[test]
fn the_page_of_linkers_has_every_listed_deviation_of_linkers() {
    let mut page = String::from(
        "# Known deviations of linkers\n\nWhat nvlink and nvJitLink do otherwise than the specification says, or otherwise in another \
         order of the modules. `ptxsmith check --link FILE` with the first module shows each; the modules are in `corpus/deviations/linking`.\n",
    );
    for listed in LINKER_DEVIATIONS.iter() {
        let _ = write!(page, "\n## {}\n\n{}.\n", listed.id, listed.title);
        for (text, _) in &listed.modules {
            let lines = text.lines().filter(|line| !line.starts_with("//") && !is_header(line));
            let body: String = lines.map(|line| line.to_owned() + "\n").collect();
            let _ = write!(page, "\n```text\n{body}```\n");
        }
        let _ = writeln!(page, "\n| | |\n| --- | --- |\n| class | {} |", listed.class);
        for releases in &listed.releases {
            let _ = writeln!(page, "| shown by | {releases} |");
        }
        let _ = writeln!(
            page,
            "| first seen | {} |\n| work-around | {} |",
            listed.first_seen, listed.work_around
        );
    }
    rendered("docs/deviations/linkers.md", &page);
}

fn is_header(line: &str) -> bool {
    [".version", ".target", ".address_size"].iter().any(|directive| line.starts_with(directive))
}
