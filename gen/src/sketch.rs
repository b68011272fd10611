//! What is at hand while declarations are made.

use std::cell::LazyCell;

use ptxsmith_syntax::{Attribute, Declarator, Expr, Initializer, Item, Linkage, Text, VectorLength};

use crate::{nonterminal::Nonterminal, operands::Kernel};

/// A declaration while it is being made.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    pub linkage: Option<Linkage>,
    pub align: Option<Expr>,
    pub vector: Option<VectorLength>,
    pub declarators: Vec<Declarator>,
    pub attribute: Option<Attribute>,
    /// What was made before the declaration at hand.
    pub items: Vec<Item>,
    /// What has an address, of all that was declared so far.
    pub symbols: Vec<Symbol>,
    /// The name at hand: of the variable that is being made.
    pub name: Text,
    /// How many names were made.
    pub named: u32,
    /// The values of the variable at hand, where its type does not say which.
    pub values: Option<Nonterminal>,
    /// How many dimensions the variable at hand has.
    pub rank: usize,
    /// The extents of its dimensions, outermost first.
    pub extents: Vec<u64>,
    /// The extent at hand, while its spelling is made.
    pub extent: u64,
    /// How many dimensions lie around the list at hand.
    pub level: usize,
    /// The initial value that was made last.
    pub made: Option<Initializer>,
    /// The kernel at hand. Most drafts have none, and there are millions.
    pub kernel: LazyCell<Box<Kernel>>,
}

/// Something whose address can be taken.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Text,
    pub function: bool,
}

impl Sketch {
    /// How many scalars an element has.
    pub fn lanes(&self) -> u64 {
        self.vector.map_or(1, VectorLength::count)
    }
}
