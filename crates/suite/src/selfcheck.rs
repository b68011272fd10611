//! Kernels that check variables on a device. A kernel loads each value, compares it with the expected constant, and
//! writes the index of the first mismatch.
//!
//! The launcher needs no expected values and reads eight bytes. The kernel has one parameter, a `.u64` with the address
//! of an output buffer of [`OUTPUT_SIZE`] bytes, and runs on one thread. [`result`] decodes the buffer.

use std::fmt::Write as _;

use ptxsmith_oracle::{Address, Expectation, Variable};
use ptxsmith_syntax::StateSpace;
use serde::Serialize;

use crate::case::Case;

/// Size of the output buffer in bytes: a word that marks completion, then the index of the first mismatch.
pub const OUTPUT_SIZE: u64 = 8;
/// The word that marks completion. It is not zero, so a cleared buffer counts as not written.
const RAN: u32 = 0x600d_600d;
/// The index that means "no mismatch".
const NONE: u32 = u32::MAX;

/// A comparison in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The name of the variable.
    pub variable: String,
    /// The offset within the variable, in bytes.
    pub offset: u64,
    /// The number of bytes compared.
    pub width: u8,
}

/// The name of the kernel that checks a case of a suite.
pub const KERNEL: &str = "ptxsmith_self_check";
/// The maximum number of comparisons for a case. A case that needs more has no kernel, because a few cases would take
/// up most of the suite.
const MOST_CHECKS: usize = 32;

/// A kernel and its comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfCheck {
    /// The text of the kernel, a complete `.entry`, for a module that declares the variables.
    pub text: String,
    /// The comparisons, by index.
    pub checks: Vec<Check>,
}

/// The result of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All comparisons match.
    Passed,
    /// The comparison with this index is the first mismatch.
    Mismatch(u32),
    /// The kernel did not run to its end, or the buffer does not come from such a kernel.
    DidNotRun,
}

/// Decodes the output buffer.
pub fn result(output: &[u8]) -> Found {
    let word = |at: usize| output.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    match (word(0), word(4)) {
        (Some(RAN), Some(NONE)) => Found::Passed,
        (Some(RAN), Some(index)) => Found::Mismatch(index),
        _ => Found::DidNotRun,
    }
}

/// Creates a kernel called `name` that checks the variables. `space_of` returns the state space of a variable of the
/// module by name. It returns `None` for other symbols, whose addresses are not checked: the address of a function
/// differs between code and data.
pub fn kernel(
    name: &str,
    variables: &[Variable],
    space_of: impl Fn(&str) -> Option<StateSpace>,
) -> SelfCheck {
    let mut kernel = Kernel { checks: Vec::new(), body: String::new() };
    for variable in variables {
        kernel.variable(variable, &space_of);
    }
    let mut text = format!(
        ".visible .entry {name}(.param .u64 {name}_out)\n{{\n\
         \t.reg .pred %different;\n\t.reg .u32 %index, %ran;\n\t.reg .u64 %out, %seen, %wanted;\n\
         \tld.param.u64 %out, [{name}_out];\n\tcvta.to.global.u64 %out, %out;\n"
    );
    text.push_str(&kernel.body);
    let _ = write!(
        text,
        "\tmov.u32 %index, {NONE};\n$done:\n\tmov.u32 %ran, {RAN};\n\tst.global.u32 [%out], %ran;\n\
         \tst.global.u32 [%out+4], %index;\n\tret;\n}}\n"
    );
    SelfCheck { text, checks: kernel.checks }
}

/// Returns the kernel for a case, to be appended to its program.
///
/// Returns `None` if the expectation depends on an open question, because a mismatch would not be a deviation; if
/// addresses do not have 64 bits; or if there are no comparisons or more than the maximum.
pub fn of_case(case: &Case) -> Option<SelfCheck> {
    let Expectation::Accepted { variables, unmodelled, .. } = &case.expected else { return None };
    if !unmodelled.is_empty() || !case.alternatives.is_empty() || case.module.address_size() != Some(64) {
        return None;
    }
    let space_of = |name: &str| variables.iter().find(|v| v.name == name).map(|v| v.space);
    let made = kernel(KERNEL, variables, space_of);
    (1..=MOST_CHECKS).contains(&made.checks.len()).then_some(made)
}

struct Kernel {
    checks: Vec<Check>,
    body: String,
}

impl Kernel {
    fn variable(&mut self, variable: &Variable, space_of: &impl Fn(&str) -> Option<StateSpace>) {
        let size = variable.bytes.len() as u64;
        let mut offset = 0;
        while offset < size {
            let slot = variable.addresses.iter().find(|address| address.offset == offset);
            if let Some(slot) = slot {
                let (width, fits) = (u64::from(slot.width.max(1)), offset + u64::from(slot.width) <= size);
                // Skip addresses that are unaligned or partly unknown. Runners that read the bytes check them.
                let aligned = width.is_power_of_two() && offset % width == 0 && variable.align >= width;
                if let (true, true, Some(space)) = (fits, aligned, space_of(&slot.symbol)) {
                    self.address(variable, slot, space);
                }
                offset += width;
                continue;
            }
            let next = variable.addresses.iter().map(|address| address.offset).filter(|next| *next > offset);
            let room = next.min().unwrap_or(size).min(size) - offset;
            let width = [8, 4, 2, 1]
                .into_iter()
                .find(|width| *width <= room && offset % width == 0 && variable.align >= *width);
            let width = width.unwrap_or(1);
            let mut value = [0; 8];
            value[..width as usize]
                .copy_from_slice(&variable.bytes[offset as usize..(offset + width) as usize]);
            let _ = writeln!(self.body, "\tmov.u64 %wanted, {:#x};", u64::from_le_bytes(value));
            self.check(variable, offset, width);
            offset += width;
        }
    }

    fn address(&mut self, variable: &Variable, slot: &Address, space: StateSpace) {
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
        self.check(variable, slot.offset, u64::from(slot.width));
    }

    /// Loads the value and compares it with `%wanted`.
    fn check(&mut self, variable: &Variable, offset: u64, width: u64) {
        let index = self.checks.len();
        // Use a volatile load where PTX has one, so that the compiler cannot replace the load by a constant: the test
        // is about the variable in memory.
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
        self.checks.push(Check { variable: variable.name.to_string(), offset, width: width as u8 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_oracle::{Expectation, Rules, expect};

    const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[3] = {1, 2, 3};\n\
        .const .align 8 .b8 c[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n.visible .func f() { ret; }\n\
        .global .u64 p[3] = {g+4, generic(c), f};\n";

    fn made(text: &str) -> SelfCheck {
        let module = ptxsmith_syntax::parse(text).unwrap();
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else { panic!() };
        kernel("k", &variables, |name| variables.iter().find(|v| v.name == name).map(|v| v.space))
    }

    #[test]
    fn every_byte_but_those_of_functions_is_compared_once() {
        let checks: Vec<_> = made(TEXT).checks.into_iter().map(|c| (c.variable, c.offset, c.width)).collect();
        let expected =
            [("g", 0, 4), ("g", 4, 4), ("g", 8, 4), ("c", 0, 8), ("c", 8, 1), ("p", 0, 8), ("p", 8, 8)];
        let expected: Vec<_> =
            expected.into_iter().map(|(name, at, width)| (name.to_owned(), at, width)).collect();
        assert_eq!(checks, expected);
    }

    #[test]
    fn values_are_constants_and_addresses_are_taken_in_code() {
        let text = made(TEXT).text;
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
    fn an_output_says_passed_which_or_nothing() {
        assert_eq!(result(&[0x0d, 0x60, 0x0d, 0x60, 255, 255, 255, 255]), Found::Passed);
        assert_eq!(result(&[0x0d, 0x60, 0x0d, 0x60, 7, 0, 0, 0]), Found::Mismatch(7));
        assert_eq!(result(&[0; 8]), Found::DidNotRun);
        assert_eq!(result(&[]), Found::DidNotRun);
    }
}
