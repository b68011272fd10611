//! The names declared so far in a case.

use ptxsmith_syntax::Text;

/// The named entities of a case.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The variables and functions declared so far whose address can be taken.
    pub symbols: Vec<Symbol>,
    /// The name of the variable whose initializer is being generated, if there is one.
    pub own: Text,
    /// The number of names created so far.
    pub named: u32,
}

/// A variable or function whose address can be taken.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Text,
    pub function: bool,
}
