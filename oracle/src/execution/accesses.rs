//! Records the memory accesses of kernels run over concrete numbers.
//!
//! [`accesses`] runs each kernel without branches once, over invented numbers: for its parameters, the special
//! registers, the places of variables, and the contents of memory. Code that an implementation generates for the kernel
//! must access the same bytes over the same numbers, however it rewrites the kernel. An unknown value makes only the
//! values that depend on it unknown.

use ptxsmith_syntax::{FunctionKind, Module, Opcode, StateSpace, Text};

use super::machine::{NumericRun, PtxMachine, RunConditions};
use super::names;
use super::names::{ResolvedFunction, ResolvedModule};
use super::operand::OperandReader;
use super::setting::{AccessKind, LocalLayout, MemoryEffects};
use crate::expectation;
use crate::rules::Rules;
use crate::step::Trace;

/// The recorded accesses of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAccesses {
    /// The name of the kernel.
    pub name: Text,
    /// The number of memory operands in its source.
    pub operands: usize,
    /// The clauses and questions behind the forms of its operands.
    pub trace: Trace,
    /// The clauses and questions behind its constants and names.
    pub values: Trace,
    /// The accesses, or why there are none: the kernel has branches, calls or undefined accesses.
    pub reached: Result<MemoryEffects, &'static str>,
}

/// Returns the accesses of the kernels of a module, in the order of their names.
pub fn accesses(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<KernelAccesses> {
    AccessRecorder { program: &names::read(module, rules), variables, rules, anywhere: false }.kernels()
}

/// Like [`accesses`], but also follows accesses that the specification leaves undefined: outside of variables, or
/// misaligned. Code that follows a deviation may make such accesses.
pub fn accesses_anywhere(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
) -> Vec<KernelAccesses> {
    AccessRecorder { program: &names::read(module, rules), variables, rules, anywhere: true }.kernels()
}

/// Runs the kernels of a module and records their accesses.
struct AccessRecorder<'a> {
    program: &'a ResolvedModule<'a>,
    variables: &'a [expectation::Variable],
    rules: &'a Rules,
    /// Whether to follow accesses that the specification leaves undefined.
    anywhere: bool,
}

impl<'a> AccessRecorder<'a> {
    fn kernels(&self) -> Vec<KernelAccesses> {
        let functions = self.program.functions.iter();
        let kernels = functions.filter(|(_, body)| body.kind == FunctionKind::Entry);
        kernels.map(|(name, body)| self.kernel(name, body)).collect()
    }

    fn kernel(&self, name: &str, body: &'a ResolvedFunction<'a>) -> KernelAccesses {
        let (name, operands) = (name.into(), memory_operands(body));
        match self.run_in_any_layout(body) {
            Ok((effects, [trace, values])) => {
                KernelAccesses { name, operands, trace, values, reached: Ok(effects) }
            }
            Err(reason) => {
                let (trace, values) = Default::default();
                KernelAccesses { name, operands, trace, values, reached: Err(reason) }
            }
        }
    }

    /// Runs a kernel. The specification does not say how the implementation lays out `.local`, so results that differ
    /// between two layouts are unknown.
    fn run_in_any_layout(&self, body: &'a ResolvedFunction<'a>) -> NumericRun {
        let (effects, traces) = self.run(body, LocalLayout::Upwards)?;
        if !self.program.has_local(body) {
            return Ok((effects, traces));
        }
        let (other, _) = self.run(body, LocalLayout::Downwards)?;
        Ok((common_effects(effects, &other), traces))
    }

    fn run(&self, body: &'a ResolvedFunction<'a>, layout: LocalLayout) -> NumericRun {
        let conditions = RunConditions { layout, anywhere: self.anywhere, input: None, elsewhere: false };
        let reader = OperandReader::new(self.rules, self.program.version);
        PtxMachine::over_numbers(self.program, body, reader, self.variables, conditions)
    }
}

/// Keeps the results that are independent of the layout of `.local`: compares two runs with different layouts.
fn common_effects(mut reached: MemoryEffects, other: &MemoryEffects) -> MemoryEffects {
    for (access, other) in reached.accesses.iter_mut().zip(&other.accesses) {
        access.idle |= other.idle;
        if access.place != other.place && !(access.is_local() && other.is_local()) {
            access.place = Err("an address that depends on where a variable in .local lies");
        }
    }
    // The bytes of one number are either all known or all unknown.
    for access in reached.accesses.iter().filter(|access| access.way != AccessKind::Read) {
        let Ok((space, start)) = access.place else { continue };
        let places = (start..start + access.width).map(|at| (space, at));
        if space != StateSpace::Local
            && places.clone().any(|place| reached.written.get(&place) != other.written.get(&place))
        {
            reached.written.extend(places.map(|place| (place, None)));
        }
    }
    reached
}

/// Returns the number of memory operands of a kernel outside of `.param`.
fn memory_operands(body: &ResolvedFunction<'_>) -> usize {
    let decoded = body.lines.iter().map(|line| &line.form);
    let parsed = decoded.filter(|form| {
        matches!(form.opcode, Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::Red)
            && form.space != Some(StateSpace::Param)
    });
    let unparsed = body.kept.values().flatten();
    let unparsed = unparsed.filter(|kept| kept.tokens.iter().any(|token| token.text == "["));
    parsed.count() + unparsed.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(body: &str) -> KernelAccesses {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[4] = {{7, 8, 9, 10}};\n.shared .u32 s[8];\n\
             .visible .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred %q;\n.reg .u32 %r<9>;\n.reg .f32 %f<9>;\n\
             .reg .u64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmul.wide.s32 %rd2, %r1, 4;\n\
             add.s64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
        );
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let crate::Expectation::Accepted { variables, .. } = crate::expect(&module, &Rules::default()) else {
            panic!("{text}")
        };
        accesses(&module, &variables, &Rules::default()).remove(0)
    }

    #[test]
    fn bases_offsets_and_indices_are_numbers() {
        let kernel = traced(
            "ld.global.u32 %r2, [g+8];\nst.global.v2.u32 [%rd3+16], {%r2, %r1};\nmov.u32 %r3, s;\n\
             mov.u32 %r4, %tid.x;\nand.b32 %r4, %r4, 1;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r3, %r3, %r4;\n\
             st.shared.u32 [%r3], 5;\natom.global.add.u32 %r5, [%rd3+4], 1;\nmul.wide.u32 %rd4, %r5, 4;\n\
             add.s64 %rd4, %rd1, %rd4;\nld.global.f32 %f1, [%rd4];",
        );
        assert_eq!(kernel.operands, 5);
        let MemoryEffects { setting, accesses, written } = kernel.reached.unwrap();
        let word = |nth: usize| u64::from_le_bytes(setting.parameters[nth].1.clone().try_into().unwrap());
        let n = u64::from(u32::from_le_bytes(setting.parameters[1].1.clone().try_into().unwrap()));
        let row = word(0) + 4 * n;
        let place =
            |name: &str| setting.variables.iter().find(|variable| variable.name == name).unwrap().start;
        let (g, s) = (place("g"), place("s"));
        let recorded: Vec<_> =
            accesses.iter().map(|access| (access.way, access.width, access.place)).collect();
        assert_eq!(
            recorded,
            [
                (AccessKind::Read, 4, Ok((StateSpace::Global, g + 8))),
                (AccessKind::Write, 8, Ok((StateSpace::Global, row + 16))),
                (AccessKind::Write, 4, Ok((StateSpace::Shared, s + 4))),
                (AccessKind::Both, 4, Ok((StateSpace::Global, row + 4))),
                // The value that an atomic operation reads is unknown.
                (AccessKind::Read, 4, Err("an address that depends on a value that is not known")),
            ]
        );
        assert_eq!(written[&(StateSpace::Global, row + 16)], Some(9));
        assert_eq!(written[&(StateSpace::Global, row + 20)], Some(n as u8));
        assert_eq!(written[&(StateSpace::Global, row + 4)], None);
    }

    #[test]
    fn where_a_local_variable_lies_is_not_known() {
        let kernel = traced(
            ".local .align 4 .b8 a[8], b[8];\ncvta.local.u64 %rd4, a+4;\nmov.u64 %rd5, b;\nsub.u64 %rd6, %rd5, %rd4;\n\
             st.global.u64 [%rd1], %rd4;\nst.global.u64 [%rd1+8], %rd6;\nand.b64 %rd7, %rd4, 3;\n\
             st.global.u64 [%rd1+16], %rd7;\nst.u32 [%rd4], %r1;\nld.local.u32 %r2, [a+4];\n\
             st.global.u32 [%rd1+24], %r2;\nadd.u64 %rd4, %rd4, %rd1;\nst.global.u8 [%rd4], 1;",
        );
        let MemoryEffects { setting, accesses, written } = kernel.reached.unwrap();
        let base = u64::from_le_bytes(setting.parameters[0].1.clone().try_into().unwrap());
        let stored = |at: u64| written[&(StateSpace::Global, base + at)];
        assert_eq!(
            (stored(0), stored(8)),
            (None, None),
            "an address, and the distance between two variables"
        );
        assert_eq!(stored(16), Some(0), "the alignment is known");
        assert_eq!(stored(24), Some(setting.parameters[1].1[0]), "a stored value is read again");
        assert!(accesses.last().unwrap().place.is_err());
    }

    #[test]
    fn kernels_with_branches_or_undefined_accesses_are_not_traced() {
        let why = |body: &str| traced(body).reached.unwrap_err();
        assert_eq!(why("@%q ld.global.u32 %r2, [%rd3];"), "a kernel with predicates");
        assert_eq!(why("bra END;\nEND:"), "a kernel with branches or calls");
        assert_eq!(
            why("ld.global.u64 %rd4, [g+4];"),
            "an access that is not aligned with the numbers that were tried"
        );
        let outside = traced("ld.shared.u32 %r2, [%rd1];").reached.unwrap();
        assert_eq!(outside.accesses[0].place, Err("an address outside of the variables of its state space"));
    }
}
