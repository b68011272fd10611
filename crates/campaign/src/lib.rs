//! Campaigns: many programs, many subjects. Shares out tasks, judges, keeps a ledger that can go on after a stop and be
//! merged from shards, compares releases, reduces what is new by its cause, and gives a report.
//!
//! Nothing here prints or reads a command line: a [`Session`] has what a campaign runs with, and tells its
//! [`Events`](session::Events).

mod alike;
pub mod arithmetic;
pub mod bundle;
pub mod campaign;
pub mod cases;
pub mod check;
pub mod drift;
pub mod expected;
mod failure;
pub mod files;
mod form;
pub mod input;
pub mod judges;
pub mod ledger;
pub mod linking;
mod listed;
mod locate;
pub mod merge;
pub mod mutate;
pub mod places;
pub mod pool;
pub mod reducing;
pub mod run;
pub mod session;
pub mod statistics;
pub mod store;
pub mod subjects;
mod tally;
mod task;
pub mod texts;

pub use campaign::Outcome;
pub use failure::Failure;
pub use session::Session;
