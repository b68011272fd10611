//! Listed deviations that are no longer there.
//!
//! A list that only grows hides what was repaired, and what comes back. Every listed deviation has a minimized reproducer; it is
//! shown to the implementations that the entry lists, and one that does not deviate as predicted is a finding.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_model::Expected;
use ptxsmith_oracle::{Kernel, Rules, expect, predict};
use ptxsmith_subject::{Error, OutputForm, Request, Subject};
use ptxsmith_syntax::{Header, Module, parse};

use crate::{
    explain::written_over,
    judge::{Judge, Options},
    known::{Effect, End, KNOWN, Known},
    maker::Maker,
    program::judge_module,
    trial::Trial,
    verdict::{Class, Difference, NotCompared, Verdict},
};

/// Shows the minimized reproducer of a listed deviation to a subject of which it is listed. `None` where it deviates as
/// predicted, or where the program tells nothing: not supported, not observed. Else what the specification says of the
/// program and what the subject does with it.
///
/// # Errors
/// Only where our machine or code fails.
pub fn check(subject: &dyn Subject, known: &Known, target: &str) -> Result<Option<Difference>, Error> {
    let module = parse(known.example).unwrap_or_default();
    let rules = Rules::default();
    let verdicts = judge_module(subject, &rules, &module, known.example, target)?;
    let form = match verdicts.kernels {
        Some(_) => OutputForm::Relocatable,
        None => OutputForm::showing(&module),
    };
    let shown = verdicts.clone().parts().iter().any(|part| shows(known, &part.verdict));
    // Where there are kernels, what they leave is what the program is about.
    let parts = match verdicts.kernels {
        Some(kernels) => vec![kernels],
        None => [verdicts.data, verdicts.added, verdicts.undecided].concat(),
    };
    let verdicts: Vec<Verdict> = parts.into_iter().map(|part| part.verdict).collect();
    // A program that is known by a pattern may hold nothing that could be observed.
    let by_pattern = known.is_by_pattern();
    let tells = |reason: &NotCompared| {
        matches!(reason, NotCompared::Unmodelled) || by_pattern && matches!(reason, NotCompared::Unobserved)
    };
    let untold = verdicts.iter().all(|verdict| matches!(verdict, Verdict::NotCompared(r) if !tells(r)));
    // What a kernel computes is seen only where code or a device shows it.
    let unseen = matches!(known.effect, Effect::Wrong)
        && !subject.computes()
        && !verdicts.iter().any(|verdict| matches!(verdict, Verdict::Conforms));
    if shown || untold || unseen {
        return Ok(None);
    }
    let observed = subject.observe(&Request::new(known.example, target).in_form(form))?;
    // Bytes that are not shown may well be as predicted, and so may what lies behind a variable in memory, and a variable that is not
    // asked for.
    let maker = Maker::of(subject.description());
    let is_hidden = written_over(&rules, maker, |rules| expect(&module, rules), &observed).is_some()
        || observed.from_memory && observed.variables.is_empty() && module.functions().next().is_none();
    if is_hidden || observed.variables.values().any(|variable| variable.bytes.is_none()) {
        return Ok(None);
    }
    let expected = expect(&module, &rules).answer(known.example, &rules.readings);
    Ok(Some(Difference::of(class_of(known, &module), Expected::of_module(expected), observed)))
}

/// Which of these listed deviations show where the kernels of their minimized reproducers stand together in modules: most of what
/// one module costs is to disassemble it. Of one that is not among them [`check`] says what it does alone.
///
/// # Errors
/// Only where our machine or code fails.
pub fn shown_together(
    subject: &dyn Subject,
    listed: &[&'static Known],
    target: impl Fn(&Module) -> String,
) -> Result<BTreeSet<&'static str>, Error> {
    let runs = |module: &Module| predict(module, &Rules::default()).kernels.iter().any(Kernel::leaves_output);
    let modules = listed.iter().filter_map(|&known| Some((known, parse(known.example).ok()?)));
    let of_kernels = modules.filter(|(known, module)| known.change().is_some() && runs(module));
    let mut groups: BTreeMap<(Header, String), Vec<(&'static Known, Module)>> = BTreeMap::new();
    for (known, module) in of_kernels {
        groups.entry((Header::of(&module), target(&module))).or_default().push((known, module));
    }
    let mut shown = BTreeSet::new();
    for ((header, target), group) in groups {
        let options =
            Options { header, target: Some(target), launch: true, recheck_every: 0, ..Options::default() };
        let trials: Vec<Trial> =
            group.iter().zip(0..).map(|((_, module), id)| Trial::of_kernels(id, module)).collect();
        let judged = Judge::new(subject, Rules::default(), options).batch(&trials)?;
        shown.extend(
            group
                .iter()
                .zip(judged)
                .filter(|((known, _), judged)| shows(known, &judged.verdict))
                .map(|((known, _), _)| known.id),
        );
    }
    Ok(shown)
}

/// Whether a verdict is that the subject deviates as this entry predicts.
fn shows(known: &Known, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Deviates(difference)
        if difference.explanation.as_ref().is_some_and(|explanation| explanation.known.contains(&known.id)))
}

/// How the list has to change for a deviation that is gone from these releases.
pub fn edit(id: &str, releases: &[String]) -> Option<String> {
    let known = KNOWN.iter().find(|known| known.id == id)?;
    Some(format!(
        "in corpus/deviations/{}.ptx let `releases`, now {}, leave out {}; remove the file where none is left",
        known.id,
        known.releases,
        releases.join(", "),
    ))
}

/// The class of what a deviation shows.
pub fn class_of(known: &Known, example: &Module) -> Class {
    match known.effect {
        Effect::Death { end: End::Hang } => Class::Hang,
        Effect::Crash { .. } | Effect::Death { .. } => Class::Crash,
        Effect::Taken => Class::AcceptsInvalid,
        Effect::Refusal(_) | Effect::Refused => Class::RefusesValid,
        Effect::Wrong => Class::WrongValue,
        Effect::Rule(_) => match expect(example, &Rules::default()) {
            ptxsmith_oracle::Expectation::Refused { .. } => Class::AcceptsInvalid,
            _ => Class::WrongValue,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::Expectation;

    #[test]
    fn what_kills_a_subject_shows_as_a_crash_or_a_hang_and_nothing_else_does() {
        let mut killing = 0;
        for known in KNOWN.iter() {
            let class = class_of(known, &parse(known.example).unwrap());
            assert_eq!(known.kills(), matches!(class, Class::Crash | Class::Hang), "{}", known.id);
            killing += usize::from(known.kills());
        }
        assert!(killing > 0);
    }

    #[test]
    fn the_least_program_of_every_deviation_shows_it() {
        for known in KNOWN.iter() {
            let module = parse(known.example).unwrap_or_else(|error| panic!("{}: {error:?}", known.id));
            if known.is_by_pattern() {
                assert!(known.matches(&module), "{}", known.id);
                continue;
            }
            let expected = predict(&module, &Rules::default());
            assert!(!matches!(expected.data, Expectation::Unmodelled { .. }), "{}", known.id);
            let trace = expected.trace();
            assert!(known.touches(&trace), "{}: its program does not rest on its clauses", known.id);
            match (known.effect, known.change()) {
                (Effect::Crash { when, .. }, _) => assert!(when(&trace), "{}", known.id),
                (_, change) => {
                    let changed = Rules::default().with(change.expect("another rule"));
                    assert!(predict(&module, &changed).differs_from(&expected), "{}", known.id);
                }
            }
        }
    }
}
