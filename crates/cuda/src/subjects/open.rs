//! Parses specifications of compilers and opens the compilers.

use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_subject::process::{self, Cancel, Limits, ProcessEnd};
use ptxsmith_subject::ptxas::LINEAGE;
use ptxsmith_subject::toolchain::{InstallError, Tool, ToolKind, Toolchains};
use ptxsmith_subject::worker::Workers;

use super::cicc::Cicc;
use super::clang::Clang;
use super::nvcc::Nvcc;
use super::nvrtc::Nvrtc;
use super::program::CompilerProgram;
use super::{Compiler, CompilerDescription};

/// A specification of one or several compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompilerSpec {
    /// One release: `cicc@13.5`.
    Release(&'static Tool),
    /// Every known release: `cicc@all`.
    All(ToolKind),
    /// The clang in PATH, or at this path: `clang`, `clang:/path/to/clang`.
    Clang(Option<PathBuf>),
    /// The clang with this major version in PATH: `clang@19` is `clang-19`.
    ClangVersion(u32),
}

/// Parses `cicc`, `cicc@13.5`, `cicc@13.5.37`, `cicc@all`, the same of `nvcc` and `nvrtc`, `clang`,
/// `clang@19`, or `clang:/PATH`.
///
/// ```
/// use ptxsmith_cuda::subjects::{CompilerSpec, parse_spec};
/// use ptxsmith_subject::toolchain::{Tool, ToolKind};
/// let release = Tool::find(ToolKind::Cicc, "13.0.88").unwrap();
/// assert_eq!(parse_spec("cicc@13.0"), Ok(CompilerSpec::Release(release)));
/// assert_eq!(parse_spec("clang"), Ok(CompilerSpec::Clang(None)));
/// assert!(parse_spec("gcc").is_err());
/// ```
pub fn parse_spec(text: &str) -> Result<CompilerSpec, String> {
    if text == "clang" {
        return Ok(CompilerSpec::Clang(None));
    }
    if let Some(path) = text.strip_prefix("clang:") {
        return Ok(CompilerSpec::Clang(Some(path.into())));
    }
    if let Some(version) = text.strip_prefix("clang@") {
        let number =
            version.parse().map_err(|_| format!("`{text}`: the version of a clang is a number: clang@19"))?;
        return Ok(CompilerSpec::ClangVersion(number));
    }
    let (name, release) = text.split_once('@').unwrap_or((text, ""));
    let kind = [ToolKind::Cicc, ToolKind::Nvcc, ToolKind::Nvrtc].into_iter().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| unknown_subject(text))?;
    match release {
        "all" => Ok(CompilerSpec::All(kind)),
        "" => Tool::newest(kind).map(CompilerSpec::Release).ok_or_else(|| unknown_subject(text)),
        _ => Tool::find(kind, release).map(CompilerSpec::Release).map_err(|error| error.to_string()),
    }
}

fn unknown_subject(text: &str) -> String {
    format!(
        "no subject `{text}`; there are cicc@RELEASE, nvcc@RELEASE, nvrtc@RELEASE, clang, clang@VERSION \
         and clang:/PATH"
    )
}

/// An error that prevents opening a compiler.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The release could not be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The compiler, or a program that it needs, is not on this machine.
    #[error("{0}")]
    Missing(String),
}

/// Settings for opening compilers.
pub struct SubjectOptions<'a> {
    /// The installed releases.
    pub toolchains: &'a Toolchains,
    /// Whether to install missing releases.
    pub install: bool,
    /// The time limit for one unit.
    pub timeout: Duration,
    /// Stops installations and runs.
    pub cancel: &'a Cancel,
    /// The command with which this program starts itself as a worker that loads a library; `None` if it
    /// cannot.
    pub workers: Option<Workers>,
    /// Gets messages about operations of unknown length.
    pub progress: &'a dyn Fn(&str),
}

/// Opens the compilers of a specification.
pub fn open(spec: &CompilerSpec, options: &SubjectOptions<'_>) -> Result<Vec<Box<dyn Compiler>>, OpenError> {
    match spec {
        CompilerSpec::Release(tool) => Ok(vec![release(tool, options)?]),
        CompilerSpec::All(kind) => Tool::all(*kind).map(|tool| release(tool, options)).collect(),
        CompilerSpec::Clang(path) => Ok(vec![clang(path.clone(), options)?]),
        CompilerSpec::ClangVersion(version) => Ok(vec![clang_of_version(*version, options)?]),
    }
}

fn program_of(
    path: PathBuf,
    description: CompilerDescription,
    options: &SubjectOptions<'_>,
) -> CompilerProgram {
    // The output has a line for each rejected case, and a unit may have thousands.
    let limits = Limits { time: options.timeout, output: 16 << 20, memory: 8 << 30, ..Limits::default() };
    CompilerProgram { path, limits, cancel: options.cancel.clone(), description }
}

fn release(tool: &Tool, options: &SubjectOptions<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let installed = options.toolchains.usable(tool);
    let file = match installed.map_err(|damaged| OpenError::Missing(damaged.to_string()))? {
        Some(file) => file,
        None if options.install => options.toolchains.install_tool(tool, options.cancel, options.progress)?,
        None => {
            return Err(OpenError::Missing(format!(
                "{} {} is not installed",
                tool.kind.name(),
                tool.version
            )));
        }
    };
    let description = CompilerDescription {
        id: tool.to_string(),
        name: tool.kind.name(),
        version: tool.version.to_owned(),
        lineage: LINEAGE,
    };
    if tool.kind == ToolKind::Nvrtc {
        let Some(workers) = options.workers.clone() else {
            return Err(OpenError::Missing("no worker can be started, which loads NVRTC".to_owned()));
        };
        let program = program_of(workers.program.clone(), description, options);
        return Ok(Box::new(Nvrtc { program, workers, library: file }));
    }
    let program = program_of(file, description, options);
    if tool.kind == ToolKind::Nvcc {
        find_gpp("as nvcc's host compiler")?;
        return Ok(Box::new(Nvcc(program)));
    }
    let preprocessor = find_gpp("to preprocess what cicc is fed")?;
    Ok(Box::new(Cicc { program, preprocessor }))
}

fn find_gpp(purpose: &str) -> Result<PathBuf, OpenError> {
    which::which("g++")
        .map_err(|_| OpenError::Missing(format!("g++ is needed {purpose}, and there is none in PATH")))
}

fn clang(path: Option<PathBuf>, options: &SubjectOptions<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let Some(path) = path else {
        let program = find_clang().map_err(|_| {
            OpenError::Missing("clang is not in PATH; install it or name it as clang:/PATH".to_owned())
        })?;
        return open_clang(program, "clang".to_owned(), options);
    };
    let program = std::path::absolute(&path).map_err(|error| OpenError::Missing(error.to_string()))?;
    open_clang(program, format!("clang:{}", path.display()), options)
}

fn clang_of_version(version: u32, options: &SubjectOptions<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let name = format!("clang-{version}");
    let program = which::which(&name).map_err(|_| OpenError::Missing(format!("{name} is not in PATH")))?;
    open_clang(program, format!("clang@{version}"), options)
}

fn open_clang(
    program: PathBuf,
    id: String,
    options: &SubjectOptions<'_>,
) -> Result<Box<dyn Compiler>, OpenError> {
    let version = clang_version(&program, options.cancel)
        .map_err(|reason| OpenError::Missing(format!("{}: {reason}", program.display())))?;
    let description = CompilerDescription { id, name: "clang", version, lineage: "llvm" };
    Ok(Box::new(Clang(program_of(program, description, options))))
}

/// Finds the program `clang` in PATH, or else the newest `clang-VERSION`, as Debian names it.
pub fn find_clang() -> which::Result<PathBuf> {
    let versions = OLDEST_CLANG..OLDEST_CLANG + 40;
    which::which("clang").or_else(|error| {
        versions.rev().find_map(|version| which::which(format!("clang-{version}")).ok()).ok_or(error)
    })
}

/// The oldest release of clang with a syntax tree that the checker can read.
const OLDEST_CLANG: u32 = 14;

/// Returns the version that a clang states, or the reason why the program is not a clang.
pub(crate) fn clang_version(program: &std::path::Path, cancel: &Cancel) -> Result<String, String> {
    let directory = process::scratch(0).map_err(|error| error.to_string())?;
    let limit = Limits::default().time;
    let finished = process::run_trusted(program, &["--version"], directory.path(), limit, cancel)
        .map_err(|error| error.to_string())?;
    let output = finished.stdout.text();
    let version = output.lines().next().and_then(|line| line.split_once("clang version "));
    match (finished.end, version) {
        (ProcessEnd::Exited(0), Some((_, rest))) => {
            Ok(rest.split_whitespace().next().unwrap_or_default().to_owned())
        }
        _ => Err("`--version` does not answer as clang does".to_owned()),
    }
}
