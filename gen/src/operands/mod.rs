//! Makers of kernels that show operands (6.4).
//!
//! A kernel has one parameter, the address of an output buffer. It consists of probes: each uses one form of operand and
//! writes what it gets into the buffer with a plain `st.global`, so that what an operand meant can be seen in memory, and
//! a wrong one tells which it was. Accesses stay inside of what was declared and are aligned.

mod kernel;
mod memory;
mod probes;

pub(crate) use kernel::{Kernel, kernel};
pub(crate) use memory::memory;
pub(crate) use probes::*;

/// What a choice of the nonterminal `storage` stands for.
pub(crate) const STORAGE: [ptxsmith_syntax::StateSpace; 4] = [
    ptxsmith_syntax::StateSpace::Global,
    ptxsmith_syntax::StateSpace::Const,
    ptxsmith_syntax::StateSpace::Shared,
    ptxsmith_syntax::StateSpace::Local,
];

/// The forms of an address: the choices of the nonterminal `place`.
pub(crate) mod place {
    pub(crate) const VARIABLE: u8 = 0;
    pub(crate) const REGISTER: u8 = 1;
    pub(crate) const REGISTER_OFFSET: u8 = 2;
    pub(crate) const VARIABLE_OFFSET: u8 = 3;
    pub(crate) const ELEMENT: u8 = 4;
    pub(crate) const ELEMENT_REGISTER: u8 = 5;
    pub(crate) const ELEMENT_REGISTER_OFFSET: u8 = 6;
    pub(crate) const ELEMENT_SUBTRACTED: u8 = 7;
    pub(crate) const ABSOLUTE: u8 = 8;
}

/// What an access takes: the choices of the nonterminal `access`.
pub(crate) mod access {
    pub(crate) const SCALAR: u8 = 0;
    pub(crate) const BRACES: u8 = 1;
    pub(crate) const REGISTER: u8 = 2;
}
