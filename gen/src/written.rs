//! Programs that are written as texts.

use ptxsmith_syntax::{Item, Module, parse};

/// The statements of a text of our own, all of which the grammar describes.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let module = module(text);
    debug_assert_eq!(module.unread().next(), None, "{text}");
    module.items
}

/// The statements of a text of our own, of which the grammar need not describe all.
pub(crate) fn items_or_unread(text: &str) -> Vec<Item> {
    module(text).items
}

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{}", error.render("", text)))
}
