//! What all targets have in common: what an input stands for, what a failure prints, and how files are replayed.

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
    /// Its name: that of its program, of its folder of seeds, and after `cargo fuzz run`.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]) -> Result<(), Failure>,
    /// The PTX program that an input stands for; `None` for one that stands for something else.
    pub program: fn(&[u8]) -> Option<String>,
}

/// What does not hold of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl Failure {
    /// A failure, if the condition does not hold.
    ///
    /// # Errors
    /// If it does not.
    pub fn unless(condition: bool, what: impl FnOnce() -> String) -> Result<(), Failure> {
        if condition { Ok(()) } else { Err(Failure(what())) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which of several properties an input is tried for: under libFuzzer one, which follows from the input, so that an execution
/// is short; in tests and where files are replayed, all.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    one: Option<u64>,
    /// Of the input's bytes.
    sum: u64,
}

impl Turn {
    /// The turn of an input among this many properties.
    pub fn of(data: &[u8], properties: u64) -> Turn {
        let sum = data.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Turn { one: cfg!(fuzzing).then_some((sum >> 32) % properties), sum: sum & 0xffff_ffff }
    }

    /// Whether it is this property's.
    pub fn is_of(self, property: u64) -> bool {
        self.one.is_none_or(|one| one == property)
    }

    /// Those of several like things that the property is tried on: under libFuzzer one, else all.
    pub fn some_of<T>(self, things: &[T]) -> &[T] {
        match (self.one, things.len()) {
            (None, _) | (_, 0) => things,
            (Some(_), many) => std::slice::from_ref(&things[self.sum as usize % many]),
        }
    }
}

/// An input that is text as it is; `None` where it is none.
pub fn text(data: &[u8]) -> Option<String> {
    std::str::from_utf8(data).ok().map(str::to_owned)
}

/// An input that stands for no program.
pub fn no_program(_: &[u8]) -> Option<String> {
    None
}

thread_local! {
    /// The input that is tried, for the message of a panic.
    static CURRENT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Target {
    /// Tries an input as libFuzzer does: a failure is a panic, and says which file to keep.
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

    /// From now on, a panic prints the input as a corpus file and the command that repeats it, also where the panic is
    /// not one of ours.
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

    /// A failing input as a corpus file, and the command that repeats it.
    pub fn explanation(&self, data: &[u8], what: &str) -> String {
        let repeat = format!("cargo run -p ptxsmith-fuzz --bin {} --", self.name);
        let as_it_is = std::str::from_utf8(data).ok();
        match (self.program)(data) {
            Some(program) => {
                let note = format!("fuzz target {}: {what}", self.name);
                let file = corpus_file(&program, &note);
                let repeat = match as_it_is.is_some_and(|text| text.ends_with(&program)) {
                    true => format!("{repeat} FILE, with this or what libFuzzer writes as FILE"),
                    false => format!("{repeat} --hex {}", hex::encode(data)),
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

    /// The program of the target where there is no libFuzzer: tries the files and folders that it is given, or what
    /// follows `--hex`, and without any the committed seeds.
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

/// The folder of the committed seeds of a target.
pub fn seeds(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name)
}

/// Files, and those directly in folders, with their contents, in the order of their names.
///
/// # Errors
/// If one cannot be read: says which.
pub fn files(places: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let failed = |path: &Path, error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut found = Vec::new();
    for place in places {
        if place.is_dir() {
            let entries = std::fs::read_dir(place).map_err(|error| failed(place, error))?;
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            found.extend(paths.into_iter().filter(|path| path.is_file()));
        } else {
            found.push(place.clone());
        }
    }
    found
        .into_iter()
        .map(|path| Ok((path.clone(), std::fs::read(&path).map_err(|error| failed(&path, error))?)))
        .collect()
}

/// The program behind the leading comments that `corpus/README.md` describes.
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

/// Makes the program of a target: `target!(EVAL)`, or `target!(EVAL, mutated)` where inputs are programs and are mutated as
/// trees.
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
