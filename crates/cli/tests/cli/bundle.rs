//! `bundle`: runs the scripts of bundles with only the compiler, `sh` and `python3`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;
use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::{Implementation, known::listed_for};
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::{OpenOptions, SubjectSpec, open, parse_spec};
use ptxsmith_testing::is_whole;

/// Returns the program of a release, or `None` if it is not installed.
fn ptxas(release: &str) -> Option<PathBuf> {
    let spec: SubjectSpec = parse_spec(&format!("ptxas@{release}")).unwrap();
    let opened =
        open(&spec, &OpenOptions { toolchains: Toolchains::for_user().ok(), ..OpenOptions::default() });
    Some(PathBuf::from(opened.ok()?.pop()?.description().path.clone()?))
}

/// Creates a folder for PATH that contains only `sh` and `python3`.
fn bare_path(directory: &Path) -> PathBuf {
    let bare = directory.join("bare");
    std::fs::create_dir(&bare).unwrap();
    // `python3` in PATH may be a script that needs other programs, so link the interpreter itself.
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    std::os::unix::fs::symlink(python.trim(), bare.join("python3")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bare.join("sh")).unwrap();
    bare
}

/// Runs a script with a compiler. Returns its exit status and output.
fn reproduced(script: &Path, compiler: &Path, path: &Path) -> (i32, String) {
    let mut run = Command::new("/bin/sh");
    let output = run.arg(script).arg(compiler).env_clear().env("PATH", path).output().unwrap();
    (status(&output), stdout(&output))
}

/// Bundles a listed deviation with a release as subject.
fn bundled(directory: &Path, known: &KnownDeviation, release: &str) -> PathBuf {
    let mut command = assert_cmd::Command::cargo_bin("ptxsmith").unwrap();
    let subject = format!("ptxas@{release}");
    let output = command
        .args(["bundle", known.id, "--subject", &subject, "--from", "/nonexistent", "--out"])
        .arg(directory)
        .output()
        .unwrap();
    assert_eq!(status(&output), 0, "{}: {}", known.id, stderr(&output));
    assert!(directory.join(format!("{}.tar.gz", known.id)).is_file());
    directory.join(known.id)
}

/// Returns all listed deviations in a whole run, and otherwise two of each effect on data and on kernels:
/// scripts differ by it.
fn some<'k>(listed: &[&'k KnownDeviation]) -> Vec<&'k KnownDeviation> {
    if is_whole() {
        return listed.to_vec();
    }
    let mut counts = HashMap::new();
    let mut some = Vec::new();
    for known in listed {
        let kind = (std::mem::discriminant(&known.effect), known.example.contains(".entry"));
        let count = counts.entry(kind).or_insert(0);
        *count += 1;
        if *count <= 2 {
            some.push(*known);
        }
    }
    some
}

#[test]
fn every_listed_deviation_is_reproduced_with_the_compiler_alone() {
    const RELEASE: &str = "13.5";
    let Some(compiler) = ptxas(RELEASE) else {
        eprintln!("NOT TESTED: bundle: ptxas {RELEASE} is not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let bare = bare_path(directory.path());
    let maker = Implementation { lineage: Some("nvidia"), version: Some("13.5.37") };
    // Skip deviations that exhaust the time limit, since each takes the whole limit.
    let listed: Vec<&KnownDeviation> = listed_for(maker).filter(|known| !known.exhausts()).collect();
    assert!(listed.len() > 40, "{}", listed.len());
    for known in some(&listed) {
        let folder = bundled(directory.path(), known, RELEASE);
        let (status, said) = reproduced(&folder.join("reproduce.sh"), &compiler, &bare);
        assert_eq!(status, 0, "{}: {said}", known.id);
        assert!(
            said.lines().last().is_some_and(|line| line.starts_with("REPRODUCED")),
            "{}: {said}",
            known.id
        );
        let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
        for part in ["# ptxas 13.5.37: ", "| severity |", "## Steps", "ptxas -arch=", "## Work-around"] {
            assert!(report.contains(part), "{}: {part}: {report}", known.id);
        }
    }
}

#[test]
fn a_release_that_is_mended_does_not_reproduce() {
    let (Some(old), Some(new)) = (ptxas("11.7"), ptxas("13.5")) else {
        eprintln!("NOT TESTED: bundle: ptxas 11.7 and 13.5 are not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let bare = bare_path(directory.path());
    for id in ["division-by-zero-crash", "vector-register-address-crash", "repeated-number-crash"] {
        let known = KNOWN.iter().find(|known| known.id == id).unwrap();
        let script = bundled(directory.path(), known, "11.7").join("reproduce.sh");
        assert_eq!(reproduced(&script, &old, &bare).0, 0, "{id}");
        let (status, said) = reproduced(&script, &new, &bare);
        assert_eq!(status, 1, "{id}: {said}");
        assert!(said.lines().last().is_some_and(|line| line.starts_with("NOT REPRODUCED")), "{id}: {said}");
    }
}

#[test]
fn what_a_command_shows_is_reproduced_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = oracle_as_subject(&["shift-count=modulo"]);
    let subject = script(
        directory.path(),
        &format!(
            "{} \"$1\" | sed 's/\"bytes\": \"05/\"bytes\": \"06/'",
            wrong.strip_prefix("exec:").unwrap()
        ),
    );
    let program = file(directory.path(), "a.ptx", &module(".global .u8 a = 5;"));
    let out = directory.path().join("out");
    let checked =
        ptxsmith().arg("check").arg(&program).args(["--subject", &subject, "--out"]).arg(&out).output();
    assert_eq!(status(&checked.unwrap()), 1);
    let bundles = directory.path().join("bundles");
    let bundle = |id: &str| {
        ptxsmith().args(["bundle", id, "--from"]).arg(&out).arg("--out").arg(&bundles).output().unwrap()
    };
    let output = bundle("wrong-value");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let folder = PathBuf::from(stdout(&output).split_whitespace().next().unwrap());
    let run = || Command::new("sh").arg(folder.join("reproduce.sh")).output().unwrap();
    let output = run();
    assert_eq!((status(&output), stdout(&output).contains("\nREPRODUCED")), (0, true), "{}", stdout(&output));
    // The same command after the bug is fixed.
    let _ = script(directory.path(), &format!("{} \"$1\"", wrong.strip_prefix("exec:").unwrap()));
    let output = run();
    assert_eq!(
        (status(&output), stdout(&output).contains("NOT REPRODUCED")),
        (1, true),
        "{}",
        stdout(&output)
    );
    assert!(one_line_error(&bundle("no-such")).contains("no finding and no listed deviation `no-such`"));
    assert!(one_line_error(&bundle("incomplete-rows-paked")).contains("mean `incomplete-rows-packed`?"));
}
