//! Finds the verdicts of a batch: shows the trials together and splits a failing module until each failing
//! trial stands alone.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_oracle::{Expectation, QuestionSet, Trace};
use ptxsmith_subject::{Error, Observation, Outcome, Severity};

use super::{
    Judge, PredictedTrial, TrialExpectation,
    batch::{Batch, TrialObservation, compose, launches, part_of_trial, split_blamed, without_prefix_in},
};
use crate::{
    compare::unobserved,
    explanation::Explanation,
    hypothesis::Hypothesis,
    known::with_known,
    question_quota::QuestionQuota,
    trial::TrialBody,
    verdict::{Class, Difference, NotCompared, ShownOperands, TrialVerdict, Verdict, WhyNotCompared},
};

/// How often a batch is shown again if a trial deviates in it but not alone.
const COMPANY_CONFIRMED: usize = 3;

/// The maximum number of new differences per batch that are shown alone.
const MOST_CONFIRMED: usize = 50;

/// The number of modules per batch and question that are asked which answers they exclude. Each must be
/// predicted once per answer.
const MOST_MODULES: u32 = 2;

/// The maximum number of trials per batch that are asked whether they exclude a wrong rule.
const MOST_ASKED: u32 = 2_000;

/// One in this many of the trials that were shown in separate modules by one call is shown alone as well.
const RECHECK_APART_EVERY: u64 = 64;

/// The verdict on a trial, with the evidence for it.
pub(super) struct TrialResult {
    pub verdict: Verdict,
    /// The number of its variables that the subject does not show.
    pub unseen: u32,
    /// The share of its kernel results that the subject shows.
    pub operands: ShownOperands,
    /// The clauses and questions of the differing scalar, if the trial has many scalars and shows which one
    /// differs.
    pub trace: Option<Trace>,
    /// The observation of conforming kernels.
    pub conforming: Option<Observation>,
    /// The reason why the trial was not compared, if it is known.
    pub why: Option<Box<WhyNotCompared>>,
}

impl TrialResult {
    pub fn new(verdict: Verdict) -> TrialResult {
        TrialResult {
            verdict,
            unseen: 0,
            operands: ShownOperands::default(),
            trace: None,
            conforming: None,
            why: None,
        }
    }
}

impl TrialResult {
    /// Returns true if the trial deviates and nothing listed explains the difference.
    fn is_unexplained(&self) -> bool {
        matches!(&self.verdict, Verdict::Deviates(difference) if difference.explanation.is_none())
    }
}

/// The verdicts of a batch under construction.
pub(super) struct BatchVerdicts<'j, 'a, 't> {
    pub judge: &'j Judge<'a>,
    pub predicted: &'j [PredictedTrial<'t>],
    /// The verdict of each trial, by its index.
    results: Vec<Option<TrialResult>>,
    /// The trials that were shown in separate modules by one call.
    shown_separately: BTreeSet<usize>,
    /// The number of differences for which wrong rules were searched.
    pub searched_differences: u32,
    /// The weight and number of the shortest trial so far with each class and explanation.
    pub shortest: BTreeMap<(Class, Explanation), (usize, u64)>,
}

impl<'j, 'a, 't> BatchVerdicts<'j, 'a, 't> {
    pub fn new(judge: &'j Judge<'a>, predicted: &'j [PredictedTrial<'t>]) -> BatchVerdicts<'j, 'a, 't> {
        BatchVerdicts {
            judge,
            predicted,
            results: predicted.iter().map(|_| None).collect(),
            shown_separately: BTreeSet::new(),
            searched_differences: 0,
            shortest: BTreeMap::new(),
        }
    }

    pub fn set_not_compared(&mut self, index: usize, reason: NotCompared) {
        self.results[index] = Some(TrialResult::new(Verdict::NotCompared(reason)));
    }

    /// Judges a trial by the observation of its own module. Returns true if the trial poisons a batch.
    pub fn judge_observed(&mut self, index: usize, observation: Observation) -> bool {
        let failing = observation.outcome != Outcome::Accepted;
        self.results[index] = Some(self.explained(index, observation));
        failing
    }

    /// Shows a trial alone and judges it. Returns true if the trial poisons a batch.
    pub fn judge_alone(&mut self, index: usize) -> Result<bool, Error> {
        let observation = self.observe_alone(index)?;
        Ok(self.judge_observed(index, observation))
    }

    fn observe_alone(&self, index: usize) -> Result<Observation, Error> {
        let (judge, p) = (self.judge, &self.predicted[index]);
        judge.observe(&p.trial.text(&judge.options.header), &launches(p, ""))
    }

    /// Judges a group of trials. If it fails, shows the trials on blamed lines alone and the rest together,
    /// halved if no blamed one fails or the error is fatal. If none fails alone, the first is `inconsistent`,
    /// unless the module timed out. Returns true if one of them poisons a batch.
    pub fn judge_group(&mut self, group: Vec<usize>) -> Result<bool, Error> {
        match group[..] {
            [] => return Ok(false),
            [index] => return self.judge_alone(index),
            _ => {}
        }
        let batch = compose(self.predicted, &group, &self.judge.options);
        let observation = self.judge.observe(&batch.text, &batch.launches)?;
        if observation.outcome == Outcome::Accepted {
            let arrays = batch.arrays(&observation);
            for (&index, slot) in group.iter().zip(&batch.slots) {
                let shown = part_of_trial(&self.predicted[index], slot, &arrays, &observation);
                self.results[index] = Some(match shown {
                    TrialObservation::Agrees => TrialResult::new(Verdict::Conforms),
                    TrialObservation::Unobserved => {
                        TrialResult::new(unobserved(self.judge.subject, &observation))
                    }
                    TrialObservation::Holds(bits, alone) => self.explained_element(index, bits, alone),
                    TrialObservation::Module(alone) => self.explained(index, alone),
                });
            }
            if self.confirm_alone(&group)? {
                self.confirm_company(&group, &batch)?;
            }
            return Ok(false);
        }
        // Lines are only hints. ptxas sometimes names the line behind the faulty one, and after an
        // overflowing constant it reports later lines that it accepts alone.
        let (blamed, rest) = split_blamed(&batch, &group, &observation);
        let mut found = self.judge_separately(blamed)?;
        // If no failing trial was found, or the subject stopped at a fatal error, halving the group finds the
        // others.
        let whole = found && !is_fatal(&observation);
        let (left, right) = rest.split_at(if whole { 0 } else { rest.len() / 2 });
        found |= self.judge_group(left.to_vec())?;
        found |= self.judge_group(right.to_vec())?;
        // A timeout of a single program is a finding, but many programs together may simply take long.
        if !found && observation.outcome != Outcome::TimedOut {
            let again = self.judge.observe(&batch.text, &batch.launches)?;
            let is_same = again.outcome == observation.outcome;
            let mut verdict = self.unexplained(group[0], Class::Inconsistent, None, observation);
            if let (true, Verdict::Deviates(difference)) = (is_same, &mut verdict) {
                difference.expected.company = Some(true);
            }
            self.results[group[0]] = Some(TrialResult::new(verdict));
        }
        Ok(true)
    }

    /// Judges trials that will probably be rejected, each in a module of its own. Returns true if one of them
    /// poisons a batch.
    pub fn judge_separately(&mut self, group: Vec<usize>) -> Result<bool, Error> {
        if let [index] = group[..] {
            return self.judge_alone(index);
        }
        let mut modules = Vec::with_capacity(group.len());
        for (place, &index) in group.iter().enumerate() {
            let (predicted, prefix) = (&self.predicted[index], prefix_of(place));
            let text = predicted.trial.prefixed_text(&self.judge.options.header, &prefix);
            modules.push((text, launches(predicted, &prefix)));
        }
        let observations = self.judge.observe_each(&modules)?;
        let mut found = false;
        for ((place, &index), observation) in group.iter().enumerate().zip(observations) {
            found |= self.judge_observed(index, without_prefix_in(&prefix_of(place), observation));
        }
        self.shown_separately.extend(group);
        Ok(found)
    }

    /// Shows the trials with new differences alone. A difference that occurs only in the batch is another
    /// finding, or none if a known deviation of another trial overwrites the memory of this one. Returns true
    /// if a difference occurs only in the batch.
    fn confirm_alone(&mut self, group: &[usize]) -> Result<bool, Error> {
        let new: Vec<usize> = group
            .iter()
            .copied()
            // The slots of a constant are meaningful only in one module.
            .filter(|&index| !matches!(self.predicted[index].trial.body, TrialBody::Contexts(_)))
            .filter(|&index| self.results[index].as_ref().is_some_and(TrialResult::is_unexplained))
            .take(MOST_CONFIRMED)
            .collect();
        let written_over =
            !new.is_empty() && group.iter().any(|&index| self.reaches_beyond(&self.predicted[index]));
        let mut only_in_company = false;
        for index in new {
            let observation = self.observe_alone(index)?;
            let alone = self.explained(index, observation);
            if alone.is_unexplained() || written_over {
                self.results[index] = Some(alone);
            } else if let Some(TrialResult { verdict: Verdict::Deviates(difference), .. }) =
                &mut self.results[index]
            {
                difference.class = Class::Inconsistent;
                only_in_company = true;
            }
        }
        Ok(only_in_company)
    }

    /// Shows a batch again if a trial deviates in it but not alone. A difference that recurs every time is
    /// not random.
    fn confirm_company(&mut self, group: &[usize], batch: &Batch) -> Result<(), Error> {
        let again: Vec<Observation> = (0..COMPANY_CONFIRMED)
            .map(|_| self.judge.observe(&batch.text, &batch.launches))
            .collect::<Result<_, _>>()?;
        for (place, &index) in group.iter().enumerate() {
            let Some(TrialResult { verdict: Verdict::Deviates(difference), .. }) = &mut self.results[index]
            else {
                continue;
            };
            if difference.class != Class::Inconsistent {
                continue;
            }
            let is_same = again.iter().all(|again| {
                match part_of_trial(&self.predicted[index], &batch.slots[place], &batch.arrays(again), again)
                {
                    TrialObservation::Agrees | TrialObservation::Unobserved => false,
                    TrialObservation::Holds(_, again) | TrialObservation::Module(again) => {
                        again.variables == difference.observed.variables
                    }
                }
            });
            if is_same {
                difference.expected.company = Some(true);
            }
        }
        Ok(())
    }

    /// Returns true if a listed deviation of the subject writes an address of the trial beyond the variable
    /// that holds it.
    fn reaches_beyond(&self, p: &PredictedTrial<'_>) -> bool {
        let known = with_known(&self.judge.rules, self.judge.implementation());
        let Expectation::Accepted { variables, .. } = self.judge.prediction(p.trial, &known).data else {
            return false;
        };
        variables.iter().any(|variable| {
            let mut addresses = variable.addresses.iter();
            addresses.any(|address| address.offset + u64::from(address.width) > variable.size)
        })
    }

    /// Shows some trials alone as well, because a verdict must not depend on the rest of the batch.
    pub fn recheck(&mut self) -> Result<(), Error> {
        let every = self.judge.options.recheck_every;
        for index in 0..self.predicted.len() {
            let p = &self.predicted[index];
            let every =
                if self.shown_separately.contains(&index) { every.min(RECHECK_APART_EVERY) } else { every };
            let chosen = every > 0 && p.requirement().is_some() && p.trial.id.is_multiple_of(every);
            let Some(before) = self.results[index].as_ref().filter(|_| chosen) else { continue };
            let before = before.verdict.clone();
            let observation = self.observe_alone(index)?;
            let again = self.explained(index, observation);
            let same = match (&again.verdict, &before) {
                (Verdict::Deviates(a), Verdict::Deviates(b)) | (Verdict::Reads(a), Verdict::Reads(b)) => {
                    // A listed deviation that overwrites neighbouring memory may leave a different value each
                    // time.
                    (a.class == b.class || a.explanation.is_some()) && a.explanation == b.explanation
                }
                (a, b) => a == b,
            };
            if !same {
                let difference = again.verdict.into_difference().or_else(|| before.into_difference());
                let verdict = match difference {
                    Some(d) => Verdict::Deviates(Box::new(Difference { class: Class::Inconsistent, ..*d })),
                    None => Verdict::NotCompared(NotCompared::Unobserved),
                };
                self.results[index] = Some(TrialResult::new(verdict));
            }
        }
        Ok(())
    }

    /// Returns the verdicts with the interpretations and wrong rules that they exclude.
    pub fn conclude(mut self) -> Vec<TrialVerdict> {
        let (judge, predicted) = (self.judge, self.predicted);
        for (p, result) in predicted.iter().zip(self.results.iter_mut().flatten()) {
            if let Verdict::Reads(difference) = &mut result.verdict {
                judge.prefer_known_answers(p, difference);
            }
        }
        let suspected = suspected_hypotheses(self.results.iter().flatten().map(|result| &result.verdict));
        let mut by_expressions = QuestionQuota::default();
        let mut by_readings = QuestionQuota::default();
        let mut by_modules = QuestionQuota::new(MOST_MODULES);
        let mut asked = 0;
        let mut verdicts: Vec<TrialVerdict> = Vec::with_capacity(predicted.len());
        for (p, result) in predicted.iter().zip(self.results) {
            let result =
                result.unwrap_or_else(|| TrialResult::new(Verdict::NotCompared(NotCompared::Unobserved)));
            let first = match p.expectation {
                TrialExpectation::Bits(_) => by_expressions.first_to_meet(p.trace.questions),
                // A partly observed trial excludes nothing.
                TrialExpectation::Module(_) if result.unseen == 0 && result.verdict == Verdict::Conforms => {
                    by_modules.first_to_meet(p.trace.questions)
                }
                TrialExpectation::Module(_) => QuestionSet::default(),
            };
            let excluded = judge.excluded(p, &result.verdict, first, &mut by_readings);
            let mut contradicts = Vec::new();
            if result.verdict == Verdict::Conforms && !suspected.is_empty() && asked < MOST_ASKED {
                let touched: Vec<&Hypothesis> =
                    suspected.iter().filter(|hypothesis| hypothesis.touches(&p.trace)).collect();
                asked += u32::from(!touched.is_empty());
                let ruled_out =
                    touched.into_iter().filter(|hypothesis| judge.rules_out(hypothesis, p, &result));
                contradicts = ruled_out.map(|hypothesis| hypothesis.id).collect();
            }
            let unseen = if result.verdict == Verdict::ConformsByOutcome { 0 } else { result.unseen };
            let trace = result.trace.unwrap_or(p.trace);
            // Operands of a trial that could not have differed count as not compared.
            let is_compared = !matches!(result.verdict, Verdict::NotCompared(_));
            let seen = if is_compared { result.operands.seen } else { 0 };
            let operands = ShownOperands { seen, ..result.operands };
            let judged = TrialVerdict::new(p.trial.id, result.verdict, p.requirement(), trace);
            verdicts.push(TrialVerdict {
                excluded,
                contradicts,
                unseen,
                operands,
                why: result.why,
                ..judged
            });
        }
        if judge.options.launch {
            let ruled_out: BTreeSet<&'static str> =
                verdicts.iter().flat_map(|judged| &judged.contradicts).copied().collect();
            verdicts.iter_mut().for_each(|judged| leave_out(&mut judged.verdict, &ruled_out));
        }
        verdicts
    }
}

/// Returns the prefix of the names of the trial at this place of a group.
fn prefix_of(place: usize) -> String {
    format!("t{place}_")
}

/// Removes suspected wrong rules that other trials exclude. Kernel trials have few hypotheses, and one of them
/// may predict an unrelated difference by chance.
fn leave_out(verdict: &mut Verdict, ruled_out: &BTreeSet<&'static str>) {
    if let Verdict::Deviates(difference) = verdict {
        for alternatives in difference.suspected.iter_mut().flatten() {
            alternatives.retain(|set| !set.iter().any(|id| ruled_out.contains(id)));
        }
    }
}

/// Returns the wrong rules suspected in any of these verdicts.
fn suspected_hypotheses<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Vec<Hypothesis> {
    let suspected = verdicts.filter_map(|verdict| match verdict {
        Verdict::Deviates(difference) => difference.suspected.as_ref(),
        _ => None,
    });
    let ids: BTreeSet<&'static str> = suspected.flatten().flatten().flatten().copied().collect();
    ids.into_iter().filter_map(Hypothesis::from_id).collect()
}

/// Returns true if the subject stopped at a fatal error, so that later lines were not checked.
fn is_fatal(observation: &Observation) -> bool {
    observation.diagnostics.iter().any(|d| d.severity == Severity::Fatal && d.line.is_some())
}
