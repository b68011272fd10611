//! Tests the checker with compilation databases as written by CMake (with Makefiles and with Ninja), Meson,
//! and tools for Bazel.

use std::fs;
use std::path::Path;

use ptxsmith_cuda::check::{CheckOptions, CompilationDatabase, check, find_clang};

const A: &str = "\
#include \"cfg.cuh\"
#include \"lib.h\"
template <class T> __device__ const T &mx(const T &a, const T &b) { return a < b ? b : a; }
__global__ void f(int *o) { o[0] = mx(o[0], lib::kLimit); }
__global__ void g(int *o) { const int *p = &lib::kLimit; o[0] = *p; }
__global__ void h(int *o) { o[0] = lib::kLate; }
__global__ void i(int *o) { o[0] = lib::cfg.n; }
__global__ void jj(int *o) { const int *p = &k; o[0] = *p; }
";
const B: &str = "#include \"cfg.cuh\"\n__global__ void bb(int *o) { o[0] = *&k; }\n";
const LIB: &str = "#pragma once\nnamespace lib { const int kLimit = 3; extern const int kLate; struct Cfg { int n; }; constexpr Cfg cfg{4}; }\n";
const CFG: &str = "#pragma once\nconst int k = WIDTH;\ninline __device__ const int *hdr() { return &k; }\n";

/// The name and text of each database, the files that it lists, and the flags that the checker reports as
/// ignored.
const DATABASES: [(&str, &str, &[&str], &[&str]); 4] = [
    ("Makefiles", include_str!("databases/makefiles.json"), &["a.cu", "b.cpp"], &[]),
    ("Ninja", include_str!("databases/ninja.json"), &["a.cu", "b.cpp"], &[]),
    ("Meson", include_str!("databases/meson.json"), &["a.cu"], &[]),
    ("Bazel", include_str!("databases/bazel.json"), &["a.cu", "b.cpp"], &["-fopenmp", "-fno-exceptions"]),
];

#[test]
fn databases_of_build_systems_have_their_files_analysed_with_their_directories() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker with compilation databases: clang is not in PATH");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["src", "inc", "third", "build/CMakeFiles/a.dir"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for (name, text) in [("src/a.cu", A), ("src/b.cpp", B), ("third/lib.h", LIB), ("inc/cfg.cuh", CFG)] {
        fs::write(root.join(name), text).unwrap();
    }
    let root_name = root.display().to_string();
    let included = format!("-I{root_name}/inc -isystem {root_name}/third\n");
    fs::write(root.join("build/CMakeFiles/a.dir/includes_CUDA.rsp"), included).unwrap();
    for (name, database, files, dropped) in DATABASES {
        let path = root.join("compile_commands.json");
        fs::write(&path, database.replace('@', &root_name)).unwrap();
        let compilations = CompilationDatabase::read(&path).unwrap();
        let named = compilations.files();
        let names: Vec<_> = named.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, files, "{name}");
        let mut left_out = Vec::new();
        for file in &named {
            let ways = compilations.commands(file).unwrap();
            assert_eq!(ways.len(), 1, "{name}");
            for way in ways {
                let mut options = CheckOptions::new(clang.clone());
                (options.directory, options.flags) = (way.directory, way.flags);
                let report = check(&std::path::absolute(file).unwrap(), &options).unwrap();
                let lines: Vec<u32> = report.findings.iter().map(|found| found.line).collect();
                let expected: &[u32] =
                    if file.ends_with(Path::new("a.cu")) { &[4, 5, 6, 7, 8] } else { &[2] };
                assert_eq!((&lines[..], report.not_analysed.len()), (expected, 0), "{name}");
                left_out.extend(way.dropped);
            }
        }
        assert_eq!(left_out, dropped, "{name}");
    }
}
