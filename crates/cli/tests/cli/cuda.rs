//! `cuda gen`, `cuda check` and `cuda run`.

use std::path::{Path, PathBuf};

use crate::common::{file, one_line_error, ptxsmith, status, stderr, stdout};
use serde_json::Value;

/// The example of the rule's document, changed where its second `val3` would be a redeclaration.
const EXAMPLE: &str = "\
const int xxx = 10;

struct S1_t { static const int yyy = 20; };
extern const int zzz;
const float www = 5.0;

__device__ void foo(void) {
  int local1[xxx];
  int local2[S1_t::yyy];
  int val1 = xxx;
  int val2 = S1_t::yyy;
  int val3 = zzz;
  const int &val3b = xxx;
  const int *val4 = &xxx;
  const float val5 = www;
}
const int zzz = 20;
";

/// The three marked uses, determined by hand: line, column and key.
const MARKED: [(u64, u64, &str); 3] = [
    (12, 14, "const_host_var_not_initialized_before_use"),
    (13, 22, "address_of_host_var_in_device_code"),
    (14, 22, "address_of_host_var_in_device_code"),
];

fn has_clang(what: &str) -> bool {
    let has = ptxsmith_cuda::check::find_clang().is_ok();
    if !has {
        eprintln!("NOT TESTED: {what}: clang is not in PATH");
    }
    has
}

fn findings(text: &str) -> Vec<(u64, u64, String)> {
    let report: Value = serde_json::from_str(text).unwrap();
    let findings = report["files"][0]["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            let number = |key: &str| finding[key].as_u64().unwrap();
            (number("line"), number("column"), finding["key"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn the_example_of_the_document_has_its_three_marked_uses() {
    if !has_clang("cuda check of the document's example") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "example.cu", EXAMPLE);
    let check = |more: &[&str]| {
        let output =
            ptxsmith().args(["cuda", "check", "--format", "json"]).args(more).arg(&path).output().unwrap();
        assert_eq!(status(&output), 1);
        findings(&stdout(&output))
    };
    let mut expected = MARKED.map(|(line, column, key)| (line, column, key.to_owned())).to_vec();
    assert_eq!(check(&[]), expected);
    expected.push((15, 22, "device_uses_const_host_var_of_invalid_type".to_owned()));
    assert_eq!(check(&["--microsoft"]), expected);
}

#[test]
fn host_code_is_no_violation_and_sarif_is_a_log_without_results() {
    if !has_clang("cuda check of host code") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "host.cu", "const int v = 1;\nconst int *f() { return &v; }\n");
    let output = ptxsmith().args(["cuda", "check", "--format", "sarif"]).arg(&path).output().unwrap();
    assert_eq!(status(&output), 0);
    let log: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 0);
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 4);
}

#[test]
fn a_file_that_clang_does_not_understand_is_said_to_be_so() {
    if !has_clang("cuda check of a broken file") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "broken.cu", "#include \"missing.h\"\nint x;\n");
    let output = ptxsmith().args(["cuda", "check"]).arg(&path).output().unwrap();
    assert_eq!(status(&output), 2);
    let said = stdout(&output);
    assert!(
        said.contains("not analysed: clang reports 1 error,") && said.contains("'missing.h' file not found"),
        "{said}"
    );
}

#[test]
fn what_clang_does_not_understand_of_a_use_or_an_initializer_is_undecided_and_what_it_does_is_judged() {
    if !has_clang("cuda check of a file without its header") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let source = "\
#include <missing.h>
extern const int declared;
struct S { static const int broken = BOUND * 2; };
template <class T> struct W {
  static const unsigned bits = unsigned(sizeof(T) * BITS);
  __device__ unsigned f() { return bits; }
};
__device__ int f() { return declared; }
__device__ int g() { return S::broken; }
__device__ unsigned h() { return W<int>().f(); }
const int known = 1;
__device__ int i() { return missing(known) + known; }
";
    let path = file(directory.path(), "broken.cu", source);
    let output = ptxsmith().args(["cuda", "check", "--format", "json"]).arg(&path).output().unwrap();
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = report["files"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.iter().map(|finding| &finding["variable"]).collect::<Vec<_>>(), ["declared"]);
    let said = report["files"][0]["not_analysed"].to_string();
    // The number depends on the clang: 19 omits a use from its tree that 22 includes.
    assert!(said.contains(" uses, first `bits`: stand in expressions, or read variables with initializers, that clang does not"), "{said}");
}

#[test]
fn clangs_own_errors_and_wrong_comments_are_said_and_interpretations_and_fixes_are_made() {
    if !has_clang("cuda check of variables that are not const") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let source = "\
namespace n { double held = 0.5; }
enum E { one, two };
const E which = two;
const int k = 1;
__device__ void take(const int &);
__device__ double f() { return n::held; } // ptxsmith-ignore
__device__ int g() { return which; }
__device__ void h() {
  take(k);
}
";
    let path = file(directory.path(), "a.cu", source);
    let check = |more: &[&str]| {
        let output = ptxsmith().args(["cuda", "check"]).args(more).arg(&path).output().unwrap();
        (status(&output), stdout(&output))
    };
    let (exit, said) = check(&[]);
    assert_eq!(exit, 1);
    assert!(said.contains("a.cu:6:35: error: reference to __host__ variable 'held'"), "{said}");
    assert!(
        said.contains("a.cu:7:29: warning: ") && said.contains("a.cu:3:9: note: `which` is declared here"),
        "{said}"
    );
    assert!(said.contains("a.cu:6: ptxsmith-ignore names no message"), "{said}");
    let end =
        "1 file, 2 violations, 1 of the letter only, which nvcc accepts; clang reports 1 error of its own\n";
    assert!(said.ends_with(end), "{said}");
    let (exit, said) = check(&["--interpretation", "enumeration=integral", "--fix"]);
    assert!(exit == 1 && said.contains("1 file, 1 violation;"), "{said}");
    assert!(std::fs::read_to_string(&path).unwrap().contains("  take(static_cast<int>(k));\n"));
    let (exit, said) = check(&["--interpretation=enumeration=integral"]);
    assert!(exit == 2 && said.contains("1 file, 0 violations; clang"), "{said}");
    let output =
        ptxsmith().args(["cuda", "check", "--interpretation", "enumeration=no"]).arg(&path).output().unwrap();
    assert!(stderr(&output).contains("the answers to enumeration are invalid and integral"));
}

#[test]
fn flags_come_from_the_compilation_database() {
    if !has_clang("cuda check with a compilation database") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    file(directory.path(), "a.cu", "const int v = 1;\n__device__ int f() { return USE; }\n");
    let database =
        r#"[{"directory": ".", "file": "a.cu", "command": "nvcc -arch=sm_80 '-DUSE=*&v' -c a.cu -o a.o"}]"#;
    let database = file(directory.path(), "compile_commands.json", database);
    let output = ptxsmith()
        .args(["cuda", "check", "--format", "json", "--compile-commands"])
        .arg(&database)
        .output()
        .unwrap();
    assert_eq!(findings(&stdout(&output)), [(2, 29, "address_of_host_var_in_device_code".to_owned())]);
}

#[test]
fn no_file_of_flags_reaches_clang_from_a_compilation_database_or_a_name() {
    if !has_clang("cuda check of hostile flags") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    file(directory.path(), "flags", &format!("x -MD -MF {}", at("victim")));
    file(directory.path(), "ok.cu", "int x;\n");
    let check = |entry: String| {
        let database = file(directory.path(), "compile_commands.json", &format!("[{entry}]"));
        ptxsmith().args(["cuda", "check", "--compile-commands"]).arg(database).output().unwrap()
    };
    for flag in ["-isystem", "-include", "-iquote", "-c"] {
        let flags = at("flags");
        let output = check(format!(
            r#"{{"directory": ".", "file": "ok.cu", "arguments": ["nvcc", "{flag}", "@{flags}", "ok.cu"]}}"#
        ));
        assert_eq!(status(&output), 2, "{flag}");
        assert!(stderr(&output).contains("names a file of further flags"), "{flag}");
    }
    let output = check(r#"{"directory": ".", "file": "ok.cu", "command": "nvcc 'ok.cu"}"#.to_owned());
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("its command line cannot be split"));
    // The compiler that clang starts reads the file of an `@` argument again as flags. This one would write a
    // file.
    file(directory.path(), "flags.cu", &format!("-dependency-file {} -MT x", at("victim")));
    for flag in ["-I@flags.cu", "-I\", \"@flags.cu", "-D@flags.cu", "-U@flags.cu", "-isystem@flags.cu"] {
        let output = check(format!(
            r#"{{"directory": ".", "file": "ok.cu", "arguments": ["nvcc", "{flag}", "ok.cu"]}}"#
        ));
        assert_eq!(status(&output), 2, "{flag}");
        assert!(stderr(&output).contains("names a file of further flags"), "{flag}");
        assert!(!directory.path().join("victim").exists(), "{flag}");
    }
    let shown = |name: &str| {
        let output = ptxsmith().args(["cuda", "check", name]).current_dir(directory.path()).output().unwrap();
        assert!(!directory.path().join("victim").exists(), "{name}");
        (status(&output), stdout(&output))
    };
    let violation = "const int v = 1;\n__device__ const int *f() { return &v; }\n";
    std::fs::create_dir(directory.path().join("@flags")).unwrap();
    for name in ["@flags.cu", "-flags.cu", "@flags/ok.cu"] {
        file(directory.path(), name, violation);
    }
    for name in ["@flags.cu", "./@flags.cu"] {
        let (status, text) = shown(name);
        assert!(status == 2 && text.contains("its name begins with `@`"), "{name}: {text}");
    }
    for name in ["./-flags.cu", "@flags/ok.cu"] {
        assert_eq!(shown(name).0, 1, "{name}");
    }
    let output = ptxsmith().args(["cuda", "check"]).arg(at("ok.cu")).args(["--", "@flags"]).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(!directory.path().join("victim").exists());
}

#[test]
fn a_deep_expression_is_checked_and_one_too_deep_leaves_the_other_files_their_results() {
    if !has_clang("cuda check of a deep expression") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let sum = |terms: usize| {
        let sum = vec!["k"; terms].join("+");
        format!("const int k = 1;\n__device__ int f() {{ return {sum}; }}\nconst int *g = &k;\n")
    };
    let paths = [
        ("a.cu", sum(2500)),
        ("b.cu", "const int v = 1;\n__device__ const int *f() { return &v; }\n".into()),
    ]
    .map(|(name, text)| file(directory.path(), name, &text));
    let output = ptxsmith().args(["cuda", "check", "--format", "json"]).args(paths).output().unwrap();
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["files"][0]["not_analysed"], serde_json::json!([]));
    assert_eq!(report["files"][1]["findings"].as_array().unwrap().len(), 1);
}

/// Creates a project as CMake describes it: a kernel, a header of the project, and a third-party header.
fn project(directory: &Path) -> PathBuf {
    for name in ["p/.git", "p/include", "p/build", "other"] {
        std::fs::create_dir_all(directory.join(name)).unwrap();
    }
    file(
        directory,
        "other/other.h",
        "const int kOther = 1;\n__device__ inline const int *other() { return &kOther; }\n",
    );
    file(
        directory,
        "p/include/own.h",
        "const int kOwn = 1;\n__device__ inline const int *own() { return &kOwn; }\n",
    );
    let source = "\
#include <own.h>
#include <other.h>
#if __CUDA_ARCH__ < 900 || !defined(__CUDACC_EXTENDED_LAMBDA__)
#error flags of nvcc mean nothing
#endif
const int kSize = SIZE;
__device__ void take(const int &);
__global__ void kernel() {
  take(kSize);
  const int &size = kSize;
}
";
    file(directory, "p/kernel.cu", source);
    file(directory, "p/second.cu", "#include \"include/own.h\"\nconst int kCycle = kCycle;\n");
    let at = |name: &str| directory.join(name).display().to_string();
    let command = format!(
        "/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DSIZE=128 -I{} -isystem={} -g -std=c++17 \
         \\\"--generate-code=arch=compute_90,code=[compute_90,sm_90]\\\" --extended-lambda -Xcompiler=-fPIC -x cu -rdc=true \
         -c {} -o kernel.cu.o",
        at("p/include"),
        at("other"),
        at("p/kernel.cu")
    );
    let database = format!(
        r#"[{{"directory": "{0}", "command": "{command}", "file": "{1}"}}, {{"directory": "{0}", "command": "nvcc -c {2}", "file": "{2}"}}]"#,
        at("p/build"),
        at("p/kernel.cu"),
        at("p/second.cu")
    );
    file(directory, "p/build/compile_commands.json", &database)
}

#[test]
fn a_project_is_checked_without_others_headers_and_gets_clean_by_a_patch_comments_and_a_baseline() {
    if !has_clang("cuda check of a project") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    project(directory.path());
    let check = |more: &[&str]| {
        let output = ptxsmith()
            .args(["cuda", "check", "--compile-commands", "build/"])
            .args(more)
            .current_dir(directory.path().join("p"))
            .output()
            .unwrap();
        (status(&output), stdout(&output), stderr(&output))
    };
    // The project's header is reported once.
    let (exit, said, _) = check(&["--fix-patch", "fix.patch"]);
    assert_eq!(exit, 1);
    assert!(said.contains("own.h:2:46: error") && !said.contains("other.h"), "{said}");
    assert!(said.ends_with("2 files, 3 violations\n"), "{said}");
    let (_, said, _) = check(&["--header-filter", "other"]);
    assert!(said.contains("other.h:2:48: error") && !said.contains("own.h"), "{said}");

    let patch = std::fs::read_to_string(directory.path().join("p/fix.patch")).unwrap();
    assert!(patch.contains("+  take(static_cast<int>(kSize));\n"), "{patch}");
    assert!(patch.contains("+  const int &size = static_cast<int>(kSize);\n"), "{patch}");
    let patched = std::process::Command::new("patch")
        .args(["-s", "-p0", "-i", "fix.patch"])
        .current_dir(directory.path().join("p"))
        .status();
    if !patched.is_ok_and(|status| status.success()) {
        eprintln!("NOT TESTED: the patch of cuda check is applied: there is no patch");
        return;
    }
    let (exit, said, _) = check(&["--write-expected", "known.txt"]);
    assert_eq!((exit, said.ends_with("2 files, 1 violation\n")), (1, true), "{said}");
    let (exit, said, _) = check(&["--expect-failures", "known.txt"]);
    assert_eq!((exit, said.ends_with("2 files, 0 violations, 1 suppressed\n")), (0, true), "{said}");

    let own = "const int kOwn = 1;\n// ptxsmith-ignore(address_of_host_var_in_device_code)\n\
               __device__ inline const int *own() { return &kOwn; }\n";
    file(directory.path(), "p/include/own.h", own);
    let (exit, said, noted) = check(&["--expect-failures", "known.txt"]);
    assert_eq!(exit, 0, "{said}");
    assert!(noted.contains("1 expected violation occurs no more"), "{noted}");
}

/// Returns the path of a program in PATH.
fn path_of(program: &str) -> Option<String> {
    let dirs = std::env::var_os("PATH")?;
    let path = std::env::split_paths(&dirs).map(|dir| dir.join(program)).find(|path| path.is_file())?;
    Some(path.display().to_string())
}

/// Returns a compiler for CMake: nvcc from the environment, from PATH, or installed by ptxsmith.
fn nvcc() -> Option<String> {
    // Use the releases of the user, which tests otherwise hide.
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let listed = stdout(&std::process::Command::new(program).args(["toolchain", "list"]).output().unwrap());
    let installed =
        listed.lines().rfind(|line| line.starts_with("nvcc@")).and_then(|line| line.split(' ').next_back());
    let named = std::env::var("CUDACXX").ok();
    named
        .or_else(|| path_of("nvcc"))
        .or_else(|| installed.filter(|path| path.starts_with('/')).map(str::to_owned))
}

#[test]
fn the_tutorial_takes_a_project_of_cmake_to_a_clean_report() {
    if !has_clang("the tutorial of cuda check") {
        return;
    }
    if path_of("patch").is_none() {
        eprintln!("NOT TESTED: the tutorial of cuda check: there is no patch");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/guide/cuda.md")).unwrap();
    let begin = page.find("$ cp -r corpus/cuda/project").expect("the tutorial is there");
    let commands: Vec<&str> = page[begin..]
        .lines()
        .take_while(|line| *line != "```")
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert!(commands.len() <= 10, "{commands:?}");
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("corpus"), directory.path().join("corpus")).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("ptxsmith");
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(program.parent().unwrap().to_owned()).chain(std::env::split_paths(&dirs));
    let path = std::env::join_paths(dirs).unwrap();
    let mut said = Vec::new();
    for command in commands {
        let nvcc = nvcc().filter(|_| path_of("cmake").is_some());
        if command.starts_with("cmake ") && nvcc.is_none() {
            eprintln!(
                "NOT TESTED: the tutorial of cuda check with CMake, for want of cmake or nvcc; its database is written here"
            );
            let at = directory.path().join("project").display().to_string();
            let entry = |name: &str| {
                let command =
                    format!("nvcc -DHEAT_BLOCK=128 --expt-relaxed-constexpr -std=c++17 -x cu -c {at}/{name}");
                format!(r#"{{"directory": "{at}", "command": "{command}", "file": "{at}/{name}"}}"#)
            };
            let database = format!("[{}, {}]", entry("diffuse.cu"), entry("report.cu"));
            std::fs::create_dir(directory.path().join("project/build")).unwrap();
            file(directory.path(), "project/build/compile_commands.json", &database);
            continue;
        }
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", command]).current_dir(directory.path()).env("PATH", &path);
        let output = shell.envs(nvcc.map(|nvcc| ("CUDACXX", nvcc))).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {output:?}");
        if command.contains("cuda check") {
            said.push((status(&output), stdout(&output).lines().last().unwrap_or_default().to_owned()));
        }
    }
    let expected = [
        (1, "2 files, 3 violations"),
        (1, "2 files, 1 violation"),
        (0, "2 files, 0 violations, 1 suppressed"),
        (0, "2 files, 0 violations"),
    ];
    assert_eq!(said, expected.map(|(status, line)| (status, line.to_owned())));
}

#[test]
fn a_file_that_is_not_there_is_bad_input() {
    if !has_clang("cuda check of a missing file") {
        return;
    }
    let output = ptxsmith().args(["cuda", "check", "/nonexistent/a.cu"]).output().unwrap();
    assert_eq!(status(&output), 2);
}

#[test]
fn an_unknown_subject_is_told_which_there_are() {
    let output = ptxsmith().args(["cuda", "run", "--subject", "gcc"]).output().unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("cicc@RELEASE"));
    let directory = tempfile::tempdir().unwrap();
    let run = ["cuda", "run", "--subject", "clang:/nonexistent/clang", "--out"];
    let output = ptxsmith().args(run).arg(directory.path()).output().unwrap();
    assert!(one_line_error(&output).contains("/nonexistent/clang"));
}

#[test]
fn generated_uses_are_the_same_for_the_same_seed_and_say_what_the_rule_says() {
    let generate = |seed: &str| {
        let args = ["cuda", "gen", "--count", "40", "--first", "30000", "--expect", "--seed", seed];
        stdout(&ptxsmith().args(args).output().unwrap())
    };
    assert_eq!(generate("5"), generate("5"));
    assert_ne!(generate("5"), generate("6"));
    let uses = generate("5").lines().filter(|line| line.starts_with("namespace u")).count();
    assert_eq!(uses, 40);
    assert!(generate("5").contains("allowed"));
}

#[test]
fn a_run_against_clang_tells_nothing_new() {
    if !has_clang("cuda run") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let run = ["cuda", "run", "--subject", "clang", "--cases", "800", "--out"];
    let output = ptxsmith().args(run).arg(directory.path()).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stdout(&output));
    let report = std::fs::read(directory.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["schema"], "ptxsmith.report/1");
    assert!(report["compared"].as_u64() > Some(700));
    assert!(report["findings"].as_array().unwrap().iter().any(|f| f["id"] == "clang-copies-constants"));
}
