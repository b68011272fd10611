//! Variants of programs mean the same to the oracle, and show an implementation that reads one spelling otherwise.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ptxsmith_campaign::check::{Options, check};
use ptxsmith_campaign::session::{Session, Silent};
use ptxsmith_gen::Variants;
use ptxsmith_oracle::{Expectation, Rules, Variable, expect};
use ptxsmith_report::Report;
use ptxsmith_subject::{Cancel, parse_spec, process};
use ptxsmith_syntax::parse;

fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ptx") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// What a module holds under the names of another one.
fn held(text: &str, back: impl Fn(&str) -> String) -> Result<Vec<String>, String> {
    let module = parse(text).unwrap();
    let of = |variable: &Variable| {
        let addresses: Vec<_> = variable
            .addresses
            .iter()
            .map(|a| (a.offset, a.width, back(&a.symbol), a.addend, a.generic, a.byte))
            .collect();
        format!("{} {} {:?} {addresses:?}", back(&variable.name), variable.size, variable.bytes)
    };
    match expect(&module, &Rules::default()) {
        Expectation::Accepted { variables, .. } => {
            let mut all: Vec<String> = variables.iter().map(of).collect();
            all.sort();
            Ok(all)
        }
        Expectation::Refused { refusal, .. } => Err(format!("{:?}", refusal.class)),
        Expectation::Unmodelled { .. } => Err("unmodelled".to_owned()),
    }
}

#[test]
fn to_the_oracle_variants_of_the_corpus_hold_the_same() {
    let mut compared = 0;
    for (path, text) in programs() {
        let Ok(module) = parse(&text) else { continue };
        let own = held(&text, str::to_owned);
        let variants = Variants::new(module);
        for index in 0..12 {
            let variant = variants.make(&variants.draw(1, index));
            let name = |name: &str| variant.original(name).to_string();
            match (&own, held(&variant.text, name)) {
                (Ok(own), Ok(also)) => {
                    let missing: Vec<_> = own.iter().filter(|one| !also.contains(one)).collect();
                    assert!(missing.is_empty(), "{}: {missing:?}\n{}", path.display(), variant.text);
                    assert_eq!(also.len() - own.len(), variant.same.len(), "{}", variant.text);
                }
                (own, also) => {
                    assert_eq!(own.is_ok(), also.is_ok(), "{}: {also:?}\n{}", path.display(), variant.text)
                }
            }
            compared += 1;
        }
    }
    assert!(compared > 3_000, "{compared}");
}

/// An implementation that does nothing but find `NAME = VALUE` of scalars of 4 bytes, and reads numbers as told.
fn subject(folder: &Path, misread: &str) -> String {
    let text = format!(
        r#"
import json, re, sys
def read(text):
    text = re.sub(r"[()\s]", "", text)
    {misread}
    text = text.rstrip("U").lower()
    return int(text, 0) if text[1:2] in ("x", "b") else int(text, 8 if text[:1] == "0" else 10)
if sys.argv[-1] == "--describe":
    print(json.dumps({{"schema": "ptxsmith.subject/1", "name": "fake", "lineage": "fake", "lists": True}}))
    sys.exit()
for line in sys.stdin:
    request = json.loads(line)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", request["ptx"], flags=re.S)
    variables = {{}}
    for statement in re.findall(r"\.u32\s+([^;]*);", text):
        for name, value in re.findall(r"([\w$%]+)\s*=\s*([^\s,{{}}][^,{{}}]*)", statement):
            variables[name] = {{"space": "global", "size": 4, "bytes": read(value).to_bytes(4, "little").hex(), "addresses": []}}
    seen = {{"schema": "ptxsmith.module/1", "outcome": "accepted", "variables": variables}}
    print(json.dumps({{"id": request["id"], "observation": seen}}), flush=True)
"#
    );
    let path = folder.join("fake.py");
    fs::write(&path, text).unwrap();
    format!("serve:python3 {}", path.display())
}

/// A program of which the texts do not decide every part: no rule says what it holds, but variants hold it too.
const PROGRAM: &str = ".version 7.8\n.target sm_80\n.address_size 64\n\
    .func f() { frobnicate.u32 x; }\n.global .u32 a = 16;\n.global .u32 b = 0x7, c = 9U;\n.global .u32 d = (3);\n";

fn checked(folder: &Path, misread: &str, jobs: usize) -> Report {
    let file = folder.join("a.ptx");
    fs::write(&file, PROGRAM).unwrap();
    let session = Session {
        command_line: Vec::new(),
        expected: Default::default(),
        limit: None,
        jobs: NonZeroUsize::new(jobs).unwrap(),
        seed: 5,
        cancel: Cancel::new(),
        libcuda: None,
        start: process::Start::Spawn,
        workers: None,
        events: Box::new(Silent),
    };
    let options = Options {
        files: vec![file],
        subjects: vec![parse_spec(&subject(folder, misread)).unwrap()],
        timeout: None,
        by_case: false,
        variants: 60,
        replace: false,
        out: Some(folder.join("out")),
        counterpart: |_| None,
    };
    check(&session, options).unwrap().report
}

#[test]
fn an_implementation_that_misreads_one_spelling_contradicts_itself() {
    let folder = tempfile::tempdir().unwrap();
    let report = checked(folder.path(), "if text[:2] == '0B': return 1", 2);
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    assert_eq!((&*finding.class, &*finding.id), ("inconsistent", "inconsistent-integer-spelling"));
    assert!(finding.program.contains("0B"), "{}", finding.program);
    let other = finding.same_as.as_deref().unwrap();
    assert!(!other.contains("0B") && !other.contains("frobnicate"), "{other}");
    assert!(
        finding.repeat.contains("--variants") && finding.repeat.contains("--seed 5"),
        "{}",
        finding.repeat
    );
    let file =
        fs::read_to_string(folder.path().join("out/findings/inconsistent-integer-spelling.ptx")).unwrap();
    assert!(file.contains("// note: it means the same as this program"), "{file}");
    // Which of the threads comes first is nothing that a report depends on.
    let again = checked(folder.path(), "if text[:2] == '0B': return 1", 1);
    assert_eq!(again.findings, report.findings);
}

#[test]
fn a_conforming_implementation_makes_the_same_of_all_variants() {
    let folder = tempfile::tempdir().unwrap();
    let report = checked(folder.path(), "pass", 2);
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert!(report.compared >= 60, "{}", report.compared);
}
