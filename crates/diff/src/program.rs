//! Judges a program as it stands: a user's file or a file of the corpus.

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
    /// The name of the variable; `None` for kernels and for the program as a whole.
    pub variable: Option<Text>,
    /// The verdict on this part.
    pub verdict: Verdict,
    /// The outcome that the specification requires of the program; `None` if it does not decide.
    pub must: Option<Must>,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
    /// The operand results that the subject shows, and their total.
    pub operands: Share,
    /// The interpretations that the verdict excludes, as pairs of a question and an answer.
    pub excluded: Vec<(Question, usize)>,
    /// The reason why the part was not compared, if it is known.
    pub why: Option<Box<Why>>,
    /// The module that the verdict is about, if it was derived from the program. A finding in a derived module counts
    /// against that module only, not against the user's file.
    pub derived: Option<Box<Derived>>,
    /// The position of a deviating part in the user's file; `None` if it was not looked up.
    pub place: Option<Box<Place>>,
}

impl Part {
    /// Returns true if something was compared.
    pub fn is_compared(&self) -> bool {
        !matches!(self.verdict, Verdict::NotCompared(_))
    }

    /// Converts the verdict to that of a trial with this number.
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
    /// The verdicts on variables, or one verdict on the program as a whole if the subject rejects it or crashes.
    pub data: Vec<Part>,
    /// Additional verdicts from relocatable output, if the program was shown in both forms.
    pub added: Vec<Part>,
    /// The verdict on the output of the kernels, which are always compiled to relocatable output. `None` if the
    /// subject rejects that form or no kernel can be run.
    pub kernels: Option<Part>,
    /// The bodies and their variables that the oracle cannot predict or the subject does not show, in an accepted
    /// program.
    pub undecided: Vec<Part>,
    /// The rejections, one for each form of output that the subject rejects.
    pub refusals: Vec<Refusal>,
    /// The outcome: accepted if any form of output is accepted.
    pub outcome: Outcome,
    /// The verdict on the memory that kernels access, if it adds something to the other verdicts.
    pub accesses: Option<Part>,
    /// Counts of the compared memory operands.
    pub memory_operands: Option<Box<CodeCounts>>,
    /// The verdicts on the results of kernels: one for each kernel with a wrong result and one for all others
    /// together, if they add something to the other verdicts.
    pub computed: Vec<Part>,
    /// Counts of the kernels with compared results.
    pub computed_kernels: Option<Box<CodeCounts>>,
}

/// The rejection of a program by a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The form of output for which the program was compiled.
    pub form: OutputForm,
    /// The line that the error message names, if it names one.
    pub line: Option<u32>,
    /// The error message.
    pub said: String,
}

impl Refusal {
    /// Returns the error message, preceded by its line if there is one.
    pub fn placed(&self) -> String {
        self.line.map_or_else(String::new, |line| format!("line {line}: ")) + &self.said
    }
}

impl ModuleVerdicts {
    /// Creates an empty result with this outcome.
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

    /// Returns all verdicts.
    pub fn parts(self) -> Vec<Part> {
        let own = self.data.into_iter().chain(self.added).chain(self.kernels).chain(self.undecided);
        own.chain(self.accesses).chain(self.computed).collect()
    }

    fn has(&self, holds: impl Fn(&Part) -> bool) -> bool {
        let lists = [&self.data, &self.added, &self.undecided].into_iter().flatten();
        lists.chain(&self.kernels).any(holds)
    }

    /// Adds the verdict on memory accesses of kernels, for a valid program that the subject accepts.
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

    /// Removes verdicts that rest on the acceptance alone, because memory accesses or results were compared after
    /// all.
    fn forget_outcome(&mut self) {
        for parts in [&mut self.data, &mut self.added, &mut self.undecided] {
            parts.retain(|part| part.verdict != Verdict::ConformsByOutcome);
        }
        self.kernels.take_if(|part| part.verdict == Verdict::ConformsByOutcome);
    }
}

/// Returns true if the subject does not accept the program or should have rejected it.
fn is_not_accepted(part: &Part) -> bool {
    let ends = |class| matches!(class, Class::Crash | Class::Hang | Class::RefusesValid);
    part.must == Some(Must::Refuse)
        || matches!(&part.verdict, Verdict::Deviates(difference) if ends(difference.class))
        || matches!(part.verdict, Verdict::NotCompared(NotCompared::Unsupported | NotCompared::Unavailable))
}

/// Shows a program to a subject unchanged, header included, and judges all of it: every variable, the output of its
/// kernels and the memory that they access. If the program is rejected or the subject crashes, the program is judged
/// as a whole.
///
/// Files, findings, releases, reduced programs and listed deviations are all judged by this function, so that a
/// program has only one verdict. `text` is the source of `module` and is shown unchanged; `target` is passed to the
/// subject. If the subject has executable and relocatable output, both are judged.
///
/// A rejection counts only if every part of the program can be judged, the subject accepts the header alone, and it
/// accepts no other form of output. If a program has undecided parts, the parts that the subject blames are shown
/// alone, provided that they can be judged.
///
/// # Errors
/// Fails only if the host system or our own code fails. A crash of the subject is a verdict.
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

/// A program to be judged unchanged: see [`judge_module`].
#[derive(Clone, Copy, Debug)]
pub struct ToJudge<'a> {
    /// The parsed text.
    pub module: &'a Module,
    /// The text as it is shown to the subject.
    pub text: &'a str,
    /// The target that is passed to the subject.
    pub target: &'a str,
}

/// Judges many programs as [`judge_module`] does, each in the form of output that shows its variables or, if that is
/// rejected, in the other form. Needs fewer runs of the subject than separate calls if it accepts most of the
/// programs.
///
/// # Errors
/// See [`judge_module`].
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

/// Judges a program as [`judge_module`] does, but without its kernels. For subjects or expectations that cover data
/// only.
///
/// # Errors
/// See [`judge_module`].
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

/// Compares the memory that the kernels of a program access with the memory that the subject's code accesses. Returns
/// counts of the operands and one verdict on all of them, if any were compared. Compares nothing in an invalid
/// program.
///
/// # Errors
/// See [`judge_module`].
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
    // The oracle does not model how code holds 32-bit addresses.
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
            // There are no hypotheses about wrong memory accesses.
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

/// Returns the clauses and questions that the accesses of all kernels rest on.
fn rests_on(kernels: &[Traced]) -> Trace {
    kernels.iter().fold(Trace::default(), |trace, kernel| trace.union(kernel.trace))
}

/// Returns the accesses of the kernels under these rules, including those that the specification leaves undefined,
/// with the clauses and questions that they rest on.
fn accesses_under(module: &Module, rules: &Rules) -> (Vec<Traced>, Trace) {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return (Vec::new(), expected.trace()) };
    let kernels = ptxsmith_oracle::accesses_anywhere(module, variables, rules);
    let values = kernels.iter().fold(rests_on(&kernels), |trace, kernel| trace.union(kernel.values));
    (kernels, expected.trace().union(values))
}

/// Adds line numbers to differences of memory accesses.
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

/// Shows a program to a subject unchanged, in the form of output that shows its variables.
///
/// # Errors
/// Fails only if the host system or our own code fails.
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

/// Judges the output of the kernels of a program.
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
