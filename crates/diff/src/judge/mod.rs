//! Judges many trials with few runs of the subject.
//!
//! A trial gets the same verdict in a batch as alone: an accepted batch shows the result of each trial separately,
//! and a batch that fails is split until every failing trial stands alone. Trials that will probably be rejected are
//! shown in modules of their own, because one rejection hides every other result of its module.
//!
//! A judge keeps no state. Its verdicts depend on the batch, on the deviations listed for the subject and on the
//! subject's [`Profile`], never on earlier batches.

mod asking;
mod batch;
mod explaining;
mod settling;

use std::borrow::Borrow;

use ptxsmith_oracle::{
    Clause, Evaluator, Expectation, Kernel, Left, Prediction, Rules, Stop, Stored, Trace, expect,
    predict_contents,
};
use ptxsmith_subject::{Error, Launch, Observation, OutputForm, Read, Request, Subject};
use ptxsmith_syntax::Header;

use crate::{
    maker::Maker,
    profile::{Expected, Forecast, Plan, Profile},
    read,
    trial::{Body, Trial},
    verdict::{Judged, Must, NotCompared},
};
pub(crate) use batch::{CONST_BYTES, little_endian};
use settling::Settling;

/// Options for the composition and the comparison of batches.
#[derive(Clone, Debug)]
pub struct Options {
    /// The header of every module.
    pub header: Header,
    /// The target to assemble for; `None` for the target of the header. Set if the subject supports only later
    /// targets.
    pub target: Option<String>,
    /// The form of output. Kernels are always compiled to relocatable output, which names the symbols that they use.
    pub form: OutputForm,
    /// One trial in this many is also shown alone, to check that its verdict does not depend on the rest of the
    /// batch. Zero disables the check.
    pub recheck_every: u64,
    /// Whether trials contain kernels to be run. They are judged by the content of their output buffers instead of
    /// the content of their variables.
    pub launch: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            header: Header::default(),
            target: None,
            form: OutputForm::Executable,
            recheck_every: 100_000,
            launch: false,
        }
    }
}

impl Options {
    /// Returns the target to assemble for.
    pub(crate) fn target(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.header.target)
    }
}

/// Shows trials to one subject and judges them.
pub struct Judge<'a> {
    subject: &'a dyn Subject,
    pub(crate) rules: Rules,
    pub(crate) options: Options,
    pub(crate) version: (u32, u32),
    pub(crate) plan: Plan,
}

/// The expectation for a trial, in the form that is cheapest to compare.
#[derive(Clone, Debug)]
enum Answer {
    /// The value of an expression as bits.
    Bits(u64),
    /// Any other expectation. It has no kernels if the kernels of the trial are not run.
    Module(Prediction),
}

impl Answer {
    /// Returns the outcome that the specification requires; `None` if there is no rule.
    fn must(&self) -> Option<Must> {
        match self {
            Answer::Bits(_) => Some(Must::Accept),
            Answer::Module(prediction) => Must::of(&prediction.data),
        }
    }

    /// Returns true if no implementation can follow one of the expectations and violate the other.
    fn is_same(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Bits(own), Answer::Bits(others)) => own == others,
            (Answer::Module(own), Answer::Module(others)) => match (self.must(), other.must()) {
                (Some(Must::Accept), Some(Must::Accept)) => !own.differs_from(others),
                (own, others) => own == others,
            },
            _ => false,
        }
    }
}

/// A trial with its expectation.
struct Predicted<'t> {
    trial: &'t Trial,
    answer: Answer,
    trace: Trace,
}

impl Predicted<'_> {
    fn must(&self) -> Option<Must> {
        self.answer.must()
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge for a subject that has not been profiled; only its listed deviations are known.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: Options) -> Judge<'a> {
        let version = options.header.version();
        let plan = Plan::new(&rules, Maker::of(subject.description()), Profile::default());
        Judge { subject, rules, options, version, plan }
    }

    /// Adds the profile of the subject. It decides which trials share a module and which of two explanations is
    /// preferred; no verdict depends on it.
    #[must_use]
    pub fn knowing(self, profile: Profile) -> Judge<'a> {
        Judge { plan: Plan::new(&self.rules, self.maker(), profile), ..self }
    }

    fn maker(&self) -> Maker<'a> {
        Maker::of(self.subject.description())
    }

    /// Judges trials and returns the verdicts in the same order.
    ///
    /// # Errors
    /// Fails only if the host system or our own code fails. A crash of the subject is a verdict.
    pub fn batch<T: Borrow<Trial>>(&self, trials: &[T]) -> Result<Vec<Judged>, Error> {
        let predicted: Vec<Predicted<'_>> =
            trials.iter().map(|trial| self.predicted(trial.borrow())).collect();
        let mut settling = Settling::of(self, &predicted);
        let (mut together, mut doubtful, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (at, p) in predicted.iter().enumerate() {
            match (p.must(), &p.trial.body) {
                (None, Body::Contexts(_)) => together.push(at),
                (None, _) if self.options.launch => together.push(at),
                (None, _) => settling.not_compared(at, NotCompared::Unmodelled),
                _ => match self.forecast(p) {
                    Forecast::Accepted => together.push(at),
                    Forecast::Doubtful => doubtful.push(at),
                    Forecast::Refused => refused.push(at),
                    Forecast::Dead => drop(settling.alone(at)?),
                },
            }
        }
        settling.apart(refused)?;
        for likely in [together, doubtful] {
            for group in batch::groups(&predicted, likely, self.options.launch) {
                settling.together(group)?;
            }
        }
        settling.recheck()?;
        Ok(settling.conclude())
    }

    /// Judges one trial; `text` is shown to the subject unchanged.
    pub(crate) fn text(&self, trial: &Trial, text: &str) -> Result<Judged, Error> {
        let predicted = [self.predicted(trial)];
        let observation = self.observe(text, &batch::launches(&predicted[0], ""))?;
        let mut settling = Settling::of(self, &predicted);
        settling.take(0, observation);
        Ok(settling.conclude().remove(0))
    }

    /// Returns the probable behaviour of the subject for a trial.
    fn forecast(&self, p: &Predicted<'_>) -> Forecast {
        let under = |rules: &Rules| {
            let (answer, trace) = self.answer(p.trial, rules);
            Expected { refused: answer.must() == Some(Must::Refuse), trace }
        };
        let usual = Expected { refused: p.must() == Some(Must::Refuse), trace: p.trace };
        // Only an expression is evaluated under the followed rules as well. A program has too many possible answers.
        let is_expression = matches!(p.trial.body, Body::Expression { .. });
        let concerned = is_expression && self.plan.concerns(p.trace.questions);
        let followed = concerned.then(|| under(&self.plan.followed));
        self.plan.forecast(usual, followed, under)
    }

    fn predicted<'t>(&self, trial: &'t Trial) -> Predicted<'t> {
        let (answer, trace) = self.answer(trial, &self.rules);
        Predicted { trial, answer, trace }
    }

    /// Evaluates the trial under these rules, in the form that is cheapest to compare.
    fn answer(&self, trial: &Trial, rules: &Rules) -> (Answer, Trace) {
        let Body::Expression { ty, expr, .. } = &trial.body else {
            let prediction = self.prediction(trial, rules);
            let trace = prediction.trace();
            return (Answer::Module(prediction), trace);
        };
        let unmodelled = |reason| Expectation::Unmodelled { reason, parts: Vec::new() };
        let mut trace = Trace::default();
        let data = match Evaluator::new(rules, self.version).store(expr, *ty, &mut trace) {
            Ok(Stored::Bits(bits)) => return (Answer::Bits(bits & mask(ty.bytes())), trace),
            Ok(Stored::Wide(_)) => unmodelled("an expression of more than 64 bits"),
            Ok(Stored::Address(..)) => unmodelled("an expression that is an address"),
            Err(Stop::Unmodelled(reason)) => unmodelled(reason),
            Err(Stop::Refused(refusal)) => Expectation::Refused { refusal, trace },
        };
        (Answer::Module(Prediction { data, kernels: Vec::new(), undecided: Vec::new() }), trace)
    }

    /// Evaluates the trial as a module of its own under these rules. Variables without a rule are left out if there
    /// are others with one.
    fn prediction(&self, trial: &Trial, rules: &Rules) -> Prediction {
        let module = trial.module(&self.options.header);
        if self.options.launch {
            return self.without_absolute_places(predict_contents(&module, rules));
        }
        let data = match expect(&module, rules) {
            // The slots of one constant are compared only if all of them have a rule.
            Expectation::Accepted { unmodelled, .. }
                if !unmodelled.is_empty() && matches!(trial.body, Body::Contexts(_)) =>
            {
                Expectation::Unmodelled { reason: unmodelled[0].reason, parts: unmodelled }
            }
            data => data,
        };
        Prediction { data, kernels: Vec::new(), undecided: Vec::new() }
    }

    /// Makes kernels that access absolute addresses unmodelled if the subject runs them on a device, where such
    /// addresses are not mapped.
    fn without_absolute_places(&self, prediction: Prediction) -> Prediction {
        let is_absolute = |kernel: &Kernel| kernel.trace.clauses.contains(Clause::OperandAbsolute);
        let runs = self.subject.description().reads_memory();
        let kernels = prediction.kernels.into_iter().map(|kernel| match runs && is_absolute(&kernel) {
            true => Kernel { left: Left::Unmodelled("an absolute place, which no device has"), ..kernel },
            false => kernel,
        });
        Prediction { kernels: kernels.collect(), ..prediction }
    }

    pub(crate) fn observe(&self, text: &str, launches: &[Launch]) -> Result<Observation, Error> {
        let read = self.wanted(text);
        self.subject.observe(&self.request(text, launches, &read))
    }

    /// Shows several modules separately. No two of them declare the same name.
    fn observe_each(&self, modules: &[(String, Vec<Launch>)]) -> Result<Vec<Observation>, Error> {
        let read: Vec<_> = modules.iter().map(|(text, _)| self.wanted(text)).collect();
        let each = modules.iter().zip(&read);
        let requests = each.map(|((text, launches), read)| self.request(text, launches, read));
        self.subject.observe_each(&requests.collect::<Vec<_>>())
    }

    fn request<'r>(&'r self, text: &'r str, launches: &'r [Launch], read: &'r [Read]) -> Request<'r> {
        let form = if self.options.launch { OutputForm::Relocatable } else { self.options.form };
        let request = Request::new(text, self.options.target()).in_form(form).launching(launches);
        Request { read, ..request }
    }

    /// Returns the variables that the subject has to be asked for to show the content of a module.
    fn wanted(&self, text: &str) -> Vec<Read> {
        let description = self.subject.description();
        if description.lists == Some(true) || self.options.launch {
            return Vec::new();
        }
        let module = ptxsmith_syntax::parse(text);
        module.map_or_else(|_| Vec::new(), |module| read::wanted(description, &module, &self.rules))
    }
}

/// Returns a mask of the bits of a value of `size` bytes.
pub(crate) fn mask(size: u64) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}
