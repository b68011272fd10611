//! `check-cuda-headers`: corpus/cuda/headers has a file for each of NVIDIA's public libraries with device
//! code, which instantiates code from the library. `cuda check` may report only marked lines in these files
//! and nothing outside them. Headers are kept in `CUDA_HEADERS`, 120 MB of disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tools::{self, NOT_TESTED, command, list, text};

const PACKAGES: [&str; 4] = [
    "nvidia-cuda-cccl-cu12==12.9.27",
    "nvidia-curand-cu12==10.3.10.19",
    "nvidia-cuda-runtime-cu12==12.9.79",
    "nvidia-cuda-nvcc-cu12==12.9.86",
];
const READ: &str = "corpus/cuda/headers/read.txt";

/// The comparison, and the clang that reads the headers.
#[derive(clap::Args)]
pub struct HeadersArguments {
    /// Compare reports about headers with corpus/cuda/headers/read.txt, the list of reviewed reports
    #[arg(long)]
    headers: bool,
    /// Put the table of times into docs/guide/cuda.md
    #[arg(long)]
    write: bool,
    /// The clang [default: the newest in PATH]
    #[arg(long)]
    clang: Option<PathBuf>,
}

pub fn run(arguments: &HeadersArguments) -> Result<u8> {
    let Some(clang) = arguments.clang.clone().or_else(clang) else {
        eprintln!("NOT TESTED: there is no clang");
        return Ok(NOT_TESTED);
    };
    let kept = tools::cache("CUDA_HEADERS", "cuda-headers");
    if let Err(error) = install(&kept) {
        eprintln!("NOT TESTED: the headers cannot be installed: {error:#}");
        return Ok(NOT_TESTED);
    }
    let checker = Checker { ptxsmith: tools::ptxsmith(true)?, clang, cuda: kept.join("cuda") };
    let mut files: Vec<PathBuf> =
        fs::read_dir("corpus/cuda/headers")?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    if arguments.headers { checker.headers(&files) } else { checker.files(&files, arguments.write) }
}

/// Returns the newest clang in PATH.
pub fn clang() -> Option<PathBuf> {
    let names =
        std::iter::once("clang".to_owned()).chain((14..=40).rev().map(|version| format!("clang-{version}")));
    names.into_iter().find_map(|name| which::which(name).ok())
}

/// Downloads the headers and arranges them as in a CUDA toolkit.
fn install(kept: &Path) -> Result<()> {
    if kept.join("complete").exists() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(kept);
    let wheels = kept.join("wheels");
    let mut pip = command("python3", ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    tools::stdout_of(
        pip.args(["--root-user-action", "ignore", "--no-deps", "--target"]).arg(&wheels).args(PACKAGES),
    )?;
    for folder in ["bin", "include", "nvvm/libdevice"] {
        fs::create_dir_all(kept.join("cuda").join(folder))?;
    }
    for package in fs::read_dir(wheels.join("nvidia"))? {
        let include = package?.path().join("include");
        if include.exists() {
            tools::stdout_of(command("cp", ["-r"]).arg(include.join(".")).arg(kept.join("cuda/include")))?;
        }
    }
    Ok(fs::write(kept.join("complete"), "")?)
}

/// Runs `cuda check`, and clang, on a file.
struct Checker {
    ptxsmith: PathBuf,
    clang: PathBuf,
    cuda: PathBuf,
}

impl Checker {
    fn check(&self, file: &Path, more: &[&str]) -> Result<(Output, f64)> {
        let mut check =
            command(&self.ptxsmith, ["cuda", "check", "--timeout", "5m", "--format", "json", "--clang"]);
        check.arg(&self.clang).args(more).arg(file).arg("--").arg(self.cuda_path()).args(flags_of(file)?);
        let before = tools::child_processor_seconds()?;
        let output = tools::output_of(&mut check)?;
        Ok((output, tools::child_processor_seconds()? - before))
    }

    fn cuda_path(&self) -> String {
        format!("--cuda-path={}", self.cuda.display())
    }

    fn files(&self, files: &[PathBuf], write: bool) -> Result<u8> {
        let mut wrong = 0;
        let mut rows = Vec::new();
        let mut beyond = Vec::new();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (output, seconds) = self.check(file, &[])?;
            let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
                println!("{name}: {}", String::from_utf8_lossy(&output.stderr));
                wrong += 1;
                continue;
            };
            let report = &report["files"][0];
            let findings = list(&report["findings"]);
            let (in_file, others): (Vec<&Value>, Vec<&Value>) =
                findings.iter().partition(|finding| text(finding, "file").ends_with(&name));
            let lines: BTreeSet<u64> =
                in_file.iter().filter_map(|finding| finding["line"].as_u64()).collect();
            if lines != marked(file)? || !others.is_empty() || !list(&report["not_analysed"]).is_empty() {
                println!("{name}: {report:#}");
                wrong += 1;
            }
            let parsing = self.clang_seconds(file, &[])?;
            let dumping = self.clang_seconds(file, &["-Xclang", "-ast-dump=json"])?;
            let times = [parsing, dumping, seconds].map(|seconds| format!("{seconds:.1}"));
            rows.push([vec![format!("`{name}`")], times.to_vec()].concat());
            beyond.push(seconds - dumping);
        }
        beyond.sort_by(f64::total_cmp);
        let median = beyond.get(beyond.len() / 2).copied().unwrap_or_default();
        let version = tools::stdout_of(&mut command(&self.clang, ["--version"]))?;
        let version = version.split(['(', '\n']).next().unwrap_or_default().trim().to_owned();
        let head = ["file", "clang checks the syntax, s", "clang prints the tree, s", "all, s"];
        let text = format!(
            "{}\nProcessor time; median {median:.1} s beyond clang's own with its tree, {version}, {}.",
            tools::table(&head, &rows),
            tools::today()
        );
        println!("{text}");
        if write {
            let page = Path::new("docs/guide/cuda.md");
            fs::write(
                page,
                tools::rendered(page, "<!-- headers -->\n", "\n<!-- end of headers -->", &text)?,
            )?;
        }
        Ok(u8::from(wrong > 0))
    }

    /// Returns the processor time in which clang reads a file, in seconds.
    fn clang_seconds(&self, file: &Path, more: &[&str]) -> Result<f64> {
        let mut clang = command(&self.clang, ["-x", "cuda", "--cuda-device-only", "-nocudalib"]);
        clang.arg(self.cuda_path());
        let flags = flags_of(file)?;
        if flags.is_empty() {
            clang.arg("--cuda-gpu-arch=sm_70");
        }
        clang.args(["-Xclang", "-target-sdk-version=12.0", "-std=c++17", "-w", "-fsyntax-only"]);
        clang.args(flags).args(more).arg(file).stdout(Stdio::null());
        let before = tools::child_processor_seconds()?;
        clang.status()?;
        Ok(tools::child_processor_seconds()? - before)
    }

    /// Compares the reports about headers with the list of reviewed ones: `PLACE | VARIABLE | KEYS | WHY`.
    fn headers(&self, files: &[PathBuf]) -> Result<u8> {
        let listed = fs::read_to_string(READ)?;
        let lines = listed.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read: BTreeSet<String> =
            lines.map(|line| line.split(" | ").take(3).collect::<Vec<_>>().join(" | ")).collect();
        let mut found = BTreeMap::<String, String>::new();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (output, _) = self.check(file, &["--header-filter", "/cuda/include/"])?;
            let report: Value = serde_json::from_slice(&output.stdout).context("no report")?;
            let report = &report["files"][0];
            for finding in list(&report["findings"]) {
                let place = text(finding, "file");
                if !place.ends_with(&name) {
                    let place = place.rsplit("/cuda/include/").next().unwrap_or(place);
                    let keys: Vec<_> = list(&finding["keys"]).iter().filter_map(Value::as_str).collect();
                    let row = format!(
                        "{place}:{} | {} | {}",
                        finding["line"],
                        text(finding, "variable"),
                        keys.join(", ")
                    );
                    found.entry(row).or_insert_with(|| name.clone());
                }
            }
            for missing in list(&report["not_analysed"]) {
                println!("{name}: {}", missing.to_string().replace(&*self.cuda.to_string_lossy(), "$CUDA"));
            }
        }
        let missing: Vec<_> = found.iter().filter(|(row, _)| !read.contains(*row)).collect();
        let gone: Vec<_> = read.iter().filter(|row| !found.contains_key(*row)).collect();
        missing.iter().for_each(|(row, name)| println!("not read: {row} | {name}"));
        gone.iter().for_each(|row| println!("no longer reported: {row}"));
        println!(
            "{} different reports about headers, {} were read",
            found.len(),
            found.len() - missing.len()
        );
        Ok(u8::from(!missing.is_empty() || !gone.is_empty()))
    }
}

/// Returns the compiler flags from a first line `// flags: ...`.
fn flags_of(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file)?;
    let flags = text.lines().next().and_then(|line| line.strip_prefix("// flags:"));
    Ok(flags.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
}

/// Returns the lines that are marked with `// violation: KEY`.
fn marked(file: &Path) -> Result<BTreeSet<u64>> {
    let text = fs::read_to_string(file)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| line.contains("// violation: "));
    Ok(lines.map(|(_, number)| number).collect())
}
