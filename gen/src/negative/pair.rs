//! Pairs of a valid and a broken program.

use ptxsmith_syntax::{Declaration, Declarator, Header, Item};

use crate::written::items;

/// A valid program and its broken version, with their headers if the usual header does not fit.
pub(super) struct ProgramPair {
    pub counterpart: Vec<Item>,
    pub broken: Vec<Item>,
    /// The headers of the valid counterpart and of the broken program.
    pub headers: Option<(Header, Header)>,
}

fn header([version, target]: [&str; 2]) -> Header {
    Header { version: version.to_owned(), target: target.to_owned(), ..Header::default() }
}

impl ProgramPair {
    /// Creates a pair from a template by replacing `@` with a valid and with a broken part.
    pub fn around(text: &str, counterpart: &str, broken: &str) -> ProgramPair {
        ProgramPair {
            counterpart: items(&text.replace('@', counterpart)),
            broken: items(&text.replace('@', broken)),
            headers: None,
        }
    }

    /// Gives each program its own header: `.version` and `.target`.
    pub fn under(self, counterpart: [&str; 2], broken: [&str; 2]) -> ProgramPair {
        ProgramPair { headers: Some((header(counterpart), header(broken))), ..self }
    }

    /// Creates a pair from one program that is valid under the first header and invalid under the second.
    pub fn since(text: &str, counterpart: [&str; 2], broken: [&str; 2]) -> ProgramPair {
        ProgramPair::around(text, "", "").under(counterpart, broken)
    }

    /// Creates a pair from the declaration of a variable by changing the variable.
    pub fn changed(counterpart: &str, change: impl FnOnce(&mut Declarator)) -> ProgramPair {
        let mut pair = ProgramPair::around(counterpart, "", "");
        if let [Item::Variables(Declaration { declarators, .. })] = &mut pair.broken[..] {
            change(&mut declarators[0]);
        }
        pair
    }
}
