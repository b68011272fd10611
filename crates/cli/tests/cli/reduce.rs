//! `reduce`, with fake subjects, and with a real ptxas if one is installed.

mod real;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::*;

/// Creates a conforming subject, modified by shell code that runs before it, with the module in `$1`, or
/// after it, with the answer on standard input.
fn deviating(directory: &Path, before: &str, behind: &str) -> String {
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    script(directory, &format!("{before}\n{ptxsmith} eval --json \"$1\" | {behind}"))
}

fn reduce_file(program: &Path, out: &Path, subject: &str, more: &[&str]) -> Output {
    let mut command = ptxsmith();
    command.arg("reduce").arg(program).arg("--out").arg(out).args(more);
    if !subject.is_empty() {
        command.args(["--subject", subject]);
    }
    command.output().unwrap()
}

/// Returns the reduced program without its comments, and the complete file.
fn reduce(directory: &Path, declarations: &str, subject: &str, more: &[&str]) -> (String, String) {
    let program = file(directory, "a.ptx", &module(declarations));
    let out = directory.join("least.ptx");
    let output = reduce_file(&program, &out, subject, more);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let whole = std::fs::read_to_string(&out).unwrap();
    (without_comments(&whole), whole)
}

fn without_comments(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("//")).collect()
}

const SOME: &str = ".visible .global .align 8 .s32 first[2] = {1, 2 + 3};
.global .u64 second = generic(first) + 4;
.global .s64 third = 7 * (4 % (2 + 1)) - 5;
.const .f32 fourth[3] = {1.0, 2.5};
.global .u8 fifth[2][3] = {{1, 42}, {3}};";

#[test]
fn a_crash_reduces_to_what_kills_and_the_file_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "grep -q '^[^/]*%' \"$1\" && kill -SEGV $$", "cat");
    let (text, whole) = reduce(directory.path(), SOME, &subject, &[]);
    assert_eq!(text, module(".global .s32 a = 0 % 1;"));
    for part in [
        "// clause: 4.5/initializer, ",
        "// expect: accepted\n",
        "// variable: a size=4 align=4 bytes=00000000\n",
    ] {
        assert!(whole.contains(part), "no {part} in {whole}");
    }
    assert!(
        whole.contains("crash (signal 11)") && whole.contains("// note: reduced by ptxsmith "),
        "{whole}"
    );
    let repeat =
        whole.lines().find_map(|line| line.strip_prefix("// note: repeat: ptxsmith check ")).unwrap();
    assert!(repeat.contains("least.ptx --subject 'exec:sh "), "{repeat}");
    let again = ptxsmith().arg("check").args(shell_words(repeat)).output().unwrap();
    assert_eq!(status(&again), 1, "{}", stdout(&again));
    assert!(stdout(&again).contains("killed by signal 11"), "{}", stdout(&again));
}

fn shell_words(text: &str) -> Vec<String> {
    let script = format!("for word in {text}; do echo \"$word\"; done");
    let words = Command::new("sh").args(["-c", &script]).output().unwrap();
    stdout(&words).lines().map(str::to_owned).collect()
}

#[test]
fn a_wrong_value_reduces_to_its_variable() {
    let directory = tempfile::tempdir().unwrap();
    // Every byte 42 becomes 41, wherever it is.
    let subject = deviating(directory.path(), "", "sed '/\"bytes\"/s/2a/29/'");
    let (text, whole) = reduce(directory.path(), SOME, &subject, &[]);
    assert_eq!(text, module(".global .s32 a = 42;"));
    assert!(whole.contains("// note: ") && whole.contains("a: 29"), "{whole}");
}

#[test]
fn of_several_deviations_one_is_kept_and_the_others_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = r#"sed 's/"bytes": "05/"bytes": "06/; s/"align": 2/"align": 1/'"#;
    let subject = deviating(directory.path(), "", wrong);
    let program = file(directory.path(), "a.ptx", &module(".global .u8 a = 5;\n.global .u16 b = 7;"));
    let output = reduce_file(&program, &directory.path().join("least.ptx"), &subject, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the file shows also wrong-layout, which --expect NAME keeps instead"), "{said}");
}

#[test]
fn a_valid_program_that_is_refused_stays_valid() {
    let directory = tempfile::tempdir().unwrap();
    let refused = r#"grep -q '^[^/]*generic' "$1" && { echo '{"outcome": "refused", "diagnostics": [{"severity": "error", "line": 1, "message": "no generic addresses"}]}'; exit 0; }"#;
    let subject = deviating(directory.path(), refused, "cat");
    let (text, whole) = reduce(directory.path(), SOME, &subject, &[]);
    assert!(text.contains("generic(") && !text.contains("third"), "{text}");
    assert!(whole.contains("// expect: accepted\n"), "{whole}");
}

#[test]
fn another_reading_can_be_kept() {
    let directory = tempfile::tempdir().unwrap();
    let subject = oracle_as_subject(&["shift-count=modulo"]);
    let declarations = ".global .s64 x[2] = {5, 3 + (1 << (60 + 5)) * 2};\n.global .s32 y = 4;";
    let (text, _) = reduce(directory.path(), declarations, &subject, &["--expect", "shift-count=modulo"]);
    assert_eq!(text.matches("<<").count(), 1, "{text}");
    assert!(text.len() < 80, "{text}");
}

#[test]
fn a_program_that_conforms_is_not_reduced() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(SOME));
    let out = directory.path().join("least.ptx");
    let conforms = reduce_file(&program, &out, &oracle_as_subject(&[]), &[]);
    assert!(one_line_error(&conforms).contains("shows no deviation, so there is nothing to keep"));
    assert!(!out.exists());
    let subject = deviating(directory.path(), "", "sed '/\"bytes\"/s/2a/29/'");
    let other = reduce_file(&program, &out, &subject, &["--expect", "crash"]);
    assert!(one_line_error(&other).contains("does not show what --expect says"));
    let bad = reduce_file(&program, &out, &subject, &["--expect", "crush"]);
    assert_eq!(status(&bad), 2);
}

#[test]
fn a_subject_that_answers_by_chance_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let seen = directory.path().join("seen");
    let once = format!("[ -e {0} ] || {{ touch {0}; kill -SEGV $$; }}", seen.display());
    let subject = deviating(directory.path(), &once, "cat");
    let program = file(directory.path(), "a.ptx", &module(SOME));
    let output = reduce_file(&program, &directory.path().join("least.ptx"), &subject, &[]);
    let message = one_line_error(&output);
    assert!(
        message.contains("not reproducible: exec:sh ") && message.contains("now so and now otherwise"),
        "{message}"
    );
}

#[test]
fn what_ran_out_of_time_or_disk_or_memory_is_never_taken() {
    // Crashes on every program of the right form. On programs with one declaration it fails for a reason of
    // the machine.
    for (reason, says) in [
        ("sleep 60", "no end after"),
        ("kill -KILL $$", "signal 9"),
        ("kill -XFSZ $$", "signal 25"),
        ("echo No space left on device >&2; exit 1", "No space left"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let before =
            format!("[ $(grep -c '= ' \"$1\") -lt 2 ] && {{ {reason}; }}\ngrep -q % \"$1\" && kill -SEGV $$");
        let subject = deviating(directory.path(), &before, "cat");
        let program =
            file(directory.path(), "a.ptx", &module(".global .s32 x = 5 % 3;\n.global .s32 y = 4;"));
        let out = directory.path().join("least.ptx");
        let output = reduce_file(&program, &out, &subject, &["--timeout", "300ms", "--time", "20s"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let text = without_comments(&std::fs::read_to_string(&out).unwrap());
        assert_eq!(text.matches("= ").count(), 2, "{reason}: {text}");
        assert!(
            stderr(&output).contains("programs were skipped because they could not be observed"),
            "{}",
            stderr(&output)
        );
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
}

#[test]
fn an_input_that_only_ran_out_of_time_is_no_finding_unless_that_is_expected() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "grep -q % \"$1\" && sleep 60", "cat");
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 5 % 3;\n.global .s32 y = 4;"));
    let out = directory.path().join("least.ptx");
    let output = reduce_file(&program, &out, &subject, &["--timeout", "300ms"]);
    assert_eq!(status(&output), 4);
    assert!(stderr(&output).contains("--expect hang"), "{}", stderr(&output));
    assert!(!out.exists());
    let output =
        reduce_file(&program, &out, &subject, &["--timeout", "300ms", "--expect", "hang", "--time", "30s"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = without_comments(&std::fs::read_to_string(&out).unwrap());
    assert!(text.contains('%') && text.matches("= ").count() == 1, "{text}");
}

#[test]
fn an_input_that_only_ran_out_of_disk_or_memory_is_no_finding() {
    let refuses = r#"{ echo '{"outcome": "refused", "diagnostics": [{"severity": "fatal", "message": "cannot write: No space left on device"}]}'; exit 0; }"#;
    for reason in ["kill -KILL $$", "kill -XFSZ $$", refuses] {
        let directory = tempfile::tempdir().unwrap();
        let subject = deviating(directory.path(), &format!("grep -q % \"$1\" && {reason}"), "cat");
        let program =
            file(directory.path(), "a.ptx", &module(".global .s32 x = 5 % 3;\n.global .s32 y = 4;"));
        let out = directory.path().join("least.ptx");
        let output = reduce_file(&program, &out, &subject, &[]);
        assert_eq!(status(&output), 4, "{reason}: {}", stderr(&output));
        assert!(stderr(&output).contains("what exec:sh "), "{}", stderr(&output));
        assert!(!out.exists());
    }
}

/// Creates a subject with two deviations: it interprets octal numbers as decimal, and every byte 42 becomes
/// 41.
fn twice_wrong(directory: &Path) -> String {
    let decimal = r#"sed 's/\<0\([1-7]\)/\1/g' "$1" > "$1.decimal"; set -- "$1.decimal""#;
    deviating(directory, decimal, "sed '/\"bytes\"/s/2a/29/'")
}

#[test]
fn a_difference_that_a_wrong_rule_predicts_never_becomes_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let subject = twice_wrong(directory.path());
    // 42 would be shorter, but it is not an octal number.
    let declarations = ".global .u8 pad[2] = {1, 2};\n.visible .global .s32 x[3] = {1, 017 + 42 * 2, 3};";
    let (text, whole) = reduce(directory.path(), declarations, &subject, &[]);
    assert_eq!(text, module(".global .s32 a = 010;"));
    assert!(whole.contains("suspected: octal-as-decimal"), "{whole}");

    let both = ".global .u8 x = 42;\n.global .s32 y = 3 + 017 * 4;";
    let (text, _) = reduce(directory.path(), both, &subject, &["--expect", "octal-as-decimal"]);
    assert_eq!(text, module(".global .s32 a = 010;"));
    let (text, _) = reduce(directory.path(), both, &subject, &["--expect", "wrong-value"]);
    assert_eq!(text, module(".global .s32 a = 42;"));
}

#[test]
fn what_other_subjects_show_can_be_kept() {
    let directory = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    // Both subjects crash on a remainder, and the second also on a quotient.
    let subject = deviating(directory.path(), "grep -q '^[^/]*[%]' \"$1\" && kill -SEGV $$", "cat");
    let more = deviating(other.path(), "grep -q '^[^/]*[%/]' \"$1\" && kill -SEGV $$", "cat");
    let declarations = ".global .s32 x[2] = {7 % 4, 1};";
    let (text, _) = reduce(directory.path(), declarations, &subject, &["--same-on", &more]);
    assert_eq!(text, module(".global .s32 a = 0 % 1;"));
    // The second subject crashes on a remainder only beside an array, so the array is kept.
    let arrays = deviating(other.path(), "grep -q '].*%' \"$1\" && kill -SEGV $$", "cat");
    let (text, _) = reduce(directory.path(), declarations, &subject, &["--same-on", &arrays]);
    assert_eq!(text, module(".global .s32 a[1] = {0 % 1};"));
    // The second subject does not crash on the original program, so a `0 %`, on which it would crash, is not
    // introduced.
    let zero = deviating(other.path(), "grep -q '0 %' \"$1\" && kill -SEGV $$", "cat");
    let (text, _) = reduce(directory.path(), declarations, &subject, &["--same-on", &zero]);
    assert_eq!(text, module(".global .s32 a = 1 % 1;"));
}

const KERNEL: &str = ".global .u32 g[2] = {5, 6};
.global .u64 h = generic(g);
.visible .entry k(.param .u64 out)
{
    .reg .u64 %o;
    .reg .u32 %r<3>;
    ld.param.u64 %o, [out];
    ld.global.u32 %r1, [g + 4];
    st.global.u32 [%o], %r1;
    mov.u32 %r2, 42;
    st.global.u32 [%o + 4], %r2;
    ret;
}";

#[test]
fn what_a_kernel_leaves_reduces_to_the_operand_that_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "", "sed '/\"bytes\"/s/2a/29/'");
    let (text, whole) = reduce(directory.path(), KERNEL, &subject, &[]);
    assert_eq!((text.matches("42").count(), text.matches("\n.global").count()), (1, 0), "{text}");
    // Registers, the address of the buffer, the number, and the store.
    assert!(text.contains("ld.param") && text.matches(';').count() <= 5, "{text}");
    assert!(whole.contains("leaves: 29"), "{whole}");
}

/// Returns a file of 2,000 lines that clang generated from a C program, with a declaration inserted between
/// its functions.
fn made_by_clang(declaration: &str) -> String {
    let text = include_str!("reduce/digests.ptx");
    assert!(text.lines().count() >= 2000);
    let at = text.find("// .globl\tsha1").unwrap();
    format!("{}\n{declaration}\n{}", &text[..at], &text[at..])
}

#[test]
fn a_declaration_is_found_in_a_file_that_clang_made() {
    let directory = tempfile::tempdir().unwrap();
    // 24301 is stored as 24302, wherever it is.
    let subject = deviating(directory.path(), "", "sed '/\"bytes\"/s/ed5e/ee5e/'");
    let planted = made_by_clang(".visible .global .align 8 .u32 planted[3] = {7, (24301), 9};");
    let program = file(directory.path(), "a.ptx", &planted);
    let out = directory.path().join("least.ptx");
    let output = reduce_file(&program, &out, &subject, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = without_comments(&std::fs::read_to_string(&out).unwrap());
    assert_eq!(text, module(".global .s32 a = 24301;").replace("7.8", "7.0"));
}

#[test]
fn the_result_is_the_same_with_any_number_of_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "grep -q '^[^/]*{{' \"$1\" && kill -SEGV $$", "cat");
    let one = reduce(directory.path(), SOME, &subject, &["--jobs", "1"]);
    let four = reduce(directory.path(), SOME, &subject, &["--jobs", "4"]);
    assert_eq!(one, four);
}

#[test]
fn another_deviation_that_is_met_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let subject =
        deviating(directory.path(), "grep -q '^[^/]*%' \"$1\" && kill -SEGV $$", "sed '/\"bytes\"/s/2a/29/'");
    let program = file(
        directory.path(),
        "a.ptx",
        &module(".global .u8 x[2] = {1, 42};\n.global .s32 y = 3;\n.global .s32 z = 7 % 4;"),
    );
    let output = reduce_file(&program, &directory.path().join("least.ptx"), &subject, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let other = std::fs::read_to_string(directory.path().join("least.other-wrong-value.ptx")).unwrap();
    assert!(other.contains("42") && !other.contains('%'), "{other}");
    assert!(stderr(&output).contains("another deviation was met on the way"), "{}", stderr(&output));
}

#[test]
fn a_script_is_asked_as_cvise_asks_it() {
    let directory = tempfile::tempdir().unwrap();
    let script = file(directory.path(), "is.sh", "[ \"$1\" = a.ptx ] && grep -q '2.5' a.ptx\n");
    let command = format!("sh {}", script.display());
    let (text, whole) = reduce(directory.path(), SOME, "", &["--command", &command]);
    assert_eq!(text, module(".global .s32 a = 2.5;"));
    assert_eq!(text, whole);

    let program = directory.path().join("a.ptx");
    let out = directory.path().join("none.ptx");
    let no = reduce_file(&program, &out, "", &["--command", "false"]);
    assert!(one_line_error(&no).contains("not interesting"));
    let missing = reduce_file(&program, &out, "", &["--command", "sh -c 'exit 127'"]);
    assert_eq!(status(&missing), 4);
    assert!(!out.exists());
}

#[test]
fn what_is_no_ptx_is_reduced_as_text() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "grep -q '#@' \"$1\" && kill -SEGV $$", "cat");
    let program = file(
        directory.path(),
        "a.ptx",
        &module(".global .s32 x = 5;\n.global .s32 #@ = 1;\n.global .b8 y; /*"),
    );
    let out = directory.path().join("least.ptx");
    for (options, told) in [(&[][..], true), (&["--text"][..], false)] {
        let output = reduce_file(&program, &out, &subject, options);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "#@");
        assert_eq!(stderr(&output).contains("is not understood, and reduced as text"), told);
    }
}

#[test]
fn what_shows_only_with_its_comments_is_reduced_as_text() {
    let directory = tempfile::tempdir().unwrap();
    let subject = deviating(directory.path(), "grep -q '/[*]@' \"$1\" && kill -SEGV $$", "cat");
    let text = module(".global .s32 x = 5; /*@ why */\n.global .b8 y;\n");
    let program = file(directory.path(), "a.ptx", &text);
    let out = directory.path().join("least.ptx");
    let output = reduce_file(&program, &out, &subject, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("only as it is written"), "{}", stderr(&output));
    let least = std::fs::read_to_string(&out).unwrap();
    assert!(least.contains("/*@") && !least.contains("why") && !least.contains(".b8"), "{least}");
    let output = reduce_file(&program, &out, "", &["--command", "grep -q '/[*]@'"]);
    assert!(stderr(&output).contains("is interesting only as it is written"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "/*@*/");
}

#[test]
fn ctrl_c_keeps_the_best_so_far() {
    let directory = tempfile::tempdir().unwrap();
    // Slow enough to be interrupted.
    let subject = deviating(directory.path(), "sleep 0.2; grep -q '^[^/]*%' \"$1\" && kill -SEGV $$", "cat");
    let program = file(directory.path(), "a.ptx", &module(SOME));
    let out = directory.path().join("least.ptx");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"))
        .arg("reduce")
        .arg(&program)
        .arg("--out")
        .arg(&out)
        .args(["--subject", &subject])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !out.exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = std::fs::read_to_string(&out).unwrap();
    assert!(kept.contains('%') && kept.len() < module(SOME).len(), "{kept}");
}
