//! Judges many trials with few runs of the subject.
//!
//! A trial gets the same verdict in a batch as alone: an accepted batch shows the result of each trial
//! separately, and a batch that fails is split until every failing trial stands alone. Trials that will
//! probably be rejected are shown in modules of their own, because one rejection hides every other result of
//! its module.
//!
//! A judge keeps no state. Its verdicts depend on the batch, on the deviations listed for the subject and on
//! the subject's [`Profile`], never on earlier batches.

mod asking;
mod batch;
mod excluding;
mod explaining;
mod settling;

use std::borrow::Borrow;

use ptxsmith_oracle::{
    Clause, Evaluator, Expectation, KernelOutcome, Prediction, Rules, Stop, Stored, Trace, expect,
    predict_contents,
};
use ptxsmith_subject::{Error, Launch, Observation, OutputForm, Request, RequestedVariable, Subject};
use ptxsmith_syntax::Header;

use crate::{
    implementation::Implementation,
    profile::{ExpectedOutcome, Forecast, Forecaster, Profile},
    requested,
    trial::{Trial, TrialBody},
    verdict::{NotCompared, Requirement, TrialVerdict},
};
pub(crate) use batch::{CONST_BYTES, little_endian};
use settling::BatchVerdicts;

/// Options for the composition and the comparison of batches.
#[derive(Clone, Debug)]
pub struct JudgeOptions {
    /// The header of every module.
    pub header: Header,
    /// The target to assemble for; `None` for the target of the header. Set if the subject supports only
    /// later targets.
    pub target: Option<String>,
    /// The form of output. Kernels are always compiled to relocatable output, which names the symbols that
    /// they use.
    pub form: OutputForm,
    /// One trial in this many is also shown alone, to check that its verdict does not depend on the rest of
    /// the batch. Zero disables the check.
    pub recheck_every: u64,
    /// Whether trials contain kernels to be run. They are judged by the content of their output buffers
    /// instead of the content of their variables.
    pub launch: bool,
}

impl Default for JudgeOptions {
    fn default() -> JudgeOptions {
        JudgeOptions {
            header: Header::default(),
            target: None,
            form: OutputForm::Executable,
            recheck_every: 100_000,
            launch: false,
        }
    }
}

impl JudgeOptions {
    /// Returns the target to assemble for.
    pub(crate) fn target(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.header.target)
    }
}

/// Shows trials to one subject and judges them.
pub struct Judge<'a> {
    subject: &'a dyn Subject,
    pub(crate) rules: Rules,
    pub(crate) options: JudgeOptions,
    pub(crate) version: (u32, u32),
    pub(crate) forecaster: Forecaster,
}

/// The expected result of a trial, in the form that is cheapest to compare.
#[derive(Clone, Debug)]
enum TrialExpectation {
    /// The value of an expression as bits.
    Bits(u64),
    /// Any other expectation. It has no kernels if the kernels of the trial are not run.
    Module(Prediction),
}

impl TrialExpectation {
    /// Returns the outcome that the specification requires; `None` if there is no rule.
    fn requirement(&self) -> Option<Requirement> {
        match self {
            TrialExpectation::Bits(_) => Some(Requirement::Accept),
            TrialExpectation::Module(prediction) => Requirement::from_expectation(&prediction.data),
        }
    }

    /// Returns true if no implementation can follow one of the expectations and violate the other.
    fn is_same(&self, other: &TrialExpectation) -> bool {
        match (self, other) {
            (TrialExpectation::Bits(bits), TrialExpectation::Bits(other_bits)) => bits == other_bits,
            (TrialExpectation::Module(prediction), TrialExpectation::Module(other_prediction)) => {
                match (self.requirement(), other.requirement()) {
                    (Some(Requirement::Accept), Some(Requirement::Accept)) => {
                        !prediction.differs_from(other_prediction)
                    }
                    (requirement, other_requirement) => requirement == other_requirement,
                }
            }
            _ => false,
        }
    }
}

/// A trial with its expectation.
struct PredictedTrial<'t> {
    trial: &'t Trial,
    expectation: TrialExpectation,
    trace: Trace,
}

impl PredictedTrial<'_> {
    fn requirement(&self) -> Option<Requirement> {
        self.expectation.requirement()
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge for a subject that has not been profiled; only its listed deviations are known.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: JudgeOptions) -> Judge<'a> {
        let version = options.header.version();
        let forecaster = Forecaster::new(
            &rules,
            Implementation::from_description(subject.description()),
            Profile::default(),
        );
        Judge { subject, rules, options, version, forecaster }
    }

    /// Adds the profile of the subject. It decides which trials share a module and which of two explanations
    /// is preferred; no verdict depends on it.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Judge<'a> {
        Judge { forecaster: Forecaster::new(&self.rules, self.implementation(), profile), ..self }
    }

    fn implementation(&self) -> Implementation<'a> {
        Implementation::from_description(self.subject.description())
    }

    /// Judges trials and returns the verdicts in the same order.
    ///
    /// # Errors
    /// Fails only if the host system or our own code fails. A crash of the subject is a verdict.
    pub fn batch<T: Borrow<Trial>>(&self, trials: &[T]) -> Result<Vec<TrialVerdict>, Error> {
        let predicted: Vec<PredictedTrial<'_>> =
            trials.iter().map(|trial| self.predicted(trial.borrow())).collect();
        let mut batch = BatchVerdicts::new(self, &predicted);
        let mut accepted = Vec::new();
        let mut doubtful = Vec::new();
        let mut refused = Vec::new();
        for (index, predicted) in predicted.iter().enumerate() {
            match (predicted.requirement(), &predicted.trial.body) {
                (None, TrialBody::Contexts(_)) => accepted.push(index),
                (None, _) if self.options.launch => accepted.push(index),
                (None, _) => batch.set_not_compared(index, NotCompared::Unmodelled),
                _ => match self.forecast(predicted) {
                    Forecast::Accepted => accepted.push(index),
                    Forecast::Doubtful => doubtful.push(index),
                    Forecast::Refused => refused.push(index),
                    Forecast::Crash => drop(batch.judge_alone(index)?),
                },
            }
        }
        batch.judge_separately(refused)?;
        for trials in [accepted, doubtful] {
            for group in batch::groups(&predicted, trials, self.options.launch) {
                batch.judge_group(group)?;
            }
        }
        batch.recheck()?;
        Ok(batch.conclude())
    }

    /// Judges one trial; `text` is shown to the subject unchanged.
    pub(crate) fn text(&self, trial: &Trial, text: &str) -> Result<TrialVerdict, Error> {
        let predicted = [self.predicted(trial)];
        let observation = self.observe(text, &batch::launches(&predicted[0], ""))?;
        let mut batch = BatchVerdicts::new(self, &predicted);
        batch.judge_observed(0, observation);
        Ok(batch.conclude().remove(0))
    }

    /// Returns the probable behaviour of the subject for a trial.
    fn forecast(&self, predicted: &PredictedTrial<'_>) -> Forecast {
        let PredictedTrial { trial, trace, .. } = *predicted;
        let refused = predicted.requirement() == Some(Requirement::Refuse);
        // Only an expression is evaluated under the followed rules as well. A program has too many possible
        // answers.
        let is_expression = matches!(trial.body, TrialBody::Expression { .. });
        let concerned = is_expression && self.forecaster.concerns(trace.questions);
        let followed = concerned.then(|| self.expected_outcome(trial, &self.forecaster.followed));
        self.forecaster.forecast(ExpectedOutcome { refused, trace }, followed, |rules| {
            self.expected_outcome(trial, rules)
        })
    }

    /// Returns the part of the trial's expectation under these rules that forecasts depend on.
    fn expected_outcome(&self, trial: &Trial, rules: &Rules) -> ExpectedOutcome {
        let (expectation, trace) = self.expectation(trial, rules);
        ExpectedOutcome { refused: expectation.requirement() == Some(Requirement::Refuse), trace }
    }

    fn predicted<'t>(&self, trial: &'t Trial) -> PredictedTrial<'t> {
        let (expectation, trace) = self.expectation(trial, &self.rules);
        PredictedTrial { trial, expectation, trace }
    }

    /// Evaluates the trial under these rules, in the form that is cheapest to compare.
    fn expectation(&self, trial: &Trial, rules: &Rules) -> (TrialExpectation, Trace) {
        let TrialBody::Expression { ty, expr, .. } = &trial.body else {
            let prediction = self.prediction(trial, rules);
            let trace = prediction.trace();
            return (TrialExpectation::Module(prediction), trace);
        };
        let mut trace = Trace::default();
        let data = match Evaluator::new(rules, self.version).store(expr, *ty, &mut trace) {
            Ok(Stored::Bits(bits)) => return (TrialExpectation::Bits(bits & mask(ty.bytes())), trace),
            Ok(Stored::Wide(_)) => unmodelled("an expression of more than 64 bits"),
            Ok(Stored::Address(..)) => unmodelled("an expression that is an address"),
            Err(Stop::Unmodelled(reason)) => unmodelled(reason),
            Err(Stop::Refused(refusal)) => Expectation::Refused { refusal, trace },
        };
        (TrialExpectation::Module(Prediction { data, kernels: Vec::new(), undecided: Vec::new() }), trace)
    }

    /// Evaluates the trial as a module of its own under these rules. Variables without a rule are left out if
    /// there are others with one.
    fn prediction(&self, trial: &Trial, rules: &Rules) -> Prediction {
        let module = trial.module(&self.options.header);
        if self.options.launch {
            return self.without_absolute_places(predict_contents(&module, rules));
        }
        let data = match expect(&module, rules) {
            // The slots of one constant are compared only if all of them have a rule.
            Expectation::Accepted { unmodelled, .. }
                if !unmodelled.is_empty() && matches!(trial.body, TrialBody::Contexts(_)) =>
            {
                Expectation::Unmodelled { reason: unmodelled[0].reason, parts: unmodelled }
            }
            data => data,
        };
        Prediction { data, kernels: Vec::new(), undecided: Vec::new() }
    }

    /// Makes kernels that access absolute addresses unmodelled if the subject runs them on a device, where
    /// such addresses are not mapped.
    fn without_absolute_places(&self, prediction: Prediction) -> Prediction {
        if !self.subject.description().reads_memory() {
            return prediction;
        }
        let mut kernels = prediction.kernels;
        for kernel in &mut kernels {
            if kernel.trace.clauses.contains(Clause::OperandAbsolute) {
                kernel.outcome = KernelOutcome::Unmodelled("an absolute place, which no device has");
            }
        }
        Prediction { kernels, ..prediction }
    }

    pub(crate) fn observe(&self, text: &str, launches: &[Launch]) -> Result<Observation, Error> {
        let read = self.requested_variables(text);
        self.subject.observe(&self.request(text, launches, &read))
    }

    /// Shows several modules separately. No two of them declare the same name.
    fn observe_each(&self, modules: &[(String, Vec<Launch>)]) -> Result<Vec<Observation>, Error> {
        let read: Vec<_> = modules.iter().map(|(text, _)| self.requested_variables(text)).collect();
        let requests: Vec<Request<'_>> = modules
            .iter()
            .zip(&read)
            .map(|((text, launches), read)| self.request(text, launches, read))
            .collect();
        self.subject.observe_each(&requests)
    }

    fn request<'r>(
        &'r self,
        text: &'r str,
        launches: &'r [Launch],
        read: &'r [RequestedVariable],
    ) -> Request<'r> {
        let form = if self.options.launch { OutputForm::Relocatable } else { self.options.form };
        let request = Request::new(text, self.options.target()).in_form(form).launching(launches);
        Request { read, ..request }
    }

    /// Returns the variables that the subject has to be asked for to show the content of a module.
    fn requested_variables(&self, text: &str) -> Vec<RequestedVariable> {
        let description = self.subject.description();
        if description.lists == Some(true) || self.options.launch {
            return Vec::new();
        }
        let module = ptxsmith_syntax::parse(text);
        module.map_or_else(|_| Vec::new(), |module| requested::variables(description, &module, &self.rules))
    }
}

fn unmodelled(reason: &'static str) -> Expectation {
    Expectation::Unmodelled { reason, parts: Vec::new() }
}

/// Returns a mask of the bits of a value of `size` bytes.
pub(crate) fn mask(size: u64) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}
