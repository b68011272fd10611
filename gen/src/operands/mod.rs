//! Generates kernels that test operands (6.4).
//!
//! A kernel has one parameter, the address of an output buffer, and consists of probes. Each probe uses one form of operand
//! and writes the result into the buffer with a plain `st.global`. The buffer then shows how each operand was interpreted,
//! and the position of a wrong value identifies its probe. Accesses are aligned and stay within the declared variables.

mod kernel;
mod memory;
mod probes;
mod put;
mod value;
mod whole;

pub(crate) use kernel::KernelText;
pub(crate) use memory::memory;
pub(crate) use probes::*;
pub(crate) use whole::kernel;
