//! Explains the differences of a trial by known deviations, other interpretations and wrong rules.

use ptxsmith_model::Expected;
use ptxsmith_oracle::{
    Expectation, Kernel, KernelOutcome, Prediction, Question, Rules, Trace, expect, predict,
};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Item, Module, Text};

use super::{
    Judge, PredictedTrial, TrialExpectation,
    batch::little_endian,
    settling::{BatchVerdicts, TrialResult},
};
use crate::{
    compare::{Mismatch, compare, undeclared, unobserved, unseen},
    explain::{
        explain, explain_crash, explain_match, explain_variables, explain_wrong, written_over, wrong_places,
    },
    explanation::{Alternatives, Explanation},
    hypothesis::{alternatives, crash_alternatives, variable_alternatives},
    kernel,
    reason::{contained, reason},
    slots::{self, SlotComparison},
    trial::{ALONE, Trial, TrialBody},
    verdict::{Class, Difference, NotCompared, Verdict, WhyNotCompared, expected_of},
};

/// The maximum number of differences per batch that are explained by wrong rules that no implementation is
/// known to follow. The search would take hours for an implementation with very many differences.
const MOST_SEARCHED: u32 = 300;

/// The result of comparing the expected data of a trial with the observed data.
enum DataComparison {
    Agrees,
    Differs(Class, Option<String>),
    Unobserved,
}

/// Compares the expected data of a module that stands alone with the observed data.
fn compare_data(expected: &Expectation, observation: &Observation) -> DataComparison {
    match (observation.outcome, expected) {
        (Outcome::Crashed, _) => DataComparison::Differs(Class::Crash, None),
        (Outcome::TimedOut, _) => DataComparison::Differs(Class::Hang, None),
        (Outcome::Unsupported | Outcome::Unavailable, _) | (_, Expectation::Unmodelled { .. }) => {
            DataComparison::Unobserved
        }
        (Outcome::Refused, Expectation::Refused { .. }) => DataComparison::Agrees,
        (Outcome::Refused, Expectation::Accepted { .. }) => {
            DataComparison::Differs(Class::RefusesValid, None)
        }
        (Outcome::Accepted, Expectation::Refused { .. }) => {
            DataComparison::Differs(Class::AcceptsInvalid, None)
        }
        (Outcome::Accepted, Expectation::Accepted { variables, .. }) => {
            match compare(variables, observation) {
                None => DataComparison::Agrees,
                Some(Mismatch::Differs(class, variable)) => DataComparison::Differs(class, Some(variable)),
                Some(Mismatch::Unobserved(_)) => DataComparison::Unobserved,
            }
        }
    }
}

impl BatchVerdicts<'_, '_, '_> {
    /// Judges an array element that has other bits than expected, or that has no expected bits because the
    /// expression is invalid. `observation` shows the element as if it had stood alone.
    pub fn explained_element(&mut self, index: usize, bits: u64, observation: Observation) -> TrialResult {
        let predicted = &self.predicted[index];
        match self.judge.explain_bits(predicted, bits) {
            Some(explanation) => {
                let (class, variable) = match predicted.expectation {
                    TrialExpectation::Bits(_) => (Class::WrongValue, Some(ALONE.to_owned())),
                    TrialExpectation::Module(_) => (Class::AcceptsInvalid, None),
                };
                TrialResult::new(self.difference(
                    index,
                    class,
                    variable,
                    observation,
                    Some(explanation),
                    None,
                ))
            }
            None => self.explained(index, observation),
        }
    }

    /// Judges a trial by its observation as a module of its own.
    pub fn explained(&mut self, index: usize, observation: Observation) -> TrialResult {
        let (judge, predicted) = (self.judge, &self.predicted[index]);
        match observation.outcome {
            Outcome::Unsupported => return TrialResult::new(Verdict::NotCompared(NotCompared::Unsupported)),
            Outcome::Unavailable => return TrialResult::new(Verdict::NotCompared(NotCompared::Unavailable)),
            _ => {}
        }
        let of_expression;
        let prediction = match &predicted.expectation {
            TrialExpectation::Module(prediction) if predicted.trial.body.items().is_some() => prediction,
            _ => {
                of_expression = judge.prediction(predicted.trial, &judge.rules);
                &of_expression
            }
        };
        if let (Expectation::Unmodelled { .. }, TrialBody::Contexts(items)) =
            (&prediction.data, &predicted.trial.body)
        {
            return self.contradiction(index, items, observation);
        }
        if judge.options.launch && observation.outcome == Outcome::Accepted {
            return self.judge_kernel_output(index, prediction, observation);
        }
        let unseen = match (&prediction.data, observation.outcome) {
            (Expectation::Accepted { variables, .. }, Outcome::Accepted) => unseen(variables, &observation),
            _ => 0,
        };
        let comparison = compare_data(&prediction.data, &observation);
        let agrees = matches!(comparison, DataComparison::Agrees | DataComparison::Unobserved);
        if agrees
            && observation.complete
            && let Some(extra) = undeclared(&predicted.trial.items(), &observation)
        {
            return TrialResult::new(self.unexplained(index, Class::WrongLayout, Some(extra), observation));
        }
        let verdict = match comparison {
            DataComparison::Agrees => Verdict::Conforms,
            DataComparison::Unobserved if matches!(prediction.data, Expectation::Unmodelled { .. }) => {
                Verdict::NotCompared(NotCompared::Unmodelled)
            }
            DataComparison::Unobserved => unobserved(judge.subject, &observation),
            DataComparison::Differs(class, variable) => {
                self.explained_data(index, prediction, class, variable, observation)
            }
        };
        TrialResult { unseen, ..TrialResult::new(verdict) }
    }

    /// Judges a trial with data that differ from the expectation.
    fn explained_data(
        &mut self,
        index: usize,
        prediction: &Prediction,
        class: Class,
        variable: Option<String>,
        observation: Observation,
    ) -> Verdict {
        let (judge, predicted) = (self.judge, &self.predicted[index]);
        let is_partial =
            matches!(&prediction.data, Expectation::Accepted { unmodelled, .. } if !unmodelled.is_empty());
        if class == Class::RefusesValid && is_partial {
            // The rejected part may be one without a rule.
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let differing = DifferingTrial { judge, predicted, prediction, observation: &observation };
        let explanation = differing.explain_data(class);
        if class == Class::RefusesValid
            && explanation.is_none()
            && prediction.kernels.iter().any(|kernel| matches!(kernel.outcome, KernelOutcome::Unmodelled(_)))
        {
            // The same holds for kernels without a rule, unless a listed rule explains the rejection.
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let suspected = self.suspected(&explanation, || differing.data_hypotheses(class));
        let contains = match explanation {
            None => {
                let (module, trace) = (differing.module(), prediction.trace());
                contained(&module, &trace, judge.implementation(), &observation)
            }
            Some(_) => Vec::new(),
        };
        self.difference(index, class, variable, observation, explanation, suspected).containing(contains)
    }

    /// Judges an accepted trial by the observed output of its kernels.
    fn judge_kernel_output(
        &mut self,
        index: usize,
        prediction: &Prediction,
        observation: Observation,
    ) -> TrialResult {
        let (judge, predicted) = (self.judge, &self.predicted[index]);
        let mut result = TrialResult::new(Verdict::NotCompared(NotCompared::Unmodelled));
        let class = match prediction.data {
            Expectation::Unmodelled { .. } => return result,
            Expectation::Refused { .. } => Class::AcceptsInvalid,
            Expectation::Accepted { .. } => {
                let comparison = kernel::compare(&prediction.kernels, &observation);
                result.operands = comparison.share;
                let modelled = prediction
                    .kernels
                    .iter()
                    .any(|kernel| matches!(kernel.outcome, KernelOutcome::Output(_)));
                match comparison.differs {
                    Some(differs) => {
                        result.trace = differs.trace;
                        differs.class
                    }
                    None if !modelled => return result,
                    None if comparison.share.seen == 0 => {
                        result.verdict = Verdict::NotCompared(NotCompared::Unobserved);
                        result.why = why_unseen(&prediction.kernels, &observation);
                        return result;
                    }
                    // Another result would be no deviation, so this one proves nothing.
                    None if let Some((kernel, question)) = judge.undefined_by_some(predicted, prediction) => {
                        return result.undefined_by(kernel, question);
                    }
                    None => {
                        let (verdict, conforming) = (Verdict::Conforms, Some(observation));
                        return TrialResult { verdict, conforming, ..result };
                    }
                }
            }
        };
        let differing = DifferingTrial { judge, predicted, prediction, observation: &observation };
        let module = differing.module();
        let explanation = differing.explain_kernels(&module);
        if explanation.is_none()
            && let Some((kernel, question)) = judge.undefined_by_some(predicted, prediction)
        {
            return result.undefined_by(kernel, question);
        }
        let suspected = self.suspected(&explanation, || vec![differing.kernel_alternatives(&module)]);
        let verdict = self.difference(index, class, None, observation, explanation, suspected);
        TrialResult { verdict, ..result }
    }

    /// Returns the wrong rules that predict a difference that nothing listed explains. The search takes long,
    /// so only the first differences of each batch are examined.
    fn suspected(
        &mut self,
        explanation: &Option<Explanation>,
        search: impl FnOnce() -> Vec<Alternatives>,
    ) -> Option<Vec<Alternatives>> {
        if explanation.is_some() {
            return None;
        }
        self.searched_differences += 1;
        (self.searched_differences <= MOST_SEARCHED).then(search)
    }

    fn difference(
        &mut self,
        index: usize,
        class: Class,
        variable: Option<String>,
        observed: Observation,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let trial = self.predicted[index].trial;
        let expected = match &explanation {
            Some(explanation) if self.repeats(trial, class, explanation) => Expected::default(),
            _ => self.judge.expected(trial, class),
        };
        Verdict::from_difference(Difference { class, variable, expected, observed, explanation, suspected })
    }

    /// Returns true if a shorter trial of the batch has the same explanation.
    fn repeats(&mut self, trial: &Trial, class: Class, explanation: &Explanation) -> bool {
        let weight = (trial.weight(), trial.id);
        let shortest = self.shortest.entry((class, explanation.clone())).or_insert((usize::MAX, 0));
        let repeats = *shortest < weight;
        *shortest = weight.min(*shortest);
        repeats
    }

    /// Builds a difference without looking for its cause: the subject contradicts itself.
    pub fn unexplained(
        &mut self,
        index: usize,
        class: Class,
        variable: Option<String>,
        observation: Observation,
    ) -> Verdict {
        self.difference(index, class, variable, observation, None, Some(Vec::new()))
    }

    /// Judges a constant that has no known value but must be the same in every slot.
    fn contradiction(&mut self, index: usize, items: &[Item], observation: Observation) -> TrialResult {
        let (class, variable) = match observation.outcome {
            Outcome::Crashed => (Class::Crash, None),
            Outcome::TimedOut => (Class::Hang, None),
            Outcome::Accepted => match slots::compare(items, &observation) {
                SlotComparison::Differ(variable) => (Class::Inconsistent, Some(variable)),
                SlotComparison::Agree => return TrialResult::new(Verdict::Conforms),
                SlotComparison::Apart => {
                    return TrialResult::new(Verdict::NotCompared(NotCompared::Unobserved));
                }
            },
            Outcome::Refused | Outcome::Unsupported | Outcome::Unavailable => {
                return TrialResult::new(Verdict::NotCompared(NotCompared::Unmodelled));
            }
        };
        TrialResult::new(self.unexplained(index, class, variable, observation))
    }
}

impl TrialResult {
    /// Returns the result for a trial with a kernel that is undefined under some answer to this question.
    fn undefined_by(self, kernel: Text, question: Question) -> TrialResult {
        let reason = format!("undefined by one answer to {}", question.name());
        let why =
            WhyNotCompared { part: format!("kernel {kernel}"), line: None, reason, detail: None, said: None };
        TrialResult { why: Some(Box::new(why)), ..self }
    }
}

/// Returns the reason why the subject shows no output of the kernels.
fn why_unseen(kernels: &[Kernel], observation: &Observation) -> Option<Box<WhyNotCompared>> {
    let kernel = kernels.iter().find(|kernel| kernel.leaves_output())?;
    let seen = observation.kernels.get(kernel.name.as_str());
    let reason = seen.and_then(|seen| seen.reason.clone());
    let reason = reason.unwrap_or_else(|| "the subject shows nothing of what it leaves".to_owned());
    Some(Box::new(WhyNotCompared {
        part: format!("kernel {}", kernel.name),
        line: None,
        reason,
        detail: None,
        said: None,
    }))
}

/// A trial with an observation that differs from the prediction.
struct DifferingTrial<'d> {
    judge: &'d Judge<'d>,
    predicted: &'d PredictedTrial<'d>,
    prediction: &'d Prediction,
    observation: &'d Observation,
}

impl DifferingTrial<'_> {
    fn module(&self) -> Module {
        self.predicted.trial.module(&self.judge.options.header)
    }

    /// Returns the expected data under these rules.
    fn data_under(&self, rules: &Rules) -> Expectation {
        self.judge.prediction(self.predicted.trial, rules).data
    }

    /// Returns whether these rules predict the observed data, and the clauses and questions used.
    fn data_agrees_under(&self, rules: &Rules) -> (bool, Trace) {
        let prediction = self.judge.prediction(self.predicted.trial, rules);
        let agrees = matches!(compare_data(&prediction.data, self.observation), DataComparison::Agrees);
        (agrees, prediction.trace())
    }

    /// Finds the known deviations and interpretations that predict the observed data.
    fn explain_data(&self, class: Class) -> Option<Explanation> {
        let (rules, trace) = (&self.judge.rules, self.prediction.trace());
        let implementation = self.judge.implementation();
        match class {
            Class::Hang => self.explain_by_pattern(&self.module(), &trace),
            Class::Crash => {
                let by_pattern = || {
                    let show_again = |text: &str| self.judge.show_again(text);
                    reason(&self.module(), &trace, implementation, self.observation, Some(&show_again))
                };
                explain_crash(&trace, rules, implementation, self.observation, by_pattern, |rules| {
                    self.judge.expectation(self.predicted.trial, rules).1
                })
            }
            _ if self.observation.outcome == Outcome::Accepted => self
                .judge
                .explain_alone(self.predicted, self.observation)
                .or_else(|| {
                    let module = self.module();
                    let wrong = wrong_places(&module, implementation);
                    explain_variables(
                        rules,
                        implementation,
                        |rules| self.data_under(rules),
                        self.observation,
                        |name| explain_wrong(&wrong, &module, [name].into_iter()),
                    )
                })
                .or_else(|| self.explain_by_pattern(&self.module(), &trace)),
            _ => explain(&trace, rules, implementation, |rules| self.data_agrees_under(rules))
                .or_else(|| self.explain_by_pattern(&self.module(), &trace)),
        }
    }

    /// Finds the known deviation that explains the observation by its pattern.
    fn explain_by_pattern(&self, module: &Module, trace: &Trace) -> Option<Explanation> {
        let show_again = |text: &str| self.judge.show_again(text);
        explain_match(module, trace, self.judge.implementation(), self.observation, Some(&show_again))
    }

    /// Returns the wrong rules that predict the observed data, for each differing variable or for the whole
    /// program.
    fn data_hypotheses(&self, class: Class) -> Vec<Alternatives> {
        let (rules, trace) = (&self.judge.rules, self.prediction.trace());
        let implementation = self.judge.implementation();
        let by_variable = match (class, self.observation.outcome) {
            (Class::Hang, _) => return vec![Vec::new()],
            (Class::Crash, _) => return vec![crash_alternatives(&trace, implementation, self.observation)],
            (_, Outcome::Accepted) => {
                variable_alternatives(rules, implementation, |rules| self.data_under(rules), self.observation)
            }
            _ => None,
        };
        by_variable.unwrap_or_else(|| {
            vec![alternatives(&trace, rules, implementation, |rules| self.data_agrees_under(rules))]
        })
    }

    /// Finds the known deviations and interpretations that predict the observed output of the kernels.
    fn explain_kernels(&self, module: &Module) -> Option<Explanation> {
        let (rules, trace) = (&self.judge.rules, &self.predicted.trace);
        let implementation = self.judge.implementation();
        explain(trace, rules, implementation, |rules| kernel::agrees(module, rules, self.observation))
            .or_else(|| written_over(rules, implementation, |rules| self.data_under(rules), self.observation))
            .or_else(|| self.explain_effects_on_device(module))
            .or_else(|| self.explain_by_pattern(module, trace))
            .or_else(|| {
                explain_wrong(&wrong_places(module, implementation), module, self.differing_kernels())
            })
    }

    /// Finds the known deviations that contradict no observed output. A device also shows the effects of a
    /// wrong address, which the oracle does not follow.
    fn explain_effects_on_device(&self, module: &Module) -> Option<Explanation> {
        if !self.observation.from_memory {
            return None;
        }
        let (rules, implementation) = (&self.judge.rules, self.judge.implementation());
        explain(&self.predicted.trace, rules, implementation, |rules| {
            kernel::may_leave(module, rules, self.observation)
        })
        .filter(|explanation| explanation.readings.is_empty())
    }

    /// Returns the names of the kernels with output that differs from the prediction.
    fn differing_kernels(&self) -> impl Iterator<Item = &str> + Clone {
        self.prediction
            .kernels
            .iter()
            .filter(|kernel| {
                kernel::compare(std::slice::from_ref(*kernel), self.observation).differs.is_some()
            })
            .map(|kernel| kernel.name.as_str())
    }

    /// Returns the wrong rules that predict the observed output of the kernels.
    fn kernel_alternatives(&self, module: &Module) -> Alternatives {
        alternatives(&self.predicted.trace, &self.judge.rules, self.judge.implementation(), |rules| {
            kernel::agrees(module, rules, self.observation)
        })
    }
}

impl Judge<'_> {
    /// Shows the subject another text and returns the observation; `None` if that fails.
    fn show_again(&self, text: &str) -> Option<Observation> {
        self.observe(text, &[]).ok()
    }

    /// Finds the hypotheses that predict exactly these bits of an expression.
    fn explain_bits(&self, predicted: &PredictedTrial<'_>, bits: u64) -> Option<Explanation> {
        explain(&predicted.trace, &self.rules, self.implementation(), |rules| {
            let (expectation, trace) = self.expectation(predicted.trial, rules);
            (matches!(expectation, TrialExpectation::Bits(expected) if expected == bits), trace)
        })
    }

    /// Finds the hypotheses that predict the only variable of an expression that stands alone, if its bits
    /// differ.
    fn explain_alone(
        &self,
        predicted: &PredictedTrial<'_>,
        observation: &Observation,
    ) -> Option<Explanation> {
        let TrialBody::Expression { ty, .. } = predicted.trial.body else { return None };
        let bytes = observation.variables.get(ALONE)?.bytes.as_deref()?;
        let bits = little_endian(bytes.get(..ty.size()? as usize)?);
        let explanation = self.explain_bits(predicted, bits)?;
        let explained = self.prediction(predicted.trial, &explanation.rules(&self.rules)).data;
        matches!(compare_data(&explained, observation), DataComparison::Agrees).then_some(explanation)
    }

    /// Returns a kernel that is undefined under some answer to an open question but defined under the default
    /// one, and that question. Example: an access that is misaligned only if an index counts in other units.
    /// An implementation that follows that answer may do anything. Answers under which the program is invalid
    /// do not count, because the subject has accepted the program.
    fn undefined_by_some(
        &self,
        predicted: &PredictedTrial<'_>,
        by_default: &Prediction,
    ) -> Option<(Text, Question)> {
        // A given answer is the only one that conforms.
        for question in
            predicted.trace.questions.iter().filter(|&question| !self.rules.given.contains(question))
        {
            for answer in 0..question.answers().len() {
                let Some(readings) = self.rules.readings.with(question, answer) else { continue };
                let other = self.prediction(predicted.trial, &Rules { readings, ..self.rules });
                if matches!(other.data, Expectation::Unmodelled { .. }) {
                    return Some((by_default.kernels.first()?.name.clone(), question));
                }
                let undefined = other
                    .kernels
                    .iter()
                    .find(|kernel| kernel.may_do_anything() && is_defined(&by_default.kernels, &kernel.name));
                if let Some(kernel) = undefined {
                    return Some((kernel.name.clone(), question));
                }
            }
        }
        None
    }

    fn expected(&self, trial: &Trial, class: Class) -> Expected {
        let text = trial.text(&self.options.header);
        // The text is parsed again so that a refusal names a line of it.
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        let answer = if self.options.launch {
            predict(&module, &self.rules).answer(&text, &self.rules.readings)
        } else {
            expect(&module, &self.rules).answer(&text, &self.rules.readings)
        };
        expected_of(class, answer, &module, &self.rules)
    }
}

/// Returns true if the kernel with this name exists and its behaviour is defined.
fn is_defined(kernels: &[Kernel], name: &Text) -> bool {
    kernels.iter().any(|kernel| kernel.name == *name && !kernel.may_do_anything())
}
