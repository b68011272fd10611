//! What the text says around a name that the tree does not show: a constant in an array bound, a template argument, an
//! attribute or a pragma, or an unevaluated operand.

use super::acts::Act;

/// Whether an initializer follows the name at this place.
pub fn has_initializer(text: &str, place: usize, name: &str) -> bool {
    let Some(mut rest) = text.get(place..).and_then(|text| text.strip_prefix(name)) else { return false };
    rest = rest.trim_start();
    while let Some(bound) = rest.strip_prefix('[') {
        rest = bound.split_once(']').map_or("", |(_, behind)| behind).trim_start();
    }
    rest.starts_with(['=', '{', '('])
}

/// How functions of one name take their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// By value, all of them.
    Value,
    /// By reference, all of them.
    Reference,
    /// One so and one so, or it is not known.
    Unknown,
}

/// What is known of the functions of a file: how those of a name take their arguments, and whether a member function of a name
/// gets the object that it is called on.
pub struct Functions<'a> {
    /// By the name and what stands before it: `std::`.
    pub passing: &'a dyn Fn(&str, &str) -> Passing,
    /// By the name; `None` where that is not known.
    pub gets_object: &'a dyn Fn(&str) -> Option<bool>,
}

/// What a constant expression in a declaration does with the variable whose name is at this place; `None` where the text does
/// not tell. The name is not a whole template argument that stands for a reference or a pointer.
pub fn act_of_mention(text: &str, place: usize, name: &str, functions: &Functions<'_>) -> Option<Act> {
    let start = qualified_start(text, place);
    let (before, after) = (text[..start].trim_end(), behind(text, place, name));
    let around = around(before);
    if let Around::Unevaluated = around {
        return Some(Act::Nothing);
    }
    if is_address(before) {
        return Some(Act::Address);
    }
    // A member may be a function, and a call of one takes the object's address.
    let path = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ' ' | '[' | ']'));
    if let Some(member) =
        path.filter(|&end| end > 0 && after[end..].starts_with('(')).map(|end| &after[..end])
    {
        let method = member.rsplit(['.', ']', ' ']).next().unwrap_or(member);
        return match (functions.gets_object)(method) {
            Some(true) => Some(Act::Address),
            Some(false) => Some(Act::Nothing),
            None => None,
        };
    }
    if after.starts_with('(') {
        return None;
    }
    // An argument may be bound to a reference.
    if let Around::Call(from, callee) = around
        && !is_template_argument(text, place, name)
        && before.ends_with(['(', ','])
        && after.starts_with([')', ',', '.', '['])
    {
        match (functions.passing)(from, callee) {
            Passing::Value => {}
            Passing::Reference => return Some(Act::Address),
            Passing::Unknown => return None,
        }
    }
    Some(if after.starts_with(['.', '[']) { Act::Value } else { Act::Copy })
}

/// Whether the name at this place is a whole argument of a call, which may bind a reference to it, or its address is taken.
pub fn may_be_bound(text: &str, place: usize, name: &str) -> bool {
    let before = text[..qualified_start(text, place)].trim_end();
    let after = behind(text, place, name);
    is_address(before)
        || is_beside_class(before, after)
        || (before.ends_with(['(', ',', '{'])
            && after.starts_with([')', ',', '}'])
            && matches!(around(before), Around::Call(..)))
}

/// Whether the name at this place is all that stands between square brackets.
pub fn is_whole_bound(text: &str, place: usize, name: &str) -> bool {
    text[..qualified_start(text, place)].trim_end().ends_with('[')
        && behind(text, place, name).starts_with(']')
}

/// Whether an operator beside the name at this place has a call or a list in braces as its other operand, which may be of a class.
fn is_beside_class(before: &str, after: &str) -> bool {
    let is_operator = |c: char| "+-*/%&|^=!<>".contains(c);
    let left = before.trim_end_matches(is_operator);
    let right = after.trim_start_matches(is_operator);
    let word = right.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
    left.len() < before.len() && left.trim_end().ends_with([')', '}'])
        || right.len() < after.len() && word.len() < right.trim_start().len() && word.starts_with(['(', '{'])
}

/// Whether the name at this place is a whole template argument, behind `&` or not.
pub fn is_template_argument(text: &str, place: usize, name: &str) -> bool {
    let before = text[..qualified_start(text, place)].trim_end();
    let mut before = before.strip_suffix('&').unwrap_or(before).trim_end();
    let mut after = behind(text, place, name);
    while let (Some(outer), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
        // A bracket behind a name is that of a call.
        if last_word(outer).is_some() {
            break;
        }
        before = outer.strip_suffix('&').unwrap_or(outer).trim_end();
        after = rest.trim_start();
    }
    before.ends_with(['<', ',']) && after.starts_with(['>', ','])
}

/// The template whose argument the name at this place is a whole one of, and which of them.
pub fn template_argument<'a>(text: &'a str, place: usize, name: &str) -> Option<(&'a str, usize)> {
    if !is_template_argument(text, place, name) {
        return None;
    }
    let (mut depth, mut index) = (0_i32, 0);
    for (open, c) in text[..place].char_indices().rev().take(10_000) {
        match c {
            '>' | ')' | ']' | '}' => depth += 1,
            '<' if depth == 0 => return last_word(text[..open].trim_end()).map(|(_, word)| (word, index)),
            '<' | '(' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => index += 1,
            ';' => break,
            _ => {}
        }
    }
    None
}

/// What follows the name, with its template arguments.
fn behind<'a>(text: &'a str, place: usize, name: &str) -> &'a str {
    let after = text[place + name.len()..].trim_start();
    let mut depth = 0;
    for (index, c) in after.char_indices().take_while(|_| after.starts_with('<')) {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ';' | '{' => break,
            _ => {}
        }
        if depth == 0 {
            return after[index + 1..].trim_start();
        }
    }
    after
}

/// What the innermost brackets belong to that matter.
enum Around<'a> {
    Unevaluated,
    /// A call: what stands before the name of what is called, and that name.
    Call(&'a str, &'a str),
    Other,
}

fn around(before: &str) -> Around<'_> {
    let unevaluated = [
        "sizeof",
        "decltype",
        "alignof",
        "_Alignof",
        "__alignof__",
        "__alignof",
        "typeid",
        "typeof",
        "__typeof__",
        "__typeof",
        "__decltype",
        "requires",
    ];
    if last_word(before).is_some_and(|(_, word)| unevaluated.contains(&word)) {
        return Around::Unevaluated;
    }
    let (mut depth, mut found) = (0_i32, Around::Other);
    for (place, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            ';' if depth == 0 => break,
            '(' | '{' => {
                let head = without_arguments(before[..place].trim_end());
                match last_word(head) {
                    Some((_, word)) if unevaluated.contains(&word) => return Around::Unevaluated,
                    // As an operator it has an operand that is not evaluated; behind a function's parameters it has a
                    // constant.
                    Some((start, "noexcept")) if !head[..start].trim_end().ends_with([')', '&']) => {
                        return Around::Unevaluated;
                    }
                    Some((start, word))
                        if c == '('
                            && matches!(found, Around::Other)
                            && !word.starts_with("__")
                            && !is_no_call(word) =>
                    {
                        found = Around::Call(&head[..start], word);
                    }
                    // Whether it is a constructor's or an operator's, the text does not say.
                    Some((start, word))
                        if c == '{' && matches!(found, Around::Other) && !is_no_call(word) =>
                    {
                        found = Around::Call(&head[..start], "");
                    }
                    None if c == '(' && matches!(found, Around::Other) && head.ends_with([')', '}', ']']) => {
                        found = Around::Call(head, "");
                    }
                    _ => {}
                }
                if c == '{' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether this before a bracket is no function: a keyword, or a type that a value is converted to.
fn is_no_call(word: &str) -> bool {
    let keywords = [
        "alignas",
        "noexcept",
        "explicit",
        "static_assert",
        "return",
        "if",
        "while",
        "switch",
        "for",
        "case",
    ];
    let casts = ["static_cast", "const_cast", "reinterpret_cast", "dynamic_cast"];
    let types = ["bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "size_t"];
    keywords.contains(&word) || casts.contains(&word) || types.contains(&word)
}

/// A text without the template arguments at its end.
fn without_arguments(text: &str) -> &str {
    if !text.ends_with('>') {
        return text;
    }
    let mut depth = 0;
    let open = text.char_indices().rev().take(200).find(|&(_, c)| {
        depth += match c {
            '>' => 1,
            '<' => -1,
            _ => 0,
        };
        depth == 0
    });
    open.map_or(text, |(open, _)| text[..open].trim_end())
}

fn last_word(text: &str) -> Option<(usize, &str)> {
    let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    (start < text.len()).then(|| (start, &text[start..]))
}

/// Whether the address is taken of what follows.
fn is_address(before: &str) -> bool {
    before.strip_suffix('&').is_some_and(|operand| !operand.ends_with('&') && is_unary(operand))
}

/// Whether an operator behind this text has no operand before it.
fn is_unary(before: &str) -> bool {
    !before.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
}

/// Where the qualified name begins whose last part is at this place.
pub fn qualified_start(text: &str, place: usize) -> usize {
    let mut start = place;
    while let Some(before) = text[..start].strip_suffix("::") {
        let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        // A template's arguments belong to the name before them.
        if before.ends_with('>') {
            let mut depth = 0;
            let open = before.char_indices().rev().find(|&(_, c)| {
                depth += match c {
                    '>' => 1,
                    '<' => -1,
                    _ => 0,
                };
                depth == 0
            });
            let Some((open, _)) = open else { return start };
            start = before[..open].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        } else {
            start = name.len();
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(text: &str) -> Option<Act> {
        let passing = |from: &str, name: &str| match (from, name) {
            ("int a[", "square") => Passing::Value,
            ("int a[std::", _) | (_, "larger") => Passing::Reference,
            _ => Passing::Unknown,
        };
        let gets_object = |name: &str| match name {
            "get" => Some(true),
            "made" => Some(false),
            _ => None,
        };
        let functions = Functions { passing: &passing, gets_object: &gets_object };
        act_of_mention(text, text.find('k').unwrap(), "k", &functions)
    }

    #[test]
    fn a_constant_is_read_and_an_unevaluated_operand_is_not() {
        for text in
            ["int a[k]", "n<k + 1>()", "alignas(k) int i", "void f() noexcept(k)", "n<(k > 2)>", "n<1, q::k>"]
        {
            assert_eq!(act(text), Some(Act::Copy), "{text}");
        }
        for text in [
            "n<sizeof(k)>()",
            "n<sizeof k>",
            "decltype(f(1, k)) r",
            "T<decltype(q::k)>",
            "return noexcept(f(k))",
        ] {
            assert_eq!(act(text), Some(Act::Nothing), "{text}");
        }
        assert_eq!(act("int a[k.a]"), Some(Act::Value));
        assert_eq!(act("int a[k[1]]"), Some(Act::Value));
        assert_eq!(act("n<&k>()"), Some(Act::Address));
        assert_eq!(act("n<2 & k>()"), Some(Act::Copy));
        assert_eq!(act("square(n<k>::get())"), Some(Act::Copy));
    }

    #[test]
    fn an_argument_is_bound_where_the_function_takes_a_reference_and_the_argument_is_the_variable_itself() {
        for text in
            ["int a[larger(k, 2)]", "int a[larger<int>(2, q::k)]", "int a[std::max(k, 1)]", "int a[k.get()]"]
        {
            assert_eq!(act(text), Some(Act::Address), "{text}");
        }
        assert_eq!(act("int a[square(k)]"), Some(Act::Copy));
        assert_eq!(act("int a[larger(k + 1, 2)]"), Some(Act::Copy));
        assert_eq!(act("int a[static_cast<int>(k)]"), Some(Act::Copy));
        assert_eq!(act("int a[k.made()]"), Some(Act::Nothing));
        assert_eq!(act("int a[k.other()]"), None);
        assert_eq!(act("int a[other(k)]"), None);
        assert_eq!(act("int a[k(1)]"), None);
    }

    #[test]
    fn a_whole_template_argument_is_told_from_a_part_of_one() {
        let is = |text: &str| is_template_argument(text, text.find('k').unwrap(), "k");
        assert!(is("r<k>") && is("r<1, & q::k, 2>") && is("r<(k)>") && is("r<k<int, char>>"));
        assert!(!is("r<f(1, k)>") && !is("r<f(k)>") && !is("r<k + 1>") && !is("int a[k]") && !is("f(1, k)"));
    }
}
