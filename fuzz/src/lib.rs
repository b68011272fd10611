//! Fuzz targets for ptxsmith's libraries, and the references that they compare results with.
//!
//! A [`Target`] is a library function on bytes, with a test on stable Rust in `tests/`. Each program in `fuzz_targets/` is
//! one line: under `cargo fuzz run NAME` it is a libFuzzer target, otherwise it replays files. See
//! `docs/guide/fuzzing.md` for usage, output and measurements.
//!
//! [`naive`] is a second evaluator, which checks the oracle. No other package depends on this one for the rules of PTX.

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
pub use target::{Target, TargetFailure, corpus_file, files, seeds};

/// All targets.
pub static ALL: [&Target; 8] =
    [&ROUNDTRIP, &PARSE, &EVAL, &CUBIN, &CUOBJDUMP, &SERVE, &REDUCE, &DIFFERENTIAL];
