//! The forms in which a user names subjects, and how a name becomes subjects.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::driver::Driver;
use crate::exec::{self, Exec};
use crate::library;
use crate::process::{self, Cancel, Limits};
use crate::ptxas::{self, Ptxas};
use crate::sass::Disassembler;
use crate::serve::Serve;
use crate::subject::Subject;
use crate::toolchain::{
    self, InstallError, Origin, Release, Tool, ToolKind, Toolchains, UnknownRelease, UnknownTool,
};
use crate::worker::Workers;

/// What a user wrote for `--subject`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectSpec {
    /// `ptxas`: the default release; [`Toolchains::find_default`] says which.
    Ptxas,
    /// `ptxas@13.5`: a release.
    PtxasRelease(&'static Release),
    /// `ptxas@all`: every installed release.
    PtxasAll,
    /// `ptxas:/path/to/ptxas`: a program.
    PtxasAt(PathBuf),
    /// `nvjitlink@13.5`, `ptxjit@535.261.03`: the same compiler as a library.
    Library(library::Kind, &'static Tool),
    /// `nvjitlink:/path/to/libnvJitLink.so`, `ptxjit:/path/to/libnvidia-ptxjitcompiler.so`: a library.
    LibraryAt(library::Kind, PathBuf),
    /// `driver`: the CUDA driver on a real device, its own compiler taking the text.
    Driver,
    /// `driver:ptxas@13.5`: the same, loading what a release of ptxas made.
    DriverLoading(&'static Release),
    /// `exec:CMD ARGS`: a program, one process a module.
    Exec(CommandLine),
    /// `serve:CMD ARGS`: a program, one process for many modules.
    Serve(CommandLine),
}

/// A command with its arguments, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// As written.
    pub text: String,
    /// The program, as written.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl SubjectSpec {
    /// Every form that a user may write, with what it names, in the order in which help and messages list them. Capitals stand
    /// for what the user fills in.
    pub const FORMS: [(&str, &str); 12] = [
        ("ptxas", "the default release of ptxas"),
        ("ptxas@RELEASE", "a release of ptxas, installed by name"),
        ("ptxas@all", "every installed release of ptxas"),
        ("ptxas:/PATH", "a ptxas anywhere on this machine, by its path"),
        ("nvjitlink@RELEASE", "nvJitLink, installed by name"),
        ("nvjitlink:/PATH", "a libnvJitLink.so anywhere on this machine, by its path"),
        ("ptxjit@VERSION", "the compiler of a driver, installed by name"),
        (
            "ptxjit:/PATH",
            "a libnvidia-ptxjitcompiler.so or nvPTXCompiler anywhere on this machine, by its path",
        ),
        ("driver", "the CUDA driver on a device"),
        ("driver:ptxas@RELEASE", "what a release of ptxas made, loaded by the driver; needs a device too"),
        ("exec:CMD ARGS", "any program, started once a module; docs/subjects.md"),
        ("serve:CMD ARGS", "any program, started once for many modules; docs/subjects.md"),
    ];

    /// The forms alone: `ptxas, ptxas@RELEASE, ... or serve:CMD ARGS`.
    pub fn forms() -> String {
        let forms = Self::FORMS.map(|(form, _)| form);
        let (last, others) = forms.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// Whether it names a program or library of the user's choosing, by a path or a command, rather than what is installed
    /// by name or is this machine's own.
    pub fn is_of_users_choosing(&self) -> bool {
        match self {
            SubjectSpec::PtxasAt(_)
            | SubjectSpec::LibraryAt(..)
            | SubjectSpec::Exec(_)
            | SubjectSpec::Serve(_) => true,
            SubjectSpec::Ptxas
            | SubjectSpec::PtxasRelease(_)
            | SubjectSpec::PtxasAll
            | SubjectSpec::Library(..)
            | SubjectSpec::Driver
            | SubjectSpec::DriverLoading(_) => false,
        }
    }
}

/// Why a text names no subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No form that is known.
    #[error("no subject `{0}`: write {forms}", forms = SubjectSpec::forms())]
    UnknownForm(String),
    /// A release that is not known.
    #[error(transparent)]
    UnknownRelease(#[from] UnknownRelease),
    /// A release of a library that is not known.
    #[error(transparent)]
    UnknownTool(#[from] UnknownTool),
    /// Something is missing after the colon.
    #[error("`{0}` names no program")]
    NoProgram(String),
    /// A quote that does not end.
    #[error("`{0}`: a quote is not closed")]
    OpenQuote(String),
}

/// The subject or subjects that a text names.
///
/// ```
/// use ptxsmith_subject::{SubjectSpec, parse_spec};
///
/// assert_eq!(parse_spec("ptxas")?, SubjectSpec::Ptxas);
/// let SubjectSpec::Exec(command) = parse_spec("exec:my-tool --flag 'a b'")? else { panic!() };
/// assert_eq!(command.args, ["--flag", "a b"]);
/// assert!(parse_spec("ptxaz").is_err());
/// # Ok::<(), ptxsmith_subject::SpecError>(())
/// ```
pub fn parse_spec(text: &str) -> Result<SubjectSpec, SpecError> {
    let unknown = || SpecError::UnknownForm(text.to_owned());
    let command = |command: &str| {
        let words = shell_words::split(command).map_err(|_| SpecError::OpenQuote(text.to_owned()))?;
        match words.split_first() {
            Some((program, args)) if !program.is_empty() => {
                let (program, args) = (program.clone(), args.to_vec());
                Ok(CommandLine { text: command.trim().to_owned(), program, args })
            }
            _ => Err(SpecError::NoProgram(text.to_owned())),
        }
    };
    match text {
        "ptxas" => return Ok(SubjectSpec::Ptxas),
        "ptxas@all" => return Ok(SubjectSpec::PtxasAll),
        "driver" => return Ok(SubjectSpec::Driver),
        _ => {}
    }
    let Some(at) = text.find(['@', ':']) else { return Err(unknown()) };
    let (kind, rest) = (&text[..=at], &text[at + 1..]);
    let library =
        |kind, tool| -> Result<_, SpecError> { Ok(SubjectSpec::Library(kind, Tool::find(tool, rest)?)) };
    match kind {
        "ptxas@" => Ok(SubjectSpec::PtxasRelease(Release::find(rest)?)),
        "ptxas:" if rest.is_empty() => Err(SpecError::NoProgram(text.to_owned())),
        "ptxas:" => Ok(SubjectSpec::PtxasAt(rest.into())),
        "nvjitlink@" => library(library::Kind::NvJitLink, ToolKind::NvJitLink),
        "ptxjit@" => library(library::Kind::PtxCompiler, ToolKind::PtxJit),
        "nvjitlink:" | "ptxjit:" if rest.is_empty() => Err(SpecError::NoProgram(text.to_owned())),
        "nvjitlink:" => Ok(SubjectSpec::LibraryAt(library::Kind::NvJitLink, rest.into())),
        "ptxjit:" => Ok(SubjectSpec::LibraryAt(library::Kind::PtxCompiler, rest.into())),
        "driver:" => match rest.strip_prefix("ptxas@") {
            Some(release) => Ok(SubjectSpec::DriverLoading(Release::find(release)?)),
            None => Err(unknown()),
        },
        "exec:" => command(rest).map(SubjectSpec::Exec),
        "serve:" => command(rest).map(SubjectSpec::Serve),
        _ => Err(unknown()),
    }
}

impl FromStr for SubjectSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        parse_spec(text)
    }
}

impl fmt::Display for SubjectSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubjectSpec::Ptxas => f.write_str("ptxas"),
            SubjectSpec::PtxasRelease(release) => write!(f, "ptxas@{}", release.name()),
            SubjectSpec::PtxasAll => f.write_str("ptxas@all"),
            SubjectSpec::PtxasAt(path) => write!(f, "ptxas:{}", path.display()),
            SubjectSpec::Library(_, tool) => tool.fmt(f),
            SubjectSpec::LibraryAt(kind, path) => write!(f, "{}:{}", kind.name(), path.display()),
            SubjectSpec::Driver => f.write_str("driver"),
            SubjectSpec::DriverLoading(release) => write!(f, "driver:ptxas@{}", release.name()),
            SubjectSpec::Exec(command) => write!(f, "exec:{}", command.text),
            SubjectSpec::Serve(command) => write!(f, "serve:{}", command.text),
        }
    }
}

/// There is no such subject here, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{id} is not available: {reason}")]
pub struct Unavailable {
    /// The subject as the user named it.
    pub id: String,
    /// What stands in the way, for programs.
    pub kind: UnavailableKind,
    /// Why it is not available, for people.
    pub reason: String,
}

/// What stands in the way of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnavailableKind {
    /// It can be installed by name, and is not.
    NotInstalled,
    /// There is no such program or file.
    NotFound,
    /// It is there, but does not run on this machine.
    CannotRun,
    /// It runs, but is not what it was taken for, or describes itself in a way that cannot be used.
    NotTheSubject,
    /// It could not be installed: no network, no pip, a disk that is full.
    InstallFailed,
    /// There is no device for it.
    NoDevice,
    /// The user stopped it.
    Cancelled,
    /// This machine failed otherwise.
    Machine,
}

/// How subjects are opened.
pub struct OpenOptions<'a> {
    /// What each run may use.
    pub limits: Limits,
    /// Stops runs and installations.
    pub cancel: Cancel,
    /// Where releases are installed; `None` for the user's own place ([`Toolchains::of_user`]).
    pub toolchains: Option<Toolchains>,
    /// Whether a release that is named and missing is installed, over the network. By default it is not.
    pub install: bool,
    /// Whether ptxas is asked for relocatable output ([`Ptxas::relocatable`]). By default it is not.
    pub relocatable: bool,
    /// How this program starts itself again as a worker that loads libraries; `None` if it cannot.
    pub workers: Option<Workers>,
    /// The CUDA driver library; `None` for the one that the system's loader finds.
    pub libcuda: Option<PathBuf>,
    /// Told what happens during an installation.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        OpenOptions {
            limits: Limits::default(),
            cancel: Cancel::new(),
            toolchains: None,
            install: false,
            relocatable: false,
            workers: None,
            libcuda: None,
            progress: &|_| (),
        }
    }
}

/// Opens what a spec names: one subject, or for `ptxas@all` every installed release, oldest first.
///
/// A subject's id is its shortest lasting name: that of `ptxas` is the release (`ptxas@13.5`) or the path that it
/// turned out to mean.
pub fn open(spec: &SubjectSpec, options: &OpenOptions<'_>) -> Result<Vec<Box<dyn Subject>>, Unavailable> {
    use UnavailableKind as Kind;
    let because = |kind, reason: String| Unavailable { id: spec.to_string(), kind, reason };
    let toolchains = || match &options.toolchains {
        Some(toolchains) => Ok(toolchains.clone()),
        None => Toolchains::of_user().map_err(|error| because(Kind::Machine, error.to_string())),
    };
    let ptxas = |id: String, path: PathBuf| -> Result<Box<dyn Subject>, Unavailable> {
        let ptxas = Ptxas::open(id, path, options.limits.clone(), options.cancel.clone());
        let ptxas = ptxas.map_err(|error| because(kind_of_ptxas(&error), error.to_string()))?;
        let disassembler = Disassembler::find(toolchains().ok().as_ref(), &options.cancel);
        Ok(Box::new(ptxas.relocatable(options.relocatable).disassembling(disassembler)))
    };
    let installed = |release: &'static Release| {
        let toolchains = toolchains()?;
        match toolchains.path(release) {
            Some(path) => Ok(path),
            None if options.install => toolchains
                .install(release, &options.cancel, options.progress)
                .map_err(|error| because(kind_of_install(&error), error.to_string())),
            None => {
                let name = release.name();
                let reason = format!("release {name} is not installed: ptxsmith toolchain install {name}");
                Err(because(Kind::NotInstalled, reason))
            }
        }
    };
    let release = |release: &'static Release| ptxas(format!("ptxas@{}", release.name()), installed(release)?);
    let workers = || {
        let none = || because(Kind::CannotRun, "this program cannot start itself as a worker".to_owned());
        options.workers.as_ref().ok_or_else(none)
    };
    let library = |kind, path: &Path, version| -> Result<Box<dyn Subject>, Unavailable> {
        let (limits, cancel) = (options.limits.clone(), options.cancel.clone());
        let opened = library::open(kind, spec.to_string(), path, version, workers()?, limits, cancel);
        Ok(Box::new(opened.map_err(|error| because(kind_of_exec(&error), error.to_string()))?))
    };
    let driver = |assembler: Option<Ptxas>| -> Result<Box<dyn Subject>, Unavailable> {
        let (id, library) = (spec.to_string(), options.libcuda.as_deref());
        let opened = Driver::open(id, library, assembler, workers()?, &options.limits, &options.cancel);
        Ok(Box::new(opened?))
    };
    match spec {
        SubjectSpec::Ptxas => {
            let found = match &options.toolchains {
                Some(toolchains) => toolchains.find_default(),
                None => toolchain::find_default(),
            };
            match found {
                Some(found) => {
                    let id = match found.origin {
                        Origin::Installed(release) => format!("ptxas@{}", release.name()),
                        Origin::CudaHome | Origin::CudaPath | Origin::Path => {
                            format!("ptxas:{}", found.path.display())
                        }
                    };
                    Ok(vec![ptxas(id, found.path)?])
                }
                None if options.install => {
                    let default = Release::find(toolchain::DEFAULT)
                        .map_err(|error| because(Kind::NotFound, error.to_string()))?;
                    Ok(vec![release(default)?])
                }
                None => Err(because(
                    Kind::NotInstalled,
                    format!(
                        "no ptxas is installed, nor in CUDA_HOME, CUDA_PATH or PATH: ptxsmith toolchain install {}",
                        toolchain::DEFAULT
                    ),
                )),
            }
        }
        SubjectSpec::PtxasRelease(named) => Ok(vec![release(named)?]),
        SubjectSpec::PtxasAll => {
            let installed: Vec<_> =
                toolchains()?.list().into_iter().filter(|listed| listed.path.is_some()).collect();
            if installed.is_empty() {
                return Err(because(
                    Kind::NotInstalled,
                    format!("no release is installed: ptxsmith toolchain install {}", toolchain::DEFAULT),
                ));
            }
            // Each hashes a program of some 40 MB.
            std::thread::scope(|scope| {
                let release = &release;
                let opening: Vec<_> =
                    installed.iter().map(|listed| scope.spawn(move || release(listed.release))).collect();
                opening
                    .into_iter()
                    .map(|opened| {
                        opened
                            .join()
                            .unwrap_or_else(|_| Err(because(Kind::Machine, "opening it panicked".into())))
                    })
                    .collect()
            })
        }
        SubjectSpec::PtxasAt(path) => Ok(vec![ptxas(spec.to_string(), path.clone())?]),
        SubjectSpec::Library(kind, tool) => {
            let toolchains = toolchains()?;
            let path =
                match toolchains.tool_path(tool) {
                    Some(path) => path,
                    None if options.install => toolchains
                        .install_tool(tool, &options.cancel, options.progress)
                        .map_err(|error| because(kind_of_install(&error), error.to_string()))?,
                    None => {
                        let reason = format!("it is not installed: ptxsmith toolchain install {tool}");
                        return Err(because(Kind::NotInstalled, reason));
                    }
                };
            Ok(vec![library(*kind, &path, Some(tool.version))?])
        }
        SubjectSpec::LibraryAt(kind, path) if path.is_file() => Ok(vec![library(*kind, path, None)?]),
        SubjectSpec::LibraryAt(_, path) => {
            Err(because(Kind::NotFound, format!("{}: no such library", path.display())))
        }
        SubjectSpec::Driver => Ok(vec![driver(None)?]),
        SubjectSpec::DriverLoading(named) => {
            let path = installed(named)?;
            let id = format!("ptxas@{}", named.name());
            let ptxas = Ptxas::open(id, path, options.limits.clone(), options.cancel.clone());
            let ptxas = ptxas.map_err(|error| because(kind_of_ptxas(&error), error.to_string()))?;
            Ok(vec![driver(Some(ptxas))?])
        }
        SubjectSpec::Exec(command) => {
            let exec = Exec::open(command, options.limits.clone(), options.cancel.clone());
            Ok(vec![Box::new(exec.map_err(|error| because(kind_of_exec(&error), error.to_string()))?)])
        }
        SubjectSpec::Serve(command) => {
            let serve = Serve::open(command, options.limits.clone(), options.cancel.clone());
            Ok(vec![Box::new(serve.map_err(|error| because(kind_of_exec(&error), error.to_string()))?)])
        }
    }
}

fn kind_of_process(error: &process::Error) -> UnavailableKind {
    match error {
        process::Error::NotFound(_) => UnavailableKind::NotFound,
        process::Error::NotExecutable(_) | process::Error::WrongFormat(_) => UnavailableKind::CannotRun,
        process::Error::Cancelled(_) => UnavailableKind::Cancelled,
        process::Error::Machine { .. } => UnavailableKind::Machine,
    }
}

fn kind_of_ptxas(error: &ptxas::OpenError) -> UnavailableKind {
    match error {
        ptxas::OpenError::Process(error) => kind_of_process(error),
        ptxas::OpenError::NotPtxas { .. } => UnavailableKind::NotTheSubject,
        ptxas::OpenError::File { .. } => UnavailableKind::Machine,
    }
}

fn kind_of_exec(error: &exec::OpenError) -> UnavailableKind {
    match error {
        exec::OpenError::NotFound { .. } => UnavailableKind::NotFound,
        exec::OpenError::Process(error) => kind_of_process(error),
        exec::OpenError::Description { .. } => UnavailableKind::NotTheSubject,
        exec::OpenError::File { .. } => UnavailableKind::Machine,
    }
}

fn kind_of_install(error: &InstallError) -> UnavailableKind {
    match error {
        InstallError::Platform => UnavailableKind::CannotRun,
        InstallError::Process(process::Error::Cancelled(_)) => UnavailableKind::Cancelled,
        _ => UnavailableKind::InstallFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(spec: &str, options: &OpenOptions<'_>) -> String {
        match open(&parse_spec(spec).unwrap(), options) {
            Ok(_) => panic!("{spec} is available"),
            Err(unavailable) => {
                assert_eq!(unavailable.id, spec);
                unavailable.reason
            }
        }
    }

    #[test]
    fn every_form_is_parsed_and_printed_as_written() {
        for text in [
            "ptxas",
            "ptxas@13.5",
            "ptxas@13.0.48",
            "ptxas@all",
            "ptxas:/opt/a:b@c/ptxas",
            "nvjitlink@13.5",
            "nvjitlink:/opt/libnvJitLink.so",
            "ptxjit@535.261.03",
            "ptxjit:/opt/libnvidia-ptxjitcompiler.so.1",
            "driver",
            "driver:ptxas@12.9",
            "exec:tool --x '{ptx} y'",
            "serve:tool",
        ] {
            assert_eq!(parse_spec(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_names_no_subject_is_an_error_that_says_why() {
        let message = |text| parse_spec(text).unwrap_err().to_string();
        for text in [
            "",
            "ptxaz",
            "ptxas ",
            "PTXAS",
            "nvjitlink",
            "ptxjit",
            "driver@1",
            "driver:13.5",
            "exe:c",
            ":",
            "é:x",
        ] {
            assert!(message(text).starts_with(&format!("no subject `{text}`: write ptxas")), "{text}");
        }
        assert!(message("ptxas@14.0").starts_with("no release `14.0`: known are"));
        assert_eq!(message("ptxas:"), "`ptxas:` names no program");
        assert_eq!(message("exec:  "), "`exec:  ` names no program");
        assert_eq!(message("serve:''"), "`serve:''` names no program");
        assert_eq!(message("exec:a 'b"), "`exec:a 'b`: a quote is not closed");
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_but_nothing_is_expanded() {
        let SubjectSpec::Exec(command) = parse_spec(r#"exec:a "b c" d\ e $F *"#).unwrap() else { panic!() };
        assert_eq!(command.program, "a");
        assert_eq!(command.args, ["b c", "d e", "$F", "*"]);
    }

    #[test]
    fn what_is_not_here_is_unavailable_with_a_reason() {
        let directory = tempfile::tempdir().unwrap();
        let options =
            OpenOptions { toolchains: Some(Toolchains::at(directory.path())), ..OpenOptions::default() };
        assert_eq!(
            reason("ptxas@13.0.48", &options),
            "release 13.0.48 is not installed: ptxsmith toolchain install 13.0.48"
        );
        assert_eq!(reason("ptxas@all", &options), "no release is installed: ptxsmith toolchain install 13.5");
        assert_eq!(reason("ptxas:/nonexistent/ptxas", &options), "/nonexistent/ptxas: no such program");
        assert_eq!(
            reason("nvjitlink@13.5", &options),
            "it is not installed: ptxsmith toolchain install nvjitlink@13.5"
        );
        assert_eq!(reason("driver", &options), "this program cannot start itself as a worker");
        assert_eq!(
            reason("driver:ptxas@12.9", &options),
            "release 12.9 is not installed: ptxsmith toolchain install 12.9"
        );
        assert_eq!(reason("serve:/nonexistent/tool", &options), "/nonexistent/tool: cannot find binary path");
        assert_eq!(reason("exec:/nonexistent/tool", &options), "/nonexistent/tool: cannot find binary path");
    }

    #[test]
    fn what_stands_in_the_way_is_told_to_programs_too() {
        let directory = tempfile::tempdir().unwrap();
        let kind = |spec: &str| {
            let toolchains = Some(Toolchains::at(directory.path()));
            let options = OpenOptions { toolchains, ..OpenOptions::default() };
            open(&parse_spec(spec).unwrap(), &options).err().unwrap().kind
        };
        use UnavailableKind as Kind;
        for (spec, expected) in [
            ("ptxas@13.5", Kind::NotInstalled),
            ("nvjitlink@12.0", Kind::NotInstalled),
            ("ptxas:/nonexistent/ptxas", Kind::NotFound),
            ("exec:/nonexistent/tool", Kind::NotFound),
            ("ptxas:/etc/passwd", Kind::CannotRun),
            ("ptxas:/bin/true", Kind::NotTheSubject),
            ("driver", Kind::CannotRun),
        ] {
            assert_eq!(kind(spec), expected, "{spec}");
        }
        let path = directory.path().join("nvjitlink-13.5.37/lib");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("libnvJitLink.so"), "no library").unwrap();
        assert_eq!(kind("nvjitlink@13.5"), Kind::CannotRun);
        assert_eq!(serde_json::to_string(&Kind::NotTheSubject).unwrap(), "\"not-the-subject\"");
    }
}
