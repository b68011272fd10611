//! A kernel while it is being made.

use std::collections::BTreeMap;

use ptxsmith_syntax::ScalarType;

/// What was made of a kernel so far, as text.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    /// Statements at module scope that stand in front of the kernel.
    pub items: String,
    /// Variables that the body declares.
    pub locals: String,
    pub body: String,
    /// Declarations of vectors of registers.
    pub vectors: Vec<String>,
    pub registers: BTreeMap<&'static str, (ScalarType, usize)>,
    /// What stands in front of the names of registers.
    pub sigil: &'static str,
    /// The end of what was written to the output buffer.
    pub out: u64,
    /// How many names of the kernel have a number.
    pub named: usize,
}
