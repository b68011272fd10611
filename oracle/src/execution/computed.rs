//! Predicts the values that kernels leave in memory over many inputs, on one thread or on a warp.
//!
//! Every instruction of such a kernel must be known ([`super::integers`]); branches and predicates are followed. A
//! kernel with an unknown instruction is not predicted. A value that the manual leaves undefined is unknown, and so are
//! the values that depend on it.

use std::collections::BTreeMap;

use ptxsmith_syntax::{FunctionKind, Module, StateSpace, Text};

use super::machine::{How, Machine, RACE, TOO_LONG, asks_lane, has_barrier, has_meeting, is_undefined};
use super::names;
use super::operand::Reader;
use super::setting::{Frame, Reached, Way};
use crate::expectation;
use crate::rules::Rules;
use crate::step::Trace;

/// The usual number of inputs per kernel.
pub const INPUTS: u64 = 32;

/// The predicted results of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// The name of the kernel.
    pub name: Text,
    /// For each input, the memory that it leaves, or `None` if its behaviour is undefined; `Err` if the kernel cannot
    /// be predicted.
    pub runs: Result<Vec<Option<Reached>>, &'static str>,
}

/// Predicts the results of the kernels of a module over `inputs` inputs, in the order of their names. `variables` are
/// the variables of the module's [`expect`](crate::expect).
pub fn computed(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    inputs: u64,
) -> Vec<Computed> {
    computed_at(module, variables, rules, inputs, false)
}

/// Returns, for each of these kernels of the module, whether its results are the same wherever its memory lies and
/// whatever the special registers hold.
pub fn are_anywhere(
    kernels: &[Computed],
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
) -> Vec<bool> {
    let inputs = kernels.iter().filter_map(|kernel| kernel.runs.as_ref().ok()).map(Vec::len).max();
    let others = computed_at(module, variables, rules, inputs.unwrap_or(0) as u64, true);
    let usual = |other: Reached| -> BTreeMap<_, _> {
        let Reached { setting, written, .. } = other;
        written.into_iter().map(|((space, at), byte)| ((space, setting.usual(space, at)), byte)).collect()
    };
    let is_anywhere = |(own, other): (&Computed, Computed)| {
        let (Ok(own), Ok(other)) = (&own.runs, other.runs) else { return false };
        let mut runs = own.iter().zip(other);
        let is_single = |own: &Option<Reached>| own.as_ref().is_none_or(|own| own.setting.lanes.is_empty());
        runs.all(|(own, other)| {
            is_single(own) && own.as_ref().map(|own| &own.written) == other.map(usual).as_ref()
        })
    };
    kernels.iter().zip(others).map(is_anywhere).collect()
}

fn computed_at(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    inputs: u64,
    elsewhere: bool,
) -> Vec<Computed> {
    let program = names::read(module, rules);
    let version = module.version().unwrap_or((u32::MAX, 0));
    let kernels = program.functions.iter().filter(|(_, body)| body.kind == FunctionKind::Entry);
    kernels
        .map(|(&name, body)| {
            let mut own = program.variables.iter().chain(&body.variables);
            let has_local = own.any(|variable| variable.space == StateSpace::Local);
            let (asks, waits) = (asks_lane(body), has_barrier(body) || has_meeting(body));
            let run_in = |input: u64, layout| {
                let how = How { layout, anywhere: false, input: Some(input), elsewhere };
                let reader = Reader { rules, version, trace: Trace::default() };
                let over = match waits || asks && input % 4 == ON_A_WARP {
                    true => Machine::over_lanes,
                    false => Machine::over_numbers,
                };
                match over(&program, body, reader, variables, how) {
                    Ok((_, traces)) if traces.iter().any(|trace| !trace.questions.is_empty()) => {
                        Err("an open question decides what it computes")
                    }
                    Ok((reached, _)) if stores_anywhere(&reached) => Ok(None),
                    Ok((reached, _)) => Ok(Some(reached)),
                    Err(why) if is_undefined(why) => Ok(None),
                    Err(why) => Err(why),
                }
            };
            let run = |input: u64| {
                let usual = run_in(input, Frame::Upwards)?;
                // The implementation lays out `.local`.
                match usual {
                    Some(usual) if has_local => match run_in(input, Frame::Downwards)? {
                        Some(other) if is_left_in_common(&usual, &other) => Ok(Some(usual)),
                        _ => Err("a kernel that leaves something else where .local lies elsewhere"),
                    },
                    usual => Ok(usual),
                }
            };
            Computed { name: name.into(), runs: all((0..inputs).map(run)) }
        })
        .collect()
}

/// The inputs over which kernels run on a warp that ask for their lane: this one in four.
const ON_A_WARP: u64 = 2;

/// Collects the runs of a kernel. An input over which it does not end, or over which its lanes disturb each other, does
/// not count, unless there is no other.
fn all(
    runs: impl Iterator<Item = Result<Option<Reached>, &'static str>>,
) -> Result<Vec<Option<Reached>>, &'static str> {
    let mut left = None;
    let mut all = Vec::new();
    for run in runs {
        match run {
            Err(why @ (TOO_LONG | RACE)) => {
                left.get_or_insert(why);
                all.push(None);
            }
            run => all.push(run?),
        }
    }
    match left {
        Some(why) if all.iter().all(Option::is_none) => Err(why),
        _ => Ok(all),
    }
}

/// Whether two runs leave the same outside of `.local`.
fn is_left_in_common(one: &Reached, other: &Reached) -> bool {
    let common = |reached: &Reached| -> Vec<_> {
        let written = reached.written.iter().filter(|((space, _), _)| *space != StateSpace::Local);
        written.map(|(&place, &byte)| (place, byte)).collect()
    };
    common(one) == common(other)
}

/// Whether a kernel stores to an unknown place.
fn stores_anywhere(reached: &Reached) -> bool {
    reached.accesses.iter().any(|access| access.way != Way::Read && access.place.is_err())
}

#[cfg(test)]
mod tests;
