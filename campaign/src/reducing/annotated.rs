//! A reduced program as a file that an assembler takes: what holds is said in leading comments, as in the corpus.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use ptxsmith_diff::{Difference, Part};
use ptxsmith_oracle::hex;
use ptxsmith_report::harmless::line;

use super::Shrunk;
use super::cause::{choose, difference};
use super::question::judge;
use crate::campaign::expectation;
use crate::failure::Failure;
use crate::subjects::Tested;

/// What a program was reduced from, and where it goes.
pub struct Origin<'a> {
    /// The program that it was reduced from, as messages call it.
    pub name: &'a str,
    /// The text of that.
    pub text: &'a str,
    /// The file of the reduced one.
    pub out: &'a Path,
}

/// The reduced program behind comments that say what holds, what was seen instead, and where it comes from. It is judged
/// once more for that; one that is no PTX, or shows nothing now, has no comments.
///
/// # Errors
/// Only where our machine or code fails.
pub fn annotated(
    tested: &Tested,
    shrunk: &Shrunk,
    origin: &Origin<'_>,
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
    let mut out = String::new();
    for (key, value) in comments(tested, shrunk, part, origin) {
        let _ = writeln!(out, "// {key}: {}", line(&value));
    }
    out.push_str(program.text());
    Ok(out)
}

fn comments(
    tested: &Tested,
    shrunk: &Shrunk,
    part: &Part,
    origin: &Origin<'_>,
) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    let clauses: Vec<&str> = part.trace.clauses.iter().map(|clause| clause.id()).collect();
    if !clauses.is_empty() {
        said.push(("clause", clauses.join(", ")));
    }
    let mut note = Vec::new();
    let id = tested.subject.id();
    let version = tested.subject.description().version.as_deref();
    let named = version.map_or_else(|| id.to_owned(), |version| format!("{id} ({version})"));
    if let Some(difference) = difference(&part.verdict) {
        said.extend(expectation(&difference.expected));
        note.push(format!("{named}: {}", shrunk.cause));
        note.extend(observed(difference).into_iter().map(|line| format!("{named}: {line}")));
    }
    let out = origin.out.to_string_lossy();
    note.push(format!(
        "repeat: ptxsmith check {} --subject {}",
        shell_words::quote(&out),
        shell_words::quote(id)
    ));
    let (ptxsmith, steps) = (env!("CARGO_PKG_VERSION"), shrunk.reduced.steps);
    note.push(format!("reduced by ptxsmith {ptxsmith} from {}, {steps} steps", origin.name));
    let comments = origin.text.lines().take_while(|line| line.starts_with("//"));
    let found = comments.filter_map(|line| line.strip_prefix("// note: found by "));
    note.extend(found.map(|found| format!("found by {found}")));
    said.extend(note.into_iter().map(|text| ("note", text)));
    said
}

/// What a subject did, in lines for people.
fn observed(difference: &Difference) -> Vec<String> {
    let seen = &difference.observed;
    let did = match seen.signal {
        Some(signal) => format!("killed by signal {signal}"),
        None => serde_json::to_value(seen.outcome)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default(),
    };
    let mut lines = Vec::new();
    for (name, variable) in &seen.variables {
        if difference.variable.as_ref().is_none_or(|guilty| guilty == name) {
            let bytes = variable.bytes.as_deref().map_or_else(|| "not shown".to_owned(), hex);
            lines.push(format!("{name} holds {bytes}"));
        }
    }
    for (name, left) in &seen.kernels {
        let bytes = left.bytes.as_deref().map_or_else(|| "nothing that is seen".to_owned(), hex);
        lines.push(format!("{name} leaves {bytes}"));
        lines.extend(left.addresses.iter().map(|address| {
            format!(
                "{name} leaves at {} an address in {}, {:+}",
                address.offset, address.symbol, address.addend
            )
        }));
    }
    if lines.is_empty() {
        lines.push(did);
    }
    lines.extend(seen.diagnostics.first().map(|diagnostic| diagnostic.message.clone()));
    lines
}
