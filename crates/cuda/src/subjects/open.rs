//! From what the user writes to compilers that can be asked.

use std::path::PathBuf;
use std::time::Duration;

use ptxsmith_subject::process::{self, Cancel, End, Limits};
use ptxsmith_subject::ptxas::LINEAGE;
use ptxsmith_subject::toolchain::{InstallError, Tool, ToolKind, Toolchains};
use ptxsmith_subject::worker::Workers;

use super::cicc::Cicc;
use super::clang::Clang;
use super::nvcc::Nvcc;
use super::nvrtc::Nvrtc;
use super::program::Program;
use super::{Compiler, Description};

/// A subject as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// `cicc@13.5`: one release.
    Release(&'static Tool),
    /// `cicc@all`: every known release.
    All(ToolKind),
    /// `clang`, `clang:/path/to/clang`.
    Clang(Option<PathBuf>),
    /// `clang@19`: `clang-19` in PATH.
    ClangVersion(u32),
}

/// Takes `cicc`, `cicc@13.5`, `cicc@13.5.37`, `cicc@all`, the same of `nvcc` and `nvrtc`, `clang`, `clang@19`, `clang:/PATH`.
///
/// ```
/// use ptxsmith_cuda::subjects::{Spec, parse_spec};
/// use ptxsmith_subject::toolchain::{Tool, ToolKind};
/// let release = Tool::find(ToolKind::Cicc, "13.0.88").unwrap();
/// assert_eq!(parse_spec("cicc@13.0"), Ok(Spec::Release(release)));
/// assert_eq!(parse_spec("clang"), Ok(Spec::Clang(None)));
/// assert!(parse_spec("gcc").is_err());
/// ```
pub fn parse_spec(text: &str) -> Result<Spec, String> {
    if text == "clang" {
        return Ok(Spec::Clang(None));
    }
    if let Some(path) = text.strip_prefix("clang:") {
        return Ok(Spec::Clang(Some(path.into())));
    }
    if let Some(version) = text.strip_prefix("clang@") {
        let number =
            version.parse().map_err(|_| format!("`{text}`: the version of a clang is a number: clang@19"))?;
        return Ok(Spec::ClangVersion(number));
    }
    let (name, release) = text.split_once('@').unwrap_or((text, ""));
    let kind = [ToolKind::Cicc, ToolKind::Nvcc, ToolKind::Nvrtc].into_iter().find(|kind| kind.name() == name);
    let unknown = || {
        format!(
            "no subject `{text}`; there are cicc@RELEASE, nvcc@RELEASE, nvrtc@RELEASE, clang, clang@VERSION and clang:/PATH"
        )
    };
    match (kind.ok_or_else(unknown)?, release) {
        (kind, "all") => Ok(Spec::All(kind)),
        (kind, "") => Tool::newest(kind).map(Spec::Release).ok_or_else(unknown),
        (kind, _) => Tool::find(kind, release).map(Spec::Release).map_err(|error| error.to_string()),
    }
}

/// Why a subject cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not installed and could not be.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// It is not on this machine.
    #[error("{0}")]
    Missing(String),
}

/// How subjects are opened.
pub struct Options<'a> {
    /// Where releases are installed.
    pub toolchains: &'a Toolchains,
    /// Whether to install what is missing.
    pub install: bool,
    /// How long one unit may take.
    pub timeout: Duration,
    /// Stops everything.
    pub cancel: &'a Cancel,
    /// How this program starts itself as a worker that loads a library; `None` where it cannot.
    pub workers: Option<Workers>,
    /// Is told what takes long.
    pub progress: &'a dyn Fn(&str),
}

/// Opens what the user named.
pub fn open(spec: &Spec, options: &Options<'_>) -> Result<Vec<Box<dyn Compiler>>, OpenError> {
    match spec {
        Spec::Release(tool) => Ok(vec![release(tool, options)?]),
        Spec::All(kind) => Tool::all(*kind).map(|tool| release(tool, options)).collect(),
        Spec::Clang(path) => Ok(vec![clang(path.clone(), options)?]),
        Spec::ClangVersion(version) => Ok(vec![clang_of_version(*version, options)?]),
    }
}

fn program_of(path: PathBuf, description: Description, options: &Options<'_>) -> Program {
    // A unit of thousands of refused cases is answered with as many lines.
    let limits = Limits { time: options.timeout, output: 64 << 20, memory: 8 << 30, ..Limits::default() };
    Program { path, limits, cancel: options.cancel.clone(), description }
}

fn release(tool: &Tool, options: &Options<'_>) -> Result<Box<dyn Compiler>, OpenError> {
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
    let description = Description {
        id: tool.to_string(),
        name: tool.kind.name(),
        version: tool.version.to_owned(),
        lineage: LINEAGE,
    };
    if tool.kind == ToolKind::Nvrtc {
        let missing = || OpenError::Missing("no worker can be started, which loads NVRTC".to_owned());
        let workers = options.workers.clone().ok_or_else(missing)?;
        let program = program_of(workers.program.clone(), description, options);
        return Ok(Box::new(Nvrtc { program, workers, library: file }));
    }
    let program = program_of(file, description, options);
    let needed = |program: &str, why: &str| {
        which::which(program)
            .map_err(|_| OpenError::Missing(format!("{program} is needed {why}, and there is none in PATH")))
    };
    if tool.kind == ToolKind::Nvcc {
        needed("g++", "as nvcc's host compiler")?;
        return Ok(Box::new(Nvcc(program)));
    }
    let preprocessor = needed("g++", "to preprocess what cicc is fed")?;
    Ok(Box::new(Cicc { program, preprocessor }))
}

fn clang(path: Option<PathBuf>, options: &Options<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let missing =
        || OpenError::Missing("clang is not in PATH; install it or name it as clang:/PATH".to_owned());
    let program = match &path {
        Some(path) => std::path::absolute(path).map_err(|error| OpenError::Missing(error.to_string()))?,
        None => find_clang().map_err(|_| missing())?,
    };
    let id = match path {
        Some(path) => format!("clang:{}", path.display()),
        None => "clang".to_owned(),
    };
    opened_clang(program, id, options)
}

fn clang_of_version(version: u32, options: &Options<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let name = format!("clang-{version}");
    let program = which::which(&name).map_err(|_| OpenError::Missing(format!("{name} is not in PATH")))?;
    opened_clang(program, format!("clang@{version}"), options)
}

fn opened_clang(program: PathBuf, id: String, options: &Options<'_>) -> Result<Box<dyn Compiler>, OpenError> {
    let version = clang_version(&program, options.cancel)
        .map_err(|reason| OpenError::Missing(format!("{}: {reason}", program.display())))?;
    let description = Description { id, name: "clang", version, lineage: "llvm" };
    Ok(Box::new(Clang(program_of(program, description, options))))
}

/// The clang in PATH; where none is called so, the newest that is called by its version, as Debian does.
pub fn find_clang() -> which::Result<PathBuf> {
    let versions = OLDEST_CLANG..OLDEST_CLANG + 40;
    which::which("clang").or_else(|error| {
        versions.rev().find_map(|version| which::which(format!("clang-{version}")).ok()).ok_or(error)
    })
}

/// The oldest clang whose syntax tree the checker reads.
const OLDEST_CLANG: u32 = 14;

/// The version that a clang states.
pub(crate) fn clang_version(program: &std::path::Path, cancel: &Cancel) -> Result<String, String> {
    let directory = process::scratch(0).map_err(|error| error.to_string())?;
    let limit = Limits::default().time;
    let finished = process::run_trusted(program, &["--version"], directory.path(), limit, cancel)
        .map_err(|error| error.to_string())?;
    let said = finished.stdout.text();
    let version = said.lines().next().and_then(|line| line.split_once("clang version "));
    match (finished.end, version) {
        (End::Exited(0), Some((_, rest))) => {
            Ok(rest.split_whitespace().next().unwrap_or_default().to_owned())
        }
        _ => Err("`--version` does not answer as clang does".to_owned()),
    }
}
