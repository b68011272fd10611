//! A valid program and the broken one beside it.

use ptxsmith_syntax::{Declaration, Declarator, Header, Item};

use crate::written::items;

/// A valid program and the broken one beside it, and the headers that they need where those are not the usual one.
pub(super) struct Pair {
    pub counterpart: Vec<Item>,
    pub broken: Vec<Item>,
    /// That of the valid counterpart, and that of the broken program.
    pub headers: Option<(Header, Header)>,
}

impl Pair {
    /// A text that is the valid counterpart with one part in place of its `@`, and the broken program with another.
    pub fn around(text: &str, counterpart: &str, broken: &str) -> Pair {
        Pair {
            counterpart: items(&text.replace('@', counterpart)),
            broken: items(&text.replace('@', broken)),
            headers: None,
        }
    }

    /// The two programs under headers of their own: `.version` and `.target`.
    pub fn under(self, counterpart: [&str; 2], broken: [&str; 2]) -> Pair {
        let header = |[version, target]: [&str; 2]| Header {
            version: version.to_owned(),
            target: target.to_owned(),
            ..Header::default()
        };
        Pair { headers: Some((header(counterpart), header(broken))), ..self }
    }

    /// One program that is valid under the first header and not under the second.
    pub fn since(text: &str, counterpart: [&str; 2], broken: [&str; 2]) -> Pair {
        Pair::around(text, "", "").under(counterpart, broken)
    }

    /// A declaration as it is, and with its one variable changed.
    pub fn changed(counterpart: &str, change: impl FnOnce(&mut Declarator)) -> Pair {
        let mut pair = Pair::around(counterpart, "", "");
        if let [Item::Variables(Declaration { declarators, .. })] = &mut pair.broken[..] {
            change(&mut declarators[0]);
        }
        pair
    }
}
