//! Finds violations of the rule in users' own sources, on the syntax tree that clang makes of them.
//!
//! Shares nothing with [`crate::oracle`]: the oracle judges cases from their own description, this module
//! judges C++ from a tree. Where the rule is ambiguous, the literal text is the default, as in the oracle.
//!
//! One file goes through these steps, each in a module of its own:
//!
//! 1. `source` runs clang's preprocessor. All later steps work on the preprocessed text.
//! 2. `precompiled` compiles the headers at the beginning, and `dump` runs clang on the rest of the text and reads
//!    the syntax tree; on the whole text where the headers matter.
//! 3. `variables` and `use_finder` collect the host variables and their uses in device code.
//! 4. `queries` and `witnesses` ask clang for facts that the tree does not have.
//! 5. `judging` decides which uses are violations, and translates their places into the user's files.
//! 6. `filter` and `suppress` leave out violations that the user does not want to see.

mod ast;
mod baseline;
mod bodies;
mod clang_runs;
mod command;
mod dump;
mod files;
mod filter;
mod fixes;
mod flags;
mod headers;
mod judging;
mod nvcc;
mod precompiled;
mod queries;
mod sarif;
mod source;
mod source_map;
mod suppress;
mod text;
mod tokens;
mod toolkit;
mod traits;
mod use_finder;
mod use_kind;
mod uses;
mod variables;
mod witnesses;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ptxsmith_subject::process::{self, Cancel, Limits};

use crate::reading::{RuleInterpretations, RuleQuestion};
use crate::rule::Key;

use clang_runs::{ClangRuns, FileOrigins};
use flags::no_response_file;
use uses::Uses;

pub use crate::subjects::find_clang;
pub use baseline::Baseline;
pub use command::{
    CompilationDatabase, CompilationDatabaseError, CompileCommand, CompileCommandError, user_flags,
};
pub use filter::ReportFilter;
pub use fixes::{Fix, FixedFile, fixed_files, patch};
pub use flags::ResponseFile;
pub use sarif::sarif;

/// A use that the rule forbids.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, as clang opened it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1, where the expression that names the variable begins.
    pub column: u32,
    /// The first column behind that expression.
    pub end_column: u32,
    /// The text of the line.
    pub text: String,
    /// The name of the variable.
    pub variable: String,
    /// The file, line and column of the variable's declaration.
    pub declared: Option<(String, u32, u32)>,
    /// Whether nvcc accepts the use although the letter of the rule forbids it.
    pub is_accepted: bool,
    /// Whether the variable is of an enumeration type, which the rule does not mention.
    pub is_enumeration: bool,
    /// The messages that apply, the primary one first.
    pub keys: Vec<Key>,
    /// A change of the source that removes the violation and keeps the meaning, if one is known.
    pub fix: Option<Fix>,
}

impl Violation {
    /// General advice on how to remove the violation.
    pub fn remedy(&self) -> &'static str {
        match self.keys.first() {
            Some(Key::NotInitialized) => {
                "initialize it with a constant expression before, or make it a `__constant__` variable"
            }
            Some(Key::Volatile) => "read it in host code and pass the value",
            Some(Key::InvalidType) if self.is_enumeration => {
                "`--interpretation enumeration=integral` takes enumerations for integral types; \
                 or make it a `__constant__` variable"
            }
            Some(Key::InvalidType) => {
                "make it a `__constant__` variable, or a constant of a built-in arithmetic type"
            }
            Some(Key::Address) | None => "use a copy of its value, or make it a `__constant__` variable",
        }
    }
}

/// Uses in one file that could not be decided for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedUses {
    /// The file, as clang opened it.
    pub file: String,
    /// The line of the first use, from 1.
    pub line: u32,
    /// The column of the first use, from 1.
    pub column: u32,
    /// The variable of the first use.
    pub variable: String,
    /// The number of uses.
    pub count: usize,
    /// The reason, as the predicate of a sentence about the uses.
    pub cause: &'static str,
}

impl std::fmt::Display for UndecidedUses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let UndecidedUses { file, line, column, variable, count, cause } = self;
        let uses = if *count == 1 { "1 use" } else { &format!("{count} uses") };
        write!(f, "{file}:{line}:{column}: not decided: {uses}, first `{variable}`: {cause}")
    }
}

/// The result of checking one file.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// The violations, by place.
    pub findings: Vec<Violation>,
    /// The number of violations in headers that the filter leaves out.
    pub filtered: usize,
    /// The number of violations that comments in the source suppress.
    pub ignored: usize,
    /// Descriptions of the parts that could not be analysed: undecided uses, by cause and file, and what clang
    /// could not read.
    pub not_analysed: Vec<String>,
    /// clang's errors about host variables that are not const. The rule does not mention such variables.
    pub compiler_errors: Vec<String>,
    /// Mistakes in comments that should suppress violations.
    pub notes: Vec<String>,
    /// Whether the file had any declaration to examine.
    pub is_analysed: bool,
    /// Whether clang rejected a part of the file or did not reach its end.
    pub is_incomplete: bool,
}

/// The open questions that the checker can answer other than by the literal text.
pub const INTERPRETATIONS: [RuleQuestion; 6] = [
    RuleQuestion::Enumeration,
    RuleQuestion::ConstexprVariable,
    RuleQuestion::LongDouble,
    RuleQuestion::ExtendedInteger,
    RuleQuestion::HostCompiler,
    RuleQuestion::Uninstantiated,
];

/// Settings of the checker.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The clang to run.
    pub clang: PathBuf,
    /// The answers to open questions. Only those in [`INTERPRETATIONS`] have an effect.
    pub interpretations: RuleInterpretations,
    /// Further arguments for clang.
    pub flags: Vec<OsString>,
    /// The working directory of clang. Relative paths are relative to it.
    pub directory: PathBuf,
    /// The time limit of each run of clang.
    pub timeout: Duration,
    /// Stops clang.
    pub cancel: Cancel,
    /// Selects the files whose violations are reported.
    pub filter: ReportFilter,
}

impl CheckOptions {
    /// Creates default options for this clang, run in the current directory.
    pub fn new(clang: PathBuf) -> Self {
        CheckOptions {
            clang,
            interpretations: RuleInterpretations::default(),
            flags: Vec::new(),
            directory: PathBuf::from("."),
            timeout: Duration::from_secs(60),
            cancel: Cancel::new(),
            filter: ReportFilter::Project,
        }
    }

    fn limits(&self) -> Limits {
        Limits { time: self.timeout, memory: 2 << 30, output: 8 << 20, ..Limits::default() }
    }

    /// Resolves a path that clang printed, for use in this process.
    pub fn path_of(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// Reads a file that clang read; empty if it cannot be read again.
    pub fn text_of(&self, file: &str) -> String {
        files::read_text(&self.path_of(file), files::LONGEST).unwrap_or_default()
    }
}

/// An error of this machine or of our code that prevents a check. Errors in the checked file are no errors
/// here.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// clang cannot be run, or was stopped on request.
    #[error(transparent)]
    Clang(#[from] process::ProcessError),
    /// A flag would make clang read more flags from a file.
    #[error(transparent)]
    ResponseFile(#[from] ResponseFile),
    /// A file, a directory or a thread could not be created.
    #[error("cannot {doing}: {source}")]
    Machine {
        /// The failed action, as a verb phrase.
        doing: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl CheckError {
    /// Returns a function that turns an error of the operating system into an error of this action.
    fn while_doing(doing: &'static str) -> impl FnOnce(std::io::Error) -> CheckError {
        move |source| CheckError::Machine { doing, source }
    }
}

/// Returns the version of a clang, or the reason why the program is not a clang.
pub fn clang_version(program: &Path, cancel: &Cancel) -> Result<String, String> {
    crate::subjects::clang_version(program, cancel)
}

/// The reason why a file with such a name is not shown to clang. clang passes the name without its directory
/// to the compiler proper, which would read the file as a list of arguments.
const NAMED_LIKE_FLAGS: &str =
    "its name begins with `@`, which clang takes for that of a file of flags; give it another name";

/// The stack size for a tree of [`dump::DEEPEST`] nested nodes.
const STACK: usize = 1 << 30;

/// The largest number of clang's errors that a report lists.
const MOST_LISTED_ERRORS: usize = 8;

/// Checks one file.
pub fn check(file: &Path, options: &CheckOptions) -> Result<FileReport, CheckError> {
    no_response_file(&options.flags)?;
    if file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@")) {
        return Ok(FileReport {
            is_incomplete: true,
            not_analysed: vec![NAMED_LIKE_FLAGS.to_owned()],
            ..FileReport::default()
        });
    }
    let directory = tempfile::Builder::new().prefix("ptxsmith-cuda-").tempdir();
    let directory = directory.map_err(CheckError::while_doing("make a directory for clang"))?;
    let runs = ClangRuns::new(file, options, directory.path())?;
    let origins = FileOrigins::new(options, directory.path());
    let limits = options.limits();
    let preprocessed =
        source::preprocess(&runs.preprocessing, &limits, &options.cancel, &|name| origins.origin(name))?;
    // Reading, judging and dropping a tree recurses, and a tree is as deep as the expressions in it.
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || check_preprocessed(preprocessed, file, runs, options))
            .map_err(CheckError::while_doing("start a thread"))?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Checks a preprocessed file.
fn check_preprocessed(
    mut preprocessed: source::PreprocessorOutput,
    file: &Path,
    mut runs: ClangRuns,
    options: &CheckOptions,
) -> Result<FileReport, CheckError> {
    let (limits, source) = (options.limits(), &mut preprocessed.source);
    let path = &runs.preprocessed;
    if let Some(reading) = precompiled::headers(&runs.reading, &limits, &options.cancel, source, path)? {
        let whole = std::mem::replace(&mut runs.reading, reading);
        if let Some(report) = check_shown(&preprocessed, file, &runs, options)? {
            return Ok(report);
        }
        preprocessed.source.show_all();
        runs.reading = whole;
    }
    Ok(check_shown(&preprocessed, file, &runs, options)?.unwrap_or_default())
}

/// Checks what clang is shown of a preprocessed file. `None` if headers that are left out matter.
fn check_shown(
    preprocessed: &source::PreprocessorOutput,
    file: &Path,
    runs: &ClangRuns,
    options: &CheckOptions,
) -> Result<Option<FileReport>, CheckError> {
    let source = &preprocessed.source;
    std::fs::write(&runs.preprocessed, source.written())
        .map_err(CheckError::while_doing("write a file for clang"))?;
    let mut dumping = runs.reading.clone();
    dumping.args.splice(0..0, ["-Xclang".into(), "-ast-dump=json".into()]);
    let dump = dump::run(&dumping, &options.limits(), &options.cancel, source)?;
    let variables = variables::Variables::collect(&dump.declarations, dump.whole);
    let mut uses = use_finder::find(&dump.declarations, &variables);
    if source.hides_headers() && uses.need_headers(source) {
        return Ok(None);
    }
    if options.interpretations.departs(RuleQuestion::Uninstantiated) {
        uses.uses.retain(|used| !used.is_in_pattern);
    }
    let judge = asked_judge(&uses, &variables, source, runs, options)?;
    let text_of = |file: &str| options.text_of(file);
    let mut map = source_map::SourceMap::new(&text_of);
    let judging::JudgedUses { findings: mut located, mut undecided } = judge.judge(&uses, source, &mut map);

    let filter = options.filter.for_file(file);
    let is_shown = |line: u32| filter.shows(&options.path_of(source.real_file(line)));
    let count = located.len();
    located.retain(|(line, _)| is_shown(*line));
    undecided.retain(|(line, _)| is_shown(*line));
    let filtered = count - located.len();
    let mut findings: Vec<Violation> = located.into_iter().map(|(_, violation)| violation).collect();
    let (ignored, notes) = suppress::apply(&mut findings, &file.to_string_lossy(), &text_of);

    let mut not_analysed: Vec<String> =
        preprocessed.incomplete.iter().cloned().chain(dump.incomplete).collect();
    let mut errors = preprocessed.errors.clone();
    let compiler_errors = sort_errors(&dump.errors, &mut errors, &uses, source, &mut map);
    let is_incomplete = !errors.is_empty() || !not_analysed.is_empty();
    not_analysed.extend(describe_errors(errors, &toolkit::hint(&options.flags, &options.directory)));
    not_analysed.extend(undecided.iter().map(|(_, undecided)| undecided.to_string()));
    Ok(Some(FileReport {
        filtered,
        ignored,
        findings,
        compiler_errors,
        notes,
        is_analysed: !dump.declarations.is_empty(),
        is_incomplete,
        not_analysed,
    }))
}

/// Creates the judge of these uses, after clang has been asked for everything that it needs.
fn asked_judge<'a>(
    uses: &Uses,
    variables: &'a variables::Variables<'a>,
    source: &source::PreprocessedText,
    runs: &ClangRuns,
    options: &CheckOptions,
) -> Result<judging::UseJudge<'a>, CheckError> {
    let (limits, cancel) = (options.limits(), &options.cancel);
    let queries = judging::queries(uses, variables, options.interpretations, source);
    let answers = queries::ask(&runs.reading, &limits, cancel, &queries, source, &runs.preprocessed)?;
    let operands = judging::operands(&answers, uses, variables, source);
    let kinds = witnesses::ask(&runs.reading, &limits, cancel, &operands, source, &runs.preprocessed)?;
    Ok(judging::UseJudge::new(variables, options.interpretations, answers, kinds))
}

/// Sorts the errors that clang reported for the tree. Returns those about host variables that the rule does
/// not mention, adds those about anything else to `errors`, and drops those about variables that the checker
/// judges itself.
fn sort_errors(
    dumped: &[String],
    errors: &mut Vec<String>,
    uses: &Uses,
    source: &source::PreprocessedText,
    map: &mut source_map::SourceMap<'_>,
) -> Vec<String> {
    let mut compiler_errors = Vec::new();
    for error in dumped {
        let translated = map.message(source, error);
        let place = queries::message(error).map(|(place, _)| place);
        if error.contains("reference to __host__ variable") {
            if place.is_some_and(|place| uses.is_of_uncovered_variable((place.line, place.col))) {
                compiler_errors.push(translated);
            }
            continue;
        }
        let line = place.map_or(0, |place| place.line);
        if !(error.contains("dynamic initialization is not supported") && uses.is_used_in(line)) {
            errors.push(translated);
        }
    }
    compiler_errors
}

/// Describes clang's errors for the report: their number, what may help, and the first ones.
fn describe_errors(mut errors: Vec<String>, hint: &str) -> Vec<String> {
    // Each instance of a template repeats the errors of its pattern.
    let mut seen = HashSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    let count = match errors.len() {
        0 => return Vec::new(),
        1 => "1 error".to_owned(),
        count => format!("{count} errors"),
    };
    let mut lines = vec![format!("clang reports {count}, and leaves out what it does not understand{hint}")];
    lines.extend(errors.iter().take(MOST_LISTED_ERRORS).cloned());
    if errors.len() > MOST_LISTED_ERRORS {
        lines.push(format!("and {} errors more", errors.len() - MOST_LISTED_ERRORS));
    }
    lines
}
