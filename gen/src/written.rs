//! Programs that are written as texts.

use ptxsmith_syntax::{Item, parse};

/// The statements of a text of our own, all of which the grammar describes.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let module = parse(text).unwrap_or_else(|error| panic!("{}", error.render("", text)));
    debug_assert_eq!(module.unread().next(), None, "{text}");
    module.items
}
