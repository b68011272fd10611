//! What a finding is, apart from the program that shows it: what has to stay the same while the program shrinks.

use std::fmt;

use ptxsmith_diff::known::{Effect, KNOWN, Known};
use ptxsmith_diff::suspects;
use ptxsmith_diff::{Alternatives, Class, Difference, Explanation, Part, Shaped, Verdict, id_of};
use ptxsmith_oracle::{
    ClauseSet, Expectation, Interpretation, Prediction, Question, QuestionSet, Rules, Trace, expect, predict,
};
use ptxsmith_subject::{Observation, Severity};
use ptxsmith_syntax::Module;

/// The root cause of one finding, as far as verdicts tell.
#[derive(Clone, Debug)]
pub struct Cause {
    class: Class,
    /// What the specification says of the program: it has to go on saying so.
    validity: Validity,
    /// What explains it. Another explanation is another cause; a part of this one that holds `kept` is not.
    explanation: Option<Explanation>,
    /// Of several things that explain it together, the one that has to stay.
    kept: Option<Expected>,
    /// Where nothing listed explains it: the sets of wrong rules of which any may be behind it. What another one is
    /// behind is another cause.
    suspected: Alternatives,
    /// What tells it from others of its class where nothing explains it.
    mark: Mark,
    /// Where nothing is even suspected, the clauses that a program may rest on: those that the first one rested on, and
    /// those of the plainest variables. What the program did not use to begin with cannot be its cause.
    clauses: ClauseSet,
    /// The open questions that it may meet: those that the first one met.
    questions: QuestionSet,
    /// Whether the specification decides every part of it.
    decided: bool,
}

/// What the specification says of a program, without the values.
#[derive(Clone, Debug, PartialEq)]
enum Validity {
    Accepted,
    /// With class and clause of the refusal.
    Refused(String),
    Unmodelled,
}

/// The mark of a finding that nothing explains.
#[derive(Clone, Debug, PartialEq)]
enum Mark {
    None,
    /// How a crash came about: the signal, or the reason where there was none, and the first error before it, which
    /// tells the stage.
    Crash {
        signal: Option<i32>,
        reason: Option<String>,
        stage: Option<String>,
    },
    /// The first complaint about a valid program.
    Complaint(Option<String>),
}

/// What a user expects a program to show: `--expect`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A deviation of this class.
    Class(Class),
    /// What this wrong rule is behind: a known deviation, or one that is suspected.
    Rule(&'static str),
    /// Another reading of an open question.
    Reading(Question, usize),
}

impl Expected {
    /// Reads `crash`, `incomplete-rows-packed` or `shift-count=modulo`.
    pub fn parse(text: &str) -> Result<Expected, String> {
        if let Some(class) = Class::from_name(text) {
            return Ok(Expected::Class(class));
        }
        if let Some(rule) = id_of(text) {
            return Ok(Expected::Rule(rule));
        }
        let reading = Interpretation::from_name(text);
        reading.map(|Interpretation(question, answer)| Expected::Reading(question, answer)).ok_or_else(|| {
            let classes = Class::ALL.map(Class::name).join(", ");
            format!(
                "no verdict `{text}`; write one of {classes}, the name of a known or suspected deviation, or QUESTION=ANSWER"
            )
        })
    }

    /// What the finding of this name is put down to, where it is put down to one wrong rule.
    pub fn of_finding(id: &str) -> Option<Expected> {
        id_of(id.strip_prefix("unlisted-").unwrap_or(id)).map(Expected::Rule)
    }

    fn is_shown_by(&self, difference: &Difference) -> bool {
        let explanation = difference.explanation.as_ref();
        match self {
            Expected::Class(class) => difference.class == *class && !difference.is_reading(),
            Expected::Rule(id) => match explanation {
                Some(explanation) => explanation.known.contains(id),
                None => suspected(difference).any(|set| set.contains(id)),
            },
            Expected::Reading(question, answer) => {
                explanation.is_some_and(|explanation| explanation.readings.contains(&(*question, *answer)))
            }
        }
    }
}

/// The sets of wrong rules that each predict a difference which nothing listed explains.
fn suspected(difference: &Difference) -> impl Iterator<Item = &Vec<&'static str>> {
    difference.suspected.iter().flatten().flatten()
}

/// What a verdict says of a difference, another reading included.
pub fn difference(verdict: &Verdict) -> Option<&Difference> {
    match verdict {
        Verdict::Deviates(difference) | Verdict::Reads(difference) => Some(difference),
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::NotCompared(_) => None,
    }
}

/// The part of a judged program that is to be kept: what is expected, else the first deviation that nothing explains,
/// else the first deviation.
pub fn choose<'p>(parts: &'p [Part], expected: Option<&Expected>) -> Option<&'p Part> {
    let shown = |part: &&Part| match (difference(&part.verdict), expected) {
        (Some(difference), Some(expected)) => expected.is_shown_by(difference),
        (Some(_), None) => matches!(part.verdict, Verdict::Deviates(_)),
        (None, _) => false,
    };
    let new = |part: &&Part| difference(&part.verdict).is_some_and(|d| d.explanation.is_none());
    parts.iter().filter(shown).find(new).or_else(|| parts.iter().find(shown))
}

impl Cause {
    /// The cause of the difference that a part of a program shows; `None` where it shows none, or one that is not about
    /// a program: an answer that depends on its company.
    pub fn of(module: &Module, part: &Part, expected: Option<&Expected>) -> Option<Cause> {
        let difference = difference(&part.verdict)?;
        if difference.class == Class::Inconsistent {
            return None;
        }
        let explanation = difference.explanation.clone();
        let kept = explanation.as_ref().and_then(|explanation| match expected {
            Some(Expected::Rule(_) | Expected::Reading(..)) => expected.cloned(),
            _ => kept_of(explanation, difference.class),
        });
        // Who names a class alone wants whatever is behind it.
        let suspected: Alternatives = match (&explanation, expected) {
            (Some(_), _) | (None, Some(Expected::Class(_) | Expected::Reading(..))) => Vec::new(),
            (None, Some(Expected::Rule(id))) => {
                suspected(difference).filter(|set| set.contains(id)).cloned().collect()
            }
            // Many a wrong rule would refuse, or accept, much: the complaint, or the clause, tells more.
            (None, None) if matches!(difference.class, Class::RefusesValid | Class::AcceptsInvalid) => {
                Vec::new()
            }
            (None, None) => suspected(difference).cloned().collect(),
        };
        let mark = match (&explanation, difference.class) {
            (Some(_), _) => Mark::None,
            (None, class) => Mark::of(class, &difference.observed),
        };
        let says = predict(module, &Rules::default());
        let mut clauses = part.trace.clauses.union(plain());
        // A kernel may use whatever its module holds.
        if !says.kernels.is_empty() {
            clauses = clauses.union(says.trace().clauses);
        }
        let validity = Validity::of(&says.data);
        let (questions, decided) = (says.trace().questions, says.undecided.is_empty());
        Some(Cause {
            questions,
            decided,
            class: difference.class,
            validity,
            explanation,
            kept,
            suspected,
            mark,
            clauses,
        })
    }

    /// The cause of a crash or hang of which nothing but the observation is known: the text is no PTX to us.
    pub fn of_observation(class: Class, observation: &Observation) -> Cause {
        let mark = Mark::of(class, observation);
        let clauses = ClauseSet::all();
        Cause {
            class,
            validity: Validity::Unmodelled,
            explanation: None,
            kept: None,
            suspected: Vec::new(),
            mark,
            clauses,
            questions: Question::ALL.iter().copied().collect(),
            decided: false,
        }
    }

    /// The same without what explains it besides what has to stay; `None` where there is no such thing.
    pub fn narrowed(&self) -> Option<Cause> {
        let (whole, kept) = (self.explanation.as_ref()?, self.kept.as_ref()?);
        let only = match kept {
            Expected::Rule(id) => Explanation { known: vec![id], readings: Vec::new() },
            Expected::Reading(question, answer) => {
                Explanation { known: Vec::new(), readings: vec![(*question, *answer)] }
            }
            Expected::Class(_) => return None,
        };
        let same_kind = only.is_reading() == whole.is_reading();
        (same_kind && only != *whole).then(|| Cause { explanation: Some(only), ..self.clone() })
    }

    /// The class of its deviations.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Whether it is explained, so that a program which [may show it](Cause::may_be_shown_by) mostly does.
    pub fn is_explained(&self) -> bool {
        self.explanation.is_some()
    }

    /// Whether [`Cause::is_predicted_by`] is more than a guess.
    pub fn predicts(&self) -> bool {
        self.is_explained() || !self.suspected.is_empty()
    }

    /// Whether a verdict that rests on this shows it.
    pub fn is_shown_by(&self, verdict: &Verdict, trace: Trace) -> bool {
        let Some(difference) = difference(verdict) else { return false };
        difference.class == self.class
            && match (&self.explanation, &difference.explanation) {
                (Some(whole), Some(part)) => {
                    is_part(part, whole) && self.kept.as_ref().is_none_or(|kept| kept.is_shown_by(difference))
                }
                (None, None) => self.mark.is_on(&difference.observed) && self.is_behind(difference, trace),
                _ => false,
            }
    }

    /// Whether what may be behind this may be behind a difference that nothing listed explains.
    fn is_behind(&self, other: &Difference, trace: Trace) -> bool {
        if self.suspected.is_empty() {
            return self.allows(trace);
        }
        // In a batch, causes of the first differences only are looked into; then it is shown alone.
        other.suspected.is_none()
            || suspected(other).any(|set| {
                let among = |whole: &Vec<&'static str>| set.iter().all(|id| whole.contains(id));
                self.suspected.iter().any(among)
            })
    }

    /// Whether an observation of a text that is no PTX to us shows it.
    pub fn is_shown_by_observation(&self, class: Class, observation: &Observation) -> bool {
        class == self.class && self.mark.is_on(observation)
    }

    fn allows(&self, trace: Trace) -> bool {
        trace.clauses.intersection(self.clauses) == trace.clauses
    }

    /// Whether a program may show it, as far as can be told without showing it to anybody: whether the specification says
    /// the same of it, and whether it holds what the cause needs.
    pub fn may_be_shown_by(&self, module: &Module) -> bool {
        if self.is_explained() {
            return self.is_predicted_by(module);
        }
        let says = predict(module, &Rules::default());
        self.is_as_safe(&says)
            && (!self.suspected.is_empty()
                || match (&says.data, self.class) {
                    (
                        Expectation::Accepted { variables, .. },
                        Class::WrongValue | Class::WrongAddress | Class::WrongLayout,
                    ) if says.kernels.is_empty() => {
                        variables.iter().any(|variable| self.allows(variable.trace))
                    }
                    _ => self.allows(says.trace()),
                })
    }

    /// Whether the specification says the same of a program, and the explanation, or something that is suspected,
    /// predicts a difference.
    pub fn is_predicted_by(&self, module: &Module) -> bool {
        let base = Rules::default();
        let says = predict(module, &base);
        if !self.is_as_safe(&says) {
            return false;
        }
        let shaped = Shaped::from(module);
        let predicts = |rules: &Rules, ids: &[&'static str]| {
            let otherwise = predict(module, rules);
            match self.class {
                Class::Crash | Class::Hang => {
                    let trace = otherwise.trace();
                    KNOWN.iter().filter(|known| ids.contains(&known.id)).any(|known| match known.effect {
                        Effect::Crash { when, of, .. } => when(&trace) || of(&shaped),
                        _ => known.kills() && known.shape().is_some_and(|of| of(&shaped)),
                    })
                }
                _ => {
                    let has = |known: &Known| known.shape().is_some_and(|of| of(&shaped));
                    KNOWN.iter().any(|known| ids.contains(&known.id) && !known.kills() && has(known))
                        || says.differs_from(&otherwise)
                }
            }
        };
        match &self.explanation {
            Some(explanation) => {
                let rules = changed(&base, &explanation.known);
                let readings = explanation.applied(&base).readings;
                predicts(&Rules { readings, ..rules }, &explanation.known)
            }
            None => self.suspected.iter().any(|set| predicts(&changed(&base, set), set)),
        }
    }

    /// Whether a program is as certain as the first: it is as valid, meets no other open question,
    /// and is as decided.
    fn is_as_safe(&self, says: &Prediction) -> bool {
        self.is_as_valid(&says.data)
            && self.questions.has_all(says.trace().questions)
            && (!self.decided || says.undecided.is_empty())
    }

    fn is_as_valid(&self, expected: &Expectation) -> bool {
        match (Validity::of(expected), &self.validity) {
            // What we have a rule for is nearer to what is known than what we have none for.
            (Validity::Accepted, Validity::Unmodelled) => true,
            (validity, before) => validity == *before,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())?;
        let Some(explanation) = &self.explanation else {
            if let Mark::Crash { signal: Some(signal), .. } = &self.mark {
                write!(f, " (signal {signal})")?;
            }
            let sets: Vec<String> = self.suspected.iter().map(|set| set.join(" and ")).collect();
            return if sets.is_empty() { Ok(()) } else { write!(f, " (suspected: {})", sets.join(", or ")) };
        };
        let readings = explanation.readings.iter();
        let readings = readings.map(|&(question, answer)| Interpretation(question, answer).to_string());
        let all: Vec<String> = explanation.known.iter().map(|&id| id.to_owned()).chain(readings).collect();
        write!(f, " ({})", all.join(", "))
    }
}

/// The first cause of several: the result should show one thing. Of a crash it is what kills.
fn kept_of(explanation: &Explanation, class: Class) -> Option<Expected> {
    let known = match class {
        Class::Crash | Class::Hang => explanation.deviations().find(|known| known.kills()),
        _ => explanation.deviations().next(),
    };
    let reading =
        || explanation.readings.first().map(|&(question, answer)| Expected::Reading(question, answer));
    known.map(|known| Expected::Rule(known.id)).or_else(reading)
}

/// Whether an explanation needs nothing that another does not, and is of the same kind.
fn is_part(part: &Explanation, whole: &Explanation) -> bool {
    part.is_reading() == whole.is_reading()
        && part.known.iter().all(|id| whole.known.contains(id))
        && part.readings.iter().all(|reading| whole.readings.contains(reading))
}

/// The rules with these wrong ones.
fn changed(base: &Rules, wrong: &[&'static str]) -> Rules {
    let mut rules = *base;
    let known =
        KNOWN.iter().filter(|known| wrong.contains(&known.id)).filter_map(|known| match known.effect {
            Effect::Rule(change) | Effect::Refusal(change) => Some(change),
            _ => None,
        });
    let suspects = suspects::all().filter(|suspect| wrong.contains(&suspect.id));
    known.chain(suspects.map(|suspect| suspect.change)).for_each(|change| change(&mut rules));
    rules
}

impl Validity {
    fn of(expected: &Expectation) -> Validity {
        match expected {
            Expectation::Accepted { .. } => Validity::Accepted,
            Expectation::Refused { refusal, .. } => {
                Validity::Refused(format!("{} {}", refusal.class.name(), refusal.clause.id()))
            }
            Expectation::Unmodelled { .. } => Validity::Unmodelled,
        }
    }
}

impl Mark {
    fn of(class: Class, observed: &Observation) -> Mark {
        match class {
            Class::Crash => {
                let reason = observed.reason.as_deref().filter(|_| observed.signal.is_none()).map(general);
                Mark::Crash { signal: observed.signal, reason, stage: first_error(observed) }
            }
            Class::RefusesValid => Mark::Complaint(first_error(observed)),
            _ => Mark::None,
        }
    }

    fn is_on(&self, observed: &Observation) -> bool {
        match self {
            Mark::None => true,
            Mark::Crash { .. } => *self == Mark::of(Class::Crash, observed),
            Mark::Complaint(_) => *self == Mark::of(Class::RefusesValid, observed),
        }
    }
}

/// The clauses of the plainest variables.
fn plain() -> ClauseSet {
    let text =
        ".version 7.8\n.target sm_80\n.const .b8 a = 0;\n.global .s32 b = 1;\n.global .u8 c[2] = {1, 2};\n";
    let module = ptxsmith_syntax::parse(text).unwrap_or_default();
    expect(&module, &Rules::default()).trace().clauses
}

fn first_error(observed: &Observation) -> Option<String> {
    let error = observed.diagnostics.iter().find(|diagnostic| diagnostic.severity >= Severity::Error)?;
    Some(general(&error.message))
}

/// A message without what it quotes of the program and without numbers.
fn general(message: &str) -> String {
    let mut quote = None;
    let mut general = String::new();
    for c in message.chars() {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if c == open || open == '`' && c == '\'' => quote = None,
            (None, _) if !c.is_ascii_digit() => general.push(c),
            _ => {}
        }
    }
    general
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::Outcome;

    #[test]
    fn verdicts_are_named_as_in_reports() {
        assert_eq!(Expected::parse("crash"), Ok(Expected::Class(Class::Crash)));
        assert_eq!(Expected::parse("incomplete-rows-packed"), Ok(Expected::Rule("incomplete-rows-packed")));
        assert_eq!(Expected::parse("shift-count=modulo"), Ok(Expected::Reading(Question::ShiftCount, 1)));
        assert_eq!(Expected::parse("product-signed"), Ok(Expected::Rule("product-signed")));
        assert_eq!(Expected::of_finding("unlisted-product-signed"), Some(Expected::Rule("product-signed")));
        assert_eq!(Expected::of_finding("wrong-value-4-5-5"), None);
        assert!(Expected::parse("crush").unwrap_err().contains("write one of crash, hang, "));
        assert!(Expected::parse("shift-count=x").is_err());
    }

    #[test]
    fn whatever_rule_a_campaign_names_a_finding_after_can_be_expected() {
        let known = KNOWN.iter().map(|known| known.id);
        for id in known.chain(suspects::all().map(|suspect| suspect.id)) {
            assert_eq!(Expected::parse(id), Ok(Expected::Rule(id)));
            assert_eq!(Expected::of_finding(&format!("unlisted-{id}")), Some(Expected::Rule(id)));
        }
    }

    #[test]
    fn a_wrong_rule_of_operands_predicts_another_result_of_a_kernel() {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a[4];\n\
            .visible .entry k(.param .u64 out) { .reg .u64 p, o; mov.u64 p, a[2]; ld.param.u64 o, [out]; \
            st.global.u64 [o], p; ret; }\n";
        let module = ptxsmith_syntax::parse(text).unwrap();
        let (right, wrong) = (Rules::default(), changed(&Rules::default(), &["index-counts-bytes"]));
        assert!(predict(&module, &right).differs_from(&predict(&module, &wrong)));
    }

    #[test]
    fn a_message_is_compared_without_what_it_quotes_and_without_numbers() {
        assert_eq!(general("Unknown symbol 'x12' in line 5"), general("Unknown symbol 'y' in line 77"));
        assert_ne!(general("Unknown symbol 'x'"), general("Duplicate symbol 'x'"));
    }

    #[test]
    fn a_part_of_an_explanation_is_the_same_cause_and_another_is_not() {
        let explanation = |readings: &[(Question, usize)], known: &[&'static str]| Explanation {
            readings: readings.to_vec(),
            known: known.to_vec(),
        };
        let whole = explanation(&[(Question::ShiftCount, 1)], &["a", "b"]);
        assert!(is_part(&explanation(&[], &["b"]), &whole));
        assert!(!is_part(&explanation(&[], &["b", "c"]), &whole));
        assert!(!is_part(&explanation(&[(Question::ShiftCount, 1)], &[]), &whole));
    }

    fn module(declarations: &str) -> Module {
        ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{declarations}\n")).unwrap()
    }

    fn of_known(known: &[&'static str]) -> Option<Explanation> {
        Some(Explanation { readings: Vec::new(), known: known.to_vec() })
    }

    fn of_reading(answer: usize) -> Option<Explanation> {
        Some(Explanation { readings: vec![(Question::ShiftCount, answer)], known: Vec::new() })
    }

    /// A difference that nothing explains, and of which nothing is suspected.
    fn unexplained(class: Class, observed: Observation) -> Difference {
        Difference {
            class,
            variable: Some("a".to_owned()),
            expected: serde_json::Value::Null,
            observed,
            explanation: None,
            suspected: Some(Vec::new()),
        }
    }

    fn wrong(explanation: Option<Explanation>) -> Difference {
        Difference { explanation, ..unexplained(Class::WrongValue, Observation::new(Outcome::Accepted)) }
    }

    fn suspecting(class: Class, sets: &[&[&'static str]]) -> Difference {
        let sets = sets.iter().map(|set| set.to_vec()).collect();
        Difference { suspected: Some(vec![sets]), ..unexplained(class, Observation::new(Outcome::Accepted)) }
    }

    fn deviates(difference: &Difference) -> Verdict {
        Verdict::Deviates(Box::new(difference.clone()))
    }

    fn part(module: &Module, difference: &Difference) -> Part {
        Part {
            variable: Some("a".into()),
            verdict: deviates(difference),
            must: None,
            trace: predict(module, &Rules::default()).trace(),
            operands: Default::default(),
            excluded: Vec::new(),
            why: None,
            derived: None,
        }
    }

    /// The cause of a difference that a program of these declarations shows.
    fn cause_of(declarations: &str, difference: &Difference, expected: Option<&Expected>) -> Cause {
        let module = module(declarations);
        Cause::of(&module, &part(&module, difference), expected).unwrap()
    }

    fn refused(message: &str) -> Observation {
        let diagnostic = |severity, message: &str| ptxsmith_subject::Diagnostic {
            severity,
            line: None,
            message: message.to_owned(),
        };
        let said = vec![diagnostic(Severity::Warning, "this is old"), diagnostic(Severity::Error, message)];
        Observation { diagnostics: said, ..Observation::new(Outcome::Refused) }
    }

    fn killed(signal: i32) -> Observation {
        Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) }
    }

    const REMAINDER: &str = ".global .s64 a = (-7 % -3) / 2;";

    #[test]
    fn what_is_expected_is_told_from_what_is_not() {
        let (remainder, reading) = (wrong(of_known(&["remainder-unsigned"])), wrong(of_reading(1)));
        let suspected = suspecting(Class::WrongValue, &[&["product-signed"], &["sum-saturates"]]);
        for (expected, shown) in [
            ("wrong-value", [true, false, true]),
            ("crash", [false, false, false]),
            ("remainder-unsigned", [true, false, false]),
            ("sum-saturates", [false, false, true]),
            ("shift-count=modulo", [false, true, false]),
        ] {
            let expected = Expected::parse(expected).unwrap();
            let is_shown = [&remainder, &reading, &suspected].map(|one| expected.is_shown_by(one));
            assert_eq!(is_shown, shown, "{expected:?}");
        }
    }

    #[test]
    fn a_refusal_of_a_valid_program_is_known_by_its_complaint_and_not_by_what_is_suspected() {
        let complains = |message| Difference {
            suspected: Some(vec![vec![vec!["product-signed"]]]),
            ..unexplained(Class::RefusesValid, refused(message))
        };
        let cause = cause_of(".global .s32 a = 7 * 4;", &complains("Unknown symbol 'x'"), None);
        assert_eq!(cause.to_string(), "refuses-valid");
        assert!(!cause.predicts());
        let is_shown = |message| cause.is_shown_by(&deviates(&complains(message)), Trace::default());
        assert!(is_shown("Unknown symbol 'y17'") && !is_shown("Duplicate symbol 'x'"));
        // Who names what is suspected wants that.
        let named = Expected::parse("product-signed").unwrap();
        let cause = cause_of(".global .s32 a = 7 * 4;", &complains("Unknown symbol 'x'"), Some(&named));
        assert_eq!(cause.to_string(), "refuses-valid (suspected: product-signed)");
        assert!(cause.predicts());
    }

    #[test]
    fn a_crash_is_known_by_its_signal_and_by_what_was_said_before() {
        let crash = |observed| unexplained(Class::Crash, observed);
        let cause = cause_of(".global .s32 a = 7 % 4;", &crash(killed(11)), None);
        assert_eq!(cause.to_string(), "crash (signal 11)");
        let is_shown = |observed| cause.is_shown_by(&deviates(&crash(observed)), Trace::default());
        assert!(is_shown(killed(11)) && !is_shown(killed(8)));
        assert!(!is_shown(Observation { diagnostics: refused("too large").diagnostics, ..killed(11) }));
        assert!(!is_shown(Observation::because(Outcome::Crashed, "internal error")));
        // Another class is another cause, whatever else is the same.
        let hang = unexplained(Class::Hang, killed(11));
        assert!(!cause.is_shown_by(&deviates(&hang), Trace::default()));
        assert!(!cause.is_shown_by(&Verdict::Conforms, Trace::default()));
    }

    #[test]
    fn a_crash_of_a_text_that_is_not_understood_is_known_by_its_mark_alone() {
        let cause = Cause::of_observation(Class::Crash, &killed(11));
        assert!(cause.is_shown_by_observation(Class::Crash, &killed(11)));
        assert!(!cause.is_shown_by_observation(Class::Crash, &killed(8)));
        assert!(!cause.is_shown_by_observation(Class::Hang, &killed(11)));
        let hang = Cause::of_observation(Class::Hang, &Observation::new(Outcome::TimedOut));
        assert!(hang.is_shown_by_observation(Class::Hang, &Observation::new(Outcome::TimedOut)));
    }

    #[test]
    fn of_several_known_deviations_the_first_has_to_stay_and_another_one_is_another_cause() {
        let both = ["remainder-unsigned", "ternary-not-converted"];
        let cause = cause_of(REMAINDER, &wrong(of_known(&both)), None);
        assert_eq!(cause.to_string(), "wrong-value (remainder-unsigned, ternary-not-converted)");
        let is_shown = |difference: &Difference| cause.is_shown_by(&deviates(difference), Trace::default());
        for (explanation, same) in [
            (of_known(&both), true),
            (of_known(&both[..1]), true),
            (of_known(&both[1..]), false),
            (of_known(&["remainder-unsigned", "incomplete-rows-packed"]), false),
            (of_reading(1), false),
            (None, false),
        ] {
            assert_eq!(is_shown(&wrong(explanation.clone())), same, "{explanation:?}");
        }
        assert!(!is_shown(&Difference { class: Class::WrongAddress, ..wrong(of_known(&both)) }));
        let narrowed = cause.narrowed().unwrap();
        assert_eq!(narrowed.to_string(), "wrong-value (remainder-unsigned)");
        assert!(narrowed.narrowed().is_none(), "nothing is left to leave out");
        // What is named stays instead.
        let second = Expected::parse("ternary-not-converted").unwrap();
        let second = cause_of(REMAINDER, &wrong(of_known(&both)), Some(&second));
        assert!(second.is_shown_by(&deviates(&wrong(of_known(&both[1..]))), Trace::default()));
        assert!(!second.is_shown_by(&deviates(&wrong(of_known(&both[..1]))), Trace::default()));
        assert_eq!(second.narrowed().unwrap().to_string(), "wrong-value (ternary-not-converted)");
        // An explanation by one thing has nothing to narrow.
        assert!(cause_of(REMAINDER, &wrong(of_reading(1)), None).narrowed().is_none());
    }

    #[test]
    fn what_may_be_behind_both_is_the_same_cause() {
        let cause = cause_of(REMAINDER, &suspecting(Class::WrongValue, &[&["a", "b"], &["c"]]), None);
        let is_shown = |difference: &Difference| cause.is_shown_by(&deviates(difference), Trace::default());
        for (sets, same) in [
            (&[&["a"][..]][..], true),
            (&[&["d"][..], &["a", "b"][..]][..], true),
            (&[&["c"][..]][..], true),
            (&[&["a", "c"][..]][..], false),
            (&[&["d"][..]][..], false),
            (&[][..], false),
        ] {
            assert_eq!(is_shown(&suspecting(Class::WrongValue, sets)), same, "{sets:?}");
        }
        // In a batch that is not looked into of every difference.
        assert!(is_shown(&Difference { suspected: None, ..wrong(None) }));
    }

    #[test]
    fn what_nothing_is_suspected_of_rests_on_clauses_of_the_first_program_and_plain_ones() {
        let cause = cause_of(".global .s32 a = 7 % 4;", &wrong(None), None);
        assert!(!cause.predicts());
        let shows = |declarations: &str| {
            let trace = predict(&module(declarations), &Rules::default()).trace();
            let verdict = deviates(&wrong(None));
            (cause.is_shown_by(&verdict, trace), cause.may_be_shown_by(&module(declarations)))
        };
        assert_eq!(shows(".global .s32 b = 5 % 3;"), (true, true));
        assert_eq!(shows(".global .u8 c[2] = {1, 2};"), (true, true), "the plainest are always allowed");
        assert_eq!(shows(".global .f32 b = 1.0 + 2.0;"), (false, false));
        // One of several variables is enough, as each has a verdict of its own.
        let several = module(".global .f32 b = 1.0 + 2.0;\n.global .s32 c = 5 % 3;");
        assert!(cause.may_be_shown_by(&several));
        // A refusal is about all of it.
        let refusal = unexplained(Class::RefusesValid, refused("no"));
        let cause = cause_of(".global .s32 a = 7 % 4;", &refusal, None);
        assert!(!cause.may_be_shown_by(&several));
        assert!(cause.may_be_shown_by(&module(".global .s32 c = 5 % 3;")));
    }

    #[test]
    fn a_program_that_is_less_certain_never_takes_the_place_of_another() {
        let suspected = suspecting(Class::WrongValue, &[&["remainder-of-signed"]]);
        let unknown = ".visible .entry k() { .reg .u32 r; frobnicate.u32 r, 1; ret; }";
        for (declarations, is_as_safe) in [
            (".global .s32 b = 5 % 3;", true),
            // Refused, an open question, and a part that is not decided.
            (".global .s32 b = 5.0 % 3;", false),
            (".global .s64 b = 5 % 3 + (1 << 65);", false),
            (&*format!(".global .s32 b = 5 % 3;\n{unknown}"), false),
        ] {
            for difference in [&suspected, &wrong(None)] {
                let cause = cause_of(".global .s32 a = 7 % 4;\n.global .s32 c = 1 << 2;", difference, None);
                assert_eq!(cause.may_be_shown_by(&module(declarations)), is_as_safe, "{declarations}");
            }
        }
        // What we have a rule for may take the place of what we have none for.
        let unread = ".global .s32 a = 7 % 4;\n.global .b8 x = = 1;";
        let cause = cause_of(unread, &suspected, None);
        assert!(cause.may_be_shown_by(&module(unread)));
        assert!(cause.may_be_shown_by(&module(".global .s32 a = 7 % 4;")));
    }

    #[test]
    fn an_explanation_predicts_programs_that_it_changes_something_in() {
        let crash = unexplained(Class::Crash, killed(8));
        let crash = Difference { explanation: of_known(&["quotient-overflow-crash"]), ..crash };
        const OVERFLOW: &str = ".global .s64 a = (-9223372036854775807 - 1) / -1;";
        const SHIFT: &str = ".global .s64 a = 1 << 65;";
        for (of, difference, shown, not_shown) in [
            (REMAINDER, wrong(of_known(&["remainder-unsigned"])), REMAINDER, ".global .s64 a = 7 % 3;"),
            (OVERFLOW, crash, OVERFLOW, ".global .s64 a = -9223372036854775807 / -1;"),
            (SHIFT, wrong(of_reading(1)), SHIFT, ".global .s64 a = 1 << 63;"),
            (
                REMAINDER,
                suspecting(Class::WrongValue, &[&["division-rounds-down"]]),
                ".global .s64 a = -7 / 2;",
                ".global .s64 a = 7 / 2;",
            ),
        ] {
            let cause = cause_of(of, &difference, None);
            assert!(cause.predicts());
            assert!(cause.is_predicted_by(&module(shown)), "{shown}");
            assert!(!cause.is_predicted_by(&module(not_shown)), "{not_shown}");
        }
        // A deviation that is known by the shape of programs.
        let shape = unexplained(Class::RefusesValid, refused("no"));
        let shape = Difference { explanation: of_known(&["subtracted-index-refused"]), ..shape };
        let known = KNOWN.iter().find(|known| known.id == "subtracted-index-refused").unwrap();
        let example = ptxsmith_syntax::parse(known.example).unwrap();
        let cause = Cause::of(&example, &part(&example, &shape), None).unwrap();
        assert!(cause.is_predicted_by(&example));
        assert!(!cause.is_predicted_by(&module(".global .s32 a = 1;")));
    }

    #[test]
    fn quotes_of_every_kind_are_left_out_of_a_message() {
        for (message, rest) in [
            ("no `b' here", "no  here"),
            ("no `b` here", "no  here"),
            ("no 'b`c' here", "no  here"),
            ("no \"it's\" here", "no  here"),
            ("no 12 and x1", "no  and x"),
        ] {
            assert_eq!(general(message), rest, "{message}");
        }
    }
}
