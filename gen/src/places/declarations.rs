//! Declarations (5.4): specifiers, types with values, numbers, names, repeated declarations, addresses, versions.

mod addresses;
mod attributes;
mod characters;
mod headers;
mod names;
mod numbers;
mod prototypes;
mod scopes;
mod specifiers;

use super::{PlaceFamily, names};

const HEADER: &str = ".version 7.7\n.target sm_80\n.address_size 64\n";

/// Returns the families of all submodules.
pub(super) fn families() -> Vec<PlaceFamily> {
    let all = [
        specifiers::families(),
        numbers::families(),
        names::families(),
        scopes::families(),
        addresses::families(),
        headers::families(),
        attributes::families(),
        prototypes::families(),
        characters::families(),
    ];
    all.into_iter().flatten().collect()
}

fn module(text: &str) -> String {
    format!("{HEADER}{text}\n")
}

fn with_g(text: &str) -> String {
    let has_own = text.contains(" g;") || text.contains(" g[");
    let uses = !has_own && names(text, |word| word == "g");
    if uses { format!(".global .u32 g[4];\n{text}") } else { text.to_owned() }
}
