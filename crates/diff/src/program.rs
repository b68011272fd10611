//! Judges a program as it stands: a user's file or a file of the corpus.

mod compiling;
mod computed;
mod data;
mod forms;
mod reasons;

use std::cell::RefCell;
use std::collections::BTreeMap;

use ptxsmith_model::{AccessDifference, Expected, FilePlace};
use ptxsmith_oracle::{Expectation, KernelAccesses, Prediction, Question, Rules, Trace, expect, predict};
use ptxsmith_subject::{Error, Observation, Outcome, OutputForm, Request, Subject};
use ptxsmith_syntax::{Function, FunctionKind, Header, Lines, Module, Span, Text};

use crate::accesses::{self, AccessFault};
use crate::explain::{explain, explain_wrong, wrong_places};
use crate::explanation::{Alternatives, Explanation};
use crate::implementation::Implementation;
use crate::judge::{Judge, JudgeOptions};
use crate::requested;
use crate::trial::Trial;
use crate::verdict::{
    Class, CodeCounts, DerivedModule, Difference, NotCompared, Requirement, ShownOperands, TrialVerdict,
    Verdict, WhyNotCompared,
};

use self::compiling::observe_in_accepted_form;
use self::data::data_verdicts;

/// The verdict on one variable of a program, on its kernels, or on the program as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PartVerdict {
    /// The name of the variable; `None` for kernels and for the program as a whole.
    pub variable: Option<Text>,
    /// The verdict on this part.
    pub verdict: Verdict,
    /// The outcome that the specification requires of the program; `None` if it does not decide.
    pub requirement: Option<Requirement>,
    /// The clauses and questions that the expectation rests on.
    pub trace: Trace,
    /// The operand results that the subject shows, and their total.
    pub operands: ShownOperands,
    /// The interpretations that the verdict excludes, as pairs of a question and an answer.
    pub excluded: Vec<(Question, usize)>,
    /// The reason why the part was not compared, if it is known.
    pub why: Option<Box<WhyNotCompared>>,
    /// The module that the verdict is about, if it was derived from the program. A finding in a derived
    /// module counts against that module only, not against the user's file.
    pub derived: Option<Box<DerivedModule>>,
    /// The position of a deviating part in the user's file; `None` if it was not looked up.
    pub place: Option<Box<FilePlace>>,
}

impl PartVerdict {
    /// Returns true if something was compared.
    pub fn is_compared(&self) -> bool {
        !matches!(self.verdict, Verdict::NotCompared(_))
    }

    /// Converts the verdict to that of a trial with this number.
    pub fn judged(self, id: u64) -> TrialVerdict {
        TrialVerdict {
            operands: self.operands,
            excluded: self.excluded,
            why: self.why,
            place: self.place,
            ..TrialVerdict::new(id, self.verdict, self.requirement, self.trace)
        }
    }

    fn not_compared(reason: NotCompared, why: Option<WhyNotCompared>) -> PartVerdict {
        let (trace, operands) = (Trace::default(), ShownOperands::default());
        let why = why.map(Box::new);
        PartVerdict {
            variable: None,
            verdict: Verdict::NotCompared(reason),
            requirement: None,
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
    /// The verdicts on variables, or one verdict on the program as a whole if the subject rejects it or
    /// crashes.
    pub data: Vec<PartVerdict>,
    /// Additional verdicts from relocatable output, if the program was shown in both forms.
    pub added: Vec<PartVerdict>,
    /// The verdict on the output of the kernels, which are always compiled to relocatable output. `None` if
    /// the subject rejects that form or no kernel can be run.
    pub kernels: Option<PartVerdict>,
    /// The bodies and their variables that the oracle cannot predict or the subject does not show, in an
    /// accepted program.
    pub undecided: Vec<PartVerdict>,
    /// The rejections, one for each form of output that the subject rejects.
    pub refusals: Vec<Rejection>,
    /// The outcome: accepted if any form of output is accepted.
    pub outcome: Outcome,
    /// The verdict on the memory that kernels access, if it adds something to the other verdicts.
    pub accesses: Option<PartVerdict>,
    /// Counts of the compared memory operands.
    pub memory_operands: Option<Box<CodeCounts>>,
    /// The verdicts on the results of kernels: one for each kernel with a wrong result and one for all others
    /// together, if they add something to the other verdicts.
    pub computed: Vec<PartVerdict>,
    /// Counts of the kernels with compared results.
    pub computed_kernels: Option<Box<CodeCounts>>,
}

/// The rejection of a program by a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The form of output for which the program was compiled.
    pub form: OutputForm,
    /// The line that the error message names, if it names one.
    pub line: Option<u32>,
    /// The error message.
    pub said: String,
}

impl Rejection {
    /// Returns the error message, preceded by its line if there is one.
    pub fn placed(&self) -> String {
        self.line.map_or_else(String::new, |line| format!("line {line}: ")) + &self.said
    }
}

impl ModuleVerdicts {
    /// Creates an empty result with this outcome.
    fn new(outcome: Outcome) -> ModuleVerdicts {
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
    pub fn parts(self) -> Vec<PartVerdict> {
        let of_program = [self.data, self.added, self.kernels.into_iter().collect(), self.undecided];
        let of_code = [self.accesses.into_iter().collect(), self.computed];
        of_program.into_iter().chain(of_code).flatten().collect()
    }

    fn has(&self, holds: impl Fn(&PartVerdict) -> bool) -> bool {
        let parts = [&self.data, &self.added, &self.undecided].into_iter().flatten();
        parts.chain(&self.kernels).any(holds)
    }

    /// Adds the verdict on memory accesses of kernels, for a valid program that the subject accepts.
    fn add_accesses(
        &mut self,
        subject: &dyn Subject,
        rules: &Rules,
        program: &ParsedProgram<'_>,
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

    /// Removes verdicts that rest on the acceptance alone, because memory accesses or results were compared
    /// after all.
    fn forget_outcome(&mut self) {
        for parts in [&mut self.data, &mut self.added, &mut self.undecided] {
            parts.retain(|part| part.verdict != Verdict::ConformsByOutcome);
        }
        self.kernels.take_if(|part| part.verdict == Verdict::ConformsByOutcome);
    }
}

/// Returns true if the subject does not accept the program or should have rejected it.
fn is_not_accepted(part: &PartVerdict) -> bool {
    if part.requirement == Some(Requirement::Refuse) {
        return true;
    }
    match &part.verdict {
        Verdict::Deviates(difference) => {
            matches!(difference.class, Class::Crash | Class::Hang | Class::RefusesValid)
        }
        Verdict::NotCompared(reason) => {
            matches!(reason, NotCompared::Unsupported | NotCompared::Unavailable)
        }
        Verdict::Conforms | Verdict::ConformsByOutcome | Verdict::Reads(_) => false,
    }
}

/// Shows a program to a subject unchanged, header included, and judges all of it: every variable, the output
/// of its kernels and the memory that they access. If the program is rejected or the subject crashes, the
/// program is judged as a whole.
///
/// Files, findings, releases, reduced programs and listed deviations are all judged by this function, so that
/// a program has only one verdict. `text` is the source of `module` and is shown unchanged; `target` is
/// passed to the subject. If the subject has executable and relocatable output, both are judged.
///
/// A rejection counts only if every part of the program can be judged, the subject accepts the header alone,
/// and it accepts no other form of output. If a program has undecided parts, the parts that the subject
/// blames are shown alone, provided that they can be judged.
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
    let program = ParsedProgram { module, text, target };
    let mut verdicts = if subject.has_both_forms() {
        let (prediction, headers) = (&predict(module, rules), &RefCell::default());
        let (form, lines) = (OutputForm::Executable, Lines::new(text));
        ProgramUnderTest { subject, rules, module, text, lines, target, prediction, form, headers }
            .in_both_forms()?
    } else {
        let verdicts = judge_modules(subject, rules, &[program])?;
        verdicts.into_iter().next().expect("verdicts on each program")
    };
    if module.functions().any(is_kernel) && !verdicts.has(is_not_accepted) {
        verdicts.add_accesses(subject, rules, &program)?;
        verdicts.add_computed(subject, rules, &program)?;
    }
    Ok(verdicts)
}

fn is_kernel(function: &Function) -> bool {
    function.kind == FunctionKind::Entry && function.body.is_some()
}

/// A program to be judged unchanged: see [`judge_module`].
#[derive(Clone, Copy, Debug)]
pub struct ParsedProgram<'a> {
    /// The parsed text.
    pub module: &'a Module,
    /// The text as it is shown to the subject.
    pub text: &'a str,
    /// The target that is passed to the subject.
    pub target: &'a str,
}

/// A program with everything that is needed to compile and judge it.
struct ProgramUnderTest<'a> {
    subject: &'a dyn Subject,
    rules: &'a Rules,
    module: &'a Module,
    text: &'a str,
    lines: Lines<'a>,
    target: &'a str,
    prediction: &'a Prediction,
    /// The form of output that is requested first, and for parts of the program.
    form: OutputForm,
    /// The observations of headers alone, by text, target and form of output.
    headers: &'a RefCell<BTreeMap<(String, String, OutputForm), Observation>>,
}

/// Judges many programs as [`judge_module`] does, each in the form of output that shows its variables or, if
/// that is rejected, in the other form. Needs fewer runs of the subject than separate calls if it accepts
/// most of the programs.
///
/// # Errors
/// See [`judge_module`].
pub fn judge_modules(
    subject: &dyn Subject,
    rules: &Rules,
    programs: &[ParsedProgram<'_>],
) -> Result<Vec<ModuleVerdicts>, Error> {
    let predictions: Vec<Prediction> =
        programs.iter().map(|program| predict(program.module, rules)).collect();
    let headers = RefCell::default();
    let programs: Vec<ProgramUnderTest<'_>> = programs
        .iter()
        .zip(&predictions)
        .map(|(&ParsedProgram { module, text, target }, prediction)| ProgramUnderTest {
            subject,
            rules,
            module,
            text,
            lines: Lines::new(text),
            target,
            prediction,
            form: OutputForm::showing(module),
            headers: &headers,
        })
        .collect();
    let observations = observe_in_accepted_form(&programs)?;
    programs.iter().zip(observations).map(|(program, observation)| program.verdicts(&observation)).collect()
}

/// Judges a program as [`judge_module`] does, but without its kernels. For subjects or expectations that
/// cover data only.
///
/// # Errors
/// See [`judge_module`].
pub fn judge_data(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<Vec<PartVerdict>, Error> {
    let observed = observe(subject, rules, module, text, target)?;
    Ok(data_verdicts(
        subject,
        rules,
        &ParsedProgram { module, text, target },
        &expect(module, rules),
        &observed,
    ))
}

/// Compares the memory that the kernels of a program access with the memory that the subject's code accesses.
/// Returns counts of the operands and one verdict on all of them, if any were compared. Compares nothing in
/// an invalid program.
///
/// # Errors
/// See [`judge_module`].
pub fn judge_operands(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<(CodeCounts, Option<PartVerdict>), Error> {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return Ok(Default::default()) };
    let kernels = ptxsmith_oracle::accesses(module, variables, rules);
    // The oracle does not model how code holds 32-bit addresses.
    let is_shown = subject.shows_code() && module.address_size() != Some(32);
    let trace = if is_shown { accesses::tracings(&kernels) } else { Vec::new() };
    let observed = if trace.is_empty() {
        Observation::new(Outcome::Unavailable)
    } else {
        let request = Request::new(text, target).in_form(OutputForm::Relocatable);
        subject.observe(&Request { trace: &trace, ..request })?
    };
    let (operands, faults) = accesses::compare(&kernels, &observed);
    if faults.is_empty() && operands.compared == 0 {
        return Ok((operands, None));
    }
    let verdict = if faults.is_empty() {
        Verdict::Conforms
    } else {
        let implementation = Implementation::from_description(subject.description());
        let explanation = explain_faults(&faults, implementation, rules, module, (&kernels, &observed));
        access_verdict(faults, explanation, observed, text)
    };
    let part = PartVerdict {
        verdict,
        requirement: Requirement::from_expectation(&expected),
        trace: trace_of_kernels(&kernels),
        ..PartVerdict::not_compared(NotCompared::Unobserved, None)
    };
    Ok((operands, Some(part)))
}

/// Explains wrong memory accesses by other rules, or by the pattern of a listed deviation.
fn explain_faults(
    faults: &[AccessFault],
    implementation: Implementation<'_>,
    rules: &Rules,
    module: &Module,
    (kernels, observed): (&[KernelAccesses], &Observation),
) -> Option<Explanation> {
    let trace = accesses_under(module, rules).1;
    explain(&trace, rules, implementation, |rules| {
        let (other_kernels, trace) = accesses_under(module, rules);
        (accesses::agree(&other_kernels, kernels, observed), trace)
    })
    .or_else(|| {
        let names = faults.iter().map(|fault| fault.kernel.as_str());
        explain_wrong(&wrong_places(module, implementation), module, names)
    })
}

/// Builds the verdict on wrong memory accesses. There must be at least one.
fn access_verdict(
    faults: Vec<AccessFault>,
    explanation: Option<Explanation>,
    observed: Observation,
    text: &str,
) -> Verdict {
    Verdict::from_difference(Difference {
        class: faults[0].class,
        variable: None,
        expected: Expected::of_accesses(with_lines(faults, text)),
        observed,
        // There are no hypotheses about wrong memory accesses.
        suspected: explanation.is_none().then(|| vec![Alternatives::default()]),
        explanation,
    })
}

/// Returns the clauses and questions that the accesses of all kernels rest on.
fn trace_of_kernels(kernels: &[KernelAccesses]) -> Trace {
    kernels.iter().fold(Trace::default(), |trace, kernel| trace.union(kernel.trace))
}

/// Returns the accesses of the kernels under these rules, including those that the specification leaves
/// undefined, and the trace of the accesses.
fn accesses_under(module: &Module, rules: &Rules) -> (Vec<KernelAccesses>, Trace) {
    let expected = expect(module, rules);
    let Expectation::Accepted { variables, .. } = &expected else { return (Vec::new(), expected.trace()) };
    let kernels = ptxsmith_oracle::accesses_anywhere(module, variables, rules);
    let values = kernels.iter().fold(trace_of_kernels(&kernels), |trace, kernel| trace.union(kernel.values));
    (kernels, expected.trace().union(values))
}

/// Adds line numbers to wrong memory accesses.
fn with_lines(faults: Vec<AccessFault>, text: &str) -> Vec<AccessDifference> {
    let lines = Lines::new(text);
    faults
        .into_iter()
        .map(|AccessFault { kernel, class, expected, seen, span }| AccessDifference {
            kernel,
            class,
            line: span.map(|span: Span| lines.line(span.start)),
            expected,
            seen,
            opcodes: Vec::new(),
        })
        .collect()
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
    let read = requested::variables(subject.description(), module, rules);
    subject.observe(&Request { read: &read, ..Request::showing(module, text, target) })
}

/// Judges the output of the kernels of a program.
fn kernel_verdict(
    subject: &dyn Subject,
    rules: &Rules,
    module: &Module,
    text: &str,
    target: &str,
) -> Result<PartVerdict, Error> {
    let trial = Trial::of_kernels(0, module);
    let options = JudgeOptions {
        header: Header::of_module(module),
        target: Some(target.to_owned()),
        launch: true,
        ..JudgeOptions::default()
    };
    let TrialVerdict { verdict, requirement, trace, operands, why, .. } =
        Judge::new(subject, *rules, options).text(&trial, text)?;
    let excluded = Vec::new();
    Ok(PartVerdict {
        variable: None,
        verdict,
        requirement,
        trace,
        operands,
        excluded,
        why,
        derived: None,
        place: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deviates(class: Class) -> Verdict {
        let (expected, observed) = (Expected::default(), Observation::new(Outcome::Accepted));
        Verdict::Deviates(Box::new(Difference::new(class, expected, observed)))
    }

    #[test]
    fn operands_are_not_compared_in_a_program_that_is_not_accepted() {
        for (verdict, requirement, expected) in [
            (Verdict::Conforms, Some(Requirement::Accept), false),
            (Verdict::Conforms, None, false),
            (Verdict::Conforms, Some(Requirement::Refuse), true),
            (deviates(Class::Crash), None, true),
            (deviates(Class::Hang), None, true),
            (deviates(Class::RefusesValid), Some(Requirement::Accept), true),
            (deviates(Class::WrongValue), Some(Requirement::Accept), false),
            (deviates(Class::AcceptsInvalid), Some(Requirement::Refuse), true),
            (Verdict::NotCompared(NotCompared::Unsupported), None, true),
            (Verdict::NotCompared(NotCompared::Unavailable), None, true),
            (Verdict::NotCompared(NotCompared::Unobserved), None, false),
            (Verdict::NotCompared(NotCompared::Unmodelled), None, false),
        ] {
            let told = format!("{verdict:?} {requirement:?}");
            let part = PartVerdict {
                verdict,
                requirement,
                ..PartVerdict::not_compared(NotCompared::Unmodelled, None)
            };
            assert_eq!(is_not_accepted(&part), expected, "{told}");
        }
    }
}
