//! Explains a difference from the expectation by the smallest set of other rules that predicts the observation
//! exactly.

use ptxsmith_oracle::{Expectation, Question, Readings, Rules, Trace, Variable};

use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::Module;

use crate::{
    compare::{Mismatch, compare},
    explanation::Explanation,
    known::{Effect, KNOWN, Known, listed_for, matching, with_known},
    maker::Maker,
    pattern::Place,
    reason::{Again, reason},
};

/// A single difference between an implementation and the default rules.
#[derive(Clone, Copy)]
pub(crate) enum Hypothesis {
    /// Another answer to an open question.
    Reading(Question, usize),
    /// A known deviation, as an index into [`KNOWN`].
    Known(usize),
}

/// The maximum number of hypotheses that are combined. Programs are small, and a search for more than three causes in
/// one takes too long.
const MOST: usize = 3;

/// Finds the smallest set of hypotheses under which `predicts` holds. Among sets of equal size, those with known
/// deviations are tried first: a deviation predicts one exact result, while an interpretation under which the program
/// is invalid would explain every rejection.
///
/// `predicts` returns whether the rules predict the observation, and the clauses and questions used. The search
/// continues from those, because another rule can lead to questions and clauses that the first evaluation never met.
pub(crate) fn explain(
    trace: &Trace,
    base: &Rules,
    maker: Maker<'_>,
    mut predicts: impl FnMut(&Rules) -> (bool, Trace),
) -> Option<Explanation> {
    let predicts = &mut |rules: &Rules, _: &[Hypothesis]| predicts(rules);
    (1..=MOST).find_map(|size| search(trace, size, &mut Vec::new(), (base, maker), predicts))
}

/// The maximum number of ways to make an invalid program valid that are examined.
const MOST_WAYS: usize = 4;

/// Explains an accepted program variable by variable. Each differing variable has its own causes, and there are few
/// causes per variable even in a large program. The result must predict every differing variable and must not make
/// another differ.
pub(crate) fn explain_variables(
    base: &Rules,
    maker: Maker<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
) -> Option<Explanation> {
    let ways = ways_to_accept(base, maker, &predict);
    let exactly = |way: &Explanation| {
        let mut explanation = way.clone();
        // Two rounds: explaining a variable may make another differ that did not differ before.
        for _ in 0..2 {
            let rules = explanation.rules(base);
            let variables = accepted(predict(&rules))?;
            let mut differing = variables.iter().filter(|variable| differs(variable, observed)).peekable();
            if differing.peek().is_none() {
                return Some(explanation);
            }
            for variable in differing {
                let own = explain(&variable.trace, &rules, maker, |rules| {
                    alone(&predict, observed, variable, rules)
                })?;
                explanation = explanation.join(own)?;
            }
        }
        let variables = accepted(predict(&explanation.rules(base)))?;
        (!variables.iter().any(|variable| differs(variable, observed))).then_some(explanation)
    };
    let over = |way: &Explanation| {
        written_over(&way.rules(base), maker, &predict, observed).and_then(|known| way.clone().join(known))
    };
    ways.iter().find_map(exactly).or_else(|| ways.iter().find_map(over))
}

/// Returns the variables of a program that these rules do not reject. If the rules leave the program undecided, there
/// are none: its acceptance is no difference.
fn accepted(expectation: Expectation) -> Option<Vec<Variable>> {
    match expectation {
        Expectation::Accepted { variables, .. } => Some(variables),
        Expectation::Unmodelled { .. } => Some(Vec::new()),
        Expectation::Refused { .. } => None,
    }
}

/// Returns true if the observation of a variable contradicts the expectation. An unobserved variable does not.
pub(crate) fn differs(variable: &Variable, observed: &Observation) -> bool {
    matches!(compare(std::slice::from_ref(variable), observed), Some(Mismatch::Differs(..)))
}

/// Returns true if the observation of a variable agrees with the expectation. If it was read from memory, where
/// addresses are numbers, some bytes may be unknown.
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

/// Returns the known deviation that writes an address of the program too wide, if the observation was read from
/// memory. The bytes behind the address then depend on the placement of variables and on the compiler's own memory
/// and cannot be predicted.
pub(crate) fn written_over(
    base: &Rules,
    maker: Maker<'_>,
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
) -> Option<Explanation> {
    let known = observed.from_memory.then(|| widens(base, maker, predict)).flatten()?;
    Some(Explanation { readings: Vec::new(), known: vec![known.id] })
}

/// Returns the known deviation that writes an address of the program wider than the place that holds it.
pub(crate) fn widens(
    base: &Rules,
    maker: Maker<'_>,
    predict: impl Fn(&Rules) -> Expectation,
) -> Option<&'static Known> {
    let usual = accepted(predict(base))?;
    let is_wider = |variable: &Variable| {
        let own = usual.iter().find(|own| own.name == variable.name);
        let width = |offset: u64| own?.addresses.iter().find(|own| own.offset == offset).map(|own| own.width);
        variable.addresses.iter().any(|address| width(address.offset).is_some_and(|own| own < address.width))
    };
    let widens = |known: &&'static Known| {
        let Effect::Rule(change) = known.effect else { return false };
        let mut rules = *base;
        change(&mut rules);
        known.is_of(maker)
            && accepted(predict(&rules)).is_some_and(|variables| variables.iter().any(is_wider))
    };
    KNOWN.iter().find(widens)
}

/// Returns whether the observation of this variable agrees with these rules, and the clauses and questions that its
/// value rests on.
pub(crate) fn alone(
    predict: impl Fn(&Rules) -> Expectation,
    observed: &Observation,
    variable: &Variable,
    rules: &Rules,
) -> (bool, Trace) {
    match predict(rules) {
        Expectation::Accepted { variables, .. } => {
            let own = variables.iter().find(|own| own.name == variable.name);
            own.map_or((false, Trace::default()), |own| (is_seen_as(own, observed), own.trace))
        }
        other => (false, other.trace()),
    }
}

/// Returns the smallest sets of hypotheses under which a program is valid; the empty set if it is valid under `base`.
pub(crate) fn ways_to_accept(
    base: &Rules,
    maker: Maker<'_>,
    predict: &impl Fn(&Rules) -> Expectation,
) -> Vec<Explanation> {
    let trace = match predict(base) {
        Expectation::Accepted { .. } => return vec![Explanation::default()],
        Expectation::Refused { trace, .. } => trace,
        Expectation::Unmodelled { .. } => return Vec::new(),
    };
    let mut ways: Vec<Explanation> = Vec::new();
    for size in 1..=MOST {
        let _ = search(&trace, size, &mut Vec::new(), (base, maker), &mut |rules, chosen| {
            let expectation = predict(rules);
            let trace = expectation.trace();
            if accepted(expectation).is_none() {
                return (false, trace);
            }
            let way = explanation(chosen);
            if !ways.contains(&way) {
                ways.push(way);
            }
            (ways.len() >= MOST_WAYS, Trace::default())
        });
        if !ways.is_empty() {
            break;
        }
    }
    ways
}

/// Returns the known deviations that crash the compiler for a program with this trace, with their signals.
pub(crate) fn predicts_crash(trace: &Trace, maker: Maker<'_>) -> impl Iterator<Item = (&'static Known, i32)> {
    KNOWN.iter().filter_map(move |known| match known.effect {
        Effect::Crash { signal, when } if when(trace) && known.is_of(maker) => Some((known, signal)),
        _ => None,
    })
}

/// Finds the known deviation that predicts a crash: by its rule, by its pattern (`matched`), or by its rule after
/// changes by other deviations. `rests_on` evaluates the program under changed rules.
pub(crate) fn explain_crash(
    trace: &Trace,
    base: &Rules,
    maker: Maker<'_>,
    observation: &Observation,
    matched: impl FnOnce() -> Option<&'static Known>,
    mut rests_on: impl FnMut(&Rules) -> Trace,
) -> Option<Explanation> {
    let alone = |known: &'static Known| Explanation { readings: Vec::new(), known: vec![known.id] };
    let predicts = |trace: &Trace| {
        let mut crashes = predicts_crash(trace, maker);
        crashes.find_map(|(known, signal)| (observation.signal == Some(signal)).then_some(known))
    };
    if let Some(known) = predicts(trace) {
        return Some(alone(known));
    }
    let matched = matched();
    // The search evaluates many rule sets, so a matching pattern comes first. An entry with a rule is different: its pattern is less
    // precise than the rule, and is used last.
    if let Some(known) = matched.filter(|known| !matches!(known.effect, Effect::Crash { .. })) {
        return Some(alone(known));
    }
    let mut crash = None;
    let under_others = explain(trace, base, maker, |rules| {
        let trace = rests_on(rules);
        crash = predicts(&trace);
        (crash.is_some(), trace)
    });
    match (under_others, crash) {
        (Some(mut explanation), Some(crash)) => {
            explanation.known.push(crash.id);
            explanation.known.sort();
            Some(explanation)
        }
        _ => matched.map(alone),
    }
}

/// Finds the known deviation that explains the behaviour of a subject by its pattern: a crash, a hang, or the
/// acceptance or rejection of this module. `trace` belongs to the expectation.
pub(crate) fn explain_match(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observation: &Observation,
    again: Option<Again<'_>>,
) -> Option<Explanation> {
    let known = reason(module, trace, maker, observation, again)?;
    Some(Explanation { readings: Vec::new(), known: vec![known.id] })
}

/// Finds an answer to one open question under which a known deviation explains why the subject accepts this invalid
/// module.
pub(crate) fn explain_taken(
    module: &Module,
    trace: &Trace,
    maker: Maker<'_>,
    observation: &Observation,
    (base, rests_on): (&Rules, impl Fn(&Rules) -> Trace),
    again: Option<Again<'_>>,
) -> Option<Explanation> {
    if observation.outcome != Outcome::Accepted {
        return None;
    }
    hypotheses(trace, maker).into_iter().find_map(|hypothesis| {
        let Hypothesis::Reading(question, answer) = hypothesis else { return None };
        let trace = rests_on(&combined(base, &[hypothesis])?);
        let explanation = explain_match(module, &trace, maker, observation, again)?;
        Some(Explanation { readings: vec![(question, answer)], ..explanation })
    })
}

/// Returns the known deviations that change values of this module, with the places that match.
pub(crate) fn wrong_places(module: &Module, maker: Maker<'_>) -> Vec<(&'static Known, Vec<Place>)> {
    let wrong = listed_for(maker).filter(|known| matches!(known.effect, Effect::Wrong));
    matching(wrong, module).collect()
}

/// Finds a single deviation of `wrong` that explains wrong values of all these variables and kernels.
pub(crate) fn explain_wrong<'n>(
    wrong: &[(&'static Known, Vec<Place>)],
    module: &Module,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<Explanation> {
    let is_function = |name: &str| module.functions().any(|function| function.name.text == name);
    let holds = |place: &Place, name: &str| place.holds(name) || !place.in_body && is_function(name);
    let explains = |(_, places): &&(&'static Known, Vec<Place>)| {
        names.clone().all(|name| places.iter().any(|place| holds(place, name)))
    };
    names.clone().next()?;
    let (known, _) = wrong.iter().find(explains)?;
    Some(Explanation { readings: Vec::new(), known: vec![known.id] })
}

/// Returns `base` with one more change each: every known deviation that this trace may meet, and every other answer
/// to the questions in it, except to `fixed`. Then come all known deviations of the subject together, alone and with
/// each of those answers, because a program may meet several deviations at once.
/// those answers: a program may meet several deviations at once.
pub(crate) fn with_one_more(
    base: &Rules,
    maker: Maker<'_>,
    trace: &Trace,
    fixed: Question,
) -> impl Iterator<Item = Rules> {
    let is_free = |hypothesis: &Hypothesis| match hypothesis {
        Hypothesis::Reading(question, _) => *question != fixed,
        Hypothesis::Known(_) => true,
    };
    let free: Vec<Hypothesis> = hypotheses(trace, maker).into_iter().filter(is_free).collect();
    let known = with_known(base, maker);
    let answers = free.iter().filter(|hypothesis| matches!(hypothesis, Hypothesis::Reading(..)));
    let with_all: Vec<Rules> = answers.filter_map(|answer| combined(&known, &[*answer])).collect();
    free.into_iter().filter_map(|hypothesis| combined(base, &[hypothesis])).chain([known]).chain(with_all)
}

/// Returns the hypotheses that may explain a result with this trace, deviations first.
pub(crate) fn hypotheses(trace: &Trace, maker: Maker<'_>) -> Vec<Hypothesis> {
    let rules = KNOWN.iter().enumerate().filter_map(|(at, known)| match known.effect {
        Effect::Rule(_) | Effect::Refusal(_) if known.touches(trace) && known.is_of(maker) => {
            Some(Hypothesis::Known(at))
        }
        _ => None,
    });
    let readings = trace.questions.iter().flat_map(|question| {
        (1..question.answers().len()).map(move |answer| Hypothesis::Reading(question, answer))
    });
    rules.chain(readings).collect()
}

fn search(
    trace: &Trace,
    size: usize,
    chosen: &mut Vec<Hypothesis>,
    (base, maker): (&Rules, Maker<'_>),
    predicts: &mut impl FnMut(&Rules, &[Hypothesis]) -> (bool, Trace),
) -> Option<Explanation> {
    for hypothesis in hypotheses(trace, maker) {
        chosen.push(hypothesis);
        let found = combined(base, chosen).and_then(|rules| {
            let (agrees, trace) = predicts(&rules, chosen);
            match size {
                1 => agrees.then(|| explanation(chosen)),
                _ => search(&trace, size - 1, chosen, (base, maker), predicts),
            }
        });
        chosen.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the rules under a set of hypotheses; `None` if one occurs twice or two of them answer the same question.
pub(crate) fn combined(base: &Rules, chosen: &[Hypothesis]) -> Option<Rules> {
    let mut rules = *base;
    let mut readings: Readings = rules.readings;
    let mut asked: Vec<Question> = Vec::new();
    let mut changed: Vec<usize> = Vec::new();
    for hypothesis in chosen {
        match *hypothesis {
            Hypothesis::Reading(question, _) if asked.contains(&question) => return None,
            Hypothesis::Reading(question, answer) => {
                asked.push(question);
                readings = readings.with(question, answer)?;
            }
            Hypothesis::Known(at) => {
                if changed.contains(&at) {
                    return None;
                }
                changed.push(at);
                if let Some(change) = KNOWN[at].change() {
                    change(&mut rules);
                }
            }
        }
    }
    rules.readings = readings;
    Some(rules)
}

fn explanation(chosen: &[Hypothesis]) -> Explanation {
    let mut explanation = Explanation::default();
    for hypothesis in chosen {
        match *hypothesis {
            Hypothesis::Reading(question, answer) => explanation.readings.push((question, answer)),
            Hypothesis::Known(at) => explanation.known.push(KNOWN[at].id),
        }
    }
    explanation.readings.sort();
    explanation.known.sort();
    explanation
}

#[cfg(test)]
mod tests;
