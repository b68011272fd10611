//! Combines many small programs into one.

use ptxsmith_syntax::{Item, Module, prefixed};

/// Returns one module with the declarations of all these modules. The names of the nth module get the prefix
/// `tN_`.
///
/// Returns `None` if the combination could have another meaning: the headers differ, or a module contains
/// other statements than declarations of variables.
pub fn together(modules: &[&Module]) -> Option<Module> {
    let header = modules.first()?.header();
    let mut shared = header.clone();
    for (nth, module) in modules.iter().enumerate() {
        let declarations = module.without_header().items;
        if module.header() != header || !declarations.iter().all(|item| matches!(item, Item::Variables(_))) {
            return None;
        }
        shared.items.extend(prefixed(&declarations, &format!("t{nth}_")));
    }
    Some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::{parse, print};

    #[test]
    fn names_are_set_apart_and_others_left_alone() {
        let [first, second, third] = [
            ".version 7.8 .global .b8 a; .global .b64 b = a;",
            ".version 7.8 .global .b64 a = a + 1, c = d;",
            ".version 8.0 .global .b8 a;",
        ]
        .map(|text| parse(text).unwrap());
        assert_eq!(
            print(&together(&[&first, &second]).unwrap()),
            ".version 7.8\n.global .b8 t0_a;\n.global .b64 t0_b = t0_a;\n.global .b64 t1_a = t1_a + 1, t1_c = d;\n"
        );
        assert_eq!(together(&[&first, &third]), None);
        assert_eq!(together(&[]), None);
        let function = parse(".version 7.8 .func f() { ret; }").unwrap();
        assert_eq!(together(&[&first, &function]), None);
    }
}
