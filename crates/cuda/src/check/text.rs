//! Classifies uses that the tree does not show, by the text around the variable's name. Such names are in
//! array bounds, template arguments, attributes, pragmas and unevaluated operands.
//!
//! A place is the offset of the name. The name may be qualified: for `q::k`, it is the offset of `k`.

use super::use_kind::UseKind;

/// Whether an initializer follows the name at this place.
pub fn has_initializer(text: &str, place: usize, name: &str) -> bool {
    let Some(mut rest) = text.get(place..).and_then(|text| text.strip_prefix(name)) else { return false };
    rest = rest.trim_start();
    while let Some(bound) = rest.strip_prefix('[') {
        rest = bound.split_once(']').map_or("", |(_, behind)| behind).trim_start();
    }
    rest.starts_with(['=', '{', '('])
}

/// The way in which functions of one name get their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// All by value.
    Value,
    /// All by reference.
    Reference,
    /// Some by value and some by reference, or it is not known.
    Unknown,
}

/// Facts about the functions of a translation unit.
pub struct KnownFunctions<'a> {
    /// Returns the way in which a function gets its arguments. The parameters are the text before its name,
    /// such as `std::`, and its name.
    pub passing: &'a dyn Fn(&str, &str) -> Passing,
    /// Whether a member function with this name gets the object that it is called on; `None` if that is not
    /// known.
    pub gets_object: &'a dyn Fn(&str) -> Option<bool>,
}

/// Classifies a use in a constant expression by the text around the name; `None` if the text is not
/// sufficient.
///
/// The caller must know that the name is not a whole template argument for a reference or a pointer.
pub fn kind_of_mention(
    text: &str,
    place: usize,
    name: &str,
    functions: &KnownFunctions<'_>,
) -> Option<UseKind> {
    let before = text[..qualified_start(text, place)].trim_end();
    let after = text_behind(text, place, name);
    let enclosing = enclosing(before);
    if let Enclosing::Unevaluated = enclosing {
        return Some(UseKind::Nothing);
    }
    if ends_with_address_of(before) {
        return Some(UseKind::Address);
    }
    // Calling a member function uses the address of the object.
    if let Some(function) = called_member(after) {
        return (functions.gets_object)(function)
            .map(|gets_object| if gets_object { UseKind::Address } else { UseKind::Nothing });
    }
    if after.starts_with('(') {
        return None;
    }
    // A whole argument of a function may be bound to a reference.
    if let Enclosing::Call(from, callee) = enclosing
        && !is_template_argument(text, place, name)
        && before.ends_with(['(', ','])
        && after.starts_with([')', ',', '.', '['])
    {
        match (functions.passing)(from, callee) {
            Passing::Value => {}
            Passing::Reference => return Some(UseKind::Address),
            Passing::Unknown => return None,
        }
    }
    Some(if after.starts_with(['.', '[']) { UseKind::Value } else { UseKind::Copy })
}

/// Returns the name of the member function that is called on the variable: for `k.a[1].f(2)`, `f`. `after` is
/// the text behind the variable's name.
fn called_member(after: &str) -> Option<&str> {
    let end = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ' ' | '[' | ']'))?;
    if end == 0 || !after[end..].starts_with('(') {
        return None;
    }
    after[..end].rsplit(['.', ']', ' ']).next()
}

/// Whether a reference may be bound to the variable at this place, or its address is taken. A reference may
/// be bound to a whole argument of a call, and to an operand beside an object of a class.
pub fn may_be_bound(text: &str, place: usize, name: &str) -> bool {
    let before = text[..qualified_start(text, place)].trim_end();
    let after = text_behind(text, place, name);
    ends_with_address_of(before)
        || is_beside_class(before, after)
        || (before.ends_with(['(', ',', '{'])
            && after.starts_with([')', ',', '}'])
            && matches!(enclosing(before), Enclosing::Call(..)))
}

/// Whether the name at this place is alone between square brackets.
pub fn is_whole_bound(text: &str, place: usize, name: &str) -> bool {
    text[..qualified_start(text, place)].trim_end().ends_with('[')
        && text_behind(text, place, name).starts_with(']')
}

/// Whether the name is an operand of an operator whose other operand is a call or a list in braces. That
/// operand may be an object of a class.
fn is_beside_class(before: &str, after: &str) -> bool {
    let left = before.trim_end_matches(is_operator_character);
    let right = after.trim_start_matches(is_operator_character);
    let behind_word =
        right.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
    left.len() < before.len() && left.trim_end().ends_with([')', '}'])
        || right.len() < after.len()
            && behind_word.len() < right.trim_start().len()
            && behind_word.starts_with(['(', '{'])
}

fn is_operator_character(c: char) -> bool {
    "+-*/%&|^=!<>".contains(c)
}

/// Whether the name at this place is a whole template argument, with or without `&`.
pub fn is_template_argument(text: &str, place: usize, name: &str) -> bool {
    let before = text[..qualified_start(text, place)].trim_end();
    let mut before = before.strip_suffix('&').unwrap_or(before).trim_end();
    let mut after = text_behind(text, place, name);
    while let (Some(outer), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
        // A parenthesis behind a name belongs to a call.
        if last_word(outer).is_some() {
            break;
        }
        before = outer.strip_suffix('&').unwrap_or(outer).trim_end();
        after = rest.trim_start();
    }
    before.ends_with(['<', ',']) && after.starts_with(['>', ','])
}

/// The largest number of characters between the name of a template and one of its arguments.
const LONGEST_ARGUMENTS: usize = 10_000;

/// Returns the name of the template that the name at this place is a whole argument of, and the index of the
/// argument.
pub fn template_argument<'a>(text: &'a str, place: usize, name: &str) -> Option<(&'a str, usize)> {
    if !is_template_argument(text, place, name) {
        return None;
    }
    let mut depth = 0_i32;
    let mut index = 0;
    for (open, c) in text[..place].char_indices().rev().take(LONGEST_ARGUMENTS) {
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

/// Returns the text behind the name at this place and its template arguments.
fn text_behind<'a>(text: &'a str, place: usize, name: &str) -> &'a str {
    let after = text[place + name.len()..].trim_start();
    if !after.starts_with('<') {
        return after;
    }
    let mut depth = 0;
    for (index, c) in after.char_indices() {
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

/// The innermost construct around a name that affects how the variable is used.
enum Enclosing<'a> {
    /// An unevaluated operand.
    Unevaluated,
    /// A call: the text before the name of the called function, and that name. The name is empty if the text
    /// does not tell which function is called.
    Call(&'a str, &'a str),
    /// None of these.
    Other,
}

/// Operators whose operands are not evaluated.
const UNEVALUATED: [&str; 12] = [
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

/// Returns the innermost construct around the name that follows the text `before`.
fn enclosing(before: &str) -> Enclosing<'_> {
    if last_word(before).is_some_and(|(_, word)| UNEVALUATED.contains(&word)) {
        return Enclosing::Unevaluated;
    }
    let mut depth = 0_i32;
    let mut innermost = Enclosing::Other;
    for (place, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            ';' if depth == 0 => break,
            '(' | '{' => {
                let head = without_arguments(before[..place].trim_end());
                match enclosing_at_bracket(head, c) {
                    Enclosing::Unevaluated => return Enclosing::Unevaluated,
                    call @ Enclosing::Call(..) if matches!(innermost, Enclosing::Other) => innermost = call,
                    Enclosing::Call(..) | Enclosing::Other => {}
                }
                if c == '{' {
                    break;
                }
            }
            _ => {}
        }
    }
    innermost
}

/// Returns the construct that an opening bracket behind the text `head` belongs to.
fn enclosing_at_bracket(head: &str, bracket: char) -> Enclosing<'_> {
    let Some((start, word)) = last_word(head) else {
        let is_call = bracket == '(' && head.ends_with([')', '}', ']']);
        return if is_call { Enclosing::Call(head, "") } else { Enclosing::Other };
    };
    // `noexcept` behind a function's parameters is a specifier with a constant; elsewhere it is an operator.
    let is_operator = word == "noexcept" && !head[..start].trim_end().ends_with([')', '&']);
    if UNEVALUATED.contains(&word) || is_operator {
        return Enclosing::Unevaluated;
    }
    if bracket == '(' && !word.starts_with("__") && !is_no_function(word) {
        return Enclosing::Call(&head[..start], word);
    }
    // A list in braces may call a constructor or initialize members.
    if bracket == '{' && !is_no_function(word) {
        return Enclosing::Call(&head[..start], "");
    }
    Enclosing::Other
}

/// Whether a word before a bracket is not the name of a function: a keyword, or a type that a value is
/// converted to.
fn is_no_function(word: &str) -> bool {
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

/// The largest number of characters of template arguments before a bracket.
const LONGEST_ARGUMENTS_BEFORE_BRACKET: usize = 200;

/// Returns a text without the template arguments at its end.
fn without_arguments(text: &str) -> &str {
    if !text.ends_with('>') {
        return text;
    }
    let open = opening_angle(text, LONGEST_ARGUMENTS_BEFORE_BRACKET);
    open.map_or(text, |open| text[..open].trim_end())
}

/// Returns the offset of the `<` that belongs to the `>` at the end of a text. Looks at this many characters
/// at most.
fn opening_angle(text: &str, most: usize) -> Option<usize> {
    let mut depth = 0;
    for (offset, c) in text.char_indices().rev().take(most) {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(offset);
        }
    }
    None
}

/// Returns the word at the end of a text, with its offset.
fn last_word(text: &str) -> Option<(usize, &str)> {
    let start = without_word(text).len();
    (start < text.len()).then(|| (start, &text[start..]))
}

/// Returns a text without the word at its end.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a text ends with the operator that takes an address.
fn ends_with_address_of(text: &str) -> bool {
    text.strip_suffix('&').is_some_and(|operand| !operand.ends_with('&') && !ends_with_operand(operand))
}

/// Whether a text ends with an operand, so that an operator behind it has two operands.
fn ends_with_operand(text: &str) -> bool {
    text.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
}

/// Returns the beginning of the qualified name whose last part is at this place.
pub fn qualified_start(text: &str, place: usize) -> usize {
    let mut start = place;
    while let Some(before) = text[..start].strip_suffix("::") {
        // The name before may have template arguments.
        let name = if before.ends_with('>') {
            let Some(open) = opening_angle(before, usize::MAX) else { return start };
            &before[..open]
        } else {
            before
        };
        start = without_word(name).len();
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<UseKind> {
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
        let functions = KnownFunctions { passing: &passing, gets_object: &gets_object };
        kind_of_mention(text, text.find('k').unwrap(), "k", &functions)
    }

    #[test]
    fn a_constant_is_read_except_in_an_unevaluated_operand() {
        for text in
            ["int a[k]", "n<k + 1>()", "alignas(k) int i", "void f() noexcept(k)", "n<(k > 2)>", "n<1, q::k>"]
        {
            assert_eq!(kind(text), Some(UseKind::Copy), "{text}");
        }
        for text in [
            "n<sizeof(k)>()",
            "n<sizeof k>",
            "decltype(f(1, k)) r",
            "T<decltype(q::k)>",
            "return noexcept(f(k))",
        ] {
            assert_eq!(kind(text), Some(UseKind::Nothing), "{text}");
        }
        assert_eq!(kind("int a[k.a]"), Some(UseKind::Value));
        assert_eq!(kind("int a[k[1]]"), Some(UseKind::Value));
        assert_eq!(kind("n<&k>()"), Some(UseKind::Address));
        assert_eq!(kind("n<2 & k>()"), Some(UseKind::Copy));
        assert_eq!(kind("square(n<k>::get())"), Some(UseKind::Copy));
    }

    #[test]
    fn an_argument_that_is_the_variable_itself_is_bound_to_a_parameter_of_reference_type() {
        for text in
            ["int a[larger(k, 2)]", "int a[larger<int>(2, q::k)]", "int a[std::max(k, 1)]", "int a[k.get()]"]
        {
            assert_eq!(kind(text), Some(UseKind::Address), "{text}");
        }
        assert_eq!(kind("int a[square(k)]"), Some(UseKind::Copy));
        assert_eq!(kind("int a[larger(k + 1, 2)]"), Some(UseKind::Copy));
        assert_eq!(kind("int a[static_cast<int>(k)]"), Some(UseKind::Copy));
        assert_eq!(kind("int a[k.made()]"), Some(UseKind::Nothing));
        assert_eq!(kind("int a[k.other()]"), None);
        assert_eq!(kind("int a[other(k)]"), None);
        assert_eq!(kind("int a[k(1)]"), None);
    }

    #[test]
    fn a_whole_template_argument_is_distinguished_from_a_part_of_one() {
        let is_whole = |text: &str| is_template_argument(text, text.find('k').unwrap(), "k");
        assert!(
            is_whole("r<k>")
                && is_whole("r<1, & q::k, 2>")
                && is_whole("r<(k)>")
                && is_whole("r<k<int, char>>")
        );
        assert!(
            !is_whole("r<f(1, k)>")
                && !is_whole("r<f(k)>")
                && !is_whole("r<k + 1>")
                && !is_whole("int a[k]")
                && !is_whole("f(1, k)")
        );
    }
}
