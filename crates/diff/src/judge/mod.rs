//! Judging many trials with few runs of the subject.
//!
//! The verdict of a trial in a batch is the verdict that it gets alone: a batch that is accepted shows each trial's
//! answer apart, and one that is not is split until it does. Trials that will be refused are shown in modules of their
//! own, since one refusal hides every other answer of its module.
//!
//! A judge learns nothing: what it shows of a batch depends on the batch, on what is listed of the subject and on its
//! [`Profile`], and on nothing that was shown before.

mod asking;
mod batch;
mod explaining;
mod settling;

use std::borrow::Borrow;

use ptxsmith_oracle::{
    Clause, Evaluator, Expectation, Kernel, Left, Prediction, Rules, Stop, Stored, Trace, expect, predict,
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

/// How batches are made, and what is judged.
#[derive(Clone, Debug)]
pub struct Options {
    /// The header of every module.
    pub header: Header,
    /// The target to assemble for, where that is not the one of the header: a later one, which the subject has.
    pub target: Option<String>,
    /// The form of output. Kernels are always shown for relocatable output, which tells what they name.
    pub form: OutputForm,
    /// One trial in this many is shown alone as well, to prove that its verdict does not depend on its company.
    /// Zero shows none again.
    pub recheck_every: u64,
    /// Whether trials hold kernels that are run: they are judged by what those leave in their output buffers, and not by what
    /// their variables hold.
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
    /// The target to assemble for.
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

/// What rules say of a trial, in the form that is compared most cheaply.
#[derive(Clone, Debug)]
enum Answer {
    /// The bits of an expression.
    Bits(u64),
    /// All else. Of a trial whose kernels are not run it has none.
    Module(Prediction),
}

impl Answer {
    /// What the specification does with the trial; `None` where there is no rule.
    fn must(&self) -> Option<Must> {
        match self {
            Answer::Bits(_) => Some(Must::Accept),
            Answer::Module(prediction) => Must::of(&prediction.data),
        }
    }

    /// Whether an implementation that does as one says does as the other says.
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

/// A trial, and what the specification says of it.
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
    /// A judge of one subject under the specification's rules, of which nothing is known but what is listed.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: Options) -> Judge<'a> {
        let version = options.header.version();
        let plan = Plan::new(&rules, Maker::of(subject.description()), Profile::default());
        Judge { subject, rules, options, version, plan }
    }

    /// The same judge, who knows this of the subject. No verdict depends on it, but which trials are shown together, and of two
    /// explanations which one is given.
    #[must_use]
    pub fn knowing(self, profile: Profile) -> Judge<'a> {
        Judge { plan: Plan::new(&self.rules, self.maker(), profile), ..self }
    }

    fn maker(&self) -> Maker<'a> {
        Maker::of(self.subject.description())
    }

    /// Judges trials; the verdicts come in the order of the trials.
    ///
    /// # Errors
    /// Only where our machine or code fails; whatever the subject does is a verdict.
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

    /// The verdict on one trial whose text is this, shown as it is.
    pub(crate) fn text(&self, trial: &Trial, text: &str) -> Result<Judged, Error> {
        let predicted = [self.predicted(trial)];
        let observation = self.observe(text, &batch::launches(&predicted[0], ""))?;
        let mut settling = Settling::of(self, &predicted);
        settling.take(0, observation);
        Ok(settling.conclude().remove(0))
    }

    /// What will probably become of a trial.
    fn forecast(&self, p: &Predicted<'_>) -> Forecast {
        let under = |rules: &Rules| {
            let (answer, trace) = self.answer(p.trial, rules);
            Expected { refused: answer.must() == Some(Must::Refuse), trace }
        };
        let usual = Expected { refused: p.must() == Some(Must::Refuse), trace: p.trace };
        // What is refused as an expression is one of two answers; of a program there are too many to ask for.
        let is_expression = matches!(p.trial.body, Body::Expression { .. });
        let concerned = is_expression && self.plan.concerns(p.trace.questions);
        let followed = concerned.then(|| under(&self.plan.followed));
        self.plan.forecast(usual, followed, under)
    }

    fn predicted<'t>(&self, trial: &'t Trial) -> Predicted<'t> {
        let (answer, trace) = self.answer(trial, &self.rules);
        Predicted { trial, answer, trace }
    }

    /// What these rules say of the trial, in the form that is compared most cheaply.
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

    /// What these rules say of the trial as a module of its own. Variables without a rule are left out, if there are
    /// others.
    fn prediction(&self, trial: &Trial, rules: &Rules) -> Prediction {
        let module = trial.module(&self.options.header);
        if self.options.launch {
            return self.without_absolute_places(predict(&module, rules));
        }
        let data = match expect(&module, rules) {
            // One constant in many places is compared where all places are.
            Expectation::Accepted { unmodelled, .. }
                if !unmodelled.is_empty() && matches!(trial.body, Body::Contexts(_)) =>
            {
                Expectation::Unmodelled { reason: unmodelled[0].reason, parts: unmodelled }
            }
            data => data,
        };
        Prediction { data, kernels: Vec::new(), undecided: Vec::new() }
    }

    /// The same without kernels that reach absolute places, where the subject runs them on a device: there no memory lies at these.
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

    /// Shows modules each by itself, which have no name in common.
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

    /// What the subject has to be asked for to show what a module holds.
    fn wanted(&self, text: &str) -> Vec<Read> {
        let description = self.subject.description();
        if description.lists == Some(true) || self.options.launch {
            return Vec::new();
        }
        let module = ptxsmith_syntax::parse(text);
        module.map_or_else(|_| Vec::new(), |module| read::wanted(description, &module, &self.rules))
    }
}

/// The bits of a value of this many bytes.
pub(crate) fn mask(size: u64) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}
