//! Distinguishes differences of one class by linkage and state space, in words that do not depend on the
//! program.

use std::collections::BTreeSet;

use ptxsmith_oracle::linking::{CombinedDeclarations, ModuleDeclaration};
use ptxsmith_oracle::{self as oracle};
use ptxsmith_subject as subject;

use super::Symptom;

/// Describes a fault of a variable, with the linkages and spaces that modules declare for it.
pub(super) fn of_variable(program: &CombinedDeclarations, what: &str, name: &str) -> Symptom {
    let shared = program.shared.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = program.local.iter().filter(|(other, _)| other == name).map(|(_, declared)| declared);
    Symptom { linkage: linkages_and_spaces(shared.iter().chain(local)), ..Symptom::new(what) }
}

/// Returns the linkage with which a module declares a name; `function` if the module declares no variable
/// with the name.
fn linkage_in(program: &CombinedDeclarations, module: usize, name: &str) -> String {
    let shared = program.shared.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = program.local.iter().filter(|(other, _)| other == name).map(|(_, declared)| declared);
    let declared = shared.iter().chain(local).find(|declared| declared.module == module);
    declared.map_or("function".to_owned(), |declared| format!("{} variable", linkage(declared)))
}

/// Describes the linkages and state spaces of declarations: `.common and .weak variable in .const`.
fn linkages_and_spaces<'d>(declared: impl Iterator<Item = &'d ModuleDeclaration>) -> String {
    let mut linkages = BTreeSet::new();
    let mut spaces = BTreeSet::new();
    for declaration in declared {
        linkages.insert(linkage(declaration));
        spaces.insert(declaration.space.name());
    }
    if spaces.is_empty() {
        return "function".to_owned();
    }
    format!("{} variable in .{}", joined(linkages, " and "), joined(spaces, " and ."))
}

fn joined(words: BTreeSet<&str>, separator: &str) -> String {
    words.into_iter().collect::<Vec<_>>().join(separator)
}

fn linkage(declared: &ModuleDeclaration) -> &'static str {
    declared.linkage.map_or("local", |linkage| linkage.keyword())
}

/// Describes a lost alignment by the linkage of a declaration that asks for more than `shown`; if there are
/// several linkages, by the first in alphabetical order.
pub(super) fn of_alignment(declared: &[ModuleDeclaration], shown: u64) -> Symptom {
    let lost: BTreeSet<&str> =
        declared.iter().filter(|declaration| declaration.align > shown).map(linkage).collect();
    Symptom::new(format!("alignment of {}", lost.first().copied().unwrap_or_default()))
}

/// Describes the first wrong address in a variable, with the linkage with which the variable's module
/// declares the symbol that the address names.
pub(super) fn of_addresses(
    program: &CombinedDeclarations,
    module: usize,
    expected: &oracle::Variable,
    seen: &subject::Variable,
) -> Symptom {
    let shown = seen.addresses.as_deref().unwrap_or_default();
    for address in &expected.addresses {
        let what = match shown.iter().find(|shown| shown.offset == address.offset) {
            None => NO_ADDRESS,
            Some(shown) if *shown.symbol != *address.symbol => "another variable's address",
            Some(shown) if shown.addend != address.addend => ANOTHER_OFFSET,
            Some(shown) if shown.byte != address.byte => "another byte of the address",
            Some(_) => continue,
        };
        return of_place(program, module, what, &address.symbol);
    }
    let surplus =
        shown.iter().find(|shown| !expected.addresses.iter().any(|address| address.offset == shown.offset));
    match surplus {
        Some(surplus) => of_place(program, module, "a surplus address", &surplus.symbol),
        None => Symptom::new("an address of another form"),
    }
}

/// The symptom of an address that is missing.
pub const NO_ADDRESS: &str = "no address";
/// The symptom of an address with another offset.
pub const ANOTHER_OFFSET: &str = "another offset";
/// Either of the two: for a variable at place 0 they look alike.
pub const NO_ADDRESS_OR_OFFSET: &str = "no address or another offset";

/// Describes a fault of an address in a module.
pub(super) fn of_place(program: &CombinedDeclarations, module: usize, what: &str, name: &str) -> Symptom {
    Symptom { linkage: linkage_in(program, module, name), ..Symptom::new(what) }
}
