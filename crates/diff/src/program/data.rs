//! Judges the variables of a program, or the program as a whole.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use ptxsmith_model::Expected;
use ptxsmith_oracle::{Expectation, Question, QuestionSet, Rules, Trace, Variable, expect, predict};
use ptxsmith_subject::{Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Module, Text};

use crate::compare::{Mismatch, compare, shows_no_values, undeclared};
use crate::explain::{
    explain, explain_accepted_invalid, explain_crash, explain_match, explain_variables, explain_wrong,
    is_seen_as, with_one_more, written_over, wrong_places,
};
use crate::explanation::{Alternatives, Explanation};
use crate::hypothesis::{alternatives, crash_alternatives};
use crate::implementation::Implementation;
use crate::known::KnownDeviation;
use crate::pattern::MatchedPlace;
use crate::question_quota::QuestionQuota;
use crate::reason::{contained, reason};
use crate::verdict::{Class, Difference, NotCompared, Requirement, ShownOperands, Verdict, expected_of};

use super::{ParsedProgram, PartVerdict};

/// The maximum number of parts of a program, for each open question, that are tested for the answers that
/// they exclude.
const MOST_ASKED: u32 = 2;
/// The maximum length of a program, in bytes, for which excluded answers are determined. Each answer needs
/// another prediction of the whole module.
const LONGEST_ASKED: usize = 1 << 16;

/// Judges the variables of a program, or the program as a whole if it is rejected, crashes, or has nothing
/// else to compare.
pub(super) fn data_verdicts(
    subject: &dyn Subject,
    rules: &Rules,
    program: &ParsedProgram<'_>,
    expected: &Expectation,
    observed: &Observation,
) -> Vec<PartVerdict> {
    let ParsedProgram { module, text, target } = *program;
    let silent = shows_no_values(subject, observed);
    let program = ObservedProgram {
        rules,
        module,
        text,
        expected,
        observed,
        subject,
        target,
        implementation: Implementation::from_description(subject.description()),
        wrong: OnceCell::new(),
        silent,
    };
    let parts = match (expected, observed.outcome) {
        (_, Outcome::Unsupported) => vec![program.not_compared(NotCompared::Unsupported)],
        (_, Outcome::Unavailable) => vec![program.not_compared(NotCompared::Unavailable)],
        (_, Outcome::Crashed) => vec![program.deviation(Class::Crash)],
        (_, Outcome::TimedOut) => vec![program.deviation(Class::Hang)],
        (Expectation::Unmodelled { .. }, _) => vec![program.not_compared(NotCompared::Unmodelled)],
        (Expectation::Refused { .. }, Outcome::Refused) => vec![program.whole(Verdict::Conforms)],
        (Expectation::Refused { .. }, Outcome::Accepted) => vec![program.deviation(Class::AcceptsInvalid)],
        (Expectation::Accepted { .. }, Outcome::Refused) => vec![program.deviation(Class::RefusesValid)],
        // There is nothing to compare but the acceptance: the program has no variables, or the subject shows
        // no values.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty()
                && (silent || variables.is_empty() && undeclared(&module.items, observed).is_none()) =>
        {
            vec![program.whole(Verdict::ConformsByOutcome)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let mut parts: Vec<PartVerdict> =
                variables.iter().map(|variable| program.variable(variable)).collect();
            parts.extend(unmodelled.iter().map(|undecided| PartVerdict {
                variable: Some(undecided.part.as_str().into()),
                ..PartVerdict::not_compared(NotCompared::Unmodelled, None)
            }));
            parts.extend(undeclared(&module.items, observed).map(|name| program.undeclared(name)));
            parts
        }
    };
    program.with_excluded(parts)
}

/// The expected behaviour of an implementation that follows certain rules, compared with the observation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Agree,
    Differ,
    /// The rules do not decide, or the subject does not show it.
    Unknown,
}

/// The maximum number of variables in a report, beside the deviating one.
const MOST_REPORTED: usize = 200;

/// A program with its expectation and its observation.
struct ObservedProgram<'a> {
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    expected: &'a Expectation,
    observed: &'a Observation,
    subject: &'a dyn Subject,
    target: &'a str,
    implementation: Implementation<'a>,
    /// The listed deviations that give variables of the module other values, with their places. Computed
    /// once, for all wrong variables.
    wrong: OnceCell<Vec<(&'static KnownDeviation, Vec<MatchedPlace>)>>,
    /// Whether the subject accepts the program without showing values.
    silent: bool,
}

impl ObservedProgram<'_> {
    fn whole(&self, verdict: Verdict) -> PartVerdict {
        self.part(None, verdict, self.expected.trace())
    }

    fn not_compared(&self, reason: NotCompared) -> PartVerdict {
        self.whole(Verdict::NotCompared(reason))
    }

    fn part(&self, variable: Option<Text>, verdict: Verdict, trace: Trace) -> PartVerdict {
        PartVerdict {
            variable,
            verdict,
            requirement: Requirement::from_expectation(self.expected),
            trace,
            operands: ShownOperands::default(),
            excluded: Vec::new(),
            why: None,
            derived: None,
            place: None,
        }
    }

    /// Adds to each part the answers to open questions that it excludes. For each question, only the first
    /// parts that meet it are tested.
    fn with_excluded(&self, mut parts: Vec<PartVerdict>) -> Vec<PartVerdict> {
        let mut quota = QuestionQuota::new(MOST_ASKED);
        if self.text.len() <= LONGEST_ASKED {
            for part in &mut parts {
                part.excluded = self.excluded(part, &mut quota);
            }
        }
        parts
    }

    /// Returns the answers to open questions under which the observation would have been different, even
    /// together with any one other change of the rules.
    fn excluded(&self, part: &PartVerdict, quota: &mut QuestionQuota) -> Vec<(Question, usize)> {
        let (rules, questions) = match &part.verdict {
            Verdict::Conforms | Verdict::ConformsByOutcome if self.observed.outcome == Outcome::Accepted => {
                (*self.rules, part.trace.questions)
            }
            Verdict::Reads(difference) => {
                let Some(explanation) = &difference.explanation else { return Vec::new() };
                // If several answers together explain a refusal, no single one of them need be its cause.
                if self.observed.outcome == Outcome::Refused && explanation.readings.len() > 1 {
                    return Vec::new();
                }
                let questions: QuestionSet = explanation.readings.iter().map(|answer| answer.0).collect();
                (explanation.applied(self.rules), questions)
            }
            _ => return Vec::new(),
        };
        let mut excluded = Vec::new();
        for question in quota.first_to_meet(questions).iter() {
            for answer in 0..question.answers().len() {
                if self.is_excluded(part.variable.as_deref(), &rules, question, answer) {
                    excluded.push((question, answer));
                }
            }
        }
        excluded
    }

    /// Returns true if the rules with this answer, alone and with any one other change, contradict the
    /// observation.
    fn is_excluded(&self, variable: Option<&str>, rules: &Rules, question: Question, answer: usize) -> bool {
        let Some(readings) = rules.readings.with(question, answer) else { return false };
        let other = Rules { readings, ..*rules };
        let (agreement, trace) = self.agreement_under(variable, &other);
        agreement == Agreement::Differ
            && with_one_more(&other, self.implementation, &trace, question)
                .all(|rules| self.agreement_under(variable, &rules).0 == Agreement::Differ)
    }

    /// Predicts how an implementation that follows these rules treats a variable, or the program as a whole,
    /// and compares that with the observation. Returns the trace of the prediction as well.
    fn agreement_under(&self, variable: Option<&str>, rules: &Rules) -> (Agreement, Trace) {
        let expected = expect(self.module, rules);
        let agreement = match (&expected, self.observed.outcome, variable) {
            (Expectation::Refused { .. }, Outcome::Refused, _) => Agreement::Agree,
            (Expectation::Refused { .. }, Outcome::Accepted, _) => Agreement::Differ,
            (Expectation::Accepted { variables, .. }, Outcome::Accepted, Some(name)) => {
                let variable = variables.iter().find(|variable| *variable.name == *name);
                variable.map_or(Agreement::Unknown, |variable| self.agreement(std::slice::from_ref(variable)))
            }
            (Expectation::Accepted { unmodelled, .. }, _, _) if !unmodelled.is_empty() => Agreement::Unknown,
            (Expectation::Accepted { .. }, Outcome::Accepted, None) if self.silent => Agreement::Agree,
            (Expectation::Accepted { variables, .. }, Outcome::Accepted, None) => self.agreement(variables),
            (Expectation::Accepted { .. }, Outcome::Refused, _) => Agreement::Differ,
            _ => Agreement::Unknown,
        };
        (agreement, expected.trace())
    }

    /// Returns whether the observation shows these variables as predicted.
    fn agreement(&self, variables: &[Variable]) -> Agreement {
        match compare(variables, self.observed) {
            None => Agreement::Agree,
            Some(Mismatch::Differs(..)) => Agreement::Differ,
            Some(Mismatch::Unobserved(_)) => Agreement::Unknown,
        }
    }

    /// Builds the verdict on a deviation of the program as a whole. It is explained by an interpretation or a
    /// known deviation if one predicts it.
    fn deviation(&self, class: Class) -> PartVerdict {
        let trace = self.expected.trace();
        let explanation = self.explain_whole(class, &trace);
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            // No wrong rule predicts a hang.
            (None, Class::Hang) => Some(vec![Alternatives::default()]),
            (None, Class::Crash) => {
                Some(vec![crash_alternatives(&trace, self.implementation, self.observed)])
            }
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.implementation, |rules| {
                self.agrees_under(rules)
            })]),
        };
        // The verdict on a program without declarations rests on the clauses that its kernels use.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        let contains = match explanation {
            None => contained(self.module, &trace, self.implementation, self.observed),
            Some(_) => Vec::new(),
        };
        let verdict = self.difference(class, None, explanation, suspected).containing(contains);
        self.part(None, verdict, rests_on)
    }

    /// Finds the known deviations and interpretations that predict the behaviour of the program as a whole.
    fn explain_whole(&self, class: Class, trace: &Trace) -> Option<Explanation> {
        let show_again = |text: &str| self.show_again(text);
        let by_pattern =
            || explain_match(self.module, trace, self.implementation, self.observed, Some(&show_again));
        match class {
            Class::Hang => by_pattern(),
            Class::Crash if self.observed.signal.is_none() => by_pattern(),
            Class::Crash => explain_crash(
                trace,
                self.rules,
                self.implementation,
                self.observed,
                || reason(self.module, trace, self.implementation, self.observed, Some(&show_again)),
                |rules| expect(self.module, rules).trace(),
            ),
            _ => explain(trace, self.rules, self.implementation, |rules| self.agrees_under(rules))
                .or_else(|| self.explain_accepted())
                .or_else(|| {
                    let under = (self.rules, |rules: &Rules| expect(self.module, rules).trace());
                    let (implementation, observed) = (self.implementation, self.observed);
                    explain_accepted_invalid(
                        self.module,
                        trace,
                        implementation,
                        observed,
                        under,
                        Some(&show_again),
                    )
                })
                .or_else(by_pattern),
        }
    }

    /// Explains an accepted program variable by variable.
    fn explain_accepted(&self) -> Option<Explanation> {
        if self.observed.outcome != Outcome::Accepted {
            return None;
        }
        explain_variables(
            self.rules,
            self.implementation,
            |rules| expect(self.module, rules),
            self.observed,
            |name| self.explain_by_listed_declaration(name),
        )
    }

    /// Returns whether these rules predict the observation of the program as a whole, and the trace of the
    /// prediction.
    fn agrees_under(&self, rules: &Rules) -> (bool, Trace) {
        let expected = expect(self.module, rules);
        let agrees = match (&expected, self.observed.outcome) {
            (Expectation::Refused { .. }, Outcome::Refused) => true,
            (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                unmodelled.is_empty() && (self.silent || compare(variables, self.observed).is_none())
            }
            _ => false,
        };
        (agrees, expected.trace())
    }

    /// Compiles a changed text as the program was compiled, except for the form of output: a crash occurs in
    /// every form. Returns `None` if that fails.
    fn show_again(&self, text: &str) -> Option<Observation> {
        let request = Request::new(text, self.target).in_form(OutputForm::showing(self.module));
        self.subject.observe(&request).ok()
    }

    /// Builds the verdict on a variable that the subject shows although the program does not declare it.
    fn undeclared(&self, name: String) -> PartVerdict {
        let trace = self.expected.trace();
        let explanation = explain(&trace, self.rules, self.implementation, |rules| {
            let Expectation::Accepted { variables, trace, .. } = expect(self.module, rules) else {
                return (false, Trace::default());
            };
            let declared = variables.iter().find(|variable| variable.name == *name);
            let agrees = declared.is_some_and(|variable| self.mismatch(variable).is_none());
            (agrees, trace)
        });
        let suspected = explanation.is_none().then(Vec::new);
        let difference = self.difference(Class::WrongLayout, Some(name.clone()), explanation, suspected);
        self.part(Some(name.into()), difference, trace)
    }

    /// Judges one variable.
    fn variable(&self, variable: &Variable) -> PartVerdict {
        let verdict = match self.mismatch(variable) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let explanation = self.explain_variable(variable, &name);
                let suspected = explanation.is_none().then(|| {
                    vec![alternatives(&variable.trace, self.rules, self.implementation, |rules| {
                        self.variable_agrees_under(variable, rules)
                    })]
                });
                self.difference(class, Some(name), explanation, suspected)
            }
        };
        self.part(Some(variable.name.clone()), verdict, variable.trace)
    }

    fn mismatch(&self, variable: &Variable) -> Option<Mismatch> {
        compare(std::slice::from_ref(variable), self.observed)
    }

    /// Finds the known deviations and interpretations that predict the observation of a variable.
    fn explain_variable(&self, variable: &Variable, name: &str) -> Option<Explanation> {
        explain(&variable.trace, self.rules, self.implementation, |rules| {
            self.variable_agrees_under(variable, rules)
        })
        .or_else(|| {
            written_over(self.rules, self.implementation, |rules| expect(self.module, rules), self.observed)
        })
        .or_else(|| self.explain_by_listed_declaration(name))
    }

    /// Finds the known deviation that gives other values to a variable that is declared in this form.
    fn explain_by_listed_declaration(&self, name: &str) -> Option<Explanation> {
        let wrong = self.wrong.get_or_init(|| wrong_places(self.module, self.implementation));
        explain_wrong(wrong, self.module, [name].into_iter())
    }

    /// Returns whether these rules predict the observation of a variable, and the trace of its prediction.
    fn variable_agrees_under(&self, variable: &Variable, rules: &Rules) -> (bool, Trace) {
        let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
            return (false, Trace::default());
        };
        match variables.iter().find(|other| other.name == variable.name) {
            Some(other) => (is_seen_as(other, self.observed), other.trace),
            None => (false, Trace::default()),
        }
    }

    /// Returns the expected result for a report. If the program has many variables, it contains the named
    /// one, the first few others, and the number of those left out.
    fn expected(&self, class: Class, named: Option<&str>) -> Expected {
        let readings = &self.rules.readings;
        let Expectation::Accepted { variables, unmodelled, trace } = self.expected else {
            return expected_of(class, self.expected.answer(self.text, readings), self.module, self.rules);
        };
        let (named, others): (Vec<&Variable>, Vec<&Variable>) =
            variables.iter().partition(|variable| Some(variable.name.as_str()) == named);
        let left_out = others.len().saturating_sub(MOST_REPORTED);
        if left_out == 0 {
            return expected_of(class, self.expected.answer(self.text, readings), self.module, self.rules);
        }
        let variables = named.into_iter().chain(others).take(variables.len() - left_out).cloned().collect();
        let unmodelled = unmodelled.iter().take(MOST_REPORTED).cloned().collect();
        let excerpt = Expectation::Accepted { variables, unmodelled, trace: *trace };
        let answer = excerpt.answer(self.text, readings);
        Expected {
            variables_left_out: left_out as u64,
            ..expected_of(class, answer, self.module, self.rules)
        }
    }

    /// Returns the observation for a report, shortened as in [`ObservedProgram::expected`].
    fn observation(&self, named: Option<&str>) -> Observation {
        let Observation { variables, .. } = self.observed;
        if variables.len() <= MOST_REPORTED + 1 {
            return self.observed.clone();
        }
        let variables = variables
            .iter()
            .take(MOST_REPORTED)
            .chain(named.and_then(|name| variables.get_key_value(name)))
            .map(|(name, variable)| (name.clone(), variable.clone()))
            .collect();
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
        Verdict::from_difference(Difference {
            class,
            expected: self.expected(class, named),
            observed: self.observation(named),
            variable,
            explanation,
            suspected,
        })
    }
}
