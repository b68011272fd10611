//! Which variables hold addresses that a linked cubin shows as plain numbers.

use std::collections::BTreeSet;

use ptxsmith_syntax::{Initializer, Item, Module, NodeKind, StateSpace, parse};

/// The variables at module scope whose initial values name a `.const` variable, or, unless `relocatable`, a function.
///
/// The linker gives constants their place in the bank, and an executable gives functions a number: what such a variable
/// holds cannot be told from a number. Empty for a text that does not parse, of which nothing is expected either.
pub(super) fn variables(ptx: &str, relocatable: bool) -> BTreeSet<String> {
    let Ok(module) = parse(ptx) else { return BTreeSet::new() };
    let numbers = shown_as_numbers(&module, relocatable);
    let holds = |initializer: &Initializer| !numbers.is_empty() && names_any(initializer, &numbers);
    let declarators = module.declarations().flat_map(|declaration| &declaration.declarators);
    declarators
        .filter(|declarator| declarator.initializer.as_ref().is_some_and(holds))
        .map(|declarator| declarator.name.text.to_string())
        .collect()
}

fn shown_as_numbers(module: &Module, relocatable: bool) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for item in &module.items {
        match item {
            Item::Function(function) if !relocatable => {
                names.insert(function.name.text.as_str());
            }
            Item::Variables(declaration) if declaration.space() == Some(StateSpace::Const) => {
                names.extend(declaration.declarators.iter().map(|declarator| declarator.name.text.as_str()));
            }
            _ => {}
        }
    }
    names
}

fn names_any(initializer: &Initializer, names: &BTreeSet<&str>) -> bool {
    let is_named = |kind: &NodeKind| matches!(kind, NodeKind::Name(name) if names.contains(name.as_str()));
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
        assert_eq!(variables(text, true), BTreeSet::from(["of_c".to_owned()]));
        assert_eq!(variables(text, false), BTreeSet::from(["of_c".to_owned(), "of_f".to_owned()]));
        assert!(variables("no PTX", false).is_empty());
    }
}
