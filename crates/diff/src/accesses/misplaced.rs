//! Finds kernel variables that the generated code lays out differently from the PTX source.

use std::collections::BTreeMap;

use ptxsmith_oracle::{KernelAccesses, MemoryEffects, VariablePlacement};
use ptxsmith_subject::{Observation, Variable};
use ptxsmith_syntax::StateSpace;

use super::AccessFault;
use crate::compare::{Mismatch, compare_variable};
use crate::verdict::Class;

/// Returns the kernel variables that the code gives another size or content, or that share a symbol with a
/// variable of another kernel.
pub(super) fn misplaced(kernels: &[KernelAccesses], observed: &Observation) -> Vec<AccessFault> {
    let mut faults = Vec::new();
    // The kernel that first used each symbol for a variable.
    let mut first_users: BTreeMap<&str, &str> = BTreeMap::new();
    for kernel in kernels {
        let (Ok(reached), Some(seen)) = (&kernel.reached, observed.reached.get(kernel.name.as_str())) else {
            continue;
        };
        for (symbol, place) in &seen.symbols {
            let Some(shown) = observed.variables.get(symbol.as_str()) else { continue };
            let Some((variable, nth)) = variable_at(reached, shown, *place) else { continue };
            let name = variable.name_of(nth);
            if let (Some(size), Some(seen)) = (variable.size, shown.size)
                && size != seen
            {
                let expected = format!("has a variable {name} of {size} bytes");
                faults.push(misplacement(
                    &kernel.name,
                    Class::WrongLayout,
                    expected,
                    format!("{symbol} of {seen} bytes"),
                ));
            } else if let Some(initial) = &variable.initial
                && let Some(Mismatch::Differs(class, _)) = compare_variable(initial, shown, observed)
            {
                let expected =
                    format!("has a variable {name} that holds {} at first", digits(&initial.bytes));
                let seen = shown.bytes.as_deref().map_or_else(String::new, digits);
                faults.push(misplacement(&kernel.name, class, expected, format!("{symbol} holds {seen}")));
            }
            // Sharing matters only in `.global`, where one kernel sees the writes of another.
            if variable.space != StateSpace::Global {
                continue;
            }
            let first = *first_users.entry(symbol).or_insert(&kernel.name);
            if first != kernel.name.as_str() {
                let expected = format!("has a variable {name} of its own");
                let seen = format!("{symbol}, which is {name} of {first} as well");
                faults.push(misplacement(&kernel.name, Class::WrongLayout, expected, seen));
            }
        }
    }
    faults
}

/// Returns the kernel's own variable at this place, in the state space of `shown`, with its number in a
/// parameterized name.
fn variable_at<'r>(
    reached: &'r MemoryEffects,
    shown: &Variable,
    place: u64,
) -> Option<(&'r VariablePlacement, u64)> {
    reached
        .setting
        .variables
        .iter()
        .filter(|variable| variable.own && shown.space.as_deref() == Some(variable.space.name()))
        .find_map(|variable| Some((variable, variable.holds(place)?.0)))
}

fn misplacement(kernel: &str, class: Class, expected: String, seen: String) -> AccessFault {
    AccessFault { kernel: kernel.to_owned(), class, expected, seen, span: None }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
