//! Judges the variables of a program, or the program as a whole.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use ptxsmith_model::Expected;
use ptxsmith_oracle::{Expectation, Question, QuestionSet, Rules, Trace, Variable, expect, predict};
use ptxsmith_subject::{Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Module, Text};

use crate::asked::Asked;
use crate::compare::{Mismatch, compare, shows_no_values, undeclared};
use crate::explain::{
    explain, explain_crash, explain_match, explain_taken, explain_variables, explain_wrong, is_seen_as,
    with_one_more, written_over, wrong_places,
};
use crate::explanation::{Alternatives, Explanation};
use crate::known::Known;
use crate::lead::{alternatives, crash_alternatives};
use crate::maker::Maker;
use crate::pattern::Place;
use crate::reason::{contained, reason};
use crate::verdict::{Class, Difference, Must, NotCompared, Share, Verdict, expected_of};

use super::{Part, ToJudge};

/// The maximum number of parts of a program, for each open question, that are tested for the answers that they rule out.
const MOST_ASKED: u32 = 2;
/// The maximum length of a program, in bytes, for which ruled-out answers are determined: each answer needs another prediction of the whole
/// module.
const LONGEST_ASKED: usize = 1 << 16;

pub(super) fn of_data(
    subject: &dyn Subject,
    rules: &Rules,
    program: &ToJudge<'_>,
    expected: &Expectation,
    observed: &Observation,
) -> Vec<Part> {
    let silent = shows_no_values(subject, observed);
    let maker = Maker::of(subject.description());
    let ToJudge { module, text, target } = *program;
    let program = Program {
        rules,
        module,
        text,
        expected,
        observed,
        subject,
        target,
        maker,
        wrong: OnceCell::new(),
        silent,
    };
    let not_compared = |reason| vec![program.whole(Verdict::NotCompared(reason))];
    let parts = match (expected, observed.outcome) {
        (_, Outcome::Unsupported) => not_compared(NotCompared::Unsupported),
        (_, Outcome::Unavailable) => not_compared(NotCompared::Unavailable),
        (_, Outcome::Crashed) => vec![program.deviates(Class::Crash)],
        (_, Outcome::TimedOut) => vec![program.deviates(Class::Hang)],
        (Expectation::Unmodelled { .. }, _) => not_compared(NotCompared::Unmodelled),
        (Expectation::Refused { .. }, Outcome::Refused) => vec![program.whole(Verdict::Conforms)],
        (Expectation::Refused { .. }, Outcome::Accepted) => vec![program.deviates(Class::AcceptsInvalid)],
        (Expectation::Accepted { .. }, Outcome::Refused) => vec![program.deviates(Class::RefusesValid)],
        // There is nothing to compare but the acceptance: the program has no variables, or the subject shows no values.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty()
                && (silent || variables.is_empty() && undeclared(&module.items, observed).is_none()) =>
        {
            vec![program.whole(Verdict::ConformsByOutcome)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let not_modelled = unmodelled.iter().map(|one| Part {
                variable: Some(one.part.as_str().into()),
                ..Part::not_compared(NotCompared::Unmodelled, None)
            });
            let extra = undeclared(&module.items, observed).map(|name| program.undeclared(name));
            variables
                .iter()
                .map(|variable| program.variable(variable))
                .chain(not_modelled)
                .chain(extra)
                .collect()
        }
    };
    program.with_ruled_out(parts)
}

/// The expected behaviour of an implementation that follows certain rules, compared with the observation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Would {
    Agree,
    Differ,
    /// The rules do not decide, or the subject does not show it.
    Unknown,
}

/// The maximum number of variables in a report, beside the deviating one.
const MOST_REPORTED: usize = 200;

struct Program<'a> {
    pub(super) rules: &'a Rules,
    pub(super) module: &'a Module,
    pub(super) text: &'a str,
    pub(super) expected: &'a Expectation,
    pub(super) observed: &'a Observation,
    subject: &'a dyn Subject,
    target: &'a str,
    maker: Maker<'a>,
    /// The listed deviations that give variables of the module other values, with their places. Computed once, for all wrong variables.
    wrong: OnceCell<Vec<(&'static Known, Vec<Place>)>>,
    /// Whether the subject accepts the program without showing values.
    silent: bool,
}

impl Program<'_> {
    fn whole(&self, verdict: Verdict) -> Part {
        self.part(None, verdict, self.expected.trace())
    }

    pub(super) fn part(&self, variable: Option<Text>, verdict: Verdict, trace: Trace) -> Part {
        let (must, operands) = (Must::of(self.expected), Share::default());
        Part {
            variable,
            verdict,
            must,
            trace,
            operands,
            excluded: Vec::new(),
            why: None,
            derived: None,
            place: None,
        }
    }

    /// Adds to each part the answers to open questions that it rules out. For each question, only the first parts that meet it are tested.
    fn with_ruled_out(&self, mut parts: Vec<Part>) -> Vec<Part> {
        let mut asked = Asked::of(MOST_ASKED);
        if self.text.len() <= LONGEST_ASKED {
            for part in &mut parts {
                part.excluded = self.ruled_out(part, &mut asked);
            }
        }
        parts
    }

    /// Returns the answers to open questions under which the observation would have been different, even together with any one other change
    /// of the rules.
    fn ruled_out(&self, part: &Part, asked: &mut Asked) -> Vec<(Question, usize)> {
        let (rules, questions) = match &part.verdict {
            Verdict::Conforms | Verdict::ConformsByOutcome if self.observed.outcome == Outcome::Accepted => {
                (*self.rules, part.trace.questions)
            }
            Verdict::Reads(difference) => {
                let Some(explanation) = &difference.explanation else { return Vec::new() };
                let own: QuestionSet = explanation.readings.iter().map(|answer| answer.0).collect();
                // If several answers together explain a refusal, no single one of them need be its cause.
                if self.observed.outcome == Outcome::Refused && explanation.readings.len() > 1 {
                    return Vec::new();
                }
                (explanation.applied(self.rules), own)
            }
            _ => return Vec::new(),
        };
        let questions = asked.first_to_meet(questions);
        let mut excluded = Vec::new();
        for question in questions.iter() {
            for answer in 0..question.answers().len() {
                let Some(readings) = rules.readings.with(question, answer) else { continue };
                let other = Rules { readings, ..rules };
                let (would, trace) = self.would(part.variable.as_deref(), &other);
                let differs = |rules: Rules| self.would(part.variable.as_deref(), &rules).0 == Would::Differ;
                let mut one_more = with_one_more(&other, self.maker, &trace, question);
                if would == Would::Differ && one_more.all(differs) {
                    excluded.push((question, answer));
                }
            }
        }
        excluded
    }

    /// Predicts how an implementation that follows these rules treats a variable, or the program as a whole, and compares that with the
    /// observation. Returns the trace of the prediction as well.
    fn would(&self, variable: Option<&str>, rules: &Rules) -> (Would, Trace) {
        let expected = expect(self.module, rules);
        let would = match (&expected, self.observed.outcome, variable) {
            (Expectation::Refused { .. }, Outcome::Refused, _) => Would::Agree,
            (Expectation::Refused { .. }, Outcome::Accepted, _) => Would::Differ,
            (Expectation::Accepted { variables, .. }, Outcome::Accepted, Some(name)) => {
                let own = variables.iter().find(|own| *own.name == *name);
                own.map_or(Would::Unknown, |own| self.seen_as(std::slice::from_ref(own)))
            }
            (Expectation::Accepted { unmodelled, .. }, _, _) if !unmodelled.is_empty() => Would::Unknown,
            (Expectation::Accepted { .. }, Outcome::Accepted, None) if self.silent => Would::Agree,
            (Expectation::Accepted { variables, .. }, Outcome::Accepted, None) => self.seen_as(variables),
            (Expectation::Accepted { .. }, Outcome::Refused, _) => Would::Differ,
            _ => Would::Unknown,
        };
        (would, expected.trace())
    }

    /// Whether the observation shows these variables as predicted.
    fn seen_as(&self, variables: &[Variable]) -> Would {
        match compare(variables, self.observed) {
            None => Would::Agree,
            Some(Mismatch::Differs(..)) => Would::Differ,
            Some(Mismatch::Unobserved(_)) => Would::Unknown,
        }
    }

    /// Builds the verdict on a deviation of the program as a whole. It is explained by an interpretation or a known deviation if one
    /// predicts it.
    fn deviates(&self, class: Class) -> Part {
        let trace = self.expected.trace();
        let whole = |rules: &Rules| {
            let expected = expect(self.module, rules);
            let agrees = match (&expected, self.observed.outcome) {
                (Expectation::Refused { .. }, Outcome::Refused) => true,
                (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                    let agree = || compare(variables, self.observed).is_none();
                    unmodelled.is_empty() && (self.silent || agree())
                }
                _ => false,
            };
            (agrees, expected.trace())
        };
        // Compile a changed text as the program was compiled, except for the form of output: a crash occurs in every form.
        let again = |text: &str| {
            let request = Request::new(text, self.target).in_form(OutputForm::showing(self.module));
            self.subject.observe(&request).ok()
        };
        let matched = || explain_match(self.module, &trace, self.maker, self.observed, Some(&again));
        let explanation = match class {
            Class::Hang => matched(),
            Class::Crash if self.observed.signal.is_none() => matched(),
            Class::Crash => {
                let listed = || reason(self.module, &trace, self.maker, self.observed, Some(&again));
                let rests_on = |rules: &Rules| expect(self.module, rules).trace();
                explain_crash(&trace, self.rules, self.maker, self.observed, listed, rests_on)
            }
            _ => explain(&trace, self.rules, self.maker, whole)
                .or_else(|| {
                    let taken = self.observed.outcome == Outcome::Accepted;
                    let data = |rules: &Rules| expect(self.module, rules);
                    taken.then(|| explain_variables(self.rules, self.maker, data, self.observed)).flatten()
                })
                .or_else(|| {
                    let data = |rules: &Rules| expect(self.module, rules).trace();
                    let under = (self.rules, data);
                    explain_taken(self.module, &trace, self.maker, self.observed, under, Some(&again))
                })
                .or_else(matched),
        };
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            // No wrong rule predicts a hang.
            (None, Class::Hang) => Some(vec![Alternatives::default()]),
            (None, Class::Crash) => Some(vec![crash_alternatives(&trace, self.maker, self.observed)]),
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.maker, whole)]),
        };
        // The verdict on a program without declarations rests on the clauses that its kernels use.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        let contains = match explanation {
            None => contained(self.module, &trace, self.maker, self.observed),
            Some(_) => Vec::new(),
        };
        let verdict = self.difference(class, None, explanation, suspected).containing(contains);
        self.part(None, verdict, rests_on)
    }

    /// Builds the verdict on a variable that the subject shows although the program does not declare it.
    fn undeclared(&self, name: String) -> Part {
        let trace = self.expected.trace();
        let explanation = explain(&trace, self.rules, self.maker, |rules| {
            let Expectation::Accepted { variables, trace, .. } = expect(self.module, rules) else {
                return (false, Trace::default());
            };
            let own = variables.iter().find(|own| own.name == *name);
            let agrees = |own: &Variable| compare(std::slice::from_ref(own), self.observed).is_none();
            (own.is_some_and(agrees), trace)
        });
        let suspected = explanation.is_none().then(Vec::new);
        let difference = self.difference(Class::WrongLayout, Some(name.clone()), explanation, suspected);
        self.part(Some(name.into()), difference, trace)
    }

    pub(super) fn variable(&self, variable: &Variable) -> Part {
        let agreement = |variable: &Variable| compare(std::slice::from_ref(variable), self.observed);
        let verdict = match agreement(variable) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let own = |rules: &Rules| {
                    let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
                        return (false, Trace::default());
                    };
                    let own = variables.iter().find(|own| own.name == variable.name);
                    own.map_or((false, Trace::default()), |own| (is_seen_as(own, self.observed), own.trace))
                };
                let data = |rules: &Rules| expect(self.module, rules);
                let by_rules = explain(&variable.trace, self.rules, self.maker, own);
                let over = || written_over(self.rules, self.maker, data, self.observed);
                let explanation = by_rules.or_else(over).or_else(|| {
                    let wrong = self.wrong.get_or_init(|| wrong_places(self.module, self.maker));
                    explain_wrong(wrong, self.module, [&*name].into_iter())
                });
                let suspected = explanation
                    .is_none()
                    .then(|| vec![alternatives(&variable.trace, self.rules, self.maker, own)]);
                self.difference(class, Some(name), explanation, suspected)
            }
        };
        self.part(Some(variable.name.clone()), verdict, variable.trace)
    }

    /// Returns the expected result for a report. If the program has many variables, it contains the named one, the first few others, and
    /// the number of those left out.
    fn expected(&self, class: Class, named: Option<&str>) -> Expected {
        let readings = &self.rules.readings;
        let whole = || self.expected.answer(self.text, readings);
        let Expectation::Accepted { variables, unmodelled, trace } = self.expected else {
            return expected_of(class, whole(), self.module, self.rules);
        };
        let others = variables.iter().filter(|variable| Some(variable.name.as_str()) != named);
        let left_out = others.clone().skip(MOST_REPORTED).count();
        if left_out == 0 {
            return expected_of(class, whole(), self.module, self.rules);
        }
        let first = others.take(MOST_REPORTED);
        let own = variables.iter().filter(|variable| Some(variable.name.as_str()) == named);
        let variables = own.chain(first).cloned().collect();
        let unmodelled = unmodelled.iter().take(MOST_REPORTED).cloned().collect();
        let excerpt = Expectation::Accepted { variables, unmodelled, trace: *trace };
        let answer = excerpt.answer(self.text, readings);
        Expected {
            variables_left_out: left_out as u64,
            ..expected_of(class, answer, self.module, self.rules)
        }
    }

    /// Returns the observation for a report, shortened as in [`Program::expected`].
    fn observation(&self, named: Option<&str>) -> Observation {
        let Observation { variables, .. } = self.observed;
        if variables.len() <= MOST_REPORTED + 1 {
            return self.observed.clone();
        }
        let first = variables.iter().take(MOST_REPORTED);
        let own = named.and_then(|name| variables.get_key_value(name));
        let variables = first.chain(own).map(|(name, variable)| (name.clone(), variable.clone())).collect();
        Observation {
            schema: self.observed.schema.clone(),
            reason: self.observed.reason.clone(),
            diagnostics: self.observed.diagnostics.clone(),
            kernels: self.observed.kernels.clone(),
            reached: self.observed.reached.clone(),
            one_place: self.observed.one_place.clone(),
            linked: Vec::new(),
            constant_reads: BTreeMap::new(),
            variables,
            ..*self.observed
        }
    }

    fn difference(
        &self,
        class: Class,
        variable: Option<String>,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let named = variable.as_deref();
        let difference = Box::new(Difference {
            class,
            expected: self.expected(class, named),
            observed: self.observation(named),
            variable,
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }
}
