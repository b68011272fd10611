//! Renames classes of libstdc++ that have the same name as a keyword of clang, such as `__make_signed`.
//!
//! When a class with such a name is declared, clang treats the word as an ordinary name in the rest of the
//! text. But NVIDIA's headers ask the preprocessor whether clang has the keyword. The preprocessor runs alone
//! and sees no declaration, so it says yes, and the headers use the keyword. Renaming the class keeps the
//! keyword.

/// Prefixes of the keywords.
const PREFIXES: [&str; 5] = ["__make_", "__is_", "__remove_", "__add_", "__decay"];

/// Renames classes in texts of system headers, if their names are also used as keywords: before an opening
/// parenthesis. All offsets stay the same.
pub fn rename_declared(texts: &mut [&mut [u8]]) {
    for name in declared_classes(texts) {
        let places: Vec<Vec<usize>> = texts.iter().map(|text| places_of_word(text, &name)).collect();
        let mut uses = texts.iter().zip(&places);
        let is_keyword = uses.any(|(text, places)| places.iter().any(|&place| is_called(text, place, &name)));
        if !is_keyword {
            continue;
        }
        for (text, places) in texts.iter_mut().zip(places) {
            for place in places {
                if !is_called(text, place, &name) {
                    text[place + 2].make_ascii_uppercase();
                }
            }
        }
    }
}

/// Returns the names of declared classes that begin like a keyword, each once.
fn declared_classes(texts: &[&mut [u8]]) -> Vec<Vec<u8>> {
    let mut declared: Vec<Vec<u8>> = Vec::new();
    for text in texts {
        for start in memchr::memmem::find_iter(text, b"struct __") {
            let name = word_at(text, start + b"struct ".len());
            if PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
                && !declared.iter().any(|declared| declared == name)
            {
                declared.push(name.to_vec());
            }
        }
    }
    declared
}

/// Whether an opening parenthesis follows the name at this place.
fn is_called(text: &[u8], place: usize, name: &[u8]) -> bool {
    text.get(place + name.len()) == Some(&b'(')
}

/// Returns the offsets of a name as a whole word.
fn places_of_word(text: &[u8], name: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(text, name)
        .filter(|&place| {
            word_at(text, place) == name && !place.checked_sub(1).is_some_and(|before| is_part(text[before]))
        })
        .collect()
}

fn word_at(text: &[u8], start: usize) -> &[u8] {
    let length = text[start..].iter().position(|&byte| !is_part(byte)).unwrap_or(text.len() - start);
    &text[start..start + length]
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_renamed_only_if_its_name_is_also_used_as_a_keyword() {
        let renamed = |one: &str, other: &str| {
            let (mut one, mut other) = (one.as_bytes().to_vec(), other.as_bytes().to_vec());
            rename_declared(&mut [&mut one, &mut other]);
            [one, other].map(|text| String::from_utf8(text).unwrap())
        };
        let library = "struct __make_signed { }; __make_signed<int> a; __make_signed_t b;";
        assert_eq!(
            renamed(library, "using U = __make_signed(T);"),
            [
                "struct __Make_signed { }; __Make_signed<int> a; __make_signed_t b;",
                "using U = __make_signed(T);"
            ]
        );
        assert_eq!(renamed(library, "__make_signed<T> c;"), [library, "__make_signed<T> c;"]);
        assert_eq!(renamed("struct __other { };", "__other(T)"), ["struct __other { };", "__other(T)"]);
    }
}
