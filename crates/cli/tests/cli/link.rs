//! `check --link`: several modules as one program.

use std::fs;
use std::path::Path;

use crate::common::*;

fn modules(directory: &Path) -> [std::path::PathBuf; 2] {
    let header = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let texts = [".visible .global .u32 shared = 1;\n", ".extern .global .u32 shared;\n"];
    let mut place = 0;
    texts.map(|text| {
        place += 1;
        let path = directory.join(format!("{place}.ptx"));
        fs::write(&path, format!("{header}{text}")).unwrap();
        path
    })
}

#[test]
fn files_that_share_a_name_are_said_to_be_judged_alone() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = modules(directory.path());
    let subject = oracle_as_subject(&[]);
    let output =
        ptxsmith().arg("check").args([&first, &second]).args(["--subject", &subject]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("declares `shared`"), "{stderr}");
    assert!(stderr.contains("each file is judged alone"), "{stderr}");
    let alone = ptxsmith().arg("check").arg(&first).args(["--subject", &subject]).output().unwrap();
    assert!(!String::from_utf8_lossy(&alone.stderr).contains("judged alone"));
}

#[test]
fn a_subject_that_links_nothing_is_refused_and_so_is_a_single_module() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = modules(directory.path());
    let subject = oracle_as_subject(&[]);
    let link = |files: &[&Path]| {
        let mut command = ptxsmith();
        command.args(["check", "--link"]).args(files).args(["--subject", &subject]);
        let output = command.output().unwrap();
        assert_eq!(status(&output), 2);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(link(&[&first, &second]).contains("links no modules"));
    assert!(link(&[&first]).contains("two modules or more"));
}

#[test]
fn the_modules_that_a_first_module_names_lie_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = |comment: &str| {
        let path = directory.path().join("first.ptx");
        fs::write(&path, format!("{comment}.version 7.7\n.target sm_80\n")).unwrap();
        let output = ptxsmith().arg("check").arg("--link").arg(&path).output().unwrap();
        assert_eq!(status(&output), 2);
        stderr(&output)
    };
    assert!(refusal("").contains("two modules or more"));
    assert!(refusal("// link: ../second.ptx\n").contains("names no file beside it"));
}

#[test]
fn eval_says_what_each_variable_of_a_program_may_hold() {
    let output = ptxsmith()
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap())
        .args(["eval", "docs/examples/link/table.ptx", "--link", "docs/examples/link/weak.ptx"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let x = "x: .const, 4 bytes, aligned to 4\n  \
             declared .weak in docs/examples/link/table.ptx, aligned to 4\n  \
             declared .weak in docs/examples/link/weak.ptx, aligned to 4\n  \
             bytes    02000000 (docs/examples/link/table.ptx)\n  \
             or       01000000 (docs/examples/link/weak.ptx)\n";
    assert!(text.contains(x), "{text}");
    assert!(text.contains("  address  offset 0, 8 bytes: generic(x)\n"), "{text}");
}
