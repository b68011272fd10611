//! The notation in which a user names subjects, and how a name becomes subjects.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::driver::Driver;
use crate::exec::{CommandError, CommandLine, Exec};
use crate::library::{self, Kind};
use crate::nvlink::Nvlink;
use crate::open::{OpenOptions, Opened, one};
use crate::ptxas::Ptxas;
use crate::serve::Serve;
use crate::toolchain::{Release, TOOLS, Tool, ToolKind, Toolchains, UnknownRelease, UnknownTool};

/// One notation for subjects: a row of [`SubjectSpec::FORMS`].
pub struct Form {
    /// The pattern as help and messages list it. Capitals mark the part that the user fills in.
    pub form: &'static str,
    /// Description of the subjects that it names.
    pub meaning: &'static str,
    opens: Opens,
}

/// The kind of value that the user fills in, with the function that opens the subject. The function also receives the
/// subject's id.
enum Opens {
    Nothing(fn(&str, &OpenOptions<'_>) -> Opened),
    Release(fn(&'static Release, &str, &OpenOptions<'_>) -> Opened),
    Tool(ToolKind, fn(&'static Tool, &str, &OpenOptions<'_>) -> Opened),
    Path(fn(&Path, &str, &OpenOptions<'_>) -> Opened),
    Command(fn(&CommandLine, &str, &OpenOptions<'_>) -> Opened),
    /// Another form, followed by options.
    Options,
    /// No notation: a subject created by a Rust program.
    Own,
}

/// The form of subjects without a notation.
const OWN: &Form = &Form { form: "NAME", meaning: "a subject of the program's own", opens: Opens::Own };

/// A subject as the user named it with `--subject`.
#[derive(Clone)]
pub struct SubjectSpec {
    /// Shortest notation of the subject.
    text: String,
    form: &'static Form,
    open: Open,
}

type Open = Arc<dyn Fn(&str, &OpenOptions<'_>) -> Opened + Send + Sync>;

impl SubjectSpec {
    /// All forms that a user may write, in the order in which help and messages list them.
    #[rustfmt::skip]
    pub const FORMS: &[Form] = &[
        Form { form: "ptxas", meaning: "the default release of ptxas",
               opens: Opens::Nothing(default_ptxas) },
        Form { form: "ptxas@RELEASE", meaning: "a release of ptxas, installed by name",
               opens: Opens::Release(|release, _, options| one(Ptxas::release(release, options))) },
        Form { form: "ptxas@all", meaning: "every installed release of ptxas",
               opens: Opens::Nothing(|_, options| Ptxas::every_release(options)) },
        Form { form: "ptxas:/PATH", meaning: "a ptxas anywhere on this machine, by its path",
               opens: Opens::Path(|path, id, options| one(Ptxas::at(id.to_owned(), path, options))) },
        Form { form: "'ptxas@RELEASE -OPTIONS'", meaning: "any form of ptxas with options of its own behind a space: another subject",
               opens: Opens::Options },
        Form { form: "nvjitlink@RELEASE", meaning: "nvJitLink, installed by name",
               opens: Opens::Tool(ToolKind::NvJitLink, |tool, id, options| one(library::installed(Kind::NvJitLink, tool, id, options))) },
        Form { form: "nvjitlink:/PATH", meaning: "a libnvJitLink.so anywhere on this machine, by its path",
               opens: Opens::Path(|path, id, options| one(library::at(Kind::NvJitLink, path, id, options))) },
        Form { form: "nvlink@RELEASE", meaning: "ptxas and nvlink of a release, which link several modules",
               opens: Opens::Tool(ToolKind::Nvlink, |tool, id, options| one(Nvlink::installed(tool, id, options))) },
        Form { form: "ptxjit@VERSION", meaning: "the compiler of a driver, installed by name",
               opens: Opens::Tool(ToolKind::PtxJit, |tool, id, options| one(library::installed(Kind::PtxCompiler, tool, id, options))) },
        Form { form: "ptxjit:/PATH", meaning: "a libnvidia-ptxjitcompiler.so or nvPTXCompiler anywhere on this machine, by its path",
               opens: Opens::Path(|path, id, options| one(library::at(Kind::PtxCompiler, path, id, options))) },
        Form { form: "driver", meaning: "the CUDA driver on a device",
               opens: Opens::Nothing(|id, options| one(Driver::open(id, None, options))) },
        Form { form: "driver:ptxas@RELEASE", meaning: "what a release of ptxas made, loaded by the driver; needs a device too",
               opens: Opens::Release(|release, id, options| one(Driver::open(id, Some(Ptxas::release(release, options)?), options))) },
        Form { form: "exec:CMD ARGS", meaning: "any program, started once a module; docs/guide/subjects.md",
               opens: Opens::Command(|command, _, options| one(Exec::open(command, options))) },
        Form { form: "serve:CMD ARGS", meaning: "any program, started once for many modules; docs/guide/subjects.md",
               opens: Opens::Command(|command, _, options| one(Serve::open(command, options))) },
    ];

    /// Returns the patterns of all forms: `ptxas, ptxas@RELEASE, ... or serve:CMD ARGS`.
    pub fn forms() -> String {
        let forms: Vec<&str> = Self::FORMS.iter().map(|form| form.form).collect();
        let (last, others) = forms.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// Creates the spec of a subject that a Rust program provides: an implementation that is a library, or a fake for a
    /// test. `open` is called once for each campaign that names the subject. The name cannot be parsed back, so one
    /// campaign cannot reopen the subject of another from its files.
    ///
    /// ```
    /// use ptxsmith_subject::{FnSubject, Observation, Outcome, SubjectSpec};
    ///
    /// let refuses = || FnSubject::new("refuses", |_: &_| Observation::new(Outcome::Refused));
    /// let spec = SubjectSpec::own("refuses", move |_| Ok(vec![Box::new(refuses())]));
    /// assert_eq!(spec.to_string(), "refuses");
    /// ```
    pub fn own(name: &str, open: impl Fn(&OpenOptions<'_>) -> Opened + Send + Sync + 'static) -> SubjectSpec {
        let open: Open = Arc::new(move |_, options| open(options));
        SubjectSpec { text: name.to_owned(), form: OWN, open }
    }

    /// Whether the subject observes its kernels itself; otherwise its code must be disassembled to see what they do.
    pub fn answers_for_itself(&self) -> bool {
        matches!(self.form.opens, Opens::Command(_) | Opens::Own)
    }

    /// Whether the spec names a program or library of the user's by a path or a command, as opposed to an installed
    /// release or this machine's own driver.
    pub fn is_of_users_choosing(&self) -> bool {
        matches!(self.form.opens, Opens::Path(_) | Opens::Command(_) | Opens::Own)
    }
}

impl Form {
    /// Returns the part of the form before the user's value.
    fn fixed(&self) -> &'static str {
        let filled = self.form.find(|c: char| c == '/' || c.is_ascii_uppercase());
        &self.form[..filled.unwrap_or(self.form.len())]
    }

    fn fits(&self, text: &str) -> bool {
        match self.opens {
            Opens::Nothing(_) => text == self.form,
            Opens::Options | Opens::Own => false,
            _ => text.starts_with(self.fixed()),
        }
    }

    /// Returns the names of this form to look for on this machine: all installed releases, or the newest. `None` if the
    /// user must supply a value.
    pub fn names(&self) -> Option<Vec<String>> {
        match self.opens {
            Opens::Nothing(_) => Some(vec![self.form.to_owned()]),
            Opens::Tool(kind, _) => {
                let toolchains = Toolchains::of_user().ok();
                let installed = |tool: &&Tool| {
                    tool.kind == kind && toolchains.as_ref().is_some_and(|all| all.tool_path(tool).is_some())
                };
                let found: Vec<&Tool> = TOOLS.iter().filter(installed).collect();
                let found = if found.is_empty() { Tool::newest(kind).into_iter().collect() } else { found };
                Some(found.iter().map(|tool| tool.to_string()).collect())
            }
            Opens::Release(_) | Opens::Path(_) | Opens::Command(_) | Opens::Options | Opens::Own => None,
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
/// assert!(parse_spec("exec:my-tool --flag 'a b'")?.is_of_users_choosing());
/// assert!(parse_spec("ptxaz").is_err());
/// # Ok::<(), ptxsmith_subject::SpecError>(())
/// ```
pub fn parse_spec(text: &str) -> Result<SubjectSpec, SpecError> {
    match text.find(" -") {
        Some(at) if text.starts_with("ptxas") => with_options(text, text.split_at(at)),
        _ => parse_form(text),
    }
}

/// Parses a ptxas name followed by options.
fn with_options(text: &str, (name, options): (&str, &str)) -> Result<SubjectSpec, SpecError> {
    let own = shell_words::split(options).map_err(|_| SpecError::OpenQuote(text.to_owned()))?;
    let SubjectSpec { text, form, open } = parse_form(name)?;
    let text = format!("{text} {}", shell_words::join(&own));
    let name = name.to_owned();
    let open: Open = Arc::new(move |_, options| open(&name, &options.giving(&own)));
    Ok(SubjectSpec { text, form, open })
}

fn parse_form(text: &str) -> Result<SubjectSpec, SpecError> {
    let fitting = SubjectSpec::FORMS.iter().filter(|form| form.fits(text));
    let form = fitting
        .max_by_key(|form| form.fixed().len())
        .ok_or_else(|| SpecError::UnknownForm(text.to_owned()))?;
    let filled = &text[form.fixed().len()..];
    let (filled, open): (String, Open) = match form.opens {
        Opens::Nothing(open) => (String::new(), Arc::new(open)),
        Opens::Release(open) => {
            let release = Release::find(filled)?;
            (release.name().to_owned(), Arc::new(move |id, options| open(release, id, options)))
        }
        Opens::Tool(kind, open) => {
            let tool = Tool::find(kind, filled)?;
            (tool.minor().to_owned(), Arc::new(move |id, options| open(tool, id, options)))
        }
        Opens::Path(_) if filled.is_empty() => return Err(SpecError::NoProgram(text.to_owned())),
        Opens::Path(open) => {
            let path = PathBuf::from(filled);
            (filled.to_owned(), Arc::new(move |id, options| open(&path, id, options)))
        }
        Opens::Command(open) => {
            let command = CommandLine::parse(filled).map_err(|error| match error {
                CommandError::NoProgram => SpecError::NoProgram(text.to_owned()),
                CommandError::OpenQuote => SpecError::OpenQuote(text.to_owned()),
            })?;
            (command.text.clone(), Arc::new(move |id, options| open(&command, id, options)))
        }
        // These forms cannot be matched by their pattern alone.
        Opens::Options | Opens::Own => return Err(SpecError::UnknownForm(text.to_owned())),
    };
    Ok(SubjectSpec { text: format!("{}{filled}", form.fixed()), form, open })
}

fn default_ptxas(_: &str, options: &OpenOptions<'_>) -> Opened {
    one(Ptxas::default_release(options))
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
