//! Makers of kernels that show operands (6.4).
//!
//! A kernel has one parameter, the address of an output buffer. It consists of probes: each uses one form of operand and
//! writes what it gets into the buffer with a plain `st.global`, so that what an operand meant can be seen in memory, and
//! a wrong one tells which it was. Accesses stay inside of what was declared and are aligned.

mod kernel;
mod memory;
mod probes;
mod put;
mod value;
mod whole;

pub(crate) use kernel::Kernel;
pub(crate) use memory::memory;
pub(crate) use probes::*;
pub(crate) use whole::kernel;
