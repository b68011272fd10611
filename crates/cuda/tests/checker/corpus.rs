//! Tests the checker on sources of realistic size: it finds exactly the planted violations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_cuda::check::{CheckOptions, FileReport, check, find_clang};
use ptxsmith_cuda::rule::Key;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/cuda")
}

fn sources(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

/// Returns the planted violations of a file: the lines with a comment `// violation: KEY, KEY`, and their
/// keys.
fn planted(file: &Path) -> BTreeSet<(String, u32, Vec<Key>)> {
    let text = fs::read_to_string(file).expect("a source can be read");
    let name = file.file_name().expect("it has a name").to_string_lossy().into_owned();
    let mark = |(index, line): (usize, &str)| {
        let (_, keys) = line.split_once("// violation: ")?;
        let key = |name: &str| {
            let found = Key::ALL.into_iter().find(|key| key.name() == name.trim());
            found.unwrap_or_else(|| panic!("no key {name} in {}", file.display()))
        };
        Some((name.clone(), index as u32 + 1, keys.split(',').map(key).collect()))
    };
    text.lines().enumerate().filter_map(mark).collect()
}

fn found(report: &FileReport) -> BTreeSet<(String, u32, Vec<Key>)> {
    let name = |file: &str| Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    report.findings.iter().map(|finding| (name(&finding.file), finding.line, finding.keys.clone())).collect()
}

fn clang() -> Option<PathBuf> {
    let clang = find_clang().ok();
    if clang.is_none() {
        eprintln!("NOT TESTED: the checker on the corpus: clang is not in PATH");
    }
    clang
}

#[test]
fn planted_violations_are_found_and_nothing_else() {
    let Some(clang) = clang() else { return };
    let files = sources(&corpus(), "cu");
    assert!(files.len() >= 20, "only {} sources", files.len());
    let mut violations = 0;
    for file in &files {
        let report = check(file, &CheckOptions::new(clang.clone())).expect("clang runs");
        assert!(report.is_analysed, "{}", file.display());
        assert_eq!(report.not_analysed, Vec::<String>::new(), "{}", file.display());
        let planted = planted(file);
        violations += planted.len();
        assert_eq!(found(&report), planted, "{}", file.display());
    }
    assert!(violations >= 25, "only {violations} planted");
}

#[test]
fn every_message_is_planted_somewhere() {
    let all: BTreeSet<Key> = sources(&corpus(), "cu")
        .iter()
        .flat_map(|file| planted(file))
        .flat_map(|(_, _, keys)| keys)
        .collect();
    assert_eq!(all, Key::ALL.into_iter().collect());
}
