//! What the text says around a name that the tree does not show: a constant in an array bound, a template argument, an
//! attribute or a pragma, or an unevaluated operand.

use super::acts::Act;

/// The words of a text that stand in no comment and no literal, with their places.
pub fn words(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'/' if bytes.get(place + 1) == Some(&b'/') => {
                place += text[place..].find('\n').unwrap_or(text.len() - place);
            }
            b'/' if bytes.get(place + 1) == Some(&b'*') => {
                place += text[place..].find("*/").map_or(text.len() - place, |end| end + 2);
            }
            quote @ (b'"' | b'\'') => {
                place += 1;
                while place < bytes.len() && bytes[place] != quote {
                    place += if bytes[place] == b'\\' { 2 } else { 1 };
                }
                place += 1;
            }
            byte if is_part(byte) => {
                let end =
                    bytes[place..].iter().position(|&byte| !is_part(byte)).map_or(bytes.len(), |n| place + n);
                found.push((place, &text[place..end]));
                place = end;
            }
            _ => place += 1,
        }
    }
    found
}

/// What a constant expression in a declaration does with the variable whose name is at this place; `None` where the text does
/// not tell. The name is not a whole template argument that stands for a reference or a pointer.
pub fn act_of_mention(text: &str, place: usize, name: &str) -> Option<Act> {
    let start = qualified_start(text, place);
    let (before, after) = (text[..start].trim_end(), behind(text, place, name));
    match around(before) {
        Around::Unevaluated => return Some(Act::Nothing),
        // An argument may be bound to a reference.
        Around::Call if !is_template_argument(text, place, name) => return None,
        Around::Call | Around::Other => {}
    }
    if before.ends_with('&') && !before.ends_with("&&") && is_unary(&before[..before.len() - 1]) {
        return Some(Act::Address);
    }
    // A member may be a function, and a call takes the object's address.
    let path = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ' ' | '[' | ']'));
    if after.starts_with('(') || path.is_some_and(|end| end > 0 && after[end..].starts_with('(')) {
        return None;
    }
    Some(if after.starts_with(['.', '[']) { Act::Value } else { Act::Copy })
}

/// Whether the name at this place is a whole template argument, behind `&` or not.
pub fn is_template_argument(text: &str, place: usize, name: &str) -> bool {
    let before = text[..qualified_start(text, place)].trim_end().trim_end_matches(['&', '(']).trim_end();
    let after = behind(text, place, name).trim_start_matches(')').trim_start();
    before.ends_with(['<', ',']) && after.starts_with(['>', ','])
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
enum Around {
    Unevaluated,
    Call,
    Other,
}

fn around(before: &str) -> Around {
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
                let head = before[..place].trim_end();
                match last_word(head) {
                    Some((_, word)) if unevaluated.contains(&word) => return Around::Unevaluated,
                    // As an operator it has an operand that is not evaluated; behind a function's parameters it has a
                    // constant.
                    Some((start, "noexcept")) if !head[..start].trim_end().ends_with([')', '&']) => {
                        return Around::Unevaluated;
                    }
                    Some((
                        _,
                        "alignas" | "noexcept" | "explicit" | "__launch_bounds__" | "static_assert",
                    ))
                    | None => {}
                    Some((_, word)) if c == '(' && !word.starts_with("__") => found = Around::Call,
                    Some(_) => {}
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

fn last_word(text: &str) -> Option<(usize, &str)> {
    let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    (start < text.len()).then(|| (start, &text[start..]))
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
        let place = text.find('k').unwrap();
        act_of_mention(text, place, "k")
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
        assert_eq!(act("int a[larger(k, 2)]"), None);
        assert_eq!(act("int a[k.get()]"), None);
    }

    #[test]
    fn a_whole_template_argument_is_told_from_a_part_of_one() {
        let is = |text: &str| is_template_argument(text, text.find('k').unwrap(), "k");
        assert!(is("r<k>") && is("r<1, & q::k, 2>") && is("r<(k)>") && is("r<k<int, char>>"));
        assert!(!is("r<k + 1>") && !is("int a[k]") && !is("f(1, k)"));
    }
}
