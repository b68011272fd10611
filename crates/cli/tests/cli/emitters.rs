//! PTX from compilers. The table in `docs/reference/emitters.md` covers the committed inputs; `cargo xtask
//! check-emitters` generates it with LLVM.

use std::path::Path;

use crate::common::*;

#[test]
fn every_global_has_its_line_in_the_table_and_there_are_sixty_or_more() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/emitters.md")).unwrap();
    let mut globals = 0;
    for entry in std::fs::read_dir(root.join("corpus/emitters")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ll") {
            continue;
        }
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let (_, own) = text.split_once("; globals\n").unwrap();
        for line in own.lines() {
            let name = line.strip_prefix('@').and_then(|line| line.split(' ').next()).unwrap();
            assert!(page.contains(&format!("| {file} | `{name}` |")), "{file}: {name}");
            globals += 1;
        }
    }
    assert!(globals >= 60, "only {globals}");
    assert_eq!(page.matches(".ll | `").count(), globals, "the table has lines of globals that are gone");
}

#[test]
fn what_clang_printed_has_no_deviation_that_is_not_listed() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../syntax/tests/samples");
    let files = ["addresses", "structures", "tables"].map(|name| samples.join(format!("clang-{name}.ptx")));
    for file in &files {
        let output = ptxsmith().args(["eval", "--json"]).arg(file).output().unwrap();
        assert!(!stdout(&output).contains("not understood"), "{}", file.display());
    }
    let mut check = assert_cmd::Command::cargo_bin("ptxsmith").unwrap();
    let output = check.args(["check", "--subject", "ptxas@all"]).args(&files).output().unwrap();
    match status(&output) {
        3 => eprintln!("NOT TESTED: PTX of clang: {}", stderr(&output)),
        code => assert_eq!(code, 0, "{}{}", stdout(&output), stderr(&output)),
    }
}
