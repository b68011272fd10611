//! Invalid input files: one clear error line, and status 2.

use std::fs::File;

use crate::common::*;

fn eval(path: &std::path::Path) -> std::process::Output {
    ptxsmith().arg("eval").arg(path).output().unwrap()
}

#[test]
fn a_missing_file_is_named() {
    let error = one_line_error(&eval("/nonexistent/a.ptx".as_ref()));
    assert_eq!(error, "error: /nonexistent/a.ptx: no such file; give a file, or - for standard input\n");
}

#[test]
fn a_directory_is_no_program() {
    let directory = tempfile::tempdir().unwrap();
    assert!(one_line_error(&eval(directory.path())).contains(": a directory; "));
}

#[test]
fn a_file_of_100_megabytes_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("garbage.ptx");
    File::create(&path).unwrap().set_len(100 << 20).unwrap();
    assert!(one_line_error(&eval(&path)).contains("larger than 64 MiB"));
}

#[test]
fn a_binary_file_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let small = directory.path().join("elf.ptx");
    std::fs::write(&small, &std::fs::read(program).unwrap()[..4096]).unwrap();
    assert!(one_line_error(&eval(&small)).contains("an ELF file"));
    std::fs::write(&small, b"\xfe\xfe").unwrap();
    assert!(one_line_error(&eval(&small)).contains("not UTF-8 text"));
    std::fs::write(&small, b".version\0.target").unwrap();
    assert!(one_line_error(&eval(&small)).contains("zero byte at offset 8"));
}

#[test]
fn a_million_parentheses_leave_their_statement_undecided() {
    let directory = tempfile::tempdir().unwrap();
    let text = module(&format!(".global .s64 x = {};\n.global .u8 y = 1;", "(".repeat(1_000_000)));
    let path = file(directory.path(), "deep.ptx", &text);
    let output = eval(&path);
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    let text = stdout(&output);
    assert!(text.contains("not understood") && text.len() < 5000, "{text}");
}

#[test]
fn a_syntax_error_has_a_place_a_line_and_a_marker() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "a.ptx", &module(".global .s32 x }"));
    let output = eval(&path);
    assert_eq!(status(&output), 2);
    let expected = format!(
        "{}:4:16: error: expected `;`, found `}}`\n.global .s32 x }}\n               ^\n",
        path.display()
    );
    assert_eq!(stderr(&output), expected);
}

#[test]
fn an_empty_file_is_bad_input() {
    let output = ptxsmith().args(["eval", "-"]).write_stdin("").output().unwrap();
    assert!(one_line_error(&output).contains("no .version"));
}

#[test]
fn nothing_that_a_terminal_would_act_upon_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    for declarations in [".global .s32 \u{1b}[31m;", "\u{1b}[31m;", "}\u{1b}[31m;"] {
        let path = file(directory.path(), "\u{1b}[2J\n.ptx", &module(declarations));
        let output = eval(&path);
        let text = stdout(&output) + &stderr(&output);
        assert!(!text.contains('\u{1b}') && !text.is_empty(), "{text:?}");
    }
    let missing = ptxsmith().args(["eval", "no\u{1b}[2J\nsuch.ptx"]).output().unwrap();
    assert!(!one_line_error(&missing).contains('\u{1b}'));
}

#[test]
fn the_output_folder_must_be_writable_before_any_work() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    // A directory below a file cannot be created by anyone. Permissions would not stop a test that runs as
    // root.
    for out in [program.join("out"), "/proc/ptxsmith-out".into()] {
        let mut check = ptxsmith();
        check.arg("check").arg(&program).args(["--subject", &oracle_as_subject(&[])]).arg("--out").arg(out);
        assert!(one_line_error(&check.output().unwrap()).contains("cannot write to "));
    }
}

#[test]
fn a_subject_that_is_no_program_is_bad_usage() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    let check =
        |subject: &str| ptxsmith().arg("check").arg(&program).args(["--subject", subject]).output().unwrap();
    assert!(
        one_line_error(&check("ptxas:/nonexistent/ptxas")).contains("/nonexistent/ptxas: no such program")
    );
    assert!(one_line_error(&check(&format!("ptxas:{}", program.display()))).contains("a.ptx"));
    assert!(one_line_error(&check("ptxas:/bin/cat")).contains("/bin/cat"));
    assert!(one_line_error(&check("exec:/nonexistent/tool")).contains("/nonexistent/tool"));
    // Errors from clap have their own format.
    let output = check("ptxaz");
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("no subject `ptxaz`"));
}

#[test]
fn flags_that_make_no_sense_name_the_value() {
    let told = |args: &[&str]| {
        let output = ptxsmith().args(args).output().unwrap();
        assert_eq!(status(&output), 2);
        stderr(&output)
    };
    assert!(told(&["check", "a.ptx", "--time", "10"]).contains("'10'"));
    assert!(told(&["check", "a.ptx", "--cases", "many"]).contains("'many'"));
    assert!(told(&["check", "a.ptx", "--cases", "1", "--time", "1s"]).contains("cannot be used with"));
    assert!(told(&["check", "a.ptx", "--jobs", "0"]).contains("'0'"));
    assert!(told(&["eval", "a.ptx", "--reading", "shift-count=none"]).contains("there are saturate, modulo"));
    assert!(told(&["toolchain", "install", "99.9"]).contains("no release `99.9`"));
}
