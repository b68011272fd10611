//! Compares the results of a program's kernels with the results of the subject's code, or of a device that
//! runs it.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_model::{AccessDifference, Expected};
use ptxsmith_oracle::{INPUTS, Rules, Trace, predict};
use ptxsmith_subject::{Error, Outcome, Subject};
use ptxsmith_syntax::{Module, Opcode, Statement, parse};

use super::{ModuleVerdicts, ParsedProgram, PartVerdict};
use crate::arithmetic::{ArithmeticVerdicts, Calculations, KernelVerdict, WrongResult, cause};
use crate::explain::{explain, explain_wrong, wrong_places};
use crate::explanation::{Alternatives, Explanation};
use crate::implementation::Implementation;
use crate::known::KnownDeviation;
use crate::pattern::MatchedPlace;
use crate::reason::text_without;
use crate::verdict::{Class, CodeCounts, Difference, NotCompared, Requirement, Verdict};

/// The reason why results are not compared in a program that deviates in another way.
const DEVIATES_OTHERWISE: &str = "the program deviates otherwise, which may be the cause of what it computes";

/// The verdicts on the results of a program's kernels, sorted.
#[derive(Default)]
struct SortedKernels<'j> {
    /// The compared kernels, as parts of the program: `kernel k`.
    compared: BTreeSet<String>,
    /// The kernels with a wrong result that no other verdict covers.
    wrong: Vec<(&'j str, &'j WrongResult)>,
    counts: CodeCounts,
}

impl ModuleVerdicts {
    /// Adds the verdicts on the results of kernels, for a valid program that the subject accepts.
    pub(super) fn add_computed(
        &mut self,
        subject: &dyn Subject,
        rules: &Rules,
        program: &ParsedProgram<'_>,
    ) -> Result<(), Error> {
        let Some(calculations) = Calculations::new(program.module.clone(), rules, INPUTS) else {
            return Ok(());
        };
        let judged = if calculations.is_empty() || !subject.computes() {
            calculations.unseen()
        } else {
            calculations.judge(subject, program.text, program.target)?
        };
        self.leave_values_to_results(program.module, &judged);
        let SortedKernels { compared, wrong, mut counts } = self.sort_kernels(&judged);
        counts.compared = compared.len() as u64;
        self.computed_kernels = Some(Box::new(counts));
        if compared.is_empty() {
            return Ok(());
        }
        // The reason why the output of a kernel is not compared no longer holds if its results were compared.
        self.undecided.retain(|part| {
            part.is_compared() || !part.why.as_ref().is_some_and(|why| compared.contains(&why.part))
        });
        let has_better_verdict =
            self.has(is_more_than_outcome) || self.accesses.as_ref().is_some_and(is_more_than_outcome);
        if wrong.is_empty() && has_better_verdict {
            return Ok(());
        }
        self.forget_outcome();
        let kernels = WrongKernels::new(subject, rules, *program, &calculations, &judged);
        self.computed = if wrong.is_empty() {
            vec![kernels.part(Verdict::Conforms)]
        } else {
            wrong.into_iter().map(|(kernel, result)| kernels.verdict(kernel, result)).collect()
        };
        Ok(())
    }

    /// Removes an unexplained verdict on accesses of kernels that compute wrong results: what instructions compute is
    /// the likelier cause than how their operands are read, and clauses of addresses would join different causes.
    fn leave_values_to_results(&mut self, module: &Module, judged: &ArithmeticVerdicts) {
        let Some(PartVerdict { verdict: Verdict::Deviates(difference), .. }) = &self.accesses else { return };
        let computes_wrongly = |kernel: &str| {
            let mut verdicts = judged.kernels.iter().filter(|(name, _)| name == kernel);
            verdicts.any(|(_, verdict)| matches!(verdict, KernelVerdict::Differs(_)))
                && !opcodes(module, kernel).is_empty()
        };
        let mut faults = difference.expected.accesses().iter();
        if difference.explanation.is_none()
            && faults.all(|fault| fault.class == Class::WrongValue && computes_wrongly(&fault.kernel))
        {
            self.accesses = None;
        }
    }

    /// Sorts the verdicts on kernels. If the program deviates in another way, that may be the cause of a
    /// wrong result.
    fn sort_kernels<'j>(&self, judged: &'j ArithmeticVerdicts) -> SortedKernels<'j> {
        let deviates_otherwise = self.has(is_deviation) || self.accesses.as_ref().is_some_and(is_deviation);
        let mut sorted = SortedKernels::default();
        for (kernel, verdict) in &judged.kernels {
            match verdict {
                KernelVerdict::NotFollowed(why) => {
                    sorted.counts.leave(cause(why), 1);
                    continue;
                }
                KernelVerdict::Agrees => {}
                KernelVerdict::Differs(_) if self.has_wrong_access(kernel) => {}
                KernelVerdict::Differs(_) if deviates_otherwise => {
                    sorted.counts.leave(DEVIATES_OTHERWISE, 1);
                    continue;
                }
                KernelVerdict::Differs(result) => sorted.wrong.push((kernel.as_str(), result)),
            }
            sorted.compared.insert(format!("kernel {kernel}"));
        }
        sorted
    }

    /// Returns true if the verdict on memory accesses already reports a wrong value that this kernel writes.
    fn has_wrong_access(&self, kernel: &str) -> bool {
        let Some(PartVerdict { verdict: Verdict::Deviates(difference), .. }) = &self.accesses else {
            return false;
        };
        let mut accesses = difference.expected.accesses().iter();
        accesses.any(|access| access.kernel == kernel && access.class == Class::WrongValue)
    }
}

fn is_deviation(part: &PartVerdict) -> bool {
    matches!(part.verdict, Verdict::Deviates(_))
}

/// Returns true if something was compared besides the acceptance of the program.
fn is_more_than_outcome(part: &PartVerdict) -> bool {
    part.is_compared() && part.verdict != Verdict::ConformsByOutcome
}

/// The opcodes that copy or control, and compute nothing.
const COMPUTE_NOTHING: [Opcode; 10] = [
    Opcode::Ld,
    Opcode::St,
    Opcode::Mov,
    Opcode::Cvta,
    Opcode::Bra,
    Opcode::Ret,
    Opcode::Exit,
    Opcode::Call,
    Opcode::Trap,
    Opcode::Brkpt,
];

/// Returns the opcodes of a kernel that compute values, with their modifiers, each once: `["add.sat.s32",
/// "shl.b32"]`.
fn opcodes(module: &Module, kernel: &str) -> Vec<String> {
    let mut opcodes = BTreeSet::new();
    for function in module.functions().filter(|function| function.name.text == kernel) {
        for statement in function.statements() {
            let Statement::Instruction(instruction) = statement else { continue };
            if COMPUTE_NOTHING.contains(&instruction.opcode) {
                continue;
            }
            let mut opcode = instruction.opcode.keyword().to_owned();
            instruction.modifiers.iter().for_each(|modifier| opcode += &modifier.text);
            opcodes.insert(opcode);
        }
    }
    opcodes.into_iter().collect()
}

/// The kernels of a program that have wrong results, with everything that explains them.
struct WrongKernels<'a> {
    subject: &'a dyn Subject,
    rules: &'a Rules,
    program: ParsedProgram<'a>,
    calculations: &'a Calculations,
    judged: &'a ArithmeticVerdicts,
    implementation: Implementation<'a>,
    listed: Vec<(&'static KnownDeviation, Vec<MatchedPlace>)>,
}

impl<'a> WrongKernels<'a> {
    fn new(
        subject: &'a dyn Subject,
        rules: &'a Rules,
        program: ParsedProgram<'a>,
        calculations: &'a Calculations,
        judged: &'a ArithmeticVerdicts,
    ) -> WrongKernels<'a> {
        let implementation = Implementation::from_description(subject.description());
        let listed = wrong_places(program.module, implementation);
        WrongKernels { subject, rules, program, calculations, judged, implementation, listed }
    }

    fn part(&self, verdict: Verdict) -> PartVerdict {
        let expected = predict(self.program.module, self.rules).data;
        PartVerdict {
            requirement: Requirement::from_expectation(&expected),
            verdict,
            ..PartVerdict::not_compared(NotCompared::Unobserved, None)
        }
    }

    /// Builds the verdict on a kernel with a wrong result.
    fn verdict(&self, kernel: &str, result: &WrongResult) -> PartVerdict {
        let explanation = self.explanation(kernel);
        let WrongResult { inputs, expected, stored, .. } = result;
        let difference = AccessDifference {
            kernel: kernel.to_owned(),
            class: Class::WrongValue,
            line: None,
            expected: format!("leaves {expected}, where {inputs}"),
            seen: format!("leaves {stored}"),
            opcodes: opcodes(self.program.module, kernel),
        };
        self.part(Verdict::from_difference(Difference {
            class: Class::WrongValue,
            variable: None,
            expected: Expected::of_accesses(vec![difference]),
            observed: self.judged.observation.clone(),
            // There are no hypotheses about wrong results.
            suspected: explanation.is_none().then(|| vec![Alternatives::default()]),
            explanation,
        }))
    }

    /// Explains the wrong results of a kernel by other rules, or by the pattern of a listed deviation.
    fn explanation(&self, kernel: &str) -> Option<Explanation> {
        let trace: Trace = predict(self.program.module, self.rules).trace();
        let by_rules = explain(&trace, self.rules, self.implementation, |rules| {
            self.calculations.predicts(rules, kernel, self.judged)
        });
        by_rules.or_else(|| {
            self.listed.iter().find_map(|listed| {
                let kernels = [kernel].into_iter();
                let explanation = explain_wrong(std::slice::from_ref(listed), self.program.module, kernels)?;
                self.is_reason(kernel, listed.0, &listed.1).then_some(explanation)
            })
        })
    }

    /// Returns true if a kernel is right without the match of a listed deviation, or its results are then not
    /// compared.
    fn is_reason(&self, kernel: &str, known: &'static KnownDeviation, places: &[MatchedPlace]) -> bool {
        let ParsedProgram { text, target, .. } = self.program;
        let text = text_without(text, known, places);
        let Ok(module) = parse(&text) else { return true };
        let Some(calculations) = Calculations::new(module, self.rules, INPUTS) else { return true };
        let Ok(judged) = calculations.judge(self.subject, &text, target) else { return true };
        let verdicts: BTreeMap<&str, &KernelVerdict> =
            judged.kernels.iter().map(|(name, verdict)| (name.as_str(), verdict)).collect();
        judged.observation.outcome != Outcome::Accepted
            || !matches!(verdicts.get(kernel), Some(KernelVerdict::Differs(_)))
    }
}
