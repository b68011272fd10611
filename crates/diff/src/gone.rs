//! Finds listed deviations that an implementation no longer shows.
//!
//! A list that only grows hides fixes and regressions. Every listed deviation has a minimized reproducer. It
//! is shown to the implementations that the entry lists, and an implementation that does not deviate as
//! predicted is a finding.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_model::Expected;
use ptxsmith_oracle::{INPUTS, Kernel, Rules, expect, predict};
use ptxsmith_subject::{Error, OutputForm, Request, Subject};
use ptxsmith_syntax::{Header, Module, parse, prefixed, print};

use crate::{
    arithmetic::{Calculations, KernelVerdict},
    explain::written_over,
    implementation::Implementation,
    judge::{Judge, JudgeOptions},
    known::{Effect, KNOWN, KnownDeviation, Termination},
    program::judge_module,
    trial::Trial,
    verdict::{Class, Difference, NotCompared, Verdict},
};

/// Shows the minimized reproducer of a listed deviation to a subject for which it is listed.
///
/// Returns `None` if the subject deviates as predicted or if the observation is inconclusive (not supported,
/// not observed). Otherwise returns the expected and the observed behaviour.
///
/// # Errors
/// Fails only if the host system or our own code fails.
pub fn check(
    subject: &dyn Subject,
    known: &KnownDeviation,
    target: &str,
) -> Result<Option<Difference>, Error> {
    let module = parse(known.example).unwrap_or_default();
    let rules = Rules::default();
    let verdicts = judge_module(subject, &rules, &module, known.example, target)?;
    let form = match verdicts.kernels {
        Some(_) => OutputForm::Relocatable,
        None => OutputForm::showing(&module),
    };
    if verdicts.clone().parts().iter().any(|part| shows(known, &part.verdict)) {
        return Ok(None);
    }
    // A reproducer with kernels is about the memory that the kernels write.
    let parts = match verdicts.kernels {
        Some(kernels) => vec![kernels],
        None => [verdicts.data, verdicts.added, verdicts.undecided].concat(),
    };
    // The result of a kernel is visible only if the subject shows code or runs on a device.
    let is_visible = !matches!(known.effect, Effect::WrongValue)
        || subject.computes()
        || parts.iter().any(|part| part.verdict == Verdict::Conforms);
    if !is_visible || !parts.iter().any(|part| is_conclusive(&part.verdict, known)) {
        return Ok(None);
    }
    let observed = subject.observe(&Request::new(known.example, target).in_form(form))?;
    // The predicted bytes may be hidden: not shown by the subject, behind a variable in memory, or in a
    // variable that was not requested.
    let implementation = Implementation::from_description(subject.description());
    let is_hidden = written_over(&rules, implementation, |rules| expect(&module, rules), &observed).is_some()
        || observed.from_memory && observed.variables.is_empty() && module.functions().next().is_none();
    if is_hidden || observed.variables.values().any(|variable| variable.bytes.is_none()) {
        return Ok(None);
    }
    let expected = expect(&module, &rules).answer(known.example, &rules.readings);
    Ok(Some(Difference::new(class_of(known, &module), Expected::of_module(expected), observed)))
}

/// Returns true if the verdict shows whether the reproducer of a deviation still deviates. The reproducer of
/// a deviation that is known by a pattern may contain nothing observable.
fn is_conclusive(verdict: &Verdict, known: &KnownDeviation) -> bool {
    match verdict {
        Verdict::NotCompared(NotCompared::Unmodelled) => true,
        Verdict::NotCompared(NotCompared::Unobserved) => known.is_by_pattern(),
        Verdict::NotCompared(_) => false,
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_) | Verdict::Deviates(_) => true,
    }
}

/// Returns the listed deviations that show when the kernels of their reproducers share modules.
///
/// One module is cheaper than many because most of the cost of a module is its disassembly. A deviation that
/// is missing from the result has to be checked alone with [`check`].
///
/// # Errors
/// Fails only if the host system or our own code fails.
pub fn shown_together(
    subject: &dyn Subject,
    listed: &[&'static KnownDeviation],
    target: impl Fn(&Module) -> String,
) -> Result<BTreeSet<&'static str>, Error> {
    let mut groups: BTreeMap<(Header, String), SharedModule> = BTreeMap::new();
    for &known in listed {
        let Ok(module) = parse(known.example) else { continue };
        if module.functions().next().is_none() {
            continue;
        }
        let group = groups.entry((Header::of_module(&module), target(&module))).or_default();
        if matches!(known.effect, Effect::WrongValue) {
            group.by_pattern.push((known, module));
        } else if known.change().is_some()
            && predict(&module, &Rules::default()).kernels.iter().any(Kernel::leaves_output)
        {
            group.by_rule.push((known, module));
        }
    }
    let mut shown = BTreeSet::new();
    for ((header, target), group) in groups {
        shown.extend(group.shown_by_rule(subject, &header, &target)?);
        // What the code computes is visible only if the subject shows code or runs on a device.
        if subject.computes() {
            shown.extend(group.shown_by_pattern(subject, &header, &target)?);
        }
    }
    Ok(shown)
}

/// The reproducers of listed deviations that have kernels and the same header and target.
#[derive(Default)]
struct SharedModule {
    /// Those with a rule that predicts what the kernels leave.
    by_rule: Vec<(&'static KnownDeviation, Module)>,
    /// Those with a pattern of instructions that compute another value.
    by_pattern: Vec<(&'static KnownDeviation, Module)>,
}

impl SharedModule {
    /// Returns those whose kernels leave what their rule predicts.
    fn shown_by_rule(
        &self,
        subject: &dyn Subject,
        header: &Header,
        target: &str,
    ) -> Result<Vec<&'static str>, Error> {
        let options = JudgeOptions {
            header: header.clone(),
            target: Some(target.to_owned()),
            launch: true,
            recheck_every: 0,
            ..JudgeOptions::default()
        };
        let trials: Vec<Trial> =
            self.by_rule.iter().zip(0..).map(|((_, module), id)| Trial::of_kernels(id, module)).collect();
        let judged = Judge::new(subject, Rules::default(), options).batch(&trials)?;
        let shown =
            self.by_rule.iter().zip(judged).filter(|((known, _), judged)| shows(known, &judged.verdict));
        Ok(shown.map(|((known, _), _)| known.id).collect())
    }

    /// Returns those whose kernels compute another result. What computes it is not asked: a reproducer is the least
    /// kernel that shows its deviation.
    fn shown_by_pattern(
        &self,
        subject: &dyn Subject,
        header: &Header,
        target: &str,
    ) -> Result<Vec<&'static str>, Error> {
        if self.by_pattern.is_empty() {
            return Ok(Vec::new());
        }
        let prefix_of = |nth: usize| format!("m{nth}_");
        let mut items = Vec::new();
        for (nth, (_, module)) in self.by_pattern.iter().enumerate() {
            items.extend(prefixed(&module.without_header().items, &prefix_of(nth)));
        }
        let module = header.module(items);
        let text = print(&module);
        let Some(calculations) = Calculations::new(module, &Rules::default(), INPUTS) else {
            return Ok(Vec::new());
        };
        let judged = calculations.judge(subject, &text, target)?;
        let differs = |nth: usize| {
            let mut kernels = judged.kernels.iter().filter(|(name, _)| name.starts_with(&prefix_of(nth)));
            kernels.any(|(_, verdict)| matches!(verdict, KernelVerdict::Differs(_)))
        };
        let shown = self.by_pattern.iter().enumerate().filter(|(nth, _)| differs(*nth));
        Ok(shown.map(|(_, (known, _))| known.id).collect())
    }
}

/// Returns true if the verdict is the deviation that this entry predicts.
fn shows(known: &KnownDeviation, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Deviates(difference)
        if difference.explanation.as_ref().is_some_and(|explanation| explanation.known.contains(&known.id)))
}

/// Describes how to edit the list for a deviation that these releases no longer show. `None` if the id is
/// unknown.
pub fn edit(id: &str, releases: &[String]) -> Option<String> {
    let known = KNOWN.iter().find(|known| known.id == id)?;
    Some(format!(
        "in corpus/deviations/{}.ptx let `releases`, now {}, leave out {}; remove the file where none is \
         left",
        known.id,
        known.releases,
        releases.join(", "),
    ))
}

/// Returns the class of the differences that a deviation causes.
pub fn class_of(known: &KnownDeviation, example: &Module) -> Class {
    match known.effect {
        Effect::CrashPattern { end: Termination::Hang } => Class::Hang,
        Effect::CrashRule { .. } | Effect::CrashPattern { .. } => Class::Crash,
        Effect::AcceptsInvalid => Class::AcceptsInvalid,
        Effect::RefusalRule(_) | Effect::RefusesValid => Class::RefusesValid,
        Effect::WrongValue => Class::WrongValue,
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
    fn a_deviation_that_kills_has_the_class_crash_or_hang_and_no_other_does() {
        let mut killing = 0;
        for known in KNOWN.iter() {
            let class = class_of(known, &parse(known.example).unwrap());
            assert_eq!(known.crashes_or_hangs(), matches!(class, Class::Crash | Class::Hang), "{}", known.id);
            killing += usize::from(known.crashes_or_hangs());
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
                (Effect::CrashRule { when, .. }, _) => assert!(when(&trace), "{}", known.id),
                (_, change) => {
                    let changed = Rules::default().with(change.expect("another rule"));
                    assert!(predict(&module, &changed).differs_from(&expected), "{}", known.id);
                }
            }
        }
    }
}
