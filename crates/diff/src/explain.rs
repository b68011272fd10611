//! Explains a difference from the expectation by the smallest set of other rules that predicts the
//! observation exactly.

use std::collections::BTreeSet;

use ptxsmith_oracle::{Expectation, Question, Readings, Rules, Trace, Variable};

use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Module, Text};

use crate::{
    compare::{Mismatch, compare},
    explanation::Explanation,
    implementation::Implementation,
    known::{Effect, KNOWN, KnownDeviation, listed_for, matching, with_known},
    pattern::MatchedPlace,
    reason::{ShowText, reason},
};

/// A single known difference between an implementation and the default rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KnownCause {
    /// Another answer to an open question.
    Interpretation(Question, usize),
    /// A known deviation, as an index into [`KNOWN`].
    Deviation(usize),
}

/// The maximum number of causes that are combined. Programs are small, and a search for more than three
/// causes in one takes too long.
const MOST_CAUSES: usize = 3;

/// Finds the smallest set of known causes under which `predicts` holds. Among sets of equal size, those with
/// known deviations are tried first: a deviation predicts one exact result, while an interpretation under
/// which the program is invalid would explain every rejection.
///
/// `predicts` returns whether the rules predict the observation, and the clauses and questions used. The
/// search continues from those, because another rule can lead to questions and clauses that the first
/// evaluation never met.
pub(crate) fn explain(
    trace: &Trace,
    base: &Rules,
    implementation: Implementation<'_>,
    mut predicts: impl FnMut(&Rules) -> (bool, Trace),
) -> Option<Explanation> {
    let mut tried = TriedCauses::new(trace);
    (0..MOST_CAUSES).find_map(|_| tried.grow(base, implementation, |rules, _| predicts(rules)))
}

/// The maximum number of ways to make an invalid program valid that are examined.
const MOST_WAYS: usize = 4;

/// Explains an accepted program variable by variable. Each differing variable has its own causes, and there
/// are few causes per variable even in a large program. The result must predict every differing variable, apart
/// from those whose declaration is listed as having other values (`by_pattern`), and must not make another differ.
pub(crate) fn explain_variables(
    base: &Rules,
    implementation: Implementation<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
    by_pattern: impl Fn(&str) -> Option<Explanation>,
) -> Option<Explanation> {
    let ways = ways_to_accept(base, implementation, &predict);
    let exact = ways
        .iter()
        .find_map(|way| explain_exactly(way, base, implementation, &predict, observed, &by_pattern));
    exact.or_else(|| {
        ways.iter().find_map(|way| {
            let known = written_over(&way.rules(base), implementation, &predict, observed)?;
            way.clone().join(known)
        })
    })
}

/// Adds to `way`, under which the program is valid, the causes of each differing variable.
fn explain_exactly(
    way: &Explanation,
    base: &Rules,
    implementation: Implementation<'_>,
    predict: &impl Fn(&Rules) -> Expectation,
    observed: &Observation,
    by_pattern: &impl Fn(&str) -> Option<Explanation>,
) -> Option<Explanation> {
    let mut explanation = way.clone();
    // The variables that a pattern explains: their values are not predicted.
    let mut listed: Vec<Text> = Vec::new();
    // Two rounds: explaining a variable may make another differ that did not differ before.
    for _ in 0..2 {
        let rules = explanation.rules(base);
        let variables = accepted(predict(&rules))?;
        let is_open = |variable: &&Variable| !listed.contains(&variable.name) && differs(variable, observed);
        let differing: Vec<&Variable> = variables.iter().filter(is_open).collect();
        if differing.is_empty() {
            return Some(explanation);
        }
        for variable in differing {
            let exact = explain(&variable.trace, &rules, implementation, |rules| {
                variable_agrees(predict, observed, variable, rules)
            });
            let causes = match exact {
                Some(causes) => causes,
                None => {
                    listed.push(variable.name.clone());
                    by_pattern(&variable.name)?
                }
            };
            explanation = explanation.join(causes)?;
        }
    }
    let variables = accepted(predict(&explanation.rules(base)))?;
    let differs = |variable: &Variable| !listed.contains(&variable.name) && differs(variable, observed);
    (!variables.iter().any(differs)).then_some(explanation)
}

/// Returns the variables of a program that these rules do not reject. If the rules leave the program
/// undecided, there are none: its acceptance is no difference.
fn accepted(expectation: Expectation) -> Option<Vec<Variable>> {
    match expectation {
        Expectation::Accepted { variables, .. } => Some(variables),
        Expectation::Unmodelled { .. } => Some(Vec::new()),
        Expectation::Refused { .. } => None,
    }
}

/// Returns true if the observation of a variable contradicts the expectation. An unobserved variable does
/// not.
pub(crate) fn differs(variable: &Variable, observed: &Observation) -> bool {
    matches!(compare(std::slice::from_ref(variable), observed), Some(Mismatch::Differs(..)))
}

/// Returns true if the observation of a variable agrees with the expectation. If it was read from memory,
/// where addresses are numbers, some bytes may be unknown.
pub(crate) fn is_seen_as(variable: &Variable, observed: &Observation) -> bool {
    match compare(std::slice::from_ref(variable), observed) {
        None => true,
        Some(Mismatch::Differs(..)) => false,
        Some(Mismatch::Unobserved(name)) => {
            let seen = observed.variables.get(name.as_str());
            seen.is_some_and(|seen| seen.base.is_some() && seen.bytes.is_some())
        }
    }
}

/// Returns the known deviation that writes an address of the program too wide, if the observation was read
/// from memory. The bytes behind the address then depend on the placement of variables and on the compiler's
/// own memory and cannot be predicted.
pub(crate) fn written_over(
    base: &Rules,
    implementation: Implementation<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
) -> Option<Explanation> {
    let known = observed.from_memory.then(|| widens(base, implementation, predict)).flatten()?;
    Some(Explanation::by_deviation(known))
}

/// Returns the known deviation that writes an address of the program wider than the place that holds it.
pub(crate) fn widens(
    base: &Rules,
    implementation: Implementation<'_>,
    predict: impl Fn(&Rules) -> Expectation,
) -> Option<&'static KnownDeviation> {
    let usual = accepted(predict(base))?;
    KNOWN.iter().filter(|known| known.is_listed_for(implementation)).find(|known| {
        let Effect::Rule(change) = known.effect else { return false };
        let variables = accepted(predict(&base.with(change))).unwrap_or_default();
        variables.iter().any(|variable| has_wider_address(variable, &usual))
    })
}

/// Returns true if an address in the variable is wider than the one at the same offset in the `usual`
/// variables.
fn has_wider_address(variable: &Variable, usual: &[Variable]) -> bool {
    let Some(usual) = usual.iter().find(|usual| usual.name == variable.name) else { return false };
    variable.addresses.iter().any(|address| {
        let same_place = usual.addresses.iter().find(|other| other.offset == address.offset);
        same_place.is_some_and(|other| other.width < address.width)
    })
}

/// Returns whether the observation of this variable agrees with these rules, and the clauses and questions
/// that its value rests on.
pub(crate) fn variable_agrees(
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
    variable: &Variable,
    rules: &Rules,
) -> (bool, Trace) {
    match predict(rules) {
        Expectation::Accepted { variables, .. } => {
            match variables.iter().find(|other| other.name == variable.name) {
                Some(other) => (is_seen_as(other, observed), other.trace),
                None => (false, Trace::default()),
            }
        }
        other => (false, other.trace()),
    }
}

/// Returns the smallest sets of known causes under which a program is valid; the empty set if it is valid
/// under `base`.
pub(crate) fn ways_to_accept(
    base: &Rules,
    implementation: Implementation<'_>,
    predict: &impl Fn(&Rules) -> Expectation,
) -> Vec<Explanation> {
    let trace = match predict(base) {
        Expectation::Accepted { .. } => return vec![Explanation::default()],
        Expectation::Refused { trace, .. } => trace,
        Expectation::Unmodelled { .. } => return Vec::new(),
    };
    let mut ways: Vec<Explanation> = Vec::new();
    let mut tried = TriedCauses::new(&trace);
    for _ in 0..MOST_CAUSES {
        tried.grow(base, implementation, |rules, causes| {
            let expectation = predict(rules);
            let trace = expectation.trace();
            if accepted(expectation).is_none() {
                return (false, trace);
            }
            ways.push(explanation(causes));
            (ways.len() >= MOST_WAYS, Trace::default())
        });
        if !ways.is_empty() {
            break;
        }
    }
    ways
}

/// Returns the known deviations that crash the compiler for a program with this trace, with their signals.
pub(crate) fn predicts_crash(
    trace: &Trace,
    implementation: Implementation<'_>,
) -> impl Iterator<Item = (&'static KnownDeviation, i32)> {
    KNOWN.iter().filter_map(move |known| match known.effect {
        Effect::CrashRule { signal, when } if when(trace) && known.is_listed_for(implementation) => {
            Some((known, signal))
        }
        _ => None,
    })
}

/// Finds the known deviation that predicts a crash: by its rule, by its pattern (`matched`), or by its rule
/// after changes by other deviations. `rests_on` evaluates the program under changed rules.
pub(crate) fn explain_crash(
    trace: &Trace,
    base: &Rules,
    implementation: Implementation<'_>,
    observation: &Observation,
    matched: impl FnOnce() -> Option<&'static KnownDeviation>,
    mut rests_on: impl FnMut(&Rules) -> Trace,
) -> Option<Explanation> {
    if let Some(known) = predicted_crash(trace, implementation, observation) {
        return Some(Explanation::by_deviation(known));
    }
    let matched = matched();
    // The search evaluates many rule sets, so a matching pattern comes first. An entry with a rule is
    // different: its pattern is less precise than the rule, and is used last.
    if let Some(known) = matched.filter(|known| !matches!(known.effect, Effect::CrashRule { .. })) {
        return Some(Explanation::by_deviation(known));
    }
    let mut crash = None;
    let under_others = explain(trace, base, implementation, |rules| {
        let trace = rests_on(rules);
        crash = predicted_crash(&trace, implementation, observation);
        (crash.is_some(), trace)
    });
    match (under_others, crash) {
        (Some(mut explanation), Some(crash)) => {
            explanation.known.push(crash.id);
            explanation.known.sort();
            Some(explanation)
        }
        _ => matched.map(Explanation::by_deviation),
    }
}

/// Returns the known deviation with a rule that predicts the observed crash of a program with this trace.
fn predicted_crash(
    trace: &Trace,
    implementation: Implementation<'_>,
    observation: &Observation,
) -> Option<&'static KnownDeviation> {
    predicts_crash(trace, implementation)
        .find_map(|(known, signal)| (observation.signal == Some(signal)).then_some(known))
}

/// Finds the known deviation that explains the behaviour of a subject by its pattern: a crash, a hang, or the
/// acceptance or rejection of this module. `trace` belongs to the expectation.
pub(crate) fn explain_match(
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observation: &Observation,
    show_again: Option<ShowText<'_>>,
) -> Option<Explanation> {
    let known = reason(module, trace, implementation, observation, show_again)?;
    Some(Explanation::by_deviation(known))
}

/// Finds an answer to one open question under which a known deviation explains why the subject accepts this
/// invalid module.
pub(crate) fn explain_accepted_invalid(
    module: &Module,
    trace: &Trace,
    implementation: Implementation<'_>,
    observation: &Observation,
    (base, rests_on): (&Rules, impl Fn(&Rules) -> Trace),
    show_again: Option<ShowText<'_>>,
) -> Option<Explanation> {
    if observation.outcome != Outcome::Accepted {
        return None;
    }
    known_causes(base, trace, implementation).into_iter().find_map(|hypothesis| {
        let KnownCause::Interpretation(question, answer) = hypothesis else { return None };
        let trace = rests_on(&combined(base, &[hypothesis])?);
        let explanation = explain_match(module, &trace, implementation, observation, show_again)?;
        Some(Explanation { readings: vec![(question, answer)], ..explanation })
    })
}

/// Returns the known deviations that change values of this module, with the places that match.
pub(crate) fn wrong_places(
    module: &Module,
    implementation: Implementation<'_>,
) -> Vec<(&'static KnownDeviation, Vec<MatchedPlace>)> {
    let wrong = listed_for(implementation).filter(|known| matches!(known.effect, Effect::WrongValue));
    matching(wrong, module).collect()
}

/// Finds a single deviation of `wrong` that explains wrong values of all these variables and kernels.
pub(crate) fn explain_wrong<'n>(
    wrong: &[(&'static KnownDeviation, Vec<MatchedPlace>)],
    module: &Module,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<Explanation> {
    names.clone().next()?;
    let (known, _) = wrong.iter().find(|(_, places)| {
        names.clone().all(|name| places.iter().any(|place| concerns(place, name, module)))
    })?;
    Some(Explanation::by_deviation(known))
}

/// Returns true if a match at this place may change the variable or kernel with this name: outside of bodies,
/// any kernel may use the matched declaration.
fn concerns(place: &MatchedPlace, name: &str, module: &Module) -> bool {
    place.holds(name) || !place.in_body && module.functions().any(|function| function.name.text == name)
}

/// Returns `base` with one more change each: every known deviation that this trace may meet, and every other
/// answer to the questions in it, except to `fixed`. Then come all known deviations of the subject together,
/// alone and with each of those answers, because a program may meet several deviations at once.
pub(crate) fn with_one_more(
    base: &Rules,
    implementation: Implementation<'_>,
    trace: &Trace,
    fixed: Question,
) -> impl Iterator<Item = Rules> {
    let with_all_known = with_known(base, implementation);
    let mut with_all_and_answer = Vec::new();
    let mut with_one = Vec::new();
    for cause in known_causes(base, trace, implementation) {
        if let KnownCause::Interpretation(question, _) = cause {
            if question == fixed {
                continue;
            }
            with_all_and_answer.extend(combined(&with_all_known, &[cause]));
        }
        with_one.push(cause);
    }
    with_one
        .into_iter()
        .filter_map(|cause| combined(base, &[cause]))
        .chain([with_all_known])
        .chain(with_all_and_answer)
}

/// Returns the known causes that may explain a result with this trace, deviations first. The answers that
/// `base` gives to questions are no causes.
pub(crate) fn known_causes(
    base: &Rules,
    trace: &Trace,
    implementation: Implementation<'_>,
) -> Vec<KnownCause> {
    let mut causes = Vec::new();
    for (index, known) in KNOWN.iter().enumerate() {
        if matches!(known.effect, Effect::Rule(_) | Effect::RefusalRule(_))
            && known.touches(trace)
            && known.is_listed_for(implementation)
        {
            causes.push(KnownCause::Deviation(index));
        }
    }
    for question in trace.questions.iter().filter(|&question| !base.given.contains(question)) {
        let answers = 1..question.answers().len();
        causes.extend(answers.map(|answer| KnownCause::Interpretation(question, answer)));
    }
    causes
}

/// The sets of known causes of one size that do not predict an observation, each with the trace of the program under
/// it. A set is sorted: the order of its causes makes no difference, so each is tried once.
struct TriedCauses {
    sets: Vec<(Vec<KnownCause>, Trace)>,
}

impl TriedCauses {
    /// Starts with the empty set, under which the program has this trace.
    fn new(trace: &Trace) -> TriedCauses {
        TriedCauses { sets: vec![(Vec::new(), *trace)] }
    }

    /// Adds to each set one cause that its trace may meet. Returns the first set that predicts the observation.
    fn grow(
        &mut self,
        base: &Rules,
        implementation: Implementation<'_>,
        mut predicts: impl FnMut(&Rules, &[KnownCause]) -> (bool, Trace),
    ) -> Option<Explanation> {
        let mut seen = BTreeSet::new();
        for (smaller, trace) in std::mem::take(&mut self.sets) {
            for cause in known_causes(base, &trace, implementation) {
                let mut causes = smaller.clone();
                causes.push(cause);
                causes.sort();
                if !seen.insert(causes.clone()) {
                    continue;
                }
                let Some(rules) = combined(base, &causes) else { continue };
                let (agrees, trace) = predicts(&rules, &causes);
                if agrees {
                    return Some(explanation(&causes));
                }
                self.sets.push((causes, trace));
            }
        }
        None
    }
}

/// Returns the rules under a set of causes; `None` if one occurs twice or two of them answer the same
/// question.
pub(crate) fn combined(base: &Rules, chosen: &[KnownCause]) -> Option<Rules> {
    let mut rules = *base;
    let mut readings: Readings = rules.readings;
    let mut asked: Vec<Question> = Vec::new();
    let mut changed: Vec<usize> = Vec::new();
    for cause in chosen {
        match *cause {
            KnownCause::Interpretation(question, _) if asked.contains(&question) => return None,
            KnownCause::Interpretation(question, answer) => {
                asked.push(question);
                readings = readings.with(question, answer)?;
            }
            KnownCause::Deviation(index) => {
                if changed.contains(&index) {
                    return None;
                }
                changed.push(index);
                if let Some(change) = KNOWN[index].change() {
                    change(&mut rules);
                }
            }
        }
    }
    rules.readings = readings;
    Some(rules)
}

fn explanation(chosen: &[KnownCause]) -> Explanation {
    let mut explanation = Explanation::default();
    for cause in chosen {
        match *cause {
            KnownCause::Interpretation(question, answer) => explanation.readings.push((question, answer)),
            KnownCause::Deviation(index) => explanation.known.push(KNOWN[index].id),
        }
    }
    explanation.readings.sort();
    explanation.known.sort();
    explanation
}

#[cfg(test)]
mod tests;
