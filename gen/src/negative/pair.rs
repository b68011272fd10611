//! Pairs of a valid and a broken program.

use ptxsmith_syntax::{Declaration, Declarator, Header, Item};

use crate::written::items;

/// A valid program and its broken version, with their headers if the usual header does not fit.
pub(super) struct Pair {
    pub counterpart: Vec<Item>,
    pub broken: Vec<Item>,
    /// The headers of the valid counterpart and of the broken program.
    pub headers: Option<(Header, Header)>,
}

impl Pair {
    /// Creates a pair from a template by replacing `@` with a valid and with a broken part.
    pub fn around(text: &str, counterpart: &str, broken: &str) -> Pair {
        Pair {
            counterpart: items(&text.replace('@', counterpart)),
            broken: items(&text.replace('@', broken)),
            headers: None,
        }
    }

    /// Gives each program its own header: `.version` and `.target`.
    pub fn under(self, counterpart: [&str; 2], broken: [&str; 2]) -> Pair {
        let header = |[version, target]: [&str; 2]| Header {
            version: version.to_owned(),
            target: target.to_owned(),
            ..Header::default()
        };
        Pair { headers: Some((header(counterpart), header(broken))), ..self }
    }

    /// Creates a pair from one program that is valid under the first header and invalid under the second.
    pub fn since(text: &str, counterpart: [&str; 2], broken: [&str; 2]) -> Pair {
        Pair::around(text, "", "").under(counterpart, broken)
    }

    /// Creates a pair from a declaration of one variable by changing the variable.
    pub fn changed(counterpart: &str, change: impl FnOnce(&mut Declarator)) -> Pair {
        let mut pair = Pair::around(counterpart, "", "");
        if let [Item::Variables(Declaration { declarators, .. })] = &mut pair.broken[..] {
            change(&mut declarators[0]);
        }
        pair
    }
}
