//! When two reduced programs are the same: their modules, in some order, differ in names alone.

use std::collections::BTreeMap;

use ptxsmith_diff::linking::orders;
use ptxsmith_model::Class;

/// The form of a program: its modules below their headers, with names by their order of appearance, in the order that gives the smallest
/// text. Where the order is what the finding is about, the same order as in another program is still another text.
pub(super) fn of(texts: &[String], class: Class) -> String {
    let orders = match class {
        Class::Inconsistent => vec![(0..texts.len()).collect()],
        _ => orders(texts.len()),
    };
    let written = orders.iter().map(|order| in_order(texts, order));
    written.min().unwrap_or_default()
}

fn in_order(texts: &[String], order: &[usize]) -> String {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut written = String::new();
    for &place in order {
        let is_header =
            |line: &&str| [".version", ".target", ".address_size"].iter().any(|word| line.starts_with(word));
        for line in texts[place].lines().filter(|line| !is_header(line)) {
            for word in words(line) {
                if !word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c))
                    || KEPT.contains(&word)
                {
                    written += word;
                    continue;
                }
                let number = names.len();
                written += names.entry(word).or_insert_with(|| format!("n{number}"));
            }
            written.push(' ');
        }
        written += "/ ";
    }
    written
}

/// Words of PTX that look like names.
const KEPT: [&str; 4] = ["generic", "mask", "ret", "ld"];

/// A line in words and what stands between them; a word that begins with a point is a directive or a type.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "._$%".contains(c);
        let starts = rest.starts_with(is_word);
        let end = rest.find(|c| is_word(c) != starts).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_order_of_modules_do_not_matter_but_numbers_do() {
        let program = |first: &str, second: &str| {
            let module = |text: &str| format!(".version 7.7\n.target sm_80\n{text}\n");
            of(&[module(first), module(second)], Class::WrongAddress)
        };
        let one = program(".weak .const .s32 x;", ".weak .const .s32 x; .const .u64 t = generic(x);");
        let other = program(".weak .const .s32 c; .const .u64 q = generic(c);", ".weak .const .s32 c;");
        assert_eq!(one, other);
        assert_ne!(
            one,
            program(".weak .const .s32 x;", ".weak .const .s32 x; .const .u64 t = generic(x) + 1;")
        );
        assert_ne!(one, program(".weak .const .s32 x;", ".weak .const .s32 y; .const .u64 t = generic(x);"));
    }
}
