//! What libFuzzer tries on ptxsmith's libraries, and what the results are compared with.
//!
//! A [`Target`] is a library function of bytes with a test on stable Rust beside it (`tests/`). The programs in
//! `fuzz_targets/` are a line each: for `cargo fuzz run NAME` they are libFuzzer's, and otherwise they replay files. How
//! to run them, what they print and what was measured is in `docs/guide/fuzzing.md`.
//!
//! [`naive`] is the second evaluator that the oracle is compared with. This package holds no rule of its own that anything
//! else depends on.

mod cubin;
mod cuobjdump;
pub mod differential;
mod eval;
pub mod mutate;
pub mod naive;
mod parse;
mod reduce;
pub mod roundtrip;
pub mod serve;
mod target;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use libfuzzer_sys;

pub use cubin::CUBIN;
pub use cuobjdump::CUOBJDUMP;
pub use differential::DIFFERENTIAL;
pub use eval::{EVAL, agreement};
pub use parse::PARSE;
pub use reduce::REDUCE;
pub use roundtrip::{ROUNDTRIP, module};
pub use serve::SERVE;
pub use target::{Failure, Target, corpus_file, files, seeds};

/// Every target.
pub static ALL: [&Target; 8] =
    [&ROUNDTRIP, &PARSE, &EVAL, &CUBIN, &CUOBJDUMP, &SERVE, &REDUCE, &DIFFERENTIAL];
