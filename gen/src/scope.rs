//! The names declared so far in a case.

use ptxsmith_syntax::Text;

/// The named entities of a case.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The addressable variables and functions declared so far.
    pub symbols: Vec<AddressableSymbol>,
    /// The name of the variable under construction, if there is one. Its initializer is being generated.
    pub own: Text,
    /// The number of names created so far.
    pub named: u32,
}

/// A variable or function with an address that an initializer may hold.
#[derive(Clone, Debug)]
pub(crate) struct AddressableSymbol {
    pub name: Text,
    pub function: bool,
}
