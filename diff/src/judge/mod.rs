//! Judging many trials with few runs of the subject.
//!
//! The verdict of a trial in a batch is the verdict that it gets alone: a batch that is accepted tells each trial's
//! answer apart, and one that is not is split until it does. Trials that will be refused are shown in modules of their
//! own, since one refusal hides every other answer of its module.

mod explaining;
mod module;
mod schedule;

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Evaluator, Expectation, QuestionSet, Rules, Stop, Stored, Trace, Variable, expect};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Request, Severity, Subject};
use ptxsmith_syntax::Header;

use crate::{
    asked::Asked,
    compare::{Mismatch, compare, unobserved, unseen},
    explain::Explanation,
    known::with_known,
    lead::Lead,
    maker::Maker,
    read,
    trial::{Body, Trial},
    verdict::{Class, Difference, Judged, Must, NotCompared, Verdict},
};
pub(crate) use module::{CONST_BYTES, little_endian};
use module::{Seated, complaints, compose, compose_apart, groups, seated, split_blamed};
pub(crate) use schedule::Changed;
use schedule::{Followed, Foreseen, Habits, Listed, Suspicion};

/// The lines of a header: `.version`, `.target` and `.address_size`.
const HEADER_LINES: u32 = 3;

/// How batches are made.
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
}

impl Default for Options {
    fn default() -> Options {
        Options {
            header: Header::default(),
            target: None,
            form: OutputForm::Executable,
            recheck_every: 100_000,
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
///
/// It learns from each batch how the subject answers open questions and which trials spoil their company. That decides which
/// trials it shows together; so what a subject shows that depends on company is only found again by a judge that has seen
/// the same batches before.
#[derive(Clone)]
pub struct Judge<'a> {
    subject: &'a dyn Subject,
    pub(crate) rules: Rules,
    pub(crate) options: Options,
    pub(crate) version: (u32, u32),
    pub(crate) suspicion: Suspicion,
    pub(crate) habits: Habits,
    pub(crate) listed: Listed,
    /// Of the batch at hand, the trials with variables that the subject does not show, by number.
    unseen: BTreeMap<u64, u32>,
    /// How many trials that will be refused are shown in one module.
    refused_together: usize,
    /// How many differences of the batch at hand had their cause looked for among wrong rules.
    looked_into: Cell<u32>,
    /// The shortest trial of the batch at hand, so far, of those that show the same.
    shortest: RefCell<BTreeMap<(Class, Explanation), (usize, u64)>>,
}

/// What the specification says of a trial.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Bits(u64),
    Variables(Vec<Variable>),
    Refused,
    Unmodelled,
}

impl Answer {
    fn of(expected: Expectation) -> Answer {
        match expected {
            Expectation::Accepted { variables, .. } => Answer::Variables(variables),
            Expectation::Refused { .. } => Answer::Refused,
            Expectation::Unmodelled { .. } => Answer::Unmodelled,
        }
    }
}

struct Predicted<'t> {
    trial: &'t Trial,
    answer: Answer,
    trace: Trace,
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
            habits: Habits::new(rules.readings),
            listed: Listed::of(Maker::of(subject.description())),
            unseen: BTreeMap::new(),
            refused_together: 512,
            looked_into: Cell::new(0),
            shortest: RefCell::default(),
        }
    }

    /// The same judge, who knows how the subject answers open questions as far as another judge of it has seen that. No
    /// verdict depends on it, but which trials are shown together.
    #[must_use]
    pub fn familiar_as(self, other: &Judge<'_>) -> Judge<'a> {
        Judge { habits: other.habits.clone(), ..self }
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
        self.shortest.borrow_mut().clear();
        let mut verdicts: Vec<Option<Verdict>> = vec![None; trials.len()];
        let (mut together, mut doubtful, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (at, p) in predicted.iter().enumerate() {
            match p.answer {
                Answer::Unmodelled if matches!(p.trial.body, Body::Seats(_)) => together.push(at),
                Answer::Unmodelled => verdicts[at] = Some(Verdict::NotCompared(NotCompared::Unmodelled)),
                _ => match self.foreseen(p) {
                    Foreseen::Accepted => together.push(at),
                    Foreseen::Doubtful => doubtful.push(at),
                    Foreseen::Refused => refused.push(at),
                    Foreseen::Dead => {
                        self.settle_alone(&predicted, at, &mut verdicts)?;
                    }
                },
            }
        }
        self.settle_refused(&predicted, refused, &mut verdicts)?;
        for group in groups(&predicted, together).into_iter().chain(groups(&predicted, doubtful)) {
            self.settle(&predicted, group, &mut verdicts)?;
        }
        if self.options.recheck_every > 0 {
            for (at, p) in predicted.iter().enumerate() {
                let is_compared = p.answer != Answer::Unmodelled;
                if is_compared && p.trial.id.is_multiple_of(self.options.recheck_every) {
                    self.recheck(p, &mut verdicts[at])?;
                }
            }
        }
        let suspected = suspected_leads(verdicts.iter().flatten());
        let mut asked = 0;
        let followed = Followed::of(self.rules.readings, verdicts.iter().flatten());
        self.habits.learn(&followed);
        for (p, verdict) in predicted.iter().zip(&mut verdicts) {
            if let Some(Verdict::Reads(difference)) = verdict {
                self.read_as_others(p, difference, followed.readings);
            }
        }
        let (mut met, mut read) = (Asked::default(), Asked::default());
        Ok(predicted
            .iter()
            .zip(verdicts)
            .map(|(p, verdict)| {
                let verdict = verdict.unwrap_or(Verdict::NotCompared(NotCompared::Unobserved));
                let first = match p.answer {
                    Answer::Bits(_) => met.first_to_meet(p.trace.questions),
                    _ => QuestionSet::default(),
                };
                let excluded = match &verdict {
                    // A refusal may have another cause than the one expected: it shows no answer to a question.
                    Verdict::Conforms if p.answer != Answer::Refused => {
                        self.excluded(p, &self.rules, &followed, followed.contested, first)
                    }
                    Verdict::Reads(difference) if difference.observed.outcome == Outcome::Accepted => {
                        let reading = difference.explanation.as_ref();
                        let rules = reading.map_or(self.rules, |reading| reading.applied(&self.rules));
                        let answers = || reading.iter().flat_map(|reading| &reading.readings).copied();
                        // Of those that do as the others, the first show what that rules out.
                        let is_first =
                            !read.first_to_meet(answers().map(|answer| answer.0).collect()).is_empty();
                        let as_others =
                            answers().all(|(question, answer)| followed.readings.answer(question) == answer);
                        let contested =
                            if as_others && !is_first { QuestionSet::default() } else { followed.contested };
                        self.excluded(p, &rules, &followed, contested, first)
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
                let judged = Judged::new(p.trial.id, verdict, must, p.trace);
                Judged { excluded, contradicts, unseen, ..judged }
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
        let Body::Expression { ty, expr, .. } = &trial.body else {
            let expected = self.expect_alone(trial, rules);
            let trace = expected.trace();
            return (Answer::of(expected), trace);
        };
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
    fn expect_alone(&self, trial: &Trial, rules: &Rules) -> Expectation {
        match expect(&trial.module(&self.options.header), rules) {
            // One constant in many places is compared where all places are.
            Expectation::Accepted { unmodelled, .. }
                if !unmodelled.is_empty() && matches!(trial.body, Body::Seats(_)) =>
            {
                Expectation::Unmodelled { reason: unmodelled[0].1 }
            }
            expected => expected,
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
            let arrays = batch.arrays(&observation);
            for (&at, seat) in group.iter().zip(&batch.seats) {
                self.suspicion.clear(predicted[at].trace.questions);
                let (seated, unseen) = seated(&predicted[at], seat, &arrays, &observation);
                if unseen > 0 {
                    self.unseen.insert(predicted[at].trial.id, unseen);
                }
                let verdict = match seated {
                    Seated::Agrees => Verdict::Conforms,
                    Seated::Unobserved => unobserved(self.subject, &observation),
                    Seated::Holds(bits, seen) => self.explained_element(&predicted[at], bits, seen),
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
            // Lines are a hint only: ptxas sometimes names the line behind the one that it complains about. What should
            // be refused may be blamed again together; what should not is shown alone.
            let (refused, innocent): (Vec<_>, Vec<_>) =
                blamed.into_iter().partition(|&at| predicted[at].answer == Answer::Refused);
            let mut found = self.settle_refused(predicted, refused, verdicts)?;
            for at in innocent {
                found |= self.settle_alone(predicted, at, verdicts)?;
            }
            // What stands behind a fatal error was not read: halves keep the next run short.
            let whole = found && !is_fatal(&observation);
            let (left, right) = rest.split_at(if whole { 0 } else { rest.len() / 2 });
            found
                | self.settle(predicted, left.to_vec(), verdicts)?
                | self.settle(predicted, right.to_vec(), verdicts)?
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

    /// What the subject will probably do with a trial, from what is listed of it and what it did with others.
    fn foreseen(&self, p: &Predicted<'_>) -> Foreseen {
        if self.listed.dies(&p.trace) {
            return Foreseen::Dead;
        }
        // What is refused as an expression is one of two answers; of a program there are too many to foresee.
        let is_expression = matches!(p.trial.body, Body::Expression { .. });
        let answers_otherwise = is_expression && self.habits.concern(p.trace.questions);
        let others = Rules { readings: self.habits.readings(), ..self.rules };
        let dies = |rules: &Rules| self.listed.dies(&self.answer(p.trial, rules).1);
        let base = if answers_otherwise { &others } else { &self.rules };
        let with_any = |changes: &[Changed], is_so: &dyn Fn(&Rules) -> bool| {
            let mut touched = changes.iter().filter(|(known, _)| known.touches(&p.trace));
            touched.any(|&(_, change)| is_so(&base.with(change)))
        };
        if answers_otherwise && dies(&others)
            || is_expression
                && self.listed.deadly().meets(p.trace.clauses)
                && with_any(&self.listed.integers, &dies)
        {
            return Foreseen::Dead;
        }
        let refuses = |rules: &Rules| self.answer(p.trial, rules).0 == Answer::Refused;
        let refused = if answers_otherwise { refuses(&others) } else { p.answer == Answer::Refused };
        let refused = refused || with_any(&self.listed.refusals, &refuses);
        match (refused, &p.answer) {
            (true, _) => Foreseen::Refused,
            (false, Answer::Refused) => Foreseen::Doubtful,
            (false, _) => Foreseen::Accepted,
        }
    }

    /// Gives trials that will be refused their verdicts. An error on a trial's own lines refuses it, whatever else the
    /// module holds; one that ends the reading is followed by others that were not read. What is not complained about
    /// although it was read is shown alone. Returns whether any of them spoils its company.
    fn settle_refused(
        &mut self,
        predicted: &[Predicted<'_>],
        mut left: Vec<usize>,
        verdicts: &mut [Option<Verdict>],
    ) -> Result<bool, Error> {
        let mut guilty = false;
        while !left.is_empty() {
            let rest = left.split_off(left.len().min(self.refused_together));
            let group = std::mem::replace(&mut left, rest);
            if let [at] = group[..] {
                guilty |= self.settle_alone(predicted, at, verdicts)?;
                continue;
            }
            let batch = compose_apart(predicted, &group, &self.options.header);
            let observation = self.observe(&batch.text)?;
            let complaints = complaints(&batch, group.len(), &observation);
            let read = complaints.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let all = observation.outcome == Outcome::Refused && !is_fatal(&observation);
            let read = if all { group.len() } else { read };
            for (&at, complaint) in group.iter().zip(complaints).take(read) {
                let Some(diagnostic) = complaint else {
                    guilty |= self.settle_alone(predicted, at, verdicts)?;
                    continue;
                };
                guilty = true;
                let refused = Observation::new(Outcome::Refused);
                let refused = Observation { diagnostics: vec![diagnostic], ..refused };
                verdicts[at] = Some(self.explained(&predicted[at], refused));
            }
            if read == 0 {
                guilty |= self.settle_alone(predicted, group[0], verdicts)?;
            }
            let unread = &group[read.max(1)..];
            // One run reads up to the first fatal error: together there are never more runs than alone, if the modules
            // stay short.
            self.refused_together = if unread.is_empty() { 512 } else { (2 * read).clamp(32, 512) };
            left.splice(0..0, unread.iter().copied());
        }
        Ok(guilty)
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
        let known = with_known(&self.rules, self.maker());
        let Answer::Variables(variables) = self.answer(p.trial, &known).0 else { return false };
        let beyond = |v: &Variable| v.addresses.iter().any(|a| a.offset + u64::from(a.width) > v.size);
        variables.iter().any(beyond)
    }

    pub(crate) fn observe(&self, text: &str) -> Result<Observation, Error> {
        let description = self.subject.description();
        let read = match description.lists {
            Some(true) => Vec::new(),
            _ => match ptxsmith_syntax::parse(text) {
                Ok(module) => read::wanted(description, &module, &self.rules),
                Err(_) => Vec::new(),
            },
        };
        let request = Request::new(text, self.options.target()).in_form(self.options.form);
        self.subject.observe(&Request { read: &read, ..request })
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
}

/// The most differences of one batch whose cause is looked for among wrong rules that nobody is known to follow.
const MOST_LOOKED_INTO: u32 = 300;

/// The most new differences of one batch that are shown alone.
const MOST_CONFIRMED: usize = 50;

/// The most trials of one batch that are asked whether they rule out a wrong rule.
const MOST_ASKED: u32 = 2_000;

/// The wrong rules that are suspected of any of these.
pub(crate) fn suspected_leads<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Vec<Lead> {
    let suspected = verdicts.filter_map(|verdict| match verdict {
        Verdict::Deviates(difference) => difference.suspected.as_ref(),
        _ => None,
    });
    let ids: BTreeSet<&'static str> = suspected.flatten().flatten().flatten().copied().collect();
    ids.into_iter().filter_map(Lead::from_id).collect()
}

/// Whether the subject stopped reading at an error.
fn is_fatal(observation: &Observation) -> bool {
    observation.diagnostics.iter().any(|d| d.severity == Severity::Fatal && d.line.is_some())
}

/// Whether a variable is as it was observed, or was not.
fn agrees(variable: &Variable, observation: &Observation) -> bool {
    let seen = compare(std::slice::from_ref(variable), &observation.variables);
    !matches!(seen, Some(Mismatch::Differs(..)))
}

/// The bits of a value of this many bytes.
pub(crate) fn mask(size: u64) -> u64 {
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
