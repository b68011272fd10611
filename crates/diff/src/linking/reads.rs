//! Compares the constants that the kernels of a linked program read with the variables that the kernels name.

use std::ops::Range;

use ptxsmith_oracle::Clause;
use ptxsmith_oracle::linking::{CombinedDeclarations, KernelReferences};
use ptxsmith_subject::Observation;
use ptxsmith_syntax::StateSpace;

use super::{LinkDifference, Symptom};
use crate::verdict::Class;

/// Returns a difference for each kernel that reads a constant outside all variables that it names.
pub(super) fn differences(program: &CombinedDeclarations, seen: &Observation) -> Vec<LinkDifference> {
    program.kernels.iter().filter_map(|kernel| difference(program, kernel, seen)).collect()
}

fn difference(
    program: &CombinedDeclarations,
    kernel: &KernelReferences,
    seen: &Observation,
) -> Option<LinkDifference> {
    let reads = seen.constant_reads.get(kernel.name.as_str())?;
    let constants = kernel.names.iter().filter(|name| program.space_of(name) == Some(StateSpace::Const));
    let named: Vec<(&str, Range<u64>)> = seen
        .linked
        .iter()
        .filter(|variable| constants.clone().any(|name| *name == *variable.name))
        .map(|variable| {
            let end = variable.place.saturating_add(variable.variable.size.unwrap_or(u64::MAX));
            (variable.name.as_str(), variable.place..end)
        })
        .collect();
    let wrong = *reads.iter().find(|read| !named.iter().any(|(_, bytes)| bytes.contains(read)))?;
    let expected: Vec<String> = named
        .iter()
        .map(|(name, bytes)| format!("`{name}` at {:#x} to {:#x}", bytes.start, bytes.end.wrapping_sub(1)))
        .collect();
    let other = seen.linked.iter().find(|variable| {
        variable.section.starts_with(".nv.constant")
            && (variable.place..variable.place.saturating_add(variable.variable.size.unwrap_or(0)))
                .contains(&wrong)
    });
    let there = other.map(|variable| format!(", which is `{}`", variable.name)).unwrap_or_default();
    Some(LinkDifference {
        class: Class::WrongAddress,
        name: kernel.name.to_string(),
        clauses: vec![Clause::OperandVariable],
        expected: format!("reads constants of {}", expected.join(", ")),
        actual: format!("reads {wrong:#x} of the bank{there}"),
        symptom: Symptom::new(READ),
    })
}

/// The symptom of a kernel that reads another place.
pub const READ: &str = "a read of another place";
