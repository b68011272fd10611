//! Parses program templates of the generator.

use ptxsmith_syntax::{Item, Module, parse};

/// Parses a template of the generator into statements. The parser must recognize all of them.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let module = module(text);
    debug_assert_eq!(module.unread().next(), None, "{text}");
    module.items
}

/// Parses a template of the generator into statements. The parser may keep some of them as tokens.
pub(crate) fn items_or_unread(text: &str) -> Vec<Item> {
    module(text).items
}

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{}", error.render("", text)))
}
