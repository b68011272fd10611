//! The notation in which a user names subjects, and how a name becomes subjects.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::driver::Driver;
use crate::exec::{CommandError, CommandLine, Exec};
use crate::library::{self, LibraryKind};
use crate::nvlink::Nvlink;
use crate::open::{OpenOptions, Opened, single_subject};
use crate::ptxas::Ptxas;
use crate::serve::Serve;
use crate::toolchain::{Release, Tool, ToolKind, Toolchains, UnknownRelease, UnknownTool};

/// One notation for subjects: a row of [`SubjectSpec::FORMS`].
pub struct SubjectNotation {
    /// The pattern as help and messages list it. Capitals mark the part that the user fills in.
    pub form: &'static str,
    /// Description of the subjects that it names.
    pub meaning: &'static str,
    opens: Opener,
}

/// The kind of value that the user fills in, with the function that opens the subject. The function also
/// receives the subject's id.
enum Opener {
    Nothing(fn(&str, &OpenOptions<'_>) -> Opened),
    Release(fn(&'static Release, &str, &OpenOptions<'_>) -> Opened),
    Tool(ToolKind, fn(&'static Tool, &str, &OpenOptions<'_>) -> Opened),
    Path(fn(&Path, &str, &OpenOptions<'_>) -> Opened),
    Command(fn(&CommandLine, &str, &OpenOptions<'_>) -> Opened),
    /// Another form, followed by options.
    Options,
    /// No notation: a subject created by a Rust program.
    Custom,
}

/// The form of subjects without a notation.
const CUSTOM: &SubjectNotation =
    &SubjectNotation::new("NAME", "a subject of the program's own", Opener::Custom);

/// A subject as the user named it with `--subject`.
#[derive(Clone)]
pub struct SubjectSpec {
    /// Shortest notation of the subject.
    text: String,
    form: &'static SubjectNotation,
    open: Open,
}

type Open = Arc<dyn Fn(&str, &OpenOptions<'_>) -> Opened + Send + Sync>;

impl SubjectSpec {
    /// All forms that a user may write, in the order in which help and messages list them.
    pub const FORMS: &[SubjectNotation] = &[
        SubjectNotation::new("ptxas", "the default release of ptxas", Opener::Nothing(default_ptxas)),
        SubjectNotation::new(
            "ptxas@RELEASE",
            "a release of ptxas, installed by name",
            Opener::Release(|release, _, options| single_subject(Ptxas::open_release(release, options))),
        ),
        SubjectNotation::new(
            "ptxas@all",
            "every installed release of ptxas",
            Opener::Nothing(|_, options| Ptxas::open_every_release(options)),
        ),
        SubjectNotation::new(
            "ptxas:/PATH",
            "a ptxas anywhere on this machine, by its path",
            Opener::Path(|path, id, options| single_subject(Ptxas::open_at(id.to_owned(), path, options))),
        ),
        SubjectNotation::new(
            "'ptxas@RELEASE -OPTIONS'",
            "any form of ptxas with options of its own behind a space: another subject",
            Opener::Options,
        ),
        SubjectNotation::new(
            "nvjitlink@RELEASE",
            "nvJitLink, installed by name",
            Opener::Tool(ToolKind::NvJitLink, |tool, id, options| {
                single_subject(library::open_installed(LibraryKind::NvJitLink, tool, id, options))
            }),
        ),
        SubjectNotation::new(
            "nvjitlink:/PATH",
            "a libnvJitLink.so anywhere on this machine, by its path",
            Opener::Path(|path, id, options| {
                single_subject(library::open_at(LibraryKind::NvJitLink, path, id, options))
            }),
        ),
        SubjectNotation::new(
            "nvlink@RELEASE",
            "ptxas and nvlink of a release, which link several modules",
            Opener::Tool(ToolKind::Nvlink, |tool, id, options| {
                single_subject(Nvlink::open_installed(tool, id, options))
            }),
        ),
        SubjectNotation::new(
            "ptxjit@VERSION",
            "the compiler of a driver, installed by name",
            Opener::Tool(ToolKind::PtxJit, |tool, id, options| {
                single_subject(library::open_installed(LibraryKind::PtxCompiler, tool, id, options))
            }),
        ),
        SubjectNotation::new(
            "ptxjit:/PATH",
            "a libnvidia-ptxjitcompiler.so or nvPTXCompiler anywhere on this machine, by its path",
            Opener::Path(|path, id, options| {
                single_subject(library::open_at(LibraryKind::PtxCompiler, path, id, options))
            }),
        ),
        SubjectNotation::new(
            "driver",
            "the CUDA driver on a device",
            Opener::Nothing(|id, options| single_subject(Driver::open(id, None, options))),
        ),
        SubjectNotation::new(
            "driver:ptxas@RELEASE",
            "what a release of ptxas made, loaded by the driver; needs a device too",
            Opener::Release(|release, id, options| {
                single_subject(Driver::open(id, Some(Ptxas::open_release(release, options)?), options))
            }),
        ),
        SubjectNotation::new(
            "exec:CMD ARGS",
            "any program, started once a module; docs/guide/subjects.md",
            Opener::Command(|command, _, options| single_subject(Exec::open(command, options))),
        ),
        SubjectNotation::new(
            "serve:CMD ARGS",
            "any program, started once for many modules; docs/guide/subjects.md",
            Opener::Command(|command, _, options| single_subject(Serve::open(command, options))),
        ),
    ];

    /// Returns the patterns of all forms: `ptxas, ptxas@RELEASE, ... or serve:CMD ARGS`.
    pub fn forms() -> String {
        let forms: Vec<&str> = Self::FORMS.iter().map(|form| form.form).collect();
        let (last, others) = forms.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// Creates the spec of a subject that a Rust program provides: an implementation that is a library, or a
    /// fake for a test. `open` is called once for each campaign that names the subject. The name cannot be
    /// parsed back, so one campaign cannot reopen the subject of another from its files.
    ///
    /// ```
    /// use ptxsmith_subject::{FnSubject, Observation, Outcome, SubjectSpec};
    ///
    /// let refuses = || FnSubject::new("refuses", |_: &_| Observation::new(Outcome::Refused));
    /// let spec = SubjectSpec::custom("refuses", move |_| Ok(vec![Box::new(refuses())]));
    /// assert_eq!(spec.to_string(), "refuses");
    /// ```
    pub fn custom(
        name: &str,
        open: impl Fn(&OpenOptions<'_>) -> Opened + Send + Sync + 'static,
    ) -> SubjectSpec {
        let open: Open = Arc::new(move |_, options| open(options));
        SubjectSpec { text: name.to_owned(), form: CUSTOM, open }
    }

    /// Whether the subject observes its kernels itself; otherwise its code must be disassembled to see what
    /// they do.
    pub fn answers_for_itself(&self) -> bool {
        matches!(self.form.opens, Opener::Command(_) | Opener::Custom)
    }

    /// Whether the spec names a program or library of the user's by a path or a command, as opposed to an
    /// installed release or this machine's own driver.
    pub fn is_chosen_by_user(&self) -> bool {
        matches!(self.form.opens, Opener::Path(_) | Opener::Command(_) | Opener::Custom)
    }
}

impl SubjectNotation {
    const fn new(form: &'static str, meaning: &'static str, opens: Opener) -> SubjectNotation {
        SubjectNotation { form, meaning, opens }
    }

    /// Returns the part of the form before the user's value.
    fn fixed(&self) -> &'static str {
        let filled = self.form.find(|c: char| c == '/' || c.is_ascii_uppercase());
        &self.form[..filled.unwrap_or(self.form.len())]
    }

    fn fits(&self, text: &str) -> bool {
        match self.opens {
            Opener::Nothing(_) => text == self.form,
            Opener::Options | Opener::Custom => false,
            _ => text.starts_with(self.fixed()),
        }
    }

    /// Returns the names of this form to look for on this machine: all installed releases, or the newest.
    /// `None` if the user must supply a value.
    pub fn names(&self) -> Option<Vec<String>> {
        match self.opens {
            Opener::Nothing(_) => Some(vec![self.form.to_owned()]),
            Opener::Tool(kind, _) => {
                let mut installed: Vec<&Tool> = Vec::new();
                if let Ok(toolchains) = Toolchains::for_user() {
                    installed.extend(Tool::all(kind).filter(|tool| toolchains.tool_path(tool).is_some()));
                }
                if installed.is_empty() {
                    installed.extend(Tool::newest(kind));
                }
                Some(installed.iter().map(|tool| tool.to_string()).collect())
            }
            Opener::Release(_) | Opener::Path(_) | Opener::Command(_) | Opener::Options | Opener::Custom => {
                None
            }
        }
    }
}

/// Why a string does not name a subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The string matches no known form.
    #[error("no subject `{0}`: write {forms}", forms = SubjectSpec::forms())]
    UnknownForm(String),
    /// The release is unknown.
    #[error(transparent)]
    UnknownRelease(#[from] UnknownRelease),
    /// The release of a library is unknown.
    #[error(transparent)]
    UnknownTool(#[from] UnknownTool),
    /// The part after the colon is missing.
    #[error("`{0}` names no program")]
    NoProgram(String),
    /// A quote is not closed.
    #[error("`{0}`: a quote is not closed")]
    OpenQuote(String),
}

/// Parses the user's notation for one or more subjects.
///
/// ```
/// use ptxsmith_subject::parse_spec;
///
/// assert_eq!(parse_spec("ptxas@13.0.88")?.to_string(), "ptxas@13.0");
/// assert!(parse_spec("exec:my-tool --flag 'a b'")?.is_chosen_by_user());
/// assert!(parse_spec("ptxaz").is_err());
/// # Ok::<(), ptxsmith_subject::SpecError>(())
/// ```
pub fn parse_spec(text: &str) -> Result<SubjectSpec, SpecError> {
    match text.find(" -") {
        Some(end) if text.starts_with("ptxas") => with_options(text, text.split_at(end)),
        _ => parse_form(text),
    }
}

/// Parses a ptxas name followed by options.
fn with_options(text: &str, (name, options): (&str, &str)) -> Result<SubjectSpec, SpecError> {
    let added = shell_words::split(options).map_err(|_| SpecError::OpenQuote(text.to_owned()))?;
    let SubjectSpec { text, form, open } = parse_form(name)?;
    let text = format!("{text} {}", shell_words::join(&added));
    let name = name.to_owned();
    let open: Open = Arc::new(move |_, options| open(&name, &options.with_options(&added)));
    Ok(SubjectSpec { text, form, open })
}

fn parse_form(text: &str) -> Result<SubjectSpec, SpecError> {
    let fitting = SubjectSpec::FORMS.iter().filter(|form| form.fits(text));
    let form = fitting
        .max_by_key(|form| form.fixed().len())
        .ok_or_else(|| SpecError::UnknownForm(text.to_owned()))?;
    let filled = &text[form.fixed().len()..];
    let (filled, open): (String, Open) = match form.opens {
        Opener::Nothing(open) => (String::new(), Arc::new(open)),
        Opener::Release(open) => {
            let release = Release::find(filled)?;
            (release.name().to_owned(), Arc::new(move |id, options| open(release, id, options)))
        }
        Opener::Tool(kind, open) => {
            let tool = Tool::find(kind, filled)?;
            (tool.minor().to_owned(), Arc::new(move |id, options| open(tool, id, options)))
        }
        Opener::Path(_) if filled.is_empty() => return Err(SpecError::NoProgram(text.to_owned())),
        Opener::Path(open) => {
            let path = PathBuf::from(filled);
            (filled.to_owned(), Arc::new(move |id, options| open(&path, id, options)))
        }
        Opener::Command(open) => {
            let command = CommandLine::parse(filled).map_err(|error| match error {
                CommandError::NoProgram => SpecError::NoProgram(text.to_owned()),
                CommandError::OpenQuote => SpecError::OpenQuote(text.to_owned()),
            })?;
            (command.text.clone(), Arc::new(move |id, options| open(&command, id, options)))
        }
        // These forms cannot be matched by their pattern alone.
        Opener::Options | Opener::Custom => return Err(SpecError::UnknownForm(text.to_owned())),
    };
    Ok(SubjectSpec { text: format!("{}{filled}", form.fixed()), form, open })
}

fn default_ptxas(_: &str, options: &OpenOptions<'_>) -> Opened {
    single_subject(Ptxas::open_default(options))
}

impl Default for SubjectSpec {
    /// `ptxas`
    fn default() -> Self {
        let form = &SubjectSpec::FORMS[0];
        SubjectSpec { text: form.form.to_owned(), form, open: Arc::new(default_ptxas) }
    }
}

impl fmt::Display for SubjectSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for SubjectSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for SubjectSpec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for SubjectSpec {}

/// Opens the subjects of a spec: one subject, or for `ptxas@all` every installed release, oldest first.
///
/// A subject's id is its shortest stable name: `ptxas` becomes its release (`ptxas@13.5`) or its path.
pub fn open(spec: &SubjectSpec, options: &OpenOptions<'_>) -> Opened {
    (spec.open)(&spec.text, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::UnavailableKind;

    fn reason(spec: &str, options: &OpenOptions<'_>) -> String {
        match open(&parse_spec(spec).unwrap(), options) {
            Ok(_) => panic!("{spec} is available"),
            Err(unavailable) => unavailable.reason,
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
            "ptxas -O0",
            "ptxas@all -g",
            "ptxas@13.5 -O0 --def-load-cache cg",
            "ptxas:/opt/a b/ptxas -O1",
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
    fn the_default_is_the_first_form() {
        assert_eq!(SubjectSpec::default(), parse_spec("ptxas").unwrap());
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
        assert_eq!(message("ptxas -O0 'b"), "`ptxas -O0 'b`: a quote is not closed");
        assert_eq!(message("exec:a 'b"), "`exec:a 'b`: a quote is not closed");
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
        assert_eq!(
            reason("ptxas@13.0 -O0", &options),
            "release 13.0 is not installed: ptxsmith toolchain install 13.0"
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
        use UnavailableKind as LibraryKind;
        for (spec, expected) in [
            ("ptxas@13.5", LibraryKind::NotInstalled),
            ("nvjitlink@12.0", LibraryKind::NotInstalled),
            ("ptxas:/nonexistent/ptxas", LibraryKind::NotFound),
            ("exec:/nonexistent/tool", LibraryKind::NotFound),
            ("ptxas:/etc/passwd", LibraryKind::CannotRun),
            ("ptxas:/bin/true", LibraryKind::NotTheSubject),
            ("driver", LibraryKind::CannotRun),
        ] {
            assert_eq!(kind(spec), expected, "{spec}");
        }
        let path = directory.path().join("nvjitlink-13.5.37/lib");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("libnvJitLink.so"), "no library").unwrap();
        assert_eq!(kind("nvjitlink@13.5"), LibraryKind::CannotRun);
        assert_eq!(serde_json::to_string(&LibraryKind::NotTheSubject).unwrap(), "\"not-the-subject\"");
    }
}
