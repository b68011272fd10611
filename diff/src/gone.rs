//! Listed deviations that are no longer there.
//!
//! A list that only grows hides what was mended, and what comes back. Every listed deviation has a least program; it is
//! shown to the implementations that the entry lists, and one that does not deviate as predicted is a finding.

use ptxsmith_oracle::{Rules, expect};
use ptxsmith_subject::{Error, OutputForm, Request, Subject};
use ptxsmith_syntax::{FunctionKind, Header, Item, Module, parse};

use crate::{
    judge::Options,
    kernel::KernelJudge,
    known::{Effect, KNOWN, Known},
    program::judge_program,
    trial::{Body, Trial},
    verdict::{Class, Difference, NotCompared, Verdict},
};

/// Shows the least program of a listed deviation to a subject of which it is listed. `None` where it deviates as
/// predicted, or where the program tells nothing: not supported, not observed. Else what the specification says of the
/// program and what the subject does with it.
///
/// # Errors
/// Only where our machine or code fails.
pub fn check(subject: &dyn Subject, known: &Known, target: &str) -> Result<Option<Difference>, Error> {
    let module = parse(known.example).unwrap_or_default();
    let rules = Rules::default();
    let mut form = OutputForm::showing(&module);
    let verdicts: Vec<Verdict> = match header_of_kernels(&module) {
        Some(header) => {
            form = OutputForm::Relocatable;
            let items =
                module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
            let trial = Trial::new(0, Body::Items(items.cloned().collect()));
            let options = Options { header, target: Some(target.to_owned()), ..Options::default() };
            let judged = KernelJudge::new(subject, rules, options).batch(&[trial])?;
            judged.into_iter().map(|judged| judged.verdict).collect()
        }
        None => {
            let parts = judge_program(subject, &rules, &module, known.example, target)?;
            parts.into_iter().map(|part| part.verdict).collect()
        }
    };
    let shown = verdicts.iter().any(|verdict| match verdict {
        Verdict::Deviates(difference) => {
            difference.explanation.as_ref().is_some_and(|explanation| explanation.known.contains(&known.id))
        }
        _ => false,
    });
    let tells = |reason: &NotCompared| matches!(reason, NotCompared::Unmodelled);
    let untold = verdicts.iter().all(|verdict| matches!(verdict, Verdict::NotCompared(r) if !tells(r)));
    if shown || untold {
        return Ok(None);
    }
    let observed = subject.observe(&Request::new(known.example, target).in_form(form))?;
    // What is not shown may well be as predicted.
    if observed.variables.values().any(|variable| variable.bytes.is_none()) {
        return Ok(None);
    }
    Ok(Some(Difference {
        class: class_of(known, &module),
        variable: None,
        expected: expect(&module, &rules).to_json(known.example, &rules.readings),
        observed,
        explanation: None,
        suspected: None,
    }))
}

/// The header of a program with kernels, whose instructions are what is judged; `None` for one without.
pub fn header_of_kernels(module: &Module) -> Option<Header> {
    let entry =
        |item: &Item| matches!(item, Item::Function(function) if function.kind == FunctionKind::Entry);
    let (major, minor) = module.version()?;
    let mut header = Header { version: format!("{major}.{minor}"), ..Header::default() };
    if let Some(target) = module.targets().find(|target| target.starts_with("sm_")) {
        header.target = target.to_owned();
    }
    module.items.iter().any(entry).then_some(header)
}

/// How the list has to change for a deviation that is gone from these releases.
pub fn edit(id: &str, releases: &[String]) -> Option<String> {
    let known = KNOWN.iter().find(|known| id.strip_prefix("gone-") == Some(known.id))?;
    Some(format!(
        "in diff/src/known.rs let the `releases` of `{}`, now {}, leave out {}; remove the entry where none is left",
        known.id,
        known.releases,
        releases.join(", "),
    ))
}

/// The class of what a deviation shows.
pub fn class_of(known: &Known, example: &Module) -> Class {
    match known.effect {
        Effect::Crash { .. } => Class::Crash,
        Effect::Refusal(_) => Class::RefusesValid,
        Effect::Rule(_) => match expect(example, &Rules::default()) {
            ptxsmith_oracle::Expectation::Refused { .. } => Class::AcceptsInvalid,
            _ => Class::WrongValue,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, execute};

    /// PTX 3.1 has no sm_75: a later target is for the assembler, not for the text.
    #[test]
    fn kernels_are_shown_under_the_header_that_their_module_has() {
        let module = parse(".version 3.1\n.target sm_35, debug\n.entry k() { ret; }\n").unwrap();
        let header = header_of_kernels(&module).unwrap();
        assert_eq!((&*header.version, &*header.target), ("3.1", "sm_35"));
        assert_eq!(Options { header, ..Options::default() }.target(), "sm_35");
    }

    #[test]
    fn the_least_program_of_every_deviation_shows_it() {
        for known in KNOWN {
            let module = parse(known.example).unwrap_or_else(|error| panic!("{}: {error:?}", known.id));
            let held = |rules: &Rules| match expect(&module, rules) {
                Expectation::Accepted { variables, trace, .. } => {
                    let kernels = execute(&module, &variables, rules);
                    let trace = kernels.iter().fold(trace, |trace, kernel| trace.union(kernel.trace));
                    let held = variables.into_iter().map(|v| (v.bytes, v.addresses)).collect::<Vec<_>>();
                    let left = kernels.into_iter().map(|kernel| kernel.left).collect::<Vec<_>>();
                    (Ok((held, left)), trace)
                }
                Expectation::Refused { refusal, trace } => (Err(refusal.class), trace),
                Expectation::Unmodelled { reason } => panic!("{}: {reason}", known.id),
            };
            let (expected, trace) = held(&Rules::default());
            assert!(known.touches(&trace), "{}: its program does not rest on its clauses", known.id);
            match (known.effect, known.change()) {
                (Effect::Crash { when, .. }, _) => assert!(when(&trace), "{}", known.id),
                (_, change) => {
                    let changed = Rules::default().with(change.expect("another rule"));
                    assert_ne!(held(&changed).0, expected, "{}", known.id);
                }
            }
        }
    }
}
