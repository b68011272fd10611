//! `check-emitted`: compiles our sources (corpus/emitters/) with compilers from the package registries, and checks the
//! PTX with ptxas 12.0, 12.9 and 13.5 by `ptxsmith check`. Compilers and PTX are kept in `EMITTED`, 4 GB of disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use regex_lite::Regex;
use serde_json::Value;

use crate::llvm_tests;
use crate::tools::{self, NOT_TESTED, command, list, text};

const PAGE: &str = "docs/reference/emitted.md";
const RELEASES: [&str; 3] = ["12.0", "12.9", "13.5"];
/// Stands for the output file in the command of a compiler that cannot print to standard output.
const OUT: &str = "{out}";

/// Each clang with a PTX version and the target architectures. The version is explicit because clang's default is not
/// always the newest version that it supports.
const CLANGS: [(u32, &str, [&str; 3]); 6] = [
    (13, "72", ["60", "75", "86"]),
    (14, "75", ["52", "75", "86"]),
    (15, "75", ["70", "80", "86"]),
    (16, "78", ["70", "80", "90"]),
    (19, "85", ["75", "80", "90a"]),
    (22, "88", ["75", "90", "100a"]),
];
const FLAVOURS: [(&str, &[&str]); 3] = [(".O2", &["-O2"]), (".O0", &["-O0"]), (".g", &["-O1", "-g"])];
const LLCS: [u32; 4] = [14, 16, 19, 22];
const NVCCS: [&str; 2] = ["13.0.88", "13.5.37"];
const NVCC_FLAVOURS: [(&str, &str); 5] = [
    ("sm_75.lineinfo", "-lineinfo"),
    ("sm_80.debug", "-g -G"),
    ("sm_90.rdc", "-rdc=true -lineinfo"),
    ("sm_100", ""),
    ("sm_120.rdc.debug", "-rdc=true -G"),
];
const NVRTCS: [(&str, &str); 5] = [
    ("11.8", "nvidia-cuda-nvrtc-cu11==11.8.89"),
    ("12.0", "nvidia-cuda-nvrtc-cu12==12.0.76"),
    ("12.9", "nvidia-cuda-nvrtc-cu12==12.9.86"),
    ("13.0", "nvidia-cuda-nvrtc==13.0.88"),
    ("13.5", "nvidia-cuda-nvrtc==13.5.37"),
];
/// The options of NVRTC, read by corpus/emitters/python/nvrtc.py.
const NVRTC_OPTIONS: &str = r#"{".sm_75.lineinfo": ["-arch=compute_75", "-lineinfo"], ".sm_80.rdc": ["-arch=compute_80", "-rdc=true"],
 ".sm_90.debug": ["-arch=compute_90", "-G"], ".sm_90": ["-arch=compute_90", "-use_fast_math"]}"#;
/// The folder of LLVM's own tests.
const LLVM_TESTS: &str = "llvm-tests";
/// Packages that compile kernels of corpus/emitters/python.
const ENVIRONMENTS: [(&str, &str, &str); 3] = [
    ("Triton 3.9", "triton", "triton==3.9.0"),
    ("numba-cuda 0.30", "numba", "numba-cuda[cu13]==0.30.4"),
    ("Warp 1.19", "warp", "warp-lang==1.19.0"),
];

/// What is done with the compilers' PTX.
#[derive(clap::Args)]
pub struct Arguments {
    /// Put the table into docs/reference/emitted.md
    #[arg(long)]
    write: bool,
    /// Only make the PTX
    #[arg(long)]
    produce: bool,

    /// Only the compilers whose name contains this
    #[arg(long, value_name = "NAME", conflicts_with = "write")]
    only: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let mut kept = Kept { folder: tools::cache("EMITTED", "emitted"), lacking: Vec::new() };
    fs::create_dir_all(&kept.folder)?;
    kept.install();
    let mut producers = producers(&kept.folder);
    producers.retain(|producer| arguments.only.as_ref().is_none_or(|name| producer.name.contains(name)));
    for producer in &producers {
        if let Err(error) = producer.produce(&kept.folder) {
            eprintln!("{} makes nothing: {error:#}", producer.name);
        }
    }
    let complete = if kept.lacking.is_empty() { 0 } else { NOT_TESTED };
    for lacking in &kept.lacking {
        eprintln!("NOT TESTED: {lacking} cannot be installed");
    }
    if arguments.produce {
        return Ok(complete);
    }
    let ptxsmith = tools::ptxsmith(true)?;
    tools::said(command(&ptxsmith, ["toolchain", "install"]).args(RELEASES).arg("nvdisasm"))?;
    let (mut rows, mut whole, mut told) = (Vec::new(), Row::default(), Vec::new());
    for producer in &producers {
        let (row, new) = judged(&ptxsmith, &producer.folder(&kept.folder), &kept.folder.join("reports"))?;
        whole = whole.plus(&row);
        eprintln!("{}: {}", producer.name, row.cells().join(" | "));
        rows.push([vec![producer.name.clone()], row.cells()].concat());
        told.extend(new.into_iter().map(|finding| format!("{}: {finding}", producer.name)));
    }
    rows.push([vec!["all".to_owned()], whole.cells()].concat());
    let table = tools::table(&HEAD, &rows);
    println!("{table}\n{}", told.join("\n"));
    if arguments.write {
        let new = if told.is_empty() {
            "None.\n".to_owned()
        } else {
            told.iter().map(|line| format!("- {line}\n")).collect()
        };
        let page = fs::read_to_string(PAGE)?;
        let (before, _) = page.split_once("<!-- measured -->").context("no mark in the page")?;
        let (day, releases) = (tools::today(), RELEASES.join(" and "));
        let text = format!(
            "{before}<!-- measured -->\nMeasured on {day} with {releases}.\n\n{table}\nNew deviations reported:\n\n{new}"
        );
        fs::write(PAGE, text)?;
    }
    let failed = !told.is_empty() || whole.aborted > 0 || whole.parsed < whole.files;
    Ok(if failed { 1 } else { complete })
}

/// The folder of compilers and their PTX, and the packages that could not be installed.
struct Kept {
    folder: PathBuf,
    lacking: Vec<String>,
}

impl Kept {
    fn install(&mut self) {
        let mut packages: Vec<String> = Vec::new();
        packages.extend(CLANGS.iter().map(|(version, ..)| format!("clang-{version}")));
        packages.extend(LLCS.iter().map(|version| format!("llvm-{version}")));
        packages.retain(|package| which::which(package.replace("llvm-", "llc-")).is_err());
        for package in packages {
            if !tools::debian(std::slice::from_ref(&package)) {
                self.lacking.push(package);
            }
        }
        for (release, package) in NVRTCS {
            self.wheels(&format!("nvrtc-{release}"), &[package.to_owned()]);
        }
        for release in NVCCS {
            let minor = minor(release);
            let own = ["cuda-nvcc", "nvvm", "cuda-crt"].map(|name| format!("nvidia-{name}=={release}"));
            let others =
                [format!("nvidia-cuda-runtime=={minor}.*"), "nvidia-cuda-cccl==13.3.5.0.6".to_owned()];
            self.wheels(&format!("nvcc-{minor}"), &[&own[..], &others].concat());
        }
        let tests = self.folder.join(LLVM_TESTS);
        self.once(LLVM_TESTS, "the source package of LLVM", || llvm_tests::install(&tests));
        for (_, name, package) in ENVIRONMENTS {
            let folder = self.folder.join(name);
            let venv = || tools::said(command("python3", ["-m", "venv"]).arg(&folder));
            let pip = || {
                tools::said(
                    command(folder.join("bin/pip"), ["install", "--quiet", package]).env("PIP_NO_INPUT", "1"),
                )
            };
            self.once(name, package, || venv().and_then(|_| pip()).map(|_| ()));
        }
    }

    /// Installs wheels without their dependencies.
    fn wheels(&mut self, name: &str, packages: &[String]) {
        let folder = self.folder.join(name);
        let mut pip = command("python3", ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--root-user-action", "ignore", "--no-deps", "--target"]).arg(&folder).args(packages);
        self.once(name, &packages.join(" "), || tools::said(&mut pip).map(|_| ()));
    }

    /// Installs into a folder unless an earlier installation is complete, and records a failed installation.
    fn once(&mut self, name: &str, what: &str, install: impl FnOnce() -> Result<()>) {
        let complete = self.folder.join(name).join("complete");
        if complete.exists() {
            return;
        }
        let _ = fs::remove_dir_all(self.folder.join(name));
        if install().and_then(|()| Ok(fs::write(complete, "")?)).is_err() {
            self.lacking.push(what.to_owned());
        }
    }
}

fn minor(release: &str) -> &str {
    release.rsplit_once('.').map_or(release, |(minor, _)| minor)
}

/// One version of a compiler.
struct Producer {
    name: String,
    recipe: Recipe,
}

enum Recipe {
    /// The commands for each file. If there are two, the second reads the output of the first.
    Files(Vec<(String, Vec<Vec<String>>)>),
    /// A program of corpus/emitters/python. It writes many files into a folder and prints the ones that failed.
    Script(Vec<String>, Vec<(String, String)>),
    /// The compiler is not installed.
    Missing,
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn sources(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new("corpus/emitters").join(folder)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn feature(ptx: &str) -> Vec<String> {
    words(&["-Xclang", "-target-feature", "-Xclang", &format!("+ptx{ptx}")])
}

fn clang_cuda(version: u32, ptx: &str, architecture: &str, source: &Path, options: &[&str]) -> Vec<String> {
    let first = words(&[&format!("clang-{version}"), "-x", "cuda", "-std=c++17", "--cuda-device-only"]);
    let then = words(&[&format!("--cuda-gpu-arch=sm_{architecture}"), "-nocudainc", "-nocudalib"]);
    [first, then, feature(ptx), words(options), words(&[&source.to_string_lossy()])].concat()
}

fn producers(kept: &Path) -> Vec<Producer> {
    let (cuda, headers, llvm) = (sources("cuda", "cu"), sources("nvcc", "cu"), sources("llc", "ll"));
    let mut all = Vec::new();
    for (version, ptx, architectures) in CLANGS {
        let mut files = Vec::new();
        for (architecture, (kind, options)) in architectures.iter().zip(FLAVOURS) {
            for source in &cuda {
                let options = [options, &["-S", "-o", "-"]].concat();
                let name = format!("{}.sm_{architecture}{kind}", stem(source));
                files.push((name, vec![clang_cuda(version, ptx, architecture, source, &options)]));
            }
        }
        all.push(Producer { name: format!("clang {version}"), recipe: Recipe::Files(files) });
    }
    let mut files = Vec::new();
    for (version, ..) in CLANGS {
        for (bits, target) in [("", "nvptx64"), (".32", "nvptx")] {
            for source in sources("opencl", "cl") {
                let first = [&*format!("clang-{version}"), "-x", "cl", "-cl-std=CL1.2", "-target"];
                let target = format!("{target}-unknown-nvcl");
                let then =
                    ["-Xclang", "-finclude-default-header", "-Xclang", "-target-cpu", "-Xclang", "sm_75"];
                let last = words(&["-O2", "-S", "-o", "-", &source.to_string_lossy()]);
                let line = [words(&first), vec![target], words(&then), feature("63"), last].concat();
                files.push((format!("{}.clang-{version}{bits}", stem(&source)), vec![line]));
            }
        }
    }
    all.push(Producer { name: "clang, OpenCL C".to_owned(), recipe: Recipe::Files(files) });
    for version in LLCS {
        all.push(Producer {
            name: format!("llc {version}"),
            recipe: Recipe::Files(llc(version, &cuda, &llvm)),
        });
    }
    let tests = llvm_tests::commands(&kept.join(LLVM_TESTS));
    let name = format!("llc {}, LLVM's own tests", llvm_tests::RELEASE);
    all.push(Producer { name, recipe: Recipe::Files(tests) });
    for release in NVCCS.map(minor) {
        let nvcc = kept.join(format!("nvcc-{release}/nvidia/cu13/bin/nvcc")).to_string_lossy().into_owned();
        let mut files = Vec::new();
        for (name, options) in NVCC_FLAVOURS {
            let architecture = format!("-arch={}", name.split('.').next().unwrap_or_default());
            for source in cuda.iter().chain(headers.iter().filter(|_| !name.contains("75"))) {
                let first = words(&[&nvcc, "-w", "-ptx", "-std=c++17", &architecture]);
                let options = options.split_whitespace().map(str::to_owned).collect();
                let line = [first, options, words(&["-o", OUT, &source.to_string_lossy()])].concat();
                files.push((format!("{}.{name}", stem(source)), vec![line]));
            }
        }
        all.push(Producer { name: format!("nvcc {release}"), recipe: Recipe::Files(files) });
    }
    for (release, _) in NVRTCS {
        let recipe = nvrtc(&kept.join(format!("nvrtc-{release}"))).unwrap_or(Recipe::Missing);
        all.push(Producer { name: format!("NVRTC {release}"), recipe });
    }
    for (name, folder, _) in ENVIRONMENTS {
        let python = kept.join(folder).join("bin/python").to_string_lossy().into_owned();
        let recipe =
            Recipe::Script(vec![python, format!("corpus/emitters/python/{folder}_kernels.py")], Vec::new());
        all.push(Producer { name: name.to_owned(), recipe });
    }
    all
}

/// Returns commands for the IR that clang makes of the CUDA sources, and for hand-written IR as other front ends
/// produce it, with varying architectures and PTX versions.
fn llc(version: u32, cuda: &[PathBuf], llvm: &[PathBuf]) -> Vec<(String, Vec<Vec<String>>)> {
    let back = |architecture: &str, ptx: &str| {
        let options = [format!("-mcpu=sm_{architecture}"), format!("-mattr=+ptx{ptx}")];
        words(&[&format!("llc-{version}"), &options[0], &options[1], "-o", "-"])
    };
    let own = CLANGS.iter().find(|(clang, ..)| *clang == version).map_or("75", |(_, ptx, _)| ptx);
    let mut files = Vec::new();
    for source in cuda {
        let front = clang_cuda(version, own, "75", source, &["-O1", "-S", "-emit-llvm", "-o", "-"]);
        for (architecture, ptx) in [("75", "63"), ("80", "70")] {
            files.push((
                format!("{}.sm_{architecture}", stem(source)),
                vec![front.clone(), back(architecture, ptx)],
            ));
        }
    }
    // Older versions use typed pointers.
    for source in llvm.iter().filter(|_| version > 15) {
        for (architecture, ptx) in [("75", "63"), ("90", "78")] {
            let line = [back(architecture, ptx), words(&[&source.to_string_lossy()])].concat();
            files.push((format!("{}.sm_{architecture}", stem(source)), vec![line]));
        }
    }
    files
}

fn nvrtc(folder: &Path) -> Option<Recipe> {
    let files = walkdir::WalkDir::new(folder.join("nvidia")).max_depth(4).into_iter().flatten();
    let library = files.map(walkdir::DirEntry::into_path).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc.so.") && !name.contains(".alt.")
    })?;
    let place = library.parent()?.to_string_lossy().into_owned();
    let line = words(&["python3", "corpus/emitters/python/nvrtc.py", &library.to_string_lossy()]);
    let options = ("NVRTC_OPTIONS".to_owned(), NVRTC_OPTIONS.to_owned());
    Some(Recipe::Script(line, vec![("LD_LIBRARY_PATH".to_owned(), place), options]))
}

impl Producer {
    fn folder(&self, kept: &Path) -> PathBuf {
        let plain =
            |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
        kept.join("ptx").join(self.name.chars().map(plain).collect::<String>())
    }

    /// Compiles the sources to PTX, unless up-to-date PTX exists.
    fn produce(&self, kept: &Path) -> Result<()> {
        let folder = self.folder(kept);
        let stamp = folder.join("stamp");
        let recipe = match &self.recipe {
            Recipe::Files(files) => format!("{files:?}"),
            Recipe::Script(line, environment) => format!("{line:?}{environment:?}"),
            Recipe::Missing => anyhow::bail!("it is not installed"),
        };
        let made_of = walkdir::WalkDir::new("corpus/emitters").sort_by_file_name().into_iter().flatten();
        let texts = made_of.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let now = texts.fold(recipe, |all, text| all + &text);
        if fs::read_to_string(&stamp).is_ok_and(|was| was == now) {
            return Ok(());
        }
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let failed: Vec<String> = match &self.recipe {
            Recipe::Files(files) => {
                let made = tools::on_all_cores(files, |(name, lines)| make(&folder, name, lines));
                made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
            }
            Recipe::Script(line, environment) => {
                let mut script = command(&line[0], &line[1..]);
                let said = tools::said(script.arg(&folder).envs(environment.iter().cloned()))?;
                said.lines().map(str::to_owned).collect()
            }
            Recipe::Missing => Vec::new(),
        };
        fs::write(folder.join("failed"), failed.join("\n"))?;
        fs::write(stamp, now)?;
        let count = ptx_of(&folder).len();
        eprintln!("{}: {count} files, {} that it does not make", self.name, failed.len());
        Ok(())
    }
}

/// Compiles one file. Returns the error message of a failed compilation.
fn make(folder: &Path, name: &str, lines: &[Vec<String>]) -> Result<Option<String>> {
    let made = folder.join(format!("{name}.ptx"));
    let prepared = |line: &[String]| {
        let words = line[1..].iter().map(|word| if word == OUT { made.as_os_str() } else { word.as_ref() });
        command(&line[0], words)
    };
    let mut done = tools::answer(&mut prepared(&lines[0]))?;
    if let (Some(back), true) = (lines.get(1), done.status.success()) {
        let between = folder.join(format!("{name}.ll"));
        fs::write(&between, &done.stdout)?;
        done = prepared(back).stdin(fs::File::open(&between)?).output()?;
        fs::remove_file(between)?;
    }
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let line =
            said.lines().find(|line| line.contains("error")).or(said.lines().next()).unwrap_or_default();
        return Ok(Some(format!("{name}: {line}")));
    }
    if !lines[0].iter().any(|word| word == OUT) {
        if !String::from_utf8_lossy(&done.stdout).contains(".version") {
            return Ok(Some(format!("{name}: prints no PTX")));
        }
        fs::write(made, done.stdout)?;
    }
    Ok(None)
}

fn ptx_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
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
struct Row {
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
    own: f64,
    others: f64,
}

impl Row {
    fn plus(&self, other: &Row) -> Row {
        Row {
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
            own: self.own + other.own,
            others: self.others + other.others,
        }
    }

    fn cells(&self) -> Vec<String> {
        let share =
            |some: u64, whole: u64| if whole == 0 { "none".to_owned() } else { format!("{some} of {whole}") };
        let counts = [self.memory, self.compared, self.unsupported, self.undecided, self.known, self.new];
        let first = [self.files.to_string(), share(self.parsed, self.files), self.aborted.to_string()];
        let mut cells = first.to_vec();
        cells.push(share(self.judged, self.variables));
        cells.extend(counts.map(|count| count.to_string()));
        cells.extend([self.own, self.others].map(|seconds| format!("{seconds:.1}")));
        cells
    }
}

/// Counts the expectations for one file.
fn expected(ptxsmith: &Path, file: &Path) -> Result<Row> {
    let source = fs::read_to_string(file)?;
    let regex = |text: &str| Regex::new(text).expect("a regular expression");
    let kernel = regex(r"(?sm)\.entry\b[^{;]*\{(.*?)^\}");
    let memory = regex(r"(?m)^\s*(?:ld|st|atom|red)\.([^;\[]*)\[");
    let (jumps, initialised) = (
        regex(r"(?m)^\s*(?:[\w$]+:|@)"),
        regex(r"(?m)^(?:\.(?:visible|weak|common) )?\.(?:global|const) [^=;{]*?([\w$%]+)(?:\[[^\]]*\])* = "),
    );
    let bodies = kernel.captures_iter(&source).filter_map(|found| Some(found.get(1)?.as_str()));
    let straight = bodies.filter(|body| !jumps.is_match(body));
    let operands =
        |body: &str| memory.captures_iter(body).filter(|found| !found[1].starts_with("param")).count();
    let names: BTreeSet<String> =
        initialised.captures_iter(&source).map(|found| found[1].to_owned()).collect();
    let mut row = Row { files: 1, variables: names.len() as u64, ..Row::default() };
    row.memory = straight.map(operands).sum::<usize>() as u64;
    let said = tools::answer(command(ptxsmith, ["eval", "--json"]).arg(file))?;
    if said.status.success() {
        let said: Value = serde_json::from_slice(&said.stdout)?;
        let unread =
            list(&said["undecided"]).iter().any(|part| text(part, "reason").contains("not understood"));
        row.parsed = u64::from(!unread);
        row.judged =
            names.iter().filter(|name| said["variables"][name.as_str()]["bytes"].is_string()).count() as u64;
    }
    Ok(row)
}

/// Checks the files of a folder. Returns the counts of the verdicts, and the new deviations.
fn judged(ptxsmith: &Path, folder: &Path, reports: &Path) -> Result<(Row, Vec<String>)> {
    let files = ptx_of(folder);
    let rows = tools::on_all_cores(&files, |file| expected(ptxsmith, file));
    let mut row =
        rows.into_iter().try_fold(Row::default(), |all, row| Ok::<_, anyhow::Error>(all.plus(&row?)))?;
    let out = reports.join(folder.file_name().unwrap_or_default());
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(reports)?;
    let mut check = command(ptxsmith, ["check", "--quiet"]);
    check.args(RELEASES.iter().flat_map(|release| ["--subject".to_owned(), format!("ptxas@{release}")]));
    check.arg("--out").arg(&out).args(&files);
    let log = fs::File::create(out.with_extension("log"))?;
    let (status, own, others) = timed(check.stdout(log.try_clone()?).stderr(log))?;
    let Ok(report) = tools::json(&out.join("report.json")) else {
        row.aborted = row.files;
        return Ok((row, Vec::new()));
    };
    (row.own, row.others, row.aborted) = (own, others, if status == 4 { row.files } else { 0 });
    row.compared = report["compared"].as_u64().unwrap_or_default();
    for (reason, count) in report["not_compared"].as_object().into_iter().flatten() {
        let count = count.as_u64().unwrap_or_default();
        *if reason == "unsupported" { &mut row.unsupported } else { &mut row.undecided } += count;
    }
    let mut new = Vec::new();
    for finding in list(&report["findings"]) {
        let count = finding["count"].as_u64().unwrap_or_default();
        match text(finding, "status") {
            "known" => row.known += count,
            "new" => {
                row.new += count;
                let subjects: Vec<_> = list(&finding["subjects"]).iter().filter_map(Value::as_str).collect();
                let (class, title) = (text(finding, "class"), text(finding, "title"));
                new.push(format!("{count} x {class}: {title} ({})", subjects.join(", ")));
            }
            _ => {}
        }
    }
    Ok((row, new))
}

/// Runs a program. Returns its exit status, its own processor time, and that of its child processes, in seconds.
fn timed(command: &mut Command) -> Result<(i32, f64, f64)> {
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
