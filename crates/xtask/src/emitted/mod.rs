//! `check-emitted`: compiles our sources (corpus/emitters/) with compilers from the package registries, and
//! checks the PTX with ptxas 12.0, 12.9 and 13.5 by `ptxsmith check`. Compilers and PTX are kept in
//! `EMITTED`, 4 GB of disk.

mod recipes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use regex_lite::Regex;
use serde_json::Value;

use crate::llvm_tests;
use crate::tools::{self, NOT_TESTED, command, list, text};
use recipes::{
    CLANGS, ENVIRONMENTS, LLCS, LLVM_TESTS, NVCCS, NVRTCS, OUT, PtxProducer, Recipe, minor, producers,
};

const PAGE: &str = "docs/reference/emitted.md";
const RELEASES: [&str; 3] = ["12.0", "12.9", "13.5"];

/// The compilers, and the use of their PTX.
#[derive(clap::Args)]
pub struct EmittedArguments {
    /// Put the table into docs/reference/emitted.md
    #[arg(long)]
    write: bool,
    /// Only compile the sources to PTX
    #[arg(long)]
    produce: bool,
    /// Only the compilers with this in their name
    #[arg(long, value_name = "NAME", conflicts_with = "write")]
    only: Option<String>,
}

pub fn run(arguments: &EmittedArguments) -> Result<u8> {
    let mut cache = CompilerCache { folder: tools::cache("EMITTED", "emitted"), missing: Vec::new() };
    fs::create_dir_all(&cache.folder)?;
    cache.install();
    let mut producers = producers(&cache.folder);
    producers.retain(|producer| arguments.only.as_ref().is_none_or(|name| producer.name.contains(name)));
    for producer in &producers {
        if let Err(error) = producer.produce(&cache.folder) {
            eprintln!("{} makes nothing: {error:#}", producer.name);
        }
    }
    let complete = if cache.missing.is_empty() { 0 } else { NOT_TESTED };
    for package in &cache.missing {
        eprintln!("NOT TESTED: {package} cannot be installed");
    }
    if arguments.produce {
        return Ok(complete);
    }
    let ptxsmith = tools::ptxsmith(true)?;
    tools::stdout_of(command(&ptxsmith, ["toolchain", "install"]).args(RELEASES).arg("nvdisasm"))?;
    let mut rows = Vec::new();
    let mut total = CheckCounts::default();
    let mut new_findings = Vec::new();
    for producer in &producers {
        let (counts, new) = check(&ptxsmith, &producer.folder(&cache.folder), &cache.folder.join("reports"))?;
        total = total.plus(&counts);
        eprintln!("{}: {}", producer.name, counts.cells().join(" | "));
        rows.push([vec![producer.name.clone()], counts.cells()].concat());
        new_findings.extend(new.into_iter().map(|finding| format!("{}: {finding}", producer.name)));
    }
    rows.push([vec!["all".to_owned()], total.cells()].concat());
    let table = tools::table(&HEAD, &rows);
    println!("{table}\n{}", new_findings.join("\n"));
    if arguments.write {
        write_page(&table, &new_findings)?;
    }
    let failed = !new_findings.is_empty() || total.aborted > 0 || total.parsed < total.files;
    Ok(if failed { 1 } else { complete })
}

fn write_page(table: &str, new_findings: &[String]) -> Result<()> {
    let new = if new_findings.is_empty() {
        "None.\n".to_owned()
    } else {
        new_findings.iter().map(|line| format!("- {line}\n")).collect()
    };
    let page = fs::read_to_string(PAGE)?;
    let (before, _) = page.split_once("<!-- measured -->").context("no mark in the page")?;
    let day = tools::today();
    let releases = RELEASES.join(" and ");
    let text = format!(
        "{before}<!-- measured -->\nMeasured on {day} with {releases}.\n\n{table}\nNew deviations reported:\n\n{new}"
    );
    Ok(fs::write(PAGE, text)?)
}

/// The folder of compilers and their PTX, and the packages that could not be installed.
struct CompilerCache {
    folder: PathBuf,
    missing: Vec<String>,
}

impl CompilerCache {
    fn install(&mut self) {
        let mut packages: Vec<String> = Vec::new();
        packages.extend(CLANGS.iter().map(|(version, ..)| format!("clang-{version}")));
        packages.extend(LLCS.iter().map(|version| format!("llvm-{version}")));
        packages.retain(|package| which::which(package.replace("llvm-", "llc-")).is_err());
        for package in packages {
            if !tools::install_debian(std::slice::from_ref(&package)) {
                self.missing.push(package);
            }
        }
        for (release, package) in NVRTCS {
            self.install_wheels(&format!("nvrtc-{release}"), &[package.to_owned()]);
        }
        for release in NVCCS {
            let minor = minor(release);
            let compiler = ["cuda-nvcc", "nvvm", "cuda-crt"].map(|name| format!("nvidia-{name}=={release}"));
            let libraries =
                [format!("nvidia-cuda-runtime=={minor}.*"), "nvidia-cuda-cccl==13.3.5.0.6".to_owned()];
            self.install_wheels(&format!("nvcc-{minor}"), &[&compiler[..], &libraries].concat());
        }
        let tests = self.folder.join(LLVM_TESTS);
        self.install_once(LLVM_TESTS, "the source package of LLVM", || llvm_tests::install(&tests));
        for (_, name, package) in ENVIRONMENTS {
            let folder = self.folder.join(name);
            self.install_once(name, package, || {
                tools::create_venv(&folder)?;
                let mut pip = command(folder.join("bin/pip"), ["install", "--quiet", package]);
                tools::stdout_of(pip.env("PIP_NO_INPUT", "1")).map(|_| ())
            });
        }
    }

    /// Installs wheels without their dependencies.
    fn install_wheels(&mut self, name: &str, packages: &[String]) {
        let folder = self.folder.join(name);
        let mut pip = command("python3", ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--root-user-action", "ignore", "--no-deps", "--target"]).arg(&folder).args(packages);
        self.install_once(name, &packages.join(" "), || tools::stdout_of(&mut pip).map(|_| ()));
    }

    /// Installs into a folder unless an earlier installation is complete, and records a failed installation.
    fn install_once(&mut self, name: &str, description: &str, install: impl FnOnce() -> Result<()>) {
        let complete = self.folder.join(name).join("complete");
        if complete.exists() {
            return;
        }
        let _ = fs::remove_dir_all(self.folder.join(name));
        if install().and_then(|()| Ok(fs::write(complete, "")?)).is_err() {
            self.missing.push(description.to_owned());
        }
    }
}

impl PtxProducer {
    fn folder(&self, cache: &Path) -> PathBuf {
        let name = self.name.to_ascii_lowercase();
        cache.join("ptx").join(name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-"))
    }

    /// Compiles the sources to PTX, unless up-to-date PTX exists.
    fn produce(&self, cache: &Path) -> Result<()> {
        let folder = self.folder(cache);
        let stamp = folder.join("stamp");
        let recipe = match &self.recipe {
            Recipe::Files(files) => format!("{files:?}"),
            Recipe::Script(line, environment) => format!("{line:?}{environment:?}"),
            Recipe::Missing => anyhow::bail!("it is not installed"),
        };
        let sources = walkdir::WalkDir::new("corpus/emitters").sort_by_file_name().into_iter().flatten();
        let texts = sources.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let inputs = texts.fold(recipe, |inputs, text| inputs + &text);
        if fs::read_to_string(&stamp).is_ok_and(|earlier| earlier == inputs) {
            return Ok(());
        }
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let failed: Vec<String> = match &self.recipe {
            Recipe::Files(files) => {
                let errors = tools::on_all_cores(files, |(name, lines)| compile(&folder, name, lines));
                errors.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
            }
            Recipe::Script(line, environment) => {
                let mut script = command(&line[0], &line[1..]);
                let failed = tools::stdout_of(script.arg(&folder).envs(environment.iter().cloned()))?;
                failed.lines().map(str::to_owned).collect()
            }
            Recipe::Missing => Vec::new(),
        };
        fs::write(folder.join("failed"), failed.join("\n"))?;
        fs::write(stamp, inputs)?;
        let count = ptx_files(&folder).len();
        eprintln!("{}: {count} files, {} that it does not make", self.name, failed.len());
        Ok(())
    }
}

/// Compiles one file. Returns the error message of a failed compilation.
fn compile(folder: &Path, name: &str, lines: &[Vec<String>]) -> Result<Option<String>> {
    let ptx = folder.join(format!("{name}.ptx"));
    let mut output = tools::output_of(&mut command_with_output(&lines[0], &ptx))?;
    if let Some(back) = lines.get(1)
        && output.status.success()
    {
        let ir = folder.join(format!("{name}.ll"));
        fs::write(&ir, &output.stdout)?;
        output = command_with_output(back, &ptx).stdin(fs::File::open(&ir)?).output()?;
        fs::remove_file(ir)?;
    }
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = messages.lines().find(|line| line.contains("error"));
        let line = error.or(messages.lines().next()).unwrap_or_default();
        return Ok(Some(format!("{name}: {line}")));
    }
    if !lines[0].iter().any(|word| word == OUT) {
        if !String::from_utf8_lossy(&output.stdout).contains(".version") {
            return Ok(Some(format!("{name}: prints no PTX")));
        }
        fs::write(ptx, output.stdout)?;
    }
    Ok(None)
}

/// Creates the command of a line, with the path of the output file inserted.
fn command_with_output(line: &[String], file: &Path) -> Command {
    command(&line[0], line[1..].iter().map(|word| if word == OUT { file.as_os_str() } else { word.as_ref() }))
}

fn ptx_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    files
}

const HEAD: [&str; 13] = [
    "producer",
    "files",
    "parsed",
    "aborted",
    "initialised variables judged",
    "memory operands of straight kernels",
    "compared",
    "unsupported",
    "undecided, unobserved",
    "known",
    "new",
    "own time (s)",
    "processes (s)",
];

/// The counts for the files of a producer.
#[derive(Default, Clone)]
struct CheckCounts {
    files: u64,
    parsed: u64,
    /// The number of variables with an initial value, counted in the PTX text.
    variables: u64,
    judged: u64,
    /// The number of memory operands of kernels without labels and predicates, counted in the PTX text.
    memory: u64,
    compared: u64,
    unsupported: u64,
    undecided: u64,
    known: u64,
    new: u64,
    /// The number of files for which `check` failed.
    aborted: u64,
    /// The processor time of ptxsmith itself.
    own_seconds: f64,
    /// The processor time of the processes that ptxsmith started.
    child_seconds: f64,
}

impl CheckCounts {
    fn plus(&self, other: &CheckCounts) -> CheckCounts {
        CheckCounts {
            files: self.files + other.files,
            parsed: self.parsed + other.parsed,
            variables: self.variables + other.variables,
            judged: self.judged + other.judged,
            memory: self.memory + other.memory,
            compared: self.compared + other.compared,
            unsupported: self.unsupported + other.unsupported,
            undecided: self.undecided + other.undecided,
            known: self.known + other.known,
            new: self.new + other.new,
            aborted: self.aborted + other.aborted,
            own_seconds: self.own_seconds + other.own_seconds,
            child_seconds: self.child_seconds + other.child_seconds,
        }
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.files.to_string(),
            share(self.parsed, self.files),
            self.aborted.to_string(),
            share(self.judged, self.variables),
        ];
        let counts = [self.memory, self.compared, self.unsupported, self.undecided, self.known, self.new];
        cells.extend(counts.map(|count| count.to_string()));
        cells.extend([self.own_seconds, self.child_seconds].map(|seconds| format!("{seconds:.1}")));
        cells
    }
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "none".to_owned() } else { format!("{part} of {whole}") }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a regular expression")
}

/// Counts the expectations for one file.
fn count_expectations(ptxsmith: &Path, file: &Path) -> Result<CheckCounts> {
    let source = fs::read_to_string(file)?;
    let kernel = regex(r"(?sm)\.entry\b[^{;]*\{(.*?)^\}");
    let memory = regex(r"(?m)^\s*(?:ld|st|atom|red)\.([^;\[]*)\[");
    let jump = regex(r"(?m)^\s*(?:[\w$]+:|@)");
    let initialized =
        regex(r"(?m)^(?:\.(?:visible|weak|common) )?\.(?:global|const) [^=;{]*?([\w$%]+)(?:\[[^\]]*\])* = ");
    let names: BTreeSet<String> =
        initialized.captures_iter(&source).map(|captures| captures[1].to_owned()).collect();
    let mut counts = CheckCounts { files: 1, variables: names.len() as u64, ..CheckCounts::default() };
    let bodies = kernel.captures_iter(&source).filter_map(|captures| Some(captures.get(1)?.as_str()));
    for body in bodies.filter(|body| !jump.is_match(body)) {
        let operands = memory.captures_iter(body).filter(|captures| !captures[1].starts_with("param"));
        counts.memory += operands.count() as u64;
    }
    let output = tools::output_of(command(ptxsmith, ["eval", "--json"]).arg(file))?;
    if output.status.success() {
        let expected: Value = serde_json::from_slice(&output.stdout)?;
        let mut undecided = list(&expected["undecided"]).iter();
        counts.parsed = u64::from(!undecided.any(|part| text(part, "reason").contains("not understood")));
        let judged = names.iter().filter(|name| expected["variables"][name.as_str()]["bytes"].is_string());
        counts.judged = judged.count() as u64;
    }
    Ok(counts)
}

/// Checks the files of a folder. Returns the counts of the verdicts, and the new deviations.
fn check(ptxsmith: &Path, folder: &Path, reports: &Path) -> Result<(CheckCounts, Vec<String>)> {
    let files = ptx_files(folder);
    let mut counts = CheckCounts::default();
    for counts_of_file in tools::on_all_cores(&files, |file| count_expectations(ptxsmith, file)) {
        counts = counts.plus(&counts_of_file?);
    }
    let out = reports.join(folder.file_name().unwrap_or_default());
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(reports)?;
    let mut check = command(ptxsmith, ["check", "--quiet"]);
    check.args(RELEASES.iter().flat_map(|release| ["--subject".to_owned(), format!("ptxas@{release}")]));
    check.arg("--out").arg(&out).args(&files);
    let log = fs::File::create(out.with_extension("log"))?;
    let (status, own_seconds, child_seconds) = run_timed(check.stdout(log.try_clone()?).stderr(log))?;
    let Ok(report) = tools::json(&out.join("report.json")) else {
        counts.aborted = counts.files;
        return Ok((counts, Vec::new()));
    };
    counts.own_seconds = own_seconds;
    counts.child_seconds = child_seconds;
    counts.aborted = if status == 4 { counts.files } else { 0 };
    counts.compared = report["compared"].as_u64().unwrap_or_default();
    for (reason, count) in report["not_compared"].as_object().into_iter().flatten() {
        let count = count.as_u64().unwrap_or_default();
        if reason == "unsupported" {
            counts.unsupported += count;
        } else {
            counts.undecided += count;
        }
    }
    let mut new = Vec::new();
    for finding in list(&report["findings"]) {
        let count = finding["count"].as_u64().unwrap_or_default();
        match text(finding, "status") {
            "known" => counts.known += count,
            "new" => {
                counts.new += count;
                let subjects: Vec<_> = list(&finding["subjects"]).iter().filter_map(Value::as_str).collect();
                let class = text(finding, "class");
                let title = text(finding, "title");
                new.push(format!("{count} x {class}: {title} ({})", subjects.join(", ")));
            }
            _ => {}
        }
    }
    Ok((counts, new))
}

/// Runs a program. Returns its exit status, its own processor time, and that of its child processes, in
/// seconds.
fn run_timed(command: &mut Command) -> Result<(i32, f64, f64)> {
    let mut child = command.stdin(Stdio::null()).spawn()?;
    loop {
        // The times of a zombie process can be read until it is waited for.
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        if fields.first() == Some(&"Z") {
            let ended = child.wait()?;
            return Ok((ended.code().unwrap_or(-1), seconds(&fields[11..13]), seconds(&fields[13..15])));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Adds processor times given in hundredths of a second. Returns seconds.
fn seconds(fields: &[&str]) -> f64 {
    fields.iter().filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
