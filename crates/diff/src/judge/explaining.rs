//! Explains the differences of a trial by known deviations, other interpretations and wrong rules.

use ptxsmith_model::Expected;
use ptxsmith_oracle::{
    Expectation, Kernel, Left, Prediction, Question, QuestionSet, Readings, Rules, expect, predict,
};
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Item, Text};

use super::{
    Answer, Judge, Predicted,
    batch::little_endian,
    settling::{Settled, Settling},
};
use crate::{
    asked::Asked,
    compare::{Mismatch, compare, undeclared, unobserved, unseen},
    explain::{
        explain, explain_crash, explain_match, explain_variables, explain_wrong, widens, with_one_more,
        written_over, wrong_places,
    },
    explanation::{Alternatives, Explanation},
    kernel,
    lead::{Lead, alternatives, crash_alternatives, suspect_variables},
    reason::{contained, reason},
    slots::{self, Slots},
    trial::{ALONE, Body, Trial},
    verdict::{Class, Difference, Must, NotCompared, Verdict, Why, expected_of},
};

/// The maximum number of differences per batch that are explained by wrong rules that no implementation is known to
/// follow. The search would take hours for an implementation with very many differences.
const MOST_LOOKED_INTO: u32 = 300;

enum Judgement {
    Agrees,
    Differs(Class, Option<String>),
    Unobserved,
}

/// Compares the expected data of a module that stands alone with the observed data.
fn judge(expected: &Expectation, observation: &Observation) -> Judgement {
    match (observation.outcome, expected) {
        (Outcome::Crashed, _) => Judgement::Differs(Class::Crash, None),
        (Outcome::TimedOut, _) => Judgement::Differs(Class::Hang, None),
        (Outcome::Unsupported | Outcome::Unavailable, _) | (_, Expectation::Unmodelled { .. }) => {
            Judgement::Unobserved
        }
        (Outcome::Refused, Expectation::Refused { .. }) => Judgement::Agrees,
        (Outcome::Refused, Expectation::Accepted { .. }) => Judgement::Differs(Class::RefusesValid, None),
        (Outcome::Accepted, Expectation::Refused { .. }) => Judgement::Differs(Class::AcceptsInvalid, None),
        (Outcome::Accepted, Expectation::Accepted { variables, .. }) => {
            match compare(variables, observation) {
                None => Judgement::Agrees,
                Some(Mismatch::Differs(class, variable)) => Judgement::Differs(class, Some(variable)),
                Some(Mismatch::Unobserved(_)) => Judgement::Unobserved,
            }
        }
    }
}

impl Settling<'_, '_, '_> {
    /// Judges an array element that has other bits than expected, or that has no expected bits because the expression
    /// is invalid. `observation` shows the element as if it had stood alone.
    pub fn explained_element(&mut self, at: usize, bits: u64, observation: Observation) -> Settled {
        let p = &self.predicted[at];
        match self.judge.explain_bits(p, bits) {
            Some(explanation) => {
                let (class, variable) = match p.answer {
                    Answer::Bits(_) => (Class::WrongValue, Some(ALONE.to_owned())),
                    Answer::Module(_) => (Class::AcceptsInvalid, None),
                };
                Settled::new(self.difference(at, class, variable, observation, Some(explanation), None))
            }
            None => self.explained(at, observation),
        }
    }

    /// Judges a trial by its observation as a module of its own.
    pub fn explained(&mut self, at: usize, observation: Observation) -> Settled {
        let (judge, p) = (self.judge, &self.predicted[at]);
        match observation.outcome {
            Outcome::Unsupported => return Settled::new(Verdict::NotCompared(NotCompared::Unsupported)),
            Outcome::Unavailable => return Settled::new(Verdict::NotCompared(NotCompared::Unavailable)),
            _ => {}
        }
        let of_expression;
        let prediction = match &p.answer {
            Answer::Module(prediction) if p.trial.body.items().is_some() => prediction,
            _ => {
                of_expression = judge.prediction(p.trial, &judge.rules);
                &of_expression
            }
        };
        if let (Expectation::Unmodelled { .. }, Body::Contexts(items)) = (&prediction.data, &p.trial.body) {
            return self.contradiction(at, items, observation);
        }
        if judge.options.launch && observation.outcome == Outcome::Accepted {
            return self.left_by_kernels(at, prediction, observation);
        }
        let unseen = match (&prediction.data, observation.outcome) {
            (Expectation::Accepted { variables, .. }, Outcome::Accepted) => unseen(variables, &observation),
            _ => 0,
        };
        let judgement = self::judge(&prediction.data, &observation);
        let agrees = matches!(judgement, Judgement::Agrees | Judgement::Unobserved);
        if let Some(extra) =
            if agrees && observation.complete { undeclared(&p.trial.items(), &observation) } else { None }
        {
            return Settled::new(self.unexplained(at, Class::WrongLayout, Some(extra), observation));
        }
        let verdict = match judgement {
            Judgement::Agrees => Verdict::Conforms,
            Judgement::Unobserved if matches!(prediction.data, Expectation::Unmodelled { .. }) => {
                Verdict::NotCompared(NotCompared::Unmodelled)
            }
            Judgement::Unobserved => unobserved(judge.subject, &observation),
            Judgement::Differs(class, variable) => {
                self.explained_data(at, prediction, class, variable, observation)
            }
        };
        Settled { unseen, ..Settled::new(verdict) }
    }

    /// Judges a trial with data that differ from the expectation.
    fn explained_data(
        &mut self,
        at: usize,
        prediction: &Prediction,
        class: Class,
        variable: Option<String>,
        observation: Observation,
    ) -> Verdict {
        let (judge, p) = (self.judge, &self.predicted[at]);
        let is_partial =
            matches!(&prediction.data, Expectation::Accepted { unmodelled, .. } if !unmodelled.is_empty());
        if class == Class::RefusesValid && is_partial {
            // The rejected part may be one without a rule.
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let (trace, maker) = (prediction.trace(), judge.maker());
        let data = |rules: &Rules| judge.prediction(p.trial, rules).data;
        let whole = |rules: &Rules| {
            let prediction = judge.prediction(p.trial, rules);
            let agrees = matches!(self::judge(&prediction.data, &observation), Judgement::Agrees);
            (agrees, prediction.trace())
        };
        let module = || p.trial.module(&judge.options.header);
        let again = |text: &str| judge.again(text);
        let matched = || explain_match(&module(), &trace, maker, &observation, Some(&again));
        let wrong = || {
            let module = module();
            explain_wrong(&wrong_places(&module, maker), &module, variable.as_deref().into_iter())
        };
        let explanation = match class {
            Class::Hang => matched(),
            Class::Crash => {
                let listed = || reason(&module(), &trace, maker, &observation, Some(&again));
                let rests_on = |rules: &Rules| judge.answer(p.trial, rules).1;
                explain_crash(&trace, &judge.rules, maker, &observation, listed, rests_on)
            }
            _ if observation.outcome == Outcome::Accepted => {
                let variables = || explain_variables(&judge.rules, maker, data, &observation);
                judge.explain_alone(p, &observation).or_else(variables).or_else(matched).or_else(wrong)
            }
            _ => explain(&trace, &judge.rules, maker, whole).or_else(matched),
        };
        let is_unmodelled = |kernel: &Kernel| matches!(kernel.left, Left::Unmodelled(_));
        if class == Class::RefusesValid
            && explanation.is_none()
            && prediction.kernels.iter().any(is_unmodelled)
        {
            // The same holds for kernels without a rule, unless a listed rule explains the rejection.
            return Verdict::NotCompared(NotCompared::Unmodelled);
        }
        let suspected = self.suspected(&explanation, || match (class, observation.outcome) {
            (Class::Hang, _) => vec![Vec::new()],
            (Class::Crash, _) => vec![crash_alternatives(&trace, maker, &observation)],
            (_, Outcome::Accepted) => {
                let variables = suspect_variables(&judge.rules, maker, data, &observation);
                variables.unwrap_or_else(|| vec![alternatives(&trace, &judge.rules, maker, whole)])
            }
            _ => vec![alternatives(&trace, &judge.rules, maker, whole)],
        });
        let contains = match explanation {
            None => contained(&module(), &trace, maker, &observation),
            Some(_) => Vec::new(),
        };
        self.difference(at, class, variable, observation, explanation, suspected).containing(contains)
    }

    /// Judges an accepted trial by the observed output of its kernels.
    fn left_by_kernels(&mut self, at: usize, prediction: &Prediction, observation: Observation) -> Settled {
        let (judge, p) = (self.judge, &self.predicted[at]);
        let mut settled = Settled::new(Verdict::NotCompared(NotCompared::Unmodelled));
        let class = match prediction.data {
            Expectation::Unmodelled { .. } => return settled,
            Expectation::Refused { .. } => Class::AcceptsInvalid,
            Expectation::Accepted { .. } => {
                let compared = kernel::compare(&prediction.kernels, &observation);
                settled.operands = compared.share;
                let modelled = prediction.kernels.iter().any(|kernel| matches!(kernel.left, Left::Output(_)));
                match compared.differs {
                    Some(differs) => {
                        settled.trace = differs.trace;
                        differs.class
                    }
                    None if !modelled => return settled,
                    None if compared.share.seen == 0 => {
                        settled.verdict = Verdict::NotCompared(NotCompared::Unobserved);
                        settled.why = why_unseen(&prediction.kernels, &observation);
                        return settled;
                    }
                    // Another result would be no deviation, so this one proves nothing.
                    None if let Some((kernel, question)) = judge.undefined_by_some(p, prediction) => {
                        return settled.undefined_by(kernel, question);
                    }
                    None => {
                        let (verdict, conforming) = (Verdict::Conforms, Some(observation));
                        return Settled { verdict, conforming, ..settled };
                    }
                }
            }
        };
        let (module, maker) = (p.trial.module(&judge.options.header), judge.maker());
        let whole = |rules: &Rules| kernel::agrees(&module, rules, &observation);
        let data = |rules: &Rules| judge.prediction(p.trial, rules).data;
        let explanation = explain(&p.trace, &judge.rules, maker, whole)
            .or_else(|| written_over(&judge.rules, maker, data, &observation))
            .or_else(|| {
                // A device also shows the effects of a wrong address, which the oracle does not follow.
                let may_leave = |rules: &Rules| kernel::may_leave(&module, rules, &observation);
                let unfollowed = || explain(&p.trace, &judge.rules, maker, may_leave);
                let found = observation.from_memory.then(unfollowed).flatten();
                found.filter(|explanation| explanation.readings.is_empty())
            })
            .or_else(|| {
                explain_match(&module, &p.trace, maker, &observation, Some(&|text| judge.again(text)))
            })
            .or_else(|| {
                let differs = |one: &&Kernel| {
                    kernel::compare(std::slice::from_ref(*one), &observation).differs.is_some()
                };
                let differing = prediction.kernels.iter().filter(differs);
                explain_wrong(
                    &wrong_places(&module, maker),
                    &module,
                    differing.map(|kernel| kernel.name.as_str()),
                )
            });
        if explanation.is_none()
            && let Some((kernel, question)) = judge.undefined_by_some(p, prediction)
        {
            return settled.undefined_by(kernel, question);
        }
        let suspected =
            self.suspected(&explanation, || vec![alternatives(&p.trace, &judge.rules, maker, whole)]);
        let verdict = self.difference(at, class, None, observation, explanation, suspected);
        Settled { verdict, ..settled }
    }

    /// Returns the wrong rules that predict a difference that nothing listed explains. The search takes long, so only
    /// the first differences of each batch are examined.
    fn suspected(
        &mut self,
        explanation: &Option<Explanation>,
        look: impl FnOnce() -> Vec<Alternatives>,
    ) -> Option<Vec<Alternatives>> {
        if explanation.is_some() {
            return None;
        }
        self.looked_into += 1;
        (self.looked_into <= MOST_LOOKED_INTO).then(look)
    }

    fn difference(
        &mut self,
        at: usize,
        class: Class,
        variable: Option<String>,
        observed: Observation,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let trial = self.predicted[at].trial;
        let expected = match &explanation {
            Some(explanation) if self.repeats(trial, class, explanation) => Expected::default(),
            _ => self.judge.expected(trial, class),
        };
        let difference = Box::new(Difference { class, variable, expected, observed, explanation, suspected });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }

    /// Returns true if a shorter trial of the batch has the same explanation.
    fn repeats(&mut self, trial: &Trial, class: Class, explanation: &Explanation) -> bool {
        let own = (trial.weight(), trial.id);
        let shortest = self.shortest.entry((class, explanation.clone())).or_insert((usize::MAX, 0));
        let repeats = *shortest < own;
        *shortest = own.min(*shortest);
        repeats
    }

    /// Builds a difference without looking for its cause: the subject contradicts itself.
    pub fn unexplained(
        &mut self,
        at: usize,
        class: Class,
        variable: Option<String>,
        observation: Observation,
    ) -> Verdict {
        self.difference(at, class, variable, observation, None, Some(Vec::new()))
    }

    /// Judges a constant that has no known value but must be the same in every slot.
    fn contradiction(&mut self, at: usize, items: &[Item], observation: Observation) -> Settled {
        let (class, variable) = match observation.outcome {
            Outcome::Crashed => (Class::Crash, None),
            Outcome::TimedOut => (Class::Hang, None),
            Outcome::Accepted => match slots::compare(items, &observation) {
                Slots::Differ(variable) => (Class::Inconsistent, Some(variable)),
                Slots::Agree => return Settled::new(Verdict::Conforms),
                Slots::Apart => return Settled::new(Verdict::NotCompared(NotCompared::Unobserved)),
            },
            Outcome::Refused | Outcome::Unsupported | Outcome::Unavailable => {
                return Settled::new(Verdict::NotCompared(NotCompared::Unmodelled));
            }
        };
        Settled::new(self.unexplained(at, class, variable, observation))
    }
}

impl Settled {
    /// Returns the result for a trial with a kernel that is undefined under some answer to this question.
    fn undefined_by(self, kernel: Text, question: Question) -> Settled {
        let reason = format!("undefined by one answer to {}", question.name());
        let why = Why { part: format!("kernel {kernel}"), line: None, reason, detail: None, said: None };
        Settled { why: Some(Box::new(why)), ..self }
    }
}

/// Returns the reason why the subject shows no output of the kernels.
fn why_unseen(kernels: &[Kernel], observation: &Observation) -> Option<Box<Why>> {
    let kernel = kernels.iter().find(|kernel| kernel.leaves_output())?;
    let seen = observation.kernels.get(kernel.name.as_str());
    let reason = seen.and_then(|seen| seen.reason.clone());
    let reason = reason.unwrap_or_else(|| "the subject shows nothing of what it leaves".to_owned());
    Some(Box::new(Why {
        part: format!("kernel {}", kernel.name),
        line: None,
        reason,
        detail: None,
        said: None,
    }))
}

impl Judge<'_> {
    /// Shows the subject another text and returns the observation; `None` if that fails.
    fn again(&self, text: &str) -> Option<Observation> {
        self.observe(text, &[]).ok()
    }

    /// Finds the hypotheses that predict exactly these bits of an expression.
    fn explain_bits(&self, p: &Predicted<'_>, bits: u64) -> Option<Explanation> {
        explain(&p.trace, &self.rules, self.maker(), |rules| {
            let (answer, trace) = self.answer(p.trial, rules);
            (matches!(answer, Answer::Bits(own) if own == bits), trace)
        })
    }

    /// Finds the hypotheses that predict the only variable of an expression that stands alone, if its bits differ.
    fn explain_alone(&self, p: &Predicted<'_>, observation: &Observation) -> Option<Explanation> {
        let Body::Expression { ty, .. } = p.trial.body else { return None };
        let bytes = observation.variables.get(ALONE)?.bytes.as_deref()?;
        let bits = little_endian(bytes.get(..ty.size()? as usize)?);
        let explanation = self.explain_bits(p, bits)?;
        let predicted = self.prediction(p.trial, &explanation.rules(&self.rules)).data;
        matches!(judge(&predicted, observation), Judgement::Agrees).then_some(explanation)
    }

    /// Returns a kernel that is undefined under some answer to an open question but defined under the default one,
    /// and that question. Example: an access that is misaligned only if an index counts in other units. An
    /// implementation that follows that answer may do anything. Answers under which the program is invalid do not
    /// count, because the subject has accepted the program.
    fn undefined_by_some(&self, p: &Predicted<'_>, by_default: &Prediction) -> Option<(Text, Question)> {
        let answers =
            |question: Question| (0..question.answers().len()).map(move |answer| (question, answer));
        p.trace.questions.iter().flat_map(answers).find_map(|(question, other)| {
            let readings = self.rules.readings.with(question, other)?;
            let other = self.prediction(p.trial, &Rules { readings, ..self.rules });
            if matches!(other.data, Expectation::Unmodelled { .. }) {
                return Some((by_default.kernels.first()?.name.clone(), question));
            }
            let had_meaning = |name: &Text| {
                let own = by_default.kernels.iter().find(|kernel| kernel.name == *name);
                own.is_some_and(|kernel| !kernel.may_do_anything())
            };
            let lost = |kernel: &&Kernel| kernel.may_do_anything() && had_meaning(&kernel.name);
            Some((other.kernels.iter().find(lost)?.name.clone(), question))
        })
    }

    /// Returns true if a conforming trial would not conform under this wrong rule, alone and in combination with all
    /// listed deviations of the subject and with the interpretations that it follows.
    pub(super) fn rules_out(&self, lead: &Lead, p: &Predicted<'_>, settled: &Settled) -> bool {
        if let Some(observation) = &settled.conforming {
            let module = p.trial.module(&self.options.header);
            let agrees = |rules: &Rules| kernel::agrees(&module, &lead.rules(rules), observation).0;
            return !agrees(&self.rules) && !agrees(&crate::known::with_known(&self.rules, self.maker()));
        }
        let followed = &self.plan.followed;
        let [known, both] =
            [&self.rules, followed].map(|rules| crate::known::with_known(rules, self.maker()));
        let differs = |rules: &Rules| {
            let answer = self.answer(p.trial, &lead.rules(rules)).0;
            answer.must().is_some() && !answer.is_same(&p.answer)
        };
        !self.options.launch && [&self.rules, &known, followed, &both].into_iter().all(differs)
    }

    /// Replaces the interpretations in an explanation by the known answers of the subject, if these predict the
    /// observation too. Among many trials, some have the right value under an unrelated answer by chance.
    pub(super) fn read_as_known(&self, p: &Predicted<'_>, difference: &mut Difference) {
        let Some(explanation) = &mut difference.explanation else { return };
        let readings = self.plan.followed.readings;
        if explanation.readings.iter().all(|&(question, answer)| readings.answer(question) == answer) {
            return;
        }
        let (answer, trace) = self.answer(p.trial, &self.plan.followed);
        let seen = difference.observed.variables.get(ALONE).and_then(|seen| seen.bytes.as_deref());
        let agrees = match (&answer, difference.observed.outcome) {
            (Answer::Bits(bits), Outcome::Accepted) => {
                seen.is_some_and(|seen| seen.len() <= 8 && little_endian(seen) == *bits)
            }
            (Answer::Module(prediction), Outcome::Refused) => {
                matches!(prediction.data, Expectation::Refused { .. })
            }
            _ => false,
        };
        if agrees {
            let other =
                |&question: &Question| readings.answer(question) != self.rules.readings.answer(question);
            let met = trace.questions.iter().filter(other);
            explanation.readings = met.map(|question| (question, readings.answer(question))).collect();
        }
    }

    /// Returns the interpretations that a verdict excludes.
    ///
    /// If the trial matches the subject's known answers, only the first trials to meet each question are asked: for
    /// the default answer those in `first`, for another answer the first according to `read`. All other trials are
    /// asked, because two different answers to one question are a finding.
    pub(super) fn excluded(
        &self,
        p: &Predicted<'_>,
        verdict: &Verdict,
        first: QuestionSet,
        read: &mut Asked,
    ) -> Vec<(Question, usize)> {
        match (&p.trial.body, verdict) {
            (Body::Items(_) | Body::Contexts(_), _) if self.options.launch => return Vec::new(),
            (Body::Items(_), Verdict::Conforms) if self.may_be_written_over(p) => return Vec::new(),
            (Body::Items(_), Verdict::Conforms) if p.must() == Some(Must::Accept) => {
                return self.excluded_under(p, &self.rules, QuestionSet::default(), first);
            }
            // A rejection that one answer alone explains excludes the answers under which the program is valid. If
            // the subject follows one of those elsewhere, the rejection has another cause or the subject follows
            // both.
            (Body::Items(_) | Body::Expression { .. }, Verdict::Reads(difference))
                if difference.observed.outcome == Outcome::Refused =>
            {
                let Some(Explanation { readings, known }) = &difference.explanation else {
                    return Vec::new();
                };
                let (&[(question, _)], []) = (&readings[..], &known[..]) else { return Vec::new() };
                let own: QuestionSet = [question].into_iter().collect();
                let first = read.first_to_meet(own);
                let rules = Explanation { readings: readings.clone(), known: Vec::new() }.rules(&self.rules);
                return self.excluded_under(p, &rules, QuestionSet::default(), first);
            }
            _ => {}
        }
        // The values of an aggregate differ for separate reasons, too many to exclude one.
        let Body::Expression { .. } = p.trial.body else { return Vec::new() };
        match verdict {
            // A rejection may have another cause than the expected one, so it proves no answer to a question.
            Verdict::Conforms => match p.answer {
                Answer::Bits(_) => self.excluded_under(p, &self.rules, self.plan.others(), first),
                Answer::Module(_) => Vec::new(),
            },
            Verdict::Reads(difference) if difference.observed.outcome == Outcome::Accepted => {
                let explanation = difference.explanation.as_ref();
                let answers = explanation.map_or(&[][..], |explanation| &explanation.readings);
                let own: QuestionSet = answers.iter().map(|answer| answer.0).collect();
                let is_first = !read.first_to_meet(own).is_empty();
                let readings = self.plan.followed.readings;
                let as_known = answers.iter().all(|&(question, answer)| readings.answer(question) == answer);
                let asked = if as_known && !is_first {
                    QuestionSet::default()
                } else {
                    own.union(self.plan.others())
                };
                let rules = explanation.map_or(self.rules, |explanation| explanation.applied(&self.rules));
                self.excluded_under(p, &rules, asked, first)
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if the subject may write an address over the memory behind it, which may then conform by chance.
    fn may_be_written_over(&self, p: &Predicted<'_>) -> bool {
        let data = |rules: &Rules| self.prediction(p.trial, rules).data;
        self.subject.description().reads_memory() && widens(&self.rules, self.maker(), data).is_some()
    }

    /// Returns the answers to open questions under which the result would differ from that of `rules`, even together
    /// with any one other change or with the subject's known answers. Considers the questions in `first`, and those
    /// in `asked` if the subject's known answers change the result.
    fn excluded_under(
        &self,
        p: &Predicted<'_>,
        rules: &Rules,
        asked: QuestionSet,
        first: QuestionSet,
    ) -> Vec<(Question, usize)> {
        let mut excluded = Vec::new();
        if !asked.union(first).meets(p.trace.questions) {
            return excluded;
        }
        let (seen, trace) = self.answer(p.trial, rules);
        let shows = rules.readings != self.rules.readings
            || !self.answer(p.trial, &self.plan.followed).0.is_same(&seen);
        let asked = if shows { asked.union(first) } else { first };
        for question in trace.questions.iter().filter(|&question| asked.contains(question)) {
            for answer in 0..question.answers().len() {
                let with = |readings: Readings| {
                    let readings = readings.with(question, answer);
                    readings.map(|readings| Rules { readings, ..*rules })
                };
                let differs = |rules: &Rules| {
                    let other = self.answer(p.trial, rules).0;
                    other.must().is_some() && !other.is_same(&seen)
                };
                let Some(own) = with(rules.readings).filter(differs) else { continue };
                let Some(others) = with(self.plan.followed.readings).filter(differs) else { continue };
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

    fn expected(&self, trial: &Trial, class: Class) -> Expected {
        let text = trial.text(&self.options.header);
        // The text is parsed again so that a refusal names a line of it.
        let module = ptxsmith_syntax::parse(&text).unwrap_or_else(|_| trial.module(&self.options.header));
        let answer = match self.options.launch {
            true => predict(&module, &self.rules).answer(&text, &self.rules.readings),
            false => expect(&module, &self.rules).answer(&text, &self.rules.readings),
        };
        expected_of(class, answer, &module, &self.rules)
    }
}
