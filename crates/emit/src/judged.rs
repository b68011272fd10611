//! Compiles globals with the compiler under test and with the host's, and judges them.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::{Compiler, CompilerDescription};
use ptxsmith_model::Class;

use crate::Error;
use crate::ask::{Outcome, ask};
use crate::host::Host;
use crate::judge::{Difference, OF_HOST, Verdict, judge};
use crate::source::{Global, Source};

/// A compiler under test, with the host's compilers for comparison.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// The compiler under test.
    pub compiler: &'a dyn Compiler,
    /// The host's compilers, if both are installed.
    pub host: Option<&'a Host>,
}

/// The result for one global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It was printed and compared.
    Compared(Verdict),
    /// The compiler crashed or timed out.
    Failed(Difference),
    /// The front end rejected it, or the oracle has no answer, for this reason.
    NotCompared(String),
}

impl Judged {
    /// Returns the difference, if there is one.
    pub fn difference(&self) -> Option<&Difference> {
        match self {
            Judged::Compared(verdict) => verdict.difference.as_ref(),
            Judged::Failed(difference) => Some(difference),
            Judged::NotCompared(_) => None,
        }
    }
}

/// A compiler under test that judges globals of its language.
pub trait Tester {
    /// The globals.
    type Source: Source;

    /// Returns what is known of the compiler.
    fn description(&self) -> &CompilerDescription;

    /// Judges these globals and returns the results by number. If only globals with a difference like `sought` are of
    /// interest, it leaves out what cannot show it.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    fn judge(
        &self,
        globals: &[&Self::Source],
        sought: Option<&Difference>,
    ) -> Result<BTreeMap<u64, Judged>, Error>;
}

impl Tester for Pair<'_> {
    type Source = Global;

    fn description(&self) -> &CompilerDescription {
        self.compiler.description()
    }

    fn judge(
        &self,
        globals: &[&Global],
        sought: Option<&Difference>,
    ) -> Result<BTreeMap<u64, Judged>, Error> {
        let outcomes = ask(self.compiler, globals)?;
        let needs_host = sought.is_none_or(|difference| difference.symptom.ends_with(OF_HOST));
        let held = match self.host.filter(|_| needs_host) {
            Some(host) => host.held(globals)?,
            None => BTreeMap::new(),
        };
        let judged = globals.iter().filter_map(|global| {
            let outcome = outcomes.get(&global.number)?;
            Some((global.number, judged(global, outcome, held.get(&global.number))))
        });
        Ok(judged.collect())
    }
}

fn judged(global: &Global, outcome: &Outcome, held: Option<&crate::host::Held>) -> Judged {
    let Outcome::Printed(testimony) = outcome else { return of_failure(global.number, outcome) };
    let verdict = judge(global, testimony, held);
    match verdict.is_judged {
        true => Judged::Compared(verdict),
        false => Judged::NotCompared(verdict.unheard.join("; ")),
    }
}

/// Judges a global for which there is no PTX.
pub fn of_failure(number: u64, outcome: &Outcome) -> Judged {
    let failed = |class: Class, symptom: String, actual: &str| {
        Judged::Failed(Difference {
            class,
            symptom,
            kind: "",
            place: format!("g{number}"),
            expected: "PTX, or an error".to_owned(),
            actual: actual.to_owned(),
        })
    };
    match outcome {
        Outcome::Printed(_) => Judged::NotCompared("it is printed".to_owned()),
        Outcome::Refused(why) => {
            Judged::NotCompared(format!("the front end refuses it: {}", without_names(why)))
        }
        Outcome::Crashed(why) => {
            failed(Class::Crash, format!("the compiler fails: {}", without_names(cause(why))), why)
        }
        Outcome::TimedOut => failed(Class::Hang, "the compiler does not end".to_owned(), "no end"),
    }
}

/// The phrases in a message at which the cause of a failure begins.
const MARKS: [&str; 4] = ["Internal Compiler Error", "LLVM ERROR", "error in backend", "Assertion `"];

/// Returns the message of a failure from the cause on.
fn cause(message: &str) -> &str {
    MARKS.iter().find_map(|mark| message.find(mark)).map_or(message, |start| &message[start..])
}

/// Removes quoted text and numbers from a message.
fn without_names(message: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    for c in message.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => {
                quote = None;
                text.push('_');
            }
            (Some(_), _) => {}
            (None, '\'') => quote = Some('\''),
            (None, '`') => quote = Some('\''),
            (None, c) if c.is_ascii_digit() => {
                if !text.ends_with('N') {
                    text.push('N');
                }
            }
            (None, c) => text.push(c),
        }
    }
    text
}
