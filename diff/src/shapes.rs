//! Shapes of modules that known deviations are about where no rule of the specification is.

use std::collections::BTreeSet;

use ptxsmith_syntax::{Declarator, Initializer, Item, Module, print, tokens};

/// An array whose first dimension is left out or zero, with a single value in place of a list.
pub fn scalar_for_array(module: &Module) -> bool {
    module.declarators().any(|declarator: &Declarator| {
        let first = declarator.dimensions.first();
        first.is_some_and(|first| first.as_ref().is_none_or(|count| count.as_integer() == Some(0)))
            && matches!(declarator.initializer, Some(Initializer::Value(_)))
    })
}

/// A special register in brackets, alone or with an offset: a name with `%` that nothing declares.
pub fn special_register_address(module: &Module) -> bool {
    let words = words(module);
    let declared: BTreeSet<&str> = words
        .windows(2)
        .filter(|pair| pair[0].starts_with('.') || pair[0] == ",")
        .map(|pair| &*pair[1])
        .collect();
    let is_special = |word: &str| word.starts_with('%') && !declared.contains(word);
    words.windows(2).any(|pair| pair[0] == "[" && is_special(&pair[1]))
}

/// The name of a function or kernel as the last operand of a `cvt`.
pub fn converted_function(module: &Module) -> bool {
    let functions: BTreeSet<&str> = module.functions().map(|function| &*function.name.text).collect();
    let words = words(module);
    let statements = words.split(|word| [";", "{", "}"].contains(&&**word));
    let mut converting = statements.filter(|words| words.iter().any(|word| word == "cvt"));
    converting.any(|words| words.last().is_some_and(|word| functions.contains(&**word)))
}

/// The words of the functions of a module.
fn words(module: &Module) -> Vec<String> {
    let functions = module.items.iter().filter(|item| matches!(item, Item::Function(_)));
    let text = print(&Module { items: functions.cloned().collect() });
    tokens(&text).unwrap_or_default().into_iter().map(|token| token.text.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::parse;

    use super::*;

    fn module(text: &str) -> Module {
        parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap()
    }

    #[test]
    fn a_register_that_is_declared_is_none_of_the_special_ones() {
        let kernel = |code: &str| module(&format!(".entry k() {{ .reg .u64 %a, %b; {code} ret; }}"));
        assert!(special_register_address(&kernel("st.global.u32 [%laneid], 1;")));
        assert!(special_register_address(&kernel("ld.u32 %a, [%clock64 + 4];")));
        assert!(!special_register_address(&kernel("ld.u32 %a, [%b];")));
        assert!(!special_register_address(&kernel("mov.u32 %a, %laneid;")));
    }

    #[test]
    fn only_a_function_that_is_converted_counts() {
        let kernel =
            |code: &str| module(&format!(".func f() {{ ret; }} .entry k() {{ .reg .u64 d; {code} ret; }}"));
        assert!(
            converted_function(&kernel("cvt.u64.u32 d, f;"))
                && converted_function(&kernel("cvt.u64.u32 d, k;"))
        );
        assert!(
            !converted_function(&kernel("mov.u64 d, f;"))
                && !converted_function(&kernel("cvt.u64.u32 d, d;"))
        );
    }

    #[test]
    fn a_list_or_a_dimension_is_no_single_value_for_an_array() {
        assert!(
            [".global .u32 x[] = 1;", ".global .u32 x[0] = 1;"]
                .iter()
                .all(|text| scalar_for_array(&module(text)))
        );
        assert!(!scalar_for_array(&module(".global .u32 x[] = {1}; .global .u32 y[2] = 1;")));
    }
}
