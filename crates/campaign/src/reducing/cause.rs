//! The identity of a finding: the properties that must stay the same while its program shrinks.

use std::fmt;

use ptxsmith_diff::hypothetical_rules;
use ptxsmith_diff::known::{Effect, KNOWN};
use ptxsmith_diff::{Alternatives, Class, Difference, Explanation, PartVerdict, Verdict, id_of};
use ptxsmith_model::FindingKind;
use ptxsmith_oracle::{
    ClauseSet, Expectation, Interpretation, Prediction, Question, QuestionSet, Rules, Trace, expect, predict,
};
use ptxsmith_subject::{Observation, Severity};
use ptxsmith_syntax::Module;

/// The root cause of a finding, as far as verdicts show it.
#[derive(Clone, Debug)]
pub struct Cause {
    class: Class,
    /// The specification's verdict on the program, which must not change.
    validity: ValidityClass,
    /// The explanation. A program with another explanation has another cause, but one explained by a part
    /// that includes `kept` has the same cause.
    explanation: Option<Explanation>,
    /// If several deviations explain the finding together, the one to preserve.
    kept: Option<ExpectedDeviation>,
    /// If no listed deviation explains the finding: the sets of wrong rules that may cause it. A difference
    /// that other rules explain has another cause.
    suspected: Alternatives,
    /// A distinguishing mark within the class, if nothing explains the finding.
    mark: Fingerprint,
    /// If there is no hypothesis either: the clauses on which a program may depend. These are the clauses of
    /// the original program and those of the plainest variables, because a feature that the original did not
    /// use cannot be the cause.
    clauses: ClauseSet,
    /// The open questions that a program may meet: those of the original program.
    questions: QuestionSet,
    /// Whether the specification decides every part of the original program.
    decided: bool,
}

/// The specification's verdict on a program, without values.
#[derive(Clone, Debug, PartialEq)]
enum ValidityClass {
    Accepted,
    /// With the class and the clause of the violation.
    Refused(String),
    Unmodelled,
}

/// The distinguishing mark of a finding without an explanation.
#[derive(Clone, Debug, PartialEq)]
enum Fingerprint {
    None,
    /// The signal of a crash, or else the reason, and the first error before it, which indicates the compiler
    /// stage.
    Crash {
        signal: Option<i32>,
        reason: Option<String>,
        stage: Option<String>,
    },
    /// The first diagnostic about a valid program.
    Complaint(Option<String>),
}

/// The deviation that a user expects a program to show: `--expect`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedDeviation {
    /// A deviation of this class.
    Class(Class),
    /// A deviation caused by this wrong rule, known or hypothetical.
    Rule(&'static str),
    /// Another interpretation of an open question.
    Reading(Question, usize),
}

impl ExpectedDeviation {
    /// Parses `crash`, `incomplete-rows-packed` or `shift-count=modulo`.
    pub fn parse(text: &str) -> Result<ExpectedDeviation, String> {
        if let Some(class) = Class::of_verdict(text) {
            return Ok(ExpectedDeviation::Class(class));
        }
        if let Some(rule) = id_of(text) {
            return Ok(ExpectedDeviation::Rule(rule));
        }
        if let Some(Interpretation(question, answer)) = Interpretation::from_name(text) {
            return Ok(ExpectedDeviation::Reading(question, answer));
        }
        let classes = Class::OF_VERDICTS.map(Class::name).join(", ");
        Err(format!(
            "no verdict `{text}`; write one of {classes}, the name of a known or suspected deviation, or \
             QUESTION=ANSWER"
        ))
    }

    /// Returns the wrong rule that is the hypothesis for a finding, if there is one.
    pub fn from_kind(kind: &FindingKind) -> Option<ExpectedDeviation> {
        kind.rule().and_then(id_of).map(ExpectedDeviation::Rule)
    }

    fn is_shown_by(&self, difference: &Difference) -> bool {
        let explanation = difference.explanation.as_ref();
        match self {
            ExpectedDeviation::Class(class) => difference.class == *class && !difference.is_reading(),
            ExpectedDeviation::Rule(id) => match explanation {
                Some(explanation) => explanation.known.contains(id),
                None => suspected(difference).any(|set| set.contains(id)),
            },
            ExpectedDeviation::Reading(question, answer) => {
                explanation.is_some_and(|explanation| explanation.readings.contains(&(*question, *answer)))
            }
        }
    }
}

/// Returns the sets of wrong rules that each predict a difference without a listed explanation.
fn suspected(difference: &Difference) -> impl Iterator<Item = &Vec<&'static str>> {
    difference.suspected.iter().flatten().flatten()
}

/// Returns the difference of a verdict, including one that another interpretation explains.
pub fn difference(verdict: &Verdict) -> Option<&Difference> {
    match verdict {
        Verdict::Deviates(difference) | Verdict::Reads(difference) => Some(difference),
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => None,
    }
}

/// Chooses the part of a judged program to preserve: the expected one, or else the first unexplained
/// deviation, or else the first deviation.
pub fn choose<'p>(parts: &'p [PartVerdict], expected: Option<&ExpectedDeviation>) -> Option<&'p PartVerdict> {
    let candidates: Vec<&PartVerdict> = parts.iter().filter(|part| is_candidate(part, expected)).collect();
    let mut unexplained = candidates
        .iter()
        .filter(|part| difference(&part.verdict).is_some_and(|difference| difference.explanation.is_none()));
    unexplained.next().or(candidates.first()).copied()
}

/// Returns true if a part shows the expected deviation, or any deviation if none is expected.
fn is_candidate(part: &PartVerdict, expected: Option<&ExpectedDeviation>) -> bool {
    match (difference(&part.verdict), expected) {
        (Some(difference), Some(expected)) => expected.is_shown_by(difference),
        (Some(_), None) => matches!(part.verdict, Verdict::Deviates(_)),
        (None, _) => false,
    }
}

impl Cause {
    /// Returns the cause of the difference in a part of a program. Returns `None` if there is no difference,
    /// or if the result depends on the other declarations, which is not about one program.
    pub fn from_part(
        module: &Module,
        part: &PartVerdict,
        expected: Option<&ExpectedDeviation>,
    ) -> Option<Cause> {
        let difference = difference(&part.verdict)?;
        if difference.class == Class::Inconsistent {
            return None;
        }
        let explanation = difference.explanation.clone();
        let kept = explanation.as_ref().and_then(|explanation| match expected {
            Some(ExpectedDeviation::Rule(_) | ExpectedDeviation::Reading(..)) => expected.cloned(),
            _ => kept_of(explanation, difference.class),
        });
        // A user who names only a class accepts any cause.
        let suspected: Alternatives = match (&explanation, expected) {
            (Some(_), _) | (None, Some(ExpectedDeviation::Class(_) | ExpectedDeviation::Reading(..))) => {
                Vec::new()
            }
            (None, Some(ExpectedDeviation::Rule(id))) => {
                suspected(difference).filter(|set| set.contains(id)).cloned().collect()
            }
            // Many wrong rules would reject, or accept, many programs. The diagnostic, or the clause, is more
            // specific.
            (None, None) if matches!(difference.class, Class::RefusesValid | Class::AcceptsInvalid) => {
                Vec::new()
            }
            (None, None) => suspected(difference).cloned().collect(),
        };
        let mark = match (&explanation, difference.class) {
            (Some(_), _) => Fingerprint::None,
            (None, class) => Fingerprint::new(class, &difference.observed),
        };
        let says = predict(module, &Rules::default());
        let mut clauses = part.trace.clauses.union(plain());
        // A kernel may use everything in its module.
        if !says.kernels.is_empty() {
            clauses = clauses.union(says.trace().clauses);
        }
        let validity = ValidityClass::from_expectation(&says.data);
        let questions = says.trace().questions;
        let decided = says.undecided.is_empty();
        Some(Cause {
            questions,
            decided,
            class: difference.class,
            validity,
            explanation,
            kept,
            suspected,
            mark,
            clauses,
        })
    }

    /// Returns the cause of a crash or hang on a program that we cannot parse, from the observation alone.
    pub fn from_observation(class: Class, observation: &Observation) -> Cause {
        let mark = Fingerprint::new(class, observation);
        let clauses = ClauseSet::all();
        Cause {
            class,
            validity: ValidityClass::Unmodelled,
            explanation: None,
            kept: None,
            suspected: Vec::new(),
            mark,
            clauses,
            questions: Question::ALL.iter().copied().collect(),
            decided: false,
        }
    }

    /// Returns the cause with only the part of the explanation to preserve; `None` if there is no such part.
    pub fn narrowed(&self) -> Option<Cause> {
        let whole = self.explanation.as_ref()?;
        let kept = self.kept.as_ref()?;
        let only = match kept {
            ExpectedDeviation::Rule(id) => Explanation { known: vec![id], readings: Vec::new() },
            ExpectedDeviation::Reading(question, answer) => {
                Explanation { known: Vec::new(), readings: vec![(*question, *answer)] }
            }
            ExpectedDeviation::Class(_) => return None,
        };
        let same_kind = only.is_reading() == whole.is_reading();
        (same_kind && only != *whole).then(|| Cause { explanation: Some(only), ..self.clone() })
    }

    /// Returns the class of the deviation.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns true if the cause has an explanation. A program that [may show it](Cause::may_be_shown_by)
    /// then usually does.
    pub fn is_explained(&self) -> bool {
        self.explanation.is_some()
    }

    /// Returns true if [`Cause::is_predicted_by`] is more than a guess.
    pub fn predicts(&self) -> bool {
        self.is_explained() || !self.suspected.is_empty()
    }

    /// Returns true if a verdict with this trace shows the cause.
    pub fn is_shown_by(&self, verdict: &Verdict, trace: Trace) -> bool {
        let Some(difference) = difference(verdict) else { return false };
        difference.class == self.class
            && match (&self.explanation, &difference.explanation) {
                (Some(whole), Some(part)) => {
                    is_part(part, whole) && self.kept.as_ref().is_none_or(|kept| kept.is_shown_by(difference))
                }
                (None, None) => self.mark.is_on(&difference.observed) && self.is_behind(difference, trace),
                _ => false,
            }
    }

    /// Returns true if the rules that may cause this finding may also cause another difference without a
    /// listed explanation.
    fn is_behind(&self, other: &Difference, trace: Trace) -> bool {
        if self.suspected.is_empty() {
            return self.allows(trace);
        }
        // In a batch, only the first differences are analysed; the program then runs alone.
        other.suspected.is_none()
            || suspected(other)
                .any(|set| self.suspected.iter().any(|whole| set.iter().all(|id| whole.contains(id))))
    }

    /// Returns true if the observation of a program that we cannot parse shows the cause.
    pub fn is_shown_by_observation(&self, class: Class, observation: &Observation) -> bool {
        class == self.class && self.mark.is_on(observation)
    }

    fn allows(&self, trace: Trace) -> bool {
        trace.clauses.intersection(self.clauses) == trace.clauses
    }

    /// Returns true if a program may show the cause, judging without any subject: the specification's verdict
    /// is the same, and the program has the features that the cause needs.
    pub fn may_be_shown_by(&self, module: &Module) -> bool {
        if self.is_explained() {
            return self.is_predicted_by(module);
        }
        let says = predict(module, &Rules::default());
        self.is_as_safe(&says)
            && (!self.suspected.is_empty()
                || match (&says.data, self.class) {
                    (
                        Expectation::Accepted { variables, .. },
                        Class::WrongValue | Class::WrongAddress | Class::WrongLayout,
                    ) if says.kernels.is_empty() => {
                        variables.iter().any(|variable| self.allows(variable.trace))
                    }
                    _ => self.allows(says.trace()),
                })
    }

    /// Returns true if the specification's verdict is the same and the explanation, or a hypothesis, predicts
    /// a difference.
    pub fn is_predicted_by(&self, module: &Module) -> bool {
        let base = Rules::default();
        let says = predict(module, &base);
        if !self.is_as_safe(&says) {
            return false;
        }
        let Some(explanation) = &self.explanation else {
            return self
                .suspected
                .iter()
                .any(|set| self.is_predicted(module, &says, &changed(&base, set), set));
        };
        let readings = explanation.applied(&base).readings;
        let rules = Rules { readings, ..changed(&base, &explanation.known) };
        self.is_predicted(module, &says, &rules, &explanation.known)
    }

    /// Returns true if these rules, with the deviations or wrong rules `ids`, predict a difference from the
    /// specification's `prediction`.
    fn is_predicted(
        &self,
        module: &Module,
        prediction: &Prediction,
        rules: &Rules,
        ids: &[&'static str],
    ) -> bool {
        let changed = predict(module, rules);
        let mut listed = KNOWN.iter().filter(|known| ids.contains(&known.id));
        if matches!(self.class, Class::Crash | Class::Hang) {
            let trace = changed.trace();
            return listed.any(|known| match known.effect {
                Effect::CrashRule { when, .. } => when(&trace) || known.matches(module),
                _ => known.crashes_or_hangs() && known.matches(module),
            });
        }
        listed.any(|known| !known.crashes_or_hangs() && known.matches(module))
            || prediction.differs_from(&changed)
    }

    /// Returns true if the expectation for a program is as certain as for the original: it is as valid, meets
    /// no other open question, and is as completely decided.
    fn is_as_safe(&self, says: &Prediction) -> bool {
        self.is_as_valid(&says.data)
            && self.questions.has_all(says.trace().questions)
            && (!self.decided || says.undecided.is_empty())
    }

    fn is_as_valid(&self, expected: &Expectation) -> bool {
        match (ValidityClass::from_expectation(expected), &self.validity) {
            // A program covered by our rules is better understood than one that is not.
            (ValidityClass::Accepted, ValidityClass::Unmodelled) => true,
            (validity, before) => validity == *before,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())?;
        let Some(explanation) = &self.explanation else {
            if let Fingerprint::Crash { signal: Some(signal), .. } = &self.mark {
                write!(f, " (signal {signal})")?;
            }
            let sets: Vec<String> = self.suspected.iter().map(|set| set.join(" and ")).collect();
            return if sets.is_empty() { Ok(()) } else { write!(f, " (suspected: {})", sets.join(", or ")) };
        };
        let readings = explanation.readings.iter();
        let readings = readings.map(|&(question, answer)| Interpretation(question, answer).to_string());
        let all: Vec<String> = explanation.known.iter().map(|&id| id.to_owned()).chain(readings).collect();
        write!(f, " ({})", all.join(", "))
    }
}

/// Returns the first cause of several, because the result should show only one. For a crash this is the
/// deviation that crashes.
fn kept_of(explanation: &Explanation, class: Class) -> Option<ExpectedDeviation> {
    let known = match class {
        Class::Crash | Class::Hang => explanation.deviations().find(|known| known.crashes_or_hangs()),
        _ => explanation.deviations().next(),
    };
    if let Some(known) = known {
        return Some(ExpectedDeviation::Rule(known.id));
    }
    let &(question, answer) = explanation.readings.first()?;
    Some(ExpectedDeviation::Reading(question, answer))
}

/// Returns true if an explanation is part of another and of the same kind.
fn is_part(part: &Explanation, whole: &Explanation) -> bool {
    part.is_reading() == whole.is_reading()
        && part.known.iter().all(|id| whole.known.contains(id))
        && part.readings.iter().all(|reading| whole.readings.contains(reading))
}

/// Returns the rules with these wrong rules applied.
fn changed(base: &Rules, wrong: &[&'static str]) -> Rules {
    let mut rules = *base;
    for known in KNOWN.iter().filter(|known| wrong.contains(&known.id)) {
        if let Effect::Rule(change) | Effect::RefusalRule(change) = known.effect {
            change(&mut rules);
        }
    }
    for suspect in hypothetical_rules::all().filter(|suspect| wrong.contains(&suspect.id)) {
        (suspect.change)(&mut rules);
    }
    rules
}

impl ValidityClass {
    fn from_expectation(expected: &Expectation) -> ValidityClass {
        match expected {
            Expectation::Accepted { .. } => ValidityClass::Accepted,
            Expectation::Refused { refusal, .. } => {
                ValidityClass::Refused(format!("{} {}", refusal.class.name(), refusal.clause.id()))
            }
            Expectation::Unmodelled { .. } => ValidityClass::Unmodelled,
        }
    }
}

impl Fingerprint {
    fn new(class: Class, observed: &Observation) -> Fingerprint {
        match class {
            Class::Crash => {
                let reason = observed.reason.as_deref().filter(|_| observed.signal.is_none()).map(general);
                Fingerprint::Crash { signal: observed.signal, reason, stage: first_error(observed) }
            }
            Class::RefusesValid => Fingerprint::Complaint(first_error(observed)),
            _ => Fingerprint::None,
        }
    }

    fn is_on(&self, observed: &Observation) -> bool {
        match self {
            Fingerprint::None => true,
            Fingerprint::Crash { .. } => *self == Fingerprint::new(Class::Crash, observed),
            Fingerprint::Complaint(_) => *self == Fingerprint::new(Class::RefusesValid, observed),
        }
    }
}

/// Returns the clauses of the plainest variables.
fn plain() -> ClauseSet {
    let text =
        ".version 7.8\n.target sm_80\n.const .b8 a = 0;\n.global .s32 b = 1;\n.global .u8 c[2] = {1, 2};\n";
    let module = ptxsmith_syntax::parse(text).unwrap_or_default();
    expect(&module, &Rules::default()).trace().clauses
}

fn first_error(observed: &Observation) -> Option<String> {
    let error = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error)?;
    Some(general(&error.message))
}

/// Removes quoted program text and numbers from a message.
fn general(message: &str) -> String {
    let mut quote = None;
    let mut general = String::new();
    for c in message.chars() {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if c == open || open == '`' && c == '\'' => quote = None,
            (None, _) if !c.is_ascii_digit() => general.push(c),
            _ => {}
        }
    }
    general
}

#[cfg(test)]
mod tests;
