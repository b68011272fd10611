//! What the kernels of a program compute, compared with what the subject's code does, or a device.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_model::{AccessDifference, Expected};
use ptxsmith_oracle::{INPUTS, Rules, Trace, predict};
use ptxsmith_subject::{Error, Outcome, Subject};
use ptxsmith_syntax::{Item, Module, Opcode, Statement, parse};

use super::{ModuleVerdicts, Part, ToJudge};
use crate::arithmetic::{Calculations, Judgement, KernelVerdict, WrongResult, cause};
use crate::explain::{explain, explain_wrong, wrong_places};
use crate::explanation::{Alternatives, Explanation};
use crate::known::Known;
use crate::maker::Maker;
use crate::pattern::Place;
use crate::reason::text_without;
use crate::verdict::{Class, CodeCounts, Difference, NotCompared, Verdict};

/// What a deviation of the program in something else may be the cause of.
const DEVIATES_OTHERWISE: &str = "the program deviates otherwise, which may be the cause of what it computes";

impl ModuleVerdicts {
    /// Adds what the kernels compute, of a program that is accepted and should be.
    pub(super) fn add_computed(
        &mut self,
        subject: &dyn Subject,
        rules: &Rules,
        program: &ToJudge<'_>,
    ) -> Result<(), Error> {
        let mut counts = CodeCounts::default();
        let Some(calculations) = Calculations::new(program.module.clone(), rules, INPUTS) else {
            return Ok(());
        };
        let judged = match calculations.is_empty() {
            true => calculations.unseen(),
            false if !subject.computes() => calculations.unseen(),
            false => calculations.judge(subject, program.text, program.target)?,
        };
        let deviates = |part: &Part| matches!(part.verdict, Verdict::Deviates(_));
        let deviates_otherwise = self.has(deviates) || self.accesses.as_ref().is_some_and(deviates);
        let accused = |kernel: &str| {
            let by_access = self.accesses.iter().filter_map(|part| match &part.verdict {
                Verdict::Deviates(difference) => Some(difference.expected.accesses()),
                _ => None,
            });
            by_access.flatten().any(|one| one.kernel == kernel && one.class == Class::WrongValue)
        };
        let mut wrong = Vec::new();
        let mut compared = BTreeSet::new();
        for (kernel, verdict) in &judged.kernels {
            match verdict {
                KernelVerdict::NotFollowed(why) => counts.leave(cause(why), 1),
                KernelVerdict::Differs(_) if accused(kernel) => {
                    compared.insert(format!("kernel {kernel}"));
                }
                KernelVerdict::Differs(_) if deviates_otherwise => counts.leave(DEVIATES_OTHERWISE, 1),
                KernelVerdict::Agrees => drop(compared.insert(format!("kernel {kernel}"))),
                KernelVerdict::Differs(result) => {
                    compared.insert(format!("kernel {kernel}"));
                    wrong.push((kernel.as_str(), result));
                }
            }
        }
        counts.compared = compared.len() as u64;
        self.computed_kernels = Some(Box::new(counts));
        if compared.is_empty() {
            return Ok(());
        }
        // What is left of a kernel that was followed to its end.
        let is_compared = |part: &Part| part.why.as_ref().is_some_and(|why| compared.contains(&why.part));
        self.undecided.retain(|part| part.is_compared() || !is_compared(part));
        let says_more = |part: &Part| part.is_compared() && part.verdict != Verdict::ConformsByOutcome;
        if wrong.is_empty() && (self.has(says_more) || self.accesses.as_ref().is_some_and(says_more)) {
            return Ok(());
        }
        self.forget_outcome();
        let of = Wrong::new(subject, rules, *program, &calculations, &judged);
        self.computed = match wrong.is_empty() {
            true => vec![Part { must: of.must(), verdict: Verdict::Conforms, ..of.part() }],
            false => wrong.into_iter().map(|(kernel, result)| of.of_kernel(kernel, result)).collect(),
        };
        Ok(())
    }
}

/// The opcodes that copy or control, and compute nothing.
const COMPUTE_NOTHING: [Opcode; 8] =
    [Opcode::Ld, Opcode::St, Opcode::Mov, Opcode::Cvta, Opcode::Bra, Opcode::Ret, Opcode::Exit, Opcode::Call];

/// Returns the opcodes of a kernel that compute values, with their modifiers, each once: `["add.sat.s32", "shl.b32"]`.
fn opcodes(module: &Module, kernel: &str) -> Vec<String> {
    let of_kernel = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.name.text == kernel => Some(function),
        _ => None,
    });
    let opcode = |statement: &Statement| match statement {
        Statement::Instruction(one) if !COMPUTE_NOTHING.contains(&one.opcode) => {
            let modifiers = one.modifiers.iter().map(|modifier| modifier.text.as_str());
            Some(std::iter::once(one.opcode.keyword()).chain(modifiers).collect::<String>())
        }
        _ => None,
    };
    let opcodes: BTreeSet<String> =
        of_kernel.flat_map(|function| function.statements().filter_map(opcode)).collect();
    opcodes.into_iter().collect()
}

/// The kernels of a program that compute something else, for what explains them.
struct Wrong<'a> {
    subject: &'a dyn Subject,
    rules: &'a Rules,
    program: ToJudge<'a>,
    calculations: &'a Calculations,
    judged: &'a Judgement,
    maker: Maker<'a>,
    listed: Vec<(&'static Known, Vec<Place>)>,
}

impl<'a> Wrong<'a> {
    fn new(
        subject: &'a dyn Subject,
        rules: &'a Rules,
        program: ToJudge<'a>,
        calculations: &'a Calculations,
        judged: &'a Judgement,
    ) -> Wrong<'a> {
        let maker = Maker::of(subject.description());
        let listed = wrong_places(program.module, maker);
        Wrong { subject, rules, program, calculations, judged, maker, listed }
    }

    fn must(&self) -> Option<crate::verdict::Must> {
        crate::verdict::Must::of(&predict(self.program.module, self.rules).data)
    }

    fn part(&self) -> Part {
        Part::not_compared(NotCompared::Unobserved, None)
    }

    /// The verdict on a kernel that leaves something else.
    fn of_kernel(&self, kernel: &str, result: &WrongResult) -> Part {
        let explanation = self.explanation(kernel);
        // No plausible wrong rule is known of it.
        let suspected = explanation.is_none().then(|| vec![Alternatives::default()]);
        let WrongResult { inputs, expected, stored, .. } = result;
        let difference = AccessDifference {
            kernel: kernel.to_owned(),
            class: Class::WrongValue,
            line: None,
            expected: format!("leaves {expected}, where {inputs}"),
            seen: format!("leaves {stored}"),
            opcodes: opcodes(self.program.module, kernel),
        };
        let difference = Box::new(Difference {
            class: Class::WrongValue,
            variable: None,
            expected: Expected::of_accesses(vec![difference]),
            observed: self.judged.observation.clone(),
            explanation,
            suspected,
        });
        let verdict = match difference.is_reading() {
            true => Verdict::Reads(difference),
            false => Verdict::Deviates(difference),
        };
        Part { must: self.must(), verdict, ..self.part() }
    }

    fn explanation(&self, kernel: &str) -> Option<Explanation> {
        let predicts = |rules: &Rules| self.calculations.predicts(rules, kernel, self.judged);
        let trace: Trace = predict(self.program.module, self.rules).trace();
        explain(&trace, self.rules, self.maker, predicts).or_else(|| {
            let mut listed = self.listed.iter().filter_map(|one| {
                let found =
                    explain_wrong(std::slice::from_ref(one), self.program.module, [kernel].into_iter())?;
                self.is_reason(kernel, one.0, &one.1).then_some(found)
            });
            listed.next()
        })
    }

    /// Whether a kernel is right without what matches a listed deviation, or what it computes is not followed then.
    fn is_reason(&self, kernel: &str, known: &'static Known, places: &[Place]) -> bool {
        let ToJudge { text, target, .. } = self.program;
        let text = text_without(text, known, places);
        let Some(without) =
            parse(&text).ok().and_then(|module| Calculations::new(module, self.rules, INPUTS))
        else {
            return true;
        };
        let Ok(judged) = without.judge(self.subject, &text, target) else { return true };
        let verdicts: BTreeMap<&str, &KernelVerdict> =
            judged.kernels.iter().map(|(name, verdict)| (name.as_str(), verdict)).collect();
        judged.observation.outcome != Outcome::Accepted
            || !matches!(verdicts.get(kernel), Some(KernelVerdict::Differs(_)))
    }
}
