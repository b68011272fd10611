//! A self-contained conformance suite: programs, their expectations, and a runner that does not need
//! ptxsmith.
//!
//! [`Suite::build`] is a pure function: the same options give the same files, byte for byte. Programs come
//! from the corpus (derived by hand), from the generator's enumeration (every clause, bounded), from its
//! edits (invalid programs with valid counterparts), and on request from a seed. The oracle provides the
//! expectation for every interpretation of an ambiguity. Nothing here depends on an implementation: known
//! deviations do not affect the expectations.

mod alternatives;
mod case;
mod comments;
mod corpus;
mod coverage;
mod drawn;
mod edited;
mod enumerated;
mod index;
mod manifest;
pub mod selfcheck;
mod suite;

pub use alternatives::{Alternative, MOST_CHANGES, alternatives};
pub use case::{CaseSource, SuiteCase};
pub use comments::counterpart;
pub use corpus::{SuiteError, programs as corpus};
pub use coverage::{ALSO_REFUSE, CoveredClause, coverage};
pub use suite::{CaseFilter, Suite, SuiteFile, SuiteOptions};
