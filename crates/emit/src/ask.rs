//! Compiles many globals at once. Finds the globals that the compiler rejects or fails on, and compiles the
//! rest again.

use std::collections::BTreeMap;

use ptxsmith_cuda::language::Standard;
use ptxsmith_cuda::subjects::{Compiler, Cut};

use crate::EmitError;
use crate::listed::may_crash;
use crate::shape::shape;
use crate::source::CxxGlobal;
use crate::source::print::{PRELUDE_LINES, lines};
use crate::witness::{Testimony, read};

/// The result of compiling a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompilationOutcome {
    /// The compiler printed it.
    Printed(Testimony),
    /// The front end rejected it, with this message.
    Refused(String),
    /// The compiler crashed, with this message.
    Crashed(String),
    /// The compiler did not finish in time.
    TimedOut,
}

/// Compiles globals and returns the result of each by its number. Those that the front end blames are
/// rejected, and the rest is compiled again; after a crash, a time-out or no blame, each half is compiled by
/// itself. Those that may end the compiler are compiled apart from the others.
///
/// # Errors
/// If the compiler cannot be run.
pub fn ask(
    compiler: &dyn Compiler,
    globals: &[&CxxGlobal],
) -> Result<BTreeMap<u64, CompilationOutcome>, EmitError> {
    let may_crash = |global: &&&CxxGlobal| may_crash(&shape(global), compiler.description());
    let (risky, others): (Vec<&CxxGlobal>, Vec<&CxxGlobal>) = globals.iter().partition(may_crash);
    ask_parts(compiler, vec![risky, others], &|_, _| false)
}

/// As [`ask`], but in the order of the globals, and no further than the first for which `is_sought` is true.
/// So a few runs find the first of many globals on which a compiler fails.
///
/// # Errors
/// If the compiler cannot be run.
pub fn ask_until(
    compiler: &dyn Compiler,
    globals: &[&CxxGlobal],
    is_sought: &dyn Fn(u64, &CompilationOutcome) -> bool,
) -> Result<BTreeMap<u64, CompilationOutcome>, EmitError> {
    ask_parts(compiler, vec![globals.to_vec()], is_sought)
}

/// Compiles each of these parts by itself, the last one first.
fn ask_parts(
    compiler: &dyn Compiler,
    mut waiting: Vec<Vec<&CxxGlobal>>,
    is_sought: &dyn Fn(u64, &CompilationOutcome) -> bool,
) -> Result<BTreeMap<u64, CompilationOutcome>, EmitError> {
    let mut outcomes = BTreeMap::new();
    while let Some(part) = waiting.pop() {
        if outcomes.iter().any(|(number, outcome)| is_sought(*number, outcome)) {
            break;
        }
        if part.is_empty() {
            continue;
        }
        let lines = lines(&part);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = compiler.compile(standard(compiler), &lines, true)?;
        let mut blamed = BTreeMap::new();
        for complaint in &answer.complaints {
            let global = complaint.line.and_then(|line| part.get(line.checked_sub(PRELUDE_LINES)?));
            if let Some(global) = global {
                blamed.entry(global.number).or_insert_with(|| complaint.message.clone());
            }
        }
        if let (None, true, Some(ptx)) = (&answer.cut_short, blamed.is_empty(), &answer.ptx) {
            let testimonies = read(ptx, part.iter().map(|global| global.number));
            outcomes.extend(
                testimonies
                    .into_iter()
                    .map(|(number, testimony)| (number, CompilationOutcome::Printed(testimony))),
            );
        } else if answer.cut_short.is_none() && !blamed.is_empty() {
            waiting.push(part.into_iter().filter(|global| !blamed.contains_key(&global.number)).collect());
            outcomes
                .extend(blamed.into_iter().map(|(number, why)| (number, CompilationOutcome::Refused(why))));
        } else if let [only] = part[..] {
            outcomes.insert(
                only.number,
                match answer.cut_short {
                    Some(Cut::TimedOut) => CompilationOutcome::TimedOut,
                    Some(Cut::Crashed(reason)) => CompilationOutcome::Crashed(reason),
                    None => {
                        let message = answer.complaints.first().map(|complaint| complaint.message.clone());
                        CompilationOutcome::Refused(
                            message.unwrap_or_else(|| "no PTX, without a word".to_owned()),
                        )
                    }
                },
            );
        } else {
            let (first, second) = part.split_at(part.len() / 2);
            waiting.extend([second.to_vec(), first.to_vec()]);
        }
    }
    Ok(outcomes)
}

/// Returns the newest language version that the compiler supports, C++20 or C++17.
pub fn standard(compiler: &dyn Compiler) -> Standard {
    if compiler.supports(Standard::Cxx20) { Standard::Cxx20 } else { Standard::Cxx17 }
}
