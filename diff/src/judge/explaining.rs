//! What explains a difference of a trial: known deviations, other readings, and wrong rules that are suspected.

use ptxsmith_oracle::{Expectation, Question, QuestionSet, Readings, Rules, Trace, Variable, expect};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::Item;

use super::{
    Answer, Judge, Judgement, MOST_LOOKED_INTO, Predicted, agrees, judge, module, schedule::Followed,
};
use crate::{
    compare::unobserved,
    explain::{Explanation, explain, explain_crash, explain_variables, with_one_more},
    lead::{Alternatives, alternatives, crash_alternatives, suspect_variables},
    seats,
    trial::{ALONE, Body, Trial},
    verdict::{Class, Difference, NotCompared, Verdict},
};

impl Judge<'_> {
    /// The verdict on an element of an array that holds other bits than expected, or any where none are. `observation`
    /// is what was seen of it, as if it had stood alone.
    pub(super) fn explained_element(
        &self,
        p: &Predicted<'_>,
        bits: u64,
        observation: Observation,
    ) -> Verdict {
        match self.explain_bits(p, bits) {
            Some(explanation) => {
                let class =
                    if p.answer == Answer::Refused { Class::AcceptsInvalid } else { Class::WrongValue };
                let variable = (class == Class::WrongValue).then(|| ALONE.to_owned());
                self.difference(p, class, variable, observation, Some(explanation), None)
            }
            None => self.explained(p, observation),
        }
    }

    /// What predicts exactly these bits of an expression.
    fn explain_bits(&self, p: &Predicted<'_>, bits: u64) -> Option<Explanation> {
        explain(&p.trace, &self.rules, self.maker(), |rules| {
            let (answer, trace) = self.answer(p.trial, rules);
            (answer == Answer::Bits(bits), trace)
        })
    }

    /// What predicts the one variable of an expression that stands alone, if it is the bits that differ.
    fn explain_alone(&self, p: &Predicted<'_>, observation: &Observation) -> Option<Explanation> {
        let Body::Expression { ty, .. } = p.trial.body else { return None };
        let bytes = observation.variables.get(ALONE)?.bytes.as_deref()?;
        let width = ty.size()? as usize;
        let bits = module::little_endian(bytes.get(..width)?);
        let explanation = self.explain_bits(p, bits)?;
        let Expectation::Accepted { variables, .. } =
            self.expect_alone(p.trial, &explanation.rules(&self.rules))
        else {
            return None;
        };
        variables.iter().all(|variable| agrees(variable, observation)).then_some(explanation)
    }

    /// The verdict on what a subject did with one trial.
    pub(super) fn explained(&self, p: &Predicted<'_>, observation: Observation) -> Verdict {
        match observation.outcome {
            Outcome::Unsupported => return Verdict::NotCompared(NotCompared::Unsupported),
            Outcome::Unavailable => return Verdict::NotCompared(NotCompared::Unavailable),
            _ => {}
        }
        let expected = self.expect_alone(p.trial, &self.rules);
        let (trace, answer) = (expected.trace(), Answer::of(expected));
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
                self.explain_alone(p, &observation).or_else(|| {
                    let tell = |rules: &Rules| self.expect_alone(p.trial, rules);
                    explain_variables(&self.rules, self.maker(), tell, |variable| {
                        agrees(variable, &observation)
                    })
                })
            }
            _ => explain(&trace, &self.rules, self.maker(), |rules| {
                let expected = self.expect_alone(p.trial, rules);
                let trace = expected.trace();
                (matches!(judge(&Answer::of(expected), &observation), Judgement::Agrees), trace)
            }),
        };
        let suspected = match explanation {
            Some(_) => None,
            None => self.suspected(p, &trace, class, &observation),
        };
        self.difference(p, class, variable, observation, explanation, suspected)
    }

    pub(super) fn difference(
        &self,
        p: &Predicted<'_>,
        class: Class,
        variable: Option<String>,
        observed: Observation,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let expected = match &explanation {
            Some(explanation) if self.repeats(p.trial, class, explanation) => serde_json::Value::Null,
            _ => self.expected_json(p.trial, &self.rules),
        };
        let difference = Box::new(Difference { class, variable, expected, observed, explanation, suspected });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }

    /// Whether a shorter trial of the batch showed the same before.
    fn repeats(&self, trial: &Trial, class: Class, explanation: &Explanation) -> bool {
        let own = (trial.weight(), trial.id);
        let mut shortest = self.shortest.borrow_mut();
        match shortest.get_mut(&(class, explanation.clone())) {
            Some(shortest) if *shortest < own => true,
            Some(shortest) => {
                *shortest = own;
                false
            }
            None => {
                shortest.insert((class, explanation.clone()), own);
                false
            }
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
                let expected = self.expect_alone(p.trial, rules);
                let trace = expected.trace();
                (matches!(judge(&Answer::of(expected), observation), Judgement::Agrees), trace)
            })
        };
        Some(match (class, observation.outcome) {
            (Class::Crash, _) => vec![crash_alternatives(trace, self.maker(), observation)],
            (_, Outcome::Accepted) => {
                let tell = |rules: &Rules| self.expect_alone(p.trial, rules);
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

    /// Where the answers that most trials of the batch follow explain this one too, they are why, though another answer
    /// alone would do: with many trials, some have the right value for the wrong reason.
    pub(super) fn read_as_others(&self, p: &Predicted<'_>, difference: &mut Difference, readings: Readings) {
        let Some(explanation) = &mut difference.explanation else { return };
        if explanation.readings.iter().all(|&(question, answer)| readings.answer(question) == answer) {
            return;
        }
        let (answer, trace) = self.answer(p.trial, &Rules { readings, ..self.rules });
        let seen = difference.observed.variables.get(ALONE).and_then(|seen| seen.bytes.as_deref());
        let agrees = match (&answer, difference.observed.outcome) {
            (Answer::Bits(bits), Outcome::Accepted) => {
                seen.is_some_and(|seen| seen.len() <= 8 && module::little_endian(seen) == *bits)
            }
            (Answer::Refused, Outcome::Refused) => true,
            _ => false,
        };
        if agrees {
            let other =
                |&question: &Question| readings.answer(question) != self.rules.readings.answer(question);
            let met = trace.questions.iter().filter(other);
            explanation.readings = met.map(|question| (question, readings.answer(question))).collect();
        }
    }

    /// The answers to open questions that would have given another result than these rules, also together with any one
    /// other change, or with the answers that most trials of the batch follow. All of those to a question that is
    /// `contested`, since two answers to one question are a finding, if what others follow would show; of the others, those
    /// to questions that the trial is among the `first` to meet.
    pub(super) fn excluded(
        &self,
        p: &Predicted<'_>,
        rules: &Rules,
        followed: &Followed,
        contested: QuestionSet,
        first: QuestionSet,
    ) -> Vec<(Question, usize)> {
        let mut excluded = Vec::new();
        // An aggregate holds many values, each with causes of its own: too many to rule one out.
        let Body::Expression { .. } = p.trial.body else { return excluded };
        if !contested.union(first).meets(p.trace.questions) {
            return excluded;
        }
        let (seen, trace) = self.answer(p.trial, rules);
        let others = Rules { readings: followed.readings, ..self.rules };
        let shows = rules.readings != self.rules.readings || self.answer(p.trial, &others).0 != seen;
        let asked = if shows { contested.union(first) } else { first };
        for question in trace.questions.iter().filter(|&question| asked.contains(question)) {
            for answer in 0..question.answers().len() {
                let with = |readings: Readings| {
                    let readings = readings.with(question, answer);
                    readings.map(|readings| Rules { readings, ..*rules })
                };
                let differs = |rules: &Rules| self.answer(p.trial, rules).0 != seen;
                let Some(own) = with(rules.readings).filter(differs) else { continue };
                let Some(others) = with(followed.readings).filter(differs) else { continue };
                let others_trace = self.answer(p.trial, &others).1;
                let mut one_more = [(&own, &trace), (&others, &others_trace)]
                    .into_iter()
                    .flat_map(|(rules, trace)| with_one_more(rules, self.maker(), trace, question));
                if one_more.all(|rules| differs(&rules)) {
                    excluded.push((question, answer));
                }
            }
        }
        excluded
    }

    pub(super) fn expected_json(&self, trial: &Trial, rules: &Rules) -> serde_json::Value {
        let text = trial.text(&self.options.header);
        // Parsed again, so that a refusal names a line of the text.
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        expect(&module, rules).to_json(&text, &rules.readings)
    }
}
