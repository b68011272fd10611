//! Shapes of initial values.

use ptxsmith_syntax::{Linkage, NodeKind, Number, Specifier, StateSpace, Statement, Text, read_number};

use super::declarations::{inner_declarations, sizes};
use super::words::{OPAQUE, Shaped, is_name, wrapped};

/// An array whose first dimension is left out or zero, with a single value in place of a list.
pub fn scalar_for_array(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        let opens = |at: usize| match words.get(at..at + 3).unwrap_or_default() {
            [open, close, _] if open == "[" && close == "]" => Some(at + 2),
            [open, zero, close] if open == "[" && wrapped(zero) == Some(0) && close == "]" => Some(at + 3),
            _ => None,
        };
        (1..words.len()).any(|at| {
            let Some(mut next) = opens(at).filter(|_| words[at - 1] != "]") else { return false };
            while words.get(next).is_some_and(|word| word == "[") {
                next += words[next..].iter().position(|word| word == "]").map_or(words.len(), |end| end + 1);
            }
            let is = |at: usize, word: &str| words.get(at).is_some_and(|own| own == word);
            is(next, "=") && !is(next + 1, "{")
        }) || words.windows(5).any(|run| run[0] == "]" && run[1] == "=" && is_name(&run[2]) && run[3] == "=")
            && !words.iter().any(|word| OPAQUE.contains(&&**word))
    })
}

/// A `.const` variable, or one with an initial value, of 2^30 bytes or more.
pub fn huge_constant(module: &Shaped<'_>) -> bool {
    module.declarations().chain(inner_declarations(module)).any(|declaration| {
        let is_const = declaration.space() == Some(StateSpace::Const);
        sizes(declaration)
            .any(|(declarator, size)| (is_const || declarator.initializer.is_some()) && size >> 30 != 0)
    })
}

/// A list for an array of a type that takes no initial value, in which no value stands.
pub fn empty_list_of_halves(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        let value = words.iter().skip_while(|word| *word != "=");
        words.iter().any(|word| [".f16", ".f16x2"].contains(&&**word))
            && words.windows(2).any(|run| run[0] == "]" && run[1] == "=")
            && value.skip(1).all(|word| ["{", "}", ",", ";"].contains(&&**word))
    })
}

/// An array whose first dimension is zero in 64 bits, with an initial value.
pub fn zero_dimension_with_value(module: &Shaped<'_>) -> bool {
    module.declarations().flat_map(|declaration| &declaration.declarators).any(|declarator| {
        let first = declarator.dimensions.first().and_then(Option::as_ref);
        declarator.initializer.is_some()
            && first.is_some_and(|first| first.as_integer().is_none_or(|n| n == 0))
    })
}

/// The name of an `.extern` function in the initial value of a variable that a body declares.
pub fn extern_function_in_body(module: &Shaped<'_>) -> bool {
    let is_extern = |name: &str| {
        module.functions().any(|function| {
            function.name.text == name && function.before.contains(&Specifier::Linkage(Linkage::Extern))
        })
    };
    let functions = module.functions().flat_map(|function| function.statements());
    let inner = functions.filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let values =
        inner.flat_map(|declaration| &declaration.declarators).filter_map(|own| own.initializer.as_ref());
    let mut names = values.flat_map(|value| value.values()).flat_map(|value| value.nodes());
    names.any(|node| matches!(&node.kind, NodeKind::Name(name) if is_extern(name)))
}

/// A list in a list for a texture, sampler or surface.
pub fn opaque_list(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        words.iter().any(|word| OPAQUE.contains(&&**word))
            && words.windows(3).any(|run| run[0] == "=" && run[1] == "{" && run[2] == "{")
    })
}

/// A list for a variable of packed halves.
pub fn packed_list(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        words.iter().any(|word| word == ".f16x2")
            && words.windows(2).any(|run| run[0] == "=" && run[1] == "{")
    })
}

/// A name in a list for a variable of packed halves.
pub fn name_in_packed_list(module: &Shaped<'_>) -> bool {
    let words = module.words();
    packed_list(module)
        && words.statements().any(|own| {
            let list = own.iter().skip_while(|word| *word != "=").skip(1);
            own.iter().any(|word| word == ".f16x2") && list.into_iter().any(|word| words.is(word, |_| true))
        })
}

/// A name plus an expression with an operator that binds less than a sum, in an initial value.
pub fn offset_expression(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        const LESS: [&str; 14] =
            ["<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?"];
        words.statements().any(|own| {
            let is_sum = |run: &[Text]| {
                run[3] == "+"
                    && (words.declares(&run[2]) || run[2] == ")" && run[0] == "(" && words.declares(&run[1]))
            };
            let sum = own.windows(4).position(is_sum);
            let value = own.iter().position(|word| word == "=");
            matches!((value, sum), (Some(value), Some(sum)) if value < sum + 2)
                && own.iter().skip(sum.unwrap_or_default() + 3).any(|word| LESS.contains(&&**word))
        })
    })
}

/// A single-precision bit pattern that stands in parentheses, and those as an operand.
pub fn parenthesized_single_operand(module: &Shaped<'_>) -> bool {
    const OPERATORS: [&str; 19] = [
        "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "!",
    ];
    let is_single = |word: &str| matches!(read_number(word), Some(Number::SingleBits(_)));
    module.words().statements().any(|own| {
        let singles = own.iter().enumerate().filter(|(_, word)| is_single(word));
        singles.map(|(at, _)| at).any(|at| {
            let open = own[..at].iter().rev().take_while(|word| *word == "(").count();
            let close = own[at + 1..].iter().take_while(|word| *word == ")").count();
            let depth = open.min(close);
            let before = at.checked_sub(depth + 1).map(|before| &own[before]);
            let is_operator = |word: Option<&Text>| word.is_some_and(|word| OPERATORS.contains(&&**word));
            depth > 0 && (is_operator(before) || is_operator(own.get(at + depth + 1)))
        })
    })
}

/// A name as a property of a texture, sampler or surface.
pub fn name_as_property(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        words.iter().any(|word| OPAQUE.contains(&&**word))
            && words.windows(4).any(|run| {
                ["{", ","].contains(&&*run[0]) && is_name(&run[1]) && run[2] == "=" && is_name(&run[3])
            })
    })
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn only_an_extern_function_in_a_body_counts() {
        let kernel = |before: &str, code: &str| module(&format!("{before} .entry k() {{ {code} ret; }}"));
        assert!(extern_function_in_body(&kernel(".extern .func f();", ".global .u64 x = f;")));
        assert!(extern_function_in_body(&kernel(".extern .func f();", ".global .u64 x[2] = {0, f};")));
        assert!(!extern_function_in_body(&kernel(".func f() { ret; }", ".global .u64 x = f;")));
        assert!(!extern_function_in_body(&kernel(".extern .func f(); .global .u64 x = f;", "")));
    }

    #[test]
    fn a_sum_with_a_numbered_name_is_one_with_a_name() {
        let of = |value: &str| {
            offset_expression(&module(&format!(".global .u32 a<2>, b; .global .u32 x = {value};")))
        };
        assert!(of("b + 0 & 0") && of("a1 + 0 & 0") && of("a01 + 0 & 0") && of("(a1) + 4 == 4"));
        assert!(!of("a1 + 4") && !of("4 + 4 == 4") && !of("(4) + 4 == 4"));
    }

    #[test]
    fn only_a_name_is_a_name_as_a_property() {
        let of = |text: &str| name_as_property(&module(text));
        assert!(
            of(".global .texref t = {width = foo};") && of(".global .texref t = {width = 5, height = foo};")
        );
        assert!(
            !of(".global .texref t = {width = 5};") && !of(".global .u64 foo; .global .u64 t[] = {foo};")
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
        assert!(scalar_for_array(&module(".global .u8 x[18446744073709551616U] = 1;")));
        assert!(scalar_for_array(&module(".global .u32 x[2] = y = 1;")));
        assert!(!scalar_for_array(&module(".global .texref x[2] = width = 1;")));
        // Only the first dimension.
        assert!(!scalar_for_array(&module(".global .u32 x[2][0] = 1;")));
        assert!(scalar_for_array(&module(".entry k() { .local .u32 x[][2] = 1; ret; }")));
    }

    #[test]
    fn a_single_in_parentheses_is_an_operand_where_an_operator_stands_beside_them() {
        let of = |value: &str| parenthesized_single_operand(&module(&format!(".global .f32 x = {value};")));
        assert!(of("(0f3F800000) + 1.0") && of("((0f3F800000)) * 2.0") && of("1.0 - (0f3F800000)"));
        assert!(!of("(0f3F800000)") && !of("0f3F800000 + 1.0") && !of("(0f3F800000 + 1.0)"));
    }

    #[test]
    fn only_an_array_of_halves_has_an_empty_list_of_them() {
        let of = |text: &str| empty_list_of_halves(&module(text));
        assert!(of(".global .f16 x[2] = {};") && of(".global .f16x2 x[2][2] = {{}, {}};"));
        assert!(!of(".global .f16 x = {};") && !of(".global .f16 x[2];") && !of(".global .f32 x[2] = {};"));
    }

    #[test]
    fn a_list_of_properties_is_no_list_in_a_list() {
        let of = |text: &str| opaque_list(&module(text));
        assert!(of(".global .texref t[2] = {{width = 5}};"));
        assert!(!of(".global .texref t = {width = 5};") && !of(".global .u32 x[2][2] = {{1}};"));
    }
}
