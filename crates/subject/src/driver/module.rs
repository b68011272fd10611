//! Derives from a module's source text which variables to look for, and where a fence can go.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ptxsmith_syntax::{Expr, Item, Linkage, Module, StateSpace, parse};

use crate::subject::RequestedVariable;

/// A variable to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchedVariable {
    pub space: String,
    /// Whether its initial value holds no address; `false` if that is unknown.
    pub plain: bool,
}

/// Returns the module-scope variables that a driver can show, and the requested variables, by name.
pub(super) fn searched_variables(
    ptx: &str,
    read: &[RequestedVariable],
) -> BTreeMap<String, SearchedVariable> {
    let mut wanted = BTreeMap::new();
    for RequestedVariable { name, space, .. } in read {
        wanted.insert(name.clone(), SearchedVariable { space: space.clone(), plain: false });
    }
    let Ok(module) = parse(ptx) else { return wanted };
    for declaration in module.declarations() {
        let Some(space) = declaration.space().filter(|space| in_memory(*space)) else { continue };
        for declarator in &declaration.declarators {
            let plain = !declarator.values().any(Expr::has_names);
            wanted.insert(
                declarator.name.text.to_string(),
                SearchedVariable { space: space.name().to_owned(), plain },
            );
        }
    }
    wanted
}

/// Whether a variable with elements of less than eight bytes may hold an address: NVIDIA's compilers write
/// eight bytes there.
pub(super) fn has_narrow_address(ptx: &str) -> bool {
    let Ok(module) = parse(ptx) else { return false };
    module.declarations().any(|declaration| {
        let is_small = declaration.scalar_type().is_none_or(|scalar| scalar.bytes() < 8);
        is_small && declaration.declarators.iter().any(|declarator| declarator.values().any(Expr::has_names))
    })
}

fn in_memory(space: StateSpace) -> bool {
    matches!(space, StateSpace::Global | StateSpace::Const)
}

/// Maximum number of variables in a module that gets fences.
const MOST: usize = 1000;
/// Size of a fence in bytes, the size of an address.
pub(super) const FENCE_SIZE: u64 = 8;
/// Content of a fence.
pub(super) const FENCE_BYTE: u8 = 0xa5;

/// Returns the name of fence `index`, counted from 0.
pub(super) fn fence(index: usize) -> String {
    format!("__ptxsmith_fence_{index}")
}

/// Inserts a fence after each declaration of `.global` variables, on the same line. Returns the new text and
/// the number of fences.
///
/// A fence is a variable with known bytes and the alignment of the variable before it. The assembler orders
/// variables itself, by alignment and then arbitrarily, so a fence follows some variable of its alignment,
/// not always this one. No fence is inserted into a text that does not parse, has no such variable or has
/// very many.
pub(super) fn insert_fences(ptx: &str) -> (String, usize) {
    let places = parse(ptx).map(|module| places(&module)).unwrap_or_default();
    if places.len() > MOST
        || places.iter().any(|(end, _)| ptx.get(..*end).is_none_or(|up| !up.ends_with(';')))
    {
        return (ptx.to_owned(), 0);
    }
    let mut out = String::with_capacity(ptx.len() + places.len() * 120);
    let mut from = 0;
    for (index, (end, align)) in places.iter().enumerate() {
        out.push_str(&ptx[from..*end]);
        from = *end;
        let bytes = vec![FENCE_BYTE.to_string(); FENCE_SIZE as usize].join(",");
        let _ =
            write!(out, " .visible .global .align {align} .b8 {}[{FENCE_SIZE}] = {{{bytes}}};", fence(index));
    }
    out.push_str(&ptx[from..]);
    (out, places.len())
}

/// Returns the end of each declaration with storage in `.global`, and an alignment for the fence after it.
fn places(module: &Module) -> Vec<(usize, u64)> {
    let mut places = Vec::new();
    for item in &module.items {
        let Item::Variables(declaration) = item else { continue };
        let is_extern = declaration.linkage().any(|linkage| linkage == Linkage::Extern);
        if declaration.space() != Some(StateSpace::Global) || is_extern {
            continue;
        }
        let element = declaration.scalar_type().map_or(1, |scalar| scalar.bytes().max(1));
        let vector = declaration.vector().map_or(1, |vector| vector.count());
        places.push((declaration.span.end as usize, (element * vector).max(1).next_power_of_two().min(16)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g = 1; // ; end\n\
        .const .u16 c, d;\n.global .u64 p = generic(c) + 4;\n.shared .u32 s;\n.extern .global .u8 e;\n";

    #[test]
    fn variables_in_memory_are_looked_for_and_holders_of_addresses_known() {
        let read = [RequestedVariable { name: "other".into(), space: "global".into(), size: 4 }];
        let wanted = searched_variables(TEXT, &read);
        let names: Vec<_> = wanted.keys().map(String::as_str).collect();
        assert_eq!(names, ["c", "d", "e", "g", "other", "p"]);
        assert_eq!((wanted["c"].space.as_str(), wanted["c"].plain), ("const", true));
        assert!(wanted["g"].plain && !wanted["p"].plain && !wanted["other"].plain);
    }

    #[test]
    fn a_text_that_does_not_parse_shows_what_was_asked_for() {
        let read = [RequestedVariable { name: "x".into(), space: "global".into(), size: 4 }];
        assert_eq!(searched_variables("no PTX", &read).len(), 1);
        assert_eq!(insert_fences("no PTX"), ("no PTX".to_owned(), 0));
    }

    #[test]
    fn fences_stand_on_the_lines_of_what_they_follow() {
        let (text, count) = insert_fences(TEXT);
        assert_eq!((count, text.lines().count()), (2, TEXT.lines().count()));
        let line = |number: usize| text.lines().nth(number).unwrap().to_owned();
        let bytes = "165,165,165,165,165,165,165,165";
        assert_eq!(
            line(3),
            format!(
                ".global .u32 g = 1; .visible .global .align 4 .b8 __ptxsmith_fence_0[8] = {{{bytes}}}; // ; end"
            )
        );
        assert!(
            line(5)
                .ends_with(&format!("; .visible .global .align 8 .b8 __ptxsmith_fence_1[8] = {{{bytes}}};"))
        );
        assert!(parse(&text).is_ok());
    }
}
