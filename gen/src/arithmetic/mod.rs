//! Kernels of integer arithmetic, for comparing their results.
//!
//! A kernel reads an input buffer and two scalars, and stores every value that nothing else uses. The number of a kernel
//! selects one of five kinds: a single instruction, in every form with boundary immediates; two instructions; three, each
//! using the result of the previous one, or a value with a limited range and its use; idioms that optimizers look for,
//! mixed with other instructions; and the same within loops and branches, on a single thread or with differences between
//! the lanes of a warp.

mod draft;
mod flow;
mod forms;
mod idioms;
mod known;

use std::fmt::Write as _;

use crate::stream::Draw;
use draft::KernelDraft;
use forms::ArithmeticForm;

/// The number of single-instruction kernels for each form.
const VARIANTS: u64 = 6;

/// Targets and the first `.version` that has each.
pub const TARGETS: [(&str, &str); 5] =
    [("sm_75", "7.6"), ("sm_80", "7.6"), ("sm_90", "8.0"), ("sm_100", "8.6"), ("sm_120", "8.7")];

/// Returns the number of instruction forms that a target has.
pub fn forms(target: usize) -> usize {
    forms::forms(target).len()
}

/// Returns a module of the kernels with these numbers, each named `k` and its number, for a target of [`TARGETS`]. Targets
/// with the same number of [`forms`] have the same kernels.
pub fn module(seed: u64, numbers: std::ops::Range<u64>, target: usize) -> String {
    let target = target % TARGETS.len();
    let mut text = header(target);
    for number in numbers {
        text.push_str(&kernel(seed, number, forms::forms(target)));
    }
    text
}

/// Returns a module of single-instruction kernels that establish the results of each form: a kernel with registers only,
/// and several with immediates.
pub fn directed(forms: std::ops::Range<usize>, target: usize) -> String {
    let target = target % TARGETS.len();
    let target_forms = forms::forms(target);
    let mut text = header(target);
    for form in forms {
        for variant in 0..VARIANTS {
            let number = form as u64 * VARIANTS + variant;
            let draw = Draw::new(1, number);
            let draft = single_instruction(draw, &target_forms[form % target_forms.len()], variant);
            text.push_str(&draft.text(number));
        }
    }
    text
}

fn header(target: usize) -> String {
    let (target, version) = TARGETS[target];
    format!(".version {version}\n.target {target}\n.address_size 64\n")
}

fn kernel(seed: u64, number: u64, forms: &[ArithmeticForm]) -> String {
    let mut draw = Draw::new(seed, number);
    let draft = match number % 8 {
        0 => {
            let nth = number / 8;
            let form = (nth / VARIANTS) as usize % forms.len();
            single_instruction(draw, &forms[form], nth % VARIANTS)
        }
        1..=3 => chain(&mut draw, 2, forms),
        4 if draw.below(2) == 0 => {
            let mut draft = KernelDraft::new(1);
            known::write(&mut draft, &mut draw);
            draft
        }
        4 => chain(&mut draw, 3, forms),
        // Half of them run on a warp. Those take longest: the machines run 32 lanes of them.
        7 => flow::kernel(&mut draw, forms, number % 16 == 7),
        _ => {
            let count = *draw.pick(&[2, 3, 4, 5, 6, 8, 10, 14, 20, 30]);
            let mut draft = KernelDraft::new(1);
            for _ in 0..count {
                match draw.below(7) {
                    0 | 1 => idioms::write(&mut draft, &mut draw),
                    2 => known::write(&mut draft, &mut draw),
                    3 => known::short(&mut draft, &mut draw),
                    _ => {
                        let form = draw.pick(forms);
                        draft.instruction(&mut draw, form, None);
                    }
                }
            }
            draft
        }
    };
    draft.text(number)
}

/// Creates a kernel of a single instruction: variant 0 has only registers, the others have immediates.
fn single_instruction(mut draw: Draw, form: &ArithmeticForm, variant: u64) -> KernelDraft {
    let mut draft = KernelDraft::new(if variant == 0 { 0 } else { 2 });
    draft.instruction(&mut draw, form, None);
    draft
}

/// Creates a chain of instructions: each uses the result of the previous one, and half of the chains consist of related
/// ones.
fn chain(draw: &mut Draw, length: usize, forms: &[ArithmeticForm]) -> KernelDraft {
    let mut draft = KernelDraft::new(1);
    let is_related = draw.below(2) == 0;
    let mut previous: Option<&ArithmeticForm> = None;
    let mut last = None;
    for _ in 0..length {
        let fitting = (0..80).map(|_| draw.pick(forms)).find(|form| {
            draft.fits(form, last) && previous.is_none_or(|previous| !is_related || form.is_related(previous))
        });
        let Some(form) = fitting else { break };
        last = draft.instruction(draw, form, last);
        previous = Some(form);
    }
    draft
}

impl KernelDraft {
    /// Returns the text of the kernel, with stores of all unused values.
    fn text(mut self, number: u64) -> String {
        self.store_unused();
        let mut text = format!(
            ".visible .entry k{number}(.param .u64 out, .param .u64 in, .param .u32 s0, .param .u32 s1)\n{{\n\
             .reg .b64 %out, %in;\n"
        );
        for (prefix, ty, count) in self.registers() {
            if count > 0 {
                let _ = writeln!(text, ".reg .{ty} %{prefix}<{count}>;");
            }
        }
        text.push_str("ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\n");
        for line in &self.lines {
            let end = if line.ends_with(':') { "" } else { ";" };
            let _ = writeln!(text, "{line}{end}");
        }
        text.push_str("ret;\n}\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_a_module_that_parses_and_the_same_one_again() {
        for number in 0..400 {
            let text = module(7, number..number + 1, number as usize);
            assert_eq!(text, module(7, number..number + 1, number as usize));
            let module = ptxsmith_syntax::parse(&text).unwrap();
            assert_eq!(module.unread().count(), 0, "{text}");
            assert!(["st.global", "red.global"].iter().any(|store| text.contains(store)), "{text}");
        }
        assert_ne!(module(7, 0..50, 0), module(8, 0..50, 0));
    }

    #[test]
    fn lanes_of_kernels_with_loops_have_memory_of_their_own() {
        let kernels: Vec<String> = (0..20).map(|nth| module(5, 16 * nth + 7..16 * nth + 8, 1)).collect();
        for kernel in &kernels {
            let first = kernel.find("ld.global").unwrap();
            for buffer in ["%in", "%out"] {
                let own = kernel.find(&format!("mad.wide.u32 {buffer}, %r0, 8192, {buffer};")).unwrap();
                assert!(own < first, "{kernel}");
            }
            let labels = kernel.lines().filter_map(|line| line.strip_suffix(':'));
            labels.for_each(|label| assert!(label.starts_with("$L"), "{kernel}"));
        }
        let is_loop = |kernel: &&String| {
            let label = |line: &str| line.strip_suffix(':').map(str::to_owned);
            kernel.match_indices('\n').any(|(at, _)| {
                let (before, after) = kernel.split_at(at);
                before
                    .lines()
                    .last()
                    .and_then(label)
                    .is_some_and(|label| after.contains(&format!("bra {label};")))
            })
        };
        assert!(kernels.iter().filter(is_loop).count() > 10);
    }

    #[test]
    fn every_form_stands_in_a_kernel_of_its_own() {
        let forms = forms::forms(2);
        assert!(forms.len() > 500, "{}", forms.len());
        for (nth, form) in forms.iter().enumerate() {
            let text = directed(nth..nth + 1, 2);
            let count = text.matches(&format!("\n{} ", form.opcode)).count() as u64;
            assert!(count >= VARIANTS, "{text}");
        }
    }
}
