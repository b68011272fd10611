//! Judging a program as it is: a file of a user's, or of the corpus.

mod computed;
mod data;
mod forms;
mod shown;

use std::cell::RefCell;

use ptxsmith_model::{AccessDifference, Expected, Place};
use ptxsmith_oracle::{Expectation, Prediction, Question, Rules, Trace, Traced, expect, predict};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Function, FunctionKind, Header, Lines, Module, Span, Text};

use crate::accesses::{self, Astray};
use crate::explain::{explain, explain_wrong, wrong_places};
use crate::explanation::Alternatives;
use crate::judge::{Judge, Options};
use crate::maker::Maker;
use crate::read;
use crate::trial::Trial;
use crate::verdict::{
    Class, CodeCounts, Derived, Difference, Judged, Must, NotCompared, Share, Verdict, Why,
};

use self::data::of_data;
use self::shown::{Shown, observed_of};

/// The verdict on one variable of a program, on its kernels, or on the program as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The variable; `None` for kernels and for the program as a whole.
    pub variable: Option<Text>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the specification does with the program; `None` where it does not decide.
    pub must: Option<Must>,
    /// What the expectation rests on.
    pub trace: Trace,
    /// What was seen of the results of operands.
    pub operands: Share,
    /// The answers to open questions that it rules out: (question, answer).
    pub excluded: Vec<(Question, usize)>,
    /// Why it was not compared, where that is known.
    pub why: Option<Box<Why>>,
    /// The module that the verdict is about, where that is one that was derived from the program: a text that is not the
    /// user's accuses only itself.
    pub derived: Option<Box<Derived>>,
    /// Where it stands in the user's file, of a part that deviates; `None` where nobody looked.
    pub place: Option<Box<Place>>,
}

impl Part {
    /// Whether something was compared.
    pub fn is_compared(&self) -> bool {
        !matches!(self.verdict, Verdict::NotCompared(_))
    }

    /// The verdict as one on a trial of this number.
    pub fn judged(self, id: u64) -> Judged {
        Judged {
            operands: self.operands,
            excluded: self.excluded,
            why: self.why,
            place: self.place,
            ..Judged::new(id, self.verdict, self.must, self.trace)
        }
    }

    fn not_compared(reason: NotCompared, why: Option<Why>) -> Part {
        let (trace, operands) = (Trace::default(), Share::default());
        let why = why.map(Box::new);
        Part {
            variable: None,
            verdict: Verdict::NotCompared(reason),
            must: None,
            trace,
            operands,
            excluded: Vec::new(),
            why,
            derived: None,
            place: None,
        }
    }
}

/// The verdicts on a program.
#[derive(Clone, Debug)]
pub struct ModuleVerdicts {
    /// Those on its variables; where it is refused or the subject dies, that on the program as a whole.
    pub data: Vec<Part>,
    /// What relocatable output adds to them, where the program was shown in both forms.
    pub added: Vec<Part>,
    /// That on what its kernels leave, for which it is always shown in relocatable form; `None` where that is not accepted, or it has
    /// none that can be run.
    pub kernels: Option<Part>,
    /// The bodies and their variables of which nothing can be said or is seen, of a program that is accepted.
    pub undecided: Vec<Part>,
    /// The refusals, of each form in which it was shown.
    pub refusals: Vec<Refusal>,
    /// Whether the program is accepted in any form, or how the subject ends.
    pub outcome: Outcome,
    /// That on what its kernels reach in memory, where it says more than the others.
    pub accesses: Option<Part>,
    /// How many memory operands of its kernels were compared.
    pub memory_operands: Option<Box<CodeCounts>>,
    /// Those on what its kernels compute: of each that leaves something else, and of the others together, where it says more than the
    /// others.
    pub computed: Vec<Part>,
    /// Of how many kernels it was compared what they compute.
    pub computed_kernels: Option<Box<CodeCounts>>,
}

/// That a subject refuses a program, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In which form the program was shown.
    pub form: OutputForm,
    /// The line that it blames, where it blames one.
    pub line: Option<u32>,
    /// Its words.
    pub said: String,
}

impl Refusal {
    /// Its words, with the line.
    pub fn placed(&self) -> String {
        self.line.map_or_else(String::new, |line| format!("line {line}: ")) + &self.said
    }
}

impl ModuleVerdicts {
    /// No verdicts on a program that a subject did this with.
    fn of(outcome: Outcome) -> ModuleVerdicts {
        ModuleVerdicts {
            data: Vec::new(),
            added: Vec::new(),
            kernels: None,
            undecided: Vec::new(),
            refusals: Vec::new(),
            outcome,
            accesses: None,
            memory_operands: None,
            computed: Vec::new(),
            computed_kernels: None,
        }
    }

    /// All verdicts.
    pub fn parts(self) -> Vec<Part> {
        let own = self.data.into_iter().chain(self.added).chain(self.kernels).chain(self.undecided);
        own.chain(self.accesses).chain(self.computed).collect()
    }

    fn has(&self, holds: impl Fn(&Part) -> bool) -> bool {
        let lists = [&self.data, &self.added, &self.undecided].into_iter().flatten();
        lists.chain(&self.kernels).any(holds)
    }

    /// Adds what the kernels reach in memory, of a program that is accepted and should be.
    fn add_accesses(
        &mut self,
        subject: &dyn Subject,
        rules: &Rules,
        program: &ToJudge<'_>,
    ) -> Result<(), Error> {
        let (counts, part) = judge_operands(subject, rules, program.module, program.text, program.target)?;
        self.memory_operands = Some(Box::new(counts));
        let only_accepted =
            !self.has(|part| part.is_compared() && part.verdict != Verdict::ConformsByOutcome);
        let Some(part) = part.filter(|part| only_accepted || matches!(part.verdict, Verdict::Deviates(_)))
        else {
            return Ok(());
        };
        self.forget_outcome();
        self.accesses = Some(part);
        Ok(())
    }

    /// Where nothing but the acceptance was compared, something else was.
    fn forget_outcome(&mut self) {
        for parts in [&mut self.data, &mut self.added, &mut self.undecided] {
            parts.retain(|part| part.verdict != Verdict::ConformsByOutcome);
        }
        self.kernels.take_if(|part| part.verdict == Verdict::ConformsByOutcome);
    }
}

/// Whether the subject does not accept the program, or should not have.
fn is_not_accepted(part: &Part) -> bool {
    let ends = |class| matches!(class, Class::Crash | Class::Hang | Class::RefusesValid);
    part.must == Some(Must::Refuse)
        || matches!(&part.verdict, Verdict::Deviates(difference) if ends(difference.class))
        || matches!(part.verdict, Verdict::NotCompared(NotCompared::Unsupported | NotCompared::Unavailable))
}

/// Shows a program to a subject as it stands, header included, and judges all of it: every variable, or, where the program is refused
/// or the subject crashes, the program as a whole; what its kernels leave, and what they reach in memory. This is the one verdict on a
/// program: files, findings, their releases, reduced programs and listed deviations are judged by it. `text` is what `module` was parsed from, and is shown as it is;
/// `target` is passed to the subject. Of a subject that makes executable and relocatable output both are judged.
///
/// A refusal counts only where every part of the program is judged, the subject takes the header, and no other form of output is
/// taken. Of a program with undecided parts the judged ones that are blamed are shown alone.
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
    let program = ToJudge { module, text, target };
    let mut verdicts = if subject.has_both_forms() {
        let (prediction, headers) = (&predict(module, rules), &RefCell::default());
        let (form, lines) = (OutputForm::Executable, Lines::new(text));
        Shown { subject, rules, module, text, lines, target, prediction, form, headers }.in_both_forms()?
    } else {
        let verdicts = judge_modules(subject, rules, &[program])?;
        verdicts.into_iter().next().expect("verdicts on each program")
    };
    let is_kernel = |function: &Function| function.kind == FunctionKind::Entry && function.body.is_some();
    if module.functions().any(is_kernel) && !verdicts.has(is_not_accepted) {
        verdicts.add_accesses(subject, rules, &program)?;
        verdicts.add_computed(subject, rules, &program)?;
    }
    Ok(verdicts)
}

/// A program that is to be judged as it is: see [`judge_module`].
#[derive(Clone, Copy, Debug)]
pub struct ToJudge<'a> {
    /// What the text was parsed into.
    pub module: &'a Module,
    /// The text, which is shown as it is.
    pub text: &'a str,
    /// What is passed to the subject.
    pub target: &'a str,
}

/// The verdicts of [`judge_module`] on each of many programs, in the form that shows their variables, or in the other one where that is
/// refused; with fewer runs of the subject where most of them are.
///
/// # Errors
/// As [`judge_module`].
pub fn judge_modules(
    subject: &dyn Subject,
    rules: &Rules,
    programs: &[ToJudge<'_>],
) -> Result<Vec<ModuleVerdicts>, Error> {
    let predictions: Vec<Prediction> =
        programs.iter().map(|program| predict(program.module, rules)).collect();
    let headers = RefCell::default();
    let shown = |(program, prediction)| {
        let &ToJudge { module, text, target } = program;
        let (form, lines) = (OutputForm::showing(module), Lines::new(text));
        Shown { subject, rules, module, text, lines, target, prediction, form, headers: &headers }
    };
    let shown: Vec<Shown<'_>> = programs.iter().zip(&predictions).map(shown).collect();
    let observed = observed_of(&shown)?;
    shown.iter().zip(observed).map(|(shown, observed)| shown.verdicts(&observed)).collect()
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
    Ok(of_data(subject, rules, &ToJudge { module, text, target }, &expect(module, rules), &observed))
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
) -> Result<(CodeCounts, Option<Part>), Error> {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return Ok(Default::default()) };
    let kernels = ptxsmith_oracle::accesses(module, variables, rules);
    // How code holds addresses of 32 bits is not modelled.
    let shown = subject.shows_code() && module.address_size() != Some(32);
    let trace = if shown { accesses::tracings(&kernels) } else { Vec::new() };
    let request = Request::new(text, target).in_form(OutputForm::Relocatable);
    let observed = match trace.is_empty() {
        true => Observation::new(Outcome::Unavailable),
        false => subject.observe(&Request { trace: &trace, ..request })?,
    };
    let usual = kernels;
    let (operands, astray) = accesses::compare(&usual, &observed);
    let verdict = match astray.first() {
        None if operands.compared == 0 => return Ok((operands, None)),
        None => Verdict::Conforms,
        Some(first) => {
            let predicts = |rules: &Rules| {
                let (kernels, trace) = accesses_under(module, rules);
                (accesses::agree(&kernels, &usual, &observed), trace)
            };
            let maker = Maker::of(subject.description());
            let explanation =
                explain(&accesses_under(module, rules).1, rules, maker, predicts).or_else(|| {
                    explain_wrong(
                        &wrong_places(module, maker),
                        module,
                        astray.iter().map(|one| one.kernel.as_str()),
                    )
                });
            // No plausible wrong rule is known of it.
            let suspected = explanation.is_none().then(|| vec![Alternatives::default()]);
            let difference = Box::new(Difference {
                class: first.class,
                variable: None,
                expected: Expected::of_accesses(placed(astray, text)),
                observed,
                explanation,
                suspected,
            });
            if difference.is_reading() { Verdict::Reads(difference) } else { Verdict::Deviates(difference) }
        }
    };
    let (must, trace) = (Must::of(&expected), rests_on(&usual));
    let part = Part { verdict, must, trace, ..Part::not_compared(NotCompared::Unobserved, None) };
    Ok((operands, Some(part)))
}

/// What accesses of kernels rest on.
fn rests_on(kernels: &[Traced]) -> Trace {
    kernels.iter().fold(Trace::default(), |trace, kernel| trace.union(kernel.trace))
}

/// What the kernels of a module access under these rules, wherever that is, and what it rests on.
fn accesses_under(module: &Module, rules: &Rules) -> (Vec<Traced>, Trace) {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return (Vec::new(), expected.trace()) };
    let kernels = ptxsmith_oracle::accesses_anywhere(module, variables, rules);
    let values = kernels.iter().fold(rests_on(&kernels), |trace, kernel| trace.union(kernel.values));
    (kernels, expected.trace().union(values))
}

/// The differences of accesses, with their lines of the text.
fn placed(astray: Vec<Astray>, text: &str) -> Vec<AccessDifference> {
    let lines = Lines::new(text);
    let placed = |Astray { kernel, class, expected, seen, span }| AccessDifference {
        kernel,
        class,
        line: span.map(|span: Span| lines.line(span.start)),
        expected,
        seen,
        opcodes: Vec::new(),
    };
    astray.into_iter().map(placed).collect()
}

/// What a subject does with a program as it is, in the form of output that shows its variables.
///
/// # Errors
/// Only where our machine or code fails.
pub fn observe(
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
    let trial = Trial::of_kernels(0, module);
    let options = Options {
        header: Header::of(module),
        target: Some(target.to_owned()),
        launch: true,
        ..Options::default()
    };
    let Judged { verdict, must, trace, operands, why, .. } =
        Judge::new(subject, *rules, options).text(&trial, text)?;
    let excluded = Vec::new();
    Ok(Part { variable: None, verdict, must, trace, operands, excluded, why, derived: None, place: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deviates(class: Class) -> Verdict {
        let (expected, observed) = (Expected::default(), Observation::new(Outcome::Accepted));
        Verdict::Deviates(Box::new(Difference::of(class, expected, observed)))
    }

    #[test]
    fn of_a_program_that_is_not_taken_no_operands_are_looked_at() {
        for (verdict, must, expected) in [
            (Verdict::Conforms, Some(Must::Accept), false),
            (Verdict::Conforms, None, false),
            (Verdict::Conforms, Some(Must::Refuse), true),
            (deviates(Class::Crash), None, true),
            (deviates(Class::Hang), None, true),
            (deviates(Class::RefusesValid), Some(Must::Accept), true),
            (deviates(Class::WrongValue), Some(Must::Accept), false),
            (deviates(Class::AcceptsInvalid), Some(Must::Refuse), true),
            (Verdict::NotCompared(NotCompared::Unsupported), None, true),
            (Verdict::NotCompared(NotCompared::Unavailable), None, true),
            (Verdict::NotCompared(NotCompared::Unobserved), None, false),
            (Verdict::NotCompared(NotCompared::Unmodelled), None, false),
        ] {
            let told = format!("{verdict:?} {must:?}");
            let part = Part { verdict, must, ..Part::not_compared(NotCompared::Unmodelled, None) };
            assert_eq!(is_not_accepted(&part), expected, "{told}");
        }
    }
}
