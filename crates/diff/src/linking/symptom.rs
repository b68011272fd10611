//! What tells differences of one class apart: the linkage and space of what they are about, in words that hold for every program.

use std::collections::BTreeSet;

use ptxsmith_oracle::linking::{Declared, Program};
use ptxsmith_oracle::{self as oracle};
use ptxsmith_subject as subject;

use super::Symptom;

/// What is wrong with a variable, and how modules declare it: `.common and .weak variable in .const`.
pub(super) fn of_variable(program: &Program, what: &str, name: &str) -> Symptom {
    let shared = program.shared.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = program.local.iter().filter(|(other, _)| other == name).map(|(_, declared)| declared);
    Symptom { linkage: described(shared.iter().chain(local)), ..Symptom::new(what) }
}

/// The linkage with which one module declares a name; that of a function where it declares no variable.
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

/// Whose alignment is lost, where a variable is aligned to `shown`; of several, one.
pub(super) fn of_alignment(declared: &[Declared], shown: u64) -> Symptom {
    let lost: BTreeSet<&str> = declared.iter().filter(|one| one.align > shown).map(linkage).collect();
    Symptom::new(format!("alignment of {}", lost.first().copied().unwrap_or_default()))
}

/// What is wrong with the addresses in a variable of a module, and how that module declares what the first wrong one names.
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

/// An address is lost.
pub const NO_ADDRESS: &str = "no address";
/// An address has another offset.
pub const ANOTHER_OFFSET: &str = "another offset";
/// One of the two: with a place of 0 they look alike.
pub const NO_ADDRESS_OR_OFFSET: &str = "no address or another offset";

/// What is wrong with one address in a module.
pub(super) fn of_place(program: &Program, module: usize, what: &str, name: &str) -> Symptom {
    Symptom { linkage: linkage_in(program, module, name), ..Symptom::new(what) }
}
