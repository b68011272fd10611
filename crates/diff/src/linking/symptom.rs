//! Distinguishes differences of one class by linkage and state space, in words that do not depend on the program.

use std::collections::BTreeSet;

use ptxsmith_oracle::linking::{Declared, Program};
use ptxsmith_oracle::{self as oracle};
use ptxsmith_subject as subject;

use super::Symptom;

/// Describes a fault of a variable, with the linkages and spaces that modules declare for it: `.common and .weak variable in .const`.
pub(super) fn of_variable(program: &Program, what: &str, name: &str) -> Symptom {
    let shared = program.shared.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = program.local.iter().filter(|(other, _)| other == name).map(|(_, declared)| declared);
    Symptom { linkage: described(shared.iter().chain(local)), ..Symptom::new(what) }
}

/// Returns the linkage with which a module declares a name; `function` if the module declares no variable of that name.
fn linkage_in(program: &Program, module: usize, name: &str) -> String {
    let shared = program.shared.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = program.local.iter().filter(|(other, _)| other == name).map(|(_, declared)| declared);
    let declared = shared.iter().chain(local).find(|declared| declared.module == module);
    declared.map_or("function".to_owned(), |declared| format!("{} variable", linkage(declared)))
}

fn described<'d>(declared: impl Iterator<Item = &'d Declared> + Clone) -> String {
    let linkages: BTreeSet<&str> = declared.clone().map(linkage).collect();
    let spaces: BTreeSet<&str> = declared.map(|one| one.space.name()).collect();
    let joined = |all: BTreeSet<&str>, between: &str| all.into_iter().collect::<Vec<_>>().join(between);
    match spaces.is_empty() {
        true => "function".to_owned(),
        false => format!("{} variable in .{}", joined(linkages, " and "), joined(spaces, " and .")),
    }
}

fn linkage(declared: &Declared) -> &'static str {
    declared.linkage.map_or("local", |linkage| linkage.keyword())
}

/// Describes a lost alignment by the linkage of a declaration that asks for more than `shown`; of several linkages, the first in
/// alphabetical order.
pub(super) fn of_alignment(declared: &[Declared], shown: u64) -> Symptom {
    let lost: BTreeSet<&str> = declared.iter().filter(|one| one.align > shown).map(linkage).collect();
    Symptom::new(format!("alignment of {}", lost.first().copied().unwrap_or_default()))
}

/// Describes the first wrong address in a variable, with the linkage with which that variable's module declares the symbol that the address
/// names.
pub(super) fn of_addresses(
    program: &Program,
    module: usize,
    expected: &oracle::Variable,
    seen: &subject::Variable,
) -> Symptom {
    let shown = seen.addresses.as_deref().unwrap_or_default();
    let symptom = |what: &str, name: &str| of_place(program, module, what, name);
    for address in &expected.addresses {
        let what = match shown.iter().find(|shown| shown.offset == address.offset) {
            None => NO_ADDRESS,
            Some(shown) if *shown.symbol != *address.symbol => "another variable's address",
            Some(shown) if shown.addend != address.addend => ANOTHER_OFFSET,
            Some(shown) if shown.byte != address.byte => "another byte of the address",
            Some(_) => continue,
        };
        return symptom(what, &address.symbol);
    }
    let is_expected =
        |shown: &&subject::Address| expected.addresses.iter().any(|one| one.offset == shown.offset);
    match shown.iter().find(|shown| !is_expected(shown)) {
        Some(surplus) => symptom("a surplus address", &surplus.symbol),
        None => Symptom::new("an address of another form"),
    }
}

/// The symptom of an address that is missing.
pub const NO_ADDRESS: &str = "no address";
/// The symptom of an address with another offset.
pub const ANOTHER_OFFSET: &str = "another offset";
/// Either of the two: for a variable at place 0 they look alike.
pub const NO_ADDRESS_OR_OFFSET: &str = "no address or another offset";

/// Describes a fault of one address in a module.
pub(super) fn of_place(program: &Program, module: usize, what: &str, name: &str) -> Symptom {
    Symptom { linkage: linkage_in(program, module, name), ..Symptom::new(what) }
}
