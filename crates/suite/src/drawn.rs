//! Cases made by the generator: enumerated, edited, or from a seed.

use ptxsmith_gen::{Body, Coverage, Focus, Generator, Header};
use ptxsmith_oracle::{Clause, ClauseSet, Expectation, Readings};
use ptxsmith_syntax::{Module, Spacing};

use crate::alternatives::expect_under;
use crate::case::{CaseSource, SuiteCase};
use crate::comments;

/// Returns cases for the first `count` suitable programs of a seed, each invalid program with its valid
/// counterpart. Programs for which the oracle has no rule are skipped.
pub fn cases(seed: u64, count: u64) -> Vec<SuiteCase> {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let mut cases = Vec::new();
    let mut made = 0;
    // The oracle has rules for nearly all generated programs. The bound prevents an endless loop if the
    // generator makes none.
    for index in 0..count.saturating_mul(4) {
        if made == count {
            break;
        }
        let generated = generator.case(Focus::Mixed, seed, index, &mut coverage);
        let id = format!("random/{seed}-{index}");
        let note = format!("drawn: case {index} of seed {seed}");
        let header = Header::default();
        let module = generated.module(&header);
        if let Body::Negative(negative) = &generated.body {
            let header = negative.counterpart_header.as_ref().unwrap_or(&header);
            let counterpart = header.module(negative.counterpart.clone());
            let Some(pair) = pair(&id, CaseSource::Random, module, counterpart, &note) else { continue };
            cases.extend(pair);
        } else {
            let case = complete(&id, CaseSource::Random, module, generated.spacing, &note, None);
            let Some(case) = case.filter(SuiteCase::is_accepted) else { continue };
            cases.push(case);
        }
        made += 1;
    }
    cases
}

/// Returns a valid counterpart and an invalid program, in this order; `None` if the oracle accepts the
/// invalid program or does not accept the counterpart. The class of the rejection is not compared.
pub fn pair(
    id: &str,
    source: CaseSource,
    broken: Module,
    counterpart: Module,
    note: &str,
) -> Option<Vec<SuiteCase>> {
    let counterpart_id = format!("{id}-twin");
    let broken = complete(id, source, broken, Spacing::Canonical, note, Some(counterpart_id.clone()))?;
    if !broken.is_refused() {
        return None;
    }
    // The counterpart conforms to the clause that rejects the other program, so it tests that clause too.
    let note = format!("the valid counterpart of {id}: {note}");
    let counterpart = complete_about(
        &broken.clauses,
        &counterpart_id,
        source,
        counterpart,
        Spacing::Canonical,
        &note,
        None,
    )?;
    counterpart.is_accepted().then(|| vec![counterpart, broken])
}

/// Creates a case with clauses, comments and text. `None` if the case tests no clause or the printed text
/// does not parse to the same program.
pub fn complete(
    id: &str,
    source: CaseSource,
    module: Module,
    spacing: Spacing,
    note: &str,
    counterpart: Option<String>,
) -> Option<SuiteCase> {
    complete_about(&[], id, source, module, spacing, note, counterpart)
}

fn complete_about(
    about: &[Clause],
    id: &str,
    source: CaseSource,
    module: Module,
    spacing: Spacing,
    note: &str,
    counterpart: Option<String>,
) -> Option<SuiteCase> {
    let program = spacing.print(&module);
    // Parse again, so that positions in a rejection refer to the printed text.
    let module = ptxsmith_syntax::parse(&program).ok()?;
    let mut case = SuiteCase { counterpart, ..SuiteCase::new(id.to_owned(), source, module) };
    let clauses = match &case.expected {
        Expectation::Refused { refusal, .. } => ClauseSet::from(refusal.clause),
        expected => expected.trace().clauses,
    };
    case.clauses = clauses.union(about.iter().copied().collect()).iter().collect();
    if case.clauses.is_empty() {
        return None;
    }
    let text = comments::write(&case, note) + &program;
    // Parse with the comments, so that line numbers refer to the file.
    case.module = ptxsmith_syntax::parse(&text).ok()?;
    case.expected = expect_under(&case.module, Readings::default());
    Some(SuiteCase { text, ..case })
}
