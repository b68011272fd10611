//! A kernel under construction.

use std::collections::BTreeMap;

use ptxsmith_syntax::ScalarType;

/// The parts of a kernel generated so far, as PTX source.
#[derive(Debug, Default)]
pub(crate) struct KernelText {
    /// Statements at module scope, printed before the kernel.
    pub items: String,
    /// Declarations of `.local` variables in the body.
    pub locals: String,
    pub body: String,
    /// Declarations of vector registers.
    pub vectors: Vec<String>,
    pub registers: BTreeMap<&'static str, (ScalarType, usize)>,
    /// Prefix of register names: empty or `%`.
    pub sigil: &'static str,
    /// The number of bytes of the output buffer written so far.
    pub out: u64,
    /// The number of numbered names in use; the next name gets this number.
    pub named: usize,
}
