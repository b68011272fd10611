//! Predicts the values that kernels leave in memory over many inputs, on one thread or on a warp.
//!
//! Every instruction of such a kernel must be known ([`super::integers`]); branches and predicates are followed. A
//! kernel with an unknown instruction is not predicted. A value that the manual leaves undefined is unknown, and so are
//! the values that depend on it.

use std::collections::BTreeMap;

use ptxsmith_syntax::{FunctionKind, Module, StateSpace, Text};

use super::machine::{
    PtxMachine, RACE, RunConditions, TOO_LONG, asks_lane, has_barrier, has_meeting, is_undefined,
};
use super::names;
use super::names::{ResolvedFunction, ResolvedModule};
use super::operand::OperandReader;
use super::setting::{AccessKind, LocalLayout, MemoryEffects};
use crate::expectation;
use crate::rules::Rules;

/// The usual number of inputs per kernel.
pub const INPUTS: u64 = 32;

/// The predicted results of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelResults {
    /// The name of the kernel.
    pub name: Text,
    /// For each input, the memory that it leaves, or `None` if its behaviour is undefined; `Err` if the kernel cannot
    /// be predicted.
    pub runs: Result<Vec<Option<MemoryEffects>>, &'static str>,
}

/// Predicts the results of the kernels of a module over `inputs` inputs, in the order of their names. `variables` are
/// the variables of the module's [`expect`](crate::expect).
pub fn predict_results(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    inputs: u64,
) -> Vec<KernelResults> {
    let program = &names::read(module, rules);
    ResultPredictor { program, variables, rules, elsewhere: false }.kernels(inputs)
}

/// Returns, for each of these kernels of the module, whether its results are the same wherever its memory lies and
/// whatever the special registers hold.
pub fn are_independent_of_place(
    kernels: &[KernelResults],
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
) -> Vec<bool> {
    let inputs = kernels.iter().filter_map(|kernel| kernel.runs.as_ref().ok()).map(Vec::len).max();
    let program = &names::read(module, rules);
    let predictor = ResultPredictor { program, variables, rules, elsewhere: true };
    let displaced = predictor.kernels(inputs.unwrap_or(0) as u64);
    kernels.iter().zip(displaced).map(|(usual, displaced)| has_same_results(usual, displaced)).collect()
}

/// Whether a kernel on a single thread leaves the same results in the usual setting and in a displaced one.
fn has_same_results(usual: &KernelResults, displaced: KernelResults) -> bool {
    let (Ok(usual), Ok(displaced)) = (&usual.runs, displaced.runs) else { return false };
    usual.iter().zip(displaced).all(|runs| match runs {
        (Some(usual), Some(displaced)) => {
            usual.setting.lanes.is_empty() && usual.written == written_in_usual_places(displaced)
        }
        (None, None) => true,
        _ => false,
    })
}

/// Returns the bytes that a displaced run writes, by their places in the usual setting.
fn written_in_usual_places(effects: MemoryEffects) -> BTreeMap<(StateSpace, u64), Option<u8>> {
    let MemoryEffects { setting, written, .. } = effects;
    written.into_iter().map(|((space, at), byte)| ((space, setting.usual(space, at)), byte)).collect()
}

/// The memory that a run leaves, or `None` if its behaviour is undefined; `Err` if the kernel cannot be predicted.
type InputRun = Result<Option<MemoryEffects>, &'static str>;

/// Runs the kernels of a module over inputs.
struct ResultPredictor<'a> {
    program: &'a ResolvedModule<'a>,
    variables: &'a [expectation::Variable],
    rules: &'a Rules,
    /// Whether memory is displaced and the special registers differ, as on another thread.
    elsewhere: bool,
}

impl<'a> ResultPredictor<'a> {
    fn kernels(&self, inputs: u64) -> Vec<KernelResults> {
        let functions = self.program.functions.iter();
        let kernels = functions.filter(|(_, body)| body.kind == FunctionKind::Entry);
        kernels
            .map(|(&name, body)| {
                let runs = collect_runs((0..inputs).map(|input| self.run_in_any_layout(body, input)));
                KernelResults { name: name.into(), runs }
            })
            .collect()
    }

    /// Runs a kernel over an input. The implementation lays out `.local`, so the results must not depend on the layout.
    fn run_in_any_layout(&self, body: &'a ResolvedFunction<'a>, input: u64) -> InputRun {
        match self.run(body, input, LocalLayout::Upwards)? {
            Some(effects) if self.program.has_local(body) => {
                match self.run(body, input, LocalLayout::Downwards)? {
                    Some(other) if leave_the_same(&effects, &other) => Ok(Some(effects)),
                    _ => Err("a kernel that leaves something else where .local lies elsewhere"),
                }
            }
            run => Ok(run),
        }
    }

    fn run(&self, body: &'a ResolvedFunction<'a>, input: u64, layout: LocalLayout) -> InputRun {
        let elsewhere = self.elsewhere;
        let conditions = RunConditions { layout, anywhere: false, input: Some(input), elsewhere };
        let reader = OperandReader::new(self.rules, self.program.version);
        let waits = has_barrier(body) || has_meeting(body);
        let run = if waits || asks_lane(body) && ON_A_WARP.contains(&input) {
            PtxMachine::over_lanes
        } else {
            PtxMachine::over_numbers
        };
        match run(self.program, body, reader, self.variables, conditions) {
            Ok((_, traces)) if traces.iter().any(|trace| !trace.questions.is_empty()) => {
                Err("an open question decides what it computes")
            }
            Ok((effects, _)) if stores_anywhere(&effects) => Ok(None),
            Ok((effects, _)) => Ok(Some(effects)),
            Err(reason) if is_undefined(reason) => Ok(None),
            Err(reason) => Err(reason),
        }
    }
}

/// The inputs over which kernels that ask for their lane run on a warp: a warp takes as long as 32 inputs. Two of them
/// have small words, see [`Numbers::input_word`](super::machine).
const ON_A_WARP: [u64; 4] = [2, 6, 10, 14];

/// The maximum number of inputs over which a kernel does not end, or its lanes disturb each other, while no input
/// counts: each may take long. On a warp one of the first four inputs has small words.
const MOST_FRUITLESS: usize = 4;

/// Collects the runs of a kernel. An input over which it does not end, or over which its lanes disturb each other, does
/// not count, unless there is no other before [`MOST_FRUITLESS`] of them.
fn collect_runs(runs: impl Iterator<Item = InputRun>) -> Result<Vec<Option<MemoryEffects>>, &'static str> {
    let mut skipped = Vec::new();
    let mut collected = Vec::new();
    for run in runs {
        match run {
            Err(reason @ (TOO_LONG | RACE)) => {
                skipped.push(reason);
                collected.push(None);
                if skipped.len() == MOST_FRUITLESS && collected.iter().all(Option::is_none) {
                    break;
                }
            }
            run => collected.push(run?),
        }
    }
    match skipped.first() {
        Some(reason) if collected.iter().all(Option::is_none) => Err(*reason),
        _ => Ok(collected),
    }
}

/// Whether two runs leave the same outside of `.local`.
fn leave_the_same(one: &MemoryEffects, other: &MemoryEffects) -> bool {
    one.written_outside_local().eq(other.written_outside_local())
}

/// Whether a kernel stores to an unknown place.
fn stores_anywhere(reached: &MemoryEffects) -> bool {
    reached.accesses.iter().any(|access| access.way != AccessKind::Read && access.place.is_err())
}

#[cfg(test)]
mod tests;
