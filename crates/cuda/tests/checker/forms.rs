//! Tests the checker on uses of every form. Tables in `corpus/cuda/forms` hold the verdicts, which were
//! derived by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_cuda::check::{CheckOptions, FileReport, check, clang_version, find_clang};
use ptxsmith_cuda::reading::RuleQuestion;
use ptxsmith_cuda::rule::{Key, RuleClause};
use ptxsmith_subject::Cancel;

/// One line of a table: a use, its expected messages, and the clause or question that decides it.
struct Line {
    keys: Vec<Key>,
    why: String,
    code: String,
}

/// A table of uses, each in a line of the form `expected | why | code`.
#[derive(Default)]
struct Table {
    flags: Vec<String>,
    microsoft: bool,
    /// The first major version of clang that accepts the code.
    clang: u32,
    prelude: BTreeMap<u32, String>,
    lines: BTreeMap<u32, Line>,
}

fn key(name: &str) -> Key {
    match name {
        "initialized" => Key::NotInitialized,
        "volatile" => Key::Volatile,
        "type" => Key::InvalidType,
        "address" => Key::Address,
        other => panic!("no key {other}"),
    }
}

fn read(file: &Path) -> Table {
    let mut table = Table::default();
    for (line, number) in fs::read_to_string(file).expect("a table can be read").lines().zip(1..) {
        if let Some(code) = line.strip_prefix("@ ") {
            table.prelude.insert(number, code.to_owned());
        } else if let Some(flags) = line.strip_prefix("flags:") {
            table.flags = flags.split_whitespace().map(str::to_owned).collect();
        } else if let Some(version) = line.strip_prefix("clang: ") {
            table.clang = version.parse().expect("a version");
        } else if line == "microsoft" {
            table.microsoft = true;
        } else if !line.is_empty() && !line.starts_with('#') {
            let parts: Vec<&str> = line.splitn(3, " | ").collect();
            let [expected, why, code] = parts[..] else { panic!("{}:{number}: no use", file.display()) };
            let keys =
                if expected == "allowed" { Vec::new() } else { expected.split('+').map(key).collect() };
            table.lines.insert(number, Line { keys, why: why.to_owned(), code: code.to_owned() });
        }
    }
    table
}

fn tables() -> Vec<(PathBuf, Table)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/cuda/forms");
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).expect("the tables are there").map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files.into_iter().map(|file| (file.clone(), read(&file))).collect()
}

/// Returns the CUDA source of a table. Each use has its own namespace, and the same line number as in the
/// table.
fn source(table: &Table) -> String {
    let last = table.lines.keys().chain(table.prelude.keys()).max().copied().unwrap_or(0);
    let line = |number| match (table.prelude.get(&number), table.lines.get(&number)) {
        (Some(code), _) => format!("{code}\n"),
        (_, Some(line)) => format!("namespace u{number} {{ {} }}\n", line.code),
        _ => "\n".to_owned(),
    };
    (1..=last).map(line).collect()
}

#[test]
fn every_form_is_judged_as_the_text_says() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker on forms of use: clang is not in PATH");
        return;
    };
    let (mut judged, mut wrong) = (0, Vec::new());
    let version = clang_version(&clang, &Cancel::new()).expect("clang tells its version");
    let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or_default();
    for (file, table) in tables().into_iter().filter(|(_, table)| table.clang <= major) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forms.cu");
        fs::write(&path, source(&table)).unwrap();
        let mut options = CheckOptions::new(clang.clone());
        if table.microsoft {
            options.interpretations = options.interpretations.with(RuleQuestion::HostCompiler);
        }
        options.flags = table.flags.iter().map(Into::into).collect();
        options.directory = file.parent().expect("a table lies somewhere").to_owned();
        let FileReport { findings, not_analysed, .. } = check(&path, &options).expect("clang runs");
        wrong.extend(not_analysed.iter().map(|text| format!("{}: {text}", file.display())));
        for (number, line) in &table.lines {
            judged += 1;
            let found: Vec<&Vec<Key>> = findings
                .iter()
                .filter(|finding| finding.line == *number)
                .map(|finding| &finding.keys)
                .collect();
            let expected: Vec<&Vec<Key>> =
                Some(&line.keys).filter(|keys| !keys.is_empty()).into_iter().collect();
            if found != expected {
                let Line { why, code, .. } = line;
                wrong.push(format!(
                    "{}:{number}: {found:?} for {expected:?}\n  {why}\n  {code}",
                    file.display()
                ));
            }
        }
    }
    assert!(judged >= 900, "only {judged} uses");
    assert!(wrong.is_empty(), "{} of {judged} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_use_names_the_clause_or_the_question_that_decides_it() {
    for (file, table) in tables() {
        for (number, line) in &table.lines {
            let decides = line.why.split([':', ' ']).next().unwrap_or_default();
            let is_clause =
                RuleClause::ALL.into_iter().any(|clause| clause.name().ends_with(&format!("/{decides}")));
            let is_question = RuleQuestion::ALL.iter().any(|question| question.name() == decides);
            let is_short = decides == "initialized";
            assert!(is_clause || is_question || is_short, "{}:{number}: {decides}", file.display());
        }
    }
}
