//! `test`: runs the test programs of the workspace in parallel, one per core. `cargo test` runs them one after the
//! other, although most of them wait for compilers or a clock, or use only one core.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::tools::{self, command, text};

/// Test programs that are started first. They take long, and would otherwise run alone at the end.
const LONGEST: [&str; 8] =
    ["releases", "operands", "documents", "planting", "shards", "time", "drift", "arithmetic"];

/// The number of the slowest test programs that are listed at the end.
const MOST_LISTED: usize = 10;

/// A test program.
struct Program {
    name: String,
    path: PathBuf,
    /// The folder of its package, which cargo uses as working directory.
    package: PathBuf,
}

pub fn run() -> Result<u8> {
    let mut programs = built()?;
    let is_short =
        |program: &Program| LONGEST.iter().position(|name| *name == program.name).unwrap_or(LONGEST.len());
    programs.sort_by_key(is_short);
    let ended = tools::on_all_cores(&programs, tested);
    let (mut failed, mut times) = (Vec::new(), Vec::new());
    for (program, answer) in programs.iter().zip(ended) {
        let (passes, time) = answer?;
        times.push((time, &*program.name));
        if !passes {
            failed.push(&*program.name);
        }
    }
    times.sort_unstable_by(|one, other| other.cmp(one));
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

/// Runs a test program and prints its output. Returns whether it passed, and its time.
fn tested(program: &Program) -> Result<(bool, Duration)> {
    let began = Instant::now();
    let output = command(&program.path, [] as [&str; 0])
        .current_dir(&program.package)
        .env("CARGO_MANIFEST_DIR", &program.package)
        .stdin(Stdio::null())
        .output()
        .with_context(|| program.path.display().to_string())?;
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let package = program.package.file_name().unwrap_or_default().to_string_lossy();
    println!("{package}: {}{}{}", program.name, printed[0], printed[1]);
    Ok((output.status.success(), began.elapsed()))
}

/// Builds the test programs, including benches and examples that cargo tests.
fn built() -> Result<Vec<Program>> {
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

fn program(message: &Value) -> Option<Program> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let path = PathBuf::from(message["executable"].as_str()?);
    Some(Program { name: text(&message["target"], "name").to_owned(), path, package })
}
