//! Which programs an assembler must be asked about in relocatable form.

use std::collections::BTreeSet;

use ptxsmith_syntax::{Initializer, Item, Module, NodeKind, Specifier, StateSpace};

/// Whether an initial value at module scope names a function or a `.const` variable, or something is `.unified`.
///
/// In an executable such an address may be a plain number, which only a loader could tell from others; relocatable
/// output shows it as an address. What is `.unified` has an identity that only a linker can resolve.
pub fn needs_relocatable_form(module: &Module) -> bool {
    if is_unified(module) {
        return true;
    }
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for item in &module.items {
        match item {
            Item::Function(function) => {
                named.insert(&function.name.text);
            }
            Item::Variables(declaration) if declaration.space() == Some(StateSpace::Const) => {
                named.extend(declaration.declarators.iter().map(|declarator| declarator.name.text.as_str()));
            }
            _ => {}
        }
    }
    let mut initializers =
        module.declarations().flat_map(|d| &d.declarators).filter_map(|d| d.initializer.as_ref());
    !named.is_empty() && initializers.any(|initializer| names_any(initializer, &named))
}

fn is_unified(module: &Module) -> bool {
    let of_functions = module.items.iter().flat_map(|item| match item {
        Item::Function(function) => function.before.iter().chain(&function.after).collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let of_functions = of_functions.flat_map(|specifier| match specifier {
        Specifier::Attributes(list) => list.as_slice(),
        _ => &[],
    });
    let of_variables = module.declarations().flat_map(|declaration| declaration.attributes());
    of_functions.chain(of_variables).any(|attribute| attribute.name.text == ".unified")
}

fn names_any(initializer: &Initializer, named: &BTreeSet<&str>) -> bool {
    let is_named = |kind: &NodeKind| matches!(kind, NodeKind::Name(name) if named.contains(name.as_str()));
    match initializer {
        Initializer::Value(expr) => expr.nodes().iter().any(|node| is_named(&node.kind)),
        Initializer::List(list) => list.items.iter().any(|item| names_any(item, named)),
        Initializer::Property(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_code_and_constants_are_noticed() {
        let holds = |text: &str| {
            let module = ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap();
            needs_relocatable_form(&module)
        };
        assert!(holds(".const .u32 c; .global .u64 x[2] = {0, generic(c) + 4};"));
        assert!(holds(".visible .func f() { ret; } .global .u64 x = f;"));
        assert!(holds(".global .attribute(.unified(1, 2)) .u32 x = 1;"));
        assert!(!holds(".const .u32 c = 1; .global .u32 g; .global .u64 x = generic(g);"));
    }
}
