//! Compiles globals with the compiler under test and with the host's, and judges them.

use std::collections::BTreeMap;

use ptxsmith_cuda::subjects::{Compiler, CompilerDescription};
use ptxsmith_model::Class;

use crate::EmitError;
use crate::ask::{CompilationOutcome, ask, ask_until, standard};
use crate::dialect::Dialect;
use crate::host::Host;
use crate::judge::{GlobalVerdict, HOST_DIFFERENCE, SourceDifference, judge};
use crate::source::print::{lines, source};
use crate::source::{CxxGlobal, TestGlobal};
use crate::witness::lines_about;

/// A compiler under test, with the host's compilers for comparison.
#[derive(Clone, Copy)]
pub struct TestedCompiler<'a> {
    /// The compiler under test.
    pub compiler: &'a dyn Compiler,
    /// The host's compilers, if both are installed.
    pub host: Option<&'a Host>,
}

/// The result for one global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalResult {
    /// It was printed and compared.
    Compared(GlobalVerdict),
    /// The compiler crashed or timed out.
    Failed(SourceDifference),
    /// The front end rejected it, or the oracle has no answer, for this reason.
    NotCompared(String),
}

impl GlobalResult {
    /// Returns the difference, if there is one.
    pub fn difference(&self) -> Option<&SourceDifference> {
        match self {
            GlobalResult::Compared(verdict) => verdict.difference.as_ref(),
            GlobalResult::Failed(difference) => Some(difference),
            GlobalResult::NotCompared(_) => None,
        }
    }
}

/// A compiler under test that judges globals of its language.
pub trait Tester: Sync {
    /// The globals.
    type Global: TestGlobal + Send + Sync;

    /// Returns the description of the compiler.
    fn description(&self) -> &CompilerDescription;

    /// Returns a global of the generator in the language that the compiler supports.
    fn fitted(&self, global: Self::Global) -> Self::Global {
        global
    }

    /// Judges these globals and returns the results by number. If only globals with a difference like
    /// `sought` are of interest, it leaves out what cannot show it; where that is a failure, it may leave out
    /// what comes behind the first one.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    fn judge(
        &self,
        globals: &[&Self::Global],
        sought: Option<&SourceDifference>,
    ) -> Result<BTreeMap<u64, GlobalResult>, EmitError>;

    /// Returns the PTX of these globals, all in one module; `None` if the compiler prints none.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    fn ptx(&self, globals: &[&Self::Global]) -> Result<Option<String>, EmitError>;

    /// Returns the command of a shell that prints the PTX of a source; `{source}` stands for its file.
    fn ptx_command(&self) -> String;

    /// Returns the lines of the PTX that name the only global of a source, whose number is 0.
    ///
    /// # Errors
    /// If a compiler cannot be run.
    fn printed_lines(&self, _global: &Self::Global) -> Result<Vec<String>, EmitError> {
        Ok(Vec::new())
    }
}

impl Tester for TestedCompiler<'_> {
    type Global = CxxGlobal;

    fn description(&self) -> &CompilerDescription {
        self.compiler.description()
    }

    fn fitted(&self, global: CxxGlobal) -> CxxGlobal {
        Dialect::of(self.compiler).fitted(global)
    }

    fn judge(
        &self,
        globals: &[&CxxGlobal],
        sought: Option<&SourceDifference>,
    ) -> Result<BTreeMap<u64, GlobalResult>, EmitError> {
        let outcomes = match sought.filter(|difference| difference.is_failure()) {
            Some(failure) => {
                let is_sought = |number: u64, outcome: &CompilationOutcome| {
                    let difference = failure_result(number, outcome);
                    difference.difference().is_some_and(|seen| seen.symptom() == failure.symptom())
                };
                ask_until(self.compiler, globals, &is_sought)?
            }
            None => ask(self.compiler, globals)?,
        };
        let needs_host = sought.is_none_or(|difference| difference.symptom.ends_with(HOST_DIFFERENCE));
        let host_contents = match self.host.filter(|_| needs_host) {
            Some(host) => host.agreed_contents(globals)?,
            None => BTreeMap::new(),
        };
        let results = globals.iter().filter_map(|global| {
            let outcome = outcomes.get(&global.number)?;
            Some((global.number, judge_outcome(global, outcome, host_contents.get(&global.number))))
        });
        Ok(results.collect())
    }

    fn ptx(&self, globals: &[&CxxGlobal]) -> Result<Option<String>, EmitError> {
        let lines = lines(globals);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        Ok(self.compiler.compile(standard(self.compiler), &lines, true)?.ptx)
    }

    fn ptx_command(&self) -> String {
        self.compiler.ptx_command(standard(self.compiler))
    }

    fn printed_lines(&self, global: &CxxGlobal) -> Result<Vec<String>, EmitError> {
        let source = source(global);
        let lines: Vec<&str> = source.lines().collect();
        let output = self.compiler.compile(standard(self.compiler), &lines, true)?;
        Ok(output.ptx.map(|ptx| lines_about(&ptx, 0)).unwrap_or_default())
    }
}

fn judge_outcome(
    global: &CxxGlobal,
    outcome: &CompilationOutcome,
    host: Option<&crate::host::VariableContents>,
) -> GlobalResult {
    let CompilationOutcome::Printed(testimony) = outcome else {
        return failure_result(global.number, outcome);
    };
    let verdict = judge(global, testimony, host);
    if verdict.is_judged {
        GlobalResult::Compared(verdict)
    } else {
        GlobalResult::NotCompared(verdict.unavailable.join("; "))
    }
}

/// Judges a global for which there is no PTX.
pub fn failure_result(number: u64, outcome: &CompilationOutcome) -> GlobalResult {
    let (class, symptom, actual) = match outcome {
        CompilationOutcome::Printed(_) => return GlobalResult::NotCompared("it is printed".to_owned()),
        CompilationOutcome::Refused(why) => {
            let message = without_names(why);
            return GlobalResult::NotCompared(format!("the front end refuses it: {message}"));
        }
        CompilationOutcome::Crashed(why) => {
            (Class::Crash, format!("the compiler fails: {}", without_names(cause(why))), why.as_str())
        }
        CompilationOutcome::TimedOut => (Class::Hang, "the compiler does not end".to_owned(), "no end"),
    };
    GlobalResult::Failed(SourceDifference {
        class,
        symptom,
        kind: "",
        place: format!("g{number}"),
        expected: "PTX, or an error".to_owned(),
        actual: actual.to_owned(),
    })
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
