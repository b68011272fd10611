//! A valid program and the broken one beside it.

use ptxsmith_syntax::{Declaration, Declarator, Header, Item, Specifier};

/// A valid program and the broken one beside it, and the headers that they need where those are not the usual one.
pub(super) struct Pair {
    pub twin: Vec<Item>,
    pub broken: Vec<Item>,
    pub headers: Option<Headers>,
}

/// The headers of a twin and of the broken program.
pub(super) struct Headers {
    pub twin: Header,
    pub broken: Header,
}

impl Pair {
    pub fn new(twin: Vec<Item>, broken: Vec<Item>) -> Pair {
        Pair { twin, broken, headers: None }
    }

    /// Two declarations, each behind the same statements.
    pub fn behind(context: Vec<Item>, twin: Declaration, broken: Declaration) -> Pair {
        let with = |last| context.iter().cloned().chain([Item::Variables(last)]).collect();
        Pair::new(with(twin), with(broken))
    }

    /// One program that a later `.version` takes and an earlier one does not, for the same target.
    pub fn since(items: Vec<Item>, target: &str, (twin, broken): (&str, &str)) -> Pair {
        let header = |version: &str| Header {
            version: version.to_owned(),
            target: target.to_owned(),
            ..Header::default()
        };
        let headers = Headers { twin: header(twin), broken: header(broken) };
        Pair { headers: Some(headers), ..Pair::new(items.clone(), items) }
    }
}

/// The twin as it is, and with its one variable changed.
pub(super) fn changed(twin: Declaration, change: impl FnOnce(&mut Declarator)) -> Pair {
    changed_behind(Vec::new(), twin, change)
}

/// The same behind other statements.
pub(super) fn changed_behind(
    context: Vec<Item>,
    twin: Declaration,
    change: impl FnOnce(&mut Declarator),
) -> Pair {
    let mut broken = twin.clone();
    change(&mut broken.declarators[0]);
    Pair::behind(context, twin, broken)
}

/// The twin as it is, and with its specifiers changed.
pub(super) fn respecified(twin: Declaration, change: impl FnOnce(&mut Vec<Specifier>)) -> Pair {
    respecified_behind(Vec::new(), twin, change)
}

/// The same behind other statements.
pub(super) fn respecified_behind(
    context: Vec<Item>,
    twin: Declaration,
    change: impl FnOnce(&mut Vec<Specifier>),
) -> Pair {
    let mut broken = twin.clone();
    change(&mut broken.specifiers);
    Pair::behind(context, twin, broken)
}
