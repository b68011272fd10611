//! Which variables hold addresses that a cubin shows as plain numbers.

use std::collections::BTreeSet;

use ptxsmith_syntax::{Initializer, Item, Module, NodeKind, StateSpace, parse};

/// The variables at module scope whose initial values name a `.const` variable or a function that a cubin shows as a number.
///
/// An executable gives constants their place in the bank and functions a number. A `relocatable` cubin leaves functions open,
/// and constants too where it `leaves_constants`, as an assembler does and a linker does not. Empty for a text that does
/// not parse, of which nothing is expected either.
pub(super) fn variables(ptx: &str, relocatable: bool, leaves_constants: bool) -> BTreeSet<String> {
    let Ok(module) = parse(ptx) else { return BTreeSet::new() };
    let numbers = shown_as_numbers(&module, relocatable, relocatable && leaves_constants);
    let holds = |initializer: &Initializer| !numbers.is_empty() && names_any(initializer, &numbers);
    let declarators = module.declarations().flat_map(|declaration| &declaration.declarators);
    declarators
        .filter(|declarator| declarator.initializer.as_ref().is_some_and(holds))
        .map(|declarator| declarator.name.text.to_string())
        .collect()
}

fn shown_as_numbers(module: &Module, functions_left: bool, constants_left: bool) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for item in &module.items {
        match item {
            Item::Function(function) if !functions_left => {
                names.insert(function.name.text.as_str());
            }
            Item::Variables(declaration)
                if declaration.space() == Some(StateSpace::Const) && !constants_left =>
            {
                names.extend(declaration.declarators.iter().map(|declarator| declarator.name.text.as_str()));
            }
            _ => {}
        }
    }
    names
}

fn names_any(initializer: &Initializer, names: &BTreeSet<&str>) -> bool {
    // Also the numbered names that a parameterized one declares. Of a name that only looks like one, less is compared.
    let is_one = |name: &str| {
        names.contains(name) || names.contains(name.trim_end_matches(|digit: char| digit.is_ascii_digit()))
    };
    let is_named = |kind: &NodeKind| matches!(kind, NodeKind::Name(name) if is_one(name));
    match initializer {
        Initializer::Value(expr) => expr.nodes().iter().any(|node| is_named(&node.kind)),
        Initializer::List(list) => list.items.iter().any(|item| names_any(item, names)),
        Initializer::Property(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_holders_of_what_shows_as_a_number_are_named() {
        let text = ".version 7.8\n.target sm_80\n.const .u32 c; .global .u32 g; .visible .func f() { ret; }
            .global .u64 plain = g; .global .u64 of_c[2] = {0, c + 4}; .global .u64 of_f = f;";
        assert_eq!(variables(text, true, false), BTreeSet::from(["of_c".to_owned()]));
        assert_eq!(variables(text, false, true), BTreeSet::from(["of_c".to_owned(), "of_f".to_owned()]));
        assert!(variables(text, true, true).is_empty());
        let numbered = ".version 7.8\n.target sm_80\n.const .u32 c<5>; .global .u64 of_c = c3;";
        assert_eq!(variables(numbered, true, false), BTreeSet::from(["of_c".to_owned()]));
        assert!(variables("no PTX", false, false).is_empty());
    }
}
