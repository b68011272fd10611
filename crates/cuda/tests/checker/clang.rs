//! Tests the checker with a program in place of clang that does not behave like clang.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use ptxsmith_cuda::check::{CheckOptions, check};

#[test]
fn a_clang_that_does_not_end_is_stopped_with_its_child_processes() {
    let directory = tempfile::tempdir().unwrap();
    let clang = directory.path().join("clang");
    // The background process keeps the pipes open if only the shell is killed.
    fs::write(&clang, "#!/bin/sh\nsleep 60 &\nsleep 60\n").unwrap();
    fs::set_permissions(&clang, fs::Permissions::from_mode(0o755)).unwrap();
    let started = Instant::now();
    let mut options = CheckOptions::new(clang);
    options.timeout = Duration::from_millis(200);
    let report = check("a.cu".as_ref(), &options).unwrap();
    assert!(report.not_analysed[0].starts_with("clang did not end within"), "{:?}", report.not_analysed);
    assert!(started.elapsed() < Duration::from_secs(30));
}
