//! Finds the verdicts of a batch: shows the trials together and splits a failing module until each failing trial
//! stands alone.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Expectation, QuestionSet, Trace, Variable};
use ptxsmith_subject::{Error, Observation, Outcome, Severity};

use super::{
    Answer, Judge, Predicted,
    batch::{Batch, Shown, compose, launches, own, shown, split_blamed},
};
use crate::{
    asked::Asked,
    compare::unobserved,
    explanation::Explanation,
    known::with_known,
    lead::Lead,
    trial::Body,
    verdict::{Class, Difference, Judged, NotCompared, Share, Verdict, Why},
};

/// How often a batch is shown again if a trial deviates in it but not alone.
const COMPANY_CONFIRMED: usize = 3;

/// The maximum number of new differences per batch that are shown alone.
const MOST_CONFIRMED: usize = 50;

/// The number of modules per batch and question that are asked which answers they exclude. Each must be predicted
/// once per answer.
const MOST_MODULES: u32 = 2;

/// The maximum number of trials per batch that are asked whether they exclude a wrong rule.
const MOST_ASKED: u32 = 2_000;

/// One in this many of the trials that were shown in separate modules by one call is shown alone as well.
const RECHECK_APART_EVERY: u64 = 64;

/// The verdict on a trial, with the evidence for it.
pub(super) struct Settled {
    pub verdict: Verdict,
    /// The number of its variables that the subject does not show.
    pub unseen: u32,
    /// The share of its kernel results that the subject shows.
    pub operands: Share,
    /// The clauses and questions of the differing scalar, if the trial has many scalars and shows which one differs.
    pub trace: Option<Trace>,
    /// The observation of conforming kernels.
    pub conforming: Option<Observation>,
    /// The reason why the trial was not compared, if it is known.
    pub why: Option<Box<Why>>,
}

impl Settled {
    pub fn new(verdict: Verdict) -> Settled {
        let (unseen, operands, trace, conforming, why) = Default::default();
        Settled { verdict, unseen, operands, trace, conforming, why }
    }
}

/// The verdicts of one batch under construction.
pub(super) struct Settling<'j, 'a, 't> {
    pub judge: &'j Judge<'a>,
    pub predicted: &'j [Predicted<'t>],
    /// The verdict of each trial, by its index.
    settled: Vec<Option<Settled>>,
    /// The trials that were shown in separate modules by one call.
    apart: BTreeSet<usize>,
    /// The number of differences for which wrong rules were searched.
    pub looked_into: u32,
    /// The weight and number of the shortest trial so far with each class and explanation.
    pub shortest: BTreeMap<(Class, Explanation), (usize, u64)>,
}

impl<'j, 'a, 't> Settling<'j, 'a, 't> {
    pub fn of(judge: &'j Judge<'a>, predicted: &'j [Predicted<'t>]) -> Settling<'j, 'a, 't> {
        let settled = predicted.iter().map(|_| None).collect();
        let (apart, looked_into, shortest) = Default::default();
        Settling { judge, predicted, settled, apart, looked_into, shortest }
    }

    pub fn not_compared(&mut self, at: usize, reason: NotCompared) {
        self.settled[at] = Some(Settled::new(Verdict::NotCompared(reason)));
    }

    /// Judges a trial by the observation of its own module. Returns true if the trial poisons a batch.
    pub fn take(&mut self, at: usize, observation: Observation) -> bool {
        let failing = observation.outcome != Outcome::Accepted;
        self.settled[at] = Some(self.explained(at, observation));
        failing
    }

    /// Shows a trial alone and judges it. Returns true if the trial poisons a batch.
    pub fn alone(&mut self, at: usize) -> Result<bool, Error> {
        let observation = self.observe_alone(at)?;
        Ok(self.take(at, observation))
    }

    fn observe_alone(&self, at: usize) -> Result<Observation, Error> {
        let (judge, p) = (self.judge, &self.predicted[at]);
        judge.observe(&p.trial.text(&judge.options.header), &launches(p, ""))
    }

    /// Judges a group of trials. Returns true if one of them poisons a batch.
    pub fn together(&mut self, group: Vec<usize>) -> Result<bool, Error> {
        match group[..] {
            [] => return Ok(false),
            [at] => return self.alone(at),
            _ => {}
        }
        let batch = compose(self.predicted, &group, &self.judge.options);
        let observation = self.judge.observe(&batch.text, &batch.launches)?;
        if observation.outcome == Outcome::Accepted {
            let arrays = batch.arrays(&observation);
            for (&at, slot) in group.iter().zip(&batch.slots) {
                let shown = shown(&self.predicted[at], slot, &arrays, &observation);
                self.settled[at] = Some(match shown {
                    Shown::Agrees => Settled::new(Verdict::Conforms),
                    Shown::Unobserved => Settled::new(unobserved(self.judge.subject, &observation)),
                    Shown::Holds(bits, alone) => self.explained_element(at, bits, alone),
                    Shown::Module(alone) => self.explained(at, alone),
                });
            }
            if self.confirm_alone(&group)? {
                self.confirm_company(&group, &batch)?;
            }
            return Ok(false);
        }
        // Lines are only hints. ptxas sometimes names the line behind the faulty one, and after an overflowing
        // constant it reports later lines that it accepts alone.
        let (blamed, rest) = split_blamed(&batch, &group, &observation);
        let mut found = self.apart(blamed)?;
        // If no failing trial was found, or the subject stopped at a fatal error, halving the group finds the others.
        let whole = found && !is_fatal(&observation);
        let (left, right) = rest.split_at(if whole { 0 } else { rest.len() / 2 });
        found |= self.together(left.to_vec())?;
        found |= self.together(right.to_vec())?;
        // A timeout of a single program is a finding, but many programs together may simply take long.
        if !found && observation.outcome != Outcome::TimedOut {
            let again = self.judge.observe(&batch.text, &batch.launches)?;
            let is_same = again.outcome == observation.outcome;
            let mut verdict = self.unexplained(group[0], Class::Inconsistent, None, observation);
            if let (true, Verdict::Deviates(difference)) = (is_same, &mut verdict) {
                difference.expected.company = Some(true);
            }
            self.settled[group[0]] = Some(Settled::new(verdict));
        }
        Ok(true)
    }

    /// Judges trials that will probably be rejected, each in a module of its own. Returns true if one of them poisons
    /// a batch.
    pub fn apart(&mut self, group: Vec<usize>) -> Result<bool, Error> {
        if let [at] = group[..] {
            return self.alone(at);
        }
        let (judge, predicted) = (self.judge, self.predicted);
        let prefix = |place: usize| format!("t{place}_");
        let module = |(place, &at): (usize, &usize)| {
            let (p, prefix) = (&predicted[at], prefix(place));
            (p.trial.prefixed_text(&judge.options.header, &prefix), launches(p, &prefix))
        };
        let modules: Vec<_> = group.iter().enumerate().map(module).collect();
        let mut found = false;
        for ((place, &at), observation) in group.iter().enumerate().zip(judge.observe_each(&modules)?) {
            found |= self.take(at, own(&prefix(place), observation));
        }
        self.apart.extend(group);
        Ok(found)
    }

    /// Shows the trials with new differences alone. A difference that occurs only in the batch is another finding, or
    /// none if a known deviation of another trial overwrites the memory of this one. Returns true if a difference
    /// occurs only in the batch.
    fn confirm_alone(&mut self, group: &[usize]) -> Result<bool, Error> {
        let is_new = |settled: &Settled| matches!(&settled.verdict, Verdict::Deviates(difference) if difference.explanation.is_none());
        // The slots of a constant are meaningful only in one module.
        let may_be_alone = |at: &usize| !matches!(self.predicted[*at].trial.body, Body::Contexts(_));
        let new = group.iter().copied().filter(may_be_alone);
        let new: Vec<usize> =
            new.filter(|&at| self.settled[at].as_ref().is_some_and(is_new)).take(MOST_CONFIRMED).collect();
        let written_over =
            !new.is_empty() && group.iter().any(|&at| self.reaches_beyond(&self.predicted[at]));
        let mut only_in_company = false;
        for at in new {
            let observation = self.observe_alone(at)?;
            let alone = self.explained(at, observation);
            if is_new(&alone) || written_over {
                self.settled[at] = Some(alone);
            } else if let Some(Settled { verdict: Verdict::Deviates(difference), .. }) = &mut self.settled[at]
            {
                difference.class = Class::Inconsistent;
                only_in_company = true;
            }
        }
        Ok(only_in_company)
    }

    /// Shows a batch again if a trial deviates in it but not alone. A difference that recurs every time is not
    /// random.
    fn confirm_company(&mut self, group: &[usize], batch: &Batch) -> Result<(), Error> {
        let again: Vec<Observation> = (0..COMPANY_CONFIRMED)
            .map(|_| self.judge.observe(&batch.text, &batch.launches))
            .collect::<Result<_, _>>()?;
        for (place, &at) in group.iter().enumerate() {
            let Some(Settled { verdict: Verdict::Deviates(difference), .. }) = &mut self.settled[at] else {
                continue;
            };
            let is_same = |again: &Observation| match shown(
                &self.predicted[at],
                &batch.slots[place],
                &batch.arrays(again),
                again,
            ) {
                Shown::Agrees | Shown::Unobserved => false,
                Shown::Holds(_, again) | Shown::Module(again) => {
                    again.variables == difference.observed.variables
                }
            };
            if difference.class == Class::Inconsistent && again.iter().all(is_same) {
                difference.expected.company = Some(true);
            }
        }
        Ok(())
    }

    /// Returns true if a listed deviation of the subject writes an address of the trial beyond the variable that
    /// holds it.
    fn reaches_beyond(&self, p: &Predicted<'_>) -> bool {
        let known = with_known(&self.judge.rules, self.judge.maker());
        let Expectation::Accepted { variables, .. } = self.judge.prediction(p.trial, &known).data else {
            return false;
        };
        let beyond = |v: &Variable| v.addresses.iter().any(|a| a.offset + u64::from(a.width) > v.size);
        variables.iter().any(beyond)
    }

    /// Shows some trials alone as well, because a verdict must not depend on the rest of the batch.
    pub fn recheck(&mut self) -> Result<(), Error> {
        let every = self.judge.options.recheck_every;
        for at in 0..self.predicted.len() {
            let p = &self.predicted[at];
            let every = if self.apart.contains(&at) { every.min(RECHECK_APART_EVERY) } else { every };
            let chosen = every > 0 && p.must().is_some() && p.trial.id.is_multiple_of(every);
            let Some(before) = self.settled[at].as_ref().filter(|_| chosen) else { continue };
            let before = before.verdict.clone();
            let observation = self.observe_alone(at)?;
            let again = self.explained(at, observation);
            let same = match (&again.verdict, &before) {
                (Verdict::Deviates(a), Verdict::Deviates(b)) | (Verdict::Reads(a), Verdict::Reads(b)) => {
                    // A listed deviation that overwrites neighbouring memory may leave a different value each time.
                    (a.class == b.class || a.explanation.is_some()) && a.explanation == b.explanation
                }
                (a, b) => a == b,
            };
            if !same {
                let differs = |verdict| match verdict {
                    Verdict::Deviates(difference) | Verdict::Reads(difference) => Some(difference),
                    Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => None,
                };
                let verdict = match differs(again.verdict).or_else(|| differs(before)) {
                    Some(d) => Verdict::Deviates(Box::new(Difference { class: Class::Inconsistent, ..*d })),
                    None => Verdict::NotCompared(NotCompared::Unobserved),
                };
                self.settled[at] = Some(Settled::new(verdict));
            }
        }
        Ok(())
    }

    /// Returns the verdicts with the interpretations and wrong rules that they exclude.
    pub fn conclude(mut self) -> Vec<Judged> {
        let (judge, predicted) = (self.judge, self.predicted);
        for (p, settled) in predicted.iter().zip(self.settled.iter_mut().flatten()) {
            if let Verdict::Reads(difference) = &mut settled.verdict {
                judge.read_as_known(p, difference);
            }
        }
        let suspected = suspected_leads(self.settled.iter().flatten().map(|settled| &settled.verdict));
        let (mut met, mut read, mut asked) = (Asked::default(), Asked::default(), 0);
        let mut met_by_modules = Asked::of(MOST_MODULES);
        let mut all: Vec<Judged> = Vec::with_capacity(predicted.len());
        for (p, settled) in predicted.iter().zip(self.settled) {
            let settled =
                settled.unwrap_or_else(|| Settled::new(Verdict::NotCompared(NotCompared::Unobserved)));
            let first = match p.answer {
                Answer::Bits(_) => met.first_to_meet(p.trace.questions),
                // A partly observed trial excludes nothing.
                Answer::Module(_) if settled.unseen == 0 && settled.verdict == Verdict::Conforms => {
                    met_by_modules.first_to_meet(p.trace.questions)
                }
                Answer::Module(_) => QuestionSet::default(),
            };
            let excluded = judge.excluded(p, &settled.verdict, first, &mut read);
            let mut contradicts = Vec::new();
            if settled.verdict == Verdict::Conforms && !suspected.is_empty() && asked < MOST_ASKED {
                let touched: Vec<&Lead> = suspected.iter().filter(|lead| lead.touches(&p.trace)).collect();
                asked += u32::from(!touched.is_empty());
                let ruled_out = touched.into_iter().filter(|lead| judge.rules_out(lead, p, &settled));
                contradicts = ruled_out.map(|lead| lead.id).collect();
            }
            let unseen = if settled.verdict == Verdict::ConformsByOutcome { 0 } else { settled.unseen };
            let trace = settled.trace.unwrap_or(p.trace);
            // Operands of a trial that could not have differed count as not compared.
            let is_compared = !matches!(settled.verdict, Verdict::NotCompared(_));
            let seen = if is_compared { settled.operands.seen } else { 0 };
            let operands = Share { seen, ..settled.operands };
            let judged = Judged::new(p.trial.id, settled.verdict, p.must(), trace);
            all.push(Judged { excluded, contradicts, unseen, operands, why: settled.why, ..judged });
        }
        if judge.options.launch {
            let ruled_out: BTreeSet<&'static str> =
                all.iter().flat_map(|judged| &judged.contradicts).copied().collect();
            all.iter_mut().for_each(|judged| leave_out(&mut judged.verdict, &ruled_out));
        }
        all
    }
}

/// Removes suspected wrong rules that other trials exclude. Kernel trials have few suspects, and one of them may
/// predict an unrelated difference by chance.
fn leave_out(verdict: &mut Verdict, ruled_out: &BTreeSet<&'static str>) {
    if let Verdict::Deviates(difference) = verdict {
        for alternatives in difference.suspected.iter_mut().flatten() {
            alternatives.retain(|set| !set.iter().any(|id| ruled_out.contains(id)));
        }
    }
}

/// Returns the wrong rules suspected in any of these verdicts.
fn suspected_leads<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Vec<Lead> {
    let suspected = verdicts.filter_map(|verdict| match verdict {
        Verdict::Deviates(difference) => difference.suspected.as_ref(),
        _ => None,
    });
    let ids: BTreeSet<&'static str> = suspected.flatten().flatten().flatten().copied().collect();
    ids.into_iter().filter_map(Lead::from_id).collect()
}

/// Returns true if the subject stopped at a fatal error, so that later lines were not checked.
fn is_fatal(observation: &Observation) -> bool {
    observation.diagnostics.iter().any(|d| d.severity == Severity::Fatal && d.line.is_some())
}
