//! `ffi-check`, `compare-readers` and `without-cc`: tests of the packages that call C, and of the two cubin
//! readers.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::tools::{self, HEADER, NOT_TESTED, command, text};

const VALGRIND: [&str; 3] = ["--quiet", "--error-exitcode=1", "--leak-check=no"];

/// Runs the driver's package on a stub of the driver and nvJitLink's package on the real library, if
/// installed, under valgrind. Each gets modules that are accepted and modules that are rejected.
pub fn check() -> Result<u8> {
    if which::which("valgrind").is_err() {
        eprintln!("NOT TESTED: no valgrind (Debian: apt-get install valgrind)");
        return Ok(NOT_TESTED);
    }
    let words = [
        "test",
        "--locked",
        "--quiet",
        "-p",
        "ptxsmith-driver",
        "--test",
        "stub",
        "--no-run",
        "--message-format=json",
    ];
    let messages = tools::stdout_of(&mut command("cargo", words))?;
    let mut artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let stub =
        artifacts.find(|artifact| artifact["target"]["name"] == "stub" && artifact["executable"].is_string());
    let stub = stub.context("cargo names no test program")?;
    let stub = text(&stub, "executable");
    tools::stdout_of(command("valgrind", VALGRIND).args([stub, "--test-threads=1"]))?;
    println!("the driver's package passes, on the stub");
    let ptxsmith = tools::ptxsmith(false)?;
    let subjects =
        tools::output_of(&mut command(&ptxsmith, ["subjects", "--subject", "nvjitlink@13.5", "--json"]))?;
    let subjects: Value = serde_json::from_slice(&subjects.stdout)?;
    let library = text(&subjects["subjects"][0], "path");
    if library.is_empty() {
        eprintln!("NOT TESTED: nvJitLink's package: nvjitlink@13.5 is not installed");
        return Ok(0);
    }
    let rate = tools::build(false, &["-p", "ptxsmith-subject", "--example", "rate"])?.join("examples/rate");
    let modules = [
        format!("{HEADER}.global .u32 x[3] = {{1, 2}};\n"),
        format!("{HEADER}.global .u32 x = ;\n"),
        String::new(),
        format!("{HEADER}.const .u32 c = 1;\n.global .u64 p = generic(c) + 4;\n"),
    ];
    let mut requests = String::new();
    for (id, ptx) in modules.iter().enumerate() {
        requests += &format!("{}\n", json!({"id": id, "ptx": ptx, "target": "sm_80"}));
    }
    let work = tempfile::tempdir()?;
    let requests_file = work.path().join("requests");
    fs::write(&requests_file, requests)?;
    let mut worker = command("valgrind", VALGRIND);
    worker.arg(rate).args(["worker", "nvjitlink", library]).stdin(fs::File::open(requests_file)?);
    let output = worker.output()?;
    let answers = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers: Vec<Value> =
        answers.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
    let outcomes: Vec<&str> = answers.iter().map(|answer| text(&answer["observation"], "outcome")).collect();
    if !output.status.success() || outcomes != ["accepted", "refused", "refused", "accepted"] {
        bail!("nvJitLink's package: {outcomes:?}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    println!("nvJitLink's package passes, on {library}");
    Ok(0)
}

/// Checks that the binary reader of cubins and the reader of `cuobjdump -elf` output give the same result for
/// the same cubins.
pub fn compare_readers(count: u32) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(false)?;
    let releases = ["11.8", "12.0", "12.4", "12.9", "13.0", "13.5", "cuobjdump"];
    tools::stdout_of(command(&ptxsmith, ["toolchain", "install"]).args(releases))?;
    let readers = tools::build(true, &["-p", "ptxsmith-subject", "--example", "compare-readers"])?;
    let mut generate = command(&ptxsmith, ["gen", "--count", "4000"]).stdout(Stdio::piped()).spawn()?;
    let modules = generate.stdout.take().context("no output")?;
    let compared =
        command(readers.join("examples/compare-readers"), [count.to_string()]).stdin(modules).status()?;
    generate.wait()?;
    Ok(u8::from(!compared.success()))
}

/// Checks the build without a working C compiler: cargo must warn, and the program must say that it starts
/// ptxas anew for each module. `cc` itself remains available, because rustc uses it as the default linker.
pub fn without_cc() -> Result<u8> {
    let target = tools::target().join("without-cc");
    let mut build = command("cargo", ["build", "--locked", "-p", "ptxsmith-subject", "--example", "rate"]);
    let output = tools::output_of(build.env("CC", "/nonexistent/cc").env("CARGO_TARGET_DIR", &target))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    expect_message(&messages, "no fork server: the C compiler cannot be run")?;
    let rate =
        tools::output_of(&mut command(Path::new(&target).join("debug/examples/rate"), ["ptxas", "20"]))?;
    let messages = String::from_utf8_lossy(&[rate.stdout, rate.stderr].concat()).into_owned();
    expect_message(&messages, "is started anew for each module: built without a C compiler")?;
    Ok(0)
}

fn expect_message(messages: &str, expected: &str) -> Result<()> {
    if !messages.contains(expected) {
        bail!("`{expected}` is not said: {messages}");
    }
    Ok(())
}
