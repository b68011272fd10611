//! The CUDA C++ suite: when may device code use a `const` variable of the host?
//!
//! Tests how compilers implement the rule CUDASafety-1.5 ([`rule`]). [`generate`] writes cases in a small
//! [`language`]; [`oracle`] derives the verdict for each case from the rule's text, under an interpretation
//! ([`reading`]); [`subjects`] compiles the cases; [`compare`] compares the results with the verdicts. The
//! generator and the oracle do not depend on any compiler.
//!
//! [`check`] is separate: it finds violations of the rule in users' own sources. The generator's cases test
//! it.

pub mod check;
pub mod compare;
pub mod generate;
pub mod known;
pub mod language;
pub mod oracle;
pub mod reading;
pub mod rule;
pub mod subjects;
