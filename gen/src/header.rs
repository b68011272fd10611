//! The directives that a module begins with.

use ptxsmith_syntax::{Item, Module, Name};

/// The directives that a module begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// `.version`. Default `7.8`.
    pub version: String,
    /// `.target`. Default `sm_80`.
    pub target: String,
    /// `.address_size`. Default `64`.
    pub address_size: String,
}

impl Default for Header {
    /// What every release of ptxas from 11.8 on takes, and any implementation of an older PTX may.
    fn default() -> Header {
        Header { version: "7.8".into(), target: "sm_80".into(), address_size: "64".into() }
    }
}

impl Header {
    /// A module of these statements.
    pub fn module(&self, statements: impl IntoIterator<Item = Item>) -> Module {
        let mut items = vec![
            Item::Version(Name::new(self.version.as_str())),
            Item::Target(vec![Name::new(self.target.as_str())]),
            Item::AddressSize(Name::new(self.address_size.as_str())),
        ];
        items.extend(statements);
        Module { items }
    }
}
