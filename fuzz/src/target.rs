//! The framework of all targets: decoding inputs, reporting failures and replaying files.

use std::cell::RefCell;
use std::fmt;
use std::io::Write as _;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ptxsmith_oracle::{Expectation, Rules, Trace, expect};
use ptxsmith_syntax::parse;

/// A library function that libFuzzer calls with bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the target, its program and its seed folder, as in `cargo fuzz run NAME`.
    pub name: &'static str,
    /// Runs the target on an input.
    pub run: fn(&[u8]) -> Result<(), TargetFailure>,
    /// Returns the PTX program that an input encodes, or `None` if it encodes something else.
    pub program: fn(&[u8]) -> Option<String>,
}

/// The property that an input violates, as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFailure(pub String);

impl TargetFailure {
    /// Returns a failure with this message unless the condition holds.
    ///
    /// # Errors
    /// If the condition is false.
    pub fn unless(condition: bool, what: impl FnOnce() -> String) -> Result<(), TargetFailure> {
        if condition { Ok(()) } else { Err(TargetFailure(what())) }
    }
}

impl fmt::Display for TargetFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Selects the properties to check on an input: under libFuzzer one, derived from the input, to keep executions short; in
/// tests and replays all.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    one: Option<u64>,
    /// A hash of the input.
    sum: u64,
}

impl Selection {
    /// Selects among this many properties for an input.
    pub fn new(data: &[u8], properties: u64) -> Selection {
        let sum = data.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Selection { one: cfg!(fuzzing).then_some((sum >> 32) % properties), sum: sum & 0xffff_ffff }
    }

    /// Returns true if this property is selected.
    pub fn includes(self, property: u64) -> bool {
        self.one.is_none_or(|one| one == property)
    }

    /// Selects the elements to check a property on: under libFuzzer one, otherwise all.
    pub fn some_of<T>(self, things: &[T]) -> &[T] {
        match (self.one, things.len()) {
            (None, _) | (_, 0) => things,
            (Some(_), many) => std::slice::from_ref(&things[self.sum as usize % many]),
        }
    }
}

/// Decodes an input as UTF-8 text, or returns `None`.
pub fn text(data: &[u8]) -> Option<String> {
    std::str::from_utf8(data).ok().map(str::to_owned)
}

/// For targets with inputs that encode no program: returns `None`.
pub fn no_program(_: &[u8]) -> Option<String> {
    None
}

thread_local! {
    /// The current input, for the message of a panic.
    static CURRENT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Target {
    /// Runs the target for libFuzzer: a failure becomes a panic with a corpus file in its message.
    ///
    /// # Panics
    /// If the target fails, or panics itself.
    pub fn fuzz(&self, data: &[u8]) {
        CURRENT.with_borrow_mut(|current| {
            current.clear();
            current.extend_from_slice(data);
        });
        if let Err(failure) = (self.run)(data) {
            panic!("{failure}");
        }
    }

    /// Installs a panic hook that prints the input as a corpus file and the command that reproduces the failure. It handles
    /// panics from any crate.
    pub fn explain_panics(&'static self) {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            let data = CURRENT.with_borrow(Vec::clone);
            let payload = information.payload();
            let what = payload
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("a panic");
            let _ = std::io::stderr().write_all(self.explanation(&data, what).as_bytes());
            earlier(information);
        }));
    }

    /// Renders a failing input as a corpus file, with the command that reproduces the failure.
    pub fn explanation(&self, data: &[u8], what: &str) -> String {
        let repeat = format!("cargo run -p ptxsmith-fuzz --bin {} --", self.name);
        let as_it_is = std::str::from_utf8(data).ok();
        match (self.program)(data) {
            Some(program) => {
                let note = format!("fuzz target {}: {what}", self.name);
                let file = corpus_file(&program, &note);
                let repeat = if as_it_is.is_some_and(|text| text.ends_with(&program)) {
                    format!("{repeat} FILE, with this or what libFuzzer writes as FILE")
                } else {
                    format!("{repeat} --hex {}", hex::encode(data))
                };
                let name = self.name;
                format!(
                    "{name} fails. As a corpus file, whose expectation is the oracle's and may be what is wrong:\n\n\
                     {file}\nRepeat: {repeat}\n"
                )
            }
            None => format!("{} fails: {what}\nRepeat: {repeat} --hex {}\n", self.name, hex::encode(data)),
        }
    }

    /// The main function without libFuzzer. Replays the files and folders in the arguments, or the bytes after `--hex`, or
    /// without arguments the committed seeds.
    pub fn replay(&'static self) -> ExitCode {
        self.explain_panics();
        let mut arguments = std::env::args_os().skip(1).peekable();
        if arguments.peek().is_some_and(|first| first == "--hex") {
            let digits = arguments.nth(1).and_then(|hex| hex.into_string().ok()).unwrap_or_default();
            let Ok(data) = hex::decode(&digits) else {
                eprintln!("--hex wants an even number of hexadecimal digits");
                return ExitCode::from(2);
            };
            self.fuzz(&data);
            println!("{}: 1 input, no failure", self.name);
            return ExitCode::SUCCESS;
        }
        let mut places: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
        if places.is_empty() {
            places.push(seeds(self.name));
        }
        let files = match files(&places) {
            Ok(files) => files,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        };
        for (path, data) in &files {
            println!("{}: {}", self.name, path.display());
            self.fuzz(data);
        }
        println!("{}: {} inputs, no failure", self.name, files.len());
        ExitCode::SUCCESS
    }
}

/// Returns the folder with a target's committed seeds.
pub fn seeds(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name)
}

/// Reads files, and the files directly in folders, sorted by name. Returns paths and contents.
///
/// # Errors
/// If a file cannot be read. The message names it.
pub fn files(places: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut paths = Vec::new();
    for place in places {
        if place.is_dir() {
            let entries = std::fs::read_dir(place).map_err(|error| cannot_read(place, &error))?;
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            paths.extend(entries.into_iter().filter(|path| path.is_file()));
        } else {
            paths.push(place.clone());
        }
    }
    let mut files = Vec::new();
    for path in paths {
        let contents = std::fs::read(&path).map_err(|error| cannot_read(&path, &error))?;
        files.push((path, contents));
    }
    Ok(files)
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// Renders a program as a corpus file, with the leading comments described in `corpus/README.md`.
pub fn corpus_file(program: &str, note: &str) -> String {
    let note: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (clauses, expect) = match parse(program).map(|module| expect(&module, &Rules::default())) {
        Ok(Expectation::Accepted { trace, .. }) => (ids(&trace), "accepted".to_owned()),
        Ok(Expectation::Refused { refusal, trace }) => {
            (ids(&trace), format!("refused {}", refusal.class.name()))
        }
        Ok(Expectation::Unmodelled { .. }) | Err(_) => (String::new(), "unmodelled".to_owned()),
    };
    format!("// clause: {clauses}\n// expect: {expect}\n// note: {note}\n{program}")
}

fn ids(trace: &Trace) -> String {
    trace.clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(", ")
}

/// Defines the program of a target: `target!(EVAL)`, or `target!(EVAL, mutated)` to mutate inputs as syntax trees.
#[macro_export]
macro_rules! target {
    ($target:ident) => {
        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(
            init: $crate::$target.explain_panics(),
            |data: &[u8]| $crate::$target.fuzz(data)
        );

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::$target.replay()
        }
    };
    ($target:ident, $mutate:path) => {
        $crate::target!($target);

        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            $mutate(data, size, most, seed, $crate::libfuzzer_sys::fuzzer_mutate)
        });
    };
}
