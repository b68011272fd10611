//! Finds violations of the rule in users' own sources, on the syntax tree that clang makes of them.
//!
//! Nothing is shared with [`crate::oracle`]: that judges cases from their own description, this judges C++ from a tree.
//! Where the text of the rule is open, the literal text is followed, as by default there.

mod acts;
mod asking;
mod ast;
mod baseline;
mod command;
mod dump;
mod files;
mod filter;
mod fixes;
mod flags;
mod judging;
mod nvcc;
mod sarif;
mod source;
mod suppress;
mod text;
mod tokens;
mod toolkit;
mod traits;
mod uses;
mod variables;
mod witnesses;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ptxsmith_subject::process::{self, Cancel, Invocation, Limits};

use crate::reading::{Question, Readings};
use crate::rule::Key;

use source::Origin;

pub use crate::subjects::find_clang;
pub use baseline::Baseline;
pub use command::{Command, CommandError, CompileCommands, CompileCommandsError, own_flags};
pub use filter::Filter;
pub use fixes::{Fix, Fixed, fixed, patch};
pub use flags::ResponseFile;
use flags::no_response_file;
pub use sarif::sarif;

/// A violation.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, as clang opened it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1: where the expression that names the variable begins.
    pub column: u32,
    /// The first column behind it.
    pub end_column: u32,
    /// The line as it is written.
    pub text: String,
    /// The variable.
    pub variable: String,
    /// Where it is declared: file, line and column.
    pub declared: Option<(String, u32, u32)>,
    /// Whether nvcc accepts the use, which the letter of the rule forbids.
    pub is_accepted: bool,
    /// Whether the variable is an enumeration's, of which the rule says nothing.
    pub is_enumeration: bool,
    /// The messages that apply, the primary one first.
    pub keys: Vec<Key>,
    /// What would end the violation and keep the meaning, where that is known.
    pub fix: Option<Fix>,
}

impl Finding {
    /// What would end the violation, in general.
    pub fn remedy(&self) -> &'static str {
        match self.keys.first() {
            Some(Key::NotInitialized) => {
                "initialize it with a constant expression before, or make it a `__constant__` variable"
            }
            Some(Key::Volatile) => "read it in host code and pass the value",
            Some(Key::InvalidType) if self.is_enumeration => {
                "`--interpretation enumeration=integral` takes enumerations for integral types; or make it a `__constant__` variable"
            }
            Some(Key::InvalidType) => {
                "make it a `__constant__` variable, or a constant of a built-in arithmetic type"
            }
            Some(Key::Address) | None => "use a copy of its value, or make it a `__constant__` variable",
        }
    }
}

/// Uses in one file that could not be decided, for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The file, as clang opened it.
    pub file: String,
    /// The line of the first, from 1.
    pub line: u32,
    /// The column of the first, from 1.
    pub column: u32,
    /// The variable of the first.
    pub variable: String,
    /// How many.
    pub count: usize,
    /// Why.
    pub cause: &'static str,
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Undecided { file, line, column, variable, count, cause } = self;
        let uses = if *count == 1 { "1 use" } else { &format!("{count} uses") };
        write!(f, "{file}:{line}:{column}: not decided: {uses}, first `{variable}`: {cause}")
    }
}

/// What came of one file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The violations, by place.
    pub findings: Vec<Finding>,
    /// How many violations are in headers that are not reported about.
    pub filtered: usize,
    /// How many violations comments in the source suppress.
    pub ignored: usize,
    /// What could not be analysed, in sentences.
    pub not_analysed: Vec<String>,
    /// clang's errors about host variables that are not const, of which the rule says nothing.
    pub compiler_errors: Vec<String>,
    /// What is wrong with comments that are to suppress violations, in sentences.
    pub notes: Vec<String>,
    /// Whether there was anything to look through.
    pub is_analysed: bool,
    /// Whether clang did not understand all of the file, or did not come to its end.
    pub is_incomplete: bool,
}

/// The open questions that the checker can answer otherwise than by the literal text.
pub const INTERPRETATIONS: [Question; 6] = [
    Question::Enumeration,
    Question::ConstexprVariable,
    Question::LongDouble,
    Question::ExtendedInteger,
    Question::HostCompiler,
    Question::Uninstantiated,
];

/// How files are checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// clang.
    pub clang: PathBuf,
    /// How open questions are answered: those of [`INTERPRETATIONS`], the others by the literal text.
    pub readings: Readings,
    /// Further arguments for clang.
    pub flags: Vec<OsString>,
    /// Where clang runs: relative paths are relative to it.
    pub directory: PathBuf,
    /// How long clang may take for one file.
    pub timeout: Duration,
    /// Stops clang.
    pub cancel: Cancel,
    /// In which files violations are reported.
    pub filter: Filter,
}

impl Options {
    /// Options for this clang, run here.
    pub fn new(clang: PathBuf) -> Self {
        Options {
            clang,
            readings: Readings::default(),
            flags: Vec::new(),
            directory: PathBuf::from("."),
            timeout: Duration::from_secs(60),
            cancel: Cancel::new(),
            filter: Filter::Project,
        }
    }

    fn limits(&self) -> Limits {
        Limits { time: self.timeout, memory: 2 << 30, output: 8 << 20, ..Limits::default() }
    }

    /// A path that clang printed, as this process can open it.
    pub fn path_of(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// The text of a file that clang read; none where that cannot be read again.
    pub fn text_of(&self, file: &str) -> String {
        files::read_text(&self.path_of(file), files::LONGEST).unwrap_or_default()
    }
}

/// Why a file could not be checked: this machine or our code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// clang cannot be run, or was stopped on request.
    #[error(transparent)]
    Clang(#[from] process::Error),
    /// A flag would make clang read more flags from a file.
    #[error(transparent)]
    ResponseFile(#[from] ResponseFile),
    /// Something of ours.
    #[error("cannot {doing}: {source}")]
    Machine {
        /// What.
        doing: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// The version of a clang; an error that says why it is none.
pub fn clang_version(program: &Path, cancel: &Cancel) -> Result<String, String> {
    crate::subjects::clang_version(program, cancel)
}

/// Why a file is not shown to clang, which hands its name without the directory on to the compiler proper, as an argument that names
/// a file of arguments.
const NAMED_LIKE_FLAGS: &str =
    "its name begins with `@`, which clang takes for that of a file of flags; give it another name";

/// The stack for a tree of [`dump::DEEPEST`] nodes.
const STACK: usize = 1 << 30;

/// Checks one file.
pub fn check(file: &Path, options: &Options) -> Result<Report, Error> {
    let failed = |doing| move |source| Error::Machine { doing, source };
    no_response_file(&options.flags)?;
    if file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@")) {
        return Ok(Report {
            is_incomplete: true,
            not_analysed: vec![NAMED_LIKE_FLAGS.to_owned()],
            ..Report::default()
        });
    }
    let directory = tempfile::Builder::new().prefix("ptxsmith-cuda-").tempdir();
    let directory = directory.map_err(failed("make a directory for clang"))?;
    let runs = Runs::new(file, options, directory.path())?;
    let ours = directory.path().to_string_lossy().into_owned();
    let libraries = flags::system_directories(&options.flags);
    let toolkits = toolkit::roots(&options.flags);
    let origin_of = |name: &str| {
        let is_below =
            |directories: &[String]| directories.iter().any(|directory| name.starts_with(directory));
        if name.starts_with(&ours) || name.starts_with('<') {
            Origin::System
        } else if options.filter.names(name) {
            Origin::Project
        } else if name.starts_with("/usr/") || name.contains("/lib/clang/") || is_below(&toolkits) {
            Origin::System
        } else if is_below(&libraries) {
            Origin::Library
        } else {
            Origin::Project
        }
    };
    let limits = options.limits();
    let preprocessed = source::preprocess(&runs.preprocessing, &limits, &options.cancel, &origin_of)?;
    std::fs::write(&runs.preprocessed, preprocessed.source.written())
        .map_err(failed("write a file for clang"))?;
    // A tree is as deep as the expressions in it: reading, judging and dropping one takes as much stack.
    std::thread::scope(|scope| {
        let work = || {
            let mut dumping = runs.reading.clone();
            dumping.args.splice(0..0, ["-Xclang".into(), "-ast-dump=json".into()]);
            let dump = dump::run(&dumping, &limits, &options.cancel, &preprocessed.source)?;
            judge(preprocessed, dump, file, &runs, options)
        };
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(failed("start a thread"))?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// How clang is run for one file.
struct Runs {
    /// It preprocesses the file.
    preprocessing: Invocation,
    /// It reads what came of that; `--` and the file come last.
    reading: Invocation,
    /// Where that is written.
    preprocessed: PathBuf,
}

impl Runs {
    fn new(file: &Path, options: &Options, directory: &Path) -> Result<Self, Error> {
        let mut common: Vec<OsString> = crate::subjects::CLANG_FLAGS.iter().map(OsString::from).collect();
        // Some warnings are errors by default, and nvcc has none of them.
        let fixed = ["-Wno-everything", "-Qunused-arguments", "-ferror-limit=0", "-fno-caret-diagnostics"];
        common.extend(fixed.iter().map(OsString::from));
        if !options.flags.iter().any(|flag| flag.to_string_lossy().starts_with("-std=")) {
            // As of nvcc, whose host compiler g++ is.
            common.push("-std=gnu++17".into());
        }
        let mut preprocessing = common.clone();
        let has_cuda = options.flags.iter().any(|flag| flag.to_string_lossy().starts_with("--cuda-path"));
        if has_cuda {
            preprocessing.retain(|arg| arg != "-nocudainc");
            common.extend(toolkit::FOR_ITS_RELEASE.map(OsString::from));
            let absent = directory.join("absent");
            let write = command::write_absent_headers(&absent);
            write.map_err(|source| Error::Machine { doing: "write a header for clang", source })?;
            preprocessing.extend(["-idirafter".into(), absent.into_os_string()]);
            preprocessing.extend(toolkit::flags(&options.flags, &options.directory));
            if clang_version(&options.clang, &options.cancel)
                .is_ok_and(|version| toolkit::needs_macros(&version))
            {
                preprocessing.extend(toolkit::MACROS.map(OsString::from));
            }
        } else {
            let write = command::write_headers(directory);
            write.map_err(|source| Error::Machine { doing: "write a header for clang", source })?;
            preprocessing.extend(["-isystem".into(), directory.as_os_str().to_owned()]);
            preprocessing.extend(["-include".into(), directory.join("cuda_runtime.h").into_os_string()]);
        }
        preprocessing.extend(options.flags.iter().cloned());
        // Microsoft's extensions have macros in pragmas expanded.
        preprocessing.extend(["-E".into(), "-fms-extensions".into(), "--".into(), name_of(file)]);
        let preprocessed = directory.join("preprocessed.cu");
        let mut reading = common;
        reading.extend(flags::without_preprocessing(&options.flags));
        let at = preprocessed.as_os_str().to_owned();
        reading.extend(["-undef".into(), "-fsyntax-only".into(), "--".into(), at]);
        let run = |args: Vec<OsString>| Invocation {
            program: options.clang.clone(),
            args,
            directory: Some(options.directory.clone()),
            temporary: directory.to_owned(),
        };
        Ok(Runs { preprocessing: run(preprocessing), reading: run(reading), preprocessed })
    }
}

/// A file's name as an argument of clang: never a flag, and never a file of more arguments, as of a directory whose name begins so.
fn name_of(file: &Path) -> OsString {
    match file.as_os_str().as_encoded_bytes() {
        [b'@' | b'-', ..] => Path::new(".").join(file).into_os_string(),
        _ => file.as_os_str().to_owned(),
    }
}

fn judge(
    preprocessed: source::Preprocessed,
    dump: dump::Dump,
    file: &Path,
    runs: &Runs,
    options: &Options,
) -> Result<Report, Error> {
    let source = &preprocessed.source;
    let variables = variables::Variables::of(&dump.declarations, dump.whole);
    let mut uses = uses::find(&dump.declarations, &variables);
    if options.readings.departs(Question::Uninstantiated) {
        uses.uses.retain(|used| !used.is_in_pattern);
    }
    let questions = judging::questions(&uses, &variables, options.readings, source);
    let answers = asking::ask(
        &runs.reading,
        &options.limits(),
        &options.cancel,
        &questions,
        source,
        &runs.preprocessed,
    )?;
    let operands = judging::operands(&answers, &uses, &variables, source);
    let operands = witnesses::ask(
        &runs.reading,
        &options.limits(),
        &options.cancel,
        &operands,
        source,
        &runs.preprocessed,
    )?;
    let judge = judging::Judge::new(&variables, options.readings, answers, operands);
    let text_of = |file: &str| options.text_of(file);
    let mut readers = source::Readers::new(&text_of);
    let judging::Judged { mut findings, mut undecided } = judge.judge(&uses, source, &mut readers);

    let filter = options.filter.for_file(file);
    let is_shown = |line: u32| filter.shows(&options.path_of(source.real_file(line)));
    let found = findings.len();
    findings.retain(|(line, _)| is_shown(*line));
    undecided.retain(|(line, _)| is_shown(*line));
    let mut findings: Vec<Finding> = findings.into_iter().map(|(_, finding)| finding).collect();
    let filtered = found - findings.len();
    let main = file.to_string_lossy();
    let (ignored, notes) = suppress::apply(&mut findings, &main, &text_of);
    let mut not_analysed: Vec<String> = preprocessed.incomplete.into_iter().chain(dump.incomplete).collect();
    let (mut compiler_errors, mut errors) = (Vec::new(), preprocessed.errors);
    for error in &dump.errors {
        let said = source.message(error, &mut readers);
        let line = asking::message(error).map_or(0, |(place, _)| place.line);
        // What clang says of constants of the host is our subject.
        if error.contains("reference to __host__ variable") {
            let place = asking::message(error).map(|(place, _)| (place.line, place.col));
            compiler_errors.extend(place.filter(|place| uses.is_of_another(*place)).map(|_| said));
        } else if !(error.contains("dynamic initialization is not supported") && uses.is_used_in(line)) {
            errors.push(said);
        }
    }
    let is_incomplete = !errors.is_empty() || !not_analysed.is_empty();
    if !errors.is_empty() {
        let count = if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) };
        not_analysed.push(format!("clang reports {count}, and leaves out what it does not understand"));
        not_analysed.extend(errors.iter().take(SHOWN).cloned());
        if errors.len() > SHOWN {
            not_analysed.push(format!("and {} errors more", errors.len() - SHOWN));
        }
    }
    not_analysed.extend(undecided.iter().map(|(_, undecided)| undecided.to_string()));
    Ok(Report {
        filtered,
        ignored,
        findings,
        compiler_errors,
        notes,
        is_analysed: !dump.declarations.is_empty(),
        is_incomplete,
        not_analysed,
    })
}

/// How many errors of clang are shown.
const SHOWN: usize = 8;
