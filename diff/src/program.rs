//! Judging a program as it is: a file of a user's, or of the corpus.

use ptxsmith_oracle::{Expectation, Left, Prediction, Rules, Trace, Variable, expect, predict};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Header, Item, Module};

use crate::{
    accesses,
    compare::{Mismatch, compare, shows_no_values},
    explain::{explain, explain_crash},
    explanation::{Alternatives, Explanation},
    judge::{Judge, Options},
    lead::{alternatives, crash_alternatives},
    maker::Maker,
    read,
    trial::{Body, Trial},
    verdict::{Class, Difference, Judged, MemoryOperands, Must, NotCompared, Share, Verdict},
};

/// The verdict on one variable of a program, on its kernels, or on the program as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The variable; `None` for kernels and for the program as a whole.
    pub variable: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the specification does with the program; `None` where there is no rule.
    pub must: Option<Must>,
    /// What the expectation rests on.
    pub trace: Trace,
    /// What was seen of the results of operands.
    pub operands: Share,
}

impl Part {
    /// The verdict as one on a trial of this number.
    pub fn judged(self, id: u64) -> Judged {
        Judged { operands: self.operands, ..Judged::new(id, self.verdict, self.must, self.trace) }
    }
}

/// The verdicts on a program.
#[derive(Clone, Debug)]
pub struct ModuleVerdicts {
    /// Those on its variables; where it is refused or the subject dies, that on the program as a whole.
    pub data: Vec<Part>,
    /// That on what its kernels leave; `None` where it is not accepted, or has none that can be run.
    pub kernels: Option<Part>,
}

impl ModuleVerdicts {
    /// All verdicts; that on kernels only where something was compared, since most programs are about data.
    pub fn parts(self) -> Vec<Part> {
        let compared = |part: &Part| !matches!(part.verdict, Verdict::NotCompared(_));
        self.data.into_iter().chain(self.kernels.filter(compared)).collect()
    }
}

/// Shows a program to a subject and judges all of it: every variable, or, where the program is refused or the subject
/// dies, the program as a whole; and what its kernels leave. `text` is what `module` was parsed from, and is shown as it is;
/// `target` is passed to the subject.
///
/// # Errors
/// Only where our machine or code fails; whatever the subject does is a verdict.
pub fn judge_module(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<ModuleVerdicts, Error> {
    let observed = observe(subject, rules, module, text, target)?;
    let prediction = predict(module, rules);
    let data = of_data(subject, rules, module, text, &prediction.data, &observed);
    let runs = |prediction: &Prediction| {
        prediction
            .kernels
            .iter()
            .any(|kernel| matches!(&kernel.left, Left::Output(left) if !left.bytes.is_empty()))
    };
    let kernels = match observed.outcome == Outcome::Accepted && runs(&prediction) {
        true => Some(of_kernels(subject, rules, module, text, target)?),
        false => None,
    };
    Ok(ModuleVerdicts { data, kernels })
}

/// As [`judge_module`], without its kernels: for what shows or expects data alone.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Vec<Part>, Error> {
    let observed = observe(subject, rules, module, text, target)?;
    Ok(of_data(subject, rules, module, text, &expect(module, rules), &observed))
}

/// Compares what the kernels of a program reach in memory with what the subject's code reaches: how many operands were compared, and
/// the verdict on all of them, where there are any. Nothing is compared where the program is not accepted.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_operands(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<(MemoryOperands, Option<Part>), Error> {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return Ok(Default::default()) };
    let kernels = ptxsmith_oracle::accesses(module, variables, rules);
    let trace = if subject.shows_code() { accesses::tracings(&kernels) } else { Vec::new() };
    let request = Request::new(text, target).in_form(OutputForm::Relocatable);
    let observed = match trace.is_empty() {
        true => Observation::new(Outcome::Unavailable),
        false => subject.observe(&Request { trace: &trace, ..request })?,
    };
    let (operands, astray) = accesses::compare(&kernels, &observed);
    let verdict = match astray.first() {
        None if operands.compared == 0 => return Ok((operands, None)),
        None => Verdict::Conforms,
        Some(first) => Verdict::Deviates(Box::new(Difference {
            class: first.class,
            variable: None,
            expected: serde_json::json!({ "astray": astray }),
            observed,
            explanation: None,
            // No plausible wrong rule is known of it.
            suspected: Some(vec![Alternatives::default()]),
        })),
    };
    let trace = kernels.iter().fold(Trace::default(), |trace, kernel| trace.union(kernel.trace));
    let (must, share) = (Must::of(&expected), Share::default());
    Ok((operands, Some(Part { variable: None, verdict, must, trace, operands: share })))
}

fn observe(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Observation, Error> {
    let read = read::wanted(subject.description(), module, rules);
    subject.observe(&Request { read: &read, ..Request::showing(module, text, target) })
}

/// The verdict on what the kernels of a program leave.
fn of_kernels(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Part, Error> {
    let items = module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
    let trial = Trial::new(0, Body::Items(items.cloned().collect()));
    let options = Options {
        header: Header::of(module),
        target: Some(target.to_owned()),
        launch: true,
        ..Options::default()
    };
    let Judged { verdict, must, trace, operands, .. } =
        Judge::new(subject, *rules, options).text(&trial, text)?;
    Ok(Part { variable: None, verdict, must, trace, operands })
}

fn of_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    expected: &Expectation,
    observed: &Observation,
) -> Vec<Part> {
    let silent = shows_no_values(subject, observed);
    let program =
        Program { rules, module, text, expected, observed, maker: Maker::of(subject.description()), silent };
    let not_compared = |reason| vec![program.whole(Verdict::NotCompared(reason))];
    match (expected, observed.outcome) {
        (_, Outcome::Unsupported) => not_compared(NotCompared::Unsupported),
        (_, Outcome::Unavailable) => not_compared(NotCompared::Unavailable),
        (_, Outcome::Crashed) => vec![program.deviates(Class::Crash)],
        (_, Outcome::TimedOut) => vec![program.deviates(Class::Hang)],
        (Expectation::Unmodelled { .. }, _) => not_compared(NotCompared::Unmodelled),
        (Expectation::Refused { .. }, Outcome::Refused) => vec![program.whole(Verdict::Conforms)],
        (Expectation::Refused { .. }, Outcome::Accepted) => vec![program.deviates(Class::AcceptsInvalid)],
        (Expectation::Accepted { .. }, Outcome::Refused) => vec![program.deviates(Class::RefusesValid)],
        // Of a program without variables there is nothing else to show.
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted)
            if unmodelled.is_empty() && (silent || variables.is_empty()) =>
        {
            vec![program.whole(Verdict::ConformsByOutcome)]
        }
        (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
            let not_modelled = unmodelled.iter().map(|(name, _)| Part {
                variable: Some(name.to_string()),
                verdict: Verdict::NotCompared(NotCompared::Unmodelled),
                must: None,
                trace: Trace::default(),
                operands: Share::default(),
            });
            variables.iter().map(|variable| program.variable(variable)).chain(not_modelled).collect()
        }
    }
}

struct Program<'a> {
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    expected: &'a Expectation,
    observed: &'a Observation,
    maker: Maker<'a>,
    /// Whether the subject accepts without showing values.
    silent: bool,
}

impl Program<'_> {
    fn whole(&self, verdict: Verdict) -> Part {
        self.part(None, verdict, self.expected.trace())
    }

    fn part(&self, variable: Option<String>, verdict: Verdict, trace: Trace) -> Part {
        Part { variable, verdict, must: Must::of(self.expected), trace, operands: Share::default() }
    }

    /// A deviation of the program as a whole, explained by a reading or a known deviation where one predicts it.
    fn deviates(&self, class: Class) -> Part {
        let trace = self.expected.trace();
        let whole = |rules: &Rules| {
            let expected = expect(self.module, rules);
            let agrees = match (&expected, self.observed.outcome) {
                (Expectation::Refused { .. }, Outcome::Refused) => true,
                (Expectation::Accepted { variables, unmodelled, .. }, Outcome::Accepted) => {
                    let agree = || compare(variables, &self.observed.variables).is_none();
                    unmodelled.is_empty() && (self.silent || agree())
                }
                _ => false,
            };
            (agrees, expected.trace())
        };
        let explanation = match class {
            Class::Crash => {
                let rests_on = |rules: &Rules| expect(self.module, rules).trace();
                explain_crash(&trace, self.rules, self.maker, self.observed, rests_on)
            }
            _ => explain(&trace, self.rules, self.maker, whole),
        };
        let suspected = match (&explanation, class) {
            (Some(_), _) => None,
            (None, Class::Crash) => Some(vec![crash_alternatives(&trace, self.maker, self.observed)]),
            (None, _) => Some(vec![alternatives(&trace, self.rules, self.maker, whole)]),
        };
        // A program that declares nothing rests on what its kernels do.
        let rests_on =
            if trace.clauses.is_empty() { predict(self.module, self.rules).trace() } else { trace };
        self.part(None, self.difference(class, None, explanation, suspected), rests_on)
    }

    fn variable(&self, variable: &Variable) -> Part {
        let agreement =
            |variable: &Variable| compare(std::slice::from_ref(variable), &self.observed.variables);
        let verdict = match agreement(variable) {
            None => Verdict::Conforms,
            Some(Mismatch::Unobserved(_)) => Verdict::NotCompared(NotCompared::Unobserved),
            Some(Mismatch::Differs(class, name)) => {
                let own = |rules: &Rules| {
                    let Expectation::Accepted { variables, .. } = expect(self.module, rules) else {
                        return (false, Trace::default());
                    };
                    let own = variables.iter().find(|own| own.name == variable.name);
                    own.map_or((false, Trace::default()), |own| (agreement(own).is_none(), own.trace))
                };
                let explanation = explain(&variable.trace, self.rules, self.maker, own);
                let suspected = explanation
                    .is_none()
                    .then(|| vec![alternatives(&variable.trace, self.rules, self.maker, own)]);
                self.difference(class, Some(name), explanation, suspected)
            }
        };
        self.part(Some(variable.name.to_string()), verdict, variable.trace)
    }

    fn difference(
        &self,
        class: Class,
        variable: Option<String>,
        explanation: Option<Explanation>,
        suspected: Option<Vec<Alternatives>>,
    ) -> Verdict {
        let difference = Box::new(Difference {
            class,
            variable,
            expected: self.expected.to_json(self.text, &self.rules.readings),
            observed: self.observed.clone(),
            explanation,
            suspected,
        });
        if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
    }
}
