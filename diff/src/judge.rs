//! Judging many trials with few runs of the subject.
//!
//! The verdict of a trial in a batch is the verdict that it gets alone: a batch that is accepted tells each trial's
//! answer apart, and one that is not is split until it does. Trials that the specification refuses are always shown
//! alone, since one refusal hides every other answer of its module.

use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ptxsmith_oracle::{
    Evaluator, Expectation, Question, QuestionSet, Rules, Stop, Stored, Trace, Variable, expect,
};
use ptxsmith_subject::{Diagnostic, Error, Observation, Outcome, Request, Severity, Subject};
use ptxsmith_syntax::{Canonical, Item, Module, ScalarType, Spacing, StateSpace, print};

use crate::{
    compare::{Mismatch, compare, unobserved, unseen},
    explain::{Told, explain, explain_crash, explain_variables, suspect_variables, with_one_more},
    known::{KNOWN, refusals},
    lead::{Alternatives, Lead, alternatives, crash_alternatives},
    maker::Maker,
    read, seats,
    trial::{ALONE, Body, Header, Trial, prefixed, with_prefix, without_prefix},
    verdict::{Class, Difference, Judged, Must, NotCompared, Share, Verdict},
};

/// The lines of a header: `.version`, `.target` and `.address_size`.
const HEADER_LINES: u32 = 3;

/// How batches are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The header of every module.
    pub header: Header,
    /// One trial in this many is shown alone as well, to prove that its verdict does not depend on its company.
    /// Zero shows none again.
    pub recheck_every: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { header: Header::default(), recheck_every: 5_000 }
    }
}

/// The constant bank holds this much; a module that declares more in `.const` is refused by every implementation.
const CONST_BYTES: u64 = 60_000;

/// Shows trials to one subject and judges them.
pub struct Judge<'a> {
    subject: &'a dyn Subject,
    rules: Rules,
    options: Options,
    version: (u32, u32),
    suspicion: Suspicion,
    /// Of the batch at hand, the trials with variables that the subject does not show, by number.
    unseen: BTreeMap<u64, u32>,
    /// How many trials that will be refused are shown in one module.
    refused_together: usize,
    /// How many differences of the batch at hand had their cause looked for among wrong rules.
    looked_into: Cell<u32>,
}

/// What the specification says of a trial.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Bits(u64),
    Variables(Vec<Variable>),
    Refused,
    Unmodelled,
}

struct Predicted<'t> {
    trial: &'t Trial,
    answer: Answer,
    trace: Trace,
}

/// Where a trial went in a batch.
enum Seat {
    Element { array: String, offset: u64, width: usize },
    Names { prefix: String },
}

struct Batch {
    text: String,
    seats: Vec<Seat>,
    /// The 1-based line on which each trial starts, ascending.
    lines: Vec<(u32, usize)>,
}

impl<'a> Judge<'a> {
    /// A judge of one subject under the specification's rules.
    pub fn new(subject: &'a dyn Subject, rules: Rules, options: Options) -> Judge<'a> {
        let version = options.header.version();
        Judge {
            subject,
            rules,
            options,
            version,
            suspicion: Suspicion::default(),
            unseen: BTreeMap::new(),
            refused_together: 512,
            looked_into: Cell::new(0),
        }
    }

    /// The header of the modules that it shows.
    pub fn header(&self) -> &Header {
        &self.options.header
    }

    fn maker(&self) -> Maker<'a> {
        Maker::of(self.subject.description())
    }

    /// Judges trials; the verdicts come in the order of the trials.
    ///
    /// # Errors
    /// Only where our machine or code fails; whatever the subject does is a verdict.
    pub fn batch<T: Borrow<Trial>>(&mut self, trials: &[T]) -> Result<Vec<Judged>, Error> {
        let predicted: Vec<Predicted<'_>> = self.predict(trials);
        self.unseen.clear();
        self.looked_into.set(0);
        let mut verdicts: Vec<Option<Verdict>> = vec![None; trials.len()];
        let mut together = Vec::new();
        let mut refused = Vec::new();
        for (at, p) in predicted.iter().enumerate() {
            match p.answer {
                Answer::Unmodelled if matches!(p.trial.body, Body::Seats(_)) => together.push(at),
                Answer::Unmodelled => verdicts[at] = Some(Verdict::NotCompared(NotCompared::Unmodelled)),
                Answer::Refused => refused.push(at),
                Answer::Bits(_) | Answer::Variables(_) if self.is_known_refusal(p) => refused.push(at),
                Answer::Bits(_) | Answer::Variables(_) => together.push(at),
            }
        }
        self.settle_refused(&predicted, refused, &mut verdicts)?;
        for group in const_groups(&predicted, together) {
            self.settle(&predicted, group, &mut verdicts)?;
        }
        if self.options.recheck_every > 0 {
            for (at, p) in predicted.iter().enumerate() {
                if p.trial.id.is_multiple_of(self.options.recheck_every) {
                    self.recheck(p, &mut verdicts[at])?;
                }
            }
        }
        let suspected = suspected_leads(verdicts.iter().flatten());
        let mut asked = 0;
        Ok(predicted
            .iter()
            .zip(verdicts)
            .map(|(p, verdict)| {
                let verdict = verdict.unwrap_or(Verdict::NotCompared(NotCompared::Unobserved));
                let excluded = match &verdict {
                    // A refusal may have another cause than the one expected: it shows no answer to a question.
                    Verdict::Conforms if p.answer != Answer::Refused => self.excluded(p, &self.rules),
                    Verdict::Reads(difference) if difference.observed.outcome == Outcome::Accepted => {
                        let reading = difference.explanation.as_ref();
                        self.excluded(p, &reading.map_or(self.rules, |reading| reading.applied(&self.rules)))
                    }
                    _ => Vec::new(),
                };
                let contradicts = match &verdict {
                    Verdict::Conforms if !suspected.is_empty() && asked < MOST_ASKED => {
                        let touched = || suspected.iter().filter(|lead| lead.touches(&p.trace));
                        asked += u32::from(touched().next().is_some());
                        touched().filter(|lead| self.rules_out(lead, p)).map(|lead| lead.id).collect()
                    }
                    _ => Vec::new(),
                };
                let must = match p.answer {
                    Answer::Refused => Some(Must::Refuse),
                    Answer::Bits(_) | Answer::Variables(_) => Some(Must::Accept),
                    Answer::Unmodelled => None,
                };
                let unseen = match verdict {
                    Verdict::ConformsByOutcome => 0,
                    _ => self.unseen.get(&p.trial.id).copied().unwrap_or(0),
                };
                Judged {
                    id: p.trial.id,
                    verdict,
                    must,
                    trace: p.trace,
                    excluded,
                    contradicts,
                    unseen,
                    operands: Share::default(),
                }
            })
            .collect())
    }

    /// Whether a trial that conforms would not under a wrong rule.
    fn rules_out(&self, lead: &Lead, p: &Predicted<'_>) -> bool {
        let answer = self.answer(p.trial, &lead.rules(&self.rules)).0;
        answer != Answer::Unmodelled && answer != p.answer
    }

    fn predict<'t, T: Borrow<Trial>>(&self, trials: &'t [T]) -> Vec<Predicted<'t>> {
        let predict = |trial: &'t T| {
            let trial = trial.borrow();
            let (answer, trace) = self.answer(trial, &self.rules);
            Predicted { trial, answer, trace }
        };
        trials.iter().map(predict).collect()
    }

    /// What these rules say of the trial, in the form that is compared most cheaply.
    fn answer(&self, trial: &Trial, rules: &Rules) -> (Answer, Trace) {
        let Body::Expression { ty, expr, .. } = &trial.body else { return self.expect_alone(trial, rules) };
        let mut trace = Trace::default();
        let stored = Evaluator::new(rules, self.version).store(expr, *ty, &mut trace);
        let answer = match stored {
            Ok(Stored::Bits(bits)) => Answer::Bits(bits & mask(ty.size().unwrap_or(8))),
            Ok(Stored::Address(..)) | Err(Stop::Unmodelled(_)) => Answer::Unmodelled,
            Err(Stop::Refused(_)) => Answer::Refused,
        };
        (answer, trace)
    }

    /// What these rules say of the trial as a module of its own. Variables without a rule are left out, if there are
    /// others.
    fn expect_alone(&self, trial: &Trial, rules: &Rules) -> (Answer, Trace) {
        match expect(&trial.module(&self.options.header), rules) {
            Expectation::Accepted { variables, unmodelled, trace }
                if unmodelled.is_empty()
                    || !variables.is_empty() && !matches!(trial.body, Body::Seats(_)) =>
            {
                (Answer::Variables(variables), trace)
            }
            Expectation::Refused { trace, .. } => (Answer::Refused, trace),
            Expectation::Accepted { .. } | Expectation::Unmodelled { .. } => {
                (Answer::Unmodelled, Trace::default())
            }
        }
    }

    /// Whether there is no rule for some of the trial's variables.
    fn is_partial(&self, trial: &Trial) -> bool {
        let expected = expect(&trial.module(&self.options.header), &self.rules);
        matches!(expected, Expectation::Accepted { unmodelled, .. } if !unmodelled.is_empty())
    }

    /// Gives every trial of a group its verdict. Returns whether a trial was found that spoils its company.
    fn settle(
        &mut self,
        predicted: &[Predicted<'_>],
        group: Vec<usize>,
        verdicts: &mut [Option<Verdict>],
    ) -> Result<bool, Error> {
        let mut guilty = false;
        let mut together = Vec::with_capacity(group.len());
        for at in group {
            // Asked anew each time: a suspect that turns out innocent clears those like it.
            if self.suspicion.falls_on(predicted[at].trace.questions) {
                guilty |= self.settle_alone(predicted, at, verdicts)?;
            } else {
                together.push(at);
            }
        }
        let group = together;
        match group[..] {
            [] => return Ok(guilty),
            [at] => return Ok(guilty | self.settle_alone(predicted, at, verdicts)?),
            _ => {}
        }
        let batch = compose(predicted, &group, &self.options.header);
        let observation = self.observe(&batch.text)?;
        if observation.outcome == Outcome::Accepted {
            for (&at, seat) in group.iter().zip(&batch.seats) {
                self.suspicion.clear(predicted[at].trace.questions);
                let (seated, unseen) = seated(&predicted[at], seat, &observation);
                if unseen > 0 {
                    self.unseen.insert(predicted[at].trial.id, unseen);
                }
                let verdict = match seated {
                    Seated::Agrees => Verdict::Conforms,
                    Seated::Unobserved => unobserved(self.subject, &observation),
                    Seated::Differs(seen) => self.explained(&predicted[at], seen),
                };
                verdicts[at] = Some(verdict);
            }
            self.confirm_alone(predicted, &group, verdicts)?;
            return Ok(guilty);
        }
        let (blamed, rest) = split_blamed(&batch, &group, &observation);
        let found = if blamed.is_empty() {
            let (left, right) = rest.split_at(rest.len() / 2);
            self.settle(predicted, left.to_vec(), verdicts)?
                | self.settle(predicted, right.to_vec(), verdicts)?
        } else {
            let mut found = false;
            for at in blamed {
                // Lines are a hint only: ptxas sometimes names the line behind the one that it complains about.
                found |= self.settle_alone(predicted, at, verdicts)?;
            }
            // What stands behind a fatal error was not read: halves keep the next run short.
            let (left, right) = rest.split_at(rest.len() / 2);
            found |= self.settle(predicted, left.to_vec(), verdicts)?;
            found | self.settle(predicted, right.to_vec(), verdicts)?
        };
        // How long a module takes says something of one program, not of many together.
        if !found && observation.outcome != Outcome::TimedOut {
            let first = group[0];
            verdicts[first] = Some(Verdict::Deviates(Box::new(Difference {
                class: Class::Inconsistent,
                variable: None,
                expected: self.expected_json(predicted[first].trial, &self.rules),
                observed: observation,
                explanation: None,
                suspected: Some(Vec::new()),
            })));
        }
        Ok(true)
    }

    /// Whether a known deviation refuses the trial.
    fn is_known_refusal(&self, p: &Predicted<'_>) -> bool {
        refusals(&p.trace, self.maker()).any(|(_, change)| {
            let mut rules = self.rules;
            change(&mut rules);
            self.answer(p.trial, &rules).0 == Answer::Refused
        })
    }

    /// Gives trials that will be refused their verdicts. An error on a trial's own lines refuses it, whatever else the
    /// module holds; one that ends the reading is followed by others that were not read. What is not complained about
    /// although it was read is shown alone.
    fn settle_refused(
        &mut self,
        predicted: &[Predicted<'_>],
        mut left: Vec<usize>,
        verdicts: &mut [Option<Verdict>],
    ) -> Result<(), Error> {
        while !left.is_empty() {
            let rest = left.split_off(left.len().min(self.refused_together));
            let group = std::mem::replace(&mut left, rest);
            if let [at] = group[..] {
                verdicts[at] = Some(self.alone(&predicted[at])?);
                // Fatal errors come in runs; try a few together again from time to time.
                self.refused_together = if at.is_multiple_of(16) { 8 } else { 1 };
                continue;
            }
            let batch = compose_apart(predicted, &group, &self.options.header);
            let observation = self.observe(&batch.text)?;
            let complaints = complaints(&batch, group.len(), &observation);
            let read = complaints.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let fatal =
                observation.diagnostics.iter().any(|d| d.severity == Severity::Fatal && d.line.is_some());
            let read = if observation.outcome == Outcome::Refused && !fatal { group.len() } else { read };
            for (&at, complaint) in group.iter().zip(complaints).take(read) {
                verdicts[at] = Some(match complaint {
                    Some(diagnostic) => {
                        let refused = Observation::new(Outcome::Refused);
                        self.explained(
                            &predicted[at],
                            Observation { diagnostics: vec![diagnostic], ..refused },
                        )
                    }
                    None => self.alone(&predicted[at])?,
                });
            }
            if read == 0 {
                verdicts[group[0]] = Some(self.alone(&predicted[group[0]])?);
            }
            let unread = &group[read.max(1)..];
            self.refused_together = if unread.is_empty() { 512 } else { read.max(1) };
            left.splice(0..0, unread.iter().copied());
        }
        Ok(())
    }

    fn settle_alone(
        &mut self,
        predicted: &[Predicted<'_>],
        at: usize,
        verdicts: &mut [Option<Verdict>],
    ) -> Result<bool, Error> {
        let p = &predicted[at];
        let observation = self.observe(&p.trial.text(&self.options.header))?;
        if let (Answer::Variables(variables), Outcome::Accepted) = (&p.answer, observation.outcome) {
            let unseen = unseen(variables, &observation.variables);
            self.unseen.extend((unseen > 0).then_some((p.trial.id, unseen)));
        }
        let outcome = observation.outcome;
        let verdict = self.explained(p, observation);
        let guilty = outcome != Outcome::Accepted;
        let questions = predicted[at].trace.questions;
        if guilty {
            self.suspicion.raise(questions);
        } else {
            self.suspicion.clear(questions);
        }
        verdicts[at] = Some(verdict);
        Ok(guilty)
    }

    /// Shows what is new in a batch once more, each trial alone: what shows only in company is another finding, or none
    /// where a known deviation of its neighbours writes over it.
    fn confirm_alone(
        &self,
        predicted: &[Predicted<'_>],
        group: &[usize],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<(), Error> {
        let is_new = |verdict: &Verdict| matches!(verdict, Verdict::Deviates(difference) if difference.explanation.is_none());
        let new: Vec<usize> =
            group.iter().copied().filter(|&at| verdicts[at].as_ref().is_some_and(is_new)).collect();
        for at in new.into_iter().take(MOST_CONFIRMED) {
            let p = &predicted[at];
            // Seats are about one module with all of them.
            if matches!(p.trial.body, Body::Seats(_)) {
                continue;
            }
            let alone = self.alone(p)?;
            let written_over = || group.iter().any(|&other| self.reaches_beyond(&predicted[other]));
            verdicts[at] = match verdicts[at].take() {
                _ if is_new(&alone) || written_over() => Some(alone),
                Some(Verdict::Deviates(d)) => {
                    Some(Verdict::Deviates(Box::new(Difference { class: Class::Inconsistent, ..*d })))
                }
                verdict => verdict,
            };
        }
        Ok(())
    }

    /// Whether a known deviation has an address of the trial written beyond the variable that holds it.
    fn reaches_beyond(&self, p: &Predicted<'_>) -> bool {
        let Answer::Variables(variables) = &p.answer else { return false };
        let known =
            KNOWN.iter().any(|known| known.id == "address-always-8-bytes" && known.is_of(self.maker()));
        let mut addresses = variables.iter().flat_map(|variable| &variable.addresses);
        known && addresses.any(|address| address.byte.is_none() && address.width < 8)
    }

    fn observe(&self, text: &str) -> Result<Observation, Error> {
        let description = self.subject.description();
        let read = match description.lists {
            Some(true) => Vec::new(),
            _ => match ptxsmith_syntax::parse(text) {
                Ok(module) => read::wanted(description, &module, &self.rules),
                Err(_) => Vec::new(),
            },
        };
        self.subject.observe(&Request { read: &read, ..Request::new(text, &self.options.header.target) })
    }

    /// The verdict of a trial that is shown as a module of its own.
    fn alone(&self, p: &Predicted<'_>) -> Result<Verdict, Error> {
        let observation = self.observe(&p.trial.text(&self.options.header))?;
        Ok(self.explained(p, observation))
    }

    fn recheck(&self, p: &Predicted<'_>, verdict: &mut Option<Verdict>) -> Result<(), Error> {
        let again = self.alone(p)?;
        let same = match (&again, &*verdict) {
            (Verdict::Deviates(a), Some(Verdict::Deviates(b)))
            | (Verdict::Reads(a), Some(Verdict::Reads(b))) => {
                a.class == b.class && a.explanation == b.explanation
            }
            (a, Some(b)) => a == b,
            (_, None) => true,
        };
        if !same {
            let shown = [Some(again), verdict.take()].into_iter().flatten();
            let difference = shown
                .filter_map(|v| if let Verdict::Deviates(d) | Verdict::Reads(d) = v { Some(d) } else { None })
                .next();
            *verdict = Some(match difference {
                Some(d) => Verdict::Deviates(Box::new(Difference { class: Class::Inconsistent, ..*d })),
                None => Verdict::NotCompared(NotCompared::Unobserved),
            });
        }
        Ok(())
    }

    /// The verdict on what a subject did with one trial.
    fn explained(&self, p: &Predicted<'_>, observation: Observation) -> Verdict {
        match observation.outcome {
            Outcome::Unsupported => return Verdict::NotCompared(NotCompared::Unsupported),
            Outcome::Unavailable => return Verdict::NotCompared(NotCompared::Unavailable),
            _ => {}
        }
        let (answer, trace) = self.expect_alone(p.trial, &self.rules);
        if let (Answer::Unmodelled, Body::Seats(items)) = (&answer, &p.trial.body) {
            return self.contradiction(p.trial, items, observation);
        }
        let (class, variable) = match judge(&answer, &observation) {
            Judgement::Agrees => return Verdict::Conforms,
            Judgement::Unobserved if answer == Answer::Unmodelled => {
                return Verdict::NotCompared(NotCompared::Unobserved);
            }
            Judgement::Unobserved => return unobserved(self.subject, &observation),
            Judgement::Differs(class, variable) => (class, variable),
        };
        if class == Class::RefusesValid && self.is_partial(p.trial) {
            // What is refused may be what there is no rule for.
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let explanation = match class {
            Class::Crash => explain_crash(&trace, &self.rules, self.maker(), &observation, |rules| {
                self.answer(p.trial, rules).1
            }),
            _ if observation.outcome == Outcome::Accepted => {
                let tell = |rules: &Rules| self.told(p.trial, rules);
                explain_variables(&self.rules, self.maker(), tell, |variable| agrees(variable, &observation))
            }
            _ => explain(&trace, &self.rules, self.maker(), |rules| {
                let (answer, trace) = self.expect_alone(p.trial, rules);
                (matches!(judge(&answer, &observation), Judgement::Agrees), trace)
            }),
        };
        let suspected = match explanation {
            Some(_) => None,
            None => self.suspected(p, &trace, class, &observation),
        };
        let difference = Box::new(Difference {
            class,
            variable,
            expected: self.expected_json(p.trial, &self.rules),
            observed: observation,
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }

    fn told(&self, trial: &Trial, rules: &Rules) -> Told {
        match self.expect_alone(trial, rules) {
            (Answer::Variables(variables), _) => Told::Variables(variables),
            (Answer::Refused, trace) => Told::Refused(trace),
            _ => Told::Nothing,
        }
    }

    /// The wrong rules that predict a difference which nothing listed predicts. Looking for them takes long: of each
    /// batch only the first differences are looked into.
    fn suspected(
        &self,
        p: &Predicted<'_>,
        trace: &Trace,
        class: Class,
        observation: &Observation,
    ) -> Option<Vec<Alternatives>> {
        self.looked_into.set(self.looked_into.get() + 1);
        if self.looked_into.get() > MOST_LOOKED_INTO {
            return None;
        }
        let whole = || {
            alternatives(trace, &self.rules, self.maker(), |rules| {
                let (answer, trace) = self.expect_alone(p.trial, rules);
                (matches!(judge(&answer, observation), Judgement::Agrees), trace)
            })
        };
        Some(match (class, observation.outcome) {
            (Class::Crash, _) => vec![crash_alternatives(trace, self.maker(), observation)],
            (_, Outcome::Accepted) => {
                let tell = |rules: &Rules| self.told(p.trial, rules);
                let agrees = |variable: &Variable| agrees(variable, observation);
                suspect_variables(&self.rules, self.maker(), tell, agrees).unwrap_or_else(|| vec![whole()])
            }
            _ => vec![whole()],
        })
    }

    /// The verdict on a constant that has no known value but must be the same in every seat.
    fn contradiction(&self, trial: &Trial, items: &[Item], observation: Observation) -> Verdict {
        let (class, variable) = match observation.outcome {
            Outcome::Crashed => (Class::Crash, None),
            Outcome::TimedOut => (Class::Hang, None),
            Outcome::Accepted => match seats::disagreement(items, &observation) {
                Some(variable) => (Class::Inconsistent, Some(variable)),
                None => return Verdict::Conforms,
            },
            Outcome::Refused | Outcome::Unsupported | Outcome::Unavailable => {
                return Verdict::NotCompared(NotCompared::Unmodelled);
            }
        };
        let expected = self.expected_json(trial, &self.rules);
        Verdict::Deviates(Box::new(Difference {
            class,
            variable,
            expected,
            observed: observation,
            explanation: None,
            suspected: Some(Vec::new()),
        }))
    }

    /// The answers to open questions that would have given another result than these rules, also together with any one
    /// other change.
    fn excluded(&self, p: &Predicted<'_>, followed: &Rules) -> Vec<(Question, usize)> {
        let mut excluded = Vec::new();
        // An aggregate holds many values, each with causes of its own: too many to rule one out.
        let Body::Expression { .. } = p.trial.body else { return excluded };
        let (seen, trace) = self.answer(p.trial, followed);
        for question in trace.questions.iter() {
            for answer in 0..question.answers().len() {
                let Some(readings) = followed.readings.with(question, answer) else { continue };
                let rules = Rules { readings, ..*followed };
                let differs = |rules: &Rules| self.answer(p.trial, rules).0 != seen;
                if differs(&rules)
                    && with_one_more(&rules, self.maker(), &trace, question).all(|rules| differs(&rules))
                {
                    excluded.push((question, answer));
                }
            }
        }
        excluded
    }

    fn expected_json(&self, trial: &Trial, rules: &Rules) -> serde_json::Value {
        let text = trial.text(&self.options.header);
        // Parsed again, so that a refusal names a line of the text.
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        expect(&module, rules).to_json(&text, &rules.readings)
    }
}

/// The most differences of one batch whose cause is looked for among wrong rules that nobody is known to follow.
const MOST_LOOKED_INTO: u32 = 300;

/// The most new differences of one batch that are shown alone.
const MOST_CONFIRMED: usize = 50;

/// The most trials of one batch that are asked whether they rule out a wrong rule.
const MOST_ASKED: u32 = 2_000;

/// The wrong rules that are suspected of any of these.
fn suspected_leads<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Vec<Lead> {
    let suspected = verdicts.filter_map(|verdict| match verdict {
        Verdict::Deviates(difference) => difference.suspected.as_ref(),
        _ => None,
    });
    let ids: BTreeSet<&'static str> = suspected.flatten().flatten().flatten().copied().collect();
    ids.into_iter().filter_map(Lead::from_id).collect()
}

/// Whether a variable is as it was observed, or was not.
fn agrees(variable: &Variable, observation: &Observation) -> bool {
    let seen = compare(std::slice::from_ref(variable), &observation.variables);
    !matches!(seen, Some(Mismatch::Differs(..)))
}

/// The bits of a value of this many bytes.
fn mask(size: u64) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

enum Judgement {
    Agrees,
    Differs(Class, Option<String>),
    Unobserved,
}

/// Compares an answer for a module that stands alone with what was observed of it.
fn judge(answer: &Answer, observation: &Observation) -> Judgement {
    match (observation.outcome, answer) {
        (Outcome::Crashed, _) => Judgement::Differs(Class::Crash, None),
        (Outcome::TimedOut, _) => Judgement::Differs(Class::Hang, None),
        (Outcome::Refused, Answer::Refused) => Judgement::Agrees,
        (Outcome::Refused, Answer::Variables(_) | Answer::Bits(_)) => {
            Judgement::Differs(Class::RefusesValid, None)
        }
        (Outcome::Accepted, Answer::Refused) => Judgement::Differs(Class::AcceptsInvalid, None),
        (Outcome::Accepted, Answer::Variables(variables)) => match compare(variables, &observation.variables)
        {
            None => Judgement::Agrees,
            Some(Mismatch::Differs(class, variable)) => Judgement::Differs(class, Some(variable)),
            Some(Mismatch::Unobserved(_)) => Judgement::Unobserved,
        },
        (_, Answer::Unmodelled | Answer::Bits(_)) | (Outcome::Unsupported | Outcome::Unavailable, _) => {
            Judgement::Unobserved
        }
    }
}

/// The most trials with variables of their own in one module: ptxas takes more than twice as long for twice as many.
const NAMED_TOGETHER: usize = 1_000;

/// Groups that fit into one module each: what `.const` holds is limited, and so is how many names are worth while.
fn const_groups(predicted: &[Predicted<'_>], all: Vec<usize>) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let (mut used, mut named) = (0, 0);
    for at in all {
        let need = const_need(&predicted[at]);
        let names = usize::from(predicted[at].trial.body.items().is_some());
        let full = used + need > CONST_BYTES && need > 0 || named + names > NAMED_TOGETHER;
        if full && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            (used, named) = (0, 0);
        }
        used += need;
        named += names;
        group.push(at);
    }
    groups.push(group);
    groups
}

fn const_need(p: &Predicted<'_>) -> u64 {
    match (&p.trial.body, &p.answer) {
        (Body::Expression { ty, space: StateSpace::Const, .. }, _) => ty.size().unwrap_or(0),
        (Body::Items(_) | Body::Seats(_), Answer::Variables(variables)) => {
            let in_const = variables.iter().filter(|v| v.space == StateSpace::Const);
            in_const.map(|v| v.size + v.align).sum()
        }
        _ => 0,
    }
}

fn compose(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = Canonical(print(&Module { items: header.items() }));
    let mut line = 1 + text.0.bytes().filter(|&b| b == b'\n').count() as u32;
    let mut seats: Vec<Option<Seat>> = group.iter().map(|_| None).collect();
    let mut lines = Vec::with_capacity(group.len());
    let mut arrays: BTreeMap<(StateSpace, ScalarType), Vec<usize>> = BTreeMap::new();
    for (place, &at) in group.iter().enumerate() {
        match &predicted[at].trial.body {
            Body::Expression { ty, space, .. } => arrays.entry((*space, *ty)).or_default().push(place),
            Body::Items(items) | Body::Seats(items) => {
                let prefix = format!("t{place}_");
                lines.push((line, place));
                let items = prefixed(items, &prefix);
                let before = text.0.len();
                text.0.push_str(&predicted[at].trial.spacing.print(&Module { items }));
                line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                seats[place] = Some(Seat::Names { prefix });
            }
        }
    }
    for ((space, ty), places) in arrays {
        let array = format!("e{}{}", space.name(), &ty.keyword()[1..]);
        let width = ty.size().unwrap_or(0);
        let _ = writeln!(text.0, "{} {} {array}[{}] = {{", space.keyword(), ty.keyword(), places.len());
        line += 1;
        for (index, &place) in places.iter().enumerate() {
            lines.push((line, place));
            let trial = predicted[group[place]].trial;
            if let Body::Expression { expr, .. } = &trial.body {
                let before = text.0.len();
                trial.spacing.print_expr(expr, &mut text);
                if trial.spacing != Spacing::Canonical {
                    line += text.0[before..].bytes().filter(|&b| b == b'\n').count() as u32;
                }
            }
            text.0.push_str(if index + 1 == places.len() { "\n" } else { ",\n" });
            line += 1;
            let offset = index as u64 * width;
            seats[place] = Some(Seat::Element { array: array.clone(), offset, width: width as usize });
        }
        text.0.push_str("};\n");
        line += 1;
    }
    Batch { text: text.0, seats: seats.into_iter().flatten().collect(), lines }
}

enum Seated {
    Agrees,
    Unobserved,
    /// The part of the observation that belongs to the trial, as if it had stood alone.
    Differs(Observation),
}

/// What a batch shows of one trial, and how many of its variables it does not show.
fn seated(predicted: &Predicted<'_>, seat: &Seat, observation: &Observation) -> (Seated, u32) {
    let answer = &predicted.answer;
    match (answer, seat) {
        (Answer::Bits(bits), Seat::Element { array, offset, width }) => {
            (element(*bits, array, *offset, *width, observation), 0)
        }
        (Answer::Variables(variables), Seat::Names { prefix }) => {
            let names = variables.iter().map(|variable| variable.name.as_str());
            let alone = seen_alone(names, prefix, observation);
            let unseen = unseen(variables, &alone.variables);
            let seated = match judge(answer, &alone) {
                Judgement::Agrees => Seated::Agrees,
                Judgement::Unobserved => Seated::Unobserved,
                Judgement::Differs(..) => Seated::Differs(alone),
            };
            (seated, unseen)
        }
        (Answer::Unmodelled, Seat::Names { prefix }) => {
            let items = predicted.trial.body.items().unwrap_or(&[]);
            let alone = seen_alone(seats::names(items), prefix, observation);
            let seated = match seats::disagreement(items, &alone) {
                None => Seated::Agrees,
                Some(_) => Seated::Differs(alone),
            };
            (seated, 0)
        }
        _ => (Seated::Unobserved, 0),
    }
}

/// One element of an array of many trials.
fn element(bits: u64, array: &str, offset: u64, width: usize, observation: &Observation) -> Seated {
    let Some(seen) = observation.variables.get(array) else { return Seated::Unobserved };
    let (from, to) = (offset as usize, offset as usize + width);
    let Some(bytes) = seen.bytes.as_ref().and_then(|bytes| bytes.get(from..to)) else {
        return Seated::Unobserved;
    };
    let own = offset..to as u64;
    let addressed = seen.addresses.iter().flatten().any(|address| own.contains(&address.offset));
    if *bytes == bits.to_le_bytes()[..width] && !addressed {
        return Seated::Agrees;
    }
    let variable = ptxsmith_subject::Variable {
        space: seen.space.clone(),
        size: Some(width as u64),
        align: None,
        bytes: Some(bytes.to_vec()),
        addresses: Some(Vec::new()),
        base: None,
    };
    let mut alone = Observation::new(Outcome::Accepted);
    alone.variables.insert(ALONE.to_owned(), variable);
    Seated::Differs(alone)
}

/// What was seen of these variables, as if they had stood alone.
fn seen_alone<'n>(
    names: impl Iterator<Item = &'n str>,
    prefix: &str,
    observation: &Observation,
) -> Observation {
    let mut alone = Observation::new(Outcome::Accepted);
    for name in names {
        let Some(seen) = observation.variables.get(with_prefix(name, prefix).as_str()) else { continue };
        let mut seen = seen.clone();
        for address in seen.addresses.iter_mut().flatten() {
            if let Some(symbol) = without_prefix(&address.symbol, prefix) {
                address.symbol = symbol.to_string();
            }
        }
        alone.variables.insert(name.to_owned(), seen);
    }
    alone
}

/// The first complaint about each trial of a batch that was refused.
fn complaints(batch: &Batch, count: usize, observation: &Observation) -> Vec<Option<Diagnostic>> {
    let mut complaints = vec![None; count];
    if observation.outcome == Outcome::Refused {
        for error in observation.diagnostics.iter().filter(|d| d.severity >= Severity::Error) {
            let Some(line) = error.line else { continue };
            let behind = batch.lines.partition_point(|&(start, _)| start <= line);
            if let Some(&(start, place)) = behind.checked_sub(1).and_then(|at| batch.lines.get(at)) {
                let line = Some(line - start + 1 + HEADER_LINES);
                complaints[place].get_or_insert(Diagnostic { line, ..error.clone() });
            }
        }
    }
    complaints
}

/// The trials on whose lines the subject complains, and the others.
fn split_blamed(batch: &Batch, group: &[usize], observation: &Observation) -> (Vec<usize>, Vec<usize>) {
    let complaints = complaints(batch, group.len(), observation);
    let (guilty, rest): (Vec<_>, Vec<_>) = group.iter().zip(complaints).partition(|(_, c)| c.is_some());
    let trials = |these: Vec<(&usize, Option<Diagnostic>)>| these.into_iter().map(|(&at, _)| at).collect();
    (trials(guilty), trials(rest))
}

/// A module in which every trial is a statement of its own with an innocent one behind it, so that a complaint about
/// the line behind a trial is still about the trial.
fn compose_apart(predicted: &[Predicted<'_>], group: &[usize], header: &Header) -> Batch {
    let mut text = print(&Module { items: header.items() });
    let mut line = 1 + HEADER_LINES;
    let mut lines = Vec::with_capacity(group.len());
    for (place, &at) in group.iter().enumerate() {
        lines.push((line, place));
        let trial = predicted[at].trial;
        let items = prefixed(&trial.items(), &format!("t{place}_"));
        let before = text.len();
        text.push_str(&trial.spacing.print(&Module { items }));
        let _ = writeln!(text, ".global .u8 z{place};");
        line += text[before..].bytes().filter(|&b| b == b'\n').count() as u32;
    }
    Batch { text, seats: Vec::new(), lines }
}

/// Which open questions spoil a batch: those that most of the trials that met them were guilty with. Trials that meet
/// one are shown alone at once. Only the schedule depends on this, no verdict.
#[derive(Default)]
struct Suspicion {
    guilty: [u32; Question::ALL.len()],
    innocent: [u32; Question::ALL.len()],
}

impl Suspicion {
    fn raise(&mut self, questions: QuestionSet) {
        questions.iter().for_each(|question| self.guilty[question as usize] += 1);
    }

    fn clear(&mut self, questions: QuestionSet) {
        if !questions.is_empty() {
            questions.iter().for_each(|question| self.innocent[question as usize] += 1);
        }
    }

    fn falls_on(&self, questions: QuestionSet) -> bool {
        !questions.is_empty()
            && questions.iter().any(|q| self.guilty[q as usize] > 2 * self.innocent[q as usize])
    }
}
