//! Names that libstdc++ declares and that are words of clang's, such as `__make_signed`.
//!
//! clang gives such a word up for the rest of the text once a class of the name is declared. NVIDIA's headers ask the preprocessor
//! whether clang has the word, and the preprocessor alone, which declares nothing, says that it has. So the class is renamed.

/// How the words begin.
const BEGINNINGS: [&str; 5] = ["__make_", "__is_", "__remove_", "__add_", "__decay"];

/// Renames, in texts of the system, the classes whose names are called as words of clang's too. No offset changes.
pub fn rename_declared(texts: &mut [&mut [u8]]) {
    let mut declared: Vec<Vec<u8>> = Vec::new();
    for text in texts.iter() {
        for end in memchr::memmem::find_iter(text, b"struct __").map(|start| start + b"struct ".len()) {
            let name = word_at(text, end);
            if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning.as_bytes()))
                && !declared.iter().any(|declared| declared == name)
            {
                declared.push(name.to_vec());
            }
        }
    }
    for name in declared {
        let uses: Vec<Vec<usize>> = texts.iter().map(|text| places(text, &name)).collect();
        let is_called = |text: &[u8], place: usize| text.get(place + name.len()) == Some(&b'(');
        let is_word_too =
            texts.iter().zip(&uses).any(|(text, uses)| uses.iter().any(|&place| is_called(text, place)));
        if !is_word_too {
            continue;
        }
        for (text, uses) in texts.iter_mut().zip(uses) {
            for place in uses {
                if !is_called(text, place) {
                    text[place + 2].make_ascii_uppercase();
                }
            }
        }
    }
}

/// Where the name stands as a whole word.
fn places(text: &[u8], name: &[u8]) -> Vec<usize> {
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
    fn a_class_is_renamed_where_its_name_is_called_as_a_word_and_only_there() {
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
