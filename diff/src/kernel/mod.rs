//! Judging kernels by what they leave in their output buffers.
//!
//! Many kernels are shown in one module, each with what it uses, and the subject is asked what each leaves
//! ([`Launch`]). What it does not show is not compared, and is counted ([`Share`]); a kernel of which nothing is shown is
//! unobserved. A module that is refused or kills the subject is split until the guilty kernel stands alone.

pub(crate) mod compare;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ptxsmith_oracle::{Expectation, Kernel, Left, Prediction, Question, Rules, Trace, predict};
use ptxsmith_subject::{Error, Launch, Observation, Outcome, OutputForm, Request, Severity, Subject};
use ptxsmith_syntax::{
    Canonical, FunctionKind, Header, Item, Module, prefixed, print, with_prefix, without_prefix,
};

use crate::{
    explain::{Explanation, explain, explain_crash},
    judge::{Options, suspected_leads},
    known::with_known,
    lead::{Alternatives, Lead, alternatives, crash_alternatives},
    maker::Maker,
    trial::Trial,
    verdict::{Class, Difference, Judged, Must, NotCompared, Share, Verdict},
};
use compare::{agrees, compare};

/// The most kernels in one module: listing the code of one costs as much as that of a hundred, and more would only
/// delay what a refused one makes necessary.
const TOGETHER: usize = 100;

/// The most differences of one batch whose cause is looked for among wrong rules: an implementation that is wrong about
/// everything is not worth hours.
const MOST_LOOKED_INTO: u32 = 500;

/// Shows kernels to one subject and judges them. The counterpart of [`Judge`](crate::Judge), which judges data.
#[derive(Clone)]
pub struct KernelJudge<'a> {
    subject: &'a dyn Subject,
    rules: Rules,
    options: Options,
    /// Of the batch at hand, what was seen of each trial, by number.
    shares: BTreeMap<u64, Share>,
    /// Of the batch at hand, what the first scalar that differs rests on, by the number of the trial.
    differs: BTreeMap<u64, Trace>,
    /// Of the batch at hand, what was seen of the trials that conform, by number.
    conform: BTreeMap<u64, Observation>,
    /// How many differences of the batch at hand had their cause looked for among wrong rules.
    looked_into: u32,
}

/// A trial, and what the specification says of it.
struct Predicted<'t> {
    trial: &'t Trial,
    prediction: Prediction,
    trace: Trace,
}

impl Predicted<'_> {
    fn must(&self) -> Option<Must> {
        Must::of(&self.prediction.data)
    }
}

impl<'a> KernelJudge<'a> {
    /// A judge of one subject under the specification's rules.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: Options) -> KernelJudge<'a> {
        KernelJudge {
            subject,
            rules,
            options,
            shares: BTreeMap::new(),
            differs: BTreeMap::new(),
            conform: BTreeMap::new(),
            looked_into: 0,
        }
    }

    /// Judges trials of statements that hold kernels; the verdicts come in the order of the trials.
    ///
    /// # Errors
    /// Only where our machine or code fails; whatever the subject does is a verdict.
    pub fn batch<T: Borrow<Trial>>(&mut self, trials: &[T]) -> Result<Vec<Judged>, Error> {
        self.shares.clear();
        self.differs.clear();
        self.conform.clear();
        self.looked_into = 0;
        let predicted: Vec<Predicted<'_>> = trials
            .iter()
            .map(|trial| {
                let trial = trial.borrow();
                let prediction = predict(&trial.module(&self.options.header), &self.rules);
                let trace = prediction.trace();
                Predicted { trial, prediction, trace }
            })
            .collect();
        let mut verdicts: Vec<Option<Verdict>> = trials.iter().map(|_| None).collect();
        let (apart, together): (Vec<usize>, Vec<usize>) =
            (0..predicted.len()).partition(|&at| predicted[at].must() == Some(Must::Refuse));
        for at in apart {
            verdicts[at] = Some(self.alone(&predicted[at])?);
        }
        for group in together.chunks(TOGETHER) {
            self.settle(&predicted, group, &mut verdicts)?;
        }
        for (at, p) in predicted.iter().enumerate() {
            let chosen =
                self.options.recheck_every > 0 && p.trial.id.is_multiple_of(self.options.recheck_every);
            if let (true, Some(verdict)) = (chosen, &mut verdicts[at]) {
                self.recheck(p, verdict)?;
            }
        }
        let suspected = suspected_leads(verdicts.iter().flatten());
        let contradicted: Vec<Vec<&'static str>> =
            predicted.iter().map(|p| self.contradicted(p, &suspected)).collect();
        let innocent: BTreeSet<&'static str> = contradicted.iter().flatten().copied().collect();
        verdicts.iter_mut().flatten().for_each(|verdict| acquit(verdict, &innocent));
        let judged = predicted.iter().zip(verdicts).zip(contradicted).map(|((p, verdict), contradicts)| {
            let verdict = verdict.unwrap_or(Verdict::NotCompared(NotCompared::Unobserved));
            // A kernel shows many operands; what differs is one.
            let trace = self.differs.get(&p.trial.id).copied().unwrap_or(p.trace);
            let operands = self.shares.get(&p.trial.id).copied().unwrap_or_default();
            Judged { contradicts, operands, ..Judged::new(p.trial.id, verdict, p.must(), trace) }
        });
        Ok(judged.collect())
    }

    /// Gives every trial of a group its verdict; whether one was found that spoils its company.
    fn settle(
        &mut self,
        predicted: &[Predicted<'_>],
        group: &[usize],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<bool, Error> {
        match *group {
            [] => return Ok(false),
            [at] => {
                let verdict = self.alone(&predicted[at])?;
                let conforms = matches!(verdict, Verdict::Conforms | Verdict::NotCompared(_));
                verdicts[at] = Some(verdict);
                return Ok(!conforms);
            }
            _ => {}
        }
        let batch = compose(predicted, group, &self.options.header);
        let observation = self.observe(&batch.text, &batch.launches)?;
        if observation.outcome == Outcome::Accepted {
            for (&at, prefix) in group.iter().zip(&batch.prefixes) {
                verdicts[at] = Some(self.verdict(&predicted[at], own(&observation, prefix)));
            }
            return Ok(false);
        }
        let blamed = blamed(&batch, &observation);
        let (guilty, rest): (Vec<usize>, Vec<usize>) =
            (0..group.len()).partition(|place| blamed.contains(place));
        let mut found = false;
        for place in guilty {
            found |= self.settle(predicted, &group[place..=place], verdicts)?;
        }
        let rest: Vec<usize> = rest.into_iter().map(|place| group[place]).collect();
        // What stands behind an error that ended the reading was not read. Where nobody was blamed, halves find out.
        let parts = if found { rest.len() } else { rest.len().div_ceil(2) };
        for part in rest.chunks(parts.max(1)) {
            found |= self.settle(predicted, part, verdicts)?;
        }
        if !found && observation.outcome != Outcome::TimedOut {
            let difference = self.inconsistent(&predicted[group[0]], observation);
            verdicts[group[0]] = Some(Verdict::Deviates(difference));
            return Ok(true);
        }
        Ok(found)
    }

    fn observe(&self, text: &str, launches: &[Launch]) -> Result<Observation, Error> {
        let request = Request::new(text, self.options.target()).launching(launches);
        self.subject.observe(&request.in_form(OutputForm::Relocatable))
    }

    fn alone(&mut self, p: &Predicted<'_>) -> Result<Verdict, Error> {
        let observation = self.observe(&p.trial.text(&self.options.header), &launches(p, ""))?;
        Ok(self.verdict(p, observation))
    }

    /// A verdict must not depend on company.
    fn recheck(&mut self, p: &Predicted<'_>, verdict: &mut Verdict) -> Result<(), Error> {
        let again = self.alone(p)?;
        if std::mem::discriminant(&again) != std::mem::discriminant(verdict) {
            let observed = match again {
                Verdict::Reads(difference) | Verdict::Deviates(difference) => difference.observed,
                _ => Observation::new(Outcome::Accepted),
            };
            *verdict = Verdict::Deviates(self.inconsistent(p, observed));
        }
        Ok(())
    }

    /// The verdict on a trial of which this was observed as if it had stood alone.
    fn verdict(&mut self, p: &Predicted<'_>, observation: Observation) -> Verdict {
        let maker = Maker::of(self.subject.description());
        let module = p.trial.module(&self.options.header);
        let rests_on = |rules: &Rules| predict(&module, rules).trace();
        let class = match (observation.outcome, &p.prediction.data) {
            (Outcome::Unsupported, _) => return Verdict::NotCompared(NotCompared::Unsupported),
            (Outcome::Unavailable, _) => return Verdict::NotCompared(NotCompared::Unavailable),
            (Outcome::Crashed | Outcome::TimedOut, _) => {
                let hangs = observation.outcome == Outcome::TimedOut;
                let class = if hangs { Class::Hang } else { Class::Crash };
                let explanation = explain_crash(&p.trace, &self.rules, maker, &observation, rests_on);
                let suspected = vec![crash_alternatives(&p.trace, maker, &observation)];
                let suspected = if explanation.is_none() { suspected } else { Vec::new() };
                let difference = self.difference(p, class, observation, explanation, Some(suspected));
                return Verdict::Deviates(difference);
            }
            (_, Expectation::Unmodelled { .. }) => return Verdict::NotCompared(NotCompared::Unmodelled),
            (Outcome::Refused, Expectation::Refused { .. }) => return Verdict::Conforms,
            (Outcome::Accepted, Expectation::Refused { .. }) => Class::AcceptsInvalid,
            (Outcome::Refused, Expectation::Accepted { .. }) => Class::RefusesValid,
            (Outcome::Accepted, Expectation::Accepted { .. }) => {
                let kernels = &p.prediction.kernels;
                let compared = compare(kernels, &observation);
                self.shares.insert(p.trial.id, compared.share);
                let modelled = kernels.iter().any(|kernel| matches!(kernel.left, Left::Output(_)));
                match compared.differs {
                    Some(differs) => {
                        self.differs.extend(differs.trace.map(|trace| (p.trial.id, trace)));
                        differs.class
                    }
                    None if !modelled => return Verdict::NotCompared(NotCompared::Unmodelled),
                    None if compared.share.seen == 0 => {
                        return Verdict::NotCompared(NotCompared::Unobserved);
                    }
                    None => {
                        self.conform.insert(p.trial.id, observation);
                        return Verdict::Conforms;
                    }
                }
            }
        };
        let tell = |rules: &Rules| agrees(&module, rules, &observation);
        let explanation = explain(&p.trace, &self.rules, maker, tell);
        let accepted = observation.outcome == Outcome::Accepted;
        if explanation.is_none() && accepted && self.has_no_meaning_for_some(p) {
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let suspected = match explanation {
            Some(_) => Some(Vec::new()),
            None if self.looked_into == MOST_LOOKED_INTO => None,
            None => {
                self.looked_into += 1;
                Some(vec![alternatives(&p.trace, &self.rules, maker, tell)])
            }
        };
        let difference = self.difference(p, class, observation, explanation, suspected);
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }

    /// Whether some answer to an open question leaves a kernel without a meaning that the default answer gives it: an access
    /// that is misaligned only where an index counts otherwise, say. Whoever follows that answer may do anything.
    fn has_no_meaning_for_some(&self, p: &Predicted<'_>) -> bool {
        let without = |prediction: &Prediction| match prediction.data {
            Expectation::Unmodelled { .. } => usize::MAX,
            Expectation::Accepted { .. } | Expectation::Refused { .. } => {
                let kernels = prediction.kernels.iter();
                kernels.filter(|kernel| matches!(kernel.left, Left::Unmodelled(_))).count()
            }
        };
        let module = p.trial.module(&self.options.header);
        let by_default = without(&p.prediction);
        let answers =
            |question: Question| (0..question.answers().len()).map(move |answer| (question, answer));
        p.trace.questions.iter().flat_map(answers).any(|(question, other)| {
            let readings = self.rules.readings.with(question, other);
            readings.is_some_and(|readings| {
                let rules = Rules { readings, ..self.rules };
                without(&predict(&module, &rules)) > by_default
            })
        })
    }

    /// The suspected wrong rules under which a trial that conforms would have left something else, alone and with all that
    /// is known of the subject.
    fn contradicted(&self, p: &Predicted<'_>, suspected: &[Lead]) -> Vec<&'static str> {
        let Some(observation) = self.conform.get(&p.trial.id).filter(|_| !suspected.is_empty()) else {
            return Vec::new();
        };
        let module = p.trial.module(&self.options.header);
        let touched = suspected.iter().filter(|lead| lead.touches(&p.trace));
        let known = with_known(&self.rules, Maker::of(self.subject.description()));
        let differs = |lead: &&Lead| {
            let under = |rules: &Rules| agrees(&module, &lead.rules(rules), observation).0;
            !under(&self.rules) && !under(&known)
        };
        touched.filter(differs).map(|lead| lead.id).collect()
    }

    /// A trial that is answered differently in other company.
    fn inconsistent(&self, p: &Predicted<'_>, observed: Observation) -> Box<Difference> {
        self.difference(p, Class::Inconsistent, observed, None, Some(Vec::new()))
    }

    fn difference(
        &self,
        p: &Predicted<'_>,
        class: Class,
        observed: Observation,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Box<Difference> {
        let expected = self.expected_json(p.trial);
        Box::new(Difference { class, variable: None, expected, observed, explanation, suspected })
    }

    fn expected_json(&self, trial: &Trial) -> serde_json::Value {
        let text = trial.text(&self.options.header);
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        predict(&module, &self.rules).to_json(&text, &self.rules.readings)
    }
}

/// The kernels of a trial to run, with buffers as large as what they write.
fn launches(p: &Predicted<'_>, prefix: &str) -> Vec<Launch> {
    let launch = |kernel: &Kernel| match &kernel.left {
        Left::Output(output) => Some(Launch {
            kernel: with_prefix(&kernel.name, prefix).to_string(),
            out: output.bytes.len() as u64,
        }),
        Left::Unmodelled(_) => None,
    };
    p.prediction.kernels.iter().filter_map(launch).filter(|launch| launch.out > 0).collect()
}

struct Batch {
    text: String,
    prefixes: Vec<String>,
    /// The 1-based line on which each trial starts, ascending.
    lines: Vec<u32>,
    launches: Vec<Launch>,
}

fn compose(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = Canonical(print(&header.module([])));
    let (mut prefixes, mut lines, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (place, &at) in group.iter().enumerate() {
        let prefix = format!("t{place}_");
        lines.push(1 + text.0.bytes().filter(|&b| b == b'\n').count() as u32);
        let items = prefixed(&predicted[at].trial.items(), &prefix);
        let _ = write!(text.0, "{}", predicted[at].trial.spacing.print(&Module { items }));
        all.extend(launches(&predicted[at], &prefix));
        prefixes.push(prefix);
    }
    Batch { text: text.0, prefixes, lines, launches: all }
}

/// The places of the trials on whose lines the subject complains.
fn blamed(batch: &Batch, observation: &Observation) -> Vec<usize> {
    let errors = observation.diagnostics.iter().filter(|d| d.severity >= Severity::Error);
    let lines = errors.filter_map(|d| d.line);
    lines.filter_map(|line| batch.lines.partition_point(|&start| start <= line).checked_sub(1)).collect()
}

/// What belongs to one trial of a batch, as if it had stood alone.
fn own(observation: &Observation, prefix: &str) -> Observation {
    let mut alone = Observation::new(observation.outcome);
    for (name, output) in &observation.kernels {
        let Some(name) = without_prefix(name, prefix) else { continue };
        let mut output = output.clone();
        for address in &mut output.addresses {
            if let Some(symbol) = without_prefix(&address.symbol, prefix) {
                address.symbol = symbol.to_string();
            }
        }
        alone.kernels.insert(name.to_string(), output);
    }
    let variables = observation.variables.iter();
    let own = variables.filter_map(|(name, variable)| Some((without_prefix(name, prefix)?, variable)));
    alone.variables = own.map(|(name, variable)| (name.to_string(), variable.clone())).collect();
    alone
}

/// Leaves out of what a difference may be put down to the wrong rules that other trials rule out: of few that are looked
/// for, one will predict a difference of another cause by chance.
fn acquit(verdict: &mut Verdict, innocent: &BTreeSet<&'static str>) {
    if let Verdict::Deviates(difference) = verdict {
        for alternatives in difference.suspected.iter_mut().flatten() {
            alternatives.retain(|set| !set.iter().any(|id| innocent.contains(id)));
        }
    }
}

/// Whether statements hold a kernel that [`KernelJudge`] can say something about.
pub fn holds_kernels(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Function(function) => {
            function.kind == FunctionKind::Entry
                && function.parameters.as_ref().is_some_and(|parameters| parameters.len() == 1)
                && function.body.is_some()
        }
        _ => false,
    })
}
