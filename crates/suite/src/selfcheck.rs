//! Kernels that check variables on a device. A kernel loads each value, compares it with the expected
//! constant, and writes the index of the first mismatch.
//!
//! The launcher needs no expected values and reads eight bytes. The kernel has one parameter, a `.u64` with
//! the address of an output buffer of [`OUTPUT_SIZE`] bytes, and runs on one thread. [`result`] decodes the
//! buffer.

use std::fmt::Write as _;

use ptxsmith_oracle::{Address, Expectation, Variable};
use ptxsmith_syntax::StateSpace;
use serde::Serialize;

use crate::case::SuiteCase;

/// Size of the output buffer in bytes: a word that marks completion, then the index of the first mismatch.
pub const OUTPUT_SIZE: u64 = 8;
/// The word that marks completion. It is not zero, so a cleared buffer counts as not written.
const COMPLETED: u32 = 0x600d_600d;
/// The index that means "no mismatch".
const NO_MISMATCH: u32 = u32::MAX;

/// A comparison in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueCheck {
    /// The name of the variable.
    pub variable: String,
    /// The offset within the variable, in bytes.
    pub offset: u64,
    /// The number of bytes compared.
    pub width: u8,
}

/// The name of the kernel that checks a case of a suite.
pub const KERNEL: &str = "ptxsmith_self_check";
/// The maximum number of comparisons for a case. A case that needs more has no kernel, because a few cases
/// would take up most of the suite.
const MOST_CHECKS: usize = 32;

/// A kernel and its comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfCheck {
    /// The text of the kernel, a complete `.entry`, for a module that declares the variables.
    pub text: String,
    /// The comparisons, by index.
    pub checks: Vec<ValueCheck>,
}

/// The result of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfCheckResult {
    /// All comparisons match.
    Passed,
    /// The comparison with this index is the first mismatch.
    Mismatch(u32),
    /// The kernel did not run to its end, or the buffer does not come from such a kernel.
    DidNotRun,
}

/// Decodes the output buffer.
pub fn result(output: &[u8]) -> SelfCheckResult {
    match (word(output, 0), word(output, 1)) {
        (Some(COMPLETED), Some(NO_MISMATCH)) => SelfCheckResult::Passed,
        (Some(COMPLETED), Some(index)) => SelfCheckResult::Mismatch(index),
        _ => SelfCheckResult::DidNotRun,
    }
}

fn word(output: &[u8], index: usize) -> Option<u32> {
    output.as_chunks().0.get(index).copied().map(u32::from_le_bytes)
}

/// Creates a kernel called `name` that checks the variables. `space_of` returns the state space of a variable
/// of the module by name. It returns `None` for other symbols, whose addresses are not checked: the address
/// of a function differs between code and data.
pub fn kernel(
    name: &str,
    variables: &[Variable],
    space_of: impl Fn(&str) -> Option<StateSpace>,
) -> SelfCheck {
    let mut kernel = KernelWriter::default();
    for variable in variables {
        kernel.check_variable(variable, &space_of);
    }
    let mut text = format!(
        ".visible .entry {name}(.param .u64 {name}_out)\n{{\n\
         \t.reg .pred %different;\n\t.reg .u32 %index, %ran;\n\t.reg .u64 %out, %seen, %wanted;\n\
         \tld.param.u64 %out, [{name}_out];\n\tcvta.to.global.u64 %out, %out;\n"
    );
    text.push_str(&kernel.body);
    let _ = write!(
        text,
        "\tmov.u32 %index, {NO_MISMATCH};\n$done:\n\tmov.u32 %ran, {COMPLETED};\n\tst.global.u32 [%out], %ran;\n\
         \tst.global.u32 [%out+4], %index;\n\tret;\n}}\n"
    );
    SelfCheck { text, checks: kernel.checks }
}

/// Creates the self-checking kernel of a case. Returns `None` for a program that is refused or has parts
/// without a rule; if the expectation depends on an open question, where a mismatch would be no deviation;
/// without 64-bit addresses; and for no comparisons or too many.
pub fn kernel_for_case(case: &SuiteCase) -> Option<SelfCheck> {
    let Expectation::Accepted { variables, unmodelled, .. } = &case.expected else { return None };
    if !unmodelled.is_empty() || !case.alternatives.is_empty() || case.module.address_size() != Some(64) {
        return None;
    }
    let kernel = kernel(KERNEL, variables, |name| {
        variables.iter().find(|variable| variable.name == name).map(|variable| variable.space)
    });
    (1..=MOST_CHECKS).contains(&kernel.checks.len()).then_some(kernel)
}

#[derive(Default)]
struct KernelWriter {
    checks: Vec<ValueCheck>,
    body: String,
}

impl KernelWriter {
    fn check_variable(&mut self, variable: &Variable, space_of: &impl Fn(&str) -> Option<StateSpace>) {
        let size = variable.bytes.len() as u64;
        let mut offset = 0;
        while offset < size {
            let slot = variable.addresses.iter().find(|address| address.offset == offset);
            if let Some(slot) = slot {
                let width = u64::from(slot.width.max(1));
                // Skip addresses that are unaligned or partly unknown. Runners that read the bytes check
                // them.
                if offset + u64::from(slot.width) <= size
                    && is_aligned(variable, offset, width)
                    && let Some(space) = space_of(&slot.symbol)
                {
                    self.check_address(variable, slot, space);
                }
                offset += width;
                continue;
            }
            let next = variable.addresses.iter().map(|address| address.offset).filter(|next| *next > offset);
            let room = next.min().unwrap_or(size).min(size) - offset;
            let mut widths = [8, 4, 2, 1].into_iter();
            let width =
                widths.find(|&width| width <= room && is_aligned(variable, offset, width)).unwrap_or(1);
            let mut value = [0; 8];
            value[..width as usize]
                .copy_from_slice(&variable.bytes[offset as usize..(offset + width) as usize]);
            let _ = writeln!(self.body, "\tmov.u64 %wanted, {:#x};", u64::from_le_bytes(value));
            self.compare(variable, offset, width);
            offset += width;
        }
    }

    fn check_address(&mut self, variable: &Variable, slot: &Address, space: StateSpace) {
        let is_whole = slot.width == 8 && slot.byte.is_none();
        let is_byte = slot.width == 1 && slot.byte.is_some();
        if slot.addend_bits != 64 || !(is_whole || is_byte) {
            return;
        }
        let _ = writeln!(self.body, "\tmov.u64 %wanted, {};", slot.symbol);
        if slot.generic {
            let _ = writeln!(self.body, "\tcvta.{}.u64 %wanted, %wanted;", space.name());
        }
        if slot.addend != 0 {
            let _ = writeln!(
                self.body,
                "\tmov.u64 %seen, {:#x};\n\tadd.u64 %wanted, %wanted, %seen;",
                slot.addend
            );
        }
        if let Some(byte) = slot.byte {
            let _ = writeln!(
                self.body,
                "\tshr.u64 %wanted, %wanted, {};\n\tand.b64 %wanted, %wanted, 255;",
                u32::from(byte.min(7)) * 8
            );
        }
        self.compare(variable, slot.offset, u64::from(slot.width));
    }

    /// Loads the value and compares it with `%wanted`. The load is volatile where PTX has that, so that no
    /// constant can replace it.
    fn compare(&mut self, variable: &Variable, offset: u64, width: u64) {
        let index = self.checks.len();
        // Use a volatile load where PTX has one, so that the compiler cannot replace the load by a constant:
        // the test is about the variable in memory.
        let load = match variable.space {
            StateSpace::Global => "ld.volatile.global",
            _ => "ld.const",
        };
        let _ = write!(
            self.body,
            "\tmov.u32 %index, {index};\n\t{load}.u{} %seen, [{}+{offset}];\n\
             \tsetp.ne.u64 %different, %seen, %wanted;\n\t@%different bra $done;\n",
            width * 8,
            variable.name
        );
        self.checks.push(ValueCheck { variable: variable.name.to_string(), offset, width: width as u8 });
    }
}

/// Whether a load of this width at an offset in a variable is aligned.
fn is_aligned(variable: &Variable, offset: u64, width: u64) -> bool {
    width.is_power_of_two() && offset.is_multiple_of(width) && variable.align >= width
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, Rules, expect};

    const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[3] = {1, 2, 3};\n\
        .const .align 8 .b8 c[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n.visible .func f() { ret; }\n\
        .global .u64 p[3] = {g+4, generic(c), f};\n";

    fn kernel_for(text: &str) -> SelfCheck {
        let module = ptxsmith_syntax::parse(text).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        kernel("k", &variables, |name| {
            variables.iter().find(|variable| variable.name == name).map(|variable| variable.space)
        })
    }

    #[test]
    fn every_byte_but_those_of_functions_is_compared_once() {
        let checks = kernel_for(TEXT).checks.into_iter();
        let checks: Vec<_> = checks.map(|check| (check.variable, check.offset, check.width)).collect();
        let expected =
            [("g", 0, 4), ("g", 4, 4), ("g", 8, 4), ("c", 0, 8), ("c", 8, 1), ("p", 0, 8), ("p", 8, 8)];
        assert_eq!(checks, expected.map(|(name, offset, width)| (name.to_owned(), offset, width)));
    }

    #[test]
    fn values_are_constants_and_addresses_are_computed_in_code() {
        let text = kernel_for(TEXT).text;
        assert!(
            text.contains(
                "mov.u64 %wanted, 0x2;\n\tmov.u32 %index, 1;\n\tld.volatile.global.u32 %seen, [g+4];"
            )
        );
        assert!(text.contains("mov.u64 %wanted, 0x807060504030201;"), "{text}");
        assert!(
            text.contains("mov.u64 %wanted, g;\n\tmov.u64 %seen, 0x4;\n\tadd.u64 %wanted, %wanted, %seen;")
        );
        assert!(text.contains("mov.u64 %wanted, c;\n\tcvta.const.u64 %wanted, %wanted;"));
        assert!(ptxsmith_syntax::parse(&format!("{TEXT}{text}")).is_ok());
    }

    #[test]
    fn an_output_means_passed_or_a_mismatch_or_that_the_kernel_did_not_run() {
        assert_eq!(result(&[0x0d, 0x60, 0x0d, 0x60, 255, 255, 255, 255]), SelfCheckResult::Passed);
        assert_eq!(result(&[0x0d, 0x60, 0x0d, 0x60, 7, 0, 0, 0]), SelfCheckResult::Mismatch(7));
        assert_eq!(result(&[0; 8]), SelfCheckResult::DidNotRun);
        assert_eq!(result(&[]), SelfCheckResult::DidNotRun);
    }
}
