//! The subjects `nvjitlink@` and `ptxjit@`: the compiler behind ptxas as a library, in worker processes.
//!
//! nvJitLink also links; the PTX compiler is in the driver's JIT compiler library. Each is loaded by its own
//! process ([`work`]), which it may bring down.

use std::io::{BufRead, Write};
use std::path::Path;

use ptxsmith_nvjitlink::{
    CompiledModule, FailedStep, LibraryLoadError, NvJitLink, NvrtcLibrary, ProcessedInput, PtxCompiler,
};

use crate::cubin;
use crate::exec::{self, CommandLine};
use crate::open::{OpenOptions, Unavailable, UnavailableKind};
use crate::ptxas::{self, messages};
use crate::serve::Serve;
use crate::subject::Description;
use crate::toolchain::{Tool, max_ptx};
use crate::unseen;
use crate::worker::{self, WorkError, WorkerQuestion, WorkerState};
use ptxsmith_model::{Diagnostic, Observation, Outcome, Severity};

/// Maximum number of modules for one process. Memory stayed flat over 10,000 modules in the libraries tried;
/// the limit is for untried ones.
const QUESTIONS: u32 = 5000;

ptxsmith_syntax::every! {
    /// Which library.
    pub enum LibraryKind {
        /// nvJitLink.
        NvJitLink = "nvjitlink",
        /// The PTX compiler, as the driver's JIT compiler library has it.
        PtxCompiler = "ptxjit",
    }
}

/// Opens a library that is installed by name, as the subject called `id`.
pub(crate) fn open_installed(
    kind: LibraryKind,
    tool: &'static Tool,
    id: &str,
    options: &OpenOptions<'_>,
) -> Result<Serve, Unavailable> {
    let toolchains = options.toolchains()?;
    let path = options.installed(
        &toolchains,
        tool,
        || format!("it is not installed: ptxsmith toolchain install {tool}"),
        || toolchains.install_tool(tool, &options.cancel, options.progress),
    )?;
    open(kind, &path, Some(tool.version), id, options)
}

/// Opens the library at this path.
pub(crate) fn open_at(
    kind: LibraryKind,
    path: &Path,
    id: &str,
    options: &OpenOptions<'_>,
) -> Result<Serve, Unavailable> {
    if !path.is_file() {
        let reason = format!("{}: no such library", path.display());
        return Err(Unavailable::new(UnavailableKind::NotFound, reason));
    }
    open(kind, path, None, id, options)
}

/// Starts a worker to check that the library can be loaded.
fn open(
    kind: LibraryKind,
    library: &Path,
    version: Option<&str>,
    id: &str,
    options: &OpenOptions<'_>,
) -> Result<Serve, Unavailable> {
    let workers = options.workers()?;
    let name = library.display().to_string();
    let path = library.to_str().ok_or_else(|| exec::unusable(&name, "its path is not UTF-8"))?;
    let args = workers.args(kind.name(), [path.to_owned()]);
    let command = CommandLine {
        text: id.to_owned(),
        program: workers.program.display().to_string(),
        args: args.clone(),
    };
    let (program, described) = exec::find_and_describe(&command, options.limits.time, options)?;
    if described.name != kind.name() {
        return Err(exec::unusable(&name, "a worker process cannot load it"));
    }
    let sha256 = ptxas::sha256(library).map_err(|error| Unavailable::for_file(library, &error))?;
    // A driver's version differs from the version of its compiler, which the library reports.
    let (of_compiler, of_driver) = match kind {
        LibraryKind::NvJitLink => (version.map(str::to_owned).or(described.version), None),
        LibraryKind::PtxCompiler => (described.version, version),
    };
    let mut machine = described.machine;
    machine.extend(of_driver.map(|version| ("driver".to_owned(), version.to_owned())));
    let description = Description {
        id: id.to_owned(),
        max_ptx: of_compiler.as_deref().and_then(max_ptx).map(str::to_owned),
        version: of_compiler,
        path: Some(path.to_owned()),
        sha256: Some(sha256),
        machine,
        ..described
    };
    let (limits, cancel) = (options.limits.clone(), options.cancel.clone());
    Ok(Serve::own_worker(program, args, limits, cancel, description, QUESTIONS))
}

/// A loaded library.
enum Library {
    NvJitLink(NvJitLink),
    PtxCompiler(PtxCompiler),
}

impl Library {
    fn load(kind: LibraryKind, path: &Path) -> Result<Library, WorkError> {
        let loaded: Result<Library, LibraryLoadError> = match kind {
            LibraryKind::NvJitLink => NvJitLink::load(path).map(Library::NvJitLink),
            LibraryKind::PtxCompiler => PtxCompiler::load(path).map(Library::PtxCompiler),
        };
        loaded.map_err(|error| WorkError::Load(error.to_string()))
    }

    fn version(&self) -> Option<(u32, u32)> {
        match self {
            Library::NvJitLink(library) => library.version(),
            Library::PtxCompiler(library) => library.version(),
        }
    }

    /// Compiles a module to the output form that shows the most. The boolean in the result says whether the
    /// cubin still needs a linker. With further modules, links them all.
    fn compile(&self, question: &WorkerQuestion) -> (CompiledModule, bool) {
        let (ptx, target) = (&*question.ptx, &*question.target);
        match self {
            Library::NvJitLink(library) if !question.with.is_empty() => {
                let modules: Vec<&str> =
                    [ptx].into_iter().chain(question.with.iter().map(String::as_str)).collect();
                (library.link_all(&modules, target, false), false)
            }
            Library::NvJitLink(library) => (library.link(ptx, target), library.is_relocatable()),
            Library::PtxCompiler(library) => {
                // Only a relocatable cubin shows these as addresses; other things appear only in an
                // executable.
                let relocatable = !unseen::variables(ptx, false, false).is_empty();
                (library.compile(ptx, target, relocatable), relocatable)
            }
        }
    }

    /// Whether addresses of constants are numbers even in a relocatable cubin: a linker has placed them.
    fn places_constants(&self) -> bool {
        matches!(self, Library::NvJitLink(_))
    }
}

/// Compiles CUDA C++ source with the NVRTC library at this path. Returns its PTX, or the library's messages.
pub fn compile_cuda(
    library: &Path,
    source: &str,
    name: &str,
    options: &[String],
) -> Result<Result<String, String>, WorkError> {
    let nvrtc = NvrtcLibrary::load(library).map_err(|error| WorkError::Load(error.to_string()))?;
    Ok(nvrtc.compile(source, name, options))
}

/// Prints the description of the library at this path, in the format of the answer to `CMD --describe`.
pub fn describe(kind: LibraryKind, path: &Path, to: impl Write) -> Result<(), WorkError> {
    let library = Library::load(kind, path)?;
    let description = Description {
        name: kind.name().to_owned(),
        version: library.version().map(|(major, minor)| format!("{major}.{minor}")),
        lineage: Some(ptxas::LINEAGE.to_owned()),
        relocations: Some(true),
        values: Some(true),
        lists: Some(true),
        ..Description::default()
    };
    worker::print_description(description, to)
}

/// Runs a worker: loads the library and answers questions line by line until there are no more.
pub fn work(kind: LibraryKind, path: &Path, from: impl BufRead, to: impl Write) -> Result<(), WorkError> {
    ptxsmith_nvjitlink::keep_freed_memory();
    let library = Library::load(kind, path)?;
    worker::answer(from, to, |question| (Ok(observe(&library, question)), WorkerState::Ready))
}

/// Observes one module with the library.
fn observe(library: &Library, question: &WorkerQuestion) -> Observation {
    let (compiled, relocatable) = library.compile(question);
    let is_linked = !question.with.is_empty();
    let (mut diagnostics, other) = messages::parse(&compiled.log);
    let own_failure = (diagnostics.iter().map(|diagnostic| &*diagnostic.message))
        .chain(other.iter().copied())
        .find_map(messages::own_failure);
    let mut observation = match (&compiled.cubin, compiled.failed) {
        (Some(cubin), None) if is_linked => match cubin::read_linked(cubin) {
            Ok(linked) => Observation { linked, ..Observation::new(Outcome::Accepted) },
            Err(error) => Observation::because(Outcome::Crashed, format!("success, but {error}")),
        },
        (Some(cubin), None) => match cubin::read(cubin) {
            Ok(mut variables) => {
                unseen::leave_out(&mut variables, &question.ptx, relocatable, !library.places_constants());
                Observation { variables, ..Observation::new(Outcome::Accepted) }
            }
            Err(error) => Observation::because(Outcome::Crashed, format!("success, but {error}")),
        },
        (None, None) => Observation::because(Outcome::Crashed, "success, but no cubin"),
        (_, Some(_)) if own_failure.is_some() => {
            Observation::because(Outcome::Crashed, own_failure.unwrap_or_default())
        }
        // Releases return different results for a target that they do not support.
        (_, Some(FailedStep { about: ProcessedInput::Target, result, .. })) => {
            Observation::because(Outcome::Unsupported, format!("target {}: result {result}", question.target))
        }
        (_, Some(_)) if other.iter().any(|line| is_of_unified(line, &question.ptx)) => {
            Observation::because(Outcome::Unsupported, "it cannot link what has the attribute .unified")
        }
        (_, Some(_)) if other.iter().any(|line| is_left_undefined(line, &question.ptx)) => {
            Observation::because(Outcome::Unsupported, NAME_WITHOUT_DEFINITION)
        }
        (_, Some(FailedStep { step, result, about })) => {
            match (ptxas::refusal(&diagnostics, &question.ptx), other.last()) {
                (Some(outcome), _) => Observation::new(outcome),
                (None, line) if about == ProcessedInput::Text => {
                    let message =
                        line.map_or_else(|| format!("no PTX: result {result}"), |line| (*line).to_owned());
                    diagnostics.push(Diagnostic { severity: Severity::Error, line: None, message });
                    Observation::new(Outcome::Refused)
                }
                (None, line) => {
                    let printed = line.map(|line| format!("; it said {line:?}")).unwrap_or_default();
                    let reason = format!("cannot {step}: result {result} without a diagnostic{printed}");
                    Observation::because(Outcome::Crashed, reason)
                }
            }
        }
    };
    if observation.outcome == Outcome::Unsupported && observation.reason.is_none() {
        let cause = diagnostics
            .iter()
            .find(|diagnostic| messages::is_unsupported(&diagnostic.message, &question.ptx));
        observation.reason = cause.map(|diagnostic| diagnostic.message.clone());
    }
    observation.diagnostics = diagnostics;
    observation
}
/// Whether linking failed because the module uses `.unified`. Releases before 13 assemble such a module but
/// do not link it; their message only says that the final step failed.
fn is_of_unified(message: &str, ptx: &str) -> bool {
    message == "ERROR 1: finish" && ptx.contains(".unified")
}

/// The reason for not judging a module alone that a linker would need others for.
pub(crate) const NAME_WITHOUT_DEFINITION: &str = "it cannot leave a name undefined";

/// Whether a message says that a declared name is not defined anywhere. The oldest releases only say that the
/// final step failed.
fn is_left_undefined(message: &str, ptx: &str) -> bool {
    message.contains("Undefined reference to") || message == "ERROR 9: finish" && ptx.contains(".extern")
}
