//! Writes a reduced program as a file that an assembler accepts, with expectations in leading comments as in
//! the corpus.

use std::path::Path;
use std::sync::atomic::AtomicU64;

use ptxsmith_report::{Finding, describe};

use super::ReducedFinding;
use super::cause::{choose, difference};
use super::question::judge;
use crate::campaign::with_comments;
use crate::failure::Failure;
use crate::ledger::{FindingName, PendingFinding};
use crate::subjects::TestSubject;

/// The origin of a reduced program, and its destination.
pub struct ReductionOrigin<'a> {
    /// The name of the original program in messages.
    pub name: &'a str,
    /// The source of the original program.
    pub text: &'a str,
    /// The file for the reduced program.
    pub out: &'a Path,
}

/// Returns the reduced program after comments with the expected result, the observed result and the origin.
/// Judges the program once more to obtain them. A program that is not PTX, or now shows nothing, gets no
/// comments.
///
/// # Errors
/// Only if this machine or our code fails.
pub fn annotated(
    tested: &TestSubject,
    shrunk: &ReducedFinding,
    origin: &ReductionOrigin<'_>,
    processes: &AtomicU64,
) -> Result<String, Failure> {
    let program = &shrunk.reduced.program;
    let read = match program.module() {
        Some(module) => Ok(module.clone()),
        None => ptxsmith_syntax::parse(program.text()),
    };
    let Ok(module) = read else { return Ok(program.text().to_owned()) };
    let parts = judge(tested, &module, program.text(), processes)?;
    let same = parts.iter().find(|part| shrunk.cause.is_shown_by(&part.verdict, part.trace));
    let Some(part) = same.or(choose(&parts, None)) else { return Ok(program.text().to_owned()) };
    let Some(difference) = difference(&part.verdict) else { return Ok(program.text().to_owned()) };
    let found =
        PendingFinding::new(FindingName::default(), difference, program.text().to_owned(), 0, 0).finding;
    let clauses = part.trace.clauses.iter().map(|clause| clause.id().to_owned()).collect();
    let finding = Finding { clauses, ..found };
    let id = tested.subject.id();
    let version = tested.subject.description().version.as_deref();
    let named = version.map_or_else(|| id.to_owned(), |version| format!("{id} ({version})"));
    let out = origin.out.to_string_lossy();
    Ok(with_comments(&finding, |finding| {
        let mut notes = vec![format!("{named}: {}", shrunk.cause)];
        notes.extend(describe::observed(finding).into_iter().map(|line| format!("{named}: {line}")));
        notes.push(format!(
            "repeat: ptxsmith check {} --subject {}",
            shell_words::quote(&out),
            shell_words::quote(id)
        ));
        let version = env!("CARGO_PKG_VERSION");
        let steps = shrunk.reduced.steps;
        notes.push(format!("reduced by ptxsmith {version} from {}, {steps} steps", origin.name));
        let comments = origin.text.lines().take_while(|line| line.starts_with("//"));
        let found = comments.filter_map(|line| line.strip_prefix("// note: found by "));
        notes.extend(found.map(|found| format!("found by {found}")));
        notes
    }))
}
