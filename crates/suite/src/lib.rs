//! A self-contained conformance suite: programs, what the specification says of each, and how to run them without us.
//!
//! [`Suite::build`] is a pure function: the same options give the same files, byte for byte. Programs come from the
//! corpus (worked out by hand), from the generator's enumeration (every clause, bounded), and from its negatives with
//! their valid counterparts. Expectations are the oracle's; for each answer to an open question they say what a program holds. Nothing
//! here knows any implementation: known deviations of one are no part of what a suite expects.

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
pub use case::{Case, Source};
pub use comments::counterpart;
pub use corpus::{SuiteError, programs as corpus};
pub use coverage::{ALSO_REFUSE, Covered, coverage};
pub use suite::{File, Filter, Options, Suite};
