//! Determines the interpretations and wrong rules that a verdict excludes: those under which the result of
//! the trial would have been different.

use ptxsmith_oracle::{Expectation, Question, QuestionSet, Readings, Rules, Trace};
use ptxsmith_subject::Outcome;

use super::{Judge, PredictedTrial, TrialExpectation, batch::little_endian, settling::TrialResult};
use crate::{
    explain::{widens, with_one_more},
    explanation::Explanation,
    hypothesis::Hypothesis,
    kernel,
    known::with_known,
    question_quota::QuestionQuota,
    trial::{ALONE, Trial, TrialBody},
    verdict::{Difference, Requirement, Verdict},
};

impl Judge<'_> {
    /// Returns true if a conforming trial would not conform under this wrong rule, alone and in combination
    /// with all listed deviations of the subject and with the interpretations that it follows.
    pub(super) fn rules_out(
        &self,
        hypothesis: &Hypothesis,
        predicted: &PredictedTrial<'_>,
        result: &TrialResult,
    ) -> bool {
        let listed = with_known(&self.rules, self.implementation());
        if let Some(observation) = &result.conforming {
            let module = predicted.trial.module(&self.options.header);
            return [&self.rules, &listed]
                .into_iter()
                .all(|rules| !kernel::agrees(&module, &hypothesis.rules(rules), observation).0);
        }
        if self.options.launch {
            return false;
        }
        let followed = &self.forecaster.followed;
        let followed_and_listed = with_known(followed, self.implementation());
        [&self.rules, &listed, followed, &followed_and_listed].into_iter().all(|rules| {
            self.requires_other(predicted.trial, &hypothesis.rules(rules), &predicted.expectation)
        })
    }

    /// Returns true if these rules decide the trial and require another result than `expectation`.
    fn requires_other(&self, trial: &Trial, rules: &Rules, expectation: &TrialExpectation) -> bool {
        let other = self.expectation(trial, rules).0;
        other.requirement().is_some() && !other.is_same(expectation)
    }

    /// Replaces the interpretations in an explanation by the known answers of the subject, if these predict
    /// the observation too. Among many trials, some have the right value under an unrelated answer by chance.
    pub(super) fn prefer_known_answers(&self, predicted: &PredictedTrial<'_>, difference: &mut Difference) {
        let Some(explanation) = &mut difference.explanation else { return };
        let readings = self.forecaster.followed.readings;
        if explanation.readings.iter().all(|&(question, answer)| readings.answer(question) == answer) {
            return;
        }
        let (expectation, trace) = self.expectation(predicted.trial, &self.forecaster.followed);
        let seen = difference.observed.variables.get(ALONE).and_then(|seen| seen.bytes.as_deref());
        let agrees = match (&expectation, difference.observed.outcome) {
            (TrialExpectation::Bits(bits), Outcome::Accepted) => {
                seen.is_some_and(|seen| seen.len() <= 8 && little_endian(seen) == *bits)
            }
            (TrialExpectation::Module(prediction), Outcome::Refused) => {
                matches!(prediction.data, Expectation::Refused { .. })
            }
            _ => false,
        };
        if agrees {
            explanation.readings = trace
                .questions
                .iter()
                .map(|question| (question, readings.answer(question)))
                .filter(|&(question, answer)| answer != self.rules.readings.answer(question))
                .collect();
        }
    }

    /// Returns the interpretations that a verdict excludes.
    ///
    /// If the trial matches the subject's known answers, only the first trials to meet each question are
    /// asked: for the default answer those in `first`, for another answer the first according to `quota`. All
    /// other trials are asked, because two different answers to one question are a finding.
    pub(super) fn excluded(
        &self,
        predicted: &PredictedTrial<'_>,
        verdict: &Verdict,
        first: QuestionSet,
        quota: &mut QuestionQuota,
    ) -> Vec<(Question, usize)> {
        match (&predicted.trial.body, verdict) {
            (TrialBody::Items(_) | TrialBody::Contexts(_), _) if self.options.launch => return Vec::new(),
            (TrialBody::Items(_), Verdict::Conforms) if self.may_be_written_over(predicted) => {
                return Vec::new();
            }
            (TrialBody::Items(_), Verdict::Conforms)
                if predicted.requirement() == Some(Requirement::Accept) =>
            {
                return self.excluded_under(predicted, &self.rules, QuestionSet::default(), first);
            }
            (TrialBody::Items(_) | TrialBody::Expression { .. }, Verdict::Reads(difference))
                if difference.observed.outcome == Outcome::Refused =>
            {
                return self.excluded_by_rejection(predicted, difference, quota);
            }
            _ => {}
        }
        // The values of an aggregate differ for separate reasons, too many to exclude one.
        let TrialBody::Expression { .. } = predicted.trial.body else { return Vec::new() };
        match verdict {
            // A rejection may have another cause than the expected one, so it proves no answer to a question.
            Verdict::Conforms => match predicted.expectation {
                TrialExpectation::Bits(_) => {
                    self.excluded_under(predicted, &self.rules, self.forecaster.others(), first)
                }
                TrialExpectation::Module(_) => Vec::new(),
            },
            Verdict::Reads(difference) if difference.observed.outcome == Outcome::Accepted => {
                self.excluded_by_value(predicted, difference, first, quota)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the interpretations that a rejection excludes, if one answer alone explains it: the answers
    /// under which the program is valid. If the subject follows one of those elsewhere, the rejection has
    /// another cause or the subject follows both.
    fn excluded_by_rejection(
        &self,
        predicted: &PredictedTrial<'_>,
        difference: &Difference,
        quota: &mut QuestionQuota,
    ) -> Vec<(Question, usize)> {
        let Some(Explanation { readings, known }) = &difference.explanation else { return Vec::new() };
        let (&[(question, _)], []) = (&readings[..], &known[..]) else { return Vec::new() };
        let first = quota.first_to_meet([question].into_iter().collect());
        let rules = Explanation { readings: readings.clone(), known: Vec::new() }.rules(&self.rules);
        self.excluded_under(predicted, &rules, QuestionSet::default(), first)
    }

    /// Returns the interpretations that the value of an expression excludes, if another interpretation
    /// explains it.
    fn excluded_by_value(
        &self,
        predicted: &PredictedTrial<'_>,
        difference: &Difference,
        first: QuestionSet,
        quota: &mut QuestionQuota,
    ) -> Vec<(Question, usize)> {
        let explanation = difference.explanation.as_ref();
        let answers = explanation.map_or(&[][..], |explanation| &explanation.readings);
        let questions: QuestionSet = answers.iter().map(|answer| answer.0).collect();
        let is_first = !quota.first_to_meet(questions).is_empty();
        let followed = self.forecaster.followed.readings;
        let as_known = answers.iter().all(|&(question, answer)| followed.answer(question) == answer);
        let asked = if as_known && !is_first {
            QuestionSet::default()
        } else {
            questions.union(self.forecaster.others())
        };
        let rules = explanation.map_or(self.rules, |explanation| explanation.applied(&self.rules));
        self.excluded_under(predicted, &rules, asked, first)
    }

    /// Returns true if the subject may write an address over the memory behind it, which may then conform by
    /// chance.
    fn may_be_written_over(&self, predicted: &PredictedTrial<'_>) -> bool {
        self.subject.description().reads_memory()
            && widens(&self.rules, self.implementation(), |rules| {
                self.prediction(predicted.trial, rules).data
            })
            .is_some()
    }

    /// Returns the answers to open questions under which the result would differ from that of `rules`, even
    /// together with any one other change or with the subject's known answers. Considers the questions in
    /// `first`, and those in `asked` if the subject's known answers change the result.
    fn excluded_under(
        &self,
        predicted: &PredictedTrial<'_>,
        rules: &Rules,
        asked: QuestionSet,
        first: QuestionSet,
    ) -> Vec<(Question, usize)> {
        let mut excluded = Vec::new();
        if !asked.union(first).meets(predicted.trace.questions) {
            return excluded;
        }
        let (seen, trace) = self.expectation(predicted.trial, rules);
        let shows = rules.readings != self.rules.readings
            || !self.expectation(predicted.trial, &self.forecaster.followed).0.is_same(&seen);
        let asked = if shows { asked.union(first) } else { first };
        for question in trace.questions.iter().filter(|&question| asked.contains(question)) {
            for answer in 0..question.answers().len() {
                if self.is_excluded(predicted.trial, rules, (&seen, &trace), (question, answer)) {
                    excluded.push((question, answer));
                }
            }
        }
        excluded
    }

    /// Returns true if the result would differ from `seen` under this answer, in every combination that
    /// [`Judge::excluded_under`] considers. `seen` is the result under `rules`, with its trace.
    fn is_excluded(
        &self,
        trial: &Trial,
        rules: &Rules,
        (seen, trace): (&TrialExpectation, &Trace),
        (question, answer): (Question, usize),
    ) -> bool {
        let with_answer = [rules.readings, self.forecaster.followed.readings]
            .map(|readings: Readings| readings.with(question, answer));
        let [Some(changed), Some(changed_followed)] = with_answer else { return false };
        let changed = Rules { readings: changed, ..*rules };
        let changed_followed = Rules { readings: changed_followed, ..*rules };
        if !self.requires_other(trial, &changed, seen) || !self.requires_other(trial, &changed_followed, seen)
        {
            return false;
        }
        let followed_trace = self.expectation(trial, &changed_followed).1;
        [(&changed, trace), (&changed_followed, &followed_trace)].into_iter().all(|(rules, trace)| {
            with_one_more(rules, self.implementation(), trace, question)
                .all(|rules| self.requires_other(trial, &rules, seen))
        })
    }
}
