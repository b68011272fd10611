//! Finds variables that hold addresses which a cubin shows as plain numbers.

use std::collections::BTreeSet;

use ptxsmith_model::Variables;
use ptxsmith_syntax::{holders_of_addresses, parse};

/// Marks the variables that [`variables`] returns as not shown.
pub(crate) fn leave_out(shown: &mut Variables, ptx: &str, relocatable: bool, leaves_constants: bool) {
    for name in variables(ptx, relocatable, leaves_constants) {
        if let Some(variable) = shown.get_mut(name.as_str()) {
            (variable.bytes, variable.addresses) = (None, None);
        }
    }
}

/// Returns the module-scope variables whose initial values name a `.const` variable or a function that a
/// cubin shows as a number.
///
/// In an executable, constants have their final offset in the bank and functions have a number. A
/// `relocatable` cubin leaves functions unresolved, and constants too if `leaves_constants` (assemblers do,
/// linkers do not). Empty if the text does not parse; nothing is expected of such a module either.
pub(crate) fn variables(ptx: &str, relocatable: bool, leaves_constants: bool) -> BTreeSet<String> {
    let module = parse(ptx).unwrap_or_default();
    let holders = holders_of_addresses(&module, !relocatable, !(relocatable && leaves_constants));
    holders.map(|declarator| declarator.name.text.to_string()).collect()
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
