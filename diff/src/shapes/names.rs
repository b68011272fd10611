//! Shapes of names: numbered ones, and one name for two things.

use std::collections::BTreeMap;

use ptxsmith_oracle::special_register;
use ptxsmith_syntax::{Text, print, read_number};

use super::words::{HEADS, Name, SPACES, Shaped, Words, integer};

/// A variable and a function of one name, which may be one of many variables of a common prefix.
pub fn variable_and_function(module: &Shaped<'_>) -> bool {
    let words = module.words();
    let of_module = |name: &Name| matches!(name, Name::Variable(_, false) | Name::Opaque);
    words.names().any(|name| words.is(name, of_module) && words.is_function_itself(name))
}

/// A prototype, or a list of functions to call, under the name of a register, a variable or a parameter.
pub fn prototype_name(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.has(|[name, colon, word]| {
            colon == ":"
                && [".callprototype", ".calltargets"].contains(&word)
                && words.is(name, |name| *name != Name::Function)
        })
    })
}

/// How the names begin that ptxas gives variables of bodies.
const INTERNAL: &str = "$__";

/// Whether a variable of the module has a name that ptxas gives a variable of a body: `$__NAME__` and a number.
fn is_internal_name(words: Words<'_>, own: &str) -> bool {
    let parts = own.strip_prefix(INTERNAL).and_then(|rest| rest.rsplit_once("__"));
    parts.is_some_and(|(name, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let in_body = |name: &Name| match name {
            Name::Variable(space, true) => *space != ".param",
            _ => false,
        };
        let of_module = |name: &Name| matches!(name, Name::Variable(_, false));
        is_number && words.is(own, of_module) && words.is(name, in_body)
    })
}

/// A variable of the module under a name that ptxas gives a variable of a body.
pub fn internal_name(module: &Shaped<'_>) -> bool {
    let mut declarators = module.declarations().flat_map(|declaration| &declaration.declarators);
    if !declarators.any(|declarator| declarator.name.text.starts_with(INTERNAL)) {
        return false;
    }
    let words = module.words();
    words.names().any(|own| {
        is_internal_name(words, own) || words.is_prefix(own) && is_internal_name(words, &format!("{own}0"))
    })
}

/// Such a variable of this name, or a function of this name in a module with one.
pub fn internal_name_at(module: &Shaped<'_>, name: &str) -> bool {
    // Each variable with a wrong value asks.
    match name.starts_with(INTERNAL) {
        true => is_internal_name(module.words(), name),
        false => module.functions().any(|function| function.name.text == name) && internal_name(module),
    }
}

/// A character beyond ASCII. A tree keeps no comments.
pub fn non_ascii(module: &Shaped<'_>) -> bool {
    !print(module).is_ascii()
}

/// A function that is declared in the body of another, under the name of a register or variable.
pub fn nested_function(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.placed().any(|(own, in_body)| {
            let heads = own.iter().position(|word| HEADS.contains(&&**word)).filter(|_| in_body);
            let name = heads.and_then(|at| own.get(at + 1));
            name.is_some_and(|name| words.is(name, |name| *name != Name::Function))
        })
    })
}

/// A function or kernel that others may see under the name of a special register.
pub fn special_register_name(module: &Shaped<'_>) -> bool {
    module.words().statements().any(|words| {
        words.iter().any(|word| [".visible", ".weak", ".extern"].contains(&&**word))
            && words.windows(2).any(|pair| HEADS.contains(&&*pair[0]) && special_register(&pair[1]))
    })
}

/// So many numbered names that no memory holds them.
pub fn too_many_names(module: &Shaped<'_>) -> bool {
    module.words().has(|[open, count, close]| {
        open == "<"
            && close == ">"
            && read_number(count).is_some()
            && integer(count).is_none_or(|count| count >= 1 << 24)
    })
}

/// The statements that declare one of the names of a PREFIX<N> again, zeros in front of its number or not: with its number, and whether
/// the other stands before.
fn repeats_numbered(words: Words<'_>) -> Vec<(&[Text], &str, bool)> {
    let mut prefixes: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
    for (at, own) in words.statements().enumerate() {
        for run in own.windows(3).filter(|run| run[1] == "<" && words.is_prefix(&run[0])) {
            if let Some(count) = integer(&run[2]) {
                prefixes.entry(&run[0]).or_default().push((at, count));
            }
        }
    }
    if prefixes.is_empty() {
        return Vec::new();
    }
    let repeats = words.statements().enumerate().flat_map(|(at, own)| {
        let declares = own[0].starts_with('.')
            && own.iter().any(|word| SPACES.contains(&&**word))
            && !own.iter().any(|word| word == "<");
        let names = own.iter().take_while(|word| *word != "=").filter(move |word| words.is_plain(word));
        let prefixes = &prefixes;
        names.filter(move |_| declares).filter_map(move |name| {
            let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let digit =
                |number: u32, digit: u8| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            let digits = name[prefix.len()..].bytes();
            // ptxas takes numbers modulo 2^32.
            let number: u64 = (digits.len() > 0).then(|| digits.fold(0, digit).into())?;
            let (other, _) = prefixes.get(prefix)?.iter().find(|(_, count)| number < *count)?;
            Some((own, &name[prefix.len()..], *other < at))
        })
    });
    repeats.collect()
}

/// A name of PREFIX<N> declared again with zeros in front of its number, which is another name; or before it, in another type.
pub fn padded_number_declared(module: &Shaped<'_>) -> bool {
    let padded = |number: &str| number.len() > 1 && number.starts_with('0') || number.parse::<u32>().is_err();
    module.any(|words| repeats_numbered(*words).into_iter().any(|(_, number, _)| padded(number)))
}

/// A variable in memory under a name that PREFIX<N> declared before, or that name with zeros in front of its number.
pub fn numbered_declared_again(module: &Shaped<'_>) -> bool {
    let in_memory = |own: &[Text]| !own.iter().any(|word| word == ".reg");
    module.any(|words| {
        repeats_numbered(*words).into_iter().any(|(own, _, is_later)| is_later && in_memory(own))
    })
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn an_internal_name_ends_in_a_number() {
        let of = |name: &str| module(&format!(".global .u32 {name}; .entry k() {{ .shared .u32 x; ret; }}"));
        assert!(internal_name(&of("$__x__1")) && internal_name(&of("$__x__<2>")));
        for name in ["$__x__b", "$__x__", "$__y__1", "x__1"] {
            assert!(!internal_name(&of(name)), "{name}");
        }
        assert!(internal_name_at(&of("$__x__1"), "$__x__1") && internal_name_at(&of("$__x__1"), "k"));
        assert!(!internal_name_at(&of("$__x__1"), "x") && !internal_name_at(&of("other"), "k"));
    }

    #[test]
    fn a_function_in_a_body_counts_under_a_numbered_name_of_a_register() {
        let of = |name: &str| {
            nested_function(&module(&format!(
                ".func f() {{ .reg .b32 r, x<3>; .func {name}() {{ ret; }} ret; }}"
            )))
        };
        assert!(of("x1") && !of("g"));
        assert!(!nested_function(&module(".global .u32 x<3>; .func x1() { ret; }")));
    }

    #[test]
    fn a_name_is_declared_again_below_the_count_only() {
        let padded =
            |name: &str| padded_number_declared(&module(&format!(".global .u32 a<2>; .global .u32 {name};")));
        assert!(padded("a00") && padded("a01") && !padded("a0") && !padded("a02"));
        assert!(!padded("a") && !padded("b00"), "a name without a number is no name of the prefix");
        // A use declares nothing.
        let code = ".global .u32 g; .entry k() { .reg .b32 a<2>; ld.global.b32 a01, [g]; ret; }";
        assert!(!padded_number_declared(&module(code)));
        let again = |text: &str| numbered_declared_again(&module(text));
        assert!(
            again(".global .u32 a<2>; .global .u32 a1;") && again(".global .u32 a<2>; .global .u32 a01;")
        );
        assert!(
            !again(".global .u32 a<2>; .global .u32 a2;") && !again(".global .u32 a1; .global .u32 a<2>;")
        );
        assert!(!again(".entry k() { .reg .b32 a<2>; .reg .b32 a1; ret; }"));
        let used = ".entry k() { .reg .u32 r; ld.global.u32 r, [a1]; ret; }";
        assert!(!again(&format!(".global .u32 a1; .global .u32 a<2>; {used}")));
    }
}
