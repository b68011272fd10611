//! Records the memory accesses of kernels run over concrete numbers.
//!
//! [`accesses`] runs each kernel without branches once, over invented numbers: for its parameters, the special
//! registers, the places of variables, and the contents of memory. Code that an implementation generates for the kernel
//! must access the same bytes over the same numbers, however it rewrites the kernel. An unknown value makes only the
//! values that depend on it unknown.

use ptxsmith_syntax::{FunctionKind, Module, Opcode, StateSpace, Text};

use super::form::Form;
use super::machine::{How, Machine};
use super::names;
use super::names::{Body, Line};
use super::operand::Reader;
use super::setting::{Frame, Reached, Way};
use crate::expectation;
use crate::rules::Rules;
use crate::step::Trace;

/// The recorded accesses of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The name of the kernel.
    pub name: Text,
    /// The number of memory operands in its source.
    pub operands: usize,
    /// The clauses and questions behind the forms of its operands.
    pub trace: Trace,
    /// The clauses and questions behind its constants and names.
    pub values: Trace,
    /// The accesses, or why there are none: the kernel has branches, calls or undefined accesses.
    pub reached: Result<Reached, &'static str>,
}

/// Returns the accesses of the kernels of a module, in the order of their names.
pub fn accesses(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Traced> {
    traced(module, variables, rules, false)
}

/// Like [`accesses`], but also follows accesses that the specification leaves undefined: outside of variables, or
/// misaligned. Code that follows a deviation may make such accesses.
pub fn accesses_anywhere(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Traced> {
    traced(module, variables, rules, true)
}

fn traced(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    anywhere: bool,
) -> Vec<Traced> {
    let program = names::read(module, rules);
    let reader =
        || Reader { rules, version: module.version().unwrap_or((u32::MAX, 0)), trace: Trace::default() };
    let kernels = program.functions.iter().filter(|(_, body)| body.kind == FunctionKind::Entry);
    kernels
        .map(|(&name, body)| {
            let run = |layout| {
                let how = How { layout, anywhere, input: None, elsewhere: false };
                Machine::over_numbers(&program, body, reader(), variables, how)
            };
            let mut own = program.variables.iter().chain(&body.variables);
            let both = match own.any(|variable| variable.space == StateSpace::Local) {
                false => run(Frame::Upwards),
                // The specification does not say how the implementation lays out `.local`. Results that differ between
                // two layouts are unknown.
                true => run(Frame::Upwards).and_then(|(reached, traces)| {
                    Ok((in_any_frame(reached, &run(Frame::Downwards)?.0), traces))
                }),
            };
            let ([trace, values], reached) = match both {
                Ok((reached, traces)) => (traces, Ok(reached)),
                Err(reason) => (Default::default(), Err(reason)),
            };
            Traced { name: name.into(), operands: memory_operands(body), trace, values, reached }
        })
        .collect()
}

/// Keeps the results that are independent of the layout of `.local`: compares two runs with different layouts.
fn in_any_frame(mut reached: Reached, other: &Reached) -> Reached {
    let is_local = |place: Result<(StateSpace, u64), _>| matches!(place, Ok((StateSpace::Local, _)));
    for (access, other) in reached.accesses.iter_mut().zip(&other.accesses) {
        access.idle |= other.idle;
        if access.place != other.place && !(is_local(access.place) && is_local(other.place)) {
            access.place = Err("an address that depends on where a variable in .local lies");
        }
    }
    // The bytes of one number are either all known or all unknown.
    for access in reached.accesses.iter().filter(|access| access.way != Way::Read) {
        let Ok((space, at)) = access.place else { continue };
        let places = || (at..at + access.width).map(|at| (space, at));
        if space != StateSpace::Local
            && places().any(|place| reached.written.get(&place) != other.written.get(&place))
        {
            reached.written.extend(places().map(|place| (place, None)));
        }
    }
    reached
}

/// Returns the number of memory operands of a kernel outside of `.param`.
fn memory_operands(body: &Body<'_>) -> usize {
    let is_one = |line: &&Line<'_>| {
        let form = Form::of(line.instruction);
        matches!(form.opcode, Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::Red)
            && form.space != Some(StateSpace::Param)
    };
    let others =
        body.kept.values().flatten().filter(|kept| kept.tokens.iter().any(|token| token.text == "["));
    body.lines.iter().filter(is_one).count() + others.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(body: &str) -> Traced {
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
        let Reached { setting, accesses, written } = kernel.reached.unwrap();
        let word = |nth: usize| u64::from_le_bytes(setting.parameters[nth].1.clone().try_into().unwrap());
        let n = u64::from(u32::from_le_bytes(setting.parameters[1].1.clone().try_into().unwrap()));
        let row = word(0) + 4 * n;
        let place = |name: &str| setting.variables.iter().find(|one| one.name == name).unwrap().start;
        let (g, s) = (place("g"), place("s"));
        let told: Vec<_> = accesses.iter().map(|access| (access.way, access.width, access.place)).collect();
        assert_eq!(
            told,
            [
                (Way::Read, 4, Ok((StateSpace::Global, g + 8))),
                (Way::Write, 8, Ok((StateSpace::Global, row + 16))),
                (Way::Write, 4, Ok((StateSpace::Shared, s + 4))),
                (Way::Both, 4, Ok((StateSpace::Global, row + 4))),
                // The value that an atomic operation reads is unknown.
                (Way::Read, 4, Err("an address that depends on a value that is not known")),
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
        let Reached { setting, accesses, written } = kernel.reached.unwrap();
        let base = u64::from_le_bytes(setting.parameters[0].1.clone().try_into().unwrap());
        let stored = |at: u64| written[&(StateSpace::Global, base + at)];
        assert_eq!((stored(0), stored(8)), (None, None), "an address, and how far two lie apart");
        assert_eq!(stored(16), Some(0), "what the alignment says");
        assert_eq!(stored(24), Some(setting.parameters[1].1[0]), "what is found there again");
        assert!(accesses.last().unwrap().place.is_err());
    }

    #[test]
    fn what_is_not_straight_or_not_defined_is_left_alone() {
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
