//! What of a text that is not understood whole a compiler may have read.

use ptxsmith_syntax::{Module, Number, ParseError, read_number};

/// What may end what was begun.
const ENDS: [&str; 10] = [";", "};", ";}", "}", "", ");", " 0;", " 0};", " 0;}", " 0);"];

/// How often less is tried.
const MOST_CUTS: usize = 64;

/// Modules that a compiler may have in hand when it dies of a text that is not understood whole: what stands before the first token
/// that fits nowhere, and the text without that token, or without it and the word before. The same with integers modulo 2^64, as
/// ptxas counts, where one has more bits. Of a text that is understood whole and has none of those, none.
pub fn understood(text: &str) -> Vec<Module> {
    let mut all = parts(text);
    if let Some(counted) = modulo(text) {
        all.extend(whole(&counted));
        all.extend(parts(&counted));
    }
    all
}

/// The text with its integers modulo 2^64, where one has more bits.
fn modulo(text: &str) -> Option<String> {
    let (mut counted, mut done) = (String::new(), 0);
    for token in ptxsmith_syntax::tokens(text).ok()? {
        if let Some(Number::Integer { value: None, wrapped, .. }) = read_number(&*token.text) {
            counted += text.get(done..token.span.start as usize)?;
            counted += &wrapped.to_string();
            done = token.span.end as usize;
        }
    }
    counted += text.get(done..)?;
    (done > 0).then_some(counted)
}

/// What there is of a text that is not understood whole.
fn parts(text: &str) -> Vec<Module> {
    let Some(misfit) = misfit(text) else { return Vec::new() };
    let (start, end) = (misfit.span.start as usize, misfit.span.end as usize);
    let (Some(before), Some(behind)) = (text.get(..start), text.get(end.max(start)..)) else {
        return Vec::new();
    };
    let word = before.trim_end().rfind(|c| " \n,;(){}".contains(c)).map_or("", |at| &before[..=at]);
    let without = [before, word].into_iter().filter_map(|kept| whole(&format!("{kept} {behind}")));
    beginning(before).into_iter().chain(without).collect()
}

/// What is wrong with the first statement that is not understood.
fn misfit(text: &str) -> Option<ParseError> {
    match ptxsmith_syntax::parse(text) {
        Ok(module) => Some(module.unread().next()?.error.clone()),
        Err(error) => Some(error),
    }
}

/// The module of a text that is understood whole.
fn whole(text: &str) -> Option<Module> {
    ptxsmith_syntax::parse(text).ok().filter(|module| module.unread().next().is_none())
}

/// What was begun, ended.
fn beginning(mut before: &str) -> Option<Module> {
    for _ in 0..MOST_CUTS {
        let ended = |end: &&str| ptxsmith_syntax::parse(&format!("{before}{end}")).ok();
        let read: Vec<Module> = ENDS.iter().filter_map(ended).collect();
        if let Some(whole) = read.iter().find(|module| module.unread().next().is_none()) {
            return Some(whole.clone());
        }
        // A statement in front is not understood either, or what was begun cannot be ended.
        let earlier =
            read.iter().filter_map(|module| Some(module.unread().next()?.error.span.start as usize));
        let earlier = earlier.min().filter(|&earlier| earlier < before.len());
        before = before.get(..earlier.or_else(|| before.rfind(|c| " \n,;(){}".contains(c)))?)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_syntax::print;

    #[test]
    fn a_text_is_read_up_to_the_token_that_fits_nowhere() {
        let begins = |text: &str| understood(text).first().map(print);
        assert_eq!(begins(".global .u8 a[] =4), 5 };").as_deref(), Some(".global .u8 a[] = 4;\n"));
        assert_eq!(begins(".global .u32 b; ) }").as_deref(), Some(".global .u32 b;\n"));
        assert_eq!(begins(".global .u32 b = (7 / 0));").as_deref(), Some(".global .u32 b = (7 / 0);\n"));
        assert_eq!(begins(".global .u8 a[] = 4{1, 2}};").as_deref(), Some(".global .u8 a[] = 4;\n"));
        assert_eq!(
            begins(".global .u32 b = 1 ? 2 / 0 :; 3").as_deref(),
            Some(".global .u32 b = 1 ? 2 / 0 : 0;\n")
        );
        assert_eq!(begins(".version 7.0\n.target\n.target sm_80\n5;").as_deref(), Some(".version 7.0\n"));
        assert_eq!(begins(".global .u8 a[] = 1(b), 2 div, 3;").as_deref(), Some(".global .u8 a[] = 1(b);\n"));
        assert_eq!(begins(".global .u32 b = 1 / (2;").as_deref(), Some(".global .u32 b = 1 / (2);\n"));
        assert_eq!(begins(".global .u8 a[] = {4};"), None);
        assert_eq!(begins(".global .u8 a[ }"), None);
    }

    #[test]
    fn a_text_is_read_without_the_token_that_fits_nowhere_and_the_word_before() {
        let all = |text: &str| understood(text).iter().map(print).collect::<Vec<_>>();
        assert!(all(".global .u32 a[2] = a = 5 % 3;").contains(&".global .u32 a[2] = 5 % 3;\n".to_owned()));
        assert!(all(".global .u32 a ) [2];").contains(&".global .u32 a[2];\n".to_owned()));
    }

    #[test]
    fn integers_are_counted_modulo_2_64_where_one_has_more_bits() {
        let all = |text: &str| understood(text).iter().map(print).collect::<Vec<_>>();
        assert_eq!(all(".global .u32 a[18446744073709551618];"), [".global .u32 a[2];\n"]);
        assert!(
            all(".global .u32 a = 1 / 0x10000000000000000) ;")
                .contains(&".global .u32 a = 1 / 0;\n".to_owned())
        );
        assert!(all(".global .u32 a[18446744073709551615];").is_empty());
    }
}
