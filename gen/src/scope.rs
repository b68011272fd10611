//! The names declared so far in a case.

use ptxsmith_syntax::Text;

/// What of a case has a name.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// What has an address, of all that was declared so far.
    pub symbols: Vec<Symbol>,
    /// The variable whose initial value is being made, if it is one.
    pub own: Text,
    /// How many names were made.
    pub named: u32,
}

/// Something whose address can be taken.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Text,
    pub function: bool,
}
