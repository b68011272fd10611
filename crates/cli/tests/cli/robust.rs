//! Robustness against failures of the environment: full disks, unusual paths, huge programs, clocks, and
//! misleading folders and implementations.
//!
//! `input.rs` tests files that are not programs, `hostile_subjects.rs` and `serve.rs` implementations,
//! `shards.rs` campaigns that are killed. `docs/guide/fuzzing.md` lists all of these tests.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns every file below a directory.
fn below(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        found.extend(if path.is_dir() { below(&path) } else { BTreeSet::from([path]) });
    }
    found
}

/// Creates a subject that follows the oracle, except for one byte of many values.
fn wrong_subject(directory: &Path) -> String {
    let oracle = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    script(directory, &format!("{oracle} eval --json \"$1\" | sed 's/\\(\"bytes\": \"\\)01/\\102/'"))
}

fn run(subject: &str, out: &Path) -> assert_cmd::Command {
    let mut command = ptxsmith();
    command.args(["run", "--quiet", "--cases", "300", "--focus", "expressions", "--reduce", "0s"]);
    command.args(["--subject", subject, "--out"]).arg(out);
    command
}

#[test]
fn a_shard_cannot_choose_where_its_findings_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let (shard, out) = (directory.path().join("shard"), directory.path().join("a/b/out"));
    let subject = wrong_subject(directory.path());
    assert_eq!(status(&run(&subject, &shard).output().unwrap()), 1);
    let state = json(&shard.join("state.json"));
    let absolute = directory.path().join("evil").to_string_lossy().into_owned();
    for id in ["../evil", "../../../evil", &absolute, ".evil", "", "a/b"] {
        let mut hostile = state.clone();
        let Value::Object(findings) = &mut hostile["subjects"][0]["ledger"]["findings"] else { panic!() };
        let mut found = findings.values().next().unwrap().clone();
        found["finding"]["id"] = id.into();
        findings.insert(id.to_owned(), found);
        std::fs::write(shard.join("state.json"), serde_json::to_vec(&hostile).unwrap()).unwrap();
        let before = below(directory.path());
        let merged =
            ptxsmith().args(["merge", "--quiet"]).arg(&shard).arg("--out").arg(&out).output().unwrap();
        assert!(one_line_error(&merged).contains("there is no finding `"), "{}", stderr(&merged));
        let resumed = run(&subject, &shard).arg("--resume").output().unwrap();
        assert!(one_line_error(&resumed).contains("there is no finding `"), "{}", stderr(&resumed));
        let written: Vec<PathBuf> = below(directory.path()).difference(&before).cloned().collect();
        assert!(written.iter().all(|path| path.starts_with(&out) || path.starts_with(&shard)), "{written:?}");
    }
}

#[test]
fn a_program_that_only_a_shard_names_is_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let (shard, out) = (directory.path().join("shard"), directory.path().join("out"));
    let ran = directory.path().join("ran");
    let oracle = oracle_as_subject(&[]);
    let oracle = oracle.strip_prefix("exec:").unwrap();
    let path = directory.path().join("program.sh");
    std::fs::write(
        &path,
        format!("echo >> {}\n[ \"$1\" = --describe ] && exit 1\nexec {oracle} \"$1\"\n", ran.display()),
    )
    .unwrap();
    let subject = format!("exec:sh {}", path.display());
    assert_eq!(status(&run(&subject, &shard).output().unwrap()), 0);
    let merge = |more: &[&str]| {
        std::fs::remove_file(&ran).unwrap_or_default();
        let mut command = ptxsmith();
        let output = command.arg("merge").arg(&shard).args(more).arg("--out").arg(&out).output().unwrap();
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        ran.exists()
    };
    assert!(!merge(&[]), "it was run");
    assert!(merge(&["--subject", &subject]), "it was not run");
}

#[test]
fn what_an_implementation_says_is_neither_a_path_nor_markup_nor_a_terminal_s_business() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    let hostile = "../../../evil\\u001b[2J\\u009b1m\\u202e<script>alert(1)</script>";
    let refusal = format!(
        r#"{{"outcome": "refused", "diagnostics": [{{"severity": "error", "line": 4, "message": "{hostile}"}}]}}"#
    );
    let dies = "printf '../../evil\\033[2J<script>alert(1)</script>' >&2; exit 3".to_owned();
    for (name, answer) in [("refuses", format!("echo '{refusal}'")), ("dies", dies)] {
        let script =
            format!("grep -q 'x = 1' \"$1\" || {{ echo '{{\"outcome\": \"accepted\"}}'; exit; }}\n{answer}");
        let work = directory.path().join(name);
        std::fs::create_dir_all(work.join("a/b/c")).unwrap();
        let (subject, out) = (crate::common::script(&work, &script), work.join("a/b/c/out"));
        let before = below(directory.path());
        let output = ptxsmith()
            .arg("check")
            .arg(&program)
            .args(["--subject", &subject, "--out"])
            .arg(&out)
            .output()
            .unwrap();
        assert_eq!(status(&output), 1, "{}", stderr(&output));
        let written: Vec<PathBuf> = below(directory.path()).difference(&before).cloned().collect();
        assert!(written.len() >= 2 && written.iter().all(|path| path.starts_with(&out)), "{written:?}");
        let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!stdout(&output).contains(acts) && !stderr(&output).contains(acts), "{:?}", stdout(&output));
        for format in ["text", "markdown", "html"] {
            let rendered = ptxsmith().arg("report").arg(&out).args(["--format", format]).output().unwrap();
            let rendered = stdout(&rendered);
            assert!(rendered.contains("evil"), "{format}");
            assert!(!rendered.contains(acts), "{format}");
            assert!(format != "html" || !rendered.contains("<script>alert"), "{format}");
        }
        for path in written.iter().filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        {
            let text = std::fs::read_to_string(path).unwrap();
            assert!(!text.contains(acts), "{text:?}");
        }
    }
}

/// A limit on file sizes simulates a full disk without root. The signal for this limit is ignored, so that
/// writing fails as it does on a full disk.
#[test]
fn a_full_disk_is_a_failure_of_the_machine_and_leaves_no_half_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let subject = wrong_subject(directory.path());
    let out = directory.path().join("out");
    let mut command = Command::new("sh");
    command.arg("-c").arg("trap '' XFSZ; ulimit -f 8; exec \"$@\"").arg("sh");
    command.arg(assert_cmd::cargo::cargo_bin!("ptxsmith")).env("PTXSMITH_CACHE", "/dev/null/ptxsmith");
    command.args(["run", "--quiet", "--cases", "300", "--reduce", "0s", "--subject", &subject, "--out"]);
    let output = command.arg(&out).output().unwrap();
    assert_eq!(status(&output), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write "), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    for path in below(&out) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!name.starts_with(".writing-"), "{name}");
        if name.ends_with(".json") {
            json(&path);
        }
    }
}

#[test]
fn a_page_or_a_history_that_finds_no_room_is_a_failure_of_the_machine_and_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    assert_eq!(status(&run(&oracle_as_subject(&[]), &out).output().unwrap()), 0);
    let (page, history) = (directory.path().join("page.html"), directory.path().join("history.db"));
    for (arguments, file) in [
        (["report", "--format", "html", "--out"], &page),
        (["history", "--quiet", "--color", "never"], &history),
    ] {
        let mut command = Command::new("sh");
        command.arg("-c").arg("trap '' XFSZ; ulimit -f 8; exec \"$@\"").arg("sh");
        command.arg(assert_cmd::cargo::cargo_bin!("ptxsmith")).args(arguments).arg(file);
        if arguments[0] == "history" {
            command.arg("--add");
        }
        let output = command.arg(&out).output().unwrap();
        assert_eq!(status(&output), 4, "{}", stderr(&output));
        assert!(!file.exists(), "{}", file.display());
    }
}

#[test]
fn paths_that_are_no_text_are_paths() {
    let directory = tempfile::tempdir().unwrap();
    let odd = |name: &[u8]| directory.path().join(OsString::from_vec(name.to_vec()));
    std::fs::create_dir(odd(b"in\xff")).unwrap();
    let program = odd(b"in\xff").join(OsString::from_vec(b"\xfe\x80.ptx".to_vec()));
    std::fs::write(&program, module(".global .s32 x = 5;")).unwrap();
    assert_eq!(status(&ptxsmith().arg("eval").arg(&program).output().unwrap()), 0);
    let subject = wrong_subject(directory.path());
    for (from, expected) in [(&program, 0), (&odd(b"in\xff"), 0)] {
        let out = odd(b"out\xff");
        let output = ptxsmith()
            .arg("check")
            .arg(from)
            .args(["--subject", &subject, "--out"])
            .arg(&out)
            .output()
            .unwrap();
        assert_eq!(status(&output), expected, "{}", stderr(&output));
        assert_eq!(json(&out.join("report.json"))["compared"], 1);
    }
    let out = odd(b"run\xff");
    assert_eq!(status(&run(&subject, &out).output().unwrap()), 1);
    let merged = odd(b"merged\xff");
    assert_eq!(status(&ptxsmith().arg("merge").arg(&out).arg("--out").arg(&merged).output().unwrap()), 1);
    assert_eq!(status(&ptxsmith().arg("report").arg(&merged).output().unwrap()), 0);
    // A missing file is reported in one line.
    one_line_error(&ptxsmith().arg("eval").arg(odd(b"not\xffhere")).output().unwrap());
}

#[test]
fn a_name_of_a_million_letters_is_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let name = "n".repeat(1_000_000);
    let text = module(&format!(".global .s32 {name} = 1;\n.global .u64 p = {name};"));
    let program = file(directory.path(), "long.ptx", &text);
    let out = directory.path().join("out");
    let mut check = ptxsmith();
    check.arg("check").arg(&program).args(["--subject", &oracle_as_subject(&[]), "--out"]).arg(&out);
    let output = check.output().unwrap();
    assert_eq!(status(&output), 0, "{}", &stderr(&output)[..1000.min(stderr(&output).len())]);
    assert_eq!(json(&out.join("report.json"))["compared"], 2);
    assert!(stdout(&output).len() < 10_000, "{} bytes", stdout(&output).len());
    // A deviation of the huge variable is reported, truncated in the text output.
    let subject = wrong_subject(directory.path());
    let output = ptxsmith()
        .arg("check")
        .arg(&program)
        .args(["--subject", &subject, "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).len() < 10_000, "{} bytes", stdout(&output).len());
}

#[test]
fn a_module_of_twenty_thousand_variables_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let variables: String = (0..20_000).map(|n| format!(".global .u8 v{n} = {};\n", n % 200)).collect();
    let program = file(directory.path(), "many.ptx", &module(&variables));
    let out = directory.path().join("out");
    let mut check = ptxsmith();
    check
        .arg("check")
        .arg(&program)
        .args(["--timeout", "120s", "--subject", &oracle_as_subject(&[]), "--out"])
        .arg(&out);
    let output = check.output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&out.join("report.json"))["compared"], 20_000);
}

#[test]
fn a_module_of_64_megabytes_is_read_and_one_byte_more_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = module(".global .s32 x = 7;");
    let comment = format!("// {}\n", "c".repeat(996));
    while text.len() + comment.len() <= 64 << 20 {
        text.push_str(&comment);
    }
    text.push_str(&" ".repeat((64 << 20) - text.len()));
    let eval =
        |text: &str| ptxsmith().arg("eval").arg(file(directory.path(), "large.ptx", text)).output().unwrap();
    let output = eval(&text);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).contains("07000000") || stdout(&output).contains("07 00 00 00"),
        "{}",
        stdout(&output)
    );
    text.push(' ');
    assert!(one_line_error(&eval(&text)).contains("larger than 64 MiB"));
}

#[test]
fn a_few_letters_do_not_take_all_memory() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = |space: &str| {
        let size = 200_000_000;
        module(&format!(
            ".visible .entry k(.param .u64 out) {{\n{space} .align 8 .b8 a[{size}];\n.reg .u64 r, s;\n\
             ld.param.u64 r, [out];\nmov.u64 s, 5;\nst{space}.u64 [a+{}], s;\nld{space}.u64 s, [a+{}];\n\
             st.global.u64 [r], s;\nret;\n}}",
            size - 8,
            size - 8,
        ))
    };
    for space in [".local", ".shared"] {
        let program = file(directory.path(), "kernel.ptx", &kernel(space));
        let mut command = Command::new("sh");
        command.arg("-c").arg("ulimit -v 1000000; exec \"$@\"").arg("sh");
        let output = command
            .arg(assert_cmd::cargo::cargo_bin!("ptxsmith"))
            .arg("eval")
            .arg(&program)
            .output()
            .unwrap();
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains("offset 0, 8 bytes: 5 (0x5)"), "{}", stdout(&output));
    }
}

#[test]
fn a_cache_that_cannot_be_used_is_told_and_stops_nothing_that_does_not_need_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = file(directory.path(), "a.ptx", &module(".global .s32 x = 1;"));
    // A cache that is a file, and one with a release that is not a program.
    let broken = directory.path().join("broken");
    std::fs::create_dir_all(broken.join("toolchains/13.5.37/bin")).unwrap();
    std::fs::write(broken.join("toolchains/13.5.37/bin/ptxas"), "no program").unwrap();
    for cache in [&program, &broken] {
        let with = || {
            let mut command = ptxsmith();
            command.env("PTXSMITH_CACHE", cache);
            command
        };
        let named = with().arg("check").arg(&program).args(["--subject", "ptxas@13.5"]).output().unwrap();
        // Nothing was compared.
        assert_eq!(status(&named), 3, "{}", stderr(&named));
        assert!(stderr(&named).contains("ptxas@13.5 is not available: /"), "{}", stderr(&named));
        assert_eq!(stderr(&named).lines().count(), 1, "{}", stderr(&named));
        assert_eq!(status(&with().arg("subjects").output().unwrap()), 0);
        assert_eq!(status(&with().args(["toolchain", "list"]).output().unwrap()), 0);
        let other =
            with().arg("check").arg(&program).args(["--subject", &oracle_as_subject(&[])]).output().unwrap();
        assert_eq!(status(&other), 0, "{}", stderr(&other));
    }
}

#[test]
fn verify_fails_for_a_program_without_a_record_and_for_a_release_that_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let verify = |releases: &[&str]| {
        let mut command = ptxsmith();
        command.env("PTXSMITH_CACHE", directory.path()).args(["toolchain", "verify"]).args(releases);
        command.output().unwrap()
    };
    assert_eq!(status(&verify(&[])), 0, "nothing is installed");
    let missing = verify(&["12.9"]);
    assert_eq!((status(&missing), stdout(&missing).contains("not installed")), (2, true));
    std::fs::create_dir_all(directory.path().join("toolchains/13.5.37/bin")).unwrap();
    std::fs::write(directory.path().join("toolchains/13.5.37/bin/ptxas"), "changed").unwrap();
    let changed = verify(&[]);
    assert_eq!(status(&changed), 2, "{}", stdout(&changed));
    assert!(one_line_error(&changed).contains("no record of what was installed"), "{}", stderr(&changed));
}

/// A campaign that was copied from elsewhere must not run the programs that it names.
#[test]
fn programs_are_resumed_from_a_manifest_that_only_its_user_can_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let subject = wrong_subject(directory.path());
    let out = directory.path().join("out");
    assert_eq!(status(&run(&subject, &out).output().unwrap()), 1);
    let resume = || ptxsmith().args(["run", "--resume", "--out"]).arg(&out).output().unwrap();
    assert_eq!(status(&resume()), 1, "nothing is left to do");
    std::fs::set_permissions(out.join("manifest.json"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = resume();
    assert_eq!(status(&refused), 2);
    assert!(one_line_error(&refused).contains("others may write to it; name them with --subject"));
}

/// Time limits, budgets and delays use a monotonic clock. The system clock is only shown to people: these are
/// the only sources that use it.
#[test]
fn nothing_is_decided_by_the_clock_on_the_wall() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut asking = BTreeSet::new();
    let is_of_product =
        |path: &PathBuf| path.iter().any(|part| part == "src") && path.iter().all(|part| part != "xtask");
    for folder in ["crates", "gen", "oracle"] {
        for path in below(&root.join(folder)).into_iter().filter(is_of_product) {
            if std::fs::read_to_string(&path).unwrap_or_default().contains("SystemTime::now()") {
                asking.insert(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    // The start of a campaign, its entry into a history, and `--since 7d`.
    let known = [
        "crates/campaign/src/campaign/manifest.rs",
        "crates/cli/src/commands/history.rs",
        "crates/cli/src/values.rs",
    ];
    assert_eq!(asking.iter().map(String::as_str).collect::<Vec<_>>(), known);
}

#[test]
fn a_campaign_of_the_future_or_of_before_all_time_is_told_like_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let (out, history) = (directory.path().join("out"), directory.path().join("history.db"));
    assert_eq!(status(&run(&oracle_as_subject(&[]), &out).output().unwrap()), 0);
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    let started = json(&out.join("manifest.json"))["started"].as_str().unwrap().to_owned();
    for (nth, time) in
        ["9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z"].iter().enumerate()
    {
        std::fs::write(out.join("manifest.json"), manifest.replace(&started, time)).unwrap();
        let added = ptxsmith().arg("history").arg(&history).arg("--add").arg(&out).output().unwrap();
        assert!([0, 2].contains(&status(&added)), "{nth}: {}", stderr(&added));
        let report = ptxsmith().arg("report").arg(&out).output().unwrap();
        assert!([0, 2].contains(&status(&report)), "{nth}: {}", stderr(&report));
    }
}

/// If the folder of findings is a symbolic link, its contents belong to someone else. Programs in it that no
/// campaign wrote belong to the user.
#[test]
fn findings_are_removed_neither_behind_a_link_nor_where_they_are_the_users() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let subject = wrong_subject(directory.path());
    let out = at("out");
    assert_eq!(status(&run(&subject, &out).output().unwrap()), 1);
    let written = below(&out.join("findings"));
    assert!(!written.is_empty());
    let mine = file(&out.join("findings"), "mine.ptx", ".version 7.8\n");
    for option in ["--resume", "--replace"] {
        run(&subject, &out).arg(option).output().unwrap();
        assert!(mine.exists(), "{option}");
    }

    let victim = at("victim");
    std::fs::rename(out.join("findings"), &victim).unwrap();
    let before = below(&victim);
    std::os::unix::fs::symlink(&victim, out.join("findings")).unwrap();
    for option in ["--replace", "--resume"] {
        let error = run(&subject, &out).arg(option).output().unwrap();
        assert!(one_line_error(&error).contains("findings is a link"), "{}", stderr(&error));
    }
    let (shard, merged) = (at("shard"), at("merged"));
    assert_eq!(status(&run(&subject, &shard).args(["--shard", "1/1"]).output().unwrap()), 1);
    std::fs::create_dir(&merged).unwrap();
    std::os::unix::fs::symlink(&victim, merged.join("findings")).unwrap();
    let error = ptxsmith().arg("merge").arg(&shard).arg("--out").arg(&merged).output().unwrap();
    assert!(stderr(&error).contains("findings is a link"), "{}", stderr(&error));
    assert_eq!(below(&victim), before);
}

#[test]
fn a_lock_of_the_cache_that_is_a_link_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir_all(at("cache/toolchains")).unwrap();
    let victim = file(directory.path(), "victim", "kept");
    std::os::unix::fs::symlink(&victim, at("cache/toolchains/.lock-13.5.37")).unwrap();
    let install =
        ptxsmith().args(["toolchain", "install", "13.5.37"]).env("PTXSMITH_CACHE", at("cache")).output();
    let output = install.unwrap();
    assert_eq!(
        stderr(&output).matches("it is a link, which is not followed").count(),
        1,
        "{}",
        stderr(&output)
    );
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn pipes_and_devices_behind_known_names_are_refused_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let subject = oracle_as_subject(&[]);
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    std::fs::create_dir(at("out")).unwrap();
    pipe(&at("out/.lock"));
    let error = run(&subject, &at("out")).output().unwrap();
    assert!(one_line_error(&error).contains(".lock: it is no regular file"), "{}", stderr(&error));
    pipe(&at("config"));
    for path in [at("config"), PathBuf::from("/dev/zero")] {
        let error = run(&subject, &at("other")).arg("--config").arg(path).output().unwrap();
        assert_eq!(status(&error), 2);
        assert!(stderr(&error).contains("it is no regular file"), "{}", stderr(&error));
    }
    pipe(&at("history"));
    let error = ptxsmith().arg("history").arg(at("history")).output().unwrap();
    assert!(one_line_error(&error).contains("it is no regular file"), "{}", stderr(&error));
}

#[test]
fn folders_that_others_may_write_to_are_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let program = file(at, "a.ptx", &module(".global .u32 a = 1;"));
    let config = file(at, "c.toml", &format!("[subjects]\nmine = '{}'\n", oracle_as_subject(&[])));
    let (out, cache) = (at.join("out"), at.join("cache"));
    std::fs::create_dir_all(cache.join("toolchains")).unwrap();
    std::fs::create_dir(&out).unwrap();
    let told = |modes: [u32; 3]| {
        for (path, mode) in [cache.join("toolchains"), out.clone(), config.clone()].iter().zip(modes) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let output = ptxsmith()
            .args(["check", "--subject", "mine", "--replace", "--out"])
            .args([&out, Path::new("--config"), &config, &program])
            .env("PTXSMITH_CACHE", &cache)
            .output()
            .unwrap();
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stderr(&output)
            .lines()
            .filter(|line| line.contains("other users may write to"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(told([0o755, 0o700, 0o644]), Vec::<String>::new());
    let all = told([0o777, 0o757, 0o666]);
    assert_eq!(all.len(), 1, "{all:?}");
    for name in ["cache/toolchains", "/out", "c.toml"] {
        assert!(all[0].contains(name), "{name}: {all:?}");
    }
}
