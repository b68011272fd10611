//! `test`: runs the test programs of the workspace in parallel, one per core. `cargo test` runs them one
//! after the other, although most of them wait for compilers or a clock, or use only one core.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::tools::{self, command, text};

/// Test programs that are started first. They take long, and would otherwise run alone at the end.
const LONGEST: [&str; 7] = ["releases", "cli", "operands", "planting", "arithmetic", "whole", "judged"];

/// The number of the slowest test programs that are listed at the end.
const MOST_LISTED: usize = 10;

/// A test program.
struct TestProgram {
    name: String,
    path: PathBuf,
    /// The folder of its package, which cargo uses as working directory.
    package: PathBuf,
}

/// Runs the tests: samples of what takes long, or the whole of it.
pub fn run(whole: bool) -> Result<u8> {
    let mut programs = build_programs()?;
    programs.sort_by_key(start_position);
    let results = tools::on_all_cores(&programs, |program| run_program(program, whole));
    let mut failed = Vec::new();
    let mut times = Vec::new();
    for (program, result) in programs.iter().zip(results) {
        let (passes, time) = result?;
        times.push((time, &*program.name));
        if !passes {
            failed.push(&*program.name);
        }
    }
    times.sort_unstable_by(|a, b| b.cmp(a));
    for (time, name) in times.iter().take(MOST_LISTED) {
        println!("{:6.1} s  {name}", time.as_secs_f64());
    }
    tools::run(&mut command("cargo", ["test", "--workspace", "--locked", "--quiet", "--doc"]))?;
    if !failed.is_empty() {
        bail!(
            "tests fail in {}; run one alone: cargo test --workspace --test {}",
            failed.join(", "),
            failed[0]
        );
    }
    println!("{} programs of tests pass", programs.len());
    Ok(0)
}

/// Returns the position in [`LONGEST`] of a test program, or the length of the list for other programs.
fn start_position(program: &TestProgram) -> usize {
    LONGEST.iter().position(|name| *name == program.name).unwrap_or(LONGEST.len())
}

/// Runs a test program and prints its output. Returns whether it passed, and its time.
fn run_program(program: &TestProgram, whole: bool) -> Result<(bool, Duration)> {
    let began = Instant::now();
    let output = command(&program.path, [] as [&str; 0])
        .envs(whole.then_some(("PTXSMITH_WHOLE", "1")))
        .current_dir(&program.package)
        .env("CARGO_MANIFEST_DIR", &program.package)
        .stdin(Stdio::null())
        .output()
        .with_context(|| program.path.display().to_string())?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let package = program.package.file_name().unwrap_or_default().to_string_lossy();
    println!("{package}: {}{out}{err}", program.name);
    Ok((output.status.success(), began.elapsed()))
}

/// Builds the test programs, including benches and examples that cargo tests.
fn build_programs() -> Result<Vec<TestProgram>> {
    let words =
        ["test", "--workspace", "--locked", "--no-run", "--message-format", "json-render-diagnostics"];
    let output = command("cargo", words).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the tests do not build");
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let programs = messages.lines().filter_map(|line| program(&serde_json::from_str(line).ok()?));
    Ok(programs.collect())
}

fn program(message: &Value) -> Option<TestProgram> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let path = PathBuf::from(message["executable"].as_str()?);
    Some(TestProgram { name: text(&message["target"], "name").to_owned(), path, package })
}
